"""From what teams handed in to what attackers get: check, measure and publish every release, each for itself.

What comes out is a phase folder: ``targets/NN`` and ``attackers`` for the attackers, ``answers/NN`` for the judge (with the
submitted files, so that everything can be made again), ``public`` with commitments and what became of every release.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest import (
    ANONYMIZE,
    CONTEST_FILE,
    AnyRulebook,
    Counting,
    Files,
    Measurement,
    PreparedRound,
    Publication,
    by_number,
    team_of,
)
from kakurenbo.contest.commitments import COMMITMENTS_FILE, OPENING_FILE, commit, digest
from kakurenbo.contest.facts import ANSWER, PUBLIC, TARGET, ContestFacts, part_folder
from kakurenbo.contest.readme import readme_files
from kakurenbo.contest.results import DISQUALIFIED, FAILED, MISSING, REFUSED
from kakurenbo.core import (
    LISTED_PER_FILE,
    README_FILES,
    InputError,
    Problem,
    Problems,
    Severity,
    Source,
    add_notices,
    collect_notices,
    json_bytes,
    read_file,
    read_folder,
    read_json,
    summed_up,
    write_folder,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import spoken_in
from kakurenbo.rounds.handing_in import folders_in, handed_in, left_aside, printable

RELEASES_FILE = "releases.json"
SUBMITTED = "submitted"
PUBLISHED, SUPERSEDED = "published", "superseded"
"""States of a release beside the reasons why one is out: ``superseded`` where later tables of the team count instead."""
STATES = (PUBLISHED, SUPERSEDED, DISQUALIFIED, REFUSED, MISSING, FAILED)


@dataclass(frozen=True)
class RefusedAttachment:
    """A file that came with a release, and every problem for which it was refused."""

    file: str
    problems: tuple[str, ...]

    @classmethod
    def of(cls, problems: Problems) -> RefusedAttachment:
        return cls(problems[0].file, tuple(map(_recorded, problems)))


@dataclass(frozen=True, eq=False)
class Attachments:
    """Attachments of a release as the rulebook read them, with notices; or why they are refused."""

    value: Any = None
    notices: tuple[Problem, ...] = ()
    refused: Problems | None = None

    @classmethod
    def read(cls, read: Callable[[], Any]) -> Attachments:
        """Call the reader."""
        try:
            with collect_notices() as notices:
                value = read()
            return cls(value, tuple(notices))
        except InputError as error:
            return cls(refused=error.problems)

    def attach_to(self, rules: AnyRulebook, handout: Any, submission: Any) -> Any:
        """Return the submission with its attachments; where these are refused, without them."""
        if self.refused is not None:
            return submission
        add_notices(self.notices)
        return rules.attach(handout, submission, self.value)


@dataclass(frozen=True)
class ReleaseRecord:
    """What became of one release.

    Attributes
    ----------
    target, team : str
    state : str
        ``published``, ``superseded``, ``disqualified``, ``refused``, ``missing`` or ``failed``.
    cause : str
        Why it is not published, in a sentence.
    measurements : tuple of Measurement
        Every score with its verdict, where it could be measured.
    notices, problems : tuple of str
        What was put right, and all that is wrong.
    files : tuple of str
        What was handed in.
    attachments : tuple of RefusedAttachment
        What came with it and was refused; the release counts without.
    """

    target: str
    team: str
    state: str
    cause: str = ""
    measurements: tuple[Measurement, ...] = ()
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    attachments: tuple[RefusedAttachment, ...] = ()

    def public(self) -> ReleaseRecord:
        """What everybody may see: no cell of what was handed in, and no difference from the data that a team was given."""
        measurements = tuple(
            replace(measured, limit={}, parts={}) for measured in self.measurements
        )
        cause = self.cause if self.state in (DISQUALIFIED, MISSING, SUPERSEDED) else ""
        return ReleaseRecord(self.target, self.team, self.state, cause, measurements)

    @property
    def scores(self) -> Mapping[str, float]:
        """Every score as a number."""
        return {measured.name: float(measured.value) for measured in self.measurements}


@dataclass(frozen=True, eq=False)
class JudgedRelease:
    """A release with what is to be published of it; ``publication`` is None where it may not be.

    ``refusal`` is what is wrong with it, before it was put into words for the record.
    """

    record: ReleaseRecord
    publication: Publication | None = None
    submitted: Files = field(default_factory=dict)
    refusal: Problems | None = None


@dataclass(frozen=True, eq=False)
class PublishedRound:
    """A phase folder, and what became of everybody.

    Attributes
    ----------
    files : Files
        The whole folder: ``targets/NN``, ``answers/NN``, ``attackers``, ``public``.
    records : tuple of ReleaseRecord
        One for every team at least.
    unassigned : tuple of (file, Problems)
        Files that belong to no team of the round, or to no table of their team.
    """

    files: Files
    records: tuple[ReleaseRecord, ...]
    unassigned: tuple[tuple[str, Problems], ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everybody was published with all attachments and no file was left over."""
        published = all(record.state in (PUBLISHED, SUPERSEDED) for record in self.records)
        return (
            published
            and not self.unassigned
            and not any(record.attachments for record in self.records)
        )


@spoken_in("en")
def judge_release(
    prepared: PreparedRound[Any],
    target: str,
    sources: Sequence[Source],
    *,
    with_disqualified: bool = False,
) -> JudgedRelease:
    """Check, measure and publish one release, and check its attachments; where these are refused, it counts without them."""
    attached = [
        source for source in sources if prepared.rules.phase(ANONYMIZE).is_attachment(source.name)
    ]
    release = [source for source in sources if source not in attached]
    attachments = _check_attachments(prepared, team_of(target), attached)
    judged = _judge(prepared, target, release, attachments, with_disqualified=with_disqualified)
    unpublished = judged.record.state == FAILED or (
        judged.record.state == REFUSED and judged.record.measurements
    )
    if attached and attachments.refused is None and unpublished:
        # Perhaps an attachment is to blame: a declared method that fails, a form that is too long once it is published.
        failed = _failed_attachments(attached, judged.record.cause)
        alone = _judge(prepared, target, release, failed, with_disqualified=with_disqualified)
        judged = alone if alone.record.state not in (FAILED, REFUSED) else judged
    record = replace(judged.record, files=tuple(source.name for source in sources))
    return replace(judged, record=record, submitted={**judged.submitted, **_packed(attached)})


def _check_attachments(
    prepared: PreparedRound[Any], team: str, attached: Sequence[Source]
) -> Attachments:
    def read() -> Any:
        check_names(prepared.rules, team, attached)
        return prepared.rules.check_attachments(attached)

    try:
        return Attachments.read(read)
    except Exception as error:  # hostile files must cost no more than themselves
        return _failed_attachments(attached, type(error).__name__)


def _failed_attachments(attached: Sequence[Source], problem: str) -> Attachments:
    problems = Problems.of("release.attachment_failed", attached[0].name, problem=problem)
    return Attachments(refused=problems)


def _packed(sources: Sequence[Source]) -> dict[str, bytes]:
    packed = {}
    for source in sources:
        with suppress(InputError):
            packed[source.name] = source.read_packed()
    return packed


def _judge(
    prepared: PreparedRound[Any],
    target: str,
    sources: Sequence[Source],
    attachments: Attachments,
    *,
    with_disqualified: bool,
) -> JudgedRelease:
    """Judge one release once: with its attachments, or without those that were refused."""
    rules, team, files = prepared.rules, team_of(target), tuple(source.name for source in sources)
    submitted: dict[str, bytes] = {}
    left_out = attachments.refused or ()
    without = (RefusedAttachment.of(attachments.refused),) if attachments.refused else ()

    def out(state: str, cause: str, refusal: Problems | None = None, **more: Any) -> JudgedRelease:
        more = {"notices": summed_up(map(_left_out, left_out), "en"), **more}
        record = ReleaseRecord(target, team, state, cause, files=files, attachments=without, **more)
        return JudgedRelease(record, submitted=submitted, refusal=refusal)

    try:
        submitted |= _packed(sources)
        secrets = prepared.secrets(target)
        try:
            with collect_notices() as notices:
                check_names(rules, team, sources)
                release = rules.read_release(secrets.handout, sources)
                submission = attachments.attach_to(rules, secrets.handout, release)
        except InputError as error:
            problems = tuple(map(_recorded, error.problems))
            return out(REFUSED, problems[0], error.problems, problems=problems)
        utility = rules.measure(secrets.handout, submission).with_grades(
            rules.secret_measures(secrets, submission)
        )
        unchanged = _unchanged(rules, secrets.handout, submission)
        told: dict[str, Any] = {
            "measurements": utility.measurements(),
            "notices": summed_up(
                (*notices, *unchanged, *utility.notices, *map(_left_out, left_out)), "en"
            ),
        }
        if not utility.passes and not with_disqualified:
            return out(DISQUALIFIED, _failed_thresholds(told["measurements"]), **told)
        publication = rules.publish(secrets, submission)
        unreadable = _unreadable(
            prepared, JudgedRelease(ReleaseRecord(target, team, PUBLISHED), publication)
        )
        if unreadable is not None:
            refusal = Problems.of("release.unreadable", files[0], problem=_recorded(unreadable[0]))
            problems = tuple(map(_recorded, refusal))
            return out(REFUSED, problems[0], refusal, problems=problems, **told)
    except Exception as error:  # a step that fails on one team's files must not stop the others
        return out(FAILED, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    state, cause = (
        (PUBLISHED, "")
        if utility.passes
        else (DISQUALIFIED, _failed_thresholds(told["measurements"]))
    )
    return replace(out(state, cause, **told), publication=publication)


def _left_out(problem: Problem) -> Problem:
    """Say of an attachment's problem that it cost the attachment alone."""
    inside = replace(problem, file="") if problem.row is None else problem
    told = {"problem": inside.in_language("en")}
    return Problem("release.attachment_refused", told, problem.file, severity=Severity.NOTICE)


def _unchanged(rules: AnyRulebook, handout: Any, submission: Any) -> tuple[Problem, ...]:
    """Return a notice where a team submitted the data that it was given."""
    released = rules.released(handout, submission)
    if released is None or not rules.is_unchanged(*released):
        return ()
    return (Problem("release.published_unchanged", severity=Severity.NOTICE),)


def _unreadable(prepared: PreparedRound[Any], one: JudgedRelease) -> Problems | None:
    """What is wrong with the published files, read as attackers and scorers will read them.

    A release may be well-formed while what is made of it is not, such as a line too long where all months of a customer stand
    side by side; that must show now and cost its team alone, not later everybody.
    """
    with tempfile.TemporaryDirectory(prefix="kakurenbo-") as folder:
        phase = Path(folder) / "phase"
        write_folder(phase, release_folders(prepared, one))
        (phase / "attackers").symlink_to(
            (prepared.path / "attackers").resolve(), target_is_directory=True
        )
        try:
            prepared.rules.read_target(phase / "targets" / one.record.target, attacker="")
            prepared.rules.read_answer(phase / "answers" / one.record.target)
        except InputError as error:
            return error.problems
    return None


def judge_team(
    prepared: PreparedRound[Any],
    team: str,
    sources: Sequence[Source],
    *,
    with_disqualified: bool,
    unfit: Sequence[tuple[str, Problems]] = (),
) -> list[JudgedRelease]:
    """Every table of a team; where several may be handed in, the last few valid ones count.

    ``unfit`` is what it handed in that is no file to judge: where there is nothing else, that is refused.
    """
    if not sources and unfit:
        few = unfit[:LISTED_PER_FILE]
        told = tuple(_recorded(problem) for _, problems in few for problem in problems)
        if len(unfit) > len(few):
            more = Problems.of("release.more_refused", team, count=len(unfit) - len(few))
            told += (_recorded(more[0]),)
        files = tuple(name for name, _ in few)
        return [
            JudgedRelease(ReleaseRecord(team, team, REFUSED, told[0], problems=told, files=files))
        ]
    if not sources:
        return [JudgedRelease(ReleaseRecord(team, team, MISSING, "nothing was handed in"))]
    phase = prepared.rules.phase(ANONYMIZE)
    entries = entries_of(prepared.rules, team, sources)
    judged = [
        judge_release(prepared, target, files, with_disqualified=with_disqualified)
        for target, files in entries.items()
    ]
    if phase.counts is not Counting.LAST_FEW:
        return judged
    valid = [one.record.target for one in judged if one.record.state == PUBLISHED]
    earlier = set(valid[: -phase.keep])
    return [_superseded(one, phase.keep) if one.record.target in earlier else one for one in judged]


def publish_round(
    rulebook: AnyRulebook,
    preparation: Path,
    submissions: Path,
    *,
    team: str = "",
    with_disqualified: bool = False,
) -> PublishedRound:
    """Everything that was handed in, as a phase folder.

    Parameters
    ----------
    rulebook : Rulebook
    preparation : Path
        The organizer's folder.
    submissions : Path
        A folder per team, ``NN/...``; or files whose names tell their team.
    team : str
        Whose files ``submissions`` are, where neither folders nor names tell.
    with_disqualified : bool
        Publish releases below a threshold too; they stay disqualified.
    """
    prepared: PreparedRound[Any] = PreparedRound(rulebook, preparation)
    by_team, unfit, unassigned = files_by_team(prepared, submissions, team)
    judged: list[JudgedRelease] = []
    for name in prepared.teams:
        sources = by_team.get(name, [])
        strangers = unfit.get(name, [])
        unassigned += tables_of(prepared.rules, name, sources)[1] + (strangers if sources else [])
        judged += judge_team(
            prepared, name, sources, with_disqualified=with_disqualified, unfit=strangers
        )
    records = tuple(one.record for one in judged)
    return PublishedRound(phase_files(prepared, judged), records, tuple(unassigned))


def phase_files(prepared: PreparedRound[Any], judged: Sequence[JudgedRelease]) -> dict[str, bytes]:
    """The phase folder of these releases, committed."""
    files: dict[str, bytes] = {
        f"attackers/{name}": data for name, data in read_folder(prepared.path / "attackers").items()
    }
    for one in judged:
        files |= release_folders(prepared, one)
    return committed_phase(prepared, files, [one.record for one in judged])


def committed_phase(
    prepared: PreparedRound[Any], folders: Mapping[str, bytes], records: Sequence[ReleaseRecord]
) -> dict[str, bytes]:
    """Return the phase folder of these targets, answers and attackers' files, with its records and commitments."""
    files, facts = dict(folders), phase_facts(prepared)
    files |= _readmes(prepared, facts, "public", (CONTEST_FILE, RELEASES_FILE, COMMITMENTS_FILE))
    files[f"public/{CONTEST_FILE}"] = facts.as_bytes()
    files[f"public/{RELEASES_FILE}"] = json_bytes(
        msgspec.to_builtins([record.public() for record in records])
    )
    files[f"answers/{RELEASES_FILE}"] = json_bytes(msgspec.to_builtins(records))
    bound, opening = commit(prepared.seed, files, prepared.rules.scope("publication"))
    return {**files, f"public/{COMMITMENTS_FILE}": bound, f"answers/{OPENING_FILE}": opening}


def release_folders(prepared: PreparedRound[Any], one: JudgedRelease) -> dict[str, bytes]:
    """The part of a phase folder that is about one release: ``targets/NN`` where it is published, and ``answers/NN``."""
    name, publication = one.record.target, one.publication
    files = {f"answers/{name}/{SUBMITTED}/{file}": data for file, data in one.submitted.items()}
    if publication is None:
        return files
    facts, whose = phase_facts(prepared), {"team": one.record.team, "target": name}
    target_facts = facts.of(TARGET, **whose)
    dealt = [part_folder(attacker) for attacker in publication.parts]
    files |= _readmes(
        prepared, target_facts, f"targets/{name}", (CONTEST_FILE, *publication.target, *dealt)
    )
    files[f"targets/{name}/{CONTEST_FILE}"] = target_facts.as_bytes()
    files[f"answers/{name}/{CONTEST_FILE}"] = facts.of(ANSWER, **whose).as_bytes()
    files |= {f"targets/{name}/{file}": data for file, data in publication.target.items()}
    files |= {f"answers/{name}/{file}": data for file, data in publication.answer.items()}
    for attacker, (target_part, answer_part) in publication.parts.items():
        part = part_folder(attacker)
        files |= {f"targets/{name}/{part}/{file}": data for file, data in target_part.items()}
        files |= {f"answers/{name}/{part}/{file}": data for file, data in answer_part.items()}
    return files


def _readmes(
    prepared: PreparedRound[Any], facts: ContestFacts, folder: str, names: Sequence[str]
) -> dict[str, bytes]:
    """The READMEs of a folder; none in a round that an earlier version prepared without them."""
    if not (prepared.path / "public" / README_FILES[0]).exists():
        return {}
    return {
        f"{folder}/{name}": data
        for name, data in readme_files(prepared.rules, facts, names).items()
    }


def phase_facts(prepared: PreparedRound[Any]) -> ContestFacts:
    """The facts of a phase folder, bound to the preparation before it."""
    commitments = read_file(prepared.path / "public" / COMMITMENTS_FILE)
    return prepared.facts.of(PUBLIC, commitments=digest(commitments))


def republished(prepared: PreparedRound[Any], phase: Path) -> list[JudgedRelease]:
    """Every team of the round judged once more, from the submitted files that a phase folder keeps.

    What the folder says of its releases is not asked, but for whether disqualified ones were published, too.
    """
    records = read_records(phase)
    also = any(
        record.state == DISQUALIFIED and (phase / "targets" / record.target).is_dir()
        for record in records
    )
    kept = {
        record.target: record
        for record in read_records(phase, "answers")
        if record.state == REFUSED
    }
    judged: list[JudgedRelease] = []
    for team in prepared.teams:
        folders = sorted(
            phase.glob(f"answers/{team}*/{SUBMITTED}"),
            key=lambda folder: by_number(folder.parent.name),
        )
        sources = [
            source
            for folder in folders
            if team_of(folder.parent.name) == team
            for source in handed_in(folder)[0]
        ]
        found = judge_team(prepared, team, sources, with_disqualified=also) if sources else []
        # Of a link, a folder, or a file that is too large nothing is kept but its name: what was said of it stands.
        there = {one.record.target for one in found}
        found += [
            JudgedRelease(told)
            for target, told in kept.items()
            if team_of(target) == team and target not in there
        ]
        judged += sorted(found, key=lambda one: by_number(one.record.target)) or judge_team(
            prepared, team, [], with_disqualified=also
        )
    return judged


def read_records(phase: Path, part: str = "public") -> tuple[ReleaseRecord, ...]:
    """What became of every release, from a phase folder: as everybody may know it, or from its ``answers``."""
    place = phase / part / RELEASES_FILE
    try:
        return msgspec.convert(read_json(Source.of(place)), tuple[ReleaseRecord, ...])
    except InputError as error:
        raise UsageError(f"{place}: {error.problems[0].sentence}") from error
    except msgspec.ValidationError:
        raise UsageError(
            f"{place}: this is not what publish wrote; give the folder of publish -o"
        ) from None


def tables_of(
    rules: AnyRulebook, team: str, sources: Sequence[Source]
) -> tuple[list[Source], list[tuple[str, Problems]]]:
    """Where a team may hand in several tables: those whose names tell which, and every other file with what is wrong with it.

    A single file needs no name: it is the organizer's word that tells whose it is. Where no name tells a table, all files
    stay together, as one entry that is refused.
    """
    phase = rules.phase(ANONYMIZE)
    if phase.counts is not Counting.LAST_FEW or len(sources) < 2:
        return list(sources), []
    tables: list[Source] = []
    strangers: list[tuple[str, Problems]] = []
    for source in sources:
        name = f"{team}/{source.name}"
        try:
            check_names(rules, team, [source])
        except InputError as error:
            strangers.append((name, error.problems.in_file(name)))
            continue
        if all(pattern.parse(source.name) is None for pattern in phase.files):
            example = rules.release_pattern.name(**{"team": team, "try": "1"})
            strangers.append((name, Problems.of("release.unknown_name", name, example=example)))
        else:
            tables.append(source)
    return tables or list(sources), strangers


def entries_of(rules: AnyRulebook, team: str, sources: Sequence[Source]) -> dict[str, list[Source]]:
    """A team's files by entry: all together, or one entry per number where a team may hand in several tables."""
    phase = rules.phase(ANONYMIZE)
    if phase.counts is not Counting.LAST_FEW:
        return {team: list(sources)}
    entries: dict[str, list[Source]] = {}
    for source in tables_of(rules, team, sources)[0]:
        fields = next(
            (found for pattern in phase.files if (found := pattern.parse(source.name)) is not None),
            {},
        )
        entries.setdefault(f"{team}-{fields['try']}" if fields.get("try") else team, []).append(
            source
        )
    return dict(sorted(entries.items(), key=lambda entry: by_number(entry[0])))


def _superseded(one: JudgedRelease, keep: int) -> JudgedRelease:
    record = replace(one.record, state=SUPERSEDED, cause=f"the last {keep} tables of a team count")
    return JudgedRelease(record, None, one.submitted)


def files_by_team(
    prepared: PreparedRound[Any], submissions: Path, team: str
) -> tuple[
    dict[str, list[Source]], dict[str, list[tuple[str, Problems]]], list[tuple[str, Problems]]
]:
    """Files to judge and everything else by team, then what is nobody's.

    The organizer's word tells whose a file is: folders named for teams, --team, or else the names of files. A team that has a
    folder has handed in what lies there, and nothing else.
    """
    if not submissions.exists():
        raise UsageError(f"{submissions}: there is no such file or folder")
    if team:
        if team not in prepared.teams:
            raise UsageError(
                f"there is no team {team!r} in this round (there are {', '.join(prepared.teams)})"
            )
        sources, strangers = handed_in(submissions)
        return {team: sources}, {team: strangers}, []
    by_team: dict[str, list[Source]] = {}
    unfit: dict[str, list[tuple[str, Problems]]] = {}
    unassigned: list[tuple[str, Problems]] = []
    listed = ", ".join(prepared.teams)
    entries = sorted(submissions.iterdir()) if submissions.is_dir() else [submissions]
    folders = folders_in(entries)
    for entry in [entry for entry in entries if not left_aside(entry.name)]:
        folder = entry.name in folders
        own = folder or entry.name in prepared.teams
        owner, shown = (
            entry.name if own else _team_named(prepared, entry.name),
            printable(entry.name),
        )
        if owner not in prepared.teams:
            unassigned.append((shown, Problems.of("release.unknown_team", shown, teams=listed)))
            continue
        if (
            owner in folders and not folder
        ):  # anybody may have put it there: it must not touch what the team handed in
            unassigned.append((shown, Problems.of("release.beside_folder", shown, team=owner)))
            continue
        sources, strangers = handed_in(entry)
        by_team.setdefault(owner, []).extend(sources)
        inside = [(f"{owner}/{name}" if folder else name, problems) for name, problems in strangers]
        unfit.setdefault(owner, []).extend(
            (name, problems.in_file(name)) for name, problems in inside
        )
    return by_team, unfit, unassigned


def _team_named(prepared: PreparedRound[Any], name: str) -> str:
    for pattern in prepared.rules.phase(ANONYMIZE).files:
        fields = pattern.parse(name)
        if fields and "team" in fields:
            return fields["team"]
    return ""


def check_names(rules: AnyRulebook, team: str, sources: Sequence[Source]) -> None:
    """Raise InputError for files whose names tell another team or round, and for zips where none is accepted."""
    wrong, round_, phase = [], rules.round_name, rules.phase(ANONYMIZE)
    for source in sources:
        if phase.takes_no_zip(source.name):
            example = rules.release_pattern.name(**{"team": team, "round": round_, "try": "1"})
            wrong.append(Problems.of("release.zip", source.name, example=example))
            continue
        for pattern in phase.files:
            fields = pattern.parse(source.name)
            if fields and fields.get("team", team) != team:
                named = fields["team"]
                wrong.append(Problems.of("release.other_team", source.name, named=named, team=team))
                break
            if fields and fields.get("round", round_) != round_:
                named = fields["round"]
                wrong.append(
                    Problems.of("release.other_round", source.name, named=named, round=round_)
                )
                break
    if wrong:
        raise InputError(Problems.join(wrong))


def _recorded(notice: Problem | str) -> str:
    """As it is recorded and committed to: in one language, so that the same bytes are made again anywhere."""
    return notice if isinstance(notice, str) else notice.in_language("en")


def _failed_thresholds(measurements: Sequence[Measurement]) -> str:
    failed = [measured for measured in measurements if measured.passes is False]
    return ", ".join(
        f"{measured.name} is {float(measured.value):.6g}, must be {measured.threshold}"
        for measured in failed
    )
