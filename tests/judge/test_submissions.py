"""Submissions: received whole or not at all, in time or not at all, and never one more than the team has tries."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone
from tests.judge import making
from tests.judge.making import START, at_once, blob, codes, organizer, plan
from tests.reading import attempt

from kakurenbo.contest import ANONYMIZE, ATTACK, Counting
from kakurenbo.contest import phases as rule
from kakurenbo.core import Problems
from kakurenbo.judge.contests import rules as contest_rules
from kakurenbo.judge.contests.models import Contest, Entry, Phase, PhaseState, Role
from kakurenbo.judge.contests.queries import quota_left
from kakurenbo.judge.scoring.models import Job, Judging
from kakurenbo.judge.submissions import queries, rules
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.proofs.quotas import RATE_SPAN
from kakurenbo.rulebooks.amic2020 import Amic2020

NOON = START + timedelta(hours=12)


class Played:
    """A team of two and an adviser in an open phase."""

    def __init__(
        self,
        kind: str = ANONYMIZE,
        *,
        rulebook: str = "amic2020",
        round_name: str = "pre",
        **limits: Any,
    ) -> None:
        zone = limits.pop("zone", "Asia/Tokyo")
        start = limits.pop("start", START)
        given: dict[str, Any] = {"rulebook": rulebook, "options": {}, "zone": zone}
        self.contest: Contest = making.contest(phases=plan(start, (round_name,), **limits), **given)
        self.hanako, self.adviser = making.user("hanako"), making.user("adviser")
        team = making.team(self.contest, "foxes", self.hanako)
        _, link = contest_rules.invite(organizer(), team, Role.ADVISER)
        contest_rules.join(self.adviser, link)
        self.phase: Phase = making.opened(self.contest, kind, round_name)
        self.entry: Entry = making.entry(team, round_name)

    def begun(self, now: datetime = NOON) -> Submission:
        return rules.begin(self.hanako, self.entry, self.phase, now)

    def sent(self, *names: str, now: datetime = NOON) -> Submission:
        """Begun, with its files."""
        submission = self.begun(now)
        for name in names or ("pre_anonymizeddata_01.csv",):
            rules.add_file(submission, name, blob())
        return submission

    def handed_in(self, *names: str, now: datetime = NOON) -> Submission:
        return rules.finish(self.sent(*names, now=now), now)

    def judged(
        self,
        state: str = "published",
        *,
        names: tuple[str, ...] = (),
        now: datetime = NOON,
        **result: Any,
    ) -> Submission:
        """Handed in and judged, as a worker does."""
        submission = self.handed_in(*names, now=now)
        assert rules.checking(submission)
        assert rules.scoring(submission)
        assert rules.scored(submission)
        content = {"record": {"state": state}, **result}
        Judging.objects.create(
            submission=submission, fingerprint="f", verdict="scored", result=content
        )
        return submission

    def counts(self) -> list[tuple[int | None, str]]:
        return [
            (submission.number, reason)
            for submission, reason in queries.counting(self.entry, self.phase)
        ]


# -- a clock that is set back ----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_what_is_handed_in_later_counts_as_later_also_when_the_clock_was_set_back() -> None:
    played = Played()
    early = played.phase.opens_at - timedelta(hours=3)
    assert played.handed_in(now=early).received_at == played.phase.opens_at, (
        "nothing comes before its phase opens"
    )
    assert played.handed_in(now=NOON).received_at == NOON
    assert played.handed_in(now=NOON - timedelta(hours=2)).received_at == NOON


@pytest.mark.django_db
def test_what_was_begun_while_the_clock_was_ahead_is_no_reason_to_wait_for_hours() -> None:
    played = Played()
    for _ in range(rules.RATE):
        played.begun()
    Submission.objects.update(began_at=NOON + timedelta(hours=3))
    assert played.begun()
    Submission.objects.update(began_at=NOON)
    assert codes(attempt(rules.begin, played.hanako, played.entry, played.phase, NOON)) == [
        "submissions.too_fast"
    ]


# -- handing in ------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_submission_is_received_numbered_queued_and_logged_at_once() -> None:
    played = Played()
    first, second = played.handed_in(), played.handed_in()
    assert (first.number, second.number, first.state, first.received_at) == (
        1,
        2,
        State.RECEIVED,
        NOON,
    )
    assert [(job.kind, job.submission_id) for job in Job.objects.all()] == [
        ("judge", first.pk),
        ("judge", second.pk),
    ]
    logged = played.contest.log.filter(kind="submission.received").first()
    assert logged is not None
    assert logged.body["files"] == {"pre_anonymizeddata_01.csv": "a" * 64}
    assert (logged.body["team"], logged.body["number"], logged.body["submission"]) == (
        "01",
        1,
        str(first.pk),
    )


@pytest.mark.django_db
def test_what_is_finished_twice_is_one_submission_and_takes_no_further_file() -> None:
    played = Played()
    submission = played.handed_in()
    again = rules.finish(submission, NOON + timedelta(minutes=1))
    assert (again.number, again.received_at) == (1, NOON)
    assert Job.objects.count() == 1
    refusal = attempt(rules.add_file, submission, "questionnaire_01.json", blob())
    assert codes(refusal) == ["submissions.finished"]


@pytest.mark.django_db
def test_a_submission_without_files_is_not_received_but_stays_open() -> None:
    played = Played()
    submission = played.begun()
    assert codes(attempt(rules.finish, submission, NOON)) == ["submissions.no_file"]
    rules.add_file(submission, "pre_anonymizeddata_01.csv", blob())
    rules.finish(submission, NOON)


@pytest.mark.django_db
def test_the_closing_second_is_too_late_and_the_one_before_it_is_not() -> None:
    played = Played()
    closes = played.phase.closes_at
    rules.finish(played.sent(), closes - timedelta(microseconds=1))
    half_sent = played.sent()
    assert codes(attempt(rules.finish, half_sent, closes)) == ["submissions.closed"]
    half_sent.refresh_from_db()
    assert (half_sent.state, half_sent.number) == (State.WITHDRAWN, None)
    assert codes(attempt(rules.begin, played.hanako, played.entry, played.phase, closes)) == [
        "submissions.closed"
    ]
    assert codes(attempt(rules.finish, half_sent, closes - timedelta(hours=1))) == [
        "submissions.withdrawn"
    ]


@pytest.mark.django_db
def test_the_refusal_tells_the_closing_time_in_the_contests_zone() -> None:
    played = Played()
    (problem,) = attempt(  # type: ignore[misc]
        rules.begin, played.hanako, played.entry, played.phase, played.phase.closes_at
    )
    time = "2026-04-08 09:00:00 (Asia/Tokyo; 2026-04-08 00:00:00 UTC)"
    assert problem.in_language("en").endswith(f"closed at {time}; nothing more can be handed in")


@pytest.mark.django_db
def test_nothing_is_handed_in_before_the_phase_is_open_whatever_its_times() -> None:
    played = Played()
    Phase.objects.update(state=PhaseState.WAITING)
    played.phase.refresh_from_db()
    early = attempt(
        rules.begin, played.hanako, played.entry, played.phase, START - timedelta(seconds=1)
    )
    assert codes(early) == ["submissions.not_open_yet"]
    assert codes(attempt(rules.begin, played.hanako, played.entry, played.phase, NOON)) == [
        "submissions.being_prepared"
    ]


@pytest.mark.django_db
def test_what_an_organizer_changed_holds_for_those_who_looked_before() -> None:
    played = Played()
    late = played.phase.closes_at
    Phase.objects.filter(pk=played.phase.pk).update(closes_at=late + timedelta(hours=1))
    played.begun(late)
    Entry.objects.update(disqualified="shared data")
    assert codes(attempt(rules.begin, played.hanako, played.entry, played.phase, late)) == [
        "submissions.disqualified"
    ]


@pytest.mark.django_db
@pytest.mark.parametrize("state", [PhaseState.SEALING, PhaseState.CLOSED])
def test_a_phase_that_was_closed_while_files_came_takes_nothing(state: PhaseState) -> None:
    played = Played()
    submission = played.sent()
    Phase.objects.filter(pk=played.phase.pk).update(state=state)
    assert codes(attempt(rules.finish, submission, NOON)) == ["submissions.closed"]


@pytest.mark.django_db
def test_a_team_that_is_out_hands_in_nothing_and_is_told_why() -> None:
    played = Played()
    submission = played.sent()
    contest_rules.disqualify(organizer(), played.entry, "shared data")
    assert codes(attempt(rules.finish, submission, NOON)) == ["submissions.disqualified"]
    assert codes(attempt(rules.begin, played.hanako, played.entry, played.phase, NOON)) == [
        "submissions.disqualified"
    ]


@pytest.mark.django_db
def test_only_the_teams_own_people_but_advisers_hand_in_withdraw_and_choose() -> None:
    played = Played()
    submission = played.handed_in()
    stranger = making.user("stranger")
    making.team(played.contest, "owls", stranger)
    for user in (played.adviser, stranger, organizer(), making.user("nobody"), None):
        with pytest.raises(PermissionDenied):
            rules.begin(user, played.entry, played.phase, NOON)
    for user in (played.adviser, stranger, organizer()):
        with pytest.raises(PermissionDenied):
            rules.withdraw(user, submission, NOON)
        with pytest.raises(PermissionDenied):
            rules.choose(user, submission, NOON)


@pytest.mark.django_db
def test_bots_hand_in_without_an_account_in_rehearsals_alone() -> None:
    played = Played()
    Contest.objects.update(rehearsal=True)
    entry = making.entry(played.entry.team)
    assert rules.begin(None, entry, played.phase, NOON).user is None


# -- files -----------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_file_is_as_large_as_its_pattern_allows_and_one_of_an_unknown_name_is_refused() -> None:
    played = Played()
    submission = played.begun()
    limits = {pattern.template: pattern.max_bytes for pattern in Amic2020().phase(ANONYMIZE).files}
    small = limits["questionnaire_{team}.json"]
    assert rules.most_bytes(submission, "questionnaire_01.json") == small
    assert codes(attempt(rules.most_bytes, submission, "whatever.csv")) == [
        "submissions.no_such_file"
    ]
    assert codes(
        attempt(rules.add_file, submission, "questionnaire_01.json", blob(small + 1, "b" * 64))
    ) == ["source.too_large"]
    (problem,) = attempt(rules.add_file, submission, "whatever.csv", blob())  # type: ignore[misc]
    assert "pre_anonymizeddata_01.csv, questionnaire_01.json" in problem.in_language("en"), (
        "the team's own names"
    )
    rules.add_file(submission, "questionnaire_01.json", blob(small, "d" * 64))
    assert [file.name for file in submission.files.all()] == ["questionnaire_01.json"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["", "a/b.csv", "a\\b.csv", "..", ".DS_Store", "a\nb.csv", "\x1b[31m.csv", "x" * 201]
)
def test_a_name_that_cannot_be_shown_or_leads_elsewhere_is_refused(name: str) -> None:
    submission = Played().begun()
    assert codes(attempt(rules.add_file, submission, name, blob())) == ["release.bad_name"]


@pytest.mark.django_db
def test_a_name_that_some_system_takes_for_something_else_is_refused() -> None:
    submission = Played().begun()
    for name in (
        "CON",
        "nul.csv",
        "com1.tar.gz",
        "-rf",
        "a.csv ",
        " a.csv",
        "a.",
        "a\ufffd.csv",
        "a:b.csv",
        "what?.csv",
    ):
        assert codes(attempt(rules.add_file, submission, name, blob())) == [
            "release.unsafe_name"
        ], name
    assert codes(attempt(rules.add_file, submission, "contents-1.csv", blob())) != [
        "release.unsafe_name"
    ]
    rules.add_file(submission, "pre_anonymizeddata_01.csv", blob())


@pytest.mark.django_db
def test_the_same_name_again_replaces_the_file_and_there_is_a_limit_to_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Played()
    submission, other = played.begun(), played.begun()
    first, second, third = (f"pre_anonymizeddata_{team}.csv" for team in ("01", "02", "03"))
    rules.add_file(submission, first, blob())
    rules.add_file(submission, first, blob(6, "b" * 64))
    assert [(file.name, file.blob_id) for file in submission.files.all()] == [(first, "b" * 64)]
    rules.add_file(submission, second, blob())
    assert codes(attempt(rules.add_file, submission, third, blob())) == ["release.too_many_files"]
    monkeypatch.setattr(rules, "MAX_BYTES", 15)
    assert codes(attempt(rules.add_file, other, first, blob())) == ["submissions.no_room"]
    assert rules.most_bytes(other, first) == 4
    rules.finish(submission, NOON)
    rules.add_file(other, first, blob())


@pytest.mark.django_db
def test_nobody_fills_the_disk_with_entries_that_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = Played()
    refused, next_one, name = played.begun(), played.begun(), "pre_anonymizeddata_01.csv"
    rules.add_file(refused, name, blob(10))
    Submission.objects.filter(pk=refused.pk).update(
        state=State.INVALID, number=1, received_at=timezone.now()
    )
    monkeypatch.setattr(rules, "MAX_BYTES", 15)
    assert codes(attempt(rules.add_file, next_one, name, blob(10, "c" * 64))) == [
        "submissions.no_room"
    ]
    Submission.objects.filter(pk=refused.pk).update(
        received_at=timezone.now() - timedelta(hours=25)
    )
    rules.add_file(next_one, name, blob(10, "c" * 64))


@pytest.mark.django_db
def test_where_a_zip_may_come_it_may_have_any_name() -> None:
    submission = Played(rulebook="pwscup2024").begun()
    for name in ("C01.zip", "release of ours.ZIP", "C01_0.csv", "id.txt"):
        rules.add_file(submission, name, blob())
    assert codes(attempt(rules.add_file, submission, "C01.tar", blob())) == [
        "submissions.no_such_file"
    ]


@pytest.mark.django_db
def test_the_name_of_a_guess_tells_its_target() -> None:
    submission = Played(ATTACK, rulebook="darc2019", round_name="round").begun(
        START + timedelta(days=9)
    )
    names = [
        pattern.name(target="02-3", attacker="01") for pattern in declared_files("darc2019", ATTACK)
    ]
    file = rules.add_file(submission, names[0], blob())
    assert getattr(file, "target", "") == "02-3"


def declared_files(rulebook: str, kind: str) -> Any:
    from kakurenbo.methods import registry

    return registry.load("rulebooks", rulebook)().phase(kind).files


# -- tries -----------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_no_more_are_received_than_there_are_tries() -> None:
    played = Played(tries_in_all=3)
    sent = [played.sent() for _ in range(8)]
    outcomes = at_once(lambda number: attempt(rules.finish, sent[number], NOON), len(sent))
    received = Submission.objects.filter(state=State.RECEIVED)
    assert sorted(received.values_list("number", flat=True)) == [1, 2, 3]
    assert Submission.objects.filter(state=State.WITHDRAWN).count() == 5
    assert [codes(outcome) for outcome in outcomes if not hasattr(outcome, "value")] == [
        ["submissions.no_try_left", "submissions.tries_in_checking"]
    ] * 5
    assert Job.objects.count() == 3
    assert [logged.number for logged in played.contest.log.all()] == list(
        range(played.contest.log.count())
    )


@pytest.mark.django_db(transaction=True)
def test_of_the_same_submission_finished_by_many_at_once_one_is_received() -> None:
    played = Played(tries_in_all=3)
    submission = played.sent()
    outcomes = at_once(lambda _: rules.finish(submission, NOON), 6)
    assert {outcome.number for outcome in outcomes} == {1}
    assert Job.objects.count() == 1
    assert played.contest.log.filter(kind="submission.received").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_teams_do_not_take_each_others_tries() -> None:
    played = Played(tries_in_all=1)
    taro = making.user("taro")
    other = making.entry(making.team(played.contest, "owls", taro))
    sent = [played.sent(), rules.begin(taro, other, played.phase, NOON)]
    rules.add_file(sent[1], "pre_anonymizeddata_02.csv", blob())
    assert [
        outcome.number for outcome in at_once(lambda number: rules.finish(sent[number], NOON), 2)
    ] == [1, 1]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("zone", "reset_hour", "last", "first"),
    [
        ("Asia/Tokyo", 0, "2026-04-02T14:59:59", "2026-04-02T15:00:00"),
        ("UTC", 0, "2026-04-02T23:59:59", "2026-04-03T00:00:00"),
        ("Asia/Tokyo", 9, "2026-04-02T23:59:59", "2026-04-03T00:00:00"),
        ("America/New_York", 0, "2026-04-03T03:59:59", "2026-04-03T04:00:00"),
    ],
)
def test_a_day_of_tries_ends_at_the_hour_of_the_contests_zone(
    zone: str, reset_hour: int, last: str, first: str
) -> None:
    played = Played(zone=zone, tries_per_day=1, reset_hour=reset_hour)
    before, after = (datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in (last, first))
    played.handed_in(now=before)
    refusal = attempt(rules.begin, played.hanako, played.entry, played.phase, before)
    assert codes(refusal) == ["submissions.no_try_today", "submissions.tries_in_checking"]
    problem, _ = refusal  # type: ignore[misc]
    local = after.astimezone(ZoneInfo(zone))
    elsewhere = "" if zone == "UTC" else f"; {after:%Y-%m-%d %H:%M:%S} UTC"
    assert f"{local:%Y-%m-%d %H:%M:%S} ({zone}{elsewhere})" in problem.in_language("en")
    assert "tries of today (1) in the phase anonymize (round pre)" in problem.in_language("en")
    left = quota_left(played.entry, played.phase, before)
    assert (left.count, left.again_at, left.resets_at) == (0, after, after)
    assert played.handed_in(now=after).number == 2


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("start", "night", "hours"),
    [("2026-03-25", "2026-03-28T23:00", 23), ("2026-10-21", "2026-10-24T22:00", 25)],
)
def test_where_clocks_are_turned_the_day_of_tries_is_an_hour_shorter_or_longer(
    start: str, night: str, hours: int
) -> None:
    begins, midnight = (
        datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in (start, night)
    )
    played = Played(zone="Europe/Berlin", tries_per_day=1, start=begins)
    played.handed_in(now=midnight)
    ends = midnight + timedelta(hours=hours)
    assert quota_left(played.entry, played.phase, midnight).again_at == ends
    late = attempt(
        rules.begin, played.hanako, played.entry, played.phase, ends - timedelta(seconds=1)
    )
    assert codes(late)[0] == "submissions.no_try_today"
    assert played.handed_in(now=ends).number == 2


@pytest.mark.django_db
@pytest.mark.parametrize("way", ["invalid", "failed", "withdraw"])
def test_what_is_refused_or_fails_or_is_withdrawn_costs_no_try(way: str) -> None:
    played = Played(tries_in_all=1)
    submission = played.handed_in()
    assert (
        codes(attempt(rules.begin, played.hanako, played.entry, played.phase, NOON))[0]
        == "submissions.no_try_left"
    )
    if way == "withdraw":
        rules.withdraw(played.hanako, submission, NOON)
    else:
        assert rules.checking(submission)
        assert getattr(rules, way)(submission)
    assert quota_left(played.entry, played.phase, NOON).count == 1
    assert played.handed_in().number == 2, "numbers are given once"


@pytest.mark.django_db
def test_who_has_used_all_tries_is_told_how_many_are_being_checked_and_may_come_back() -> None:
    played = Played(tries_in_all=3)
    played.judged()
    waiting = [played.handed_in(), played.handed_in()]
    used, checking = played_refusal(played)
    assert used.in_language("en").endswith("of what was handed in, what is valid counts")
    assert checking.in_language("en").startswith("entries that are still being checked: 2; ")
    assert "2 件" in checking.in_language("ja")
    for submission in waiting:
        assert rules.checking(submission)
        assert rules.scored(submission)
    assert codes(played_refusal(played)) == ["submissions.no_try_left"]


def played_refusal(played: Played) -> Problems:
    refusal = attempt(rules.begin, played.hanako, played.entry, played.phase, NOON)
    assert isinstance(refusal, Problems)
    return refusal


@pytest.mark.django_db
def test_what_the_process_died_of_takes_its_try_until_an_organizer_has_looked() -> None:
    played = Played(tries_in_all=1)
    assert rules.parked(played.handed_in())
    assert quota_left(played.entry, played.phase, NOON).exhausted


@pytest.mark.django_db
def test_tries_on_a_target_are_counted_for_each_and_refused_files_are_free() -> None:
    day = START + timedelta(days=9)
    played = Played(ATTACK, rulebook="darc2019", round_name="round", tries_per_target=2)
    (pattern,) = declared_files("darc2019", ATTACK)
    first, second, other = (
        pattern.name(**{"target": "02", "attacker": "01", "try": number})
        for number in ("1", "2", "3")
    )
    played.handed_in(first, now=day)
    assert quota_left(played.entry, played.phase, day, "02").count == 1
    assert quota_left(played.entry, played.phase, day, "03").count == 2
    three = played.sent(second, other, now=day)
    assert codes(attempt(rules.finish, three, day))[0] == "submissions.no_try_on_target"
    judged = [{"target": "02", "file": second}]
    played.judged(names=(second, pattern.name(target="03", attacker="01")), now=day, targets=judged)
    assert quota_left(played.entry, played.phase, day, "02").count == 0
    assert quota_left(played.entry, played.phase, day, "03").count == 2, (
        "the file for 03 was refused"
    )


@pytest.mark.django_db
def test_a_file_for_all_targets_is_a_try_on_each() -> None:
    day = START + timedelta(days=9)
    played = Played(ATTACK, rulebook="pwscup2024", tries_per_target=1)
    played.handed_in("E01.csv", now=day)
    assert quota_left(played.entry, played.phase, day, "02").count == 0
    assert (
        codes(attempt(rules.finish, played.sent("E01_02.csv", now=day), day))[0]
        == "submissions.no_try_on_target"
    )
    assert (
        codes(attempt(rules.finish, played.sent("E01.zip", now=day), day))[0]
        == "submissions.no_try_on_target"
    )


@pytest.mark.django_db
def test_wrong_submissions_are_free_but_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "RATE", 2)
    played = Played()
    played.begun()
    played.begun()
    now = Submission.objects.latest("began_at").began_at
    Phase.objects.update(opens_at=now, closes_at=now + timedelta(days=1))
    played.phase.refresh_from_db()
    assert codes(attempt(rules.begin, played.hanako, played.entry, played.phase, now)) == [
        "submissions.too_fast"
    ]
    played.begun(now + RATE_SPAN)


# -- states ----------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_states_go_one_way_and_only_from_where_they_may() -> None:
    played = Played()
    submission = played.handed_in()
    for step in (rules.scoring, rules.scored, rules.invalid, rules.failed):
        assert not step(submission)
    assert rules.checking(submission)
    assert rules.scoring(submission)
    assert rules.checking(submission), "another worker begins again"
    assert rules.scored(submission)
    for step in (
        rules.checking,
        rules.scoring,
        rules.scored,
        rules.invalid,
        rules.failed,
        rules.parked,
    ):
        assert not step(submission)
    submission.refresh_from_db()
    assert submission.state == State.SCORED


@pytest.mark.django_db(transaction=True)
def test_of_a_worker_and_a_player_who_withdraws_at_once_one_gets_it() -> None:
    played = Played()
    for _ in range(5):
        submission = played.handed_in()
        copies = [Submission.objects.get(pk=submission.pk) for _ in range(2)]

        def ask(number: int, copies: list[Submission] = copies) -> bool:
            if number == 0:
                return rules.checking(copies[0])
            return hasattr(attempt(rules.withdraw, played.hanako, copies[1], NOON), "value")

        assert sorted(at_once(ask, 2)) == [False, True]


@pytest.mark.django_db
def test_what_is_being_judged_cannot_be_withdrawn() -> None:
    played = Played()
    submission = played.handed_in()
    assert rules.checking(submission)
    assert codes(attempt(rules.withdraw, played.hanako, submission, NOON)) == [
        "submissions.too_late_to_withdraw"
    ]
    begun = played.begun()
    rules.withdraw(played.hanako, begun, NOON)
    kinds = [logged.kind for logged in played.contest.log.all()]
    assert "submission.withdrawn" not in kinds, "what was never received was never told"
    rules.withdraw(played.hanako, played.handed_in(), NOON)
    assert played.contest.log.last().kind == "submission.withdrawn"  # type: ignore[union-attr]


# -- which counts ----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_latest_valid_release_counts_and_one_below_a_threshold_only_where_there_is_no_other() -> (
    None
):
    played = Played()
    played.judged("disqualified")
    assert played.counts() == [(1, "below_threshold")]
    played.judged()
    played.judged()
    played.judged("disqualified")
    played.handed_in()
    assert played.counts() == [(3, "latest")]


@pytest.mark.django_db
def test_where_the_last_few_count_each_of_them_does() -> None:
    played = Played(rulebook="darc2019", round_name="round")
    for state in ("published", "published", "disqualified", "published", "published"):
        played.judged(state, names=("A_01.csv",))
    assert played.counts() == [(2, "last_few"), (4, "last_few"), (5, "last_few")]


def counts_as(monkeypatch: pytest.MonkeyPatch, counts: Counting) -> None:
    """Let the rulebook's entries count in another way."""
    from dataclasses import replace

    monkeypatch.setattr(
        Amic2020, "phases", tuple(replace(phase, counts=counts) for phase in Amic2020.phases)
    )


@pytest.mark.django_db
def test_where_teams_choose_their_last_choice_counts_and_without_one_the_latest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts_as(monkeypatch, Counting.CHOSEN)
    played = Played()
    first, second = played.judged(), played.judged()
    assert played.counts() == [(2, "not_chosen")]
    rules.choose(played.hanako, second, NOON)
    rules.choose(played.hanako, first, NOON + timedelta(seconds=1))
    assert played.counts() == [(1, "chosen")]
    assert Job.objects.filter(kind="standings").count() == 1, "the board follows the choice"
    assert codes(attempt(rules.choose, played.hanako, played.handed_in(), NOON)) == [
        "submissions.not_scored"
    ]
    assert codes(attempt(rules.choose, played.hanako, second, played.phase.closes_at)) == [
        "submissions.closed"
    ]
    assert played.counts() == [(1, "chosen")]


@pytest.mark.django_db
def test_where_the_best_counts_the_rulebooks_own_figure_decides(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts_as(monkeypatch, Counting.BEST)
    monkeypatch.setattr(Amic2020, "utility_score", "moved")
    played = Played()
    for value in (3, 1, 2):
        measured = [{"name": "moved", "value": value, "higher_is_better": False}]
        played.judged(record={"state": "published", "measurements": measured})
    assert played.counts() == [(2, "best")]


@pytest.mark.django_db
def test_where_the_rulebook_decides_nobody_chooses() -> None:
    played = Played()
    assert codes(attempt(rules.choose, played.hanako, played.judged(), NOON)) == [
        "submissions.nothing_to_choose"
    ]


@pytest.mark.django_db
def test_of_guesses_the_latest_at_each_target_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    day = START + timedelta(days=9)
    played = Played(ATTACK)
    for targets in (["02", "03"], ["02"], ["04"], ["04"]):
        told = [{"target": target, "file": "x"} for target in targets]
        played.judged(names=("inference_02_01.index",), now=day, targets=told)
    assert played.counts() == [
        (1, "latest_on_targets"),
        (2, "latest_on_targets"),
        (4, "latest_on_targets"),
    ]
    counts_as(monkeypatch, Counting.BEST)
    assert [number for number, _ in played.counts()] == [1, 2, 3, 4]


@pytest.mark.django_db
def test_history_has_what_was_received_the_latest_first() -> None:
    played = Played()
    played.handed_in()
    played.begun()
    rules.withdraw(played.hanako, played.handed_in(), NOON)
    assert [(one.number, one.state) for one in queries.history(played.entry, played.phase)] == [
        (2, "withdrawn"),
        (1, "received"),
    ]


def test_every_reason_has_words_in_both_languages() -> None:
    reasons = (rule.LATEST, rule.LAST_FEW, rule.BEST, rule.CHOSEN, rule.NOT_CHOSEN, rule.BELOW)
    for reason in (*reasons, rule.ON_TARGETS, rule.BEST_ON_TARGETS):
        assert not queries.which_counts(reason, 3, "en").startswith("counts.")
        assert queries.which_counts(reason, 3, "en") != queries.which_counts(reason, 3, "ja")
    assert "the last 3 valid entries" in queries.which_counts(rule.LAST_FEW, 3, "en")
