"""What `hideout` holds: how often it passes, how long it takes, what attacks that are told of it find; of 100, chance 10.

    python -m benchmarks.hideout                                  every contest below, 10 handouts each
    python -m benchmarks.hideout omth17 --draws 4 --jobs 2        one of them, the first four handouts
    python -m benchmarks.hideout --slow-draws 4                   attacks that rehearse the method play on the first four alone

Every handout has a B, a C and a hideout of its own; attacks know the method and its parameters. Handouts from 20 on are
reported, which nobody looked at while `hideout` was made; who changes it tries others (`--first 0`) and reports later ones.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from kakurenbo.contest import Credit, PreparedRound, engine
from kakurenbo.contest.folders import ContestFolder
from kakurenbo.contest.results import PUBLISHED
from kakurenbo.core import Source
from kakurenbo.core.rng import salt, stream
from kakurenbo.methods import registry
from kakurenbo.reports.estimates import estimate

SEED, FIRST = 2020, 20
QUICK = ("blind", "nearest", "likelihood", "kernel", "tracing")
SLOW = ("champion",)
DATA = "embedded"
TEAM, RIVAL = "01", "02"


@dataclass
class PlayedDraw:
    """A handout with its release, and what attacks that know the method find in it."""

    passes: bool
    scores: Mapping[str, float]
    cause: str
    credits: dict[str, Credit] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Contest:
    """A round of amic2020, the generator of its B, the defence, and what is wanted of it: hits of any attack at most."""

    round: str
    generator: str
    defence: str
    hits: float


CONTESTS = {
    "moments": Contest("pre", "moments", "hideout", 13),
    "omth17": Contest("pre", "omth17", "hideout", 15),
    "main": Contest("main", "moments", "hideout:round=main", 11),
}
PASSES, SECONDS = 0.9, 60.0


def play(name: str, number: int, attacks: tuple[str, ...]) -> PlayedDraw:
    """Play one handout."""
    contest = CONTESTS[name]
    rules = registry.build(
        "rulebooks", f"amic2020:round={contest.round},generator={contest.generator},data={DATA}"
    )
    seed = int.from_bytes(salt(SEED, "rehearsal", "amic2020", str(number))[:16], "little")
    prepared: PreparedRound[Any] = PreparedRound(
        rules, engine.prepare(rules, seed, [TEAM, RIVAL]).files()
    )
    method, begun = registry.build("anonymizers", contest.defence), time.process_time()
    handout, rng = prepared.handout(TEAM), stream(seed, "anonymize", contest.defence)
    release = rules.anonymize(handout, method, rng)
    seconds = {contest.defence: time.process_time() - begun}
    files = rules.release_files(handout, release)
    sources = [Source(file, data) for file, data in files.items()]
    outcome = engine.judge_release(prepared, TEAM, sources, with_disqualified=True)
    record = outcome.record
    played = PlayedDraw(record.state == PUBLISHED, record.scores, record.cause, seconds=seconds)
    if not played.passes:
        return played
    declared = registry.build("anonymizers", contest.defence)
    folder = ContestFolder(outcome.target, TEAM)
    target = rules.read_target(folder, prepared.attackers, declared=declared, attacker=RIVAL)
    answer = rules.read_answer(ContestFolder(outcome.answer, TEAM))
    for text in attacks:
        attack, begun = registry.build("attacks", text), time.process_time()
        guess = attack(target.knowledge, stream(seed, "attack", contest.defence, text))
        played.seconds[text] = time.process_time() - begun
        played.credits[text] = rules.score_guess(answer, guess).public()
    return played


def lines(name: str, found: Sequence[PlayedDraw], attacks: Sequence[str]) -> list[str]:
    """The table of one contest."""
    contest = CONTESTS[name]
    passed, seconds = (
        sum(one.passes for one in found),
        [one.seconds[contest.defence] for one in found],
    )
    told = [
        f"{name}: {contest.defence} in {contest.round}, B from {contest.generator}: passes on {passed} of {len(found)} handouts"
        f" (wanted {PASSES:.0%}), {max(seconds):.1f} CPU s at most (wanted {SECONDS:g}); wanted: {contest.hits:g} hits at most",
        "| attack | n | mean hits | 95 % interval | CPU s |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for attack in attacks:
        played = [one for one in found if attack in one.credits]
        if played:
            hits = estimate([one.credits[attack].hits for one in played])
            half = (
                "–"
                if hits.low is None or hits.high is None
                else f"{hits.low:.1f} to {hits.high:.1f}"
            )
            cost = sum(one.seconds[attack] for one in played) / len(played)
            told.append(f"| {attack} | {hits.n} | {hits.mean:.1f} | {half} | {cost:.1f} |")
    told += [f"no release: {one.cause}" for one in found if one.cause]
    return told


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("contests", nargs="*", default=list(CONTESTS), metavar="CONTEST")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=FIRST, help="number of the first handout")
    parser.add_argument("--attacks", default=",".join(QUICK), help="played on every handout")
    parser.add_argument(
        "--slow",
        default=",".join(SLOW),
        help="attacks that rehearse the method, a minute or two each",
    )
    parser.add_argument("--slow-draws", type=int, help="of how many handouts; all by default")
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    quick, slow = (
        tuple(one for one in listed.split(",") if one) for listed in (given.attacks, given.slow)
    )
    if unknown := [name for name in given.contests if name not in CONTESTS]:
        parser.error(f"there is no contest {unknown[0]}; there are {', '.join(CONTESTS)}")
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for name in given.contests:
            numbers = range(given.first, given.first + given.draws)
            slow_draws = given.draws if given.slow_draws is None else given.slow_draws
            attacks = [
                (*slow, *quick) if place < slow_draws else quick for place in range(given.draws)
            ]
            found: list[PlayedDraw] = []
            for one in pool.map(play, [name] * len(numbers), numbers, attacks):
                found.append(one)
                shown = ", ".join(
                    f"{attack} {credit.hits:g}" for attack, credit in one.credits.items()
                )
                state = "passes" if one.passes else f"fails {one.cause}"
                scores = ", ".join(f"{score} {value:.4f}" for score, value in one.scores.items())
                print(
                    f"{name} {numbers[len(found) - 1]}: {state}: {shown}; {scores}",
                    file=sys.stderr,
                    flush=True,
                )
            print(*lines(name, found, (*slow, *quick)), sep="\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
