"""The command line: one module per verb, loaded only when it is called. Parses, calls, prints; no logic."""

from __future__ import annotations

import contextlib
import importlib
import sys

import click

from kakurenbo import __version__
from kakurenbo.errors import KakurenboError

VERBS = {
    "demo": "play a whole small contest on embedded data",
    "rulebooks": "list the contests that are installed",
    "anonymizers": "list the anonymizers that are installed",
    "attacks": "list the attacks that are installed",
    "prepare": "make the organizer's data: handouts, secrets, commitments",
    "anonymize": "run an anonymizer",
    "check": "is a release well-formed under the rules",
    "measure": "utility scores, thresholds, and what limits them",
    "generate": "run a contest's generator on its own",
    "sample": "run a contest's sampling function on its own",
    "publish": "what attackers get, and the secret answer beside it",
    "attack": "run an attack",
    "credit": "hits of one guess",
    "score": "all guesses of a round: the results that standings ranks",
    "standings": "ranks and awards from results",
    "run": "play a tournament: every anonymizer against every attack",
    "report": "the report of a run again",
    "verify": "check revealed secrets against the commitments",
    "data": "import real data sets into the local store",
    "doctor": "check this installation",
}
_MODULES = {"rulebooks": "listing", "anonymizers": "listing", "attacks": "listing"}


class _Verbs(click.Group):
    """Knows every verb by name and loads its module on use, so that ``--help`` is quick."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        module = importlib.import_module(f"kakurenbo.cli.{_MODULES.get(name, name)}")
        command: click.Command = getattr(module, name)
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=True)
@click.version_option(__version__, prog_name="kakurenbo")
def cli() -> None:
    """Contests in which teams anonymize personal data and attack each other's releases.

    Grammar: kakurenbo VERB RULEBOOK ... Files come in the order data flows. Every verb takes --json, and --debug to see the
    traceback of a bug. Exit codes: 0 done and valid, 1 the input fails the rules, 2 usage or unreadable input.
    """


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code; errors are sentences, never tracebacks, unless ``--debug`` asks."""
    from kakurenbo.cli import output, streams

    streams.prepare_streams()
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    given = [word for word in given if word != "--debug"]
    try:
        code = cli.main(given, prog_name="kakurenbo", standalone_mode=False)
        streams.flush_output()
    except click.ClickException as error:
        usage = error.ctx.get_usage() if isinstance(error, click.UsageError) and error.ctx else ""
        code = output.fail(error.format_message(), usage, given)
    except KakurenboError as error:
        if debug:
            raise
        code = output.fail(str(error), "", given)
    except (click.Abort, KeyboardInterrupt):
        output.fail("stopped", "", given)
        code = output.INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        streams.abandon_output()
        code = output.FAILS_RULES
    except OSError as error:
        if debug:
            raise
        streams.abandon_output()
        code = output.fail(f"something could not be read or written ({error.strerror or error})", "", given)
    except Exception as error:
        if debug:
            raise
        message = f"this is a bug in kakurenbo ({type(error).__name__}); run again with --debug and report what it shows"
        code = output.fail(message, "", given)
    with contextlib.suppress(BrokenPipeError, KakurenboError):
        streams.flush_output()
    sys.exit(code if isinstance(code, int) else 0)
