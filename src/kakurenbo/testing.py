"""Checks that every rulebook, anonymizer and attack must pass, for the test suite of whoever writes one.

    import pytest
    from kakurenbo import testing

    @pytest.mark.parametrize("check", testing.rulebook_checks(MyRulebook()), ids=str)
    def test_my_rulebook(check):
        check()

Each check raises ``AssertionError`` with a sentence that says what is not as it should be.
"""

from __future__ import annotations

import atexit
import dataclasses
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from kakurenbo.contest import (
    Anonymizer,
    AnyRulebook,
    Attack,
    Credit,
    PreparedRound,
    Release,
    Target,
    fits,
    misfit,
    read_facts,
)
from kakurenbo.contest.commitments import KEPT
from kakurenbo.contest.records import PUBLISHED
from kakurenbo.contest.results import DISQUALIFIED
from kakurenbo.contest.rounds import publish_round, score_round
from kakurenbo.contest.verify import verify_round
from kakurenbo.core import InputError, Source, read_folder, table_bytes, write_folder
from kakurenbo.core.errors import ParameterError
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import make, parameters_of

TEAMS = ("01", "02", "05")
_SEED = 2**100 + 7
_GARBAGE = (b"", b"\0\xff\x00garbage", b"a,b\n1,2\n", b'{"credits": 1}', b"PK\x03\x04 no archive")


@dataclass(frozen=True)
class Check:
    """One check: call it; its text says what it checks."""

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        self.run()

    def __str__(self) -> str:
        return self.name


def rulebook_checks(rulebook: AnyRulebook, anonymizer: Anonymizer | None = None) -> list[Check]:
    """What every rulebook must do, played with small data.

    Parameters
    ----------
    rulebook : Rulebook
        With options that make a small contest.
    anonymizer : Anonymizer or None
        Makes the releases; by default the first installed one that fits.
    """
    played = played_round(rulebook, anonymizer)
    return [
        Check("declares name, title, phases, schema and knowledge", lambda: _declares(rulebook)),
        Check(
            "prepares the same bytes from the same seed, and others from another",
            lambda: _prepares_again(played),
        ),
        Check(
            "every folder says what it is, and a team's folder is read alone",
            lambda: _folders(played),
        ),
        Check(
            "no secret stands in a folder that others may see", lambda: _no_secret_outside(played)
        ),
        Check("a release of a fitting method is valid", lambda: _publishes(played)),
        Check("what is published of a team does not depend on other teams", lambda: _alone(played)),
        Check("a target is read alone, and guesses at it are valid", lambda: _guesses(played)),
        Check(
            "garbage in a release or a guess is a problem, not an exception",
            lambda: _garbage(played),
        ),
        Check("credits lie in their range", lambda: _credits(played)),
        Check("standings rank everybody once", lambda: _standings(played)),
        Check("everything is committed to and can be made again", lambda: _verifies(played)),
    ]


def anonymizer_checks(method: Anonymizer, rulebook: AnyRulebook) -> list[Check]:
    """What every anonymizer must do on the data of a rulebook that it fits."""
    played = played_round(rulebook, method)
    return [
        Check(
            "is a frozen dataclass that describes itself", lambda: _describes_itself(type(method))
        ),
        Check(
            "refuses bad parameters by name, expectation and value",
            lambda: _bad_parameters(type(method)),
        ),
        Check("fits the rulebook", lambda: _fits(rulebook, method)),
        Check("gives the same valid release for the same stream", lambda: _same_release(played)),
    ]


def attack_checks(
    method: Attack[Any, Any], rulebook: AnyRulebook, anonymizer: Anonymizer | None = None
) -> list[Check]:
    """What every attack must do on a target of a rulebook that it fits."""
    played = played_round(rulebook, anonymizer)
    return [
        Check(
            "is a frozen dataclass that describes itself", lambda: _describes_itself(type(method))
        ),
        Check(
            "refuses bad parameters by name, expectation and value",
            lambda: _bad_parameters(type(method)),
        ),
        Check("fits the rulebook", lambda: _fits(rulebook, method)),
        Check(
            "gives the same valid guess for the same stream", lambda: _same_guess(played, method)
        ),
    ]


@cache
def played_round(rulebook: AnyRulebook, anonymizer: Anonymizer | None = None) -> PlayedRound:
    """The round that all checks of a rulebook and an anonymizer share: each step of it is taken once."""
    return PlayedRound(rulebook, anonymizer)


@cache
def _prepared(rulebook: AnyRulebook) -> Path:
    """A preparation of the rulebook, which lives as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix="kakurenbo-testing-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_folder(folder / "preparation", rulebook.prepare(_SEED, TEAMS).files())
    return folder / "preparation"


class PlayedRound:
    """A small round of a rulebook, played by folders as far as it is asked for."""

    def __init__(self, rulebook: AnyRulebook, anonymizer: Anonymizer | None = None) -> None:
        self.rulebook, self._anonymizer = rulebook, anonymizer

    @cached_property
    def _folder(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="kakurenbo-testing-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    @cached_property
    def anonymizer(self) -> Anonymizer:
        if self._anonymizer is not None:
            return self._anonymizer
        for name in registry.names("anonymizers"):
            cls = registry.load("anonymizers", name)
            if fits(type(self.rulebook), cls) and not misfit(type(self.rulebook), cls()):
                method: Anonymizer = cls()
                return method
        raise AssertionError(f"no installed anonymizer fits {self.rulebook.name}")

    @cached_property
    def preparation(self) -> Path:
        return _prepared(self.rulebook)

    @cached_property
    def prepared(self) -> PreparedRound[Any]:
        return PreparedRound(self.rulebook, self.preparation)

    def release(self, team: str) -> Release:
        return self.rulebook.anonymize(
            self.prepared.handout(team), self.anonymizer, stream(3, "same")
        )

    def release_sources(self, team: str) -> list[Source]:
        files = self.rulebook.release_files(self.prepared.handout(team), self.release(team))
        return [Source(name, data) for name, data in files.items()]

    @cached_property
    def submissions(self) -> Path:
        for team in TEAMS[:2]:  # the third hands in nothing
            files = {source.name: source.origin for source in self.release_sources(team)}
            write_folder(self._folder / "submissions" / team, files)  # type: ignore[arg-type]
        return self._folder / "submissions"

    @cached_property
    def phase(self) -> Path:
        published = publish_round(
            self.rulebook, self.preparation, self.submissions, with_disqualified=True
        )
        write_folder(self._folder / "phase", published.files)
        return self._folder / "phase"

    def target(self, name: str) -> Target[Any, Any]:
        folder = self.phase / "targets" / name
        with _accepts("read_target does not read what publish wrote"):
            return self.rulebook.in_folder(folder).read_target(folder)

    def answer(self, name: str) -> Any:
        with _accepts("read_answer does not read what publish wrote"):
            return self.rulebook.read_answer(self.phase / "answers" / name)


@contextmanager
def _accepts(otherwise: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise AssertionError(f"{otherwise}: {error.problems}") from error


def _refuses(read: Callable[..., object], *args: object) -> bool:
    try:
        read(*args)
    except InputError:
        return True
    return False


# -- rulebooks ---------------------------------------------------------------------------------------------------------


def _declares(rulebook: AnyRulebook) -> None:
    _describes_itself(type(rulebook))
    for name in ("name", "title", "phases", "schema", "knowledge"):
        assert getattr(rulebook, name, None), f"a rulebook declares {name}"
    assert {phase.name for phase in rulebook.phases} == {"anonymize", "attack"}, (
        "the phases are anonymize and attack"
    )
    assert rulebook.round_name, "a rulebook has a round"
    assert set(rulebook.settings()) <= {
        described.name for described in parameters_of(type(rulebook))
    }
    assert pickle.loads(pickle.dumps(rulebook)) == rulebook, "a rulebook travels to other processes"


def _prepares_again(played: PlayedRound) -> None:
    rulebook, first = played.rulebook, read_folder(played.preparation)
    assert rulebook.prepare(_SEED, TEAMS).files() == first, "the same seed gives other bytes"
    other = rulebook.prepare(_SEED + 1, TEAMS).files()
    assert other["public/commitments.json"] != first["public/commitments.json"], (
        "another seed gives the same commitments"
    )


def _folders(played: PlayedRound) -> None:
    for folder in ("public", "attackers", "secret", *(f"teams/{team}" for team in TEAMS)):
        facts = read_facts(played.preparation / folder, played.rulebook.name)
        assert facts is not None, f"{folder} has no contest.json"
        assert facts.round == played.rulebook.round_name
    with tempfile.TemporaryDirectory() as elsewhere:
        alone = Path(elsewhere) / "handout"
        write_folder(alone, read_folder(played.preparation / "teams" / TEAMS[0]))
        with _accepts("a team's folder is not read alone"):
            played.rulebook.in_folder(alone).read_handout(alone)


def _no_secret_outside(played: PlayedRound) -> None:
    """Secret files, whole, must not lie in another folder; nor may the seed in any."""
    for root, hidden in ((played.preparation, "secret/"), (played.phase, "answers/")):
        files = read_folder(root)
        secret = {
            data
            for name, data in files.items()
            if name.startswith(hidden) and not name.endswith("contest.json")
        }
        secret -= {data for name, data in files.items() if "/submitted/" in name}
        for name, data in files.items():
            if not name.startswith(hidden):
                assert data not in secret, f"{name} is a copy of a secret file"
                assert str(_SEED).encode() not in data, f"the seed stands in {name}"


def _publishes(played: PlayedRound) -> None:
    published = publish_round(
        played.rulebook, played.preparation, played.submissions, with_disqualified=True
    )
    states = {record.team: (record.state, record.cause) for record in published.records}
    for team in TEAMS[:2]:
        assert states[team][0] in (PUBLISHED, DISQUALIFIED), (
            f"the release of team {team} is {states[team]}"
        )
    assert states[TEAMS[2]][0] == "missing", "a team that hands in nothing is missing"
    utility_score = played.rulebook.utility_score
    for record in published.records[:2]:
        assert record.measurements, "a release is measured"
        assert not utility_score or utility_score in record.scores, (
            f"there is no score {utility_score}"
        )


def _alone(played: PlayedRound) -> None:
    team = TEAMS[1]
    alone = publish_round(
        played.rulebook,
        played.preparation,
        played.submissions / team,
        team=team,
        with_disqualified=True,
    )
    whole = read_folder(played.phase)
    for name, data in alone.files.items():
        if name.startswith((f"targets/{team}/", f"answers/{team}/")):
            assert whole.get(name) == data, f"{name} depends on who else is published"


def _guesses(played: PlayedRound) -> None:
    rulebook, name = played.rulebook, TEAMS[0]
    with tempfile.TemporaryDirectory() as elsewhere:
        for folder in (f"targets/{name}", "attackers"):
            write_folder(Path(elsewhere) / folder, read_folder(played.phase / folder))
        with _accepts("a target is not read alone"):
            target = rulebook.read_target(Path(elsewhere) / "targets" / name)
        assert target.name == name, "a target knows its name"
        assert isinstance(target.knowledge, rulebook.knowledge), "knowledge is of the declared type"
        for attack in rulebook.sample_attacks.values():
            guess = attack(target.knowledge, stream(4, "sample"))
            with _accepts("read_guess refuses what a sample attack wrote"):
                rulebook.read_guess(target.form, Source("guess", rulebook.guess_bytes(guess)))
            files = [
                Source(file, data)
                for file, data in rulebook.guess_files({name: guess}, TEAMS[1]).items()
            ]
            found = rulebook.read_guesses({name: target}, files, TEAMS[1])
            assert [one.target for one in found.found] == [name], (
                f"read_guesses does not read guess_files: {found.refused}"
            )


def _garbage(played: PlayedRound) -> None:
    rulebook, target = played.rulebook, played.target(TEAMS[0])
    handout, own = played.prepared.handout(TEAMS[0]), played.release_sources(TEAMS[0])
    for data in _GARBAGE:
        sources = [Source(source.name, data) for source in own]
        assert _refuses(rulebook.read_release, handout, sources), data
        assert _refuses(rulebook.read_guess, target.form, Source("guess", data)), data
    assert _refuses(rulebook.read_release, handout, []), "no file is no release"


def _credits(played: PlayedRound) -> None:
    rulebook = played.rulebook
    for name in TEAMS[:2]:
        answer = played.answer(name)
        for attack in rulebook.sample_attacks.values():
            credit = rulebook.score_guess(
                answer, attack(played.target(name).knowledge, stream(4, "sample"))
            )
            assert isinstance(credit, Credit)
            assert credit.least <= credit.hits <= credit.of, f"{credit.hits} hits of {credit.of}"
            assert 0 <= credit.accuracy <= 1


def _standings(played: PlayedRound) -> None:
    rulebook = played.rulebook
    with tempfile.TemporaryDirectory() as elsewhere:
        guesses = Path(elsewhere)
        for attacker, name in (TEAMS[:2], TEAMS[1::-1]):
            attack = next(iter(rulebook.sample_attacks.values()))
            guess = attack(played.target(name).knowledge, stream(4, "sample"))
            write_folder(guesses / attacker, rulebook.guess_files({name: guess}, attacker))
        scored = score_round(rulebook, played.phase, guesses)
    assert not scored.refused, f"guesses of the sample attack are refused: {scored.refused}"
    standings = rulebook.in_folder(played.phase / "public").standings(
        {rulebook.round_name: scored.results}
    )
    for ranking in (standings.anonymization, standings.attack, standings.overall):
        teams = [line.team for line in ranking]
        assert len(set(teams)) == len(teams), "a team stands twice in a ranking"
        ranks = [line.rank for line in ranking if line.rank is not None]
        assert ranks == sorted(ranks), "a ranking is not in the order of its ranks"
        assert all(line.rank is None for line in ranking if line.score is None), (
            "a rank without a score"
        )


def _verifies(played: PlayedRound) -> None:
    findings = verify_round(played.rulebook, played.preparation, played.phase, again=True)
    broken = [finding for finding in findings if finding.state != KEPT]
    assert not broken, f"not kept: {broken[:3]}"


# -- methods -------------------------------------------------------------------------------------------------------------


def _describes_itself(cls: type) -> None:
    assert dataclasses.is_dataclass(cls), f"{cls.__name__} is not a dataclass"
    assert cls.__dataclass_params__.frozen, f"{cls.__name__} is not frozen"  # type: ignore[attr-defined]
    assert cls.__doc__, f"{cls.__name__} has no docstring"
    described = parameters_of(cls)
    assert len(described) == len(dataclasses.fields(cls)), "every field is made by parameter(...)"
    assert all(one.meaning for one in described), "every parameter has a meaning"


def _bad_values(described: Any) -> Sequence[Any]:
    if described.kind in (int, float):
        low = [described.low - 1] if described.low is not None else []
        high = [described.high + 1] if described.high is not None else []
        return ["much", float("nan"), *low, *high]
    return ["no such choice"] if described.choices else [3.5]


def _bad_parameters(cls: Any) -> None:
    for described in parameters_of(cls):
        for value in _bad_values(described):
            error = _refusal(lambda name=described.name, value=value: cls(**{name: value}))  # type: ignore[misc]
            assert error is not None, f"{described.name}={value!r} is accepted"
            assert (error.parameter, error.expectation) == (
                described.name,
                described.expectation,
            ), str(error)
    assert _refusal(lambda: make(cls, {"no_such_parameter": "1"})) is not None, (
        "an unknown parameter is accepted"
    )


def _refusal(make_method: Callable[[], object]) -> ParameterError | None:
    try:
        make_method()
    except ParameterError as error:
        return error
    return None


def _fits(rulebook: AnyRulebook, method: Anonymizer | Attack[Any, Any]) -> None:
    assert fits(type(rulebook), type(method)), (
        f"{type(method).__name__} does not fit {rulebook.name}"
    )
    assert not misfit(type(rulebook), method), misfit(type(rulebook), method)


def _same_release(played: PlayedRound) -> None:
    team = TEAMS[1]
    first, second = played.release(team), played.release(team)
    assert [table_bytes(one) for one in first.tables] == [
        table_bytes(one) for one in second.tables
    ], "other bytes"
    assert first.claims == second.claims
    with _accepts("the release is refused"):
        played.rulebook.read_release(played.prepared.handout(team), played.release_sources(team))


def _same_guess(played: PlayedRound, method: Attack[Any, Any]) -> None:
    target = played.target(TEAMS[0])
    first, second = (
        played.rulebook.guess_bytes(method(target.knowledge, stream(4, "same"))) for _ in range(2)
    )
    assert first == second, "other bytes for the same stream"
    with _accepts("the guess is refused"):
        played.rulebook.read_guess(target.form, Source("guess", first))
