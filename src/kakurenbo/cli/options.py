"""Options, arguments and command groups that commands share; limits of parameters as click types."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from kakurenbo.cli.examples import example_of
from kakurenbo.core import STANDARD_INPUT, STANDARD_OUTPUT, check_file, check_place
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text, text_or
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import Parameter, parameters_of

if TYPE_CHECKING:
    from kakurenbo.contest.phases import FilePattern

TABLE_ENDINGS = (".csv", ".csv.gz")
_SLOT = "parameter_"  # keeps a parameter of a method apart from an option of the command

# -- types of values -------------------------------------------------------------------------------


class InputPath(click.Path):
    """A path to read; ``-`` is standard input.

    ``files`` is a pattern of those files of a folder that are read.
    """

    def __init__(self, *, must_exist: bool = True, files: str = "*") -> None:
        super().__init__(path_type=Path)
        self.must_exist, self.files = must_exist, files

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        if value == "-":
            return STANDARD_INPUT
        path = Path(str(super().convert(value, param, ctx)))
        if self.must_exist:
            check_exists(path)
        return path


class OutputPath(click.Path):
    """A path to write, checked before any work is done; ``-`` is standard output."""

    def __init__(self, *, endings: tuple[str, ...] = (), code: str = "", is_file: bool = True):
        super().__init__(path_type=Path)
        self.endings, self.code, self.is_file = endings, code, is_file

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        path = STANDARD_OUTPUT if value == "-" else Path(str(super().convert(value, param, ctx)))
        if not str(path).isprintable():
            raise UsageError(text("usage.strange_name", path=str(path)))
        (check_file if self.is_file else check_place)(path)
        # A name without an ending promises no format.
        if self.endings and path.suffix and not path.name.lower().endswith(self.endings):
            raise UsageError(text(self.code, path=str(path), endings=self.endings))
        return path


class OutputFolder(OutputPath):
    """A folder to write, which standard output cannot hold."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        if value == "-":
            raise UsageError(text("usage.folder_on_stdout"))
        return super().convert(value, param, ctx)


class NameList(click.ParamType[list[str]]):
    """Names such as ``01,03,07``."""

    name = "names"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return names(value) if isinstance(value, str) else value


class ParameterType(click.ParamType[Any]):
    """A parameter that click has no type for: a list, true or false, or words beside a number."""

    def __init__(self, parameter: Parameter) -> None:
        self.parameter, self.name = parameter, "value"

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
        return click.IntRange(_whole(parameter.low), _whole(parameter.high))
    if parameter.kind is float:
        return click.FloatRange(parameter.low, parameter.high)
    return click.STRING


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)


PATH, ANY_PATH = InputPath(), InputPath(must_exist=False)
OUT_FILE, OUT_PLACE = OutputPath(), OutputPath(is_file=False)
OUT_FOLDER = OutputFolder(is_file=False)
OUT_TABLE = OutputPath(endings=TABLE_ENDINGS, code="usage.table_ending")
OUT_FIGURE = OutputPath(endings=(".svg",), code="usage.figure_ending")
NAMES = NameList()


def check_exists(path: Path) -> None:
    """Raise UsageError where there is no such file or folder, with the name that is nearest."""
    if path == STANDARD_INPUT or os.path.lexists(path):
        return
    siblings: list[str] = []
    with contextlib.suppress(OSError):
        siblings = [sibling.name for sibling in path.parent.iterdir()]
    near = registry.nearest_name(path.name, siblings)
    code = "usage.no_place_but" if near else "usage.no_place"
    raise UsageError(text(code, path=str(path), near=str(path.parent / near)))


def names(value: str) -> list[str]:
    """Split a list such as ``01,03,07``."""
    return [part.strip() for part in value.split(",") if part.strip()]


# -- options and commands --------------------------------------------------------------------------


class Option(click.Option):
    """An option that a text of the catalogue explains, by default ``option.NAME``."""

    def __init__(self, *declarations: str, code: str = "", **settings: Any) -> None:
        super().__init__(declarations, **settings)
        self.code = code or f"option.{self.name}"


class Command(click.Command):
    """A command that a text of the catalogue explains, by default ``help.NAME``."""

    def __init__(
        self,
        name: str,
        params: Iterable[click.Parameter],
        run: Callable[..., Any],
        *,
        code: str = "",
        about: str = "",
        submitted: Sequence[FilePattern] | None = None,
    ) -> None:
        super().__init__(name, params=list(params), callback=run, help=about)
        self.code = code if code or about else f"help.{name}"
        self.submitted = submitted  # what a command of a contest writes, else None

    def invoke(self, ctx: click.Context) -> Any:
        """Run; refuse outputs that collide on standard output or would replace an input."""
        if ctx.params.get("as_json") and STANDARD_OUTPUT in ctx.params.values():
            raise UsageError(text("usage.json_and_file"))
        self._check_inputs_stay(ctx)
        return super().invoke(ctx)

    def _check_inputs_stay(self, ctx: click.Context) -> None:
        """Raise UsageError for an output that would replace an input."""
        for parameter in self.params:
            out = ctx.params.get(str(parameter.name))
            # Only an existing file can be replaced.
            if not isinstance(parameter.type, OutputPath) or out is None or not out.is_file():
                continue
            for other in self.params:
                if isinstance(other.type, InputPath):
                    given = ctx.params.get(str(other.name)) or ()
                    for path in [given] if isinstance(given, Path) else given:
                        self._check_input_stays(out, path, other)

    def _check_input_stays(self, out: Path, path: Path, parameter: click.Parameter) -> None:
        if not path.exists():
            return
        if out.samefile(path):
            raise UsageError(text("usage.own_input", path=str(out), input=str(path)))
        folder = path
        if path.is_file():
            # A contest reads what lies beside a file of one of its folders.
            if self.submitted is None or not (path.parent / "contest.json").exists():
                return
            folder = path.parent
        if not out.resolve().is_relative_to(folder.resolve()):
            return
        names = self.submitted if isinstance(parameter, click.Argument) else ()
        if any(pattern.parse(out.name) is not None for pattern in names or ()):
            return  # an earlier release or guess that was written there is no input
        assert isinstance(parameter.type, InputPath)
        place = out.resolve().relative_to(folder.resolve()).as_posix()
        if fnmatch(place, parameter.type.files):
            raise UsageError(text("usage.in_input", path=str(out), input=str(folder)))


class Group(click.Group):
    """A command with subcommands, explained in the language of the moment."""

    def __init__(self, name: str, commands: Iterable[click.Command] = (), **settings: Any) -> None:
        self.code = settings.pop("code", f"help.{name}")
        below = {str(command.name): command for command in commands}
        super().__init__(name, commands=below, no_args_is_help=True, **settings)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        return command and localized(command)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # click would load every subcommand, to see which are hidden
        items = [CompletionItem(name) for name in self.list_commands(ctx)]
        matching = [item for item in items if item.value.startswith(incomplete)]
        return matching + click.Command.shell_complete(self, ctx, incomplete)


def localized(command: click.Command) -> click.Command:
    """Give a command and its options their help in the language of the moment."""
    command._help_option = None  # click made it in another language
    if isinstance(command, Command | Group) and command.code:
        command.help = text(command.code)
        if isinstance(command, PluginGroup) and command.more is not None:
            command.help += command.more("", "")
    for parameter in command.params:
        if isinstance(parameter, Option):
            parameter.help = text(parameter.code)
    return command


def command(
    name: str, *params: click.Parameter, code: str = ""
) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function that returns an exit code, or None where all went well."""
    return lambda run: Command(name, params, run, code=code)


def argument(name: str, **settings: Any) -> click.Argument:
    """Declare a path that must be given."""
    return click.Argument([name], **{"type": PATH, **settings})


def integer(low: int, high: int | None = None) -> click.IntRange:
    return click.IntRange(low, high)


def given_options(names: Iterable[str]) -> list[str]:
    """Return the options among these that were given, where a default looks like a choice."""
    context = click.get_current_context()
    typed = (name for name in names if _is_typed(context, name))
    return [f"--{name.replace('_', '-')}" for name in typed]


def _is_typed(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _seed(_context: click.Context, _parameter: click.Parameter, value: int | None) -> int:
    from kakurenbo.core.rng import fresh_seed  # loads NumPy

    return fresh_seed() if value is None else value


JSON = Option("--json", "as_json", is_flag=True, code="option.json")
SEED = Option("--seed", type=integer(0), callback=_seed)
OUT = Option("-o", "--out", type=OUT_FILE, required=True, is_eager=True)
OUT_TABLE_OPTION = Option(
    "-o", "--out", type=OUT_TABLE, required=True, is_eager=True, code="option.out_table"
)
OUT_FOLDER_OPTION = Option(
    "-o", "--out", type=OUT_FOLDER, required=True, is_eager=True, code="option.out_folder"
)
DISQUALIFIED = Option("--disqualified", default="", metavar="[ROUND:]TARGET,...")
UNRANKED = Option("--unranked", type=NAMES, default="", metavar="NN,NN")

# -- commands of rulebooks and methods -------------------------------------------------------------


class PluginGroup(Group):
    """A command whose subcommands are installed plugins; ``others`` are commands beside them."""

    def __init__(
        self,
        name: str,
        group: str,
        make_command: Callable[[str, Any], click.Command],
        *,
        code: str = "",
        offered: Callable[[Any], bool] | None = None,
        others: Sequence[click.Command] = (),
        more: Callable[[str, str], str] | None = None,
        **settings: Any,
    ) -> None:
        metavar = "RULEBOOK ..." if group == "rulebooks" else "METHOD ..."
        super().__init__(name, others, code=code, subcommand_metavar=metavar, **settings)
        self.kind, self.make_command, self.offered = group, make_command, offered
        self.more = more

    def plugins(self) -> list[str]:
        installed = registry.names(self.kind)
        if self.offered is None:
            return list(installed)
        return [name for name in installed if self.offered(registry.load(self.kind, name))]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.plugins(), *self.commands]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if not self.commands or error.ctx is not ctx:
                raise
            raise self.unknown() from None  # options of a subcommand before its name

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.commands:
            return super().get_command(ctx, cmd_name)
        if self.commands and cmd_name not in registry.names(self.kind):
            raise self.unknown(cmd_name)
        plugin = registry.find(self.kind, cmd_name)
        if self.offered is None or self.offered(plugin):
            return self.make_command(cmd_name, plugin)
        if self.commands:
            raise self.unknown(cmd_name)
        names = self.plugins()
        raise UsageError(text("usage.not_offered", verb=self.name, name=cmd_name, names=names))

    def unknown(self, name: str = "") -> UsageError:
        """Return an error that lists what can stand here, with a command to copy."""
        contests = self.plugins()
        below: dict[str, str] = {}
        others = []
        for other, group in self.commands.items():
            assert isinstance(group, click.Group)
            below |= {one: f"{other} {one}" for one in group.list_commands(click.Context(group))}
            others.append(f"{other} {group.subcommand_metavar.split()[0]}")
        near = registry.nearest_name(name, [*contests, *self.commands, *below]) if name else ""
        near = below.get(near, near)
        code = "usage.name_first"
        if name:
            code = "usage.near_one" if near else "usage.no_such_one"
        command = example_of(f"kakurenbo {self.name} {near or next(iter(self.commands))}")
        shown = {"verb": self.name, "name": name, "near": near, "command": command}
        return UsageError(text(code, **shown, contests=contests, others=others))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        heading = "help.contests" if self.kind == "rulebooks" else "help.methods"
        with formatter.section(text(heading)):
            formatter.write_dl([(name, description(self.kind, name)) for name in self.plugins()])
        if self.commands:
            with formatter.section(text("help.without_contest")):
                others = ((name, localized(other)) for name, other in self.commands.items())
                formatter.write_dl([(name, one.get_short_help_str(200)) for name, one in others])


def rulebook_command(
    name: str,
    *params: click.Parameter,
    offered: Callable[[Any], bool] | None = None,
    extra: Callable[[Any], list[click.Parameter]] = lambda _: [],
    others: Sequence[click.Command] = (),
) -> Callable[[Callable[..., Any]], PluginGroup]:
    """Make a command with a subcommand per rulebook of a function ``run(rulebook, **values)``.

    ``offered`` says whether a rulebook has the command at all, ``extra`` gives options that only
    this rulebook has; its own parameters are those that ``Rulebook.options`` names.
    """

    def decorate(run: Callable[..., Any]) -> PluginGroup:
        def make_command(rulebook_name: str, cls: Any) -> click.Command:
            wanted = cls.options.get(name, ())
            parameters = [one for one in parameters_of(cls) if one.name in wanted]

            def callback(**values: Any) -> Any:
                return run(cls(**take_parameters(values, parameters)), **values)

            options = parameter_options("rulebooks", rulebook_name, parameters)
            about = rulebook_help(text(f"help.{name}"), rulebook_name)
            arguments = [*params, *extra(cls), *options]
            made = Command(rulebook_name, arguments, callback, about=about, submitted=())
            return localized(made)

        return PluginGroup(
            name, "rulebooks", make_command, code=f"help.{name}", offered=offered, others=others
        )

    return decorate


def method_command(
    name: str,
    group: str,
    params: Callable[[Any], list[click.Parameter]],
    more: Callable[[str, str], str] = lambda _rulebook, _method: "",
    others: Sequence[click.Command] = (),
) -> Callable[[Callable[..., Any]], PluginGroup]:
    """Make a command of rulebook, then method, of a function ``run(rulebook, method, **values)``.

    ``params`` gives arguments and options for a class of methods; ``more`` ends the help, for the
    names of a rulebook and of a method as far as they are known.
    """

    def decorate(run: Callable[..., Any]) -> PluginGroup:
        def rulebook_group(rulebook_name: str, rulebook: Any) -> click.Command:
            def method_of(method_name: str, cls: Any) -> click.Command:
                def callback(**values: Any) -> Any:
                    method = cls(**take_parameters(values, parameters))
                    from kakurenbo.contest import misfit

                    if reason := misfit(rulebook, method):
                        raise UsageError("error.method_misfit", method=method_name, reason=reason)
                    return run(rulebook(), method, **values)

                parameters = parameters_of(cls)
                options = parameter_options(group, method_name, parameters)
                about = description(group, method_name) + more(rulebook_name, method_name)
                written = [
                    file for phase in rulebook.phases if phase.name == name for file in phase.files
                ]
                made = Command(
                    method_name, [*params(cls), *options], callback, about=about, submitted=written
                )
                return localized(made)

            from kakurenbo.contest import fits

            about = rulebook_help(text(f"help.{name}"), rulebook_name) + more(rulebook_name, "")
            return PluginGroup(
                rulebook_name,
                group,
                method_of,
                help=about,
                offered=lambda cls: fits(rulebook, cls),
            )

        return PluginGroup(
            name, "rulebooks", rulebook_group, code=f"help.{name}", more=more, others=others
        )

    return decorate


def rulebook_help(about: str, rulebook: str) -> str:
    """Explain a command of a rulebook: what it does, and the title of the rulebook."""
    return f"{about}\n\n{text('help.sentence', sentence=description('rulebooks', rulebook))}"


def parameter_options(
    group: str, method: str, parameters: Iterable[Parameter]
) -> list[click.Option]:
    return [parameter_option(group, method, parameter) for parameter in parameters]


def parameter_option(group: str, method: str, parameter: Parameter) -> click.Option:
    """Return a parameter of a plugin as an option."""
    flags = [f"--{parameter.name.replace('_', '-')}", _SLOT + parameter.name]
    about, kind = meaning(group, method, parameter), parameter_type(parameter)
    if parameter.default is dataclasses.MISSING:
        return click.Option(flags, type=kind, help=about, required=True)
    if isinstance(kind, ParameterType):
        shown = {"meaning": about, "expectation": parameter.expectation}
        about = text("option.parameter", **shown, default=_typed(parameter.default))
        return click.Option(flags, type=kind, help=about, metavar="VALUE")
    return click.Option(flags, type=kind, help=about, default=parameter.default, show_default=True)


def _typed(value: object) -> str:
    """Return a default as it would be typed."""
    from kakurenbo.cli.output import short

    return short(value)


def take_parameters(values: dict[str, Any], parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Remove the parameters of a plugin from the values of a call; return those that were typed."""
    context = click.get_current_context()
    taken = {one.name: values.pop(_SLOT + one.name) for one in parameters}
    return {name: value for name, value in taken.items() if _is_typed(context, _SLOT + name)}


def description(group: str, name: str) -> str:
    """Say what a method does, or the title of a rulebook; a plugin's in its own words."""
    known = text_or(f"{group}.{name}", "")
    return known or described(registry.find(group, name))


def described(cls: Any) -> str:
    """Return the title of a rulebook, or the first paragraph of a method's docstring."""
    first_paragraph = (cls.__doc__ or "").strip().split("\n\n")[0]
    return getattr(cls, "title", "") or first_paragraph.replace("\n", " ").replace("``", "`")


def meaning(group: str, name: str, parameter: Parameter) -> str:
    """Say what a parameter of a method means; a plugin's in its own words."""
    return text_or(f"{group}.{name}.{parameter.name}", parameter.meaning)


def check_order(
    first: tuple[str, Path], second: tuple[str, Path], belongs_first: Callable[[Path], bool]
) -> None:
    """Raise UsageError if two path arguments, each with its name in the help, are swapped."""
    if belongs_first(second[1]) and not belongs_first(first[1]):
        shown = {"path": str(second[1]), "first": first[0], "second": second[0]}
        raise UsageError(text("usage.looks_swapped", **shown))
