"""``check``, ``measure``, ``attack`` and ``credit``: what a team does by files."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kakurenbo.api import check_release
from kakurenbo.cli import output
from kakurenbo.cli.examples import example
from kakurenbo.cli.options import (
    JSON,
    OUT,
    OUT_TABLE,
    SEED,
    Option,
    argument,
    check_order,
    completion,
)
from kakurenbo.cli.plugins import method_command, rulebook_command
from kakurenbo.contest import ANONYMIZE, ATTACK, AnyRulebook, engine, fits, misfit, read_facts
from kakurenbo.contest.folders import ANSWER, TARGET, TEAM, ContestFolder, part_folder
from kakurenbo.contest.submissions import check_names
from kakurenbo.core import (
    InputError,
    Message,
    Problem,
    Problems,
    Severity,
    Source,
    collect_notices,
    sources_of,
    table_bytes,
    write_file,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.core.problems import LISTED_ROWS
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry

RELEASE_ARGUMENTS = argument("handout"), argument("release"), JSON


def was_handed_out(rulebook: AnyRulebook, path: Path) -> bool:
    """Return whether a folder, or the one a file lies in, is a team's dataset."""
    return _folder_kind(rulebook, path) == TEAM


def _folder_kind(rulebook: AnyRulebook, path: Path) -> str:
    """Return the kind of a contest's folder, or of the one a file lies in."""

    facts = read_facts(path, rulebook.name)
    return "" if facts is None else facts.folder


def check_release_order(rulebook: AnyRulebook, handout: Path, release: Path) -> None:
    """Refuse a team's folder as a release; warn of a file in one, which may be meant."""
    if not was_handed_out(rulebook, release) or was_handed_out(rulebook, handout):
        return
    path = click.get_current_context().command_path
    command = f"{path} {shlex.quote(str(release))} {shlex.quote(str(handout))}"
    message = text("usage.swapped", release=str(release), command=command)
    if release.is_dir():
        raise UsageError(message)
    output.print_notices([message])


@rulebook_command("check", *RELEASE_ARGUMENTS)
def check(rulebook: AnyRulebook, handout: Path, release: Path, as_json: bool) -> int:

    is_attachment = rulebook.phase(ANONYMIZE).is_attachment
    sources = sources_of(release)
    if sources and all(is_attachment(source.name) for source in sources):
        return _check_attachments(rulebook.in_folder(handout), handout, sources, as_json)
    check_release_order(rulebook, handout, release)
    with collect_notices() as notices:
        checked = check_release(rulebook, handout, release)
    output.print_notices(notices)
    if as_json:
        listed = [notice.as_json() for notice in notices]
        refused = _refused_json(checked.refused_attachments)
        output.print_json({"valid": True, "notices": listed, **refused})
    else:
        output.print_file(release, text("cli.valid"))
    return _report_attachments(checked.refused_attachments)


def _refused_json(problems: Problems | None) -> dict[str, Any]:
    """Return refused attachments as the key of the JSON object, if there are any."""
    if not problems:
        return {}
    listed = [problem.as_json() for problem in problems]
    entry = {"file": problems[0].file, "problem": str(problems[0]), "problems": listed}
    return {"attachments": [entry]}


def _report_attachments(problems: Problems | None) -> int:
    """Print what is wrong with attachments; return the exit code."""
    if problems:
        output.print_problems(problems, problems.total)
        output.print_notices([text("cli.attachment_refused", file=problems[0].file)])
    return output.exit_code(problems)


def _check_attachments(
    rules: AnyRulebook, handout: Path, sources: Sequence[Source], as_json: bool
) -> int:
    """Check attachments without a release, which stays as it was submitted."""
    facts = read_facts(handout, rules.name)
    with collect_notices() as notices:
        if facts and facts.team:
            check_names(rules.for_round(facts.round), facts.team, sources)
        rules.check_attachments(sources)
    output.print_notices(notices)
    if as_json:
        output.print_json({"valid": True, "notices": [notice.as_json() for notice in notices]})
        return output.DONE
    for source in sources:
        output.print_file(Path(source.name), text("cli.valid_attachment"))
    return output.DONE


def _privacy_option(rulebook: Any) -> list[click.Parameter]:
    return [Option("--privacy", is_flag=True)] if "privacy" in rulebook.options else []


@rulebook_command("measure", *RELEASE_ARGUMENTS, extra=_privacy_option)
def measure(
    rulebook: AnyRulebook, handout: Path, release: Path, as_json: bool, privacy: bool = False
) -> int:
    for name in rulebook.options.get("privacy", ()):
        if name in rulebook.given and not privacy:
            raise UsageError("usage.without_privacy", option=f"--{name}")
    check_release_order(rulebook, handout, release)
    with collect_notices() as notices:
        checked = check_release(rulebook, handout, release)
        rules = checked.rules
        models = rules.privacy(checked.handout, checked.submission) if privacy else None
    utility = rules.measure(checked.handout, checked.submission)
    output.print_notices([*notices, *utility.notices])
    if as_json:
        content = {**utility.as_json(), **_refused_json(checked.refused_attachments)}
        declared = {name: rules.figures[name] for name in utility.scores if name in rules.figures}
        if labels := {name: figure.label for name, figure in declared.items() if figure.label}:
            content["names"] = labels
        if models:
            content["privacy"] = models.as_json()["scores"]
        output.print_json(content)
    else:
        from kakurenbo.cli.scores import print_utility

        print_utility(rules, utility)
        if models:
            output.print_line(f"\n{text('measure.privacy')}")
            print_utility(rules, models)
    code = _report_attachments(checked.refused_attachments)
    return code if utility.passes else output.FAILS_RULES


# -- attacks ---------------------------------------------------------------------------------------


def _attack_options(method: Any) -> list[click.Parameter]:
    anonymizers = completion(lambda: registry.names("anonymizers"))
    return [
        argument("target", nargs=-1, required=True),
        OUT,
        Option("--mechanism", metavar="NAME:param=value,...", shell_complete=anonymizers),
        Option("--completed-b", type=OUT_TABLE, hidden=not method.completes),
        SEED,
        JSON,
    ]


def _known_files(rulebook: str, method: str) -> str:
    """Return the files that attackers of one contest, or of every one, know; and an example."""
    contests = [rulebook] if rulebook else registry.names("rulebooks")
    files = {name: text(f"knowledge.{name}", "") for name in contests}
    lines = [f"{name}: {listed}" for name, listed in files.items() if listed]
    paragraphs = [text("help.knowledge"), *lines] if lines else []
    if rulebook:
        paragraphs.append(
            f"\b\n{text('help.example', command=example('attack', rulebook, method))}"
        )
    return "".join(f"\n\n{paragraph}" for paragraph in paragraphs)


@method_command("attack", "attacks", _attack_options, _known_files)
def attack(
    rulebook: AnyRulebook,
    method: Any,
    target: tuple[Path, ...],
    mechanism: str | None,
    seed: int,
    out: Path,
    as_json: bool,
    completed_b: Path | None,
) -> None:

    if completed_b is not None:
        _check_completes(rulebook, method, out, completed_b)
    rules = rulebook.in_folder(target[0])
    declared = registry.build("anonymizers", mechanism, files=True) if mechanism else None
    if declared is not None and (reason := misfit(type(rules), declared)):
        name = registry.name_of(str(mechanism))
        raise UsageError("error.method_misfit", method=name, reason=reason)
    with collect_notices() as notices, _naming_files(rulebook, target):
        attacked = rules.read_target(*target, declared=declared)
    parts = list(ContestFolder(target[0]).parts.values()) if len(target) == 1 else []
    warnings = [text("attack.parts", parts=list(map(str, parts)))] if len(parts) > 1 else []
    output.print_notices([*notices, *warnings])
    guess, file = engine.attack(rules, attacked, method, stream(seed, "attack"))
    engine.check_guess(rules, attacked, out.name, file)
    write_file(out, file)
    if completed_b is not None:
        completed = method.completed(attacked.knowledge, guess)
        write_file(completed_b, table_bytes(completed, header=True))
    if as_json:
        output.print_json({"out": str(out), "target": attacked.name, "seed": seed})
    else:
        output.print_file(out, text("cli.written"))


@contextmanager
def _naming_files(rulebook: AnyRulebook, target: Sequence[Path]) -> Iterator[None]:
    """Name the files of a target's folder that cannot be read: one of them may be a stray."""
    try:
        yield
    except (InputError, UsageError):
        for folder in target:
            if folder.is_dir() and _folder_kind(rulebook, folder) == TARGET:
                files = [source.name for source in ContestFolder(folder).files]
                notice = text("attack.files", folder=str(folder), files=sorted(files))
                output.print_notices([notice])
        raise


def _check_completes(rulebook: AnyRulebook, method: Any, out: Path, completed: Path) -> None:
    """Raise UsageError if an attack does not complete b, or would write two files to one place."""

    if completed == out:
        raise UsageError("usage.same_file", path=str(out))
    if method.completes:
        return
    attacks = {name: registry.load("attacks", name) for name in registry.names("attacks")}
    playing = {name: cls for name, cls in attacks.items() if fits(type(rulebook), cls)}
    able = [name for name, cls in playing.items() if cls.completes]
    code = "usage.completes" if able else "usage.completes_nobody"
    raise UsageError(code, method=click.get_current_context().info_name, methods=able)


# -- correct guesses of one file -------------------------------------------------------------------


@rulebook_command("credit", argument("answer"), argument("guess"), JSON)
def credit(rulebook: AnyRulebook, answer: Path, guess: Path, as_json: bool) -> None:
    def is_answer(path: Path) -> bool:
        return path.is_dir() and _folder_kind(rulebook, path) == ANSWER

    check_order(("ANSWER", answer), ("GUESS", guess), is_answer)
    rules = rulebook.in_folder(answer)
    truth = rules.read_answer(answer)
    try:
        _check_answer(rules, answer, guess)
        # The published target knows more of the form than the answer, if it lies beside it.
        target = answer.resolve().parent.parent / "targets" / answer.name
        has_target = answer.is_dir() and target.is_dir()
        form = rules.read_target(target).form if has_target else rules.answer_form(truth)
        with collect_notices() as notices:
            guessed = rules.read_guess(form, Source.of(guess))
    except InputError as error:
        problems = error.problems.in_file(str(guess))
        raise InputError(_other_kind(rules, problems, guess) or problems) from error
    output.print_notices(notices)
    earned = rules.score_guess(truth, guessed)
    if as_json:
        output.print_json({"valid": True, **earned.as_json()})
    else:
        from kakurenbo.cli.scores import print_credit

        print_credit(rules, earned)


def _other_kind(rules: AnyRulebook, problems: Problems, guess: Path) -> Problems | None:
    """Return one problem if all lines have a wrong width: the file is of another kind."""

    wide = [problem for problem in problems if problem.code == "line.wrong_width"]
    others = {problem.code for problem in problems} - {"line.wrong_width", "table.row_count"}
    rows = sorted(row for problem in wide for row in problem.rows or (problem.row or 0,))
    rows = rows[:LISTED_ROWS]
    starts = [list(range(first, first + len(rows))) for first in (1, 2)]
    if others or len(rows) < 2 or rows not in starts:
        return None
    form = f"guess_form.{rules.name}"
    shown = {
        "problem": replace(wide[0], rows=(), count=1).message,
        "form": Message(form if text(form, "") else "guess.form"),
    }
    place = {"file": str(guess), "row": wide[0].row, "severity": Severity.MALFORMED}
    return Problems([Problem("guess.other_file", shown, **place)])  # type: ignore[arg-type]


def _check_answer(rules: AnyRulebook, answer: Path, guess: Path) -> None:
    """Refuse a guess whose name tells another target, or an attacker who has another part."""

    facts = read_facts(answer, rules.name)
    if facts is None:
        return
    parsed = (pattern.parse(guess.name) for pattern in rules.phase(ATTACK).files)
    fields = next((fields for fields in parsed if fields is not None), {})
    target, attacker = fields.get("target", facts.target), fields.get("attacker", "")
    if facts.target and target != facts.target:
        shown = {"named": target, "target": facts.target}
        raise InputError.of("guess.other_target", guess.name, **shown)
    part = ContestFolder(answer).whole.path / part_folder(attacker)
    if part.is_dir() and part != answer:
        shown = {"attacker": attacker, "folder": str(part)}
        raise InputError.of("guess.other_part", guess.name, **shown)
