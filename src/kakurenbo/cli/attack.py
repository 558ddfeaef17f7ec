"""``attack R METHOD TARGET -o GUESS``: run an attack on a published target, or on single files."""

from __future__ import annotations

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
    method_verb,
    option,
    out_option,
    seed_option,
)
from kakurenbo.cli.examples import attack_example
from kakurenbo.contest import AnyRulebook, Attack, fits, misfit
from kakurenbo.contest.facts import parts_in
from kakurenbo.core import collect_notices, table_bytes, write_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text, text_or
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry


def _attack(
    rulebook: AnyRulebook,
    method: Attack[Any, Any],
    target: tuple[Path, ...],
    mechanism: str | None,
    seed: int | None,
    out: Path,
    as_json: bool,
    completed_b: Path | None,
) -> int:
    check_there(*target)
    if completed_b is not None:
        _check_completes(rulebook, method, out, completed_b)
    rules = rulebook.in_folder(target[0])
    declared = _declared(rules, mechanism) if mechanism else None
    with collect_notices() as notices:
        attacked = rules.read_target(*target, declared=declared)
    output.print_notices([*notices, *_parts_left(target)])
    seed = chosen_seed(seed)
    guess = method(attacked.knowledge, stream(seed, "attack"))
    write_file(out, rules.bytes_of_attack(guess))
    if completed_b is not None:
        completed = method.completed(attacked.knowledge, guess)
        write_file(completed_b, table_bytes(completed, header=True))
    if as_json:
        output.print_json({"out": str(out), "target": attacked.name, "seed": seed})
    else:
        output.console_beside(out).print(
            text("cli.file", file=str(out), what=text("cli.written")), markup=False
        )
    return output.DONE


def _check_completes(
    rulebook: AnyRulebook, method: Attack[Any, Any], out: Path, completed: Path
) -> None:
    """Raise UsageError where an attack does not complete b, or would write both files to one place."""
    if completed == out:
        raise UsageError(text("usage.same_file", path=str(out)))
    if method.completes:
        return
    classes = {name: registry.load("attacks", name) for name in registry.names("attacks")}
    able = [name for name, cls in classes.items() if cls.completes and fits(type(rulebook), cls)]
    called = click.get_current_context().info_name
    raise UsageError(
        text("usage.completes" if able else "usage.completes_nobody", method=called, methods=able)
    )


def _declared(rules: AnyRulebook, mechanism: str) -> Any:
    method = registry.build("anonymizers", mechanism)
    if reason := misfit(type(rules), method):
        raise UsageError("error.method_misfit", method=registry.name_of(mechanism), reason=reason)
    return method


def _parts_left(target: tuple[Path, ...]) -> list[str]:
    """What is told where tables were dealt to single attackers and none was chosen: the one that everybody sees is attacked."""
    parts = parts_in(target[0]) if len(target) == 1 and target[0].is_dir() else []
    return [text("attack.parts", parts=[str(part) for part in parts])] if len(parts) > 1 else []


def _parameters(method: type[Attack[Any, Any]]) -> list[click.Parameter]:
    target = click.Argument(["target"], type=PATH, nargs=-1, required=True)
    mechanism = option(
        "--mechanism",
        code="option.mechanism",
        metavar="NAME:param=value,...",
        shell_complete=_mechanisms,
    )
    completed = option(
        "--completed-b", code="option.completed_b", type=OUT_TABLE, hidden=not method.completes
    )
    return [target, out_option(), mechanism, completed, seed_option(), json_option()]


def _mechanisms(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in registry.names("anonymizers") if name.startswith(incomplete)]


def _known(rulebook: str, method: str) -> str:
    """The files that attackers of a contest know, or of every contest; and an example."""
    told = {
        name: text_or(f"knowledge.{name}", "")
        for name in ([rulebook] if rulebook else registry.names("rulebooks"))
    }
    lines = [f"{name}: {files}" for name, files in told.items() if files]
    paragraphs = [text("help.knowledge"), *lines] if lines else []
    if rulebook:
        paragraphs.append(f"\b\n{text('help.example', command=attack_example(rulebook, method))}")
    return "".join(f"\n\n{paragraph}" for paragraph in paragraphs)


def attack() -> click.Group:
    """The verb."""
    return method_verb("attack", "attacks", _attack, _parameters, text("help.attack"), _known)
