"""Attach files that teams answer after the anonymization phase, such as questionnaires, to a published phase folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kakurenbo.contest import ANONYMIZE, AnyRulebook, Files, PreparedRound, read_facts
from kakurenbo.contest.commitments import COMMITMENTS_FILE, OPENING_FILE
from kakurenbo.core import LISTED_PER_FILE, InputError, Problems, Source, read_folder
from kakurenbo.core.errors import UsageError
from kakurenbo.rounds.handing_in import handed_in
from kakurenbo.rounds.publishing import (
    PUBLISHED,
    RELEASES_FILE,
    SUBMITTED,
    JudgedRelease,
    RefusedAttachment,
    ReleaseRecord,
    committed_phase,
    files_by_team,
    judge_release,
    phase_facts,
    read_records,
    release_folders,
)


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
    unassigned: tuple[tuple[str, Problems], ...]


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
    if facts is None or facts.commitments != phase_facts(prepared).commitments:
        raise UsageError("usage.other_preparation", phase=str(phase), preparation=str(preparation))
    by_team, unfit, unassigned = files_by_team(prepared, submissions, "")
    records = {record.target: record for record in read_records(phase, "answers")}
    files = read_folder(phase)
    rejected = [
        (team, refusal) for team, found in unfit.items() for refusal in _first_refusals(team, found)
    ]
    attached: list[tuple[str, str]] = []
    notices: list[tuple[str, str]] = []
    for team, sources in by_team.items():
        if not sources:
            continue
        try:
            judged = _judge_again(prepared, phase, records[team], sources)
        except InputError as error:
            rejected.append((team, RefusedAttachment.of(error.problems)))
            continue
        if judged.record.attachments:
            rejected += [(team, refusal) for refusal in judged.record.attachments]
        else:
            files = {name: data for name, data in files.items() if name.split("/")[1] != team}
            files |= release_folders(prepared, judged)
            notices += [
                (team, notice)
                for notice in judged.record.notices
                if notice not in records[team].notices
            ]
            records[team] = judged.record
            attached += [(team, source.name) for source in sources]
    old = (f"public/{COMMITMENTS_FILE}", f"answers/{OPENING_FILE}", f"public/{RELEASES_FILE}")
    kept = {name: data for name, data in files.items() if name not in old}
    whole = committed_phase(prepared, kept, list(records.values()))
    return AttachedRound(whole, tuple(attached), tuple(rejected), tuple(notices), tuple(unassigned))


def _first_refusals(team: str, unfit: Sequence[tuple[str, Problems]]) -> list[RefusedAttachment]:
    """Return the first files that are refused, and how many more there are."""
    listed = [RefusedAttachment.of(problems) for _, problems in unfit[:LISTED_PER_FILE]]
    if (more := len(unfit) - len(listed)) > 0:
        listed.append(RefusedAttachment.of(Problems.of("release.more_refused", team, count=more)))
    return listed


def _judge_again(
    prepared: PreparedRound[Any], phase: Path, record: ReleaseRecord, attachments: Sequence[Source]
) -> JudgedRelease:
    """Judge a published release with other attachments than those it came with."""
    declared = prepared.rules.phase(ANONYMIZE)
    example = declared.attachments[0].name(team=record.team)
    for source in attachments:
        if not declared.is_attachment(source.name):
            raise InputError.of("attach.other_file", source.name, example=example)
    if record.state != PUBLISHED:
        raise InputError.of(
            "attach.not_published", attachments[0].name, team=record.team, state=record.state
        )
    submitted, _ = handed_in(phase / "answers" / record.target / SUBMITTED)
    release = [source for source in submitted if not declared.is_attachment(source.name)]
    judged = judge_release(prepared, record.target, [*release, *attachments])
    if judged.record.state != PUBLISHED:  # another version of this software, or a damaged folder
        raise InputError.of(
            "attach.not_published", attachments[0].name, team=record.team, state=judged.record.state
        )
    return judged
