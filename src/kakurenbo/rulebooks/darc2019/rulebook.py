"""`Darc2019`: the steps of DARC 2019 in order, each a call into the module that holds its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kakurenbo.anonymizers.transactions.pseudonyms import Pseudonyms
from kakurenbo.attacks.reidentification import ReidentificationGuess, ReidentificationKnowledge
from kakurenbo.attacks.reidentification.overlap import Overlap
from kakurenbo.commitments import COMMITMENTS_FILE, OPENING_FILE, commit, revealed_seed
from kakurenbo.contracts import (
    Anonymizer,
    Attack,
    Credit,
    Files,
    Player,
    Preparation,
    Release,
    RoundResults,
    Rulebook,
    Standings,
    Target,
    Utility,
)
from kakurenbo.datasets.transactions import kept, release_bytes
from kakurenbo.errors import UsageError
from kakurenbo.parameters import parameter
from kakurenbo.rng import stream
from kakurenbo.rulebooks.darc2019 import checks, credit, files, matrices, preparation, scores, utility
from kakurenbo.rulebooks.darc2019.files import Handout, Submission
from kakurenbo.rulebooks.darc2019.matrices import Answer
from kakurenbo.tables import Problem, Problems, Source, table_bytes


@dataclass(frozen=True)
class Darc2019(Rulebook[Handout, Submission, ReidentificationKnowledge, Answer, ReidentificationGuess]):
    """DARC 2019: re-identification of monthly pseudonyms in the transactions of a shop."""

    name: ClassVar[str] = "darc2019"
    title: ClassVar[str] = "DARC 2019, re-identification of monthly pseudonyms in transactions"
    rounds: ClassVar[tuple[str, ...]] = ("round",)
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "prepare": ("mode", "scale", "data"),
        "check": ("mode",),
        "measure": ("mode",),
        "publish": ("mode",),
        "credit": ("mode",),
        "run": ("mode", "scale", "data"),
    }

    mode: str = parameter(
        "rules", "the text of the rules, or the evaluator that ran the competition", choices=("rules", "aicrowd")
    )
    scale: str = parameter("full", "as many customers as the contest, or about a tenth", choices=("full", "small"))
    data: str = parameter("auto", "where T comes from; auto takes an imported file", choices=("auto", "embedded", "imported"))

    utility_score: ClassVar[str] = "U"
    demo_settings: ClassVar[Mapping[str, Any]] = {"data": "embedded", "scale": "small"}
    default_players: ClassVar[tuple[Player, ...]] = (
        Player("monthly pseudonyms", "monthly_pseudonyms", "tfidf"),
        Player("swapped items", "pipeline:steps=swap_items:share=0.5|dates|values", "fellegi_sunter"),
        Player("swapped baskets", "swap_baskets:k=10", "rhythm"),
        Player("shared baskets", "share_baskets", "profile"),
        Player("crowds", "crowds", "fellegi_sunter"),
        Player("larger crowds", "crowds:smallest=10", "tfidf:link_months=false"),
        Player("yearly pseudonyms", "monthly_pseudonyms:period=year", "tfidf"),
        Player("few deleted", "delete:share=0.05", "profile:link_months=true"),
        Player("rare items deleted", "delete:share=0.1,which=rare_items", "rhythm"),
        Player("noisy dates and values", "pipeline:steps=dates:method=noise|values", "fellegi_sunter:link_months=false"),
    )

    # -- the organizer prepares ------------------------------------------------------------------------------------

    def prepare(self, seed: int, teams: Sequence[str]) -> Preparation[Handout]:
        return preparation.prepare(seed, teams, scale=self.scale, data=self.data, settings=self.settings())

    def read_preparation(self, path: Path) -> Preparation[Handout] | Problems:
        """The organizer's folder; or only T, to publish without a preparation."""
        if not path.is_dir() or not (path / "teams").is_dir():
            handout = self.read_handout(path)
            return handout if isinstance(handout, Problems) else Preparation({handout.team: handout}, {}, handout.facts)
        facts = files.read_facts(path / "public")
        teams = sorted(folder for folder in (path / "teams").iterdir() if folder.is_dir())
        if not teams:
            raise UsageError(f"{path}: there is no team in it; give the folder that prepare wrote")
        # T is the same for all teams: read it once.
        first = self.read_handout(teams[0])
        if isinstance(first, Problems):
            return first
        handouts = {folder.name: replace(first, team=folder.name, facts=files.read_facts(folder)) for folder in teams}
        opening = path / OPENING_FILE
        state = preparation.Secrets(revealed_seed(opening.read_bytes())) if opening.exists() else None
        return Preparation(handouts, {}, facts, state)

    # -- a team anonymizes -----------------------------------------------------------------------------------------

    def team_of(self, file_name: str) -> str | None:
        table = files.team_of(file_name)
        return scores.team_of_table(table) if table else None

    def read_handout(self, path: Path) -> Handout | Problems:
        where = files.find_original(path)
        original = files.read_original(Source.of(where))
        if isinstance(original, Problems):
            return original
        facts = files.read_facts(where.parent)
        return Handout(str(facts.get("team", "01")), original, facts)

    def anonymize(self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator) -> Release:
        """Run a method on T; monthly pseudonyms are its base where it leaves customers under their own names."""
        release = anonymizer(handout.original, rng)
        table = release.table
        alive = kept(table)
        own = (handout.original.texts("id_user") == table.texts("id_user")).to_numpy()
        if not (own & alive).any():
            return release
        return replace(release, tables=Pseudonyms()(table, rng).tables)

    def release_files(self, handout: Handout, release: Release) -> Files:
        return {files.release_file(handout.team): release_bytes(release.table)}

    def check_release(
        self, handout: Handout, sources: Sequence[Source], notices: list[Problem] | None = None
    ) -> Submission | Problems:
        if len(sources) != 1:
            names = ", ".join(source.name for source in sources) or "nothing"
            fix = f"give one CSV file such as {files.release_file(handout.team)}"
            return Problems([Problem(f"a release is one file; got {names}", fix, sources[0].name if sources else "release")])
        table = checks.read_release(sources[0], handout.original, self.following(handout.facts).mode)
        if isinstance(table, Problems):
            return table
        return Submission(table, files.team_of(sources[0].name) or handout.team)

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        return utility.measure(handout.original, submission.table, self.following(handout.facts).mode)

    def following(self, facts: Mapping[str, Any]) -> Darc2019:
        """These rules in the mode that the contest's own ``contest.json`` fixes, unless another was asked for."""
        asked = self.mode != type(self)().mode
        mode = facts.get("settings", {}).get("mode", self.mode)
        return self if asked else replace(self, mode=mode)

    # -- attackers guess -------------------------------------------------------------------------------------------

    def publish(
        self, preparation: Preparation[Handout], submissions: Mapping[str, Submission], seed: int
    ) -> Mapping[str, Target[ReidentificationKnowledge, Answer]]:
        """S in an order that comes from the committed seed, and F; F and the order are committed to, too."""
        seed = preparation.state.seed if preparation.state is not None else seed
        names = {team: submission.name for team, submission in submissions.items()}
        made = {}
        for team, submission in submissions.items():
            original = preparation.handouts[team].original
            answer, rows = matrices.answer_of(original, submission.table)
            order = stream(seed, "darc2019", "order", names[team]).permutation(len(rows))
            made[team] = (ReidentificationKnowledge(original, rows.take(order)), answer)
        secret = {files.answer_file(names[team]): matrices.answer_bytes(answer) for team, (_, answer) in made.items()}
        commitments, opening = commit(seed, {f"secret/{name}": data for name, data in secret.items()})
        return {
            team: Target(
                knowledge,
                answer,
                {
                    files.published_file(names[team]): table_bytes(knowledge.released, header=True),
                    Path(COMMITMENTS_FILE).name: commitments,
                },
                {files.answer_file(names[team]): secret[files.answer_file(names[team])], Path(OPENING_FILE).name: opening},
            )
            for team, (knowledge, answer) in made.items()
        }

    def read_knowledge(self, paths: Sequence[Path], declared: Anonymizer | None = None) -> ReidentificationKnowledge | Problems:
        if len(paths) != 2:
            raise UsageError("darc2019 attacks know two files: T.csv (the original) and S.csv (what was published)")
        original = files.read_original(Source.of(files.find_original(paths[0])))
        if isinstance(original, Problems):
            return original
        released = checks.read_published(Source.of(files.find_original(paths[1])), original, self.mode)
        return released if isinstance(released, Problems) else ReidentificationKnowledge(original, released)

    def guess_bytes(self, guess: ReidentificationGuess) -> bytes:
        return matrices.guess_bytes(guess, self.mode)

    def guess_files(self, guesses: Mapping[str, ReidentificationGuess], attacker: str) -> Files:
        return {files.guess_file(target, attacker): self.guess_bytes(guess) for target, guess in guesses.items()}

    def check_guesses(
        self, targets: Mapping[str, Target[ReidentificationKnowledge, Answer]], sources: Sequence[Source], attacker: str
    ) -> dict[str, ReidentificationGuess] | Problems:
        guesses: dict[str, ReidentificationGuess] = {}
        refused = []
        for source in sources:
            target = files.target_of_guess(source.name, targets, attacker)
            if isinstance(target, Problems):
                refused.append(target)
                continue
            guess = self.read_guess(targets[target].answer, source)
            if isinstance(guess, Problems):
                refused.append(guess)
            else:
                guesses[target] = guess
        return Problems.merge(refused) if refused else guesses

    # -- the judge counts ------------------------------------------------------------------------------------------

    def read_answer(self, path: Path) -> Answer | Problems:
        return matrices.read_answer(path)

    def read_guess(self, answer: Answer, source: Source) -> ReidentificationGuess | Problems:
        return matrices.read_guess(source, answer.customers, answer.pseudonyms, answer.calendar, self.mode)

    def credit(self, answer: Answer, guess: ReidentificationGuess) -> Credit:
        return credit.count_credit(answer, guess, self.mode)

    def read_results(self, source: Source) -> RoundResults | Problems:
        return scores.read_results(source)

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds)

    @property
    def sample_attack(self) -> Overlap:
        return Overlap(self.mode)

    @property
    def sample_attacks(self) -> Mapping[str, Attack[ReidentificationKnowledge, ReidentificationGuess]]:
        """The baselines that count against a table."""
        return {name: attack for name, attack in utility.baselines(self.mode).items() if utility.counts_in(self.mode, name)}
