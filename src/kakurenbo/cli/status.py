"""``status [CONTEST]``: contests of a judge, or a team's entries in one; ``status FOLDER``: facts of a contest folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from kakurenbo.cli import output
from kakurenbo.cli.common import json_option
from kakurenbo.cli.contest_status import facts_folder, show_facts
from kakurenbo.cli.judge_client import judge_of, judge_options
from kakurenbo.cli.judged import when
from kakurenbo.core.messages import retold, text


def _status(contest: str | None, server: str | None, token_file: Path | None, as_json: bool) -> int:
    if (
        contest is not None
        and server is None
        and (folder := facts_folder(Path(contest))) is not None
    ):
        return show_facts(folder, as_json)
    judge = judge_of(server, token_file)
    if contest is None:
        account = judge.get("me")
        if as_json:
            output.print_json(account)
        else:
            _print_contests(account)
        return output.DONE
    told = judge.contest(contest, "status")
    if as_json:
        output.print_json(told)
    else:
        for phase in told["phases"]:
            _print_phase(phase)
    return output.DONE


def _print_contests(account: Mapping[str, Any]) -> None:
    table = output.plain_table(
        *(text(f"status.{heading}") for heading in ("contest", "title", "rulebook", "team"))
    )
    for contest in account["contests"]:
        team = contest["team"]
        shown = "" if team is None else f"{team['number']} {team['name']}"
        table.add_row(*map(escape, (contest["slug"], contest["title"], contest["rulebook"], shown)))
    output.console().print(table)


def _print_phase(phase: Mapping[str, Any]) -> None:
    console, left = output.console(), phase["left"]
    times = {"closes": when(phase["closes_at"])}
    if "opens_at" in phase:  # a judge of an older version does not say it
        times["opens"] = when(phase["opens_at"])
    state = text(f"judge_phase.{phase['state']}", **times)
    console.print(f"[bold]{escape(phase['round'])} {escape(phase['kind'])}[/] {escape(state)}")
    if phase.get("disqualified"):
        console.print(text("status.disqualified", reason=phase["disqualified"]), markup=False)
    elif left["count"] is not None:
        console.print(text("status.left", count=left["count"]), markup=False)
    if left["resets_at"] is not None and not phase.get("disqualified"):
        console.print(text("status.reset", moment=when(left["resets_at"])), markup=False)
    if not phase["submissions"]:
        return
    table = output.plain_table(
        *(
            text(f"status.{heading}")
            for heading in ("number", "received", "state", "files", "counts")
        )
    )
    for one in phase["submissions"]:
        files = ", ".join(file["name"] for file in one["files"])
        words = text(f"page.entry_state.{one['state']}")
        number = "" if one["number"] is None else str(one["number"])
        table.add_row(
            *map(
                escape,
                (number, when(one["received_at"]), words, files, retold(one["counts"] or "")),
            )
        )
    console.print(table)


def status() -> click.Command:
    """The verb."""
    parameters: list[click.Parameter] = [
        click.Argument(["contest"], required=False),
        *judge_options(),
        json_option(),
    ]
    return click.Command("status", params=parameters, callback=_status, help=text("help.status"))
