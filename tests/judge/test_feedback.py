"""What players learn before the end: as the rulebook's feedback says on every way out, and how much of the answers that is."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from tests.judge import making
from tests.judge.making import START, organizer
from tests.judge.test_permissions import MEASURED, RECORD, RESULT

from kakurenbo.contest import ANONYMIZE, ATTACK, Counting, Feedback
from kakurenbo.contest.rulebook import Rulebook
from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.contests import leakage, rules
from kakurenbo.judge.contests.leakage import leak, leaks
from kakurenbo.judge.contests.models import Contest, Phase, PhaseState, Visibility
from kakurenbo.judge.contests.rules import PhasePlan
from kakurenbo.judge.scoring.models import Judging, StandingSnapshot
from kakurenbo.judge.scoring.results import take_snapshot
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.judge.submissions.queries import which_counts
from kakurenbo.judge.trust import rules as trust
from kakurenbo.methods import registry
from kakurenbo.reports.document import FORMAT
from kakurenbo.rulebooks.amic2020.rulebook import Amic2020

RULEBOOKS = ["amic2020", "darc2019", "pwscup2021", "pwscup2024"]
"""Of which ``make soak`` plays every one where one of them is enough to tell a fault."""
WEEK = timedelta(days=7)
LIVE = PhasePlan("only", ATTACK, START, START + WEEK, visibility="live")


# -- how much feedback tells, by hand --------------------------------------------------------------------------------------


def test_the_worked_example_of_the_documentation_comes_out_as_by_hand(plugins: Path) -> None:
    assert plugins
    town = registry.load("rulebooks", "hide-and-seek")(size=40)
    found = leak(town, "only", replace(LIVE, tries_in_all=3), "Asia/Tokyo")
    assert found.questions == 4  # and the one attack of the organizers
    assert found.bits_each == math.log2(11)  # 0 to 10 hits
    assert found.answer_bits == pytest.approx(math.log2(137_846_528_820))  # 20 of 40 people
    assert (round(found.bits, 2), round(found.answer_bits, 2)) == (13.84, 37.0)
    assert (round(found.share or 0, 4), found.warns) == (0.3739, True)


@pytest.mark.parametrize(
    ("rulebook", "options", "outcomes", "bits"),
    [
        ("amic2020", {"scale": "small"}, 101, math.log2(math.comb(10_000, 1_000))),
        (
            "pwscup2021",
            {"order": "sorted"},
            51**3,
            math.log2(math.comb(100, 50) * math.comb(2095, 50)),
        ),
        ("pwscup2024", {}, 51 * 51, math.log2(math.factorial(50) * 6**50)),
        ("darc2019", {"scale": "small"}, 3 * 400 * 13 + 1, 13 * math.log2(math.factorial(30))),
    ],
)
def test_the_rulebooks_tell_how_many_credits_there_are_and_how_large_an_answer_is(
    rulebook: str, options: dict[str, Any], outcomes: int, bits: float
) -> None:
    book = registry.load("rulebooks", rulebook)(**options)
    assert (book.credit_outcomes(), book.answer_bits()) == (outcomes, pytest.approx(bits, rel=1e-9))


def test_of_a_rulebook_that_tells_nothing_the_worst_is_assumed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("credit_outcomes", "answer_bits"):
        monkeypatch.setattr(Amic2020, name, getattr(Rulebook, name))
    found = leak(Amic2020(), "pre", replace(LIVE, tries_in_all=2), "UTC")
    asked = 2 + len(Amic2020().sample_attacks)
    assert (found.bits_each, found.bits, found.share, found.warns) == (53, 53 * asked, None, True)


@pytest.mark.parametrize(
    ("limits", "tries"),
    [
        ({"tries_in_all": 9, "tries_per_day": 2, "tries_per_target": 4}, 4),
        ({"tries_in_all": 9, "tries_per_day": 2}, 9),
        (
            {"tries_per_day": 1},
            8,
        ),  # a week from nine in the morning in Tokyo has a part of eight days
        ({"tries_per_day": 1, "reset_hour": 9}, 7),
        ({}, 60 * 6 * 24 * 7),  # as fast as the judge lets anybody
    ],
)
def test_questions_are_bounded_by_every_limit_there_is(limits: dict[str, int], tries: int) -> None:
    assert leakage.most_tries(replace(LIVE, **limits), "Asia/Tokyo") == tries


def test_nobody_learns_more_than_there_is_and_boards_that_stand_still_tell_nothing() -> None:
    book = registry.load("rulebooks", "pwscup2024")()
    found = leak(book, "pre", LIVE, "UTC")
    assert (found.bits, found.share) == (found.answer_bits, 1)
    for changes in (
        {"visibility": "frozen"},
        {"visibility": "hidden"},
        {"visibility": ""},
        {"kind": ANONYMIZE},
    ):
        still = leak(book, "pre", replace(LIVE, **changes), "UTC")
        assert (still.questions, still.bits, still.share, still.warns) == (0, 0, 0, False)


@pytest.mark.django_db
@pytest.mark.parametrize("language", ["en", "ja"])
def test_organizers_see_it_before_a_contest_is_made_on_its_page_and_by_the_api(
    language: str,
) -> None:
    contest = making.contest(phases=making.plan(visibility="live", tries_in_all=3))
    client = Client(headers={"accept-language": language})
    client.force_login(organizer(), "django.contrib.auth.backends.ModelBackend")
    (_, attack) = leaks(contest)
    shown = f"{attack.bits:,.1f}"
    assert attack.questions == 3 + len(Amic2020().sample_attacks)
    assert shown in client.get("/contests/cup/manage/").content.decode()
    form = client.get("/contests/new/amic2020/").content.decode()
    assert all(
        figure in form
        for figure in (
            f"{60_480 + len(Amic2020().sample_attacks):,}",
            f"{math.log2(101):.2f}",
            "46,891.7",
        )
    )  # were a week's board live
    assert "= 46,891.7" not in form, "an equation holds"
    assert f"= {(60_480 + len(Amic2020().sample_attacks)) * math.log2(101):,.1f}" in form
    told = client.get("/api/v1/contests/cup/feedback").json()
    assert [(one["phase"], one["questions"], one["bits"]) for one in told] == [
        (ANONYMIZE, 0, 0),
        (ATTACK, attack.questions, attack.bits),
    ]


@pytest.mark.django_db
def test_what_the_form_says_of_feedback_follows_its_fields() -> None:
    client = Client()
    client.force_login(organizer(), "django.contrib.auth.backends.ModelBackend")
    address = "/contests/new/amic2020/"
    page = client.get(address)
    assert f'hx-post="{address}leaks"' in page.content.decode()
    given = {}
    for form in (*page.context["phases"], page.context["options"]):
        given |= {
            f"{form.prefix}-{name}": form[name].value()
            for name in form.fields
            if form[name].value() is not None
        }

    def told(**changed: Any) -> str:
        html = client.post(
            f"{address}leaks", {**given, "zone": "Asia/Tokyo", **changed}
        ).content.decode()
        return next(one for one in html.split("<p ") if 'id="leak-pre"' in one)

    samples = len(Amic2020().sample_attacks)
    assert 'hx-swap-oob="true"' in told()
    assert f"at most {3 + samples} guesses" in told(**{"pre-attack-tries_in_all": 3})
    assert "With live standings" in told()
    assert "As chosen here" in told(**{"pre-attack-visibility": "live"})
    assert "46,891.7" in told()
    assert "46,891.7" not in told(**{"option-scale": "small"}), "the answer is smaller"
    assert "when the fields of the phase are filled in" in told(
        **{"pre-attack-tries_in_all": "many"}
    )
    assert client.post("/contests/new/nothing/leaks").status_code == 404


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
