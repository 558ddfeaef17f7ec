"""The command line: one module per verb, loaded only when it is called. Parses, calls, prints; no logic."""

from __future__ import annotations

import contextlib
import importlib
import re
import sys

import click
from click.shell_completion import CompletionItem

from kakurenbo import __version__
from kakurenbo.__main__ import INTERRUPTED
from kakurenbo.cli import streams
from kakurenbo.cli.click_words import translate_click
from kakurenbo.cli.interrupts import end_now, end_soon_when_interrupted
from kakurenbo.core.compiling import announce_with
from kakurenbo.core.errors import KakurenboError, ParameterError
from kakurenbo.core.messages import language, speaking, system_error, text, text_or
from kakurenbo.core.problems import InputError

VERBS = {
    "demo": "verb.demo",
    "rulebooks": "verb.rulebooks",
    "anonymizers": "verb.anonymizers",
    "attacks": "verb.attacks",
    "prepare": "verb.prepare",
    "anonymize": "verb.anonymize",
    "check": "verb.check",
    "measure": "verb.measure",
    "generate": "verb.generate",
    "sample": "verb.sample",
    "publish": "verb.publish",
    "attach": "verb.attach",
    "attack": "verb.attack",
    "credit": "verb.credit",
    "score": "verb.score",
    "standings": "verb.standings",
    "run": "verb.run",
    "report": "verb.report",
    "verify": "verb.verify",
    "serve": "verb.serve",
    "backup": "verb.backup",
    "restore": "verb.restore",
    "submit": "verb.submit",
    "status": "verb.status",
    "fetch": "verb.fetch",
    "audit": "verb.audit",
    "schema": "verb.schema",
    "data": "verb.data",
    "doctor": "verb.doctor",
}
"""Every verb, with the code of the line that says what it does."""
_DONE, _FAILS_RULES, _USAGE = 0, 1, 2
_CUT_OFF = 141  # as shells say it of who writes into a closed pipe
_JAPANESE = "かくれんぼ"
_TRANSLATED = re.compile(
    "[。、]|です|ます|ません"
)  # a sentence of the Japanese catalogue, not to be read as English
_ARGUMENTS_OF_AUDITS = ("original", "release")  # which Python takes as parameters
_MODULES = {
    "rulebooks": "listing",
    "anonymizers": "listing",
    "attacks": "listing",
    "run": "tournaments",
    "report": "tournaments",
    "demo": "tournaments",
}


class _Verbs(click.Group):
    """Knows every verb by name and loads its module on use, so that ``--help`` and completion are quick."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        module = importlib.import_module(f"kakurenbo.cli.{_MODULES.get(name, name)}")
        command: click.Command = getattr(module, name)()
        return command

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in VERBS and not name.startswith("-"):
            from kakurenbo.methods.registry import nearest_name  # not needed where all goes well

            near = nearest_name(name, VERBS)
            context.fail(text("cli.no_verb_but" if near else "cli.no_verb", name=name, near=near))
        return super().resolve_command(context, args)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section(text("help.verbs")):
            formatter.write_dl([(name, text(code)) for name, code in VERBS.items()])

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        verbs = [
            CompletionItem(name, help=text(code))
            for name, code in VERBS.items()
            if name.startswith(incomplete)
        ]
        return verbs + click.Command.shell_complete(self, context, incomplete)


def command_line() -> click.Group:
    """The whole command line, in the language of the moment."""
    translate_click()
    group = _Verbs(
        "kakurenbo",
        callback=_greet,
        invoke_without_command=True,
        help=text("help.about"),
        context_settings={"help_option_names": ["-h", "--help"]},
        subcommand_metavar="VERB ...",
    )
    click.version_option(__version__, prog_name="kakurenbo")(group)
    return group


@click.pass_context
def _greet(context: click.Context) -> None:
    """Somebody who does not know where to begin is told the six commands that people need."""
    if context.invoked_subcommand is None:
        click.echo(text("cli.greeting"))


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code; errors are sentences, never tracebacks, unless ``--debug`` asks."""
    given = sys.argv[1:] if arguments is None else arguments
    streams.prepare_streams()
    with speaking(_language(given)):
        try:
            if arguments is None:
                end_soon_when_interrupted(INTERRUPTED)
            if "--json" not in given:
                announce_with(_tell_compiling)
            code = _code([word for word in given if word != "--debug"], debug="--debug" in given)
        except (click.Abort, KeyboardInterrupt):
            print(text("cli.error", message=_stopped(given)), file=sys.stderr)
            code = INTERRUPTED
    if code == INTERRUPTED and arguments is None:
        end_now(code)
    sys.exit(code)


def _tell_compiling() -> None:
    """Say why the first call takes longer."""
    print(text("cli.compiling"), file=sys.stderr, flush=True)


def _stopped(given: list[str]) -> str:
    """What Ctrl-C leaves behind, where the verb is one that takes long."""
    return text_or(f"cli.stopped.{given[0]}", text("cli.stopped")) if given else text("cli.stopped")


def _language(given: list[str]) -> str:
    """Programs read English; people read their own language, where their terminal can show it."""
    return language() if "--json" not in given and streams.can_show(sys.stdout, _JAPANESE) else "en"


def _code(given: list[str], *, debug: bool) -> int:
    try:
        code = _run(given)
        streams.flush_output()
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message(), file=sys.stderr)
        code = _USAGE
    except click.ClickException as error:
        usage = error.ctx.get_usage() if isinstance(error, click.UsageError) and error.ctx else ""
        code = _fail(_told(error), given, usage)
    except BrokenPipeError:  # whoever read our output has seen enough
        streams.abandon_output()
        code = _CUT_OFF
    except (KakurenboError, OSError) as error:
        if debug:
            raise
        if isinstance(error, OSError):
            streams.abandon_output()
            code = _fail(text("cli.no_access", error=system_error(error)), given)
        else:
            code = _fail(_as_typed(error, given), given)
    except MemoryError:
        if debug:
            raise
        code = _fail(text("cli.no_memory"), given)
    except click.Abort:
        raise
    except Exception as error:
        if debug:
            raise
        code = _fail(text("cli.bug", error=type(error).__name__), given)
    with contextlib.suppress(BrokenPipeError, KakurenboError):
        streams.flush_output()
    return code if isinstance(code, int) else _DONE


def _run(given: list[str]) -> int | None:
    """Run a command; where it refuses an input, print its problems."""
    try:
        code: int | None = command_line().main(given, prog_name="kakurenbo", standalone_mode=False)
    except InputError as error:
        from kakurenbo.cli import output

        return output.refuse(error.problems, "--json" in given)
    return code


def _told(error: click.ClickException) -> str:
    """What is wrong with a call; of something that is missing also what it is, and a command that has it."""
    missing = error.param if isinstance(error, click.MissingParameter) else None
    if missing is None or not isinstance(error, click.UsageError) or error.ctx is None:
        return error.format_message()
    from kakurenbo.cli.examples import (
        example_of,
    )  # loads rulebooks, which calls without a fault do when they need them

    what = (
        missing.help
        if isinstance(missing, click.Option)
        else text_or(f"argument.{missing.name}", "")
    )
    example = example_of(error.ctx.command_path)
    if not what or not example:
        return error.format_message()
    code = f"cli.missing.{missing.param_type_name}"
    return text(
        code, name=missing.get_error_hint(error.ctx), what=what.rstrip(".。"), command=example
    )


def _as_typed(error: KakurenboError, given: list[str]) -> str:
    """What an error says, where a parameter goes by the name of the option that was typed."""
    if isinstance(error, ParameterError):
        option = f"--{error.parameter.replace('_', '-')}"
        if any(word == option or word.startswith(f"{option}=") for word in given):
            return error.told(option)
        if error.parameter in _ARGUMENTS_OF_AUDITS and "audit" in given:
            return error.told(error.parameter.upper())
    return str(error)


def _fail(message: str, given: list[str], usage: str = "") -> int:
    from kakurenbo.cli import output  # loads much, which --help does without

    return output.fail(message, usage, given)
