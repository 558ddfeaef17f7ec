"""Figures and default players of pwscup2024.

Among the first players, who play the demo, are a naive and a strong defence, an attacker who looks at nothing, and our best
attacker. Further players only anonymize.
"""

from __future__ import annotations

from kakurenbo.contest import Figure, Player, Unit
from kakurenbo.contest.measure import with_meanings
from kakurenbo.rulebooks.pwscup2024.scores import FIRST, FULL, HALF

_TOTAL = Figure(Unit.POINTS, 2 * FULL, "total")

FIGURES = with_meanings(
    "pwscup2024",
    {
        **{f"U_{number}": Figure(Unit.POINTS, FULL, "U_j") for number in range(10)},
        "U": Figure(Unit.POINTS, FULL),
        "sample_anonymity": Figure(Unit.COUNT, FULL),
        "hits": Figure(Unit.COUNT, FULL),
        "constant": Figure(Unit.COUNT, FULL),
        "identification": Figure(Unit.COUNT, HALF),
        "reconstruction": Figure(Unit.COUNT, HALF),
        "anonymization": _TOTAL,
        "overall": _TOTAL,
        "attack": Figure(Unit.COUNT, FIRST * FULL),
    },
)

DEFAULT_PLAYERS = (
    Player("just enough", "just_enough:utility=60", "euclidean"),
    Player("even tables", "even_tables:utility=80", "posterior"),
    Player("permuted", "permute_columns", "blind_ratings"),
    Player(
        "hashed and repaired",
        "pipeline:steps=pseudo_olh:epsilon=2|crosstab_repair_fast:utility=70",
        "euclidean:reconstruction=posterior",
    ),
    Player("shuffled in groups", "group_shuffle", "all_pairs:reconstruction=posterior"),
    Player("hardly swapped", "swap_cells:swaps=300", "bayes"),
    Player("more than enough", "just_enough:utility=77", "all_pairs"),
    Player(
        "permuted and repaired",
        "pipeline:steps=permute_columns|crosstab_repair_fast:utility=75",
        "euclidean:reconstruction=collaborative_filtering",
    ),
    Player("groups repaired", "pipeline:steps=group_shuffle|crosstab_repair_fast:utility=70"),
    Player("lightly hashed", "pseudo_olh:epsilon=5"),
    Player("rows shuffled", "shuffle_rows"),
)
