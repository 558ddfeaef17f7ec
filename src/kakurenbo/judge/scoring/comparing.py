"""What a rejudging changes: every verdict, figure, credit, rank and award that would be another, old beside new, to all digits.

Nothing that stays with the answers is in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kakurenbo.judge.scoring.models import (
    Earned,
    Judging,
    RejudgedCredit,
    Rejudging,
    StandingSnapshot,
)

RANKINGS = ("anonymization", "attack", "overall")
_PLACE = ("rank", "score")
_KEPT = "kept"
Changes = list[dict[str, Any]]


def changes(
    rejudging: Rejudging, ranked: Mapping[str, Mapping[str, Any]], unsealed: Sequence[str]
) -> dict[str, Any]:
    """Old and new of everything that differs, while the old still counts.

    Parameters
    ----------
    rejudging : Rejudging
        One whose judgings are all made.
    ranked : mapping
        The new standings by the name of their round; under an empty name those of all rounds together.
    unsealed : sequence of str
        ``ROUND/TEAM`` of releases that would be published after all.
    """
    judged = list(
        rejudging.judgings.select_related(
            "submission__entry__team", "submission__entry__round", "submission__phase"
        )
    )
    before = _in_effect(judged)
    return {
        "judged": len(judged),
        "fingerprints": sorted({one.fingerprint for one in judged}),
        "earlier": sorted(
            {one.fingerprint for one in before.values()} - {one.fingerprint for one in judged}
        ),
        "entries": list(_entries(rejudging, judged, before)),
        "samples": list(_samples(rejudging)),
        "published": list(unsealed),
        "ranks": [
            line
            for name, made in ranked.items()
            for line in _ranks(name, _standings(rejudging, name), made)
        ],
        "awards": [
            line
            for name, made in ranked.items()
            for line in _awards(name, _standings(rejudging, name), made)
        ],
    }


def is_nothing(preview: Mapping[str, Any]) -> bool:
    """Whether everything stays as it is."""
    return not any(
        preview.get(name) for name in ("entries", "samples", "published", "ranks", "awards")
    )


def _in_effect(judged: Sequence[Judging]) -> dict[Any, Judging]:
    found = Judging.objects.filter(
        submission__in=[one.submission_id for one in judged], in_effect=True
    )
    return {one.submission_id: one for one in found}


def _entries(
    rejudging: Rejudging, judged: Sequence[Judging], before: Mapping[Any, Judging]
) -> Iterator[dict[str, Any]]:
    credits = _credits(rejudging)
    for new in sorted(judged, key=_order):
        submission, old = new.submission, before.get(new.submission_id)
        differs = {
            "verdict": _pair(old and old.verdict, new.verdict),
            "state": _pair(_state(old), _state(new)),
            "figures": list(_named("name", _figures(old), _figures(new))),
            "files": list(_named("file", _files(old), _files(new))),
            "credits": credits.get(new.submission_id, []),
        }
        if any(differs.values()):
            entry = submission.entry
            about = {
                "submission": str(submission.pk),
                "round": entry.round.name,
                "team": entry.team.number,
            }
            yield {
                **about,
                "phase": submission.phase.kind,
                "number": submission.number,
                **differs,
                **_why(old, new, differs),
            }


def _why(old: Judging | None, new: Judging, differs: Mapping[str, Any]) -> dict[str, Any]:
    """Why another verdict was reached: the first problem of each side, and by which scorers."""
    if not any(differs[name] for name in ("verdict", "state", "files")):
        return {"why": [], "scorers": []}
    return {
        "why": _pair(_found_wrong(old), _found_wrong(new)),
        "scorers": _pair(old and old.fingerprint, new.fingerprint),
    }


def _found_wrong(judging: Judging | None) -> dict[str, Any] | None:
    """The first problem, with its words in every language, or the cause in a sentence; None where nothing was wrong."""
    result = {} if judging is None else judging.result
    problems = [
        *result.get("problems", []),
        *(problem for one in result.get("refused", []) for problem in one["problems"]),
    ]
    record = result.get("record", {})
    first: dict[str, Any] | None = problems[0] if problems else None
    if first is None and record.get("cause"):
        first = {"cause": record["cause"], "messages": record.get("messages", {})}
    return first


def _order(judging: Judging) -> tuple[Any, ...]:
    submission = judging.submission
    entry = submission.entry
    return entry.round.position, submission.phase.opens_at, entry.team.number, submission.number


def _state(judging: Judging | None) -> str | None:
    """What became of a release."""
    return None if judging is None else judging.result.get("record", {}).get("state")


def _figures(judging: Judging | None) -> dict[str, Any]:
    measured = [] if judging is None else judging.result.get("record", {}).get("measurements", [])
    return {one["name"]: one["value"] for one in measured}


def _files(judging: Judging | None) -> dict[str, str]:
    """Of guesses, which files were accepted and which refused."""
    result = {} if judging is None else judging.result
    accepted = {one["file"]: "accepted" for one in result.get("targets", [])}
    return accepted | {one["file"]: "refused" for one in result.get("refused", [])}


def _credits(rejudging: Rejudging) -> dict[Any, Changes]:
    """What guesses of teams earn otherwise, by submission."""
    every = [one.submission_id for one in rejudging.judgings.all()]
    old, new = (
        Earned.objects.filter(submission__in=every),
        RejudgedCredit.objects.filter(rejudging=rejudging),
    )
    found: dict[Any, Changes] = {}
    for (submission, target, file), pair in _by_key(
        old, new.exclude(submission=None), _of_team
    ).items():
        found.setdefault(submission, []).append({"target": target, "file": file, **pair})
    return found


def _samples(rejudging: Rejudging) -> Iterator[dict[str, Any]]:
    if rejudging.submission_id is not None:
        return
    new = RejudgedCredit.objects.filter(rejudging=rejudging, submission=None)
    targets = [one.target_id for one in new]
    old = Earned.objects.filter(target__in=targets, attacker=None)
    for (round_name, target, attack), pair in _by_key(old, new, _of_sample).items():
        yield {"round": round_name, "target": target, "attack": attack, **pair}


def _of_team(one: Any) -> tuple[Any, ...]:
    return one.submission_id, one.target.name, one.file


def _of_sample(one: Any) -> tuple[Any, ...]:
    return one.target.round.name, one.target.name, one.sample


def _by_key(old: Any, new: Any, key: Any) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Credits that differ, by what they are for, in order."""
    sides = [
        {key(one): _open(one.credit) for one in rows.select_related("target__round")}
        for rows in (old, new)
    ]
    keys = sorted({*sides[0], *sides[1]}, key=str)
    return {
        one: {"old": sides[0].get(one), "new": sides[1].get(one)}
        for one in keys
        if sides[0].get(one) != sides[1].get(one)
    }


def _open(credit: Mapping[str, Any]) -> dict[str, Any]:
    """A credit without what stays with the answers."""
    return {name: value for name, value in credit.items() if name != _KEPT}


def _standings(rejudging: Rejudging, name: str) -> Mapping[str, Any]:
    """The last standings of a round as organizers see them, or of all rounds together."""
    taken = StandingSnapshot.objects.filter(contest=rejudging.contest)
    found = taken.filter(round__name=name).first() if name else taken.filter(round=None).first()
    return {} if found is None else found.standings


def _ranks(name: str, old: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    new = made.get("standings", {})
    for ranking in RANKINGS:
        sides = [
            {line["team"]: line for line in standings.get(ranking) or []}
            for standings in (old, new)
        ]
        for team in sorted({*sides[0], *sides[1]}):
            one, other = (_place(side.get(team)) for side in sides)
            if one != other:
                yield {
                    "round": name,
                    "ranking": ranking,
                    "team": team,
                    **{key: [one.get(key), other.get(key)] for key in _PLACE},
                }


def _place(line: Mapping[str, Any] | None) -> dict[str, Any]:
    return {} if line is None else {key: line.get(key) for key in _PLACE}


def _awards(name: str, old: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    sides = [standings.get("awards") or {} for standings in (old, made.get("standings", {}))]
    for award in dict.fromkeys([*sides[0], *sides[1]]):
        one, other = (side.get(award, []) for side in sides)
        if one != other:
            yield {"round": name, "award": award, "old": one, "new": other}


def _named(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            yield {name: key, "old": old.get(key), "new": new.get(key)}


def _pair(old: Any, new: Any) -> list[Any]:
    return [] if old == new else [old, new]
