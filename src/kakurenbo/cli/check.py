"""``check R HANDOUT RELEASE``: is the release well-formed under the rules."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any, NamedTuple

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import check_there, json_option, path_argument, rulebook_verb, was_handed_out
from kakurenbo.contracts import AnyRulebook
from kakurenbo.errors import UsageError
from kakurenbo.messages import text
from kakurenbo.tables import Problem, Problems, sources_of


class CheckedRelease(NamedTuple):
    """A valid release with the rules and the handout it was checked against, and what was put right."""

    rules: AnyRulebook
    handout: Any
    submission: Any
    notices: tuple[Problem, ...]


def read_release(rulebook: AnyRulebook, handout_path: Path, release: Path) -> CheckedRelease | Problems:
    """Read a handout and check a release against it, under the rules that the handout's contest fixes."""
    _check_order(rulebook, handout_path, release)
    rules = rulebook.in_folder(handout_path)
    handout = rules.read_handout(handout_path)
    if isinstance(handout, Problems):
        return handout
    check_there(release)
    submission = rules.check_release(handout.value, sources_of(release))
    if isinstance(submission, Problems):
        return submission
    return CheckedRelease(rules, handout.value, submission.value, (*handout.notices, *submission.notices))


def _check_order(rulebook: AnyRulebook, handout: Path, release: Path) -> None:
    """Tell who exchanged the two: a folder that a team was given is no release; of a file in one it is only a guess."""
    if not was_handed_out(rulebook, release) or was_handed_out(rulebook, handout):
        return
    command = f"{click.get_current_context().command_path} {shlex.quote(str(release))} {shlex.quote(str(handout))}"
    told = text("usage.swapped", release=str(release), command=command)
    if release.is_dir():
        raise UsageError(told)
    output.print_notices([told])


def _check(rulebook: AnyRulebook, handout: Path, release: Path, as_json: bool) -> int:
    found = read_release(rulebook, handout, release)
    if isinstance(found, Problems):
        return output.refuse(found, as_json)
    output.print_notices(found.notices)
    if as_json:
        output.print_json({"valid": True, "notices": [notice.as_json() for notice in found.notices]})
    else:
        output.console().print(text("cli.file", file=str(release), what=text("cli.valid")), markup=False)
    return output.DONE


def release_parameters() -> list[click.Parameter]:
    """The two paths that check and measure take."""
    return [path_argument("handout"), path_argument("release"), json_option()]


def check() -> click.Group:
    """The verb."""
    return rulebook_verb("check", _check, release_parameters, text("help.check"))
