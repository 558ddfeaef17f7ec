"""`Darc2019`: the steps of DARC 2019 in order, each a call into the module that holds its rules."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kakurenbo.anonymizers.transactions.rows import Pseudonyms
from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.contest import (
    ANONYMIZE,
    ATTACK,
    Anonymizer,
    Attack,
    ContestFolder,
    Counting,
    Credit,
    Figure,
    Files,
    Phase,
    Publication,
    Release,
    RoundData,
    RoundResults,
    Score,
    Secrets,
    Standings,
    Tries,
    Utility,
)
from kakurenbo.contest.bases import TableContest, only_file
from kakurenbo.core import Source, Table, table_bytes
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.data.transactions import (
    RULES_NAMES,
    SCHEMA,
    release_bytes,
    with_headings,
)
from kakurenbo.methods.parameters import parameter
from kakurenbo.rulebooks.darc2019 import checks, files, matrices, scores
from kakurenbo.rulebooks.darc2019 import data as organizer
from kakurenbo.rulebooks.darc2019.fields import DEFAULT_PLAYERS, FIGURES
from kakurenbo.rulebooks.darc2019.files import Handout
from kakurenbo.rulebooks.darc2019.matrices import Answer, GuessForm


@dataclass(frozen=True)
class Darc2019(TableContest[ReidentificationKnowledge, ReidentificationGuess]):
    """DARC 2019: re-identification of monthly pseudonyms in the transactions of a shop."""

    name = "darc2019"
    title = "DARC 2019, re-identification of monthly pseudonyms in transactions"
    rounds = ("round",)
    options = {
        "prepare": ("mode", "scale", "data", "table"),
        "check": ("mode",),
        "measure": ("mode",),
        "credit": ("mode",),
        "standings": ("mode",),
        "verify": ("table",),
        "run": ("mode", "scale", "data", "table"),
    }
    schema = SCHEMA
    column_synonyms = RULES_NAMES
    knowledge = ReidentificationKnowledge
    guess_type = ReidentificationGuess
    phases = (
        Phase(
            ANONYMIZE,
            (files.RELEASE,),
            counts=Counting.LAST_FEW,
            keep=files.TABLES_PER_TEAM,
            cost=3.0,
        ),
        Phase(
            ATTACK, (files.GUESS,), Tries(per_target=files.ATTACKS_PER_TABLE), counts=Counting.BEST
        ),
    )

    mode: str = parameter(
        "rules",
        "the text of the rules, or the evaluator that ran the competition",
        choices=("rules", "aicrowd"),
    )
    scale: str = parameter(
        "full", "as many customers as the contest, or about a tenth", choices=("full", "small")
    )
    data: str = parameter(
        "auto",
        "where T comes from; auto takes an imported file, own is the one that the option table names",
        choices=("auto", "embedded", "imported", "own"),
    )
    table: str = parameter(
        "",
        "file of a T of one's own, such as ground_truth.csv or another shop's",
        none="word.as_data_says",
    )

    prohibited = (
        "darc2019.prohibited.collusion",
        "darc2019.prohibited.format",
        "darc2019.prohibited.submissions",
        "darc2019.prohibited.pseudonym",
        "darc2019.prohibited.month",
        "darc2019.prohibited.items",
        "darc2019.prohibited.judges",
    )
    file_descriptions = {
        files.ORIGINAL_FILE: "darc2019.file.original",
        "S_*.csv": "darc2019.file.published",
    }
    utility_score = "U"
    shown_beside = ("buyer",)
    scored_by = ("mode",)
    demo_settings = {"data": "embedded", "scale": "small"}
    default_players = DEFAULT_PLAYERS

    def settings(self) -> dict[str, Any]:
        """Return what makes a contest: of an own file its digest stands in ``data``, not its path."""
        return {name: value for name, value in super().settings().items() if name != "table"}

    def conditions(self) -> tuple[Message, ...]:
        names = ("rows", "pseudonyms", "tables", "guess")
        return tuple(Message(f"darc2019.readme.{name}") for name in names)

    @property
    def figures(self) -> Mapping[str, Figure]:  # type: ignore[override]  # what they are depends on the mode
        return FIGURES[self.mode]

    # -- a team anonymizes -----------------------------------------------------------------------------------------

    def read_handout(self, folder: Path | ContestFolder) -> Handout:
        folder = ContestFolder.of(folder)
        source, facts = files.find_original(folder), folder.facts(self.name)
        return Handout(facts.team if facts else "", files.read_original(source))

    def anonymize(
        self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        """Run a method on T; monthly pseudonyms are its base where it leaves customers under their own names."""
        release = anonymizer(handout.original, rng)
        table = release.table
        if not (handout.original.texts("id_user") == table.texts("id_user")).any():
            return release
        return replace(release, tables=Pseudonyms()(table, rng).tables)

    def release_files(self, handout: Handout, release: Release) -> Files:
        table = with_headings(release.table, handout.original.schema)
        return {self.release_name(handout.team or "01"): release_bytes(table)}

    def read_release(self, handout: Handout, sources: Sequence[Source]) -> Table:
        source = only_file(sources, self.release_name(handout.team or "01"))
        return checks.read_release(source, handout.original, self.mode)

    def utility(self, original: Table, release: Table) -> Mapping[str, Score]:
        return self.measure(Handout("", original), release).scores

    def measure(self, handout: Handout, submission: Table) -> Utility:
        # Compiled loops take a second to load; a check needs none.
        from kakurenbo.rulebooks.darc2019 import utility

        return utility.measure(handout.original, submission, self.mode)

    # -- attackers guess -------------------------------------------------------------------------------------------

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> ReidentificationKnowledge:
        """Read T and S: files of their names, or two files in this order."""
        published = [source for source in sources if files.PUBLISHED.parse(source.name) is not None]
        if len(sources) == 2 and not published:
            published = [sources[1]]
        originals = [source for source in sources if source not in published]
        if len(published) != 1 or len(originals) != 1:
            raise UsageError("error.darc2019_files")
        original = files.read_original(originals[0])
        released = checks.read_published(published[0], original, self.mode)
        return ReidentificationKnowledge(original, released, declared)

    def guess_form(self, knowledge: ReidentificationKnowledge) -> GuessForm:
        return GuessForm(knowledge.customers, knowledge.pseudonyms, knowledge.calendar, self.mode)

    def read_guess(self, form: GuessForm, source: Source) -> ReidentificationGuess:
        return matrices.read_guess(source, form)

    def guess_bytes(self, guess: ReidentificationGuess) -> bytes:
        return matrices.guess_bytes(guess, self.mode)

    @property
    def sample_attacks(
        self,
    ) -> Mapping[str, Attack[ReidentificationKnowledge, ReidentificationGuess]]:
        """Return all seven baselines: each counts against a table, the seventh in mode ``aicrowd`` alone."""
        from kakurenbo.rulebooks.darc2019 import utility

        return utility.baselines(self.mode)

    @property
    def only_shown(self) -> frozenset[str]:
        baselines = self.sample_attacks
        return frozenset(name for name in baselines if not scores.counts_in(self.mode, name))

    # -- the judge ---------------------------------------------------------------------------------------------------

    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        rng = self.stream(seed, "original")
        original = organizer.original_table(rng, self.data, self.scale, self.table)
        return organizer.draw(original, teams)

    def publish(self, secrets: Secrets[Handout], submission: Table) -> Publication:
        """Publish S in an order that comes from the committed seed, the team and the digest of A(T); and F.

        S has the column names of A(T); the order does not depend on them.
        """
        answer, rows = matrices.answer_of(secrets.handout.original, submission)
        digest = hashlib.sha256(release_bytes(with_headings(submission))).hexdigest()
        order = secrets.stream("order", digest).permutation(len(rows))
        released = table_bytes(rows.take(order), header=True)
        return Publication(
            {files.PUBLISHED.name(target=secrets.target): released},
            {files.ANSWER.name(target=secrets.target): matrices.answer_bytes(answer)},
        )

    def read_answer(self, folder: Path | ContestFolder) -> Answer:
        return matrices.read_answer(files.find_file(ContestFolder.of(folder), files.ANSWER))

    def answer_form(self, answer: Answer) -> GuessForm:
        return GuessForm(answer.customers, answer.pseudonyms, answer.calendar, self.mode)

    def score_guess(self, answer: Answer, guess: ReidentificationGuess) -> Credit:
        return scores.count_credit(answer, guess, self.mode)

    # -- results -------------------------------------------------------------------------------------------------------

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds, self.mode)

    def read_published(self, source: Source) -> RoundResults:
        return scores.read_published(source)
