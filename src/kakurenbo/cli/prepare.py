"""``prepare R -o DIR --teams N``: the organizer's data."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import chosen_seed, json_option, names, out_folder_option, rulebook_verb, seed_option
from kakurenbo.commitments import COMMITMENTS_FILE, digest
from kakurenbo.contracts import AnyRulebook
from kakurenbo.errors import UsageError
from kakurenbo.tables import check_free, write_folder

_GUESSABLE = 2**64
_MOST_TEAMS = 9999


def _prepare(rulebook: AnyRulebook, teams: str, unranked: str, seed: int | None, out: Path, as_json: bool) -> int:
    check_free(out)
    numbers = team_numbers(teams)
    preparation = rulebook.prepare(chosen_seed(seed), numbers, names(unranked))
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
    console.print(f"data: {preparation.report['data']}", markup=False)
    console.print(
        f"{out}/public     publish now: the contest's facts and the commitments (sha256 {committed[:16]}…)", markup=False
    )
    console.print(f"{out}/teams/NN   hand to team NN and to nobody else", markup=False)
    console.print(f"{out}/attackers  publish when the attacks begin", markup=False)
    console.print(f"{out}/secret     keep; reveal at the end, so that anybody can run verify", markup=False)
    if seed is not None and seed < _GUESSABLE:
        output.print_notices(
            ["a seed this short can be guessed, and with it every secret: fine for a rehearsal, not for a contest"]
        )
    return output.DONE


def team_numbers(text: str) -> list[str]:
    """Teams from ``5`` (01 to 05), or from a list with gaps, ``01,03,07`` or ``01-05,09``.

    Examples
    --------
    >>> team_numbers("3"), team_numbers("01,03-05")
    (['01', '02', '03'], ['01', '03', '04', '05'])
    """
    if text.isdecimal() and not text.startswith("0") and len(text) <= 3:
        return [f"{number:02d}" for number in range(1, int(text) + 1)]
    numbers: list[str] = []
    for part in names(text):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > 9:
            raise UsageError(f"--teams {text}: give a number of teams such as 5, or their numbers such as 01,03,07")
        width = len(first)
        if int(last or first) - int(first) >= _MOST_TEAMS or len(numbers) >= _MOST_TEAMS:
            raise UsageError(f"--teams {text}: there are at most {_MOST_TEAMS:,} teams")
        numbers += [f"{number:0{width}d}" for number in range(int(first), int(last or first) + 1)]
    return numbers


def _parameters() -> list[click.Parameter]:
    teams = click.Option(
        ["--teams"], required=True, metavar="N|NN,NN", help="How many teams take part, or their numbers: 01,03,07."
    )
    unranked = click.Option(
        ["--unranked"], default="", metavar="NN,NN", help="Teams without rank or award, such as the organizers' own."
    )
    return [out_folder_option, teams, unranked, seed_option, json_option]


prepare = rulebook_verb("prepare", _prepare, _parameters, "Make the organizer's data of a round.")
