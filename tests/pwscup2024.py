"""A small B of pwscup2024 with relations in it, for tests that need no reference data."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from functools import cache

import numpy as np

from kakurenbo.attacks.reconstruction.types import RatingsGuess, RatingsKnowledge
from kakurenbo.contest import Mechanism
from kakurenbo.core import Schema, Table, Text
from kakurenbo.data import ratings
from kakurenbo.rulebooks.pwscup2024 import Answer, Handout, Pwscup2024, rehearse

__all__ = ["BOOK", "Handout", "hits", "small_original", "under_attack", "zipped"]

BOOK = Pwscup2024()


@cache
def small_original(rows: int = 600, seed: int = 1) -> Table:
    """Movies depend on a hidden taste, attributes are independent of it."""
    rng = np.random.default_rng(seed)
    schema = ratings.widest_schema()
    taste = rng.integers(6, size=rows)
    codes = {
        "Gender": rng.integers(2, size=rows),
        "Age": rng.integers(7, size=rows),
        "Occupation": rng.integers(21, size=rows),
        "ZIP-code": rng.integers(100, 130, size=rows),
    }
    for index, movie in enumerate(ratings.MOVIES):
        own = rng.integers(6, size=rows)
        codes[movie] = np.where(rng.random(rows) < 0.3, (taste + index) % 6, own)
    names = Table.from_texts(
        Schema([Text(ratings.NAME)]), {ratings.NAME: [f"Nobody {row}" for row in range(rows)]}
    )
    return ratings.narrowed(
        Table(schema, {**codes, ratings.NAME: names.codes[ratings.NAME]}, names.vocabularies)
    )


def under_attack(
    original: Table, released: tuple[Table, ...], seed: int = 3, mechanism: Mechanism | None = None
) -> tuple[RatingsKnowledge, Answer]:
    """What attackers get of a release, and the answer."""
    known, answer = rehearse(original, released, seed)
    return RatingsKnowledge(known.people, known.ratings, known.files, mechanism), answer


def hits(answer: Answer, guess: RatingsGuess) -> tuple[int, int]:
    """Identified, reconstructed."""
    details = BOOK.score_guess(answer, guess).details
    return int(details["identification"]), int(details["reconstruction"])


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip archive of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
