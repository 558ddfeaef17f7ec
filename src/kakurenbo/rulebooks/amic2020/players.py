"""The field that plays amic2020 where nobody is named."""

from __future__ import annotations

from kakurenbo.contracts import Player

DEFAULT_PLAYERS = (
    Player("uniform noise", "rr:p=0.97", "nearest"),
    Player("medium noise", "rrp:p=0.95", "nearest"),
    Player("noisy jobs", "rrp:p=0.8,columns=workclass,education,occupation", "nearest:metric=onehot"),
    Player("rare suppressed", "kanony:k=3,columns=age,education", "nearest"),
    Player("synthetic", "synthetic", "nearest"),
    Player("synthetic, as in 2020", "synthetic:generator=omth17", "nearest:metric=onehot"),
    Player("light noise", "rrp:p=0.99", "likelihood"),
    Player("strong noise", "rrp:p=0.7", "nearest"),
    Player("nearly nothing", "rr:p=0.999", "nearest:metric=onehot"),
    Player("noisy families", "rrp:p=0.8,columns=marital-status,relationship", "nearest"),
    Player("rarer suppressed", "kanony:k=10,columns=age,education", "nearest:metric=onehot"),
    Player("synthetic, half", "synthetic:rows=5000", "blind"),
)
