"""``attach R PREPARATION PHASE SUBMISSIONS -o PHASE2``: the phase folder again, with late questionnaires added."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import json_option, out_folder_option, path_argument, rulebook_verb
from kakurenbo.cli.publish import attachments_json
from kakurenbo.contest import ANONYMIZE, ATTACK, AnyRulebook, read_facts
from kakurenbo.contest.commitments import COMMITMENTS_FILE, digest
from kakurenbo.contest.records import Refusal, limit_refusals
from kakurenbo.contest.rounds import AttachedRound, attach_to_round
from kakurenbo.contest.schedule import moment
from kakurenbo.core import check_free, write_folder
from kakurenbo.core.messages import retold, text


def _attach(
    rulebook: AnyRulebook,
    preparation: Path,
    phase: Path,
    submissions: Path,
    out: Path,
    as_json: bool,
) -> int:
    check_free(out)
    made = attach_to_round(rulebook, preparation, phase, submissions)
    if made.attached:
        made = replace(made, notices=(*_too_late(rulebook, phase), *made.notices))
    write_folder(out, made.files, private=("answers",))
    unassigned = limit_refusals(
        [Refusal.of("", file, problems) for file, problems in made.unassigned]
    )
    if as_json:
        _print_json(made, unassigned, out)
    else:
        _print(made, unassigned, out)
    return output.FAILS_RULES if made.refused or made.unassigned else output.DONE


def _too_late(rulebook: AnyRulebook, phase: Path) -> list[tuple[str, str]]:
    """Return a notice where the schedule says that attackers have the phase folder already."""
    facts = read_facts(phase / "public", rulebook.name)
    now = datetime.now(UTC)
    opened = [
        scheduled
        for scheduled in (facts.schedule.phases if facts else ())
        if scheduled.phase == ATTACK and facts and scheduled.round == facts.round
        if scheduled.opens <= now
    ]
    return [
        (phase.name, text("cli.attached_late", opens=moment(scheduled.opens.astimezone())))
        for scheduled in opened
    ]


def _print_json(made: AttachedRound, unassigned: list[Refusal], out: Path) -> None:
    output.print_json(
        {
            "out": str(out),
            "commitments_sha256": digest(made.files[f"public/{COMMITMENTS_FILE}"]),
            "attached": [target for target, _ in made.attached],
            "attachments": [
                entry
                for team, refusal in made.refused
                for entry in attachments_json(team, [refusal])
            ],
            "notices": [f"{target}: {notice}" for target, notice in made.notices],
            "unassigned": [refusal.as_json() for refusal in unassigned],
        }
    )


def _print(made: AttachedRound, unassigned: list[Refusal], out: Path) -> None:
    console = output.console()
    for target, file in made.attached:
        console.print(text("cli.attached", target=target, file=file), markup=False)
    output.print_notices(f"{target}: {retold(notice)}" for target, notice in made.notices)
    output.print_notices(
        f"{team}: {retold(problem)}"
        for team, refusal in made.refused
        for problem in refusal.problems
    )
    for refusal in unassigned:
        output.print_problems(refusal.problems, refusal.count)
    committed = digest(made.files[f"public/{COMMITMENTS_FILE}"])
    console.print(
        f"{out}/public     {text('cli.published_public', digest=committed)}", markup=False
    )


def _parameters() -> list[click.Parameter]:
    paths = [path_argument(name) for name in ("preparation", "phase", "submissions")]
    return [*paths, out_folder_option(), json_option()]


def _has_attachments(rulebook: type[AnyRulebook]) -> bool:
    return any(phase.attachments for phase in rulebook.phases if phase.name == ANONYMIZE)


def attach() -> click.Group:
    """The verb."""
    return rulebook_verb(
        "attach", _attach, _parameters, text("help.attach"), offered=_has_attachments
    )
