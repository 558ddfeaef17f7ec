"""A small contest: each team hides half of a town's people in a table, and the others say who is in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import kakurenbo as kb
from kakurenbo.attacks.membership import MembershipGuess, MembershipKnowledge
from kakurenbo.attacks.membership.nearest import Nearest

SCHEMA = kb.Schema(
    [
        kb.Integer("age", 0, 99),
        kb.Integer("height", 140, 200),
        kb.Category("town", ("Aoba", "Izumi")),
    ]
)
TOWN, HIDDEN, MEMBERS, GUESSES = "town.csv", "hidden.csv", "members.csv", 10


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


# [start:facts]
@dataclass(frozen=True)
class HideAndSeek(
    kb.Rulebook[kb.Table, kb.Table, MembershipKnowledge, int, NDArray[np.int64], MembershipGuess]
):
    """Hide people in a table; say who is in it."""

    name: ClassVar[str] = "hide-and-seek"
    title: ClassVar[str] = "say which people of a town are hidden in a table"
    rounds: ClassVar[tuple[str, ...]] = ("only",)
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {"prepare": ("size",), "run": ("size",)}
    schema: ClassVar[kb.Schema] = SCHEMA
    knowledge: ClassVar[type] = MembershipKnowledge
    phases: ClassVar[tuple[kb.Phase, ...]] = (
        kb.Phase(kb.ANONYMIZE, (kb.FilePattern("hidden_{team}.csv"),)),
        kb.Phase(kb.ATTACK, (kb.FilePattern("guess_{target}_{attacker}.csv"),)),
    )
    default_players: ClassVar[tuple[kb.Player, ...]] = (
        *(
            kb.Player(f"blur by {reach}", f"blur:reach={reach}", "nearest")
            for reach in (0, 2, 4, 6)
        ),
        kb.Player("random answers", "rr:p=0.9", "blind"),
    )

    size: int = kb.parameter(60, "how many people there are", low=2 * GUESSES, high=1000)
    # [end:facts]

    # [start:draw]
    def draw(self, seed: int, teams: Sequence[str]) -> kb.RoundData:
        rng = self.stream(seed, "people")
        town = kb.Table(
            SCHEMA, {column.name: rng.integers(0, column.size, self.size) for column in SCHEMA}
        )
        chosen = {
            team: self.stream(seed, "hidden", team).permutation(self.size)[: self.size // 2]
            for team in teams
        }
        return kb.RoundData(
            handouts={
                team: {HIDDEN: kb.table_bytes(town.take(rows))} for team, rows in chosen.items()
            },
            attackers={TOWN: kb.table_bytes(town)},
            secrets={team: {MEMBERS: _rows_bytes(rows)} for team, rows in chosen.items()},
            data={"source": "drawn uniformly"},
        )

    def read_handout(self, path: Path) -> kb.Table:
        return kb.read_table(kb.Source.of(path / HIDDEN if path.is_dir() else path), SCHEMA)

    # [end:draw]

    # [start:anonymize]
    def anonymize(
        self, handout: kb.Table, anonymizer: kb.Anonymizer, rng: np.random.Generator
    ) -> kb.Release:
        return anonymizer(handout, rng)

    def release_files(self, handout: kb.Table, release: kb.Release) -> kb.Files:
        return {HIDDEN: kb.table_bytes(release.table)}

    def read_release(self, handout: kb.Table, sources: Sequence[kb.Source]) -> kb.Table:
        if len(sources) != 1:
            raise kb.InputError.of(
                "release.one_file",
                HIDDEN,
                files=[source.name for source in sources],
                example=HIDDEN,
            )
        return kb.read_table(
            sources[0], SCHEMA, kb.Layout(min_rows=len(handout), max_rows=len(handout))
        )

    def measure(self, handout: kb.Table, submission: kb.Table) -> kb.Utility:
        moved = {
            name: float(np.abs(submission.values(name) - handout.values(name)).mean())
            for name in ("age", "height")
        }
        worst = max(moved, key=lambda name: moved[name])
        score = kb.Score(moved[worst], higher_is_better=False, limit={"column": worst}, parts=moved)
        return kb.Utility({"moved": score}, {"moved": kb.Threshold(4, minimum=False)})

    # [end:anonymize]

    # [start:publish]
    def publish(self, secrets: kb.Secrets[kb.Table], submission: kb.Table) -> kb.Publication:
        order = secrets.stream("order").permutation(len(submission))
        members = secrets.read(MEMBERS, self._read_rows)
        return kb.Publication(
            {HIDDEN: kb.table_bytes(submission.take(order))}, {MEMBERS: _rows_bytes(members)}
        )

    def read_knowledge(
        self, sources: Sequence[kb.Source], declared: kb.Anonymizer | None = None
    ) -> MembershipKnowledge:
        with kb.gather() as problems:
            release, town = (
                problems.of(kb.read_table, source, SCHEMA)
                for source in sorted(sources, key=lambda source: source.name)
            )
        return MembershipKnowledge(town, release, guesses=GUESSES)

    # [end:publish]

    # [start:guess]
    def guess_form(self, knowledge: MembershipKnowledge) -> int:
        return len(knowledge.population)

    def answer_form(self, answer: NDArray[np.int64]) -> int:
        return self.size

    def read_guess(self, form: int, source: kb.Source) -> MembershipGuess:
        schema = kb.Schema([kb.Integer("row", 0, form - 1)])
        layout = kb.Layout(min_rows=GUESSES, max_rows=GUESSES)
        rows = kb.read_table(source, schema, layout).values("row")
        if len(np.unique(rows)) < GUESSES:
            raise kb.InputError.of("guess.repeats", source.name)
        return MembershipGuess(rows)

    def guess_bytes(self, guess: MembershipGuess) -> bytes:
        return _rows_bytes(guess.rows)

    def read_answer(self, path: Path) -> NDArray[np.int64]:
        return self._read_rows(kb.Source.of(path / MEMBERS if path.is_dir() else path))

    def score_guess(self, answer: NDArray[np.int64], guess: MembershipGuess) -> kb.Credit:
        return kb.Credit(
            int(np.isin(guess.rows, answer).sum()), GUESSES, kb.Chance(GUESSES / 2, 2, 8)
        )

    def _read_rows(self, source: kb.Source) -> NDArray[np.int64]:
        return kb.read_table(source, kb.Schema([kb.Integer("row", 0, self.size - 1)])).values("row")

    # [end:guess]

    # [start:standings]
    def standings(self, rounds: Mapping[str, kb.RoundResults]) -> kb.Standings:
        (results,) = rounds.values()
        hidden: dict[str, Fraction | None] = dict.fromkeys(
            team for team in results.teams if team in results.targets
        )
        for team in results.ranked_targets:
            hidden[team] = 1 - max(
                (results.share(team, other) for other in results.ranked_attackers),
                default=Fraction(0),
            )
        found = {
            attacker: sum((results.share(team, attacker) for team in results.in_play), Fraction(0))
            for attacker in results.ranked_attackers
        }
        hiding = kb.rank(hidden, {team: kb.why_out(team, rounds) for team in hidden})
        both = {
            team: (hidden.get(team) or 0) + found.get(team, Fraction(0)) for team in results.teams
        }
        awards = {"hiding": kb.awarded(hiding, 1), "seeking": kb.awarded(kb.rank(found), 1)}
        award_for = {"hiding": "anonymization", "seeking": "attack"}
        return kb.Standings(hiding, kb.rank(found), kb.rank(both), awards, award_for=award_for)

    # [end:standings]

    def credit_outcomes(self) -> int:
        return GUESSES + 1

    def answer_bits(self) -> float:
        return float(
            np.log2(1 + (self.size - self.size // 2) / np.arange(1, self.size // 2 + 1)).sum()
        )  # of all halves

    @property
    def sample_attacks(self) -> Mapping[str, Nearest]:
        return {"sample attack": Nearest()}


def _rows_bytes(rows: NDArray[np.int64]) -> bytes:
    return "".join(f"{row}\n" for row in rows.tolist()).encode()
