"""Every attack of a tournament as one flat CSV: a line per round, repeat, release and attacker."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

COLUMNS = (
    "round",
    "repeat",
    "target",
    "target_name",
    "anonymizer",
    "attacker",
    "attacker_name",
    "attack",
    "hits",
    "of",
    "accuracy",
    "chance_accuracy",
    "sample_attack_accuracy",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def results_csv(results: Mapping[str, Any]) -> str:
    """The table, with team names made harmless for spreadsheets."""
    players = {player["team"]: player for player in results["players"]}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for round_ in results["rounds"]:
        for repeat, played in enumerate(round_["repeats"], start=1):
            for target, row in played["credits"].items():
                for attacker, credit in row.items():
                    one, other = players.get(target, {}), players.get(attacker, {})
                    chance = credit.get("chance")
                    samples = [row[name]["accuracy"] for name in results["sample_attacks"] if name in row]
                    writer.writerow(
                        [
                            text_cell(round_["name"]),
                            repeat,
                            target,
                            text_cell(one.get("name", "")),
                            text_cell(one.get("anonymizer") or one.get("release", "")),
                            attacker,
                            text_cell(other.get("name", "")),
                            text_cell(other.get("attack") or other.get("guesses", "")),
                            credit["hits"],
                            credit["of"],
                            credit["accuracy"],
                            chance["hits"] / credit["of"] if chance and credit["of"] else "",
                            max(samples, default=""),
                        ]
                    )
    return out.getvalue()


def text_cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    Examples
    --------
    >>> text_cell("=1+1"), text_cell("team 7")
    ("'=1+1", 'team 7')
    """
    return f"'{text}" if text.startswith(_FORMULA) else text
