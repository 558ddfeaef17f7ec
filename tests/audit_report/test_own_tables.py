"""Anonymizers on tables of one's own: every kind of column goes in and comes out as it was written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.calling import call
from tests.reading import Read, attempt

from kakurenbo.anonymizers.pipeline import Pipeline
from kakurenbo.anonymizers.tables.randomized_response import RandomizedResponse
from kakurenbo.anonymizers.tables.swap import SwapNear
from kakurenbo.anonymizers.tables.synthetic import Synthetic
from kakurenbo.audit.anonymizing import PROBE, anonymized, storages
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.schema import infer_schema
from kakurenbo.core import Date, Decimal, Integer, Schema, Table, Text
from kakurenbo.core.rng import stream
from kakurenbo.data.hospital import hospital
from kakurenbo.methods import registry

TABLE = """age,sex,weight,seen,note,size
31,f,61.50,2024-02-29,quite well,4.2
+8,m,20.25,2023-12-31,"tired, and cold",
55,f,70.00,2024-01-01,NA,5.0
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "own.csv"
    path.write_text(TABLE, "utf-8")
    return path


def test_what_nobody_changes_comes_out_as_it_went_in_in_every_way_to_store_it() -> None:
    cells = pl.read_csv(TABLE.encode(), infer_schema=False).fill_null("")
    frame = frame_of("own", cells)
    schema = infer_schema(frame)
    for stored in storages(frame, schema):
        for one in stored:
            texts = cells[one.told.name]
            made = Table.from_encoded(
                Schema([one.column]),
                {one.told.name: texts if isinstance(one.column, Text) else one.encode(texts)},
            )
            # A number is written as numbers are: without a plus.
            assert one.written(made).to_list() == [
                text.removeprefix("+") for text in texts.to_list()
            ], one


def test_a_method_gets_the_richest_kinds_that_it_takes() -> None:
    cells = pl.DataFrame({"day": ["2024-01-01", "2024-01-03"], "x": ["0.5", "1.25"]})
    frame = frame_of("own", cells)
    own, plain, whole = (
        [type(one.column) for one in stored] for stored in storages(frame, infer_schema(frame))
    )
    assert own == [Date, Decimal]
    assert plain == [Integer, Decimal]
    assert whole == [Integer, Integer]


@pytest.mark.parametrize(
    "method",
    [
        RandomizedResponse(p=0.5),
        Synthetic(),
        SwapNear(reach=400, cells=9),
        Pipeline("top:column=age,above=90|rr:p=0.5"),
    ],
)
def test_methods_run_on_a_hospital_and_give_values_of_its_columns(method: object) -> None:
    frame = frame_of("hospital", hospital(600, stream(1)))
    made = attempt(anonymized, frame, infer_schema(frame), method, np.random.default_rng(1))  # type: ignore[arg-type]
    assert isinstance(made, Read)
    cells, _ = made.value
    assert cells.columns == list(frame.columns)
    assert cells.height > 400
    for name in ("sex", "prefecture", "ward", "diagnosis", "insurance", "hba1c"):
        assert set(cells[name]) <= set(frame.cells[name]), name
    assert (
        cells["admitted"]
        .str.to_date("%Y-%m-%d")
        .is_between(pl.date(2024, 1, 1), pl.date(2024, 12, 31))
        .all()
    )


def test_the_command_writes_a_release_and_the_same_again(table: Path) -> None:
    called = call(
        "anonymize", "table", "rr", table, table.with_name("a.csv"), "--p", "0.5", "--seed", 1
    )
    call("anonymize", "table", "rr", table, table.with_name("b.csv"), "--p", "0.5", "--seed", 1)
    assert (called.code, called.json["rows"]) == (0, 3)
    assert table.with_name("a.csv").read_bytes() == table.with_name("b.csv").read_bytes()
    kept = call("anonymize", "table", "rr", table, table.with_name("c.csv"), "--p", 1)
    assert kept.code == 0
    assert table.with_name("c.csv").read_text() == TABLE.replace("+8", "8")


def test_a_schema_that_somebody_edited_is_heeded(table: Path) -> None:
    schema = table.with_name("schema.toml")
    assert call("schema", table, "-o", schema).json["columns"] == {
        "age": "integer", "sex": "category", "weight": "decimal", "seen": "date", "note": "category", "size": "decimal",
    }  # fmt: skip
    schema.write_text(
        schema.read_text().partition("[note]")[0].replace("high = 55", "high = 40"), "utf-8"
    )
    refused = call("anonymize", "table", "rr", table, table.with_name("a.csv"), "--schema", schema)
    assert refused.code == 1
    assert [(one["row"], one["column"], one["value"]) for one in refused.json["problems"]] == [
        (4, "age", None)
    ]
    assert not table.with_name("a.csv").exists()
    schema.write_text(schema.read_text().replace("high = 40", "high = 60"), "utf-8")
    called = call("anonymize", "table", "rr", table, table.with_name("a.csv"), "--schema", schema)
    assert called.code == 0
    assert "left out: note, size" in called.err
    assert table.with_name("a.csv").read_text().startswith("age,sex,weight,seen\n")
    schema.write_text('[height]\nkind = "integer"\nlow = 1\nhigh = 2\n', "utf-8")
    lacking = call("anonymize", "table", "rr", table, table.with_name("b.csv"), "--schema", schema)
    assert lacking.json["problems"][0]["column"] == "height"


def test_a_method_that_does_not_fit_is_refused_with_what_to_do(table: Path) -> None:
    out = table.with_name("out.csv")
    other = call("anonymize", "table", "crowds", table, out)
    assert other.code == 2
    assert (
        "made for the data of darc2019; for any table there are aim, bottom" in other.json["error"]
    )
    columns = call("anonymize", "table", "kanony", table, out)
    assert "there is no column 'education'; there are age, sex" in columns.json["error"]
    assert call("anonymize", "table", "kanony", table, out, "--columns", "sex").code == 0


def test_every_method_that_takes_numbers_and_words_is_offered() -> None:
    offered = [
        name
        for name in registry.names("anonymizers")
        if registry.load("anonymizers", name).accepts(PROBE)
    ]
    assert {"rr", "rrp", "synthetic", "kanony", "pipeline"} <= set(offered)
    assert not {"crowds", "olh", "shuffle_rows"} & set(offered)


def test_a_release_never_takes_the_place_of_the_table_it_is_made_of(table: Path) -> None:
    before = table.read_bytes()
    refused = call("anonymize", "table", "rr", table, table, "--p", "0.5")
    assert refused.code == 2
    assert "name another file" in refused.json["error"]
    assert table.read_bytes() == before


def test_a_release_that_is_the_table_itself_is_told(tmp_path: Path) -> None:
    given, out = tmp_path / "stays.csv", tmp_path / "out.csv"
    hospital(100, stream(1, "stays")).write_csv(given)
    result = call("anonymize", "table", "pipeline", str(given), str(out), "--seed", "1")
    assert result.code == 0
    assert "nothing was changed" in result.err
    result = call(
        "anonymize",
        "table",
        "rr",
        str(given),
        str(out),
        "--p",
        "0.5",
        "--columns",
        "age",
        "--seed",
        "1",
    )
    assert "left as they are, row by row: sex, prefecture" in result.err
    assert (
        "as they are"
        not in call(
            "anonymize", "table", "rr", str(given), str(out), "--p", "0.5", "--seed", "1"
        ).err
    )


def test_numbers_that_are_only_written_in_another_way_are_named_as_left_as_they_are(
    tmp_path: Path,
) -> None:
    given = tmp_path / "table.csv"
    rows = [f"{30 + row % 40},{10438 + 7 * row + row % 10 / 10}" for row in range(300)]
    given.write_text("age,income\n" + "\n".join([*rows, "31,10438.25"]) + "\n")
    out = tmp_path / "release.csv"
    result = call("anonymize", "table", "rr", str(given), str(out), "--p", "0.2", "--seed", "1")
    assert "10438.00" in out.read_text(), "written with two decimals"
    assert "left as they are, row by row: income" in result.err
