"""What somebody on the Internet tries on every site, tried here: each by doing it."""

from __future__ import annotations

import html
import io
import re
import time
import zipfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.auth.hashers import get_hasher, identify_hasher, make_password
from django.test import Client
from django.utils import timezone
from tests.judge import making

from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.accounts.hashing import SizedArgon2
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import rules as contests
from kakurenbo.judge.contests.models import Announcement, Contest, Membership, Role
from kakurenbo.judge.contests.models import Team as TeamRow
from kakurenbo.judge.scoring.models import Judging
from kakurenbo.judge.submissions import rules, store
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.methods import registry

pytestmark = pytest.mark.django_db
BACKEND = "django.contrib.auth.backends.ModelBackend"
PASSWORD = "hide and seek 7"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'"
API = "/api/v1/"


@pytest.fixture
def contest(judge_home: Path) -> Contest:
    """A contest whose first phase is open, with two teams of one member."""
    assert judge_home
    made = making.contest(phases=making.plan(timezone.now()))
    for name in ("member", "rival"):
        making.team(made, f"team of {name}", making.user(name))
    making.opened(made)
    return made


def browser(name: str = "member", **more: Any) -> Client:
    made = Client(**more)
    made.force_login(making.user(name), BACKEND)
    return made


def begun(contest: Contest, name: str = "member") -> Submission:
    entry = making.entry(contest.teams.get(memberships__user=making.user(name)))
    return rules.begin(making.user(name), entry, making.phase(contest), timezone.now())


# -- log-in ----------------------------------------------------------------------------------------------------------------


def test_passwords_are_kept_by_argon2_of_the_size_that_many_at_once_can_bear() -> None:
    kept = make_password(PASSWORD)
    assert kept.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert isinstance(identify_hasher(kept), SizedArgon2)
    assert isinstance(get_hasher(), SizedArgon2)


def test_an_address_without_an_account_takes_as_much_work_as_a_wrong_password_and_is_told_the_same() -> (
    None
):
    User.objects.create_user("aoi@example.org", PASSWORD, name="aoi")
    said, work = [], []
    for email in ("aoi@example.org", "nobody@example.org"):
        with (
            patch.object(
                SizedArgon2, "encode", autospec=True, side_effect=SizedArgon2.encode
            ) as encode,
            patch.object(
                SizedArgon2, "verify", autospec=True, side_effect=SizedArgon2.verify
            ) as verify,
        ):
            answer = Client().post("/login", {"email": email, "password": "wrong"})
        work.append(encode.call_count + verify.call_count)
        said.append(re.sub(r'value="[^"]*"', "", answer.content.decode()))
    assert work == [1, 1]
    assert said[0] == said[1]


def test_secrets_in_links_and_tokens_are_too_long_to_be_guessed_and_only_their_hash_is_kept(
    contest: Contest,
) -> None:
    token = accounts.new_token(making.user("member"), "x")[1]
    _, invitation = contests.invite(making.organizer(), contest.teams.get(number="01"), Role.MEMBER)
    for secret in (token.removeprefix(accounts.TOKEN_PREFIX), invitation):
        assert len(secret) >= 32, (
            "192 bits: a limit on guesses would stop nobody but those who mistype"
        )
    for model in (User, Membership, TeamRow):
        assert not any(
            token in repr(row) or invitation in repr(row) for row in model.objects.values()
        )


@pytest.mark.parametrize(
    "target",
    [
        *(
            "https://evil.example",
            "//evil.example",
            "///evil.example",
            "\\\\evil.example",
            "/\\evil.example",
        ),
        *(
            "javascript:alert(1)",
            "http:evil.example",
            "https:///evil.example",
            "%2f%2fevil.example",
            "\thttps://evil.example",
        ),
    ],
)
def test_who_logs_in_is_led_to_no_other_site(target: str) -> None:
    User.objects.create_user("aoi@example.org", PASSWORD, name="aoi")
    answer = Client().post(
        "/login", {"email": "aoi@example.org", "password": PASSWORD, "next": target}
    )
    assert answer.status_code == 302
    assert not answer.headers["Location"].strip().startswith(("http", "//", "\\", "/\\", "java")), (
        answer.headers["Location"]
    )


def test_the_language_form_leads_to_no_other_site() -> None:
    answer = Client().post(
        "/preferences",
        {"language": "ja", "next": "//evil.example"},
        headers={"Referer": "https://evil.example/"},
    )
    assert "evil" not in answer.headers.get("Location", "")


# -- sessions and tokens ---------------------------------------------------------------------------------------------------


def test_log_out_everywhere_else_ends_other_sessions_of_this_account_and_nobody_elses() -> None:
    here, phone, rival = browser(), browser(), browser("rival")
    page = here.post("/profile/sessions/end", follow=True)
    assert "Other sessions that were ended: 1." in page.content.decode()
    assert here.get("/profile").status_code == 200
    assert phone.get("/profile").status_code == 302
    assert rival.get("/profile").status_code == 200


def test_a_program_revokes_the_token_that_it_shows_and_no_other() -> None:
    shown, kept = (
        accounts.new_token(making.user("member"), label)[1] for label in ("shown", "kept")
    )
    assert (
        Client().delete(f"{API}me/token", headers={"Authorization": f"Bearer {shown}"}).status_code
        == 204
    )
    assert Client().get(f"{API}me", headers={"Authorization": f"Bearer {shown}"}).status_code == 401
    assert Client().get(f"{API}me", headers={"Authorization": f"Bearer {kept}"}).status_code == 200
    assert browser().delete(f"{API}me/token").status_code == 404, "a session shows no token"


def test_a_session_is_another_one_after_log_in_and_worth_nothing_after_log_out() -> None:
    User.objects.create_user("aoi@example.org", PASSWORD, name="aoi")
    visitor = Client()
    visitor.get("/login")
    visitor.session["before"] = "1"
    visitor.session.save()
    before = visitor.session.session_key
    visitor.post("/login", {"email": "aoi@example.org", "password": PASSWORD})
    key = visitor.cookies["sessionid"].value
    assert key != before
    visitor.post("/logout")
    thief = Client()
    thief.cookies["sessionid"] = key
    assert thief.get("/profile").status_code == 302


def test_cookies_are_for_this_site_alone_and_no_script_reads_the_session(settings: Any) -> None:
    User.objects.create_user("aoi@example.org", PASSWORD, name="aoi")
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    answer = Client().post("/login", {"email": "aoi@example.org", "password": PASSWORD})
    session = answer.cookies["sessionid"]
    assert session["httponly"]
    assert session["secure"]
    assert session["samesite"] == "Lax"
    assert not session["domain"]


# -- requests that pretend -------------------------------------------------------------------------------------------------


def test_a_request_for_another_host_is_refused() -> None:
    for host in (
        "evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.1@evil.example",
        "evil.example:80",
    ):
        assert Client().get("/login", headers={"Host": host}).status_code == 400
    forwarded = Client().get("/login", headers={"X-Forwarded-Host": "evil.example"})
    assert b"evil.example" not in forwarded.content


def test_no_header_and_no_field_turns_a_request_into_another(contest: Contest) -> None:
    submission = begun(contest)
    token = accounts.new_token(making.user("member"), "x")[1]
    for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        headers = {"Authorization": f"Bearer {token}", name: "DELETE"}
        assert (
            Client()
            .get(f"{API}submissions/{submission.pk}?_method=DELETE", headers=headers)
            .status_code
            == 200
        )
        browser().post(f"/submissions/{submission.pk}/finish?_method=DELETE", {"_method": "DELETE"})
    submission.refresh_from_db()
    assert submission.state == State.RECEIVING


def test_no_page_is_shown_in_a_frame_and_everything_says_what_it_is(contest: Contest) -> None:
    for address in ("/", "/login", f"/contests/{contest.slug}/", f"{API}contests", "/nothing"):
        answer = Client().get(address)
        assert answer.headers["X-Frame-Options"] == "DENY", address
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], address
        assert answer.headers["X-Content-Type-Options"] == "nosniff", address
        assert answer.headers["Referrer-Policy"] == "same-origin", address
        assert "unsafe" not in answer.headers["Content-Security-Policy"], address


def test_nobody_becomes_an_organizer_or_another_teams_member_by_a_field_that_no_form_has(
    contest: Contest,
) -> None:
    page = browser()
    sneaked = {
        "is_organizer": "1",
        "is_active": "0",
        "email": "boss@example.org",
        "password": "x",
        "pk": "1",
        "id": "1",
    }
    page.post("/profile", {"name": "member", "language": "en", **sneaked})
    member = making.user("member")
    member.refresh_from_db()
    assert (member.is_organizer, member.is_active, member.email) == (
        False,
        True,
        "member@example.org",
    )
    invitation = contests.invite(making.organizer(), contest.teams.get(number="02"), Role.ADVISER)[
        1
    ]
    stranger = browser("stranger")
    stranger.post(
        f"/join/{invitation}", {"role": Role.RESPONSIBLE, "team": "1", "is_organizer": "1"}
    )
    joined = Membership.objects.get(user=making.user("stranger"))
    assert (joined.team.number, joined.role) == ("02", Role.ADVISER)
    token = accounts.new_token(member, "x")[1]
    body = {
        "state": "scored",
        "number": 7,
        "entry": 2,
        "team": "02",
        "received_at": "2000-01-01T00:00:00Z",
    }
    address = f"{API}contests/cup/rounds/pre/phases/anonymize/submissions"
    made = (
        Client()
        .post(address, body, "application/json", headers={"Authorization": f"Bearer {token}"})
        .json()
    )
    assert (made["state"], made["number"], made["team"]) == ("receiving", None, "01")


def test_what_is_anothers_sounds_like_what_is_not_there(contest: Contest) -> None:
    submission = begun(contest)
    token = accounts.new_token(making.user("rival"), "x")[1]
    headers = {"Authorization": f"Bearer {token}"}
    missing = "00000000-0000-4000-8000-000000000000"
    for path in ("", "/receipt", "/files/pre_anonymizeddata_01.csv"):
        real, none = (
            Client().get(f"{API}submissions/{pk}{path}", headers=headers)
            for pk in (submission.pk, missing)
        )
        assert (
            (real.status_code, real.content)
            == (none.status_code, none.content)
            == (404, none.content)
        )
    real, none = (browser("rival").get(f"/submissions/{pk}/") for pk in (submission.pk, missing))
    assert (real.status_code, none.status_code) == (404, 404)


@pytest.mark.parametrize(
    "words",
    [
        "' OR 1=1 --",
        "cup'; DROP TABLE accounts_user; --",
        "1 UNION SELECT password FROM accounts_user",
        "%' --",
    ],
)
def test_words_of_sql_are_words(contest: Contest, words: str) -> None:
    from urllib.parse import quote

    place = quote(words, safe="")
    for address in (
        f"{API}contests/{place}",
        f"{API}contests/cup/rounds/{place}/files",
        f"/join/{place}",
    ):
        assert Client().get(address).status_code == 404, address
    page = browser()
    for field in ("round", "page", "team", "seen", "sort", "next", "filter"):
        assert page.get(f"/contests/{contest.slug}/standings/", {field: words}).status_code in (
            200,
            404,
        )
    assert User.objects.exists()


def test_names_of_files_are_matched_in_no_time_however_they_are_made() -> None:
    names = [
        "1" * 200,
        "C" + "0" * 198,
        "guess_" + "01-" * 60,
        "a_" * 100,
        "pre_anonymizeddata_" + "0" * 170,
        "A_01" + "-1" * 90,
    ]
    patterns = [
        pattern
        for rulebook in registry.names("rulebooks")
        for phase in registry.load("rulebooks", rulebook)().phases
        for pattern in phase.files
    ]
    began = time.process_time()
    for pattern in patterns:
        for name in names:
            pattern.parse(name)
    assert time.process_time() - began < 1


# -- what people wrote, shown to others --------------------------------------------------------------------------------------


def shown_safely(content: bytes) -> bool:
    """Whether the words are there as words, and nowhere as markup."""
    text = content.decode()
    return "<script>alert" not in text and "<img src=x" not in text


def test_markup_that_people_write_is_shown_as_they_wrote_it_and_never_done(
    contest: Contest,
) -> None:
    TeamRow.objects.filter(contest=contest, number="01").update(name=SCRIPT)
    User.objects.filter(pk=making.user("member").pk).update(name=SCRIPT)
    Contest.objects.filter(pk=contest.pk).update(title=SCRIPT)
    Announcement.objects.create(contest=contest, title=SCRIPT, text=f"{SCRIPT} javascript:alert(1)")
    submission = begun(contest)
    rules.add_file(submission, "pre_anonymizeddata_01.csv", store.put(SCRIPT.encode()))
    rules.finish(submission, timezone.now())
    Submission.objects.filter(pk=submission.pk).update(state=State.INVALID)
    words = {"message": f"{SCRIPT} is no number", "fix": SCRIPT}
    problem = {
        "code": "cell.not_in_domain",
        "file": SCRIPT,
        "row": 1,
        "record": 0,
        "column": SCRIPT,
        "value": SCRIPT,
    }
    record = {
        "target": "01",
        "team": "01",
        "state": "refused",
        "cause": SCRIPT,
        "measurements": [],
        "notices": [],
    }
    result = {
        "record": record,
        "total": 1,
        "problems": [{**problem, "severity": "violation", "en": words, "ja": words}],
    }
    Judging.objects.create(
        submission=submission, fingerprint="0" * 64, verdict="invalid", result=result
    )
    place = f"/contests/{contest.slug}/"
    pages = [
        "/",
        place,
        f"{place}team/",
        f"{place}play/pre/anonymize/",
        f"{place}standings/",
        f"/submissions/{submission.pk}/",
    ]
    told = 0
    for name, addresses in (
        ("member", [*pages, "/profile"]),
        ("organizer", [place, f"{place}manage/", f"{place}manage/teams/"]),
    ):
        viewer = browser(name)
        for address in addresses:
            answer = viewer.get(address)
            assert answer.status_code == 200, address
            assert shown_safely(answer.content), address
            told += html.escape("<script>alert(1)").encode() in answer.content
    assert told >= 8, "the words are shown, not left out"


def test_files_of_people_are_saved_and_never_shown_as_pages_of_this_site(contest: Contest) -> None:
    submission = begun(contest)
    rules.add_file(submission, "pre_anonymizeddata_01.csv", store.put(b"<script>alert(1)</script>"))
    token = accounts.new_token(making.user("member"), "x")[1]
    name = "pre_anonymizeddata_01.csv"
    for answer in (
        browser().get(f"/submissions/{submission.pk}/files/{name}"),
        Client().get(
            f"{API}submissions/{submission.pk}/files/{name}",
            headers={"Authorization": f"Bearer {token}"},
        ),
    ):
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_markup_in_names_is_no_markup_on_the_results_site(contest: Contest) -> None:
    from kakurenbo.judge.contests.site import site
    from kakurenbo.judge.scoring.models import StandingSnapshot
    from kakurenbo.reports import Document, RulebookEntry
    from kakurenbo.reports.document import FORMAT

    Contest.objects.filter(pk=contest.pk).update(title=SCRIPT, ended_at=timezone.now())
    document = Document(rulebook=RulebookEntry(SCRIPT, SCRIPT), rounds=()).as_builtins()
    StandingSnapshot.objects.create(
        contest=contest, round=None, shown=True, document=document, format=FORMAT
    )
    made = site(Contest.objects.get(pk=contest.pk))
    assert made is not None
    with zipfile.ZipFile(io.BytesIO(b"".join(made))) as archive:
        pages = [
            archive.read(name) for name in archive.namelist() if name.endswith((".html", ".svg"))
        ]
    assert pages
    assert all(shown_safely(page) for page in pages)
