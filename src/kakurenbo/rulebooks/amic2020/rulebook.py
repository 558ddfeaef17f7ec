"""`Amic2020`: the steps of PWS Cup 2020 in order, each a call into the module that holds its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from kakurenbo.attacks.membership import MembershipGuess, MembershipKnowledge
from kakurenbo.attacks.membership.nearest import Nearest
from kakurenbo.contracts import (
    ANONYMIZE,
    ATTACK,
    Anonymizer,
    ContestFacts,
    Credit,
    Figure,
    Files,
    Phase,
    Player,
    Publication,
    Release,
    RoundData,
    RoundResults,
    Rulebook,
    Secrets,
    Standings,
    Utility,
    read_facts,
    unknown_column,
)
from kakurenbo.contracts.information import log2_choices
from kakurenbo.datasets.adult import SCHEMA
from kakurenbo.errors import ParameterError, UsageError
from kakurenbo.messages import Phrase
from kakurenbo.parameters import parameter
from kakurenbo.rulebooks.amic2020 import files, matrix, preparation, scores, utility
from kakurenbo.rulebooks.amic2020.claims import SECRET, computed_claims, exaggerated, exaggerated_presence, privacy_scores
from kakurenbo.rulebooks.amic2020.figures import FIGURES
from kakurenbo.rulebooks.amic2020.files import Answer, Handout, Submission
from kakurenbo.rulebooks.amic2020.knowledge import knowledge_of
from kakurenbo.rulebooks.amic2020.players import DEFAULT_PLAYERS
from kakurenbo.rulebooks.amic2020.questionnaire import Questionnaire, form_bytes, read_questionnaire
from kakurenbo.tables import (
    Layout,
    Problem,
    Problems,
    Read,
    Reading,
    Schema,
    Severity,
    Source,
    Table,
    notices_of,
    read_table,
    refused,
    table_bytes,
)

PRIVACY_OPTIONS = ("known", "secret", "population")


@dataclass(frozen=True)
class Amic2020(Rulebook[Handout, Submission, MembershipKnowledge, int, Answer, MembershipGuess]):
    """PWS Cup 2020: membership inference against anonymized samples of census records."""

    name: ClassVar[str] = "amic2020"
    title: ClassVar[str] = "PWS Cup 2020, membership inference against samples of census records"
    version: ClassVar[str] = "3"
    rounds: ClassVar[tuple[str, ...]] = ("pre", "main")
    weights: ClassVar[Mapping[str, Fraction]] = {"pre": Fraction(1, 10), "main": Fraction(9, 10)}
    phases: ClassVar[tuple[Phase, ...]] = (
        Phase(ANONYMIZE, (files.RELEASE, files.QUESTIONNAIRE), cost=2.0),
        Phase(ATTACK, (files.GUESS,), cost=0.1),
    )
    knowledge: ClassVar[type] = MembershipKnowledge
    schema: ClassVar[Schema] = SCHEMA
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "prepare": (
            *("round", "scale", "generator", "data", "rate", "min_rows", "max_rows", "edition", "positive"),
            *utility.THRESHOLDS,
        ),
        "check": ("min_rows", "max_rows"),
        "measure": (
            *("round", "data", "min_rows", "max_rows", "edition", "positive", "test", *utility.THRESHOLDS),
            *PRIVACY_OPTIONS,
        ),
        "privacy": PRIVACY_OPTIONS,
        "generate": ("generator", "data"),
        "credit": ("rate",),
        "standings": ("rounding",),
        "tune": ("round", "scale", "generator", "data"),
        "run": (
            *("round", "scale", "generator", "data", "rate", "min_rows", "max_rows", "edition", "positive", "rounding"),
            *utility.THRESHOLDS,
        ),
    }
    demo_settings: ClassVar[Mapping[str, Any]] = {"data": "embedded", "round": "pre"}
    figures: ClassVar[Mapping[str, Figure]] = FIGURES
    default_players: ClassVar[tuple[Player, ...]] = DEFAULT_PLAYERS["full"]

    round: str = parameter("pre", "which round's files and thresholds", choices=("pre", "main", "trial"))
    scale: str = parameter("full", "row counts of the contest, or about a tenth", choices=("full", "small"))
    generator: str = parameter("moments", "how B is generated from A", choices=("moments", "omth17"))
    data: str = parameter("auto", "where A comes from; auto takes imported files", choices=("auto", "embedded", "imported"))
    rate: float = parameter(0.1, "share of B's rows that a sample has", low=0, high=1)
    min_rows: int | None = parameter(None, "fewest rows of a release", low=1, none="a tenth of the contest's sample")
    max_rows: int | None = parameter(None, "most rows of a release", low=1, none="ten times the contest's sample")
    edition: int = parameter(1, "edition of the rules whose covariance figure decides", low=1, high=2)
    positive: str = parameter("<=50K", "income class of the tree's F-measure", choices=("<=50K", ">50K"))
    histogram: float | None = parameter(None, "least histogram utility", low=0, high=1, none="the round's own")
    vcm: float | None = parameter(None, "least covariance utility", low=0, none="the round's own")
    dta_relationship: float | None = parameter(None, "least F-measure, relationship", low=0, high=1, none="the round's own")
    dta_income: float | None = parameter(None, "least F-measure, income", low=0, high=1, none="the round's own")
    max_histogram_error: float | None = parameter(None, "largest error of an attribute", low=0, none="the round's own")
    max_correlation_difference: float | None = parameter(
        None, "largest change of two columns' correlation", low=0, high=2, none="the round's own"
    )
    rounding: str = parameter("cut", "how shown points lose their decimals", choices=("cut", "round"))
    test: str = parameter(
        "", "file of test rows, where the handout has none beside it", none="the test rows beside the handout"
    )

    known: tuple[str, ...] | None = parameter(
        None, "columns an attacker knows, for k, l and t", none="all columns; for l and t all but the secret"
    )
    secret: str = parameter(SECRET, "column that l and t protect", choices=SCHEMA.names)
    population: str = parameter("", "file of B, for delta-presence", none="no delta-presence")

    # -- options ---------------------------------------------------------------------------------------------------

    def under(self, facts: ContestFacts | None) -> Self:
        """As the contest fixes it; but where another of its rounds is asked for, that round's own thresholds hold."""
        if facts is None or "round" not in self.given or self.round == facts.round:
            return super().under(facts)
        settings = {name: value for name, value in facts.settings.items() if name not in utility.THRESHOLDS}
        return super().under(replace(facts, settings=settings))

    def thresholds(self) -> dict[str, float | None]:
        """What every figure that can decide must reach: as it was set, else as the round's rules have it."""
        own = utility.ROUND_THRESHOLDS[self.round]
        return {name: own.get(name) if (value := getattr(self, name)) is None else value for name in utility.THRESHOLDS}

    def row_limits(self, sample: int) -> tuple[int, int]:
        """Fewest and most rows of a release: 1,000 to 100,000 where a sample has 10,000."""
        return (
            max(1, sample // 10) if self.min_rows is None else self.min_rows,
            sample * 10 if self.max_rows is None else self.max_rows,
        )

    def field(self) -> tuple[Player, ...]:
        """The players of this scale: small samples bear less noise."""
        return DEFAULT_PLAYERS[self.scale]

    # -- the questioner prepares -----------------------------------------------------------------------------------

    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        least, most = self.row_limits(files.SCALES[self.scale].population // 10)
        if least > most:
            raise ParameterError("max_rows", f"at least min_rows, which is {least:,}", most)
        return preparation.draw_round(
            teams,
            lambda *names: self.stream(seed, *names),
            round_=self.round,
            scale=self.scale,
            generator=self.generator,
            data=self.data,
            rate=self.rate,
            settings={"min_rows": least, "max_rows": most, **self.thresholds()},
        )

    def generate(self, rows: int, rng: np.random.Generator, *, distinct: bool) -> tuple[bytes, Mapping[str, Any]]:
        return preparation.generated(rows, rng, generator=self.generator, data=self.data, distinct=distinct)

    def sample(self, source: Source, rate: float, rng: np.random.Generator) -> Reading[tuple[bytes, Sequence[int]]]:
        read = read_table(source, SCHEMA)
        if isinstance(read, Problems):
            return read
        rows = preparation.draw_sample(len(read.value), rate, rng)
        return Read((table_bytes(read.value.take(rows)), rows.tolist()), read.notices)

    # -- an anonymizer's task --------------------------------------------------------------------------------------

    def read_handout(self, path: Path) -> Reading[Handout]:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
        source = files.find_file(path, files.SAMPLE_NAME) if path.is_dir() else Source.of(path)
        if isinstance(source, Problems):
            return source
        sample = read_table(source, SCHEMA)
        test = self._test_rows(path if path.is_dir() else path.parent)
        if isinstance(sample, Problems) or isinstance(test, Problems):
            return Problems.of(sample, test)
        facts = read_facts(path, self.name)
        team = (facts.team if facts else "") or files.team_in(source.name) or "01"
        return Read(Handout(team, sample.value, test.value if test else None), notices_of(sample, test))

    def _test_rows(self, folder: Path) -> Reading[Table] | None:
        """The rows for the trees, where they are named or lie beside the sample."""
        beside = [folder / name for name in (files.TEST_FILE, files.TEST_FILE + ".gz")]
        paths = [Path(self.test)] if self.test else [path for path in beside if path.exists()]
        return files.read_test_rows(Source.of(paths[0])) if paths else None

    def anonymize(self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator) -> Release:
        return anonymizer(handout.sample, rng)

    def release_files(self, handout: Handout, release: Release) -> Files:
        return {files.release_file(self.round, handout.team): table_bytes(release.table)}

    def check_release(self, handout: Handout, sources: Sequence[Source]) -> Reading[Submission]:
        forms = [source for source in sources if files.QUESTIONNAIRE_NAME.fullmatch(source.name)]
        tables = [source for source in sources if source not in forms]
        example = files.release_file(self.round, handout.team)
        if len(tables) != 1:
            given = [table.name for table in tables]
            file, listed = (given[1], given) if given else (example, Phrase("word.none"))
            return refused("release.one_file", file, files=listed, example=example)
        if len(forms) > 1:
            return refused("amic2020.one_questionnaire", forms[1].name, count=len(forms))
        least, most = self.row_limits(len(handout.sample))
        table = read_table(tables[0], SCHEMA, Layout(min_rows=least, max_rows=most))
        form = read_questionnaire(forms[0], type(self)) if forms else Read(Questionnaire())
        if isinstance(table, Problems) or isinstance(form, Problems):
            return Problems.of(table, form)
        claims = exaggerated(form.value, handout.sample, table.value, forms[0].name) if forms else ()
        return Read(Submission(table.value, form.value), (*notices_of(table, form), *claims))

    # -- utility estimation ----------------------------------------------------------------------------------------

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        test = handout.test
        notices: tuple[Problem, ...] = ()
        if test is None:
            found = preparation.personal_data(self.data)
            test, source = found.test, preparation.SOURCES[found.source]
            notices = (Problem("amic2020.no_test_rows", {"source": source}, files.TEST_FILE, severity=Severity.NOTICE),)
        figures = utility.measure(
            handout.sample,
            submission.table,
            test,
            thresholds=self.thresholds(),
            edition=self.edition,
            positive=self.positive,
        )
        return replace(figures, notices=notices)

    def privacy(self, handout: Handout, submission: Submission) -> Reading[Utility]:
        if wrong := unknown_column(SCHEMA, self.known):
            raise UsageError(f"--known: {wrong}")
        population = read_table(Source.of(Path(self.population)), SCHEMA, Layout(min_rows=1)) if self.population else None
        if isinstance(population, Problems):
            return population
        scores = privacy_scores(
            submission.questionnaire,
            submission.table,
            population=None if population is None else population.value,
            known=self.known,
            secret=self.secret,
        )
        return Read(Utility(scores), notices_of(population))

    def grade(self, secrets: Secrets[Handout], submission: Submission) -> Utility:
        """No figure of the rules needs a secret; but whether a claimed delta-presence is true is seen only beside B."""
        file = files.questionnaire_file(self.round, secrets.team)
        told = exaggerated_presence(submission.questionnaire, submission.table, self._population(secrets), file)
        return Utility({}, notices=told)

    # -- what attackers get ----------------------------------------------------------------------------------------

    def publish(self, secrets: Secrets[Handout], submission: Submission) -> Publication:
        team, form, table = secrets.team, submission.questionnaire, submission.table
        computed = computed_claims(form, table, self._population(secrets))
        answer = files.answer_file(self.round, team)
        rows = secrets.read(answer, lambda source: files.read_answer_file(source, self.rate)).rows
        return Publication(
            target={
                files.release_file(self.round, team): table_bytes(table),
                files.questionnaire_file(self.round, team): form_bytes(form, team, computed),
            },
            answer={answer: files.rows_bytes(rows)},
        )

    def _population(self, secrets: Secrets[Handout]) -> Table:
        return secrets.read(files.population_file(self.round), lambda source: read_table(source, SCHEMA))

    def read_knowledge(self, sources: Sequence[Source], declared: Anonymizer | None = None) -> Reading[MembershipKnowledge]:
        return knowledge_of(type(self), sources, declared)

    # -- an attacker's task ----------------------------------------------------------------------------------------

    def guess_form(self, knowledge: MembershipKnowledge) -> int:
        return len(knowledge.population)

    def check_guess(self, form: int, source: Source) -> Reading[MembershipGuess]:
        return files.read_rows(source, form, files.GUESSES).map(MembershipGuess)

    def guess_bytes(self, guess: MembershipGuess) -> bytes:
        return files.rows_bytes(guess.rows)

    @property
    def sample_attacks(self) -> Mapping[str, Nearest]:
        return {matrix.SAMPLE_ATTACK: Nearest()}

    # -- privacy estimation and scores -----------------------------------------------------------------------------

    def read_answer(self, path: Path) -> Reading[Answer]:
        return files.read_answer(path, self.rate)

    def answer_form(self, answer: Answer) -> int:
        return answer.population

    def credit(self, answer: Answer, guess: MembershipGuess) -> Credit:
        return scores.count_hits(answer, guess.rows)

    def credit_outcomes(self) -> int:
        """0 to 100 hits."""
        return files.GUESSES + 1

    def answer_bits(self) -> float:
        """Which rows of B are in the sample: one set of so many."""
        population = files.SCALES[self.scale].population
        return log2_choices(population, files.sample_size(population, self.rate))

    def read_published(self, source: Source) -> Reading[RoundResults]:
        return matrix.read_matrix(source)

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds, self.weighed(rounds), rounding=self.rounding)
