"""The results document: one typed record of a round, a contest or a tournament, with everything computed.

``results.json`` is this document: terminal, HTML, CSV and charts only lay it out. It holds no times and no machine names, so
two runs of the same plan can be compared byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from kakurenbo.contest import Chance, Measurement, RoundResults, Unit, by_number
from kakurenbo.contest.readme import judges_text
from kakurenbo.contest.results import DISQUALIFIED
from kakurenbo.contest.schedule import NO_SCHEDULE, Schedule
from kakurenbo.core import Message, json_bytes
from kakurenbo.core.messages import StoredText, render, with_message
from kakurenbo.reports.estimates import Estimate

FORMAT = 3  # raise when fields come to mean something else
RANKINGS = ("anonymization", "attack", "overall")


class RulebookEntry(msgspec.Struct, frozen=True):
    """The contest of a document.

    Attributes
    ----------
    name, title, version : str
    utility_score : str
        The measure that is a number in the score; empty for none.
    """

    name: str
    title: str
    version: str = "1"
    utility_score: str = ""


class FigureEntry(msgspec.Struct, frozen=True):
    """The unit and meaning of a figure: a measure, a detail of guesses, the score of a ranking.

    Attributes
    ----------
    unit : Unit
        How it is shown.
    of : float or None
        The most that it can be, where there is a most.
    higher_is_better : bool or None
        Its direction, where it has one.
    definitions : mapping of language to str
        What it means, in a sentence; empty where the rulebook does not say.
    shown_times : int
        What it is multiplied by wherever it is shown.
    """

    unit: Unit = Unit.NUMBER
    of: float | None = None
    higher_is_better: bool | None = None
    definitions: Mapping[str, str] = {}
    shown_times: int = 1

    @property
    def shown_of(self) -> float | None:
        """The most that is ever shown of it."""
        return None if self.of is None else self.of * self.shown_times


class PlayerEntry(msgspec.Struct, frozen=True):
    """A participant.

    Attributes
    ----------
    team, name : str
    anonymizer, attack : str
        Methods with their parameters, or the submitted files; empty for none.
    sweep : str
        The player of the teams file whose list of parameters this one comes from.
    parameters : mapping of str to str
        The swept parameters of its anonymizer.
    excluded : bool
        Takes part without rank or award.
    """

    team: str
    name: str = ""
    anonymizer: str = ""
    attack: str = ""
    sweep: str = ""
    parameters: Mapping[str, str] = {}
    excluded: bool = False


class AttackEntry(msgspec.Struct, frozen=True):
    """The score of one attacker on one release, over all repeats.

    Attributes
    ----------
    accuracy : Estimate
        Attack success rate.
    hits, of : float
        Mean of correct guesses, and the most that there could be.
    beyond_chance : bool
        Whether the mean lies above the 95 % band of blind guessing.
    details : mapping of str to float
        Means of further figures, e.g. ``identification``.
    """

    accuracy: Estimate
    hits: float
    of: float
    beyond_chance: bool = False
    details: Mapping[str, float] = {}


class AttackerEntry(msgspec.Struct, frozen=True):
    """The scores of one attacker on all releases.

    Attributes
    ----------
    accuracy : float or None
        Mean over the releases it could attack, all but its own; a missing guess counts 0. None where it took no part.
    sample_accuracy : float or None
        The same for the organizers' best attack on each release but the attacker's own.
    chance, constant : float or None
        The same for blind guessing, and for the constant answer where the contest has one: on the same releases.
    """

    accuracy: float | None = None
    sample_accuracy: float | None = None
    chance: float | None = None
    constant: float | None = None


class MeasureEntry(msgspec.Struct, frozen=True):
    """A measure of a round: which direction is better, and the threshold where it decides."""

    name: str
    higher_is_better: bool = True
    minimum: float | None = None
    maximum: float | None = None

    @property
    def threshold(self) -> float | None:
        return self.maximum if self.minimum is None else self.minimum


class ReleaseEntry(msgspec.Struct, frozen=True):
    """One release of a round; where repeats differ, as in the first repeat in which it was not published.

    Attributes
    ----------
    target, team : str
    state : str
        ``published``, or why it has no score: ``disqualified``, ``refused``, ``missing``, ``failed``, ``superseded``.
    cause : str
    told_repeat : int
        The repeat, from 0, whose state, cause, single values and limits these are.
    in_repeats, of_repeats : int
        In how many repeats it had that state, of how many.
    passes : bool or None
        Whether it holds every threshold; None where it could not be measured.
    verdict : str
        ``passes`` or why it does not; empty where nothing decides.
    measurements : tuple of Measurement
        Those of that repeat; one that fails or is infinite in any repeat does so here.
    estimates : mapping of measure to Estimate
        Over all repeats; without measures that are infinite in one.
    claims : mapping of str to number
        Guarantees that the method gives by construction.
    notices, problems : tuple of str
    best_attack : str
        The strongest attacker, the organizers' own attacks aside; empty for none.
    best_accuracy, sample_accuracy : float or None
        Accuracy of that attacker, and of the best of the organizers' own attacks.
    privacy : mapping of str to Estimate
        1 - accuracy of the ``worst`` attack for the team, of all in the ``mean``, and of the ``sample`` attack.
    chance, constant : float or None
        Accuracy of blind guessing and of the contest's constant answer on this release.
    verdicts : mapping of language to str
        A sentence: the strongest attack beside chance, and whether the release holds the rules.
    below_threshold : bool or None
        Whether thresholds put it out of play, not organizers; None in documents of an earlier version.
    """

    target: str
    team: str
    state: str
    cause: str = ""
    told_repeat: int = 0
    in_repeats: int = 1
    of_repeats: int = 1
    passes: bool | None = None
    verdict: str = ""
    measurements: tuple[Measurement, ...] = ()
    estimates: Mapping[str, Estimate] = {}
    claims: Mapping[str, float | str] = {}
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    best_attack: str = ""
    best_accuracy: float | None = None
    sample_accuracy: float | None = None
    privacy: Mapping[str, Estimate] = {}
    chance: float | None = None
    constant: float | None = None
    verdicts: Mapping[str, str] = {}
    below_threshold: bool | None = None

    @property
    def failed_measurements(self) -> tuple[Measurement, ...]:
        return tuple(measured for measured in self.measurements if measured.passes is False)

    @property
    def is_below_threshold(self) -> bool:
        """Whether it is out of play by a threshold, not by a decision of the organizers."""
        if self.below_threshold is None:
            return self.state == DISQUALIFIED and bool(self.failed_measurements)
        return self.below_threshold

    @property
    def standing(self) -> str:
        """``passes``, ``below_threshold``, or why it has no score; empty where nothing decides."""
        return "below_threshold" if self.is_below_threshold else self.verdict


class RoundEntry(msgspec.Struct, frozen=True):
    """One round.

    Attributes
    ----------
    name : str
    report : mapping
        Facts about its data.
    releases : mapping of target to ReleaseEntry
    attacks : mapping of target to mapping of attacker to AttackEntry
    attackers : mapping of attacker to AttackerEntry
    measures : tuple of MeasureEntry
        All measures that are a finite number for some release; the one that matters most is ``leading_measure``.
    frontiers : mapping of measure to mapping of kind of privacy to tuple of str
        The releases that no other beats in both, from the lowest measure to the highest.
    passing, judged : int
        How many releases hold every threshold, of how many that were measured against one.
    of : float or None
        The most that a guess can earn, where that is the same for all.
    chance : Chance or None
        Accuracy of blind guessing, and the 95 % band of a single guess.
    chance_privacy : float or None
        1 - that accuracy.
    chance_hits : Chance or None
        The same in hits, where the most that a guess can earn is the same for all.
    constant : float or None
        Accuracy of the contest's constant answer (always 0, say), where it has one.
    repeats : tuple of RoundResults
        What was ranked, one for each repeat.
    """

    name: str
    report: Mapping[str, Any] = {}
    releases: Mapping[str, ReleaseEntry] = {}
    attacks: Mapping[str, Mapping[str, AttackEntry]] = {}
    attackers: Mapping[str, AttackerEntry] = {}
    measures: tuple[MeasureEntry, ...] = ()
    leading_measure: str = ""
    frontiers: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    passing: int = 0
    judged: int = 0
    of: float | None = None
    chance: Chance | None = None
    chance_privacy: float | None = None
    chance_hits: Chance | None = None
    constant: float | None = None
    repeats: tuple[RoundResults, ...] = ()

    def points(self, measure: str, kind: str) -> dict[str, tuple[Estimate, Estimate]]:
        """Return a measure and a kind of privacy of the releases that have both."""
        return {
            target: (release.estimates[measure], release.privacy[kind])
            for target, release in self.releases.items()
            if measure in release.estimates and kind in release.privacy
        }


class RankingLine(msgspec.Struct, frozen=True):
    """One line of a ranking, over all repeats.

    Attributes
    ----------
    team : str
    score : float or None
    rank : int or None
    note : str
    shown : str
        The score as people read it.
    n : int
        How many repeats the score is the mean of; all that there were where there is no score.
    low, high, half : float or None
        95 % interval of the mean, as that of an ``Estimate``.
    tied_with : tuple of str
        Teams with which noise could reverse the places: the 95 % interval (Student's t) of the mean difference of the two
        teams' scores, repeat by repeat, includes 0. Empty without repeats.
    """

    team: str
    score: float | None
    rank: int | None
    note: str = ""
    shown: str = ""
    n: int = 1
    low: float | None = None
    high: float | None = None
    half: float | None = None
    tied_with: tuple[str, ...] = ()

    @property
    def estimate(self) -> Estimate | None:
        """The score with its interval; None without a score."""
        return (
            None
            if self.score is None
            else Estimate(self.score, self.n, self.low, self.high, self.half)
        )

    def as_json(self) -> dict[str, Any]:
        """The line in the stable JSON object of ``standings``."""
        extra = {
            "shown": self.shown,
            "note": self.note,
            "interval": [] if self.low is None else [self.low, self.high],
            "tied_with": list(self.tied_with),
        }
        known = {key: value for key, value in extra.items() if value}
        return {"team": self.team, "score": self.score, "rank": self.rank, **known}


class Ranking(msgspec.Struct, frozen=True):
    """A ranking, best first; ``lower_is_better`` where the lowest score wins; ``winners`` are all with rank 1.

    ``same_as`` names another ranking that this one is by the rules, line for line.
    """

    lines: tuple[RankingLine, ...] = ()
    lower_is_better: bool = False
    winners: tuple[str, ...] = ()
    same_as: str = ""


class FailureEntry(msgspec.Struct, frozen=True):
    """A job of a tournament that did not succeed, or a file that was refused.

    Attributes
    ----------
    what, team : str
    state : str
        ``refused``, ``missing``, ``failed``; or ``skipped`` where something else had to come about first.
    cause : str
    round : str
    repeat : int
        From 0.
    file : str
        The file that was refused.
    """

    what: str
    team: str
    state: str
    cause: str
    round: str = ""
    repeat: int = 0
    file: str = ""


class ContestRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The contest in a manifest: name, settings, dates, and teams with members of the committee."""

    title: str = ""
    version: str = ""
    settings: Mapping[str, Any] = {}
    judges: tuple[str, ...] = ()
    schedule: Schedule = NO_SCHEDULE


class Document(msgspec.Struct, frozen=True):
    """Results of a round, a contest or a tournament; see the types of its fields.

    Attributes
    ----------
    award_notices : mapping of award to mapping of language to str
        A sentence to be shown beside an award.
    sample_attacks, only_shown : tuple of str
        The organizers' own attacks; and those of them that count for nothing by the rules, so that no other figure rests on
        them.
    attackers : mapping of attacker to AttackerEntry
        Over all rounds.
    attack_count, repeat_count : int
        How many pairs of attacker and release have a credit, and how often everything was repeated.
    figures : mapping of name to FigureEntry
        What each figure is: measures, ``hits`` and details of guesses, and the rankings' scores; ``constant`` says what
        the contest's constant answer is.
    verdicts : mapping of language to tuple of str
        What the tournament showed, in a sentence each.
    messages : mapping of str to Message
        In files, the messages of its texts (causes, notices, notes ...) by their English.
    manifest : mapping
        What is needed to play it again.
    """

    rulebook: RulebookEntry
    rounds: tuple[RoundEntry, ...]
    rankings: Mapping[str, Ranking] = {}
    awards: Mapping[str, tuple[str, ...]] = {}
    award_notices: Mapping[str, Mapping[str, str]] = {}
    details: Mapping[str, Any] = {}
    players: tuple[PlayerEntry, ...] = ()
    sample_attacks: tuple[str, ...] = ()
    only_shown: tuple[str, ...] = ()
    attackers: Mapping[str, AttackerEntry] = {}
    attack_count: int = 0
    repeat_count: int = 1
    failures: tuple[FailureEntry, ...] = ()
    figures: Mapping[str, FigureEntry] = {}
    verdicts: Mapping[str, tuple[str, ...]] = {}
    manifest: Mapping[str, Any] = {}
    messages: Mapping[str, Message] = {}
    format: int = FORMAT

    def as_builtins(self) -> dict[str, Any]:
        """The document as plain data, ready for JSON."""
        # Through the types once, so that a number is written in one way: 3 hits are 3.0 wherever they come from.
        messages: dict[str, Message] = {}

        def english(text: StoredText) -> str:
            messages[str(text)] = text.message
            return str(text)

        plain = msgspec.to_builtins(self, enc_hook=english)
        content: dict[str, Any] = msgspec.to_builtins(msgspec.convert(plain, Document))
        content["messages"] = {text: messages[text].as_json() for text in sorted(messages)}
        for results in (results for entry in content["rounds"] for results in entry["repeats"]):
            for name in ("unranked", "excluded"):  # sets have no order of their own
                results[name] = sorted(results.get(name, ()), key=by_number)
        return content

    def with_messages(self) -> Document:
        """Return a document that was read: its texts with their messages."""
        plain = replace(self, messages={}, manifest={})
        document: Document = _with_messages(plain, self.messages)
        return replace(document, manifest=self.manifest)

    def as_bytes(self) -> bytes:
        """The content of ``results.json``."""
        return json_bytes(self.as_builtins())

    def standings(self) -> dict[str, Any]:
        """Rankings and awards as the stable JSON object of ``standings``."""
        content: dict[str, Any] = {
            name: [line.as_json() for line in ranking.lines]
            for name, ranking in self.rankings.items()
        }
        content["awards"] = {name: list(teams) for name, teams in self.awards.items()}
        if judges := self.contest.judges:
            disclosure = judges_text(self.rulebook.name, judges, "en")
            content |= {"judges": list(judges), "disclosure": disclosure}
        return {**content, **self.details}

    @property
    def contest(self) -> ContestRecord:
        """The settings, dates and committee of the contest."""
        return msgspec.convert(self.manifest.get("contest", {}), ContestRecord)

    def figure(self, name: str) -> FigureEntry:
        """Return unit and meaning of a figure; a plain number where the rulebook does not say."""
        return self.figures.get(name, FigureEntry())

    def constant_answer(self, language: str) -> str:
        """Return the name of the contest's constant answer."""
        return constant_answer(self.figure("constant").definitions, language)

    @property
    def counting_samples(self) -> tuple[str, ...]:
        """The organizers' own attacks that count by the rules."""
        return tuple(name for name in self.sample_attacks if name not in self.only_shown)

    @property
    def teams_below_threshold(self) -> frozenset[str]:
        """Teams whose releases are out of play by thresholds alone."""
        releases = [release for entry in self.rounds for release in entry.releases.values()]
        out = [release for release in releases if release.state == DISQUALIFIED]
        decided = {release.team for release in out if not release.is_below_threshold}
        return frozenset(release.team for release in out) - decided

    def failed(self, state: str) -> tuple[FailureEntry, ...]:
        """Return the failures of one state."""
        return tuple(failure for failure in self.failures if failure.state == state)


def constant_answer(definitions: Mapping[str, str], language: str) -> str:
    """Return the name of a constant answer: as the rulebook's figure ``constant`` says, else the general word.

    Examples
    --------
    >>> constant_answer({"en": "always 0"}, "en"), constant_answer({}, "en")
    ('always 0', 'constant answer')
    """
    return definitions.get(language) or render("baseline.constant", {}, language).message


def parse_document(data: bytes) -> Document:
    """Read a document from its bytes.

    Raises
    ------
    msgspec.ValidationError
        Where a field is missing or of another type.
    msgspec.DecodeError
        Where it is not JSON.
    """
    document = msgspec.json.decode(data, type=Document)
    msgspec.convert(document.manifest.get("contest", {}), ContestRecord)  # has the declared types
    return document.with_messages()


def _with_messages(value: Any, messages: Mapping[str, Message]) -> Any:
    """Return a part of a document whose texts have their messages."""
    if isinstance(value, str):
        return with_message(value, messages)
    if isinstance(value, Mapping):
        return {key: _with_messages(part, messages) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_with_messages(part, messages) for part in value)
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
        return type(value)(*(_with_messages(getattr(value, name), messages) for name in names))
    return value
