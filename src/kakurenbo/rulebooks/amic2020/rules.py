"""`Amic2020`: the steps of PWS Cup 2020 in order, each a call into the module that holds its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Self

import numpy as np

from kakurenbo.attacks.membership import MembershipKnowledge
from kakurenbo.contest import (
    ANONYMIZE,
    ATTACK,
    Anonymizer,
    ContestFacts,
    ContestFolder,
    MembershipContest,
    Phase,
    Player,
    Publication,
    Release,
    RoundData,
    RoundResults,
    Rows,
    Score,
    Secrets,
    Standings,
    Utility,
    unknown_column,
)
from kakurenbo.contest.bases import rows_bytes
from kakurenbo.core import (
    InputError,
    Layout,
    Problem,
    Severity,
    Source,
    Table,
    add_notices,
    gather,
    read_table,
    table_bytes,
)
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.messages import Message
from kakurenbo.data.adult import SCHEMA, read_census
from kakurenbo.methods.parameters import parameter
from kakurenbo.rulebooks.amic2020 import data as questioner
from kakurenbo.rulebooks.amic2020 import files, scores, utility
from kakurenbo.rulebooks.amic2020.claims import (
    SECRET,
    computed_claims,
    exaggerated,
    exaggerated_presence,
    privacy_scores,
)
from kakurenbo.rulebooks.amic2020.fields import DEFAULT_PLAYERS, FIGURES
from kakurenbo.rulebooks.amic2020.files import Answer, Handout, Submission
from kakurenbo.rulebooks.amic2020.questionnaire import (
    Questionnaire,
    blank_form,
    form_bytes,
    read_questionnaire,
)

PRIVACY_OPTIONS = ("known", "secret", "population")
_CONTEST = (
    "round",
    "scale",
    "generator",
    "data",
    "rate",
    "min_rows",
    "max_rows",
    "edition",
    "positive",
)
_THRESHOLDS = ("thresholds", *utility.THRESHOLDS)


def _threshold(meaning: str, high: float | None = None) -> Any:
    """Return a threshold of the contest: a number, ``off``, or None for the value of the chosen set."""
    return parameter(None, meaning, low=0, high=high, none="word.rounds_own", words=(utility.OFF,))


@dataclass(frozen=True)
class Amic2020(MembershipContest):
    """PWS Cup 2020: membership inference against anonymized samples of census records."""

    name = "amic2020"
    title = "PWS Cup 2020, membership inference against samples of census records"
    version = "3"
    rounds = ("pre", "main")
    weights = {"pre": Fraction(1, 10), "main": Fraction(9, 10)}
    phases = (
        Phase(ANONYMIZE, (files.RELEASE, files.QUESTIONNAIRE), cost=2.0),
        Phase(ATTACK, (files.GUESS,), cost=0.1),
    )
    schema = SCHEMA
    handout_file = files.SAMPLE
    population_file = files.POPULATION
    answer_file = files.ANSWER
    guesses = files.GUESSES
    repeated_row = files.ROW_TWICE
    sample_attack_name = scores.SAMPLE_ATTACK
    options = {
        "prepare": (*_CONTEST, *_THRESHOLDS),
        "check": ("min_rows", "max_rows"),
        "measure": (
            *("round", "data", "min_rows", "max_rows", "edition", "positive", "test"),
            *_THRESHOLDS,
            *PRIVACY_OPTIONS,
        ),
        "privacy": PRIVACY_OPTIONS,
        "generate": ("generator", "data"),
        "credit": ("rate",),
        "standings": ("rounding",),
        "run": (*_CONTEST, "rounding", *_THRESHOLDS),
    }
    prohibited = (
        "amic2020.prohibited.share_data",
        "amic2020.prohibited.share_code",
        "amic2020.prohibited.obstruct",
    )
    file_descriptions = files.DESCRIPTIONS
    upper_bounds = utility.AT_MOST
    demo_settings = {"data": "embedded", "round": "pre"}
    figures = FIGURES
    default_players = DEFAULT_PLAYERS["full"]

    round: str = parameter(
        "pre", "which round's files and thresholds", choices=("pre", "main", "trial")
    )
    scale: str = parameter(
        "full", "row counts of the contest, or about a tenth", choices=("full", "small")
    )
    generator: str = parameter(
        "moments", "how B is generated from A", choices=("moments", "omth17")
    )
    data: str = parameter(
        "auto",
        "where A comes from; auto takes imported files",
        choices=("auto", "embedded", "imported"),
    )
    rate: float = parameter(0.1, "share of B's rows that a sample has", low=0, high=1)
    min_rows: int | None = parameter(
        None, "fewest rows of a release", low=1, none="word.tenth_of_sample"
    )
    max_rows: int | None = parameter(
        None, "most rows of a release", low=1, none="word.ten_times_sample"
    )
    edition: int = parameter(
        1, "edition of the rules whose covariance figure decides", low=1, high=2
    )
    positive: str = parameter(
        "<=50K", "income class of the tree's F-measure", choices=("<=50K", ">50K")
    )
    thresholds: str = parameter(
        "round",
        "thresholds of the round, or those of the rules' text in every round",
        choices=("round", utility.RULES_2020),
    )
    histogram: float | str | None = _threshold("least histogram utility", high=1)
    vcm: float | str | None = _threshold("least covariance utility")
    dta_relationship: float | str | None = _threshold("least F-measure, relationship", high=1)
    dta_income: float | str | None = _threshold("least F-measure, income", high=1)
    max_histogram_error: float | str | None = _threshold("largest error of an attribute")
    max_correlation_difference: float | str | None = _threshold(
        "largest change of two columns' correlation", high=2
    )
    rounding: str = parameter(
        "cut", "how shown points lose their decimals", choices=("cut", "round")
    )
    test: str = parameter(
        "",
        "file of test rows, where the handout has none beside it",
        none="word.beside_handout",
    )

    known: tuple[str, ...] | None = parameter(
        None,
        "columns an attacker knows, for k, l and t",
        none="word.all_but_the_secret",
    )
    secret: str = parameter(SECRET, "column that l and t protect", choices=SCHEMA.names)
    population: str = parameter("", "file of B, for delta-presence", none="word.no_delta_presence")

    # -- options ---------------------------------------------------------------------------------------------------

    def under(self, facts: ContestFacts | None) -> Self:
        """As the contest fixes it; but where another round or set of thresholds is asked for, its values hold."""
        if facts is None:
            return self
        asked = any(
            name in self.given
            and getattr(self, name) != facts.settings.get(name, getattr(type(self), name))
            for name in ("thresholds", "round")
        )
        dropped = utility.THRESHOLDS if asked else ()
        settings = {name: value for name, value in facts.settings.items() if name not in dropped}
        return super().under(replace(facts, settings=settings))

    def threshold_values(self) -> dict[str, float | None]:
        """Return what every figure that can decide must reach; None where it does not decide."""
        given = {name: getattr(self, name) for name in utility.THRESHOLDS}
        return utility.threshold_values(self.thresholds, self.round, given)

    def _recorded_thresholds(self) -> dict[str, float | str | None]:
        """Return every threshold as ``contest.json`` records it: ``off`` stays, since None is the round's own."""
        values = self.threshold_values()
        return {
            name: utility.OFF if getattr(self, name) == utility.OFF else value
            for name, value in values.items()
        }

    def conditions(self) -> tuple[Message, ...]:
        if self.min_rows is None or self.max_rows is None:
            return ()
        rows = Message("amic2020.readme.rows", {"least": self.min_rows, "most": self.max_rows})
        return rows, Message("amic2020.readme.questionnaire", {"file": str(files.QUESTIONNAIRE)})

    def release_rows(self, table: Table) -> tuple[int, int]:
        """Return the fewest and the most rows of a release: 1,000 to 100,000 where a sample has 10,000."""
        return self.row_limits(len(table))

    def row_limits(self, sample: int) -> tuple[int, int]:
        """Return the fewest and the most rows of a release of a sample of this size."""
        fewest = max(1, sample // 10) if self.min_rows is None else self.min_rows
        return fewest, sample * 10 if self.max_rows is None else self.max_rows

    def field(self) -> tuple[Player, ...]:
        """Return the players of this scale: small samples bear less noise."""
        return DEFAULT_PLAYERS[self.scale]

    def file_name(self, template: str, team: str = "") -> str:
        in_trial = self.round == files.TRIAL
        return super().file_name(files.without_team(template) if in_trial else template, team)

    def release_name(self, team: str) -> str:
        return self.file_name(files.RELEASE.template, team)

    def questionnaire_name(self, team: str) -> str:
        return self.file_name(files.QUESTIONNAIRE.template, team)

    # -- the questioner prepares -----------------------------------------------------------------------------------

    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        self.row_settings()
        rows = files.SCALES[self.scale].population
        if files.sample_size(rows, self.rate) < 1:
            expected = f"a share of {rows:,} rows that is at least one row"
            raise ParameterError("rate", expected, self.rate)
        return super().draw(seed, teams)

    def row_settings(self) -> dict[str, int]:
        """Return the row limits of a release, for samples of a tenth of the population."""
        fewest, most = self.row_limits(files.SCALES[self.scale].population // 10)
        if fewest > most:
            raise ParameterError("max_rows", f"at least min_rows, which is {fewest:,}", most)
        return {"min_rows": fewest, "max_rows": most}

    def draw_population(self, rng: np.random.Generator) -> Table:
        personal = questioner.personal_data(self.data).personal
        rows = files.SCALES[self.scale].population
        return questioner.generate_population(personal, rows, rng, generator=self.generator)

    def draw_members(self, population: Table, rng: np.random.Generator) -> Rows:
        return questioner.draw_sample(len(population), self.rate, rng)

    def round_data(self, seed: int, population: Table, rows: Mapping[str, Rows]) -> RoundData:
        """Add test rows, a blank questionnaire, and in the trial what is secret in the other rounds."""
        drawn = super().round_data(seed, population, rows)
        source = questioner.personal_data(self.data)
        test = questioner.tree_rows(source.test, files.SCALES[self.scale].test)
        shared = {files.TEST_FILE: table_bytes(test)}
        handouts = {
            team: {**given, **shared, self.questionnaire_name(team): blank_form()}
            for team, given in drawn.handouts.items()
        }
        if self.round == files.TRIAL:
            for team, given in handouts.items():
                given |= self._trial_files(seed, team, source, population, rows[team])
        fidelity = questioner.fidelity_of(source.personal, population)
        return replace(
            drawn,
            handouts=handouts,
            data=source.facts(),
            settings={**self.row_settings(), **self._recorded_thresholds(), "data": source.source},
            report={"fidelity": fidelity.as_json()},
        )

    def _trial_files(
        self, seed: int, team: str, source: questioner.PersonalData, population: Table, rows: Rows
    ) -> dict[str, bytes]:
        """Return the files of a practice round, in which nothing is secret."""
        sample = population.take(rows)
        release = questioner.TRIAL_ANONYMIZER(sample, self.stream(seed, "release", team)).table
        return {
            files.PERSONAL_FILE: table_bytes(source.personal),
            self.file_name(files.POPULATION): table_bytes(population),
            self.file_name(files.ANSWER, team): rows_bytes(rows),
            self.release_name(team): table_bytes(release),
        }

    def generate(
        self, rows: int, rng: np.random.Generator, *, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        source = questioner.personal_data(self.data)
        data = questioner.SOURCES[source.source].stored()
        return self._generate(source.personal, data, rows, rng, distinct)

    def generate_from(
        self, source: Source, rows: int, rng: np.random.Generator, *, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        return self._generate(read_census(source), source.name, rows, rng, distinct)

    def _generate(
        self, personal: Table, data: str, rows: int, rng: np.random.Generator, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        table = questioner.generate_population(
            personal, rows, rng, generator=self.generator, distinct=distinct
        )
        fidelity = questioner.fidelity_of(personal, table)
        return table_bytes(table), {"data": data, "fidelity": fidelity.as_json()}

    def sample(
        self, source: Source, rate: float, rng: np.random.Generator
    ) -> tuple[bytes, Sequence[int]]:
        population = read_table(source, SCHEMA)
        rows = questioner.draw_sample(len(population), rate, rng)
        return table_bytes(population.take(rows)), rows.tolist()

    # -- an anonymizer's task --------------------------------------------------------------------------------------

    def read_handout(self, folder: Path | ContestFolder) -> Handout:
        folder = ContestFolder.of(folder)
        folder.check_exists()
        source = files.find_file(folder, files.SAMPLE)
        with gather() as problems:
            sample = problems.of(read_table, source, SCHEMA)
            test = problems.of(self._read_test_rows, folder)
        facts = folder.facts(self.name)
        team = (facts.team if facts else "") or files.team_in(source.name) or "01"
        return Handout(team, sample, test)

    def _read_test_rows(self, folder: ContestFolder) -> Table | None:
        """Read the rows for the trees, where they are named or lie in the folder of the sample."""
        source = Source.of(self.test) if self.test else folder.source(files.TEST_FILE)
        return read_census(source) if source is not None else None

    def repair(
        self, handout: Handout, release: Release, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        return anonymizer.after(handout.sample, release, rng)

    def released(self, handout: Handout, submission: Submission) -> tuple[Handout, Release]:
        return handout, Release.of(submission.table)

    def read_release(self, handout: Handout, sources: Sequence[Source]) -> Submission:
        return Submission(super().read_release(handout, sources), Questionnaire())

    def check_attachments(self, sources: Sequence[Source]) -> Questionnaire:
        if len(sources) > 1:
            code = "amic2020.one_questionnaire"
            raise InputError.of(code, sources[1].name, count=len(sources))
        return read_questionnaire(sources[0], type(self)) if sources else Questionnaire()

    def attach(
        self, handout: Handout, submission: Submission, attachments: Questionnaire
    ) -> Submission:
        """Take in the questionnaire, with a notice for each claim that the release does not bear out."""
        file = self.questionnaire_name(handout.team)
        add_notices(exaggerated(attachments, handout.sample, submission.table, file))
        return Submission(submission.table, attachments)

    # -- utility estimation ----------------------------------------------------------------------------------------

    def utility(self, original: Table, release: Table) -> Mapping[str, Score]:
        handout = Handout("", original, questioner.personal_data(self.data).test)
        return self.measure(handout, Submission(release, Questionnaire())).scores

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        test = handout.test
        notices: tuple[Problem, ...] = ()
        if test is None:
            public = questioner.personal_data(self.data)
            test, source = public.test, {"source": questioner.SOURCES[public.source]}
            code, file = "amic2020.no_test_rows", files.TEST_FILE
            notices = (Problem(code, source, file, severity=Severity.NOTICE),)
        figures = utility.measure(
            handout.sample,
            submission.table,
            test,
            thresholds=self.threshold_values(),
            edition=self.edition,
            positive=self.positive,
        )
        return replace(figures, notices=notices)

    def privacy(self, handout: Handout, submission: Submission) -> Utility:
        if wrong := unknown_column(SCHEMA, self.known):
            raise UsageError(wrong, at="--known")
        population = None
        if self.population:
            population = read_table(Source.of(Path(self.population)), SCHEMA, Layout(min_rows=1))
        scores = privacy_scores(
            submission.questionnaire,
            submission.table,
            population=population,
            known=self.known,
            secret=self.secret,
        )
        return Utility(scores)

    def secret_measures(self, secrets: Secrets[Handout], submission: Submission) -> Utility:
        """Check a claimed delta-presence, which needs B; no figure of the rules needs a secret."""
        file = self.questionnaire_name(secrets.team)
        population = self.read_population(secrets)
        form, table = submission.questionnaire, submission.table
        return Utility({}, notices=exaggerated_presence(form, table, population, file))

    # -- what attackers get ----------------------------------------------------------------------------------------

    def publish(self, secrets: Secrets[Handout], submission: Submission) -> Publication:
        team, form, table = secrets.team, submission.questionnaire, submission.table
        computed = computed_claims(form, table, self.read_population(secrets))
        answer = self.file_name(files.ANSWER, team)
        rows = secrets.read(answer, lambda source: files.read_answer(source, self.rate)).rows
        return Publication(
            target={
                self.release_name(team): table_bytes(table),
                self.questionnaire_name(team): form_bytes(form, team, computed),
            },
            answer={answer: rows_bytes(rows)},
        )

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> MembershipKnowledge:
        return files.read_knowledge(type(self), list(sources), declared)

    # -- privacy estimation and scores -----------------------------------------------------------------------------

    def read_answer(self, folder: Path | ContestFolder) -> Answer:
        return files.read_answer(files.find_file(ContestFolder.of(folder), files.ANSWER), self.rate)

    def read_published(self, source: Source) -> RoundResults:
        return scores.read_matrix(source)

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds, self.weighed(rounds), rounding=self.rounding)
