"""A small contest: each team hides half of a town's people in a table, and the others say who is in it."""

from dataclasses import dataclass

import numpy as np

import kakurenbo as kb

# [start:contest]
TOWN = kb.Schema(
    [
        kb.Integer("age", 0, 99),
        kb.Integer("height", 140, 200),
        kb.Category("town", ("Aoba", "Izumi")),
    ]
)


@dataclass(frozen=True)
class HideAndSeek(kb.MembershipContest):
    """Hide people in a table; say who is in it."""

    name = "hide-and-seek"
    title = "say which people of a town are hidden in a table"
    rounds = ("only",)
    schema = TOWN
    guesses = 10
    utility_limits = {"moved": kb.at_most(4)}
    options = {"prepare": ("size",), "run": ("size",)}
    default_players = (
        *(kb.Player(f"blur by {n}", f"blur:reach={n}", "nearest") for n in (0, 2, 4, 6)),
        kb.Player("random answers", "rr:p=0.9", "blind"),
    )

    size: int = kb.parameter(60, "how many people there are", low=20, high=1000)

    def draw_population(self, rng: np.random.Generator) -> kb.Table:
        people = {column.name: rng.integers(0, column.size, self.size) for column in TOWN}
        return kb.Table(TOWN, people)

    def draw_members(self, population: kb.Table, rng: np.random.Generator) -> kb.Rows:
        return rng.permutation(len(population))[: len(population) // 2]

    def utility(self, original: kb.Table, release: kb.Table) -> dict[str, kb.Score]:
        changes = {n: np.abs(release.values(n) - original.values(n)) for n in ("age", "height")}
        moved = {name: float(change.mean()) for name, change in changes.items()}
        return {"moved": kb.Score(max(moved.values()), higher_is_better=False, parts=moved)}


# [end:contest]


# [start:methods]
@dataclass(frozen=True)
class Blur(kb.Anonymizer):
    """Move ages and heights at random by at most so many years and centimetres."""

    reach: int = kb.parameter(5, "the farthest that a value moves", low=0, high=50)

    @classmethod
    def accepts(cls, schema: kb.Schema) -> bool:
        return {"age", "height"} <= set(schema.names)

    def __call__(self, table: kb.Table, rng: np.random.Generator) -> kb.Release:
        moved = {}
        for name in ("age", "height"):
            steps = rng.integers(-self.reach, self.reach + 1, len(table))
            moved[name] = np.clip(
                table.codes[name].astype(int) + steps, 0, table.schema[name].size - 1
            )
        return kb.Release.of(table.with_codes(moved))


# [end:methods]
