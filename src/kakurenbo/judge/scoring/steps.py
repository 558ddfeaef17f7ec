"""What runs in the scoring child: steps from folders to folders, for any rulebook. No database, and no more than a step needs.

A folder holds the request, and below it what the step may see: ``preparation`` (the organizer's folder), ``phase`` (what was
published, and for credits the answers), ``submitted`` (files that a team handed in). A step leaves files in ``out``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import msgspec

from kakurenbo.arena.teams_file import Entrant, default_teams
from kakurenbo.contest import AnyRulebook, PreparedRound, engine
from kakurenbo.contest.commitments import COMMITMENTS_FILE
from kakurenbo.contest.engine import (
    judge_guess,
    sample_attack,
)
from kakurenbo.contest.preparation import PublishedTargets
from kakurenbo.contest.records import ReleaseRecord, describe_error, isolate
from kakurenbo.contest.rounds import judge_team
from kakurenbo.contest.submissions import list_submission
from kakurenbo.core import InputError, Source, read_file, write_folder
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import messages_of
from kakurenbo.core.rng import fresh_seed, stream
from kakurenbo.judge.scoring.child import HANDOUT, OUT, REQUEST, RESULT, SUBMITTED
from kakurenbo.proofs.judging import (
    UNSTORABLE,
    Request,
    fingerprint,
    guesses_result,
    judged_release,
    release_result,
    rules_for,
)
from kakurenbo.proofs.ranking import standings

_LONGEST_ERROR = 1000
T = TypeVar("T")
P = ParamSpec("P")


def run(step: str, folder: Path) -> None:
    """Run a step on its folder and leave what it found; where it fails, why."""
    request = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
    try:
        result: dict[str, Any] = {
            **STEPS[step](folder, request),
            "fingerprint": fingerprint(request),
        }
    except Exception as error:
        told = _told(error)
        result = {"error": told, "messages": messages_of(told)}
    whole = folder / f"{RESULT}.part"
    whole.write_bytes(msgspec.json.encode(result, enc_hook=str).replace(*UNSTORABLE))
    whole.rename(folder / RESULT)


def prepare(folder: Path, request: Request) -> dict[str, Any]:
    """Draw the data of a round from a fresh seed: ``public``, ``teams/NN``, ``attackers``, ``secret``."""
    made = engine.prepare(rules_for(request), fresh_seed(), request["teams"], request["unranked"])
    write_folder(folder / OUT, made.files())
    return {
        "facts": msgspec.to_builtins(made.facts),
        "commitments": read_file(folder / OUT / "public" / COMMITMENTS_FILE).decode(),
        "report": dict(made.report),
    }


def release(folder: Path, request: Request) -> dict[str, Any]:
    """Check and measure one release, and see whether it can be published; nothing is."""
    prepared = _prepared(folder, request)
    return release_result(
        judged_release(prepared, folder / SUBMITTED, request["team"], request["number"])
    )


def seal(folder: Path, request: Request) -> dict[str, Any]:
    """Publish what counts of a team, by its stored records: ``targets/NN`` for attackers, ``answers/NN`` for the judge."""
    prepared, team = _prepared(folder, request), request["team"]
    records = msgspec.convert(request["records"], dict[str, ReleaseRecord])
    judged = [
        engine.compose_target(prepared, record, list_submission(folder / SUBMITTED / number)[0])
        for number, record in records.items()
    ]
    judged = judged or judge_team(prepared, team, [])
    files = {name: data for one in judged for name, data in one.files.items()}
    _write_out(folder, files)
    return {"records": [msgspec.to_builtins(one.record) for one in judged]}


def guesses(folder: Path, request: Request) -> dict[str, Any]:
    """Check and credit the guesses that a team handed in."""
    targets = _targets(folder, request)
    return guesses_result(targets, folder / SUBMITTED, request["attacker"])


def sample(folder: Path, request: Request) -> dict[str, Any]:
    """The guesses of the organizers' own attacks at one target, from what was published alone: ``0``, ``1``, ... in order."""
    name = request["target"]
    targets = _targets(folder, request, name)
    made, failed = {}, {}
    for number, attack in enumerate(targets.rules.sample_attacks):
        with isolate() as failure:
            made[str(number)] = sample_attack(targets, name, attack)
        if failure.error:
            failed[attack] = failure.error
    _write_out(folder, made)
    return {"attacks": list(targets.rules.sample_attacks), "failed": failed}


def credit(folder: Path, request: Request) -> dict[str, Any]:
    """What the organizers' attacks earn on one target."""
    name = request["target"]
    targets = _targets(folder, request, name)
    answer, earned, failed = targets.answer(name), {}, {}
    for file in sorted((folder / SUBMITTED).iterdir()):
        attack = request["attacks"][int(file.name)]
        with isolate() as failure:
            score = judge_guess(targets.rules, answer, Source.of(file))
            earned[attack] = msgspec.to_builtins(score)
        if failure.error:
            failed[attack] = failure.error
    return {"earned": earned, "failed": failed}


def anonymize(folder: Path, request: Request) -> dict[str, Any]:
    """A bot's release, from its own handout alone: the files that a team would hand in."""
    handout = folder / HANDOUT
    rules = rules_for(request).in_folder(handout)
    method = _bot(rules, request).anonymizer
    if method is not None:
        read = _accepted(rules.read_handout, handout)
        rng = stream(fresh_seed(), "anonymize")
        files = engine.anonymize(rules, read, method.make(), rng)[1]
        _write_out(folder, under_asked_names(rules, files, request["team"]))
    return {}


def attack(folder: Path, request: Request) -> dict[str, Any]:
    """A bot's guesses at all targets but its own; none where its method fails.

    From what was published alone, and from its own handout where that is there.
    """
    handout = folder / HANDOUT
    targets = PublishedTargets.in_phase(
        rules_for(request),
        folder / "phase",
        request["targets"],
        handout,
        attacker=None,
    )
    call = _bot(targets.rules, request).attack
    if call is None:
        return {"failed": {}}
    made, failed = {}, {}
    for name, target in targets.items():
        try:
            made[name] = call.make()(target.knowledge, stream(fresh_seed(), "attack"))
        except Exception as error:
            failed[name] = _told(error)
    _write_out(folder, targets.rules.guess_files(made, request["team"]) if made else {})
    return {"failed": failed}


def rank(_: Path, request: Request) -> dict[str, Any]:
    """Results, standings and the results document of rounds, from what the judge knows of them."""
    return standings(rules_for(request), request)


STEPS: Mapping[str, Callable[[Path, Request], dict[str, Any]]] = {
    step.__name__: step
    for step in (prepare, release, seal, guesses, sample, credit, anonymize, attack, rank)
}


def _targets(folder: Path, request: Request, name: str = "") -> PublishedTargets:
    names = [name] if name else request["targets"]
    return PublishedTargets.in_phase(rules_for(request), folder / "phase", names)


def _prepared(folder: Path, request: Request) -> PreparedRound[Any]:
    return PreparedRound(rules_for(request), folder / "preparation")


def _bot(rules: AnyRulebook, request: Request) -> Entrant:
    """The player of the rulebook's own field that a team of a rehearsal stands for: the one of its name, or at its place.

    One that only anonymizes there attacks here like another: a contest in which half of the teams do not is no rehearsal.
    """
    field, place = default_teams(rules).entrants, request["place"]
    bot = next(
        (entrant for entrant in field if entrant.name == request["name"]), field[place % len(field)]
    )
    attacks = [entrant.attack for entrant in field if entrant.attack is not None]
    return (
        bot
        if bot.attack is not None or not attacks
        else replace(bot, attack=attacks[place % len(attacks)])
    )


def _write_out(folder: Path, files: Mapping[str, bytes]) -> None:
    if files:
        write_folder(folder / OUT, files)


def _told(error: Exception) -> str:
    return describe_error(error, _LONGEST_ERROR)


def _accepted(read: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Read what this software wrote: where it is refused, no team is to blame."""
    try:
        return read(*args, **kwargs)
    except InputError as error:
        raise KakurenboError(error.message) from error


def under_asked_names(
    rules: AnyRulebook, files: Mapping[str, bytes], team: str
) -> Mapping[str, bytes]:
    """A single file by the name that the contest asks for; several have their own."""
    pattern = rules.release_pattern
    if len(files) == 1 and all(pattern.parse(name) is None for name in files):
        return {
            pattern.name(round=rules.round_name, team=team, number="1"): data
            for data in files.values()
        }
    return files
