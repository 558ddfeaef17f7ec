"""Who may do what: by role, phase and moment, each as a table that can be read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from tests.judge import making
from tests.judge.making import START, blob, organizer

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import permissions, queries, rules
from kakurenbo.judge.contests.models import Contest, Phase, PhaseState, Role, Round, Visibility
from kakurenbo.judge.contests.permissions import Anybody
from kakurenbo.judge.scoring.models import RoundFile

pytestmark = pytest.mark.django_db
NOON = START + timedelta(hours=12)
EVERYBODY = {"anonymous", "stranger", "other", "member", "responsible", "adviser", "organizer"}
OWN = {"member", "responsible", "adviser"}


@dataclass
class Cast:
    """A contest with two teams, and one of each role."""

    contest: Contest
    people: dict[str, Anybody]

    def allowed(self, ask: object) -> set[str]:
        assert callable(ask)
        return {role for role, user in self.people.items() if ask(user)}


@pytest.fixture
def cast() -> Cast:
    contest = making.contest()
    foxes = making.team(contest, "foxes", making.user("member"))
    for role in (Role.RESPONSIBLE, Role.ADVISER):
        _, link = rules.invite(organizer(), foxes, role)
        rules.join(making.user(role.value), link)
    making.team(contest, "owls", making.user("other"))
    people: dict[str, Anybody] = {
        role: making.user(role)
        for role in ("stranger", "other", "member", "responsible", "adviser")
    }
    return Cast(contest, {**people, "organizer": organizer(), "anonymous": AnonymousUser()})


def file(contest: Contest, path: str, visible: str, subject: str = "") -> RoundFile:
    return RoundFile.objects.create(
        round=contest.rounds.get(), path=path, visible=visible, subject=subject, blob=blob()
    )


def fresh(found: RoundFile) -> RoundFile:
    return RoundFile.objects.select_related("round__contest").get(pk=found.pk)


def state_is(
    contest: Contest, anonymize: PhaseState, attack: PhaseState, *, prepared: bool = True
) -> None:
    Round.objects.filter(contest=contest).update(prepared_at=START if prepared else None)
    Phase.objects.filter(round__contest=contest, kind=ANONYMIZE).update(state=anonymize)
    Phase.objects.filter(round__contest=contest, kind=ATTACK).update(state=attack)


WAITING, OPEN, SEALING, CLOSED = (
    PhaseState.WAITING,
    PhaseState.OPEN,
    PhaseState.SEALING,
    PhaseState.CLOSED,
)
BEFORE, ANONYMIZING, BETWEEN, ATTACKING, AFTER = (
    *((WAITING, WAITING), (OPEN, WAITING), (SEALING, WAITING)),
    *((CLOSED, OPEN), (CLOSED, CLOSED)),
)
STAGES = (BEFORE, ANONYMIZING, BETWEEN, ATTACKING, AFTER)
PLAYERS = OWN | {"other"}


@pytest.mark.parametrize(
    ("path", "visible", "subject", "expected"),
    [
        ("public/contest.json", "public", "", [EVERYBODY] * 5),
        ("teams/01/a.csv", "team", "01", [{"organizer"}, *[OWN | {"organizer"}] * 4]),
        ("teams/02/a.csv", "team", "02", [{"organizer"}, *[{"other", "organizer"}] * 4]),
        (
            "attackers/b.csv",
            "attackers",
            "",
            [*[{"organizer"}] * 3, *[PLAYERS | {"organizer"}] * 2],
        ),
        (
            "targets/02/a.csv",
            "target",
            "02",
            [*[{"organizer"}] * 3, *[PLAYERS | {"organizer"}] * 2],
        ),
        (
            "targets/02/for_01/a.csv",
            "target",
            "02",
            [*[{"organizer"}] * 3, *[OWN | {"organizer"}] * 2],
        ),
    ],
)
def test_files_of_a_round_are_fetched_by_whom_the_architectures_table_says(
    cast: Cast, path: str, visible: str, subject: str, expected: list[set[str]]
) -> None:
    found = file(cast.contest, path, visible, subject)
    seen = []
    for anonymize, attack in STAGES:
        state_is(cast.contest, anonymize, attack)
        seen.append(cast.allowed(lambda user: permissions.may_fetch(user, fresh(found), NOON)))
    assert seen == expected
    state_is(cast.contest, WAITING, WAITING, prepared=False)
    assert cast.allowed(lambda user: permissions.may_fetch(user, fresh(found), NOON)) == set()
    state_is(cast.contest, CLOSED, CLOSED)
    Contest.objects.update(ended_at=NOON)
    assert cast.allowed(lambda user: permissions.may_fetch(user, fresh(found), NOON)) == EVERYBODY
    Contest.objects.update(rehearsal=True)
    assert cast.allowed(lambda user: permissions.may_fetch(user, fresh(found), NOON)) == {
        "organizer"
    }


def test_a_team_that_is_out_gets_nothing_of_the_round_any_more(cast: Cast) -> None:
    handout, target = (
        file(cast.contest, "teams/01/a.csv", "team", "01"),
        file(cast.contest, "targets/02/a.csv", "target", "02"),
    )
    state_is(cast.contest, *ATTACKING)
    rules.disqualify(organizer(), making.entry(cast.contest.teams.get(number="01")), "cheated")
    assert cast.allowed(lambda user: permissions.may_fetch(user, fresh(handout), NOON)) == {
        "organizer"
    }
    assert cast.allowed(lambda user: permissions.may_fetch(user, fresh(target), NOON)) == {
        "organizer",
        "other",
    }


def test_secrets_are_nobodys_before_the_end_and_everybodys_after_it(cast: Cast) -> None:
    assert cast.allowed(lambda user: permissions.may_see_secrets(user, cast.contest, NOON)) == set()
    cast.contest.ended_at = NOON
    assert (
        cast.allowed(lambda user: permissions.may_see_secrets(user, cast.contest, NOON))
        == EVERYBODY
    )
    assert (
        cast.allowed(
            lambda user: permissions.may_see_secrets(
                user, cast.contest, NOON - timedelta(seconds=1)
            )
        )
        == set()
    )


def test_organizers_manage_and_teams_are_seen_by_their_own_people(cast: Cast) -> None:
    foxes = cast.contest.teams.get(number="01")
    assert cast.allowed(permissions.is_organizer) == {"organizer"}
    assert cast.allowed(lambda user: permissions.may_manage(user, cast.contest, NOON)) == {
        "organizer"
    }
    assert cast.allowed(lambda user: permissions.may_see_team(user, foxes, NOON)) == OWN | {
        "organizer"
    }
    assert cast.allowed(lambda user: permissions.membership(user, cast.contest)) == PLAYERS


@pytest.mark.parametrize("stage", STAGES)
def test_members_and_responsible_hand_in_while_their_phase_is_open(
    cast: Cast, stage: tuple[PhaseState, PhaseState]
) -> None:
    state_is(cast.contest, *stage)
    entry = making.entry(cast.contest.teams.get(number="01"))
    for kind, state in zip((ANONYMIZE, ATTACK), stage, strict=True):
        phase = making.phase(cast.contest, kind)
        expected = {"member", "responsible"} if state == OPEN else set()
        moment = phase.closes_at - timedelta(microseconds=1)
        assert (
            cast.allowed(
                lambda user, phase=phase, now=moment: permissions.may_hand_in(
                    user, entry, phase, now
                )
            )
            == expected
        )
        assert (
            cast.allowed(
                lambda user, phase=phase: permissions.may_hand_in(
                    user, entry, phase, phase.closes_at
                )
            )
            == set()
        )


def test_nobody_hands_in_for_an_entry_to_another_round(cast: Cast) -> None:
    other = making.contest("other")
    phase = making.opened(other)
    entry = making.entry(cast.contest.teams.get(number="01"))
    assert cast.allowed(lambda user: permissions.may_hand_in(user, entry, phase, NOON)) == set()


@pytest.mark.parametrize(
    ("stage", "anonymize", "attack", "seen"),
    [
        (BEFORE, "hidden", "hidden", True),
        (ANONYMIZING, "hidden", "live", False),
        (ANONYMIZING, "frozen", "hidden", True),
        (BETWEEN, "hidden", "live", False),
        (ATTACKING, "hidden", "live", True),
        (ATTACKING, "live", "hidden", False),
        (AFTER, "hidden", "hidden", True),
    ],
)
def test_standings_are_hidden_from_players_while_a_phase_hides_them(
    cast: Cast, stage: tuple[PhaseState, PhaseState], anonymize: str, attack: str, seen: bool
) -> None:
    state_is(cast.contest, *stage)
    Phase.objects.filter(kind=ANONYMIZE).update(visibility=Visibility(anonymize))
    Phase.objects.filter(kind=ATTACK).update(visibility=Visibility(attack))
    expected = EVERYBODY if seen else {"organizer"}
    assert (
        cast.allowed(
            lambda user: permissions.may_see_standings(user, cast.contest.rounds.get(), NOON)
        )
        == expected
    )


def test_rehearsals_are_the_organizers_own_affair(cast: Cast) -> None:
    Contest.objects.update(rehearsal=True)
    contest = Contest.objects.get()
    assert cast.allowed(lambda user: permissions.may_see_contest(user, contest, NOON)) == {
        "organizer"
    }
    assert cast.allowed(lambda user: queries.contests_for(user).exists()) == {"organizer"}
    assert cast.allowed(
        lambda user: permissions.may_see_standings(user, contest.rounds.get(), NOON)
    ) == {"organizer"}


def test_somebody_whose_account_is_closed_is_nobody(cast: Cast) -> None:
    User.objects.update(is_active=False)
    people = {
        role: User.objects.get(pk=user.pk)
        for role, user in cast.people.items()
        if isinstance(user, User)
    }
    assert not any(permissions.is_organizer(user) for user in people.values())
    assert not any(permissions.membership(user, cast.contest) for user in people.values())


def test_the_entry_of_somebody_is_that_of_the_team(cast: Cast) -> None:
    round_ = cast.contest.rounds.get()
    found = {role: queries.entry_of(user, round_) for role, user in cast.people.items()}
    assert {role: entry.team.number for role, entry in found.items() if entry is not None} == {
        **dict.fromkeys(OWN, "01"),
        "other": "02",
    }
