"""Whole rounds by folders: publish every submission, score all guesses, attach late files.

A phase folder holds ``targets/NN`` and ``attackers`` for the attackers, ``answers/NN`` for the judge (with the submitted
files, so that everything can be made again), and ``public`` with commitments and what became of every release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kakurenbo.contest.commitments import COMMITMENTS_FILE, OPENING_FILE
from kakurenbo.contest.engine import (
    GuessesOutcome,
    judge_guesses,
    judge_release,
    judge_sample_attack,
    round_results,
)
from kakurenbo.contest.folders import ContestFacts, Files, read_facts
from kakurenbo.contest.phases import ANONYMIZE, ATTACK, Counting
from kakurenbo.contest.preparation import PreparedRound, PublishedTargets
from kakurenbo.contest.records import (
    Refusal,
    RefusedAttachment,
    ReleaseRecord,
    limit_refusals,
    recorded,
)
from kakurenbo.contest.releases import (
    SUBMITTED,
    ReleaseOutcome,
    committed_phase,
    phase_files,
    read_records,
)
from kakurenbo.contest.results import (
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
    GuessFiles,
    RefusedFile,
    SubmittedFiles,
    entries_of,
    files_by_team,
    guesses_by_attacker,
    list_submission,
    named_tables,
)
from kakurenbo.core import (
    LISTED_PER_FILE,
    InputError,
    Message,
    Problem,
    Problems,
    Source,
    read_folder,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import with_message

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
        sources, refused = by_team.get(name, SubmittedFiles([], []))
        unassigned += named_tables(prepared.rules, name, sources)[1]
        unassigned += refused if sources else []
        outcomes += judge_team(
            prepared, name, sources, refused, with_disqualified=with_disqualified
        )
    records = tuple(outcome.record for outcome in outcomes)
    return PublishedRound(phase_files(prepared, outcomes), records, tuple(unassigned))


def judge_team(
    prepared: PreparedRound[Any],
    team: str,
    sources: Sequence[Source],
    refused: Sequence[RefusedFile] = (),
    *,
    with_disqualified: bool = False,
) -> list[ReleaseOutcome]:
    """Judge every table of a team; where several may be submitted, the last few valid ones count.

    ``refused`` are files that were refused before they were read.
    """
    if not sources and not refused:
        return [
            ReleaseOutcome(
                ReleaseRecord(team, team, MISSING, Message("word.nothing_handed_in").stored())
            )
        ]
    if not sources:
        lines = tuple(line for problems in _first(team, refused) for line in recorded(problems))
        files = tuple(name for name, _ in refused[:LISTED_PER_FILE])
        record = ReleaseRecord(team, team, REFUSED, lines[0], problems=lines, files=files)
        return [ReleaseOutcome(record)]
    outcomes = [
        judge_release(prepared, target, files, with_disqualified=with_disqualified)
        for target, files in entries_of(prepared.rules, team, sources).items()
    ]
    phase = prepared.rules.phase(ANONYMIZE)
    if phase.counts is Counting.LAST_FEW:
        valid = [outcome for outcome in outcomes if outcome.record.state == PUBLISHED]
        for earlier in valid[: -phase.keep]:
            cause = Message("word.last_tables", {"keep": phase.keep}).stored()
            record = replace(earlier.record, state=SUPERSEDED, cause=cause)
            place = outcomes.index(earlier)
            outcomes[place] = ReleaseOutcome(record, submitted=earlier.submitted)
    return outcomes


def _first(team: str, refused: Sequence[RefusedFile]) -> list[Problems]:
    """Return the problems of the first files that are refused, and how many more there are."""
    listed = [problems for _, problems in refused[:LISTED_PER_FILE]]
    if (more := len(refused) - len(listed)) > 0:
        listed.append(Problems.of("release.more_refused", team, count=more))
    return listed


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
    refused: list[tuple[str, RefusedAttachment]] = []
    attached: list[tuple[str, str]] = []
    notices: list[tuple[str, str]] = []
    for team, (sources, unfit) in by_team.items():
        refused += [(team, RefusedAttachment.of(problems)) for problems in _first(team, unfit)]
        tables = entries_of(prepared.rules, team, sources) if sources else {}
        for target, attachments in tables.items():
            known = records.get(target, ReleaseRecord(target, team, MISSING))
            try:
                outcome = _attach(prepared, phase, known, attachments)
            except InputError as error:
                refused.append((target, RefusedAttachment.of(error.problems)))
                continue
            if outcome.record.attachments:
                refused += [(target, refusal) for refusal in outcome.record.attachments]
                continue
            files = {name: data for name, data in files.items() if name.split("/")[1] != target}
            files |= outcome.files
            late = [notice for notice in outcome.record.notices if notice not in known.notices]
            messages = outcome.record.messages
            notices += [(target, with_message(notice, messages)) for notice in late]
            records[target] = outcome.record
            attached += [(target, source.name) for source in attachments]
    for name in (f"public/{COMMITMENTS_FILE}", f"answers/{OPENING_FILE}"):
        files.pop(name, None)
    whole = committed_phase(prepared, files, list(records.values()))
    return AttachedRound(whole, tuple(attached), tuple(refused), tuple(notices), tuple(unassigned))


def _attach(
    prepared: PreparedRound[Any], phase: Path, record: ReleaseRecord, attachments: Sequence[Source]
) -> ReleaseOutcome:
    """Judge a published release with other attachments than those it came with."""
    declared = prepared.rules.phase(ANONYMIZE)
    for source in attachments:
        if not declared.is_attachment(source.name):
            example = declared.attachments[0].name(team=record.team)
            raise InputError.of("attach.other_file", source.name, example=example)
    outcome = ReleaseOutcome(record)
    if record.state == PUBLISHED:
        submitted, _ = list_submission(phase / "answers" / record.target / SUBMITTED)
        release = [source for source in submitted if not declared.is_attachment(source.name)]
        outcome = judge_release(prepared, record.target, [*release, *attachments])
    if outcome.record.state != PUBLISHED:
        shown = {"team": record.team, "state": outcome.record.state}
        raise InputError.of("attach.not_published", attachments[0].name, **shown)
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
    names = [record.target for record in records if (phase / "targets" / record.target).is_dir()]
    ordered = sorted(names, key=by_number)
    targets = PublishedTargets.in_phase(rulebook.under(facts), phase, ordered, facts=facts)
    for name in targets:
        targets[name]  # a damaged one is named at once
    submissions, refused = guesses_by_attacker(targets.rules, facts.teams, guesses)
    outcomes = {
        attacker: _judge_submissions(targets, attacker, submitted)
        for attacker, submitted in submissions.items()
    }
    played = targets.rules.sample_attacks if sample_attacks else ()
    samples = {name: judge_sample_attack(targets, name) for name in played}
    results = round_results(
        targets.rules,
        records,
        {attacker: outcome.pairs for attacker, outcome in {**outcomes, **samples}.items()},
        targets=targets,
        samples=samples,
        excluded=facts.unranked,
    )
    for outcome in outcomes.values():
        refused += outcome.refused
    # A judge draws data for places, too, that no team takes.
    ranked = {team_of(record.target) for record in records} - set(facts.unranked)
    expected = [team for team in facts.teams if team in outcomes or team in ranked]
    return ScoredRound(
        facts=facts,
        results=results,
        records=records,
        refused=tuple(limit_refusals(refused)),
        missing=tuple(
            (attacker, target)
            for attacker in expected
            for target in targets
            if team_of(target) != attacker and results.credit(target, attacker) is None
        ),
        notices=tuple(notice for outcome in outcomes.values() for notice in outcome.notices),
        failed=tuple(refusal for outcome in samples.values() for refusal in outcome.refused),
    )


def _judge_submissions(
    targets: PublishedTargets, attacker: str, submissions: Sequence[GuessFiles]
) -> GuessesOutcome:
    """Score all submissions of one attacker, one after the other."""
    total = GuessesOutcome()
    limit, counts = targets.rules.phase(ATTACK).tries.per_target, Counter[str]()
    for folder, sources in submissions:
        outcome = judge_guesses(targets, attacker, sources)
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
        notices = outcome.notices
        if folder:
            notices = tuple(replace(notice, file=f"{folder}/{notice.file}") for notice in notices)
        total = GuessesOutcome(
            (*total.scores, *scores),
            (*total.refused, *(refusal.in_folder(folder) for refusal in refused)),
            (*total.notices, *notices),
        )
    return total
