"""``measure R HANDOUT RELEASE``: utility scores, thresholds, what limits them, privacy models; includes ``check``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.check import (
    attachments_json,
    read_release,
    release_parameters,
    report_attachments,
)
from kakurenbo.cli.common import option, rulebook_verb
from kakurenbo.contest import AnyRulebook
from kakurenbo.core import collect_notices
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text

_PRIVACY = "privacy"


def _measure(
    rulebook: AnyRulebook, handout: Path, release: Path, as_json: bool, privacy: bool = False
) -> int:
    _check_asked(rulebook, privacy)
    found = read_release(rulebook, handout, release)
    with collect_notices() as notices:
        models = found.rules.privacy(found.handout, found.submission) if privacy else None
    utility = found.rules.measure(found.handout, found.submission)
    output.print_notices([*found.notices, *notices, *utility.notices])
    if as_json:
        privacy_scores = {_PRIVACY: models.as_json()["scores"]} if models else {}
        figures = found.rules.figures
        labels = {
            name: figures[name].label
            for name in utility.scores
            if name in figures and figures[name].label
        }
        names = {"names": labels} if labels else {}
        output.print_json(
            {**utility.as_json(), **names, **privacy_scores, **attachments_json(found)}
        )
    else:
        output.print_utility(found.rules, utility)
        if models:
            output.console().print(f"\n{text('measure.privacy')}", markup=False)
            output.print_utility(found.rules, models)
    code = report_attachments(found)
    return code if utility.passes else output.FAILS_RULES


def _check_asked(rulebook: AnyRulebook, privacy: bool) -> None:
    """An option of the privacy models means nothing where they are not asked for."""
    for name in rulebook.options.get(_PRIVACY, ()):
        if name in rulebook.given and not privacy:
            raise UsageError(text("usage.without_privacy", option=f"--{name}"))


def _own(rulebook: Any) -> list[click.Parameter]:
    return (
        [option("--privacy", code="option.privacy", is_flag=True)]
        if _PRIVACY in rulebook.options
        else []
    )


def measure() -> click.Group:
    """The verb."""
    return rulebook_verb("measure", _measure, release_parameters, text("help.measure"), own=_own)
