"""From the results of jobs to one document: standings, figures with intervals, causes of failures, and the manifest.

The document is a function of the plan alone: it holds no times and no machine names, so two runs of a plan can be compared
byte for byte. Times are in a document of their own.
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from kakurenbo import __version__, registry
from kakurenbo.arena.calls import Call, code_digest
from kakurenbo.arena.jobs import ATTACK, GUESSES, PREPARE, RELEASE
from kakurenbo.arena.plan import Job, Plan
from kakurenbo.arena.store import DONE, REFUSED, Result, Store
from kakurenbo.contracts import Credit, RoundResults, Standing, Standings, by_number

RANKINGS = ("anonymization", "attack", "overall")
FORMAT = 1
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "polars", "numba")


@dataclass(frozen=True)
class Estimate:
    """The mean of repeats and its 95 % interval (Student's t); no interval for a single value."""

    mean: float
    half: float | None
    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """
        Examples
        --------
        >>> estimate = Estimate.of([0.5, 0.6, 0.7])
        >>> round(estimate.mean, 3), round(estimate.half, 3)
        (0.6, 0.248)
        """
        from scipy.stats import t

        count = len(values)
        mean = math.fsum(values) / count
        if count < 2:
            return cls(mean, None, tuple(values))
        spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
        return cls(mean, float(t.ppf(0.975, count - 1)) * spread / math.sqrt(count), tuple(values))

    @property
    def interval(self) -> list[float]:
        """Low and high end; empty where there is no interval."""
        return [] if self.half is None else [self.mean - self.half, self.mean + self.half]

    def as_json(self) -> dict[str, Any]:
        return {"mean": self.mean, "n": len(self.values), **dict(zip(("low", "high"), self.interval, strict=False))}


def collect(plan: Plan, found: Mapping[Job, Result]) -> dict[str, Any]:
    """The document ``results.json`` of a run whose jobs have all ended."""
    played = {repeat: {round_: _round(plan, found, round_, repeat) for round_ in plan.rounds} for repeat in range(plan.repeats)}
    standings = combined([plan.rules.standings(rounds) for rounds in played.values()])
    return {
        "format": FORMAT,
        "rulebook": {"name": plan.rules.name, "title": plan.rules.title, "utility_score": plan.rules.utility_score},
        "players": [entrant.as_json() for entrant in plan.entrants],
        "sample_attacks": list(plan.rules.sample_attacks),
        "standings": standings,
        "rounds": [_round_json(plan, found, round_, [played[repeat][round_] for repeat in played]) for round_ in plan.rounds],
        "failures": _failures(found),
        "manifest": _manifest(plan, found),
    }


def timings(store: Store, found: Mapping[Job, Result]) -> dict[str, Any]:
    """Seconds per job, which differ from run to run."""
    jobs = [
        {"job": job.kind, "round": job.round, "repeat": job.repeat, "team": job.team, "attacker": job.attacker} | taken
        for job, result in sorted(found.items())
        if result.key and (taken := _taken(store, result))
    ]
    return {"jobs": jobs}


def _taken(store: Store, result: Result) -> dict[str, float]:
    seconds = store.meta(result.key).get("seconds")
    return {} if seconds is None else {"seconds": round(float(seconds), 4)}


# -- one round ---------------------------------------------------------------------------------------------------------


def _round(plan: Plan, found: Mapping[Job, Result], round_: str, repeat: int) -> RoundResults:
    """What the rulebook ranks."""
    releases = _of(found, RELEASE, round_, repeat)
    credits: dict[str, dict[str, Credit]] = {job.team: {} for job, result in releases.items() if result.state == DONE}
    for kind in (ATTACK, GUESSES):
        for job, result in _of(found, kind, round_, repeat).items():
            for target, credit in result.value.get("credits", {}).items():
                credits.setdefault(target, {})[job.attacker] = Credit.from_json(credit)
    out, utility = {}, {}
    for job, result in releases.items():
        if result.state != DONE:
            out[job.team] = "disqualified" if result.state == REFUSED else "missing"
            continue
        measured = result.value["utility"]
        if not measured["passes"]:
            out[job.team] = "disqualified"
        if plan.rules.utility_score:
            utility[job.team] = float(measured["scores"][plan.rules.utility_score])
    return RoundResults(credits, plan.anonymizers, plan.attackers, utility, out, frozenset(plan.rules.sample_attacks))


def _round_json(plan: Plan, found: Mapping[Job, Result], round_: str, repeats: Sequence[RoundResults]) -> dict[str, Any]:
    """A round as the report shows it: figures over all repeats, and each repeat's own results."""
    first = _of(found, RELEASE, round_, 0)
    prepared = next(iter(_of(found, PREPARE, round_, 0).values()))
    return {
        "name": round_,
        "report": prepared.value.get("report", {}),
        "releases": {
            job.team: {
                "state": result.state,
                "cause": result.cause,
                **{key: result.value[key] for key in ("utility", "claims", "notices", "problems") if result.value.get(key)},
                "measures": _measures(found, round_, job.team),
            }
            for job, result in sorted(first.items())
        },
        "accuracy": _accuracies(plan, repeats),
        "chance": _chance(repeats),
        "repeats": [results.as_json() for results in repeats],
    }


def _measures(found: Mapping[Job, Result], round_: str, team: str) -> dict[str, Any]:
    """Mean and interval of every measure of a team's release over the repeats."""
    values: dict[str, list[float]] = {}
    for job, result in sorted(found.items()):
        if job.kind == RELEASE and job.round == round_ and job.team == team and result.state == DONE:
            for name, value in result.value["utility"]["scores"].items():
                values.setdefault(name, []).append(float(value))
    return {name: Estimate.of(listed).as_json() for name, listed in values.items() if all(map(math.isfinite, listed))}


def _accuracies(plan: Plan, repeats: Sequence[RoundResults]) -> dict[str, dict[str, Any]]:
    """Per target and attacker the share of right guesses, and hits and their number in the first repeat."""
    table: dict[str, dict[str, Any]] = {}
    for target in plan.anonymizers:
        for attacker in plan.attackers:
            credits = [credit for results in repeats if (credit := results.credits.get(target, {}).get(attacker)) is not None]
            if credits:
                table.setdefault(target, {})[attacker] = {
                    **Estimate.of([credit.accuracy for credit in credits]).as_json(),
                    "hits": math.fsum(credit.hits for credit in credits) / len(credits),
                    "of": credits[0].of,
                }
    return table


def _chance(repeats: Sequence[RoundResults]) -> dict[str, Any] | None:
    """Blind guessing, where all credits agree on it: mean accuracy and the band of a single guess."""
    found = {
        (credit.chance.mean / credit.of, credit.chance.low / credit.of, credit.chance.high / credit.of)
        for results in repeats
        for row in results.credits.values()
        for credit in row.values()
        if credit.chance is not None and credit.of
    }
    if not found:
        return None
    mean, low, high = (math.fsum(part) / len(found) for part in zip(*found, strict=True))
    return {"mean": mean, "low": low, "high": high}


def _of(found: Mapping[Job, Result], kind: str, round_: str, repeat: int) -> dict[Job, Result]:
    return {job: found[job] for job in sorted(found) if (job.kind, job.round, job.repeat) == (kind, round_, repeat)}


# -- standings over repeats --------------------------------------------------------------------------------------------


def combined(repeats: Sequence[Standings]) -> dict[str, Any]:
    """Standings as JSON; of several repeats the means with their intervals, ranked by the mean."""
    if len(repeats) == 1:
        return repeats[0].as_json()
    return {name: _combined_ranking([getattr(standings, name) for standings in repeats]) for name in RANKINGS}


def _combined_ranking(repeats: Sequence[Sequence[Standing]]) -> list[dict[str, Any]]:
    lines: dict[str, list[Standing]] = {}
    for ranking in repeats:
        for line in ranking:
            lines.setdefault(line.team, []).append(line)
    low_is_good = any(_rises(ranking) for ranking in repeats)
    means: dict[str, Fraction | None] = {}
    for team, own in lines.items():
        scores = [line.score for line in own if line.score is not None]
        # Without a score in some repeat (disqualified there) there is no mean to rank by.
        means[team] = sum(scores, Fraction(0)) / len(scores) if len(scores) == len(repeats) else None
    ranked = {team: any(line.rank is not None for line in own) for team, own in lines.items()}

    def place(team: str) -> tuple[Any, ...]:
        mean = means[team]
        return (not ranked[team], mean is None, (mean if low_is_good else -mean) if mean is not None else 0, by_number(team))

    out: list[dict[str, Any]] = []
    for number, team in enumerate(sorted(lines, key=place), start=1):
        mean, own = means[team], lines[team]
        tied = bool(out) and mean == means[out[-1]["team"]] and ranked[out[-1]["team"]] == ranked[team]
        estimate = Estimate.of([float(line.score) for line in own if line.score is not None]) if mean is not None else None
        note = "; ".join(dict.fromkeys(line.note for line in own if line.note))
        out.append(
            {
                "team": team,
                "score": None if mean is None else float(mean),
                "rank": (out[-1]["rank"] if tied else number) if ranked[team] else None,
                **({"note": note} if note else {}),
                **({"interval": estimate.interval} if estimate is not None and estimate.interval else {}),
            }
        )
    return out


def _rises(ranking: Iterable[Standing]) -> bool:
    """Whether a ranking, best first, begins with its lowest score."""
    scores = [line.score for line in ranking if line.score is not None and line.rank is not None]
    return len(scores) > 1 and scores[0] < scores[-1]


# -- failures and manifest -----------------------------------------------------------------------------------------------


def _failures(found: Mapping[Job, Result]) -> list[dict[str, Any]]:
    return [
        {
            "job": str(job),
            "kind": job.kind,
            "round": job.round,
            "repeat": job.repeat,
            "team": job.team,
            "attacker": job.attacker,
            "state": result.state,
            "cause": result.cause,
        }
        for job, result in sorted(found.items())
        if result.state != DONE
    ]


def _manifest(plan: Plan, found: Mapping[Job, Result]) -> dict[str, Any]:
    """All that is needed to play the same tournament again and to see that it is the same."""
    calls = [plan.rulebook, *(call for entrant in plan.entrants for call in (entrant.anonymizer, entrant.attack) if call)]
    return {
        "plan": plan.as_json(),
        "versions": {"kakurenbo": __version__, "python": platform.python_version()}
        | {name: version(name) for name in _LIBRARIES},
        "code": {f"{call.group}: {call.name}": _origin(call) for call in calls},
        "seeds": {str(repeat): str(plan.seed_of(repeat)) for repeat in range(plan.repeats)},
        "commitments": {
            f"{job.round}, repeat {job.repeat + 1}": _commitments(result)
            for job, result in sorted(found.items())
            if job.kind == PREPARE and result.value.get("commitments")
        },
        "jobs": {
            str(job): {"key": result.key, **result.trees} for job, result in sorted(found.items()) if result.state == DONE
        },
    }


def _origin(call: Call) -> dict[str, str]:
    module = registry.load(call.group, call.name).__module__
    return {"module": module, "package": registry.package(call.group, call.name), "sha256": code_digest(module)}


def _commitments(result: Result) -> Any:
    try:
        return json.loads(result.value["commitments"]).get("commitments", {})
    except (ValueError, AttributeError):
        return {}
