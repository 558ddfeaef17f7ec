"""Checks that every rulebook, anonymizer and attack must pass, for the test suite of whoever writes one.

    import pytest
    from kakurenbo import testing

    @pytest.mark.parametrize("check", testing.rulebook_checks(MyRulebook()), ids=str)
    def test_my_rulebook(check):
        check()

Each check raises ``AssertionError`` with a sentence that says what is not as it should be.
"""

from __future__ import annotations

import dataclasses
import pickle
import shutil
import tempfile
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
    ContestFolder,
    Credit,
    Files,
    PreparedRound,
    PublishedTargets,
    Release,
    ReleaseOutcome,
    fits,
    misfit,
    score_round,
    verify_round,
)
from kakurenbo.contest.commitments import KEPT
from kakurenbo.contest.engine import anonymize, judge_sample_attack, prepare, rank
from kakurenbo.contest.engine import attack as run_attack
from kakurenbo.contest.releases import phase_files
from kakurenbo.contest.results import DISQUALIFIED, MISSING, PUBLISHED
from kakurenbo.contest.rounds import judge_team
from kakurenbo.core import InputError, Source, write_folder
from kakurenbo.core.errors import KakurenboError, ParameterError
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
        Makes the releases; by default the first installed one whose release is valid.
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
    same = Check("gives the same valid release for the same stream", lambda: _same_release(played))
    return [*_method_checks(method, rulebook), same]


def attack_checks(
    method: Attack[Any, Any], rulebook: AnyRulebook, anonymizer: Anonymizer | None = None
) -> list[Check]:
    """What every attack must do on a target of a rulebook that it fits."""
    played = played_round(rulebook, anonymizer)
    same = Check(
        "gives the same valid guess for the same stream", lambda: _same_guess(played, method)
    )
    return [*_method_checks(method, rulebook), same]


def _method_checks(method: Anonymizer | Attack[Any, Any], rulebook: AnyRulebook) -> list[Check]:
    cls = type(method)
    return [
        Check("is a frozen dataclass that describes itself", lambda: _describes_itself(cls)),
        Check(
            "refuses bad parameters by name, expectation and value", lambda: _bad_parameters(cls)
        ),
        Check("fits the rulebook", lambda: _fits(rulebook, method)),
    ]


@cache
def played_round(rulebook: AnyRulebook, anonymizer: Anonymizer | None = None) -> RoundFixture:
    """Return the round that all checks of a rulebook and an anonymizer share."""
    return RoundFixture(rulebook, anonymizer)


@cache
def _preparation(rulebook: AnyRulebook) -> Files:
    return prepare(rulebook, _SEED, TEAMS).files()


class RoundFixture:
    """A small round of a rulebook, played in memory as far as it is asked for."""

    def __init__(self, rulebook: AnyRulebook, anonymizer: Anonymizer | None = None) -> None:
        self.rulebook, self._anonymizer = rulebook, anonymizer

    @cached_property
    def anonymizer(self) -> Anonymizer:
        if self._anonymizer is not None:
            return self._anonymizer
        for name in registry.names("anonymizers"):
            cls = registry.load("anonymizers", name)
            if fits(type(self.rulebook), cls) and not misfit(type(self.rulebook), cls()):
                method: Anonymizer = cls()
                # A method may fit the columns and still drop rows that the rules want to see.
                outcomes = RoundFixture(self.rulebook, method).outcomes[TEAMS[0]]
                if any(outcome.target for outcome in outcomes):
                    return method
        raise AssertionError(
            f"no installed anonymizer makes a valid release of {self.rulebook.name}"
        )

    @property
    def preparation(self) -> Files:
        return _preparation(self.rulebook)

    @cached_property
    def prepared(self) -> PreparedRound[Any]:
        return PreparedRound(self.rulebook, self.preparation)

    def release(self, team: str) -> tuple[Release, list[Source]]:
        """Return a team's release and its files."""
        rules, rng = self.prepared.rules, stream(3, "same")
        release, files = anonymize(rules, self.prepared.handout(team), self.anonymizer, rng)
        return release, [Source(name, data) for name, data in files.items()]

    def judge(self, team: str, prepared: PreparedRound[Any]) -> list[ReleaseOutcome]:
        sources = self.release(team)[1] if team in TEAMS[:2] else []  # the third submits nothing
        return judge_team(prepared, team, sources, with_disqualified=True)

    @cached_property
    def outcomes(self) -> dict[str, list[ReleaseOutcome]]:
        return {team: self.judge(team, self.prepared) for team in TEAMS}

    @cached_property
    def phase(self) -> Files:
        outcomes = [outcome for judged in self.outcomes.values() for outcome in judged]
        return phase_files(self.prepared, outcomes)

    @cached_property
    def targets(self) -> PublishedTargets:
        phase = ContestFolder(self.phase)
        targets, answers = (
            {team: phase.folder(f"{kind}/{team}") for team in TEAMS[:2]}
            for kind in ("targets", "answers")
        )
        return PublishedTargets(self.rulebook, targets, [phase.folder("attackers")], answers)

    def guess(self, target: str, attack: str) -> bytes:
        """Return the guess of one of the rulebook's own attacks."""
        method = self.rulebook.sample_attacks[attack]
        return run_attack(self.targets.rules, self.targets[target], method, stream(4, "sample"))[1]

    @contextmanager
    def folders(self) -> Iterator[Path]:
        """Write ``preparation`` and ``phase`` into a temporary folder."""
        with tempfile.TemporaryDirectory(prefix="kakurenbo-testing-") as name:
            write_folder(Path(name) / "preparation", self.preparation)
            write_folder(Path(name) / "phase", self.phase)
            yield Path(name)


@contextmanager
def _accepts(otherwise: str) -> Iterator[None]:
    try:
        yield
    except (InputError, KakurenboError) as error:
        raise AssertionError(f"{otherwise}: {error}") from error


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


def _prepares_again(played: RoundFixture) -> None:
    rulebook, first = played.rulebook, played.preparation
    assert prepare(rulebook, _SEED, TEAMS).files() == first, "the same seed gives other bytes"
    other = prepare(rulebook, _SEED + 1, TEAMS).files()
    assert other["public/commitments.json"] != first["public/commitments.json"], (
        "another seed gives the same commitments"
    )


def _folders(played: RoundFixture) -> None:
    for name in ("public", "attackers", "secret", *(f"teams/{team}" for team in TEAMS)):
        facts = played.prepared.folder.folder(name).facts(played.rulebook.name)
        assert facts is not None, f"{name} has no contest.json"
        assert facts.round == played.rulebook.round_name
    with tempfile.TemporaryDirectory() as elsewhere, _accepts("a team's folder is not read alone"):
        handout = Path(elsewhere) / "handout"
        write_folder(handout, played.prepared.folder.folder(f"teams/{TEAMS[0]}").all_files())
        played.rulebook.in_folder(handout).read_handout(handout)


def _no_secret_outside(played: RoundFixture) -> None:
    """Secret files, whole, must not lie in another folder; nor may the seed in any."""
    for files, hidden in ((played.preparation, "secret/"), (played.phase, "answers/")):
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


def _publishes(played: RoundFixture) -> None:
    records = {team: outcomes[0].record for team, outcomes in played.outcomes.items()}
    for team in TEAMS[:2]:
        state, cause = records[team].state, records[team].cause
        assert state in (PUBLISHED, DISQUALIFIED), f"the release of team {team} is {state}: {cause}"
        assert records[team].measurements, "a release is measured"
        utility_score = played.rulebook.utility_score
        assert not utility_score or utility_score in records[team].scores, (
            f"there is no score {utility_score}"
        )
    assert records[TEAMS[2]].state == MISSING, "a team that submits nothing is missing"


def _alone(played: RoundFixture) -> None:
    alone = played.judge(TEAMS[1], PreparedRound(played.rulebook, played.preparation))
    for outcome in alone:
        for name, data in outcome.files.items():
            assert played.phase.get(name) == data, f"{name} depends on who else is published"


def _guesses(played: RoundFixture) -> None:
    rulebook, name = played.rulebook, TEAMS[0]
    with played.folders() as folder, _accepts("a target is not read alone"):
        for other in TEAMS[1:]:
            shutil.rmtree(folder / "phase" / "targets" / other, ignore_errors=True)
        target = rulebook.read_target(folder / "phase" / "targets" / name)
    assert target.name == name, "a target knows its name"
    assert isinstance(target.knowledge, rulebook.knowledge), "knowledge is of the declared type"
    for attack in rulebook.sample_attacks:
        with _accepts("read_guess refuses what a sample attack wrote"):
            guess = rulebook.read_guess(target.form, Source("guess", played.guess(name, attack)))
        files = rulebook.guess_files({name: guess}, TEAMS[1])
        sources = [Source(file, data) for file, data in files.items()]
        guesses = rulebook.read_guesses({name: target}, sources, TEAMS[1])
        assert [guess.target for guess in guesses.found] == [name], (
            f"read_guesses does not read guess_files: {guesses.refused}"
        )


def _garbage(played: RoundFixture) -> None:
    rulebook, form = played.rulebook, played.targets[TEAMS[0]].form
    handout, (_, release) = played.prepared.handout(TEAMS[0]), played.release(TEAMS[0])
    for data in _GARBAGE:
        sources = [Source(source.name, data) for source in release]
        assert _refuses(rulebook.read_release, handout, sources), data
        assert _refuses(rulebook.read_guess, form, Source("guess", data)), data
    assert _refuses(rulebook.read_release, handout, []), "no file is no release"


def _credits(played: RoundFixture) -> None:
    for attack in played.rulebook.sample_attacks:
        outcome = judge_sample_attack(played.targets, attack)
        assert not outcome.refused, f"{attack} fails: {outcome.refused}"
        for _, score in outcome.pairs:
            assert isinstance(score, Credit)
            assert score.least <= score.hits <= score.of, f"{score.hits} hits of {score.of}"
            assert 0 <= score.accuracy <= 1


def _standings(played: RoundFixture) -> None:
    rulebook = played.rulebook
    attack = next(iter(rulebook.sample_attacks))
    with played.folders() as folder:
        for attacker, name in (TEAMS[:2], TEAMS[1::-1]):
            source = Source("guess", played.guess(name, attack))
            guess = rulebook.read_guess(played.targets[name].form, source)
            write_folder(
                folder / "guesses" / attacker, rulebook.guess_files({name: guess}, attacker)
            )
        scored = score_round(rulebook, folder / "phase", folder / "guesses")
    assert not scored.refused, f"guesses of the sample attack are refused: {scored.refused}"
    standings = rank(played.targets.rules, {rulebook.round_name: scored.results})
    for ranking in (standings.anonymization, standings.attack, standings.overall):
        teams = [line.team for line in ranking]
        assert len(set(teams)) == len(teams), "a team stands twice in a ranking"
        ranks = [line.rank for line in ranking if line.rank is not None]
        assert ranks == sorted(ranks), "a ranking is not in the order of its ranks"
        assert all(line.rank is None for line in ranking if line.score is None), (
            "a rank without a score"
        )


def _verifies(played: RoundFixture) -> None:
    with played.folders() as folder:
        preparation, phase = folder / "preparation", folder / "phase"
        findings = verify_round(played.rulebook, preparation, phase, again=True)
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


def _same_release(played: RoundFixture) -> None:
    team = TEAMS[1]
    (first, files), (second, same_files) = played.release(team), played.release(team)
    assert files == same_files, "other bytes"
    assert first.claims == second.claims
    with _accepts("the release is refused"):
        played.rulebook.read_release(played.prepared.handout(team), files)


def _same_guess(played: RoundFixture, method: Attack[Any, Any]) -> None:
    rules, target = played.targets.rules, played.targets[TEAMS[0]]
    first, second = (run_attack(rules, target, method, stream(4, "same"))[1] for _ in range(2))
    assert first == second, "other bytes for the same stream"
    with _accepts("the guess is refused"):
        played.rulebook.read_guess(played.targets[TEAMS[0]].form, Source("guess", first))
