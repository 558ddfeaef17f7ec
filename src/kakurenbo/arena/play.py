"""One round of a contest from the first draw to the standings: every player anonymizes, every player attacks every other.

Works through the rulebook protocol alone, on any ``concurrent.futures`` executor. Every job draws from a stream named
after it, so the number of processes cannot change a byte.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from kakurenbo import registry
from kakurenbo.errors import UsageError
from kakurenbo.protocols import Credit, Files, RoundResults, Rulebook, Standings, Utility
from kakurenbo.rng import stream
from kakurenbo.tables import Problem, Problems, Source

AnyRulebook = Rulebook[Any, Any, Any, Any, Any]


@dataclass(frozen=True)
class Player:
    """A team: how it anonymizes and how it attacks, as texts that ``registry.build`` takes."""

    team: str
    anonymizer: str
    attack: str


@dataclass(frozen=True)
class Played:
    """What a round gave.

    Attributes
    ----------
    results : RoundResults
        Includes the organizers' own attacks under their names, shown but not ranked.
    utilities : mapping of team to Utility
    releases : mapping of team to Files
    refused : mapping of team to Problems
        Releases that broke the rules.
    standings : Standings
    report : mapping
        What the preparation had to say.
    """

    results: RoundResults
    utilities: Mapping[str, Utility]
    releases: Mapping[str, Files]
    refused: Mapping[str, Problems]
    standings: Standings
    report: Mapping[str, Any] = field(default_factory=dict)


def play(
    rulebook: AnyRulebook,
    players: Sequence[Player],
    seed: int,
    *,
    jobs: int = 1,
    progress: Callable[[str, int], None] | None = None,
) -> Played:
    """Play one round.

    Parameters
    ----------
    rulebook : Rulebook
    players : sequence of Player
    seed : int
    jobs : int
        Processes; the result does not depend on it.
    progress : callable
        Told what begins and how many steps it has, then ``("", 1)`` after each step.
    """
    if not players or len({player.team for player in players}) < len(players):
        raise UsageError("a contest needs players, each with a team of its own")
    with _executor(jobs) as executor:
        return _play(rulebook, players, seed, executor, progress or _silent)


def _play(
    rulebook: AnyRulebook, players: Sequence[Player], seed: int, executor: Executor, progress: Callable[[str, int], None]
) -> Played:
    progress("preparing the data", 1)
    preparation = rulebook.prepare(seed, [player.team for player in players])
    progress("", 1)

    progress("anonymizing and measuring", len(players))
    made = _gather(
        {
            player.team: executor.submit(_anonymize, rulebook, preparation.handouts[player.team], player, seed)
            for player in players
        },
        progress,
    )
    submissions = {team: release.submission for team, release in made.items() if release.submission is not None}
    utilities = {team: release.utility for team, release in made.items() if release.utility is not None}
    out = {team: "disqualified" for team, release in made.items() if release.utility is None or not release.utility.passes}
    targets = rulebook.publish(preparation, submissions, seed)

    attackers: dict[str, Any] = {player.team: registry.build("attacks", player.attack) for player in players}
    attackers |= rulebook.sample_attacks
    pairs = [(target, attacker) for target in targets for attacker in attackers if attacker != target]
    progress("attacking", len(pairs))
    found = _gather(
        {pair: executor.submit(_attack, rulebook, targets[pair[0]], attackers[pair[1]], pair, seed) for pair in pairs},
        progress,
    )
    credits: dict[str, dict[str, Credit]] = {target: {} for target in targets}
    for (target, attacker), credit in found.items():
        credits[target][attacker] = credit
    results = RoundResults(
        credits=credits,
        anonymizers=tuple(player.team for player in players),
        attackers=tuple(attackers),
        utility={team: utility.scores["U"].value for team, utility in utilities.items() if "U" in utility.scores},
        out=out,
        unranked=frozenset(rulebook.sample_attacks),
    )
    return Played(
        results=results,
        utilities=utilities,
        releases={team: release.files for team, release in made.items()},
        refused={team: release.problems for team, release in made.items() if release.problems is not None},
        standings=rulebook.standings({"round": results}),
        report=preparation.report,
    )


@dataclass(frozen=True)
class _Made:
    files: Files
    submission: Any = None
    utility: Utility | None = None
    problems: Problems | None = None
    notices: tuple[Problem, ...] = ()


def _anonymize(rulebook: AnyRulebook, handout: Any, player: Player, seed: int) -> _Made:
    method = registry.build("anonymizers", player.anonymizer)
    release = rulebook.anonymize(handout, method, stream(seed, "play", "anonymize", player.team))
    files = rulebook.release_files(handout, release)
    notices: list[Problem] = []
    submission = rulebook.check_release(handout, [Source(name, data) for name, data in files.items()], notices)
    if isinstance(submission, Problems):
        return _Made(files, problems=submission)
    return _Made(files, submission, rulebook.measure(handout, submission), notices=tuple(notices))


def _attack(rulebook: AnyRulebook, target: Any, attack: Any, pair: tuple[str, str], seed: int) -> Credit:
    guess = attack(target.knowledge, stream(seed, "play", "attack", *pair))
    return rulebook.credit(target.answer, guess)


def _silent(what: str, count: int) -> None:
    """Progress that nobody asked for."""


def _gather(futures: Mapping[Any, Future[Any]], progress: Callable[[str, int], None]) -> dict[Any, Any]:
    results = {}
    for key, future in futures.items():
        results[key] = future.result()
        progress("", 1)
    return results


def _executor(jobs: int) -> Executor:
    if jobs <= 1:
        return _Here()
    # Spawned, not forked: Polars and BLAS hold threads that a fork would leave locked.
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))


class _Here(Executor):
    """Runs each job at once in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future
