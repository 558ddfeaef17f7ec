"""Commands of rulebooks and methods: a subcommand per plugin, with its parameters as options."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from kakurenbo.cli.examples import TABLE, example_of
from kakurenbo.cli.options import TABLE_ENDINGS, Command, Group, typed
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import Parameter, parameters_of

_SLOT = "parameter_"  # keeps a parameter of a method apart from an option of the command
_INPUTS = {"anonymizers": "IN", "attacks": "TARGET"}
"""The argument behind the name of a method."""


class ParameterType(click.ParamType[Any]):
    """A parameter that click has no type for: a list, true or false, or words beside a number."""

    name = "value"

    def __init__(self, parameter: Parameter) -> None:
        self.parameter = parameter

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        parsed = self.parameter.parse(value) if isinstance(value, str) else value
        self.parameter.check(parsed)
        return parsed

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        flags = ("true", "false") if self.parameter.kind is bool else ()
        none = ("none",) if self.parameter.optional else ()
        values = (*self.parameter.choices, *self.parameter.words, *flags, *none)
        return [CompletionItem(value) for value in values if value.startswith(incomplete)]


def parameter_type(parameter: Parameter) -> click.ParamType[Any]:
    """Return the click type with the limits of a parameter: it validates, completes and documents."""
    if parameter.optional or parameter.words or parameter.kind in (tuple, bool):
        return ParameterType(parameter)
    if parameter.choices:
        return click.Choice(parameter.choices)
    if parameter.kind is int:
        return click.IntRange(parameter.low, parameter.high)  # type: ignore[arg-type]
    if parameter.kind is float:
        return click.FloatRange(parameter.low, parameter.high)
    return click.STRING


def parameter_options(
    group: str, method: str, parameters: Iterable[Parameter]
) -> list[click.Option]:
    return [_parameter_option(group, method, parameter) for parameter in parameters]


def _parameter_option(group: str, method: str, parameter: Parameter) -> click.Option:
    flags = [f"--{parameter.name.replace('_', '-')}", _SLOT + parameter.name]
    about, kind = meaning(group, method, parameter), parameter_type(parameter)
    if parameter.default is dataclasses.MISSING:
        return click.Option(flags, type=kind, help=about, required=True)
    if isinstance(kind, ParameterType):
        shown = {"meaning": about, "expectation": parameter.expectation}
        about = text("option.parameter", **shown, default=default_text(parameter.default))
        return click.Option(flags, type=kind, help=about, metavar="VALUE")
    return click.Option(flags, type=kind, help=about, default=parameter.default, show_default=True)


def default_text(value: object) -> str:
    """Return a default as it would be typed.

    Examples
    --------
    >>> default_text(None), default_text(True), default_text(("age", "sex")), default_text(1e-6)
    ('none', 'true', 'age,sex', '0.000001')
    """
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return ",".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.9f}".rstrip("0").rstrip(".")
    return str(value)


def take_parameters(values: dict[str, Any], parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Remove the parameters of a plugin from the values of a call; return those that were typed."""
    taken = {parameter.name: values.pop(_SLOT + parameter.name) for parameter in parameters}
    return {name: value for name, value in taken.items() if typed(_SLOT + name)}


def description(group: str, name: str) -> str:
    """Say what a method does, or the title of a rulebook; a plugin's by its docstring."""
    if known := text(f"{group}.{name}", ""):
        return known
    cls = registry.find(group, name)
    first_paragraph = (cls.__doc__ or "").strip().split("\n\n")[0]
    return getattr(cls, "title", "") or first_paragraph.replace("\n", " ").replace("``", "`")


def meaning(group: str, name: str, parameter: Parameter) -> str:
    """Say what a parameter of a method means; a plugin's in its own words."""
    return text(f"{group}.{name}.{parameter.name}", parameter.meaning)


class PluginGroup(Group):
    """A command whose subcommands are installed plugins.

    Parameters
    ----------
    kind : str
        The group of the registry.
    make_command : callable
        Makes the command of a name and a class.
    offered : callable, optional
        Whether a class has the command at all.
    table : Group, optional
        The subcommand beside contests.
    more : callable
        The end of the help.
    find : callable, optional
        Finds the class of a name, by default in the registry or in a file.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        make_command: Callable[[str, Any], click.Command],
        *,
        about: str = "",
        offered: Callable[[Any], bool] | None = None,
        table: Group | None = None,
        more: Callable[[], str] = str,
        find: Callable[[str], Any] | None = None,
    ) -> None:
        metavar = "RULEBOOK ..." if kind == "rulebooks" else "METHOD ..."
        super().__init__(name, [] if table is None else [table], about, metavar)
        self.kind, self.make_command, self.offered = kind, make_command, offered
        self.table, self.more = table, more
        self.find = find or (lambda name: registry.find(kind, name))

    @property
    def help(self) -> str:
        return super().help + self.more()

    @help.setter
    def help(self, _value: str | None) -> None:
        """Ignore the empty help that click sets."""

    def plugins(self) -> list[str]:
        installed = registry.names(self.kind)
        if self.offered is None:
            return list(installed)
        return [name for name in installed if self.offered(registry.load(self.kind, name))]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.plugins(), *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        is_installed = cmd_name in registry.names(self.kind)
        if self.table is not None and not is_installed:
            raise self.unknown(cmd_name)
        if self.kind in _INPUTS and not is_installed and _is_data(cmd_name):
            command = example_of(ctx.command_path)
            shown = {"path": cmd_name, "argument": _INPUTS[self.kind], "command": command}
            raise UsageError("usage.path_before_method", **shown)
        plugin = self.find(cmd_name)
        if self.offered is None or self.offered(plugin):
            return self.make_command(cmd_name, plugin)
        if self.table is not None:
            raise self.unknown(cmd_name)
        names = self.plugins()
        raise UsageError("usage.not_offered", verb=self.name, name=cmd_name, names=names)

    def unknown(self, name: str) -> UsageError:
        """Return an error that lists what can stand here, with a command to copy."""
        assert self.table is not None
        contests, table = self.plugins(), self.table
        below = {name: f"{TABLE} {name}" for name in table.list_commands(click.Context(table))}
        near = registry.nearest_name(name, [*contests, TABLE, *below]) if name else ""
        near = below.get(near, near)
        code = "usage.near_one" if near else "usage.no_such_one"
        command = example_of(f"kakurenbo {self.name} {near or TABLE}")
        shown = {"verb": self.name, "name": name, "near": near, "command": command}
        others = [f"{TABLE} {table.subcommand_metavar.split()[0]}"]
        code = code if name else "usage.name_first"
        return UsageError(code, **shown, contests=contests, others=others)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if self.table is not None:
            return super().parse_args(ctx, args)
        return click.Group.parse_args(self, ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        heading = "help.contests" if self.kind == "rulebooks" else "help.methods"
        with formatter.section(text(heading)):
            formatter.write_dl([(name, description(self.kind, name)) for name in self.plugins()])
        if self.table is not None:
            with formatter.section(text("help.without_contest")):
                formatter.write_dl([(TABLE, self.table.get_short_help_str(200))])


def _is_data(name: str) -> bool:
    """Return whether a name is that of a file or folder with data, not of a method or its file."""
    if registry.is_file(name):
        return False
    return Path(name).exists() or "/" in name or name.endswith((*TABLE_ENDINGS, ".parquet"))


def rulebook_command(
    name: str,
    *params: click.Parameter,
    offered: Callable[[Any], bool] | None = None,
    extra: Callable[[Any], list[click.Parameter]] = lambda _: [],
    **settings: Any,
) -> Callable[[Callable[..., Any]], PluginGroup]:
    """Make a command with a subcommand per rulebook of a function ``run(rulebook, **values)``.

    The parameters of a rulebook that are its options are those that ``Rulebook.options`` names;
    ``extra`` gives options that only this rulebook has.
    """

    def decorate(run: Callable[..., Any]) -> PluginGroup:
        def make_command(rulebook: str, cls: Any) -> click.Command:
            declared = cls.options.get(name, ())
            parameters = [one for one in parameters_of(cls) if one.name in declared]

            def callback(**values: Any) -> Any:
                return run(cls(**take_parameters(values, parameters)), **values)

            options = parameter_options("rulebooks", rulebook, parameters)
            about = _rulebook_help(name, rulebook)
            return Command(rulebook, [*params, *extra(cls), *options], callback, about, ())

        return PluginGroup(name, "rulebooks", make_command, offered=offered, **settings)

    return decorate


def method_command(
    name: str,
    group: str,
    params: Callable[[Any], list[click.Parameter]],
    more: Callable[[str, str], str] = lambda _rulebook, _method: "",
    table: Group | None = None,
) -> Callable[[Callable[..., Any]], PluginGroup]:
    """Make a command of rulebook, then method, of a function ``run(rulebook, method, **values)``.

    ``params`` gives arguments and options for a class of methods; ``more`` ends the help, for the
    names of a rulebook and of a method as far as they are known.
    """

    def decorate(run: Callable[..., Any]) -> PluginGroup:
        def rulebook_group(rulebook_name: str, rulebook: Any) -> click.Command:
            from kakurenbo.contest import fits, misfit

            def method_of(method_name: str, cls: Any) -> click.Command:
                def callback(**values: Any) -> Any:
                    method = cls(**take_parameters(values, parameters))
                    if reason := misfit(rulebook, method):
                        raise UsageError("error.method_misfit", method=method_name, reason=reason)
                    return run(rulebook(), method, **values)

                parameters = parameters_of(cls)
                options = parameter_options(group, method_name, parameters)
                about = description(group, method_name) + more(rulebook_name, method_name)
                arguments = [*params(cls), *options]
                phases = [phase for phase in rulebook.phases if phase.name == name]
                submitted = [file for phase in phases for file in phase.files]
                return Command(method_name, arguments, callback, about, submitted)

            return PluginGroup(
                rulebook_name,
                group,
                method_of,
                about=_rulebook_help(name, rulebook_name),
                more=lambda: more(rulebook_name, ""),
                offered=lambda cls: fits(rulebook, cls),
            )

        return PluginGroup(
            name, "rulebooks", rulebook_group, more=lambda: more("", ""), table=table
        )

    return decorate


def _rulebook_help(command: str, rulebook: str) -> str:
    """Explain a command of a rulebook: what it does, and the title of the rulebook."""
    title = text("help.sentence", sentence=description("rulebooks", rulebook))
    return f"{text(f'help.{command}')}\n\n{title}"
