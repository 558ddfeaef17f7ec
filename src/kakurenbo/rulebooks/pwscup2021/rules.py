"""`Pwscup2021`: the steps of PWS Cup 2021 in order, each a call into the module that holds its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from kakurenbo.attacks.linkage import DELETED, LinkageGuess, LinkageKnowledge
from kakurenbo.contest import (
    ANONYMIZE,
    ATTACK,
    Anonymizer,
    ContestFacts,
    ContestFolder,
    Credit,
    FilePattern,
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
from kakurenbo.contest.bases import SIZE_FILE, Rows, rows_bytes
from kakurenbo.core import Schema, Source, Table, gather, json_bytes, table_bytes
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.data import health
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
from kakurenbo.rulebooks.sources import AUTO, EMBEDDED, IMPORTED, OWN, find_file

SMOOTHING = {PRE: 0.0, MAIN: 0.01}
"""What is added to each factor of R: nothing in the preliminary, and in the main round what its published figures have."""


def _limit(meaning: str) -> Any:
    """Return a limit of the contest; None for that of the round."""
    return parameter(None, meaning, low=0, none="word.rounds_own")


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
        AUTO,
        "where B comes from; auto takes an imported table, own is the one that the option table names",
        choices=(AUTO, EMBEDDED, IMPORTED, OWN),
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
    uniqrt: float | None = _limit("largest share of unique records")
    rate: float | None = _limit("largest change of a cell's share")
    odds_ratio: float | None = _limit("largest change of an odds ratio")
    cor: float | None = _limit("largest change of a correlation")
    iloss: float | None = _limit("largest change of a record")

    # -- options ---------------------------------------------------------------------------------------------------

    def settings(self) -> dict[str, Any]:
        """Return what makes a contest: of an own file its digest stands in ``data``, not its path."""
        return {name: value for name, value in super().settings().items() if name != "table"}

    def under(self, facts: ContestFacts | None) -> Self:
        """Take the options of a contest; if another of its rounds was chosen, that round's limits hold."""
        if facts is None or "round" not in self.given or self.round == facts.round:
            return super().under(facts)
        settings = {**facts.settings}
        for name in (*utility.LIMITS, "d"):
            settings.pop(name, None)
        return super().under(replace(facts, settings=settings))

    def limits(self) -> dict[str, float]:
        """Return what every figure may be at most: as it was set, else as the round's rules have it."""
        limits = {**utility.ROUND_LIMITS[self.round]}
        chosen = {name: getattr(self, name) for name in utility.LIMITS}
        return limits | {name: value for name, value in chosen.items() if value is not None}

    def threshold_values(self) -> dict[str, float | None]:
        return {**self.limits()}

    def release_schema(self) -> Schema:
        # Flags are checked after reading, by the rules more strictly.
        stricter = () if self.mode == SCRIPTS else (*health.FLAGS, *health.UNUSED)
        read = release.read_schema(self.mode)
        return Schema(SCHEMA[column.name] if column.name in stricter else column for column in read)

    def conditions(self) -> tuple[Message, ...]:
        return (Message("pwscup2021.readme.rows"), Message("pwscup2021.readme.guess"))

    @property
    def smoothing(self) -> float:
        """Return what is added to each factor of R."""
        return SMOOTHING[self.round] if self.d is None else self.d

    @property
    def _pattern_of_b(self) -> FilePattern:
        return files.COMMON_B if self.round == PRE else files.TEAM_B

    @property
    def _rows_of_b(self) -> int:
        return ROWS if self.rows is None else self.rows

    # -- the organizer prepares ------------------------------------------------------------------------------------

    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        """Draw one B for everybody in the preliminary, and one for each team in the main round."""
        source = organizer.population(self.data, self.table)
        rows = self.rows or organizer.ROWS[self.scale] or source.rows
        if self.round == PRE:
            common = organizer.common_table(source, rows, self.stream(seed, "B"))
            tables = dict.fromkeys(teams, common)
        else:
            streams = {team: self.stream(seed, "B", team) for team in teams}
            tables = {
                team: organizer.generated_table(source.moments, rows, stream)
                for team, stream in streams.items()
            }
        handouts = {
            team: {self._pattern_of_b.name(round=self.round, team=team): table_bytes(table)}
            for team, table in tables.items()
        }
        closeness = fidelity(source.moments, health.counted(tables[teams[0]]))
        return RoundData(
            handouts=handouts,
            attackers=handouts[teams[0]] if self.round == PRE else {},
            data=source.described(),
            settings={"data": source.kind, "rows": rows, "d": self.smoothing, **self.limits()},
            report={"rows": rows, "fidelity": closeness.as_json()},
        )

    def draw_original(self, rng: np.random.Generator) -> Table:
        source = organizer.population(self.data, self.table)
        return organizer.generated_table(source.moments, self._rows_of_b, rng)

    def generate(
        self, rows: int, rng: np.random.Generator, *, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        source = organizer.population(self.data, self.table)
        table = organizer.generated_table(source.moments, rows, rng, distinct=distinct)
        closeness = fidelity(source.moments, health.counted(table)).as_json()
        return table_bytes(table), {"data": source.description, "fidelity": closeness}

    # -- a team anonymizes -----------------------------------------------------------------------------------------

    def read_handout(self, folder: Path | ContestFolder) -> Handout:
        folder = ContestFolder.of(folder)
        folder.check_exists()
        example = self._pattern_of_b.name(round=self.round, team="01")
        patterns = (files.COMMON_B, files.TEAM_B)
        source = find_file(folder, files.NOT_ONE_FILE, *patterns, example=example)
        facts = folder.facts(self.name)
        return Handout(facts.team if facts else "", read_health(source, 2 * PEOPLE))

    def anonymize(
        self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        """Run a method on B; where it deletes too few rows for the rules, more go."""
        unique = self.limits()["uniqrt"]
        return release.as_entry(handout, anonymizer(handout.table, rng), rng, unique)

    def released(self, handout: Handout, submission: Submission) -> tuple[Handout, Release]:
        return handout, Release.of(submission.release, rows=submission.kept)

    def is_unchanged(self, handout: Handout, release: Release) -> bool:
        """Return whether every row that was kept is as it was in B."""
        return release.table.same_values(handout.table.take(release.rows))

    def release_files(self, handout: Handout, release_: Release) -> Files:
        return release.entry_files(handout, release_, self.round)

    def read_release(self, handout: Handout, sources: Sequence[Source]) -> Submission:
        return release.read_entry(handout, sources, self.round, self.mode)

    def utility(self, original: Table, release: Table) -> Mapping[str, Score]:
        everybody = np.arange(len(original))
        return self.measure(
            Handout("", original), Submission(release, everybody, everybody[:0])
        ).scores

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        kept, released = submission.kept, submission.release
        return utility.measure(handout.table, kept, released, self.limits(), self.mode)

    # -- attackers guess -------------------------------------------------------------------------------------------

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> LinkageKnowledge:
        """Read CT, D and, where everybody knows it, B: files of their names, or files in this order."""
        tests, releases, known = files.sort_files(sources)
        if not tests and not releases and not known and len(sources) in (2, 3):
            tests, releases, known = [sources[0]], [sources[1]], list(sources[2:])
        if len(tests) != 1 or len(releases) != 1 or len(known) > 1:
            raise UsageError("error.pwscup2021_files")
        with gather() as problems:
            people = problems.of(read_health, tests[0])
            released = problems.of(release.read_table_d, releases[0], self.mode)
            population = problems.of(read_health, known[0]) if known else None
        return LinkageKnowledge(people, released, len(people) // 2, population)

    def guess_form(self, knowledge: LinkageKnowledge) -> GuessForm:
        return self._form(len(knowledge.people), len(knowledge.release))

    def answer_form(self, answer: Answer) -> GuessForm:
        return self._form(len(answer.rows), answer.released)

    def _form(self, people: int, released: int | None) -> GuessForm:
        """Return the form for the rows of the release; the script knows only how many rows B has."""
        by_script = self.mode == SCRIPTS or released is None
        return GuessForm(people, self._rows_of_b if by_script else released)  # type: ignore[arg-type]

    # -- the judge ---------------------------------------------------------------------------------------------------

    def publish(self, secrets: Secrets[Handout], submission: Submission) -> Publication:
        """Publish D with a test table for all, on which the organizers' attack is played, and one for each attacker."""
        fields = {"round": self.round, "team": secrets.team}
        handout, dealt = secrets.handout, {}
        if self.tests == "pair":
            for attacker in secrets.round.teams:
                if attacker != secrets.team:
                    stream = secrets.stream("test", attacker)
                    people, places = self.test_table(handout, submission, stream)
                    test = files.DEALT_TEST.name(attacker=attacker, **fields)
                    answer = files.DEALT_ANSWER.name(attacker=attacker, **fields)
                    dealt[attacker] = ({test: table_bytes(people)}, {answer: rows_bytes(places)})
        stream = secrets.stream("test", "everybody")
        people, places = self.test_table(handout, submission, stream)
        return Publication(
            {
                files.RELEASE.name(**fields): table_bytes(submission.release),
                files.TEST.name(**fields): table_bytes(people),
            },
            {
                SIZE_FILE: json_bytes({"released": len(submission.release)}),
                files.ANSWER.name(**fields): rows_bytes(places),
            },
            dealt,
        )

    def test_table(
        self, handout: Handout, submission: Submission, rng: np.random.Generator
    ) -> tuple[Table, Rows]:
        """Draw CT and Ea: 50 records of B that were deleted and 50 that were kept, and the row of D of each, -1 for none."""
        kept = submission.kept
        drawn = [rng.choice(rows, HALF, replace=False) for rows in (submission.deleted, kept)]
        rows = np.concatenate(drawn)
        is_shuffled = self.order == "shuffled" or (self.order == "auto" and self.round == MAIN)
        rows = rng.permutation(rows) if is_shuffled else np.sort(rows)
        places = np.where(np.isin(rows, kept), np.searchsorted(kept, rows), DELETED)
        return handout.table.take(rows), places

    def read_answer(self, folder: Path | ContestFolder) -> Answer:
        return files.read_answer(ContestFolder.of(folder), self._rows_of_b)

    def answer_for(self, answer: Answer, attacker: str) -> Answer:
        return replace(answer, rows=answer.by_attacker.get(attacker, answer.rows), by_attacker={})

    def score_guess(self, answer: Answer, guess: LinkageGuess) -> Credit:
        return scores.count_credit(answer, guess, self.smoothing, self._rows_of_b)

    # -- results -------------------------------------------------------------------------------------------------------

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds, self.weighed(rounds))

    def read_published(self, source: Source) -> RoundResults:
        return scores.read_matrix(source)
