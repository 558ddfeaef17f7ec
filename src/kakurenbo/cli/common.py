"""Pieces that verbs share: a verb's rulebooks as subcommands, parameters as options, ``--json``, ``--seed``, ``--out``."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from kakurenbo.cli import output
from kakurenbo.cli.examples import example_of
from kakurenbo.contest import AnyRulebook, fits, misfit, read_facts
from kakurenbo.contest.facts import TEAM
from kakurenbo.core import STANDARD_INPUT, STANDARD_OUTPUT, check_file, check_place, rng
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text, text_or
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import Parameter, make, parameters_of


def _check_folder(path: Path) -> None:
    if path == STANDARD_OUTPUT:
        raise UsageError(text("usage.folder_on_stdout"))
    check_place(path)


TABLE_ENDINGS = (".csv", ".csv.gz")
"""What the name of a written table may end in."""


class _InPath(click.Path):
    """A path to read; ``-`` is standard input."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        return STANDARD_INPUT if value == "-" else super().convert(value, parameter, context)


class _OutPath(_InPath):
    """A path to write, looked at before any work is done; ``-`` is standard output."""

    def __init__(self, check: Callable[[Path], None]) -> None:
        super().__init__()
        self._check = check

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        path = STANDARD_OUTPUT if value == "-" else super().convert(value, parameter, context)
        if not str(path).isprintable():
            raise UsageError(text("usage.strange_name", path=str(path)))
        self._check(path)
        return path


def _check_table(path: Path) -> None:
    check_file(path)
    check_ending(path, TABLE_ENDINGS, "usage.table_ending")


def _check_figure(path: Path) -> None:
    check_file(path)
    check_ending(path, (".svg",), "usage.figure_ending")


def check_ending(path: Path, endings: tuple[str, ...], code: str) -> None:
    """Refuse a name that promises another format than the one that is written; one without an ending promises none."""
    if path.suffix and not path.name.lower().endswith(endings):
        raise UsageError(text(code, path=str(path), endings=endings))


PATH = _InPath()
OUT_FILE, OUT_FOLDER, OUT_PLACE = (
    _OutPath(check_file),
    _OutPath(_check_folder),
    _OutPath(check_place),
)
OUT_TABLE, OUT_FIGURE = _OutPath(_check_table), _OutPath(_check_figure)

Body = Callable[..., int | None]
Beside = Mapping[str, Callable[[], click.Command]]


def option(*names: str, code: str, **settings: Any) -> click.Option:
    """An option whose help is the catalogue's text of a code."""
    return click.Option(names, help=text(code), **settings)


def disqualified_option() -> click.Option:
    """``--disqualified``: releases that are taken out of results, as ``reports.without`` reads them."""
    return option(
        "--disqualified", code="option.disqualified", default="", metavar="[ROUND:]TARGET,..."
    )


def json_option() -> click.Option:
    """``--json``."""
    return option("--json", "as_json", code="option.json", is_flag=True)


def seed_option() -> click.Option:
    """``--seed``."""
    return option("--seed", code="option.seed", type=click.IntRange(0))


def out_option() -> click.Option:
    """``-o`` for a file."""
    return option("-o", "--out", code="option.out", type=OUT_FILE, required=True)


def out_table_option() -> click.Option:
    """``-o`` for a table."""
    return option("-o", "--out", code="option.out_table", type=OUT_TABLE, required=True)


def out_folder_option() -> click.Option:
    """``-o`` for a folder."""
    return option("-o", "--out", code="option.out_folder", type=OUT_FOLDER, required=True)


def path_argument(name: str) -> click.Argument:
    """A path that must be given; whether there is something is for the reader to say, in a sentence."""
    return click.Argument([name], type=PATH)


def one_on_stdout(values: Mapping[str, Any]) -> None:
    """Refuse a call whose JSON and whose file would both go to standard output."""
    if values.get("as_json") and STANDARD_OUTPUT in values.values():
        raise UsageError(text("usage.json_and_file"))


def check_there(*paths: Path) -> None:
    """Tell at once where a file or folder is not there, before a rulebook looks for files in it."""
    for path in paths:
        if path != STANDARD_INPUT and not os.path.lexists(path):
            near = registry.nearest_name(path.name, _names_in(path.parent))
            code = "usage.no_place_but" if near else "usage.no_place"
            raise UsageError(text(code, path=str(path), near=str(path.parent / near)))


def _names_in(folder: Path) -> list[str]:
    """What lies in a folder; nothing where it cannot be seen."""
    with contextlib.suppress(OSError):
        return [path.name for path in folder.iterdir()]
    return []


def was_handed_out(rulebook: AnyRulebook, path: Path) -> bool:
    """Whether a folder, or the one a file lies in, is what a team was given."""
    facts = read_facts(path, rulebook.name)
    return facts is not None and facts.folder == TEAM


def check_order(
    first: tuple[str, Path], second: tuple[str, Path], belongs_first: Callable[[Path], bool]
) -> None:
    """Tell who exchanged two arguments, each with the name that the help gives it."""
    if belongs_first(second[1]) and not belongs_first(first[1]):
        raise UsageError(
            text("usage.looks_swapped", path=str(second[1]), first=first[0], second=second[0])
        )


def names(given: str) -> list[str]:
    """The parts of a list such as ``01,03,07``."""
    return [part.strip() for part in given.split(",") if part.strip()]


def rulebook_verb(
    name: str,
    body: Body,
    parameters: Callable[[], list[click.Parameter]],
    help_: str,
    *,
    offered: Callable[[Any], bool] | None = None,
    own: Callable[[Any], list[click.Parameter]] = lambda _: [],
    beside: Beside | None = None,
) -> PluginGroup:
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
    own : callable
        Makes the options that the verb has for one rulebook and not for another, given its class.
    beside : mapping of str to callable
        Commands that stand beside the rulebooks, made when they are asked for.
    """

    def command(rulebook_name: str) -> click.Command:
        cls = registry.load("rulebooks", rulebook_name)
        wanted = [one for one in parameters_of(cls) if one.name in cls.options.get(name, ())]
        options = [parameter_option("rulebooks", rulebook_name, one) for one in wanted]

        def callback(**values: Any) -> int | None:
            one_on_stdout(values)
            rulebook = make(cls, take_given(values, wanted))
            return body(rulebook, **values)

        about = f"{help_}\n\n{text('help.sentence', sentence=described('rulebooks', rulebook_name, cls))}"
        return click.Command(
            rulebook_name,
            params=[*parameters(), *own(cls), *options],
            callback=callback,
            help=about,
        )

    return PluginGroup(name, "rulebooks", command, help_, offered, beside)


class PluginGroup(click.Group):
    """A command whose subcommands are installed plugins: all of a group, or those that are ``offered``."""

    def __init__(
        self,
        name: str,
        group: str,
        make_command: Callable[[str], click.Command],
        help_: str,
        offered: Callable[[Any], bool] | None = None,
        beside: Beside | None = None,
    ) -> None:
        metavar = "RULEBOOK ..." if group == "rulebooks" else "METHOD ..."
        super().__init__(name, help=help_, no_args_is_help=True, subcommand_metavar=metavar)
        self._group, self.make_command, self._offered = group, make_command, offered
        self._beside = beside or {}

    def list_commands(self, context: click.Context) -> list[str]:
        return [*self._plugins(), *self._beside]

    def _plugins(self) -> list[str]:
        names = registry.names(self._group)
        if self._offered is None:
            return list(names)
        return [name for name in names if self._offered(registry.load(self._group, name))]

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        with name_first(context, self._unknown if self._beside else None):
            return super().parse_args(context, args)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name in self._beside:
            return self._beside[name]()
        if self._beside and name not in registry.names(self._group):
            raise self._unknown(name)
        # Loads this one alone: an unknown name is told with its nearest neighbour, and a broken neighbour does not matter.
        loaded = registry.load(self._group, name)
        if self._offered is None or self._offered(loaded):
            return self.make_command(name)
        if self._beside:
            raise self._unknown(name)
        names = self._plugins()
        raise UsageError(text("usage.not_offered", verb=self.name, name=name, names=names))

    def _unknown(self, name: str = "") -> UsageError:
        """That nothing has this name, or that none was given, with every name that there is and a command to copy."""
        contests, below = self._plugins(), _names_below(self._beside)
        near = registry.nearest_name(name, [*contests, *self._beside, *below]) if name else ""
        others = [f"{beside} {metavar}" for beside, metavar in _shown_beside(self._beside)]
        command = example_of(
            f"kakurenbo {self.name} {below.get(near) or near or next(iter(self._beside))}"
        )
        code = ("usage.near_one" if near else "usage.no_such_one") if name else "usage.name_first"
        told = {"verb": self.name, "name": name, "near": below.get(near, near)}
        return UsageError(text(code, **told, contests=contests, others=others, command=command))

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(
            text("help.contests") if self._group == "rulebooks" else text("help.methods")
        ):
            shown = [
                (name, described(self._group, name, registry.load(self._group, name)))
                for name in self._plugins()
            ]
            formatter.write_dl(shown)
        if self._beside:
            with formatter.section(text("help.without_contest")):
                formatter.write_dl(
                    [(name, make().get_short_help_str(200)) for name, make in self._beside.items()]
                )

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [
            CompletionItem(name)
            for name in self.list_commands(context)
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, context, incomplete)


def _names_below(beside: Beside) -> dict[str, str]:
    """What the commands beside the rulebooks offer, each with the words that call it: ``hospital``, ``table hospital``."""
    groups = {
        name: made
        for name, make_one in beside.items()
        if isinstance(made := make_one(), click.Group)
    }
    return {
        one: f"{name} {one}"
        for name, group in groups.items()
        for one in group.list_commands(click.Context(group))
    }


def _shown_beside(beside: Beside) -> list[tuple[str, str]]:
    """The same for a sentence: methods, which are many and have a list of their own, as one word."""
    if any(isinstance(make_one(), PluginGroup) for make_one in beside.values()):
        return [(name, "METHOD") for name in beside]
    return [(words.split()[0], name) for name, words in _names_below(beside).items()]


@contextlib.contextmanager
def name_first(context: click.Context, unknown: Callable[[], UsageError] | None) -> Iterator[None]:
    """Tell whoever gives the options of a subcommand before its name, or forgets the name, what can stand there."""
    try:
        yield
    except click.NoSuchOption as error:
        if unknown is None or error.ctx is not context:
            raise
        raise unknown() from None


def method_verb(
    verb: str,
    group: str,
    body: Body,
    parameters: Callable[[type], list[click.Parameter]],
    help_: str,
    more: Callable[[str, str], str] = lambda _rulebook, _method: "",
    beside: Beside | None = None,
) -> click.Group:
    """A verb of rulebook, then method: ``anonymize amic2020 rr C.csv D.csv --p 0.9``; ``body(rulebook, method, **values)``.

    ``parameters`` makes the arguments and options of the verb, given the class of a method. ``more`` is what the help tells
    besides, given the names of a rulebook and a method as far as they were told; ``beside`` are commands that stand beside the
    rulebooks.
    """

    def rulebook_command(rulebook_name: str) -> click.Command:
        rulebook = registry.load("rulebooks", rulebook_name)()

        def method_command(method_name: str) -> click.Command:
            cls = registry.load(group, method_name)
            wanted = parameters_of(cls)

            def callback(**values: Any) -> int | None:
                one_on_stdout(values)
                method = make(cls, take_given(values, wanted))
                if reason := misfit(type(rulebook), method):
                    raise UsageError("error.method_misfit", method=method_name, reason=reason)
                return body(rulebook, method, **values)

            options = [parameter_option(group, method_name, one) for one in wanted]
            about = f"{described(group, method_name, cls)}{more(rulebook_name, method_name)}"
            return click.Command(
                method_name, params=[*parameters(cls), *options], callback=callback, help=about
            )

        about = f"{help_}\n\n{text('help.sentence', sentence=described('rulebooks', rulebook_name, type(rulebook)))}"
        return PluginGroup(
            rulebook_name,
            group,
            method_command,
            about + more(rulebook_name, ""),
            lambda cls: fits(type(rulebook), cls),
        )

    return PluginGroup(verb, "rulebooks", rulebook_command, help_ + more("", ""), beside=beside)


def parameter_option(group: str, method: str, parameter: Parameter) -> click.Option:
    """A method's parameter as an option."""
    told = {"meaning": meaning(group, method, parameter), "expectation": parameter.expectation}
    if parameter.default is dataclasses.MISSING:
        shown = text("option.required_parameter", **told)
    else:
        shown = text("option.parameter", **told, default=output.short(parameter.default))
    names = [f"--{parameter.name.replace('_', '-')}", _slot(parameter)]
    return click.Option(
        names, type=str, help=shown, metavar="VALUE", shell_complete=_completing(parameter)
    )


def _completing(parameter: Parameter) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """The values that a parameter can take, where they can be counted; else its default."""
    values = list(parameter.choices)
    if parameter.kind is bool:
        values = ["true", "false"]
    elif not values and parameter.default not in (dataclasses.MISSING, None, "", ()):
        values = [output.short(parameter.default)]
    if parameter.optional:
        values.append("none")
    return lambda _context, _parameter, incomplete: [
        value for value in values if value.startswith(incomplete)
    ]


def take_given(values: dict[str, Any], wanted: Iterable[Parameter]) -> dict[str, str]:
    """Remove the parameters from the values of a call, and give those that were set."""
    given = {parameter.name: values.pop(_slot(parameter)) for parameter in wanted}
    return {name: text for name, text in given.items() if text is not None}


def chosen_seed(seed: int | None) -> int:
    """The seed that was asked for, or a fresh one."""
    return rng.fresh_seed() if seed is None else seed


def first_sentence(cls: type) -> str:
    """What a method does, from its docstring."""
    return (cls.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").replace("``", "`")


def described(group: str, name: str, cls: type) -> str:
    """What a method does, or the title of a rulebook, in the language of the moment; a plugin's in its own words."""
    return text_or(f"{group}.{name}", getattr(cls, "title", "") or first_sentence(cls))


def meaning(group: str, name: str, parameter: Parameter) -> str:
    """What a parameter of a method means, in the language of the moment; a plugin's in its own words."""
    return text_or(f"{group}.{name}.{parameter.name}", parameter.meaning)


def _slot(parameter: Parameter) -> str:
    # A prefix keeps a method's parameter apart from the verb's own options of the same name.
    return f"parameter_{parameter.name}"
