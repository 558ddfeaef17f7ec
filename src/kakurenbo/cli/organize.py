"""``prepare``, ``publish``, ``attach``, ``score`` and ``standings``: what an organizer does by files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from kakurenbo.api import Contest
from kakurenbo.cli import output
from kakurenbo.cli.options import (
    DISQUALIFIED,
    JSON,
    OUT,
    OUT_FOLDER_OPTION,
    PATH,
    SEED,
    UNRANKED,
    InputPath,
    Option,
    argument,
    names,
)
from kakurenbo.cli.plugins import rulebook_command
from kakurenbo.contest import (
    ANONYMIZE,
    ATTACK,
    AnyRulebook,
    read_facts,
    team_of,
)
from kakurenbo.contest.commitments import COMMITMENTS_FILE, digest
from kakurenbo.contest.readme import judges_text
from kakurenbo.contest.records import STATES, Refusal, RefusedAttachment, limit_refusals
from kakurenbo.contest.results import PUBLISHED, SUPERSEDED
from kakurenbo.contest.rounds import (
    AttachedRound,
    PublishedRound,
    attach_to_round,
    score_round,
)
from kakurenbo.contest.schedule import moment
from kakurenbo.contest.submissions import RefusedFile
from kakurenbo.core import InputError, check_free, collect_notices, write_file, write_folder
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import language, text, translated, with_message

_GUESSABLE = 2**64
_MAX_TEAMS = 9999
_NAMED_FILES = 3  # of many with the same problem

# -- prepare ---------------------------------------------------------------------------------------


@rulebook_command(
    "prepare",
    OUT_FOLDER_OPTION,
    Option("--teams", required=True, metavar="N|NN,NN"),
    UNRANKED,
    Option("--judges", type=names, default="", metavar="NN,NN"),
    Option("--schedule", code="option.schedule_file", type=PATH, metavar="FILE"),
    SEED,
    JSON,
)
def prepare(
    rulebook: AnyRulebook,
    teams: str,
    unranked: list[str],
    judges: list[str],
    schedule: Path | None,
    seed: int,
    out: Path,
    as_json: bool,
) -> None:
    numbers = team_numbers(teams)
    preparation = Contest(rulebook).prepare(
        out, numbers, seed=seed, unranked=unranked, judges=judges, schedule=schedule
    )
    committed = digest(preparation.folders["public"][COMMITMENTS_FILE])
    if as_json:
        report = {
            "out": str(out),
            "folders": sorted(preparation.folders),
            "teams": numbers,
            "commitments_sha256": committed,
            **preparation.report,
        }
        output.print_json(report)
        return
    output.print_line(text("cli.data", source=translated(preparation.report["data"])))
    output.print_line(f"{out}/public     {text('cli.prepared_public', digest=committed)}")
    output.print_line(f"{out}/teams/NN   {text('cli.prepared_teams')}")
    output.print_line(f"{out}/attackers  {text('cli.prepared_attackers')}")
    output.print_line(f"{out}/secret     {text('cli.prepared_secret')}")
    if seed < _GUESSABLE:
        output.print_notices([text("cli.guessable_seed")])


def team_numbers(given: str) -> list[str]:
    """Read teams from ``5`` (01 to 05), or from a list with gaps, ``01,03,07`` or ``01-05,09``.

    Examples
    --------
    >>> team_numbers("3"), team_numbers("01,03-05")
    (['01', '02', '03'], ['01', '03', '04', '05'])
    """
    if not given.isascii():
        raise UsageError("usage.teams_option", given=given)
    if given.isdecimal() and not given.startswith("0") and len(given) <= 3:
        return [f"{number:02d}" for number in range(1, int(given) + 1)]
    numbers: list[str] = []
    for part in names(given):
        first, dash, last = part.partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()) or len(part) > 9:
            raise UsageError("usage.teams_option", given=given)
        teams = range(int(first), int(last or first) + 1)
        if len(teams) > _MAX_TEAMS or len(numbers) >= _MAX_TEAMS:
            raise UsageError("usage.too_many_teams", given=given, most=_MAX_TEAMS)
        numbers += [f"{number:0{len(first)}d}" for number in teams]
    return numbers


# -- publish and attach ----------------------------------------------------------------------------


@rulebook_command(
    "publish",
    argument("preparation"),
    argument("submissions"),
    OUT_FOLDER_OPTION,
    Option("--team", default=""),
    Option("--with-disqualified", is_flag=True),
    JSON,
)
def publish(
    rulebook: AnyRulebook,
    preparation: Path,
    submissions: Path,
    out: Path,
    as_json: bool,
    **options: Any,
) -> int:
    published = Contest(rulebook).publish(preparation, submissions, out, **options)
    if as_json:
        output.print_json({"out": str(out), **published_json(published)})
    else:
        print_published(published, out)
    return output.DONE if published.complete else output.FAILS_RULES


def published_json(published: PublishedRound) -> dict[str, Any]:
    """Return who is in which state, and what belongs to no release."""
    attachments = [
        entry
        for record in published.records
        for entry in attachments_json(record.target, record.attachments)
    ]
    return {
        "commitments_sha256": _commitments_digest(published.files),
        **_by_state(published),
        "attachments": attachments,
        "unassigned": [refusal.as_json() for refusal in _of_published(published)],
    }


def print_published(published: PublishedRound, out: Path) -> None:
    """Print what became of every release, and whom the folders are for."""
    from rich.markup import escape

    from kakurenbo.cli.terminal import console, plain_table

    table = plain_table(text("cli.target"), "", text("cli.why"))
    for record in published.records:
        cause = translated(with_message(record.cause, record.messages))
        table.add_row(record.target, text(f"word.{record.state}"), escape(cause))
    print_release_notices(published)
    console().print(table)
    _print_unassigned(published.unassigned, {record.team for record in published.records})
    committed = _commitments_digest(published.files)
    output.print_line(f"{out}/public     {text('cli.published_public', digest=committed)}")
    output.print_line(f"{out}/attackers  {text('cli.published_attackers')}")
    output.print_line(f"{out}/targets    {text('cli.published_targets')}")
    output.print_line(f"{out}/answers    {text('cli.published_answers')}")


def _commitments_digest(files: Mapping[str, bytes]) -> str:
    return digest(files[f"public/{COMMITMENTS_FILE}"])


def _of_published(published: PublishedRound) -> list[Refusal]:
    return _unassigned(published.unassigned, {record.team for record in published.records})


def _by_state(published: PublishedRound) -> dict[str, list[Any]]:
    """Return the releases of each state: targets, or entries with the problem."""
    states: dict[str, list[Any]] = {state: [] for state in STATES}
    for record in published.records:
        if record.state in (PUBLISHED, SUPERSEDED):
            states[record.state].append(record.target)
            continue
        entry: dict[str, Any] = {"team": record.team, "target": record.target}
        entry |= {"files": list(record.files), "problem": record.cause}
        if record.problems:
            entry["problems"] = list(record.problems)
        states[record.state].append(entry)
    return states


def attachments_json(target: str, refused: Sequence[RefusedAttachment]) -> list[dict[str, Any]]:
    """Return the refused attachments of a release, ready for JSON."""
    whose = {"team": team_of(target), "target": target}
    return [
        {**whose, "file": one.file, "problem": one.problems[0], "problems": list(one.problems)}
        for one in refused
    ]


def _unassigned(files: Sequence[RefusedFile], teams: set[str]) -> list[Refusal]:
    """Return what belongs to no release, by the team's folder it lies in; the first of many."""
    refusals = []
    for file, problems in files:
        folder = file.partition("/")[0]
        refusals.append(Refusal.of(folder if folder in teams else "", file, problems))
    return limit_refusals(refusals)


def _print_unassigned(files: Sequence[RefusedFile], teams: set[str]) -> None:
    """Print what belongs to no release; many files of a folder with the same problem in one line."""
    alike: dict[tuple[str, str], list[RefusedFile]] = {}
    for file, problems in files:
        same = "; ".join(problem.statement.text() for problem in problems)
        alike.setdefault((file.rpartition("/")[0], same), []).append((file, problems))
    lines: list[RefusedFile] = []
    for group in alike.values():
        if len(group) <= _NAMED_FILES:
            lines += group
            continue
        first = ", ".join(file for file, _ in group[:_NAMED_FILES])
        name = text("cli.files_and_more", files=first, count=len(group) - _NAMED_FILES)
        file, problems = group[0]
        lines.append((file, problems.in_file(name)))
    for refusal in _unassigned(lines, teams):
        output.print_problems(refusal.problems, refusal.count)


def print_release_notices(published: PublishedRound) -> None:
    """Print every notice once, after all the releases that it is about."""
    targets: dict[str, list[str]] = {}
    for record in published.records:
        for notice in record.notices:
            said = translated(with_message(notice, record.messages))
            targets.setdefault(said, []).append(record.target)
    output.print_notices(f"{', '.join(about)}: {notice}" for notice, about in targets.items())


def _has_attachments(rulebook: type[AnyRulebook]) -> bool:
    return any(phase.attachments for phase in rulebook.phases if phase.name == ANONYMIZE)


@rulebook_command(
    "attach",
    argument("preparation"),
    argument("phase"),
    argument("submissions"),
    OUT_FOLDER_OPTION,
    JSON,
    offered=_has_attachments,
)
def attach(
    rulebook: AnyRulebook,
    preparation: Path,
    phase: Path,
    submissions: Path,
    out: Path,
    as_json: bool,
) -> int:
    check_free(out)
    attached = attach_to_round(rulebook, preparation, phase, submissions)
    if attached.attached:
        late = _late_notices(rulebook, phase)
        attached = replace(attached, notices=(*late, *attached.notices))
    write_folder(out, attached.files, private=("answers",))
    unassigned = _unassigned(attached.unassigned, set())
    committed = _commitments_digest(attached.files)
    if as_json:
        attachments = [
            entry
            for team, refusal in attached.refused
            for entry in attachments_json(team, [refusal])
        ]
        report = {
            "out": str(out),
            "commitments_sha256": committed,
            "attached": [target for target, _ in attached.attached],
            "attachments": attachments,
            "notices": [f"{target}: {notice}" for target, notice in attached.notices],
            "unassigned": [refusal.as_json() for refusal in unassigned],
        }
        output.print_json(report)
    else:
        _print_attached(attached)
        _print_unassigned(attached.unassigned, set())
        output.print_line(f"{out}/public     {text('cli.published_public', digest=committed)}")
    return output.FAILS_RULES if attached.refused or attached.unassigned else output.DONE


def _print_attached(attached: AttachedRound) -> None:
    for target, file in attached.attached:
        output.print_line(text("cli.attached", target=target, file=file))
    output.print_notices(f"{target}: {translated(notice)}" for target, notice in attached.notices)
    for team, refusal in attached.refused:
        problems = [with_message(problem, refusal.messages) for problem in refusal.problems]
        output.print_notices(f"{team}: {translated(problem)}" for problem in problems)


def _late_notices(rulebook: AnyRulebook, phase: Path) -> list[tuple[str, str]]:
    """Return a notice if, by the schedule, attackers have the phase folder already."""
    facts = read_facts(phase / "public", rulebook.name)
    if facts is None:
        return []
    now = datetime.now(UTC)
    attacks = [
        scheduled
        for scheduled in facts.schedule.phases
        if scheduled.phase == ATTACK and scheduled.round == facts.round
    ]
    opened = [scheduled.opens for scheduled in attacks if scheduled.opens <= now]
    return [
        (phase.name, text("cli.attached_late", opens=moment(opens.astimezone())))
        for opens in opened
    ]


# -- score and standings ---------------------------------------------------------------------------


# Results may lie beside the folders of a phase, which are read.
_PHASE = argument("phase", type=InputPath(files="*/*"))


@rulebook_command("score", _PHASE, argument("guesses"), OUT, JSON)
def score(rulebook: AnyRulebook, phase: Path, guesses: Path, out: Path, as_json: bool) -> int:
    from kakurenbo.reports import results_json, scored_document

    scored = score_round(rulebook, phase, guesses)
    document = scored_document(rulebook.in_folder(phase / "public"), scored)
    write_file(out, document.as_bytes())
    if as_json:
        report = {
            "out": str(out),
            "round": scored.facts.round,
            **results_json(scored.results),
            "refused": [refusal.as_json() for refusal in scored.refused],
            "failed": [failure.as_json() for failure in scored.failed],
            "missing": [{"team": team, "target": target} for team, target in scored.missing],
        }
        output.print_json(report)
    else:
        _print_scored(scored, document, out)
    absent = [record for record in scored.records if record.state not in (PUBLISHED, SUPERSEDED)]
    return output.FAILS_RULES if scored.refused or scored.missing or absent else output.DONE


def _print_scored(scored: Any, document: Any, out: Path) -> None:
    from kakurenbo.cli.tournament_tables import print_matrix
    from kakurenbo.core import STANDARD_OUTPUT

    output.print_notices(scored.notices)
    for refusal in (*scored.refused, *scored.failed):
        output.print_problems(refusal.problems, refusal.count)
    for entry in document.rounds:
        print_matrix(document, entry, stderr=out == STANDARD_OUTPUT)
    for target, why in scored.results.out.items():
        output.print_line(text("cli.release_out", target=target, why=text(f"word.{why}", why)), out)
    targets: dict[str, list[str]] = {}
    for attacker, target in scored.missing:
        targets.setdefault(attacker, []).append(target)
    if targets:
        missing = (
            text("cli.attacker_on", attacker=attacker, targets=listed)
            for attacker, listed in targets.items()
        )
        output.print_line(text("cli.no_valid_guess", missing="; ".join(missing)), out)
    ranking = f"kakurenbo standings {scored.facts.rulebook} {out}"
    output.print_file(out, text("cli.rank_it", command=ranking))


def _round_options(cls: type[AnyRulebook]) -> list[click.Parameter]:
    """Return an option for the results of each round, where a contest has several."""
    if len(cls.rounds) == 1:
        return []
    helps = {
        name: text(f"option.{name}", text("option.round_results", round=name))
        for name in cls.rounds
    }
    return [
        click.Option([f"--{name}", f"results_of_{name}"], type=PATH, help=about)
        for name, about in helps.items()
    ]


@rulebook_command(
    "standings",
    argument("results", nargs=-1, required=False),
    DISQUALIFIED,
    UNRANKED,
    JSON,
    extra=_round_options,
)
def standings(
    rulebook: AnyRulebook,
    results: tuple[Path, ...],
    disqualified: str,
    unranked: list[str],
    as_json: bool,
    **by_round: Path | None,
) -> None:
    from kakurenbo.cli.scores import print_rankings
    from kakurenbo.reports import document_without, joined, read_results

    files = [("", path) for path in results]
    named = [(name, by_round.get(f"results_of_{name}")) for name in rulebook.rounds]
    files += [(name, path) for name, path in named if path is not None]
    _check_files(rulebook, results, len(files) - len(results), has_rounds=bool(by_round))
    documents = []
    for name, path in files:
        with collect_notices() as notices:
            document = read_results(rulebook, path, name)
        _check_settings(rulebook, path, document.contest.settings)
        output.print_notices(notices)
        documents.append((str(path), document))
    together = document_without(
        rulebook, joined(rulebook, documents), names(disqualified), unranked
    )
    if as_json:
        output.print_json(together.standings())
        return
    print_rankings(
        together.rankings,
        together.awards,
        together.award_notices,
        tables=together.details.get("tables", {}),
        figures=together.figures,
    )
    if judges := together.contest.judges:
        output.print_line(f"\n{judges_text(rulebook.name, judges, language())}")


def _check_files(
    rulebook: AnyRulebook, results: Sequence[Path], named: int, *, has_rounds: bool
) -> None:
    """Raise UsageError unless there are files without a round or files of rounds, not both."""
    if bool(results) != bool(named):
        return
    if not has_rounds:
        raise UsageError("usage.one_round", rulebook=rulebook.name)
    options = [f"--{name}" for name in rulebook.rounds]
    raise UsageError("usage.results_files", options=options)


def _check_settings(rulebook: AnyRulebook, path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a setting that was asked for if the figures of the file were made with another."""
    for name in rulebook.scored_by:
        asked = getattr(rulebook, name)
        if name in rulebook.given and name in settings and settings[name] != asked:
            shown = {"name": name, "found": settings[name], "given": asked}
            raise InputError.of("results.other_setting", path.name, **shown)
