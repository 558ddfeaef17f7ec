"""An anonymizer and an attack of our own, for every contest whose data fits them."""

# [start:imports]
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

import kakurenbo as kb
from kakurenbo.attacks.membership import MembershipGuess, MembershipKnowledge

# [end:imports]


# [start:anonymizer]
@dataclass(frozen=True)
class RankSwap(kb.Anonymizer):
    """Swap numbers between records whose numbers lie close together, so that histograms stay exactly as they are."""

    reach: int = kb.parameter(100, "how many places in the sorted column a number may move", low=1)

    @classmethod
    def accepts(cls, schema: kb.Schema) -> bool:
        return any(isinstance(column, kb.Integer) for column in schema)

    def __call__(self, table: kb.Table, rng: np.random.Generator) -> kb.Release:
        changed = {}
        for column in table.schema:
            if isinstance(column, kb.Integer):
                codes = table.codes[column.name]
                # Sort with noise of at most `reach` places: neighbours in the new order are close in the old one.
                order = np.argsort(codes, kind="stable")
                places = np.arange(len(codes)) + rng.uniform(0, self.reach, len(codes))
                swapped = np.empty_like(codes)
                swapped[order] = codes[order][np.argsort(places, kind="stable")]
                changed[column.name] = swapped
        return kb.Release.of(table.with_codes(changed))


# [end:anonymizer]


# [start:attack]
@dataclass(frozen=True)
class Rarest(kb.Attack[MembershipKnowledge, MembershipGuess]):
    """Name rows of the population that stand in the release as they are, those first that few others resemble."""

    knowledge: ClassVar[type] = MembershipKnowledge

    columns: int = kb.parameter(5, "how many of the first columns look-alikes agree in", low=1)

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        population, release = (
            pl.DataFrame({name: table.codes[name] for name in table.schema.names})
            for table in (knowledge.population, knowledge.release)
        )
        names = population.columns
        # Whether each row of the population stands in the release, and how many rows of the population look like it.
        found = population.join(
            release.unique().with_columns(found=True), on=names, how="left", maintain_order="left"
        )
        alike = pl.len().over(names[: self.columns])
        scores = found.select(pl.col("found").is_null().alias("absent"), alike.alias("alike"))
        shuffled = rng.permutation(len(scores))  # ties fall as they may
        order = np.lexsort(
            (scores["alike"].to_numpy()[shuffled], scores["absent"].to_numpy()[shuffled])
        )
        return MembershipGuess(shuffled[order[: knowledge.guesses]])


# [end:attack]
