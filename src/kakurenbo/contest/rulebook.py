"""`Rulebook`: the steps of a contest. The arena, the judge and the command line call only these.

A rulebook has a public half, which needs no secret and so runs in a player's process, and a secret half for the judge alone.
It is generic in six types of its own: H handout, S submission, K knowledge, F form of a guess, A answer, G guess.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np

from kakurenbo.contest.folders import (
    ATTACKERS,
    TARGET,
    ContestFacts,
    ContestFolder,
    Files,
    read_facts,
)
from kakurenbo.contest.measure import Credit, Figure, Utility
from kakurenbo.contest.phases import ANONYMIZE, ATTACK, FilePattern, Phase, Player
from kakurenbo.contest.preparation import (
    Publication,
    RoundData,
    Secrets,
    Target,
)
from kakurenbo.contest.records import Guesses, read_named_guesses
from kakurenbo.contest.results import RoundResults, RoundScores, Standings, rank_rounds, weights_of
from kakurenbo.core import InputError, Schema, Source, table_bytes
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.messages import Message
from kakurenbo.core.rng import stream
from kakurenbo.methods import registry
from kakurenbo.methods.base import Anonymizer, Attack, Release
from kakurenbo.methods.parameters import Method, parameters_of

H = TypeVar("H")
S = TypeVar("S")
K = TypeVar("K")
F = TypeVar("F")
A = TypeVar("A")
G = TypeVar("G")


class Rulebook(Method, ABC, Generic[H, S, K, F, A, G]):
    """The steps of one contest: a frozen dataclass whose parameters are the contest's own options.

    Steps that read files return what they read, or raise ``InputError`` with every problem they found; what they put right,
    they record with ``notice``.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[str] = "1"
    """Raise it when scores of the same files change."""
    rounds: ClassVar[tuple[str, ...]] = ("round",)
    """Rounds that count, in the order they are played."""
    weights: ClassVar[Mapping[str, Fraction]] = {}
    """The factor of each round in the overall table, where there are several."""
    phases: ClassVar[tuple[Phase, ...]]
    """What is handed in, in which files, how often, and which of it counts."""
    options: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """For each verb of the command line the parameters of this rulebook that matter there; ``prepare``'s make a contest."""
    schema: ClassVar[Schema]
    """Of the table that anonymizers are given: those that accept it play."""
    knowledge: ClassVar[type]
    """What attacks are given: those that take it play."""
    guess_type: ClassVar[type] = object
    """What attacks return."""
    attackers_use_handouts: ClassVar[bool] = False
    """Whether an attacker's own handout tells of others' releases: its folder is then among the paths of ``read_target``."""

    max_teams: ClassVar[int] = 99
    default_players: ClassVar[tuple[Player, ...]] = ()
    """The field that plays where nobody is named; with none, every installed method that fits plays with its defaults."""
    demo_settings: ClassVar[Mapping[str, Any] | None] = None
    """Parameters for a small contest that ``demo`` plays in seconds; None where it does not."""
    utility_score: ClassVar[str] = ""
    """The measure that is a number in the score, where the rules have one; goes into ``RoundResults.utility``."""
    utility_range: ClassVar[tuple[float, float]] = (0, 1)
    """The values that this measure can take."""
    shown_beside: ClassVar[tuple[str, ...]] = ()
    """Measures that stand beside a release's scores though they count for nothing; go into ``RoundResults.beside``."""
    scored_by: ClassVar[tuple[str, ...]] = ()
    """Parameters that the figures of results depend on: whoever ranks these cannot change them any more."""
    figures: ClassVar[Mapping[str, Figure]] = {}
    """What each score is: the measures by their names, ``hits`` of a guess and its details, the rankings' scores; and
    under ``constant`` what the constant answer is called ("always 0"), where credits have one."""

    prohibited: ClassVar[tuple[str, ...]] = ()
    """Message codes of the actions that the rules prohibit."""
    file_descriptions: ClassVar[Mapping[str, str]] = {}
    """Message codes of what the files of handouts hold, by pattern of their names; the first that fits holds."""
    column_synonyms: ClassVar[Mapping[str, str]] = {}
    """Second names that files may give to columns."""
    upper_bounds: ClassVar[tuple[str, ...]] = ()
    """Those of ``threshold_values`` that a figure must not exceed; it must reach the others."""

    @property
    def round_name(self) -> str:
        """The round these rules are for."""
        return str(getattr(self, "round", self.rounds[0]))

    def for_round(self, name: str) -> Self:
        """Return these rules for one of the rounds: with the parameter ``round`` set, where the rulebook has one."""
        if any(described.name == "round" for described in parameters_of(type(self))):
            return self.with_parameters(round=name)
        return self

    def settings(self) -> dict[str, Any]:
        """Return the options that make a contest what it is, as ``contest.json`` records them."""
        return {name: getattr(self, name) for name in self.options.get("prepare", ())}

    def under(self, facts: ContestFacts | None) -> Self:
        """Return these rules as a contest's own ``contest.json`` fixes them; options that were given explicitly stay."""
        return self if facts is None else self.defaulting(facts.settings)

    def in_folder(self, path: Path) -> Self:
        """Return these rules as the folder (or the folder of the file) at ``path`` fixes them."""
        return self.under(read_facts(path, self.name))

    def threshold_values(self) -> Mapping[str, float | None]:
        """Return the threshold of every figure that can decide; None where it does not."""
        return {}

    def release_schema(self) -> Schema:
        """Return the columns of a release, for READMEs."""
        return self.schema

    def conditions(self) -> tuple[Message, ...]:
        """Return what a submission must look like, beside columns and thresholds, for READMEs."""
        return ()

    def phase(self, name: str) -> Phase:
        """Return what the contest declares of the phase ``anonymize`` or ``attack``."""
        return next(phase for phase in self.phases if phase.name == name)

    def field(self) -> tuple[Player, ...]:
        """Return who plays where nobody is named: the same whatever the options, unless a rulebook says otherwise."""
        return self.default_players

    @property
    def release_pattern(self) -> FilePattern:
        """Name of the main file of a release."""
        return self.phase(ANONYMIZE).files[0]

    def release_name(self, team: str) -> str:
        """Return the name of the main file that a team submits."""
        return self.release_pattern.name(team=team, round=self.round_name)

    @property
    def guess_pattern(self) -> FilePattern:
        """Name of the file of a guess."""
        return self.phase(ATTACK).files[0]

    # -- public half: a team anonymizes ------------------------------------------------------------------------------

    @abstractmethod
    def read_handout(self, folder: Path | ContestFolder) -> H:
        """Read a handout from a team's folder (``ContestFolder.of(folder)`` has its files), or the data file in it."""

    def anonymize(self, handout: H, anonymizer: Anonymizer, rng: np.random.Generator) -> Release:
        """Run a method on a handout; by default on its ``table``."""
        return anonymizer(handout.table, rng)  # type: ignore[attr-defined]

    def release_files(self, handout: H, release: Release) -> Files:
        """Return the files that a team submits for a release; by default its one table."""
        team = getattr(handout, "team", "")
        return {self.release_name(team or "01"): table_bytes(release.table)}

    @abstractmethod
    def read_release(self, handout: H, sources: Sequence[Source]) -> S:
        """Read a submission from the submitted files of one entry, without its attachments."""

    def check_attachments(self, sources: Sequence[Source]) -> Any:
        """Read the attachments of an entry (``FilePattern.attachment``), as :meth:`attach` takes them."""
        return None

    def attach(self, handout: H, submission: S, attachments: Any) -> S:
        """Return the submission with its attachments, and notices where the two disagree."""
        return submission

    def measure(self, handout: H, submission: S) -> Utility:
        """Return utility scores, thresholds, and what limits them: every figure that needs no secret."""
        return Utility({})

    def released(self, handout: H, submission: S) -> tuple[H, Release] | None:
        """Return the tables of a submission, and the handout with the candidate they were made of; None for no repairs."""
        return None

    def repair(
        self, handout: H, release: Release, anonymizer: Anonymizer, rng: np.random.Generator
    ) -> Release:
        """Run a method that ``takes_release`` on a release that was made of the handout."""
        raise UsageError("error.no_repair", rulebook=self.name)

    def is_unchanged(self, handout: H, release: Release) -> bool:
        """Return whether a release is the handout's own data."""
        return False

    def packed_files(self, handout: H, files: Files) -> Files:
        """Return what an archive of these files of a release holds."""
        return files

    def privacy(self, handout: H, submission: S) -> Utility:
        """Return privacy models such as k-anonymity, for information; ``options["privacy"]`` names their parameters."""
        return Utility({})

    # -- public half: attackers guess ------------------------------------------------------------------------------

    @abstractmethod
    def read_knowledge(self, sources: Sequence[Source], declared: Anonymizer | None = None) -> K:
        """Read what attackers know of one target from published files alone, and from a declared method.

        The files are those of ``targets/NN`` and ``attackers``, or single files in the order the command line documents;
        with ``attackers_use_handouts`` also those of the attacker's own ``teams/TT``, where it has one.
        """

    def guess_form(self, knowledge: K) -> F:
        """Return what a guess at a target must look like; by default the knowledge itself."""
        return cast(F, knowledge)

    @abstractmethod
    def read_guess(self, form: F, source: Source) -> G:
        """Read one guess at one target, checked against the rules without the answer."""

    def guess_bytes(self, guess: G) -> bytes:
        """Return the file of a guess; by default the numbers in its array ``rows``."""
        lines = (",".join(map(str, np.atleast_1d(row).tolist())) for row in guess.rows)  # type: ignore[attr-defined]
        return "".join(f"{line}\n" for line in lines).encode()

    def bytes_of_attack(self, guess: object) -> bytes:
        """Return what an attack gave as its file; raise KakurenboError where that is no guess of this contest."""
        if not isinstance(guess, self.guess_type):
            raise KakurenboError("word.no_guess", kind=type(guess).__name__)
        return self.guess_bytes(cast(G, guess))

    @property
    def sample_attacks(self) -> Mapping[str, Attack[K, G]]:
        """The organizers' own attacks by the name they are shown under; several where the rules count several."""
        return {}

    @property
    def only_shown(self) -> frozenset[str]:
        """Those of the organizers' attacks that count for nothing by the rules: no figure of a release may rest on them."""
        return frozenset()

    def read_target(
        self,
        *places: Path | ContestFolder,
        declared: Anonymizer | None = None,
        attacker: str | None = None,
    ) -> Target[K, F]:
        """Read one target: the folder ``targets/NN`` (and what attackers get beside it), or single files.

        Parameters
        ----------
        places : Path or ContestFolder
            Where a contest deals a part of a target to each attacker, the folder of a part, ``targets/NN/for_TT``, is the
            target as that attacker has it.
        declared : Anonymizer or None
            A method that the attacker assumes was used, beside what the files tell.
        attacker : str or None
            Whose part is read, where parts were dealt: empty for what is everybody's; None for the only part that lies there,
            as in a folder that one attacker was given.
        """
        first, *others = map(ContestFolder.of, places)
        facts = first.facts(self.name)
        folders = [first, *others]
        if first.file is None and facts is not None and facts.folder != ATTACKERS:
            if facts.folder != TARGET:
                raise InputError.of("target.other_folder", str(first), folder=facts.folder)
            folders = [*first.target_folders(attacker), *(others or first.attackers_beside())]
        sources = [source for folder in folders for source in folder.files]
        rules = self.under(facts)
        knowledge = rules.read_knowledge(sources, declared)
        return Target(facts.target if facts else "", knowledge, rules.guess_form(knowledge))

    def guess_files(self, guesses: Mapping[str, G], attacker: str) -> Files:
        """Return the files an attacker would submit for these guesses, one per target unless a contest has one for all."""
        return {
            self.guess_pattern.name(
                target=target, attacker=attacker, round=self.round_name
            ): self.guess_bytes(guess)
            for target, guess in guesses.items()
        }

    def read_guesses(
        self, targets: Mapping[str, Target[K, F]], sources: Sequence[Source], attacker: str
    ) -> Guesses[G]:
        """Read every guess in an attacker's files; a bad file costs that file alone."""
        return read_named_guesses(self, targets, sources, attacker)

    # -- secret half: the judge alone --------------------------------------------------------------------------------

    @abstractmethod
    def draw(self, seed: int, teams: Sequence[str]) -> RoundData:
        """Draw the data of a round: handouts, what attackers get beside the targets, secrets."""

    @abstractmethod
    def publish(self, secrets: Secrets[H], submission: S) -> Publication:
        """Return what attackers get of one team's release, and the answer; a function of the seed, the team and the release alone."""

    @abstractmethod
    def read_answer(self, folder: Path | ContestFolder) -> A:
        """Read the secret answer of one target: its folder ``answers/NN``, or the file in it."""

    def answer_form(self, answer: A) -> F:
        """Return what a guess at a target must look like, from its answer; by default the answer itself."""
        return cast(F, answer)

    def answer_for(self, answer: A, attacker: str) -> A:
        """Return the answer to what one attacker was given, where the contest deals a part to each; else it is the same for all."""
        return answer

    @abstractmethod
    def score_guess(self, answer: A, guess: G) -> Credit:
        """Score one guess."""

    def secret_measures(self, secrets: Secrets[H], submission: S) -> Utility | None:
        """Figures of a release that need a secret, such as a hidden test set; None where the contest has none."""
        return None

    def generate(
        self, rows: int, rng: np.random.Generator, *, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        """Run the contest's generator on its own: return a table of so many rows, and how close it is to its source."""
        raise UsageError("error.no_generator", rulebook=self.name)

    def generate_from(
        self, source: Source, rows: int, rng: np.random.Generator, *, distinct: bool
    ) -> tuple[bytes, Mapping[str, Any]]:
        """Run the contest's generator on any table of its columns; not every contest's can."""
        raise UsageError("error.no_generator", rulebook=self.name)

    def sample(
        self, source: Source, rate: float, rng: np.random.Generator
    ) -> tuple[bytes, Sequence[int]]:
        """Run the contest's sampling function on its own: return a share of a table's rows, and their numbers from 0."""
        raise UsageError("error.no_sampler", rulebook=self.name)

    def scope(self, what: str) -> str:
        """Return what commitments are for."""
        return f"{self.name} {self.round_name} {what}"

    def stream(self, seed: int, *names: str) -> np.random.Generator:
        """Randomness of a purpose in this round: other rounds of the same seed have other streams."""
        return stream(seed, self.name, self.round_name, *names)

    # -- results -------------------------------------------------------------------------------------------------------

    def standings(self, rounds: Mapping[str, RoundResults]) -> Standings:
        """Rank one round, or several by weights; by default as `RoundScores`, with the sum of both ranks over all."""
        scores = {name: RoundScores.of(results) for name, results in rounds.items()}
        return rank_rounds(rounds, scores, self.weighed(rounds))

    def read_published(self, source: Source) -> RoundResults:
        """Read the results of a round from a table that the contest published; a rulebook whose contest had one reads it."""
        raise InputError.of("results.no_table", source.name, rulebook=self.name)

    def weighed(self, rounds: Mapping[str, RoundResults]) -> Mapping[str, Fraction]:
        """Return the factor of each round that is ranked."""
        return weights_of(rounds, self.weights)


AnyRulebook = Rulebook[Any, Any, Any, Any, Any, Any]
"""A rulebook whose own types do not matter: folders in, folders out."""


# -- which methods play ------------------------------------------------------------

AnyMethod = Anonymizer | Attack[Any, Any]


def fits(rulebook: type[AnyRulebook], method: type[AnyMethod]) -> bool:
    """Return whether an anonymizer accepts a rulebook's schema, or an attack takes the knowledge that it gives."""
    if issubclass(method, Anonymizer):
        return method.accepts(rulebook.schema)
    return issubclass(rulebook.knowledge, method.knowledge)


def misfit(rulebook: type[AnyRulebook], method: AnyMethod) -> str | Message:
    """Return why a method with its parameters does not play a rulebook, as the end of a sentence; empty where it does."""
    if not fits(rulebook, type(method)):
        return Message("misfit.contest", {"rulebook": rulebook.name})
    reason = method.unfit(rulebook.schema) if isinstance(method, Anonymizer) else ""
    return Message("misfit.tables", {"rulebook": rulebook.name, "reason": reason}) if reason else ""


def rulebooks_for(method: type[AnyMethod]) -> tuple[str, ...]:
    """Return the names of the installed rulebooks that a method plays."""
    names = registry.names("rulebooks")
    return tuple(name for name in names if fits(registry.load("rulebooks", name), method))
