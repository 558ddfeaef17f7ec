"""Scores and ranks of amic2020, in exact fractions: 1 - 32/100 is 680 points, not the 679 of floating point."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from kakurenbo.contracts import Chance, Credit, RoundResults, Standing, Standings, by_number, rank
from kakurenbo.errors import UsageError
from kakurenbo.rulebooks.amic2020.files import GUESSES, Answer
from kakurenbo.tables import ProblemCollector, Problems, Severity, Source
from kakurenbo.tables.transitional import plain

SAMPLE_ATTACK = "attack.py"
WEIGHTS = {"pre": Fraction(1, 10), "main": Fraction(9, 10)}
FIRST = 3  # how many anonymizers an attacker is scored on
MAX_RESULTS_BYTES = 10_000_000


def count_hits(answer: Answer, rows: np.ndarray) -> Credit:
    """|E_ij intersect C_i| of 100, beside what blind guessing gets."""
    hits = int(np.isin(rows, answer.rows).sum())
    return Credit(hits, GUESSES, blind_guessing(answer.population, len(answer.rows)))


@cache
def blind_guessing(population: int, members: int, guesses: int = GUESSES) -> Chance:
    """Hits of guesses drawn without looking: hypergeometric, 10 of 100 on average.

    Examples
    --------
    >>> blind_guessing(100_000, 10_000)
    Chance(mean=10.0, low=5.0, high=16.0)
    """
    from scipy.stats import hypergeom

    law = hypergeom(population, members, guesses)
    return Chance(float(law.mean()), float(law.ppf(0.025)), float(law.ppf(0.975)))


def standings(rounds: Mapping[str, RoundResults], *, rounding: str = "cut") -> Standings:
    """Ranks of one round, or of the contest with pre:main = 1:9.

    Equal scores share a rank (1, 1, 3). An anonymizer that is disqualified or missing in a round has 0 there; in every
    round, it ranks behind all others.
    """
    weights = _weights(rounds)
    scored = {name: _round_scores(results) for name, results in rounds.items()}
    anonymizers = sorted({team for results in rounds.values() for team in results.anonymizers}, key=by_number)
    attackers = sorted({team for results in rounds.values() for team in results.ranked_attackers}, key=by_number)
    teams = sorted({*anonymizers, *attackers}, key=by_number)

    anonymization: dict[str, Fraction | None] = {}
    attack: dict[str, Fraction | None] = {}
    for team in teams:
        parts = {name: scores[0].get(team) for name, scores in scored.items()}
        known = [weights[name] * part for name, part in parts.items() if part is not None]
        anonymization[team] = sum(known, Fraction(0)) if known else None
        attack[team] = sum((weights[name] * scores[1].get(team, Fraction(0)) for name, scores in scored.items()), Fraction(0))
    notes = {team: _note(team, rounds) for team in teams}
    by_anonymization, by_attack = rank(anonymization, notes), rank(attack)
    places = {line.team: line.rank or 0 for line in by_anonymization}
    both = {line.team: Fraction(1, places[line.team] + (line.rank or 0)) for line in by_attack}
    unranked = _unranked_lines(rounds, scored, weights)
    return Standings(
        anonymization=_shown(by_anonymization, rounding),
        attack=_shown(by_attack, rounding) + _shown(unranked, rounding),
        overall=_shown(rank(both, notes), rounding),
    )


def _weights(rounds: Mapping[str, RoundResults]) -> Mapping[str, Fraction]:
    if len(rounds) == 1:
        return dict.fromkeys(rounds, Fraction(1))
    if set(rounds) != set(WEIGHTS):
        raise UsageError(f"the overall table is made of the rounds pre and main; got {', '.join(rounds) or 'none'}")
    return WEIGHTS


def _round_scores(results: RoundResults) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Anonymizer i: 1 - max_j accuracy_ij. Attacker j: mean accuracy over the first three anonymizers without j."""
    anonymization = {
        team: 1 - max((_accuracy(results, team, attacker) for attacker in _others(results, team)), default=Fraction(0))
        for team in results.anonymizers
        if team not in results.out
    }
    order = [line.team for line in rank(dict(anonymization))]
    attack = {}
    for attacker in results.attackers:
        first = [team for team in order if team != attacker][:FIRST]
        total = sum((_accuracy(results, team, attacker) for team in first), Fraction(0))
        attack[attacker] = total / len(first) if first else Fraction(0)
    return anonymization, attack


def _others(results: RoundResults, team: str) -> list[str]:
    return [attacker for attacker in results.ranked_attackers if attacker != team]


def _accuracy(results: RoundResults, target: str, attacker: str) -> Fraction:
    credit = results.credits.get(target, {}).get(attacker)
    return Fraction(int(credit.hits), credit.of) if credit is not None else Fraction(0)


def _note(team: str, rounds: Mapping[str, RoundResults]) -> str:
    found = {name: results.out.get(team, "" if team in results.anonymizers else "missing") for name, results in rounds.items()}
    if len(found) == 1:
        return next(iter(found.values()))
    return ", ".join(f"{why} in {name}" for name, why in found.items() if why)


def _unranked_lines(
    rounds: Mapping[str, RoundResults],
    scored: Mapping[str, tuple[dict[str, Fraction], dict[str, Fraction]]],
    weights: Mapping[str, Fraction],
) -> tuple[Standing, ...]:
    names = sorted({name for results in rounds.values() for name in results.unranked}, key=by_number)
    return tuple(
        Standing(
            name,
            sum((weights[round_] * scores[1].get(name, Fraction(0)) for round_, scores in scored.items()), Fraction(0)),
            None,
            "not ranked",
        )
        for name in names
    )


def _shown(lines: tuple[Standing, ...], rounding: str) -> tuple[Standing, ...]:
    return tuple(line if line.score is None else replace(line, shown=points(line.score, rounding)) for line in lines)


def points(score: Fraction, rounding: str = "cut") -> str:
    """The score times 1,000, cut; or rounded half up, as the published final table did.

    Examples
    --------
    >>> points(Fraction(71, 100)), points(Fraction(2, 3)), points(Fraction(2, 3), "round")
    ('710', '666', '667')
    """
    scaled = score * 1000 + (Fraction(1, 2) if rounding == "round" else 0)
    return str(scaled.numerator // scaled.denominator)


# -- published tables -------------------------------------------------------------------------------------------------


def read_results(source: Source) -> RoundResults | Problems:
    """A published attack matrix (CSV: rows attackers, columns anonymizers, blanks allowed), or our own JSON.

    Cells are hits of 100, or accuracies where any of them has a decimal point. A column of blanks is an anonymizer
    without a release. The row ``attack.py`` is the organizers' sample attack: shown, not ranked.
    """
    data = source.read(MAX_RESULTS_BYTES)
    if isinstance(data, Problems):
        return data
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return Problems([plain("the file is not UTF-8 text", "save it as UTF-8", source.name, severity=Severity.MALFORMED)])
    if text.lstrip().startswith("{"):
        return _from_json(source, text)
    return _from_matrix(source, text)


def _from_json(source: Source, text: str) -> RoundResults | Problems:
    try:
        return RoundResults.from_json(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        fix = "give the results file that run wrote, or a CSV matrix"
        return Problems([plain("this JSON is not a results file", fix, source.name, severity=Severity.MALFORMED)])


def _from_matrix(source: Source, text: str) -> RoundResults | Problems:
    found = ProblemCollector(source.name)
    rows = [(number, [cell.strip() for cell in row]) for number, row in enumerate(csv.reader(io.StringIO(text)), start=1)]
    rows = [(number, row) for number, row in rows if any(row)]
    if len(rows) < 2:
        found.add(
            "plain",
            message="there is no matrix in the file",
            fix="first row: anonymizers; then a row per attacker",
            severity=Severity.MALFORMED,
        )
        return found.problems()
    names, attackers = rows[0][1][1:], [row[0] for _, row in rows[1:]]
    _check_names(found, names, "anonymizer")
    _check_names(found, attackers, "attacker")
    scale = 100 if any("." in cell for _, row in rows[1:] for cell in row[1:]) else 1
    credits: dict[str, dict[str, Credit]] = {name: {} for name in names}
    for number, row in rows[1:]:
        if len(row) > len(names) + 1:
            found.add(
                "plain",
                message=f"the row has {len(row) - 1} cells for {len(names)} anonymizers",
                fix="give one cell each",
                row=number,
            )
        for name, cell in zip(names, row[1:], strict=False):
            if cell:
                hits = _hits(cell, scale)
                if hits is None:
                    _refuse_cell(found, number, name, cell)
                else:
                    credits[name][row[0]] = Credit(hits, GUESSES)
    if found:
        return found.problems()
    out = {name: "missing" for name, row in credits.items() if not row}
    unranked = frozenset({SAMPLE_ATTACK} & set(attackers))
    return RoundResults(credits, tuple(names), tuple(attackers), out=out, unranked=unranked)


def _check_names(found: ProblemCollector, names: list[str], what: str) -> None:
    for name in names:
        if not name or names.count(name) > 1:
            found.add(
                "plain", message=f"the {what} {name!r} is named {names.count(name)} times", fix="name each once", value=name
            )
            return


def _hits(cell: str, scale: int) -> int | None:
    """Hits of 100; None for anything that is not a whole number of hits from 0 to 100."""
    try:
        hits = Fraction(cell) * scale
    except (ValueError, ZeroDivisionError):
        return None
    return int(hits) if hits.denominator == 1 and 0 <= hits <= GUESSES else None


def _refuse_cell(found: ProblemCollector, row: int, column: str, cell: str) -> None:
    found.add(
        "plain",
        message=f"{cell!r} is not a number of hits",
        fix="give 0 to 100, or accuracies 0.00 to 1.00",
        row=row,
        column=column,
        value=cell,
    )
