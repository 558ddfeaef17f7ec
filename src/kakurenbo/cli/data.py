"""``generate``, ``sample`` and ``data import``: data of contests, made-up tables, real data sets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.examples import TABLE, example
from kakurenbo.cli.options import (
    JSON,
    OUT,
    OUT_FILE,
    OUT_TABLE,
    OUT_TABLE_OPTION,
    PATH,
    SEED,
    Group,
    Option,
    argument,
    command,
    completion,
    integer,
)
from kakurenbo.cli.plugins import rulebook_command
from kakurenbo.contest import AnyRulebook, Rulebook
from kakurenbo.core import Source, collect_notices, write_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.core.rng import stream
from kakurenbo.data.hospital import hospital as draw_hospital
from kakurenbo.data.store import IMPORTERS, import_dataset

# -- made-up tables --------------------------------------------------------------------------------


class MadeUpTables(Group):
    """Tables drawn from models of ours."""

    def unknown(self, name: str) -> UsageError:
        code = "usage.no_made_up_table" if name else "usage.name_made_up_table"
        command = example("generate", TABLE)
        return UsageError(code, name=name, tables=sorted(self.commands), command=command)


@command(
    "hospital",
    Option(
        "--rows",
        code="option.rows_of_each",
        type=integer(1, 1_000_000),
        default=10_000,
        show_default=True,
    ),
    OUT_TABLE_OPTION,
    Option("--holdout", code="option.holdout_out", type=OUT_TABLE),
    SEED,
    JSON,
)
def hospital(rows: int, out: Path, holdout: Path | None, seed: int, as_json: bool) -> None:
    if holdout == out:
        raise UsageError("usage.same_file", path=str(out))
    places = {"original": out} | ({} if holdout is None else {"holdout": holdout})
    for name, place in places.items():
        frame = draw_hospital(rows, stream(seed, "hospital", name))
        write_file(place, frame.write_csv(line_terminator="\n").encode())
        if not as_json:
            output.print_file(place, [text("cli.records", count=rows)])
    if as_json:
        other = None if holdout is None else str(holdout)
        output.print_json({"out": str(out), "holdout": other, "rows": rows, "seed": str(seed)})


_MADE_UP = MadeUpTables(TABLE, [hospital], "help.generate_table", "TABLE ...")

# -- functions of contests -------------------------------------------------------------------------


def _from_option(rulebook: type[AnyRulebook]) -> list[click.Parameter]:
    if rulebook.generate_from is Rulebook.generate_from:
        return []
    return [Option("--from", "table", code="option.generate_from", type=PATH)]


@rulebook_command(
    "generate",
    Option("--rows", type=integer(1, 10_000_000), default=100_000, show_default=True),
    Option("--distinct", is_flag=True),
    OUT_TABLE_OPTION,
    Option("--verbose", code="option.all_figures", is_flag=True),
    SEED,
    JSON,
    offered=lambda cls: cls.generate is not Rulebook.generate,
    extra=_from_option,
    table=_MADE_UP,
)
def generate(
    rulebook: AnyRulebook,
    rows: int,
    distinct: bool,
    out: Path,
    verbose: bool,
    seed: int,
    as_json: bool,
    table: Path | None = None,
) -> None:
    rng = stream(seed, "generate")
    if table is None:
        content, report = rulebook.generate(rows, rng, distinct=distinct)
    else:
        with collect_notices() as notices:
            source = Source.of(table)
            content, report = rulebook.generate_from(source, rows, rng, distinct=distinct)
        output.print_notices(notices)
    write_file(out, content)
    shown = {"out": str(out), "rows": rows, "seed": str(seed), **report}
    if as_json:
        output.print_json(shown)
        return
    from kakurenbo.cli.scores import label

    for name, value in shown.items():
        if isinstance(value, Mapping) and not verbose:
            value = _largest_figures(value)
        output.print_line(f"{label(name)}: {output.value_text(value)}", out)


def _largest_figures(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Keep of figures by attribute the largest with its attribute; of others all numbers."""
    from kakurenbo.cli.scores import label

    largest: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, Mapping) and value:
            attribute = max(value, key=value.__getitem__)
            heading = text("cli.largest", figure=label(name))
            largest[heading] = f"{output.value_text(value[attribute])} ({attribute})"
        elif isinstance(value, int | float):
            largest[label(name)] = value
    return largest


@rulebook_command(
    "sample",
    argument("table"),
    Option("--rate", type=click.FloatRange(0, 1), default=0.1, show_default=True),
    Option("--index", type=OUT_FILE),
    OUT,
    SEED,
    JSON,
    offered=lambda cls: cls.sample is not Rulebook.sample,
)
def sample(
    rulebook: AnyRulebook,
    table: Path,
    rate: float,
    index: Path | None,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    with collect_notices() as notices:
        content, rows = rulebook.sample(Source.of(table), rate, stream(seed, "sample"))
    output.print_notices(notices)
    write_file(out, content)
    if index is not None:
        write_file(index, "".join(f"{row}\n" for row in rows).encode())
    if as_json:
        output.print_json({"out": str(out), "rows": len(rows), "seed": str(seed)})
    else:
        output.print_file(out, text("cli.rows", count=len(rows)))


# -- real data sets --------------------------------------------------------------------------------


@command(
    "import",
    click.Argument(["name"], shell_complete=completion(lambda: sorted(IMPORTERS))),
    argument("files", nargs=-1, required=True),
    JSON,
)
def import_files(name: str, files: tuple[Path, ...], as_json: bool) -> None:
    with collect_notices() as notices:
        report = import_dataset(name, files)
    output.print_notices(notices)
    if as_json:
        output.print_json(report)
    else:
        for key, value in report.items():
            output.print_line(f"{key}: {value}")


data = Group("data", [import_files])
