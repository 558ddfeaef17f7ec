"""Rates beside their controls: one attacker's success, and a kind of risk made of several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

RISKS = ("membership", "singling_out", "linkability", "inference", "recoding", "pseudonyms")
"""Every kind of risk, in the order of a report. ``recoding`` comes with what was undone before the others were measured."""
WITHIN, ABOVE, INCONCLUSIVE, NOT_ASSESSED = "within", "above", "inconclusive", "not_assessed"
"""How a risk stands to its limit: upper bound within it; lower bound above it; the limit inside the interval; not measured."""
NO_LIMIT = "no_limit"
"""Of a risk that was measured, but is held to nothing."""


@dataclass(frozen=True)
class Rate:
    """A share of tries that hit, with its 95 % interval (Clopper and Pearson).

    Attributes
    ----------
    hits, of : int
    value, low, high : float
        From 0 to 1.
    """

    hits: int
    of: int
    value: float
    low: float
    high: float

    def as_json(self) -> dict[str, Any]:
        return {
            "rate": self.value,
            "interval": [self.low, self.high],
            "hits": self.hits,
            "of": self.of,
        }


@dataclass(frozen=True)
class Excess:
    """How much more often an attack hits than it does without the people's data in the release (Newcombe, 95 %; Clopper and
    Pearson where that is known exactly)."""

    value: float
    low: float
    high: float

    def as_json(self) -> dict[str, Any]:
        return {"value": self.value, "interval": [self.low, self.high]}


@dataclass(frozen=True)
class ThreatRow:
    """One attacker's success: who x knows x wants.

    Attributes
    ----------
    threat : str
        ``stranger``, ``neighbour``, ``data_holder``, ``two_sources``, ``insider`` or ``archivist``.
    knows, wants : tuple of str
        Columns; ``wants`` is empty where the attacker wants to know who was there at all.
    attack : str
        A name of the catalogue, ``audit.attack.NAME``.
    rate : Rate
    control : Rate or None
        The same attack on people who are not in the original.
    excess : Excess or None
        Rate over control; where there is none, over what could be told without the release.
    baseline : float or None
        What somebody gets who never looks at the release; of pseudonyms, who looks at nothing but how many rows each has.
    chance : float or None
    reported : bool
        Whether this is the row that the risk reports: the worst, by targets that took no part in choosing it.
    files : tuple of str
        Which of several files the attacker looks at; empty where there is one.
    """

    threat: str
    knows: tuple[str, ...]
    wants: tuple[str, ...]
    attack: str
    rate: Rate
    control: Rate | None = None
    excess: Excess | None = None
    baseline: float | None = None
    chance: float | None = None
    reported: bool = False
    files: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "threat": self.threat,
            "knows": list(self.knows),
            "wants": list(self.wants),
            "attack": self.attack,
            **self.rate.as_json(),
            "control": _json(self.control),
            "excess": _json(self.excess),
            "baseline": self.baseline,
            "chance": self.chance,
            "reported": self.reported,
            "files": list(self.files),
        }


@dataclass(frozen=True)
class Risk:
    """One kind of risk.

    Attributes
    ----------
    name : str
        One of ``RISKS``.
    assessed : bool
        Without it only ``why`` says something.
    why : str
        Why it was not assessed, or what the figure hides: a code, ``audit.why.NAME``; else empty.
    attack : str
        The attack that is reported.
    rate, control, excess, baseline, chance
        As in :class:`ThreatRow`, of the reported row.
    p_value : float or None
        That the release tells nothing of this kind, Holm's correction over all risks included.
    limit : float or None
        The most that ``excess`` may be; without a control only a ``rate`` that is no higher is within it.
    standing : str
        ``WITHIN``, ``ABOVE``, ``INCONCLUSIVE``, ``NOT_ASSESSED`` or ``NO_LIMIT``.
    rows : tuple of ThreatRow
        Every attacker and attack that was tried.
    figures : mapping of str to float
        Further figures under their JSON names: membership's ``tpr_at_0.001``, ``tpr_at_0.01``, ``top100`` and
        ``top100_by_chance``.
    """

    name: str
    assessed: bool
    why: str = ""
    attack: str = ""
    rate: Rate | None = None
    control: Rate | None = None
    excess: Excess | None = None
    baseline: float | None = None
    chance: float | None = None
    p_value: float | None = None
    limit: float | None = None
    standing: str = NOT_ASSESSED
    rows: tuple[ThreatRow, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def reporting(cls, name: str, rows: Sequence[ThreatRow], best: int) -> Risk:
        """A risk that was assessed, as its row ``best`` tells it."""
        marked = tuple(replace(row, reported=place == best) for place, row in enumerate(rows))
        worst = marked[best]
        return cls(
            name,
            True,
            "",
            worst.attack,
            worst.rate,
            worst.control,
            worst.excess,
            worst.baseline,
            worst.chance,
            rows=marked,
        )

    def as_json(self) -> dict[str, Any]:
        rate = self.rate
        return {
            "assessed": self.assessed,
            "why": self.why,
            "attack": self.attack,
            "rate": None if rate is None else rate.value,
            "interval": None if rate is None else [rate.low, rate.high],
            "hits": None if rate is None else rate.hits,
            "of": None if rate is None else rate.of,
            "control": _json(self.control),
            "excess": _json(self.excess),
            "baseline": self.baseline,
            "chance": self.chance,
            "p_value": self.p_value,
            "limit": self.limit,
            "standing": self.standing,
            **self.figures,
            "rows": [row.as_json() for row in self.rows],
        }


def _json(part: Rate | Excess | None) -> dict[str, Any] | None:
    return None if part is None else part.as_json()
