"""What the figures of pwscup2021 are; their meanings stand in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from kakurenbo.contest import Figure, Unit


def _figure(name: str, unit: Unit, of: float | None = None) -> tuple[str, Figure]:
    return name, Figure(unit, of, f"pwscup2021.figure.{name}")


FIGURES: Mapping[str, Figure] = dict(
    [
        _figure("uniqrt", Unit.SHARE),
        _figure("rate", Unit.SHARE),
        _figure("odds_ratio", Unit.DISTANCE),
        _figure("cor", Unit.DISTANCE, 2),
        _figure("iloss", Unit.DISTANCE),
        _figure("hits", Unit.DISTANCE),
        *(_figure(name, Unit.SHARE) for name in ("recall", "precision", "topk")),
        *(_figure(name, Unit.DISTANCE) for name in ("anonymization", "attack")),
        _figure("overall", Unit.NUMBER),
    ]
)
