"""Several files about the same people: what they give away together, as in pwscup2024, and what each does alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.audit.test_audit_cli import run
from tests.pwscup2024 import BOOK, small_original
from tests.reading import Read, attempt

import kakurenbo
from kakurenbo.attacks.reconstruction.row_model import fit_row_model
from kakurenbo.audit.combining import attack_files
from kakurenbo.audit.files import Several, arranged, fit
from kakurenbo.audit.frames import Frame, frame_of, read_frame
from kakurenbo.audit.linking import assigned
from kakurenbo.audit.report import html_audit, markdown_audit
from kakurenbo.audit.result import AuditResult, FileRisk, Risk
from kakurenbo.audit.schema import infer_schema
from kakurenbo.core import Table
from kakurenbo.core.rng import stream
from kakurenbo.data.ratings import ATTRIBUTES, MOVIES, NAME
from kakurenbo.methods import registry
from kakurenbo.rulebooks.pwscup2024 import Handout, rehearse

PEOPLE = 400
KNOWN = ("town", "age")


def people(seed: int = 1) -> pl.DataFrame:
    """Two attributes and twelve ratings that follow a taste."""
    rng = np.random.default_rng(seed)
    taste = rng.integers(0, 6, PEOPLE)
    columns = {
        "town": [f"town {town}" for town in rng.integers(0, 40, PEOPLE)],
        "age": rng.integers(18, 80, PEOPLE),
    }
    for number in range(12):
        own = rng.integers(0, 6, PEOPLE)
        columns[f"film {number}"] = np.where(rng.random(PEOPLE) < 0.3, (taste + number) % 6, own)
    return pl.DataFrame(columns)


def noisy(table: pl.DataFrame, seed: int, kept: float = 0.6) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        [
            pl.select(
                pl.when(pl.Series(rng.random(len(column)) < kept))
                .then(column)
                .otherwise(column.shuffle(seed))
            ).to_series()
            for column in table
        ]
    )


def split(table: pl.DataFrame, folder: Path, count: int = 4, kept: float = 0.6) -> Path:
    """Files of both attributes and half of the ratings each, perturbed each for itself, in one order."""
    folder.mkdir()
    for number in range(count):
        films = [f"film {(number + 2 * place) % 12}" for place in range(6)]
        noisy(table.select(*KNOWN, *films), 10 + number, kept).write_csv(
            folder / f"part{number}.csv"
        )
    return folder


def attacked(original: pl.DataFrame, *folders: Path) -> tuple[Risk, tuple[FileRisk, ...]]:
    """The files of the first folder, those of the others released earlier: attributes linked with ratings."""
    frames = [attempt(read_frame, folder, several=True) for folder in folders]
    tables = [reading.value for reading in frames if isinstance(reading, Read)]
    whole = frame_of("original", original)
    _, several = arranged(infer_schema(whole), (), (whole, tables[0], None), tables[1:])
    films = [name for name in several.base.names if name not in KNOWN]
    risk, _, files = attack_files(
        several.files, several.base, np.random.default_rng(1), (KNOWN, films)
    )
    assert risk.rate is not None
    return risk, files


def hits(risk: Risk) -> float:
    assert risk.rate is not None
    return risk.rate.value


def test_files_of_one_order_give_more_away_together_than_each_alone(tmp_path: Path) -> None:
    table = people()
    risk, files = attacked(table, split(table, tmp_path / "release"))
    assert risk.attack.startswith("files_together")
    assert [file.order for file in files] == [1, 1, 1, 1]
    assert len(files[0].columns) == 8
    assert hits(risk) > 1.3 * max(file.rate.value for file in files)


def few(folder: Path, table: pl.DataFrame, *seeds: int) -> Path:
    """Files of four columns, which take an audit no time."""
    folder.mkdir()
    for seed in seeds:
        noisy(table, seed).write_csv(folder / f"part{seed}.csv")
    return folder


def test_the_files_stand_in_json_and_both_reports(tmp_path: Path) -> None:
    tables = [people(seed).select(*KNOWN, "film 0") for seed in (1, 2)]
    result = kakurenbo.audit(
        tables[0], few(tmp_path / "release", tables[0], 3, 4), holdout=tables[1], seed=1
    )
    assert isinstance(result, AuditResult)
    assert [file["name"] for file in result.as_json()["files"]] == ["part3.csv", "part4.csv"]
    assert result.risks["linkability"].control is not None
    for page in (html_audit(result), markdown_audit(result)):
        assert "part4.csv" in page
        assert "all together" in page


def test_no_two_rows_of_files_look_alike(tmp_path: Path) -> None:
    table = people().select(*KNOWN, "film 0", "film 1")
    result = kakurenbo.audit(table, few(tmp_path / "release", table, 3, 4), seed=1)
    rows = [
        line
        for line in markdown_audit(result).splitlines()
        if line.startswith("| linkability | two sources")
    ]
    names = [line.split(" | ")[1:3] for line in rows]
    assert len(rows) > 3
    assert all(names.count(name) == 1 for name in names)
    assert any("has part4.csv" in line for line in rows)
    assert any("has part3.csv, part4.csv" in line for line in rows)
    assert result.as_json()["risks"]["linkability"]["rows"][0]["files"] == ["part3.csv"]
    assert "has part3.csv, part4.csv" in html_audit(result)


def test_a_file_in_an_order_of_its_own_is_told_apart_and_still_used(tmp_path: Path) -> None:
    table = people()
    folder = split(table, tmp_path / "release")
    last = folder / "part3.csv"
    pl.read_csv(last).sample(fraction=1, shuffle=True, seed=1).write_csv(last)
    assert [file.order for file in attacked(table, folder)[1]] == [1, 1, 1, 2]


def test_files_without_a_common_column_are_lined_up_by_what_goes_together(tmp_path: Path) -> None:
    table = people()
    (tmp_path / "release").mkdir()
    films = [name for name in table.columns if name not in KNOWN]
    table.select(*films[::2]).write_csv(tmp_path / "release" / "even.csv")
    table.select(*films[1::2]).write_csv(tmp_path / "release" / "odd.csv")
    frame = attempt(read_frame, tmp_path / "release", several=True)
    assert isinstance(frame, Read)
    one, several = arranged(
        infer_schema(whole := frame_of("original", table)), (), (whole, frame.value, None), ()
    )
    assert several.files.groups == ((0, 1),)
    assert set(one.columns) == set(films)


def test_files_of_the_same_columns_are_one_table_unless_they_list_the_same_people(
    tmp_path: Path,
) -> None:
    table = people()
    for name, second in (("parts", people(2)), ("repeated", noisy(table, 3))):
        (tmp_path / name).mkdir()
        table.write_csv(tmp_path / name / "a.csv")
        second.write_csv(tmp_path / name / "b.csv")
    parts, repeated = (
        attempt(read_frame, tmp_path / name, several=True) for name in ("parts", "repeated")
    )
    assert isinstance(parts, Read)
    assert isinstance(repeated, Read)
    assert (len(parts.value), parts.value.parts) == (2 * PEOPLE, ())
    assert [part.name for part in repeated.value.parts] == ["a.csv", "b.csv"]


def test_an_archivist_who_has_an_earlier_release_links_more(tmp_path: Path) -> None:
    table = people()
    films = [f"film {number}" for number in range(6)]
    for name, content in (
        ("now", noisy(table.select(*KNOWN, *films), 5)),
        ("before", noisy(table, 6)),
    ):
        (tmp_path / name).mkdir()
        content.write_csv(tmp_path / name / f"{name}.csv")
    alone, _ = attacked(table, tmp_path / "now")
    together, files = attacked(table, tmp_path / "now", tmp_path / "before")
    assert {row.threat for row in alone.rows} == {"two_sources"}
    assert next(row for row in together.rows if row.reported).threat == "archivist"
    assert hits(together) > hits(alone)
    assert [file.earlier for file in files] == [False, True]


def test_copies_with_one_noise_are_not_counted_as_evidence_twice(tmp_path: Path) -> None:
    table = people()
    once = noisy(table, 5)
    for name, count in (("single", 1), ("thrice", 3)):
        (tmp_path / name).mkdir()
        for number in range(count):
            once.write_csv(tmp_path / name / f"{number}.csv")
    single, thrice = (hits(attacked(table, tmp_path / name)[0]) for name in ("single", "thrice"))
    assert abs(thrice - single) < 0.1


# -- as in the contest --------------------------------------------------------------------------------------------------


def as_frames(tables: tuple[Table, ...]) -> list[Frame]:
    return [
        frame_of(f"C{n}", pl.DataFrame([one.texts(name) for name in one.schema.names]))
        for n, one in enumerate(tables)
    ]


def several_of(original: Table, tables: tuple[Table, ...]) -> Several:
    whole, frames = as_frames((original,))[0], as_frames(tables)
    release = Frame("release", frames[0].cells, "", tuple(frames))
    return arranged(infer_schema(whole), (NAME,), (whole, release, None), ())[1]


def hits_of_both(original: Table, tables: tuple[Table, ...], seeds: range) -> tuple[int, int]:
    """People that the contest's row model and the audit's find among 50, summed over draws."""
    from scipy.optimize import linear_sum_assignment

    several = several_of(original, tables)
    assert len(several.files.groups) == 1
    models = fit(several.files, None, by_copies=True)
    row_of = {name: row for row, name in enumerate(original.texts(NAME).to_list())}
    sides = (ATTRIBUTES, MOVIES)
    places = tuple(tuple(several.base.names.index(name) for name in side) for side in sides)
    contest = ours = 0
    for seed in seeds:
        known, answer = rehearse(original, tables, seed)
        scores = fit_row_model(known, use_declared=False).pair_scores
        contest += int((linear_sum_assignment(scores, maximize=True)[1] == answer.people).sum())
        who = np.array([row_of[name] for name in known.people.texts(NAME).to_list()])
        found = models[0].scores(who, sides)
        assert found is not None
        ours += int(assigned(found, several.base.original[who], (places[0], places[1])).sum())
    return contest, ours


def test_people_are_identified_as_in_pwscup2024() -> None:
    original = small_original(1000)
    tables = BOOK.anonymize(
        Handout("01", (original,)),
        registry.build("anonymizers", "pseudo_olh:epsilon=1.5"),
        stream(1),
    ).tables
    contest, ours = hits_of_both(original, tables, range(2))
    assert contest > 20  # of 100, where chance is 2
    assert ours > 0.85 * contest


def test_the_ten_files_of_the_real_table_give_more_away_than_any_of_them(
    reference_data: Path,
) -> None:
    handout = attempt(BOOK.read_handout, reference_data / "pwscup2024" / "sampleBi.csv")
    assert isinstance(handout, Read)
    original = handout.value.table.take(np.arange(1500))
    narrow = Handout("01", (original,))
    tables = BOOK.anonymize(
        narrow, registry.build("anonymizers", "pseudo_olh:epsilon=2"), stream(1)
    ).tables
    several = several_of(original, tables)
    risk, p_value, files = attack_files(
        several.files, several.base, np.random.default_rng(1), (ATTRIBUTES, MOVIES)
    )
    assert risk.rate is not None
    assert [file.order for file in files] == [1] * 10
    assert risk.rate.value > max(file.rate.value for file in files)
    assert p_value < 1e-6
    contest, ours = hits_of_both(original, tables, range(1))
    assert ours >= 0.9 * contest > 20  # of 50


# -- what is refused ----------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    table = people()
    table.write_csv("original.csv")
    split(table, tmp_path / "release")
    return tmp_path


@pytest.mark.parametrize(
    "given",
    [
        ("release", "original.csv"),
        ("original.csv", "release", "--person", "town"),
        ("original.csv", "release", "--holdout", "release/part0.csv"),
        ("original.csv", "release", "--holdout", "release"),
        ("original.csv", "release", "--earlier", "nothing"),
        ("original.csv", "with_empty"),
        ("original.csv", "with_foreign"),
    ],
)
def test_what_cannot_be_put_together_is_refused(folder: Path, given: tuple[str, ...]) -> None:
    for name, content in (("with_empty", ""), ("with_foreign", "colour\nred\n")):
        split(people(), folder / name)
        (folder / name / "zzz.csv").write_text(content)
    code, out, err = run("audit", *given, "--seed", "1")
    assert code == 2
    assert "Traceback" not in out + err


def test_the_command_takes_a_folder_and_earlier_releases(folder: Path) -> None:
    table = people().select(*KNOWN, "film 0")
    few(folder / "few", table, 3, 4)
    table.write_csv("few.csv")
    table.write_csv("old.csv")
    code, out, _ = run(
        "audit", "few.csv", "few", "--earlier", "old.csv", "--seed", "1", "--json", "-o", "r.md"
    )
    content = json.loads(out)
    assert code in (1, 3)
    assert [file["earlier"] for file in content["files"]] == [False, False, True]
    assert content["method"]["options"]["earlier"] == ["old.csv"]
    assert "old.csv (earlier)" in (folder / "r.md").read_text()
