"""Every attack of a document as one flat CSV: a line per round, repeat, release and attacker; ``standings`` reads it back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from kakurenbo.contracts import Credit, RoundResults, team_of
from kakurenbo.reporting.document import Document, PlayerEntry

COLUMNS = (
    "round",
    "repeat",
    "target",
    "target_name",
    "anonymizer",
    "utility",
    "out",
    "ranked",
    "attacker",
    "attacker_name",
    "attack",
    "attacker_ranked",
    "hits",
    "of",
    "accuracy",
    "details",
    "chance_accuracy",
    "constant_accuracy",
    "sample_attack_accuracy",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NOBODY = PlayerEntry("")


def results_csv(document: Document) -> str:
    """The table, with team names made harmless for spreadsheets."""
    players = {player.team: player for player in document.players}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in document.rounds:
        for repeat, results in enumerate(entry.repeats, start=1):
            for target in results.targets:
                player = players.get(team_of(target), _NOBODY)
                begin = [text_cell(entry.name), repeat, target, text_cell(player.name), text_cell(player.anonymizer)]
                begin += [results.utility.get(target, ""), results.out.get(target, "")]
                begin.append("excluded" if team_of(target) in results.excluded else "yes")
                for end in _attacks(results, target, players, document.sample_attacks):
                    writer.writerow([*begin, *end])
    return out.getvalue()


def _attacks(
    results: RoundResults, target: str, players: dict[str, PlayerEntry], samples: tuple[str, ...]
) -> Iterator[list[object]]:
    """The cells of every attacker on a target; one line without an attacker where nobody takes part."""
    row = results.credits.get(target, {})
    best_sample = max((row[name].accuracy for name in samples if name in row), default="")
    for attacker in results.attackers:
        player = players.get(attacker, _NOBODY)
        who = [attacker, text_cell(player.name), text_cell(player.attack), "no" if attacker in results.unranked else "yes"]
        yield [*who, *_credit(row.get(attacker)), best_sample]
    if not results.attackers:
        yield [""] * (len(COLUMNS) - 8)


def _credit(credit: Credit | None) -> list[object]:
    if credit is None:
        return [""] * 6
    details = ";".join(f"{name}={value}" for name, value in credit.details.items())
    chance = credit.share(credit.chance.mean) if credit.chance else ""
    constant = credit.share(credit.constant) if credit.constant is not None else ""
    return [credit.hits, credit.of, credit.accuracy, details, chance, constant]


def text_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    Examples
    --------
    >>> text_cell("=1+1"), text_cell("team 7")
    ("'=1+1", 'team 7')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
