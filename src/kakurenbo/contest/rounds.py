"""Whole rounds by folders: publish every submission, score all guesses, attach late files.

A phase folder holds ``targets/NN`` and ``attackers`` for the attackers, ``answers/NN`` for the judge (with the submitted
files, so that everything can be made again), and ``public`` with commitments and what became of every release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest.commitments import COMMITMENTS_FILE, OPENING_FILE, commit
from kakurenbo.contest.engine import (
    SUBMITTED,
    GuessesOutcome,
    PublishedTargets,
    ReleaseOutcome,
    judge_guesses,
    judge_release,
    judge_sample_attack,
    round_readmes,
    round_results,
)
from kakurenbo.contest.folders import CONTEST_FILE, ContestFacts, Files, read_facts
from kakurenbo.contest.measure import Credit
from kakurenbo.contest.phases import ANONYMIZE, ATTACK, Counting
from kakurenbo.contest.preparation import PreparedRound
from kakurenbo.contest.records import (
    Refusal,
    RefusedAttachment,
    ReleaseRecord,
    limit_refusals,
    recorded,
)
from kakurenbo.contest.results import (
    DISQUALIFIED,
    MISSING,
    PUBLISHED,
    REFUSED,
    SUPERSEDED,
    RoundResults,
    by_number,
    team_of,
)
from kakurenbo.contest.rulebook import AnyRulebook
from kakurenbo.contest.submissions import (
    RefusedFile,
    SubmittedFiles,
    entries_of,
    files_by_team,
    folders_in,
    is_ignored,
    list_submission,
    named_tables,
    printable_name,
)
from kakurenbo.core import (
    LISTED_PER_FILE,
    InputError,
    Problem,
    Problems,
    Source,
    json_bytes,
    read_folder,
    read_json,
)
from kakurenbo.core.errors import UsageError

RELEASES_FILE = "releases.json"
_MAX_DIGITS = 6  # of the number of a submission

# -- publish -------------------------------------------------------------------------------------------------------------


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
    unassigned: tuple[RefusedFile, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everybody was published with all attachments and no file was left over."""
        published = all(record.state in (PUBLISHED, SUPERSEDED) for record in self.records)
        refused = any(record.attachments for record in self.records)
        return published and not self.unassigned and not refused


def publish_round(
    rulebook: AnyRulebook,
    preparation: Path,
    submissions: Path,
    *,
    team: str = "",
    with_disqualified: bool = False,
) -> PublishedRound:
    """Judge everything that was submitted and return the phase folder.

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
        Publish releases below a threshold too; they stay out of the rankings.
    """
    prepared: PreparedRound[Any] = PreparedRound(rulebook, preparation)
    by_team, unassigned = files_by_team(prepared.rules, prepared.teams, submissions, team)
    outcomes: list[ReleaseOutcome] = []
    for name in prepared.teams:
        files = by_team.get(name, SubmittedFiles())
        unassigned += named_tables(prepared.rules, name, files.sources)[1]
        unassigned += files.refused if files.sources else []
        outcomes += judge_team(prepared, name, files, with_disqualified=with_disqualified)
    records = tuple(outcome.record for outcome in outcomes)
    return PublishedRound(phase_files(prepared, outcomes), records, tuple(unassigned))


def judge_team(
    prepared: PreparedRound[Any],
    team: str,
    files: SubmittedFiles,
    *,
    with_disqualified: bool = False,
) -> list[ReleaseOutcome]:
    """Judge every table of a team; where several may be submitted, the last few valid ones count."""
    if not files.sources and files.refused:
        return [ReleaseOutcome(_nothing_to_judge(team, files.refused))]
    if not files.sources:
        missing = ReleaseRecord(team, team, MISSING, "nothing was handed in")
        return [ReleaseOutcome(missing)]
    phase = prepared.rules.phase(ANONYMIZE)
    outcomes = [
        judge_release(prepared, target, sources, with_disqualified=with_disqualified)
        for target, sources in entries_of(prepared.rules, team, files.sources).items()
    ]
    if phase.counts is not Counting.LAST_FEW:
        return outcomes
    valid = [outcome for outcome in outcomes if outcome.record.state == PUBLISHED]
    earlier = valid[: -phase.keep]
    return [
        _superseded(outcome, phase.keep) if outcome in earlier else outcome for outcome in outcomes
    ]


def _nothing_to_judge(team: str, refused: Sequence[RefusedFile]) -> ReleaseRecord:
    listed = refused[:LISTED_PER_FILE]
    lines = recorded(problem for _, problems in listed for problem in problems)
    if (more := len(refused) - len(listed)) > 0:
        lines += recorded(Problems.of("release.more_refused", team, count=more))
    files = tuple(name for name, _ in listed)
    return ReleaseRecord(team, team, REFUSED, lines[0], problems=lines, files=files)


def _superseded(outcome: ReleaseOutcome, keep: int) -> ReleaseOutcome:
    cause = f"the last {keep} tables of a team count"
    record = replace(outcome.record, state=SUPERSEDED, cause=cause)
    return ReleaseOutcome(record, submitted=outcome.submitted)


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
    files, facts = dict(folders), prepared.phase_facts
    names = (CONTEST_FILE, RELEASES_FILE, COMMITMENTS_FILE)
    readmes = round_readmes(prepared, facts, names)
    files |= {f"public/{name}": data for name, data in readmes.items()}
    files[f"public/{CONTEST_FILE}"] = facts.as_bytes()
    for folder, shown in (
        ("public", [record.public() for record in records]),
        ("answers", list(records)),
    ):
        files[f"{folder}/{RELEASES_FILE}"] = json_bytes(msgspec.to_builtins(shown))
    commitments, opening = commit(prepared.seed, files, prepared.rules.scope("publication"))
    return {
        **files,
        f"public/{COMMITMENTS_FILE}": commitments,
        f"answers/{OPENING_FILE}": opening,
    }


def read_records(phase: Path, part: str = "public") -> tuple[ReleaseRecord, ...]:
    """Read what became of every release from a phase folder: from its ``public`` part or its ``answers``."""
    place = phase / part / RELEASES_FILE
    try:
        return msgspec.convert(read_json(Source.of(place)), tuple[ReleaseRecord, ...])
    except InputError as error:
        raise UsageError(error.problems[0].statement, at=place) from error
    except msgspec.ValidationError:
        raise UsageError("error.not_publish", at=place) from None


def publish_again(prepared: PreparedRound[Any], phase: Path) -> Files:
    """Return the phase folder once more, from the submitted files that it keeps.

    What the folder says of its releases is not used, but for whether disqualified ones were published too.
    """
    records = read_records(phase)
    with_disqualified = any(
        record.state == DISQUALIFIED and (phase / "targets" / record.target).is_dir()
        for record in records
    )
    # Of a link, a folder or a file that is too large only the name is kept: its record stays.
    refused = [record for record in read_records(phase, "answers") if record.state == REFUSED]
    outcomes: list[ReleaseOutcome] = []
    for team in prepared.teams:
        folders = sorted(
            (
                folder
                for folder in phase.glob(f"answers/{team}*/{SUBMITTED}")
                if team_of(folder.parent.name) == team
            ),
            key=lambda folder: by_number(folder.parent.name),
        )
        sources = [source for folder in folders for source in list_submission(folder)[0]]
        files = SubmittedFiles(sources)
        judged: list[ReleaseOutcome] = []
        if sources:
            judged = judge_team(prepared, team, files, with_disqualified=with_disqualified)
        known = {outcome.record.target for outcome in judged}
        judged += [
            ReleaseOutcome(record)
            for record in refused
            if team_of(record.target) == team and record.target not in known
        ]
        judged.sort(key=lambda outcome: by_number(outcome.record.target))
        outcomes += judged or judge_team(prepared, team, files)
    return phase_files(prepared, outcomes)


# -- attach --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AttachedRound:
    """A phase folder with attachments added.

    Attributes
    ----------
    files : Files
        The whole folder.
    attached : tuple of (target, file)
    refused : tuple of (team, RefusedAttachment)
    notices : tuple of (target, str)
        What is doubtful about attached files, such as claims that the release does not bear out.
    unassigned : tuple of (file, Problems)
        Files that belong to no team of the round.
    """

    files: Files
    attached: tuple[tuple[str, str], ...]
    refused: tuple[tuple[str, RefusedAttachment], ...]
    notices: tuple[tuple[str, str], ...]
    unassigned: tuple[RefusedFile, ...]


def attach_to_round(
    rulebook: AnyRulebook, preparation: Path, phase: Path, submissions: Path
) -> AttachedRound:
    """Return a phase folder with late attachments added; releases, answers and scores stay as they were judged.

    Parameters
    ----------
    preparation, phase : Path
        The folders that ``prepare`` and ``publish`` wrote.
    submissions : Path
        A folder per team, ``NN/...``, or files whose names tell their team. A later attachment replaces an earlier one.
    """
    prepared: PreparedRound[Any] = PreparedRound(rulebook, preparation)
    facts = read_facts(phase / "public", rulebook.name)
    if facts is None or facts.commitments != prepared.phase_facts.commitments:
        raise UsageError("usage.other_preparation", phase=str(phase), preparation=str(preparation))
    by_team, unassigned = files_by_team(prepared.rules, prepared.teams, submissions)
    records = {record.target: record for record in read_records(phase, "answers")}
    files = read_folder(phase)
    refused = [
        (team, refusal)
        for team, submitted in by_team.items()
        for refusal in _first_refusals(team, submitted.refused)
    ]
    attached: list[tuple[str, str]] = []
    notices: list[tuple[str, str]] = []
    for team, submitted in by_team.items():
        if not submitted.sources:
            continue
        try:
            outcome = _judge_again(prepared, phase, records[team], submitted.sources)
        except InputError as error:
            refused.append((team, RefusedAttachment.of(error.problems)))
            continue
        if outcome.record.attachments:
            refused += [(team, refusal) for refusal in outcome.record.attachments]
            continue
        files = {name: data for name, data in files.items() if name.split("/")[1] != team}
        files |= outcome.files
        known = records[team].notices
        notices += [(team, notice) for notice in outcome.record.notices if notice not in known]
        records[team] = outcome.record
        attached += [(team, source.name) for source in submitted.sources]
    old = (f"public/{COMMITMENTS_FILE}", f"answers/{OPENING_FILE}", f"public/{RELEASES_FILE}")
    kept = {name: data for name, data in files.items() if name not in old}
    whole = committed_phase(prepared, kept, list(records.values()))
    return AttachedRound(whole, tuple(attached), tuple(refused), tuple(notices), tuple(unassigned))


def _first_refusals(team: str, refused: Sequence[RefusedFile]) -> list[RefusedAttachment]:
    """Return the first files that are refused, and how many more there are."""
    listed = [RefusedAttachment.of(problems) for _, problems in refused[:LISTED_PER_FILE]]
    if (more := len(refused) - len(listed)) > 0:
        listed.append(RefusedAttachment.of(Problems.of("release.more_refused", team, count=more)))
    return listed


def _judge_again(
    prepared: PreparedRound[Any], phase: Path, record: ReleaseRecord, attachments: Sequence[Source]
) -> ReleaseOutcome:
    """Judge a published release with other attachments than those it came with."""
    declared = prepared.rules.phase(ANONYMIZE)
    example = declared.attachments[0].name(team=record.team)
    for source in attachments:
        if not declared.is_attachment(source.name):
            raise InputError.of("attach.other_file", source.name, example=example)
    outcome = ReleaseOutcome(record)
    if record.state == PUBLISHED:
        submitted, _ = list_submission(phase / "answers" / record.target / SUBMITTED)
        release = [source for source in submitted if not declared.is_attachment(source.name)]
        outcome = judge_release(prepared, record.target, [*release, *attachments])
    if outcome.record.state != PUBLISHED:
        state = outcome.record.state
        name = attachments[0].name
        raise InputError.of("attach.not_published", name, team=record.team, state=state)
    return outcome


# -- score ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ScoredRound:
    """The results of a round.

    Attributes
    ----------
    facts : ContestFacts
    results : RoundResults
    records : tuple of ReleaseRecord
        What became of every release.
    refused : tuple of Refusal
        Guess files that were refused.
    missing : tuple of (attacker, target)
        Pairs without a valid guess: of every team of the round, but for unranked ones that submitted nothing.
    notices : tuple of Problem
    failed : tuple of Refusal
        Targets on which an organizers' attack failed: that figure is missing, and no team's score.
    """

    facts: ContestFacts
    results: RoundResults
    records: tuple[ReleaseRecord, ...]
    refused: tuple[Refusal, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    notices: tuple[Problem, ...] = ()
    failed: tuple[Refusal, ...] = ()


def score_round(
    rulebook: AnyRulebook, phase: Path, guesses: Path, *, sample_attacks: bool = True
) -> ScoredRound:
    """Score all guesses of a round and run the organizers' attacks.

    Parameters
    ----------
    rulebook : Rulebook
    phase : Path
        The folder that ``publish`` wrote.
    guesses : Path
        A folder per attacker, ``NN/...``; or files whose names tell their attacker. In an attacker's folder, folders with
        numbers for names are successive submissions, each read for itself; of several guesses at a target that counts
        which the rulebook says, and of the latest that of the highest number.
    sample_attacks : bool
        Also run the organizers' attacks.
    """
    facts = read_facts(phase / "public", rulebook.name) if phase.is_dir() else None
    if facts is None or not facts.commitments:
        raise UsageError("error.no_phase", at=phase)
    records = read_records(phase)
    targets = open_targets(rulebook, phase, facts, records)
    submissions, refused = _submissions_by_attacker(targets.rules, facts.teams, guesses)
    outcomes = {
        attacker: _judge_submissions(targets, attacker, submitted)
        for attacker, submitted in submissions.items()
    }
    names = targets.rules.sample_attacks if sample_attacks else ()
    samples = {name: judge_sample_attack(targets, name) for name in names}
    scores: dict[str, Sequence[tuple[str, Credit]]] = {
        attacker: outcome.pairs for attacker, outcome in {**outcomes, **samples}.items()
    }
    results = round_results(
        targets.rules, records, scores, targets=targets, samples=samples, excluded=facts.unranked
    )
    for outcome in outcomes.values():
        refused += outcome.refused
    return ScoredRound(
        facts=facts,
        results=results,
        records=records,
        refused=tuple(limit_refusals(refused)),
        missing=_missing_guesses(facts, records, targets, outcomes, results),
        notices=tuple(notice for outcome in outcomes.values() for notice in outcome.notices),
        failed=tuple(refusal for outcome in samples.values() for refusal in outcome.refused),
    )


def open_targets(
    rulebook: AnyRulebook, phase: Path, facts: ContestFacts, records: Sequence[ReleaseRecord]
) -> PublishedTargets:
    """Open the published targets of a phase folder; a damaged one is named at once."""
    names = [record.target for record in records if (phase / "targets" / record.target).is_dir()]
    rules = rulebook.under(facts)
    targets = PublishedTargets.in_phase(rules, phase, sorted(names, key=by_number), facts=facts)
    for name in targets:
        targets[name]
    return targets


def _missing_guesses(
    facts: ContestFacts,
    records: Sequence[ReleaseRecord],
    targets: PublishedTargets,
    outcomes: Mapping[str, GuessesOutcome],
    results: RoundResults,
) -> tuple[tuple[str, str], ...]:
    # A judge draws data for places, too, that no team takes.
    ranked = {team_of(record.target) for record in records} - set(facts.unranked)
    return tuple(
        (attacker, target)
        for attacker in facts.teams
        if attacker in outcomes or attacker in ranked
        for target in targets
        if team_of(target) != attacker and results.credit(target, attacker) is None
    )


@dataclass(frozen=True, eq=False)
class _Submission:
    """Guess files that were submitted together, and the folder they lie in; none for files side by side."""

    folder: str
    sources: list[Source] = field(default_factory=list)


def _judge_submissions(
    targets: PublishedTargets, attacker: str, submissions: Sequence[_Submission]
) -> GuessesOutcome:
    """Score all submissions of one attacker, one after the other."""
    total = GuessesOutcome()
    limit, counts = targets.rules.phase(ATTACK).tries.per_target, Counter[str]()
    for submission in submissions:
        outcome = judge_guesses(targets, attacker, submission.sources)
        scores = []
        refused: list[Refusal] = []
        for guess in outcome.scores:
            counts[guess.target] += 1
            if limit is None or counts[guess.target] <= limit:
                scores.append(guess)
                continue
            problems = Problems.of("guess.too_many", guess.file, limit=limit, target=guess.target)
            refused.append(Refusal.of(attacker, guess.file, problems))
        refused += outcome.refused
        folder = submission.folder
        total = GuessesOutcome(
            (*total.scores, *scores),
            (*total.refused, *(refusal.in_folder(folder) for refusal in refused)),
            (*total.notices, *(_in_folder(notice, folder) for notice in outcome.notices)),
        )
    return total


def _in_folder(problem: Problem, folder: str) -> Problem:
    return replace(problem, file=f"{folder}/{problem.file}") if folder else problem


def _submissions_by_attacker(
    rules: AnyRulebook, teams: Sequence[str], guesses: Path
) -> tuple[dict[str, list[_Submission]], list[Refusal]]:
    """Return the submissions of each attacker: by folders named for attackers, or else by the names of files.

    An attacker that has a folder has submitted what lies there, and nothing else.
    """
    if not guesses.is_dir():
        raise UsageError("error.no_guesses", at=guesses)
    by_attacker: dict[str, list[_Submission]] = {}
    refused: list[Refusal] = []
    entries = [entry for entry in sorted(guesses.iterdir()) if not is_ignored(entry.name)]
    folders = folders_in(entries)
    for entry in entries:
        is_folder, name = entry.name in folders, printable_name(entry.name)
        parsed = rules.guess_pattern.parse(entry.name) or {}
        fields = {"attacker": entry.name} if is_folder else parsed
        attacker = fields.get("attacker", fields.get("team", ""))
        problems = None
        if entry.name in teams and not is_folder:
            problems = Problems.of("guess.no_folder", name, team=entry.name)
        elif attacker not in teams:
            problems = Problems.of("guess.unknown_attacker", name, teams=", ".join(teams))
        elif attacker in folders and not is_folder:
            # Anybody may have put the file there: it must not touch what the team submitted.
            problems = Problems.of("guess.beside_folder", name, team=attacker)
        if problems is not None:
            refused.append(Refusal.of("", name, problems))
            continue
        submissions, rejected = _list_submissions(entry, attacker, attacker if is_folder else "")
        refused += rejected
        if not rejected and not any(submission.sources for submission in submissions):
            continue  # an empty folder makes no attacker
        if is_folder:
            by_attacker[attacker] = submissions
            continue
        files = by_attacker.setdefault(attacker, [_Submission("")])[0]
        files.sources.extend(source for submission in submissions for source in submission.sources)
    return dict(sorted(by_attacker.items(), key=lambda item: by_number(item[0]))), refused


def _list_submissions(
    place: Path, attacker: str, folder: str
) -> tuple[list[_Submission], list[Refusal]]:
    """Return the submissions in an attacker's folder, or the one file, in order, and what is refused."""
    sources, rejected = list_submission(place)
    numbered = sorted(
        folders_in(place / name for name, _ in rejected if _is_number(name)),
        key=lambda name: (int(name), name),
    )
    submissions = [_Submission(folder, sources)] if sources or not numbered else []
    refused = [
        Refusal.of(attacker, name, problems).in_folder(folder)
        for name, problems in rejected
        if name not in numbered
    ]
    for number in numbered:
        sources, rejected = list_submission(place / number)
        inside = f"{folder}/{number}"
        submissions.append(_Submission(inside, sources))
        refused += [
            Refusal.of(attacker, name, problems).in_folder(inside) for name, problems in rejected
        ]
    return submissions, refused


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= _MAX_DIGITS
