"""Several steps on the ten files one after the other, as one anonymizer that a line of text describes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from kakurenbo import registry
from kakurenbo.anonymizers.files import UNTOUCHED, Draft, FileStep, chained
from kakurenbo.errors import KakurenboError, ParameterError
from kakurenbo.parameters import parameter
from kakurenbo.protocols import Anonymizer, Mechanism, Release
from kakurenbo.tables import Table

SEPARATOR = "|"


@dataclass(frozen=True)
class FileSteps(Anonymizer):
    """Run steps in order, each on what the step before it made: ``pseudo_olh:epsilon=2|crosstab_repair_fast:utility=85``.

    A repair compares with the original, however many steps lie between. Where a comma would end the whole text, a step's
    parameters may be separated by ``;``.
    """

    rulebooks: ClassVar[tuple[str, ...]] = ("pwscup2024",)
    steps: str = parameter(
        "permute_columns:per_file=false|crosstab_repair_fast:utility=77;care=0;per_file=false",
        "steps with parameters, NAME:parameter=value;... separated by |",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            found = self.methods  # an unknown name or a bad parameter is told when the pipeline is made
        except KakurenboError as error:
            raise ParameterError("steps", f"steps that can be made ({error})", self.steps) from error
        for step in found:
            if not isinstance(step, FileStep):
                raise ParameterError("steps", "steps on the files of a contest", type(step).__name__)

    @cached_property
    def methods(self) -> tuple[FileStep, ...]:
        """The steps as anonymizers."""
        texts = [text.strip().replace(";", ",") for text in self.steps.split(SEPARATOR)]
        return tuple(registry.build("anonymizers", text) for text in texts if text)

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        draft = Draft.of(table)
        for step in self.methods:
            draft = step.refine(draft, rng)
        return draft.release()

    def mechanism(self, table: Table) -> Mechanism | None:
        """Known where every step's is: a repair looks at the data, so nothing is known of its cells."""
        return chained(UNTOUCHED, *(step.mechanism(table) for step in self.methods))
