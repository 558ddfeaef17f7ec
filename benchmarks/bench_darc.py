"""darc2019 on the full T: check, E1..E6 and S1..S7, against the competition's evaluator and one pandas pass over the files."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.common import REPOSITORY, Row, best_of, peak_memory, reference_data, row
from kakurenbo.anonymizers.transactions.rows import Pseudonyms
from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.attacks.reidentification.pairwise import FellegiSunter, TfIdf
from kakurenbo.core import Source, Table, table_bytes, write_file
from kakurenbo.core.rng import stream
from kakurenbo.data.online_retail import read_transactions
from kakurenbo.data.shop import simulate_shop
from kakurenbo.data.transactions import months, release_bytes
from kakurenbo.rulebooks.darc2019.checks import read_release
from kakurenbo.rulebooks.darc2019.matrices import answer_of
from kakurenbo.rulebooks.darc2019.scores import reid
from kakurenbo.rulebooks.darc2019.utility import baselines, errors_of, measure

CASE = 3  # of the reference outputs: shuffled dates, a tenth of the rows deleted
PANDAS = "pandas: read both tables, group by user and item"
ATTACK_SECONDS, MEASURE_SECONDS, MEASURE_MB, LARGE_MB = 10.0, 6.0, 3000.0, 8000.0


def run() -> list[Row]:
    folder = reference_data()
    original, released, recorded = _files(folder)
    rows = []
    pandas_seconds = best_of(3, lambda: _pandas_pass(original, released))
    for mode in ("rules", "aicrowd"):
        seconds = best_of(3, lambda mode=mode: _measure(original, released, mode))
        rows.append(
            row(
                f"darc2019: check + E1..E6 + S1..S7 of T, {mode}",
                seconds,
                "the limit",
                MEASURE_SECONDS,
                "ratio ≤ 1",
            )
        )
        rows.append(row(f"the same, {mode}", seconds, PANDAS, pandas_seconds, "ratio ≤ 3"))
        if recorded:
            rows.append(
                row(
                    f"the same, {mode}",
                    seconds,
                    "the competition's evaluator, as recorded",
                    recorded,
                    "ratio ≤ 0.01",
                )
            )
        checked = best_of(3, lambda mode=mode: _read(original, released, mode))
        rows.append(
            row(
                f"darc2019: read T, check A(T), {mode}",
                checked,
                PANDAS,
                pandas_seconds,
                "ratio ≤ 1.5",
            )
        )
    call = f"_measure(Path({str(original)!r}), Path({str(released)!r}), 'rules')"
    code = f"from pathlib import Path; from benchmarks.bench_darc import _measure; {call}"
    rows.append(
        row("darc2019: peak memory, MB", peak_memory(code), "the limit", MEASURE_MB, "ratio ≤ 1")
    )
    rows.append(
        row(
            "darc2019: one fellegi_sunter attack on T",
            _attack(original, released),
            "the limit",
            ATTACK_SECONDS,
            "ratio ≤ 1",
        )
    )
    small, large = (min(_linear_part(customers) for _ in range(2)) for customers in (4_034, 40_340))
    rows.append(
        row(
            "check + E1..E6 + S1..S6, 40,340 customers",
            large,
            "4,034 customers",
            small,
            "ratio ≤ 15",
        )
    )
    code = "from benchmarks.bench_darc import _attack_a_large_shop; _attack_a_large_shop()"
    rows.append(
        row(
            "S7, tfidf and fellegi_sunter with 40,340 customers, peak MB",
            peak_memory(code),
            "the limit",
            LARGE_MB,
            "ratio ≤ 1",
        )
    )
    return rows


def _files(folder: Path | None) -> tuple[Path, Path, float | None]:
    """T, a release of it, and the evaluator's seconds; a simulated shop where the real T is not there."""
    if folder is not None:
        case = json.loads((folder / "darc" / "reference" / "reference.json").read_text())["cases"][
            CASE
        ]
        seconds = sum(value for name, value in case["time_s"].items() if name != "e2_enabled")
        return folder / "darc" / case["T"], folder / "darc" / "reference" / case["A"], seconds
    shop = simulate_shop(stream(1, "bench", "shop"))
    target = REPOSITORY / "out" / "bench"
    write_file(target / "T.csv.gz", table_bytes(shop, header=True))
    write_file(
        target / "A.csv.gz", release_bytes(Pseudonyms()(shop, stream(1, "bench", "release")).table)
    )
    return target / "T.csv.gz", target / "A.csv.gz", None


def _measure(original: Path, released: Path, mode: str) -> None:
    measure(*_read(original, released, mode), mode)


def _read(original: Path, released: Path, mode: str) -> tuple[Table, Table]:
    """T and A(T), with every check."""
    table = read_transactions(
        Source.of(original)
    )  # not read_original, which remembers what it read last
    return table, read_release(Source.of(released), table, mode)


def _pandas_pass(original: Path, released: Path) -> None:
    for path in (original, released):
        table = pd.read_csv(path, dtype={"id_user": str, "id_item": str})
        table.groupby(["id_user", "id_item"])["qty"].sum()


def _attack(original: Path, released: Path) -> float:
    table, release = _read(original, released, "rules")
    known = ReidentificationKnowledge(table, answer_of(table, release)[1])
    return best_of(2, lambda: FellegiSunter()(known, stream(1, "bench")))


def _linear_part(customers: int) -> float:
    """Seconds of everything that must grow with the rows only."""
    shop = simulate_shop(stream(1, "bench", "shop"), customers)
    data = release_bytes(Pseudonyms()(shop, stream(1, "bench", "release")).table)
    begun = time.perf_counter()
    release = read_release(Source("A.csv", data), shop, "rules")
    errors_of(shop, release, "rules")
    answer, rows = answer_of(shop, release)
    known = ReidentificationKnowledge(shop, rows)
    for name, attack in baselines("rules").items():
        if name != "S7":
            reid(answer, attack(known, stream(1, "unused")), "rules")
    return time.perf_counter() - begun


def _attack_a_large_shop() -> None:
    """The busiest month alone: months are attacked one after the other, so it makes the peak."""
    shop = simulate_shop(stream(1, "bench", "shop"), 40_340)
    shop = shop.take(months(shop) == np.bincount(months(shop)).argmax())
    released = Pseudonyms()(shop, stream(1, "bench", "release")).table
    known = ReidentificationKnowledge(shop, answer_of(shop, released)[1])
    for attack in (baselines("rules")["S7"], TfIdf(), FellegiSunter()):
        attack(known, stream(1, "unused"))
