"""``credit R ANSWER GUESS``: hits of one guess, beside chance."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import check_order, check_there, json_option, path_argument, rulebook_verb
from kakurenbo.contest import ATTACK, AnyRulebook, read_facts
from kakurenbo.contest.facts import ANSWER, part_folder, whole_of
from kakurenbo.core import InputError, Problem, Problems, Severity, Source, collect_notices
from kakurenbo.core.messages import Phrase, text, text_or
from kakurenbo.core.problems import LISTED_ROWS


def _credit(rulebook: AnyRulebook, answer: Path, guess: Path, as_json: bool) -> int:
    check_order(("ANSWER", answer), ("GUESS", guess), lambda path: _is_answer(rulebook, path))
    check_there(answer, guess)
    rules = rulebook.in_folder(answer)
    truth = rules.read_answer(answer)
    try:
        _check_answer(rules, answer, guess)
        form = _guess_form(rules, answer, truth)
        with collect_notices() as notices:
            guessed = rules.read_guess(form, Source.of(guess))
    except InputError as error:
        raise InputError(_told(rules, error.problems, guess)) from error
    output.print_notices(notices)
    credit = rules.score_guess(truth, guessed)
    if as_json:
        output.print_json({"valid": True, **credit.as_json()})
    else:
        output.print_credit(rules, credit)
    return output.DONE


def _guess_form(rules: AnyRulebook, answer: Path, truth: Any) -> Any:
    """Return the form by the published target where it lies beside the answer, else by what the answer tells."""
    target = answer.resolve().parent.parent / "targets" / answer.name
    if answer.is_dir() and target.is_dir():
        return rules.read_target(target).form
    return rules.answer_form(truth)


def _told(rules: AnyRulebook, problems: Problems, guess: Path) -> Problems:
    """The problems of the file as it was typed; one where its lines are all of a wrong width: it is another kind of file."""
    problems = problems.in_file(str(guess))
    wrong = [problem for problem in problems if problem.code == "line.wrong_width"]
    wrong_widths = all(
        problem in wrong or problem.code == "table.row_count" for problem in problems
    )
    rows = sorted(row for problem in wrong for row in problem.rows or (problem.row or 0,))[
        :LISTED_ROWS
    ]
    if (
        not wrong_widths
        or len(rows) < 2
        or rows not in ([*range(first, first + len(rows))] for first in (1, 2))
    ):
        return problems
    form = f"guess_form.{rules.name}"
    said = {
        "problem": replace(wrong[0], rows=(), count=1).message,
        "form": Phrase(form if text_or(form, "") else "guess.form"),
    }
    return Problems(
        [Problem("guess.other_file", said, str(guess), wrong[0].row, severity=Severity.MALFORMED)]
    )


def _is_answer(rulebook: AnyRulebook, path: Path) -> bool:
    facts = read_facts(path, rulebook.name) if path.is_dir() else None
    return facts is not None and facts.folder == ANSWER


def _check_answer(rules: AnyRulebook, answer: Path, guess: Path) -> None:
    """Refuse a guess whose name tells another target than the answer's, or an attacker who was dealt another part."""
    facts = read_facts(answer, rules.name)
    parsed = (pattern.parse(guess.name) for pattern in rules.phase(ATTACK).files)
    named = next((fields for fields in parsed if fields is not None), {})
    if facts is None:
        return
    if facts.target and named.get("target", facts.target) != facts.target:
        raise InputError.of(
            "guess.other_target", guess.name, named=named["target"], target=facts.target
        )
    whole, attacker = whole_of(answer), named.get("attacker", "")
    part = whole / part_folder(attacker)
    if part.is_dir() and part != answer:
        raise InputError.of("guess.other_part", guess.name, attacker=attacker, folder=str(part))


def _parameters() -> list[click.Parameter]:
    return [path_argument("answer"), path_argument("guess"), json_option()]


def credit() -> click.Group:
    """The verb."""
    return rulebook_verb("credit", _credit, _parameters, text("help.credit"))
