"""The results document: one typed record of a round, a contest or a tournament, in which everything is computed already.

``results.json`` is this document. Verdicts, directions, means and intervals stand in it; the terminal, HTML, Markdown, CSV and
whoever else shows results only lays them out. It holds no times and no machine names, so that two runs of the same plan can
be compared byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from kakurenbo.contracts import Chance, Measurement, RoundResults
from kakurenbo.tables import json_bytes

FORMAT = 2  # raise when fields come to mean something else
RANKINGS = ("anonymization", "attack", "overall")


@dataclass(frozen=True)
class RulebookEntry:
    """Which contest it was.

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


@dataclass(frozen=True)
class PlayerEntry:
    """Somebody who took part.

    Attributes
    ----------
    team, name : str
    anonymizer, attack : str
        Methods with their parameters, or where files were handed in, which; empty for none.
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
    parameters: Mapping[str, str] = field(default_factory=dict)
    excluded: bool = False


@dataclass(frozen=True)
class Estimate:
    """The mean of repeats and its 95 % interval (Student's t); no interval for a single value."""

    mean: float
    n: int = 1
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class AttackEntry:
    """What one attacker found in one release, over all repeats.

    Attributes
    ----------
    accuracy : Estimate
        Share of what could be earned.
    hits, of : float
        Mean of what was earned, and the most that could be.
    beyond_chance : bool
        Whether the mean lies above the 95 % band of blind guessing.
    details : mapping of str to float
        Means of further figures, e.g. ``identification``.
    """

    accuracy: Estimate
    hits: float
    of: float
    beyond_chance: bool = False
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ReleaseEntry:
    """One release of a round.

    Attributes
    ----------
    target, team : str
    state : str
        ``published``, or why it has no score: ``disqualified``, ``refused``, ``missing``, ``failed``, ``superseded``.
    cause : str
    passes : bool or None
        Whether it holds every threshold; None where it could not be measured.
    measurements : tuple of Measurement
        Of the first repeat.
    estimates : mapping of measure to Estimate
        Over all repeats; without measures that are infinite in one.
    claims : mapping of str to number
        Guarantees that the method gives by construction.
    notices, problems : tuple of str
    """

    target: str
    team: str
    state: str
    cause: str = ""
    passes: bool | None = None
    measurements: tuple[Measurement, ...] = ()
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    claims: Mapping[str, float | str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class RoundEntry:
    """One round.

    Attributes
    ----------
    name : str
    report : mapping
        What is known of its data.
    releases : mapping of target to ReleaseEntry
    attacks : mapping of target to mapping of attacker to AttackEntry
    chance : Chance or None
        Accuracy of blind guessing, and the 95 % band of a single guess.
    constant : float or None
        Accuracy of the best constant answer, where the contest has one.
    repeats : tuple of RoundResults
        What was ranked, one for each repeat.
    """

    name: str
    report: Mapping[str, Any] = field(default_factory=dict)
    releases: Mapping[str, ReleaseEntry] = field(default_factory=dict)
    attacks: Mapping[str, Mapping[str, AttackEntry]] = field(default_factory=dict)
    chance: Chance | None = None
    constant: float | None = None
    repeats: tuple[RoundResults, ...] = ()


@dataclass(frozen=True)
class RankingLine:
    """One line of a ranking, over all repeats.

    Attributes
    ----------
    team : str
    score : float or None
    rank : int or None
    note : str
    shown : str
        The score as people read it.
    low, high : float or None
        95 % interval of the mean.
    tied_with_next : bool
        Whether noise could reverse this place and the next: their intervals overlap.
    """

    team: str
    score: float | None
    rank: int | None
    note: str = ""
    shown: str = ""
    low: float | None = None
    high: float | None = None
    tied_with_next: bool = False


@dataclass(frozen=True)
class Ranking:
    """A ranking, best first; ``lower_is_better`` where the lowest score wins."""

    lines: tuple[RankingLine, ...] = ()
    lower_is_better: bool = False


@dataclass(frozen=True)
class FailureEntry:
    """Something that did not come about: a job of a tournament, or a file that was refused."""

    what: str
    team: str
    state: str
    cause: str
    round: str = ""
    repeat: int = 0
    file: str = ""


@dataclass(frozen=True)
class Document:
    """Everything that is known of a round, a contest or a tournament; see the types of its fields."""

    rulebook: RulebookEntry
    rounds: tuple[RoundEntry, ...]
    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    awards: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    players: tuple[PlayerEntry, ...] = ()
    sample_attacks: tuple[str, ...] = ()
    failures: tuple[FailureEntry, ...] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    def as_builtins(self) -> dict[str, Any]:
        """The document as plain data, ready for JSON."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        return content

    def as_bytes(self) -> bytes:
        """The content of ``results.json``."""
        return json_bytes(self.as_builtins())

    def standings(self) -> dict[str, Any]:
        """Rankings and awards as the stable JSON object of ``standings``."""
        return {
            **{name: [_line(line) for line in ranking.lines] for name, ranking in self.rankings.items()},
            "awards": {name: list(teams) for name, teams in self.awards.items()},
            **self.details,
        }


def parse_document(data: bytes) -> Document:
    """A document from its bytes.

    Raises
    ------
    msgspec.ValidationError
        Where a field is missing or of another type.
    msgspec.DecodeError
        Where it is not JSON.
    """
    return msgspec.json.decode(data, type=Document)


def _line(line: RankingLine) -> dict[str, Any]:
    extra = {"shown": line.shown, "note": line.note}
    interval = {} if line.low is None else {"interval": [line.low, line.high]}
    return {
        "team": line.team,
        "score": line.score,
        "rank": line.rank,
        **{key: text for key, text in extra.items() if text},
        **interval,
    }
