"""The judge's jobs: prepare a round, judge what a team handed in, credit guesses. Only these ever hold an answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.arena.playing import GUESS_FILE
from kakurenbo.arena.requests import JudgeRequest, Outcome, accepted
from kakurenbo.arena.store import DONE, FAILED, OPEN, REFUSED, TEAMS, tree_digest
from kakurenbo.contest import (
    CONTEST_FILE,
    AnyRulebook,
    ContestFolder,
    Credit,
    Files,
    PreparedRound,
)
from kakurenbo.contest.commitments import COMMITMENTS_FILE
from kakurenbo.contest.engine import (
    SUBMITTED,
    PublishedTargets,
    isolate,
    judge_guess,
    judge_guesses,
)
from kakurenbo.contest.facts import ContestFacts
from kakurenbo.contest.records import Refusal, ReleaseRecord, limit_refusals
from kakurenbo.contest.rounds import judge_team, read_records
from kakurenbo.contest.schedule import NO_SCHEDULE
from kakurenbo.contest.submissions import SubmittedFiles
from kakurenbo.core import README_FILES, Source, read_folder, sources_of
from kakurenbo.core.remembering import Memory

_ROUNDS, _TARGETS = Memory(2), Memory(2)

# -- prepare -------------------------------------------------------------------------------------------------------------


def prepare(request: JudgeRequest) -> Outcome:
    """The organizer's data: made from the seed, or a folder that ``prepare`` or ``publish`` wrote."""
    if "phase" in request.inputs:
        return _prepared(read_folder(request.inputs["phase"].checked()), keep=False)
    if "preparation" in request.inputs:
        return _prepared(read_folder(request.inputs["preparation"].checked()))
    made = request.rulebook.make().prepare(
        int(request.seed), list(request.teams), list(request.unranked)
    )
    return _prepared(made.files(), made.report)


def _prepared(
    files: Files, report: Mapping[str, Any] | None = None, *, keep: bool = True
) -> Outcome:
    facts = msgspec.json.decode(files[f"public/{CONTEST_FILE}"], type=ContestFacts)
    bound = json.loads(files.get(f"public/{COMMITMENTS_FILE}", b"{}"))
    handouts = {team: _below(files, f"teams/{team}/") for team in facts.teams}
    handouts = {team: content for team, content in handouts.items() if content}
    attackers = _below(files, "attackers/")
    value = {
        "report": dict(report or {"data": facts.data.get("source", "")}),
        "commitments": bound.get("commitments", {}),
        "settings": facts.settings,
        "handouts": {team: essence(content) for team, content in handouts.items()},
        "attackers": essence(attackers),
    }
    handed_out = {f"{OPEN}/attackers": attackers}
    handed_out |= {f"{TEAMS}/{team}/handout": content for team, content in handouts.items()}
    return Outcome(value, {"preparation": files} if keep else {}, handed_out)


def essence(files: Files) -> str:
    """Digest of a folder that players are given, without what ``contest.json`` and READMEs say of other teams and dates."""
    facts = msgspec.json.decode(files[CONTEST_FILE], type=ContestFacts)
    own = replace(
        facts, teams=(), unranked=(), judges=(), schedule=NO_SCHEDULE, commitments="", version=""
    )
    data = {name: content for name, content in files.items() if name not in README_FILES}
    return tree_digest({**data, CONTEST_FILE: own.as_bytes()})


# -- judge ---------------------------------------------------------------------------------------------------------------


def judge(request: JudgeRequest) -> Outcome:
    """Check, measure and publish what a team handed in, once each; or take what was published from a phase folder."""
    if "phase" in request.inputs:
        path = request.inputs["phase"].checked()
        records = [record for record in read_records(path) if record.team == request.team]
        return _judged(
            records, {record.target: _folders_in(path, record.target) for record in records}
        )
    tree = request.inputs["preparation"]
    prepared: PreparedRound[Any] = _ROUNDS.remembered(
        (tree, request.rulebook), lambda: PreparedRound(request.rulebook.make(), tree.checked())
    )
    sources = (
        request.submitted.sources()
        if request.submitted
        else sources_of(request.inputs["release"].checked())
    )
    judged = judge_team(
        prepared, request.team, SubmittedFiles(list(sources)), with_disqualified=True
    )
    return _judged([one.record for one in judged], {one.record.target: one.files for one in judged})


def _folders_in(phase: Path, target: str) -> Files:
    """``targets/NN`` and ``answers/NN`` of a phase folder; nothing where the release was not published."""
    folders = [
        f"{kind}/{target}"
        for kind in ("targets", "answers")
        if (phase / "targets" / target).is_dir()
    ]
    return {
        f"{folder}/{name}": data
        for folder in folders
        for name, data in read_folder(phase / folder).items()
    }


def _judged(records: list[ReleaseRecord], folders: Mapping[str, Files]) -> Outcome:
    targets = {target: _below(files, f"targets/{target}/") for target, files in folders.items()}
    targets = {target: files for target, files in targets.items() if files}
    answers = {
        f"answer-{target}": {
            name: data
            for name, data in _below(folders[target], f"answers/{target}/").items()
            if not name.startswith(f"{SUBMITTED}/")
        }
        for target in targets
    }
    handed_out: dict[str, Files] = {}
    for target, files in targets.items():
        for name, data in files.items():
            part, _, file = name.rpartition("/")
            place = part_place(target, part) if part else target_place(target)
            handed_out[place] = {**handed_out.get(place, {}), file: data}
    value = {
        "records": msgspec.to_builtins(records),
        "targets": {target: essence(handed_out[target_place(target)]) for target in targets},
    }
    if targets:
        return Outcome(value, answers, handed_out)
    broke = [record for record in records if record.state == FAILED]
    return Outcome(
        value,
        answers,
        handed_out,
        FAILED if broke else REFUSED,
        "; ".join(record.cause for record in records),
    )


def target_place(target: str) -> str:
    """Where attackers find what is everybody's of a target."""
    return f"{OPEN}/target-{target}"


def part_place(target: str, part: str) -> str:
    """Where an attacker finds the part of a target that was dealt to it alone."""
    return f"{target_place(target)}-{part}"


# -- credit --------------------------------------------------------------------------------------------------------------


def credit(request: JudgeRequest) -> Outcome:
    """What guesses earn: those of all attacks on one target, or those that one attacker handed in."""
    return _credit_submitted(request) if request.attacker else _credit_attacks(request)


def _credit_attacks(request: JudgeRequest) -> Outcome:
    target = request.team
    folder = request.answers[target].checked()
    rules: AnyRulebook = request.rulebook.make().in_folder(folder)
    answer = accepted(rules.read_answer, folder)
    form = rules.answer_form(answer)
    credits: list[tuple[str, str, Credit]] = []
    refused: list[Refusal] = []
    for attacker, tree in request.guesses.items():
        name = f"guess of {attacker} at {target}"
        source = Source(name, tree.checked() / GUESS_FILE)
        with isolate() as failure:
            earned = judge_guess(rules, answer, source, attacker, form)
            credits.append((target, attacker, earned))
        if failure.error:
            refused.append(Refusal.of(attacker, name, failure.as_problems("guess.broke", name)))
    return _credited(credits, refused)


def _credit_submitted(request: JudgeRequest) -> Outcome:
    trees = (*request.targets.items(), *request.answers.items(), request.inputs["attackers"])
    targets = _TARGETS.remembered((trees, request.rulebook), lambda: _targets(request))
    sources = request.submitted.sources() if request.submitted else []
    outcome = judge_guesses(targets, request.attacker, sources)
    earned = ((target, request.attacker, score) for target, score in outcome.pairs)
    notices = (notice.in_language("en") for notice in outcome.notices)
    return _credited(earned, outcome.refused, notices)


def _targets(request: JudgeRequest) -> PublishedTargets:
    """Targets with what guesses at them must look like, and nothing else: tables need not stay in memory."""
    return PublishedTargets(
        request.rulebook.make(),
        {name: ContestFolder(tree.checked()) for name, tree in request.targets.items()},
        [ContestFolder(request.inputs["attackers"].checked())],
        {name: ContestFolder(tree.checked()) for name, tree in request.answers.items()},
        with_knowledge=False,
    )


def _credited(
    credits: Iterable[tuple[str, str, Credit]],
    refused: Iterable[Refusal],
    notices: Iterable[str] = (),
) -> Outcome:
    value = {
        "credits": [
            (target, attacker, msgspec.to_builtins(earned)) for target, attacker, earned in credits
        ],
        "refused": [refusal.as_json("en") for refusal in limit_refusals(list(refused))],
        "notices": list(notices),
    }
    return Outcome(value, state=DONE)


def _below(files: Files, prefix: str) -> dict[str, bytes]:
    return {
        name.removeprefix(prefix): data for name, data in files.items() if name.startswith(prefix)
    }
