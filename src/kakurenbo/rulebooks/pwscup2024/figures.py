"""What the figures of pwscup2024 are; their meanings stand in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from kakurenbo.contest import Figure, Unit
from kakurenbo.rulebooks.pwscup2024.scores import FIRST, FULL, HALF


def _figure(name: str, unit: Unit, of: float, code: str = "") -> tuple[str, Figure]:
    return name, Figure(unit, of, f"pwscup2024.figure.{code or name}")


FIGURES: Mapping[str, Figure] = dict(
    [
        *(_figure(f"U_{number}", Unit.POINTS, FULL, "U_j") for number in range(10)),
        _figure("U", Unit.POINTS, FULL),
        _figure("sample_anonymity", Unit.COUNT, FULL),
        _figure("hits", Unit.COUNT, FULL),
        _figure("constant", Unit.COUNT, FULL),
        _figure("identification", Unit.COUNT, HALF),
        _figure("reconstruction", Unit.COUNT, HALF),
        *(_figure(name, Unit.POINTS, 2 * FULL, "total") for name in ("anonymization", "overall")),
        _figure("attack", Unit.COUNT, FIRST * FULL),
    ]
)
