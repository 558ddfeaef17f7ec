"""What a worker does: one job of a tournament, from files to files, through the rulebook protocol alone.

A request names its inputs by path and digest; the worker reads them with the rulebook's own readers, checks the digest, and
remembers what it parsed, because the next job often wants the same tables.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from kakurenbo.arena.calls import Call
from kakurenbo.arena.executors import ONE_THREAD
from kakurenbo.arena.limits import TimeLimitExceeded, time_limit
from kakurenbo.arena.store import DONE, FAILED, REFUSED, Damaged, Result, Store, read_tree, verified
from kakurenbo.contracts import Files, Preparation, Rulebook, Target, Utility, json_number
from kakurenbo.errors import KakurenboError
from kakurenbo.rng import stream
from kakurenbo.tables import Problem, Problems, Source, sources_of

AnyRulebook = Rulebook[Any, Any, Any, Any, Any]
PREPARE, RELEASE, PUBLISH, ATTACK, GUESSES, NOTHING = "prepare", "release", "publish", "attack", "guesses", "nothing"
_REMEMBERED = 6


@dataclass(frozen=True)
class Tree:
    """A folder of files by path and digest."""

    path: str
    digest: str


@dataclass(frozen=True)
class Request:
    """One job, small enough to send anywhere.

    Attributes
    ----------
    store, key : str
        Where the result goes.
    kind : str
    rulebook : Call
    seed : str
        The seed of this repeat, in decimal.
    stream : tuple of str
        Path to the job's own random stream.
    team : str
        Whose release, or who is attacked.
    attacker : str
    teams : tuple of str
        All who anonymize, where the whole preparation is made.
    method : Call or None
    inputs : mapping of role to Tree
    limit : float or None
        Seconds.
    mortal : bool
        Whether the process may be ended where the limit cannot be kept otherwise.
    """

    store: str
    key: str
    kind: str
    rulebook: Call
    seed: str
    stream: tuple[str, ...] = ()
    team: str = ""
    attacker: str = ""
    teams: tuple[str, ...] = ()
    method: Call | None = None
    inputs: Mapping[str, Tree] = field(default_factory=dict)
    limit: float | None = None
    mortal: bool = True


def perform(request: Request) -> Result:
    """Do a job and store its result; a job that was done already is not done again."""
    store = Store(request.store)
    known = store.get(request.key)
    if known is not None:
        return known
    begun = time.perf_counter()

    def failed(cause: str, **meta: Any) -> Result:
        meta |= {"seconds": time.perf_counter() - begun, "process": os.getpid()}
        return store.put(request.key, FAILED, {}, cause=cause, meta=meta)

    late = f"it took longer than its time limit of {request.limit:g} s" if request.limit else ""

    def last_words() -> None:
        failed(late, limit=request.limit)

    try:
        with _one_thread(), time_limit(request.limit, last_words if request.mortal else None):
            outcome = _KINDS[request.kind](request)
    except TimeLimitExceeded:
        return failed(late, limit=request.limit)
    except Damaged:
        raise  # not the job's fault: the run repeats what is damaged
    except KakurenboError as error:
        return failed(str(error))
    except MemoryError:
        return failed("it needs more memory than there is", traceback=traceback.format_exc())
    except Exception as error:
        return failed(_sentence(error), traceback=traceback.format_exc())
    meta = {"seconds": time.perf_counter() - begun, "process": os.getpid()}
    return store.put(request.key, outcome.state, outcome.value, trees=outcome.trees, cause=outcome.cause, meta=meta)


def _one_thread() -> contextlib.AbstractContextManager[Any]:
    """One thread for all libraries: faster with many workers, and the same sums in the same order everywhere."""
    begun_so = all(os.environ.get(name) == value for name, value in ONE_THREAD.items())
    return contextlib.nullcontext() if begun_so else threadpool_limits(1)


@dataclass(frozen=True)
class _Outcome:
    value: Mapping[str, Any] = field(default_factory=dict)
    trees: Mapping[str, Files] = field(default_factory=dict)
    state: str = DONE
    cause: str = ""


def _refused(problems: Problems, trees: Mapping[str, Files] | None = None) -> _Outcome:
    listed = {"problems": [problem.as_json() for problem in problems], "problem_count": problems.total}
    return _Outcome(listed, trees or {}, REFUSED, str(problems[0]))


# -- the kinds of jobs --------------------------------------------------------------------------------------------------


def _prepare(request: Request) -> _Outcome:
    """The organizer's data, made from the seed or taken from a folder that ``prepare`` wrote."""
    rulebook = request.rulebook.make()
    if "preparation" in request.inputs:
        files = read_tree(_checked(request.inputs["preparation"]))
        report: Mapping[str, Any] = {"data": "an organizer's folder"}
    else:
        preparation = rulebook.prepare(int(request.seed), list(request.teams))
        files, report = preparation.files(), preparation.report
    handouts = {team: _below(files, f"teams/{team}/") for team in request.teams}
    trees = {"all": files, **{f"handout-{team}": content for team, content in handouts.items()}}
    return _Outcome({"report": dict(report), "commitments": _text(files.get("public/commitments.json"))}, trees)


def _release(request: Request) -> _Outcome:
    """A team anonymizes (or hands its files in), and the judge checks and measures."""
    rulebook = request.rulebook.make()
    handout = _read(request, "handout", rulebook.read_handout)
    if request.method is not None:
        release = rulebook.anonymize(handout, request.method.make(), stream(int(request.seed), *request.stream))
        files = dict(rulebook.release_files(handout, release))
        sources = [Source(name, data) for name, data in files.items()]
        claims = {name: json_number(value) for name, value in release.claims.items()}
    else:
        sources = sources_of(_checked(request.inputs["submitted"]))
        files, claims = {source.name: _bytes(source) for source in sources}, {}
    notices: list[Problem] = []
    submission = rulebook.check_release(handout, sources, notices)
    if isinstance(submission, Problems):
        return _refused(submission, {"release": files})
    utility = rulebook.measure(handout, submission)
    return _Outcome(
        {"utility": utility_json(utility), "notices": [str(notice) for notice in notices], "claims": claims}, {"release": files}
    )


def _publish(request: Request) -> _Outcome:
    """What attackers get of one release, and the answer they do not get."""
    rulebook = request.rulebook.make()
    preparation = _read(request, "preparation", rulebook.read_preparation)
    target = _published(request, rulebook, preparation, request.team, _checked(request.inputs["release"]))
    value = {"public": list(target.public_files), "secret": list(target.secret_files)}
    return _Outcome(value, {"public": target.public_files, "secret": target.secret_files})


def _attack(request: Request) -> _Outcome:
    """An attack on one target, and the judge's credit for it."""
    rulebook = request.rulebook.make()
    target = _target(request, rulebook, request.team)
    attack = request.method.make() if request.method is not None else rulebook.sample_attacks[request.attacker]
    guess = attack(target.knowledge, stream(int(request.seed), *request.stream))
    credit = rulebook.credit(target.answer, guess)
    return _Outcome({"credits": {request.team: credit.as_json()}}, {"guess": {"guess": rulebook.guess_bytes(guess)}})


def _guesses(request: Request) -> _Outcome:
    """All guesses of an attacker who handed in files."""
    rulebook = request.rulebook.make()
    targets = {team: _target(request, rulebook, team) for team in request.teams}
    sources = sources_of(_checked(request.inputs["submitted"]))
    guesses = rulebook.check_guesses(targets, sources, request.attacker)
    if isinstance(guesses, Problems):
        return _refused(guesses)
    credits = {team: rulebook.credit(targets[team].answer, guess).as_json() for team, guess in guesses.items()}
    return _Outcome({"credits": credits})


def _nothing(request: Request) -> _Outcome:
    """The empty job, by which the cost of everything around a job is measured."""
    return _Outcome({"stream": list(request.stream)})


_KINDS: dict[str, Callable[[Request], _Outcome]] = {
    PREPARE: _prepare,
    RELEASE: _release,
    PUBLISH: _publish,
    ATTACK: _attack,
    GUESSES: _guesses,
    NOTHING: _nothing,
}


# -- reading inputs ------------------------------------------------------------------------------------------------------

_memory: OrderedDict[tuple[object, ...], Any] = OrderedDict()
_memory_lock = threading.Lock()  # a Dask worker may have several threads


def _remembered(tree: Tree, rulebook: Call, role: str, read: Callable[[Path], Any]) -> Any:
    """What ``read`` makes of a folder; the last few are kept, so that a table is not parsed again for every job."""
    mark = (tree.digest, rulebook, role)
    with _memory_lock:
        found = _memory.pop(mark, None)
    if found is None:
        found = _accepted(read(_checked(tree)))
    with _memory_lock:
        _memory[mark] = found
        while len(_memory) > _REMEMBERED:
            _memory.popitem(last=False)
    return found


def _read(request: Request, role: str, read: Callable[[Path], Any]) -> Any:
    return _remembered(request.inputs[role], request.rulebook, role, read)


def _target(request: Request, rulebook: AnyRulebook, team: str) -> Target[Any, Any]:
    """What was published of a team, made again from the preparation and the release; the same for every attacker."""

    def publish(release: Path) -> Target[Any, Any]:
        preparation = _read(request, "preparation", rulebook.read_preparation)
        return _published(request, rulebook, preparation, team, release)

    role = f"target {team} {request.seed} {request.inputs['preparation'].digest}"
    target: Target[Any, Any] = _remembered(request.inputs[f"release-{team}"], request.rulebook, role, publish)
    return target


def _published(
    request: Request, rulebook: AnyRulebook, preparation: Preparation[Any], team: str, release: Path
) -> Target[Any, Any]:
    submission = _accepted(rulebook.check_release(preparation.handouts[team], sources_of(release)))
    return rulebook.publish(preparation, {team: submission}, int(request.seed))[team]


def _checked(tree: Tree) -> Path:
    return verified(Path(tree.path), tree.digest)


def _accepted(found: Any) -> Any:
    if isinstance(found, Problems):
        raise KakurenboError(f"the rulebook does not read what it wrote: {found[0]}")
    return found


def _below(files: Files, prefix: str) -> Files:
    return {name.removeprefix(prefix): data for name, data in files.items() if name.startswith(prefix)}


def _bytes(source: Source) -> bytes:
    data = source.read()
    return b"" if isinstance(data, Problems) else data


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode(errors="replace")


def _sentence(error: Exception) -> str:
    """The error and the place it came from, for people who write methods."""
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    message = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}{': ' if message else ''}{message}{place}"


def utility_json(utility: Utility) -> dict[str, Any]:
    """Everything a report shows of a release: values, directions, thresholds, limits and parts."""
    return {
        **utility.as_json(),
        "directions": {name: score.higher_is_better for name, score in utility.scores.items()},
        "parts": {
            name: {part: json_number(value) for part, value in score.parts.items()}
            for name, score in utility.scores.items()
            if score.parts
        },
    }
