"""Types of values, options, and commands that the catalogue explains in the language of the call."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from kakurenbo.core import STANDARD_INPUT, STANDARD_OUTPUT, check_file, check_place
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import language, text
from kakurenbo.methods import registry

if TYPE_CHECKING:
    from kakurenbo.contest.phases import FilePattern

TABLE_ENDINGS = (".csv", ".csv.gz")

# -- types of values -------------------------------------------------------------------------------


class InputPath(click.Path):
    """A path to read; ``-`` is standard input.

    ``files`` is a pattern of those files of a folder that are read.
    """

    def __init__(self, *, must_exist: bool = True, files: str = "*") -> None:
        super().__init__(path_type=Path)
        self.must_exist, self.files = must_exist, files

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        path = STANDARD_INPUT if value == "-" else Path(value)
        if self.must_exist:
            check_exists(path)
        return path


class OutputPath(click.Path):
    """A path to write, checked before any work is done; ``-`` is standard output."""

    def __init__(
        self, *, endings: tuple[str, ...] = (), code: str = "", may_be_folder: bool = False
    ) -> None:
        super().__init__(path_type=Path)
        self.endings, self.code, self.check = endings, code, check_file
        if may_be_folder:
            self.check = check_place

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        path = STANDARD_OUTPUT if value == "-" else Path(value)
        if not str(path).isprintable():
            raise UsageError("usage.strange_name", path=str(path))
        self.check(path)
        # A name without an ending promises no format.
        if self.endings and path.suffix and not path.name.lower().endswith(self.endings):
            raise UsageError(self.code, path=str(path), endings=self.endings)
        return path


class OutputFolder(OutputPath):
    """A folder to write, which standard output cannot hold."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Path:
        if value == "-":
            raise UsageError("usage.folder_on_stdout")
        return super().convert(value, param, ctx)


def check_exists(path: Path) -> None:
    """Raise UsageError where there is no such file or folder, with the name that is nearest."""
    if path == STANDARD_INPUT or os.path.lexists(path):
        return
    siblings: list[str] = []
    with contextlib.suppress(OSError):
        siblings = [sibling.name for sibling in path.parent.iterdir()]
    near = registry.nearest_name(path.name, siblings)
    code = "usage.no_place_but" if near else "usage.no_place"
    raise UsageError(code, path=str(path), near=str(path.parent / near))


def check_order(
    first: tuple[str, Path], second: tuple[str, Path], belongs_first: Callable[[Path], bool]
) -> None:
    """Raise UsageError if two path arguments, each with its name in the help, are swapped."""
    if belongs_first(second[1]) and not belongs_first(first[1]):
        shown = {"path": str(second[1]), "first": first[0], "second": second[0]}
        raise UsageError("usage.looks_swapped", **shown)


def names(value: str) -> list[str]:
    """Split a list such as ``01,03,07``."""
    return [part.strip() for part in value.split(",") if part.strip()]


def integer(low: int, high: int | None = None) -> click.IntRange:
    return click.IntRange(low, high)


POSITIVE = click.FloatRange(0, min_open=True)
PATH, ANY_PATH = InputPath(), InputPath(must_exist=False)
OUT_FILE, OUT_PLACE = OutputPath(), OutputPath(may_be_folder=True)
OUT_FOLDER = OutputFolder(may_be_folder=True)
OUT_TABLE = OutputPath(endings=TABLE_ENDINGS, code="usage.table_ending")
OUT_FIGURE = OutputPath(endings=(".svg",), code="usage.figure_ending")

# -- options and commands --------------------------------------------------------------------------


class Option(click.Option):
    """An option that a text of the catalogue explains, by default ``option.NAME``."""

    def __init__(self, *declarations: str, code: str = "", **settings: Any) -> None:
        self.code = code
        super().__init__(declarations, **settings)
        self.code = code or f"option.{self.name}"

    @property
    def help(self) -> str:
        return text(self.code)

    @help.setter
    def help(self, _value: str | None) -> None:
        """Ignore the empty help that click sets."""


class Explained(click.Command):
    """A command whose help is a text of the catalogue, by default ``help.NAME``.

    ``about`` is its code, or a text for a command that is made anew for every call.
    """

    about = ""
    _help_language = ""

    @property
    def help(self) -> str:
        about = self.about or f"help.{self.name}"
        return text(about, about)

    @help.setter
    def help(self, _value: str | None) -> None:
        """Ignore the empty help that click sets."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        if self._help_language != language():
            self._help_option, self._help_language = None, language()
        return super().get_help_option(ctx)


class Command(Explained):
    """A command that runs a function, which returns an exit code, or None if all went well."""

    def __init__(
        self,
        name: str,
        params: Iterable[click.Parameter],
        run: Callable[..., Any],
        about: str = "",
        submitted: Sequence[FilePattern] | None = None,
    ) -> None:
        self.about = about
        self.submitted = submitted  # files that a command of a contest writes; None for others
        super().__init__(name, params=list(params), callback=run)

    def invoke(self, ctx: click.Context) -> Any:
        """Run; refuse outputs that collide on standard output or would replace an input."""
        if ctx.params.get("as_json") and STANDARD_OUTPUT in ctx.params.values():
            raise UsageError("usage.json_and_file")
        for parameter in self.params:
            out = ctx.params.get(str(parameter.name))
            # Only a file that exists can be replaced.
            if isinstance(parameter.type, OutputPath) and out is not None and out.is_file():
                self._check_inputs_stay(ctx, out)
        return super().invoke(ctx)

    def _check_inputs_stay(self, ctx: click.Context, out: Path) -> None:
        """Raise UsageError if a file that would be written is an input, or in a folder that is read."""
        for parameter in self.params:
            if not isinstance(parameter.type, InputPath):
                continue
            value = ctx.params.get(str(parameter.name)) or ()
            for path in [value] if isinstance(value, Path) else value:
                if path.exists() and out.samefile(path):
                    raise UsageError("usage.own_input", path=str(out), input=str(path))
                folder = self._folder_read(path)
                if folder is not None and self._is_read(out, folder, parameter):
                    raise UsageError("usage.in_input", path=str(out), input=str(folder))

    def _folder_read(self, path: Path) -> Path | None:
        """Return the folder that is read where a path is given; a contest reads what lies beside a file."""
        if path.is_dir():
            return path
        is_of_contest = self.submitted is not None and (path.parent / "contest.json").exists()
        return path.parent if is_of_contest else None

    def _is_read(self, out: Path, folder: Path, parameter: click.Parameter) -> bool:
        place, top = out.resolve(), folder.resolve()
        if not place.is_relative_to(top):
            return False
        # A release or guess that was written there before is no input of the next one.
        written = (self.submitted or ()) if isinstance(parameter, click.Argument) else ()
        if any(pattern.parse(out.name) is not None for pattern in written):
            return False
        assert isinstance(parameter.type, InputPath)
        return fnmatch(place.relative_to(top).as_posix(), parameter.type.files)


class Group(Explained, click.Group):
    """A command with subcommands."""

    def __init__(
        self, name: str, commands: Iterable[click.Command] = (), about: str = "", metavar: str = ""
    ) -> None:
        self.about = about
        below = {str(command.name): command for command in commands}
        metavar = metavar or "COMMAND [ARGS]..."
        super().__init__(name, commands=below, no_args_is_help=True, subcommand_metavar=metavar)

    def unknown(self, name: str) -> UsageError | None:
        """Return what to say of a name that no subcommand has, where click does not say enough.

        The name is empty where options of a subcommand come before its name.
        """
        return None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            better = self.unknown("") if error.ctx is ctx else None
            raise better or error from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is None and (error := self.unknown(cmd_name)):
            raise error
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        # click would load every subcommand, to see which are hidden
        items = [CompletionItem(name) for name in self.list_commands(ctx)]
        matching = [item for item in items if item.value.startswith(incomplete)]
        return matching + click.Command.shell_complete(self, ctx, incomplete)


def command(
    name: str, *params: click.Parameter, about: str = ""
) -> Callable[[Callable[..., Any]], Command]:
    """Make a command of a function."""
    return lambda run: Command(name, params, run, about)


def argument(name: str, **settings: Any) -> click.Argument:
    """Declare an argument, by default a path to something that exists."""
    return click.Argument([name], **{"type": PATH, **settings})


def typed(name: str) -> bool:
    """Return whether an option was typed, where a default looks like a choice."""
    source = click.get_current_context().get_parameter_source(name)
    return source is ParameterSource.COMMANDLINE


def completion(list_names: Callable[[], Iterable[str]]) -> Any:
    """Complete a value with the names that begin as it does."""
    return lambda _context, _parameter, typed: [
        name for name in list_names() if name.startswith(typed)
    ]


def _seed(_context: click.Context, _parameter: click.Parameter, value: int | None) -> int:
    from kakurenbo.core.rng import fresh_seed  # loads NumPy

    return fresh_seed() if value is None else value


def _output(kind: click.ParamType[Any], code: str = "") -> Option:
    return Option("-o", "--out", type=kind, required=True, is_eager=True, code=code)


JSON = Option("--json", "as_json", is_flag=True, code="option.json")
SEED = Option("--seed", type=integer(0), callback=_seed)
OUT = _output(OUT_FILE)
OUT_TABLE_OPTION = _output(OUT_TABLE, "option.out_table")
OUT_FOLDER_OPTION = _output(OUT_FOLDER, "option.out_folder")
DISQUALIFIED = Option("--disqualified", default="", metavar="[ROUND:]TARGET,...")
UNRANKED = Option("--unranked", type=names, default="", metavar="NN,NN")
JOBS = Option("--jobs", type=integer(1, 1000), default=os.cpu_count() or 1)
