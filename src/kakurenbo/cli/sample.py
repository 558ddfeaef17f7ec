"""``sample R TABLE``: the sampling function of a contest on its own, any rate."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import (
    OUT_FILE,
    chosen_seed,
    json_option,
    option,
    out_option,
    path_argument,
    rulebook_verb,
    seed_option,
)
from kakurenbo.contest import AnyRulebook, Rulebook
from kakurenbo.core import Source, collect_notices, write_file
from kakurenbo.core.messages import text
from kakurenbo.core.rng import stream


def _sample(
    rulebook: AnyRulebook,
    table: Path,
    rate: float,
    index: Path | None,
    seed: int | None,
    out: Path,
    as_json: bool,
) -> int:
    seed = chosen_seed(seed)
    with collect_notices() as notices:
        content, rows = rulebook.sample(Source.of(table), rate, stream(seed, "sample"))
    output.print_notices(notices)
    write_file(out, content)
    if index is not None:
        write_file(index, "".join(f"{row}\n" for row in rows).encode())
    if as_json:
        output.print_json({"out": str(out), "rows": len(rows), "seed": str(seed)})
    else:
        output.console_beside(out).print(
            text("cli.file", file=str(out), what=text("cli.rows", count=len(rows))), markup=False
        )
    return output.DONE


def _parameters() -> list[click.Parameter]:
    return [
        path_argument("table"),
        option(
            "--rate",
            code="option.rate",
            type=click.FloatRange(0, 1),
            default=0.1,
            show_default=True,
        ),
        option("--index", code="option.index", type=OUT_FILE),
        out_option(),
        seed_option(),
        json_option(),
    ]


def sample() -> click.Group:
    """The verb."""
    return rulebook_verb("sample", _sample, _parameters, text("help.sample"), offered=_offered)


def _offered(cls: type[AnyRulebook]) -> bool:
    return cls.sample is not Rulebook.sample
