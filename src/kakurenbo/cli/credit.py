"""``credit R ANSWER GUESS``: hits of one guess, beside chance."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, AnyRulebook, json_option, rulebook_verb
from kakurenbo.tables import Problems, Source


def _credit(rulebook: AnyRulebook, answer: Path, guess: Path, as_json: bool) -> int:
    truth = rulebook.read_answer(answer)
    if isinstance(truth, Problems):
        return output.refuse(truth, as_json)
    guessed = rulebook.read_guess(truth, Source.of(guess))
    if isinstance(guessed, Problems):
        return output.refuse(guessed, as_json)
    credit = rulebook.credit(truth, guessed)
    if as_json:
        output.print_json({"valid": True, **credit.as_json()})
        return output.DONE
    beside = f" ({output.chance_text(credit.chance)})" if credit.chance else ""
    output.console().print(f"{credit.hits:g} of {credit.of}{beside}")
    for name, value in credit.details.items():
        output.console().print(f"{name}: {value}")
    return output.DONE


def _parameters() -> list[click.Parameter]:
    return [click.Argument(["answer"], type=PATH), click.Argument(["guess"], type=PATH), json_option]


credit = rulebook_verb("credit", _credit, _parameters, "Hits of one guess against the secret answer.")
