"""A submission as a judge tells it, for people: state, problems, scores beside their thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.judge_client import shown_problem
from kakurenbo.core.messages import retold, text
from kakurenbo.reports.numbers import shown_value

_WRONG = frozenset({"invalid", "failed", "parked", "withdrawn"})


def verdict(submission: Mapping[str, Any]) -> int:
    """The exit code: 1 where it is refused or a threshold does not hold, or could not be judged."""
    missed = [
        one for one in submission["judging"].get("measurements", ()) if one.get("passes") is False
    ]
    return output.FAILS_RULES if submission["state"] in _WRONG or missed else output.DONE


def print_submission(submission: Mapping[str, Any]) -> None:
    """Everything that its team may know of it."""
    judging = submission["judging"]
    for problem in judging.get("problems", ()):
        click.echo(problem if isinstance(problem, str) else shown_problem(problem), err=True)
    output.print_notices(judging.get("notices", ()))
    console = output.console()
    console.print(
        text(f"submission.{submission['state']}", number=submission["number"]), markup=False
    )
    if judging.get("cause") and not judging.get("problems"):  # which the cause sums up
        console.print(retold(judging["cause"]), markup=False)
    if submission["counts"]:
        console.print(retold(submission["counts"]), markup=False)
    if judging.get("measurements"):
        _print_measurements(judging["measurements"])


def when(moment: str | None) -> str:
    """A moment in the time zone of this computer."""
    return (
        ""
        if moment is None
        else f"{datetime.fromisoformat(moment).astimezone():%Y-%m-%d %H:%M:%S %Z}"
    )


def _print_measurements(measurements: list[Mapping[str, Any]]) -> None:
    table = output.plain_table(
        *(text(f"measure.{heading}") for heading in ("score", "value", "threshold")), ""
    )
    for measured in measurements:
        bounds = (("≥", measured.get("minimum")), ("≤", measured.get("maximum")))
        needed = " ".join(
            f"{sign} {shown_value(bound)}" for sign, bound in bounds if bound is not None
        )
        passes = measured.get("passes")
        mark = (
            ""
            if passes is None
            else text("cli.meets")
            if passes
            else f"[bold red]{text('cli.fails')}[/]"
        )
        table.add_row(measured["name"], shown_value(measured["value"]), needed, mark)
    output.console().print(table)
