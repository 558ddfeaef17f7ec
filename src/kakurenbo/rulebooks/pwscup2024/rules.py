"""`Pwscup2024`: the steps of PWS Cup 2024 in order, each a call into the module that holds its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
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
from kakurenbo.rulebooks.pwscup2024 import files, guesses, release, scores, targets
from kakurenbo.rulebooks.pwscup2024.data import FULL, ROWS, SMALL, draw_candidates
from kakurenbo.rulebooks.pwscup2024.fields import DEFAULT_PLAYERS, FIGURES
from kakurenbo.rulebooks.pwscup2024.files import Handout
from kakurenbo.rulebooks.pwscup2024.guesses import GuessForm
from kakurenbo.rulebooks.pwscup2024.release import Submission
from kakurenbo.rulebooks.pwscup2024.targets import MASKS_FILE, Answer
from kakurenbo.rulebooks.pwscup2024.utility import release_utility
from kakurenbo.rulebooks.sources import AUTO, EMBEDDED

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
            (files.RELEASE, files.ARCHIVE, files.CHOICE, files.PLAIN_CHOICE, files.ID),
            cost=2,
        ),
        Phase(ATTACK, (files.GUESSES, files.GUESS_ARCHIVE, files.SINGLE_GUESS, files.ID), cost=0.1),
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
        """Return whether the masked column of row i is the same for all teams: in the main round, unless asked otherwise."""
        by_round = COMMON if self.round == "main" else PER_TEAM
        return by_round if self.masks == AUTO else self.masks

    def release_schema(self) -> Schema:
        return Schema(column for column in self.schema if column.name != ratings.NAME)

    def conditions(self) -> tuple[Message, ...]:
        names = ("files", "repair", "guess")
        return tuple(Message(f"pwscup2024.readme.{name}") for name in names)

    # -- the organizer prepares ------------------------------------------------------------------------------------

    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        drawn = draw_candidates(self.data, self.scale, teams, partial(self.stream, seed))
        by_team = drawn.by_team.items()
        handouts = {team: files.handout_files(team, tables) for team, tables in by_team}
        contents = [item for handout in handouts.values() for item in handout.items()]
        digests = {
            name: digest(content) for name, content in contents if files.candidate_team(name)
        }
        masks = targets.masks_bytes(targets.draw_masks(self.stream(seed, "masks")))
        return RoundData(
            handouts=handouts,
            public={DIGESTS_FILE: json_bytes({"sha256": digests})},
            secret={MASKS_FILE: masks} if self.masking == COMMON else {},
            data=drawn.data,
            settings={"masks": self.masking, "data": drawn.kind},
            report=drawn.report,
        )

    # -- a team anonymizes -----------------------------------------------------------------------------------------

    def read_handout(self, folder: Path | ContestFolder) -> Handout:
        return files.read_handout(ContestFolder.of(folder), self.name)

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

    def packed_files(self, handout: Handout, files_: Files) -> Files:
        return {**files_, files.ID_FILE: f"{handout.team}\n".encode()}

    def release_files(self, handout: Handout, release_: Release) -> Files:
        return release.release_files(handout, release_.tables)

    def read_release(self, handout: Handout, sources: Sequence[Source]) -> Submission:
        return release.read_release(handout, sources)

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        return release_utility(handout.candidates[submission.chosen], submission.tables)

    def publish(self, secrets: Secrets[Handout], submission: Submission) -> Publication:
        if self.masking == COMMON:
            masks = secrets.read(MASKS_FILE, targets.read_masks)
        else:
            masks = targets.draw_masks(secrets.stream("masks"))
        team, tables = secrets.team, submission.tables
        original = secrets.handout.candidates[submission.chosen]
        known, answer = targets.draw_test(original, tables, secrets.stream("people"), masks)
        published = {**targets.target_files(team, known), **release.split_files(team, tables)}
        return Publication(published, targets.answer_files(team, answer))

    # -- attackers guess -------------------------------------------------------------------------------------------

    def read_knowledge(
        self, sources: Sequence[Source], declared: Anonymizer | None = None
    ) -> RatingsKnowledge:
        return targets.read_knowledge(sources, declared)

    def guess_form(self, knowledge: RatingsKnowledge) -> GuessForm:
        return GuessForm(len(knowledge.ratings))

    def read_target(
        self,
        *places: Path | ContestFolder,
        declared: Anonymizer | None = None,
        attacker: str | None = None,
    ) -> Target[RatingsKnowledge, GuessForm]:
        """Read one target, which knows its own columns of an E file."""
        target = super().read_target(*places, declared=declared, attacker=attacker)
        return replace(target, form=replace(target.form, target=target.name))

    def read_guess(self, form: GuessForm, source: Source) -> RatingsGuess:
        return guesses.read_guess(form, source)

    def guess_bytes(self, guess: RatingsGuess) -> bytes:
        return guesses.guess_bytes([guess], len(guess.people))

    def guess_files(self, by_target: Mapping[str, RatingsGuess], attacker: str) -> Files:
        """Write one file for all teams: columns 2i-1 and 2i for team i."""
        return {files.GUESSES.name(attacker=attacker): guesses.guesses_bytes(by_target, attacker)}

    def read_guesses(
        self,
        by_name: Mapping[str, Target[RatingsKnowledge, GuessForm]],
        sources: Sequence[Source],
        attacker: str,
    ) -> Guesses[RatingsGuess]:
        """Read one file for all targets; a pair of columns that is wrong costs that target alone."""
        forms = {name: target.form for name, target in by_name.items()}
        return guesses.read_guesses(forms, sources, attacker)

    @property
    def sample_attacks(self) -> Mapping[str, Sample]:
        return {"sample attack": Sample()}

    # -- the judge counts ------------------------------------------------------------------------------------------

    def read_answer(self, folder: Path | ContestFolder) -> Answer:
        return targets.read_answer(ContestFolder.of(folder), self.name)

    def answer_form(self, answer: Answer) -> GuessForm:
        return GuessForm(len(answer.people), answer.target)

    def score_guess(self, answer: Answer, guess: RatingsGuess) -> Credit:
        return scores.count_hits(answer, guess)

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds, self.weighed(rounds))

    def read_published(self, source: Source) -> RoundResults:
        return scores.read_published(source)


def _split(release: Release) -> Release:
    """Return a release of ten files."""
    if ratings.is_split(release.tables):
        return release
    return replace(release, tables=ratings.split(release.table))
