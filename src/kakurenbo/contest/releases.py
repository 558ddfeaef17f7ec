"""Judging of releases: read, measure, compose what attackers get of them, and the phase folder of a round."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest.commitments import COMMITMENTS_FILE, OPENING_FILE, commit
from kakurenbo.contest.folders import (
    ANSWER,
    CONTEST_FILE,
    TARGET,
    ContestFacts,
    ContestFolder,
    Files,
    part_folder,
)
from kakurenbo.contest.phases import ANONYMIZE
from kakurenbo.contest.preparation import PreparedRound, Secrets
from kakurenbo.contest.readme import readme_files
from kakurenbo.contest.records import (
    RefusedAttachment,
    ReleaseRecord,
    isolate,
    recorded,
    threshold_cause,
)
from kakurenbo.contest.results import DISQUALIFIED, FAILED, PUBLISHED, REFUSED, team_of
from kakurenbo.contest.rulebook import AnyRulebook
from kakurenbo.contest.submissions import check_names
from kakurenbo.core import (
    InputError,
    Problem,
    Problems,
    Severity,
    Source,
    add_notices,
    collect_notices,
    group_notices,
    json_bytes,
    read_json,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import with_message
from kakurenbo.core.remembering import remembering_tables

RELEASES_FILE = "releases.json"
SUBMITTED = "submitted"
"""The folder, in ``answers/NN``, of the files that were submitted."""


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
        if not failure.error:
            return cls(value, tuple(notices))
        return cls(refused=failure.problems or cls.failed(sources, failure.error.split(":")[0]))

    @staticmethod
    def failed(sources: Sequence[Source], problem: str) -> Problems:
        """Return the problem of attachments with which a release cannot be judged."""
        return Problems.of("release.attachment_failed", sources[0].name, problem=problem)

    def attach_to(self, rules: AnyRulebook, handout: Any, submission: Any) -> Any:
        """Return the submission with its attachments; where these are refused, without them."""
        if self.refused is not None:
            return submission
        add_notices(self.notices)
        return rules.attach(handout, submission, self.value)


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
    files, attached = _split(prepared.rules, submitted)
    attachments = Attachments.read(prepared.rules, team_of(target), attached)
    outcome = _judge_files(prepared, target, files, attachments, with_disqualified)
    record = outcome.record
    unpublished = record.state == FAILED or (record.state == REFUSED and record.measurements)
    if attached and attachments.refused is None and unpublished:
        # Perhaps an attachment is to blame: a declared method that fails, a form that is too long once it is published.
        blamed = Attachments(
            refused=Attachments.failed(attached, with_message(record.cause, record.messages))
        )
        without = _judge_files(prepared, target, files, blamed, with_disqualified)
        if without.record.state not in (FAILED, REFUSED):
            outcome = without
    record = replace(outcome.record, files=tuple(source.name for source in submitted))
    return replace(outcome, record=record, submitted=_contents([*files, *attached]))


def compose_target(
    prepared: PreparedRound[Any], record: ReleaseRecord, submitted: Sequence[Source]
) -> ReleaseOutcome:
    """Compose the files of a published release from its stored record and its files; nothing is judged again."""
    files, attached = _split(prepared.rules, submitted)
    outcome = ReleaseOutcome(record)
    if record.state == PUBLISHED:
        with isolate() as failure, collect_notices():
            secrets = prepared.secrets(record.target)
            submission = prepared.rules.read_release(secrets.handout, files)
            attachments = Attachments(refused=Problems([]))
            if not record.attachments:
                attachments = Attachments.read(prepared.rules, record.team, attached)
            submission = attachments.attach_to(prepared.rules, secrets.handout, submission)
            outcome = _publish(prepared, record, secrets, submission)
        if failure.error:
            outcome = ReleaseOutcome(replace(record, state=FAILED, cause=failure.error))
    return replace(outcome, submitted=_contents([*files, *attached]))


def _split(rules: AnyRulebook, submitted: Sequence[Source]) -> tuple[list[Source], list[Source]]:
    """Return the files of a release, read into memory, and its attachments."""
    is_attachment = rules.phase(ANONYMIZE).is_attachment
    loaded = [source.loaded() for source in submitted]
    attached = [source for source in loaded if is_attachment(source.name)]
    return [source for source in loaded if source not in attached], attached


def _contents(sources: Iterable[Source]) -> Files:
    return {source.name: source.origin for source in sources if isinstance(source.origin, bytes)}


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
        notices=recorded(group_notices(left_out)),
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
    problems = None
    with isolate() as failure:
        measured = _measure(record, rules, secrets, submission, notices, left_out)
        outcome = ReleaseOutcome(measured)
        if measured.state == PUBLISHED or with_disqualified:
            outcome = _publish(prepared, measured, secrets, submission)
            problems = _reading_problems(prepared, outcome)
    if failure.error:  # a step that fails on one team's files must not stop the others
        return ReleaseOutcome(replace(record, cause=failure.error))
    if problems is not None:
        problem = recorded(problems)[0]
        refusal = Problems.of("release.unreadable", sources[0].name, problem=problem)
        return _refused(measured, refusal)
    return outcome


def _refused(record: ReleaseRecord, problems: Problems) -> ReleaseOutcome:
    lines = recorded(problems)
    refused = replace(record, state=REFUSED, cause=lines[0], problems=lines)
    return ReleaseOutcome(refused, refusal=problems)


def _left_out(problem: Problem) -> Problem:
    """Return the notice that a problem of an attachment cost the attachment alone."""
    inside = replace(problem, file="") if problem.row is None else problem
    parameters = {"problem": inside.as_message()}
    return Problem("release.attachment_refused", parameters, problem.file, severity=Severity.NOTICE)


def _measure(
    record: ReleaseRecord,
    rules: AnyRulebook,
    secrets: Secrets[Any],
    submission: Any,
    notices: Sequence[Problem],
    left_out: Sequence[Problem],
) -> ReleaseRecord:
    """Return the record with every score, and with the verdict that follows from them."""
    utility = rules.measure(secrets.handout, submission)
    utility = utility.with_grades(rules.secret_measures(secrets, submission))
    released = rules.released(secrets.handout, submission)
    unchanged: list[Problem] = []
    if released is not None and rules.is_unchanged(*released):
        unchanged.append(Problem("release.published_unchanged", severity=Severity.NOTICE))
    measurements = utility.measurements()
    return replace(
        record,
        state=PUBLISHED if utility.passes else DISQUALIFIED,
        cause="" if utility.passes else threshold_cause(measurements),
        measurements=measurements,
        notices=recorded(group_notices((*notices, *unchanged, *utility.notices, *left_out))),
    )


def _publish(
    prepared: PreparedRound[Any], record: ReleaseRecord, secrets: Secrets[Any], submission: Any
) -> ReleaseOutcome:
    """Return the release with the files of ``targets/NN`` and ``answers/NN``."""
    publication = prepared.rules.publish(secrets, submission)
    names = {"team": record.team, "target": record.target}
    facts = prepared.phase_facts.of(TARGET, **names)
    dealt = [part_folder(attacker) for attacker in publication.parts]
    target = {
        **round_readmes(prepared, facts, (CONTEST_FILE, *publication.target, *dealt)),
        CONTEST_FILE: facts.as_bytes(),
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


def _reading_problems(prepared: PreparedRound[Any], outcome: ReleaseOutcome) -> Problems | None:
    """Return what is wrong with the published files, read as attackers and scorers will read them.

    A release may be well-formed while what is made of it is not, such as a line too long where all months of a customer stand
    side by side; that must show now and cost its team alone, not later everybody.
    """
    target, answer = (
        ContestFolder(files, outcome.record.target) for files in (outcome.target, outcome.answer)
    )
    try:
        with remembering_tables(prepared.tables):
            prepared.rules.read_target(target, prepared.attackers, attacker="")
            prepared.rules.read_answer(answer)
    except InputError as error:
        return error.problems
    return None


# -- the phase folder ------------------------------------------------------------


def phase_files(prepared: PreparedRound[Any], outcomes: Sequence[ReleaseOutcome]) -> Files:
    """Return the phase folder of these releases, committed."""
    files = {f"attackers/{name}": data for name, data in prepared.attackers.all_files().items()}
    for outcome in outcomes:
        files |= outcome.files
    return committed_phase(prepared, files, [outcome.record for outcome in outcomes])


def committed_phase(
    prepared: PreparedRound[Any], folders: Files, records: Sequence[ReleaseRecord]
) -> Files:
    """Return the phase folder of these targets, answers and attackers' files, with its records and commitments."""
    facts = prepared.phase_facts
    readmes = round_readmes(prepared, facts, (CONTEST_FILE, RELEASES_FILE, COMMITMENTS_FILE))
    public = [record.public() for record in records]
    files = {
        **folders,
        **{f"public/{name}": data for name, data in readmes.items()},
        f"public/{CONTEST_FILE}": facts.as_bytes(),
        f"public/{RELEASES_FILE}": json_bytes(msgspec.to_builtins(public)),
        f"answers/{RELEASES_FILE}": json_bytes(msgspec.to_builtins(records)),
    }
    commitments, opening = commit(prepared.seed, files, prepared.rules.scope("publication"))
    return {**files, f"public/{COMMITMENTS_FILE}": commitments, f"answers/{OPENING_FILE}": opening}


def read_records(phase: Path, part: str = "public") -> tuple[ReleaseRecord, ...]:
    """Read what became of every release from a phase folder: from its ``public`` part or its ``answers``."""
    place = phase / part / RELEASES_FILE
    try:
        return msgspec.convert(read_json(Source.of(place)), tuple[ReleaseRecord, ...])
    except InputError as error:
        raise UsageError(error.problems[0].statement, at=place) from error
    except msgspec.ValidationError:
        raise UsageError("error.not_publish", at=place) from None
