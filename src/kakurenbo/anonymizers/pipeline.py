"""Several anonymizers one after the other, as one: each step gets what the step before it released."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kakurenbo import registry
from kakurenbo.contracts import Anonymizer, Mechanism, Release
from kakurenbo.errors import ParameterError
from kakurenbo.parameters import parameter
from kakurenbo.tables import Table

SEPARATOR = "|"


@dataclass(frozen=True)
class Pipeline(Anonymizer):
    """Run steps in order: ``monthly_pseudonyms|delete:share=0.1`` names anonymizers with their parameters.

    Where the text itself stands in such a list, ``;`` is written for the ``,`` between parameters of a step. Without steps
    the table is released as it is. Claims of a step hold for the whole only where it is the only one.
    """

    rulebooks: ClassVar[tuple[str, ...]] = ("darc2019", "pwscup2024")
    steps: str = parameter("", "anonymizers with parameters, NAME:parameter=value,... separated by |")

    def __post_init__(self) -> None:
        super().__post_init__()
        for step in self.methods:  # an unknown name or a bad parameter is told when the pipeline is made
            if not set.intersection(*(set(other.rulebooks) for other in self.methods)) & set(self.rulebooks):
                raise ParameterError("steps", f"anonymizers of {' or of '.join(self.rulebooks)}", type(step).__name__)

    @cached_property
    def methods(self) -> tuple[Anonymizer, ...]:
        """The steps as anonymizers."""
        texts = [text.strip().replace(";", ",") for text in self.steps.split(SEPARATOR)]
        return tuple(registry.build("anonymizers", text) for text in texts if text)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        release = Release.of(table, Mechanism({}))  # nothing was touched yet
        for step in self.methods:
            release = step.after(table, release, rng)
        return release if len(self.methods) == 1 else Release(release.tables, release.mechanism)

    def mechanism(self, table: Table) -> Mechanism | None:
        """Known where every step's is; a step that looks at the data, such as a repair, has none."""
        known: Mechanism | None = Mechanism({})
        for step in self.methods:
            known = known.then(step.mechanism(table)) if known is not None else None
        return known
