"""Phases open and close by themselves, in their time and in their order, whoever advances them and however often."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from tests.judge import making
from tests.judge.making import START, at_once, blob, codes, organizer, plan
from tests.reading import attempt

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.core import InputError, Problems
from kakurenbo.judge.contests import queries, rules
from kakurenbo.judge.contests.advancing import GRACE, PREPARED_AHEAD
from kakurenbo.judge.contests.models import Contest, Entry, PhaseState
from kakurenbo.judge.contests.rehearsal import rehearse
from kakurenbo.judge.contests.rules import advance
from kakurenbo.judge.scoring.models import Job, JobKind, JobState, Target
from kakurenbo.judge.submissions import rules as submissions
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.methods import registry

SECOND = timedelta(seconds=1)


def states(contest: Contest) -> list[str]:
    return [phase.state for phase in queries.schedule(contest)]


def jobs(kind: str) -> list[str]:
    """Subjects of the jobs of a kind that are not done."""
    return [job.subject for job in Job.objects.filter(kind=kind).exclude(state=JobState.DONE)]


def work(contest: Contest) -> None:
    """What workers do, without computing: data is there, releases are sealed, the rest is done."""
    for job in Job.objects.filter(contest=contest, state=JobState.WAITING):
        if job.kind == JobKind.PREPARE:
            contest.rounds.filter(pk=job.round_id).update(prepared_at=job.created_at)
        if job.kind == JobKind.SEAL:
            entry = Entry.objects.get(round=job.round, team__number=job.subject)
            Target.objects.create(
                round=entry.round, entry=entry, name=job.subject, record={"state": "published"}
            )
        Job.objects.filter(pk=job.pk).update(state=JobState.DONE)


def closing(contest: Contest, kind: str = ANONYMIZE) -> datetime:
    """When a phase turns to what was handed in."""
    return making.phase(contest, kind).closes_at + GRACE


@pytest.mark.django_db
def test_a_contest_plays_itself_from_the_first_phase_to_the_last() -> None:
    contest = making.contest()
    for name in ("foxes", "owls"):
        making.team(contest, name)
    seen = []
    moment, last = (
        START - timedelta(days=2),
        making.phase(contest, ATTACK).closes_at + timedelta(hours=1),
    )
    while moment <= last:
        seen += [(moment, line) for line in advance(moment)]
        work(contest)
        moment += timedelta(minutes=30)
    day = timedelta(days=1)
    half_hour = timedelta(minutes=30)
    assert seen == [
        (START - day, "cup: pre is being prepared"),
        (START, "cup: pre anonymize is open"),
        (START + 7 * day + half_hour, "cup: pre anonymize is sealing"),
        (START + 7 * day + half_hour, "cup: pre anonymize: sealing 01, 02"),
        (START + 7 * day + 2 * half_hour, "cup: pre anonymize is closed"),
        (START + 8 * day, "cup: pre attack is open"),
        (START + 15 * day + half_hour, "cup: pre attack is sealing"),
        (START + 15 * day + half_hour, "cup: pre attack is closed"),
    ]
    assert [entry.kind for entry in contest.log.all()][3:] == [
        *("phase.opened", "phase.closed", "phase.sealed"),
        *("phase.opened", "phase.closed", "phase.sealed"),
    ]
    contest.refresh_from_db()
    assert contest.ended_at is None, "an organizer ends a contest"


@pytest.mark.django_db
def test_the_data_of_a_round_is_drawn_a_day_ahead_and_once() -> None:
    contest = making.contest()
    assert advance(START - PREPARED_AHEAD - SECOND) == []
    assert len(advance(START - PREPARED_AHEAD)) == 1
    Job.objects.update(state=JobState.PARKED)
    assert advance(START) == [], "an organizer looks at what was put aside"
    assert states(contest) == ["waiting", "waiting"]


@pytest.mark.django_db
def test_a_phase_opens_at_its_second_but_never_without_data() -> None:
    contest = making.contest()
    advance(START - PREPARED_AHEAD)
    advance(START)
    assert states(contest) == ["waiting", "waiting"]
    work(contest)
    assert advance(START - SECOND) == []
    assert advance(START) == ["cup: pre anonymize is open"]
    assert advance(START) == []


@pytest.mark.django_db
def test_after_its_end_a_phase_takes_nothing_but_waits_some_seconds_for_what_came_in_time() -> None:
    contest = making.contest()
    hanako = making.user()
    entry = making.entry(making.team(contest, "foxes", hanako))
    phase = making.opened(contest)
    in_time = phase.closes_at - timedelta(milliseconds=1)
    submission = submissions.begin(hanako, entry, phase, in_time)
    submissions.add_file(submission, "pre_anonymizeddata_01.csv", blob())
    assert (phase.state, phase.shown_state) == ("open", "sealing"), (
        "people see it closed at its time"
    )
    late = submissions.begin(hanako, entry, phase, in_time)
    submissions.add_file(late, "pre_anonymizeddata_01.csv", blob())
    advance(phase.closes_at + 4 * SECOND)
    submissions.finish(submission, in_time)
    assert codes(attempt(submissions.finish, late, phase.closes_at)) == ["submissions.closed"]
    advance(closing(contest))
    assert states(contest) == ["sealing", "waiting"]


@pytest.mark.django_db
def test_a_team_is_sealed_when_all_that_it_handed_in_is_judged_and_others_need_not_wait() -> None:
    contest = making.contest()
    hanako = making.user()
    entry = making.entry(making.team(contest, "foxes", hanako))
    making.team(contest, "owls")
    phase = making.opened(contest)
    submission = submissions.begin(hanako, entry, phase, START)
    submissions.add_file(submission, "pre_anonymizeddata_01.csv", blob())
    submission = submissions.finish(submission, START)
    advance(closing(contest))
    assert jobs("seal") == ["02"]
    assert submissions.checking(submission)
    assert advance(closing(contest)) == []
    assert submissions.invalid(submission)
    advance(closing(contest))
    assert sorted(jobs("seal")) == ["01", "02"]


@pytest.mark.django_db
def test_the_attack_waits_until_every_team_is_sealed_or_excused() -> None:
    contest = making.contest()
    for name in ("foxes", "owls"):
        making.team(contest, name)
    making.opened(contest)
    advance(closing(contest))
    Job.objects.filter(subject="02").update(state=JobState.PARKED)
    work(contest)
    later = making.phase(contest, ATTACK).opens_at + timedelta(hours=1)
    assert advance(later) == []
    assert states(contest) == ["sealing", "waiting"]
    rules.excuse(
        organizer(),
        making.entry(contest.teams.get(number="02")),
        "its release cannot be judged",
    )
    assert advance(later) == ["cup: pre anonymize is closed", "cup: pre attack is open"]


@pytest.mark.django_db
def test_an_attack_whose_time_went_by_while_releases_were_sealed_waits_for_the_organizer() -> None:
    contest = making.contest()
    making.team(contest)
    making.opened(contest)
    advance(closing(contest))
    too_late = making.phase(contest, ATTACK).closes_at + timedelta(days=1)
    work(contest)
    assert advance(too_late) == ["cup: pre anonymize is closed"]
    assert states(contest) == ["closed", "waiting"]


@pytest.mark.django_db
def test_a_judge_that_was_down_catches_up_in_order() -> None:
    contest = making.contest(phases=plan(rounds=("pre", "main")))
    making.team(contest)
    making.opened(contest)
    attack = making.phase(contest, ATTACK)
    assert advance(attack.opens_at) == [
        "cup: pre anonymize is sealing",
        "cup: pre anonymize: sealing 01",
    ]
    work(contest)
    assert advance(attack.opens_at) == ["cup: pre anonymize is closed", "cup: pre attack is open"]


@pytest.mark.django_db
def test_the_attack_phase_lasts_until_the_last_guess_is_judged_and_standings_follow() -> None:
    contest = making.contest()
    hanako = making.user()
    entry = making.entry(making.team(contest, "foxes", hanako))
    phase = making.opened(contest, ATTACK)
    submission = submissions.begin(hanako, entry, phase, phase.opens_at)
    submissions.add_file(submission, "inference_02_01.index", blob())
    submission = submissions.finish(submission, phase.opens_at)
    advance(closing(contest, ATTACK))
    assert states(contest) == ["closed", "sealing"]
    work(contest)
    assert advance(closing(contest, ATTACK)) == []
    submissions.checking(submission)
    submissions.scored(submission)
    assert advance(closing(contest, ATTACK)) == ["cup: pre attack is closed"]
    assert jobs("standings") == [""]


@pytest.mark.django_db(transaction=True)
def test_of_processes_that_advance_at_once_each_step_is_done_once() -> None:
    contest = making.contest()
    for name in ("foxes", "owls", "bears"):
        making.team(contest, name)
    for moment in (START - PREPARED_AHEAD, START, closing(contest), START + timedelta(days=8)):
        at_once(lambda _, moment=moment: advance(moment), 5)  # type: ignore[misc]
        assert advance(moment) == []
        work(contest)
    at_once(lambda _: advance(START + timedelta(days=8)), 5)
    assert states(contest) == ["closed", "open"]
    done = Counter((job.kind, job.subject) for job in Job.objects.exclude(kind=JobKind.STANDINGS))
    assert done == Counter([("prepare", ""), ("seal", "01"), ("seal", "02"), ("seal", "03")])
    told = Counter(
        (entry.kind, str(entry.body)) for entry in contest.log.filter(kind__startswith="phase.")
    )
    assert len(told) == 4
    assert set(told.values()) == {1}


@pytest.mark.django_db(transaction=True)
def test_a_phase_that_closes_while_teams_hand_in_seals_no_team_that_is_still_judged() -> None:
    contest = making.contest()
    hanako = making.user()
    entry = making.entry(making.team(contest, "foxes", hanako))
    phase = making.opened(contest)
    moment, due = phase.closes_at - SECOND, closing(contest)
    sent = [submissions.begin(hanako, entry, phase, moment) for _ in range(4)]
    for submission in sent:
        submissions.add_file(submission, "pre_anonymizeddata_01.csv", blob())

    def both(number: int) -> Any:
        if number == 4:
            return advance(due)
        return attempt(submissions.finish, sent[number], moment)

    refused = [outcome for outcome in at_once(both, 5) if isinstance(outcome, Problems)]
    received = Submission.objects.filter(state="received").count()
    sealed = Job.objects.filter(kind=JobKind.SEAL).count()
    assert states(contest)[0] == "sealing"
    assert (sealed == 0) == (received > 0)
    assert received + len(refused) == 4
    assert all(codes(outcome) == ["submissions.closed"] for outcome in refused)


@pytest.mark.django_db
def test_a_contest_that_cannot_be_advanced_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken, sound = making.contest("broken"), making.contest("sound")
    enqueue = rules.scoring.enqueue

    def fails(kind: str, contest: Contest, *args: Any, **more: Any) -> Job:
        if contest == broken:
            raise LookupError("no such rulebook")
        return enqueue(kind, contest, *args, **more)

    monkeypatch.setattr(rules.scoring, "enqueue", fails)
    assert advance(START) == ["sound: pre is being prepared"]
    assert sound.jobs.count() == 1


@pytest.mark.django_db
def test_a_contest_without_teams_runs_through() -> None:
    contest = making.contest()
    advance(START)
    work(contest)
    advance(START)
    assert advance(closing(contest)) == [
        "cup: pre anonymize is sealing",
        "cup: pre anonymize is closed",
    ]


# -- rehearsals ------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_rehearsal_is_the_same_contest_with_bots_and_its_phases_squeezed_in_proportion() -> None:
    contest = making.contest(
        places=4, phases=plan(rounds=("pre", "main"), visibility="frozen", tries_in_all=3)
    )
    copy = rehearse(organizer(), contest, minutes=31)
    assert (copy.rehearsal, copy.rulebook, copy.options, copy.places) == (
        True,
        "amic2020",
        contest.options,
        4,
    )
    assert copy.slug == "cup-rehearsal-1"
    field = registry.load("rulebooks", "amic2020")(scale="small").field()
    assert [team.name for team in queries.team_list(copy)] == [player.name for player in field[:4]]
    phases = list(queries.schedule(copy))
    assert [phase.closes_at - phase.opens_at for phase in phases] == [
        timedelta(minutes=7)
    ] * 4  # 31 days in 31 minutes
    assert [later.opens_at - phase.closes_at for phase, later in pairwise(phases)] == [
        timedelta(minutes=1)
    ] * 3
    assert {(phase.visibility, phase.tries_in_all) for phase in phases} == {("frozen", 3)}
    assert rehearse(organizer(), contest).slug == "cup-rehearsal-2"
    assert not queries.contests_for(making.user()).filter(rehearsal=True).exists()
    with pytest.raises(PermissionDenied):
        rehearse(making.user(), contest)


@pytest.mark.django_db
def test_a_rehearsal_plays_itself_with_its_bots_to_the_end_even_where_they_are_slow() -> None:
    copy = rehearse(organizer(), making.contest(places=3), minutes=1)
    begin = copy.created_at
    moment, slow = begin, begin + timedelta(minutes=2)
    told: list[str] = []
    while copy.ended_at is None and moment < begin + timedelta(minutes=10):
        told += advance(moment)
        if moment >= slow or not jobs("bot"):
            work(copy)
        moment += SECOND
        copy.refresh_from_db()
    assert Counter(job.kind for job in copy.jobs.all())["bot"] == 6, "each bot plays in each phase"
    turns = [
        line.removeprefix("cup-rehearsal-1: pre ")
        for line in told
        if line.startswith(copy.slug) and "waits" not in line
    ]
    assert turns == [
        *(
            "is being prepared",
            "anonymize is open",
            "anonymize is sealing",
            "anonymize: sealing 01, 02, 03",
        ),
        *(
            "anonymize is closed",
            "attack is open",
            "attack is sealing",
            "attack is closed",
            "cup-rehearsal-1 is over",
        ),
    ]
    phases = list(queries.schedule(copy))
    assert phases[0].closes_at > slow, "it waited for its bots"
    assert phases[1].opens_at >= phases[0].closes_at
    assert all(phase.state == PhaseState.CLOSED for phase in phases)


@pytest.mark.django_db
def test_a_contest_that_cannot_be_made_again_is_not_rehearsed() -> None:
    contest = making.contest()
    Contest.objects.update(options={"scale": "small", "forgotten": 1})
    contest.refresh_from_db()
    with pytest.raises(InputError):
        rehearse(organizer(), contest)
    assert not Contest.objects.filter(rehearsal=True).exists()
