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
from kakurenbo.methods import registry
from kakurenbo.reports import Document, FailureEntry, PlayerEntry, make_document

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars", "numba")


def collect(plan: Plan, results: Mapping[Job, Result]) -> Document:
    """Return the results document of a run whose jobs have all ended."""
    played = {
        name: [PlayedRepeat(plan, results, name, repeat) for repeat in range(plan.repeats)]
        for name in plan.rounds
    }
    first = {name: repeats[0] for name, repeats in played.items()}
    records = {name: [part.records for part in repeats] for name, repeats in played.items()}
    rounds = {name: [part.results for part in repeats] for name, repeats in played.items()}
    failures = list(_refused_files(plan))
    for repeats in played.values():
        for part in repeats:
            failures += part.failures()
    failures += [
        FailureEntry(
            str(job),
            job.attacker or team_of(job.team),
            result.state,
            result.cause,
            job.round,
            job.repeat,
        )
        for job, result in sorted(results.items())
        if result.state != DONE and job.kind != JUDGE
    ]
    return make_document(
        plan.rules,
        rounds,
        records,
        players=_players(plan),
        reports={name: part.preparation.get("report", {}) for name, part in first.items()},
        claims={name: part.claims() for name, part in first.items()},
        failures=failures,
        manifest=_manifest(plan, results, first[plan.rounds[0]]),
    )


def timings(store: ResultStore, results: Mapping[Job, Result]) -> dict[str, Any]:
    """Return the seconds of each job, which differ from run to run."""
    jobs = []
    for job, result in sorted(results.items()):
        seconds = store.meta(result.key).get("seconds") if result.key else None
        if seconds is not None:
            jobs.append(
                {
                    "job": job.kind,
                    "round": job.round,
                    "repeat": job.repeat,
                    "team": job.team,
                    "attacker": job.attacker,
                    "seconds": round(float(seconds), 4),
                }
            )
    return {"jobs": jobs}


class PlayedRepeat:
    """One repeat of a round, as its jobs have left it."""

    def __init__(self, plan: Plan, results: Mapping[Job, Result], name: str, repeat: int) -> None:
        self._plan, self._name, self._repeat = plan, name, repeat
        self._jobs: dict[str, list[tuple[Job, Result]]] = {}
        for job in sorted(results):
            if (job.round, job.repeat) == (name, repeat):
                self._jobs.setdefault(job.kind, []).append((job, results[job]))
        self.preparation = self._jobs[PREPARE][0][1].value
        self.records = self._records()
        self.results = self._results()

    def _records(self) -> list[ReleaseRecord]:
        """Return what became of every release, one for every team at least."""
        plan, records = self._plan, list[ReleaseRecord]()
        for job, result in self._jobs.get(JUDGE, []):
            if "records" in result.value:
                records += msgspec.convert(result.value["records"], list[ReleaseRecord])
            else:
                records += [
                    ReleaseRecord(target, job.team, FAILED, result.cause)
                    for target in plan.targets[job.team]
                ]
        teams = plan.facts.teams if plan.facts else ()
        records += [
            ReleaseRecord(team, team, MISSING, "nothing was handed in")
            for team in teams
            if team not in plan.targets
        ]
        return records

    def _results(self) -> RoundResults:
        """Return what the rulebook ranks."""
        plan = self._plan
        scores: dict[str, list[tuple[str, Credit]]] = {attacker: [] for attacker in plan.attackers}
        for _, result in self._jobs.get(CREDIT, []):
            for target, attacker, score in result.value.get("credits", ()):
                scores[attacker].append((target, msgspec.convert(score, Credit)))
        judged = [result.value.get("targets", ()) for _, result in self._jobs.get(JUDGE, [])]
        return round_results(
            plan.rules,
            self.records,
            scores,
            targets=[target for targets in judged for target in targets],
            samples=plan.rules.sample_attacks,
            excluded=plan.unranked,
        )

    def claims(self) -> dict[str, Mapping[str, float | str]]:
        """Return what methods claim of their releases, by team."""
        return {
            job.team: result.value["claims"]
            for job, result in self._jobs.get(ANONYMIZE, [])
            if result.state == DONE
        }

    def failures(self) -> Iterator[FailureEntry]:
        """Releases that were refused, missing or failed, guesses that were refused or are missing."""
        where = in_round(self._name, self._repeat)

        def entry(what: str, team: str, state: str, cause: str, file: str = "") -> FailureEntry:
            place = f"{what} {where}"
            return FailureEntry(place, team, state, cause, self._name, self._repeat, file)

        for record in self.records:
            if record.state in (REFUSED, MISSING, FAILED):
                file = record.files[0] if len(record.files) == 1 else ""
                what = f"release of {record.target}"
                yield entry(what, record.team, record.state, record.cause, file)
        for _, result in self._jobs.get(CREDIT, []):
            for refusal in result.value.get("refused", ()):
                team, file, problem = (refusal[key] for key in ("team", "file", "problem"))
                yield entry(f"guesses of {team}", team, REFUSED, problem, file)
        for entrant in self._plan.entrants:
            for target in self.results.in_play if entrant.guesses is not None else ():
                is_missing = self.results.credit(target, entrant.team) is None
                if is_missing and team_of(target) != entrant.team:
                    what = f"guess of {entrant.team} at {target}"
                    yield entry(what, entrant.team, MISSING, "there is no valid guess")


def _players(plan: Plan) -> list[PlayerEntry]:
    players = []
    for entrant in plan.entrants:
        is_published = plan.phase is not None and entrant.team in plan.targets
        parameters: Mapping[str, str] = {}
        if entrant.sweep and entrant.anonymizer:
            parameters = entrant.anonymizer.shown_parameters(entrant.swept)
        players.append(
            PlayerEntry(
                team=entrant.team,
                name=entrant.name,
                anonymizer=entrant.anonymizer_text or ("published files" if is_published else ""),
                attack=entrant.attack_text,
                sweep=entrant.sweep,
                parameters=parameters,
                excluded=entrant.team in plan.unranked,
            )
        )
    return players


def _refused_files(plan: Plan) -> Iterator[FailureEntry]:
    """Return what is refused in the folders of files before anything is judged."""
    refusals: list[Refusal] = []
    for entrant in plan.entrants:
        for path in (entrant.release, entrant.guesses):
            refused = list(plan.submitted[path].refused) if path is not None else []
            if path is not None and path is entrant.release:
                sources = plan.submitted[path].sources
                refused += named_tables(plan.rules, entrant.team, sources)[1]
            refusals += [Refusal.of(entrant.team, file, problems) for file, problems in refused]
    for refusal in limit_refusals(refusals):
        cause = refusal.problems[0].in_language("en")
        what = f"files of {refusal.team}"
        yield FailureEntry(what, refusal.team, REFUSED, cause, plan.rounds[0], 0, refusal.file)


def _manifest(plan: Plan, results: Mapping[Job, Result], first: PlayedRepeat) -> dict[str, Any]:
    """Return all that is needed to play the same tournament again and to see that it is the same."""
    methods = [
        call for entrant in plan.entrants for call in (entrant.anonymizer, entrant.attack) if call
    ]
    done = {job: result for job, result in sorted(results.items()) if result.state == DONE}
    return {
        "plan": plan.as_json(),
        "contest": {"settings": first.preparation.get("settings", {})},
        "versions": {"kakurenbo": __version__, "python": platform.python_version()}
        | {name: version(name) for name in _LIBRARIES},
        "code": {f"{call.group}: {call.name}": _origin(call) for call in [plan.rulebook, *methods]},
        "seeds": {str(repeat): str(plan.seed_of(repeat)) for repeat in range(plan.repeats)},
        "commitments": {
            f"{job.round}, repeat {job.repeat + 1}": result.value["commitments"]
            for job, result in done.items()
            if job.kind == PREPARE
        },
        "jobs": {
            str(job): {
                "key": result.key,
                **{place: digests.whole for place, digests in result.trees.items()},
            }
            for job, result in done.items()
        },
    }


def _origin(call: MethodCall) -> dict[str, str]:
    module = registry.find(call.group, call.name).__module__
    return {
        "module": module,
        "package": registry.package(call.group, call.name),
        "sha256": code_digest(module),
    }
