"""``score R PHASE GUESSES -o RESULTS.json``: every guess of a round checked and credited, utility and verdicts included."""

from __future__ import annotations

from pathlib import Path

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import json_option, out_option, path_argument, rulebook_verb
from kakurenbo.cli.tournaments import print_matrix
from kakurenbo.contest import AnyRulebook
from kakurenbo.contest.records import PUBLISHED, SUPERSEDED
from kakurenbo.contest.rounds import ScoredRound, score_round
from kakurenbo.core import write_file
from kakurenbo.core.messages import retold, text
from kakurenbo.reports import Document, results_json, scored_document


def _score(rulebook: AnyRulebook, phase: Path, guesses: Path, out: Path, as_json: bool) -> int:
    scored = score_round(rulebook, phase, guesses)
    document = scored_document(rulebook.in_folder(phase / "public"), scored)
    write_file(out, document.as_bytes())
    absent = [record for record in scored.records if record.state not in (PUBLISHED, SUPERSEDED)]
    if as_json:
        output.print_json(
            {
                "out": str(out),
                "round": scored.facts.round,
                **results_json(scored.results),
                "refused": [refusal.as_json() for refusal in scored.refused],
                "failed": [failure.as_json() for failure in scored.failed],
                "missing": [
                    {"team": attacker, "target": target} for attacker, target in scored.missing
                ],
            }
        )
    else:
        _print(scored, document, out)
    return output.FAILS_RULES if scored.refused or scored.missing or absent else output.DONE


def _print(scored: ScoredRound, document: Document, out: Path) -> None:
    output.print_notices(scored.notices)
    for refusal in (*scored.refused, *scored.failed):
        output.print_problems(refusal.problems, refusal.count)
    console = output.console_beside(out)
    for entry in document.rounds:
        print_matrix(console, document, entry)
    for target, why in scored.results.out.items():
        console.print(text("cli.release_out", target=target, why=retold(why)), markup=False)
    if scored.missing:
        lacking: dict[str, list[str]] = {}
        for attacker, target in scored.missing:
            lacking.setdefault(attacker, []).append(target)
        missing = (
            text("cli.attacker_on", attacker=attacker, targets=targets)
            for attacker, targets in lacking.items()
        )
        console.print(text("cli.no_valid_guess", missing="; ".join(missing)), markup=False)
    ranking = f"kakurenbo standings {scored.facts.rulebook} {out}"
    console.print(
        text("cli.file", file=str(out), what=text("cli.rank_it", command=ranking)), markup=False
    )


def _parameters() -> list[click.Parameter]:
    return [path_argument("phase"), path_argument("guesses"), out_option(), json_option()]


def score() -> click.Group:
    """The verb."""
    return rulebook_verb("score", _score, _parameters, text("help.score"))
