"""pwscup2021: measuring a release of full size against plain frames, and a tournament of 14 x 14."""

from __future__ import annotations

import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.common import Row, best_of, row
from kakurenbo import arena
from kakurenbo.arena.calls import MethodCall
from kakurenbo.core import Source, Table
from kakurenbo.core.rng import stream
from kakurenbo.data import health as nhanes
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2021 import Handout, Pwscup2021
from kakurenbo.rulebooks.pwscup2021.data import generated_table
from kakurenbo.rulebooks.pwscup2021.fields import DEFAULT_PLAYERS

TEAMS = 14
ATTACKS = ("likelihood_link", "rlink", "rlink:deleted=0", "rlink:deleted=0.25")
BOOK = Pwscup2021(round="main", data="embedded")


def run() -> list[Row]:
    handout = Handout(
        "01", generated_table(nhanes.embedded_statistics(), nhanes.ROWS, stream(1, "bench", "B"))
    )
    release = BOOK.anonymize(
        handout, registry.build("anonymizers", DEFAULT_PLAYERS[0].anonymizer), stream(1, "bench")
    )
    files = [Source(name, data) for name, data in BOOK.release_files(handout, release).items()]

    def measure() -> None:
        fresh = Handout(
            "01", Table(handout.table.schema, handout.table.codes)
        )  # nothing is remembered of it
        BOOK.measure(fresh, BOOK.read_release(fresh, files))

    frames = [_frame(table) for table in (handout.table, release.table)]
    plain = best_of(1, lambda: _plainly(*frames))
    with tempfile.TemporaryDirectory() as folder:
        seconds = tournament(2, Path(folder) / "run")
    return [
        row(
            "pwscup2021: check and measure a release",
            best_of(5, measure),
            "pandas and scikit-learn",
            plain,
            "≤ 1 s",
        ),
        row(
            "pwscup2021: tournament of 14 x 14, 2 workers",
            seconds,
            "limit of 60 s",
            60,
            "ratio ≤ 1",
        ),
    ]


def tournament(workers: int, out: Path) -> float:
    """Seconds of a main round of full size, from the plan to the report."""
    entrants = [
        arena.Entrant(
            f"{number + 1:02d}",
            f"team {number + 1}",
            MethodCall.parsed(
                "anonymizers", DEFAULT_PLAYERS[number % len(DEFAULT_PLAYERS)].anonymizer
            ),
            MethodCall.parsed("attacks", ATTACKS[number % len(ATTACKS)]),
        )
        for number in range(TEAMS)
    ]
    begun = time.perf_counter()
    document = arena.play_tournament(
        arena.make_plan(BOOK, entrants, 1), out, arena.processes(workers), arena.Settings()
    ).document
    seconds = time.perf_counter() - begun
    if document.attack_count != TEAMS * TEAMS or document.failures:
        raise RuntimeError(
            f"{document.attack_count} attacks were played, and {len(document.failures)} jobs did not succeed"
        )
    return seconds


def _frame(table: Table) -> pd.DataFrame:
    return pd.DataFrame({name: table.values(name) for name in table.schema.names})


def _plainly(before: pd.DataFrame, after: pd.DataFrame) -> float:
    """The same figures the plain way: groups, dummies and a solver on frames."""
    found = []
    for frame in (before, after):
        words = frame.select_dtypes(exclude="number").columns
        dummies = pd.get_dummies(
            frame.drop(columns=["gh", "mets", "dia"]), columns=list(words), drop_first=True
        ).astype(float)
        LogisticRegression(C=np.inf, max_iter=5000, tol=1e-9).fit(dummies, frame["dia"])
        correlations = pd.get_dummies(frame, columns=list(words)).corr()
        cut = frame.assign(
            age=pd.cut(frame["age"], [19, 44, 64, 80]),
            bmi=pd.cut(frame["bmi"], [15, 18.5, 25, 30, 70]),
        )
        variables = [name for name in frame.columns if name not in ("gh", "mets", "dia")]
        counts = [cut.groupby([name, "dia"], observed=False).size() for name in variables]
        found.append((correlations, counts))
    return sum(float(np.abs(one[0] - other[0]).max().max()) for one, other in pairwise(found))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        print(tournament(2, Path(folder) / "run"))
