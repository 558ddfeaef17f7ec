"""pwscup2024: limits, names, guesses and results at their edges, small enough to be checked by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.pwscup2024 import BOOK, small_original, under_attack, zipped
from tests.reading import Read, attempt

from kakurenbo.attacks.reconstruction import RatingsGuess
from kakurenbo.attacks.reconstruction.hamming import Sample
from kakurenbo.contest import ANONYMIZE, ATTACK, Credit, Guesses, RoundResults, Target
from kakurenbo.core import Problems, Source, sources_of, write_folder
from kakurenbo.core.errors import UsageError
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.rulebooks.pwscup2024 import Answer, Handout, Pwscup2024
from kakurenbo.rulebooks.pwscup2024 import files as names
from kakurenbo.rulebooks.pwscup2024.data import Candidates, own_tables
from kakurenbo.rulebooks.pwscup2024.files import read_choice
from kakurenbo.rulebooks.pwscup2024.guesses import GuessForm
from kakurenbo.rulebooks.pwscup2024.release import Submission, split_files
from kakurenbo.rulebooks.pwscup2024.scores import blind_guessing, total_score
from kakurenbo.rulebooks.pwscup2024.targets import (
    answer_files,
    draw_masks,
    draw_test,
    masks_bytes,
    read_masks,
    target_files,
)

HANDOUT = Handout("01", (small_original(60),), assigned=True)
PAIR = [f"{row},{row % 6}" for row in range(50)]
NOTHING = ["*,*"] * 50


def release() -> dict[str, bytes]:
    return split_files("01", ratings.split(small_original(60)))


def check(files: dict[str, bytes]) -> Read | Problems:
    return attempt(BOOK.read_release, HANDOUT, [Source(name, data) for name, data in files.items()])


def columns(*pairs: list[str]) -> bytes:
    return "".join(",".join(cells) + "\n" for cells in zip(*pairs, strict=True)).encode()


def guesses(files: dict[str, bytes], attacker: str, teams: list[str]) -> Guesses:
    targets = {team: Target(team, None, GuessForm(50, team)) for team in teams}
    return BOOK.read_guesses(
        targets, [Source(name, data) for name, data in files.items()], attacker
    )


# -- what the contest declares -------------------------------------------------------------------------------------------


def test_the_judge_is_told_which_files_an_entry_has_and_how_large_they_may_be() -> None:
    anonymize, attack = Pwscup2024.phases
    assert (anonymize.name, anonymize.cost, attack.name, attack.cost) == (ANONYMIZE, 2, ATTACK, 0.1)
    assert {str(file): (file.max_bytes, file.optional) for file in anonymize.files} == {
        "CNN_N.csv": (10_000_000, False),
        "CNN.zip": (100_000_000, True),
        "CNN_choice.json": (10_000, True),
        "choice.json": (10_000, True),
        "id.txt": (10_000, True),
    }
    assert {str(file): (file.max_bytes, file.optional) for file in attack.files} == {
        "ENN.csv": (10_000_000, False),
        "ENN.zip": (10_000_000, True),
        "ENN_NN.csv": (1_000_000, True),
        "id.txt": (10_000, True),
    }
    assert Pwscup2024.utility_range == (0, 100)


def test_a_choice_and_id_txt_have_at_most_10000_bytes() -> None:
    for extra, large in ((0, False), (1, True)):
        choice = attempt(
            read_choice, Source("choice.json", b'{"candidate": 1}'.ljust(10_000 + extra)), 3
        )
        assert isinstance(choice, Problems) == large
        found = check({**release(), "id.txt": b"01".ljust(10_000 + extra)})
        assert isinstance(found, Problems) == large


def test_files_of_guesses_and_of_a_release_have_at_most_ten_million_bytes() -> None:
    for extra, large in ((b"", False), (b"0", True)):
        found = attempt(BOOK.read_guess, GuessForm(), Source("E.csv", b"0,0\n" * 2_500_000 + extra))
        assert isinstance(found, Problems)
        assert (found[0].code == "source.too_large") == large
        found = check({**release(), "C01_3.csv": b"x\n" * 5_000_000 + extra})
        assert isinstance(found, Problems)
        assert (found[0].code == "source.too_large") == large


def test_utility_has_100_points_in_each_of_ten_files_a_total_200_and_an_attack_on_five_teams_500() -> (
    None
):
    most = {name: figure.of for name, figure in Pwscup2024.figures.items()}
    assert most == {
        **{f"U_{number}": 100 for number in range(10)},
        "U": 100,
        "sample_anonymity": 100,
        "hits": 100,
        "constant": 100,
        "identification": 50,
        "reconstruction": 50,
        "anonymization": 200,
        "overall": 200,
        "attack": 500,
    }


# -- names ---------------------------------------------------------------------------------------------------------------


def test_names_tell_team_candidate_and_number() -> None:
    assert [
        names.candidate_team(name) for name in ("Bi07-2.csv", "B07.csv.gz", "Bi7.csv", "B07a.csv")
    ] == [
        "07",
        "07",
        None,
        None,
    ]
    assert [names.candidate_number(name) for name in ("Bi07-2.csv", "B07.csv", "x.csv")] == [
        2,
        None,
        None,
    ]
    assert [
        names.release_number(name) for name in ("C07_0.csv", "C07_9.csv", "C07_10.csv", "D07_1.csv")
    ] == [
        ("07", 0),
        ("07", 9),
        None,
        None,
    ]
    assert [
        names.attack_letter(name) for name in ("B07a.csv", "x.csv", "B07c.csv", "b.csv.gz")
    ] == [
        ("07", "a"),
        ("", "x"),
        None,
        ("", "b"),
    ]
    assert [
        names.is_choice(name) for name in ("C07_choice.json", "choice.json", "my_choice.json")
    ] == [True, True, False]


def test_a_number_in_id_txt_has_at_most_four_digits() -> None:
    for text, code in (
        (b"0001", ""),
        (b"00001", "pwscup2024.id_no_number"),
        (b"1234", "pwscup2024.id_other_team"),
    ):
        found = check({**release(), "id.txt": text})
        assert (found[0].code if isinstance(found, Problems) else "") == code
        if code:
            assert isinstance(found, Problems)
            assert (found[0].row, found[0].value, found[0].file) == (1, text.decode(), "id.txt")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_candidates_count_from_1_in_the_file_and_from_0_here(number: int) -> None:
    read = attempt(read_choice, Source("choice.json", b'{"candidate": %d}' % number), 3)
    assert isinstance(read, Read)
    assert read.value == number - 1


# -- the release ---------------------------------------------------------------------------------------------------------


def test_what_is_missing_is_listed_by_name_and_a_number_that_stands_twice_is_told() -> None:
    files = release()
    del files["C01_0.csv"], files["C01_9.csv"]
    found = check(files)
    assert isinstance(found, Problems)
    assert [(problem.code, problem.params["missing"]) for problem in found] == [
        ("pwscup2024.files_missing", ["C01_0.csv", "C01_9.csv"])
    ]
    found = check({**release(), "C01_03.csv": release()["C01_3.csv"]})
    assert isinstance(found, Problems)
    assert [(problem.code, problem.file, problem.params["number"]) for problem in found] == [
        ("pwscup2024.file_twice", "C01_03.csv", 3)
    ]


def test_a_strange_file_of_an_archive_is_told_with_the_names_that_belong_in_it() -> None:
    found = check({"C01.zip": zipped({**release(), "notes.txt": b"x\n"})})
    assert isinstance(found, Problems)
    assert (found[0].params["first"], found[0].params["last"]) == ("C01_0.csv", "C01_9.csv")


def test_beside_an_archive_there_may_be_files_that_tell_something_and_no_others() -> None:
    archive = {"C01.zip": zipped(release())}
    assert isinstance(check({**archive, "id.txt": b"01"}), Read)
    for more in (
        {"notes.txt": b""},
        {"second.zip": archive["C01.zip"]},
        {"id.txt": b"01", "notes.txt": b""},
    ):
        found = check({**archive, **more})
        assert isinstance(found, Problems)
        assert (found[0].code, found[0].params["files"]) == (
            "pwscup2024.one_archive",
            [*archive, *more],
        )


def test_a_team_that_does_not_choose_is_told_the_number_that_is_taken() -> None:
    several = Handout(
        "01", (small_original(60), small_original(60, seed=2)), chosen=1, assigned=True
    )
    files = split_files("01", ratings.split(small_original(60, seed=2)))
    found = attempt(
        BOOK.read_release, several, [Source(name, data) for name, data in files.items()]
    )
    assert isinstance(found, Read), found
    assert found.value.chosen == 1
    assert [(notice.code, notice.params["candidate"]) for notice in found.notices] == [
        ("pwscup2024.not_chosen", 2)
    ]


def test_a_valid_release_that_agrees_with_another_candidate_gets_a_notice_that_names_it() -> None:
    first = small_original(60)
    second = first.take(np.roll(np.arange(60), 1))  # other rows, the same values
    several = Handout("01", (first, second), assigned=True)
    files = split_files("01", ratings.split(second))
    for choice, codes in (
        (None, ["pwscup2024.not_chosen", "pwscup2024.closer_candidate"]),
        (1, ["pwscup2024.closer_candidate"]),
        (2, []),
    ):
        chosen = {} if choice is None else {"C01_choice.json": b'{"candidate": %d}' % choice}
        found = attempt(
            BOOK.read_release,
            several,
            [Source(name, data) for name, data in {**files, **chosen}.items()],
        )
        assert isinstance(found, Read), found
        assert [notice.code for notice in found.notices] == codes
        if codes:
            assert "agree far more with candidate 2" in found.notices[-1].message
            assert 'C01_choice.json: {"candidate": 2}' in found.notices[-1].fix


def test_an_empty_guess_file_is_told_to_be_empty() -> None:
    found = attempt(BOOK.read_guess, GuessForm(50, "02"), Source("E01_02.csv", b""))
    assert isinstance(found, Problems)
    assert [problem.code for problem in found] == ["text.empty"]


def test_files_that_attackers_read_have_at_least_one_row_and_all_as_many(tmp_path: Path) -> None:
    known, _ = under_attack(small_original(60), ratings.split(small_original(60)))
    empty = {name: data.partition(b"\n")[0] + b"\n" for name, data in release().items()}
    uneven = {**release(), "C01_4.csv": empty["C01_4.csv"]}
    for name, files in (("good", release()), ("empty", empty), ("uneven", uneven)):
        write_folder(tmp_path / name, {**target_files("01", known), **files})
        found = attempt(BOOK.read_knowledge, sources_of(tmp_path / name))
        assert isinstance(found, Read) == (name == "good"), found


# -- what is drawn -------------------------------------------------------------------------------------------------------


def test_a_is_the_people_and_b_their_ratings_in_the_order_of_the_answer_with_the_masked_one_starred() -> (
    None
):
    original = small_original(60)
    masks = np.arange(50) % len(ratings.MOVIES)
    known, answer = draw_test(original, ratings.split(original), stream(5, "x"), masks)
    by_name = {row[0]: row for row in original.rows()}
    people, starred = known.people.rows(), known.ratings.rows()
    assert len({row[0] for row in people}) == 50
    assert sorted(answer.people) == list(range(50))
    for row in range(50):
        person = by_name[people[answer.people[row]][0]]
        movies = [str(value) for value in person[-len(ratings.MOVIES) :]]
        assert movies[masks[row]] == str(answer.values[row])
        movies[masks[row]] = "*"
        assert list(starred[row]) == movies


def test_masks_are_50_movies_one_per_line_and_are_read_back() -> None:
    masks = draw_masks(stream(1, "m"))
    assert (masks.shape, masks.min() >= 0, masks.max() < len(ratings.MOVIES)) == ((50,), True, True)
    lines = masks_bytes(masks).decode().splitlines()
    assert lines == [ratings.MOVIES[place] for place in masks]
    read = attempt(read_masks, Source("masks.csv", masks_bytes(masks)))
    assert isinstance(read, Read)
    assert (read.value == masks).all()
    for count in (49, 51):
        assert isinstance(
            attempt(read_masks, Source("masks.csv", f"{lines[0]}\n".encode() * count)), Problems
        )


def test_sample_anonymity_is_100_less_the_hits_of_the_sample_attack_on_people_that_b_and_the_release_fix() -> (
    None
):
    """The text says that anybody who holds both gets the same figure: here it is drawn once more."""
    original = small_original(60)
    tables = ratings.split(original)
    rng = stream(
        0,
        "pwscup2024",
        "sample_anonymity",
        original.digest(),
        *(table.digest() for table in tables),
    )
    masks = rng.integers(len(ratings.MOVIES), size=50)
    known, answer = draw_test(original, tables, rng, masks)
    guess = Sample()(known, rng)
    hits = int((answer.people == guess.people).sum()), int((answer.values == guess.values).sum())
    read = check(release())
    assert isinstance(read, Read)
    score = BOOK.measure(HANDOUT, read.value).scores["sample_anonymity"]
    assert score.value == 100 - sum(hits)
    assert score.parts == {"identification": hits[0], "reconstruction": hits[1]}


def test_an_answer_has_50_rows_of_a_and_ratings_from_0_to_5(tmp_path: Path) -> None:
    answer = Answer(np.arange(50)[::-1], np.arange(50) % 6)
    (tmp_path / "B07x.csv").write_bytes(answer_files("07", answer)["B07x.csv"])
    read = attempt(BOOK.read_answer, tmp_path / "B07x.csv")
    assert isinstance(read, Read)
    assert (read.value.people.tolist(), read.value.values.tolist(), read.value.target) == (
        list(range(49, -1, -1)),
        [row % 6 for row in range(50)],
        "07",
    )
    for wrong in (b"50,0\n" * 50, b"0,6\n" * 50, b"-1,0\n" * 50, b"0,0\n" * 49, b"0,0\n" * 51):
        (tmp_path / "B07x.csv").write_bytes(wrong)
        assert isinstance(attempt(BOOK.read_answer, tmp_path / "B07x.csv"), Problems), wrong[:5]


def test_a_row_of_b_without_a_star_or_with_two_is_told_by_its_line(tmp_path: Path) -> None:
    known, _ = under_attack(small_original(60), ratings.split(small_original(60)))
    files = {**target_files("01", known), **release()}
    lines = files["B01b.csv"].decode().splitlines()
    lines[1] = lines[1].replace("*", "0")
    lines[3] = (
        "*," + lines[3].split(",", 1)[1]
        if not lines[3].startswith("*")
        else lines[3].rsplit(",", 1)[0] + ",*"
    )
    write_folder(tmp_path, {**files, "B01b.csv": "\n".join([*lines, ""]).encode()})
    found = attempt(BOOK.read_knowledge, sources_of(tmp_path))
    assert isinstance(found, Problems)
    assert [(problem.row, problem.record, problem.params["count"]) for problem in found] == [
        (2, 0, 0),
        (4, 2, 2),
    ]


# -- guesses -------------------------------------------------------------------------------------------------------------


def test_an_e_file_reaches_to_the_last_of_its_targets_and_to_the_attacker() -> None:
    guess = RatingsGuess(np.array([4, 0]), np.array([5, 1]))
    for attacker, line in (("01", b"*,*,4,5\n"), ("04", b"*,*,4,5,*,*,*,*\n")):
        assert (
            BOOK.guess_files({"02": guess}, attacker)[f"E{attacker}.csv"].splitlines(keepends=True)[
                0
            ]
            == line
        )
    assert (
        BOOK.guess_files({"01": replace(guess, people=np.array([-1, 3]))}, "01")["E01.csv"]
        == b"*,5\n3,1\n"
    )


def test_cells_of_a_guess_are_rows_of_a_and_ratings_from_0_and_all_bad_ones_are_told() -> None:
    lines = [*PAIR]
    lines[0], lines[1], lines[2] = "49,5", "50,5", "49,6"
    found = attempt(BOOK.read_guess, GuessForm(), Source("E.csv", columns(lines)))
    assert isinstance(found, Problems)
    assert [
        (problem.row, problem.record, problem.column, problem.params["high"]) for problem in found
    ] == [
        (2, 1, "1", 49),
        (3, 2, "2", 5),
    ]


def test_too_few_columns_are_told_with_those_that_are_missed() -> None:
    for read in (
        attempt(BOOK.read_guess, GuessForm(50, "03"), Source("E.csv", columns(PAIR, PAIR))),
        guesses({"E01.csv": columns(NOTHING, PAIR)}, "01", ["01", "02", "03"]).refused[0][1],
    ):
        assert isinstance(read, Problems)
        assert (read[0].code, read[0].params["width"], list(read[0].params["columns"])) == (
            "pwscup2024.too_few_columns",
            4,
            [5, 6],
        )


def test_an_odd_number_of_columns_is_told_with_its_count() -> None:
    found = attempt(BOOK.read_guess, GuessForm(), Source("E.csv", b"0,0,0\n" * 50))
    assert isinstance(found, Problems)
    assert (found[0].code, found[0].row, found[0].params["width"]) == (
        "pwscup2024.odd_columns",
        1,
        3,
    )


def test_filled_columns_are_told_by_their_places_and_a_half_filled_pair_is_filled() -> None:
    half = ["*,0"] * 50
    found = guesses({"E02.csv": columns(half, half, NOTHING, half)}, "02", ["01", "02", "03"])
    assert [guess.target for guess in found.found] == ["01"]
    assert [
        (problems[0].code, list(problems[0].params["columns"])) for _, problems in found.refused
    ] == [
        ("pwscup2024.own_columns", [3, 4]),
        ("pwscup2024.columns_of_nobody", [7, 8]),
    ]
    assert found.refused[1][1][0].params["number"] == 4


def test_at_most_20_targets_are_listed() -> None:
    teams = [f"{number:02d}" for number in range(1, 31)]
    pair = {"E01_99.csv": columns(PAIR)}
    ((_, problems),) = guesses(pair, "01", teams).refused
    assert problems[0].params["targets"] == ", ".join(teams[:20])
    wide = columns(*[NOTHING] * 30, PAIR)
    ((_, problems),) = guesses({"E01.csv": wide}, "01", teams).refused
    assert list(problems[0].params["targets"]) == teams[:20]


def test_at_most_five_files_of_a_strange_archive_are_listed() -> None:
    found = attempt(
        BOOK.read_guess,
        GuessForm(),
        Source("E.zip", zipped({f"{number}.txt": b"x" for number in range(7)})),
    )
    assert isinstance(found, Problems)
    assert list(found[0].params["listed"]) == [f"{number}.txt" for number in range(5)]


def test_the_organizers_attack_without_a_number_owns_no_columns() -> None:
    found = guesses({"id.txt": b"07"}, "sample", ["01"])
    assert (found.found, found.refused) == ((), ())


def test_id_txt_may_stand_before_the_guesses() -> None:
    for files in (
        {"id.txt": b"01", "E01.csv": columns(NOTHING, PAIR)},
        {"E01.csv": columns(NOTHING, PAIR), "id.txt": b"01"},
    ):
        assert [guess.target for guess in guesses(files, "01", ["01", "02"]).found] == ["02"]


# -- scores and results --------------------------------------------------------------------------------------------------


def test_blind_guessing_is_a_random_order_and_random_ratings() -> None:
    """On average one of 50 people is met and a sixth of the ratings; the band is that of 20,000 tries."""
    rng = np.random.default_rng(0)
    met = [
        int((rng.permutation(50) == np.arange(50)).sum() + rng.binomial(50, 1 / 6))
        for _ in range(20_000)
    ]
    chance = blind_guessing(50)
    assert chance.mean == 1 + 50 / 6
    assert np.quantile(met, [0.025, 0.975]).tolist() == [chance.low, chance.high] == [4, 15]


@pytest.mark.parametrize(
    ("anonymity", "utility", "total"),
    [(50, 50, 100), (49, 50, 97), (50, 49, 97), (49, 49, 94), (100, 100, 200), (25, 25, 0)],
)
def test_each_point_below_50_costs_two_more(anonymity: int, utility: int, total: int) -> None:
    assert total_score(Fraction(anonymity), Fraction(utility)) == total


def results(text: str) -> Read | Problems:
    return attempt(BOOK.read_published, Source("r.csv", text.encode()))


def test_a_row_of_zeros_is_a_team_that_withdrew_and_its_attacks_are_gone_too() -> None:
    read = results(
        "anonymizer,01,02,03,utility\n01,0,5,7,60\n02,0,0,0,0\n03,9,0,0,70\n04,0,0,0,1\n"
    )
    assert isinstance(read, Read)
    given: RoundResults = read.value
    assert (given.out, given.targets, given.attackers) == (
        {"02": "withdrew"},
        ("01", "02", "03", "04"),
        ("01", "03"),
    )
    assert given.credits["01"] == {"03": Credit(7, 100)}
    assert given.credits["03"] == {"01": Credit(9, 100)}


def test_hits_of_each_kind_are_at_most_50_and_together_100() -> None:
    read = results("anonymizer,01i,01d,utility\n02,50,50,100\n")
    assert isinstance(read, Read)
    assert read.value.credits["02"]["01"] == Credit(
        100, 100, details={"identification": 50, "reconstruction": 50}
    )
    both = results("anonymizer,01,utility\n02,100,0.5\n")
    assert isinstance(both, Read)
    assert (both.value.credits["02"]["01"], both.value.utility) == (Credit(100, 100), {"02": 0.5})


def test_what_is_wrong_with_a_table_of_results_is_told_with_its_figures() -> None:
    found = results("anonymizer,01i,01d,utility\n02,51,0,70\n03,1,1\n04,1,1,101\n")
    assert isinstance(found, Problems)
    assert [(problem.code, problem.row, problem.column) for problem in found] == [
        ("pwscup2024.no_hits", 2, "01i"),
        ("pwscup2024.cells", 3, None),
        ("pwscup2024.no_utility", 4, "utility"),
    ]
    assert [found[0].params["most"], found[2].params["most"]] == [50, 100]
    assert (found[1].params["count"], found[1].params["width"]) == (3, 4)


def test_further_columns_are_not_looked_at_and_a_header_alone_is_no_table() -> None:
    read = results("anonymizer,note,01,utility,rank\n02,x,3,70,y\n")
    assert isinstance(read, Read)
    assert read.value.credits["02"]["01"].hits == 3
    assert isinstance(results("anonymizer,01,utility\n"), Problems)


def test_an_attacker_is_scored_on_five_releases() -> None:
    """Six releases of equal anonymity, utility 60 to 65: the five best are 02 to 06. 09 hit each as often as its number."""
    teams = [f"0{number}" for number in range(1, 7)]
    credits = {team: {"09": Credit(int(team), 100)} for team in teams}
    given = RoundResults(
        credits, tuple(teams), ("09",), utility={team: 70.0 + 2 * int(team) for team in teams}
    )
    found = BOOK.standings({"main": given})
    assert {line.team: line.score for line in found.attack}["09"] == 2 + 3 + 4 + 5 + 6
    assert found.details["rounds"]["main"]["03"] == {
        "utility": 76.0,
        "anonymity": 97.0,
        "total": 173.0,
        "attack": None,
    }


def test_what_holds_tables_and_arrays_is_told_apart_as_a_thing() -> None:
    """Arrays have no single answer to whether they are equal; as things they can be keys of what was worked out for them."""
    tables = (small_original(60),)
    for one, other in (
        (Handout("01", tables), Handout("01", tables)),
        (Submission(tables), Submission(tables)),
        (Answer(np.arange(3), np.arange(3)), Answer(np.arange(3), np.arange(3))),
        (Candidates({"01": tables}, "own", {}), Candidates({"01": tables}, "own", {})),
    ):
        assert {one: 1, other: 2}[one] == 1


def test_a_folder_without_a_table_is_told_with_the_name_of_a_first_candidate(
    tmp_path: Path,
) -> None:
    refused = attempt(Pwscup2024().read_handout, tmp_path)
    assert isinstance(refused, Problems)
    assert [problem.params["example"] for problem in refused] == [names.candidate_file("07", 1)]


def test_a_damaged_table_of_ones_own_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "Bi07.csv").write_text("nothing\n")
    with pytest.raises(UsageError, match=r"Bi07\.csv"):
        own_tables(tmp_path)
