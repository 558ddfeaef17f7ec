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
from kakurenbo.contest import (
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
from kakurenbo.contest.information import log2_choices
from kakurenbo.core import (
    InputError,
    Layout,
    Problem,
    Schema,
    Severity,
    Source,
    Table,
    add_notices,
    few_names,
    gather,
    read_table,
    table_bytes,
)
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.messages import Phrase
from kakurenbo.data.adult import SCHEMA, read_census
from kakurenbo.methods.parameters import parameter
from kakurenbo.rulebooks.amic2020 import files, matrix, preparation, scores, utility
from kakurenbo.rulebooks.amic2020.claims import (
    SECRET,
    computed_claims,
    exaggerated,
    exaggerated_presence,
    privacy_scores,
)
from kakurenbo.rulebooks.amic2020.figures import FIGURES
from kakurenbo.rulebooks.amic2020.files import Answer, Handout, Submission
from kakurenbo.rulebooks.amic2020.knowledge import knowledge_of
from kakurenbo.rulebooks.amic2020.players import DEFAULT_PLAYERS
from kakurenbo.rulebooks.amic2020.questionnaire import Questionnaire, form_bytes, read_questionnaire

PRIVACY_OPTIONS = ("known", "secret", "population")


def _threshold(meaning: str, high: float | None = None) -> Any:
    """Return a threshold of the contest: a number, ``off``, or None for the value of the chosen set."""
    return parameter(None, meaning, low=0, high=high, none="the round's own", words=(utility.OFF,))


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
            *(
                "round",
                "scale",
                "generator",
                "data",
                "rate",
                "min_rows",
                "max_rows",
                "edition",
                "positive",
            ),
            *("thresholds", *utility.THRESHOLDS),
        ),
        "check": ("min_rows", "max_rows"),
        "measure": (
            *(
                "round",
                "data",
                "min_rows",
                "max_rows",
                "edition",
                "positive",
                "test",
                "thresholds",
                *utility.THRESHOLDS,
            ),
            *PRIVACY_OPTIONS,
        ),
        "privacy": PRIVACY_OPTIONS,
        "generate": ("generator", "data"),
        "credit": ("rate",),
        "standings": ("rounding",),
        "tune": ("round", "scale", "generator", "data"),
        "run": (
            *(
                "round",
                "scale",
                "generator",
                "data",
                "rate",
                "min_rows",
                "max_rows",
                "edition",
                "positive",
                "rounding",
            ),
            *("thresholds", *utility.THRESHOLDS),
        ),
    }
    prohibited: ClassVar[tuple[str, ...]] = (
        "amic2020.prohibited.share_data",
        "amic2020.prohibited.share_code",
        "amic2020.prohibited.obstruct",
    )
    file_descriptions: ClassVar[Mapping[str, str]] = files.DESCRIPTIONS
    upper_bounds: ClassVar[tuple[str, ...]] = utility.AT_MOST
    demo_settings: ClassVar[Mapping[str, Any]] = {"data": "embedded", "round": "pre"}
    figures: ClassVar[Mapping[str, Figure]] = FIGURES
    default_players: ClassVar[tuple[Player, ...]] = DEFAULT_PLAYERS["full"]

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
        None, "fewest rows of a release", low=1, none="a tenth of the contest's sample"
    )
    max_rows: int | None = parameter(
        None, "most rows of a release", low=1, none="ten times the contest's sample"
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
        none="the test rows beside the handout",
    )

    known: tuple[str, ...] | None = parameter(
        None,
        "columns an attacker knows, for k, l and t",
        none="all columns; for l and t all but the secret",
    )
    secret: str = parameter(SECRET, "column that l and t protect", choices=SCHEMA.names)
    population: str = parameter("", "file of B, for delta-presence", none="no delta-presence")

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

    def conditions(self) -> tuple[Phrase, ...]:
        if self.min_rows is None or self.max_rows is None:
            return ()
        rows = Phrase("amic2020.readme.rows", {"least": self.min_rows, "most": self.max_rows})
        return rows, Phrase("amic2020.readme.questionnaire", {"file": str(files.QUESTIONNAIRE)})

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
            settings={"min_rows": least, "max_rows": most, **self._recorded_thresholds()},
        )

    def generate(
        self, rows: int, rng: np.random.Generator, *, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        drawn_from = preparation.personal_data(self.data)
        return self._generated(
            drawn_from.personal, preparation.SOURCES[drawn_from.source], rows, rng, distinct
        )

    def generate_from(
        self, source: Source, rows: int, rng: np.random.Generator, *, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        return self._generated(read_census(source), source.name, rows, rng, distinct)

    def _generated(
        self, personal: Table, data: str, rows: int, rng: np.random.Generator, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        made, close = preparation.generated(
            personal, rows, rng, generator=self.generator, distinct=distinct
        )
        return table_bytes(made), {"data": data, "fidelity": close.as_json()}

    def sample(
        self, source: Source, rate: float, rng: np.random.Generator
    ) -> tuple[bytes, Sequence[int]]:
        population = read_table(source, SCHEMA)
        rows = preparation.draw_sample(len(population), rate, rng)
        return table_bytes(population.take(rows)), rows.tolist()

    # -- an anonymizer's task --------------------------------------------------------------------------------------

    def read_handout(self, path: Path) -> Handout:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
        source = files.find_file(path, files.SAMPLE_NAME) if path.is_dir() else Source.of(path)
        with gather() as problems:
            sample = problems.of(read_table, source, SCHEMA)
            test = problems.of(self._test_rows, path if path.is_dir() else path.parent)
        facts = read_facts(path, self.name)
        team = (facts.team if facts else "") or files.team_in(source.name) or "01"
        return Handout(team, sample, test)

    def _test_rows(self, folder: Path) -> Table | None:
        """The rows for the trees, where they are named or lie beside the sample."""
        beside = [folder / name for name in (files.TEST_FILE, files.TEST_FILE + ".gz")]
        paths = [Path(self.test)] if self.test else [path for path in beside if path.exists()]
        return read_census(Source.of(paths[0])) if paths else None

    def anonymize(
        self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        return anonymizer(handout.sample, rng)

    def repair(
        self, handout: Handout, release: Release, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        return anonymizer.after(handout.sample, release, rng)

    def released(self, handout: Handout, submission: Submission) -> tuple[Handout, Release]:
        return handout, Release.of(submission.table)

    def is_unchanged(self, handout: Handout, release: Release) -> bool:
        """Whether D has the rows of C, in any order: attackers look for rows, not for their places."""
        rows = len(handout.sample)
        if len(release.table) != rows or release.table.schema != handout.sample.schema:
            return False
        keys = Table.stack([handout.sample, release.table]).keys()
        return np.array_equal(np.sort(keys[:rows]), np.sort(keys[rows:]))

    def release_name(self, team: str) -> str:
        return files.release_file(self.round, team)

    def release_files(self, handout: Handout, release: Release) -> Files:
        return {self.release_name(handout.team): table_bytes(release.table)}

    def read_release(self, handout: Handout, sources: Sequence[Source]) -> Submission:
        example = files.release_file(self.round, handout.team)
        if len(sources) != 1:
            given = few_names(sources)
            file, listed = (sources[1].name, given) if given else (example, Phrase("word.none"))
            raise InputError.of("release.one_file", file, files=listed, example=example)
        least, most = self.row_limits(len(handout.sample))
        table = read_table(sources[0], SCHEMA, Layout(min_rows=least, max_rows=most))
        return Submission(table, Questionnaire())

    def check_attachments(self, sources: Sequence[Source]) -> Questionnaire:
        if len(sources) > 1:
            code = "amic2020.one_questionnaire"
            raise InputError.of(code, sources[1].name, count=len(sources))
        return read_questionnaire(sources[0], type(self)) if sources else Questionnaire()

    def attach(
        self, handout: Handout, submission: Submission, attachments: Questionnaire
    ) -> Submission:
        """Take in the questionnaire, with a notice for each claim that the release does not bear out."""
        file = files.questionnaire_file(self.round, handout.team)
        add_notices(exaggerated(attachments, handout.sample, submission.table, file))
        return Submission(submission.table, attachments)

    # -- utility estimation ----------------------------------------------------------------------------------------

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        test = handout.test
        notices: tuple[Problem, ...] = ()
        if test is None:
            found = preparation.personal_data(self.data)
            test, source = found.test, preparation.SOURCES[found.source]
            notices = (
                Problem(
                    "amic2020.no_test_rows",
                    {"source": source},
                    files.TEST_FILE,
                    severity=Severity.NOTICE,
                ),
            )
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
            raise UsageError(f"--known: {wrong}")
        population = (
            read_table(Source.of(Path(self.population)), SCHEMA, Layout(min_rows=1))
            if self.population
            else None
        )
        scores = privacy_scores(
            submission.questionnaire,
            submission.table,
            population=population,
            known=self.known,
            secret=self.secret,
        )
        return Utility(scores)

    def secret_measures(self, secrets: Secrets[Handout], submission: Submission) -> Utility:
        """No figure of the rules needs a secret; but whether a claimed delta-presence is true is seen only beside B."""
        file = files.questionnaire_file(self.round, secrets.team)
        told = exaggerated_presence(
            submission.questionnaire, submission.table, self._population(secrets), file
        )
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
        return secrets.read(
            files.population_file(self.round), lambda source: read_table(source, SCHEMA)
        )

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> MembershipKnowledge:
        return knowledge_of(type(self), sources, declared)

    # -- an attacker's task ----------------------------------------------------------------------------------------

    def guess_form(self, knowledge: MembershipKnowledge) -> int:
        return len(knowledge.population)

    def read_guess(self, form: int, source: Source) -> MembershipGuess:
        return MembershipGuess(files.read_rows(source, form, files.GUESSES))

    def guess_bytes(self, guess: MembershipGuess) -> bytes:
        return files.rows_bytes(guess.rows)

    @property
    def sample_attacks(self) -> Mapping[str, Nearest]:
        return {matrix.SAMPLE_ATTACK: Nearest()}

    # -- privacy estimation and scores -----------------------------------------------------------------------------

    def read_answer(self, path: Path) -> Answer:
        return files.read_answer(path, self.rate)

    def answer_form(self, answer: Answer) -> int:
        return answer.population

    def score_guess(self, answer: Answer, guess: MembershipGuess) -> Credit:
        return scores.count_hits(answer, guess.rows)

    def credit_outcomes(self) -> int:
        """0 to 100 hits."""
        return files.GUESSES + 1

    def answer_bits(self) -> float:
        """Which rows of B are in the sample: one set of so many."""
        population = files.SCALES[self.scale].population
        return log2_choices(population, files.sample_size(population, self.rate))

    def read_published(self, source: Source) -> RoundResults:
        return matrix.read_matrix(source)

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds, self.weighed(rounds), rounding=self.rounding)
