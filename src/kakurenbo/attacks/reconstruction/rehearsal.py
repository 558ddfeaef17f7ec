"""A release whose truth the attacker knows: the declared method run on a table of the attacker's own making.

The table has the released ratings, and beside each row of them the attributes of another: every value as often as in the
target, ratings that go together as far as they do there, and attributes that have nothing to do with them. What its release
tells of it is what the target's release tells of B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.reconstruction.knowledge import (
    RATING_VALUES,
    RatingsKnowledge,
    starred_schema,
)
from kakurenbo.attacks.reconstruction.row_model import RowModel
from kakurenbo.contest import Anonymizer, Mechanism
from kakurenbo.core import Schema, Table
from kakurenbo.data import ratings


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """A release under attack of which everything is known.

    Attributes
    ----------
    original : Table
    knowledge : RatingsKnowledge
    people : array, shape (k,)
        The row of a that each row of b belongs to.
    """

    original: Table
    knowledge: RatingsKnowledge
    people: NDArray[np.int64]


def rehearse(
    knowledge: RatingsKnowledge, method: Anonymizer, model: RowModel, rng: np.random.Generator
) -> Rehearsal:
    """Run a method on a table made of the release, and draw as many people as the target has.

    The noise of its cells is that of the target, which ``model`` has found: it need not be fitted again.
    """
    original = _regrouped(knowledge.files, rng)
    made = method(original, rng).tables
    files = made if ratings.is_split(made) else ratings.split(made[0])
    count = len(knowledge.ratings)
    rows, order = rng.choice(len(original), count, replace=False), rng.permutation(count)
    told = original.take(rows[order])
    codes = np.stack([told.codes[name] for name in ratings.MOVIES], axis=1).astype(np.int64)
    codes[np.arange(count), rng.integers(len(ratings.MOVIES), size=count)] = RATING_VALUES
    starred = Table(starred_schema(), dict(zip(ratings.MOVIES, codes.T, strict=True)))
    people = original.take(rows).select(ratings.ATTRIBUTES)
    known = RatingsKnowledge(people, starred, files, Mechanism(model.transitions))
    return Rehearsal(original, known, order.astype(np.int64))


def _regrouped(files: tuple[Table, ...], rng: np.random.Generator) -> Table:
    """A table of all columns, each from the first file that has it; the attributes' rows are in an order of their own."""
    names = ratings.ATTRIBUTES + ratings.MOVIES
    first = {name: files[ratings.files_with(name)[0]] for name in names}
    schema = Schema(first[name].schema[name] for name in names)
    others = rng.permutation(len(files[0]))
    codes = {name: first[name].codes[name] for name in names}
    return Table(schema, codes | {name: codes[name][others] for name in ratings.ATTRIBUTES})
