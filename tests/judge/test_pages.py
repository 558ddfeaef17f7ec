"""The pages, by Django's client on a real database: who gets where, what forms refuse, and every word from the catalogue."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import timedelta
from html import escape, unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from tests.judge import making

from kakurenbo.core.messages import render, speaking_to
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.accounts.rules import new_token, user_of_token
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.models import Contest, Entry, Membership, Phase, Team
from kakurenbo.judge.contests.rulebooks import declared_phase
from kakurenbo.judge.contests.site import site
from kakurenbo.judge.pages.filled_forms import BlankFile, FilledForm
from kakurenbo.judge.pages.forms.making import zone_choices
from kakurenbo.judge.pages.shown import counts_rule, team_rows
from kakurenbo.judge.scoring.models import JobKind, Judging, StandingSnapshot
from kakurenbo.judge.scoring.rules import enqueue
from kakurenbo.judge.scoring.sweep import sign_logs
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.judge.submissions.queries import which_counts
from kakurenbo.methods import registry
from kakurenbo.reports.document import FORMAT, Document, RulebookEntry

pytestmark = pytest.mark.django_db

PASSWORD = "hide and seek 7"
SECRET = {"name": "Aoi", "email": "aoi@example.org", "new_password": PASSWORD}


@pytest.fixture
def organizer() -> User:
    return User.objects.create_user(
        "organizer@example.org", PASSWORD, name="Organizer", is_organizer=True
    )


@pytest.fixture
def page(organizer: User) -> Client:
    """A browser in which the organizer is logged in."""
    client = Client()
    client.force_login(organizer, backend="django.contrib.auth.backends.ModelBackend")
    return client


@pytest.fixture
def contest(organizer: User) -> Contest:
    plan = rules.default_plan("amic2020", timezone.now() + timedelta(days=1), "Asia/Tokyo")
    return rules.make_contest(
        organizer,
        title="Spring",
        slug="spring",
        rulebook="amic2020",
        options={"scale": "small"},
        zone="Asia/Tokyo",
        places=4,
        phases=plan,
    )


def html_of(page: Client, address: str) -> str:
    return page.get(address).content.decode()


def form_of(page: Client, address: str) -> dict[str, Any]:
    """What a form holds when it is first shown."""
    html = page.get(address).content.decode()
    fields: dict[str, list[str]] = {}
    for tag in re.findall(r"<input[^>]*>", html):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name and "csrf" not in name[1] and name[1] not in ("next",):
            fields.setdefault(name[1], []).append(unescape(value[1]) if value else "")
    for name, options in re.findall(r'<select name="([^"]*)".*?>(.*?)</select>', html, re.DOTALL):
        chosen = re.search(r'<option value="([^"]*)" selected', options) or re.search(
            r'<option value="([^"]*)"', options
        )
        fields[name] = [unescape(chosen[1]) if chosen else ""]
    return fields


def test_a_fresh_judge_asks_for_the_organizer_and_then_never_again(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/setup"
    assert client.post("/setup", SECRET).status_code == 302
    assert User.objects.get().is_organizer
    assert client.get("/").status_code == 200
    assert (
        Client().post("/setup", {**SECRET, "email": "eve@example.org"}).headers["Location"]
        == "/login"
    )
    assert User.objects.count() == 1


def test_a_password_that_is_too_common_is_refused_with_its_reason(client: Client) -> None:
    answer = client.post("/setup", {**SECRET, "new_password": "password123"})
    assert answer.status_code == 200
    assert not User.objects.exists()
    assert 'role="alert"' in answer.content.decode()


@pytest.mark.usefixtures("organizer")
def test_who_logs_in_goes_where_they_were_heading_but_to_no_other_site() -> None:
    given = {"email": "ORGANIZER@example.org", "password": PASSWORD}
    assert Client().post("/login", {**given, "next": "/profile"}).headers["Location"] == "/profile"
    assert (
        Client().post("/login", {**given, "next": "https://evil.example/"}).headers["Location"]
        == "/"
    )
    wrong = Client().post("/login", {**given, "password": "wrong", "next": "/profile?a=b"})
    asked = Client().get("/login", {"next": "/profile?a=b"})
    kept = '<input type="hidden" name="next" value="/login?next=%2Fprofile%3Fa%3Db">'
    assert wrong.content.decode().count(kept) == asked.content.decode().count(kept) == 2, (
        "language and theme lead back here"
    )
    assert wrong.status_code == 200
    assert 'role="alert"' in wrong.content.decode()


def test_the_language_is_that_of_the_browser_until_the_viewer_chooses(page: Client) -> None:
    assert 'lang="ja"' in Client(headers={"accept-language": "ja"}).get("/login").content.decode()
    assert "ログイン" in Client(headers={"accept-language": "ja"}).get("/login").content.decode()
    page.post("/preferences", {"language": "ja", "next": "/"})
    assert User.objects.get().language == "ja"
    assert "コンテスト" in page.get("/").content.decode()


@pytest.mark.usefixtures("organizer")
def test_the_theme_that_was_chosen_is_kept(client: Client) -> None:
    client.post("/preferences", {"theme": "dark", "next": "/login"})
    assert 'data-theme="dark"' in client.get("/login").content.decode()


def test_a_contest_is_made_in_one_form_with_the_options_of_its_rulebook(page: Client) -> None:
    address = reverse("make-contest", args=["amic2020"])
    given = {
        **form_of(page, address),
        "title": "Autumn",
        "slug": "autumn",
        "option-scale": "small",
        "main-attack-tries_per_day": "3",
    }
    answer = page.post(address, given)
    assert answer.status_code == 302, answer.content.decode()
    made = Contest.objects.get()
    assert made.options == {"scale": "small"}
    assert [one.name for one in made.rounds.all()] == ["pre", "main"]
    assert Phase.objects.get(round__name="main", kind="attack").tries_per_day == 3


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_forms_warn_of_live_standings_beside_attack_phases_alone(
    page: Client, contest: Contest, language: str
) -> None:
    page.post("/preferences", {"language": language, "next": "/"})
    warning = escape(render("page.hint.attack_visibility", {}, language).message)
    address = reverse("make-contest", args=["amic2020"])
    assert page.get(address).content.decode().count(warning) == 2, "once for each round"
    chosen = form_of(page, address)
    assert (chosen["main-attack-visibility"], chosen["main-anonymize-visibility"]) == (
        ["hidden"],
        ["live"],
    )
    for phase in Phase.objects.filter(round__contest=contest):
        html = page.get(reverse("edit-phase", args=["spring", phase.pk])).content.decode()
        assert html.count(warning) == (phase.kind == "attack")


def test_times_of_the_form_are_those_of_the_contests_zone(page: Client) -> None:
    address = reverse("make-contest", args=["amic2020"])
    assert html_of(page, address).count('<span class="key mono">Asia/Tokyo</span>') == 8, (
        "beside each of eight times"
    )
    given = {
        **form_of(page, address),
        "title": "Autumn",
        "slug": "autumn",
        "pre-anonymize-opens_at": "2026-12-01T09:00",
        "zone": "Asia/Tokyo",
    }
    given["pre-anonymize-closes_at"] = "2026-12-02T09:00"
    later = {"pre-attack": (3, 4), "main-anonymize": (5, 6), "main-attack": (7, 8)}
    for phase, (opens, closes) in later.items():
        given |= {
            f"{phase}-opens_at": f"2026-12-{opens:02d}T09:00",
            f"{phase}-closes_at": f"2026-12-{closes:02d}T09:00",
        }
    assert page.post(address, given).status_code == 302
    first = Phase.objects.get(round__name="pre", kind="anonymize")
    assert first.opens_at.isoformat() == "2026-12-01T00:00:00+00:00"


def test_every_mistake_in_the_form_is_shown_at_once_beside_its_field(page: Client) -> None:
    address = reverse("make-contest", args=["amic2020"])
    given = {
        **form_of(page, address),
        "title": "",
        "option-rate": "7",
        "pre-attack-closes_at": "2020-01-01T00:00",
    }
    html = page.post(address, given).content.decode()
    for field in ("id_title-errors", "id_option-rate-errors", "id_pre-attack-closes_at-errors"):
        assert field in html


def test_phases_that_overlap_are_told_beside_a_bad_number(page: Client) -> None:
    address = reverse("make-contest", args=["amic2020"])
    given = form_of(page, address)
    given |= {
        "title": "Cup",
        "pre-anonymize-tries_in_all": "-1",
        "pre-attack-opens_at": given["pre-anonymize-opens_at"],
    }
    html = page.post(address, given).content.decode()
    assert "id_pre-anonymize-tries_in_all-errors" in html
    assert "pre attack opens at" in unescape(html)


def test_an_option_that_rounds_have_values_of_their_own_for_says_that_it_holds_for_all(
    page: Client,
) -> None:
    html = page.get(reverse("make-contest", args=["amic2020"])).content.decode()
    assert "or leave it empty for the round&#x27;s own; what you set holds for all rounds" in html


def test_who_joins_a_round_after_it_opened_is_late_and_nobody_else(
    contest: Contest, organizer: User
) -> None:
    phase = Phase.objects.get(round__contest=contest, round__name="pre", kind="anonymize")
    added = rules.add_team(organizer, contest, "Kitsune")

    def late(
        opened_ago: timedelta, state: str = "open", made_ago: timedelta = timedelta(days=9)
    ) -> bool:
        opens = added.created_at - opened_ago
        Phase.objects.filter(pk=phase.pk).update(
            opens_at=opens, closes_at=opens + timedelta(days=7), state=state
        )
        contest.created_at = added.created_at - made_ago
        return team_rows(contest, free=False)[0].late

    assert late(timedelta(hours=1))
    assert not late(-timedelta(hours=1)), "it opened after the team was added"
    assert not late(timedelta(hours=1), "waiting"), (
        "it has not opened: its data is still being drawn"
    )
    assert not late(timedelta(hours=1), made_ago=timedelta(minutes=30)), (
        "it was open from the start"
    )
    assert late(timedelta(days=8), "closed", made_ago=timedelta(minutes=30)), (
        "releases are taken no more"
    )
    others = Team.objects.create(contest=contest, number="02", name="Tanuki", unranked=False)

    def second_is_late(days: float) -> bool:
        Team.objects.filter(pk=others.pk).update(created_at=added.created_at + timedelta(days=days))
        assert not late(timedelta(hours=1), made_ago=timedelta(minutes=30))
        return team_rows(contest, free=False)[1].late

    Entry.objects.create(round=phase.round, team=others)
    assert not second_is_late(0.1), (
        "it came with the first, into a round that was open from the start"
    )
    assert second_is_late(3), "others had three days more"
    others.delete()
    contest.rehearsal = True
    assert not late(timedelta(hours=1)), "bots are added when a rehearsal begins"


def test_after_the_end_the_dashboard_offers_no_rehearsal_and_promises_no_phase(
    page: Client, contest: Contest
) -> None:
    address = reverse("manage", args=["spring"])
    assert reverse("rehearse", args=["spring"]) in page.get(address).content.decode()
    Contest.objects.filter(pk=contest.pk).update(ended_at=timezone.now())
    html = page.get(address).content.decode()
    assert reverse("rehearse", args=["spring"]) not in html
    assert "open and close by themselves" not in html
    assert "the contest is over" in html


@pytest.mark.usefixtures("contest")
def test_the_count_of_what_waits_moves_with_the_queue(page: Client) -> None:
    assert '<dd id="queue-count">' in page.get(reverse("manage", args=["spring"])).content.decode()
    assert (
        '<dd id="queue-count" hx-swap-oob="true">'
        in page.get(reverse("queue", args=["spring"])).content.decode()
    )


@pytest.mark.usefixtures("contest")
def test_an_invite_link_makes_an_account_and_a_member(page: Client) -> None:
    page.post(reverse("add-team", args=["spring"]), {"team_name": "Kitsune"})
    html = page.post(
        reverse("invite", args=["spring", "01"]), {"role": "member", "days": "7"}, follow=True
    ).content.decode()
    link = re.search(r"http://testserver(/join/[^<\s]+)", html)
    assert link is not None
    guest = Client()
    assert "Kitsune" in guest.get(link[1]).content.decode()
    assert guest.post(link[1], SECRET).headers["Location"] == reverse("team", args=["spring"])
    assert Membership.objects.get().user.email == "aoi@example.org"
    assert "Kitsune" in guest.get(reverse("team", args=["spring"])).content.decode()


def test_a_link_that_was_revoked_opens_nothing(
    page: Client, contest: Contest, organizer: User
) -> None:
    team = rules.add_team(organizer, contest, "Kitsune")
    invite, secret = rules.invite(organizer, team, "member")
    page.post(reverse("revoke-invite", args=["spring", invite.pk]))
    assert Client().get(f"/join/{secret}").status_code == 404


@pytest.mark.usefixtures("contest")
def test_the_team_list_shows_gaps_and_the_organizers_own_team(page: Client) -> None:
    page.post(
        reverse("add-team", args=["spring"]),
        {"team_name": "Tanuki", "number": "03", "unranked": "on"},
    )
    html = page.get(reverse("teams", args=["spring"])).content.decode()
    assert html.count(">free<") == 3
    assert "not ranked" in html
    refused = page.post(
        reverse("add-team", args=["spring"]), {"team_name": "Kitsune", "number": "03"}
    )
    assert refused.status_code == 200
    assert 'role="alert"' in refused.content.decode()


def test_an_organizer_disqualifies_with_a_reason_and_takes_it_back(
    page: Client, contest: Contest, organizer: User
) -> None:
    entry = rules.add_team(organizer, contest, "Kitsune").entries.first()
    assert entry is not None
    page.post(
        reverse("decide", args=["spring", entry.pk, "disqualify"]),
        {"reason": "handed in the original"},
    )
    entry.refresh_from_db()
    assert entry.disqualified == "handed in the original"
    page.post(reverse("decide", args=["spring", entry.pk, "reinstate"]))
    entry.refresh_from_db()
    assert entry.disqualified == ""


def test_a_decision_on_a_team_takes_a_second_step_that_says_what_follows(
    page: Client, contest: Contest, organizer: User
) -> None:
    entry = rules.add_team(organizer, contest, "Kitsune").entries.first()
    assert entry is not None
    address = reverse("manage-team", args=["spring", "01"])
    for what, follows in {
        "disqualify": "leave the rankings",
        "excuse": "cannot be taken back",
    }.items():
        decide = reverse("decide", args=["spring", entry.pk, what])
        step = next(one for one in html_of(page, address).split("<details")[1:] if decide in one)
        assert step.startswith(' class="confirm">'), "closed until it is asked for"
        assert follows in step
        refused = page.post(decide, {"reason": ""}).content.decode()
        assert f'href="#{what}{entry.pk}_reason"' in refused
        assert f'id="{what}{entry.pk}_reason"' in refused
        assert refused.count('<details class="confirm" open>') == 1, (
            "the step that was taken, and no other"
        )
    Contest.objects.update(ended_at=timezone.now())
    assert "/disqualify" not in html_of(page, address), "nothing is decided after the end"


@pytest.mark.usefixtures("contest")
def test_players_are_kept_from_what_is_the_organizers() -> None:
    player = Client()
    player.force_login(
        User.objects.create_user("p@example.org", PASSWORD),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    for name in ("manage", "teams", "queue", "announce"):
        assert player.get(reverse(name, args=["spring"])).status_code == 403
    assert player.get(reverse("team", args=["spring"])).status_code == 404
    assert Client().get(reverse("manage", args=["spring"])).headers["Location"].startswith("/login")


def test_a_phase_is_rescheduled_in_the_contests_zone(page: Client, contest: Contest) -> None:
    phase = contest.rounds.get(name="pre").phases.get(kind="anonymize")
    address = reverse("edit-phase", args=["spring", phase.pk])
    given = form_of(page, address)
    opens = (timezone.now() + timedelta(hours=2)).astimezone(timezone.get_fixed_timezone(9 * 60))
    answer = page.post(
        address,
        {
            **given,
            f"phase{phase.pk}-opens_at": f"{opens:%Y-%m-%dT%H:%M}",
            f"phase{phase.pk}-visibility": "hidden",
        },
    )
    assert answer.status_code == 302, answer.content.decode()
    phase.refresh_from_db()
    assert phase.visibility == "hidden"
    assert abs((phase.opens_at - opens).total_seconds()) < 60


def test_one_button_makes_a_rehearsal_that_players_do_not_see(
    page: Client, contest: Contest
) -> None:
    answer = page.post(reverse("rehearse", args=["spring"]), {"minutes": "3"})
    rehearsal = Contest.objects.exclude(pk=contest.pk).get()
    assert rehearsal.rehearsal
    assert answer.headers["Location"] == reverse("manage", args=[rehearsal.slug])
    assert page.get(answer.headers["Location"]).status_code == 200
    assert Client().get(reverse("contest", args=[rehearsal.slug])).status_code == 404
    assert Client().get(reverse("contest", args=["spring"])).status_code == 200
    others = making.contest("spring-2", rulebook=contest.rulebook)
    link = f'href="{reverse("manage", args=[rehearsal.slug])}"'
    assert link in html_of(page, reverse("manage", args=["spring"]))
    assert link not in html_of(page, reverse("manage", args=[others.slug])), (
        "another contest by the same rulebook"
    )


def test_a_contest_ends_only_where_its_short_name_is_typed(page: Client, contest: Contest) -> None:
    Phase.objects.filter(round__contest=contest).update(state="closed")
    page.post(reverse("end-contest", args=["spring"]), {"confirm": "yes"})
    contest.refresh_from_db()
    assert contest.ended_at is None
    page.post(reverse("end-contest", args=["spring"]), {"confirm": "spring"})
    contest.refresh_from_db()
    assert contest.ended_at is not None


def test_a_token_is_shown_once_and_ends_when_it_is_revoked(page: Client, organizer: User) -> None:
    assert (
        "kakurenbo_" in page.post("/profile/tokens", {"label": "CI"}, follow=True).content.decode()
    )
    token = organizer.tokens.get()
    page.post(f"/profile/tokens/{token.pk}/revoke")
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert "kakurenbo_" not in page.get("/profile").content.decode()


def test_another_password_ends_tokens_and_other_sessions_and_the_page_says_so(
    page: Client, organizer: User
) -> None:
    other = Client()
    other.force_login(organizer, backend="django.contrib.auth.backends.ModelBackend")
    _, secret = new_token(organizer, "CI")
    assert "every token is revoked" in page.get("/profile").content.decode()
    changed = page.post(
        "/profile/password", {"password": PASSWORD, "new_password": "another word 8"}, follow=True
    )
    assert "Other sessions are ended, tokens revoked: 1." in changed.content.decode()
    assert user_of_token(secret) is None
    assert other.get("/profile").status_code == 302


def test_chance_and_the_sample_attack_stand_beside_the_rankings(
    page: Client, contest: Contest, organizer: User
) -> None:
    rules.add_team(organizer, contest, "Kitsune")
    lines = [{"team": "01", "score": 0.75, "rank": 1}]
    beside = {"pre": {"chance": 0.1, "samples": {"sample attack": 0.31}}}
    standings = {
        "anonymization": lines,
        "attack": [],
        "overall": lines,
        "awards": {"overall": ["01"]},
        "beside": beside,
    }
    round_ = contest.rounds.get(name="pre")
    StandingSnapshot.objects.create(contest=contest, round=round_, shown=True, standings=standings)
    for client in (page, Client()):
        html = client.get(reverse("standings", args=["spring"]), {"round": "pre"}).content.decode()
        for words in ("Kitsune", "0.750", "Chance", "10.0 %", "Sample attack", "31.0 %"):
            assert words in html


def test_every_problem_is_named_in_file_row_and_column_in_the_viewers_language(
    page: Client, contest: Contest, organizer: User
) -> None:
    team = rules.add_team(organizer, contest, "Kitsune")
    phase = contest.rounds.get(name="pre").phases.get(kind="anonymize")
    entry = team.entries.get(round=phase.round)
    submission = Submission.objects.create(
        entry=entry, phase=phase, number=1, received_at=timezone.now(), state="invalid"
    )
    words = {
        "en": {"message": "it is empty", "fix": "remove it"},
        "ja": {"message": "空です", "fix": "削除してください"},
    }
    problem = {
        "code": "x",
        "file": "D.csv",
        "row": 17,
        "record": 16,
        "column": "age",
        "value": "",
        "severity": "violation",
        **words,
    }
    record = {"state": "refused", "cause": "", "measurements": [], "notices": []}
    result = {"record": record, "problems": [problem], "total": 5}
    Judging.objects.create(submission=submission, fingerprint="", verdict="invalid", result=result)
    html = page.get(reverse("submission", args=[submission.pk])).content.decode()
    for shown in ("D.csv", "17", "age", "it is empty", "remove it", "and 4 more"):
        assert shown in html
    grouped = {**problem, "rows": [17, 18, 19, 20], "count": 5}  # the message names the rows
    Judging.objects.update(result={**result, "problems": [grouped]})
    assert (
        "and 4 more" not in page.get(reverse("submission", args=[submission.pk])).content.decode()
    )
    page.post("/preferences", {"language": "ja"})
    assert (
        "削除してください" in page.get(reverse("submission", args=[submission.pk])).content.decode()
    )


def test_no_page_has_a_script_or_a_style_in_itself(
    page: Client, contest: Contest, organizer: User
) -> None:
    team = rules.add_team(organizer, contest, "Kitsune")
    Membership.objects.create(team=team, user=organizer)
    for name in ("contest", "standings", "manage", "teams", "team", "play"):
        html = page.get(reverse(name, args=["spring"]), follow=True).content.decode()
        assert "style=" not in html
        assert "<style" not in html
        assert not re.search(r"<script(?![^>]*src=)", html)
        assert not re.search(r"\son\w+=", html)


@pytest.mark.parametrize(
    ("rulebook", "kind", "zips"),
    [("amic2020", "anonymize", False), ("pwscup2024", "anonymize", True)],
)
def test_a_team_is_told_before_it_sends_how_large_files_may_be_and_of_zips_where_they_are_taken(
    rulebook: str, kind: str, zips: bool
) -> None:
    made, member = opened_contest(rulebook, kind)
    phase = Phase.objects.select_related("round__contest").get(round__contest=made, kind=kind)
    html = member.get(reverse("phase", args=[made.slug, phase.round.name, kind])).content.decode()
    limits = [pattern.max_bytes for pattern in declared_phase(phase).files]
    assert f'data-limit="{max(limits)}"' in html
    assert html.count("at most ") == len(limits) + 1
    assert ("A zip of the files works too." in html) == zips


def test_of_guesses_those_at_each_release_count_by_themselves() -> None:
    anonymize, attack = registry.load("rulebooks", "amic2020").phases
    assert (counts_rule(anonymize), counts_rule(attack)) == (
        "the latest valid one",
        "the latest valid guess at each release",
    )


@pytest.mark.parametrize(
    ("rulebook", "kind", "told", "commands"),
    [
        (
            "pwscup2024",
            "anonymize",
            "C01_0.csv … C01_9.csv or C01.zip, C01_choice.json or choice.json (optional), id.txt (optional)",
            [" ".join(f"C01_{number}.csv" for number in range(10)), "C01.zip"],
        ),
        (
            "pwscup2024",
            "attack",
            "E01.csv or E01.zip or E01_NN.csv, id.txt (optional)",
            ["E01.csv", "E01.zip", "E01_NN.csv"],
        ),
        ("darc2019", "attack", "guess_NN_01.csv", ["guess_NN_01.csv"]),
    ],
)
def test_files_that_may_come_in_each_others_place_are_told_as_alternatives(
    rulebook: str, kind: str, told: str, commands: list[str]
) -> None:
    made, member = opened_contest(rulebook, kind)
    html = member.get(
        reverse("phase", args=[made.slug, made.rounds.get().name, kind])
    ).content.decode()
    hint = re.search(r'id="names">(.*?)</p>', html, re.DOTALL)
    assert hint
    words = unescape(re.sub(r" <span.*?</span>|<[^>]*>", "", hint[1]))  # without the sizes
    assert " ".join(words.split()) == told
    assert re.findall(r"^kakurenbo submit cup (.*?)(?:</code>.*)?$", html, re.MULTILINE) == commands


def test_who_is_disqualified_is_told_so_with_the_reason_and_has_no_tries() -> None:
    made, member = opened_contest("amic2020", "attack", tries_in_all=3)
    entry = made.rounds.get().entries.get()
    rules.disqualify(making.organizer(), entry, "Two teams are one.")
    html = member.get(reverse("phase", args=[made.slug, "pre", "attack"])).content.decode()
    assert "Your team is disqualified in this round." in html
    assert "Two teams are one." in html
    assert re.search(r"<dt>Tries left</dt><dd>0</dd>", html)
    assert "Advisers" not in html
    assert "when the attack phase opens" not in html
    for address in (reverse("team", args=[made.slug]), reverse("contest", args=[made.slug])):
        html = member.get(address).content.decode()
        step = html[
            html.index(">What to do now<") : html.index(
                "</section>", html.index(">What to do now<")
            )
        ]
        for told in (
            "disqualified in this round",
            "Two teams are one.",
            "You still see what your team handed in",
        ):
            assert told in step, "why, and what is still possible"
        assert "hand in your guesses" not in step
        assert reverse("play", args=[made.slug]) not in step


def opened_contest(rulebook: str, kind: str, **limits: Any) -> tuple[Contest, Client]:
    """A contest of one round with an open phase, and the browser of a member of team 01."""
    round_name = registry.load("rulebooks", rulebook).rounds[0]
    made = making.contest(
        rulebook=rulebook, options={}, phases=making.plan(timezone.now(), (round_name,), **limits)
    )
    making.team(made, "foxes", making.user("aoi"))
    making.opened(made, kind, round_name)
    client = Client()
    client.force_login(making.user("aoi"), backend="django.contrib.auth.backends.ModelBackend")
    return made, client


def test_after_the_end_everybody_finds_archive_and_results_site_on_the_overview(
    contest: Contest,
) -> None:
    overview, links = (
        reverse("contest", args=["spring"]),
        [reverse(name, args=["spring"]) for name in ("archive", "results-site")],
    )
    StandingSnapshot.objects.create(contest=contest, shown=True, document={"rounds": []})
    assert not any(link in Client().get(overview).content.decode() for link in links)
    Contest.objects.update(ended_at=timezone.now())
    sign_logs()
    assert all(link in Client().get(overview).content.decode() for link in links)
    assert "being made" not in Client().get(overview).content.decode()
    assert Client().get(links[0]).status_code == 200
    enqueue(JobKind.STANDINGS, contest)
    assert "being made" in Client().get(overview).content.decode()
    assert Client().get(links[0]).status_code == 409


def test_a_list_of_mistakes_leads_to_their_fields_and_what_was_typed_stays(page: Client) -> None:
    address = reverse("make-contest", args=["amic2020"])
    given = {
        **form_of(page, address),
        "title": "",
        "places": "7",
        "played": [],
        "pre-attack-closes_at": "2020-01-01T00:00",
    }
    html = page.post(address, given).content.decode()
    summary = html[html.index('class="note-box bad problems"') :].partition("</div>")[0]
    for place in ("id_title", "id_played_0", "id_pre-attack-closes_at"):
        assert f'href="#{place}"' in summary
        assert f'id="{place}"' in html
    assert "pre · Attack · Closes" in summary
    assert re.search(r'name="places" value="7"', html)
    assert re.search(r'name="title"[^>]*aria-describedby="id_title-errors"', html)
    assert 'aria-describedby="id_played-hint id_played-errors"' in html


def test_a_round_that_is_left_out_can_be_taken_in_again_after_a_mistake(page: Client) -> None:
    address = reverse("make-contest", args=["amic2020"])
    html = page.post(
        address,
        {
            **form_of(page, address),
            "title": "T",
            "slug": "t",
            "played": ["main"],
            "option-rate": "7",
        },
    )
    assert 'name="pre-attack-closes_at"' in html.content.decode()
    assert "id_pre-attack-closes_at-errors" not in html.content.decode()
    phases = re.findall(r'<fieldset data-round="(\w+)"', html.content.decode())
    assert sorted(phases) == [
        "main",
        "main",
        "pre",
        "pre",
    ]  # which the page hides where the round is not ticked


def test_time_zones_are_those_people_live_in_the_usual_ones_first(page: Client) -> None:
    groups = dict(zone_choices())
    known = {name for names in groups.values() for name, _ in names}
    assert next(iter(groups.values()))[:2] == [("UTC", "UTC"), ("Asia/Tokyo", "Asia/Tokyo")]
    assert {"Asia/Tokyo", "America/Argentina/Buenos_Aires", "UTC"} <= known
    assert (
        not {
            "posixrules",
            "localtime",
            "Factory",
            "Etc/GMT+5",
            "EST5EDT",
            "US/Pacific",
            "SystemV/PST8",
        }
        & known
    )
    html = page.get(reverse("make-contest", args=["amic2020"])).content.decode()
    assert '<optgroup label="Asia">' in html
    assert "data-own-zone" in html
    assert (
        "data-own-zone"
        not in page.post(
            reverse("make-contest", args=["amic2020"]), {"title": "x"}
        ).content.decode()
    )


@pytest.fixture
def scored(contest: Contest, organizer: User) -> Submission:
    """An entry of a team of one member, with a figure of many digits."""
    team = rules.add_team(organizer, contest, "Kitsune")
    Membership.objects.create(team=team, user=making.user("aoi"))
    phase = contest.rounds.get(name="pre").phases.get(kind="anonymize")
    entry = team.entries.get(round=phase.round)
    made = Submission.objects.create(
        entry=entry, phase=phase, number=1, received_at=timezone.now(), state="scored"
    )
    measured = {
        "name": "histogram",
        "value": 0.9123456789012345,
        "minimum": 0.9,
        "higher_is_better": True,
        "passes": True,
    }
    record = {"state": "published", "cause": "", "measurements": [measured], "notices": []}
    Judging.objects.create(
        submission=made,
        fingerprint="",
        verdict="scored",
        result={"record": record, "problems": [], "total": 0},
    )
    return made


@pytest.fixture
def member(scored: Submission) -> Client:
    client = Client()
    client.force_login(
        scored.entry.team.memberships.get().user,
        backend="django.contrib.auth.backends.ModelBackend",
    )
    return client


def test_scores_are_shown_as_the_command_line_does_with_all_digits_at_hand(
    member: Client, scored: Submission
) -> None:
    html = member.get(reverse("submission", args=[scored.pk])).content.decode()
    assert '<span data-value="0.9123456789012345" title="0.9123456789012345">0.912</span>' in html
    assert "≥ 0.900" in html


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "published before it was judged again"),
        ("ja", "\u518d\u5be9\u67fb\u306e\u524d\u306b\u516c\u958b"),
    ],
)
def test_a_published_release_that_a_rejudging_found_wanting_is_said_to_stay_published(
    member: Client, scored: Submission, language: str, words: str
) -> None:
    address, client_language = (
        reverse("submission", args=[scored.pk]),
        {"accept-language": language},
    )
    judging = scored.judgings.get()
    judging.result["record"]["state"] = "disqualified"
    judging.save()
    below = which_counts("below_threshold", 1, language)
    assert below in member.get(address, headers=client_language).content.decode(), (
        "before anything was published"
    )
    scored.entry.round.targets.create(
        entry=scored.entry, name="01", submission=scored, published=True
    )
    html = member.get(address, headers=client_language).content.decode()
    assert below not in html
    assert which_counts("published_below", 1, language) in html
    Submission.objects.update(state="invalid")
    assert words in member.get(address, headers=client_language).content.decode()


def test_an_entry_is_taken_back_while_nobody_looked_at_it_and_the_page_says_when_it_is_too_late(
    member: Client, scored: Submission
) -> None:
    address, button = reverse("submission", args=[scored.pk]), reverse("withdraw", args=[scored.pk])
    html = member.get(address).content.decode()
    assert button not in html
    assert "It cannot be taken back" in html
    Submission.objects.update(state="received")
    html = member.get(address).content.decode()
    assert button in html
    assert "costs no try" in html
    member.post(button)
    assert Submission.objects.get().state == "withdrawn"
    assert "It cannot be taken back" not in member.get(address).content.decode()


def test_a_part_that_has_not_changed_is_not_sent_again(member: Client, scored: Submission) -> None:
    address = reverse("submission", args=[scored.pk])
    Submission.objects.update(state="scoring")
    html = member.get(address).content.decode()
    again = re.search(r'hx-get="([^"]+)"', html)
    assert again is not None
    assert member.get(unescape(again[1]), headers={"HX-Target": "judged"}).status_code == 204
    Submission.objects.update(state="scored")
    changed = member.get(unescape(again[1]), headers={"HX-Target": "judged"}).content.decode()
    assert 'data-say="It is valid."' in changed
    assert "hx-get" not in changed
    board = member.get(reverse("standings", args=["spring"])).content.decode()
    again = re.search(r'hx-get="([^"]+)"', board)
    assert again is not None
    assert member.get(unescape(again[1]), headers={"HX-Target": "board"}).status_code == 204
    assert 'id="say" class="visually-hidden" role="status"' in board


def test_awards_are_shown_when_somebody_attacked_and_the_attack_is_over_or_live(
    page: Client, scored: Submission
) -> None:
    contest = scored.entry.team.contest
    StandingSnapshot.objects.create(
        contest=contest, shown=True, standings={"awards": {"overall": ["01"]}}
    )
    address = reverse("manage", args=["spring"])

    def shown() -> tuple[bool, bool]:
        html = page.get(address).content.decode()
        return "podium" in html, "So far" in html

    attack = scored.phase.round.phases.get(kind="attack")
    others = Phase.objects.filter(round__contest=contest).exclude(pk=attack.pk)
    assert shown() == (False, False)
    Phase.objects.update(state="closed")
    assert shown() == (False, False), "nobody attacked"
    Submission.objects.create(
        entry=scored.entry, phase=attack, number=1, received_at=timezone.now(), state="scored"
    )
    assert shown() == (True, False)
    Phase.objects.filter(pk=attack.pk).update(state="open", visibility="hidden")
    assert shown() == (False, False)
    Phase.objects.filter(pk=attack.pk).update(visibility="live")
    assert shown() == (True, True)
    others.filter(kind="attack").update(state="waiting")
    assert shown() == (False, False)


@pytest.mark.usefixtures("contest")
def test_an_organizer_gives_more_time_in_one_click_and_later_phases_move_along(
    page: Client,
) -> None:
    phases = {
        (phase.round.name, phase.kind): phase for phase in Phase.objects.select_related("round")
    }
    first, second = phases["pre", "anonymize"], phases["pre", "attack"]
    Phase.objects.filter(pk=first.pk).update(
        state="open", opens_at=timezone.now() - timedelta(days=1)
    )
    address = reverse("edit-phase", args=["spring", first.pk])
    html = page.get(address).content.decode()
    assert "Extend by 1 day" in html
    assert "pre · Attack" in html
    page.post(address, {"move": "day"})
    moved = {phase.pk: phase for phase in Phase.objects.all()}
    day = timedelta(days=1)
    assert moved[first.pk].closes_at == first.closes_at + day
    assert (moved[second.pk].opens_at, moved[second.pk].closes_at) == (
        second.opens_at + day,
        second.closes_at + day,
    )
    last = phases["main", "attack"]
    assert moved[last.pk].opens_at - last.opens_at in (timedelta(0), day)
    assert page.post(address, {"move": "close"}).headers["Location"] == reverse(
        "manage", args=["spring"]
    )
    first.refresh_from_db()
    assert timezone.now() < first.closes_at < timezone.now() + timedelta(minutes=1)


@pytest.mark.usefixtures("contest")
@pytest.mark.parametrize(
    ("how", "span"), [("later_hour", timedelta(hours=1)), ("later_day", timedelta(days=1))]
)
def test_a_phase_that_has_not_begun_begins_later_in_one_click_and_later_phases_move_along(
    page: Client, how: str, span: timedelta
) -> None:
    before = list(Phase.objects.order_by("opens_at"))
    Phase.objects.filter(pk=before[1].pk).update(opens_at=before[0].closes_at)
    address = reverse("edit-phase", args=["spring", before[0].pk])
    assert "move along" in html_of(page, address)
    page.post(address, {"move": how})
    after = list(Phase.objects.order_by("opens_at"))
    assert (after[0].opens_at, after[0].closes_at) == (
        before[0].opens_at + span,
        before[0].closes_at + span,
    )
    assert (after[1].opens_at, after[1].closes_at) == (
        before[0].closes_at + span,
        before[1].closes_at + span,
    )
    assert after[3].opens_at >= after[2].closes_at >= after[2].opens_at >= after[1].closes_at


@pytest.mark.usefixtures("contest")
def test_a_phase_opens_now_in_one_click_unless_the_one_before_it_is_not_over_be_it_of_another_round(
    page: Client,
) -> None:
    first, second, third, _ = Phase.objects.select_related("round").order_by("opens_at")
    addresses = {
        phase.pk: reverse("edit-phase", args=["spring", phase.pk])
        for phase in (first, second, third)
    }
    offered = {pk: "Open now" in html_of(page, address) for pk, address in addresses.items()}
    assert offered == {first.pk: True, second.pk: False, third.pk: False}
    assert addresses[second.pk] in html_of(page, addresses[third.pk]), (
        "the attack of pre limits the beginning of main"
    )
    page.post(addresses[first.pk], {"move": "open"})
    now, ends = timezone.now(), first.closes_at
    first.refresh_from_db()
    assert now - timedelta(minutes=1) < first.opens_at <= now
    assert first.closes_at == ends
    page.post(addresses[third.pk], {"move": "open"})
    opens = third.opens_at
    third.refresh_from_db()
    assert third.opens_at == opens, "what is not offered is not done"


def test_a_phase_that_is_open_keeps_its_beginning_to_the_second_when_something_else_is_changed(
    page: Client, contest: Contest
) -> None:
    phase = contest.rounds.get(name="pre").phases.get(kind="anonymize")
    began = timezone.now() - timedelta(days=1, seconds=7)
    Phase.objects.filter(pk=phase.pk).update(state="open", opens_at=began)
    address = reverse("edit-phase", args=["spring", phase.pk])
    assert (
        page.post(
            address, {**form_of(page, address), f"phase{phase.pk}-visibility": "hidden"}
        ).status_code
        == 302
    )
    phase.refresh_from_db()
    assert (phase.opens_at, phase.visibility) == (began, "hidden")


def test_who_lets_phases_overlap_is_told_which_and_what_to_do(
    page: Client, contest: Contest
) -> None:
    phase = contest.rounds.get(name="pre").phases.get(kind="anonymize")
    address = reverse("edit-phase", args=["spring", phase.pk])
    late = {f"phase{phase.pk}-closes_at": "2031-01-01T09:00"}
    html = page.post(address, {**form_of(page, address), **late}).content.decode()
    assert re.search(r"before [^<]*anonymize[^<]* closes at", html)
    assert re.search(r"first let [^<]*attack[^<]* begin then or later", html)
    other = contest.rounds.get(name="pre").phases.get(kind="attack")
    assert reverse("edit-phase", args=["spring", other.pk]) in html, "the way to the neighbour"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_what_goes_wrong_has_a_page_in_the_visitors_language(
    organizer: User, language: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DEBUG = False
    client = Client(
        enforce_csrf_checks=True,
        raise_request_exception=False,
        headers={"accept-language": language},
    )
    client.force_login(organizer, backend="django.contrib.auth.backends.ModelBackend")

    def broken(*_: object) -> None:
        raise RuntimeError("a secret detail")

    answers = {
        "error_404": client.get("/nowhere"),
        "error_csrf": client.post("/preferences", {"language": "en"}),
        "error_405": client.get("/logout"),
        "error_400": client.get("/login", headers={"host": "elsewhere.example"}),
    }
    monkeypatch.setattr("kakurenbo.judge.contests.queries.contests_for", broken)
    answers["error_500"] = client.get("/")
    for code, answer in answers.items():
        html = answer.content.decode()
        assert f'<html lang="{language}"' in html
        assert 'class="brand"' in html
        assert escape(render(f"page.{code}", {}, language).message) in html
        assert escape(render(f"page.{code}_hint", {}, language).message) in html
        assert "a secret detail" not in html
    assert [answer.status_code for answer in answers.values()] == [404, 403, 405, 400, 500]


@pytest.mark.parametrize("character", ["\u202e", "\u2067", "\x07"])
def test_words_that_nobody_sees_are_refused_with_their_code(
    page: Client, contest: Contest, character: str
) -> None:
    given = {"announcement_title": "x", "announcement_text": f"exe{character}fdp"}
    html = page.post(reverse("announce", args=[contest.slug]), given).content.decode()
    assert f"U+{ord(character):04X}" in html
    assert not contest.announcements.exists()
    assert (
        page.post(
            reverse("announce", args=[contest.slug]),
            {**given, "announcement_text": "a\n\nشكرا 👩‍👧"},
        ).status_code
        == 302
    )
    assert (
        '<p dir="auto">شكرا 👩‍👧</p>'
        in page.get(reverse("contest", args=[contest.slug])).content.decode()
    )


def test_names_are_isolated_so_that_their_direction_ends_with_them(
    page: Client, contest: Contest, organizer: User
) -> None:
    rules.add_team(organizer, contest, "فريق <b>")
    for name in ("manage", "teams"):
        assert (
            "<bdi>فريق &lt;b&gt;</bdi>" in page.get(reverse(name, args=["spring"])).content.decode()
        )


def test_the_dashboard_says_what_is_next_and_what_waits_for_the_organizer(
    page: Client, scored: Submission
) -> None:
    contest = scored.entry.team.contest
    rules.add_team(contest.made_by, contest, "Tanuki")
    rules.add_team(contest.made_by, contest, "Organizers", unranked=True)
    rehearse = "Bots play all phases in minutes"
    assert rehearse in html_of(page, reverse("manage", args=["spring"]))
    Phase.objects.filter(pk=scored.phase_id).update(state="open")
    html = page.get(reverse("manage", args=["spring"])).content.decode()
    assert "Teams with a valid entry: 1 of 2" in html, "the organizers' own team need not have one"
    assert "Still without: 02" in html
    assert "nobody has joined yet: 02, 03" in html
    assert rehearse not in html, "once people play there is nothing to practise"
    assert 'class="clock"><span data-until=' in html
    Phase.objects.filter(round__contest=contest).update(state="closed")
    assert "All phases are over" in page.get(reverse("manage", args=["spring"])).content.decode()


def test_lists_of_contests_put_the_viewers_own_first(member: Client, contest: Contest) -> None:
    other = making.contest("other", title="Other")
    html = member.get("/").content.decode()
    assert (
        html.index("Your contests")
        < html.index(contest.title)
        < html.index("Under way")
        < html.index(other.title)
    )


@pytest.mark.parametrize(
    ("language", "label"), [("en", "ε of differential privacy"), ("ja", "差分プライバシーの ε")]
)
def test_the_questionnaires_lines_have_words_beside_their_keys(language: str, label: str) -> None:
    with speaking_to(language):
        form = FilledForm(
            BlankFile("q.json", {"claims": {"epsilon": None}, "odd": ""}), None, "amic2020"
        )
        assert (form["claims.epsilon"].label, form["odd"].label) == (label, "odd")
        assert form["claims.epsilon"].help_text
        assert [title for title, _ in form.sections()] == [
            render("form.amic2020.claims", {}, language).message,
            "",
        ]


def test_the_results_site_has_the_name_of_the_contest_and_the_language_of_who_asks(
    contest: Contest,
) -> None:
    document = Document(rulebook=RulebookEntry("amic2020", "a contest"), rounds=()).as_builtins()
    StandingSnapshot.objects.create(contest=contest, shown=True, document=document, format=FORMAT)
    with speaking_to("ja"):
        made = site(contest)
    assert made is not None
    index = zipfile.ZipFile(io.BytesIO(b"".join(made))).read("spring-results/index.html").decode()
    assert "<title>Spring · kakurenbo</title>" in index
    assert '<html lang="ja">' in index


def test_after_the_end_standings_open_on_all_rounds_together(contest: Contest) -> None:
    for round_ in (None, *contest.rounds.all()):
        StandingSnapshot.objects.create(contest=contest, round=round_, shown=True, standings={})
    address = reverse("standings", args=["spring"])
    chosen = re.compile(r'href="[^"]*round=(\w+)" aria-current')
    assert chosen.findall(Client().get(address).content.decode()) == ["pre"]
    Contest.objects.update(ended_at=timezone.now())
    assert chosen.findall(Client().get(address).content.decode()) == ["all"]


def test_the_overview_tells_changed_options_in_words_in_the_order_of_their_declaration(
    page: Client, contest: Contest
) -> None:
    Contest.objects.update(options={"vcm": 0.5, "rate": 0.2, "scale": "small"})
    html = page.get(reverse("contest", args=[contest.slug])).content.decode()
    shown = re.findall(
        r'<span class="key mono">(\w+)</span></dt><dd class="mono">([^<]*)</dd>', html
    )
    assert shown == [("scale", "small"), ("rate", "0.2"), ("vcm", "0.5")]


def test_standings_that_stand_still_say_so(contest: Contest) -> None:
    round_ = contest.rounds.get(name="pre")
    StandingSnapshot.objects.create(contest=contest, round=round_, shown=True, standings={})
    round_.phases.filter(kind="attack").update(state="open", visibility="frozen")
    html = Client().get(reverse("standings", args=["spring"]), {"round": "pre"}).content.decode()
    assert "They move again when it closes" in html
