"""``prepare R -o DIR --teams N``: the organizer's data."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import AnyRulebook, chosen_seed, json_option, out_option, rulebook_verb, seed_option
from kakurenbo.tables import check_free, write_folder


def _prepare(rulebook: AnyRulebook, teams: int, seed: int | None, out: Path, as_json: bool) -> int:
    check_free(out)
    preparation = rulebook.prepare(chosen_seed(seed), [f"{number:02d}" for number in range(1, teams + 1)])
    write_folder(out, preparation.files(), private=("secret",))
    report = {"out": str(out), "folders": sorted(preparation.folders), **preparation.report}
    if as_json:
        output.print_json(report)
        return output.DONE
    console = output.console()
    console.print(f"data: {preparation.report['data']}")
    for name, value in preparation.report.get("fidelity", {}).items():
        console.print(f"  {name.replace('_', ' ')}: {output.short(value)}")
    console.print(f"{out}/public     publish now: the contest's facts and the commitments")
    console.print(f"{out}/teams/NN   hand to team NN and to nobody else")
    console.print(f"{out}/attackers  publish when the attacks begin")
    console.print(f"{out}/secret     keep; reveal at the end, so that anybody can run verify")
    if seed is not None and seed < 2**64:
        output.print_notices(
            ["a seed this short can be guessed, and with it every secret: fine for a rehearsal, not for a contest"]
        )
    return output.DONE


def _parameters() -> list[click.Parameter]:
    teams = click.Option(["--teams"], type=click.IntRange(1, 99), required=True, help="How many teams take part.")
    return [out_option, teams, seed_option, json_option]


prepare = rulebook_verb("prepare", _prepare, _parameters, "Make the organizer's data of a round.")
