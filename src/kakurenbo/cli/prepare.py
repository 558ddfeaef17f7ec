"""``prepare R -o DIR --teams N``: the organizer's data."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import (
    PATH,
    chosen_seed,
    json_option,
    names,
    option,
    out_folder_option,
    rulebook_verb,
    seed_option,
)
from kakurenbo.contest import AnyRulebook, read_schedule
from kakurenbo.contest.commitments import COMMITMENTS_FILE, digest
from kakurenbo.contest.schedule import NO_SCHEDULE
from kakurenbo.core import check_free, write_folder
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import retold, text

_GUESSABLE = 2**64
_MOST_TEAMS = 9999


def _prepare(
    rulebook: AnyRulebook,
    teams: str,
    unranked: str,
    judges: str,
    schedule: Path | None,
    seed: int | None,
    out: Path,
    as_json: bool,
) -> int:
    check_free(out)
    numbers = team_numbers(teams)
    rounds = tuple(dict.fromkeys((*rulebook.rounds, rulebook.round_name)))
    dates = NO_SCHEDULE if schedule is None else read_schedule(schedule, rounds)
    preparation = rulebook.prepare(
        chosen_seed(seed), numbers, names(unranked), judges=names(judges), schedule=dates
    )
    write_folder(out, preparation.files(), private=("secret", "teams"))
    committed = digest(preparation.folders["public"][COMMITMENTS_FILE])
    report = {
        "out": str(out),
        "folders": sorted(preparation.folders),
        "teams": list(numbers),
        "commitments_sha256": committed,
        **preparation.report,
    }
    if as_json:
        output.print_json(report)
        return output.DONE
    console = output.console()
    console.print(text("cli.data", source=retold(str(preparation.report["data"]))), markup=False)
    console.print(f"{out}/public     {text('cli.prepared_public', digest=committed)}", markup=False)
    console.print(f"{out}/teams/NN   {text('cli.prepared_teams')}", markup=False)
    console.print(f"{out}/attackers  {text('cli.prepared_attackers')}", markup=False)
    console.print(f"{out}/secret     {text('cli.prepared_secret')}", markup=False)
    if seed is not None and seed < _GUESSABLE:
        output.print_notices([text("cli.guessable_seed")])
    return output.DONE


def team_numbers(given: str) -> list[str]:
    """Teams from ``5`` (01 to 05), or from a list with gaps, ``01,03,07`` or ``01-05,09``.

    Examples
    --------
    >>> team_numbers("3"), team_numbers("01,03-05")
    (['01', '02', '03'], ['01', '03', '04', '05'])
    """
    if given.isdecimal() and not given.startswith("0") and len(given) <= 3:
        return [f"{number:02d}" for number in range(1, int(given) + 1)]
    numbers: list[str] = []
    for part in names(given):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > 9:
            raise UsageError(text("usage.teams_option", given=given))
        width = len(first)
        if int(last or first) - int(first) >= _MOST_TEAMS or len(numbers) >= _MOST_TEAMS:
            raise UsageError(text("usage.too_many_teams", given=given, most=_MOST_TEAMS))
        numbers += [f"{number:0{width}d}" for number in range(int(first), int(last or first) + 1)]
    return numbers


def _parameters() -> list[click.Parameter]:
    teams = option("--teams", code="option.teams", required=True, metavar="N|NN,NN")
    unranked = option("--unranked", code="option.unranked", default="", metavar="NN,NN")
    judges = option("--judges", code="option.judges", default="", metavar="NN,NN")
    schedule = option("--schedule", code="option.schedule_file", type=PATH, metavar="FILE")
    return [out_folder_option(), teams, unranked, judges, schedule, seed_option(), json_option()]


def prepare() -> click.Group:
    """The verb."""
    return rulebook_verb("prepare", _prepare, _parameters, text("help.prepare"))
