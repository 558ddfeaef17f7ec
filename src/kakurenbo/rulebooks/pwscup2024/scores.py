"""Hits, anonymity, total, attack score and ranks of pwscup2024, in exact fractions."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, RatingsGuess
from kakurenbo.contracts import Chance, Credit, RoundResults, Standing, Standings, by_number, rank
from kakurenbo.errors import UsageError
from kakurenbo.rulebooks.pwscup2024.files import Answer
from kakurenbo.tables import ProblemCollector, Problems, Severity, Source
from kakurenbo.tables.transitional import plain

WEIGHTS = {"pre": Fraction(1, 10), "main": Fraction(9, 10)}
FIRST = 5  # how many anonymizers an attacker is scored on
FULL = 100  # hits of both kinds at most
HALF = 50
MAX_RESULTS_BYTES = 10_000_000


def count_hits(answer: Answer, guess: RatingsGuess) -> Credit:
    """Equal cells of both columns, 0..50 each."""
    identified = int((answer.people == guess.people).sum())
    reconstructed = int((answer.values == guess.values).sum())
    details = {"identification": identified, "reconstruction": reconstructed}
    return Credit(identified + reconstructed, 2 * len(answer.people), blind_guessing(len(answer.people)), details)


def blind_guessing(rows: int) -> Chance:
    """Hits of a random assignment and random ratings: about 1 + 50 / 6 of 100.

    Examples
    --------
    >>> chance = blind_guessing(50)
    >>> round(chance.mean, 2), chance.low, chance.high
    (9.33, 4.0, 15.0)
    """
    from scipy.stats import binom, poisson

    # The fixed points of a random permutation are close to Poisson(1); the ratings are binomial.
    law = np.convolve(poisson.pmf(np.arange(rows + 1), 1), binom.pmf(np.arange(rows + 1), rows, 1 / RATING_VALUES))
    below = np.cumsum(law)
    low, high = np.searchsorted(below, 0.025), np.searchsorted(below, 0.975)
    return Chance(1 + rows / RATING_VALUES, float(low), float(high))


def total_score(anonymity: Fraction, utility: Fraction) -> Fraction:
    """max(0, A + U - 2 max(0, 50 - A) - 2 max(0, 50 - U)).

    Examples
    --------
    >>> float(total_score(Fraction(31), Fraction("91.02")))
    84.02
    """
    short = max(Fraction(0), HALF - anonymity) + max(Fraction(0), HALF - utility)
    return max(Fraction(0), anonymity + utility - 2 * short)


def standings(rounds: Mapping[str, RoundResults]) -> Standings:
    """Ranks of one round, or of the contest with pre:main = 1:9, separately for total and attack."""
    weights = _weights(rounds)
    scored = {name: _RoundScores(results) for name, results in rounds.items()}
    teams = sorted(
        {team for results in rounds.values() for team in (*results.anonymizers, *results.ranked_attackers)}, key=by_number
    )
    total: dict[str, Fraction | None] = {}
    attack: dict[str, Fraction | None] = {}
    notes = {team: "; ".join(_notes(team, rounds)) for team in teams}
    for team in teams:
        parts = [(weights[name], scores.total.get(team)) for name, scores in scored.items()]
        known = [weight * part for weight, part in parts if part is not None]
        total[team] = sum(known, Fraction(0)) if known else None
        attack[team] = sum(
            (weights[name] * scores.attack.get(team, Fraction(0)) for name, scores in scored.items()), Fraction(0)
        )
    by_total = rank(total, notes)
    unranked = tuple(
        Standing(name, weights[round_] * scores.attack[name], None, "not ranked")
        for round_, scores in scored.items()
        for name in sorted(rounds[round_].unranked, key=by_number)
    )
    return Standings(by_total, rank(attack) + unranked, by_total, {"rounds": _details(rounds, scored)})


class _RoundScores:
    """A, total and attack score of everybody in one round."""

    def __init__(self, results: RoundResults) -> None:
        self._results = results
        in_play = [team for team in results.anonymizers if team not in results.out]
        self.anonymity = {team: FULL - max(self._attacked(team), default=Fraction(0)) for team in in_play}
        self.utility = {team: Fraction(str(results.utility[team])) for team in in_play}
        self.total = {team: total_score(self.anonymity[team], self.utility[team]) for team in in_play}
        self.first = [line.team for line in rank(dict(self.total))][:FIRST]
        self.attack = {attacker: self._attack(attacker) for attacker in results.attackers}

    def _attacked(self, target: str) -> list[Fraction]:
        return [self._hits(target, attacker) for attacker in self._results.ranked_attackers if attacker != target]

    def _attack(self, attacker: str) -> Fraction:
        """Hits on the five best anonymizers; for one of the five, its own entry counts 100 - A_self."""
        own = sum((FULL - self.anonymity[team] for team in self.first if team == attacker), Fraction(0))
        return own + sum((self._hits(team, attacker) for team in self.first if team != attacker), Fraction(0))

    def _hits(self, target: str, attacker: str) -> Fraction:
        credit = self._results.credits.get(target, {}).get(attacker)
        return Fraction(str(credit.hits)) if credit is not None else Fraction(0)


def _weights(rounds: Mapping[str, RoundResults]) -> Mapping[str, Fraction]:
    if len(rounds) == 1:
        return dict.fromkeys(rounds, Fraction(1))
    if set(rounds) != set(WEIGHTS):
        raise UsageError(f"the overall table is made of the rounds pre and main; got {', '.join(rounds) or 'none'}")
    return WEIGHTS


def _notes(team: str, rounds: Mapping[str, RoundResults]) -> list[str]:
    found = {name: results.out.get(team, "" if team in results.anonymizers else "missing") for name, results in rounds.items()}
    return [why if len(rounds) == 1 else f"{why} in {name}" for name, why in found.items() if why]


def _details(rounds: Mapping[str, RoundResults], scored: Mapping[str, _RoundScores]) -> dict[str, Any]:
    """What every total is made of, for readers of the JSON."""
    return {
        name: {
            team: {
                "utility": float(scores.utility[team]),
                "anonymity": float(scores.anonymity[team]),
                "total": float(scores.total[team]),
                "attack": float(scores.attack[team]) if team in scores.attack else None,
            }
            for team in rounds[name].anonymizers
            if team in scores.total
        }
        for name, scores in scored.items()
    }


# -- published tables -------------------------------------------------------------------------------------------------


def read_results(source: Source) -> RoundResults | Problems:
    """A published table (CSV) or our own JSON.

    The table has a row per anonymizer: ``anonymizer``, per attacker ``NN`` (both hits) or ``NNi`` and ``NNd`` (hits of each
    kind), and ``utility``. Further columns are not looked at. A row of zeros only is a team that withdrew.
    """
    data = source.read(MAX_RESULTS_BYTES)
    if isinstance(data, Problems):
        return data
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Problems([plain("the file is not UTF-8 text", "save it as UTF-8", source.name, severity=Severity.MALFORMED)])
    return _from_json(source, text) if text.lstrip().startswith("{") else _from_table(source, text)


def _from_json(source: Source, text: str) -> RoundResults | Problems:
    try:
        results = RoundResults.from_json(json.loads(text))
        if not {team for team in results.anonymizers if team not in results.out} <= set(results.utility):
            raise ValueError("a release without utility")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fix = "give the results file that run wrote, or a CSV table"
        return Problems([plain("this JSON is not a results file", fix, source.name, severity=Severity.MALFORMED)])
    return results


def _from_table(source: Source, text: str) -> RoundResults | Problems:
    found = ProblemCollector(source.name)
    rows = [(number, [cell.strip() for cell in row]) for number, row in enumerate(csv.reader(io.StringIO(text)), start=1)]
    rows = [(number, row) for number, row in rows if any(row)]
    header = rows[0][1] if rows else []
    places = _attacker_columns(header)
    if not places or "utility" not in header or len(rows) < 2 or len(set(header)) < len(header):
        message = "this is no table of results"
        fix = "the header is anonymizer, then NN or NNi and NNd per attacker, and utility; each once"
        found.add("plain", message=message, fix=fix, row=1, value=",".join(header), severity=Severity.MALFORMED)
        return found.problems()
    credits: dict[str, dict[str, Credit]] = {}
    utility: dict[str, float] = {}
    for number, row in rows[1:]:
        team = row[0]
        if len(row) != len(header):
            found.add(
                "plain", message=f"the row has {len(row)} cells for {len(header)} columns", fix="give one cell each", row=number
            )
            continue
        if not team or team in credits:
            found.add(
                "plain",
                message=f"the anonymizer {team!r} is named twice or not at all",
                fix="name each once",
                row=number,
                value=team,
            )
            continue
        cells = {
            name: _number(found, number, name, row[place], HALF if name[-1] in "id" else FULL)
            for name, place in zip(header, range(len(header)), strict=True)
            if name in {column for columns in places.values() for column in columns}
        }
        credits[team] = {attacker: _credit(cells, columns) for attacker, columns in places.items() if attacker != team}
        utility[team] = float(_number(found, number, "utility", row[header.index("utility")], FULL, whole=False))
    if found:
        return found.problems()
    out = {team: "withdrew" for team in credits if not utility[team] and not any(c.hits for c in credits[team].values())}
    return RoundResults(credits, tuple(credits), tuple(places), utility=utility, out=out)


def _attacker_columns(header: list[str]) -> dict[str, tuple[str, ...]]:
    """The columns of each attacker: both hits, or one column for each kind."""
    places: dict[str, tuple[str, ...]] = {}
    for name in header[1:]:
        match = re.fullmatch(r"(\d+)([id]?)", name)
        if match:
            places[match.group(1)] = (*places.get(match.group(1), ()), name)
    return places


def _number(found: ProblemCollector, row: int, column: str, cell: str, most: int, *, whole: bool = True) -> Fraction:
    try:
        value = Fraction(cell) if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", cell) else None
    except ValueError:
        value = None
    if value is None or value > most or (whole and value.denominator != 1):
        what = "a number of hits" if whole else "a utility"
        found.add(
            "plain",
            message=f"{cell!r} is not {what}",
            fix=f"give a number from 0 to {most}",
            row=row,
            column=column,
            value=cell,
        )
        return Fraction(0)
    return value


def _credit(cells: Mapping[str, Fraction], columns: tuple[str, ...]) -> Credit:
    kinds = {"i": "identification", "d": "reconstruction"}
    details = {kinds[name[-1]]: int(cells[name]) for name in columns if name[-1] in kinds}
    return Credit(int(sum(cells[name] for name in columns)), FULL, details=details)
