"""An anonymizer and an attack of our own, for amic2020."""

# --8<-- [start:imports]
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl

from kakurenbo.attacks.membership import MembershipGuess, MembershipKnowledge
from kakurenbo.contracts import Anonymizer, Attack, Release, unknown_column
from kakurenbo.parameters import parameter
from kakurenbo.tables import Schema, Table

# --8<-- [end:imports]


# --8<-- [start:anonymizer]
@dataclass(frozen=True)
class RankSwap(Anonymizer):
    """Swap values between records whose values lie close together, so that histograms stay exactly as they are."""

    reach: int = parameter(100, "how many places in the sorted column a value may move", low=1)
    columns: tuple[str, ...] = parameter(("age", "hours-per-week"), "columns whose values are swapped")

    def unfit(self, schema: Schema) -> str:
        return super().unfit(schema) or unknown_column(schema, self.columns)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        changed = {}
        for name in table.schema.select(self.columns).names:
            codes = table.codes[name]
            # Sort with noise of at most `reach` places: neighbours in the new order are close in the old one.
            order = np.argsort(codes, kind="stable")
            places = np.arange(len(codes)) + rng.uniform(0, self.reach, len(codes))
            swapped = np.empty_like(codes)
            swapped[order] = codes[order][np.argsort(places, kind="stable")]
            changed[name] = swapped
        return Release.of(table.with_codes(changed))


# --8<-- [end:anonymizer]


# --8<-- [start:attack]
@dataclass(frozen=True)
class Rarest(Attack[MembershipKnowledge, MembershipGuess]):
    """Name rows of B that stand in the release as they are, those first that few rows of B resemble."""

    knowledge: ClassVar[type] = MembershipKnowledge

    columns: tuple[str, ...] = parameter(("education", "occupation", "relationship"), "columns in which to count look-alikes")

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> MembershipGuess:
        population, release = (
            pl.DataFrame({name: table.codes[name] for name in table.schema.names})
            for table in (knowledge.population, knowledge.release)
        )
        names = population.columns
        # Whether each row of B stands in D, and how many rows of B look like it.
        found = population.join(release.unique().with_columns(found=True), on=names, how="left", maintain_order="left")
        scores = found.select(pl.col("found").is_null().alias("absent"), pl.len().over(list(self.columns)).alias("alike"))
        shuffled = rng.permutation(len(scores))  # ties fall as they may
        order = np.lexsort((scores["alike"].to_numpy()[shuffled], scores["absent"].to_numpy()[shuffled]))
        return MembershipGuess(shuffled[order[: knowledge.guesses]])


# --8<-- [end:attack]
