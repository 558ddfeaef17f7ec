"""What the figures of darc2019 are; their meanings stand in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from kakurenbo.contracts import Figure, Unit


def _figure(name: str, unit: Unit, of: float | None = None, code: str = "") -> tuple[str, Figure]:
    return name, Figure(unit, of, f"darc2019.figure.{code or name}")


FIGURES: Mapping[str, Figure] = dict(
    [
        *(_figure(name, Unit.DISTANCE, 1) for name in ("E1", "E2", "E3", "E4", "E5", "E6", "U")),
        *(_figure(f"S{number}", Unit.SHARE) for number in range(1, 8)),
        _figure("hits", Unit.COUNT),
        _figure("reid", Unit.SHARE),
        _figure("reid_of_all_cells", Unit.SHARE),
        # The rules have one ranking of tables: it is the overall ranking too, and each table's score is of the same kind.
        *(_figure(name, Unit.DISTANCE, 1, "anonymization") for name in ("anonymization", "overall", "score")),
        _figure("attack", Unit.SHARE),
    ]
)
