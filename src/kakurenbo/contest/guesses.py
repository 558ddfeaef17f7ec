"""From an attacker's files to guesses: which file is about which target, how many tries there are, and which of them count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from kakurenbo.contest.credit import Credit
from kakurenbo.contest.declarations import Counting, Phase
from kakurenbo.contest.results import by_number, team_of
from kakurenbo.core import Problem, Problems, Source

G = TypeVar("G")


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


def scores_per_target(
    phase: Phase, scores: Iterable[tuple[str, Credit]]
) -> tuple[Mapping[str, Credit], Mapping[str, tuple[Credit, ...]]]:
    """Return an attacker's score at each target: the best or the latest; and all tries where there were more."""
    tries: dict[str, tuple[Credit, ...]] = {}
    for target, score in scores:
        tries[target] = (*tries.get(target, ()), score)
    is_best = phase.counts is Counting.BEST
    counting = {
        target: max(credits, key=lambda credit: credit.accuracy) if is_best else credits[-1]
        for target, credits in tries.items()
    }
    return counting, {target: credits for target, credits in tries.items() if len(credits) > 1}
