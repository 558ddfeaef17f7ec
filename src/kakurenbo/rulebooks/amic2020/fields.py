"""Figures and default players of amic2020.

Among the first players, who play the demo, are a naive and a strong defence, an attacker who looks at nothing, and our best
attacker. Further players only anonymize: the same attack twice would show the same figures twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from kakurenbo.contest import Figure, Player, Unit
from kakurenbo.contest.measure import with_meanings
from kakurenbo.rulebooks.amic2020.files import GUESSES
from kakurenbo.rulebooks.amic2020.scores import POINTS
from kakurenbo.rulebooks.amic2020.utility import INCOME_CLASSES

_SIMILARITY = Figure(Unit.SIMILARITY, 1)
_UNBOUNDED = Figure(Unit.SIMILARITY)  # a reciprocal: equal tables have an infinite one
_POINTS = Figure(Unit.SIMILARITY, 1, shown_times=POINTS)

FIGURES = with_meanings(
    "amic2020",
    {
        "histogram": _SIMILARITY,
        **dict.fromkeys(("vcm", "vcm_edition1", "vcm_edition2"), _UNBOUNDED),
        **dict.fromkeys(("dta_relationship", "dta_income", *INCOME_CLASSES.values()), _SIMILARITY),
        "max_histogram_error": Figure(Unit.SHARE),
        "max_correlation_difference": Figure(Unit.DISTANCE),
        **dict.fromkeys(("k", "l"), Figure(Unit.COUNT)),
        **dict.fromkeys(("l_entropy", "epsilon", "Pk"), Figure(Unit.NUMBER)),
        "t": Figure(Unit.DISTANCE),
        **dict.fromkeys(("delta_presence", "delta_absence"), Figure(Unit.SHARE)),
        "hits": Figure(Unit.COUNT, GUESSES),
        "anonymization": _POINTS,
        "attack": _POINTS,
        # The best is the first of both rankings: 1 / (1 + 1).
        "overall": Figure(Unit.SIMILARITY, 0.5, shown_times=POINTS),
    },
)

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
