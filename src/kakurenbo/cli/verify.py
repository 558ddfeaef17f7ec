"""``verify R DIR``: after the reveal, does everything match what was committed to before the contest?"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from kakurenbo import commitments
from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, AnyRulebook, json_option, rulebook_verb
from kakurenbo.errors import UsageError


def _verify(rulebook: AnyRulebook, folder: Path, published: Path | None, again: bool, as_json: bool) -> int:
    committed = _read(published or folder / commitments.COMMITMENTS_FILE)
    opening = _read(folder / commitments.OPENING_FILE)
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    findings = commitments.verify(committed, opening, files)
    if again:
        findings += _prepared_again(rulebook, commitments.revealed_seed(opening), files)
    kept = all(finding.state == "kept" for finding in findings)
    if as_json:
        output.print_json({"verified": kept, "findings": [dataclasses.asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            output.console().print(f"{finding.state:12}  {finding.name}")
        output.console().print("every commitment was kept" if kept else "NOT every commitment was kept")
    return output.DONE if kept else output.FAILS_RULES


def _prepared_again(rulebook: AnyRulebook, seed: int, files: dict[str, bytes]) -> list[commitments.Finding]:
    """Prepare the round once more from the revealed seed: the same bytes must come out."""
    try:
        facts: dict[str, Any] = json.loads(files["public/contest.json"])
        made = rulebook.of_contest(facts).prepare(seed, facts["teams"]).files()
    except (KeyError, ValueError, TypeError) as error:
        raise UsageError(f"public/contest.json does not tell how the round was prepared ({error})") from error
    return [
        commitments.Finding(f"prepared again: {name}", "kept" if files.get(name) == data else "broken")
        for name, data in made.items()
    ]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path}: cannot be read ({error.strerror}); give the folder that prepare wrote, with its secrets"
        ) from error


def _parameters() -> list[click.Parameter]:
    return [
        click.Argument(["folder"], metavar="DIR", type=PATH),
        click.Option(
            ["--commitments", "published"], type=PATH, help="The commitments as they were published, if not in DIR/public."
        ),
        click.Option(["--again"], is_flag=True, help="Also prepare everything once more from the revealed seed and compare."),
        json_option,
    ]


verify = rulebook_verb("verify", _verify, _parameters, "Check revealed secrets against the commitments.")
