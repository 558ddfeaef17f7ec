"""The pictures of the tutorial "Hold a contest in an afternoon", made by holding that contest.

``make screenshots`` starts a judge in a folder of its own, opens Debian's Chromium, and does what the tutorial says: as the
organizer, as a team on the pages, and as a team on the command line. On the way it writes docs/images/judge/LANGUAGE/NAME.png.
What does not go as the tutorial says ends it with an error. It takes some minutes for each language.
"""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PICTURES = REPOSITORY / "docs" / "images" / "judge"
LANGUAGES = ("en", "ja")
MOST_BYTES = 80_000
"""No picture has more."""
NAMES = (
    "setup",
    "choose",
    "new-contest",
    "phases",
    "options",
    "rehearsal",
    "teams",
    "invite",
    "join",
    "manage",
    "overview",
    "handout",
    "refused",
    "scored",
    "history",
    "token",
    "move",
    "attack",
    "guesses",
    "end",
    "standings",
    "archive",
)
"""Every picture, in the order of the tutorial."""
COMMANDS = {
    "foxes": (
        "unzip -q afternoon-pre-handout.zip -d foxes",
        "kakurenbo anonymize amic2020 rrp foxes/teams/01 pre_anonymizeddata_01.csv --p 0.99",
        "kakurenbo measure amic2020 foxes/teams/01 pre_anonymizeddata_01.csv",
    ),
    "badgers": (
        "kakurenbo status",
        "kakurenbo fetch afternoon -o badgers",
        "kakurenbo anonymize amic2020 synthetic badgers/teams/02 pre_anonymizeddata_02.csv",
        "kakurenbo submit afternoon pre_anonymizeddata_02.csv",
    ),
    "foxes attack": (
        "unzip -q -o afternoon-pre-targets.zip -d foxes",
        "kakurenbo attack amic2020 likelihood foxes/targets/02 -o inference_02_01.index",
    ),
    "badgers attack": (
        "kakurenbo fetch afternoon -o badgers",
        "kakurenbo attack amic2020 nearest badgers/targets/01 -o inference_01_02.index",
        "kakurenbo submit afternoon inference_01_02.index",
        "kakurenbo status afternoon",
    ),
    "everybody": ("kakurenbo verify afternoon.zip",),
}
"""The commands that the tutorial shows, by who gives them and when."""
