"""pwscup2024: what the other files leave open of widths, draws, choices and laws of chance, each checked by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from math import comb, factorial
from pathlib import Path

import numpy as np
import pytest
from tests.pwscup2024 import BOOK, small_original, under_attack
from tests.reading import Read, attempt

from kakurenbo.anonymizers.ratings.olh import PseudoOLH
from kakurenbo.attacks.reconstruction import RatingsGuess
from kakurenbo.contest import Credit, Guesses, Release, RoundResults, Target
from kakurenbo.core import Problems, Source, table_bytes
from kakurenbo.core.rng import stream
from kakurenbo.data import ratings
from kakurenbo.rulebooks.pwscup2024 import Answer, Handout, Pwscup2024
from kakurenbo.rulebooks.pwscup2024 import data as organizer
from kakurenbo.rulebooks.pwscup2024.data import draw_candidates
from kakurenbo.rulebooks.pwscup2024.guesses import GuessForm
from kakurenbo.rulebooks.pwscup2024.release import Submission, split_files
from kakurenbo.rulebooks.pwscup2024.scores import blind_guessing
from kakurenbo.rulebooks.pwscup2024.targets import target_files


def wide(pairs: int) -> bytes:
    """An E file with guesses in its first pair of columns, and so many pairs."""
    return (b"0,0" + b",*,*" * (pairs - 1) + b"\n") * 50


def guesses(files: dict[str, bytes], attacker: str, teams: list[str]) -> Guesses:
    targets = {team: Target(team, None, GuessForm(50, team)) for team in teams}
    return BOOK.read_guesses(
        targets, [Source(name, data) for name, data in files.items()], attacker
    )


def test_every_figure_has_the_sentence_of_its_name_and_the_ten_utilities_share_one() -> None:
    shared = {
        **{f"U_{number}": "U_j" for number in range(10)},
        "anonymization": "total",
        "overall": "total",
    }
    for name, figure in Pwscup2024.figures.items():
        assert figure.code == f"pwscup2024.figure.{shared.get(name, name)}"
        assert len(set(figure.definitions.values())) == 2


# -- E files -------------------------------------------------------------------------------------------------------------


def test_an_e_file_has_columns_for_99_teams_and_no_more() -> None:
    assert [guess.target for guess in guesses({"E99.csv": wide(99)}, "99", ["01"]).found] == ["01"]
    ((_, problems),) = guesses({"E99.csv": wide(100)}, "99", ["01"]).refused
    assert [(problem.code, problem.row, problem.params["most"]) for problem in problems] == [
        ("pwscup2024.too_many_columns", 1, 198)
    ]


def test_an_odd_line_is_the_first_record() -> None:
    found = attempt(BOOK.read_guess, GuessForm(), Source("E.csv", b"0,0,0\n" * 50))
    assert isinstance(found, Problems)
    assert (found[0].row, found[0].record) == (1, 0)


def test_the_width_of_an_e_file_is_that_of_its_first_line_though_the_line_begins_or_ends_with_a_blank_cell() -> (
    None
):
    """Line 2 begins with a comma, line 1 ends with one: neither is taken for the other's."""
    lines = [b"0,", b",0", *[b"0,0"] * 48]
    assert isinstance(
        attempt(BOOK.read_guess, GuessForm(), Source("E.csv", b"\n".join(lines) + b"\n")), Read
    )
    assert isinstance(
        attempt(BOOK.read_guess, GuessForm(), Source("E.csv", b"\n".join(lines))), Read
    )


def test_an_e_file_may_end_with_the_last_team_that_is_not_ones_own() -> None:
    for attacker, teams, pairs, targets in (
        ("03", ["01", "03"], 1, ["01"]),
        ("03", ["01", "02", "03"], 2, ["01"]),
        ("01", ["01"], 1, []),
    ):
        assert [
            guess.target
            for guess in guesses({f"E{attacker}.csv": wide(pairs)}, attacker, teams).found
        ] == targets
    ((_, problems),) = guesses({"E03.csv": wide(1)}, "03", ["01", "02", "03", "04"]).refused
    assert (problems[0].code, list(problems[0].params["columns"])) == (
        "pwscup2024.too_few_columns",
        [7, 8],
    )


# -- handouts ------------------------------------------------------------------------------------------------------------


def test_a_single_table_is_the_first_of_one_and_what_is_released_of_it_needs_no_choice(
    tmp_path: Path,
) -> None:
    for name in ("Bi07.csv", "anything.csv"):
        (tmp_path / name).write_bytes(table_bytes(small_original(60), header=True))
        read = attempt(BOOK.read_handout, tmp_path / name)
        assert isinstance(read, Read)
        assert (read.value.chosen, len(read.value.candidates)) == (0, 1)


def test_the_choice_by_the_teams_own_name_is_obeyed_before_a_plain_one(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"Bi07-{number}.csv").write_bytes(
            table_bytes(small_original(60, seed=number), header=True)
        )
    (tmp_path / "C07_choice.json").write_text('{"candidate": 2}')
    (tmp_path / "choice.json").write_text('{"candidate": 1}')
    read = attempt(BOOK.read_handout, tmp_path)
    assert isinstance(read, Read)
    assert read.value.chosen == 1


# -- preparation ---------------------------------------------------------------------------------------------------------


def streams(*purpose: str) -> np.random.Generator:
    return stream(1, *purpose)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """A generator that takes no time, and what was asked of it."""
    asked: list[tuple[int, int]] = []

    def generator(count: int, rows: int, _: np.random.Generator) -> list[object]:
        asked.append((count, rows))
        return [small_original(60)] * count

    monkeypatch.setattr(organizer, "_generator", lambda: generator)
    return asked


@pytest.mark.parametrize(("scale", "rows"), [("full", 10_000), ("small", 1_000)])
def test_each_team_is_drawn_three_candidates_of_10000_rows_or_a_tenth(
    stand_in: list[tuple[int, int]], scale: str, rows: int
) -> None:
    drawn = draw_candidates("embedded", scale, ("01", "03"), streams)
    assert stand_in == [(3, rows)] * 2
    assert {team: len(tables) for team, tables in drawn.by_team.items()} == {"01": 3, "03": 3}
    assert drawn.kind == "embedded"
    assert set(drawn.report) == {"fidelity"}


@pytest.mark.parametrize(("tables", "kind"), [(5, "embedded"), (6, "imported"), (7, "imported")])
def test_imported_tables_are_taken_of_themselves_where_there_are_three_for_each_team(
    stand_in: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch, tables: int, kind: str
) -> None:
    monkeypatch.setattr(
        organizer,
        "load_ratings",
        lambda: tuple(small_original(60, seed=n) for n in range(tables)),
    )
    drawn = draw_candidates("auto", "full", ("01", "03"), streams)
    assert (drawn.kind, bool(stand_in)) == (kind, kind == "embedded")
    if kind == "imported":
        assert list(drawn.data["sha256"]) == [f"B0{number}" for number in range(1, tables + 1)]


@pytest.mark.parametrize(("tables", "each"), [(2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (9, 3)])
def test_every_team_gets_as_many_tables_as_there_are_for_each_and_three_at_most(
    monkeypatch: pytest.MonkeyPatch, tables: int, each: int
) -> None:
    monkeypatch.setattr(
        organizer,
        "load_ratings",
        lambda: tuple(small_original(60, seed=n) for n in range(tables)),
    )
    drawn = draw_candidates("imported", "full", ("01", "03"), streams)
    assert [len(several) for several in drawn.by_team.values()] == [each, each]
    assert (
        len({table.digest() for several in drawn.by_team.values() for table in several}) == 2 * each
    )


@pytest.mark.parametrize(("rows", "left"), [(60, 50), (509, 50), (510, 51), (600, 60)])
def test_a_tenth_of_a_real_table_is_different_rows_in_their_order_and_50_at_least(
    monkeypatch: pytest.MonkeyPatch, rows: int, left: int
) -> None:
    monkeypatch.setattr(organizer, "load_ratings", lambda: (small_original(rows),))
    (table,) = draw_candidates("imported", "small", ("01",), streams).by_team["01"]
    numbers = [int(name.split()[1]) for name in table.texts(ratings.NAME)]
    assert len(numbers) == left
    assert numbers == sorted(set(numbers))


def test_the_generator_is_calibrated_by_a_stream_that_no_contest_has_a_part_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(organizer, "RatingsGenerator", lambda rng: rng)
    given, wanted = organizer._generator.__wrapped__(), stream(0, "pwscup2024", "calibration")
    assert (given.random(4) == wanted.random(4)).all()


# -- what attackers read -------------------------------------------------------------------------------------------------


def published(people: int | None = None) -> list[Source]:
    """b, a and the ten files, in this order; of so many people alone where that is said."""
    known, _ = under_attack(small_original(60), ratings.split(small_original(60)))
    tests = target_files("01", known)
    if people is not None:
        tests = {
            name: b"\n".join(data.split(b"\n")[: people + 1]) + b"\n"
            for name, data in tests.items()
        }
    files = {name: tests[name] for name in ("B01b.csv", "B01a.csv")}
    return [
        Source(name, data)
        for name, data in {**files, **split_files("01", ratings.split(small_original(60)))}.items()
    ]


def test_files_a_and_b_are_told_apart_by_their_names_in_whatever_order_they_come() -> None:
    found = attempt(BOOK.read_knowledge, published())
    assert isinstance(found, Read), found
    assert found.value.people.schema.names == (ratings.NAME, *ratings.ATTRIBUTES)


def test_the_first_two_of_other_names_are_a_and_b() -> None:
    b, a, *ten = published()
    assert isinstance(a.origin, bytes)
    assert isinstance(b.origin, bytes)
    named = [Source("people.csv", a.origin), Source("ratings.csv", b.origin)]
    assert isinstance(
        attempt(BOOK.read_knowledge, [*named, Source("more.csv", b"x\n"), *ten]), Read
    )
    assert isinstance(attempt(BOOK.read_knowledge, [*ten, *named]), Read)
    assert isinstance(attempt(BOOK.read_knowledge, [*named[::-1], *ten]), Problems)
    assert isinstance(attempt(BOOK.read_knowledge, [named[0], *ten]), Problems)


def test_one_person_can_be_attacked_and_nobody_cannot() -> None:
    found = attempt(BOOK.read_knowledge, published(people=1))
    assert isinstance(found, Read), found
    assert len(found.value.people) == len(found.value.ratings) == 1
    assert isinstance(attempt(BOOK.read_knowledge, published(people=0)), Problems)


def test_an_attacker_who_assumes_a_method_knows_its_mechanism_on_every_column_of_the_release() -> (
    None
):
    found = attempt(BOOK.read_knowledge, published(), PseudoOLH(epsilon=2))
    assert isinstance(found, Read), found
    mechanism = found.value.mechanism
    assert mechanism is not None
    sizes = {name: len(matrix) for name, matrix in mechanism.transitions.items()}
    columns = {column.name: column.size for table in found.value.files for column in table.schema}
    assert sizes == {name: columns[name] for name in sizes}
    assert set(ratings.MOVIES) <= set(sizes)
    assert isinstance(plain := attempt(BOOK.read_knowledge, published()), Read)
    assert plain.value.mechanism is None


# -- chance --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5])
def test_the_band_of_blind_guessing_is_that_of_all_orders_and_all_ratings(rows: int) -> None:
    """Every order of the people is as likely as any other, and so is every rating; counted out in fractions."""
    law = [Fraction(0)] * (2 * rows + 1)
    for order in permutations(range(rows)):
        met = sum(place == person for place, person in enumerate(order))
        for right in range(rows + 1):
            law[met + right] += Fraction(
                comb(rows, right) * 5 ** (rows - right), 6**rows * factorial(rows)
            )
    assert sum(law) == 1
    reached = [sum(law[: count + 1]) for count in range(len(law))]
    low, high = (
        next(count for count, share in enumerate(reached) if share >= edge)
        for edge in (Fraction(25, 1000), Fraction(975, 1000))
    )
    chance = blind_guessing(rows)
    assert (chance.mean, chance.low, chance.high) == (
        pytest.approx(float(sum(n * p for n, p in enumerate(law)))),
        low,
        high,
    )


# -- releases ------------------------------------------------------------------------------------------------------------


def release(team: str = "01") -> dict[str, bytes]:
    return split_files(team, ratings.split(small_original(60)))


def check(handout: Handout, files: dict[str, bytes]) -> Read | Problems:
    return attempt(BOOK.read_release, handout, [Source(name, data) for name, data in files.items()])


def test_a_file_of_another_team_is_told_with_both_numbers() -> None:
    single = Handout("01", (small_original(60),), assigned=True)
    files = {**release(), "C02_3.csv": b""}
    found = check(single, files)
    assert isinstance(found, Problems)
    assert (found[0].code, found[0].params["named"], found[0].params["team"]) == (
        "release.other_team",
        "02",
        "01",
    )
    found = check(single, {**release(), "C02_choice.json": b'{"candidate": 1}'})
    assert isinstance(found, Problems)
    assert (found[0].file, found[0].params["named"], found[0].params["team"]) == (
        "C02_choice.json",
        "02",
        "01",
    )


def test_files_of_two_teams_are_told_with_both_where_nobody_says_whose_they_are() -> None:
    mixed = {name: data for name, data in release("02").items() if not name.endswith("_9.csv")}
    found = check(
        Handout("00", (small_original(60),)), {**mixed, "C01_9.csv": release()["C01_9.csv"]}
    )
    assert isinstance(found, Problems)
    assert [(problem.code, list(problem.params["teams"])) for problem in found] == [
        ("pwscup2024.several_teams", ["01", "02"])
    ]


def test_the_second_of_two_choices_is_named() -> None:
    choices = {"C01_choice.json": b'{"candidate": 1}', "choice.json": b'{"candidate": 2}'}
    found = check(Handout("01", (small_original(60),)), {**release(), **choices})
    assert isinstance(found, Problems)
    assert (found[0].code, found[0].file) == ("pwscup2024.choice_twice", "choice.json")


def test_a_choice_is_one_of_the_candidates_that_there_are_or_of_three_where_one_is_left() -> None:
    one, two = ((small_original(60),) * count for count in (1, 2))
    for candidates, number, chosen in (
        (two, 1, 0),
        (two, 2, 1),
        (two, 3, None),
        (one, 3, 0),
        (one, 4, None),
    ):
        found = check(
            Handout("01", candidates), {**release(), "choice.json": b'{"candidate": %d}' % number}
        )
        assert (found.value.chosen if isinstance(found, Read) else None) == chosen


def test_who_hands_in_is_told_by_the_ten_files_where_nobody_else_says_it() -> None:
    anybody = Handout("00", (small_original(60),))
    assert isinstance(check(anybody, {**release("07"), "id.txt": b"7"}), Read)
    found = check(anybody, {**release("07"), "id.txt": b"8"})
    assert isinstance(found, Problems)
    assert (found[0].code, found[0].params["team"]) == ("pwscup2024.id_other_team", "07")


def test_a_choice_is_handed_in_with_a_release_of_one_of_several_candidates_alone() -> None:
    tables = ratings.split(small_original(60))
    one, two = ((small_original(60),) * count for count in (1, 2))
    made = Release(tables, None)
    assert len(BOOK.release_files(Handout("01", one), made)) == 10
    files = BOOK.release_files(Handout("01", two, chosen=1), made)
    assert (len(files), json.loads(files["C01_choice.json"])) == (11, {"candidate": 2})


def test_a_submission_is_of_the_first_candidate_unless_it_says_otherwise() -> None:
    assert Submission(ratings.split(small_original(60))).chosen == 0
    assert (
        Handout("01", (small_original(60),)).chosen,
        Handout("01", (small_original(60),)).assigned,
    ) == (0, False)


# -- answers and results -------------------------------------------------------------------------------------------------


def test_an_answer_by_another_name_is_of_nobody(tmp_path: Path) -> None:
    (tmp_path / "answers.csv").write_bytes(b"0,0\n" * 50)
    found = attempt(BOOK.read_answer, tmp_path / "answers.csv")
    assert isinstance(found, Read), found
    assert found.value.target == ""
    assert BOOK.answer_form(found.value) == GuessForm(50, "")


def results(text: str) -> Read | Problems:
    return attempt(BOOK.read_published, Source("r.csv", text.encode()))


def test_a_column_that_stands_twice_or_without_its_other_half_is_told_in_the_first_line() -> None:
    for header, code, column in (
        ("anonymizer,01,1,utility", "pwscup2024.attacker_twice", "1"),
        ("anonymizer,01i,1i,01d,utility", "pwscup2024.attacker_twice", "1i"),
        ("anonymizer,01i,utility", "pwscup2024.attacker_columns", "01i"),
        ("anonymizer,02,01,01d,utility", "pwscup2024.attacker_columns", "01d"),
    ):
        found = results(f"{header}\n03{',1' * header.count(',')}\n")
        assert isinstance(found, Problems)
        assert [
            (problem.code, problem.row, problem.column, problem.params["team"]) for problem in found
        ] == [(code, 1, column, "01")]


def test_a_table_without_utility_attackers_rows_or_with_equal_columns_is_none_and_its_first_line_is_shown() -> (
    None
):
    for header in ("anonymizer,01", "anonymizer,utility", "anonymizer,01,01,utility"):
        found = results(f"{header}\n02{',1' * header.count(',')}\n")
        assert isinstance(found, Problems)
        assert [(problem.code, problem.row, problem.value) for problem in found] == [
            ("pwscup2024.no_results_table", 1, header)
        ]
    assert isinstance(results(""), Problems)


def test_an_anonymizer_has_a_number_of_its_own_of_at_most_four_digits() -> None:
    found = results("anonymizer,01,utility\n02,1,70\n2,1,70\nx,1,70\n00003,1,70\n0004,1,70\n")
    assert isinstance(found, Problems)
    assert [(problem.code, problem.row, problem.column, problem.value) for problem in found] == [
        ("pwscup2024.no_anonymizer", row, "anonymizer", value)
        for row, value in ((3, "2"), (4, "x"), (5, "00003"))
    ]


def test_hits_are_whole_and_utility_need_not_be() -> None:
    found = results("anonymizer,01,utility\n02,1.5,70.5\n03,2.0,x\n04,-1,70\n")
    assert isinstance(found, Problems)
    assert [(problem.code, problem.row, problem.value) for problem in found] == [
        ("pwscup2024.no_hits", 2, "1.5"),
        ("pwscup2024.no_utility", 3, "x"),
        ("pwscup2024.no_hits", 4, "-1"),
    ]


def test_a_team_with_no_hits_against_it_or_no_utility_alone_did_not_withdraw() -> None:
    read = results("anonymizer,01,02,utility\n01,0,0,60\n02,1,0,0\n03,0,0,0\n")
    assert isinstance(read, Read)
    assert (read.value.out, read.value.attackers) == ({"03": "withdrew"}, ("01", "02"))


def test_a_release_that_nobody_attacked_is_fully_anonymous_and_a_guess_that_is_missing_hits_nothing() -> (
    None
):
    """01 was not attacked: A = 100, total 170. 02 was hit 30 times by 03 of the two attackers: A = 70, total 140."""
    credits = {"01": {}, "02": {"03": Credit(30, 100)}}
    given = RoundResults(credits, ("01", "02"), ("03", "04"), utility={"01": 70.0, "02": 70.0})
    found = BOOK.standings({"main": given})
    assert {line.team: line.score for line in found.anonymization} == {
        "01": 170,
        "02": 140,
        "03": None,
        "04": None,
    }
    assert {line.team: line.score for line in found.attack} == {
        "03": 30,
        "04": 0,
        "01": None,
        "02": None,
    }
    assert found.details["rounds"]["main"]["02"] == {
        "utility": 70.0,
        "anonymity": 70.0,
        "total": 140.0,
        "attack": None,
    }


def test_only_those_who_stand_in_a_round_are_shown_when_they_are_not_ranked() -> None:
    """05 anonymizes for the organizers, sample attacks for them; 06 is only said to be left out."""
    credits = {"01": {"sample": Credit(10, 100)}, "05": {"01": Credit(20, 100)}}
    given = RoundResults(
        credits,
        ("01", "05"),
        ("01", "sample"),
        utility={"01": 70.0, "05": 70.0},
        unranked=frozenset({"sample"}),
        excluded=frozenset({"05", "06"}),
    )
    found = BOOK.standings({"main": given})
    assert [(line.team, line.rank, line.score) for line in found.anonymization] == [
        ("01", 1, 170),
        ("05", None, 150),
    ]
    assert [(line.team, line.rank, line.score) for line in found.attack] == [
        ("01", 1, 0),
        ("sample", None, 10),
    ]
    assert found.awards == {"total": ("01",), "attack": ("01",)}


def test_always_0_earns_what_is_0_in_either_column() -> None:
    answer = Answer(np.array([0, 0, 1, 2]), np.array([0, 5, 5, 0]))
    credit = BOOK.score_guess(answer, RatingsGuess(np.array([1, 1, 1, 1]), np.array([5, 5, 5, 5])))
    assert (credit.hits, credit.of, credit.constant) == (1 + 2, 8, 2 + 2)


def test_an_empty_id_txt_tells_nobody() -> None:
    for text in (b"", b"\n", b"1\n1\n"):
        assert isinstance(
            check(
                Handout("01", (small_original(60),), assigned=True), {**release(), "id.txt": text}
            ),
            Problems,
        )
