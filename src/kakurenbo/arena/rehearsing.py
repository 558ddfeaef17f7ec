"""Rehearsals: a method on data of one's own drawing, judged and attacked by the steps of the contest.

Whoever rehearses draws the data and so knows the answer: nothing here is anybody's secret, and a whole trial runs in one
process. Attacks are told the method and its parameters, because a defence is worth what it holds against those who know it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.requests import accepted
from kakurenbo.contest import AnyRulebook, Credit, Measurement, PreparedRound, RoundResults
from kakurenbo.contest.engine import ReleaseOutcome, judge_release
from kakurenbo.contest.records import PUBLISHED
from kakurenbo.core import Source, write_folder
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.remembering import Memory, remembering_tables
from kakurenbo.core.rng import salt, stream
from kakurenbo.methods import registry

TEAM, RIVAL = "01", "02"
"""Who anonymizes in a rehearsal, and whose part of the target is attacked where a contest deals one to each."""
_ROUNDS, _TABLES = Memory(2), Memory(6)
_FARTHEST = 10.0  # that a threshold is missed by, in units of itself


@dataclass(frozen=True)
class Draw:
    """Data of one's own, drawn as the organizer draws: the rules, a seed, and the folder that it lies in."""

    rulebook: MethodCall
    seed: int
    folder: Path

    @classmethod
    def numbered(cls, rulebook: MethodCall, seed: int, number: int, below: Path) -> Draw:
        """Draw ``number`` of a search or a measurement; draws of other numbers have nothing in common with it."""
        own = int.from_bytes(salt(seed, "rehearsal", rulebook.name, str(number))[:16], "little")
        return cls(rulebook, own, below / str(number))


@dataclass(frozen=True)
class Trial:
    """A method to be tried in a draw, against these attacks.

    Attributes
    ----------
    draw : Draw
    anonymizer : str
    attacks : tuple of str
        Each as ``registry.build`` takes it; none for whether it passes alone.
    """

    draw: Draw
    anonymizer: str
    attacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tried:
    """What became of a trial.

    Attributes
    ----------
    passes : bool
        Whether the release holds every threshold. Attacks are played on releases that do.
    missed_by : float
        How far the thresholds that it misses are away, each in units of itself.
    scores : mapping of str to float
    credits : mapping of attack to Credit
    seconds : mapping of str to float
        CPU seconds of the anonymizer and of every attack, by their texts.
    points : float or None
        What the contest's own ranking makes of the release against these attacks.
    cause : str
        Why there is no release to judge; empty where there is one.
    """

    passes: bool = False
    missed_by: float = _FARTHEST
    scores: Mapping[str, float] = field(default_factory=dict)
    credits: Mapping[str, Credit] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    points: float | None = None
    cause: str = ""

    @property
    def rate(self) -> float | None:
        """The share of what could be found that the best attack finds."""
        return max((credit.accuracy for credit in self.credits.values()), default=None)


def prepare_draw(draw: Draw) -> None:
    """Draw the data, unless they lie there already."""
    if not draw.folder.exists():
        rules: AnyRulebook = draw.rulebook.make()
        write_folder(draw.folder, rules.prepare(draw.seed, [TEAM, RIVAL]).files())


def rehearse(trial: Trial) -> Tried:
    """Anonymize, judge, publish, attack, credit. A method that fails is no error: its trial says why."""
    draw, seconds = trial.draw, dict[str, float]()
    prepared: PreparedRound[Any] = _ROUNDS.remembered(
        draw, lambda: PreparedRound(draw.rulebook.make(), draw.folder)
    )
    handout = prepared.handout(TEAM)
    try:
        method, begun = registry.build("anonymizers", trial.anonymizer), time.process_time()
        release = prepared.rules.anonymize(
            handout, method, stream(draw.seed, "anonymize", trial.anonymizer)
        )
        seconds[trial.anonymizer] = time.process_time() - begun
        files = prepared.rules.release_files(handout, release)
        judged = judge_release(
            prepared,
            TEAM,
            [Source(name, data) for name, data in files.items()],
            with_disqualified=True,
        )
        if not judged.target:
            return Tried(seconds=seconds, cause=judged.record.cause)
        passes = judged.record.state == PUBLISHED
        credits = _attacked(prepared, judged, trial, seconds) if passes and trial.attacks else {}
    except KakurenboError as error:
        return Tried(seconds=seconds, cause=str(error))
    except Exception as error:  # one setting of a plugin that breaks must not end a search
        return Tried(
            seconds=seconds, cause=f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        )
    scores = judged.record.scores
    points = contest_points(prepared.rules, credits, scores) if credits else None
    return Tried(passes, missed_by(judged.record.measurements), scores, credits, seconds, points)


def _attacked(
    prepared: PreparedRound[Any], judged: ReleaseOutcome, trial: Trial, seconds: dict[str, float]
) -> dict[str, Credit]:
    """What every attack earns on a release, told the method that made it."""
    rules, credits = prepared.rules, {}
    declared = registry.build("anonymizers", trial.anonymizer)
    with tempfile.TemporaryDirectory(prefix="kakurenbo-rehearsal-") as place:
        phase = Path(place) / "phase"
        write_folder(phase, judged.files)
        (phase / "attackers").symlink_to(
            (prepared.path / "attackers").resolve(), target_is_directory=True
        )
        own = [prepared.path / "teams" / RIVAL] if rules.attackers_use_handouts else []
        with remembering_tables(_TABLES):
            paths = (phase / "targets" / TEAM, phase / "attackers", *own)
            target = accepted(rules.read_target, *paths, declared=declared, attacker=RIVAL)
        answer = rules.answer_for(accepted(rules.read_answer, phase / "answers" / TEAM), RIVAL)
    for text in trial.attacks:
        attack, begun = registry.build("attacks", text), time.process_time()
        guess = attack(target.knowledge, stream(trial.draw.seed, "attack", trial.anonymizer, text))
        seconds[text] = time.process_time() - begun
        checked = accepted(
            rules.read_guess,
            rules.answer_form(answer),
            Source("guess", rules.bytes_of_attack(guess)),
        )
        credits[text] = rules.score_guess(answer, checked).public()
    return credits


def missed_by(measurements: tuple[Measurement, ...]) -> float:
    """How far the thresholds that a release misses are away: the sum over these, each in units of itself.

    Examples
    --------
    >>> missed_by((Measurement("vcm", 0.3, minimum=0.4, passes=False), Measurement("other", 1.0, minimum=0.9, passes=True)))
    0.25
    """
    total = 0.0
    for measured in measurements:
        threshold = measured.threshold
        if threshold is not None and measured.passes is False:
            total += min(
                _FARTHEST,
                abs(float(measured.value) - threshold.value) / max(abs(threshold.value), 1e-9),
            )
    return round(total, 9)


def contest_points(
    rules: AnyRulebook, credits: Mapping[str, Credit], scores: Mapping[str, float]
) -> float:
    """What the contest's own ranking of anonymizers makes of a release against these attacks, utility included."""
    attackers = {f"{number:02d}": credit for number, credit in enumerate(credits.values(), start=2)}
    # Baselines that are measures of a release, as darc2019 has them, count where its rules say so.
    samples = {name: Credit(scores[name], 1) for name in rules.sample_attacks if name in scores}
    utility = {TEAM: scores[rules.utility_score]} if rules.utility_score in scores else {}
    results = RoundResults(
        {TEAM: {**attackers, **samples}},
        (TEAM,),
        (*attackers, *samples),
        utility,
        unranked=frozenset(samples),
    )
    standings = rules.standings({rules.round_name: results})
    return float(next(line.score for line in standings.anonymization if line.team == TEAM) or 0)


def fewer_points_win(rules: AnyRulebook) -> bool:
    """Whether the contest ranks the release with the lowest score first."""
    results = RoundResults({TEAM: {RIVAL: Credit(0, 1)}}, (TEAM,), (RIVAL,), {TEAM: 0.0})
    return "anonymization" in rules.standings({rules.round_name: results}).lower_is_better
