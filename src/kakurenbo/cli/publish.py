"""``publish R PREPARATION SUBMISSIONS -o PHASE``: what attackers get of every release, and the secret answers beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from kakurenbo.cli import output
from kakurenbo.cli.common import (
    json_option,
    option,
    out_folder_option,
    path_argument,
    rulebook_verb,
)
from kakurenbo.contest import AnyRulebook, team_of
from kakurenbo.contest.commitments import COMMITMENTS_FILE, digest
from kakurenbo.contest.records import (
    PUBLISHED,
    STATES,
    SUPERSEDED,
    Refusal,
    RefusedAttachment,
    limit_refusals,
)
from kakurenbo.contest.rounds import PublishedRound, publish_round
from kakurenbo.core import check_free, write_folder
from kakurenbo.core.messages import retold, text


def _publish(
    rulebook: AnyRulebook,
    preparation: Path,
    submissions: Path,
    team: str,
    with_disqualified: bool,
    out: Path,
    as_json: bool,
) -> int:
    check_free(out)
    published = publish_round(
        rulebook, preparation, submissions, team=team, with_disqualified=with_disqualified
    )
    write_folder(out, published.files, private=("answers",))
    if as_json:
        output.print_json(
            {"out": str(out), "commitments_sha256": _committed(published), **_report(published)}
        )
    else:
        _print(published, out)
    return output.DONE if published.complete else output.FAILS_RULES


def _committed(published: PublishedRound) -> str:
    return digest(published.files[f"public/{COMMITMENTS_FILE}"])


def _report(published: PublishedRound) -> dict[str, Any]:
    """Who is where, by state."""
    states: dict[str, list[Any]] = {state: [] for state in STATES}
    for record in published.records:
        entry = {
            "team": record.team,
            "target": record.target,
            "files": list(record.files),
            "problem": record.cause,
        }
        if record.problems:
            entry["problems"] = list(record.problems)
        states[record.state].append(
            record.target if record.state in (PUBLISHED, SUPERSEDED) else entry
        )
    attachments = [
        one
        for record in published.records
        for one in attachments_json(record.target, record.attachments)
    ]
    unassigned = [refusal.as_json() for refusal in _unassigned(published)]
    return {**states, "attachments": attachments, "unassigned": unassigned}


def attachments_json(target: str, refused: Sequence[RefusedAttachment]) -> list[dict[str, Any]]:
    """Return the refused attachments of a release, ready for JSON."""
    whose = {"team": team_of(target), "target": target}
    return [
        {**whose, "file": one.file, "problem": one.problems[0], "problems": list(one.problems)}
        for one in refused
    ]


def _unassigned(published: PublishedRound) -> list[Refusal]:
    """What belongs to no release, by the folder that it lies in; of very many files the first ones."""
    teams = {record.team for record in published.records}
    return limit_refusals(
        [
            Refusal.of(
                folder if (folder := file.partition("/")[0]) in teams else "", file, problems
            )
            for file, problems in published.unassigned
        ]
    )


def _print(published: PublishedRound, out: Path) -> None:
    console = output.console()
    table = output.plain_table(text("cli.target"), "", text("cli.why"))
    for record in published.records:
        table.add_row(record.target, retold(record.state), escape(retold(record.cause)))
    _print_notices(published)
    console.print(table)
    for refusal in _unassigned(published):
        output.print_problems(refusal.problems, refusal.count)
    console.print(
        f"{out}/public     {text('cli.published_public', digest=_committed(published))}",
        markup=False,
    )
    console.print(f"{out}/attackers  {text('cli.published_attackers')}", markup=False)
    console.print(f"{out}/targets    {text('cli.published_targets')}", markup=False)
    console.print(f"{out}/answers    {text('cli.published_answers')}", markup=False)


def _print_notices(published: PublishedRound) -> None:
    """Every notice once, after all the releases that it is about."""
    about: dict[str, list[str]] = {}
    for record in published.records:
        for notice in record.notices:
            about.setdefault(notice, []).append(record.target)
    output.print_notices(
        f"{', '.join(targets)}: {retold(notice)}" for notice, targets in about.items()
    )


def _parameters() -> list[click.Parameter]:
    return [
        path_argument("preparation"),
        path_argument("submissions"),
        out_folder_option(),
        option("--team", code="option.team", default=""),
        option("--with-disqualified", code="option.with_disqualified", is_flag=True),
        json_option(),
    ]


def publish() -> click.Group:
    """The verb."""
    return rulebook_verb("publish", _publish, _parameters, text("help.publish"))
