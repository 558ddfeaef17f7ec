"""Figures and default players of pwscup2021: releases that hold the limits, the contest's own sample, attackers."""

from __future__ import annotations

from kakurenbo.contest import Figure, Player, Unit
from kakurenbo.contest.measure import with_meanings

FIGURES = with_meanings(
    "pwscup2021",
    {
        "uniqrt": Figure(Unit.SHARE),
        "rate": Figure(Unit.SHARE),
        "odds_ratio": Figure(Unit.DISTANCE),
        "cor": Figure(Unit.DISTANCE, 2),
        "iloss": Figure(Unit.DISTANCE),
        "hits": Figure(Unit.DISTANCE),
        "recall": Figure(Unit.SHARE),
        "precision": Figure(Unit.SHARE),
        "topk": Figure(Unit.SHARE),
        "anonymization": Figure(Unit.DISTANCE),
        "attack": Figure(Unit.DISTANCE),
        "overall": Figure(Unit.NUMBER),
    },
)

# In a pipeline ``;`` stands for the comma.
_THIN = "thin:columns=gen;age;race;edu;mar;bmi;dep;pir;qm"
_DROPPED = "|".join(
    (
        "kanony:k=7;columns=race;edu;mar",
        "top:column=age;above=75",
        "top:column=bmi;above=50",
        "bottom:column=age;below=22",
        "bottom:column=bmi;below=20",
    )
)
_WORDS = "columns=gen;race;edu;mar;dep;pir;qm"

_NUMBERS = "dp:column=age;epsilon=3|dp:column=bmi;epsilon=4;whole=false"

DEFAULT_PLAYERS = (
    Player("near swaps", f"pipeline:steps={_THIN}|swap_near", "likelihood_link"),
    Player("short swaps", f"pipeline:steps={_THIN}|swap_near:reach=2;cells=3", "rlink"),
    Player("swaps among equals", f"pipeline:steps={_THIN}|swap_near:cells=1", "rlink:deleted=0"),
    Player("noisy numbers", f"pipeline:steps={_THIN}|{_NUMBERS}", "index_link"),
    Player(
        "noisy numbers and words",
        f"pipeline:steps={_THIN}|{_NUMBERS}|rr:p=0.998;{_WORDS}",
        "blind_link",
    ),
    Player("short swaps of two cells", f"pipeline:steps={_THIN}|swap_near:reach=2;cells=2"),
    Player("medium swaps of two cells", f"pipeline:steps={_THIN}|swap_near:reach=3;cells=2"),
    Player("medium swaps", f"pipeline:steps={_THIN}|swap_near:reach=3;cells=3"),
    Player(
        "short swaps with noise",
        f"pipeline:steps={_THIN}|swap_near:reach=2;cells=4|dp:column=age;epsilon=16|dp:column=bmi;epsilon=16;whole=false",
    ),
    Player(
        "the contest's sample",
        f"pipeline:steps={_DROPPED}|rr:p=0.9;{_WORDS}|dp:column=age;epsilon=1|dp:column=bmi;epsilon=2",
    ),
)
