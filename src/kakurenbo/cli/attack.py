"""``attack R METHOD TARGET -o GUESS``: run an attack on a published target, or on single files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kakurenbo import registry
from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, check_there, chosen_seed, json_option, method_verb, out_option, seed_option
from kakurenbo.contracts import AnyRulebook, Attack
from kakurenbo.rng import stream
from kakurenbo.tables import Problems, write_file


def _attack(
    rulebook: AnyRulebook,
    method: Attack[Any, Any],
    target: tuple[Path, ...],
    mechanism: str | None,
    seed: int | None,
    out: Path,
    as_json: bool,
) -> int:
    check_there(*target)
    declared = registry.build("anonymizers", mechanism) if mechanism else None
    rules = rulebook.in_folder(target[0])
    known = rules.read_target(*target, declared=declared)
    if isinstance(known, Problems):
        return output.refuse(known, as_json)
    output.print_notices(known.notices)
    seed = chosen_seed(seed)
    guess = method(known.value.knowledge, stream(seed, "attack"))
    write_file(out, rules.guess_bytes(guess))
    if as_json:
        output.print_json({"out": str(out), "target": known.value.name, "seed": seed})
    else:
        output.console_beside(out).print(f"{out}: written", markup=False)
    return output.DONE


def _parameters() -> list[click.Parameter]:
    target = click.Argument(["target"], type=PATH, nargs=-1, required=True)
    mechanism = click.Option(["--mechanism"], metavar="NAME:param=value,...", help="The method that the release declares.")
    return [target, out_option, mechanism, seed_option, json_option]


attack = method_verb(
    "attack",
    "attacks",
    _attack,
    _parameters,
    "Run an attack on a folder PHASE/targets/NN, or on the files that attackers know.",
)
