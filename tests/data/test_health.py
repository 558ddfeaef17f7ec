"""NHANES: transport files, the table B that is made of them, the embedded statistics, and the import."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.reading import Read, attempt

from kakurenbo.core import Problems, Source
from kakurenbo.data import health
from kakurenbo.data.health import read_xport
from kakurenbo.data.store import import_dataset, load_part

MISSING = float("nan")


def ibm(value: float) -> bytes:
    """A number as a transport file holds it."""
    if value != value:
        return b"." + bytes(7)
    sign, value, exponent = int(value < 0), abs(value), 64
    if value == 0:
        return bytes(8)
    while value >= 1:
        value, exponent = value / 16, exponent + 1
    while value < 1 / 16:
        value, exponent = value * 16, exponent - 1
    return bytes([sign * 128 + exponent]) + int(value * 2**56).to_bytes(7, "big")


def transport(columns: Mapping[str, Sequence[float]]) -> bytes:
    """A transport file with these variables."""

    def card(text: str) -> bytes:
        return text.encode().ljust(80)

    head = "HEADER RECORD*******"
    zeros = "!!!!!!!" + "0" * 30
    data = (
        card(f"{head}LIBRARY HEADER RECORD{zeros}")
        + card("SAS     SAS     SASLIB  9.4")
        + card("16NOV26:00:00:00")
    )
    data += card(f"{head}MEMBER  HEADER RECORD!!!!!!!000000000000000001600000000140") + card(
        f"{head}DSCRPTR HEADER RECORD{zeros}"
    )
    data += card("SAS     X       SASDATA 9.4") + card("16NOV26:00:00:00")
    data += card(f"{head}NAMESTR HEADER RECORD!!!!!!!000000{len(columns):04d}00000000000000000000")
    described = b""
    for place, name in enumerate(columns):
        fields = (1, 0, 8, place + 1, name.encode().ljust(8), b" " * 68, 8 * place)
        described += struct.pack(">4h8s68sl", *fields).ljust(140, b"\0")
    data += described.ljust(-(-len(described) // 80) * 80)
    rows = b"".join(ibm(value) for row in zip(*columns.values(), strict=True) for value in row)
    return data + card(f"{head}OBS     HEADER RECORD{zeros}") + rows.ljust(-(-len(rows) // 80) * 80)


def test_a_transport_file_holds_what_pandas_reads_of_it(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = {
        "SEQN": [1.0, 2, 3],
        "BMXBMI": [31.7, MISSING, -0.25],
        "PAD615": (rng.normal(size=3) * 1e6).tolist(),
    }
    (tmp_path / "X.XPT").write_bytes(transport(columns))
    read = attempt(read_xport, Source.of(tmp_path / "X.XPT"))
    assert isinstance(read, Read)
    other = pd.read_sas(tmp_path / "X.XPT", format="xport")
    assert list(read.value) == list(other.columns)
    for name in columns:
        np.testing.assert_allclose(read.value[name], other[name].to_numpy(), rtol=1e-15)
        np.testing.assert_allclose(read.value[name], columns[name], rtol=1e-14)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a,b\n1,2\n",
        transport({"SEQN": [1.0]})[:500],
        b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!",
    ],
)
def test_what_is_no_transport_file_is_refused(data: bytes) -> None:
    assert isinstance(attempt(read_xport, Source("X.XPT", data)), Problems)


def survey(**changes: Sequence[float]) -> dict[str, dict[str, Sequence[float]]]:
    """The files of six people; the first is a woman of 40 without diabetes."""
    six = {
        name: [value] * 6
        for name, value in {"DIQ010": 2.0, "DIQ050": 2, "DIQ070": 2, "DIQ175A": MISSING}.items()
    }
    files: dict[str, dict[str, Sequence[float]]] = {
        "DEMO": {"RIAGENDR": [2.0, 1, 1, 1, 1, 1], "RIDAGEYR": [40.0, 50, 60, 70, 80, 19], "RIDRETH1": [4.0, 1, 2, 3, 5, 3],
                 "DMDEDUC2": [2.0, 1, 3, 4, 5, 5], "DMDMARTL": [6.0, 1, 2, 3, 4, 5]},
        "DIQ": six,
        "BMX": {"BMXBMI": [31.7, 20, 21, 22, 23, 24]},
        "PAQ": {name: [0.0] * 6 for name in health._ACTIVITIES},
        "GHB": {"LBXGH": [5.0, 6.5, 5, 5, 5, 5]},
        "DPQ": {"DPQ020": [0.0, 1, 2, 3, 0, 0]},
        "INQ": {"INDFMMPI": [0.5, 1.0, 2, MISSING, 3, 3]},
    }  # fmt: skip
    for name, values in changes.items():
        next(file for file in files.values() if name in file)[name] = values
    return {
        name: {"SEQN": [float(number) for number in range(1, 7)], **file}
        for name, file in files.items()
    }


def made(**changes: Sequence[float]) -> list[tuple[object, ...]]:
    sources = [Source(f"{name}_I.XPT", transport(file)) for name, file in survey(**changes).items()]
    read = attempt(health.read_survey, sources)
    assert isinstance(read, Read), read
    return read.value.rows()


def test_b_is_made_of_the_files_of_a_survey_as_the_contest_made_it() -> None:
    rows = made(
        PAD615=[9999.0, 30, 0, 0, 0, 0],
        PAQ610=[5.0, 2, 0, 0, 0, 0],
        PAD645=[0.0, 0, 10, 20, 30, 40],
        PAQ640=[1.0] * 6,
    )
    assert rows[0] == ("Female", 40.0, "Black", "11th", "Parther", 31.7, 0, 1, 0, 0, "Q1", 0)
    assert rows[1] == ("Male", 50.0, "Mexican", "9th", "Married", 20.0, 1, 0, 0, 0, "Q4", 1)
    assert [row[10] for row in rows] == ["Q1", "Q4", "Q1", "Q2", "Q3"], (
        "quartiles are those of the minor, too"
    )
    assert len(rows) == 5, "nobody below 20"
    assert rows[3][7] == 0, "a missing poverty ratio counts as not poor"


@pytest.mark.parametrize(
    "change",
    [
        {"DIQ175A": [10.0, *[MISSING] * 5]},
        {"BMXBMI": [MISSING, 20, 21, 22, 23, 24]},
        {"DMDEDUC2": [9.0, 1, 3, 4, 5, 5]},
        {"DMDMARTL": [77.0, 1, 2, 3, 4, 5]},
    ],
)
def test_people_with_a_missing_value_and_those_at_genetic_risk_are_left_out(
    change: dict[str, list[float]],
) -> None:
    assert [row[1] for row in made(**change)] == [50.0, 60.0, 70.0, 80.0]


@pytest.mark.parametrize("name", ["DIQ010", "DIQ050", "DIQ070"])
def test_whoever_was_told_or_treats_diabetes_has_it(name: str) -> None:
    assert [row[11] for row in made(**{name: [1.0, 2, 2, 2, 2, 2]})] == [1, 1, 0, 0, 0]


def test_a_survey_that_lacks_a_file_is_refused_with_what_is_missing() -> None:
    sources = [Source(name, transport(file)) for name, file in survey().items() if name != "GHB"]
    read = attempt(health.read_survey, sources)
    assert isinstance(read, Problems)
    assert read[0].code == "nhanes.lacks"
    assert "LBXGH" in str(read[0])


def test_a_table_b_is_imported_and_found_again(reference_data: Path) -> None:
    path = reference_data / "pwscup2021" / "reference" / "B_nhanes2017_18.csv.gz"
    report = attempt(import_dataset, "nhanes", [path])
    assert isinstance(report, Read)
    assert report.value["B"]["rows"] == 3985
    read = attempt(health.read_health, Source.of(path))
    assert isinstance(read, Read)
    assert load_part("nhanes", "B", health.SCHEMA) == read.value


def test_the_embedded_statistics_have_the_published_counts(reference_data: Path) -> None:
    moments = health.embedded_statistics()
    told = pd.read_csv(reference_data / "pwscup2021" / "published_B_statistics.csv").query(
        "kind == 'count'"
    )
    for name in (*health.LEVELS, health.DEP, health.PIR):
        counts = dict(zip(moments.schema.names, moments.histograms, strict=True))[name]
        levels = health.LEVELS.get(name, ("0", "1"))
        published = (
            told[told.variable == name]
            .set_index("level")[["dia_0_or_coef", "dia_1_or_OR"]]
            .sum(axis=1)
        )
        assert counts / moments.count == pytest.approx(
            [published[level] / health.ROWS for level in levels], abs=0.002
        )
