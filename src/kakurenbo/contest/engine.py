"""The six steps of a round, each once: functions from files to files.

| step | reads | returns | who may run it |
| --- | --- | --- | --- |
| `prepare` | seed, teams | `Preparation`: the files of `public/ teams/NN/ attackers/ secret/` | organizer |
| `anonymize` | `teams/NN` | a `Release` and the files of its submission | player |
| `judge_release` | a `PreparedRound`, a submission | `ReleaseOutcome`: a record, `targets/NN`, `answers/NN` | judge |
| `attack` | `targets/NN` (its part `for_TT` where parts are dealt), `attackers/` | the file of a guess | player |
| `judge_guesses` | `PublishedTargets`, the files of one attacker | `GuessesOutcome`: a score or a refusal each | judge |
| `rank` | `RoundResults` (`round_results` of records and scores) | `Standings` | anyone |

A step sees only what its row names. Folders come as `ContestFolder`, submitted files as `Source`: both read from disk or from
bytes, so a step runs anywhere. What fails on one team's files costs these files alone: `isolate` is the place that catches it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kakurenbo.contest.folders import (
    ANSWER,
    CONTEST_FILE,
    TARGET,
    ContestFacts,
    ContestFolder,
    Files,
    part_folder,
)
from kakurenbo.contest.measure import Credit, Measurement
from kakurenbo.contest.phases import ANONYMIZE, ATTACK, scores_per_target
from kakurenbo.contest.preparation import Preparation, PreparedRound, Publication
from kakurenbo.contest.readme import readme_files
from kakurenbo.contest.records import Refusal, RefusedAttachment, ReleaseRecord, recorded
from kakurenbo.contest.results import (
    DISQUALIFIED,
    FAILED,
    PUBLISHED,
    REFUSED,
    SUPERSEDED,
    RoundResults,
    Standings,
    team_of,
)
from kakurenbo.contest.rulebook import AnyRulebook, Target
from kakurenbo.contest.schedule import NO_SCHEDULE, Schedule
from kakurenbo.contest.submissions import check_names
from kakurenbo.core import (
    InputError,
    Problem,
    Problems,
    Severity,
    Source,
    add_notices,
    collect_notices,
    summed_up,
)
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import spoken_in
from kakurenbo.core.remembering import Memory, remembering_tables
from kakurenbo.core.rng import stream
from kakurenbo.methods.base import Anonymizer, Release

SUBMITTED = "submitted"
"""The folder, in ``answers/NN``, of the files that were submitted."""
_TABLES = 4  # that targets remember: the population, and the latest releases
_MAX_ERROR = 300  # characters


# -- what fails on one team's files --------------------------------------------------------------------------------------


@dataclass
class Failure:
    """What went wrong with one team's files; empty where nothing did.

    Attributes
    ----------
    problems : Problems or None
        Why the files are refused.
    error : str
        The exception as one line, also where files are refused.
    """

    problems: Problems | None = None
    error: str = ""

    def as_problems(self, code: str, file: str, **parameters: Any) -> Problems:
        """Return the problems; of a crash the message ``code`` with its ``error``."""
        return self.problems or Problems.of(code, file, error=self.error, **parameters)


@contextmanager
def isolate() -> Iterator[Failure]:
    """Catch whatever fails on one team's files, so that it costs these files alone."""
    failure = Failure()
    try:
        yield failure
    except InputError as error:
        failure.problems, failure.error = error.problems, describe_error(error)
    except Exception as error:  # hostile files and plugins may raise anything
        failure.error = describe_error(error)


def describe_error(error: Exception, length: int = _MAX_ERROR) -> str:
    """Return type and message of an exception as one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:length]}"


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
    return rules.prepare(seed, teams, unranked, judges=judges, schedule=schedule)


def anonymize(
    rulebook: AnyRulebook, handout: ContestFolder, method: Anonymizer, rng: np.random.Generator
) -> tuple[Release, Files]:
    """Run a method on a team's folder; return its release and the files that the team would submit."""
    rules = rulebook.under(handout.facts(rulebook.name))
    data = rules.read_handout(handout)
    release = rules.anonymize(data, method, rng)
    return release, rules.release_files(data, release)


# -- judge a release -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ReleaseOutcome:
    """A judged release and the files that are made of it.

    Attributes
    ----------
    record : ReleaseRecord
    target, answer : Files
        The folders ``targets/NN`` and ``answers/NN``, dealt parts as ``for_TT/...``; empty where nothing is published.
    submitted : Files
        The submitted files, which the judge keeps.
    refusal : Problems or None
        Why it is refused, before it was put into words for the record.
    """

    record: ReleaseRecord
    target: Files = field(default_factory=dict)
    answer: Files = field(default_factory=dict)
    submitted: Files = field(default_factory=dict)
    refusal: Problems | None = None

    @property
    def files(self) -> dict[str, bytes]:
        """Its part of a phase folder: ``targets/NN``, ``answers/NN`` and ``answers/NN/submitted``."""
        name = self.record.target
        folders = {
            f"answers/{name}/{SUBMITTED}": self.submitted,
            f"targets/{name}": self.target,
            f"answers/{name}": self.answer,
        }
        return {
            f"{folder}/{file}": data
            for folder, files in folders.items()
            for file, data in files.items()
        }


@dataclass(frozen=True, eq=False)
class Attachments:
    """Attachments of a release as the rulebook read them, with notices; or why they are refused."""

    value: Any = None
    notices: tuple[Problem, ...] = ()
    refused: Problems | None = None

    @classmethod
    def read(cls, rules: AnyRulebook, team: str, sources: Sequence[Source]) -> Attachments:
        """Read attachments; an empty ``team`` accepts the names of any team."""
        with isolate() as failure, collect_notices() as notices:
            if team:
                check_names(rules, team, sources)
            value = rules.check_attachments(sources)
        if failure.problems:
            return cls(refused=failure.problems)
        if failure.error:
            return cls.failed(sources, failure.error.partition(":")[0])
        return cls(value, tuple(notices))

    @classmethod
    def failed(cls, sources: Sequence[Source], problem: str) -> Attachments:
        problems = Problems.of("release.attachment_failed", sources[0].name, problem=problem)
        return cls(refused=problems)

    def attach_to(self, rules: AnyRulebook, handout: Any, submission: Any) -> Any:
        """Return the submission with its attachments; where these are refused, without them."""
        if self.refused is not None:
            return submission
        add_notices(self.notices)
        return rules.attach(handout, submission, self.value)


@spoken_in("en")
def judge_release(
    prepared: PreparedRound[Any],
    target: str,
    submitted: Sequence[Source],
    *,
    with_disqualified: bool = False,
) -> ReleaseOutcome:
    """Read, measure and publish one release; attachments that are refused cost themselves alone.

    Parameters
    ----------
    prepared : PreparedRound
        Of which the team's handout and secrets are read, and what attackers get.
    target : str
        The name of the release, such as ``07`` or ``07-2``.
    submitted : sequence of Source
        The files of the release with its attachments.
    with_disqualified : bool
        Publish a release below a threshold too; it stays disqualified.
    """
    rules, team = prepared.rules, team_of(target)
    is_attachment = rules.phase(ANONYMIZE).is_attachment
    submitted = [source.loaded() for source in submitted]
    attached = [source for source in submitted if is_attachment(source.name)]
    files = [source for source in submitted if source not in attached]
    attachments = Attachments.read(rules, team, attached)
    outcome = _judge_files(prepared, target, files, attachments, with_disqualified)
    record = outcome.record
    unpublished = record.state == FAILED or (record.state == REFUSED and record.measurements)
    if attached and attachments.refused is None and unpublished:
        # Perhaps an attachment is to blame: a declared method that fails, a form that is too long once it is published.
        blamed = Attachments.failed(attached, record.cause)
        without = _judge_files(prepared, target, files, blamed, with_disqualified)
        if without.record.state not in (FAILED, REFUSED):
            outcome = without
    return replace(
        outcome,
        record=replace(outcome.record, files=tuple(source.name for source in submitted)),
        submitted={
            source.name: source.origin
            for source in (*files, *attached)
            if isinstance(source.origin, bytes)
        },
    )


def _judge_files(
    prepared: PreparedRound[Any],
    target: str,
    sources: Sequence[Source],
    attachments: Attachments,
    with_disqualified: bool,
) -> ReleaseOutcome:
    """Judge a release with its attachments, or without those that are refused."""
    rules, team = prepared.rules, team_of(target)
    left_out = [_left_out(problem) for problem in attachments.refused or ()]
    record = ReleaseRecord(
        target,
        team,
        FAILED,
        notices=summed_up(left_out, "en"),
        attachments=(RefusedAttachment.of(attachments.refused),) if attachments.refused else (),
    )
    with isolate() as failure, collect_notices() as notices:
        secrets = prepared.secrets(target)
        check_names(rules, team, sources)
        release = rules.read_release(secrets.handout, sources)
        submission = attachments.attach_to(rules, secrets.handout, release)
    if failure.problems:
        return _refused(record, failure.problems)
    if failure.error:
        return ReleaseOutcome(replace(record, cause=failure.error))
    with isolate() as failure:
        utility = rules.measure(secrets.handout, submission)
        utility = utility.with_grades(rules.secret_measures(secrets, submission))
        unchanged = _unchanged(rules, secrets.handout, submission)
        measured = replace(
            record,
            measurements=utility.measurements(),
            notices=summed_up((*notices, *unchanged, *utility.notices, *left_out), "en"),
        )
        if not utility.passes:
            cause = _failed_thresholds(measured.measurements)
            measured = replace(measured, state=DISQUALIFIED, cause=cause)
            if not with_disqualified:
                return ReleaseOutcome(measured)
        else:
            measured = replace(measured, state=PUBLISHED)
        publication = rules.publish(secrets, submission)
        outcome = _published(prepared, measured, publication)
        unreadable = _unreadable(prepared, outcome)
    if failure.error:  # a step that fails on one team's files must not stop the others
        return ReleaseOutcome(replace(record, cause=failure.error))
    if unreadable is not None:
        problem = recorded(unreadable)[0]
        refusal = Problems.of("release.unreadable", sources[0].name, problem=problem)
        return _refused(measured, refusal)
    return outcome


def _refused(record: ReleaseRecord, problems: Problems) -> ReleaseOutcome:
    lines = recorded(problems)
    return ReleaseOutcome(
        replace(record, state=REFUSED, cause=lines[0], problems=lines), refusal=problems
    )


def _left_out(problem: Problem) -> Problem:
    """Return the notice that a problem of an attachment cost the attachment alone."""
    inside = replace(problem, file="") if problem.row is None else problem
    parameters = {"problem": inside.in_language("en")}
    return Problem("release.attachment_refused", parameters, problem.file, severity=Severity.NOTICE)


def _unchanged(rules: AnyRulebook, handout: Any, submission: Any) -> tuple[Problem, ...]:
    """Return a notice where a team submitted the data that it was given."""
    released = rules.released(handout, submission)
    if released is None or not rules.is_unchanged(*released):
        return ()
    return (Problem("release.published_unchanged", severity=Severity.NOTICE),)


def _failed_thresholds(measurements: Sequence[Measurement]) -> str:
    failed = [measured for measured in measurements if measured.passes is False]
    return ", ".join(
        f"{measured.name} is {float(measured.value):.6g}, must be {measured.threshold}"
        for measured in failed
    )


def _published(
    prepared: PreparedRound[Any], record: ReleaseRecord, publication: Publication
) -> ReleaseOutcome:
    """Return the release with the files of ``targets/NN`` and ``answers/NN``."""
    names = {"team": record.team, "target": record.target}
    target_facts = prepared.phase_facts.of(TARGET, **names)
    dealt = [part_folder(attacker) for attacker in publication.parts]
    described = (CONTEST_FILE, *publication.target, *dealt)
    target = {
        **round_readmes(prepared, target_facts, described),
        CONTEST_FILE: target_facts.as_bytes(),
        **publication.target,
    }
    answer = {
        CONTEST_FILE: prepared.phase_facts.of(ANSWER, **names).as_bytes(),
        **publication.answer,
    }
    for attacker, (target_part, answer_part) in publication.parts.items():
        part = part_folder(attacker)
        target |= {f"{part}/{file}": data for file, data in target_part.items()}
        answer |= {f"{part}/{file}": data for file, data in answer_part.items()}
    return ReleaseOutcome(record, target, answer)


def round_readmes(prepared: PreparedRound[Any], facts: ContestFacts, names: Sequence[str]) -> Files:
    """Return the READMEs of a folder; none in a round that an earlier version prepared without them."""
    return readme_files(prepared.rules, facts, names) if prepared.has_readmes else {}


def _unreadable(prepared: PreparedRound[Any], outcome: ReleaseOutcome) -> Problems | None:
    """Return what is wrong with the published files, read as attackers and scorers will read them.

    A release may be well-formed while what is made of it is not, such as a line too long where all months of a customer stand
    side by side; that must show now and cost its team alone, not later everybody.
    """
    name = outcome.record.target
    try:
        with remembering_tables(prepared.tables):
            prepared.rules.target_from_folders(
                ContestFolder(outcome.target, name), [prepared.attackers], attacker=""
            )
            prepared.rules.read_answer(ContestFolder(outcome.answer, name))
    except InputError as error:
        return error.problems
    return None


# -- attack --------------------------------------------------------------------------------------------------------------


class PublishedTargets(Mapping[str, Target[Any, Any]]):
    """The published targets of a round by name, with their answers where the judge asks.

    Each is read when it is first needed, once; tables that several share, such as the population, are read and parsed once.

    Parameters
    ----------
    rulebook : Rulebook
    targets : mapping of name to ContestFolder
        The folders ``targets/NN``.
    others : sequence of ContestFolder
        What the attacker has beside them: ``attackers``, a dealt part, its own handout.
    answers : mapping of name to ContestFolder
    attacker : str or None
        Whose dealt part is read; see ``Rulebook.read_target``.
    facts : ContestFacts or None
        By default those of the first target.
    tables : Memory or None
        Tables that were parsed before.
    with_knowledge : bool
        Keep what attackers know of a target; judging guesses needs only their form.
    """

    def __init__(
        self,
        rulebook: AnyRulebook,
        targets: Mapping[str, ContestFolder],
        others: Sequence[ContestFolder] = (),
        answers: Mapping[str, ContestFolder] = {},
        *,
        attacker: str | None = "",
        facts: ContestFacts | None = None,
        tables: Memory | None = None,
        with_knowledge: bool = True,
    ) -> None:
        self._folders, self._answers = targets, answers
        self._others = [folder.loaded() for folder in others]
        self._attacker, self._with_knowledge = attacker, with_knowledge
        self._tables = tables or Memory(_TABLES)
        if facts is None and targets:
            facts = next(iter(targets.values())).facts(rulebook.name)
            if facts is None:
                raise KakurenboError("error.lacks_contest")
        self.facts = facts
        self.rules = rulebook.under(facts)
        self._target, self.answer = cache(self._read_target), cache(self._read_answer)

    @classmethod
    def in_phase(
        cls,
        rulebook: AnyRulebook,
        phase: Path,
        names: Iterable[str],
        handout: Path | None = None,
        *,
        attacker: str | None = "",
        facts: ContestFacts | None = None,
    ) -> PublishedTargets:
        """Open targets of the folder that ``publish`` wrote; ``handout`` is the attacker's own."""
        targets = {name: ContestFolder(phase / "targets" / name) for name in names}
        answers = {name: ContestFolder(phase / "answers" / name) for name in targets}
        attackers = phase / "attackers"
        paths = [path for path in (attackers, handout) if path is not None and path.is_dir()]
        others = list(map(ContestFolder, paths))
        return cls(rulebook, targets, others, answers, attacker=attacker, facts=facts)

    def _read_target(self, name: str) -> Target[Any, Any]:
        try:
            with remembering_tables(self._tables):
                target = self.rules.target_from_folders(
                    self._folders[name], self._others, attacker=self._attacker
                )
            return target if self._with_knowledge else replace(target, knowledge=None)
        except InputError as error:
            raise KakurenboError(
                "error.part_broken", part=f"targets/{name}", reason=error
            ) from error

    def _read_answer(self, name: str) -> Any:
        try:
            return self.rules.read_answer(self._answers[name])
        except InputError as error:
            raise KakurenboError(
                "error.part_broken", part=f"answers/{name}", reason=error
            ) from error

    def __getitem__(self, name: str) -> Target[Any, Any]:
        if name not in self._folders:
            raise KeyError(name)
        return self._target(name)

    def __contains__(self, name: object) -> bool:
        return name in self._folders

    def __iter__(self) -> Iterator[str]:
        return iter(self._folders)

    def __len__(self) -> int:
        return len(self._folders)


def attack(targets: PublishedTargets, target: str, method: Any, rng: np.random.Generator) -> bytes:
    """Run an attack on one target and return the file of its guess."""
    return targets.rules.bytes_of_attack(method(targets[target].knowledge, rng))


def sample_attack(targets: PublishedTargets, target: str, name: str) -> bytes:
    """Run one of the organizers' attacks on one target and return the file of its guess."""
    assert targets.facts is not None  # of a target that is there
    rng = sample_stream(targets.facts, name, target)
    return attack(targets, target, targets.rules.sample_attacks[name], rng)


def sample_stream(facts: ContestFacts, attack: str, target: str) -> np.random.Generator:
    """Randomness of an organizers' attack: public, so that anybody gets the same guess."""
    return stream(0, facts.rulebook, facts.round, "sample attack", attack, target)


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


@spoken_in("en")
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
            scores.append(
                ScoredGuess(guess.target, guess.file, rules.score_guess(answer, guess.guess))
            )
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


@spoken_in("en")
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
    current = [record for record in records if record.state != SUPERSEDED]
    extra = {
        record.target: {
            name: record.scores[name] for name in rules.shown_beside if name in record.scores
        }
        for record in current
    }
    return RoundResults(
        credits=by_target,
        targets=tuple(record.target for record in current),
        attackers=tuple(scores),
        utility={
            record.target: record.scores[rules.utility_score]
            for record in current
            if rules.utility_score in record.scores
        },
        out={record.target: record.state for record in current if record.state != PUBLISHED},
        unranked=frozenset(samples),
        excluded=frozenset(excluded),
        tries=tries,
        beside={target: measures for target, measures in extra.items() if measures},
    )


def rank(rules: AnyRulebook, rounds: Mapping[str, RoundResults]) -> Standings:
    """Rank the results of rounds: one alone, or several as the rules weigh them."""
    return rules.standings(rounds)
