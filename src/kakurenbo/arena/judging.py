"""The judge's jobs: prepare a round, judge what a team handed in, credit guesses. Only these ever hold an answer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.arena.playing import GUESS_FILE
from kakurenbo.arena.requests import JudgeRequest, Outcome, Tree, accepted
from kakurenbo.arena.store import DONE, FAILED, OPEN, REFUSED, TEAMS, tree_digest
from kakurenbo.contest import (
    CONTEST_FILE,
    AnyRulebook,
    Credit,
    Files,
    PreparedRound,
    Target,
    read_facts,
)
from kakurenbo.contest.commitments import COMMITMENTS_FILE
from kakurenbo.contest.facts import ContestFacts
from kakurenbo.contest.schedule import NO_SCHEDULE
from kakurenbo.core import README_FILES, InputError, Source, read_folder, sources_of
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.remembering import Memory
from kakurenbo.rounds import Refusal, ReleaseRecord, credit_files, few_per_team
from kakurenbo.rounds.publishing import SUBMITTED, judge_team, read_records, release_folders
from kakurenbo.rounds.scoring import broken_guess

_ROUNDS, _ANSWERS, _FORMS = Memory(2), Memory(20), Memory(500)

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
    judged = judge_team(prepared, request.team, sources, with_disqualified=True)
    return _judged(
        [one.record for one in judged],
        {one.record.target: release_folders(prepared, one) for one in judged},
    )


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
        try:
            guess = rules.read_guess(form, source)
            earned = rules.score_guess(rules.answer_for(answer, attacker), guess)
            credits.append((target, attacker, earned))
        except InputError as error:
            refused.append(Refusal.of(attacker, name, error.problems))
        except Exception as error:  # what one attack wrote must not cost the others
            refused.append(Refusal.of(attacker, name, broken_guess(name, error)))
    return _credited(credits, refused)


def _credit_submitted(request: JudgeRequest) -> Outcome:
    attackers = request.inputs["attackers"]
    targets = {
        name: _form_of(request, name, tree, attackers) for name, tree in request.targets.items()
    }
    sources = request.submitted.sources() if request.submitted else []
    rules = (
        _rules(request, next(iter(request.targets.values())))
        if request.targets
        else request.rulebook.make()
    )

    def answer_of(target: str) -> Any:
        tree = request.answers[target]
        return _ANSWERS.remembered(
            (tree, request.rulebook), lambda: accepted(rules.read_answer, tree.checked())
        )

    found = credit_files(rules, targets, answer_of, sources, request.attacker)
    earned = ((target, request.attacker, credit) for target, _, credit in found.credits)
    return _credited(earned, found.refused, (notice.in_language("en") for notice in found.notices))


def _form_of(request: JudgeRequest, name: str, tree: Tree, attackers: Tree) -> Target[None, Any]:
    """A target with what a guess at it must look like, and nothing else: tables need not stay in memory."""

    def read() -> Target[None, Any]:
        target = accepted(
            _rules(request, tree).read_target, tree.checked(), attackers.checked(), attacker=""
        )
        return Target(name, None, target.form)

    return _FORMS.remembered((tree, attackers, request.rulebook), read)


def _rules(request: JudgeRequest, target: Tree) -> AnyRulebook:
    """The rules as the contest fixes them, which a published folder tells."""
    facts = read_facts(Path(target.path))
    if facts is None:
        raise KakurenboError("a published folder lacks its contest.json")
    rules: AnyRulebook = request.rulebook.make().under(facts)
    return rules


def _credited(
    credits: Iterable[tuple[str, str, Credit]],
    refused: Iterable[Refusal],
    notices: Iterable[str] = (),
) -> Outcome:
    value = {
        "credits": [
            (target, attacker, msgspec.to_builtins(earned)) for target, attacker, earned in credits
        ],
        "refused": [refusal.as_json("en") for refusal in few_per_team(list(refused))],
        "notices": list(notices),
    }
    return Outcome(value, state=DONE)


def _below(files: Files, prefix: str) -> dict[str, bytes]:
    return {
        name.removeprefix(prefix): data for name, data in files.items() if name.startswith(prefix)
    }
