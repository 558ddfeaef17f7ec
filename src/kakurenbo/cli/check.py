"""``check R HANDOUT RELEASE``: is the release well-formed under the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, AnyRulebook, json_option, rulebook_verb
from kakurenbo.tables import Problem, Problems, sources_of


def read_release(rulebook: AnyRulebook, handout_path: Path, release: Path) -> tuple[Any, Any, list[Problem]] | Problems:
    """Handout, checked submission and what was put right on the way."""
    handout = rulebook.read_handout(handout_path)
    if isinstance(handout, Problems):
        return handout
    notices: list[Problem] = []
    submission = rulebook.check_release(handout, sources_of(release), notices)
    return submission if isinstance(submission, Problems) else (handout, submission, notices)


def _check(rulebook: AnyRulebook, handout: Path, release: Path, as_json: bool) -> int:
    found = read_release(rulebook, handout, release)
    if isinstance(found, Problems):
        return output.refuse(found, as_json)
    _, _, notices = found
    output.print_notices(notices)
    if as_json:
        output.print_json({"valid": True, "notices": [notice.as_json() for notice in notices]})
    else:
        output.console().print(f"{release}: valid")
    return output.DONE


def release_parameters() -> list[click.Parameter]:
    """The two paths that check and measure take."""
    handout = click.Argument(["handout"], type=PATH)
    release = click.Argument(["release"], type=PATH)
    return [handout, release, json_option]


check = rulebook_verb("check", _check, release_parameters, "Is a release well-formed under the rules?")
