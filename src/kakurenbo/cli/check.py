"""``check R HANDOUT RELEASE``: is the release well-formed under the rules."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import (
    check_there,
    json_option,
    path_argument,
    rulebook_verb,
    was_handed_out,
)
from kakurenbo.contest import ANONYMIZE, AnyRulebook, ContestFacts, read_facts
from kakurenbo.contest.engine import Attachments
from kakurenbo.contest.submissions import check_names
from kakurenbo.core import InputError, Problem, Problems, Source, collect_notices, sources_of
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text


class CheckedRelease(NamedTuple):
    """A valid release with the rules and the handout it was checked against, what was put right, and refused attachments."""

    rules: AnyRulebook
    handout: Any
    submission: Any
    notices: tuple[Problem, ...]
    attachments: Problems | None


def read_release(rulebook: AnyRulebook, handout_path: Path, release: Path) -> CheckedRelease:
    """Read a handout and check a release against it, under the rules that the handout's contest fixes."""
    _check_order(rulebook, handout_path, release)
    rules = rulebook.in_folder(handout_path)
    with collect_notices() as notices:
        handout = rules.read_handout(handout_path)
        check_there(release)
        sources = sources_of(release)
        is_attachment = rules.phase(ANONYMIZE).is_attachment
        attached = [source for source in sources if is_attachment(source.name)]
        files = [source for source in sources if source not in attached]
        facts = read_facts(handout_path, rules.name)

        team = facts.team if facts else ""
        named = rules.for_round(facts.round) if facts and team else rules
        attachments = Attachments.read(named, team, attached)
        try:
            _check_names(rules, facts, files)
            submission = rules.read_release(handout, files)
        except InputError as error:
            raise InputError(
                Problems.join([error.problems, attachments.refused or Problems([])])
            ) from error
        submission = attachments.attach_to(rules, handout, submission)
    return CheckedRelease(rules, handout, submission, tuple(notices), attachments.refused)


def _check_names(rules: AnyRulebook, facts: ContestFacts | None, sources: Sequence[Source]) -> None:
    """Refuse the names that ``publish`` would refuse; without a contest's folder any name is accepted."""
    if facts and facts.team:
        check_names(rules.for_round(facts.round), facts.team, sources)


def _check_order(rulebook: AnyRulebook, handout: Path, release: Path) -> None:
    """Tell who exchanged the two: a folder that a team was given is no release; of a file in one it is only a guess."""
    if not was_handed_out(rulebook, release) or was_handed_out(rulebook, handout):
        return
    command = f"{click.get_current_context().command_path} {shlex.quote(str(release))} {shlex.quote(str(handout))}"
    told = text("usage.swapped", release=str(release), command=command)
    if release.is_dir():
        raise UsageError(told)
    output.print_notices([told])


def _attachments_alone(rules: AnyRulebook, release: Path) -> list[Source]:
    """Return the sources of a release that has attachments only; nothing where it has other files."""
    sources = sources_of(release)
    is_attachment = rules.phase(ANONYMIZE).is_attachment
    return sources if all(is_attachment(source.name) for source in sources) else []


def _check_attachments(
    rules: AnyRulebook, handout: Path, sources: Sequence[Source], as_json: bool
) -> int:
    """Check attachments that come without a release, which stays as it was submitted."""
    with collect_notices() as notices:
        _check_names(rules, read_facts(handout, rules.name), sources)
        rules.check_attachments(sources)
    output.print_notices(notices)
    if as_json:
        output.print_json({"valid": True, "notices": [notice.as_json() for notice in notices]})
    else:
        for source in sources:
            output.console().print(
                text("cli.file", file=source.name, what=text("cli.valid_attachment")), markup=False
            )
    return output.DONE


def _check(rulebook: AnyRulebook, handout: Path, release: Path, as_json: bool) -> int:
    check_there(handout, release)
    if attached := _attachments_alone(rulebook, release):
        return _check_attachments(rulebook.in_folder(handout), handout, attached, as_json)
    found = read_release(rulebook, handout, release)
    output.print_notices(found.notices)
    if as_json:
        notices = [notice.as_json() for notice in found.notices]
        output.print_json({"valid": True, "notices": notices, **attachments_json(found)})
    else:
        output.console().print(
            text("cli.file", file=str(release), what=text("cli.valid")), markup=False
        )
    return report_attachments(found)


def attachments_json(found: CheckedRelease) -> dict[str, Any]:
    """Return the refused attachments of a valid release as the key of the JSON object; nothing where there are none."""
    if not found.attachments:
        return {}
    problems = [problem.as_json() for problem in found.attachments]
    return {
        "attachments": [
            {
                "file": found.attachments[0].file,
                "problem": str(found.attachments[0]),
                "problems": problems,
            }
        ]
    }


def report_attachments(found: CheckedRelease) -> int:
    """Print what is wrong with the attachments of a valid release, and return the exit code."""
    if not found.attachments:
        return output.DONE
    output.print_problems(found.attachments, found.attachments.total)
    output.print_notices([text("cli.attachment_refused", file=found.attachments[0].file)])
    return output.UNUSABLE if found.attachments.malformed else output.FAILS_RULES


def release_parameters() -> list[click.Parameter]:
    """The two paths that check and measure take."""
    return [path_argument("handout"), path_argument("release"), json_option()]


def check() -> click.Group:
    """The verb."""
    return rulebook_verb("check", _check, release_parameters, text("help.check"))
