"""After the reveal: was everything committed to, is nothing else there, and does the seed make the same files again?"""

from __future__ import annotations

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
    digest,
    scope_of,
    verify,
)
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.facts import read_facts
from kakurenbo.contest.folders import Files
from kakurenbo.contest.preparation import PreparedRound
from kakurenbo.contest.rounds import publish_again
from kakurenbo.contest.rulebook import AnyRulebook
from kakurenbo.core import Folder, read_file
from kakurenbo.core.errors import KakurenboError, UsageError

_SCOPES = {"secret": "preparation", "answers": "publication"}
"""What the commitments of a folder are for, by the folder in it that stays secret until the end."""
IN_PHASE, MADE_AGAIN = "phase: ", "made again: "
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
    """One finding per file of the preparation and, where it is given, of the phase folder.

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
    findings = _opened(rulebook, preparation, "secret", published)
    if phase is not None:
        facts = read_facts(phase / "public", rulebook.name)
        before = digest(read_file(preparation / "public" / COMMITMENTS_FILE))
        findings += [
            _in_phase(finding) for finding in _opened(rulebook, phase, "answers", phase_published)
        ]
        if facts is None or facts.commitments != before:
            why = "the phase folder was published from another preparation"
            findings.append(Finding(f"{IN_PHASE}public/contest.json", BROKEN, why))
    if again:
        findings += _made_again(rulebook, preparation, phase)
    return findings


def _opened(
    rulebook: AnyRulebook, folder: Path, secret: str, published: Path | None
) -> list[Finding]:
    files = Folder(folder, with_strays=True)
    for lacking in (
        *([f"public/{COMMITMENTS_FILE}"] if published is None else []),
        f"{secret}/{OPENING_FILE}",
    ):
        if lacking not in files:
            raise UsageError("error.not_whole", at=folder, lacking=lacking)
    facts = read_facts(folder / "public", rulebook.name)
    if facts is None:
        raise UsageError("error.no_contest_json", at=folder)
    own = files.get(f"public/{COMMITMENTS_FILE}")
    commitments = (
        read_file(published) if published is not None else files[f"public/{COMMITMENTS_FILE}"]
    )
    scope = rulebook.under(facts).scope(_SCOPES[secret])
    if scope_of(commitments) != scope:
        place = published or folder / "public" / COMMITMENTS_FILE
        raise UsageError(
            "error.other_scope", at=place, theirs=repr(scope_of(commitments)), ours=repr(scope)
        )
    findings = verify(commitments, files[f"{secret}/{OPENING_FILE}"], _committed(files, secret))
    findings += [Finding(name, NOT_COMMITTED, what) for name, what in files.strays.items()]
    if own is not None and own != commitments:
        findings.append(
            Finding(f"public/{COMMITMENTS_FILE}", CHANGED, "it is not the one that was published")
        )
    return findings


def _committed(files: Folder, secret: str) -> Folder:
    """All files of a folder but for the commitments themselves and what opens them."""
    return files.without(f"public/{COMMITMENTS_FILE}", f"{secret}/{OPENING_FILE}")


def _made_again(rulebook: AnyRulebook, preparation: Path, phase: Path | None) -> list[Finding]:
    prepared: PreparedRound[Any] = PreparedRound(rulebook, preparation)
    facts, files = prepared.facts, Folder(preparation, with_strays=True)
    name = f"{MADE_AGAIN}the preparation"
    try:
        made = prepare(
            prepared.rules,
            prepared.seed,
            facts.teams,
            facts.unranked,
            judges=facts.judges,
            schedule=facts.schedule,
        )
    except KakurenboError as error:
        return [Finding(name, CANNOT_REPEAT, str(error))]
    if made.facts.data != facts.data:
        why = f"made from {facts.data}, but here is {made.facts.data}"
        return [Finding(name, CANNOT_REPEAT, why)]
    again = made.files()
    if made.facts.version != facts.version and again != files:
        why = f"made by version {facts.version} of kakurenbo; install it to compare (this is {made.facts.version})"
        return [Finding(name, CANNOT_REPEAT, why)]
    findings = _compared(MADE_AGAIN, again, files)
    if phase is not None:
        published = publish_again(prepared, phase)
        findings += _compared(MADE_AGAIN + IN_PHASE, published, Folder(phase, with_strays=True))
    return findings


def _compared(prefix: str, made: Files, files: Files) -> list[Finding]:
    states = {name: KEPT if files.get(name) == data else BROKEN for name, data in made.items()}
    findings = [Finding(f"{prefix}{name}", state) for name, state in states.items()]
    return findings + [
        Finding(f"{prefix}{name}", BROKEN, "nothing makes this file")
        for name in files
        if name not in made
    ]


def _in_phase(finding: Finding) -> Finding:
    return Finding(f"{IN_PHASE}{finding.name}", finding.state, finding.why)
