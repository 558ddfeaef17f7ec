"""What has to be said beside an award."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kakurenbo.contracts import RoundResults
from kakurenbo.messages import LANGUAGES, render

_ATTACK = "attack"
Notices = Mapping[str, Mapping[str, str]]
"""Award to language to sentence."""


def award_notices(awards: Mapping[str, Sequence[str]], rounds: Mapping[str, Sequence[RoundResults]]) -> Notices:
    """A sentence beside the award for attack where it goes to teams that attacked nobody.

    The formulas give everybody a score, and where few attack a score of nothing is enough for a place. The award stands: it is
    what the rules say; but nobody should take it for a feat.
    """
    attacking = {
        attacker for repeats in rounds.values() for results in repeats for row in results.credits.values() for attacker in row
    }
    idle = [team for team in awards.get(_ATTACK, ()) if team not in attacking]
    return {_ATTACK: {spoken: render("award.idle", {"teams": idle}, spoken).message for spoken in LANGUAGES}} if idle else {}
