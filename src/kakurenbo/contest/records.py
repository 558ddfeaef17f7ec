"""Records of a round: what became of every release and every refused file, and the results made of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from kakurenbo.contest.measure import Measurement
from kakurenbo.contest.phases import Phase
from kakurenbo.contest.results import (
    DISQUALIFIED,
    FAILED,
    MISSING,
    PUBLISHED,
    REFUSED,
    SUPERSEDED,
    by_number,
    team_of,
)
from kakurenbo.core import LISTED_PER_FILE, Problem, Problems, Source, messages

G = TypeVar("G")

STATES = (PUBLISHED, SUPERSEDED, DISQUALIFIED, REFUSED, MISSING, FAILED)


@dataclass(frozen=True)
class RefusedAttachment:
    """A file that came with a release, and every problem for which it was refused."""

    file: str
    problems: tuple[str, ...]

    @classmethod
    def of(cls, problems: Problems) -> RefusedAttachment:
        return cls(problems[0].file, recorded(problems))


@dataclass(frozen=True)
class ReleaseRecord:
    """What became of one release.

    Attributes
    ----------
    target, team : str
    state : str
        ``published``, ``superseded``, ``disqualified``, ``refused``, ``missing`` or ``failed``.
    cause : str
        Why it is not published, in a sentence.
    measurements : tuple of Measurement
        Every score with its verdict, where it could be measured.
    notices, problems : tuple of str
        What was corrected, and everything that is wrong.
    files : tuple of str
        What was submitted.
    attachments : tuple of RefusedAttachment
        Attachments that were refused; the release counts without them.
    """

    target: str
    team: str
    state: str
    cause: str = ""
    measurements: tuple[Measurement, ...] = ()
    notices: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    attachments: tuple[RefusedAttachment, ...] = ()

    def public(self) -> ReleaseRecord:
        """Return what everybody may see: no cell of the submission, no difference from the team's data."""
        measurements = tuple(
            replace(measured, limit={}, parts={}) for measured in self.measurements
        )
        cause = self.cause if self.state in (DISQUALIFIED, MISSING, SUPERSEDED) else ""
        return ReleaseRecord(self.target, self.team, self.state, cause, measurements)

    @property
    def scores(self) -> Mapping[str, float]:
        """Every score as a number."""
        return {measured.name: float(measured.value) for measured in self.measurements}


@dataclass(frozen=True)
class Refusal:
    """A file that was refused: whose, which, and everything that is wrong with it.

    Attributes
    ----------
    team, file : str
    problems : tuple of Problem
        The first ones.
    count : int
        How many there are in all.
    more_files : int
        For how many files it stands that are not listed (see :func:`limit_refusals`); 0 for a file of its own.
    """

    team: str
    file: str
    problems: tuple[Problem, ...]
    count: int
    more_files: int = 0

    @classmethod
    def of(cls, team: str, file: str, problems: Problems) -> Refusal:
        return cls(team, file, tuple(problems), problems.total)

    def in_folder(self, folder: str) -> Refusal:
        """Return the refusal of the same file below a folder; as it is where there is none."""
        if not folder:
            return self
        problems = tuple(
            replace(problem, file=f"{folder}/{problem.file}") for problem in self.problems
        )
        return replace(self, file=f"{folder}/{self.file}", problems=problems)

    def as_json(self, language: str | None = None) -> dict[str, Any]:
        """Return the stable JSON object of commands about many teams."""
        language = language or messages.language()
        return {
            "team": self.team,
            "file": self.file,
            "problem": self.problems[0].in_language(language),
            "problem_count": self.count,
            "problems": [problem.as_json(language) for problem in self.problems],
            **({"more_files": self.more_files} if self.more_files else {}),
        }


def limit_refusals(refusals: Sequence[Refusal]) -> list[Refusal]:
    """Keep the first twenty refusals of each team, and one that says how many more there are."""
    total, seen = Counter(refusal.team for refusal in refusals), Counter[str]()
    kept: list[Refusal] = []
    for refusal in refusals:
        team = refusal.team
        seen[team] += 1
        if seen[team] <= LISTED_PER_FILE:
            kept.append(refusal)
        elif seen[team] == LISTED_PER_FILE + 1:
            more, file = total[team] - LISTED_PER_FILE, team or "…"
            problems = Problems.of("release.more_refused", file, count=more)
            kept.append(replace(Refusal.of(team, file, problems), more_files=more))
    return kept


def recorded(problems: Iterable[Problem | str]) -> tuple[str, ...]:
    """Return problems as records keep them: in English, so that anybody makes the same bytes again."""
    return tuple(
        problem if isinstance(problem, str) else problem.in_language("en") for problem in problems
    )


# -- guesses ------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FoundGuess(Generic[G]):
    """One valid guess: its target, the file it came in, and what was put right while reading."""

    target: str
    file: str
    guess: G
    notices: tuple[Problem, ...] = ()


@dataclass(frozen=True, eq=False)
class Guesses(Generic[G]):
    """All guesses of an attacker, in the order they were handed in, and the files that were refused, each for itself."""

    found: tuple[FoundGuess[G], ...]
    refused: tuple[tuple[str, Problems], ...] = ()


@dataclass(frozen=True)
class GuessFile:
    """A file whose name tells a target and a try."""

    target: str
    number: int
    source: Source


def sort_guess_files(
    phase: Phase,
    targets: Collection[str],
    sources: Iterable[Source],
    attacker: str,
    round_: str = "",
) -> tuple[list[GuessFile], list[tuple[str, Problems]]]:
    """Files by target and try; and those refused: no such name, another attacker's or round's, one's own target, too many."""
    pattern = phase.files[0]
    named: list[GuessFile] = []
    refusals: list[tuple[str, Problems]] = []
    for source in sources:
        fields = pattern.parse(source.name)
        problem = None
        if fields is None:
            other = next((target for target in targets if team_of(target) != attacker), "01")
            example = pattern.name(target=other, attacker=attacker, round=round_)
            code = "release.zip" if phase.takes_no_zip(source.name) else "guess.unknown_name"
            problem = Problems.of(code, source.name, example=example)
        elif fields["attacker"] != attacker:
            problem = Problems.of(
                "guess.other_attacker", source.name, named=fields["attacker"], attacker=attacker
            )
        elif fields.get("round", round_) != round_:
            problem = Problems.of(
                "release.other_round", source.name, named=fields["round"], round=round_
            )
        elif team_of(fields["target"]) == attacker:
            problem = Problems.of("guess.own_target", source.name, attacker=attacker)
        elif fields["target"] not in targets:
            listed = ", ".join(sorted(targets, key=by_number)[:20])
            problem = Problems.of(
                "guess.unknown_target", source.name, target=fields["target"], targets=listed
            )
        if problem is not None or fields is None:
            refusals.append((source.name, problem or Problems([])))
        else:
            named.append(GuessFile(fields["target"], int(fields.get("try", "1")), source))
    kept: list[GuessFile] = []
    numbers: dict[str, set[int]] = defaultdict(set)
    limit = phase.tries.per_target
    named.sort(key=lambda file: (by_number(file.target), file.number, file.source.name))
    for file in named:
        name, known = file.source.name, numbers[file.target]
        if file.number in known:
            refusals.append((name, Problems.of("guess.twice", name, target=file.target)))
        elif limit is not None and (len(known) >= limit or not 1 <= file.number <= limit):
            problems = Problems.of("guess.too_many", name, limit=limit, target=file.target)
            refusals.append((name, problems))
        else:
            known.add(file.number)
            kept.append(file)
    return kept, refusals
