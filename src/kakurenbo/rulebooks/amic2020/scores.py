"""Scores and ranks of amic2020, in exact fractions: 1 - 32/100 is 680 points, not the 679 of floating point."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from kakurenbo.contest import Credit, RoundResults, Standing, Standings, rank_scores, two_digits
from kakurenbo.contest.results import (
    NO_AWARDS,
    RoundScores,
    best_attack,
    check_team_names,
    rank_rounds,
)
from kakurenbo.core import ProblemCollector, Row, Severity, Source, read_cells
from kakurenbo.core.messages import Message
from kakurenbo.rulebooks.amic2020.files import GUESSES

FIRST = 3  # how many anonymizers an attacker is scored on
POINTS = 1000  # what a score is multiplied by before it is shown
SAMPLE_ATTACK = "attack.py"
WITHOUT_AWARDS = {"pre": "award.none.amic2020.pre", "trial": "award.none.amic2020.trial"}
"""Rounds that give no awards where they are ranked alone, and the message that says why."""
_NUMBER = re.compile(r"[0-9]{1,3}(\.[0-9]{1,20})?")


def standings(
    rounds: Mapping[str, RoundResults], weights: Mapping[str, Fraction], *, rounding: str = "cut"
) -> Standings:
    """Rank one round, or the contest with pre:main = 1:9; overall score 1 / (anonymization rank + attack rank).

    An anonymizer that is disqualified or missing in one of two rounds has 0 there. The preliminary round alone gives no
    awards, nor does a trial.
    """
    scores = {name: round_scores(results) for name, results in rounds.items()}
    ranked = rank_rounds(
        rounds,
        scores,
        weights,
        overall=lambda anonymization, attack: Fraction(1, anonymization + attack),
        lowest_wins=frozenset(),
    )
    reason = WITHOUT_AWARDS.get(next(iter(rounds))) if len(rounds) == 1 else None
    return replace(
        ranked,
        anonymization=_with_points(ranked.anonymization, rounding),
        attack=_with_points(ranked.attack, rounding),
        overall=_with_points(ranked.overall, rounding),
        awards=ranked.awards if reason is None else {},
        details={} if reason is None else {NO_AWARDS: Message(reason).stored()},
    )


def round_scores(results: RoundResults) -> RoundScores:
    """Anonymizer i: 1 - max_j accuracy_ij. Attacker j: mean accuracy over the first three anonymizers without j.

    A missing or invalid guess counts 0 for that pair alone.
    """
    anonymization = {
        team: 1 - best_attack(results, team, results.share) for team in results.in_play
    }
    ranked = rank_scores({team: anonymization[team] for team in results.ranked_targets})
    attack = {}
    for attacker in results.attackers:
        first = [line.team for line in ranked if line.team != attacker][:FIRST]
        total = sum((results.share(team, attacker) for team in first), Fraction(0))
        attack[attacker] = total / max(1, len(first))
    return RoundScores(anonymization, attack)


def _with_points(lines: tuple[Standing, ...], rounding: str) -> tuple[Standing, ...]:
    return tuple(
        line if line.score is None else replace(line, shown=points(line.score, rounding))
        for line in lines
    )


def points(score: Fraction, rounding: str = "cut") -> str:
    """Return the score times 1,000, cut; or rounded half up, as the published final table did.

    Examples
    --------
    >>> points(Fraction(71, 100)), points(Fraction(2, 3)), points(Fraction(2, 3), "round")
    ('710', '666', '667')
    """
    scaled = score * POINTS + (Fraction(1, 2) if rounding == "round" else 0)
    return str(scaled.numerator // scaled.denominator)


# -- the attack matrix that the contest published ------------------------------------------------------------------------


def read_matrix(source: Source) -> RoundResults:
    """Read a published matrix: rows attackers, columns anonymizers; a blank is a missing guess.

    Cells are hits of 100, or accuracies where any of them has a decimal point. Every column is a release, even if it was not
    attacked. The row ``attack.py`` is the organizers' sample attack: shown, not ranked.
    """
    rows, problems = read_cells(source), ProblemCollector(source.name)
    if len(rows) < 2 or len(rows[0][1]) < 2:
        problems.add("amic2020.no_matrix", severity=Severity.MALFORMED)
        raise problems.error()
    targets = [two_digits(cell) for cell in rows[0][1][1:]]
    attackers = [two_digits(row[0]) for _, row in rows[1:]]
    for names, (row, _) in ((targets, rows[0]), (attackers, rows[1])):
        check_team_names(problems, names, row, "amic2020.matrix_name")
    credits = _credits(problems, targets, rows[1:])
    problems.check()
    unranked = frozenset({SAMPLE_ATTACK} & set(attackers))
    return RoundResults(credits, tuple(targets), tuple(attackers), unranked=unranked)


def _credits(
    problems: ProblemCollector, targets: Sequence[str], rows: Sequence[Row]
) -> dict[str, dict[str, Credit]]:
    """Return credits by target and attacker; report cells that are no number of hits."""
    scale = GUESSES if any("." in cell for _, row in rows for cell in row[1:]) else 1
    credits: dict[str, dict[str, Credit]] = {target: {} for target in targets}
    for number, row in rows:
        if len(row) > len(targets) + 1:
            code, cells = "amic2020.matrix_width", len(row) - 1
            problems.add(code, row=number, cells=cells, targets=len(targets))
        for target, cell in zip(targets, row[1:], strict=False):
            hits = Fraction(cell) * scale if _NUMBER.fullmatch(cell) else None
            if hits is not None and hits.denominator == 1 and hits <= GUESSES:
                credits[target][two_digits(row[0])] = Credit(int(hits), GUESSES)
            elif cell:
                code = "amic2020.matrix_cell"
                problems.add(code, row=number, column=target, value=cell, most=GUESSES)
    return credits
