"""Contests, teams and people: what is allowed is done and logged, what is not is named."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone
from tests.judge import making
from tests.judge.making import START, at_once, codes, organizer, plan
from tests.reading import Read, attempt

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.core import InputError
from kakurenbo.core.messages import text
from kakurenbo.judge.contests import permissions, queries, rules
from kakurenbo.judge.contests.models import (
    Contest,
    Entry,
    Invite,
    Membership,
    Phase,
    PhaseState,
    Role,
)
from kakurenbo.judge.contests.planning import told_time
from kakurenbo.judge.contests.rulebooks import contest_options, declared_phase, rules_of
from kakurenbo.judge.scoring.models import Job, Target
from kakurenbo.judge.trust.models import LogEntry

pytestmark = pytest.mark.django_db


# -- a contest is made -----------------------------------------------------------------------------------------------------


def test_a_contest_has_rounds_and_phases_a_key_and_a_log() -> None:
    contest = making.contest(
        phases=plan(rounds=("pre", "main"), tries_per_day=3, reset_hour=9),
        options={"scale": "small"},
    )
    assert [round_.name for round_ in contest.rounds.all()] == ["pre", "main"]
    assert [(phase.round.name, phase.kind) for phase in queries.schedule(contest)] == [
        *(("pre", ANONYMIZE), ("pre", ATTACK)),
        *(("main", ANONYMIZE), ("main", ATTACK)),
    ]
    assert {
        (phase.tries_per_day, phase.reset_hour, phase.state) for phase in queries.schedule(contest)
    } == {(3, 9, "waiting")}
    assert len(contest.public_key) == 32
    assert [logged.kind for logged in contest.log.all()] == ["contest.made"]


def test_options_are_kept_as_values_whether_given_as_texts_or_values_and_make_the_rules() -> None:
    contest = making.contest(
        options={"scale": "small", "rate": "0.2", "min_rows": "none", "edition": 2}
    )
    assert contest.options == {"scale": "small", "rate": 0.2, "min_rows": None, "edition": 2}
    built: Any = rules_of(contest, contest.rounds.get())
    assert (built.scale, built.rate, built.edition, built.round) == ("small", 0.2, 2, "pre")


def test_the_options_of_a_contest_are_those_that_its_steps_declare_but_never_the_round() -> None:
    names = [option.name for option in contest_options("amic2020")]
    assert "round" not in names
    assert {"scale", "rate", "rounding", "vcm"} <= set(names)
    assert [option.name for option in contest_options("darc2019")] == [
        "mode",
        "scale",
        "data",
        "table",
    ]


def test_only_organizers_make_contests() -> None:
    with pytest.raises(PermissionDenied):
        rules.make_contest(
            making.user(),
            title="x",
            slug="x",
            rulebook="amic2020",
            options={},
            zone="UTC",
            places=3,
            phases=plan(),
        )
    assert not Contest.objects.exists()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"rulebook": "nothing"}, ["contests.unknown_rulebook"]),
        ({"title": " "}, ["contests.bad_words"]),
        ({"title": "x" * 201}, ["contests.bad_words"]),
        ({"slug": "a b"}, ["contests.bad_slug"]),
        ({"slug": "x" * 51}, ["contests.bad_slug"]),
        ({"zone": "Mars/Olympus"}, ["contests.unknown_zone"]),
        ({"zone": "Europe"}, ["contests.unknown_zone"]),
        ({"zone": "../../etc/passwd"}, ["contests.unknown_zone"]),
        ({"places": 0}, ["contests.bad_places"]),
        ({"places": 100}, ["contests.bad_places"]),
        ({"options": {"round": "pre"}}, ["contests.unknown_option"]),
        ({"options": {"rate": "2"}}, ["contests.bad_option"]),
        (
            {"options": {"rate": "x", "scale": "huge"}},
            ["contests.bad_option", "contests.bad_option"],
        ),
        ({"phases": []}, ["contests.no_phases"]),
        ({"phases": plan(rounds=("third",))}, ["contests.unknown_round"]),
        ({"phases": plan()[:1]}, ["contests.wrong_phases"]),
        ({"phases": plan() * 2}, ["contests.wrong_phases"]),
        ({"phases": plan(tries_in_all=0)}, ["contests.bad_tries", "contests.bad_tries"]),
        ({"phases": plan(reset_hour=24)[:1] + plan()[1:]}, ["contests.bad_hour"]),
        ({"phases": plan(visibility="veiled")[:1] + plan()[1:]}, ["contests.bad_visibility"]),
        (
            {"phases": [plan()[0], replace(plan()[1], opens_at=START + timedelta(days=6))]},
            ["contests.phases_overlap"],
        ),
        (
            {"phases": [replace(plan()[0], closes_at=START), plan()[1]]},
            ["contests.closes_before_it_opens"],
        ),
        ({"phases": plan(START - timedelta(days=7))}, ["contests.closes_in_the_past"]),
        ({"phases": plan(START - timedelta(days=30))}, ["contests.closes_in_the_past"] * 2),
        (
            {"phases": [replace(plan()[0], closes_at=START + timedelta(seconds=59)), plan()[1]]},
            ["contests.phase_too_short"],
        ),
        ({"phases": plan(rounds=("main", "pre"))}, ["contests.phases_overlap"]),
        (
            {"phases": [*plan(), *plan(START + timedelta(days=14), ("main",))]},
            ["contests.phases_overlap"],
        ),
        (
            {"phases": [*plan(), *plan(START + timedelta(days=40), ("main",))], "zone": "x"},
            ["contests.unknown_zone"],
        ),
        (
            {"title": "", "slug": "", "zone": ""},
            ["contests.bad_words", "contests.bad_slug", "contests.unknown_zone"],
        ),
    ],
)
def test_everything_that_is_wrong_with_a_contest_is_told_at_once(
    changes: dict[str, Any], expected: list[str]
) -> None:
    given = {
        "title": "Cup",
        "slug": "cup",
        "rulebook": "amic2020",
        "options": {},
        "zone": "UTC",
        "places": 5,
        "phases": plan(),
    }
    assert (
        codes(attempt(rules.make_contest, organizer(), **{**given, **changes}, now=START))
        == expected
    )
    assert not Contest.objects.exists()


def test_a_phase_whose_beginning_is_past_opens_at_once() -> None:
    contest = making.contest(phases=plan(START), now=START + timedelta(days=1))
    assert making.phase(contest).opens_at == START


def test_an_address_has_one_contest() -> None:
    making.contest("cup")
    given: dict[str, Any] = {
        "title": "Cup",
        "slug": "cup",
        "rulebook": "amic2020",
        "options": {},
        "zone": "UTC",
        "places": 5,
    }
    assert codes(attempt(rules.make_contest, organizer(), **given, phases=plan(), now=START)) == [
        "contests.slug_taken"
    ]


# -- the plan that a rulebook suggests -------------------------------------------------------------------------------------


def test_the_suggested_plan_has_every_phase_in_order_and_the_rulebooks_tries() -> None:
    suggested = rules.default_plan("darc2019", START, "Asia/Tokyo")
    assert [(phase.round, phase.kind, phase.tries_per_target) for phase in suggested] == [
        ("round", ANONYMIZE, None),
        ("round", ATTACK, 10),
    ]
    assert suggested[0].opens_at == START
    assert suggested[0].closes_at < suggested[1].opens_at
    making.contest(rulebook="darc2019", options={}, phases=suggested)


def test_standings_are_hidden_while_teams_attack_unless_the_organizer_says_otherwise() -> None:
    for plans in (rules.default_plan("amic2020", START, "Asia/Tokyo"), plan()):
        assert {(one.kind, one.visibility) for one in plans} == {
            (ANONYMIZE, "live"),
            (ATTACK, "hidden"),
        }
    contest = making.contest(phases=[replace(one, visibility="live") for one in plan()])
    assert making.phase(contest, ATTACK).visibility == "live"
    assert making.phase(making.contest("other"), ATTACK).visibility == "hidden"


def test_the_suggested_plan_keeps_wall_times_where_clocks_are_turned() -> None:
    suggested = rules.default_plan(
        "amic2020", datetime(2026, 3, 20, 8, tzinfo=UTC), "Europe/Paris"
    )  # 9:00; turned on 29 March
    assert suggested[0].closes_at.astimezone(UTC) == datetime(2026, 4, 3, 7, tzinfo=UTC)
    assert suggested[0].closes_at.hour == 9


def test_a_rulebooks_reset_hour_is_told_in_the_contests_zone() -> None:
    assert [phase.reset_hour for phase in rules.default_plan("amic2020", START, "Asia/Tokyo")] == [
        0
    ] * 4
    assert [phase.reset_hour for phase in rules.default_plan("amic2020", START, "UTC")] == [15] * 4


def test_a_rulebook_that_is_not_there_suggests_nothing() -> None:
    assert rules.default_plan("nothing", START, "UTC") == []


# -- teams -----------------------------------------------------------------------------------------------------------------


def test_teams_take_the_next_free_number_or_the_one_they_ask_for_and_gaps_stay() -> None:
    contest = making.contest()
    numbers = [
        making.team(contest, name, number=number).number
        for name, number in [("a", "03"), ("b", ""), ("c", ""), ("d", "")]
    ]
    assert numbers == ["03", "01", "02", "04"]
    assert queries.free_places(contest) == ["05"]
    assert [team.number for team in queries.team_list(contest)] == ["01", "02", "03", "04"]
    assert codes(attempt(rules.add_team, organizer(), contest, "e", "04")) == [
        "contests.number_not_free"
    ]
    assert codes(attempt(rules.add_team, organizer(), contest, "e", "06")) == [
        "contests.number_not_free"
    ]


def test_there_are_at_most_so_many_teams_as_places_and_each_name_once() -> None:
    contest = making.contest(places=1)
    making.team(contest, "foxes")
    assert codes(attempt(rules.add_team, organizer(), contest, "foxes")) == [
        "contests.no_place",
        "contests.name_taken",
    ]
    assert codes(attempt(rules.add_team, organizer(), contest, "")) == [
        "contests.bad_words",
        "contests.no_place",
    ]


@pytest.mark.parametrize(
    "name", ["\u0422\u0435am fox", "TEAM FOX", "\uff34eam  fox", "Team f\u03bfx", "Team \ufb01sh"]
)
def test_no_team_has_a_name_that_looks_like_anothers(name: str) -> None:
    contest = making.contest()
    making.team(contest, "Team fox")
    making.team(contest, "Team fish")
    assert codes(attempt(rules.add_team, organizer(), contest, name)) == [
        "contests.name_looks_like"
    ]
    making.team(contest, "Team foxes")


def test_a_team_enters_every_round_and_after_releases_are_taken_it_only_attacks() -> None:
    contest = making.contest(phases=plan(rounds=("pre", "main")))
    early = making.team(contest, "early")
    assert [
        (entry.round.name, entry.excused) for entry in early.entries.order_by("round__position")
    ] == [
        ("pre", ""),
        ("main", ""),
    ]
    Phase.objects.filter(round__name="pre", kind=ANONYMIZE).update(state=PhaseState.SEALING)
    late = making.team(contest, "late")
    assert dict(late.entries.values_list("round__name", "excused")) == {
        "pre": text("contests.joined_late"),
        "main": "",
    }
    Phase.objects.filter(round__name="pre").update(state=PhaseState.CLOSED)
    later = making.team(contest, "later")
    assert dict(later.entries.values_list("round__name", "excused")) == {"main": ""}


@pytest.mark.django_db(transaction=True)
def test_of_teams_that_ask_for_the_last_place_at_once_one_gets_it() -> None:
    contest = making.contest(places=3)
    outcomes = at_once(
        lambda number: attempt(rules.add_team, organizer(), contest, f"team {number}"), 6
    )
    assert sum(isinstance(outcome, Read) for outcome in outcomes) == 3
    assert sorted(contest.teams.values_list("number", flat=True)) == ["01", "02", "03"]
    assert [logged.number for logged in contest.log.all()] == [0, 1, 2, 3]


# -- people ----------------------------------------------------------------------------------------------------------------


def test_people_join_by_a_link_in_the_role_it_is_for_and_only_its_hash_is_kept() -> None:
    contest = making.contest()
    team = making.team(contest)
    _, link = rules.invite(organizer(), team, Role.ADVISER)
    joined = rules.join(making.user("a"), link)
    assert (joined.team, joined.role) == (team, Role.ADVISER)
    assert rules.join(making.user("a"), link) == joined, "twice is once"
    rules.join(making.user("b"), link)
    assert Membership.objects.count() == 2
    assert link not in str(list(Invite.objects.values()))
    assert queries.open_invite(link, timezone.now()) is not None


def test_a_link_that_was_revoked_or_has_expired_or_never_was_is_refused() -> None:
    contest = making.contest()
    team = making.team(contest)
    revoked, first = rules.invite(organizer(), team, Role.MEMBER)
    rules.revoke_invite(organizer(), revoked)
    expired, second = rules.invite(organizer(), team, Role.MEMBER, days=1)
    Invite.objects.filter(pk=expired.pk).update(expires_at=timezone.now())
    for link in (first, second, "", "nonsense"):
        assert codes(attempt(rules.join, making.user(), link)) == ["contests.no_invite"]


def test_nobody_plays_in_two_teams_and_organizers_only_without_rank() -> None:
    contest = making.contest()
    making.team(contest, "foxes", making.user())
    owls = making.team(contest, "owls")
    _, link = rules.invite(organizer(), owls, Role.MEMBER)
    assert codes(attempt(rules.join, making.user(), link)) == ["contests.in_another_team"]
    assert codes(attempt(rules.join, organizer(), link)) == ["contests.organizers_are_unranked"]
    making.team(contest, "questioners", organizer(), unranked=True)
    other = making.contest("other")
    making.team(other, "foxes", making.user())


def test_an_invite_is_for_a_role_and_for_days() -> None:
    team = making.team(making.contest())
    for role, days in (("king", 1), (Role.MEMBER, 0), (Role.MEMBER, 1000)):
        with pytest.raises(ValueError, match="role"):
            rules.invite(organizer(), team, role, days)


@pytest.mark.parametrize(
    "decision",
    ["add_team", "invite", "revoke_invite", "reschedule", "set_visibility", "end", "announce"],
)
def test_every_decision_is_an_organizers(decision: str) -> None:
    contest = making.contest()
    team = making.team(contest)
    made, _ = rules.invite(organizer(), team, Role.MEMBER)
    phase = making.phase(contest)
    arguments: dict[str, tuple[Any, ...]] = {
        "add_team": (contest, "x"),
        "invite": (team, Role.MEMBER),
        "revoke_invite": (made,),
        "reschedule": (phase, phase.opens_at, phase.closes_at),
        "set_visibility": (phase, "hidden"),
        "end": (contest,),
        "announce": (contest, "x", "y"),
    }
    with pytest.raises(PermissionDenied):
        getattr(rules, decision)(making.user("member"), *arguments[decision])


# -- decisions while it runs -----------------------------------------------------------------------------------------------


def test_a_phase_that_waits_gets_other_times_and_the_log_tells() -> None:
    contest = making.contest(phases=plan(timezone.now() + timedelta(days=1)))
    phase = making.phase(contest)
    later = phase.opens_at + timedelta(hours=1)
    rules.reschedule(organizer(), phase, later, phase.closes_at)
    assert making.phase(contest).opens_at == later
    assert contest.log.last().kind == "phase.rescheduled"  # type: ignore[union-attr]


def test_an_open_phase_keeps_its_beginning_and_one_that_is_over_its_times() -> None:
    contest = making.contest(phases=plan(timezone.now() - timedelta(days=1)))
    phase = making.opened(contest)
    hour = timedelta(hours=1)
    assert codes(
        attempt(rules.reschedule, organizer(), phase, phase.opens_at + hour, phase.closes_at)
    ) == ["contests.phase_is_open"]
    rules.reschedule(organizer(), phase, phase.opens_at, phase.closes_at + hour)
    past = attempt(rules.reschedule, organizer(), phase, phase.opens_at, timezone.now() - hour)
    assert codes(past) == ["contests.closes_in_the_past"]
    Phase.objects.update(state=PhaseState.CLOSED)
    assert codes(
        attempt(rules.reschedule, organizer(), phase, phase.opens_at, phase.closes_at)
    ) == ["contests.phase_is_over"]


def test_no_other_times_let_phases_of_a_round_overlap() -> None:
    contest = making.contest(phases=plan(timezone.now() + timedelta(days=1)))
    first, second = making.phase(contest), making.phase(contest, ATTACK)
    wrong = [
        attempt(
            rules.reschedule,
            organizer(),
            first,
            first.opens_at,
            second.opens_at + timedelta(seconds=1),
        ),
        attempt(
            rules.reschedule,
            organizer(),
            second,
            first.closes_at - timedelta(seconds=1),
            second.closes_at,
        ),
    ]
    assert [codes(one) for one in wrong] == [["contests.phases_overlap"]] * 2
    assert codes(
        attempt(
            rules.reschedule,
            organizer(),
            first,
            first.closes_at,
            first.opens_at + timedelta(minutes=1),
        )
    ) == ["contests.closes_before_it_opens"]
    rules.reschedule(organizer(), second, first.closes_at, second.closes_at)


def test_a_contest_on_the_time_of_everybody_tells_a_time_once() -> None:
    assert told_time(START, "UTC") == f"{START:%Y-%m-%d %H:%M:%S} (UTC)"


def test_where_another_phase_is_in_the_way_it_is_named_with_its_times_and_what_to_do() -> None:
    start = timezone.now().replace(microsecond=0) + timedelta(days=1)
    contest = making.contest(phases=plan(start, ("pre", "main")), zone="Europe/Berlin")
    last, next_round = making.phase(contest, ATTACK), making.phase(contest, ANONYMIZE, "main")
    wanted = next_round.opens_at + timedelta(hours=1)
    (problem,) = attempt(rules.reschedule, organizer(), last, last.opens_at, wanted)  # type: ignore[misc]
    opens, closes = (told_time(moment, "Europe/Berlin") for moment in (next_round.opens_at, wanted))
    assert problem.in_language("en").endswith(
        f"main anonymize opens at {opens}, before pre attack closes at {closes}; "
        "first let main anonymize begin then or later, or let pre attack close earlier"
    )
    (problem,) = attempt(
        rules.reschedule,
        organizer(),
        next_round,
        last.closes_at - timedelta(hours=1),
        next_round.closes_at,
    )  # type: ignore[misc]
    assert "pre attack" in problem.in_language("ja")
    rules.reschedule(organizer(), next_round, wanted, next_round.closes_at)
    rules.reschedule(organizer(), last, last.opens_at, wanted)
    short = attempt(
        rules.reschedule, organizer(), last, last.opens_at, last.opens_at + timedelta(seconds=59)
    )
    assert codes(short) == ["contests.phase_too_short"]


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("2026-03-29T00:30:00", "2026-03-29 01:30:00 (Europe/Berlin; 2026-03-29 00:30:00 UTC)"),
        ("2026-03-29T01:00:00", "2026-03-29 03:00:00 (Europe/Berlin; 2026-03-29 01:00:00 UTC)"),
        ("2026-10-25T00:30:00", "2026-10-25 02:30:00 (Europe/Berlin; 2026-10-25 00:30:00 UTC)"),
        ("2026-10-25T01:30:00", "2026-10-25 02:30:00 (Europe/Berlin; 2026-10-25 01:30:00 UTC)"),
    ],
)
def test_times_are_told_by_the_clocks_of_the_contest_and_in_utc_for_an_hour_may_be_there_twice(
    moment: str, told: str
) -> None:
    assert told_time(datetime.fromisoformat(moment).replace(tzinfo=UTC), "Europe/Berlin") == told


def test_a_board_that_may_move_again_is_made_anew() -> None:
    contest = making.contest()
    phase = making.opened(contest)
    rules.set_visibility(organizer(), phase, "hidden")
    assert not Job.objects.exists()
    rules.set_visibility(organizer(), phase, "live")
    assert [job.kind for job in Job.objects.all()] == ["standings"]
    assert codes(attempt(rules.set_visibility, organizer(), phase, "veiled")) == [
        "contests.bad_visibility"
    ]
    kinds = [logged.kind for logged in contest.log.all()]
    rules.set_visibility(organizer(), phase, "live")
    assert [logged.kind for logged in contest.log.all()] == kinds, (
        "what changes nothing is not told"
    )


def test_a_team_is_disqualified_reinstated_and_excused_for_a_reason_that_the_log_keeps() -> None:
    contest = making.contest()
    entry = making.entry(making.team(contest))
    assert codes(attempt(rules.disqualify, organizer(), entry, " ")) == ["contests.no_reason"]
    rules.disqualify(organizer(), entry, "shared its handout")
    assert Entry.objects.get().disqualified == "shared its handout"
    rules.reinstate(organizer(), entry)
    assert Entry.objects.get().disqualified == ""
    rules.excuse(organizer(), entry, "was ill")
    assert Entry.objects.get().excused == "was ill"
    assert [logged.kind for logged in contest.log.all()][2:] == [
        "entry.disqualified",
        "entry.reinstated",
        "entry.excused",
    ]
    assert contest.log.all()[2].body["reason"] == "shared its handout"
    for decision in (rules.disqualify, rules.excuse):
        with pytest.raises(PermissionDenied):
            decision(making.user(), entry, "envy")


def test_a_team_that_was_out_while_releases_were_sealed_is_sealed_when_it_is_reinstated() -> None:
    contest = making.contest()
    entry = making.entry(making.team(contest))
    rules.disqualify(organizer(), entry, "by mistake")
    Target.objects.create(
        round=entry.round, entry=entry, name="01", record={"state": "disqualified"}
    )
    rules.reinstate(organizer(), entry)
    assert not Target.objects.exists()
    assert list(Job.objects.filter(kind="seal").values_list("subject", flat=True)) == ["01"]


def test_what_is_announced_is_kept_and_told_to_the_log() -> None:
    contest = making.contest()
    rules.announce(organizer(), contest, "Hello", "Read the rules.")
    assert [told.title for told in contest.announcements.all()] == ["Hello"]
    assert codes(attempt(rules.announce, organizer(), contest, "", "text")) == [
        "contests.bad_words"
    ]
    assert LogEntry.objects.filter(kind="announcement.made").count() == 1


def test_a_contest_ends_when_every_phase_is_closed_and_nothing_is_changed_afterwards() -> None:
    contest = making.contest()
    team = making.team(contest)
    _, link = rules.invite(organizer(), team, Role.MEMBER)
    assert codes(attempt(rules.end, organizer(), contest)) == [
        "contests.not_over",
        "contests.not_over",
    ]
    Phase.objects.update(state=PhaseState.CLOSED)
    ended = rules.end(organizer(), contest)
    assert permissions.has_ended(ended, timezone.now())
    assert codes(attempt(rules.end, organizer(), contest)) == ["contests.over"]
    assert codes(attempt(rules.add_team, organizer(), contest, "late")) == ["contests.over"]
    assert codes(attempt(rules.join, making.user(), link)) == ["contests.no_invite"]


def test_after_the_end_every_decision_on_teams_phases_and_links_is_refused_and_asks_for_no_standings() -> (
    None
):
    contest = making.contest()
    team = making.team(contest)
    entry, phase = making.entry(team), making.phase(contest, "attack")
    Phase.objects.update(state=PhaseState.CLOSED)
    rules.end(organizer(), contest)
    Job.objects.all().delete()
    logged = contest.log.count()
    later = timezone.now() + timedelta(days=1)
    refusals = [
        attempt(rules.disqualify, organizer(), entry, "shared its handout"),
        attempt(rules.reinstate, organizer(), entry),
        attempt(rules.excuse, organizer(), entry, "was ill"),
        attempt(rules.reschedule, organizer(), phase, later, later + timedelta(days=1)),
        attempt(rules.set_visibility, organizer(), phase, "hidden"),
        attempt(rules.add_team, organizer(), contest, "late"),
    ]
    assert {code for refusal in refusals for code in codes(refusal)} == {"contests.over"}
    with pytest.raises(InputError) as refused:
        rules.invite(organizer(), team, Role.MEMBER)
    assert [problem.sentence for problem in refused.value.problems] == [
        "the contest has ended; its standings are final"
    ]
    entry.refresh_from_db()
    assert (entry.disqualified, entry.excused, Job.objects.count(), contest.log.count()) == (
        "",
        "",
        0,
        logged,
    )


def test_what_a_rulebook_declares_of_a_phase_is_found_by_its_kind() -> None:
    contest = making.contest(rulebook="darc2019", options={}, phases=plan(rounds=("round",)))
    assert declared_phase(making.phase(contest, round_name="round")).keep == 3
