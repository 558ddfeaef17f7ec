"""Records of a round: what became of every release and every refused file, and the results made of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kakurenbo.contest.measure import Measurement
from kakurenbo.contest.phases import ATTACK, Phase
from kakurenbo.contest.preparation import Target
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
from kakurenbo.core import (
    LISTED_PER_FILE,
    InputError,
    Message,
    Problem,
    Problems,
    Source,
    collect_notices,
    messages,
)
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import StoredText, messages_of, with_message

if TYPE_CHECKING:
    from kakurenbo.contest.rulebook import Rulebook

G = TypeVar("G")
_MAX_ERROR = 300  # characters

STATES = (PUBLISHED, SUPERSEDED, DISQUALIFIED, REFUSED, MISSING, FAILED)


@dataclass(frozen=True)
class RefusedAttachment:
    """A file that came with a release, every problem for which it was refused, and their messages by text."""

    file: str
    problems: tuple[str, ...]
    messages: Mapping[str, Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        take_messages(self, "problems")

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
    messages : mapping of str to Message
        The messages of cause, notices and problems, by their English texts.
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
    messages: Mapping[str, Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        take_messages(self, "cause", "notices", "problems")

    def public(self) -> ReleaseRecord:
        """Return what everybody may see: no cell of the submission, no difference from the team's data."""
        measurements = tuple(
            replace(measured, limit={}, parts={}) for measured in self.measurements
        )
        cause = self.cause if self.state in (DISQUALIFIED, MISSING, SUPERSEDED) else ""
        cause = with_message(cause, self.messages)
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
    """

    team: str
    file: str
    problems: tuple[Problem, ...]
    count: int

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
        }


def limit_refusals(refusals: Sequence[Refusal]) -> list[Refusal]:
    """Keep the first twenty refusals of each team, and one that says how many more there are."""
    listed: list[Refusal] = []
    total, count = Counter(refusal.team for refusal in refusals), Counter[str]()
    for refusal in refusals:
        team = refusal.team
        count[team] += 1
        if count[team] <= LISTED_PER_FILE:
            listed.append(refusal)
        elif count[team] == LISTED_PER_FILE + 1:
            more, file = total[team] - LISTED_PER_FILE, team or "…"
            problems = Problems.of("release.more_refused", file, count=more)
            listed.append(Refusal.of(team, file, problems))
    return listed


def recorded(problems: Iterable[Problem | str]) -> tuple[str, ...]:
    """Return problems as records keep them: in English, so that anybody makes the same bytes again."""
    return tuple(problem if isinstance(problem, str) else problem.stored() for problem in problems)


def threshold_cause(measurements: Iterable[Measurement]) -> StoredText:
    """Return why a release is out of play that misses thresholds."""
    failed = [
        Message(
            "release.threshold",
            {
                "score": measured.name,
                "number": f"{float(measured.value):.6g}",
                "bound": str(measured.threshold),
            },
        )
        for measured in measurements
        if measured.passes is False
    ]
    return Message("release.thresholds", {"failed": failed}).stored()


def take_messages(record: Any, *fields: str) -> None:
    """Keep plain texts in some fields, and their messages in the field ``messages``."""
    known: dict[str, Message] = dict(record.messages)
    messages: dict[str, Message] = {}
    for name in fields:
        value = getattr(record, name)
        texts = (value,) if isinstance(value, str) else value
        known |= messages_of(texts)
        plain = tuple(map(str, texts))
        messages |= {text: known[text] for text in plain if text in known}
        object.__setattr__(record, name, plain[0] if isinstance(value, str) else plain)
    object.__setattr__(record, "messages", messages)


# -- what fails on one team's files ------------------------------------------------------------


@dataclass
class Failure:
    """What went wrong with one team's files: ``problems`` where they are refused, and the exception as one line."""

    problems: Problems | None = None
    error: str = ""

    def as_problems(self, code: str, file: str, **parameters: Any) -> Problems:
        """Return the problems; of a crash the message ``code`` with its ``error``."""
        return self.problems or Problems.of(code, file, error=self.error, **parameters)


@contextmanager
def isolate() -> Iterator[Failure]:
    """Catch whatever fails on one team's files, so that it costs these files alone."""
    failure = Failure()
    try:
        yield failure
    except Exception as error:  # hostile files and plugins may raise anything
        failure.error = describe_error(error)
        if isinstance(error, InputError):
            failure.problems = error.problems


def describe_error(error: Exception, length: int = _MAX_ERROR) -> str:
    """Return type and message of an exception as one line."""
    kind = type(error).__name__
    if isinstance(error, KakurenboError):
        return Message("error.at", {"place": kind, "error": error.message}).stored()
    return f"{kind}: {' '.join(str(error).split())[:length]}"


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


def read_named_guesses(
    rules: Rulebook[Any, Any, Any, Any, Any, G],
    targets: Mapping[str, Target[Any, Any]],
    sources: Sequence[Source],
    attacker: str,
) -> Guesses[G]:
    """Read the guesses of files that name their target."""
    phase = rules.phase(ATTACK)
    files, refused = sort_guess_files(phase, targets, sources, attacker, rules.round_name)
    guesses: list[FoundGuess[G]] = []
    for target, source in files:
        try:
            with collect_notices() as notices:
                guess = rules.read_guess(targets[target].form, source)
            guesses.append(FoundGuess(target, source.name, guess, tuple(notices)))
        except InputError as error:
            refused.append((source.name, error.problems))
    return Guesses(tuple(guesses), tuple(refused))


def sort_guess_files(
    phase: Phase,
    targets: Collection[str],
    sources: Iterable[Source],
    attacker: str,
    round_: str = "",
) -> tuple[list[tuple[str, Source]], list[tuple[str, Problems]]]:
    """Return guess files after their targets, by target and try, and those that are refused.

    Refused are other names, another attacker's or round's, guesses at the own release, and too many.
    """
    named: list[tuple[str, int, Source]] = []
    refused: list[tuple[str, Problems]] = []
    for source in sources:
        fields = phase.files[0].parse(source.name) or {}
        if problem := _wrong_guess_name(phase, targets, source.name, fields, attacker, round_):
            refused.append((source.name, problem))
        else:
            named.append((fields["target"], int(fields.get("try", "1")), source))
    files: list[tuple[str, Source]] = []
    tries: dict[str, set[int]] = defaultdict(set)
    limit = phase.tries.per_target
    for target, number, source in sorted(
        named, key=lambda file: (by_number(file[0]), file[1], file[2].name)
    ):
        name, known = source.name, tries[target]
        if number in known:
            refused.append((name, Problems.of("guess.twice", name, target=target)))
        elif limit is not None and (len(known) >= limit or not 1 <= number <= limit):
            refused.append((name, Problems.of("guess.too_many", name, limit=limit, target=target)))
        else:
            known.add(number)
            files.append((target, source))
    return files, refused


def _wrong_guess_name(
    phase: Phase,
    targets: Collection[str],
    name: str,
    fields: Mapping[str, str],
    attacker: str,
    round_: str,
) -> Problems | None:
    """Return what is wrong with the name of a guess file, if anything is."""
    if not fields:
        other = next((target for target in targets if team_of(target) != attacker), "01")
        example = phase.files[0].name(target=other, attacker=attacker, round=round_)
        code = "release.zip" if phase.takes_no_zip(name) else "guess.unknown_name"
        return Problems.of(code, name, example=example)
    target, named = fields["target"], fields["attacker"]
    if named != attacker:
        return Problems.of("guess.other_attacker", name, named=named, attacker=attacker)
    if fields.get("round", round_) != round_:
        return Problems.of("release.other_round", name, named=fields["round"], round=round_)
    if team_of(target) == attacker:
        return Problems.of("guess.own_target", name, attacker=attacker)
    if target not in targets:
        listed = ", ".join(sorted(targets, key=by_number)[:20])
        return Problems.of("guess.unknown_target", name, target=target, targets=listed)
    return None
