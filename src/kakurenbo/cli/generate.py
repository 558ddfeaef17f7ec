"""``generate R``: the generator of a contest on its own, any number of rows; ``generate table NAME``: a made-up table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import (
    OUT_TABLE,
    PATH,
    check_there,
    chosen_seed,
    json_option,
    name_first,
    one_on_stdout,
    option,
    out_table_option,
    rulebook_verb,
    seed_option,
)
from kakurenbo.cli.examples import TABLE, example_of
from kakurenbo.contest import AnyRulebook, Rulebook
from kakurenbo.core import Source, collect_notices, write_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import retold, text
from kakurenbo.core.rng import stream
from kakurenbo.data.hospital import hospital


def _generate(
    rulebook: AnyRulebook,
    rows: int,
    distinct: bool,
    seed: int | None,
    out: Path,
    verbose: bool,
    as_json: bool,
    table: Path | None = None,
) -> int:
    seed = chosen_seed(seed)
    if table is None:
        content, report = rulebook.generate(rows, stream(seed, "generate"), distinct=distinct)
    else:
        check_there(table)
        with collect_notices() as notices:
            content, report = rulebook.generate_from(
                Source.of(table), rows, stream(seed, "generate"), distinct=distinct
            )
        output.print_notices(notices)
    write_file(out, content)
    shown = {"out": str(out), "rows": rows, "seed": str(seed), **report}
    if as_json:
        output.print_json(shown)
    else:
        for name, value in shown.items():
            told = value if verbose or not isinstance(value, Mapping) else _in_short(value)
            output.console_beside(out).print(
                f"{output.label(name)}: {retold(output.short(told))}", markup=False
            )
    return output.DONE


def _in_short(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Of figures by attribute the largest, and which attribute's it is; others as they are."""
    short: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, Mapping) and value:
            attribute = max(value, key=value.__getitem__)
            short[text("cli.largest", figure=output.label(name))] = (
                f"{output.short(value[attribute])} ({attribute})"
            )
        elif isinstance(value, int | float):
            short[output.label(name)] = value
    return short


def _parameters() -> list[click.Parameter]:
    return [
        option(
            "--rows",
            code="option.rows",
            type=click.IntRange(1, 10_000_000),
            default=100_000,
            show_default=True,
        ),
        option("--distinct", code="option.distinct", is_flag=True),
        out_table_option(),
        option("--verbose", code="option.all_figures", is_flag=True),
        seed_option(),
        json_option(),
    ]


def generate() -> click.Group:
    """The verb."""
    beside = {TABLE: _made_up_tables}
    help_ = text("help.generate")
    return rulebook_verb(
        "generate", _generate, _parameters, help_, offered=_offered, own=_own, beside=beside
    )


def _own(rulebook: type[AnyRulebook]) -> list[click.Parameter]:
    if rulebook.generate_from is Rulebook.generate_from:
        return []
    return [option("--from", "table", code="option.generate_from", type=PATH)]


def _offered(cls: type[AnyRulebook]) -> bool:
    return cls.generate is not Rulebook.generate


def _made_up_tables() -> click.Group:
    """Tables that are drawn from models of ours, for trying out what is meant for tables of one's own."""
    group = _MadeUp(
        TABLE,
        help=text("help.generate_table"),
        no_args_is_help=True,
        subcommand_metavar="TABLE ...",
    )
    group.add_command(
        click.Command(
            "hospital", params=_table_parameters(), callback=_hospital, help=text("help.hospital")
        )
    )
    return group


class _MadeUp(click.Group):
    """Of a name that no made-up table has, those that there are, and how one is drawn."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        with name_first(context, self._unknown):
            return super().parse_args(context, args)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        found = super().get_command(context, name)
        if found is None:
            raise self._unknown(name)
        return found

    def _unknown(self, name: str = "") -> UsageError:
        code = "usage.no_made_up_table" if name else "usage.name_made_up_table"
        command = example_of(f"kakurenbo generate {TABLE}")
        return UsageError(text(code, name=name, tables=sorted(self.commands), command=command))


def _table_parameters() -> list[click.Parameter]:
    return [
        option(
            "--rows",
            code="option.rows_of_each",
            type=click.IntRange(1, 1_000_000),
            default=10_000,
            show_default=True,
        ),
        out_table_option(),
        option("--holdout", code="option.holdout_out", type=OUT_TABLE),
        seed_option(),
        json_option(),
    ]


def _hospital(rows: int, out: Path, holdout: Path | None, seed: int | None, as_json: bool) -> int:
    one_on_stdout({"out": out, "holdout": holdout, "as_json": as_json})
    if holdout == out:
        raise UsageError(text("usage.same_file", path=str(out)))
    seed = chosen_seed(seed)
    places = {"original": out} | ({} if holdout is None else {"holdout": holdout})
    for name, place in places.items():
        frame = hospital(rows, stream(seed, "hospital", name))
        write_file(place, frame.write_csv(line_terminator="\n").encode())
        if not as_json:
            told = text("cli.file", file=str(place), what=[text("cli.records", count=rows)])
            output.console_beside(place).print(told, markup=False)
    if as_json:
        output.print_json(
            {"out": str(out), "holdout": holdout and str(holdout), "rows": rows, "seed": str(seed)}
        )
    return output.DONE
