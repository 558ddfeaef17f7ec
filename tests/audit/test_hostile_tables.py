"""What can be wrong with a table that somebody audits: every fault is named with its place, and none takes memory or raises."""

from __future__ import annotations

import gzip
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.reading import Read, attempt

from kakurenbo.audit.frames import Frame, read_frame
from kakurenbo.audit.limits import read_limits
from kakurenbo.audit.schema import read_schema
from kakurenbo.core import Problems, Source

PLAIN = b"age,town,wage\n" + b"".join(
    b"%d,t%d,%d\n" % (20 + place % 50, place % 7, place * 13) for place in range(200)
)
MOST_BYTES = 1_000_000_000


def read(content: bytes, folder: Path, name: str = "t.csv") -> Read[Frame] | Problems:
    (folder / name).write_bytes(content)
    return attempt(read_frame, folder / name)


def frame_from(content: bytes, folder: Path) -> Frame:
    reading = read(content, folder)
    assert isinstance(reading, Read), reading
    return reading.value


# -- cells of several lines --------------------------------------------------------------------------------------------


def test_cells_in_quotation_marks_may_go_over_several_lines(tmp_path: Path) -> None:
    text = b'age,note\n1,"lives in\nTokyo, ""alone"""\n2,plain\n3,"a\n\nb"\n'
    reading = read(text, tmp_path)
    assert isinstance(reading, Read)
    assert reading.value.cells["note"].to_list() == ['lives in Tokyo, "alone"', "plain", "a  b"]
    assert [notice.code for notice in reading.notices] == ["audit.line_in_cell"]
    assert reading.notices[0].row == 2


def test_a_quotation_mark_within_a_word_joins_no_lines(tmp_path: Path) -> None:
    assert frame_from(b'id,size\n1,5" pipe\n2,6" pipe\n', tmp_path).cells["size"].to_list() == [
        '5" pipe',
        '6" pipe',
    ]


def test_a_quotation_mark_that_is_never_closed_is_told_where_it_stands(tmp_path: Path) -> None:
    problems = read(b'id,size\n1,a\n2,"b\n3,c\n', tmp_path)
    assert isinstance(problems, Problems)
    assert (problems[0].code, problems[0].row) == ("line.open_quote", 3)


# -- separators, limits, schemas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_other_separators_are_named_and_not_taken_for_one_column(sign: str, tmp_path: Path) -> None:
    problems = read(PLAIN.replace(b",", sign.encode()), tmp_path)
    assert isinstance(problems, Problems)
    assert (problems[0].code, problems[0].row) == ("audit.separator", 1)
    assert {";": "semicolons", "\t": "tabs", "|": "vertical bars"}[sign] in problems[0].in_language(
        "en"
    )


def test_a_table_of_one_column_is_one(tmp_path: Path) -> None:
    assert frame_from(b"age\n1\n2\n", tmp_path).columns == ("age",)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "audit.empty_settings"),
        ("\n\n", "audit.empty_settings"),
        ("# none\n", "audit.no_limits"),
    ],
)
def test_a_file_that_sets_no_limit_is_told_so(content: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(content)
    problems = attempt(read_limits, Source.of(tmp_path / "limits.toml"))
    assert isinstance(problems, Problems)
    assert problems[0].code == code
    assert "per record" not in str(problems[0])


@pytest.mark.parametrize(
    ("content", "code"), [("", "audit.empty_settings"), ("# none\n", "audit.no_columns")]
)
def test_a_file_that_names_no_column_is_told_so(content: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(content)
    problems = attempt(read_schema, Source.of(tmp_path / "schema.toml"))
    assert isinstance(problems, Problems)
    assert problems[0].code == code


@pytest.mark.parametrize("value", ["0.5", "3.0", "-1", "true", '"3"'])
def test_how_many_records_may_be_exposed_is_a_whole_number(value: str, tmp_path: Path) -> None:
    (tmp_path / "limits.toml").write_text(f"records = {value}\n")
    problems = attempt(read_limits, Source.of(tmp_path / "limits.toml"))
    assert isinstance(problems, Problems)
    assert problems[0].code == "audit.limit_records"


# -- a hundred of all kinds --------------------------------------------------------------------------------------------


def malformed() -> Iterator[tuple[str, bytes]]:
    """A hundred tables, each wrong in its own way; names tell how they are packed."""
    rng = random.Random(8)
    wide = b",".join(b"c%d" % place for place in range(5000))
    yield from [
        ("empty.csv", b""),
        ("blank.csv", b" \n \n"),
        ("header.csv", b"age,town\n"),
        ("nul.csv", PLAIN[:50] + b"\0" + PLAIN[50:]),
        ("utf16.csv", PLAIN.decode().encode("utf-16")),
        ("latin.csv", "age,town\n1,Zürich\n".encode("latin-1")),
        ("zip.csv", b"PK\x03\x04" + PLAIN),
        ("twice.csv", b"age,age\n1,2\n"),
        ("unnamed.csv", b"age,,wage\n1,2,3\n"),
        ("wide.csv", wide + b"\n" + wide + b"\n"),
        ("long.csv", b"age,town\n1," + b"x" * 300_000 + b"\n"),
        ("one_line.csv", b"x" * 2_000_000),
        ("quotes.csv", b"age,town\n" + b'1,"a\n' * 3001),
        ("open.csv", b'age,"town\n1,2\n'),
        ("many_quotes.csv", b"a,b\n" + b'"' * 1_000_001),
        ("semicolons.csv", PLAIN.replace(b",", b";")),
        ("commas.csv", b"a,b\n" + b"," * 1_000_000),
        (
            "cells.csv",
            b",".join(b"c%d" % place for place in range(250))
            + b"\n"
            + (b"," * 249 + b"\n") * 90_000,
        ),
        ("not.parquet", b"PAR1" + bytes(rng.randrange(256) for _ in range(4000)) + b"PAR1"),
        ("short.parquet", b"PAR1"),
        ("bomb.csv.gz", gzip.compress(b"age,town\n" + b"1,2\n" * 80_000_000, 1)),
        ("broken.csv.gz", gzip.compress(PLAIN)[:-20]),
        ("no.csv.gz", b"\x1f\x8b\x08" + PLAIN),
    ]
    count = 23
    while count < 100:
        content = bytearray(PLAIN)
        kind = count % 4
        for _ in range(1 + count % 5):
            place = rng.randrange(20, len(content))
            if kind == 0:
                del content[place : place + rng.randrange(1, 400)]
                content[place:place] = b",\n"
            elif kind == 1:
                content[place:place] = b'"'
                content[place - 3 : place - 3] = b'\n"'
            elif kind == 2:
                content[place:place] = bytes([0xFF, 0xFE, rng.randrange(128, 256)])
            else:
                content[place:place] = b"," * rng.randrange(1, 50)
        yield f"{count}.csv", bytes(content)
        count += 1


_READ_ALL = """
import sys
from pathlib import Path
from kakurenbo.audit.frames import read_frame
from kakurenbo.core import InputError
refused = 0
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        read_frame(path)
    except InputError as error:
        reading = error.problems
    else:
        raise AssertionError(path.name)
    assert all(problem.in_language(language) for problem in reading for language in ("en", "ja")), path.name
    refused += 1
# What this process has taken, and not what the one had that began it, as ru_maxrss would tell.
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(refused, int(peak.split()[1]) * 1024)
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="no /proc to tell the memory of a process"
)
def test_a_hundred_malformed_tables_are_refused_without_a_traceback_and_in_less_than_a_gigabyte(
    tmp_path: Path,
) -> None:
    for name, content in malformed():
        (tmp_path / name).write_bytes(content)
    environment = {**os.environ, "POLARS_MAX_THREADS": "1"}
    called = subprocess.run(
        [sys.executable, "-c", _READ_ALL, str(tmp_path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert called.returncode == 0, called.stderr[-2000:]
    refused, most = map(int, called.stdout.split())
    assert refused == 100
    assert most < MOST_BYTES


def test_a_parquet_table_of_lists_is_refused_by_its_column(tmp_path: Path) -> None:
    pl.DataFrame({"age": [1, 2], "visits": [[1], [2, 3]]}).write_parquet(tmp_path / "t.parquet")
    problems = attempt(read_frame, tmp_path / "t.parquet")
    assert isinstance(problems, Problems)
    assert problems[0].column == "visits"


@pytest.mark.parametrize("name", ["b.csv", ".hidden", "folder"])
def test_a_link_in_a_folder_is_refused_and_nothing_is_read_of_what_it_leads_to(
    name: str, tmp_path: Path
) -> None:
    folder, other = (
        tmp_path / "release",
        tmp_path / ("elsewhere" if name == "folder" else "elsewhere.csv"),
    )
    folder.mkdir()
    (folder / "a.csv").write_bytes(PLAIN)
    if name == "folder":
        other.mkdir()
    else:
        other.write_text("secret\n")
    (folder / name).symlink_to(other)
    problems = attempt(read_frame, folder, several=True)
    assert isinstance(problems, Problems)
    assert (problems[0].code, problems[0].file, problems.malformed) == ("audit.link", name, True)
