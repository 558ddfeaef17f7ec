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
    Moments,
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
from kakurenbo.data.generators import GENERATORS, fidelity, generate, sample_rows_at
from kakurenbo.methods.parameters import parameter
from kakurenbo.rulebooks.amic2020 import claims, files, scores, utility
from kakurenbo.rulebooks.amic2020 import data as questioner
from kakurenbo.rulebooks.amic2020.fields import DEFAULT_PLAYERS, FIGURES
from kakurenbo.rulebooks.amic2020.files import Answer, Handout, Submission
from kakurenbo.rulebooks.amic2020.questionnaire import (
    Questionnaire,
    blank_form,
    form_bytes,
    read_questionnaire,
)
from kakurenbo.rulebooks.sources import is_named

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
    secret: str = parameter(claims.SECRET, "column that l and t protect", choices=SCHEMA.names)
    population: str = parameter("", "file of B, for delta-presence", none="word.no_delta_presence")

    # -- options ---------------------------------------------------------------------------------------------------

    def under(self, facts: ContestFacts | None) -> Self:
        """Take the options of a contest; if another round or set of thresholds was chosen, its values hold."""
        if facts is None:
            return self
        settings = {**facts.settings}
        for name in self.given.intersection(("thresholds", "round")):
            if getattr(self, name) != facts.settings.get(name, getattr(type(self), name)):
                for threshold in utility.THRESHOLDS:
                    settings.pop(threshold, None)
        return super().under(replace(facts, settings=settings))

    def _chosen_thresholds(self) -> dict[str, float | str | None]:
        """Return every threshold as it was set, else by the text of the rules or as the round was played."""
        by_text = self.thresholds == utility.RULES_2020
        defaults = utility.PRELIMINARY if by_text else utility.ROUND_THRESHOLDS[self.round]
        values: dict[str, float | str | None] = {}
        for name in utility.THRESHOLDS:
            value = getattr(self, name)
            if value is None:
                value = defaults.get(name)
            values[name] = value if value in (None, utility.OFF) else float(value)
        return values

    def threshold_values(self) -> dict[str, float | None]:
        """Return what every figure that can decide must reach; None where it does not decide."""
        chosen = self._chosen_thresholds().items()
        return {name: value if isinstance(value, float) else None for name, value in chosen}

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
        """Draw B = G(seed, A) and C_i = H(i, B)."""
        self.row_settings()
        if files.sample_size(self._population_rows, self.rate) < 1:
            expected = f"a share of {self._population_rows:,} rows that is at least one row"
            raise ParameterError("rate", expected, self.rate)
        return super().draw(seed, teams)

    def row_settings(self) -> dict[str, int]:
        """Return the row limits of a release, for samples of a tenth of the population."""
        fewest, most = self.row_limits(self._population_rows // 10)
        if fewest > most:
            raise ParameterError("max_rows", f"at least min_rows, which is {fewest:,}", most)
        return {"min_rows": fewest, "max_rows": most}

    @property
    def _population_rows(self) -> int:
        return files.SCALES[self.scale].population

    def draw_population(self, rng: np.random.Generator) -> Table:
        personal = questioner.personal_data(self.data).personal
        return self._generate(personal, self._population_rows, rng)

    def _generate(
        self, personal: Table, rows: int, rng: np.random.Generator, *, distinct: bool = True
    ) -> Table:
        """Draw a table like A (gen.py)."""
        generator = GENERATORS[self.generator]
        return generate(generator, Moments.of(personal), rows, rng, distinct=distinct)

    def draw_members(self, population: Table, rng: np.random.Generator) -> Rows:
        """Draw C_i, shuffled: in B's order a release that keeps the order of its rows would tell which row is which."""
        return rng.permutation(sample_rows_at(self.rate, len(population), rng))

    def round_data(self, seed: int, population: Table, rows: Mapping[str, Rows]) -> RoundData:
        """Add test rows, a blank questionnaire, and in the trial what is secret in the other rounds."""
        drawn = super().round_data(seed, population, rows)
        source = questioner.personal_data(self.data)
        test = table_bytes(questioner.tree_rows(source.test, files.SCALES[self.scale].test))
        handouts = {}
        for team, sample in drawn.handouts.items():
            form = {self.questionnaire_name(team): blank_form()}
            handouts[team] = {**sample, files.TEST_FILE: test, **form}
            if self.round == files.TRIAL:
                handouts[team] |= self._trial_files(seed, team, source, population, rows[team])
        closeness = fidelity(Moments.of(source.personal), population)
        return replace(
            drawn,
            handouts=handouts,
            data=source.facts(),
            settings={**self.row_settings(), **self._chosen_thresholds(), "data": source.source},
            report={"fidelity": closeness.as_json()},
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
        return self._generated(source.personal, source.description, rows, rng, distinct)

    def generate_from(
        self, source: Source, rows: int, rng: np.random.Generator, *, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        return self._generated(read_census(source), source.name, rows, rng, distinct)

    def _generated(
        self, personal: Table, data: str, rows: int, rng: np.random.Generator, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        table = self._generate(personal, rows, rng, distinct=distinct)
        closeness = fidelity(Moments.of(personal), table)
        return table_bytes(table), {"data": data, "fidelity": closeness.as_json()}

    def sample(
        self, source: Source, rate: float, rng: np.random.Generator
    ) -> tuple[bytes, Sequence[int]]:
        population = read_table(source, SCHEMA)
        rows = replace(self, rate=rate).draw_members(population, rng)
        return table_bytes(population.take(rows)), rows.tolist()

    # -- an anonymizer's task --------------------------------------------------------------------------------------

    def read_handout(self, folder: Path | ContestFolder) -> Handout:
        folder = ContestFolder.of(folder)
        folder.check_exists()
        source = files.find_file(folder, files.SAMPLE)
        test = Source.of(self.test) if self.test else folder.source(files.TEST_FILE)
        with gather() as problems:
            sample = problems.of(read_table, source, SCHEMA)
            test_rows = problems.of(read_census, test) if test is not None else None
        facts = folder.facts(self.name)
        team = (facts.team if facts else "") or files.team_in(source.name) or "01"
        return Handout(team, sample, test_rows)

    def repair(
        self, handout: Handout, release: Release, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        return anonymizer.after(handout.table, release, rng)

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
        file, release = self.questionnaire_name(handout.team), submission.table
        add_notices(claims.exaggerated(attachments, handout.table, release, file))
        return Submission(release, attachments)

    # -- utility estimation ----------------------------------------------------------------------------------------

    def utility(self, original: Table, release: Table) -> Mapping[str, Score]:
        handout = Handout("", original, questioner.personal_data(self.data).test)
        return self.measure(handout, Submission(release, Questionnaire())).scores

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        test = handout.test
        notices: tuple[Problem, ...] = ()
        if test is None:
            public = questioner.personal_data(self.data)
            test, params = public.test, {"source": public.description}
            code, file = "amic2020.no_test_rows", files.TEST_FILE
            notices = (Problem(code, params, file, severity=Severity.NOTICE),)
        figures = utility.measure(
            handout.table,
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
        form, release = submission.questionnaire, submission.table
        return Utility(
            claims.privacy_scores(
                form, release, population=population, known=self.known, secret=self.secret
            )
        )

    def secret_measures(self, secrets: Secrets[Handout], submission: Submission) -> Utility:
        """Check a claimed delta-presence, which needs B; no figure of the rules needs a secret."""
        file, population = self.questionnaire_name(secrets.team), self.read_population(secrets)
        form, table = submission.questionnaire, submission.table
        return Utility({}, notices=claims.exaggerated_presence(form, table, population, file))

    # -- what attackers get ----------------------------------------------------------------------------------------

    def publish(self, secrets: Secrets[Handout], submission: Submission) -> Publication:
        team, form, table = secrets.team, submission.questionnaire, submission.table
        computed = claims.computed_claims(form, table, self.read_population(secrets))
        answer = self.file_name(files.ANSWER, team)
        rows = secrets.read(answer, lambda source: files.read_answer(source, self.rate)).rows
        target = {
            self.release_name(team): table_bytes(table),
            self.questionnaire_name(team): form_bytes(form, team, computed),
        }
        return Publication(target, {answer: rows_bytes(rows)})

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> MembershipKnowledge:
        """Read B, D and the questionnaire; a ``declared`` method takes the place of the one in the questionnaire."""
        forms = [source for source in sources if source.name.removesuffix(".gz").endswith(".json")]
        tables = [source for source in sources if source not in forms]
        if len(tables) != 2 or len(forms) > 1:
            raise UsageError("error.amic2020_files")
        names = map(files.name_patterns, (files.RELEASE.template, files.POPULATION))
        if all(is_named(table, *patterns) for table, patterns in zip(tables, names, strict=True)):
            tables.reverse()
        form_file = next(iter(forms), None) or files.published_form(tables[1])
        form, layout = Questionnaire(), Layout(min_rows=1)
        with gather() as problems:
            population, release = (problems.of(read_table, t, SCHEMA, layout) for t in tables)
            if form_file is not None:
                form = problems.of(read_questionnaire, form_file, type(self), published=True)
        if len(population) < files.GUESSES:
            raise UsageError("error.amic2020_rows", at=tables[0].name, rows=files.GUESSES)
        method = declared or form.method()
        mechanism = method.mechanism(release) if method is not None else None
        return MembershipKnowledge(population, release, files.GUESSES, mechanism, method)

    # -- privacy estimation and scores -----------------------------------------------------------------------------

    def read_answer(self, folder: Path | ContestFolder) -> Answer:
        return files.read_answer(files.find_file(ContestFolder.of(folder), files.ANSWER), self.rate)

    def read_published(self, source: Source) -> RoundResults:
        return scores.read_matrix(source)

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds, self.weighed(rounds), rounding=self.rounding)
