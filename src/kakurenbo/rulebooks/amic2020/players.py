"""The field that plays amic2020 where nobody is named: releases that hold the thresholds, and attackers that differ.

Among the first, whom the demo plays, are a naive and a strong defence, an attacker who looks at nothing, and our best one.
Teams beyond the attacks there are only anonymize: the same attack twice would show the same figures twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from kakurenbo.contest import Player

_FULL = (
    Player("synthetic", "synthetic", "nearest"),
    Player("noisy education", "rrp:p=0.8,columns=education", "likelihood"),
    Player("other people", "hideout", "blind"),
    Player("rare suppressed", "kanony:k=2,columns=workclass,education", "champion:shadows=2"),
    Player("synthetic without the rare", "pipeline:steps=kanony:k=2|synthetic"),
    Player("medium noise", "rrp:p=0.95"),
    Player("a little less synthetic", "synthetic:rows=9900"),
    Player("noisy jobs", "rrp:p=0.95,columns=workclass,education,occupation"),
    Player("noisy workplaces", "rrp:p=0.9,columns=workclass"),
    Player("noisy families", "rrp:p=0.97,columns=marital-status,relationship"),
    Player("rare ages suppressed", "kanony:k=2,columns=age"),
    Player("nearly nothing", "rr:p=0.999"),
    Player("noisy sexes", "rrp:p=0.9,columns=sex"),
)

# With a tenth of the records the same noise moves covariances three times as far: only lighter noise holds the thresholds.
_SMALL = (
    Player("noisy workplaces", "rrp:p=0.95,columns=workclass", "nearest"),
    Player("noisy education", "rrp:p=0.98,columns=education", "likelihood"),
    Player("noisy sexes", "rrp:p=0.96,columns=sex", "blind"),
    Player(
        "noisy families", "rrp:p=0.99,columns=marital-status,relationship", "champion:shadows=2"
    ),
    Player("noisy jobs", "rrp:p=0.99,columns=workclass,education,occupation"),
    Player("synthetic", "synthetic"),
    Player("noisy incomes", "rrp:p=0.98,columns=income"),
    Player("noisy occupations", "rrp:p=0.99,columns=occupation"),
)

DEFAULT_PLAYERS: Mapping[str, tuple[Player, ...]] = {"full": _FULL, "small": _SMALL}
"""By the scale of the contest."""
