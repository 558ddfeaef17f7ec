"""Several anonymizers one after the other, as one: each step gets what the step before it released."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from kakurenbo.contest import Anonymizer, Mechanism, Release
from kakurenbo.core import Schema, Table
from kakurenbo.core.arrays import Rng
from kakurenbo.core.messages import Message
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameter

SEPARATOR = "|"


@dataclass(frozen=True)
class Pipeline(Anonymizer):
    """Run steps in order: ``monthly_pseudonyms|delete:share=0.1`` names anonymizers with their parameters.

    Where the text itself stands in such a list, ``;`` is written for the ``,`` between parameters of a step. Without steps
    the table is released as it is. Claims of a step hold for the whole only where it is the only one.
    """

    steps: str = parameter(
        "", "anonymizers with parameters, NAME:parameter=value,... separated by |"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = (
            self.named_methods
        )  # an unknown name or a bad parameter is refused when the pipeline is made

    @classmethod
    def accepts(cls, schema: Schema) -> bool:  # noqa: ARG003
        """Any table: the steps decide (``unfit``)."""
        return True

    def unfit(self, schema: Schema) -> str | Message:
        reasons = ((name, step.unfit(schema)) for name, step in self.named_methods)
        steps = (
            Message("misfit.step", {"step": name, "reason": reason})
            for name, reason in reasons
            if reason
        )
        return next(steps, "")

    def lacking(self) -> str | Message:
        lacking = (step.lacking() for step in self.methods)
        return next((message for message in lacking if message), "")

    def parts(self) -> tuple[tuple[str, str], ...]:
        parts: list[tuple[str, str]] = []
        for name, step in self.named_methods:
            parts += [("anonymizers", name), *step.parts()]
        return tuple(parts)

    @cached_property
    def named_methods(self) -> tuple[tuple[str, Anonymizer], ...]:
        """The steps as anonymizers, each with its registered name."""
        texts = [text.strip().replace(";", ",") for text in self.steps.split(SEPARATOR)]
        named = ((registry.name_of(t), registry.build("anonymizers", t)) for t in texts if t)
        return tuple(named)

    @property
    def methods(self) -> tuple[Anonymizer, ...]:
        """The steps as anonymizers."""
        return tuple(step for _, step in self.named_methods)

    def __call__(self, table: Table, rng: Rng) -> Release:
        release = Release.of(table, Mechanism({}))  # nothing was touched yet
        for step in self.methods:
            release = step.after(table, release, rng).following(release)
        claims = release.claims if len(self.methods) == 1 else {}
        steps = tuple((name, step.mechanism(table)) for name, step in self.named_methods)
        return Release(release.tables, release.mechanism, claims, release.rows, steps)

    def mechanism(self, table: Table) -> Mechanism | None:
        """Known where every step's is; a step that looks at the data, such as a repair, has none."""
        known: Mechanism | None = Mechanism({})
        for step in self.methods:
            known = known and known.then(step.mechanism(table))
        return known
