"""Every attack of a document as one flat CSV: a line per round, repeat, release and attacker; ``standings`` reads it back."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping

from kakurenbo.contracts import Credit, RoundResults, team_of
from kakurenbo.messages import escaped
from kakurenbo.reporting.document import Document, PlayerEntry
from kakurenbo.tables import Read, Reading, refused
from kakurenbo.tables.texts import FORMULA

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
    "least",
    "accuracy",
    "details",
    "chance_accuracy",
    "constant_accuracy",
    "sample_attack_accuracy",
)
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
                for end in _attacks(results, target, players, document.counting_samples):
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
        ranked = "no" if attacker in results.unranked else "excluded" if attacker in results.excluded else "yes"
        who = [attacker, text_cell(player.name), text_cell(player.attack), ranked]
        yield [*who, *_credit(row.get(attacker)), best_sample]
    if not results.attackers:
        yield [""] * (len(COLUMNS) - 8)


def _credit(credit: Credit | None) -> list[object]:
    if credit is None:
        return [""] * 7
    details = ";".join(f"{name}={value}" for name, value in credit.details.items())
    chance = credit.share(credit.chance.mean) if credit.chance else ""
    constant = credit.share(credit.constant) if credit.constant is not None else ""
    return [credit.hits, credit.of, credit.least, credit.accuracy, details, chance, constant]


def text_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula, and no terminal for a command.

    Examples
    --------
    >>> text_cell("=1+1"), text_cell("team 7")
    ("'=1+1", 'team 7')
    """
    return escaped(f"'{text}" if text.startswith(FORMULA) else text)


MOST_LINES = 500_000  # of a table of results


def read_results_csv(file: str, data: bytes) -> Reading[dict[str, tuple[RoundResults, ...]]]:
    """The rounds of the table, each with its repeats."""
    collected: dict[str, dict[int, _Lines]] = {}
    reader = csv.DictReader(io.TextIOWrapper(io.BytesIO(data), "utf-8", "replace", newline=""), strict=True)
    while True:
        try:
            line = next(reader, None)
            if line is None:
                break
            if reader.line_num > MOST_LINES:
                return refused("results.too_many_lines", file, limit=MOST_LINES)
            collected.setdefault(line["round"], {}).setdefault(int(line["repeat"]), _Lines()).add(line)
        except (KeyError, ValueError, TypeError, AttributeError, csv.Error):
            return refused("results.bad_line", file, row=reader.line_num)
    if not collected:
        return refused("results.no_matrix", file)
    return Read({name: tuple(lines.results() for _, lines in sorted(repeats.items())) for name, repeats in collected.items()})


class _Lines:
    """The lines of one repeat of a round."""

    def __init__(self) -> None:
        self.credits: dict[str, dict[str, Credit]] = {}
        self.utility: dict[str, float] = {}
        self.out: dict[str, str] = {}
        self.unranked: set[str] = set()
        self.excluded: set[str] = set()
        self.attackers: dict[str, None] = {}

    def add(self, line: Mapping[str, str]) -> None:
        """Take up one line; raises where a cell is missing or no number."""
        target, attacker = line["target"], line["attacker"]
        row = self.credits.setdefault(target, {})
        if line["utility"]:
            self.utility[target] = _number(line["utility"])
        if line["out"]:
            self.out[target] = line["out"]
        if line["ranked"] == "excluded":
            self.excluded.add(team_of(target))
        if not attacker:
            return
        self.attackers[attacker] = None
        if line["attacker_ranked"] == "no":
            self.unranked.add(attacker)
        if line["attacker_ranked"] == "excluded":
            self.excluded.add(attacker)
        if line["hits"]:
            details = dict(part.split("=", 1) for part in line["details"].split(";") if part)
            numbers = {name: _number(text) for name, text in details.items()}
            row[attacker] = Credit(_number(line["hits"]), _number(line["of"]), details=numbers, least=_number(line["least"]))

    def results(self) -> RoundResults:
        return RoundResults(
            self.credits,
            tuple(self.credits),
            tuple(self.attackers),
            self.utility,
            self.out,
            frozenset(self.unranked),
            frozenset(self.excluded),
        )


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("not a number")
    return int(value) if value.is_integer() else value
