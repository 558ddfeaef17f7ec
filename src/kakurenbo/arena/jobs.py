"""What a worker does with a task: one step of a round, from files to files. It knows no folder of the run."""

from __future__ import annotations

import contextlib
import json
import os
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.store import FAILED, REFUSED, Outcome, TreeDigests
from kakurenbo.contest import (
    CONTEST_FILE,
    AnyRulebook,
    Credit,
    Files,
    PreparedRound,
    engine,
    json_number,
)
from kakurenbo.contest.commitments import COMMITMENTS_FILE, OPENING_FILE
from kakurenbo.contest.engine import judge_guess
from kakurenbo.contest.folders import ContestFacts, ContestFolder
from kakurenbo.contest.preparation import PublishedTargets
from kakurenbo.contest.records import Refusal, ReleaseRecord, isolate, limit_refusals
from kakurenbo.contest.releases import RELEASES_FILE, SUBMITTED
from kakurenbo.contest.rounds import judge_team
from kakurenbo.core import Source
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import Message, join_stored, messages_of, with_message
from kakurenbo.core.remembering import Memory
from kakurenbo.core.rng import stream

PREPARE, ANONYMIZE, JUDGE, ATTACK, CREDIT = "prepare", "anonymize", "judge", "attack", "credit"
NOTHING = "nothing"  # by which benchmarks measure what everything around a job costs
HANDOUT = "handout"
"""The input of a team's own data: for its anonymizer, and for its attacks where the contest says so."""
ATTACKERS_TREE = "store/attackers"
"""The name of the folder of files that attackers get beside the targets."""
OPENING = f"secret/{OPENING_FILE}"
GUESS_FILE = "guess"
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "POLARS_MAX_THREADS",
    ),
    "1",
)
_TARGETS, _TABLES = Memory(4), Memory(4)


@dataclass(frozen=True)
class Task:
    """One job as workers take it. A player's holds no contest seed, no answer, no path.

    Attributes
    ----------
    kind : str
    rulebook : MethodCall
    method : MethodCall or None
        None for the judge, and for an organizers' own attack.
    seed : str
        In decimal: the contest's for the judge; for a player the job's own, from which it does not follow.
    team : str
        Whose release it is about; for attacks and scores of a target its name.
    attacker : str
    teams, unranked : tuple of str
        Who anonymizes, and who of them has no rank; where a round is prepared.
    inputs : mapping of role to TreeDigests
        The folders of files that it reads.
    """

    kind: str
    rulebook: MethodCall
    method: MethodCall | None = None
    seed: str = ""
    team: str = ""
    attacker: str = ""
    teams: tuple[str, ...] = ()
    unranked: tuple[str, ...] = ()
    inputs: Mapping[str, TreeDigests] = field(default_factory=dict)


def perform(task: Task, inputs: Mapping[str, Files]) -> Outcome:
    """Do a task and return its outcome, whatever happens; ``inputs`` are folders of files by role."""
    started = time.perf_counter()
    meta: dict[str, Any] = {"process": os.getpid()}
    try:
        load_code(task.rulebook, task.method)
        with _one_thread():
            outcome = _STEPS[task.kind](task, inputs)
    except KakurenboError as error:
        outcome = Outcome(state=FAILED, cause=error.message.stored())
    except BaseException as error:  # a method that exits or is interrupted ends its own job alone
        outcome = Outcome(state=FAILED, cause=_describe(error))
        meta["traceback"] = _traceback()
    return replace(outcome, meta=meta | {"seconds": time.perf_counter() - started})


def load_code(*calls: MethodCall | None) -> None:
    """Import the code behind these calls."""
    for call in calls:
        if call is not None:
            call.make()


def late_outcome(limit: float) -> Outcome:
    """Return the outcome of a job that was stopped at its time limit."""
    cause = Message("job.too_slow", {"limit": f"{limit:g}"}).stored()
    return Outcome(state=FAILED, cause=cause, meta={"limit": limit, "seconds": limit})


# -- steps of the judge --------------------------------------------------------------------------------------------------


def _prepare(task: Task, inputs: Mapping[str, Files]) -> Outcome:
    """Make the organizer's data from the seed, or take them from a folder that ``prepare`` or ``publish`` wrote."""
    if "organizer" in inputs:
        files, report = inputs["organizer"], {}
    else:
        rules: AnyRulebook = task.rulebook.make()
        preparation = engine.prepare(rules, int(task.seed), task.teams, task.unranked)
        files, report = preparation.files(), dict(preparation.report)
    facts = msgspec.json.decode(files[f"public/{CONTEST_FILE}"], type=ContestFacts)
    commitments = json.loads(files.get(f"public/{COMMITMENTS_FILE}", b"{}"))
    trees = {ATTACKERS_TREE: _below(files, "attackers/")}
    if OPENING in files:
        trees["preparation"] = files
    for team in facts.teams:
        if handout := _below(files, f"teams/{team}/"):
            trees[handout_tree(team)] = handout
    value = {
        "report": report or {"data": facts.source},
        "commitments": commitments.get("commitments", {}),
        "settings": facts.settings,
    }
    value["messages"] = msgspec.to_builtins(messages_of(value))
    return Outcome(value, trees)


def _judge(task: Task, inputs: Mapping[str, Files]) -> Outcome:
    """Check, measure and publish what a team submitted, once each; or take what was published."""
    if "organizer" in inputs:
        return _already_judged(task.team, inputs["organizer"])
    prepared: PreparedRound[Any] = PreparedRound(task.rulebook.make(), inputs["preparation"])
    prepared.tables = _TABLES
    sources = [Source(name, data) for name, data in inputs["release"].items()]
    outcomes = judge_team(prepared, task.team, sources, with_disqualified=True)
    return _judged(
        [outcome.record for outcome in outcomes],
        {outcome.record.target: (outcome.target, outcome.answer) for outcome in outcomes},
    )


def _already_judged(team: str, phase: Files) -> Outcome:
    """Take a team's targets and answers from a phase folder."""
    every = msgspec.json.decode(phase[f"public/{RELEASES_FILE}"], type=tuple[ReleaseRecord, ...])
    records = [record for record in every if record.team == team]
    published = {}
    for record in records:
        answer = _below(phase, f"answers/{record.target}/")
        kept = {name: data for name, data in answer.items() if not name.startswith(f"{SUBMITTED}/")}
        published[record.target] = (_below(phase, f"targets/{record.target}/"), kept)
    return _judged(records, published)


def _judged(
    records: Sequence[ReleaseRecord], published: Mapping[str, tuple[Files, Files]]
) -> Outcome:
    """Return the records of a team's releases, with the target and the answer of those under attack.

    A part of a target that is dealt to one attacker is a folder of its own, so that nobody else sees it.
    """
    trees: dict[str, dict[str, bytes]] = {}
    for target, (files, answer) in published.items():
        if files:
            trees[f"answer-{target}"] = dict(answer)
        for name, data in files.items():
            part, _, file = name.rpartition("/")
            trees.setdefault(target_tree(target, part), {})[file] = data
    targets = [target for target, (files, _) in published.items() if files]
    value = {"records": msgspec.to_builtins(records), "targets": targets}
    if targets:
        return Outcome(value, trees)
    state = FAILED if any(record.state == FAILED for record in records) else REFUSED
    causes = [with_message(record.cause, record.messages) for record in records]
    return Outcome(value, state=state, cause=join_stored(causes, "; "))


def target_tree(target: str, part: str = "") -> str:
    """Return the name of a target's folder of files, or of the part of it that one attacker was dealt."""
    return f"store/target-{target}-{part}" if part else f"store/target-{target}"


def handout_tree(team: str) -> str:
    """Return the name of the folder of files that a team was given."""
    return f"teams/{team}/handout"


def _score_attacks(task: Task, inputs: Mapping[str, Files]) -> Outcome:
    """Score the guesses of all attacks on one target."""
    folder = ContestFolder(inputs["answer"], task.team)
    rules: AnyRulebook = task.rulebook.make()
    rules = rules.under(folder.facts(rules.name))
    answer = rules.read_answer(folder)
    form = rules.answer_form(answer)
    scores: list[tuple[str, str, Credit]] = []
    refused: list[Refusal] = []
    for attacker, files in _named(inputs, "guess").items():
        name = f"guess of {attacker} at {task.team}"
        with isolate() as failure:
            score = judge_guess(rules, answer, Source(name, files[GUESS_FILE]), attacker, form)
            scores.append((task.team, attacker, score))
        if failure.error:
            refused.append(Refusal.of(attacker, name, failure.as_problems("guess.broke", name)))
    return _scored(scores, refused)


def _score_submitted(task: Task, inputs: Mapping[str, Files]) -> Outcome:
    """Score the files of guesses that one attacker submitted."""
    targets, answers = (
        {name: ContestFolder(files, name) for name, files in _named(inputs, kind).items()}
        for kind in ("target", "answer")
    )
    attackers = [ContestFolder(inputs["attackers"], "attackers")]
    published = PublishedTargets(task.rulebook.make(), targets, attackers, answers)
    sources = [Source(name, data) for name, data in inputs["submitted"].items()]
    outcome = engine.judge_guesses(published, task.attacker, sources)
    scores = [(guess.target, task.attacker, guess.score) for guess in outcome.scores]
    return _scored(scores, outcome.refused)


def _score(task: Task, inputs: Mapping[str, Files]) -> Outcome:
    return _score_submitted(task, inputs) if task.attacker else _score_attacks(task, inputs)


def _scored(scores: Sequence[tuple[str, str, Credit]], refused: Sequence[Refusal]) -> Outcome:
    credits = [(target, attacker, msgspec.to_builtins(score)) for target, attacker, score in scores]
    listed = limit_refusals(list(refused))
    messages = messages_of([refusal.problems[0].stored() for refusal in listed])
    return Outcome(
        {
            "credits": credits,
            "refused": [refusal.as_json("en") for refusal in listed],
            "messages": msgspec.to_builtins(messages),
        }
    )


# -- steps of players ----------------------------------------------------------------------------------------------------


def _anonymize(task: Task, inputs: Mapping[str, Files]) -> Outcome:
    assert task.method is not None
    folder = ContestFolder(inputs[HANDOUT], task.team)
    rules: AnyRulebook = task.rulebook.make()
    rules = rules.under(folder.facts(rules.name))
    rng = stream(int(task.seed), "anonymize")
    release, files = engine.anonymize(rules, rules.read_handout(folder), task.method.make(), rng)
    claims = {name: json_number(value) for name, value in release.claims.items()}
    return Outcome({"claims": claims}, {"release": files})


def _attack(task: Task, inputs: Mapping[str, Files]) -> Outcome:
    """Attack one target; what is parsed of it stays for the next attack, but for an attacker's own handout."""
    if HANDOUT in inputs:
        targets = open_target(task, inputs, None)
    else:
        mark = (tuple(task.inputs.items()), task.rulebook)
        targets = _TARGETS.remembered(mark, lambda: open_target(task, inputs, _TABLES))
    if task.method is None:
        guess = engine.sample_attack(targets, task.team, task.attacker)
    else:
        rng = stream(int(task.seed), "attack")
        guess = engine.attack(targets.rules, targets[task.team], task.method.make(), rng)[1]
    return Outcome(trees={"guess": {GUESS_FILE: guess}})


def open_target(task: Task, inputs: Mapping[str, Files], tables: Memory | None) -> PublishedTargets:
    """Open the target of an attack as its attacker sees it."""
    roles = [role for role in ("part", "attackers", HANDOUT) if role in inputs]
    others = [ContestFolder(inputs[role], role) for role in roles]
    target = ContestFolder(inputs["target"], task.team)
    return PublishedTargets(task.rulebook.make(), {task.team: target}, others, tables=tables)


_STEPS: dict[str, Callable[[Task, Mapping[str, Files]], Outcome]] = {
    PREPARE: _prepare,
    JUDGE: _judge,
    CREDIT: _score,
    ANONYMIZE: _anonymize,
    ATTACK: _attack,
    NOTHING: lambda task, _: Outcome({"kind": task.kind}),
}


# -- helpers -------------------------------------------------------------------------------------------------------------


def _one_thread() -> contextlib.AbstractContextManager[Any]:
    """Compute with one thread: faster with many workers, and the same sums in the same order everywhere."""
    is_set = all(os.environ.get(name) == value for name, value in ONE_THREAD.items())
    return contextlib.nullcontext() if is_set else threadpool_limits(1)


def _below(files: Files, prefix: str) -> Files:
    return {
        name.removeprefix(prefix): data for name, data in files.items() if name.startswith(prefix)
    }


def _named(inputs: Mapping[str, Files], kind: str) -> Mapping[str, Files]:
    """Return the inputs ``KIND NAME`` by their names."""
    pairs = {role: role.partition(" ") for role in inputs}
    return {
        name: inputs[role] for role, (first, _, name) in pairs.items() if first == kind and name
    }


def _describe(error: BaseException) -> str:
    """Return the error and the line it came from, for people who write methods."""
    if isinstance(error, MemoryError):
        return Message("word.more_memory").stored()
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    message = " ".join(_message(error).split())[:300]
    return f"{type(error).__name__}{': ' if message else ''}{message}{place}"


def _message(error: BaseException) -> str:
    try:
        return "".join(str(error))
    except BaseException as another:  # a method's own kind of error may fail even at that
        return f"its message cannot be read ({type(another).__name__})"


def _traceback() -> str:
    try:
        return traceback.format_exc()
    except BaseException as another:
        return f"its traceback cannot be read ({type(another).__name__})"
