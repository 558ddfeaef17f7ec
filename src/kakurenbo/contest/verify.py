"""After the reveal: was everything committed to, is nothing else there, and does the seed make the same files again?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from kakurenbo.contest.commitments import (
    BROKEN,
    CANNOT_REPEAT,
    CHANGED,
    COMMITMENTS_FILE,
    KEPT,
    NOT_COMMITTED,
    OPENING_FILE,
    Finding,
    check_commitments,
    digest,
    scope_of,
)
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.folders import Files, read_facts
from kakurenbo.contest.preparation import PreparedRound
from kakurenbo.contest.releases import SUBMITTED, ReleaseOutcome, phase_files, read_records
from kakurenbo.contest.results import DISQUALIFIED, REFUSED, by_number, team_of
from kakurenbo.contest.rounds import judge_team
from kakurenbo.contest.rulebook import AnyRulebook
from kakurenbo.contest.submissions import list_submission
from kakurenbo.core import Folder, Message, read_file
from kakurenbo.core.errors import KakurenboError, UsageError

_SCOPES = {"secret": "preparation", "answers": "publication"}
"""What the commitments of a folder are for, by the folder in it that stays secret until the end."""
IN_PHASE, MADE_AGAIN = "phase: ", "made again: "
THE_PREPARATION = "the preparation"
"""What a finding's name begins with where the file lies in the phase folder, and where it was made once more."""


def verify_round(
    rulebook: AnyRulebook,
    preparation: Path,
    phase: Path | None = None,
    *,
    published: Path | None = None,
    phase_published: Path | None = None,
    again: bool = False,
) -> list[Finding]:
    """Return one finding per file of the preparation and, where it is given, of the phase folder.

    Parameters
    ----------
    rulebook : Rulebook
    preparation, phase : Path
        The revealed folders of ``prepare`` and ``publish``.
    published, phase_published : Path or None
        The commitments of preparation and phase as they were published, where they are not taken from the folders.
    again : bool
        Also make everything once more from the revealed seed and compare.
    """
    findings = _check_commitments(rulebook, preparation, "secret", published)
    if phase is not None:
        facts = read_facts(phase / "public", rulebook.name)
        findings += [
            replace(finding, name=f"{IN_PHASE}{finding.name}")
            for finding in _check_commitments(rulebook, phase, "answers", phase_published)
        ]
        commitments = digest(read_file(preparation / "public" / COMMITMENTS_FILE))
        if facts is None or facts.commitments != commitments:
            why = Message("word.other_preparation").stored()
            findings.append(Finding(f"{IN_PHASE}public/contest.json", BROKEN, why))
    if again:
        findings += _make_again(rulebook, preparation, phase)
    return findings


def _check_commitments(
    rulebook: AnyRulebook, folder: Path, secret: str, published: Path | None
) -> list[Finding]:
    """Check every file of a folder against the commitments in it, or against those that were published."""
    files = Folder(folder, with_strays=True)
    commitments_file, opening_file = f"public/{COMMITMENTS_FILE}", f"{secret}/{OPENING_FILE}"
    for name in (*([] if published else [commitments_file]), opening_file):
        if name not in files:
            raise UsageError("error.not_whole", at=folder, lacking=name)
    facts = read_facts(folder / "public", rulebook.name)
    if facts is None:
        raise UsageError("error.no_contest_json", at=folder)
    present = files.get(commitments_file)
    commitments = read_file(published) if published else present
    assert commitments is not None  # its absence was named above
    scope = rulebook.under(facts).scope(_SCOPES[secret])
    place = published or folder / commitments_file
    if not scope_of(commitments):
        raise UsageError("error.no_commitments", at=place)
    if scope_of(commitments) != scope:
        raise UsageError(
            "error.other_scope", at=place, theirs=repr(scope_of(commitments)), ours=repr(scope)
        )
    committed = files.without(commitments_file, opening_file)
    findings = check_commitments(commitments, files[opening_file], committed)
    findings += [Finding(name, NOT_COMMITTED, what) for name, what in files.strays.items()]
    if present not in (None, commitments):
        why = Message("word.other_commitments").stored()
        findings.append(Finding(commitments_file, CHANGED, why))
    return findings


def _make_again(rulebook: AnyRulebook, preparation: Path, phase: Path | None) -> list[Finding]:
    """Make the folders once more from the revealed seed and compare them file by file."""
    prepared: PreparedRound[Any] = PreparedRound(rulebook, preparation)
    facts, files = prepared.facts, Folder(preparation, with_strays=True)
    name = f"{MADE_AGAIN}{THE_PREPARATION}"
    try:
        again = prepare(
            prepared.rules,
            prepared.seed,
            facts.teams,
            facts.unranked,
            judges=facts.judges,
            schedule=facts.schedule,
        )
    except KakurenboError as error:
        return [Finding(name, CANNOT_REPEAT, error.message.stored())]
    if again.facts.data != facts.data:
        data = {"theirs": str(facts.data), "ours": str(again.facts.data)}
        why = Message("word.other_data", data).stored()
        return [Finding(name, CANNOT_REPEAT, why)]
    if again.facts.version != facts.version and again.files() != files:
        versions = {"theirs": facts.version, "ours": again.facts.version}
        why = Message("word.other_version", versions).stored()
        return [Finding(name, CANNOT_REPEAT, why)]
    findings = _compare(MADE_AGAIN, again.files(), files)
    if phase is not None:
        published = publish_again(prepared, phase)
        findings += _compare(MADE_AGAIN + IN_PHASE, published, Folder(phase, with_strays=True))
    return findings


def publish_again(prepared: PreparedRound[Any], phase: Path) -> Files:
    """Return the phase folder once more, from the submitted files that it keeps.

    What the folder says of its releases is not used, but for whether disqualified ones were published too.
    """
    with_disqualified = any(
        record.state == DISQUALIFIED and (phase / "targets" / record.target).is_dir()
        for record in read_records(phase)
    )
    # Of a link, a folder or a file that is too large only the name is kept: its record stays.
    refused = [record for record in read_records(phase, "answers") if record.state == REFUSED]
    folders = [path for path in phase.glob(f"answers/*/{SUBMITTED}") if path.is_dir()]
    folders.sort(key=lambda path: by_number(path.parent.name))
    outcomes: list[ReleaseOutcome] = []
    for team in prepared.teams:
        listed = [list_submission(path)[0] for path in folders if team_of(path.parent.name) == team]
        sources = [source for part in listed for source in part]
        judged: list[ReleaseOutcome] = []
        if sources:
            judged = judge_team(prepared, team, sources, with_disqualified=with_disqualified)
        known = {outcome.record.target for outcome in judged}
        judged += [
            ReleaseOutcome(record)
            for record in refused
            if record.team == team and record.target not in known
        ]
        judged.sort(key=lambda outcome: by_number(outcome.record.target))
        outcomes += judged or judge_team(prepared, team, [])
    return phase_files(prepared, outcomes)


def _compare(prefix: str, made: Files, files: Files) -> list[Finding]:
    findings = [
        Finding(f"{prefix}{name}", KEPT if name in files and files[name] == data else BROKEN)
        for name, data in made.items()
    ]
    extra = [name for name in files if name not in made]
    why = Message("word.nothing_makes_it").stored()
    return findings + [Finding(f"{prefix}{name}", BROKEN, why) for name in extra]
