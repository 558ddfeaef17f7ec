"""Figures of darc2019 in each mode, and default players.

Among the first players, who play the demo, are the naive defence, one that uses the scoring rule, the honest strong one, an
attacker who looks at nothing, and our best attacker. Further players only anonymize.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kakurenbo.contest import Figure, Player, Unit
from kakurenbo.contest.measure import with_meanings

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


def _figures(mode: str) -> Mapping[str, Figure]:
    distance, share = Figure(Unit.DISTANCE, 1), Figure(Unit.SHARE)
    # The rules have one ranking of tables: it is the overall ranking too, and each table's score is of the same kind.
    score = Figure(Unit.DISTANCE, 1, "anonymization")
    figures = {
        **dict.fromkeys(("E1", "E2", "E3", "E4", "E5", "E6", "U"), distance),
        **{f"S{n}": Figure(Unit.SHARE, label=BASELINES.get(f"S{n}", "")) for n in range(1, 8)},
        "buyer": share,
        "hits": Figure(Unit.COUNT),
        "reid": share,
        "reid_of_all_cells": share,
        "anonymization": score,
        "overall": score,
        "score": score,
        "attack": share,
    }
    if mode == "aicrowd":
        for name in _EVALUATOR:
            figures[name] = replace(figures[name], code=f"{name}_aicrowd")
    return with_meanings("darc2019", figures)


FIGURES: Mapping[str, Mapping[str, Figure]] = {
    mode: _figures(mode) for mode in ("rules", "aicrowd")
}

DEFAULT_PLAYERS = (
    Player("monthly pseudonyms", "monthly_pseudonyms", "tfidf"),
    Player("yearly pseudonyms", "monthly_pseudonyms:period=year", "fellegi_sunter"),
    Player("noisy values", "values", "overlap:one_to_one=true"),
    Player("mixed crowds", "mixed_crowds", "blind_shop"),
    Player("small crowds", "crowds:smallest=3", "two_owners"),
    Player("crowds", "crowds", "rhythm"),
    Player("shuffled dates", "dates", "profile"),
    Player("swapped baskets", "swap_baskets:k=10", "fellegi_sunter:fields=price,size"),
    Player("swapped items", "swap_items:share=0.05", "profile:link_months=true"),
    Player("few deleted", "delete:share=0.05", "fellegi_sunter:fields=date,price"),
    Player("rare items deleted", "delete:share=0.1,which=rare_items"),
)
