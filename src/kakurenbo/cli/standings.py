"""``standings R RESULTS``: ranks and awards from what score or run wrote, or from a published table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import (
    PATH,
    disqualified_option,
    json_option,
    names,
    option,
    rulebook_verb,
)
from kakurenbo.cli.rankings import print_rankings
from kakurenbo.contest import AnyRulebook, RoundResults, by_number
from kakurenbo.contest.readme import judges_text
from kakurenbo.core import InputError, collect_notices
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import language, text, text_or
from kakurenbo.reports import (
    agreed_settings,
    award_notices,
    figure_entries,
    ranked,
    read_results,
    standings_json,
    without,
)


def _standings(
    rulebook: AnyRulebook,
    results: tuple[Path, ...],
    disqualified: str,
    unranked: str,
    as_json: bool,
    **by_round: Path | None,
) -> int:
    named = {
        name: path for name in rulebook.rounds if (path := by_round.get(_slot(name))) is not None
    }
    if bool(results) == bool(named):
        if not by_round:
            raise UsageError(text("usage.one_round", rulebook=rulebook.name))
        raise UsageError(
            text("usage.results_files", options=[f"--{name}" for name in rulebook.rounds])
        )
    rounds: dict[str, Sequence[RoundResults]] = {}
    settings: list[Mapping[str, Any]] = []
    judges: set[str] = set()
    for name, path in [*(("", path) for path in results), *named.items()]:
        with collect_notices() as notices:
            file = read_results(rulebook, path, name)
        _check_settings(rulebook, path, file.settings)
        output.print_notices(notices)
        settings.append(file.settings)
        judges.update(file.judges)
        for round_, found in file.rounds.items():
            if round_ in rounds:
                raise UsageError(text("usage.round_twice", path=str(path), round=round_))
            rounds[round_] = found
    rounds = without(rounds, names(disqualified))
    rounds = {
        name: [one.excluding(names(unranked)) for one in repeats]
        for name, repeats in rounds.items()
    }
    rules = rulebook.defaulting(agreed_settings(settings))
    listed = sorted(judges, key=by_number)
    rankings, awards, details = ranked(rules, rounds, listed)
    if as_json:
        output.print_json(standings_json(rankings, awards, details, listed, rules.name))
    else:
        figures = figure_entries(rules, (), rankings)
        unearned = award_notices(awards, rankings, details)
        tables = details.get("tables", {})
        print_rankings(rankings, awards, unearned, tables=tables, figures=figures)
        if listed:
            output.console().print(f"\n{judges_text(rules.name, listed, language())}", markup=False)
    return output.DONE


def _check_settings(rulebook: AnyRulebook, path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a setting that was asked for though the figures of the file were made with another."""
    for name in rulebook.scored_by:
        if (
            name in rulebook.given
            and name in settings
            and settings[name] != getattr(rulebook, name)
        ):
            said = {"name": name, "found": settings[name], "given": getattr(rulebook, name)}
            raise InputError.of("results.other_setting", path.name, **said)


def _parameters() -> list[click.Parameter]:
    return [
        click.Argument(["results"], type=PATH, nargs=-1, required=False),
        disqualified_option(),
        option("--unranked", code="option.unranked", default="", metavar="NN,..."),
        json_option(),
    ]


def _rounds(cls: type[AnyRulebook]) -> list[click.Parameter]:
    """An option for the results of each round, where a contest has several."""
    return [_round_option(name) for name in cls.rounds] if len(cls.rounds) > 1 else []


def _round_option(name: str) -> click.Option:
    told = text_or(f"option.{name}", text("option.round_results", round=name))
    return click.Option([f"--{name}", _slot(name)], type=PATH, help=told)


def _slot(round_: str) -> str:
    # A prefix keeps a round apart from the verb's own options of the same name.
    return f"results_of_{round_}"


def standings() -> click.Group:
    """The verb."""
    return rulebook_verb("standings", _standings, _parameters, text("help.standings"), own=_rounds)
