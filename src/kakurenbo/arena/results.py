"""From the results of jobs to the results document: scores, causes of failures, and the manifest.

The document depends on the plan alone: it holds no times and no machine names, so two runs of a plan can be compared byte for
byte. Times are in a document of their own.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import msgspec

from kakurenbo import __version__
from kakurenbo.arena.calls import MethodCall, code_digest
from kakurenbo.arena.jobs import ANONYMIZE, CREDIT, JUDGE, PREPARE
from kakurenbo.arena.plan import Job, Plan, in_round
from kakurenbo.arena.store import DONE, FAILED, Result, ResultStore
from kakurenbo.contest import Credit, RoundResults, team_of
from kakurenbo.contest.engine import round_results
from kakurenbo.contest.records import Refusal, ReleaseRecord, limit_refusals
from kakurenbo.contest.results import MISSING, REFUSED
from kakurenbo.contest.submissions import named_tables
from kakurenbo.core.messages import Message, with_message
from kakurenbo.methods import registry
from kakurenbo.reports import Document, FailureEntry, PlayerEntry, make_document

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars", "numba")


def collect(plan: Plan, results: Mapping[Job, Result]) -> Document:
    """Return the results document of a run whose jobs have all ended."""
    played = {
        name: [_PlayedRepeat(plan, results, name, repeat) for repeat in range(plan.repeats)]
        for name in plan.rounds
    }
    first = {name: repeats[0] for name, repeats in played.items()}
    failures = list(_refused_files(plan))
    for repeats in played.values():
        for part in repeats:
            failures += part.failures()
    for job, result in sorted(results.items()):
        if result.state != DONE and job.kind != JUDGE:
            team = job.attacker or team_of(job.team)
            place = job.round, job.repeat
            failures.append(FailureEntry(job.text, team, result.state, result.reason, *place))
    return make_document(
        plan.rules,
        {name: [part.results for part in repeats] for name, repeats in played.items()},
        {name: [part.records for part in repeats] for name, repeats in played.items()},
        players=[_player(plan, team) for team in plan.by_team],
        reports={name: part.report for name, part in first.items()},
        claims={name: part.claims for name, part in first.items()},
        failures=failures,
        manifest=_manifest(plan, results, first[plan.rounds[0]].preparation),
    )


def timings(store: ResultStore, results: Mapping[Job, Result]) -> dict[str, Any]:
    """Return the seconds of each job, which differ from run to run."""
    jobs = []
    for job, result in sorted(results.items()):
        seconds = store.meta(result.key).get("seconds") if result.key else None
        if seconds is not None:
            names = {name: getattr(job, name) for name in ("round", "repeat", "team", "attacker")}
            jobs.append({"job": job.kind, **names, "seconds": round(float(seconds), 4)})
    return {"jobs": jobs}


class _PlayedRepeat:
    """One repeat of a round: the values of its jobs put together."""

    def __init__(self, plan: Plan, results: Mapping[Job, Result], name: str, repeat: int) -> None:
        self._plan, self._name, self._repeat = plan, name, repeat
        self._results = {
            job: results[job]
            for job in sorted(results)
            if (job.round, job.repeat) == (name, repeat)
        }
        (self.preparation,) = self._values(PREPARE)
        self.records = self._records()
        self.results = self._round_results()
        self.claims: dict[str, Mapping[str, float | str]] = {
            job.team: result.value["claims"]
            for job, result in self._results.items()
            if job.kind == ANONYMIZE and result.state == DONE
        }

    def _values(self, kind: str) -> list[Mapping[str, Any]]:
        return [result.value for job, result in self._results.items() if job.kind == kind]

    @property
    def report(self) -> Mapping[str, Any]:
        """What is known of the data."""
        messages = self.preparation.get("messages", {})
        return {
            name: with_message(value, messages) if isinstance(value, str) else value
            for name, value in self.preparation.get("report", {}).items()
        }

    def _records(self) -> list[ReleaseRecord]:
        """Return the record of every release, one for every team at least."""
        plan, records = self._plan, list[ReleaseRecord]()
        for job, result in self._results.items():
            if job.kind != JUDGE:
                continue
            if "records" in result.value:
                records += msgspec.convert(result.value["records"], list[ReleaseRecord])
            else:
                records += [
                    ReleaseRecord(target, job.team, FAILED, result.reason)
                    for target in plan.targets[job.team]
                ]
        teams = plan.facts.teams if plan.facts else ()
        missing = [team for team in teams if team not in plan.targets]
        return records + [
            ReleaseRecord(team, team, MISSING, Message("word.nothing_handed_in").stored())
            for team in missing
        ]

    def _round_results(self) -> RoundResults:
        """Return the input of the ranking."""
        plan = self._plan
        scores: dict[str, list[tuple[str, Credit]]] = {attacker: [] for attacker in plan.attackers}
        for value in self._values(CREDIT):
            for target, attacker, score in value.get("credits", ()):
                scores[attacker].append((target, msgspec.convert(score, Credit)))
        judged = self._values(JUDGE)
        return round_results(
            plan.rules,
            self.records,
            scores,
            targets=[target for value in judged for target in value.get("targets", ())],
            samples=plan.rules.sample_attacks,
            excluded=plan.unranked,
        )

    def failures(self) -> Iterator[FailureEntry]:
        """Yield releases that were refused, missing or failed, and guesses that were refused or are missing."""

        def entry(what: str, team: str, state: str, cause: str, file: str = "") -> FailureEntry:
            place = in_round(what, self._name, self._repeat)
            return FailureEntry(place, team, state, cause, self._name, self._repeat, file)

        for record in self.records:
            if record.state in (REFUSED, MISSING, FAILED):
                file = record.files[0] if len(record.files) == 1 else ""
                what = Message("word.release_of", {"team": record.target}).stored()
                cause = with_message(record.cause, record.messages)
                yield entry(what, record.team, record.state, cause, file)
        for value in self._values(CREDIT):
            for refusal in value.get("refused", ()):
                team, file, problem = (refusal[key] for key in ("team", "file", "problem"))
                what = Message("word.guesses_of", {"attacker": team}).stored()
                yield entry(what, team, REFUSED, with_message(problem, value["messages"]), file)
        for entrant in self._plan.entrants:
            for target in self.results.in_play if entrant.guesses is not None else ():
                is_missing = self.results.credit(target, entrant.team) is None
                if is_missing and team_of(target) != entrant.team:
                    about = {"attacker": entrant.team, "team": target}
                    what = Message("word.guess_at", about).stored()
                    cause = Message("word.no_valid_guess").stored()
                    yield entry(what, entrant.team, MISSING, cause)


def _player(plan: Plan, team: str) -> PlayerEntry:
    entrant = plan.by_team[team]
    is_published = plan.phase is not None and team in plan.targets
    published = Message("word.published_files").stored() if is_published else ""
    call = entrant.anonymizer if entrant.sweep else None
    return PlayerEntry(
        team=team,
        name=entrant.name,
        anonymizer=entrant.anonymizer_text or published,
        attack=entrant.attack_text,
        sweep=entrant.sweep,
        parameters=call.shown_parameters(entrant.swept) if call else {},
        excluded=team in plan.unranked,
    )


def _refused_files(plan: Plan) -> Iterator[FailureEntry]:
    """Yield what is refused in the folders of files before anything is judged."""
    refusals: list[Refusal] = []
    for entrant in plan.entrants:
        for path in (entrant.release, entrant.guesses):
            if path is None:
                continue
            refused = list(plan.submitted[path].refused)
            if path is entrant.release:
                sources = plan.submitted[path].sources
                refused += named_tables(plan.rules, entrant.team, sources)[1]
            refusals += [Refusal.of(entrant.team, file, problems) for file, problems in refused]
    for refusal in limit_refusals(refusals):
        cause = refusal.problems[0].stored()
        what = Message("word.files_of", {"team": refusal.team}).stored()
        yield FailureEntry(what, refusal.team, REFUSED, cause, plan.rounds[0], 0, refusal.file)


def _manifest(
    plan: Plan, results: Mapping[Job, Result], preparation: Mapping[str, Any]
) -> dict[str, Any]:
    """Return all that is needed to play the same tournament again and to see that it is the same."""
    calls = [plan.rulebook]
    for entrant in plan.entrants:
        calls += [call for call in (entrant.anonymizer, entrant.attack) if call]
    libraries = {name: version(name) for name in _LIBRARIES}
    done = {job: result for job, result in sorted(results.items()) if result.state == DONE}
    return {
        "plan": plan.as_json(),
        "contest": {"settings": preparation.get("settings", {})},
        "versions": {"kakurenbo": __version__, "python": platform.python_version(), **libraries},
        "code": {f"{call.group}: {call.name}": _origin(call) for call in calls},
        "seeds": {str(repeat): str(plan.seed_of(repeat)) for repeat in range(plan.repeats)},
        "commitments": {
            f"{job.round}, repeat {job.repeat + 1}": result.value["commitments"]
            for job, result in done.items()
            if job.kind == PREPARE
        },
        "jobs": {
            str(job): {"key": result.key}
            | {tree: digests.whole for tree, digests in result.trees.items()}
            for job, result in done.items()
        },
    }


def _origin(call: MethodCall) -> dict[str, str]:
    module = registry.find(call.group, call.name).__module__
    package = registry.package(call.group, call.name)
    return {"module": module, "package": package, "sha256": code_digest(module)}
