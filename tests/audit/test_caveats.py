"""What could not be attacked is told, and nobody is reassured by a verdict that does not cover it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.reading import Read, attempt

from kakurenbo.audit.api import audit
from kakurenbo.audit.frames import frame_of, read_frame
from kakurenbo.audit.options import Options
from kakurenbo.audit.result import AuditResult
from kakurenbo.audit.running import run_audit
from kakurenbo.audit.schema import infer_schema
from kakurenbo.core.errors import ParameterError, UsageError


def people(count: int, seed: int) -> pl.DataFrame:
    """Made-up people, few of them alike."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "pid": [f"P{seed}-{number:05d}" for number in range(count)],
            "age": rng.integers(18, 90, count),
            "zip": rng.integers(70_000, 70_400, count),
            "sex": rng.choice(["f", "m"], count),
        }
    )


ORIGINAL, HOLDOUT, FRESH = people(400, 1), people(400, 2), people(400, 3)


def codes(result: AuditResult) -> dict[str, bool]:
    """Each caveat, and whether it blocks."""
    return {
        f"{caveat.code}:{caveat.parameters.get('column', '')}": caveat.blocks
        for caveat in result.caveats
    }


def test_a_release_of_strangers_under_the_same_names_has_no_caveat() -> None:
    result = audit(ORIGINAL.drop("pid"), FRESH.drop("pid"), holdout=HOLDOUT.drop("pid"), seed=1)
    assert codes(result) == {}


def test_an_identifier_that_is_still_there_blocks_reassurance() -> None:
    result = audit(ORIGINAL, FRESH, holdout=HOLDOUT, identifiers=("pid",), seed=1)
    assert codes(result) == {"identifier_released:pid": True}
    assert not result.caveats[0].leaks  # the identifiers of others
    assert result.verdict.exit_code == 3
    assert (
        audit(
            ORIGINAL, FRESH.with_columns(ORIGINAL["pid"]), holdout=HOLDOUT, identifiers=("pid",)
        ).verdict.exit_code
        == 1
    )
    hashed = ORIGINAL["pid"].map_elements(
        lambda name: hashlib.sha256(name.encode()).hexdigest(), return_dtype=pl.String
    )
    told = audit(
        ORIGINAL,
        FRESH.with_columns(hashed.alias("pid")),
        holdout=HOLDOUT,
        identifiers=("pid",),
        seed=1,
    )
    assert [caveat.code for caveat in told.caveats if caveat.leaks] == ["digests_of_names"]
    assert told.verdict.exit_code == 1
    assert result.as_json()["caveats"][0]["code"] == "identifier_released"


def test_columns_by_another_name_are_told() -> None:
    release = (
        FRESH.drop("pid")
        .rename({"age": "AGE", "sex": "gender"})
        .with_columns(pl.lit("x").alias("note"))
    )
    result = audit(ORIGINAL.drop("pid"), release, holdout=HOLDOUT.drop("pid"), seed=1)
    assert codes(result) == {
        "column_renamed:AGE": False,
        "column_renamed:gender": False,
        "foreign_column:note": True,
    }
    twice = release.with_columns(pl.col("AGE").reverse().alias("Age"))
    result = audit(ORIGINAL.drop("pid"), twice, holdout=HOLDOUT.drop("pid"), seed=1)
    assert codes(result)["column_by_case:AGE"]
    assert result.verdict.exit_code != 0


def test_values_that_nobody_understands_are_told_and_block() -> None:
    words = ["".join(word) for word in np.random.default_rng(4).choice(list("klmnop"), (400, 9))]
    odd = FRESH.drop("pid").with_columns(pl.Series("age", words))
    result = audit(ORIGINAL.drop("pid"), odd, holdout=HOLDOUT.drop("pid"), seed=1)
    assert codes(result)["not_understood:age"]
    assert result.verdict.exit_code != 0


def test_a_holdout_of_the_originals_people_is_refused_and_a_half_of_them_told() -> None:
    release = ORIGINAL.drop("pid").sample(fraction=1, shuffle=True, seed=1)
    nearly = pl.concat([ORIGINAL, HOLDOUT[:1]]).sample(fraction=1, shuffle=True, seed=2)
    with pytest.raises(ParameterError, match="not in the original"):
        audit(ORIGINAL, release, holdout=nearly, identifiers=("pid",), seed=1)
    half = pl.concat([ORIGINAL[:200], HOLDOUT[:200]])
    result = audit(ORIGINAL, release, holdout=half, identifiers=("pid",), seed=1)
    assert codes(result) == {"holdout_overlap:": True, "holdout_near:": True, "few_copies:": True}
    assert result.verdict.exit_code == 1


def test_a_column_that_nobody_looked_at_keeps_the_verdict_open_unless_somebody_vouches_for_it() -> (
    None
):
    """Strangers' rows beside a copy of the original in columns of other names: nothing that is attacked leaks."""
    original, holdout, fresh = (table.drop("pid") for table in (ORIGINAL, HOLDOUT, FRESH))
    release = fresh.hstack(pl.DataFrame({"note": original["zip"] * 100 + original["age"]}))
    limits = {
        "membership": 0.9,
        "singling_out": 0.9,
        "linkability": 0.9,
        "inference": 0.9,
        "records": 400,
    }
    told = audit(original, release, holdout=holdout, limits=limits, seed=1)
    assert [caveat.code for caveat in told.caveats] == ["foreign_column"]
    assert told.verdict.exit_code == 3
    vouched = audit(
        original, release, holdout=holdout, limits=limits, seed=1, ignored=release.columns[-1:]
    )
    assert [caveat.code for caveat in vouched.caveats] == ["ignored_column"]
    assert vouched.verdict.exit_code == 0


def test_a_holdout_of_other_people_is_no_control() -> None:
    original, holdout, fresh = (table.drop("pid") for table in (ORIGINAL, HOLDOUT, FRESH))
    older = holdout.sort("age")[200:]
    told = audit(original, fresh, holdout=older, seed=1)
    assert ("holdout_unlike", "age") in [
        (caveat.code, caveat.parameters["column"]) for caveat in told.caveats
    ]
    assert told.verdict.exit_code in (1, 3)
    assert not [
        caveat
        for caveat in audit(original, fresh, holdout=holdout, seed=1).caveats
        if caveat.blocks
    ]


@pytest.mark.parametrize(
    "limits", [{"membership": 15}, {"membershp": 0.1}, {"membership": "a"}, {"records": 0.5}]
)
def test_limits_in_python_are_checked_as_those_of_a_file_are(limits: dict[str, float]) -> None:
    original, holdout, fresh = (table.drop("pid") for table in (ORIGINAL, HOLDOUT, FRESH))
    with pytest.raises(ParameterError, match="limits"):
        audit(original, fresh, holdout=holdout, limits=limits)


def test_a_release_given_in_the_place_of_the_original_is_noticed(tmp_path: Path) -> None:
    original, holdout = ORIGINAL.drop("pid"), HOLDOUT.drop("pid")
    for name, table in (("original", original), ("holdout", holdout), ("release", original[:, 1:])):
        table.write_csv(tmp_path / f"{name}.csv")
    call = ["audit", "release.csv", "original.csv", "--holdout", "holdout.csv"]
    done = subprocess.run(
        [sys.executable, "-m", "kakurenbo", *call], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "swapped" in done.stderr


def test_a_group_of_commands_without_a_command_shows_its_help_line_by_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kakurenbo", "anonymize", "table"], capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "\\n" not in done.stderr
    assert len(done.stderr.splitlines()) > 20


def wide_people(count: int, seed: int) -> pl.DataFrame:
    """Made-up people of whom no two are alike in all columns."""
    rng = np.random.default_rng(seed)
    return (
        people(count, seed)
        .drop("pid")
        .with_columns(pl.Series(f"v{place}", rng.integers(0, 60, count)) for place in range(5))
    )


def test_a_few_whole_records_that_were_copied_are_told_however_few() -> None:
    original, holdout, fresh = (wide_people(500, seed) for seed in (1, 2, 3))
    for copies in (0, 1, 10):
        result = audit(
            original, pl.concat([original[:copies], fresh[copies:]]), holdout=holdout, seed=1
        )
        told = [(caveat.code, caveat.parameters["rows"], caveat.leaks) for caveat in result.caveats]
        assert told == {0: [], 1: [("few_copies", 1, False)], 10: [("copies", 10, True)]}[copies]
        assert result.verdict.exit_code == {0: 0, 1: 3, 10: 1}[copies]
    allowed = audit(
        original,
        pl.concat([original[:10], fresh[10:]]),
        holdout=holdout,
        limits={"records": 10},
        seed=1,
    )
    assert [caveat.leaks for caveat in allowed.caveats] == [False]


def test_a_holdout_that_the_release_is_made_of_is_no_control() -> None:
    original, holdout = wide_people(300, 1), wide_people(300, 2)
    with pytest.raises(ParameterError, match="of whom nothing is released"):
        audit(original, holdout.sample(fraction=1, shuffle=True, seed=1), holdout=holdout, seed=1)
    most = pl.concat([holdout[:200], wide_people(300, 3)])
    told = audit(original, most, holdout=holdout, seed=1)
    assert [
        (caveat.parameters["rows"], caveat.blocks)
        for caveat in told.caveats
        if caveat.code == "holdout_released"
    ] == [(200, True)]


def test_rows_that_stand_as_they_are_under_pseudonyms_that_nothing_tells_are_told() -> None:
    rng = np.random.default_rng(8)
    shop = pl.DataFrame(
        {
            "who": rng.integers(0, 60, 600),
            "day": rng.integers(1, 300, 600),
            "goods": rng.integers(0, 900, 600),
        }
    )
    names = dict(zip(range(60), (f"x{number}" for number in rng.permutation(60)), strict=True))
    release = shop.with_columns(pl.col("who").replace_strict(names)).sample(
        fraction=1, shuffle=True, seed=1
    )
    told = audit(shop, release, person="who", seed=1)
    assert [(one.code, one.parameters["rows"]) for one in told.caveats] == [
        ("rows_as_they_are", 600)
    ]
    assert told.verdict.exit_code == 3


def test_knowing_columns_that_are_not_released_leaves_membership_open() -> None:
    original, holdout, fresh = (wide_people(200, seed) for seed in (1, 2, 3))
    told = audit(original, fresh.drop("v0"), holdout=holdout, know=["v0"], seed=1).risks[
        "membership"
    ]
    assert (told.assessed, told.why) == (False, "nothing_known")


def test_a_report_says_how_few_records_could_not_be_told() -> None:
    original, holdout, fresh = (wide_people(500, seed) for seed in (1, 2, 3))
    records = audit(original, fresh, holdout=holdout, seed=1).records
    assert (len(records.flagged), records.fewest, records.as_json()["fewest"]) == (
        0,
        50,
        50,
    )  # 500 / .02 / 501, rounded up


@pytest.mark.parametrize("changed", [1, 2])
def test_records_that_were_copied_but_for_a_cell_or_two_are_told(changed: int) -> None:
    original, holdout, fresh = (wide_people(500, seed) for seed in (1, 2, 3))
    near = original[:20].with_columns(*(pl.col(f"v{place}") + 1 for place in range(changed)))
    told = audit(original, pl.concat([near, fresh[20:]]), holdout=holdout, seed=1)
    assert [(one.code, one.parameters["changed"], one.leaks) for one in told.caveats] == [
        ("near_copies", changed, True)
    ]
    assert 10 <= told.caveats[0].parameters["rows"] <= 21
    assert told.verdict.exit_code == 1


def test_a_holdout_of_another_size_makes_no_copies() -> None:
    """A row is more often nobody else's in a small table: both must be looked at together."""
    tables = [
        people(count, seed).select("sex", pl.col("age") // 5, pl.col("zip") // 40)
        for count, seed in ((60, 1), (3000, 2), (200, 3))
    ]
    assert audit(tables[0], tables[2], holdout=tables[1], seed=1).caveats == ()


def test_a_release_of_everybody_is_told_by_the_holdout_in_it() -> None:
    original, holdout = wide_people(300, 1), wide_people(300, 2)
    told = audit(
        original,
        pl.concat([original, holdout]).sample(fraction=1, shuffle=True, seed=1),
        holdout=holdout,
        seed=1,
    )
    assert "holdout_released" in [one.code for one in told.caveats if one.blocks]
    assert told.verdict.exit_code == 3


def test_whole_records_are_told_without_a_holdout_too() -> None:
    original, fresh = wide_people(300, 1), wide_people(300, 3)
    told = audit(original, original, seed=1)
    assert [(caveat.code, caveat.leaks) for caveat in told.caveats] == [("copies_anyway", True)]
    assert told.verdict.exit_code == 1
    assert audit(original, fresh, seed=1).caveats == ()
    texts = [
        table.with_columns(pl.Series("note", notes(300, seed)))
        for table, seed in ((original, 1), (fresh, 3))
    ]
    some = audit(texts[0], pl.concat([texts[0][:30], texts[1][30:150]]), seed=1)
    assert [one.parameters["rows"] for one in some.caveats if one.leaks] == [30]
    # A table without twins, of few values: strangers are somebody's like by accident.
    few = (
        people(4000, 5)
        .select("sex", pl.col("age") // 3, pl.col("zip") // 40)
        .unique(maintain_order=True)
    )
    others = people(400, 6).select("sex", pl.col("age") // 3, pl.col("zip") // 40)
    assert audit(few, others, seed=1).caveats == ()


def test_rows_that_chance_makes_of_a_holdout_as_often_are_no_copies() -> None:
    """Of two columns of few values nearly every released row is somebody's."""
    tables = [people(400, seed).select("sex", pl.col("age") // 10) for seed in (1, 2, 3)]
    result = audit(tables[0], tables[2], holdout=tables[1], seed=1)
    assert "copies" not in [caveat.code for caveat in result.caveats]


def test_a_holdout_of_changed_copies_is_no_control() -> None:
    original, holdout, _ = (wide_people(500, seed) for seed in (1, 2, 3))
    near = original.with_columns(pl.col("age") + 1, pl.col("v0") + 1)
    assert "holdout_near" in [
        caveat.code for caveat in audit(original, original, holdout=near, seed=1).caveats
    ]
    assert "holdout_near" not in [
        caveat.code for caveat in audit(original, original, holdout=holdout, seed=1).caveats
    ]


def test_a_released_column_that_the_schema_does_not_name_keeps_the_verdict_open() -> None:
    frames = [
        frame_of(name, wide_people(200, seed))
        for seed, name in enumerate(("original", "release", "holdout"))
    ]
    schema = infer_schema(frames[0]).only(["age", "sex"])
    result = run_audit(*frames, Options(schema=schema, seed=1))
    assert {caveat.parameters["column"] for caveat in result.caveats if caveat.code == "not_in_schema"} == {
        "zip", "v0", "v1", "v2", "v3", "v4",
    }  # fmt: skip
    assert result.verdict.exit_code in (1, 3)


def test_a_number_that_is_nearly_none_is_a_number() -> None:
    original, holdout, fresh = (wide_people(200, seed).cast({"age": float}) for seed in (1, 2, 3))
    for table in (fresh, original):
        huge = table.with_columns(
            pl.when(pl.int_range(200) == 3).then(1e308).otherwise("age").alias("age")
        )
        result = audit(huge if table is original else original, huge, holdout=holdout, seed=1)
        assert result.risks["membership"].assessed


def test_a_report_never_takes_the_place_of_what_it_is_made_of(tmp_path: Path) -> None:
    for name in ("original.json", "release.csv"):
        ORIGINAL.write_csv(tmp_path / name)
    (tmp_path / "link.html").symlink_to("release.csv")
    for out in ("original.json", "link.html"):
        call = ["audit", "original.json", "release.csv", "-o", out]
        done = subprocess.run(
            [sys.executable, "-m", "kakurenbo", *call], cwd=tmp_path, capture_output=True, text=True
        )
        assert (done.returncode, "would replace" in done.stderr) == (2, True)
    assert pl.read_csv(tmp_path / "release.csv").equals(ORIGINAL)


def test_notes_of_a_parquet_file_are_told(tmp_path: Path) -> None:
    FRESH.write_parquet(tmp_path / "release.parquet", metadata={"comment": "made of P1-00001"})
    reading = attempt(read_frame, tmp_path / "release.parquet")
    assert isinstance(reading, Read)
    assert [notice.code for notice in reading.notices] == ["audit.parquet_notes"]
    assert "comment" in str(reading.notices[0])
    assert "P1-00001" not in str(reading.notices[0])


def test_levels_of_a_parquet_file_that_no_cell_has_lie_beside_the_table(
    tmp_path: Path,
) -> None:
    towns = pl.DataFrame({"town": ["north", "south", None] * 20})
    for levels, beside in (
        (["north", "south"], ()),
        (["north", "south", "Anna of Bremen"], ("Enum town",)),
    ):
        towns.cast(pl.Enum(levels)).write_parquet(tmp_path / "release.parquet")
        reading = attempt(read_frame, tmp_path / "release.parquet")
        assert isinstance(reading, Read)
        assert reading.value.beside == beside
        assert "Anna" not in " ".join(map(str, reading.notices))


def test_identifiers_under_another_name_give_people_away_as_they_are_or_as_digests() -> None:
    md5 = ORIGINAL["pid"].map_elements(
        lambda name: hashlib.md5(name.encode()).hexdigest(), return_dtype=pl.String
    )
    for column, code in (
        (ORIGINAL["pid"].alias("ref"), "identifier_released"),
        (md5.alias("ref"), "digests_elsewhere"),
    ):
        told = audit(
            ORIGINAL,
            FRESH.drop("pid").hstack([column]),
            holdout=HOLDOUT,
            identifiers="pid",
            ignored="ref",
            seed=1,
        )
        assert [one.code for one in told.caveats if one.leaks] == [code]
        assert told.verdict.exit_code == 1


def notes(count: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{number}" for number in rng.integers(0, 500, 8)) for _ in range(count)]


def test_free_text_in_another_order_is_told_and_of_other_words_not_cleared() -> None:
    original, holdout, fresh = (
        wide_people(1200, seed).with_columns(pl.Series("note", notes(1200, seed)))
        for seed in (1, 2, 3)
    )
    shuffled = original["note"].map_elements(
        lambda note: " ".join(sorted(note.split())), return_dtype=pl.String
    )
    told = audit(original, fresh.with_columns(shuffled.alias("note")), holdout=holdout, seed=1)
    assert [(one.column, one.rule) for one in told.recoded] == [("note", "spelling")]
    assert told.verdict.exit_code == 1
    for ignored in ((), ("note",)):
        other = audit(original, fresh, holdout=holdout, ignored=ignored, seed=1)
        assert [(one.code, one.blocks) for one in other.caveats] == [("free_text", not ignored)]


def test_digits_that_the_original_does_not_have_are_not_cleared() -> None:
    original, holdout, fresh = (wide_people(300, seed) for seed in (1, 2, 3))
    hiding = fresh.with_columns(fresh["v0"] + original["age"] / 1e7 + 1e-7)
    told = [
        (one.code, one.blocks) for one in audit(original, hiding, holdout=holdout, seed=1).caveats
    ]
    assert told == [("more_digits", True)]
    assert (
        audit(original, fresh.with_columns(fresh["v0"] + 0.5), holdout=holdout, seed=1).caveats
        == ()
    )


def test_names_that_are_not_there_are_refused_before_anything_is_done() -> None:
    steps: list[str] = []
    frames = [frame_of(name, table) for name, table in (("original", ORIGINAL), ("release", FRESH))]
    for options in (Options(know=("agee",)), Options(ignored=("nothing",))):
        with pytest.raises(ParameterError, match=r"agee|nothing"):
            run_audit(*frames, None, options, steps.append)
    assert steps == []


def test_what_lies_beside_the_table_blocks(tmp_path: Path) -> None:
    """Hidden files and folders in a folder."""
    fresh, hidden = wide_people(100, 3), wide_people(100, 1).write_csv()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.csv").write_text(hidden)
    (tmp_path / ".b.csv").write_text(hidden)
    fresh.write_csv(tmp_path / "a.csv")
    reading = attempt(read_frame, tmp_path)
    assert isinstance(reading, Read)
    assert reading.value.beside == (".b.csv", "sub/")
    result = run_audit(
        frame_of("original", wide_people(100, 1)),
        reading.value,
        frame_of("holdout", wide_people(100, 2)),
        Options(),
    )
    assert [caveat.code for caveat in result.caveats if caveat.blocks] == ["beside_the_table"]


def test_a_holdout_of_other_columns_is_refused_in_words() -> None:
    original = wide_people(100, 1)
    holdout = wide_people(100, 2).rename({name: f"other {name}" for name in original.columns})
    with pytest.raises(UsageError, match="age"):
        audit(original, original, holdout=holdout, seed=1)


def test_long_cells_and_long_names_block() -> None:
    original, holdout, fresh = (wide_people(100, seed).cast(pl.String) for seed in (1, 2, 3))
    long = fresh.with_columns(
        pl.when(pl.int_range(100) == 3).then(pl.lit("9" * 500)).otherwise("sex").alias("sex")
    )
    told = {
        caveat.code
        for caveat in audit(original, long, holdout=holdout, seed=1).caveats
        if caveat.blocks
    }
    assert {"long_cells", "not_understood"} <= told
    named = fresh.rename({"sex": "sex " + "x" * 500})
    assert any(caveat.blocks for caveat in audit(original, named, holdout=holdout, seed=1).caveats)


def test_a_handful_of_rows_that_nobody_else_has_are_told_by_their_texts() -> None:
    """Numbers of which many share a code are different texts."""
    tables = []
    for seed in (1, 2, 3):
        rng = np.random.default_rng(seed)
        few = pl.DataFrame(
            {"sex": rng.choice(["f", "m"], 1500), "job": rng.choice(list("abc"), 1500)}
        )
        tables.append(few.with_columns(pl.Series("weight", rng.integers(10_000, 10_000_000, 1500))))
    original, holdout, fresh = tables
    told = audit(original, pl.concat([original[:6], fresh[6:]]), holdout=holdout, seed=1)
    assert [(one.code, one.parameters["rows"], one.leaks) for one in told.caveats] == [
        ("few_copies", 6, True)
    ]
    assert audit(original, fresh, holdout=holdout, seed=1).caveats == ()
