"""``attack R METHOD KNOWLEDGE... -o GUESS``: run an attack."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kakurenbo import registry
from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, AnyRulebook, chosen_seed, json_option, method_verb, out_option, seed_option
from kakurenbo.contracts import Attack
from kakurenbo.rng import stream
from kakurenbo.tables import Problems, write_file


def _attack(
    rulebook: AnyRulebook,
    method: Attack[Any, Any],
    knowledge: tuple[Path, ...],
    mechanism: str | None,
    seed: int | None,
    out: Path,
    as_json: bool,
) -> int:
    declared = registry.build("anonymizers", mechanism) if mechanism else None
    known = rulebook.read_knowledge(knowledge, declared)
    if isinstance(known, Problems):
        return output.refuse(known, as_json)
    seed = chosen_seed(seed)
    guess = method(known, stream(seed, "attack"))
    write_file(out, rulebook.guess_bytes(guess))
    if as_json:
        output.print_json({"out": str(out), "seed": seed})
    else:
        output.console().print(f"{out}: written")
    return output.DONE


def _parameters() -> list[click.Parameter]:
    knowledge = click.Argument(["knowledge"], type=PATH, nargs=-1, required=True)
    mechanism = click.Option(["--mechanism"], metavar="NAME:param=value,...", help="The method that the release declares.")
    return [knowledge, out_option, mechanism, seed_option, json_option]


attack = method_verb("attack", "attacks", _attack, _parameters, "Run an attack on what attackers know of one release.")
