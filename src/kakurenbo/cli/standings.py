"""``standings R RESULTS``: ranks and awards from what score or run wrote, or from a published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, json_option, names, rulebook_verb
from kakurenbo.cli.rankings import print_rankings
from kakurenbo.contracts import AnyRulebook, RoundResults
from kakurenbo.errors import UsageError
from kakurenbo.reporting import figure_entries, ranked, read_results, standings_json
from kakurenbo.tables import Problems


def _standings(
    rulebook: AnyRulebook,
    results: tuple[Path, ...],
    pre: Path | None,
    main: Path | None,
    disqualified: str,
    unranked: str,
    as_json: bool,
) -> int:
    named = {name: path for name, path in (("pre", pre), ("main", main)) if path is not None}
    if (not results and not named) or (results and named):
        raise UsageError("give one RESULTS file per round, or --pre and --main for the overall table")
    rounds: dict[str, Sequence[RoundResults]] = {}
    settings: list[Mapping[str, Any]] = []
    for name, path in [*(("", path) for path in results), *named.items()]:
        read = read_results(rulebook, path, name)
        if isinstance(read, Problems):
            return output.refuse(read, as_json)
        output.print_notices(read.notices)
        settings.append(read.value.settings)
        for round_, found in read.value.rounds.items():
            if round_ in rounds:
                raise UsageError(f"{path}: the round {round_!r} was given already; give one file per round")
            rounds[round_] = found
    rounds = _without(rounds, names(disqualified))
    rounds = {name: [one.excluding(names(unranked)) for one in repeats] for name, repeats in rounds.items()}
    rules = rulebook.defaulting(_agreed(settings))
    rankings, awards, details = ranked(rules, rounds)
    if as_json:
        output.print_json(standings_json(rankings, awards, details))
    else:
        figures = figure_entries(rules, (), rankings)
        print_rankings(rankings, awards, tables=details.get("tables", {}), figures=figures)
    return output.DONE


def _agreed(settings: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all files say of their contest; the round, which they do not share, is told by their names."""
    first, *others = settings
    return {name: value for name, value in first.items() if all(name in one and one[name] == value for one in others)}


def _without(rounds: Mapping[str, Sequence[RoundResults]], disqualified: list[str]) -> dict[str, Sequence[RoundResults]]:
    """The rounds without the releases that ``[ROUND:]TARGET`` names; without a round it is out of all."""
    out = dict(rounds)
    for entry in disqualified:
        round_, colon, target = entry.rpartition(":")
        if colon and round_ not in out:
            raise UsageError(f"--disqualified {entry}: there is no round {round_!r} (there are {', '.join(out)})")
        for name in [round_] if colon else list(out):
            out[name] = [results.without([target]) for results in out[name]]
    return out


def _parameters() -> list[click.Parameter]:
    return [
        click.Argument(["results"], type=PATH, nargs=-1, required=False),
        click.Option(["--pre"], type=PATH, help="Results of the preliminary round."),
        click.Option(["--main"], type=PATH, help="Results of the main round."),
        click.Option(
            ["--disqualified"], default="", metavar="[ROUND:]TARGET,...", help="Releases to disqualify: 03, main:05, 01-1."
        ),
        click.Option(["--unranked"], default="", metavar="NN,...", help="Teams without rank or award: the organizers' own."),
        json_option,
    ]


standings = rulebook_verb("standings", _standings, _parameters, "Ranks and awards from published or computed results.")
