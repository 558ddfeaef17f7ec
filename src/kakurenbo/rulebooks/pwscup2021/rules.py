"""`Pwscup2021`: the steps of PWS Cup 2021 in order, each a call into the module that holds its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kakurenbo.attacks.linkage import DELETED, LinkageGuess, LinkageKnowledge
from kakurenbo.contest import (
    ANONYMIZE,
    ATTACK,
    Anonymizer,
    ContestFacts,
    ContestFolder,
    Credit,
    Files,
    LinkageContest,
    Phase,
    Publication,
    Release,
    RoundData,
    RoundResults,
    Score,
    Secrets,
    Standings,
    Utility,
)
from kakurenbo.contest.bases import rows_bytes
from kakurenbo.core import Schema, Source, Table, gather, json_bytes, table_bytes
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.data import health as nhanes
from kakurenbo.data.generators import fidelity
from kakurenbo.data.health import ROWS, SCHEMA, read_health
from kakurenbo.methods.parameters import parameter
from kakurenbo.rulebooks.pwscup2021 import data as organizer
from kakurenbo.rulebooks.pwscup2021 import files, release, scores, utility
from kakurenbo.rulebooks.pwscup2021.fields import DEFAULT_PLAYERS, FIGURES
from kakurenbo.rulebooks.pwscup2021.files import (
    HALF,
    MAIN,
    PEOPLE,
    PRE,
    Answer,
    GuessForm,
    Handout,
    Submission,
)
from kakurenbo.rulebooks.pwscup2021.release import RULES, SCRIPTS

SMOOTHING = {PRE: 0.0, MAIN: 0.01}
"""What is added to each factor of R: nothing in the preliminary, and in the main round what its published figures have."""


@dataclass(frozen=True)
class Pwscup2021(LinkageContest):
    """PWS Cup 2021: who was deleted from anonymized health checks, and who is in which row."""

    name = "pwscup2021"
    title = "PWS Cup 2021, membership and record linkage in health checks"
    rounds = (PRE, MAIN)
    weights = {PRE: Fraction(1, 10), MAIN: Fraction(9, 10)}
    phases = (
        Phase(ANONYMIZE, (files.RELEASE, files.DELETED_ROWS), cost=0.5),
        Phase(ATTACK, (files.GUESS,), cost=0.1),
    )
    schema = SCHEMA
    sample_attack_name = scores.SAMPLE_ATTACK
    options = {
        "prepare": (
            *("round", "scale", "rows", "mode", "data", "table", "tests", "order", "d"),
            *utility.LIMITS,
        ),
        "check": ("round", "mode"),
        "measure": ("round", "mode", *utility.LIMITS),
        "generate": ("data", "table"),
        "credit": ("round", "mode", "d"),
        "verify": ("table",),
        "run": ("round", "scale", "mode", "data", "table", "tests", "order", "d", *utility.LIMITS),
    }
    prohibited = ("pwscup2021.prohibited.index",)
    file_descriptions = {
        "*_B*.csv": "pwscup2021.file.original",
        "*_d.csv": "pwscup2021.file.release",
        "*_ct.csv": "pwscup2021.file.people",
    }
    upper_bounds = utility.LIMITS
    demo_settings = {"data": "embedded", "scale": "small", "round": MAIN}
    figures = FIGURES
    default_players = DEFAULT_PLAYERS

    round: str = parameter(PRE, "which round's files, data and limits", choices=(PRE, MAIN))
    scale: str = parameter(
        "full", "as many rows of B as the contest had, or about half", choices=("full", "small")
    )
    rows: int | None = parameter(
        None, "rows of B", low=2 * PEOPLE, high=100_000, none="word.as_scale_says"
    )
    mode: str = parameter(
        RULES, "the text of the rules, or the contest's scripts", choices=(RULES, SCRIPTS)
    )
    data: str = parameter(
        organizer.AUTO,
        "where B comes from; auto takes an imported table, own is the one that the option table names",
        choices=(organizer.AUTO, organizer.EMBEDDED, organizer.IMPORTED, organizer.OWN),
    )
    table: str = parameter("", "file of a B of one's own", none="word.as_data_says")
    tests: str = parameter(
        "pair", "a test table for each attacker, or one for all", choices=("pair", "one")
    )
    order: str = parameter(
        "auto",
        "rows of a test table; auto sorts them in pre and shuffles them in main",
        choices=("auto", "sorted", "shuffled"),
    )
    d: float | None = parameter(
        None, "added to each factor of R", low=0, high=1, none="word.zero_in_pre"
    )
    uniqrt: float | None = parameter(
        None, "largest share of unique records", low=0, none="word.rounds_own"
    )
    rate: float | None = parameter(
        None, "largest change of a cell's share", low=0, none="word.rounds_own"
    )
    odds_ratio: float | None = parameter(
        None, "largest change of an odds ratio", low=0, none="word.rounds_own"
    )
    cor: float | None = parameter(
        None, "largest change of a correlation", low=0, none="word.rounds_own"
    )
    iloss: float | None = parameter(
        None, "largest change of a record", low=0, none="word.rounds_own"
    )

    # -- options ---------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """What makes a contest; a file of one's own is told by its digest, not by where it lay."""
        return {name: value for name, value in super().settings().items() if name != "table"}

    def under(self, facts: ContestFacts | None) -> Self:
        """As the contest fixes it; but where another of its rounds is asked for, that round's own limits hold."""
        if facts is None or "round" not in self.given or self.round == facts.round:
            return super().under(facts)
        own = {
            name: value
            for name, value in facts.settings.items()
            if name not in (*utility.LIMITS, "d")
        }
        return super().under(replace(facts, settings=own))

    def limits(self) -> dict[str, float]:
        """What every figure may be at most: as it was set, else as the round's rules have it."""
        own = utility.ROUND_LIMITS[self.round]
        return {
            name: own[name] if (value := getattr(self, name)) is None else value
            for name in utility.LIMITS
        }

    def threshold_values(self) -> dict[str, float | None]:
        return {**self.limits()}

    def release_schema(self) -> Schema:
        read = release.read_schema(self.mode)
        stricter = (
            () if self.mode == SCRIPTS else (*nhanes.FLAGS, *nhanes.UNUSED)
        )  # checked after reading
        return Schema(SCHEMA[column.name] if column.name in stricter else column for column in read)

    def conditions(self) -> tuple[Message, ...]:
        return (Message("pwscup2021.readme.rows"), Message("pwscup2021.readme.guess"))

    @property
    def smoothing(self) -> float:
        """What is added to each factor of R."""
        return SMOOTHING[self.round] if self.d is None else self.d

    @property
    def shuffled(self) -> bool:
        """Whether the rows of a test table are in an order that tells nothing."""
        return self.round == MAIN if self.order == "auto" else self.order == "shuffled"

    # -- the organizer prepares ------------------------------------------------------------------------------------

    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        """Draw one B for everybody in the preliminary, and one for each team in the main round."""
        source = organizer.population(self.data, self.table)
        rows = self.rows or organizer.ROWS[self.scale] or source.rows
        if self.round == PRE:
            tables = dict.fromkeys(
                teams, organizer.common_table(source, rows, self.stream(seed, "B"))
            )
        else:
            tables = {
                team: organizer.generated_table(source.moments, rows, self.stream(seed, "B", team))
                for team in teams
            }
        handouts = {
            team: {files.handout_file(self.round, team): table_bytes(table)}
            for team, table in tables.items()
        }
        closeness = fidelity(source.moments, nhanes.counted(tables[teams[0]]))
        settings = {"data": source.kind, "rows": rows, "d": self.smoothing, **self.limits()}
        return RoundData(
            handouts=handouts,
            attackers=dict(handouts[teams[0]]) if self.round == PRE else {},
            data=source.described(),
            settings=settings,
            report={"rows": rows, "fidelity": closeness.as_json()},
        )

    def draw_original(self, rng: np.random.Generator) -> Table:
        source = organizer.population(self.data, self.table)
        return organizer.generated_table(source.moments, self._most_rows, rng)

    def generate(
        self, rows: int, rng: np.random.Generator, *, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        source = organizer.population(self.data, self.table)
        table = organizer.generated_table(source.moments, rows, rng, distinct=distinct)
        closeness = fidelity(source.moments, nhanes.counted(table))
        data = organizer.SOURCES[source.kind].stored()
        return table_bytes(table), {"data": data, "fidelity": closeness.as_json()}

    # -- a team anonymizes -----------------------------------------------------------------------------------------

    def read_handout(self, folder: Path | ContestFolder) -> Handout:
        folder = ContestFolder.of(folder)
        folder.check_exists()
        example = files.handout_file(self.round, "01")
        source = files.find_file(folder, files.HANDOUT_NAME, example)
        facts = folder.facts(self.name)
        return Handout(facts.team if facts else "", read_health(source, 2 * PEOPLE))

    def anonymize(
        self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        """Run a method on B; where it deletes too few rows for the rules, more go."""
        return release.as_entry(
            handout, anonymizer(handout.table, rng), rng, self.limits()["uniqrt"]
        )

    def released(self, handout: Handout, submission: Submission) -> tuple[Handout, Release]:
        return handout, Release.of(submission.release, rows=submission.kept)

    def is_unchanged(self, handout: Handout, release_: Release) -> bool:
        """Whether every row that was kept is as it was in B."""
        return release_.table.same_values(handout.table.take(release_.rows))

    def release_files(self, handout: Handout, release_: Release) -> Files:
        return release.entry_files(handout, release_, self.round)

    def read_release(self, handout: Handout, sources: Sequence[Source]) -> Submission:
        return release.check(handout, sources, self.round, self.mode)

    def utility(self, original: Table, release: Table) -> Mapping[str, Score]:
        kept = np.arange(len(original))
        return utility.measure(original, kept, release, self.limits(), self.mode).scores

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        return utility.measure(
            handout.table, submission.kept, submission.release, self.limits(), self.mode
        )

    # -- attackers guess -------------------------------------------------------------------------------------------

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> LinkageKnowledge:
        """CT, D and, where everybody knows it, B: files of their names, or files in this order."""
        tests, releases, known = files.told_apart(sources)
        if not tests and not releases and not known and len(sources) in (2, 3):
            tests, releases, known = [sources[0]], [sources[1]], list(sources[2:])
        if len(tests) != 1 or len(releases) != 1 or len(known) > 1:
            raise UsageError("error.pwscup2021_files")
        with gather() as problems:
            people = problems.of(read_health, tests[0])
            released = problems.of(release.read_release, releases[0], self.mode)
            population = problems.of(read_health, known[0]) if known else None
        return LinkageKnowledge(people, released, len(people) // 2, population)

    def guess_form(self, knowledge: LinkageKnowledge) -> GuessForm:
        return self._form(len(knowledge.people), len(knowledge.release))

    def _form(self, people: int, released: int | None) -> GuessForm:
        """Rows of the release by the rules; the script knows only how many rows B has."""
        return GuessForm(
            people, self._most_rows if self.mode == SCRIPTS or released is None else released
        )

    @property
    def _most_rows(self) -> int:
        return ROWS if self.rows is None else self.rows

    # -- the judge ---------------------------------------------------------------------------------------------------

    def publish(self, secrets: Secrets[Handout], submission: Submission) -> Publication:
        """D with a test table that everybody sees, on which the organizers' attack is played; and one for each attacker."""
        team = secrets.team
        target = {files.RELEASE.name(round=self.round, team=team): table_bytes(submission.release)}
        answer = {files.SIZE_FILE: json_bytes({"released": len(submission.release)})}
        parts: dict[str, tuple[Files, Files]] = {}
        others = (
            [name for name in secrets.round.teams if name != team] if self.tests == "pair" else []
        )
        for attacker in ("", *others):
            people, places = self.test_table(
                secrets.handout, submission, secrets.stream("test", attacker or "everybody")
            )
            test = {files.people_file(self.round, team, attacker): table_bytes(people)}
            told = {files.answer_file(self.round, team, attacker): rows_bytes(places)}
            if attacker:
                parts[attacker] = (test, told)
            else:
                target, answer = {**target, **test}, {**answer, **told}
        return Publication(target, answer, parts)

    def test_table(
        self, handout: Handout, submission: Submission, rng: np.random.Generator
    ) -> tuple[Table, NDArray[np.int64]]:
        """CT and Ea: 50 records of B that were deleted and 50 that were kept, and the row of D of each, -1 for none."""
        drawn = [
            rng.choice(rows, HALF, replace=False) for rows in (submission.deleted, submission.kept)
        ]
        rows = (
            rng.permutation(np.concatenate(drawn))
            if self.shuffled
            else np.sort(np.concatenate(drawn))
        )
        places = np.where(
            np.isin(rows, submission.kept), np.searchsorted(submission.kept, rows), DELETED
        )
        return handout.table.take(rows), places

    def read_answer(self, folder: Path | ContestFolder) -> Answer:
        return files.read_answer(ContestFolder.of(folder), self._most_rows)

    def answer_form(self, answer: Answer) -> GuessForm:
        return self._form(len(answer.rows), answer.released)

    def answer_for(self, answer: Answer, attacker: str) -> Answer:
        return replace(answer, rows=answer.by_attacker.get(attacker, answer.rows), by_attacker={})

    def score_guess(self, answer: Answer, guess: LinkageGuess) -> Credit:
        return scores.count_credit(answer, guess, self.smoothing, self._most_rows)

    # -- results -------------------------------------------------------------------------------------------------------

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds, self.weighed(rounds))

    def read_published(self, source: Source) -> RoundResults:
        return scores.read_matrix(source)
