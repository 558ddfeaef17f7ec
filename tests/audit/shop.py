"""Tables of several rows per person, drawn for the tests."""

from __future__ import annotations

import numpy as np
import polars as pl

PEOPLE, MONTHS = 120, 4


def purchases(seed: int = 1, people: int = PEOPLE, first: int = 0) -> pl.DataFrame:
    """A shop's rows in random order: everybody has favourite items, prices of her own, and buys in most months."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(first, first + people):
        favourites, level = rng.integers(0, 200, 8), rng.uniform(1, 50)
        for month in range(1, MONTHS + 1):
            for _ in range(rng.integers(0, 7)):
                day = f"2024-{month:02d}-{rng.integers(1, 29):02d}"
                price = f"{level * rng.uniform(0.8, 1.2):.2f}"
                rows.append(
                    (
                        f"c{person:03d}",
                        day,
                        f"item {rng.choice(favourites)}",
                        price,
                        str(rng.integers(1, 9)),
                    )
                )
    table = pl.DataFrame(rows, schema=["customer", "day", "item", "price", "pieces"], orient="row")
    return table[rng.permutation(len(table)).tolist()]


def pseudonymized(table: pl.DataFrame, seed: int = 2, *, monthly: bool = True) -> pl.DataFrame:
    """The same rows in the same order under pseudonyms, new ones in every month or for good."""
    rng = np.random.default_rng(seed)
    key = pl.concat_str("customer", pl.col("day").str.slice(0, 7 if monthly else 0), separator="/")
    names = table.select(key.alias("who"))["who"]
    different = names.unique().sort().to_list()
    new = dict(
        zip(
            different,
            [f"p{code:04d}" for code in rng.permutation(len(different)).tolist()],
            strict=True,
        )
    )
    return table.with_columns(names.replace_strict(new).alias("customer"))
