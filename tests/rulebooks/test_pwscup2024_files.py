"""Files of pwscup2024: handouts, every violation of a release with its place, zip normalisation, choices and id.txt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.pwscup2024 import BOOK, small_original, under_attack, zipped
from tests.reading import Read, attempt

from kakurenbo.cli import main
from kakurenbo.contest import Release
from kakurenbo.core import (
    Problems,
    Source,
    open_archive,
    read_folder,
    sources_of,
    table_bytes,
    write_folder,
)
from kakurenbo.data import ratings
from kakurenbo.rulebooks.pwscup2024 import Handout, Submission
from kakurenbo.rulebooks.pwscup2024.release import split_files
from kakurenbo.rulebooks.pwscup2024.targets import answer_files, target_files

HANDOUT = Handout("01", (small_original(),), assigned=True)
TWO = Handout("01", (small_original(), small_original(seed=2)), assigned=True)


def release(seed: int = 1) -> dict[str, bytes]:
    return split_files("01", ratings.split(small_original(seed=seed)))


def read(files: dict[str, bytes], handout: Handout = HANDOUT) -> Read[Submission] | Problems:
    return attempt(BOOK.read_release, handout, [Source(name, data) for name, data in files.items()])


def accepted(files: dict[str, bytes], handout: Handout = HANDOUT) -> tuple[Submission, str]:
    """The submission, and all notices in one text."""
    found = read(files, handout)
    assert isinstance(found, Read), found
    return found.value, " | ".join(map(str, found.notices))


def refused(files: dict[str, bytes], handout: Handout = HANDOUT) -> Problems:
    found = read(files, handout)
    assert isinstance(found, Problems)
    return found


def changed(file: str, line: int, column: str, value: str) -> dict[str, bytes]:
    files = release()
    lines = files[file].decode().split("\n")
    cells = lines[line - 1].split(",")
    cells[lines[0].split(",").index(column)] = value
    lines[line - 1] = ",".join(cells)
    return {**files, file: "\n".join(lines).encode()}


# -- handouts ------------------------------------------------------------------------------------------------------------


def handed_out(folder: Path, names: str, team: str | None = None) -> Path:
    for number in (1, 2, 3):
        folder.mkdir(exist_ok=True)
        (folder / names.format(number)).write_bytes(
            table_bytes(small_original(60, seed=number), header=True)
        )
    if team:
        (folder / "contest.json").write_text(
            json.dumps({"rulebook": "pwscup2024", "folder": "team", "team": team})
        )
    return folder


@pytest.mark.parametrize("names", ["Bi07-{}.csv", "B07-{}.csv"])
def test_a_folder_holds_three_candidates_under_the_contests_names_or_the_chosen_ones(
    tmp_path: Path, names: str
) -> None:
    found = attempt(BOOK.read_handout, handed_out(tmp_path / "07", names, team="07"))
    assert isinstance(found, Read), found
    assert (
        found.value.team,
        found.value.assigned,
        found.value.chosen,
        len(found.value.candidates),
    ) == ("07", True, 0, 3)


def test_split_files_beside_the_candidates_are_not_candidates(tmp_path: Path) -> None:
    folder = handed_out(tmp_path / "07", "Bi07-{}.csv")
    (folder / "Bi07-1_0.csv").write_bytes(b"anything")
    (folder / "Bi07_0.csv").write_bytes(b"anything")
    found = attempt(BOOK.read_handout, folder)
    assert isinstance(found, Read)
    assert len(found.value.candidates) == 3


def test_a_candidate_named_alone_is_the_chosen_one_of_the_three_beside_it(tmp_path: Path) -> None:
    folder = handed_out(tmp_path / "07", "Bi07-{}.csv", team="07")
    found = attempt(BOOK.read_handout, folder / "Bi07-2.csv")
    assert isinstance(found, Read)
    assert (found.value.chosen, len(found.value.candidates)) == (1, 3)
    assert found.value.table == small_original(60, seed=2)


def test_a_candidate_without_the_others_beside_it_is_a_table_of_its_own(tmp_path: Path) -> None:
    folder = handed_out(tmp_path / "07", "Bi07-{}.csv")
    (folder / "Bi07-1.csv").unlink()
    found = attempt(BOOK.read_handout, folder / "Bi07-2.csv")
    assert isinstance(found, Read)
    assert found.value.candidates == (small_original(60, seed=2),)


def test_a_choice_in_the_folder_is_obeyed(tmp_path: Path) -> None:
    folder = handed_out(tmp_path / "07", "Bi07-{}.csv", team="07")
    (folder / "choice.json").write_text('{"candidate": 3}')
    found = attempt(BOOK.read_handout, folder)
    assert isinstance(found, Read)
    assert found.value.chosen == 2


@pytest.mark.parametrize(
    ("name", "team"), [("sampleBi.csv", "00"), ("Bi11.csv", "11"), ("B07.csv", "07")]
)
def test_any_single_b_file_is_a_handout(tmp_path: Path, name: str, team: str) -> None:
    (tmp_path / name).write_bytes(
        b"\xef\xbb\xbf" + table_bytes(small_original(60), header=True).replace(b"\n", b"\r\n")
    )
    found = attempt(BOOK.read_handout, tmp_path / name)
    assert isinstance(found, Read), found
    assert (found.value.team, found.value.assigned, len(found.value.candidates)) == (team, False, 1)
    assert {notice.code for notice in found.notices} == {"text.bom", "text.line_ends"}


def test_a_handout_that_is_not_there_or_holds_no_table_is_told(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.csv"):
        found = attempt(BOOK.read_handout, path)
        assert isinstance(found, Problems)
        assert found.malformed


# -- the ten files -------------------------------------------------------------------------------------------------------


def test_the_untouched_splits_are_a_valid_release_of_utility_100() -> None:
    submission, notices = accepted(release())
    assert not notices
    scores = BOOK.measure(HANDOUT, submission).scores
    utility = {name: score.value for name, score in scores.items() if name != "sample_anonymity"}
    assert utility == {**{f"U_{j}": 100.0 for j in range(10)}, "U": 100.0}


@pytest.mark.parametrize(
    ("column", "value", "fix"),
    [
        ("260", "0.0", "write 0"),
        ("260", "6", "0 to 5"),
        ("260", "", ""),
        ("ZIP-code", "999", ""),
        ("Gender", "X", ""),
    ],
)
def test_a_value_outside_its_domain_is_told_with_file_row_column_and_value(
    column: str, value: str, fix: str
) -> None:
    problem = refused(changed("C01_0.csv", 5, column, value))[0]
    assert (problem.file, problem.row, problem.record, problem.column, problem.value) == (
        "C01_0.csv",
        5,
        3,
        column,
        value,
    )
    assert fix in problem.fix


def test_at_most_20_violations_per_file_are_listed_and_all_are_counted() -> None:
    files = release()
    for name in ("C01_2.csv", "C01_8.csv"):
        head, *body = files[name].decode().splitlines()
        changed_rows = [
            f"{line.rpartition(',')[0]},{number}" for number, line in enumerate(body, start=6)
        ]
        files[name] = "\n".join([head, *changed_rows, ""]).encode()
    found = refused(files)
    assert len(found) == 40
    assert (
        found.total == sum(files[name].count(b"\n") - 1 for name in ("C01_2.csv", "C01_8.csv")) > 40
    )


def test_the_same_wrong_value_in_many_rows_is_one_violation_of_the_list() -> None:
    files = release()
    head, _, body = files["C01_2.csv"].decode().partition("\n")
    files["C01_2.csv"] = (head + "\n" + body.replace(",3\n", ",7\n")).encode()
    found = refused(files)
    assert len(found) == 1
    assert found.total == found[0].count == files["C01_2.csv"].count(b",7\n") > 20


def test_a_release_of_other_data_is_one_sentence_and_one_line_per_file_and_column() -> None:
    few = small_original().take(small_original().codes["ZIP-code"] > 9)
    handout = Handout("01", (ratings.narrowed(few),), assigned=True)
    other = small_original(len(few), seed=9)
    found = refused(split_files("01", ratings.split(other)), handout)
    assert "another candidate or round?" in found[0].message
    places = [(problem.file, problem.column) for problem in found[1:]]
    assert places
    assert len(places) == len(set(places)) <= 20
    zips = [problem for problem in found[1:] if problem.column == "ZIP-code"]
    assert all(problem.count > 1 and problem.row and not problem.fix for problem in zips)
    assert found.total > len(found)


def test_a_zip_code_is_not_taken_for_a_misspelt_one() -> None:
    few = small_original().take(small_original().codes["ZIP-code"] > 9)
    handout = Handout("01", (ratings.narrowed(few),), assigned=True)
    strange = str(small_original().texts("ZIP-code").cast(int).min())
    files = split_files("01", ratings.split(few))
    name = next(name for name, data in files.items() if b"ZIP-code" in data)
    head, first, *rest = files[name].decode().splitlines()
    cells = first.split(",")
    cells[head.split(",").index("ZIP-code")] = strange
    files[name] = "\n".join([head, ",".join(cells), *rest, ""]).encode()
    (problem,) = refused(files, handout)
    assert (problem.row, problem.column, problem.value) == (2, "ZIP-code", strange)
    assert "did you mean" not in str(problem)


def test_rows_columns_and_their_order_must_be_the_splits() -> None:
    files = release()
    lines = files["C01_2.csv"].decode().splitlines()
    for other in (
        lines[:-1],
        [lines[0], *lines],
        [",".join(reversed(line.split(","))) for line in lines],
    ):
        found = refused({**files, "C01_2.csv": ("\n".join(other) + "\n").encode()})
        assert found[0].file == "C01_2.csv"


def test_all_ten_files_of_the_team_must_be_there() -> None:
    files = release()
    del files["C01_4.csv"]
    assert "C01_4.csv" in str(refused(files)[0])
    others = {name.replace("C01", "C02"): data for name, data in release().items()}
    for handed_in in (others, {"any.zip": zipped(others)}):
        assert refused(handed_in)[0].code == "release.other_team"


def test_files_of_several_teams_are_refused_where_nobody_says_whose_they_are() -> None:
    files = release()
    files["C02_4.csv"] = files.pop("C01_4.csv")
    assert "pwscup2024.several_teams" in [
        problem.code for problem in refused(files, Handout("01", (small_original(),)))
    ]


def test_windows_line_ends_and_a_bom_are_accepted_with_a_notice() -> None:
    files = release()
    files["C01_0.csv"] = files["C01_0.csv"].replace(b"\n", b"\r\n")
    files["C01_1.csv"] = b"\xef\xbb\xbf" + files["C01_1.csv"]
    _, notices = accepted(files)
    assert "C01_0.csv:1: the line ends" in notices
    assert "C01_1.csv:1: the file begins with a byte-order mark" in notices


def test_a_zip_with_one_folder_macos_entries_and_a_bom_is_normalised_and_the_receipt_says_so() -> (
    None
):
    files = {f"C01/{name}": data for name, data in release().items()}
    files["C01/C01_3.csv"] = b"\xef\xbb\xbf" + files["C01/C01_3.csv"]
    files["__MACOSX/C01/._C01_3.csv"] = b"junk"
    _, notices = accepted({"C01.zip": zipped(files)})
    assert "folder" in notices
    assert "__MACOSX" in notices
    assert "byte-order mark" in notices


def test_a_strange_file_in_a_zip_is_refused_and_beside_the_files_of_a_folder_left_aside() -> None:
    files = {**release(), "notes.txt": b"x\n"}
    assert refused({"C01.zip": zipped(files)})[0].file == "notes.txt"
    _, notices = accepted(files)
    assert "notes.txt" in notices


def test_a_release_is_one_archive() -> None:
    archive = zipped(release())
    assert refused({"C01.zip": archive, "again.zip": archive})[0].code == "pwscup2024.one_archive"
    assert refused({"C01.zip": archive, **release()})[0].code == "pwscup2024.one_archive"


# -- id.txt --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b"01", b"1\n", b"\xef\xbb\xbf01\r\n", b" 01 \n"])
def test_id_txt_with_the_teams_number_is_accepted_in_the_zip_and_beside_the_files(
    text: bytes,
) -> None:
    accepted({"C01.zip": zipped({**release(), "id.txt": text})})
    _, notices = accepted({**release(), "id.txt": text})
    assert "left aside" not in notices


@pytest.mark.parametrize(
    "text", [b"02\n", b"team 01\n", b"", b"01\n01\n", b"-1\n", "１\n".encode(), b"99999\n"]
)
def test_id_txt_that_says_anything_else_is_refused(text: bytes) -> None:
    for files in (
        {"C01.zip": zipped({**release(), "id.txt": text})},
        {**release(), "id.txt": text},
    ):
        assert refused(files)[0].file == "id.txt"


def test_id_txt_is_checked_against_the_names_where_nobody_says_whose_files_they_are() -> None:
    single = Handout("00", (small_original(),))
    accepted({**release(), "id.txt": b"01"}, single)
    assert refused({**release(), "id.txt": b"02"}, single)[0].code == "pwscup2024.id_other_team"


# -- the choice of a candidate -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["choice.json", "C01_choice.json"])
def test_the_chosen_candidate_is_told_by_a_choice_file_in_the_zip_or_beside_it(name: str) -> None:
    files, choice = release(seed=2), {name: b'{"candidate": 2}'}
    for handed_in in (
        {**files, **choice},
        {"C01.zip": zipped({**files, **choice})},
        {"C01.zip": zipped(files), **choice},
    ):
        submission, notices = accepted(handed_in, TWO)
        assert submission.chosen == 1
        assert not notices
        assert BOOK.measure(TWO, submission).scores["U"].value == 100


def test_a_single_table_is_the_chosen_one_whatever_its_number_was() -> None:
    submission, notices = accepted({**release(), "choice.json": b'{"candidate": 3}'})
    assert (submission.chosen, notices) == (0, "")


def test_no_choice_file_is_candidate_1_and_a_notice_says_so() -> None:
    submission, notices = accepted(release(), TWO)
    assert submission.chosen == 0
    assert "candidate 1" in notices
    assert "C01_choice.json" in notices


def test_another_teams_choice_file_is_refused() -> None:
    choice = {"C02_choice.json": b'{"candidate": 2}'}
    for files in (
        {**release(seed=2), **choice},
        {"C01.zip": zipped({**release(seed=2), **choice})},
    ):
        problem = refused(files, TWO)[0]
        assert (problem.code, problem.file) == ("release.other_team", "C02_choice.json")


def test_two_choices_are_refused() -> None:
    choices = {"choice.json": b'{"candidate": 1}', "C01_choice.json": b'{"candidate": 2}'}
    assert refused({**release(), **choices}, TWO)[0].code == "pwscup2024.choice_twice"


@pytest.mark.parametrize(
    "bad",
    [b"{}", b'{"candidate": 3}', b'{"candidate": 0}', b'{"candidate": true}', b"[" * 5000, b"2"],
)
def test_a_choice_that_names_no_candidate_is_refused(bad: bytes) -> None:
    assert refused({**release(), "choice.json": bad}, TWO)[0].file == "choice.json"


def test_what_anonymize_writes_says_which_candidate_it_is_of() -> None:
    second = Handout("01", TWO.candidates, chosen=1, assigned=True)
    files = dict(BOOK.release_files(second, Release(ratings.split(second.table))))
    assert accepted(files, TWO)[0].chosen == 1
    assert set(BOOK.release_files(HANDOUT, Release(ratings.split(HANDOUT.table)))) == set(release())


def test_anonymize_writes_a_zip_of_the_entry_where_out_ends_in_zip(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handout = tmp_path / "Bi01.csv"
    handout.write_bytes(table_bytes(small_original(), header=True))

    def anonymized(out: Path) -> None:
        with pytest.raises(SystemExit) as left:
            main(["anonymize", "pwscup2024", "shuffle_rows", str(handout), str(out), "--seed", "1"])
        assert not left.value.code, capsys.readouterr().err

    for out in ("folder", "C01.zip", "again.ZIP"):
        anonymized(tmp_path / out)
    archive = attempt(open_archive, Source.of(tmp_path / "C01.zip"))
    assert isinstance(archive, Read)
    assert {source.name: source.read() for source in archive.value} == {
        **read_folder(tmp_path / "folder"),
        "id.txt": b"01\n",
    }
    assert (tmp_path / "again.ZIP").read_bytes() == (tmp_path / "C01.zip").read_bytes()
    assert isinstance(attempt(BOOK.read_release, HANDOUT, sources_of(tmp_path / "C01.zip")), Read)


# -- what attackers get --------------------------------------------------------------------------------------------------


def published(folder: Path) -> dict[str, bytes]:
    known, answer = under_attack(small_original(), ratings.split(small_original()))
    files = {**target_files("01", known), **release()}
    write_folder(folder, {**files, **answer_files("01", answer)})
    return files


def test_a_target_is_read_from_its_folder_or_from_a_b_and_the_folder_of_the_ten_files(
    tmp_path: Path,
) -> None:
    files = published(tmp_path / "known")
    write_folder(
        tmp_path / "ten", {name: data for name, data in files.items() if name.startswith("C")}
    )
    (tmp_path / "people.csv").write_bytes(files["B01a.csv"])
    (tmp_path / "ratings.csv").write_bytes(files["B01b.csv"])
    for paths in (
        [tmp_path / "known"],
        [tmp_path / "known" / "B01a.csv", tmp_path / "known" / "B01b.csv", tmp_path / "known"],
        [tmp_path / "people.csv", tmp_path / "ratings.csv", tmp_path / "ten"],
    ):
        found = attempt(BOOK.read_target, *paths)
        assert isinstance(found, Read), found
        assert (
            len(found.value.knowledge.people)
            == len(found.value.knowledge.ratings)
            == found.value.form.rows
            == 50
        )


def test_attackers_are_told_what_is_missing(tmp_path: Path) -> None:
    published(tmp_path / "known")
    found = attempt(BOOK.read_knowledge, [Source.of(tmp_path / "known" / "B01a.csv")])
    assert isinstance(found, Problems)
    assert "b.csv" in found[0].message
    found = attempt(
        BOOK.read_knowledge, [Source.of(tmp_path / "known" / f"B01{letter}.csv") for letter in "ab"]
    )
    assert isinstance(found, Problems)
    assert "CNN_0.csv" in found[0].message


def test_the_files_of_the_team_that_a_names_are_taken_where_several_lie_together(
    tmp_path: Path,
) -> None:
    published(tmp_path / "known")
    for number in range(10):
        (tmp_path / "known" / f"C02_{number}.csv").write_bytes(b"of another team")
    assert isinstance(attempt(BOOK.read_knowledge, sources_of(tmp_path / "known")), Read)


def test_attackers_are_told_when_the_ten_files_do_not_fit_together(tmp_path: Path) -> None:
    files = published(tmp_path / "known")
    (tmp_path / "known" / "C01_2.csv").write_bytes(files["C01_2.csv"].rsplit(b"\n", 2)[0] + b"\n")
    found = attempt(BOOK.read_knowledge, sources_of(tmp_path / "known"))
    assert isinstance(found, Problems)
    assert "rows" in found[0].message


def test_each_row_of_b_has_one_star(tmp_path: Path) -> None:
    files = published(tmp_path / "known")
    (tmp_path / "known" / "B01b.csv").write_bytes(files["B01b.csv"].replace(b"*", b"0", 1))
    found = attempt(BOOK.read_knowledge, sources_of(tmp_path / "known"))
    assert isinstance(found, Problems)
    assert (found[0].file, found[0].row) == ("B01b.csv", 2)


def test_the_answer_is_read_from_its_folder_and_holds_rows_of_a_and_ratings(tmp_path: Path) -> None:
    published(tmp_path / "known")
    for path in (tmp_path / "known", tmp_path / "known" / "B01x.csv"):
        found = attempt(BOOK.read_answer, path)
        assert isinstance(found, Read), found
        assert sorted(found.value.people) == list(range(50))
        assert found.value.target == "01"
    (tmp_path / "known" / "B01x.csv").write_bytes(b"50,0\n" * 50)
    assert isinstance(attempt(BOOK.read_answer, tmp_path / "known"), Problems)
    (tmp_path / "known" / "B01x.csv").unlink()
    assert isinstance(attempt(BOOK.read_answer, tmp_path / "known"), Problems)


def test_a_hostile_zip_is_refused_by_check_with_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "B01.csv").write_bytes(table_bytes(small_original(), header=True))
    (tmp_path / "C01.zip").write_bytes(zipped({"../C01_0.csv": b"x"}))
    with pytest.raises(SystemExit) as left:
        main(["check", "pwscup2024", str(tmp_path / "B01.csv"), str(tmp_path / "C01.zip")])
    assert left.value.code == 2
    assert "leads out" in capsys.readouterr().err
