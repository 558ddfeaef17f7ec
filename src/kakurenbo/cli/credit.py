"""``credit R ANSWER GUESS``: hits of one guess, beside chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import check_order, check_there, json_option, path_argument, rulebook_verb
from kakurenbo.contracts import ATTACK, AnyRulebook, read_facts
from kakurenbo.contracts.facts import ANSWER, part_folder, whole_of
from kakurenbo.messages import Phrase, text, text_or
from kakurenbo.tables import Problem, Problems, Reading, Severity, Source, refused


def _credit(rulebook: AnyRulebook, answer: Path, guess: Path, as_json: bool) -> int:
    check_order(("ANSWER", answer), ("GUESS", guess), lambda path: _is_answer(rulebook, path))
    check_there(answer, guess)
    rules = rulebook.in_folder(answer)
    truth = rules.read_answer(answer)
    if isinstance(truth, Problems):
        return output.refuse(truth, as_json)
    guessed = _other_answer(rules, answer, guess) or _read_guess(rules, answer, truth.value, guess)
    if isinstance(guessed, Problems):
        return output.refuse(_told(rules, guessed, guess), as_json)
    output.print_notices(guessed.notices)
    credit = rules.credit(truth.value, guessed.value)
    if as_json:
        output.print_json({"valid": True, **credit.as_json()})
    else:
        output.print_credit(rules, credit)
    return output.DONE


def _read_guess(rules: AnyRulebook, answer: Path, truth: Any, guess: Path) -> Reading[Any]:
    """The guess against the published target where it lies beside the answer, else against what the answer tells."""
    target = answer.resolve().parent.parent / "targets" / answer.name
    form = rules.answer_form(truth)
    if answer.is_dir() and target.is_dir():
        read = rules.read_target(target)
        if isinstance(read, Problems):
            return read
        form = read.value.form
    return rules.check_guess(form, Source.of(guess))


def _told(rules: AnyRulebook, problems: Problems, guess: Path) -> Problems:
    """The problems of the file as it was typed; one where its lines are all of a wrong width: it is another kind of file."""
    problems = problems.in_file(str(guess))
    widths = [problem.row for problem in problems if problem.code == "line.wrong_width"]
    if len(problems) == 1 or widths not in ([*range(first, first + len(problems))] for first in (1, 2)):
        return problems
    form = f"guess_form.{rules.name}"
    said = {"problem": problems[0].message, "form": Phrase(form if text_or(form, "") else "guess.form")}
    return Problems([Problem("guess.other_file", said, str(guess), problems[0].row, severity=Severity.MALFORMED)])


def _is_answer(rulebook: AnyRulebook, path: Path) -> bool:
    facts = read_facts(path, rulebook.name) if path.is_dir() else None
    return facts is not None and facts.folder == ANSWER


def _other_answer(rules: AnyRulebook, answer: Path, guess: Path) -> Problems | None:
    """A guess whose name tells another target than the answer's, or an attacker who was dealt another part of it."""
    facts = read_facts(answer, rules.name)
    parsed = (pattern.parse(guess.name) for pattern in rules.phase(ATTACK).files)
    named = next((fields for fields in parsed if fields is not None), {})
    if facts is None:
        return None
    if facts.target and named.get("target", facts.target) != facts.target:
        return refused("guess.other_target", guess.name, named=named["target"], target=facts.target)
    whole, attacker = whole_of(answer), named.get("attacker", "")
    part = whole / part_folder(attacker)
    if part.is_dir() and part != answer:
        return refused("guess.other_part", guess.name, attacker=attacker, folder=str(part))
    return None


def _parameters() -> list[click.Parameter]:
    return [path_argument("answer"), path_argument("guess"), json_option()]


def credit() -> click.Group:
    """The verb."""
    return rulebook_verb("credit", _credit, _parameters, text("help.credit"))
