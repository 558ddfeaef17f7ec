"""What the figures of darc2019 are in each mode; their meanings stand in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

from kakurenbo.contest import Figure, Unit

_EVALUATOR = ("E2", "E3", "S2", "S3", "S4", "S5", "S6", "hits")
"""What the evaluator of the competition computed in another way than the rules say."""


BASELINES = {
    "S1": "datenum",
    "S2": "itemprice",
    "S3": "itemnum",
    "S4": "itemdate",
    "S5": "itempricenum",
    "S6": "itemdatenum",
}
"""The rules' names of the baselines (rule 14a), which call 4, 5 and 6 alike; 5 and 6 are named after their keys here."""


def _figures(mode: str) -> dict[str, Figure]:
    def figure(
        name: str, unit: Unit, of: float | None = None, code: str = ""
    ) -> tuple[str, Figure]:
        suffix = "_aicrowd" if mode == "aicrowd" and name in _EVALUATOR else ""
        meaning = f"darc2019.figure.{code or name}{suffix}"
        return name, Figure(unit, of, meaning, label=BASELINES.get(name, ""))

    return dict(
        [
            *(figure(name, Unit.DISTANCE, 1) for name in ("E1", "E2", "E3", "E4", "E5", "E6", "U")),
            *(figure(f"S{number}", Unit.SHARE) for number in range(1, 8)),
            figure("buyer", Unit.SHARE),
            figure("hits", Unit.COUNT),
            figure("reid", Unit.SHARE),
            figure("reid_of_all_cells", Unit.SHARE),
            # The rules have one ranking of tables: it is the overall ranking too, and each table's score is of the same kind.
            *(
                figure(name, Unit.DISTANCE, 1, "anonymization")
                for name in ("anonymization", "overall", "score")
            ),
            figure("attack", Unit.SHARE),
        ]
    )


FIGURES: Mapping[str, Mapping[str, Figure]] = {
    mode: _figures(mode) for mode in ("rules", "aicrowd")
}
