"""kakurenbo (かくれんぼ, hide-and-seek): contests in which teams anonymize personal data and attack each other's releases.

What stands in ``__all__`` is the library's API; everything is loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.1.0"

TYPE_CHECKING = False  # the typing module takes longer to load than all the rest of this one
if TYPE_CHECKING:
    from typing import Any

    from kakurenbo.api import Contest, Results, anonymize, contest, load
    from kakurenbo.audit.api import audit
    from kakurenbo.contest import (
        ANONYMIZE,
        ATTACK,
        Anonymizer,
        AnyRulebook,
        Attack,
        Chance,
        ContestFacts,
        Counting,
        Credit,
        Feedback,
        FilePattern,
        Files,
        FoundGuess,
        Guesses,
        Measurement,
        Mechanism,
        Phase,
        Player,
        Preparation,
        PreparedRound,
        Publication,
        Release,
        RoundData,
        RoundResults,
        Rulebook,
        Score,
        Secrets,
        Standing,
        Standings,
        Target,
        Threshold,
        Tries,
        Utility,
        as_decimal,
        awarded,
        by_number,
        rank,
        shown_unranked,
        team_of,
        why_out,
    )
    from kakurenbo.core import (
        Category,
        Column,
        Date,
        Decimal,
        InputError,
        Integer,
        Layout,
        Problem,
        Schema,
        Source,
        Table,
        Text,
        gather,
        notice,
        read_table,
        table_bytes,
    )
    from kakurenbo.core.errors import (
        KakurenboError,
        ParameterError,
        UsageError,
    )
    from kakurenbo.core.frames import AnonymizedFrame
    from kakurenbo.core.rng import fresh_seed, stream
    from kakurenbo.methods.parameters import parameter

_ROOMS = {
    "kakurenbo.api": ("Contest", "Results", "anonymize", "load"),
    "kakurenbo.audit.api": ("audit",),
    "kakurenbo.contest": (
        "ANONYMIZE",
        "ATTACK",
        "Anonymizer",
        "AnyRulebook",
        "Attack",
        "Chance",
        "ContestFacts",
        "Counting",
        "Credit",
        "Feedback",
        "FilePattern",
        "Files",
        "FoundGuess",
        "Guesses",
        "Measurement",
        "Mechanism",
        "Phase",
        "Player",
        "Preparation",
        "PreparedRound",
        "Publication",
        "Release",
        "RoundData",
        "RoundResults",
        "Rulebook",
        "Score",
        "Secrets",
        "Standing",
        "Standings",
        "Target",
        "Threshold",
        "Tries",
        "Utility",
        "as_decimal",
        "awarded",
        "by_number",
        "rank",
        "shown_unranked",
        "team_of",
        "why_out",
    ),
    "kakurenbo.core.errors": ("KakurenboError", "ParameterError", "UsageError"),
    "kakurenbo.methods.parameters": ("parameter",),
    "kakurenbo.core.frames": ("AnonymizedFrame",),
    "kakurenbo.core.rng": ("fresh_seed", "stream"),
    "kakurenbo.core": (
        "Category",
        "Column",
        "Date",
        "Decimal",
        "InputError",
        "Integer",
        "Layout",
        "Problem",
        "Schema",
        "Source",
        "Table",
        "Text",
        "gather",
        "notice",
        "read_table",
        "table_bytes",
    ),
}
_CALLABLE_PACKAGES = ("contest",)
"""Packages that can be called, because a function and a package have one name."""
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "ANONYMIZE",
    "ATTACK",
    "AnonymizedFrame",
    "Anonymizer",
    "AnyRulebook",
    "Attack",
    "Category",
    "Chance",
    "Column",
    "Contest",
    "ContestFacts",
    "Counting",
    "Credit",
    "Date",
    "Decimal",
    "Feedback",
    "FilePattern",
    "Files",
    "FoundGuess",
    "Guesses",
    "InputError",
    "Integer",
    "KakurenboError",
    "Layout",
    "Measurement",
    "Mechanism",
    "ParameterError",
    "Phase",
    "Player",
    "Preparation",
    "PreparedRound",
    "Problem",
    "Publication",
    "Release",
    "Results",
    "RoundData",
    "RoundResults",
    "Rulebook",
    "Schema",
    "Score",
    "Secrets",
    "Source",
    "Standing",
    "Standings",
    "Table",
    "Target",
    "Text",
    "Threshold",
    "Tries",
    "UsageError",
    "Utility",
    "__version__",
    "anonymize",
    "as_decimal",
    "audit",
    "awarded",
    "by_number",
    "contest",
    "fresh_seed",
    "gather",
    "load",
    "notice",
    "parameter",
    "rank",
    "read_table",
    "shown_unranked",
    "stream",
    "table_bytes",
    "team_of",
    "why_out",
]


def __getattr__(name: str) -> Any:
    if name in _CALLABLE_PACKAGES:
        return import_module(f"kakurenbo.{name}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ROOM_OF[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
