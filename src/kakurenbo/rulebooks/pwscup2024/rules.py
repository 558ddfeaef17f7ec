"""`Pwscup2024`: the steps of PWS Cup 2024 in order, each a call into the module that holds its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from kakurenbo.attacks.reconstruction.hamming import Sample
from kakurenbo.attacks.reconstruction.types import RatingsGuess, RatingsKnowledge
from kakurenbo.contest import (
    ANONYMIZE,
    ATTACK,
    Anonymizer,
    ContestFolder,
    Credit,
    Files,
    Guesses,
    Phase,
    Publication,
    Release,
    RoundData,
    RoundResults,
    Rulebook,
    Secrets,
    Standings,
    Target,
    Utility,
)
from kakurenbo.contest.commitments import digest
from kakurenbo.core import Schema, Source, json_bytes
from kakurenbo.core.messages import Message
from kakurenbo.data import ratings
from kakurenbo.methods.parameters import parameter
from kakurenbo.rulebooks.pwscup2024 import names
from kakurenbo.rulebooks.pwscup2024.data import (
    AUTO,
    EMBEDDED,
    FULL,
    ROWS,
    SMALL,
    draw_candidates,
)
from kakurenbo.rulebooks.pwscup2024.fields import DEFAULT_PLAYERS, FIGURES
from kakurenbo.rulebooks.pwscup2024.guesses import (
    GuessForm,
    guess_bytes,
    guesses_bytes,
    read_guess,
    read_guesses,
)
from kakurenbo.rulebooks.pwscup2024.handout import Handout, handout_files, read_handout
from kakurenbo.rulebooks.pwscup2024.release import (
    Submission,
    read_release,
    release_files,
    split_files,
)
from kakurenbo.rulebooks.pwscup2024.scores import count_hits, read_published, standings
from kakurenbo.rulebooks.pwscup2024.targets import (
    MASKS_FILE,
    Answer,
    answer_files,
    draw_masks,
    draw_test,
    masks_bytes,
    read_answer,
    read_knowledge,
    read_masks,
    target_files,
)
from kakurenbo.rulebooks.pwscup2024.utility import release_utility

COMMON, PER_TEAM = "common", "per_team"
DIGESTS_FILE = "digests.json"


@dataclass(frozen=True)
class Pwscup2024(Rulebook[Handout, Submission, RatingsKnowledge, GuessForm, Answer, RatingsGuess]):
    """PWS Cup 2024: identification and database reconstruction against ten overlapping files of movie ratings."""

    name = "pwscup2024"
    title = "PWS Cup 2024, identification and reconstruction against ten files of movie ratings"
    rounds = ("pre", "main")
    weights = {"pre": Fraction(1, 10), "main": Fraction(9, 10)}
    knowledge = RatingsKnowledge
    guess_type = RatingsGuess
    attackers_use_handouts = True  # every team holds three candidates of the same source
    schema = ratings.widest_schema()
    options = {
        "prepare": ("round", "scale", "masks", "data"),
        "run": ("round", "scale", "masks", "data"),
        "verify": ("data",),
    }
    phases = (
        Phase(
            ANONYMIZE,
            (names.RELEASE, names.ARCHIVE, names.CHOICE, names.PLAIN_CHOICE, names.ID),
            cost=2,
        ),
        Phase(ATTACK, (names.GUESSES, names.GUESS_ARCHIVE, names.ONE_GUESS, names.ID), cost=0.1),
    )

    round: str = parameter("main", "which round", choices=("pre", "main"))
    scale: str = parameter(FULL, "rows of the contest, or a tenth", choices=tuple(ROWS))
    masks: str = parameter(
        AUTO,
        "hide the same column in row i for all teams, or not; auto is common in main, per_team in pre",
        choices=(AUTO, COMMON, PER_TEAM),
    )
    data: str = parameter(
        AUTO, "where B comes from: auto, embedded, imported, or a folder of B files"
    )

    file_descriptions = {
        "Bi*_[0-9].csv": "pwscup2024.file.split",
        "Bi*.csv": "pwscup2024.file.candidate",
        "B*a.csv": "pwscup2024.file.people",
        "B*b.csv": "pwscup2024.file.ratings",
        "C*_[0-9].csv": "pwscup2024.file.release",
        DIGESTS_FILE: "pwscup2024.file.digests",
    }
    utility_score = "U"
    utility_range = (0, 100)
    demo_settings = {"scale": SMALL, "data": EMBEDDED}
    figures = FIGURES
    default_players = DEFAULT_PLAYERS

    @property
    def masking(self) -> str:
        """Whether the masked column of row i is the same for all teams: in the main round, unless asked otherwise."""
        by_round = COMMON if self.round == "main" else PER_TEAM
        return by_round if self.masks == AUTO else self.masks

    def release_schema(self) -> Schema:
        return Schema(column for column in self.schema if column.name != ratings.NAME)

    def conditions(self) -> tuple[Message, ...]:
        return (Message("pwscup2024.readme.files"), Message("pwscup2024.readme.guess"))

    # -- the organizer prepares ------------------------------------------------------------------------------------

    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        def stream(*purpose: str) -> np.random.Generator:
            return self.stream(seed, *purpose)

        drawn = draw_candidates(self.data, self.scale, teams, stream)
        handouts = {team: handout_files(team, tables) for team, tables in drawn.by_team.items()}
        digests = {
            name: digest(content)
            for files in handouts.values()
            for name, content in files.items()
            if names.candidate_team(name) is not None
        }
        masks = {MASKS_FILE: masks_bytes(draw_masks(stream("masks")))}
        return RoundData(
            handouts=handouts,
            public={DIGESTS_FILE: json_bytes({"sha256": digests})},
            secret=masks if self.masking == COMMON else {},
            data=drawn.data,
            settings={"masks": self.masking, "data": drawn.kind},
            report=drawn.report,
        )

    # -- a team anonymizes -----------------------------------------------------------------------------------------

    def read_handout(self, folder: Path | ContestFolder) -> Handout:
        return read_handout(ContestFolder.of(folder), self.name)

    def anonymize(
        self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        return _split(anonymizer(handout.table, rng))

    def repair(
        self, handout: Handout, release: Release, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        return _split(anonymizer.after(handout.table, release, rng))

    def released(self, handout: Handout, submission: Submission) -> tuple[Handout, Release]:
        return replace(handout, chosen=submission.chosen), Release(submission.tables)

    def is_unchanged(self, handout: Handout, release: Release) -> bool:
        pairs = zip(release.tables, ratings.split(handout.table), strict=True)
        return all(table.same_values(original) for table, original in pairs)

    def packed_files(self, handout: Handout, files: Files) -> Files:
        return {**files, names.ID_FILE: f"{handout.team}\n".encode()}

    def release_files(self, handout: Handout, release: Release) -> Files:
        return release_files(handout, release.tables)

    def read_release(self, handout: Handout, sources: Sequence[Source]) -> Submission:
        return read_release(handout, sources)

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        return release_utility(handout.candidates[submission.chosen], submission.tables)

    def publish(self, secrets: Secrets[Handout], submission: Submission) -> Publication:
        common = self.masking == COMMON
        masks = (
            secrets.read(MASKS_FILE, read_masks) if common else draw_masks(secrets.stream("masks"))
        )
        original = secrets.handout.candidates[submission.chosen]
        known, answer = draw_test(original, submission.tables, secrets.stream("people"), masks)
        files = {
            **target_files(secrets.team, known),
            **split_files(secrets.team, submission.tables),
        }
        return Publication(files, answer_files(secrets.team, answer))

    # -- attackers guess -------------------------------------------------------------------------------------------

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> RatingsKnowledge:
        return read_knowledge(sources, declared)

    def guess_form(self, knowledge: RatingsKnowledge) -> GuessForm:
        return GuessForm(len(knowledge.ratings))

    def read_target(
        self,
        *places: Path | ContestFolder,
        declared: Anonymizer | None = None,
        attacker: str | None = None,
    ) -> Target[RatingsKnowledge, GuessForm]:
        """One target, which knows its own columns of an E file."""
        target = super().read_target(*places, declared=declared, attacker=attacker)
        return replace(target, form=replace(target.form, target=target.name))

    def read_guess(self, form: GuessForm, source: Source) -> RatingsGuess:
        return read_guess(form, source)

    def guess_bytes(self, guess: RatingsGuess) -> bytes:
        return guess_bytes([guess], len(guess.people))

    def guess_files(self, guesses: Mapping[str, RatingsGuess], attacker: str) -> Files:
        """One file for all teams: columns 2i-1 and 2i for team i."""
        return {names.GUESSES.name(attacker=attacker): guesses_bytes(guesses, attacker)}

    def read_guesses(
        self,
        targets: Mapping[str, Target[RatingsKnowledge, GuessForm]],
        sources: Sequence[Source],
        attacker: str,
    ) -> Guesses[RatingsGuess]:
        """One file serves all targets; a pair of columns that is wrong costs that target alone."""
        return read_guesses(
            {name: target.form for name, target in targets.items()}, sources, attacker
        )

    @property
    def sample_attacks(self) -> Mapping[str, Sample]:
        return {"sample attack": Sample()}

    # -- the judge counts ------------------------------------------------------------------------------------------

    def read_answer(self, folder: Path | ContestFolder) -> Answer:
        return read_answer(ContestFolder.of(folder), self.name)

    def answer_form(self, answer: Answer) -> GuessForm:
        return GuessForm(len(answer.people), answer.target)

    def score_guess(self, answer: Answer, guess: RatingsGuess) -> Credit:
        return count_hits(answer, guess)

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return standings(rounds, self.weighed(rounds))

    def read_published(self, source: Source) -> RoundResults:
        return read_published(source)


def _split(release: Release) -> Release:
    """Return a release of ten files."""
    return (
        release
        if ratings.is_split(release.tables)
        else replace(release, tables=ratings.split(release.table))
    )
