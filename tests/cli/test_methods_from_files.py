"""Methods from a file, without a package: on the command line, in a teams file, and in Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.calling import call, run

import kakurenbo as kb
from kakurenbo.core.errors import UsageError
from kakurenbo.methods import registry

METHODS = '''
from dataclasses import dataclass

import numpy as np

import kakurenbo as kb
from kakurenbo.attacks.membership import MembershipGuess, MembershipKnowledge


@dataclass(frozen=True)
class First(kb.Attack[MembershipKnowledge, MembershipGuess]):
    """Guess the first rows of the population."""

    knowledge = MembershipKnowledge
    start: int = kb.parameter(0, "first row", low=0)

    def __call__(self, knowledge, rng):
        return MembershipGuess(np.arange(self.start, self.start + knowledge.guesses))


@dataclass(frozen=True)
class Same(kb.Anonymizer):
    """Release the table as it is."""

    def __call__(self, table, rng):
        return kb.Release.of(table)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(METHODS)
    return tmp_path


def test_methods_of_a_file_play_a_contest(folder: Path) -> None:
    prepared = ("prepare", "amic2020", "-o", "c", "--teams", "2", "--scale", "small", "--seed", "1")
    assert run(*prepared)[0] == 0
    release = "s/01/pre_anonymizeddata_01.csv"
    assert run("anonymize", "amic2020", "./mine.py:Same", "c/teams/01", release)[0] == 0
    assert run("publish", "amic2020", "c", "s", "-o", "p", "--with-disqualified")[0] == 1
    attack = ("attack", "amic2020", "./mine.py:First", "p/targets/01", "-o", "g.index")
    assert run(*attack, "--start", "3")[0] == 0
    assert (folder / "g.index").read_text().split()[0] == "3"
    code, _, err = run(*attack, "--start", "-1")
    assert (code, "--start" in err) == (2, True)
    assert "first row" in run("attack", "amic2020", "./mine.py:First", "--help")[1]


RATINGS = '''
from dataclasses import dataclass

import numpy as np

import kakurenbo as kb
from kakurenbo.attacks.reconstruction import RatingsGuess, RatingsKnowledge


@dataclass(frozen=True)
class Same(kb.Attack[RatingsKnowledge, RatingsGuess]):
    """Guess the same rating everywhere, and the rows in their order."""

    knowledge = RatingsKnowledge
    rating: int = kb.parameter(0, "the rating")

    def __call__(self, knowledge, rng):
        rows = len(knowledge.people)
        return RatingsGuess(np.arange(rows), np.full(rows, self.rating))
'''


def test_a_guess_that_the_rules_refuse_is_not_written(folder: Path) -> None:
    (folder / "ratings.py").write_text(RATINGS)
    prepared = ("prepare", "pwscup2024", "-o", "c", "--teams", "1", "--scale", "small")
    assert run(*prepared, "--data", "embedded", "--seed", "1")[0] == 0
    noise = ("anonymize", "pwscup2024", "pseudo_olh", "c/teams/01", "s/01", "--seed", "1")
    assert run(*noise)[0] == 0
    assert run("publish", "pwscup2024", "c", "s", "-o", "p")[0] == 0
    attack = ("attack", "pwscup2024", "./ratings.py:Same", "p/targets/01", "-o", "E02_01.csv")
    assert run(*attack)[0] == 0
    (folder / "E02_01.csv").unlink()
    code, _, err = run(*attack, "--rating", "9")
    assert code == 1
    assert "E02_01.csv:1: column 2: 9 is not a rating" in err
    assert not (folder / "E02_01.csv").exists()


def test_an_anonymizer_of_a_file_takes_any_table(folder: Path) -> None:
    (folder / "t.csv").write_text("n,w\n" + "1,a\n2,b\n" * 20)
    assert run("anonymize", "table", "./mine.py:Same", "t.csv", "out.csv")[0] == 0
    assert (folder / "out.csv").read_text() == (folder / "t.csv").read_text()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("./mine.py:Nobody", ["mine.py", "Nobody", "kakurenbo.Attack"]),
        ("./mine.py:Same", ["mine.py", "Same", "kakurenbo.Attack"]),
        ("./nothing.py:First", ["nothing.py", "no such file"]),
        ("./broken.py:First", ["broken.py", "ZeroDivisionError"]),
    ],
)
def test_a_file_that_is_no_method_is_named(folder: Path, name: str, words: list[str]) -> None:
    (folder / "broken.py").write_text("1 / 0\n")
    code, _, err = run("attack", "amic2020", name, "p", "-o", "g.index")
    assert code == 2
    assert all(word in err for word in words), err


def test_workers_of_a_tournament_load_the_file_and_its_digest_is_recorded(folder: Path) -> None:
    (folder / "teams.toml").write_text(
        '[options]\nscale = "small"\nvcm = 0\n\n[[players]]\nname = "A"\n'
        'anonymizer = "./mine.py:Same"\nattack = "./mine.py:First:start=2"\n\n'
        '[[players]]\nname = "B"\nanonymizer = "rr:p=0.999"\n'
    )
    played = call(
        "run", "amic2020", "--teams", "teams.toml", "-o", "run", "--seed", "1", "--jobs", "1"
    )
    assert played.json["failed"] == []
    results = json.loads((folder / "run" / "results.json").read_text())
    assert "./mine.py:First:start=2" in json.dumps(results)


def test_a_method_of_a_file_that_raises_is_named_with_its_line(folder: Path) -> None:
    (folder / "broken.py").write_text(
        METHODS.replace("return MembershipGuess", "return {}['x'] or")
    )
    texts = (folder / "broken.py").read_text().splitlines()
    line = 1 + next(number for number, text in enumerate(texts) if "{}['x']" in text)
    prepared = ("prepare", "amic2020", "-o", "c", "--teams", "1", "--scale", "small", "--seed", "1")
    assert run(*prepared)[0] == 0
    files = ("c/attackers/pre_syntheticdata.csv", "c/teams/01/pre_samplingdata_01.csv")
    code, _, err = run("attack", "amic2020", "./broken.py:First", *files, "-o", "g.index")
    assert code == 2
    assert f"broken.py, line {line}, raises KeyError: 'x'" in err
    assert "bug in kakurenbo" not in err


def test_a_contest_of_a_file_is_prepared_and_run(folder: Path) -> None:
    example = Path(__file__).parents[2] / "docs/examples/hide-and-seek/hide_and_seek.py"
    (folder / "game.py").write_text(example.read_text())
    contest = "./game.py:HideAndSeek"
    assert run("prepare", contest, "-o", "c", "--teams", "2", "--seed", "1")[0] == 0
    (folder / "teams.toml").write_text(
        '[[players]]\nname = "A"\nanonymizer = "./game.py:Blur"\nattack = "nearest"\n\n'
        '[[players]]\nname = "B"\nanonymizer = "rr:p=0.9"\n'
    )
    teams = ("--teams", "teams.toml", "--seed", "1", "--jobs", "1")
    played = call("run", contest, *teams, "-o", "run")
    assert played.code == 0, played
    assert played.json["failed"] == []
    assert played.json["standings"]["overall"]


def test_a_declared_mechanism_of_somebody_else_never_runs_a_file(folder: Path) -> None:
    (folder / "evil.py").write_text("from pathlib import Path\nPath('ran').touch()\n")
    with pytest.raises(UsageError):
        registry.build("anonymizers", f"{folder}/evil.py:X")
    assert not (folder / "ran").exists()


def test_python_loads_a_class_of_a_file(folder: Path) -> None:
    first = kb.load("attacks", "./mine.py:First")
    assert first(start=4).start == 4
    (folder / "mine.py").write_text(METHODS.replace('"first row", low=0', '"first row", low=9'))
    with pytest.raises(kb.ParameterError):
        kb.load("attacks", "./mine.py:First")(start=4)
