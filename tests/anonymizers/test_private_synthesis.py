"""`mst` and `aim`: what is noisy, what the budget adds up to, and, where the extra is installed, whole releases."""

from __future__ import annotations

import importlib.util
import math
import sys

import numpy as np
import pytest

from kakurenbo.anonymizers.tables.private_synthesis import (
    AIM,
    MST,
    bin_widths,
    choose,
    noise_of,
    spanning_tree,
    undo_bins,
)
from kakurenbo.contest import Anonymizer
from kakurenbo.core import Category, Integer, Schema, Table
from kakurenbo.core.errors import UsageError

SCHEMA = Schema(
    [Integer("age", 17, 90), Category("job", tuple("abcd")), Integer("grams", 0, 2**40)]
)
needs_mbi = pytest.mark.skipif(
    not importlib.util.find_spec("mbi"), reason="pip install 'kakurenbo[dp]'"
)


def people(rows: int) -> Table:
    draw = np.random.default_rng(5)
    age = draw.integers(0, 74, rows)
    return Table(
        SCHEMA,
        {"age": age, "job": np.clip(age // 20, 0, 3), "grams": draw.integers(0, 2**40, rows)},
    )


@pytest.mark.parametrize("method", [MST(), AIM()])
def test_without_the_extra_one_line_says_what_to_install(
    method: Anonymizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(UsageError, match=r"pip install 'kakurenbo\[dp\]'"):
        method(people(10), np.random.default_rng(0))


def test_wide_ranges_are_cut_by_their_domain_and_not_by_their_records() -> None:
    table, widths = people(50), bin_widths(SCHEMA, 20)
    assert widths == {"age": 4, "job": 1, "grams": (2**40 + 20) // 20}
    codes = {name: table.codes[name].astype(np.int64) // width for name, width in widths.items()}
    again = undo_bins(SCHEMA, codes, 20, np.random.default_rng(0))
    assert np.abs(again.values("age") - table.values("age")).max() < 4
    assert again.codes["job"].tolist() == table.codes["job"].tolist()
    assert again.codes["grams"].max() <= 2**40


def test_a_marginal_costs_what_its_noise_hides_of_one_changed_record() -> None:
    # A changed record moves two cells by 1: rho = sensitivity^2 / (2 deviation^2) = 2 / (2 * 5^2)
    assert noise_of(2 / 50) == pytest.approx(5.0)


def test_the_exponential_mechanism_has_odds_of_the_score_over_twice_its_sensitivity() -> None:
    rng = np.random.default_rng(1)
    taken = np.mean([choose(np.array([0.0, 4.0]), 1.0, rng) for _ in range(20_000)])
    assert taken == pytest.approx(1 / (1 + math.exp(-1)), abs=0.015)  # e^(4 / (2 * 2)) to 1


def test_a_tree_ties_all_columns_by_the_pairs_that_are_told_worst() -> None:
    off = {
        ("a", "b"): 900.0,
        ("a", "c"): 800.0,
        ("b", "c"): 850.0,
        ("a", "d"): 0.0,
        ("b", "d"): 5.0,
        ("c", "d"): 700.0,
    }
    assert set(spanning_tree("abcd", off, 50.0, np.random.default_rng(0))) == {
        ("a", "b"),
        ("b", "c"),
        ("c", "d"),
    }


@pytest.mark.slow
@needs_mbi
@pytest.mark.parametrize("method", [MST(epsilon=5.0, bins=20), AIM(epsilon=5.0, bins=20)])
def test_a_release_claims_its_budget_and_keeps_what_ties_columns(method: Anonymizer) -> None:
    table = people(1000)
    state = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    first, second = (method(table, np.random.default_rng(1)) for _ in range(2))
    assert first.table == second.table
    assert np.random.get_state()[1].tolist() == state, "the library's randomness is put back"  # type: ignore[index]  # noqa: NPY002
    assert first.claims == {"epsilon": 5.0, "delta": 1e-6}
    assert len(first.table) == 1000
    assert np.corrcoef(first.table.codes["age"], first.table.codes["job"])[0, 1] > 0.8
