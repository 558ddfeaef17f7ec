"""The local store: what is imported is kept whole, found again, and never taken for what it is not."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from tests.reading import Read, attempt

from kakurenbo.core import Problems, Source, Table, table_bytes
from kakurenbo.core.errors import UsageError
from kakurenbo.data.adult import SCHEMA, Adult, adult_statistics, read_uci
from kakurenbo.data.generators import GENERATORS
from kakurenbo.data.ratings import MOVIES, read_ratings, widest_schema
from kakurenbo.data.store import (
    import_dataset,
    imported_names,
    load_adult,
    load_part,
    load_ratings,
    store_folder,
)

ORIGINAL = "{age}, {workclass}, 1, {education}, 9, {marital-status}, {occupation}, {relationship}, White, {sex}, 0, 0, "
ORIGINAL += "{hours-per-week}, Cuba, {income}{end}\n"


def original_bytes(table: Table, *, test: bool) -> bytes:
    """A table as the original files are written."""
    end = "." if test else ""
    lines = (
        ORIGINAL.format(**dict(zip(SCHEMA.names, row, strict=True)), end=end)
        for row in table.rows()
    )
    return ("|1x3 Cross validator\n" * test + "".join(lines) + "\n").encode()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Files like the original ones, of as many rows, made up from the embedded statistics."""
    folder = tmp_path_factory.mktemp("original")
    rng = np.random.default_rng(0)
    train, test = (
        original_bytes(
            GENERATORS["omth17"](adult_statistics(part), adult_statistics(part).count, rng),
            test=part == "test",
        )
        for part in ("train", "test")
    )
    (folder / "adult.data").write_bytes(train)
    (folder / "adult.test.gz").write_bytes(gzip.compress(test, compresslevel=1))
    return folder / "adult.data", folder / "adult.test.gz"


def test_nothing_is_imported_at_first() -> None:
    assert load_adult() is None
    assert imported_names() == ()


def test_imported_files_are_found_again_in_any_order(files: tuple[Path, Path]) -> None:
    report = attempt(import_dataset, "adult", files[::-1])
    assert isinstance(report, Read)
    assert (report.value["train"]["rows"], report.value["test"]["rows"]) == (30_162, 15_060)
    assert imported_names() == ("adult",)
    assert load_adult() == Adult(*(read_uci(Source.of(path)) for path in files))  # type: ignore[union-attr]


def test_a_second_import_replaces_the_first(files: tuple[Path, Path]) -> None:
    assert attempt(import_dataset, "adult", files) == attempt(import_dataset, "adult", files)
    assert sorted(path.name for path in (store_folder() / "adult").iterdir()) == [
        "manifest.json",
        "test.csv",
        "train.csv",
    ]


@pytest.mark.parametrize("damage", ["change", "remove", "manifest", "empty manifest"])
def test_a_damaged_store_is_an_error_that_says_import_again(
    files: tuple[Path, Path], damage: str
) -> None:
    import_dataset("adult", files)
    folder = store_folder() / "adult"
    if damage == "change":
        (folder / "train.csv").write_bytes(
            (folder / "train.csv").read_bytes().replace(b"Male", b"Mole", 1)
        )
    elif damage == "remove":
        (folder / "test.csv").unlink()
    else:
        (folder / "manifest.json").write_text("{" if damage == "manifest" else "{}")
    with pytest.raises(UsageError, match="import it again"):
        load_adult()


def test_a_store_of_another_version_is_an_error(files: tuple[Path, Path]) -> None:
    import_dataset("adult", files)
    with pytest.raises(UsageError, match="another version"):
        load_part("adult", "train", SCHEMA.select(["age", "sex"]))


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ((0,), "adult: the test file is missing"),
        ((1,), "adult: the train file is missing"),
        ((0, 0, 1), "adult.data: this is the train file a second time"),
    ],
)
def test_both_files_are_wanted_once(
    files: tuple[Path, Path], chosen: tuple[int, ...], message: str
) -> None:
    problems = attempt(import_dataset, "adult", [files[place] for place in chosen])
    assert isinstance(problems, Problems)
    assert str(problems[0]).startswith(message)
    assert load_adult() is None


def test_a_file_that_was_cut_off_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    cut = tmp_path / "adult.data"
    cut.write_bytes(b"".join(files[0].read_bytes().splitlines(keepends=True)[:1000]))
    problems = attempt(import_dataset, "adult", [cut, files[1]])
    assert isinstance(problems, Problems)
    assert "1,000 complete rows instead of 30,162" in str(problems[0])


def test_the_problems_of_all_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "adult.data").write_text("1, 2\n")
    problems = attempt(import_dataset, "adult", [tmp_path / "adult.data", tmp_path / "adult.test"])
    assert isinstance(problems, Problems)
    assert [problem.file for problem in problems] == ["adult.data", "adult.test"]


def test_an_unknown_data_set_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="there are: adult"):
        import_dataset("mushroom", [])


def test_without_kakurenbo_home_the_store_is_the_platforms_data_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("KAKURENBO_HOME")
    assert store_folder().name == "kakurenbo"


def test_the_real_files_are_imported(reference_data: Path) -> None:
    report = attempt(
        import_dataset,
        "adult",
        [reference_data / "adult" / name for name in ("adult.data.gz", "adult.test.gz")],
    )
    assert isinstance(report, Read)
    found = load_adult()
    assert found is not None
    assert (len(found.train), len(found.test)) == (30_162, 15_060)


# -- tables B of pwscup2024 --------------------------------------------------------------------------------------------


def write_ratings(folder: Path, name: str, rows: int, seed: int) -> Path:
    """A small table B of random ratings."""
    rng = np.random.default_rng(seed)
    cells = {movie: map(str, rng.integers(6, size=rows)) for movie in MOVIES}
    people = {
        "Name": (f"Person {row}" for row in range(rows)),
        "Gender": ["F"] * rows,
        "Age": ["25"] * rows,
    }
    places = {"Occupation": ["3"] * rows, "ZIP-code": map(str, rng.integers(1000, size=rows))}
    table = Table.from_texts(widest_schema(), people | places | cells)
    (folder / name).write_bytes(table_bytes(table, header=True))
    return folder / name


def test_own_tables_b_of_any_number_of_rows_are_imported_in_their_order(tmp_path: Path) -> None:
    assert load_ratings() is None
    paths = [
        write_ratings(tmp_path, f"Bi{number}.csv", 50 + number, number) for number in (3, 1, 2)
    ]
    report = attempt(import_dataset, "ratings", paths)
    assert isinstance(report, Read)
    assert [report.value[part]["rows"] for part in ("B01", "B02", "B03")] == [53, 51, 52]
    readings = [attempt(read_ratings, Source.of(path)) for path in paths]
    assert load_ratings() == tuple(
        reading.value for reading in readings if isinstance(reading, Read)
    )


def test_tables_of_an_import_before_are_gone(tmp_path: Path) -> None:
    paths = [write_ratings(tmp_path, f"Bi{number}.csv", 50, number) for number in (1, 2)]
    import_dataset("ratings", paths)
    import_dataset("ratings", paths[1:])
    found = load_ratings()
    assert found is not None
    assert len(found) == 1
    assert sorted(path.name for path in (store_folder() / "ratings").iterdir()) == [
        "B01.csv",
        "manifest.json",
    ]


def test_invalid_tables_b_are_told_by_file_and_nothing_is_imported(tmp_path: Path) -> None:
    good, short = (
        write_ratings(tmp_path, "good.csv", 50, 1),
        write_ratings(tmp_path, "short.csv", 49, 2),
    )
    (tmp_path / "other.csv").write_text("Name,Gender\nA,F\n")
    problems = attempt(
        import_dataset, "ratings", [good, short, tmp_path / "other.csv", tmp_path / "missing.csv"]
    )
    assert isinstance(problems, Problems)
    assert list(dict.fromkeys(problem.file for problem in problems)) == [
        "short.csv",
        "other.csv",
        "missing.csv",
    ]
    assert load_ratings() is None


def test_the_same_table_b_twice_is_refused(tmp_path: Path) -> None:
    first = write_ratings(tmp_path, "Bi1.csv", 50, 1)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(first.read_bytes())
    problems = attempt(import_dataset, "ratings", [first, copy])
    assert isinstance(problems, Problems)
    assert [problem.file for problem in problems] == ["copy.csv"]


def test_a_damaged_store_of_tables_b_is_an_error(tmp_path: Path) -> None:
    import_dataset("ratings", [write_ratings(tmp_path, "Bi1.csv", 50, 1)])
    (store_folder() / "ratings" / "manifest.json").write_text("{")
    with pytest.raises(UsageError, match="import it again"):
        load_ratings()
