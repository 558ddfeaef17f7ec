"""`Pwscup2024`: the steps of PWS Cup 2024 in order, each a call into the module that holds its rules."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kakurenbo.attacks.reconstruction.hamming import Sample
from kakurenbo.attacks.reconstruction.knowledge import RATING_VALUES, RatingsGuess, RatingsKnowledge
from kakurenbo.contracts import (
    Anonymizer,
    Credit,
    Files,
    Mechanism,
    Player,
    Preparation,
    Release,
    RoundResults,
    Rulebook,
    Standings,
    Target,
    Utility,
)
from kakurenbo.datasets import ratings
from kakurenbo.errors import UsageError
from kakurenbo.measures.crosstab import crosstab_utility, least_utility
from kakurenbo.parameters import parameter
from kakurenbo.rng import stream
from kakurenbo.rulebooks.pwscup2024 import files, preparation, scores
from kakurenbo.rulebooks.pwscup2024.files import Answer, Handout, Submission
from kakurenbo.rulebooks.pwscup2024.preparation import COMMON, PER_TEAM, Secrets
from kakurenbo.tables import Problem, Problems, Schema, Source, Table, sources_of, table_bytes
from kakurenbo.tables.archives import is_archive, open_archive
from kakurenbo.tables.transitional import plain, taken


@dataclass(frozen=True)
class Pwscup2024(Rulebook[Handout, Submission, RatingsKnowledge, Answer, RatingsGuess]):
    """PWS Cup 2024: identification and database reconstruction against ten overlapping files of movie ratings."""

    name: ClassVar[str] = "pwscup2024"
    title: ClassVar[str] = "PWS Cup 2024, identification and reconstruction against ten files of movie ratings"
    rounds: ClassVar[tuple[str, ...]] = ("pre", "main")
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "prepare": ("round", "scale", "masks"),
        "run": ("round", "scale", "masks"),
    }

    round: str = parameter("main", "which round", choices=("pre", "main"))
    scale: str = parameter("full", "rows of the contest, or a tenth", choices=("full", "small"))
    masks: str = parameter(COMMON, "hide the same column in row i for all teams, or not", choices=(COMMON, PER_TEAM))

    utility_score: ClassVar[str] = "U"
    demo_settings: ClassVar[Mapping[str, Any]] = {"scale": "small"}
    default_players: ClassVar[tuple[Player, ...]] = (
        Player("hashed", "pseudo_olh:epsilon=3", "sample"),
        Player(
            "swapped in groups", "pipeline:steps=group_shuffle|swap_cells", "euclidean:reconstruction=collaborative_filtering"
        ),
        Player("hashed and repaired", "pipeline:steps=pseudo_olh:epsilon=2|crosstab_repair_fast:utility=80", "all_pairs"),
        Player("just enough", "just_enough:utility=70", "posterior"),
        Player("hashed strongly", "pseudo_olh:epsilon=1", "bayes"),
        Player("hashed, each file for itself", "olh:epsilon=3", "euclidean"),
        Player("swapped", "swap_cells:swaps=3000", "collaborative_filtering"),
        Player("shuffled in groups", "group_shuffle", "sample"),
        Player("permuted", "permute_columns", "all_pairs"),
        Player("shuffled", "shuffle_rows", "euclidean"),
    )

    # -- the organizer prepares ------------------------------------------------------------------------------------

    def prepare(self, seed: int, teams: Sequence[str]) -> Preparation[Handout]:
        return preparation.prepare(seed, teams, round_=self.round, scale=self.scale, masks=self.masks, options={})

    def read_preparation(self, path: Path) -> Preparation[Handout] | Problems:
        if not (path / "secret").is_dir():  # a single table, or one team's folder: masks are drawn when publishing
            handout = self.read_handout(path)
            return handout if isinstance(handout, Problems) else Preparation({handout.team: handout}, {}, {}, Secrets())
        handouts: dict[str, Handout] = {}
        masks: dict[str | None, np.ndarray] = {}
        refused = []
        for folder in sorted((path / "teams").iterdir()):
            handout = self.read_handout(folder)
            if isinstance(handout, Problems):
                refused.append(handout)
            else:
                handouts[folder.name] = handout
        whose = [None, *handouts]
        for team in [team for team in whose if (path / "secret" / files.masks_file(team)).exists()]:
            read = files.read_masks(Source.of(path / "secret" / files.masks_file(team)))
            if isinstance(read, Problems):
                refused.append(read)
            else:
                masks[team] = read
        facts = _read_facts(path / "public")
        return Problems.of(*refused) if refused else Preparation(handouts, {}, facts, Secrets(masks))

    # -- a team anonymizes -----------------------------------------------------------------------------------------

    def read_handout(self, path: Path) -> Handout | Problems:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
        if path.is_dir():
            found = [source for source in sources_of(path) if re.fullmatch(r"B\d\d-\d\.csv(\.gz)?", source.name)]
            choices = [source for source in sources_of(path) if files.is_choice(source.name)]
            chosen = files.read_choice(choices[0], len(found)) if choices else 0
            if not found:
                raise UsageError(f"{path}: there is no table B in this folder, such as {files.candidate_file('01', 1)}")
        else:
            found, chosen = self._beside(path)
        tables = [files.read_original(source) for source in found]
        refused = [part for part in (*tables, chosen) if isinstance(part, Problems)]
        if refused or isinstance(chosen, Problems):
            return Problems.of(*refused)
        facts = _read_facts(path if path.is_dir() else path.parent)
        named = re.match(r"B(\d\d)\D", found[0].name)
        team = str(facts.get("team") or (named.group(1) if named else files.UNNAMED))
        return Handout(team, tuple(table for table in tables if isinstance(table, Table)), chosen, facts)

    def _beside(self, path: Path) -> tuple[list[Source], int]:
        """All candidates where the file is one of them, so that the choice can be told; else the file alone."""
        match = re.fullmatch(r"(B\d\d-)(\d)(\.csv(?:\.gz)?)", path.name)
        if not match:
            return [Source.of(path)], 0
        candidates = [path.parent / f"{match.group(1)}{number}{match.group(3)}" for number in range(1, files.CANDIDATES + 1)]
        if path not in candidates or not all(candidate.exists() for candidate in candidates):
            return [Source.of(path)], 0
        return [Source.of(candidate) for candidate in candidates], candidates.index(path)

    def team_of(self, file_name: str) -> str | None:
        match = re.match(r"[BCE](\d\d)\D", file_name)
        return match.group(1) if match else None

    def anonymize(self, handout: Handout, anonymizer: Anonymizer, rng: np.random.Generator) -> Release:
        release = anonymizer(handout.table, rng)
        if ratings.is_split(release.tables):
            return release
        return Release(ratings.split(release.table), release.mechanism, release.claims)

    def release_files(self, handout: Handout, release: Release) -> Files:
        choice = {files.choice_file(handout.team): files.choice_bytes(handout.chosen)} if handout.chosen else {}
        return {**files.split_bytes(release.tables, handout.team), **choice}

    def check_release(
        self, handout: Handout, sources: Sequence[Source], notices: list[Problem] | None = None
    ) -> Submission | Problems:
        archives = [source for source in sources if is_archive(source)]
        if archives:
            if len(sources) > 1:
                return Problems([plain("a release is one archive", "give the archive alone", archives[0].name)])
            unpacked = taken(open_archive(archives[0]), notices)
            if isinstance(unpacked, Problems):
                return unpacked
            sources = unpacked
        choices = [source for source in sources if files.is_choice(source.name)]
        chosen = files.read_choice(choices[0], len(handout.candidates)) if choices else handout.chosen
        team = handout.team if handout.facts.get("team") else None
        rest = [source for source in sources if source not in choices]
        numbered = files.sort_release(rest, team, notices, strict=bool(archives))
        if isinstance(chosen, Problems) or isinstance(numbered, Problems):
            return Problems.of(chosen, numbered)
        tables = files.read_release(numbered, handout.candidates[chosen], notices)
        return tables if isinstance(tables, Problems) else Submission(tables, chosen)

    def measure(self, handout: Handout, submission: Submission) -> Utility:
        splits = ratings.split(handout.candidates[submission.chosen])
        parts = [
            crosstab_utility(original, released, ratings.ATTRIBUTES)
            for original, released in zip(splits, submission.tables, strict=True)
        ]
        named = {f"U_{number}": score for number, score in enumerate(parts)}
        return Utility({**named, "U": least_utility(parts)})

    # -- attackers guess -------------------------------------------------------------------------------------------

    def publish(
        self, preparation: Preparation[Handout], submissions: Mapping[str, Submission], seed: int
    ) -> Mapping[str, Target[RatingsKnowledge, Answer]]:
        return {
            team: self._target(team, preparation.handouts[team], submission, preparation.state.of_team(team, seed), seed)
            for team, submission in submissions.items()
        }

    def _target(
        self, team: str, handout: Handout, submission: Submission, masks: np.ndarray, seed: int
    ) -> Target[RatingsKnowledge, Answer]:
        """50 random rows: a in one random order, b in another with row i's masked column starred."""
        original = handout.candidates[submission.chosen]
        rng = stream(seed, "pwscup2024", "people", team)
        rows = rng.choice(len(original), files.TEST_ROWS, replace=False)
        order = rng.permutation(files.TEST_ROWS)  # row i of b is row order[i] of a
        people = original.take(rows).select((ratings.NAME, *ratings.ATTRIBUTES))
        shuffled = original.take(rows[order]).select(ratings.MOVIES)
        codes = np.stack([shuffled.codes[name] for name in ratings.MOVIES], axis=1).astype(np.int64)
        values = codes[np.arange(len(codes)), masks]
        codes[np.arange(len(codes)), masks] = RATING_VALUES
        starred = Table(files.starred_schema(), dict(zip(ratings.MOVIES, codes.T, strict=True)))
        answer = Answer(order.astype(np.int64), values)
        public = {
            files.people_file(team): table_bytes(people, header=True),
            files.ratings_file(team): table_bytes(starred, header=True),
            **files.split_bytes(submission.tables, team),
        }
        return Target(
            RatingsKnowledge(people, starred, submission.tables),
            answer,
            {f"{team}/{name}": content for name, content in public.items()},
            {files.answer_file(team): files.answer_bytes(answer)},
        )

    def read_knowledge(self, paths: Sequence[Path], declared: Anonymizer | None = None) -> RatingsKnowledge | Problems:
        if len(paths) != 3 or not paths[2].is_dir():
            raise UsageError("pwscup2024 attacks know a.csv (people), b.csv (ratings) and the folder of the ten released files")
        people = files.read_people(Source.of(paths[0]))
        if isinstance(people, Problems):
            return people
        starred = files.read_starred(Source.of(paths[1]), len(people))
        team = self.team_of(paths[0].name)
        sources = sources_of(paths[2])
        owners = {named[0] for source in sources if (named := files.release_number(source.name))}
        numbered = files.sort_release(sources, team if team in owners and len(owners) > 1 else None, None, strict=False)
        if isinstance(starred, Problems) or isinstance(numbered, Problems):
            return Problems.of(starred, numbered)
        released = files.read_released_alone(numbered)
        if isinstance(released, Problems):
            return released
        levels = ratings.attribute_levels((people, *released))
        tables = tuple(ratings.narrowed(table, levels) for table in released)
        mechanism = _declared_mechanism(declared, tables)
        return RatingsKnowledge(ratings.narrowed(people, levels), starred, tables, mechanism)

    def guess_bytes(self, guess: RatingsGuess) -> bytes:
        return files.guess_bytes([guess], len(guess.people))

    def guess_files(self, guesses: Mapping[str, RatingsGuess], attacker: str) -> Files:
        """One file for all teams: columns 2i-1 and 2i for team i."""
        last = max(int(team) for team in (*guesses, attacker))
        by_number = {int(team): guess for team, guess in guesses.items()}
        rows = next((len(guess.people) for guess in guesses.values()), files.TEST_ROWS)
        side_by_side = [by_number.get(number) for number in range(1, last + 1)]
        return {files.guess_file(attacker): files.guess_bytes(side_by_side, rows)}

    def check_guesses(
        self, targets: Mapping[str, Target[RatingsKnowledge, Answer]], sources: Sequence[Source], attacker: str
    ) -> dict[str, RatingsGuess] | Problems:
        expected = files.guess_file(attacker)
        if [source.name.removesuffix(".gz") for source in sources] != [expected]:
            names = ", ".join(source.name for source in sources) or "nothing"
            return Problems(
                [plain(f"guesses are one file; got {names}", f"give {expected} with two columns per team", expected)]
            )
        guesses = files.read_guess_columns(sources[0], files.TEST_ROWS)
        if isinstance(guesses, Problems):
            return guesses
        found = {}
        for team in targets:
            guess = guesses[int(team) - 1] if 0 < int(team) <= len(guesses) else None
            if team != attacker and guess is not None and max(guess.people.max(), guess.values.max()) >= 0:
                found[team] = guess
        return found

    # -- the judge counts ------------------------------------------------------------------------------------------

    def read_answer(self, path: Path) -> Answer | Problems:
        return files.read_answer(path)

    def read_guess(self, answer: Answer, source: Source) -> RatingsGuess | Problems:
        guesses = files.read_guess_columns(source, len(answer.people))
        if isinstance(guesses, Problems):
            return guesses
        if len(guesses) != 1:
            message = f"the file has guesses on {len(guesses)} teams"
            return Problems([plain(message, "give the two columns of one target", source.name)])
        return guesses[0]

    def credit(self, answer: Answer, guess: RatingsGuess) -> Credit:
        return scores.count_hits(answer, guess)

    def read_results(self, source: Source) -> RoundResults | Problems:
        return scores.read_results(source)

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        return scores.standings(rounds)

    @property
    def sample_attack(self) -> Sample:
        return Sample()


def _declared_mechanism(declared: Anonymizer | None, tables: Sequence[Table]) -> Mechanism | None:
    """The mechanism that the declared method would use on a table of all columns."""
    if declared is None:
        return None
    columns = {column.name: (column, table.codes[column.name]) for table in tables for column in table.schema}
    schema = Schema(columns[name][0] for name in ratings.ATTRIBUTES + ratings.MOVIES)
    return declared.mechanism(Table(schema, {name: codes for name, (_, codes) in columns.items()}))


def _read_facts(folder: Path) -> dict[str, Any]:
    """What ``contest.json`` says, where there is one; nothing where it was not written by us."""
    try:
        facts = json.loads((folder / files.CONTEST_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) and facts.get("rulebook") == "pwscup2024" else {}
