"""What players learn before the end: as the rulebook's feedback says, on every way out."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from tests.judge import making
from tests.judge.making import START, organizer
from tests.judge.test_permissions import MEASURED, RECORD, RESULT

from kakurenbo.contest import ANONYMIZE, ATTACK, Counting, Feedback
from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.models import Contest, Phase, PhaseState, Visibility
from kakurenbo.judge.contests.rules import PhasePlan
from kakurenbo.judge.scoring.models import Judging, StandingSnapshot
from kakurenbo.judge.scoring.results import take_snapshot
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.judge.submissions.queries import which_counts
from kakurenbo.judge.trust import rules as trust
from kakurenbo.methods import registry
from kakurenbo.reports.document import FORMAT
from kakurenbo.rulebooks.amic2020.rules import Amic2020

RULEBOOKS = ["amic2020", "darc2019", "pwscup2021", "pwscup2024"]
"""Of which ``make soak`` plays every one where one of them is enough to tell a fault."""
WEEK = timedelta(days=7)
LIVE = PhasePlan("only", ATTACK, START, START + WEEK, visibility="live")


# -- every way out ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def handed_in() -> Submission:
    """A release of the foxes that was scored, and an earlier one that was better."""
    contest = making.contest()
    team = making.team(contest, "foxes", making.user("member"))
    phase = making.opened(contest)
    for number, value in ((1, 0.75), (2, 0.25)):
        made = Submission.objects.create(
            entry=making.entry(team),
            phase=phase,
            number=number,
            received_at=timezone.now(),
            state=State.SCORED,
        )
        record = {
            **RECORD,
            "measurements": [{**MEASURED, "value": value}],
            "notices": ["a notice of 01"],
        }
        Judging.objects.create(
            submission=made, fingerprint="", verdict="scored", result={**RESULT, "record": record}
        )
        trust.record(contest, "submission.received", {"submission": str(made.pk)})
    trust.checkpoint(contest)
    return made


def ways_out(submission: Submission, user: Any) -> bytes:
    """Everything that somebody can get hold of by pages, API, log and receipts."""
    client = Client()
    client.force_login(user, "django.contrib.auth.backends.ModelBackend")
    token = {"Authorization": f"Bearer {accounts.new_token(user, 'of a test')[1]}"}
    pages = ("", "standings/", "log/", "team/", "play/", "play/pre/anonymize/")
    api = ("", "/status", "/standings", "/rounds/pre/standings", "/log", "/rounds/pre/files")
    one = (f"/submissions/{submission.pk}/", f"/submissions/{submission.pk}/receipt.json")
    got = [client.get(address) for address in (*(f"/contests/cup/{page}" for page in pages), *one)]
    also = (f"/api/v1/submissions/{submission.pk}", f"/api/v1/submissions/{submission.pk}/receipt")
    got += [
        Client().get(address, headers=token)
        for address in (*(f"/api/v1/contests/cup{place}" for place in api), *also)
    ]
    assert {answer.status_code for answer in got} <= {200, 302, 404}
    return b"\n".join(answer.getvalue() for answer in got)


@pytest.mark.django_db
@pytest.mark.parametrize("feedback", list(Feedback))
def test_figures_of_a_release_leave_before_the_end_only_where_the_feedback_gives_scores(
    handed_in: Submission, feedback: Feedback, monkeypatch: pytest.MonkeyPatch
) -> None:
    phases = (
        replace(Amic2020.phases[0], feedback=feedback, counts=Counting.BEST),
        Amic2020.phases[1],
    )
    monkeypatch.setattr(Amic2020, "phases", phases)
    monkeypatch.setattr(Amic2020, "utility_score", MEASURED["name"])
    contest = handed_in.entry.team.contest
    take_snapshot(contest, handed_in.phase.round, standings_of({"01": 0.625}))
    seen = ways_out(handed_in, making.user("member"))
    given = feedback is Feedback.SCORES
    for mark in (
        MEASURED["name"],
        "a notice of 01",
        "0.625",
        which_counts(Counting.BEST.value, 1, "en"),
    ):
        assert (mark.encode() in seen) is given, mark
    Phase.objects.update(state=PhaseState.CLOSED)
    Contest.objects.update(ended_at=timezone.now())
    assert MEASURED["name"].encode() in ways_out(handed_in, making.user("member"))


# -- a board that stands still ---------------------------------------------------------------------------------------------


def standings_of(scores: dict[str, float]) -> dict[str, Any]:
    """Standings as the ranking step gives them."""
    order = sorted(scores, key=lambda team: -scores[team])
    lines = [
        {"team": team, "score": scores[team], "rank": order.index(team) + 1, "cause": ""}
        for team in order
    ]
    made = {
        "anonymization": lines,
        "attack": lines,
        "overall": lines,
        "awards": {"overall": order[:1]},
        "beside": {},
    }
    return {"results": {"pre": {}, "round": {}}, "standings": made, "document": {"format": FORMAT}}


@pytest.mark.django_db
@pytest.mark.parametrize("visibility", [Visibility.FROZEN, Visibility.HIDDEN])
@pytest.mark.parametrize("kind", [ANONYMIZE, ATTACK])
@pytest.mark.parametrize(
    "rulebook", RULEBOOKS if os.environ.get("KAKURENBO_SOAK") else RULEBOOKS[:1]
)
def test_a_frozen_board_is_the_same_to_the_byte_while_scores_change_behind_it(
    rulebook: str, kind: str, visibility: Visibility
) -> None:
    name = registry.load("rulebooks", rulebook).rounds[0]
    contest = making.contest(rulebook=rulebook, options={}, phases=making.plan(rounds=(name,)))
    making.team(contest, "foxes", making.user("member"))
    making.team(contest, "owls")
    round_ = contest.rounds.get()
    phase = making.opened(contest, kind, name)
    Phase.objects.filter(pk=phase.pk).update(
        closes_at=timezone.now() + timedelta(days=30, hours=12), visibility="live"
    )
    take(contest, name, {"01": 0.5, "02": 0.25})
    rules.set_visibility(organizer(), phase, visibility)
    see = seen_by(contest, name)
    before = {who: see(who) for who in ("", "member", "organizer")}
    for score in (0.125, 0.0625, 0.75):
        take(contest, name, {"01": score, "02": 0.375})
        for who in ("", "member"):
            assert see(who) == before[who]
    assert see("organizer") != before["organizer"]
    assert b"0.75" in b"".join(see("organizer"))
    assert (b"0.25" in b"".join(before[""])) is (visibility == Visibility.FROZEN)
    assert StandingSnapshot.objects.filter(round=round_, shown=True).count() == 1


def take(contest: Contest, name: str, scores: dict[str, float]) -> None:
    made = standings_of(scores)
    take_snapshot(contest, contest.rounds.get(), {**made, "results": {name: {}}})


def seen_by(contest: Contest, name: str) -> Callable[[str], list[bytes]]:
    """What somebody gets of standings, by pages and by the API, always with the same session."""
    clients = {who: Client() for who in ("", "member", "organizer")}
    for who in ("member", "organizer"):
        clients[who].force_login(making.user(who), "django.contrib.auth.backends.ModelBackend")
    pages = ("", "standings/", f"standings/?round={name}")
    api = ("", "/standings", f"/rounds/{name}/standings")

    addresses = [f"/contests/{contest.slug}/{page}" for page in pages]
    addresses += [f"/api/v1/contests/{contest.slug}{place}" for place in api]

    def see(who: str) -> list[bytes]:
        found = [clients[who].get(address).content for address in addresses]
        board = clients[who].get(
            f"/contests/{contest.slug}/standings/", headers={"HX-Target": "board"}
        )
        return [_without_token(one) for one in (*found, board.content)]

    return see


def _without_token(page: bytes) -> bytes:
    """The token against forged requests is another in every answer, whatever else is in it."""
    return re.sub(rb'name="csrfmiddlewaretoken" value="\w+"', b"", page)
