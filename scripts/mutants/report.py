"""The table of a run, and which mutants survived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt

from scripts.mutants.mutations import Mutant
from scripts.mutants.trials import Outcome

LEAST_SHARE = 0.95
_NORMAL_95 = 1.959964
_HEADER = (
    "folder",
    "mutants",
    "killed",
    "timed out",
    "survived",
    "equivalent",
    "share killed",
    "95 % interval",
)


def interval(killed: int, of: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    if not of:
        return 0.0, 1.0
    share, square = killed / of, _NORMAL_95**2
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = _NORMAL_95 * sqrt(share * (1 - share) / of + square / (4 * of * of)) / (1 + square / of)
    return middle - half, middle + half


def share_killed(outcomes: Sequence[Outcome]) -> tuple[int, int]:
    """How many were noticed by a test, a test that no longer ends included, and how many could be."""
    noticed = sum(outcome in (Outcome.KILLED, Outcome.TIMED_OUT) for outcome in outcomes)
    return noticed, noticed + outcomes.count(Outcome.SURVIVED)


def table(outcomes: Mapping[str, Sequence[Outcome]]) -> str:
    """One line per folder, and one for all."""
    everything = [outcome for several in outcomes.values() for outcome in several]
    rows = [
        _HEADER,
        *(_row(name, several) for name, several in {**outcomes, "all": everything}.items()),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _row(name: str, outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    counts = [
        outcomes.count(kind)
        for kind in (Outcome.KILLED, Outcome.TIMED_OUT, Outcome.SURVIVED, Outcome.EQUIVALENT)
    ]
    killed, of = share_killed(outcomes)
    low, high = interval(killed, of)
    share = (f"{killed / of:.1%}", f"{low:.1%} to {high:.1%}") if of else ("-", "-")
    return (name, str(len(outcomes)), *map(str, counts), *share)


def as_change(mutant: Mutant, path: str) -> str:
    """``file:line``, the operator, and the lines before and after."""
    old, new = mutant.lines
    return "\n".join(
        [
            f"{path}:{mutant.start[0]}  {mutant.operator}",
            *(f"  - {line}" for line in old),
            *(f"  + {line}" for line in new),
        ]
    )
