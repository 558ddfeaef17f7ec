"""Who plays: the TOML file, its sweeps, and every way in which it can be wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from kakurenbo import arena
from kakurenbo.core.errors import UsageError
from kakurenbo.methods.registry import load, names


def teams(tmp_path: Path, text: str) -> arena.TeamsFile:
    path = tmp_path / "teams.toml"
    path.write_text(text)
    return arena.read_teams_file(path)


def test_a_player_is_a_method_as_text_or_as_a_table(tmp_path: Path) -> None:
    found = teams(
        tmp_path,
        """
        rounds = ["pre", "main"]
        seed = 4
        repeat = 2
        [options]
        scale = "small"
        [[players]]
        name = "text"
        anonymizer = "rr:p=0.8,columns=age,sex"
        attack = "nearest"
        [[players]]
        name = "table"
        anonymizer = { method = "rr", p = 0.8, columns = ["age", "sex"] }
        attack = { method = "nearest" }
        """,
    )
    one, other = found.entrants
    assert (one.anonymizer, one.attack) == (other.anonymizer, other.attack)
    assert str(one.anonymizer) == "rr:p=0.8,columns=age,sex"
    assert (one.team, other.team) == ("01", "02")
    assert (found.rounds, found.seed, found.repeat, found.options) == (
        ("pre", "main"),
        4,
        2,
        (("scale", "small"),),
    )


def test_a_list_is_a_sweep_with_a_team_for_each_combination(tmp_path: Path) -> None:
    found = teams(
        tmp_path,
        """
        [[players]]
        name = "noise"
        anonymizer = { method = "rr", p = [0.5, 0.9], columns = [["age"], ["age", "sex"]] }
        attack = "nearest"
        """,
    )
    assert [str(entrant.anonymizer) for entrant in found.entrants] == [
        "rr:p=0.5,columns=age",
        "rr:p=0.5,columns=age,sex",
        "rr:columns=age",
        "rr:columns=age,sex",
    ]
    assert [entrant.name for entrant in found.entrants][2] == "rr p=0.9 columns=age"
    assert [entrant.attack is not None for entrant in found.entrants] == [
        True,
        False,
        False,
        False,
    ], "it would only repeat itself"
    assert {entrant.sweep for entrant in found.entrants} == {"noise"}
    # A reader of a sentence must see the value that differs, though it be the default.
    assert [entrant.anonymizer_text for entrant in found.entrants][2] == "rr:p=0.9,columns=age"


def test_an_attack_can_be_swept_too(tmp_path: Path) -> None:
    found = teams(
        tmp_path, '[[players]]\nattack = { method = "nearest", metric = ["rules", "onehot"] }\n'
    )
    assert [str(entrant.attack) for entrant in found.entrants] == [
        "nearest",
        "nearest:metric=onehot",
    ]
    assert [entrant.attack_text for entrant in found.entrants] == [
        "nearest:metric=rules",
        "nearest:metric=onehot",
    ]
    assert [entrant.name for entrant in found.entrants] == [
        "nearest metric=rules",
        "nearest metric=onehot",
    ]


def test_a_player_may_ask_for_its_team_number(tmp_path: Path) -> None:
    found = teams(
        tmp_path, '[[players]]\nanonymizer = "rr"\n[[players]]\nteam = "01"\nanonymizer = "rr"\n'
    )
    assert [entrant.team for entrant in found.entrants] == ["02", "01"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("players = 3", "no players"),
        ("[[players]]\n", "it does nothing"),
        ('[[players]]\nanonymiser = "rr"', "no entry 'anonymiser'; there are name"),
        (
            '[[players]]\nname = "x"\nanonymizer = "rx"',
            "player 'x': no anonymizer is called 'rx'; kakurenbo list anonymizers lists them",
        ),
        ('[[players]]\nanonymizer = "rr:p=2"', "parameter 'p' must be a number from 0 to 1; got 2"),
        (
            '[[players]]\nanonymizer = { method = "rr", q = 1 }',
            "parameter 'q' must be one of p, columns",
        ),
        ('[[players]]\nanonymizer = { method = "rr", p = [] }', "must not be empty"),
        ("[[players]]\nanonymizer = 3", "write anonymizer ="),
        ("[[players]]\nattack = { name = 'rr' }", "write attack ="),
        ("[[players]]\nname = 3\nanonymizer = 'rr'", "player '3': name: Expected `str`"),
        ("[[players]]\nteam = 7\nanonymizer = 'rr'", "team: Expected `str`"),
        ('options = 3\n[[players]]\nanonymizer = "rr"', "[options] must be a table"),
        ('seed = -1\n[[players]]\nanonymizer = "rr"', "seed must be a whole number of at least 0"),
        ('phase = "nowhere"\n[[players]]\nanonymizer = "rr"', "'nowhere': there is no such folder"),
        (
            'rounds = ["pre", "pre"]\n[[players]]\nanonymizer = "rr"',
            "rounds must be a list of different names",
        ),
        ('[[players]]\nrelease = "nowhere"', "no such folder"),
        (
            '[[players]]\nrelease = "."\nanonymizer = "rr"',
            "either anonymizer (a method) or release",
        ),
        ('[[players]]\nteam = "../x"\nanonymizer = "rr"', "a number of its own"),
        ('rounds = "pre"\n[[players]]\nanonymizer = "rr"', "rounds must be a list"),
        (
            'repeat = 0\n[[players]]\nanonymizer = "rr"',
            "repeat must be a whole number from 1 to 1000",
        ),
        ("players = [", "this is not TOML"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_what_to_write_instead(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        teams(tmp_path, text)
    assert message in str(caught.value)
    assert "teams.toml" in str(caught.value)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfd")
    with pytest.raises(UsageError, match="not UTF-8"):
        arena.read_teams_file(tmp_path / "bad.toml")
    with pytest.raises(UsageError, match="there is no such file"):
        arena.read_teams_file(tmp_path / "absent.toml")


@pytest.mark.parametrize("name", names("rulebooks"))
def test_every_rulebook_has_a_default_field_of_at_least_ten_teams(name: str) -> None:
    rulebook = load("rulebooks", name)()
    entrants = arena.default_teams(rulebook).entrants
    assert len([entrant for entrant in entrants if entrant.anonymizes]) >= 10
    assert arena.make_plan(rulebook, entrants, 1).jobs


FITTING = {
    "blur",
    "bottom",
    "dp",
    "hideout",
    "keep-all",
    "leave-early",
    "leave-out",
    "microaggregate",
    "mondrian",
    "permute",
    "pipeline",
    "repair",
    "rr",
    "rrp",
    "swap",
    "swap_near",
    "synthetic",
    "thin",
    "top",
    "top_bottom",
    "tree_repair",
}  # kanony's default columns are those of amic2020


@pytest.mark.usefixtures("plugins")
def test_without_a_field_of_its_own_a_rulebook_is_played_by_every_method_that_fits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rulebook = load("rulebooks", "hide-and-seek")()
    monkeypatch.setattr(type(rulebook), "default_players", ())
    entrants = arena.default_teams(rulebook).entrants
    fitting = {entrant.anonymizer.name for entrant in entrants if entrant.anonymizer}
    assert fitting - {"aim", "mst"} == FITTING  # those two need a library that may be there
    assert "nearest" in {entrant.attack.name for entrant in entrants if entrant.attack}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'repeat = 1001\n[[players]]\nanonymizer = "rr"',
            "repeat must be a whole number from 1 to 1000",
        ),
        (
            f"[[players]]\nanonymizer = {{ method = 'rr', p = {[0.5] * 101}, columns = {[[]] * 10} }}",
            "rr: its lists have 1,010 combinations; at most 1,000 can be played",
        ),
        ("[[players]]\nattack = 'nearest'\n" * 1001, "there are more than 1,000 players"),
    ],
)
def test_what_would_take_for_ever_is_refused_before_it_is_made(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "teams.toml").write_text(text)
    with pytest.raises(UsageError, match=message):
        arena.read_teams_file(tmp_path / "teams.toml")


def test_more_attacks_than_results_could_tell_of_are_refused() -> None:
    rulebook = load("rulebooks", "amic2020")()
    with pytest.raises(UsageError, match=r"this would be [\d,]+ attacks; at most 200,000"):
        arena.make_plan(
            rulebook,
            arena.default_teams(rulebook).entrants,
            1,
            rounds=("pre", "main"),
            repeats=10_000,
        )
