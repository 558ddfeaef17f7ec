"""Files of pwscup2024: every violation with its place, zip normalisation, guesses for all teams in one file."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.pwscup2024 import BOOK, small_original

from kakurenbo.attacks.reconstruction import RatingsGuess
from kakurenbo.cli import main
from kakurenbo.contracts import Preparation, Release
from kakurenbo.datasets import ratings
from kakurenbo.rulebooks.pwscup2024 import Answer, Handout, Submission
from kakurenbo.rulebooks.pwscup2024.preparation import Secrets
from kakurenbo.tables import Problem, Problems, Source, table_bytes, write_folder

HANDOUT = Handout("01", (small_original(),), facts={"team": "01"})


def release() -> dict[str, bytes]:
    return dict(BOOK.release_files(HANDOUT, Release(ratings.split(small_original()))))


def checked(files: dict[str, bytes], notices: list[Problem] | None = None) -> Submission | Problems:
    return BOOK.check_release(HANDOUT, [Source(name, data) for name, data in files.items()], notices)


def changed(file: str, line: int, column: str, value: str) -> dict[str, bytes]:
    files = release()
    lines = files[file].decode().split("\n")
    cells = lines[line - 1].split(",")
    cells[lines[0].split(",").index(column)] = value
    lines[line - 1] = ",".join(cells)
    return {**files, file: "\n".join(lines).encode()}


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_the_untouched_splits_are_a_valid_release_of_utility_100() -> None:
    submission = checked(release())
    assert not isinstance(submission, Problems), submission
    scores = BOOK.measure(HANDOUT, submission).scores
    assert {name: score.value for name, score in scores.items()} == {**{f"U_{j}": 100.0 for j in range(10)}, "U": 100.0}


@pytest.mark.parametrize(
    ("column", "value", "fix"),
    [("260", "0.0", "write 0"), ("260", "6", "0 to 5"), ("260", "", ""), ("ZIP-code", "999", ""), ("Gender", "X", "")],
)
def test_a_value_outside_its_domain_is_told_with_file_row_column_and_value(column: str, value: str, fix: str) -> None:
    found = checked(changed("C01_0.csv", 5, column, value))
    assert isinstance(found, Problems)
    problem = found[0]
    assert (problem.file, problem.row, problem.record, problem.column, problem.value) == ("C01_0.csv", 5, 3, column, value)
    assert fix in problem.fix


def test_at_most_20_violations_per_file_are_listed_and_all_are_counted() -> None:
    files = release()
    for name in ("C01_2.csv", "C01_8.csv"):
        head, _, body = files[name].decode().partition("\n")
        files[name] = (head + "\n" + body.replace(",3\n", ",7\n")).encode()
    expected = sum(files[name].count(b",7\n") for name in ("C01_2.csv", "C01_8.csv"))
    found = checked(files)
    assert isinstance(found, Problems)
    assert len(found) == 40
    assert found.total == expected > 40


def test_rows_columns_and_their_order_must_be_the_splits() -> None:
    files = release()
    lines = files["C01_2.csv"].decode().splitlines()
    for other in (lines[:-1], [lines[0], *lines], [",".join(reversed(line.split(","))) for line in lines]):
        found = checked({**files, "C01_2.csv": ("\n".join(other) + "\n").encode()})
        assert isinstance(found, Problems)
        assert found[0].file == "C01_2.csv"


def test_all_ten_files_of_the_team_must_be_there() -> None:
    files = release()
    del files["C01_4.csv"]
    found = checked(files)
    assert isinstance(found, Problems)
    assert "C01_4.csv" in str(found[0])
    others = {name.replace("C01", "C02"): data for name, data in release().items()}
    assert isinstance(checked(others), Problems)


def test_a_zip_with_one_folder_macos_entries_and_a_bom_is_normalised_and_the_receipt_says_so() -> None:
    files = {f"C01/{name}": data for name, data in release().items()}
    files["C01/C01_3.csv"] = b"\xef\xbb\xbf" + files["C01/C01_3.csv"]
    files["__MACOSX/C01/._C01_3.csv"] = b"junk"
    notices: list[Problem] = []
    submission = checked({"C01.zip": zipped(files)}, notices)
    assert not isinstance(submission, Problems), submission
    told = " ".join(notice.message for notice in notices)
    assert "folder" in told
    assert "__MACOSX" in told
    assert "byte-order mark" in told


def test_a_strange_file_in_a_zip_is_refused_and_beside_the_files_of_a_folder_left_aside() -> None:
    files = {**release(), "notes.txt": b"x\n"}
    assert isinstance(checked({"C01.zip": zipped(files)}), Problems)
    notices: list[Problem] = []
    assert not isinstance(checked(files, notices), Problems)
    assert notices[0].file == "notes.txt"


def test_the_chosen_candidate_is_told_by_a_choice_file() -> None:
    other = small_original(seed=2)
    handout = Handout("01", (small_original(), other), chosen=1, facts={"team": "01"})
    files = BOOK.release_files(handout, Release(ratings.split(other)))
    submission = BOOK.check_release(
        Handout("01", handout.candidates, facts={"team": "01"}), [Source(name, data) for name, data in files.items()]
    )
    assert not isinstance(submission, Problems)
    assert submission.chosen == 1
    assert BOOK.measure(handout, submission).scores["U"].value == 100
    for bad in (b"{}", b'{"candidate": 3}', b'{"candidate": true}', b"[" * 5000):
        assert isinstance(checked({**release(), "choice.json": bad}), Problems)


def test_guesses_for_all_teams_stand_side_by_side_and_own_and_absent_teams_are_stars() -> None:
    guess = RatingsGuess(np.arange(50), np.arange(50) % 6)
    (name, data), *_ = BOOK.guess_files({"01": guess, "04": guess}, "03").items()
    assert name == "E03.csv"
    assert data.decode().splitlines()[7] == "7,1,*,*,*,*,7,1"
    targets = dict.fromkeys(("01", "02", "04"))
    found = BOOK.check_guesses(targets, [Source(name, data)], "03")  # type: ignore[arg-type]
    assert not isinstance(found, Problems)
    assert set(found) == {"01", "04"}
    blanks = data.replace(b"*", b"")
    again = BOOK.check_guesses(targets, [Source(name, blanks)], "03")  # type: ignore[arg-type]
    assert not isinstance(again, Problems)
    assert np.array_equal(again["04"].people, guess.people)


@pytest.mark.parametrize(
    ("line", "place"),
    [("50,1", (3, "1")), ("1,6", (3, "2")), ("1,1.0", (3, "2")), ("-1,0", (3, "1")), ("x,0", (3, "1"))],
)
def test_a_bad_guess_is_told_with_row_and_column(line: str, place: tuple[int, str]) -> None:
    lines = ["0,0"] * 50
    lines[2] = line
    answer = Answer(np.zeros(50, dtype=np.int64), np.zeros(50, dtype=np.int64))
    found = BOOK.read_guess(answer, Source("E.csv", "\n".join(lines).encode()))
    assert isinstance(found, Problems)
    assert (found[0].row, found[0].column) == place


def test_attackers_are_told_when_the_ten_files_do_not_fit_together(tmp_path: Path) -> None:
    target = BOOK.publish(
        Preparation({"01": HANDOUT}, {}, {}, Secrets()), {"01": Submission(ratings.split(small_original()))}, 1
    )["01"]
    files = {name.removeprefix("01/"): data for name, data in target.public_files.items()}
    files["C01_2.csv"] = files["C01_2.csv"].rsplit(b"\n", 2)[0] + b"\n"
    write_folder(tmp_path / "known", files)
    paths = [tmp_path / "known" / "B01a.csv", tmp_path / "known" / "B01b.csv", tmp_path / "known"]
    found = BOOK.read_knowledge(paths)
    assert isinstance(found, Problems)
    assert "rows" in found[0].message


def test_each_row_of_b_has_one_star(tmp_path: Path) -> None:
    target = BOOK.publish(
        Preparation({"01": HANDOUT}, {}, {}, Secrets()), {"01": Submission(ratings.split(small_original()))}, 1
    )["01"]
    files = {name.removeprefix("01/"): data for name, data in target.public_files.items()}
    files["B01b.csv"] = files["B01b.csv"].replace(b"*", b"0", 1)
    write_folder(tmp_path / "known", files)
    paths = [tmp_path / "known" / "B01a.csv", tmp_path / "known" / "B01b.csv", tmp_path / "known"]
    found = BOOK.read_knowledge(paths)
    assert isinstance(found, Problems)
    assert (found[0].file, found[0].row) == ("B01b.csv", 2)


def test_a_hostile_zip_is_refused_by_check_with_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "B01.csv").write_bytes(table_bytes(small_original(), header=True))
    (tmp_path / "C01.zip").write_bytes(zipped({"../C01_0.csv": b"x"}))
    with pytest.raises(SystemExit) as left:
        main(["check", "pwscup2024", str(tmp_path / "B01.csv"), str(tmp_path / "C01.zip")])
    assert left.value.code == 2
    assert "leads out" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"", b"0,0\n", b"0,0,0\n" * 50, b"0,0,0,0\n" * 50, b"\xff\xfe" * 100, b"0,0\n" * 49 + b"0\n"])
def test_a_guess_of_another_shape_is_refused(data: bytes) -> None:
    answer = Answer(np.zeros(50, dtype=np.int64), np.zeros(50, dtype=np.int64))
    assert isinstance(BOOK.read_guess(answer, Source("E.csv", data)), Problems)


def test_the_masked_column_of_a_row_is_common_to_all_teams_or_not(tmp_path: Path) -> None:
    for masks, same in (("common", True), ("per_team", False)):
        book = type(BOOK)(scale="small", masks=masks)
        preparation = book.prepare(5, ["01", "02"])
        submissions = {team: Submission(ratings.split(handout.table)) for team, handout in preparation.handouts.items()}
        targets = book.publish(preparation, submissions, 6)
        hidden = [targets[team].knowledge.hidden for team in ("01", "02")]
        assert np.array_equal(*hidden) == same
        committed = json.loads(preparation.folders["public"]["commitments.json"])["commitments"]
        assert {name for name in committed if "masks" in name} == (
            {"secret/masks.csv"} if same else {"secret/masks_01.csv", "secret/masks_02.csv"}
        )
        write_folder(tmp_path / masks, preparation.files(), private=("secret",))
        again = book.read_preparation(tmp_path / masks)
        assert not isinstance(again, Problems)
        assert np.array_equal(again.state.of_team("02", 0), hidden[1])


def test_a_contest_goes_through_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: object) -> dict:
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in (*words, "--json")])
        out = json.loads(capsys.readouterr().out)
        assert left.value.code == 0, out
        return out

    original = tmp_path / "B07.csv"
    original.write_bytes(table_bytes(small_original(), header=True))
    run("anonymize", "pwscup2024", "pseudo_olh", original, tmp_path / "C", "--epsilon", "4", "--seed", "1")
    assert run("check", "pwscup2024", original, tmp_path / "C")["valid"]
    assert set(run("measure", "pwscup2024", original, tmp_path / "C")["scores"]) == {"U", *(f"U_{j}" for j in range(10))}
    run("publish", "pwscup2024", original, tmp_path / "C", "-o", tmp_path / "out", "--seed", "2")
    known = tmp_path / "out" / "attackers" / "07"
    guess = tmp_path / "E.csv"
    run(
        "attack", "pwscup2024", "posterior", known / "B07a.csv", known / "B07b.csv", known, "-o", guess,
        "--mechanism", "pseudo_olh:epsilon=4", "--seed", "3",
    )  # fmt: skip
    credit = run("credit", "pwscup2024", tmp_path / "out" / "secret" / "B07x.csv", guess)
    assert credit["identification"] >= 40
    assert credit["reconstruction"] >= 30
