"""Cross-tab utility of pwscup2024: the two-way table that moved most decides, in the worst of the ten files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from kakurenbo.contracts import Score
from kakurenbo.tables import Table
from kakurenbo.tables.crosstabs import Pair, crosstab_errors


def compared_pairs(columns: Sequence[str], exempt: Sequence[str]) -> list[Pair]:
    """Every pair of columns that is not made of two exempt ones (the attributes), in column order.

    Examples
    --------
    >>> compared_pairs(["Gender", "Age", "260"], exempt=["Gender", "Age"])
    [('Gender', '260'), ('Age', '260')]
    """
    return [pair for pair in combinations(columns, 2) if not (pair[0] in exempt and pair[1] in exempt)]


def crosstab_utility(original: Table, released: Table, exempt: Sequence[str] = ()) -> Score:
    """U_j = 100 (1 - max e / 2n) of one file, e the absolute error of a pair's two-way table and n the rows (10,000).

    Parameters
    ----------
    original, released : Table
        Of one schema and one length.
    exempt : sequence of str
        Columns whose pairs with each other do not count.
    """
    pairs = compared_pairs(original.schema.names, exempt)
    if not pairs:
        return Score(100.0)
    errors = crosstab_errors(original, released, pairs)
    worst = int(errors.argmax())
    error = int(errors[worst])
    limit = {"pair": list(pairs[worst]), "error": error} if error else {}
    return Score(50 * (2 * len(original) - error) / len(original), limit=limit)


def least_utility(scores: Sequence[Score]) -> Score:
    """U = min_j U_j, limited by the file that has it."""
    worst = min(range(len(scores)), key=lambda number: scores[number].value)
    limit = {"file": worst, **scores[worst].limit} if scores[worst].limit else {}
    return Score(scores[worst].value, limit=limit)
