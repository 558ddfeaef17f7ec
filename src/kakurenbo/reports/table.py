"""Every attack of a document as one flat CSV: a line per round, repeat, release and attacker."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from kakurenbo.contest import Credit, RoundResults, team_of
from kakurenbo.core.messages import escaped
from kakurenbo.core.texts import FORMULA
from kakurenbo.reports.document import Document, PlayerEntry, RoundEntry

_RELEASE_COLUMNS = (
    "round",
    "repeat",
    "target",
    "target_name",
    "anonymizer",
    "utility",
    "out",
    "ranked",
)
_ATTACK_COLUMNS = (
    *("attacker", "attacker_name", "attack", "attacker_ranked"),
    *("hits", "of", "least", "accuracy", "details", "chance_accuracy", "constant_accuracy"),
    "sample_attack_accuracy",
)
COLUMNS = (*_RELEASE_COLUMNS, *_ATTACK_COLUMNS)


def results_csv(document: Document) -> str:
    """Return the table, with texts of players made harmless for spreadsheets."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in document.rounds:
        for repeat, results in enumerate(entry.repeats, start=1):
            writer.writerows(_lines(document, entry, repeat, results))
    return out.getvalue()


def _lines(
    document: Document, entry: RoundEntry, repeat: int, results: RoundResults
) -> Iterator[list[object]]:
    players = {player.team: player for player in document.players}
    for target in results.targets:
        team, row = team_of(target), results.credits.get(target, {})
        player = players.get(team, PlayerEntry(team))
        samples = [row[name].accuracy for name in document.counting_samples if name in row]
        names = map(text_cell, (player.name, player.anonymizer))
        release = [text_cell(entry.name), repeat, target, *names]
        release += [results.utility.get(target, ""), results.out.get(target, "")]
        release.append("excluded" if team in results.excluded else "yes")
        for attacker in results.attackers:
            attacking = players.get(attacker, PlayerEntry(attacker))
            is_ranked = "excluded" if attacker in results.excluded else "yes"
            names = map(text_cell, (attacking.name, attacking.attack))
            yield [
                *(*release, attacker, *names),
                "no" if attacker in results.unranked else is_ranked,
                *_credit_cells(row.get(attacker)),
                max(samples, default=""),
            ]
        if not results.attackers:
            yield [*release, *([""] * len(_ATTACK_COLUMNS))]


def _credit_cells(credit: Credit | None) -> list[object]:
    if credit is None:
        return [""] * 7
    details = ";".join(f"{name}={value}" for name, value in credit.details.items())
    chance = credit.share(credit.chance.mean) if credit.chance else ""
    constant = credit.share(credit.constant) if credit.constant is not None else ""
    return [credit.hits, credit.of, credit.least, credit.accuracy, details, chance, constant]


def text_cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, and no terminal for a command.

    Examples
    --------
    >>> text_cell("=1+1"), text_cell("team 7")
    ("'=1+1", 'team 7')
    """
    return escaped(f"'{text}" if text.startswith(FORMULA) else text)
