"""``measure R HANDOUT RELEASE``: utility scores, thresholds, what limits them, privacy models; includes ``check``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.check import CheckedRelease, read_release, release_parameters
from kakurenbo.cli.common import option, rulebook_verb
from kakurenbo.contracts import AnyRulebook, Utility
from kakurenbo.errors import UsageError
from kakurenbo.messages import text
from kakurenbo.tables import Problems, Read, Reading

_PRIVACY = "privacy"


def _measure(rulebook: AnyRulebook, handout: Path, release: Path, as_json: bool, privacy: bool = False) -> int:
    _check_asked(rulebook, privacy)
    found = read_release(rulebook, handout, release)
    if isinstance(found, Problems):
        return output.refuse(found, as_json)
    models = _privacy(found) if privacy else Read(None)
    if isinstance(models, Problems):
        return output.refuse(models, as_json)
    utility = found.rules.measure(found.handout, found.submission)
    output.print_notices([*found.notices, *models.notices, *utility.notices])
    if as_json:
        output.print_json({**utility.as_json(), **({_PRIVACY: models.value.as_json()["scores"]} if models.value else {})})
    else:
        output.print_utility(found.rules, utility)
        if models.value:
            output.console().print(f"\n{text('measure.privacy')}", markup=False)
            output.print_utility(found.rules, models.value)
    return output.DONE if utility.passes else output.FAILS_RULES


def _privacy(found: CheckedRelease) -> Reading[Utility | None]:
    read: Reading[Utility | None] = found.rules.privacy(found.handout, found.submission)
    return read


def _check_asked(rulebook: AnyRulebook, privacy: bool) -> None:
    """An option of the privacy models means nothing where they are not asked for."""
    for name in rulebook.options.get(_PRIVACY, ()):
        if name in rulebook.given and not privacy:
            raise UsageError(text("usage.without_privacy", option=f"--{name}"))


def _own(rulebook: Any) -> list[click.Parameter]:
    return [option("--privacy", code="option.privacy", is_flag=True)] if _PRIVACY in rulebook.options else []


def measure() -> click.Group:
    """The verb."""
    return rulebook_verb("measure", _measure, release_parameters, text("help.measure"), own=_own)
