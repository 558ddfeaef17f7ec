"""Pieces that verbs share: a verb's rulebooks as subcommands, parameters as options, ``--json``, ``--seed``, ``--out``."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from kakurenbo import registry, rng
from kakurenbo.cli import output
from kakurenbo.contracts import fits, misfit
from kakurenbo.errors import UsageError
from kakurenbo.parameters import Parameter, make, parameters_of
from kakurenbo.tables import STANDARD_INPUT, STANDARD_OUTPUT, check_file, check_place

json_option = click.Option(["--json", "as_json"], is_flag=True, help="Print one JSON object on stdout and nothing else.")
seed_option = click.Option(["--seed"], type=click.IntRange(0), help="Fixes all randomness; a fresh one by default.")


def _check_folder(path: Path) -> None:
    if path == STANDARD_OUTPUT:
        raise UsageError("a folder is written, which standard output cannot hold; name a folder")
    check_place(path)


class _InPath(click.Path):
    """A path to read; ``-`` is standard input."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        return STANDARD_INPUT if value == "-" else super().convert(value, parameter, context)


class _OutPath(_InPath):
    """A path to write, looked at before any work is done; ``-`` is standard output."""

    def __init__(self, check: Callable[[Path], None]) -> None:
        super().__init__()
        self._check = check

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> Any:
        path = STANDARD_OUTPUT if value == "-" else super().convert(value, parameter, context)
        if not str(path).isprintable():
            raise UsageError(f"{path}: this name cannot be shown; use letters, digits, dots and dashes")
        self._check(path)
        return path


PATH = _InPath()
OUT_FILE, OUT_FOLDER, OUT_PLACE = _OutPath(check_file), _OutPath(_check_folder), _OutPath(check_place)
out_option = click.Option(["-o", "--out"], type=OUT_FILE, required=True, help="The file to write; - is standard output.")
out_folder_option = click.Option(["-o", "--out"], type=OUT_FOLDER, required=True, help="The folder to write.")

Body = Callable[..., int | None]


def path_argument(name: str) -> click.Argument:
    """A path that must be given; whether there is something is for the reader to say, in a sentence."""
    return click.Argument([name], type=PATH)


def _one_on_stdout(values: Mapping[str, Any]) -> None:
    if values.get("as_json") and STANDARD_OUTPUT in values.values():
        raise UsageError("--json prints on standard output, and so would this file; name a file for it")


def check_there(*paths: Path) -> None:
    """Tell at once where a file or folder is not there, before a rulebook looks for files in it."""
    for path in paths:
        if path != STANDARD_INPUT and not os.path.lexists(path):
            raise UsageError(f"{path}: there is no such file or folder")


def names(text: str) -> list[str]:
    """The parts of a list such as ``01,03,07``."""
    return [part.strip() for part in text.split(",") if part.strip()]


def rulebook_verb(
    name: str,
    body: Body,
    parameters: Callable[[], list[click.Parameter]],
    help_: str,
    *,
    offered: Callable[[Any], bool] = lambda _: True,
) -> click.Group:
    """A verb whose subcommands are the rulebooks; ``body`` is called with the rulebook first.

    Parameters
    ----------
    name : str
        The verb, also the key into ``Rulebook.options``.
    body : callable
        ``body(rulebook, **values)`` returns an exit code.
    parameters : callable
        Makes the arguments and options of the verb, fresh for each rulebook.
    help_ : str
    offered : callable
        Whether a rulebook has this verb at all.
    """

    def command(rulebook_name: str) -> click.Command:
        cls = registry.load("rulebooks", rulebook_name)
        wanted = [described for described in parameters_of(cls) if described.name in cls.options.get(name, ())]
        options = [parameter_option(described) for described in wanted]

        def callback(**values: Any) -> int | None:
            _one_on_stdout(values)
            rulebook = make(cls, take_given(values, wanted))
            return body(rulebook, **values)

        return click.Command(
            rulebook_name, params=[*parameters(), *options], callback=callback, help=f"{help_}\n\n{cls.title}."
        )

    return PluginGroup(name, "rulebooks", command, help_, offered)


class PluginGroup(click.Group):
    """A command whose subcommands are installed plugins."""

    def __init__(
        self,
        name: str,
        group: str,
        make_command: Callable[[str], click.Command],
        help_: str,
        offered: Callable[[Any], bool] = lambda _: True,
    ) -> None:
        super().__init__(name, help=help_, no_args_is_help=True)
        self._group, self._make_command, self._offered = group, make_command, offered

    def list_commands(self, context: click.Context) -> list[str]:
        return [name for name in registry.names(self._group) if self._offered(registry.load(self._group, name))]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        # Loads this one alone: an unknown name is told with its nearest neighbour, and a broken neighbour does not matter.
        return self._make_command(name) if self._offered(registry.load(self._group, name)) else None


def method_verb(verb: str, group: str, body: Body, parameters: Callable[[], list[click.Parameter]], help_: str) -> click.Group:
    """A verb of rulebook, then method: ``anonymize amic2020 rr C.csv D.csv --p 0.9``; ``body(rulebook, method, **values)``."""

    def rulebook_command(rulebook_name: str) -> click.Command:
        rulebook = registry.load("rulebooks", rulebook_name)()

        def method_command(method_name: str) -> click.Command:
            cls = registry.load(group, method_name)
            wanted = parameters_of(cls)

            def callback(**values: Any) -> int | None:
                _one_on_stdout(values)
                method = make(cls, take_given(values, wanted))
                if reason := misfit(type(rulebook), method):
                    raise UsageError(f"{method_name} {reason}")
                return body(rulebook, method, **values)

            options = [parameter_option(described) for described in wanted]
            return click.Command(method_name, params=[*parameters(), *options], callback=callback, help=first_sentence(cls))

        return PluginGroup(
            rulebook_name, group, method_command, f"{help_}\n\n{rulebook.title}.", lambda cls: fits(type(rulebook), cls)
        )

    return PluginGroup(verb, "rulebooks", rulebook_command, help_)


def parameter_option(described: Parameter) -> click.Option:
    """A method's parameter as an option."""
    default = described.default
    shown = "required" if default is dataclasses.MISSING else f"default {output.short(default)}"
    text = f"{described.meaning} ({described.expectation}; {shown})"
    return click.Option([f"--{described.name.replace('_', '-')}", _slot(described)], type=str, help=text, metavar="VALUE")


def take_given(values: dict[str, Any], wanted: Iterable[Parameter]) -> dict[str, str]:
    """Remove the parameters from the values of a call, and give those that were set."""
    given = {described.name: values.pop(_slot(described)) for described in wanted}
    return {name: text for name, text in given.items() if text is not None}


def chosen_seed(seed: int | None) -> int:
    """The seed that was asked for, or a fresh one."""
    return rng.fresh_seed() if seed is None else seed


def first_sentence(cls: type) -> str:
    """What a method does, from its docstring."""
    return (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")


def _slot(described: Parameter) -> str:
    # A prefix keeps a method's parameter apart from the verb's own options of the same name.
    return f"parameter_{described.name}"
