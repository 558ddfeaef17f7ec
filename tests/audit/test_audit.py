"""What an audit finds in releases whose answers are known."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.audit.census import in_tens, parts, relabelled, swapped
from tests.reading import Read, attempt

import kakurenbo
from kakurenbo.audit.encoding import encode
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.limits import DEFAULTS, held_to, read_limits, verdict_of, worse_than
from kakurenbo.audit.recoding import undo_recoding
from kakurenbo.audit.report import html_audit, markdown_audit
from kakurenbo.audit.report.words import beside
from kakurenbo.audit.result import (
    ABOVE,
    INCONCLUSIVE,
    WITHIN,
    AuditResult,
    ExposedRecord,
    ExposedRecords,
    Risk,
)
from kakurenbo.audit.schema import infer_schema
from kakurenbo.audit.statistics import excess, rate
from kakurenbo.core import Problems, Source
from kakurenbo.core.errors import ParameterError

SIZE = 1500
Tables = tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]


@pytest.fixture(scope="module")
def tables() -> Tables:
    return parts(SIZE)


@pytest.fixture(scope="module")
def found(tables: Tables) -> dict[str, AuditResult]:
    original, holdout, strangers = tables
    rng = np.random.default_rng(2)
    releases = {
        "identity": original,
        "relabelled": relabelled(original, rng),
        "bands": in_tens(original, "age", "hours-per-week"),
        "fresh": strangers,
    }
    return {
        name: kakurenbo.audit(original, release, holdout=holdout, seed=3)
        for name, release in releases.items()
    }


@pytest.mark.parametrize("name", ["identity", "relabelled", "bands"])
def test_a_release_of_the_people_themselves_is_found_out(
    name: str, found: dict[str, AuditResult]
) -> None:
    result = found[name]
    assert result.verdict.exit_code == 1
    assert result.risks["membership"].standing == ABOVE
    assert result.risks["membership"].figures["top100"] >= 95
    assert len(result.records.flagged) > SIZE / 5
    for risk in ("singling_out", "linkability", "inference"):
        gained = result.risks[risk].excess
        assert gained is not None
        assert gained.low > 0


def test_strangers_give_nobody_away(found: dict[str, AuditResult]) -> None:
    result = found["fresh"]
    assert result.records.flagged == ()
    assert ABOVE not in {risk.standing for risk in result.risks.values()}
    assert result.verdict.exit_code != 1


def test_renamed_values_are_undone_before_anything_else(found: dict[str, AuditResult]) -> None:
    assert len(found["relabelled"].recoded) >= 7
    assert {result.risks["recoding"].standing for result in found.values()} == {
        "no_limit"
    }  # whatever was undone
    assert found["identity"].recoded == found["fresh"].recoded == ()
    undone, plain = (
        found[name].risks["membership"].figures["tpr_at_0.01"]
        for name in ("relabelled", "identity")
    )
    assert undone > 0.9 * plain


def test_the_document_has_no_nan_and_the_stable_keys(found: dict[str, AuditResult]) -> None:
    content = json.loads(json.dumps(found["identity"].as_json(), allow_nan=False))
    assert {"verdict", "risks", "records", "utility"} <= set(content)
    assert {
        "tpr_at_0.001",
        "tpr_at_0.01",
        "top100",
        "assessed",
        "attack",
        "rate",
        "interval",
        "control",
        "baseline",
    } <= set(content["risks"]["membership"])
    assert content["records"]["level"] == 0.05
    assert "values" not in content["records"]["listed"][0]


def test_the_same_seed_gives_the_same_document(tables: Tables) -> None:
    original, holdout, _ = (table[:300] for table in tables)
    one, other = (
        kakurenbo.audit(original, original, holdout=holdout, seed=5).as_json() for _ in range(2)
    )
    assert one == other


def test_without_a_holdout_membership_is_not_assessed_and_nothing_passes(tables: Tables) -> None:
    original, _, strangers = (table[:300] for table in tables)
    result = kakurenbo.audit(original, strangers)
    assert (result.risks["membership"].assessed, result.risks["membership"].why) == (
        False,
        "no_holdout",
    )
    assert not result.records.assessed
    assert {result.risks[name].standing for name in DEFAULTS if name != "records"} <= {
        INCONCLUSIVE,
        WITHIN,
        "not_assessed",
    }
    assert result.verdict.exit_code == 3


@pytest.mark.parametrize("name", ["identity", "bands", "relabelled"])
def test_without_a_holdout_a_copy_is_told_by_what_could_be_known_without_it(
    name: str, tables: Tables
) -> None:
    original = tables[0]
    bands, renamed = (
        in_tens(original, "age", "hours-per-week"),
        relabelled(original, np.random.default_rng(2)),
    )
    result = kakurenbo.audit(
        original, {"identity": original, "bands": bands, "relabelled": renamed}[name], seed=3
    )
    assert result.risks["membership"].standing == "not_assessed"
    assert {result.risks[risk].standing for risk in ("linkability", "inference")} == {ABOVE}
    assert name == "relabelled" or result.risks["singling_out"].standing == ABOVE
    assert (result.verdict.code, result.verdict.exit_code) == ("leaks_anyway", 1)
    assert result.verdict.parameters["copies"] > SIZE / 2


@pytest.mark.parametrize("held", [1, 39])
def test_a_holdout_that_is_too_small_hides_nothing_that_is_told_without_one(
    held: int, tables: Tables
) -> None:
    original, holdout, _ = tables
    without, small = (
        kakurenbo.audit(original, original, holdout=some, seed=3) for some in (None, holdout[:held])
    )
    assert small.verdict.exit_code == without.verdict.exit_code == 1
    assert (small.risks["membership"].assessed, small.risks["membership"].why) == (False, "too_few")
    for name in ("singling_out", "linkability", "inference"):
        told = [
            (one.assessed, one.standing, one.attack, one.rate, one.excess)
            for one in (without.risks[name], small.risks[name])
        ]
        assert told[0] == told[1]
        assert told[0][1] == ABOVE


def test_of_a_holdout_that_is_too_small_every_report_says_how_small_it_is_and_what_it_takes(
    tables: Tables,
) -> None:
    original, holdout, strangers = tables
    result = kakurenbo.audit(original[:200], strangers[:200], holdout=holdout[:10], seed=3)
    reports = (html_audit(result), markdown_audit(result), result._repr_html_())
    for told in reports:
        assert "too few records (holdout: 10 rows); at least 40 are needed" in told
    for told in (
        *reports[:2],
        *(
            " ".join(beside(risk, result))
            for name, risk in result.risks.items()
            if name == "linkability"
        ),
    ):
        assert "the holdout has 10 rows of fewer than 40 people" in told
        assert "without --holdout" not in told


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("held", [0, 1])
def test_one_person_is_too_few(rows: int, held: int, tables: Tables) -> None:
    original, holdout, _ = tables
    result = kakurenbo.audit(
        original[:rows], original[:rows], holdout=holdout[:held] if held else None
    )
    assert result.verdict.exit_code == 3
    for name in ("singling_out", "linkability", "inference"):
        assert (result.risks[name].assessed, result.risks[name].why) == (False, "too_few")


@pytest.mark.parametrize("seed", range(2))
def test_without_a_holdout_columns_that_follow_from_each_other_accuse_no_release_of_strangers(
    seed: int,
) -> None:
    """A postcode tells its town to anybody: chance alone, 1 / n, would call that a link."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 400, (2, 800))
    columns = {"postcode": codes, "town": codes * 7 % 401, "age": rng.integers(18, 90, (2, 800))}
    original, strangers = (
        pl.DataFrame({name: values[side] for name, values in columns.items()}) for side in (0, 1)
    )
    holes = (
        pl.when(pl.Series(rng.random(800) < 0.4))
        .then(pl.lit("*"))
        .otherwise(pl.col("town").cast(pl.String))
        .alias("town")
    )
    for release in (strangers, pl.concat([strangers, strangers]), strangers.with_columns(holes)):
        result = kakurenbo.audit(original, release, seed=seed)
        assert result.risks["linkability"].rate is not None
        assert result.risks["linkability"].rate.value > 0.1
        assert ABOVE not in {risk.standing for risk in result.risks.values()}
        assert result.verdict.exit_code == 3


def test_people_who_were_certainly_not_there_leak_too(tables: Tables) -> None:
    original, holdout, strangers = tables
    keys = [pl.concat_str(pl.all(), separator="|")]
    own = original.select("sex", "education", "relationship", "income")
    others, more = (table.select(own.columns) for table in (holdout, strangers))
    known = set(own[:700].select(keys).to_series())  # of rows that nobody of the original may have
    release = pl.concat([others, more])
    release = release.filter(~release.select(keys).to_series().is_in(list(known)))
    absent = own.filter(
        ~own.select(keys).to_series().is_in(release.select(keys).to_series().to_list())
    )
    result = kakurenbo.audit(absent, release, holdout=others, seed=1)
    row = next(row for row in result.risks["membership"].rows if row.attack == "non_members")
    assert row.excess is not None
    assert row.excess.low > 0
    assert result.risks["membership"].why == "non_members"


def test_pandas_frames_and_files_are_audited_alike(tables: Tables, tmp_path: Path) -> None:
    original, holdout, strangers = (table[:200] for table in tables)
    paths = []
    for name, table in (("o", original), ("r", strangers), ("h", holdout)):
        table.write_csv(tmp_path / f"{name}.csv")
        paths.append(tmp_path / f"{name}.csv")
    by_file = kakurenbo.audit(paths[0], paths[1], holdout=paths[2])
    by_frame = kakurenbo.audit(*(pd.DataFrame(table.to_dict(as_series=False)) for table in (original, strangers)),
                               holdout=pd.DataFrame(holdout.to_dict(as_series=False)))  # fmt: skip
    assert by_file.as_json()["risks"] == by_frame.as_json()["risks"]


def test_columns_that_are_not_there_are_named(tables: Tables) -> None:
    original = tables[0][:50]
    with pytest.raises(ParameterError, match="wage"):
        kakurenbo.audit(original, original, know=["wage"])
    with pytest.raises(ParameterError, match="release"):
        kakurenbo.audit(
            original, pl.DataFrame({"colour": ["red", "green"] * 25, "line": range(50)})
        )


# -- encoding ---------------------------------------------------------------------------------------------------------


def test_bands_prefixes_lists_and_stars_stand_for_what_they_cover() -> None:
    original = pl.DataFrame(
        {"age": ["31", "39", "40", "?"], "zip": ["1010", "1020", "2020", "2030"]}
    )
    release = pl.DataFrame(
        {"age": ["30-39", "40", "*", ""], "zip": ["10**", "{1020|2020}", "2030", "*"]}
    )
    schema = infer_schema(frame_of("o", original))
    coded = encode(schema, ("age", "zip"), frame_of("o", original), frame_of("r", release), None)
    age, code = coded.columns
    covered = {text: age.covers[:, place].tolist() for place, text in enumerate(age.shown)}
    assert covered == {
        "30-39": [True, True, False, False],
        "40": [False, False, True, False],
        "*": [True] * 4,
        "": [False, False, False, True],
    }
    covered = {text: code.covers[:4, place].tolist() for place, text in enumerate(code.shown)}
    assert covered["10**"] == [True, True, False, False]
    assert covered["{1020|2020}"] == [False, True, True, False]
    assert covered["*"] == [True] * 4


def test_rounded_numbers_stand_for_what_they_round() -> None:
    ages = [str(age) for age in range(20, 60)] * 5
    rounded = [str(int(age) // 10 * 10) for age in ages]
    frames = [frame_of("t", pl.DataFrame({"age": values})) for values in (ages, rounded)]
    column = encode(infer_schema(frames[0]), ("age",), *frames, None).columns[0]
    twenty = column.shown.index("20")
    assert column.covers[:-1, twenty].tolist() == [True] * 10 + [False] * 30


def test_recoding_leaves_honest_columns_alone(tables: Tables) -> None:
    original, holdout, _ = tables
    release = swapped(original, 0.5, np.random.default_rng(0))
    frames = [frame_of("t", table) for table in (original, release, holdout)]
    coded = encode(infer_schema(frames[0], frames[2]), original.columns, *frames)
    assert undo_recoding(coded, np.concatenate([coded.original, coded.holdout]))[1] == ()


# -- limits -----------------------------------------------------------------------------------------------------------


def risk(hits: int, control: int, p_value: float = 0.0, name: str = "linkability") -> Risk:
    one, other = rate(hits, 500), rate(control, 500)
    return Risk(name, True, "", "row_model", one, other, excess(one, other), p_value=p_value)


def test_a_risk_is_above_its_limit_by_its_lower_bound_and_within_it_by_its_upper() -> None:
    assert held_to(risk(200, 10), DEFAULTS).standing == ABOVE
    assert held_to(risk(12, 10), DEFAULTS).standing == WITHIN
    assert held_to(risk(60, 10), DEFAULTS).standing == INCONCLUSIVE
    assert held_to(risk(200, 10, p_value=0.2), DEFAULTS).standing == INCONCLUSIVE


@pytest.mark.parametrize(
    ("hits", "strict", "code"), [(12, False, 0), (60, False, 3), (60, True, 1), (200, False, 1)]
)
def test_exit_codes_follow_from_bounds(hits: int, strict: bool, code: int) -> None:
    risks = {"linkability": held_to(risk(hits, 10), DEFAULTS)}
    assert (
        verdict_of(risks, ExposedRecords(True, 0.05, 9), DEFAULTS, (), strict=strict).exit_code
        == code
    )


def test_a_single_exposed_record_is_too_many_unless_the_limit_says_otherwise() -> None:
    records = ExposedRecords(True, 0.05, 9, (ExposedRecord("0" * 16, 1.0, 0.001),))
    assert verdict_of({}, records, DEFAULTS, (), strict=False).exit_code == 1
    assert verdict_of({}, records, {**DEFAULTS, "records": 1}, (), strict=False).exit_code == 0


def test_a_regression_is_an_interval_above_that_of_the_baseline() -> None:
    before = {"risks": {"linkability": risk(12, 10).as_json()}}
    assert worse_than({"linkability": risk(200, 10)}, before) == ("linkability",)
    assert worse_than({"linkability": risk(14, 10)}, before) == ()


@pytest.mark.parametrize(
    "content",
    ["colour = 1", "membership = 2", 'membership = "x"', "membership = true", "records = -1"],
)
def test_a_limit_that_is_none_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(content)
    assert isinstance(attempt(read_limits, Source.of(tmp_path / "limits.toml")), Problems)


def test_limits_that_are_not_named_keep_their_defaults(tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text("membership = 0.5\nrecords = 3")
    reading = attempt(read_limits, Source.of(tmp_path / "limits.toml"))
    assert isinstance(reading, Read)
    assert reading.value == {**DEFAULTS, "membership": 0.5, "records": 3}
