"""Several rows per person: pseudonyms are attacked as in a contest, and rows are never taken for people."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.audit.shop import PEOPLE, pseudonymized, purchases
from tests.audit.test_audit_cli import run
from tests.reading import attempt

import kakurenbo
from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.attacks.reidentification import ReidentificationKnowledge
from kakurenbo.attacks.reidentification.pairwise import FellegiSunter
from kakurenbo.audit.clock import Clock
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.persons import Persons
from kakurenbo.audit.result import ABOVE, AuditResult
from kakurenbo.audit.transactions import read_transactions
from kakurenbo.core import Problems, Source, Table
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.data.shop import simulate_shop
from kakurenbo.data.transactions import release_bytes
from kakurenbo.rulebooks.darc2019 import Darc2019
from kakurenbo.rulebooks.darc2019.matrices import answer_of
from kakurenbo.rulebooks.darc2019.scores import reid

ROWWISE = ("membership", "singling_out", "linkability", "inference")


def audited(original: pl.DataFrame, release: pl.DataFrame, **given: object) -> AuditResult:
    found = kakurenbo.audit(original, release, person="customer", time="day", seed=1, **given)
    assert isinstance(found, AuditResult)
    return found


def test_monthly_pseudonyms_over_untouched_purchases_hide_nobody() -> None:
    table = purchases()
    result = audited(table, pseudonymized(table))
    risk = result.risks["pseudonyms"]
    assert risk.assessed
    assert risk.standing == ABOVE
    assert risk.rate is not None
    assert risk.control is not None
    assert risk.rate.value > 0.95
    assert risk.rate.of == PEOPLE // 2  # people, not rows: the other half chose the attack
    assert risk.control.value < 0.1
    assert {row.attack for row in risk.rows} == {
        "fellegi_sunter",
        "tf_idf",
        "profile",
        "rhythm",
        "names",
    }
    assert risk.chance is not None
    assert 0.005 < risk.chance < 0.02  # one of about a hundred pseudonyms of a month
    assert result.verdict.code == "leaks_by_person"


def test_under_changing_pseudonyms_rows_are_not_taken_for_people() -> None:
    table = purchases()
    result = audited(table, pseudonymized(table), holdout=purchases(9, first=500))
    for name in ROWWISE:
        assert (result.risks[name].assessed, result.risks[name].why) == (False, "several_rows")
    assert not result.records.assessed


def test_under_lasting_pseudonyms_every_person_is_one_row_of_the_other_risks() -> None:
    table = purchases()
    result = audited(table, pseudonymized(table, monthly=False), holdout=purchases(9, first=500))
    assert result.risks["pseudonyms"].standing == ABOVE
    membership = result.risks["membership"]
    assert membership.assessed
    assert membership.rate is not None
    assert result.method.targets == PEOPLE
    assert membership.rate.of <= PEOPLE
    assert membership.standing == ABOVE
    assert result.method.files["original"]["rows"] == len(table)


def test_purchases_of_others_tell_nobody_apart() -> None:
    table = purchases()
    rng = np.random.default_rng(3)
    other = pseudonymized(table)
    values = other.select("item", "price", "pieces")[rng.permutation(len(other)).tolist()]
    other = other.with_columns(values.get_columns())
    key = pl.DataFrame({"customer": table["customer"], "pseudonym": other["customer"]}).unique(
        maintain_order=True
    )
    risk = audited(table, other.sample(fraction=1, shuffle=True, seed=1), key=key).risks[
        "pseudonyms"
    ]
    assert risk.rate is not None
    assert risk.attack != "tf_idf"
    by_items = next(row for row in risk.rows if row.attack == "tf_idf")
    assert by_items.rate.value < 0.15


@pytest.mark.parametrize("holdout", [True, False])
def test_a_control_reads_chance(holdout: bool) -> None:
    table = purchases()
    others = {"holdout": purchases(9, first=500)} if holdout else {}
    control = audited(table, pseudonymized(table), **others).risks["pseudonyms"].control
    assert control is not None
    assert control.of >= PEOPLE // 2
    assert control.low < 0.03


def test_a_shuffled_release_is_assessed_with_a_key_and_not_without() -> None:
    table = purchases()
    release = pseudonymized(table)
    key = pl.DataFrame({"customer": table["customer"], "pseudonym": release["customer"]}).unique(
        maintain_order=True
    )
    shuffled = release.sample(fraction=1, shuffle=True, seed=1)
    without = audited(table, shuffled).risks["pseudonyms"]
    assert (without.assessed, without.why) == (False, "no_key")
    told, ordered = (
        audited(table, one, key=key).risks["pseudonyms"].as_json() for one in (shuffled, release)
    )
    assert told == ordered
    assert told["rate"] > 0.95


def test_two_tables_sorted_by_name_are_not_taken_for_one_order() -> None:
    table = pl.DataFrame(
        {
            "customer": [f"c{number // 4:03d}" for number in range(400)],
            "day": [f"2024-{1 + number % 4:02d}-01" for number in range(400)],
            "item": [f"item {number * 7919 % 101}" for number in range(400)],
        }
    )
    release = pseudonymized(table, monthly=False)
    frames = [
        frame_of("original", table),
        frame_of("release", release),
        frame_of("release", release.sort("customer", "day")),
    ]
    persons = Persons("customer", "day")
    ordered, sorted_by_name = (
        attempt(read_transactions, persons, frames[0], frame, None).value for frame in frames[1:]
    )
    assert getattr(ordered, "truth", None) is not None
    assert getattr(sorted_by_name, "truth", 0) is None


def test_deleted_rows_and_times_in_other_words_are_understood() -> None:
    table = purchases()
    release = pseudonymized(table).with_columns(pl.col("day").str.slice(0, 7))
    gone = np.random.default_rng(1).random(len(release)) < 0.1
    release = release.with_columns(
        pl.when(pl.Series(gone))
        .then(pl.lit("DEL" if name == "customer" else ""))
        .otherwise(pl.col(name))
        .alias(name)
        for name in release.columns
    )
    risk = audited(table, release).risks["pseudonyms"]
    assert risk.rate is not None
    assert risk.rate.value > 0.9


def test_bands_of_prices_still_tell_whose_they_are() -> None:
    table = purchases()
    bands = [
        f"{int(float(price)) // 5 * 5}-{int(float(price)) // 5 * 5 + 5}" for price in table["price"]
    ]
    release = pseudonymized(table).with_columns(pl.Series("price", bands)).drop("item", "pieces")
    risk = audited(table, release).risks["pseudonyms"]
    assert risk.rate is not None
    assert risk.baseline is not None
    assert risk.rate.value > risk.baseline + 0.1


def test_names_that_nobody_changed_are_found_by_their_names() -> None:
    table = purchases().with_columns(
        pl.lit("x").alias("item"), pl.lit("1").alias("price"), pl.lit("1").alias("pieces")
    )
    result = audited(table, table.sample(fraction=1, shuffle=True, seed=1))
    names = next(row for row in result.risks["pseudonyms"].rows if row.attack == "names")
    assert names.rate.value == 1


# -- as in the contest --------------------------------------------------------------------------------------------------


def contest_and_audit(folder: Path, original: Table, released: Table) -> tuple[float, float]:
    """The rate of Fellegi-Sunter by the contest's own steps and credit, and by an audit of the two files."""
    answer, rows = answer_of(original, released)
    shuffled = rows.take(stream(1, "order").permutation(len(rows)))
    guess = FellegiSunter()(ReidentificationKnowledge(original, shuffled), np.random.default_rng(0))
    (folder / "T.csv").write_bytes(release_bytes(original))
    (folder / "A.csv").write_bytes(release_bytes(released))
    result = kakurenbo.audit(
        folder / "T.csv",
        folder / "A.csv",
        person="id_user",
        time="date",
        identifiers=["hours"],
        seed=1,
    )
    risk = result.risks["pseudonyms"]
    assert risk.attack == "fellegi_sunter"
    return reid(answer, guess, "rules"), risk.figures["cells"]


def test_the_rate_is_that_of_darc2019_to_the_last_digit(tmp_path: Path) -> None:
    original = simulate_shop(stream(1, "shop"), 150, 400)
    method = Pipeline("swap_items:share=0.6|dates|values|delete:share=0.1|monthly_pseudonyms")
    contest, ours = contest_and_audit(
        tmp_path, original, method(original, stream(1, "release")).table
    )
    assert contest == ours
    assert 0.3 < ours < 1


@pytest.mark.parametrize("name", ["i_monthly_pseudonyms_400", "ii_dateshuffle_del10_400"])
def test_the_real_table_is_reidentified_as_in_darc2019(
    reference_data: Path, tmp_path: Path, name: str
) -> None:
    folder = reference_data / "darc" / "reference"
    handout = attempt(Darc2019().read_handout, folder / "T400.csv.gz")
    assert not isinstance(handout, Problems)
    release = attempt(
        Darc2019().read_release, handout.value, [Source.of(folder / f"{name}.csv.gz")]
    )
    assert not isinstance(release, Problems)
    contest, ours = contest_and_audit(tmp_path, handout.value.original, release.value)
    assert contest == ours
    assert ours > 0.99


# -- what is refused ----------------------------------------------------------------------------------------------------


def test_wrong_cells_are_told_by_file_line_column_value_and_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = purchases(people=50)
    table.write_csv("original.csv")
    broken = table.with_row_index().with_columns(
        pl.when(pl.col("index") == 4).then(pl.lit("32nd of May")).otherwise("day").alias("day"),
        pl.when(pl.col("index") == 7).then(pl.lit("")).otherwise("customer").alias("customer"),
    )
    broken.drop("index").write_csv("broken.csv")
    code, _, err = run(
        "audit", "broken.csv", "original.csv", "--person", "customer", "--time", "day"
    )
    assert code == 2
    assert "broken.csv:6: day" in err
    assert "2024-01-31" in err
    assert "broken.csv:9: customer" in err
    release = pseudonymized(table)
    release.write_csv("release.csv")
    (tmp_path / "key.csv").write_text("customer,pseudonym\nnobody,p0001\n")
    code, _, err = run(
        "audit", "original.csv", "release.csv", "--person", "customer", "--key", "key.csv"
    )
    assert code == 2
    assert "key.csv:2: customer" in err
    (tmp_path / "key.csv").write_text("customer,name\nc001,p0001\n")
    assert (
        "pseudonym"
        in run("audit", "original.csv", "release.csv", "--person", "customer", "--key", "key.csv")[
            2
        ]
    )


@pytest.mark.parametrize(
    "given",
    [
        ("--person", "nobody"),
        ("--person", "customer", "--time", "nothing"),
        ("--person", "customer", "--time", "customer"),
        ("--time", "day"),
        ("--person", "customer", "--time", "item"),
        ("--person", "customer", "--holdout", "original.csv"),
        ("--person", "customer", "--key", "empty.csv"),
    ],
)
def test_what_cannot_be_told_is_refused_without_a_traceback(
    given: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = purchases(people=50)
    table.write_csv("original.csv")
    pseudonymized(table).write_csv("release.csv")
    (tmp_path / "empty.csv").write_text("")
    code, out, err = run("audit", "original.csv", "release.csv", *given)
    assert code == 2
    assert "Traceback" not in out + err


def test_one_person_or_no_pseudonyms_are_not_assessed() -> None:
    table = purchases(people=1)
    assert audited(table, pseudonymized(table)).risks["pseudonyms"].why in ("no_key", "too_few")
    table = purchases()
    without = audited(table, pseudonymized(table).drop("customer")).risks["pseudonyms"]
    assert (without.assessed, without.why) == (False, "no_pseudonyms")


def test_the_order_of_the_original_s_rows_changes_nothing() -> None:
    table = purchases()
    key = pl.DataFrame(
        {"customer": table["customer"], "pseudonym": pseudonymized(table)["customer"]}
    ).unique()
    release = pseudonymized(table)
    results = [
        audited(one, release, key=key).risks["pseudonyms"].as_json()
        for one in (table, table.sort("day"))
    ]
    assert results[0] == results[1]


def test_the_command_prints_the_keys_of_the_design(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = purchases()
    table.write_csv("original.csv")
    pseudonymized(table).write_csv("release.csv")
    call = (
        "audit",
        "original.csv",
        "release.csv",
        "--person",
        "customer",
        "--time",
        "day",
        "--seed",
        "1",
    )
    code, out, _ = run(*call, "--json", "-o", "report.html")
    risk = json.loads(out)["risks"]["pseudonyms"]
    assert code == 1
    assert {
        "assessed",
        "attack",
        "rate",
        "interval",
        "control",
        "baseline",
        "chance",
        "cells",
    } <= set(risk)
    assert "pseudonyms" in Path("report.html").read_text()
    assert json.loads(out)["method"]["options"]["person"] == "customer"
    assert run(*call, "--period", "year", "--json")[0] == 1


@pytest.mark.parametrize(
    ("texts", "pattern"),
    [
        (["2024-01-31", "2024-02-01"], "%Y-%m-%d"),
        (["2024-01-31 08:15", "2024-02-01T09:00:00"], "%Y-%m-%d"),
        (["31.01.2024", "01.02.2024"], "%d.%m.%Y"),
        (["2024-01", "2024-02"], "%Y-%m"),
        (["1", "2"], ""),
    ],
)
def test_a_clock_reads_dates_times_months_and_numbers(texts: list[str], pattern: str) -> None:
    clock = Clock.of(pl.Series(texts))
    assert clock == Clock(pattern)
    periods = clock.periods(clock.times(pl.Series(texts)), "month")
    assert periods[1] - periods[0] == 1


def test_a_period_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ParameterError):
        Persons("customer", "day", "decade")
    assert isinstance(
        attempt(
            read_transactions,
            Persons("a", "b"),
            *(frame_of("x", pl.DataFrame({"a": ["1"], "b": ["?"]})) for _ in range(2)),
            None,
        ),
        Problems,
    )
