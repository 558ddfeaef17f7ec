"""``tune R HANDOUT METHOD``: search a method's parameters on data of one's own, against attacks that know them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rich.markup import escape

from kakurenbo import arena
from kakurenbo.cli import output
from kakurenbo.cli.common import (
    OUT_FILE,
    check_there,
    chosen_seed,
    json_option,
    option,
    path_argument,
    rulebook_verb,
    seed_option,
)
from kakurenbo.cli.progress import StageProgress
from kakurenbo.contest import AnyRulebook, Unit, read_facts
from kakurenbo.core import json_bytes, write_file
from kakurenbo.core.messages import retold, text
from kakurenbo.methods import registry
from kakurenbo.reports.estimates import Estimate
from kakurenbo.reports.numbers import estimated

_SHOWN = 12  # settings in the table for people; the JSON has all


def _tune(
    rulebook: AnyRulebook,
    handout: Path,
    method: str,
    attacks: str,
    tries: int,
    draws: int,
    passing: float,
    jobs: int,
    seed: int | None,
    out: Path | None,
    as_json: bool,
) -> int:
    check_there(handout)
    rules = rulebook.in_folder(handout).for_rehearsal(handout)
    space, seed = arena.read_space(method), chosen_seed(seed)
    search = arena.Search(
        arena.listed_attacks(attacks) or arena.default_attacks(rules), tries, draws, passing
    )
    with StageProgress(rulebook.name, quiet=as_json) as progress:
        tuned = arena.tune(rules, space, search, seed, arena.processes(jobs), progress.tell)
    document = _document(rules, handout, search, tuned, seed)
    if out is not None:
        write_file(out, json_bytes(document))
    if as_json:
        output.print_json(document)
    else:
        _print(rules, search, tuned, document)
    return output.FAILS_RULES if tuned.chosen is None else output.DONE


def _document(
    rules: AnyRulebook, handout: Path, search: arena.Search, tuned: arena.Tuned, seed: int
) -> dict[str, Any]:
    """What ``--json`` prints and ``-o`` writes; the seed as text, because JSON's numbers may lose digits of it."""
    chosen = tuned.chosen
    return {
        "rulebook": rules.name,
        "round": rules.round_name,
        "method": None if chosen is None else chosen.method,
        "command": None
        if chosen is None
        else anonymize_command(rules, chosen.method, handout, _team(rules, handout)),
        "fresh": None if chosen is None else _line(chosen),
        "tried": [_line(line) for line in tuned.lines],
        "attacks": list(search.attacks),
        "draws": search.draws,
        "passing": search.passing,
        "fewer_points_win": tuned.fewer_points_win,
        "seed": str(seed),
    }


def _team(rules: AnyRulebook, handout: Path) -> str:
    facts = read_facts(handout, rules.name)
    return (facts.team if facts else "") or "01"


def _line(line: arena.TunedLine) -> dict[str, Any]:
    return {
        "method": line.method,
        "draws": line.draws,
        "passed": line.passed,
        "attacked": line.attacked,
        "rate": _estimate(line.rate),
        "points": _estimate(line.points),
        "attacks": {name: _estimate(found) for name, found in line.by_attack.items()},
        "missed_by": line.missed_by,
        **({"problem": line.cause} if line.cause else {}),
    }


def _estimate(found: Estimate | None) -> dict[str, float | int | None] | None:
    return (
        None
        if found is None
        else {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}
    )


def _print(
    rules: AnyRulebook, search: arena.Search, tuned: arena.Tuned, document: Mapping[str, Any]
) -> None:
    console = output.console()
    with_points = bool(rules.utility_score)
    table = output.plain_table(text("table.method"), text("tune.passes"), text("tune.rate"))
    if with_points:
        output.add_column(table, text("tune.points"))
    for line in tuned.lines[:_SHOWN]:
        cells = [escape(line.method), _passed(line), _shown(line.rate, Unit.SHARE, line.draws)]
        table.add_row(
            *cells, *([_shown(line.points, _unit(rules), line.draws)] if with_points else [])
        )
    console.print(
        output.titled(text("tune.tried", count=len(tuned.lines), draws=search.draws), table)
    )
    if len(tuned.lines) > _SHOWN:
        console.print(text("tune.more", count=len(tuned.lines) - _SHOWN), markup=False)
    for cause in dict.fromkeys(line.cause for line in tuned.lines if line.cause):
        console.print(text("tune.failed", cause=retold(cause)), markup=False)
    chosen = tuned.chosen
    if chosen is None:
        console.print(f"\n{text('tune.none')}", markup=False)
        return
    console.print(f"\n[bold]{escape(text('tune.chosen', method=chosen.method))}[/]")
    console.print(text("tune.fresh", draws=chosen.draws, passed=chosen.passed), markup=False)
    for name, found in chosen.by_attack.items():
        console.print(
            text("tune.found", attack=name, share=estimated(found, Unit.SHARE)), markup=False
        )
    if with_points and chosen.points is not None:
        console.print(
            text("tune.scores", points=estimated(chosen.points, _unit(rules))), markup=False
        )
    console.print(text("tune.use", command=str(document["command"])), markup=False)


def _passed(line: arena.TunedLine) -> str:
    return text("tune.passed", passed=line.passed, draws=line.draws)


def _shown(found: Estimate | None, unit: Unit, draws: int) -> str:
    """A mean; of how many draws, where attacks played fewer than the thresholds."""
    if found is None:
        return "–"
    return estimated(found, unit) + (
        f" (n = {found.n})" if found.n < draws and found.half != 0 else ""
    )


def _unit(rules: AnyRulebook) -> Unit:
    declared = rules.figures.get("anonymization")
    return Unit.NUMBER if declared is None else declared.unit


def _parameters() -> list[click.Parameter]:
    return [
        path_argument("handout"),
        click.Argument(["method"], metavar="METHOD"),
        option(
            "--attacks",
            code="option.tune_attacks",
            default="",
            metavar="NAME,NAME:param=value",
            shell_complete=_attacks,
        ),
        option(
            "--tries",
            code="option.tries",
            type=click.IntRange(1, 10_000),
            default=12,
            show_default=True,
        ),
        option(
            "--draws",
            code="option.draws",
            type=click.IntRange(1, 1000),
            default=4,
            show_default=True,
        ),
        option(
            "--passing",
            code="option.passing",
            type=click.FloatRange(0, 1),
            default=1.0,
            show_default=True,
        ),
        option(
            "--jobs", code="option.jobs", type=click.IntRange(1, 1000), default=os.cpu_count() or 1
        ),
        option("-o", "--out", code="option.tune_out", type=OUT_FILE),
        seed_option(),
        json_option(),
    ]


def _attacks(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in registry.names("attacks") if name.startswith(incomplete)]


def tune() -> click.Group:
    """The verb."""
    return rulebook_verb("tune", _tune, _parameters, text("help.tune"))


def anonymize_command(rules: AnyRulebook, told: str, handout: Path, team: str) -> str:
    """Return the call that makes a release of a handout by a method."""
    import shlex

    from kakurenbo.arena.calls import MethodCall

    call = MethodCall.parsed("anonymizers", told)
    options = [
        word for name, value in call.parameters for word in (f"--{name.replace('_', '-')}", value)
    ]
    place = f"submissions/{team}"
    words = ["kakurenbo", "anonymize", rules.name, call.name, str(handout), place, *options]
    return shlex.join(words)
