"""What the judge knows of a round, gathered for the ranking step, and the snapshots of the standings that come of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from kakurenbo.judge.contests.models import Contest, Entry, Phase, PhaseState, Round, Visibility
from kakurenbo.judge.scoring.models import Earned, Judging, StandingSnapshot, Target
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.judge.trust.rules import record
from kakurenbo.proofs import content_digest

ANONYMIZE, ATTACK = "anonymize", "attack"
_MISSING = "missing"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def gathered(round: Round) -> dict[str, Any]:
    """Releases, credits and who takes part, ready for the step that ranks.

    A place that nobody took plays no part. Of a team that was disqualified the releases are out; what becomes of it as an
    attacker is for the rulebook, as it is where ``standings --disqualified`` names it. Of attacks, the organizers' own too,
    there is nothing before the attack opens: from then on its visibility decides, and what was shown before may stay for long.
    """
    entries = list(round.entries.select_related("team").order_by("team__number"))
    phases = {phase.kind: phase for phase in round.phases.all()}
    attack_began = _began(phases.get(ATTACK))
    attacking = entries if attack_began else []
    records = [
        record for entry in entries for record in release_records(entry, phases.get(ANONYMIZE))
    ]
    released = {record["target"] for record in records}
    credits = [credit for credit in _credits(attacking) if credit["target"] in released]
    samples = (
        [credit for credit in _samples(round) if credit["target"] in released]
        if attack_began
        else []
    )
    return {
        "facts": round.facts,
        "records": records,
        "credits": [*credits, *samples],
        "attackers": [entry.team.number for entry in attacking],
        "samples": sorted({credit["attacker"] for credit in samples}),
        "excluded": [entry.team.number for entry in entries if entry.team.unranked],
        "disqualified": {
            entry.team.number: entry.disqualified for entry in entries if entry.disqualified
        },
        "players": [
            {"team": entry.team.number, "name": entry.team.name, "excluded": entry.team.unranked}
            for entry in entries
        ],
    }


def take_snapshot(
    contest: Contest, round: Round | None, made: dict[str, Any], *, rejudged: bool = False
) -> None:
    """Keep new standings; a board that is frozen or hidden keeps, for players, the last one that they were shown.

    Those that are made after the end are final: no later ones take their place, unless an older version of the software wrote
    them in a format of its own, or what they rest on was ``rejudged``.
    """
    shown = all(
        map(is_shown, [round] if round is not None else contest.rounds.exclude(prepared_at=None))
    )
    earlier = StandingSnapshot.objects.filter(contest=contest, round=round)
    results = made["results"][round.name] if round is not None else {}
    made_as = made["document"]["format"]
    content = {
        "results": results,
        "standings": made["standings"],
        "document": made["document"],
        "format": made_as,
    }
    last = earlier.first()
    ended_at = Contest.objects.values_list("ended_at", flat=True).get(pk=contest.pk)
    if (
        ended_at != contest.ended_at
    ):  # it ended while these were made, and asked for its last ones itself
        return
    final = (
        last is not None
        and ended_at is not None
        and last.taken_at >= ended_at
        and last.format == made_as
    )
    if final and not rejudged:
        return
    if (
        ended_at is None
        and last is not None
        and last.shown == shown
        and all(getattr(last, name) == value for name, value in content.items())
    ):
        return
    snapshot = StandingSnapshot.objects.create(contest=contest, round=round, shown=shown, **content)
    superseded = earlier.exclude(pk=snapshot.pk)
    (superseded if shown else superseded.filter(shown=False)).delete()
    if ended_at is not None:
        told = {
            "round": "" if round is None else round.name,
            "taken_at": snapshot.taken_at.isoformat(),
        }
        final = content_digest({name: content[name] for name in ("results", "standings")})
        record(contest, "standings.final", {**told, "digest": final})


def is_shown(round: Round) -> bool:
    """Whether new standings of a round are shown to players: while its phase under way is live, and when all is over.

    Where the rulebook's feedback gives no scores, no board does so in its place.
    """
    begun = round.phases.exclude(state=PhaseState.WAITING).order_by("-opens_at").first()
    if begun is None or begun.state == PhaseState.CLOSED:
        return begun is not None
    from kakurenbo.contest import Feedback
    from kakurenbo.judge.contests.rulebooks import declared_phase

    return begun.visibility == Visibility.LIVE and declared_phase(begun).feedback is Feedback.SCORES


def release_records(entry: Entry, phase: Phase | None) -> Iterator[dict[str, Any]]:
    """What became of a team's releases: as sealed; before that, those that would count now; after it, that there is none."""
    from kakurenbo.judge.submissions.queries import (
        counting,
    )  # loads rulebooks, which a worker at rest does without

    sealed = list(Target.objects.filter(entry=entry).values_list("record", flat=True))
    if sealed:
        yield from sealed
        return
    if phase is None:
        return
    if phase.state == PhaseState.CLOSED:
        yield {
            "target": entry.team.number,
            "team": entry.team.number,
            "state": _MISSING,
            "cause": entry.excused,
        }
        return
    own = [submission for submission, _ in counting(entry, phase)]
    judged = Judging.objects.filter(submission__in=own, in_effect=True).order_by(
        "submission__number"
    )
    yield from (judging.result["record"] for judging in judged if "record" in judging.result)


def _credits(attacking: list[Entry]) -> Iterator[dict[str, Any]]:
    """What teams earned, in the order in which entries come to count: as handed in, then as chosen."""
    scored = Submission.objects.filter(entry__in=attacking, state=State.SCORED, phase__kind=ATTACK)
    earned = Earned.objects.filter(submission__in=scored).select_related(
        "target", "attacker__team", "submission"
    )
    for one in sorted(earned, key=_order_of_earned):
        assert one.attacker is not None
        yield {
            "attacker": one.attacker.team.number,
            "target": one.target.name,
            "credit": one.credit,
        }


def counting_order(submission: Submission) -> tuple[Any, ...]:
    """In which order submissions of a team come to count: as they were handed in, then as they were chosen."""
    return (submission.chosen_at or _LONG_AGO, submission.received_at)


def _order_of_earned(earned: Earned) -> tuple[Any, ...]:
    assert earned.submission is not None
    return (*counting_order(earned.submission), earned.pk)


def _samples(round: Round) -> Iterator[dict[str, Any]]:
    for one in (
        Earned.objects.filter(target__round=round, attacker=None)
        .select_related("target")
        .order_by("sample")
    ):
        yield {"attacker": one.sample, "target": one.target.name, "credit": one.credit}


def _began(phase: Phase | None) -> bool:
    return phase is not None and phase.state != PhaseState.WAITING
