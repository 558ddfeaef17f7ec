"""The command line: commands by task, loaded when they are called; errors and exit codes."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import signal
import sys
import threading
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from kakurenbo import __version__
from kakurenbo.__main__ import INTERRUPTED
from kakurenbo.cli.click_words import translate_click
from kakurenbo.core.compiling import announce_with
from kakurenbo.core.errors import KakurenboError, ParameterError, UsageError
from kakurenbo.core.messages import language, speaking, system_error, text
from kakurenbo.core.problems import InputError

TASKS = {
    "play": {
        "prepare": "organize",
        "anonymize": "anonymize",
        "check": "play",
        "measure": "play",
        "publish": "organize",
        "attach": "organize",
        "attack": "play",
        "score": "organize",
        "standings": "organize",
        "verify": "verify",
    },
    "scripts": {"generate": "data", "sample": "data", "credit": "play"},
    "tournaments": {"run": "tournaments", "report": "tournaments", "demo": "tournaments"},
    "audit": {"audit": "audit", "schema": "audit"},
    "judge": {"judge": "judge", "submit": "client", "status": "client", "fetch": "client"},
    "data": {"data": "data"},
    "information": {"list": "listing"},
}
"""Every command below its task, with the module that has it."""
ALIASES = {
    "rulebooks": ("list", "contests"),
    "anonymizers": ("list", "anonymizers"),
    "attacks": ("list", "attacks"),
    "serve": ("judge", "serve"),
    "backup": ("judge", "backup"),
    "restore": ("judge", "restore"),
    "doctor": ("judge", "doctor"),
}
"""Names of an earlier version, with the words that stand for them."""
MODULES = {name: module for commands in TASKS.values() for name, module in commands.items()}
VERBS = {name: f"verb.{name}" for name in MODULES}
"""Every command, with the code of the line that says what it does."""
DONE, FAILS_RULES, UNUSABLE = 0, 1, 2
_PIPE_CLOSED = 141  # the exit code of a shell for a program that writes into a closed pipe
_JAPANESE = "かくれんぼ"
_AUDIT_ARGUMENTS = ("original", "release")  # which Python takes as parameters


class Commands(click.Group):
    """All commands by name; each is loaded on use, so that ``--help`` is quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in ALIASES:
            group_name, name = ALIASES[cmd_name]
            group = self.get_command(ctx, group_name)
            assert isinstance(group, click.Group)
            return group.get_command(ctx, name)
        if cmd_name not in MODULES:
            return None
        module = importlib.import_module(f"kakurenbo.cli.{MODULES[cmd_name]}")
        command: click.Command = vars(module)["list_" if cmd_name == "list" else cmd_name]
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in MODULES and name not in ALIASES and not name.startswith("-"):
            from kakurenbo.methods.registry import nearest_name

            near = nearest_name(name, [*MODULES, *ALIASES])
            ctx.fail(text("cli.no_verb_but" if near else "cli.no_verb", name=name, near=near))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, MODULES))
        for task, commands in TASKS.items():
            with formatter.section(text(f"help.task.{task}")):
                lines = [(name.ljust(width), text(VERBS[name])) for name in commands]
                formatter.write_dl(lines)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        matching = [name for name in MODULES if name.startswith(incomplete)]
        items = [CompletionItem(name, help=text(VERBS[name])) for name in matching]
        return items + click.Command.shell_complete(self, ctx, incomplete)


def command_line() -> click.Group:
    """Return the whole command line, in the current language."""
    translate_click()
    group = Commands(
        "kakurenbo",
        callback=_greet,
        invoke_without_command=True,
        help=text("help.about"),
        context_settings={"help_option_names": ["-h", "--help"]},
        subcommand_metavar="COMMAND ...",
    )
    click.version_option(__version__, prog_name="kakurenbo")(group)
    return group


@click.pass_context
def _greet(context: click.Context) -> None:
    """Print the six commands that people need first."""
    if context.invoked_subcommand is None:
        click.echo(text("cli.greeting"))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code; an error is a sentence, never a traceback."""
    words = sys.argv[1:] if arguments is None else arguments
    _prepare_streams()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Programs read English; people read their language, where their terminal can show it.
    is_local = "--json" not in words and can_show(sys.stdout.encoding, _JAPANESE)
    with speaking(language() if is_local else "en"):
        if "--json" not in words:
            announce_with(lambda: print(text("cli.compiling"), file=sys.stderr, flush=True))
        try:
            code = run(words)
        except (click.Abort, KeyboardInterrupt):
            stopped = text("cli.stopped")
            stopped = text(f"cli.stopped.{words[0]}", stopped) if words else stopped
            print(text("cli.error", message=stopped), file=sys.stderr)
            code = INTERRUPTED
    if code == INTERRUPTED and arguments is None:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)  # threads that still compute would hold up an ordinary exit
    sys.exit(code)


def run(words: list[str]) -> int:
    """Run a command and return its exit code."""
    try:
        code = _run([word for word in words if word != "--debug"])
        _flush_output()
    except click.Abort:
        raise
    except BrokenPipeError:  # the reader of our output has seen enough
        _abandon_output()
        return _PIPE_CLOSED
    except Exception as error:
        if "--debug" in words and not isinstance(error, click.ClickException):
            raise
        if isinstance(error, OSError):
            _abandon_output()
        code = _fail(error, words)
        with contextlib.suppress(BrokenPipeError, KakurenboError):
            _flush_output()
    return code


def _run(words: list[str]) -> int:
    try:
        code = command_line().main(words, prog_name="kakurenbo", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        return UNUSABLE
    except InputError as error:
        from kakurenbo.cli import output

        return output.refuse(error.problems, "--json" in words)
    return code if isinstance(code, int) else DONE


def _fail(error: Exception, words: list[str]) -> int:
    """Print what is wrong with the call itself; return exit code 2."""
    message = _message(error, words)
    if "--json" in words:
        from kakurenbo.cli import output  # loads much, which --help does without

        output.print_json({"error": message})
    if isinstance(error, click.UsageError) and error.ctx is not None:
        print(error.ctx.get_usage(), file=sys.stderr)
    print(text("cli.error", message=message), file=sys.stderr)
    return UNUSABLE


def _message(error: Exception, words: list[str]) -> str:
    if isinstance(error, click.MissingParameter):
        return _missing(error)
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, ParameterError):
        option = f"--{error.parameter.replace('_', '-')}"
        if any(word == option or word.startswith(f"{option}=") for word in words):
            return error.told(option)
        if error.parameter in _AUDIT_ARGUMENTS and "audit" in words:
            return error.told(error.parameter.upper())
    if isinstance(error, KakurenboError):
        return str(error)
    from kakurenbo.methods import registry  # loads much, which --help does without

    if line := registry.line_in_method_file(error):
        shown = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        return text("cli.method_raises", file=line[0], line=line[1], error=shown)
    if isinstance(error, OSError):
        return text("cli.no_access", error=system_error(error))
    if isinstance(error, MemoryError):
        return text("cli.no_memory")
    return text("cli.bug", error=type(error).__name__)


def _missing(error: click.MissingParameter) -> str:
    """Say what is missing, what it is, and a command that has it."""
    from kakurenbo.cli.examples import example_of

    parameter, context = error.param, error.ctx
    if parameter is None or context is None:
        return error.format_message()
    argument_help = text(f"argument.{parameter.name}", "")
    what = parameter.help if isinstance(parameter, click.Option) else argument_help
    example = example_of(context.command_path)
    if not what or not example:
        return error.format_message()
    shown = {"name": parameter.get_error_hint(context), "what": what.rstrip(".。")}
    return text(f"cli.missing.{parameter.param_type_name}", **shown, command=example)


# -- standard streams: closed, full, or without our characters -------------------------------------


def can_show(encoding: str | None, characters: str) -> bool:
    """Return whether an encoding has all these characters."""
    try:
        characters.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _prepare_streams() -> None:
    """Escape what an encoding does not have; lose what goes to a closed stream."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush_output() -> None:
    """Print what is held back, so that a full disk is noticed while it can be reported."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _abandon_output()
        if error.errno == errno.EPIPE:
            raise BrokenPipeError from error
        raise UsageError("usage.stdout_full", error=system_error(error)) from error


def _abandon_output() -> None:
    """Give up what standard output holds back: Python would try once more at its exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
