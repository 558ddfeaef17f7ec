"""``standings R RESULTS``: ranks and awards from a results file, or of a contest from several rounds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, AnyRulebook, json_option, rulebook_verb
from kakurenbo.contracts import RoundResults
from kakurenbo.errors import UsageError
from kakurenbo.tables import Problems, Source


def _standings(
    rulebook: AnyRulebook, results: Path | None, pre: Path | None, main: Path | None, disqualified: str, as_json: bool
) -> int:
    given = {name: path for name, path in (("round", results), ("pre", pre), ("main", main)) if path is not None}
    if not given or ("round" in given and len(given) > 1):
        raise UsageError("give either one RESULTS file, or --pre and --main for the overall table")
    rounds: dict[str, RoundResults] = {}
    for name, path in given.items():
        read = rulebook.read_results(Source.of(path))
        if isinstance(read, Problems):
            return output.refuse(read, as_json)
        rounds[name] = _without(read, [team.strip() for team in disqualified.split(",") if team.strip()])
    standings = rulebook.standings(rounds)
    if as_json:
        output.print_json(standings.as_json())
    else:
        output.print_standings(standings)
    return output.DONE


def _without(results: RoundResults, teams: list[str]) -> RoundResults:
    for team in teams:
        if team not in results.anonymizers:
            raise UsageError(f"--disqualified: there is no anonymizer {team!r} (there are {', '.join(results.anonymizers)})")
    return replace(results, out={**results.out, **dict.fromkeys(teams, "disqualified")})


def _parameters() -> list[click.Parameter]:
    return [
        click.Argument(["results"], type=PATH, required=False),
        click.Option(["--pre"], type=PATH, help="Results of the preliminary round."),
        click.Option(["--main"], type=PATH, help="Results of the main round."),
        click.Option(["--disqualified"], default="", metavar="TEAM,TEAM", help="Anonymizers that failed a threshold."),
        json_option,
    ]


standings = rulebook_verb("standings", _standings, _parameters, "Ranks and awards from published or computed results.")
