"""The field that plays pwscup2021 where nobody is named."""

from __future__ import annotations

from kakurenbo.contracts import Player

_COMPARED = "gen;age;race;edu;mar;bmi;dep;pir;qm"

DEFAULT_PLAYERS = (Player("near swaps", "pipeline:steps=thin|swap_near", "rlink"),)
