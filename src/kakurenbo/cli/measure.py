"""``measure R HANDOUT RELEASE``: utility scores, thresholds, what limits them; includes ``check``."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.check import read_release, release_parameters
from kakurenbo.cli.common import rulebook_verb
from kakurenbo.contracts import AnyRulebook
from kakurenbo.messages import text
from kakurenbo.tables import Problems


def _measure(rulebook: AnyRulebook, handout: Path, release: Path, as_json: bool) -> int:
    found = read_release(rulebook, handout, release)
    if isinstance(found, Problems):
        return output.refuse(found, as_json)
    utility = found.rules.measure(found.handout, found.submission)
    output.print_notices([*found.notices, *utility.notices])
    if as_json:
        output.print_json(utility.as_json())
    else:
        output.print_utility(found.rules, utility)
    return output.DONE if utility.passes else output.FAILS_RULES


def measure() -> click.Group:
    """The verb."""
    return rulebook_verb("measure", _measure, release_parameters, text("help.measure"))
