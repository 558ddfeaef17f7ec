"""The field that plays pwscup2024 where nobody is named.

Among the first, whom the demo plays, are a naive and a strong defence, an attacker who looks at nothing, and our best one.
Attackers differ; teams beyond the attacks there are only anonymize.
"""

from __future__ import annotations

from kakurenbo.contest import Player

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
