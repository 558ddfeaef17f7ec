"""The six steps of a round, each once: functions from files to files.

| step | reads | returns | who may run it |
| --- | --- | --- | --- |
| `prepare` | seed, teams | `Preparation`: the files of `public/ teams/NN/ attackers/ secret/` | organizer |
| `anonymize` | `teams/NN` | a `Release` and the files of its submission | player |
| `judge_release` | a `PreparedRound`, a submission | `ReleaseOutcome`: a record, `targets/NN`, `answers/NN` | judge |
| `attack` | `targets/NN` (its part `for_TT` where parts are dealt), `attackers/` | a guess and its file | player |
| `judge_guesses` | `PublishedTargets`, the files of one attacker | `GuessesOutcome`: a score or a refusal each | judge |
| `rank` | `RoundResults` (`round_results` of records and scores) | `Standings` | anyone |

A judge who keeps outcomes until a phase closes composes `targets/NN` from a stored record by `compose_target`, without
judging the release again. A step sees only what its row names. Folders come as `ContestFolder`, submitted files as `Source`:
both read from disk or from bytes, so a step runs anywhere. What fails on one team's files costs these files alone:
`records.isolate` is the place that catches it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kakurenbo import __version__
from kakurenbo.contest.commitments import COMMITMENTS_FILE, OPENING_FILE, commit
from kakurenbo.contest.folders import (
    ATTACKERS,
    CONTEST_FILE,
    PUBLIC,
    SECRET,
    TEAM,
    ContestFacts,
    Files,
)
from kakurenbo.contest.measure import Credit
from kakurenbo.contest.phases import ATTACK, scores_per_target
from kakurenbo.contest.preparation import Preparation, PublishedTargets, Target
from kakurenbo.contest.readme import readme_files
from kakurenbo.contest.records import Refusal, ReleaseRecord, isolate
from kakurenbo.contest.releases import ReleaseOutcome, compose_target, judge_release
from kakurenbo.contest.results import PUBLISHED, SUPERSEDED, RoundResults, Standings, team_of
from kakurenbo.contest.rulebook import AnyRulebook
from kakurenbo.contest.schedule import NO_SCHEDULE, Schedule
from kakurenbo.core import Problem, Problems, Source
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.rng import stream
from kakurenbo.methods.base import Anonymizer, Release

__all__ = [
    "GuessesOutcome",
    "ReleaseOutcome",
    "ScoredGuess",
    "anonymize",
    "attack",
    "compose_target",
    "judge_guess",
    "judge_guesses",
    "judge_release",
    "judge_sample_attack",
    "prepare",
    "rank",
    "round_results",
    "sample_attack",
]

# -- prepare, anonymize --------------------------------------------------------------------------------------------------


def prepare(
    rules: AnyRulebook,
    seed: int,
    teams: Sequence[str],
    unranked: Sequence[str] = (),
    *,
    judges: Sequence[str] = (),
    schedule: Schedule = NO_SCHEDULE,
) -> Preparation:
    """Draw the data of a round: all its folders, with a commitment to every file."""
    _check_teams(rules, teams, unranked, judges)
    drawn = rules.draw(seed, teams)
    facts = ContestFacts(
        rulebook=rules.name,
        rulebook_version=rules.version,
        version=__version__,
        round=rules.round_name,
        settings={**rules.settings(), **drawn.settings},
        teams=tuple(teams),
        unranked=tuple(unranked),
        judges=tuple(judges),
        schedule=schedule,
        data=drawn.data,
    )

    def handout(kind: ContestFacts, files: Files, *later: str) -> dict[str, bytes]:
        content = {CONTEST_FILE: kind.as_bytes(), **files}
        return {**readme_files(rules, kind, (*content, *later)), **content}

    folders: dict[str, dict[str, bytes]] = {
        "public": handout(facts.of(PUBLIC), drawn.public, COMMITMENTS_FILE),
        "attackers": handout(facts.of(ATTACKERS), drawn.attackers),
        "secret": {CONTEST_FILE: facts.of(SECRET).as_bytes(), **drawn.secret},
    }
    for team in teams:
        folders[f"teams/{team}"] = handout(facts.of(TEAM, team=team), drawn.handouts[team])
        if drawn.secrets.get(team):
            folders[f"secret/{team}"] = dict(drawn.secrets[team])
    prepared = Preparation(folders, facts, {"data": facts.source, **drawn.report})
    commitments, opening = commit(seed, prepared.files(), rules.scope("preparation"))
    folders["public"][COMMITMENTS_FILE], folders["secret"][OPENING_FILE] = commitments, opening
    return prepared


def _check_teams(
    rules: AnyRulebook, teams: Sequence[str], unranked: Sequence[str], judges: Sequence[str]
) -> None:
    for team in teams:
        is_number = re.fullmatch(r"[0-9]{2,4}", team) and 1 <= int(team) <= rules.max_teams
        if not is_number or teams.count(team) > 1:
            expected = f"different numbers of at least two digits from 01 to {rules.max_teams}"
            raise ParameterError("teams", expected, team)
    if not teams:
        raise ParameterError("teams", "one team at least", "nothing")
    for option, listed in (("unranked", unranked), ("judges", judges)):
        for team in listed:
            if team not in teams:
                shown = {"name": repr(team), "teams": list(teams)}
                raise UsageError("error.no_team_in_round", at=option, **shown)
    if both := [team for team in judges if team in unranked]:
        raise UsageError("error.unranked_judges", teams=both)


def anonymize(
    rules: AnyRulebook,
    handout: Any,
    method: Anonymizer,
    rng: np.random.Generator,
    repaired: Release | None = None,
) -> tuple[Release, Files]:
    """Run a method on a team's data; return its release and the files that the team would submit.

    ``repaired`` is the release that a repairing method brings closer to the data.
    """
    release = (
        rules.anonymize(handout, method, rng)
        if repaired is None
        else rules.repair(handout, repaired, method, rng)
    )
    return release, rules.release_files(handout, release)


# -- attack --------------------------------------------------------------------------------------------------------------


def attack(
    rules: AnyRulebook, target: Target[Any, Any], method: Any, rng: np.random.Generator
) -> tuple[Any, bytes]:
    """Run an attack on one target; return its guess and the file of it."""
    guess = method(target.knowledge, rng)
    return guess, rules.bytes_of_attack(guess)


def sample_attack(targets: PublishedTargets, target: str, name: str) -> bytes:
    """Run one of the organizers' attacks on one target and return the file of its guess.

    Its randomness is public, so that anybody gets the same guess.
    """
    rules = targets.rules
    rng = stream(0, rules.name, rules.round_name, "sample attack", name, target)
    return attack(rules, targets[target], rules.sample_attacks[name], rng)[1]


# -- judge guesses -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ScoredGuess:
    """What one guess earned: its target, the file it came in, and its score."""

    target: str
    file: str
    score: Credit


@dataclass(frozen=True, eq=False)
class GuessesOutcome:
    """What the guesses of one attacker earned, in the order of submission, and the files that were refused."""

    scores: tuple[ScoredGuess, ...] = ()
    refused: tuple[Refusal, ...] = ()
    notices: tuple[Problem, ...] = ()

    @property
    def pairs(self) -> list[tuple[str, Credit]]:
        """(target, score) of every guess."""
        return [(guess.target, guess.score) for guess in self.scores]


def judge_guesses(
    targets: PublishedTargets, attacker: str, submitted: Sequence[Source]
) -> GuessesOutcome:
    """Read and score every guess in one attacker's files; a bad file costs that file alone.

    The files are as the contest has them: one per target, one for all targets, or one for the part that was dealt to the
    attacker.
    """
    rules = targets.rules
    with isolate() as failure:
        guesses = rules.read_guesses(targets, submitted, attacker)
    if failure.error:
        names = ", ".join(source.name for source in submitted)
        problems = failure.as_problems("guess.broke", names)
        return GuessesOutcome(refused=(Refusal.of(attacker, problems[0].file, problems),))
    refused = [Refusal.of(attacker, file, problems) for file, problems in guesses.refused]
    scores: list[ScoredGuess] = []
    notices: list[Problem] = []
    for guess in guesses.found:
        with isolate() as failure:
            answer = rules.answer_for(targets.answer(guess.target), attacker)
            score = rules.score_guess(answer, guess.guess)
            scores.append(ScoredGuess(guess.target, guess.file, score))
            notices += guess.notices
        if failure.error:
            problems = Problems.of("guess.broke", guess.file, error=failure.error)
            refused.append(Refusal.of(attacker, guess.file, problems))
    return GuessesOutcome(tuple(scores), tuple(refused), tuple(notices))


def judge_guess(
    rules: AnyRulebook, answer: Any, source: Source, attacker: str = "", form: Any = None
) -> Credit:
    """Read and score one guess at one target, by its answer; raise InputError where it is refused.

    ``form`` says what a guess must look like, where the target is at hand; else the answer tells.
    """
    guess = rules.read_guess(rules.answer_form(answer) if form is None else form, source)
    return rules.score_guess(rules.answer_for(answer, attacker), guess)


def judge_sample_attack(targets: PublishedTargets, name: str) -> GuessesOutcome:
    """Run one of the organizers' attacks on every target; one on which it fails lacks that score alone."""
    scores: list[ScoredGuess] = []
    refused: list[Refusal] = []
    for target in targets:
        with isolate() as failure:
            source = Source(name, sample_attack(targets, target, name))
            form = targets[target].form
            score = judge_guess(targets.rules, targets.answer(target), source, form=form)
            scores.append(ScoredGuess(target, name, score))
        if failure.error:
            place = f"targets/{target}"
            problems = Problems.of("sample_attack.broke", place, attack=name, error=failure.error)
            refused.append(Refusal.of(team_of(target), place, problems))
    return GuessesOutcome(tuple(scores), tuple(refused))


# -- rank ----------------------------------------------------------------------------------------------------------------


def round_results(
    rules: AnyRulebook,
    records: Sequence[ReleaseRecord],
    scores: Mapping[str, Sequence[tuple[str, Credit]]],
    *,
    targets: Iterable[str] = (),
    samples: Iterable[str] = (),
    excluded: Iterable[str] = (),
) -> RoundResults:
    """Return what the rulebook ranks, from what became of every release and what every attacker earned.

    Parameters
    ----------
    scores : mapping of attacker to sequence of (target, Credit)
        In the order of submission; the rulebook says which of several tries at a target counts.
    targets : iterable of str
        Releases that were under attack, guessed at or not.
    samples, excluded : iterable of str
        The organizers' attacks, and teams without rank.
    """
    by_target: dict[str, dict[str, Credit]] = {target: {} for target in targets}
    tries: dict[str, dict[str, tuple[Credit, ...]]] = {}
    for attacker, earned in scores.items():
        public = [(target, credit.public()) for target, credit in earned]
        counting, repeated = scores_per_target(rules.phase(ATTACK), public)
        for target, credit in counting.items():
            by_target.setdefault(target, {})[attacker] = credit
        for target, every in repeated.items():
            tries.setdefault(target, {})[attacker] = every
    utility: dict[str, float] = {}
    beside: dict[str, dict[str, float]] = {}
    current = [record for record in records if record.state != SUPERSEDED]
    for record in current:
        known = record.scores
        if rules.utility_score in known:
            utility[record.target] = known[rules.utility_score]
        if shown := {name: known[name] for name in rules.shown_beside if name in known}:
            beside[record.target] = shown
    return RoundResults(
        credits=by_target,
        targets=tuple(record.target for record in current),
        attackers=tuple(scores),
        utility=utility,
        out={record.target: record.state for record in current if record.state != PUBLISHED},
        unranked=frozenset(samples),
        excluded=frozenset(excluded),
        tries=tries,
        beside=beside,
    )


def rank(rules: AnyRulebook, rounds: Mapping[str, RoundResults]) -> Standings:
    """Rank the results of rounds: one alone, or several as the rules weigh them."""
    return rules.standings(rounds)
