"""From the results of jobs to the results document: who earned what, causes of failures, and the manifest.

The document is a function of the plan alone: it holds no times and no machine names, so two runs of a plan can be compared
byte for byte. Times are in a document of their own.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import msgspec

from kakurenbo import __version__
from kakurenbo.arena.calls import MethodCall, code_digest
from kakurenbo.arena.plan import Job, Plan, in_round
from kakurenbo.arena.requests import ANONYMIZE, CREDIT, JUDGE, PREPARE
from kakurenbo.arena.store import DONE, FAILED, Result, Stores
from kakurenbo.contest import Credit, RoundResults, team_of
from kakurenbo.contest.records import Refusal, ReleaseRecord, limit_refusals, round_results
from kakurenbo.contest.results import MISSING, REFUSED
from kakurenbo.contest.submissions import named_tables
from kakurenbo.methods import registry
from kakurenbo.reports import Document, FailureEntry, PlayerEntry, make_document

Found = Mapping[Job, Result]
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars", "numba")


def collect(plan: Plan, found: Found) -> Document:
    """The results document of a run whose jobs have all ended."""
    records = {
        name: [_records(plan, found, name, repeat) for repeat in range(plan.repeats)]
        for name in plan.rounds
    }
    rounds = {
        name: [
            _results(plan, found, name, repeat, records[name][repeat])
            for repeat in range(plan.repeats)
        ]
        for name in plan.rounds
    }
    return make_document(
        plan.rules,
        rounds,
        records,
        players=_players(plan),
        reports={name: _prepared(found, name, 0).value.get("report", {}) for name in plan.rounds},
        claims={name: _claims(found, name) for name in plan.rounds},
        failures=_failures(plan, found, rounds, records),
        manifest=_manifest(plan, found),
    )


def timings(stores: Stores, found: Found) -> dict[str, Any]:
    """Seconds per job, which differ from run to run."""
    jobs = []
    for job, result in sorted(found.items()):
        seconds = stores.at(job.root).meta(result.key).get("seconds") if result.key else None
        if seconds is not None:
            place = {
                "job": job.kind,
                "round": job.round,
                "repeat": job.repeat,
                "team": job.team,
                "attacker": job.attacker,
            }
            jobs.append({**place, "seconds": round(float(seconds), 4)})
    return {"jobs": jobs}


# -- one round ---------------------------------------------------------------------------------------------------------


def _records(plan: Plan, found: Found, round_: str, repeat: int) -> list[ReleaseRecord]:
    """What became of every release, one for every team at least."""
    records: list[ReleaseRecord] = []
    for job, result in _of(found, JUDGE, round_, repeat):
        if "records" in result.value:
            records += msgspec.convert(result.value["records"], list[ReleaseRecord])
        else:
            records += [
                ReleaseRecord(target, job.team, FAILED, result.cause)
                for target in plan.targets[job.team]
            ]
    absent = [team for team in (plan.facts.teams if plan.facts else ()) if team not in plan.targets]
    return records + [
        ReleaseRecord(team, team, MISSING, "nothing was handed in") for team in absent
    ]


def _results(
    plan: Plan, found: Found, round_: str, repeat: int, records: Sequence[ReleaseRecord]
) -> RoundResults:
    """What the rulebook ranks."""
    earned: dict[str, list[tuple[str, Credit]]] = {attacker: [] for attacker in plan.attackers}
    for _, result in _of(found, CREDIT, round_, repeat):
        for target, attacker, credit in result.value.get("credits", ()):
            earned[attacker].append((target, msgspec.convert(credit, Credit)))
    published = [
        target
        for _, result in _of(found, JUDGE, round_, repeat)
        for target in result.value.get("targets", ())
    ]
    return round_results(
        plan.rules,
        records,
        earned,
        targets=published,
        samples=plan.rules.sample_attacks,
        excluded=plan.unranked,
    )


def _claims(found: Found, round_: str) -> dict[str, Mapping[str, float | str]]:
    return {
        job.team: result.value["claims"]
        for job, result in _of(found, ANONYMIZE, round_, 0)
        if result.state == DONE
    }


def _prepared(found: Found, round_: str, repeat: int) -> Result:
    ((_, result),) = _of(found, PREPARE, round_, repeat)
    return result


def _of(found: Found, kind: str, round_: str, repeat: int) -> list[tuple[Job, Result]]:
    return [
        (job, found[job])
        for job in sorted(found)
        if (job.kind, job.round, job.repeat) == (kind, round_, repeat)
    ]


def _players(plan: Plan) -> list[PlayerEntry]:
    return [
        PlayerEntry(
            team=entrant.team,
            name=entrant.name,
            anonymizer=entrant.anonymizer_text
            or ("published files" if plan.phase and entrant.team in plan.targets else ""),
            attack=entrant.attack_text,
            sweep=entrant.sweep,
            parameters=entrant.anonymizer.shown_parameters(entrant.swept)
            if entrant.sweep and entrant.anonymizer
            else {},
            excluded=entrant.team in plan.unranked,
        )
        for entrant in plan.entrants
    ]


# -- failures and manifest -----------------------------------------------------------------------------------------------


def _failures(
    plan: Plan,
    found: Found,
    rounds: Mapping[str, Sequence[RoundResults]],
    records: Mapping[str, Sequence[Sequence[ReleaseRecord]]],
) -> list[FailureEntry]:
    """Releases that were refused, missing or broke; jobs that broke; files that were refused; guesses that are missing."""
    failures = [
        FailureEntry(
            f"files of {one.team}",
            one.team,
            REFUSED,
            one.problems[0].in_language("en"),
            plan.rounds[0],
            0,
            one.file,
        )
        for one in limit_refusals(list(_strangers(plan)))
    ]
    for name in plan.rounds:
        for repeat in range(plan.repeats):
            failures += _of_releases(records[name][repeat], name, repeat)
            failures += _of_guesses(plan, found, rounds[name][repeat], name, repeat)
    failures += [
        FailureEntry(
            str(job),
            job.attacker or team_of(job.team),
            result.state,
            result.cause,
            job.round,
            job.repeat,
        )
        for job, result in sorted(found.items())
        if result.state != DONE and job.kind != JUDGE
    ]
    return failures


def _strangers(plan: Plan) -> Iterator[Refusal]:
    """Everything in the folders of files that is refused before it is judged."""
    for entrant in plan.entrants:
        for folder in (entrant.release, entrant.guesses):
            for file, problems in plan.handed_in[folder][1] if folder is not None else ():
                yield Refusal.of(entrant.team, file, problems)
        if entrant.release is not None:
            given, _ = plan.handed_in[entrant.release]
            for file, problems in named_tables(plan.rules, entrant.team, given.names)[1]:
                yield Refusal.of(entrant.team, file, problems)


def _of_releases(
    records: Sequence[ReleaseRecord], round_: str, repeat: int
) -> Iterator[FailureEntry]:
    for record in records:
        if record.state in (REFUSED, MISSING, FAILED):
            file = record.files[0] if len(record.files) == 1 else ""
            what = f"release of {record.target} {in_round(round_, repeat)}"
            yield FailureEntry(what, record.team, record.state, record.cause, round_, repeat, file)


def _of_guesses(
    plan: Plan, found: Found, results: RoundResults, round_: str, repeat: int
) -> Iterator[FailureEntry]:
    for _, result in _of(found, CREDIT, round_, repeat):
        for refusal in result.value.get("refused", ()):
            team, file, problem = (refusal[key] for key in ("team", "file", "problem"))
            what = f"guesses of {team} {in_round(round_, repeat)}"
            yield FailureEntry(what, team, REFUSED, problem, round_, repeat, file)
    for entrant in plan.entrants:
        for target in results.in_play if entrant.guesses is not None else ():
            if team_of(target) != entrant.team and results.credit(target, entrant.team) is None:
                what = f"guess of {entrant.team} at {target} {in_round(round_, repeat)}"
                yield FailureEntry(
                    what, entrant.team, MISSING, "there is no valid guess", round_, repeat
                )


def _manifest(plan: Plan, found: Found) -> dict[str, Any]:
    """All that is needed to play the same tournament again and to see that it is the same."""
    calls = [
        plan.rulebook,
        *(
            call
            for entrant in plan.entrants
            for call in (entrant.anonymizer, entrant.attack)
            if call
        ),
    ]
    return {
        "plan": plan.as_json(),
        "contest": {"settings": _prepared(found, plan.rounds[0], 0).value.get("settings", {})},
        "versions": {"kakurenbo": __version__, "python": platform.python_version()}
        | {name: version(name) for name in _LIBRARIES},
        "code": {f"{call.group}: {call.name}": _origin(call) for call in calls},
        "seeds": {str(repeat): str(plan.seed_of(repeat)) for repeat in range(plan.repeats)},
        "commitments": {
            f"{job.round}, repeat {job.repeat + 1}": result.value["commitments"]
            for job, result in sorted(found.items())
            if job.kind == PREPARE and result.state == DONE
        },
        "jobs": {
            str(job): {"key": result.key, **result.trees, **result.handed_out}
            for job, result in sorted(found.items())
            if result.state == DONE
        },
    }


def _origin(call: MethodCall) -> dict[str, str]:
    module = registry.find(call.group, call.name).__module__
    return {
        "module": module,
        "package": registry.package(call.group, call.name),
        "sha256": code_digest(module),
    }
