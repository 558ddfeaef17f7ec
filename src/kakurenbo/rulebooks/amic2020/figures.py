"""What the figures of amic2020 are; their meanings stand in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from kakurenbo.contest import Figure, Unit
from kakurenbo.rulebooks.amic2020.files import GUESSES
from kakurenbo.rulebooks.amic2020.scores import POINTS


def _figure(
    name: str, unit: Unit, of: float | None = None, shown_times: int = 1
) -> tuple[str, Figure]:
    return name, Figure(unit, of, f"amic2020.figure.{name}", shown_times)


FIGURES: Mapping[str, Figure] = dict(
    [
        _figure("histogram", Unit.SIMILARITY, 1),
        # A reciprocal has no most: equal tables have an infinite one.
        *(_figure(name, Unit.SIMILARITY) for name in ("vcm", "vcm_edition1", "vcm_edition2")),
        *(
            _figure(name, Unit.SIMILARITY, 1)
            for name in ("dta_relationship", "dta_income", "dta_income_le50k", "dta_income_gt50k")
        ),
        _figure("max_histogram_error", Unit.SHARE),
        _figure("max_correlation_difference", Unit.DISTANCE),
        *(_figure(name, Unit.COUNT) for name in ("k", "l")),
        *(_figure(name, Unit.NUMBER) for name in ("l_entropy", "epsilon", "Pk")),
        _figure("t", Unit.DISTANCE),
        *(_figure(name, Unit.SHARE) for name in ("delta_presence", "delta_absence")),
        _figure("hits", Unit.COUNT, GUESSES),
        *(_figure(name, Unit.SIMILARITY, 1, POINTS) for name in ("anonymization", "attack")),
        # The best is the first of both rankings: 1 / (1 + 1).
        _figure("overall", Unit.SIMILARITY, 0.5, POINTS),
    ]
)
