"""What the judge keeps of people, and for how long: accounts that are deleted, old records, files that are given up."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.contrib.sessions.models import Session
from django.core.files.storage import storages
from django.test import Client
from django.utils import timezone
from tests.judge import making
from tests.judge.making import codes, organizer
from tests.reading import attempt

from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.accounts.forgetting import delete_account, forget_old
from kakurenbo.judge.accounts.models import Token, User
from kakurenbo.judge.contests import erasing, rules
from kakurenbo.judge.contests.models import Contest, Invite
from kakurenbo.judge.scoring.models import RoundFile, SecretFile, Visible
from kakurenbo.judge.scoring.rules import enqueue, rerun
from kakurenbo.judge.submissions import rules as submissions
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import Blob, Submission, SubmittedFile
from kakurenbo.judge.trust.models import LogEntry
from kakurenbo.judge.trust.rules import checkpoint

pytestmark = pytest.mark.django_db
PASSWORD = "hide and seek 7"
EMAIL, NAME = "mori.aoi@example.org", "Mori Aoi"


@pytest.fixture
def aoi() -> User:
    return User.objects.create_user(EMAIL, PASSWORD, name=NAME)


def session(user: User) -> Client:
    client = Client()
    assert client.post("/login", {"email": user.email, "password": PASSWORD}).status_code == 302
    return client


def everything() -> str:
    """All that the database holds, as one text."""
    from django.db import connection

    with connection.cursor() as cursor:
        tables = (
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname IN ('public', 'secret')"
        )
        cursor.execute(tables)
        names = cursor.fetchall()
        rows = []
        for schema, table in names:
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{schema}"."{table}" t')
            rows += [row[0] for row in cursor.fetchall()]
    return "\n".join(rows)


# -- accounts ----------------------------------------------------------------------------------------------------------------


def test_of_a_deleted_account_nothing_is_left_in_the_database_but_a_pseudonym_and_what_its_team_did(
    aoi: User,
) -> None:
    contest = making.contest()
    team = making.team(contest, "foxes", aoi)
    client = session(aoi)
    _, token = accounts.new_token(aoi, f"{NAME}'s laptop")
    Client().post("/login", {"email": EMAIL, "password": "wrong"})
    handed_in = Submission.objects.create(
        entry=making.entry(team), phase=making.phase(contest), user=aoi
    )
    assert EMAIL in everything()
    pk = delete_account(aoi).pk
    kept = everything()
    assert (EMAIL in kept, NAME in kept) == (False, False)
    assert client.get("/profile").status_code == 302, "its sessions are over"
    assert accounts.user_of_token(token) is None
    for password in (PASSWORD, ""):
        left = User.objects.get(pk=pk)
        assert (
            Client().post("/login", {"email": left.email, "password": password}).status_code == 200
        ), "nobody can log in"
    handed_in.refresh_from_db()
    assert str(handed_in.user).startswith("deleted-")
    assert team.memberships.get().user_id == pk
    assert User.objects.create_user(EMAIL, PASSWORD, name=NAME).pk != pk, (
        "whoever comes back is somebody else"
    )


def test_somebody_deletes_the_own_account_on_the_profile_page_by_its_password_alone(
    aoi: User,
) -> None:
    client = session(aoi)
    assert (
        b"This is not your password"
        in client.post("/profile/delete", {"password": "wrong"}).content
    )
    assert User.objects.get(pk=aoi.pk).email == EMAIL
    assert client.post("/profile/delete", {"password": PASSWORD}).status_code == 302
    assert not User.objects.get(pk=aoi.pk).is_active
    assert client.get("/profile").status_code == 302


def test_an_organizer_deletes_an_account_on_the_teams_page_or_by_the_api_and_nobody_else_does(
    aoi: User,
) -> None:
    team = making.team(making.contest(), "foxes", aoi)
    page = f"/contests/cup/manage/teams/{team.number}/"
    by_page, address = Client(), f"/accounts/{aoi.pk}/delete"
    by_page.force_login(organizer(), "django.contrib.auth.backends.ModelBackend")
    assert address.encode() in by_page.get(page).content
    making.team(making.contest("later"), "foxes", aoi)
    back = by_page.post(address, {"confirm": "mori", "team": team.pk})
    assert (back.status_code, back.headers["Location"]) == (302, page), (
        "where the organizer came from, of several contests"
    )
    assert User.objects.get(pk=aoi.pk).is_active, "whoever deletes types the address"
    by_page.get(page)  # it tells once more what was to be typed
    done = by_page.post(address, {"confirm": EMAIL, "team": team.pk}, follow=True)
    assert not User.objects.get(pk=aoi.pk).is_active
    assert done.redirect_chain == [("/", 302)]
    assert "account is deleted" in done.content.decode()
    assert EMAIL.encode() not in by_page.get(page).content

    ren = making.user("ren")
    told = [accounts.new_token(user, "x")[1] for user in (organizer(), ren)]
    by, other = ({"Authorization": f"Bearer {token}"} for token in told)
    listed = Client().get("/api/v1/accounts", headers=by).json()
    assert {one["id"] for one in listed} == {organizer().pk, ren.pk}
    assert Client().delete(f"/api/v1/accounts/{ren.pk}", headers=other).status_code == 403
    gone = Client().delete(f"/api/v1/accounts/{ren.pk}", headers=by)
    assert (gone.status_code, gone.json()["name"][:8]) == (200, "deleted-")
    assert Client().delete(f"/api/v1/accounts/{ren.pk}", headers=by).status_code == 404


def test_the_only_organizer_stays() -> None:
    alone = organizer()
    assert codes(attempt(delete_account, alone)) == ["accounts.last_organizer"]
    making.user("second", is_organizer=True)
    delete_account(alone)
    assert codes(attempt(delete_account, making.user("second"))) == ["accounts.last_organizer"]


# -- records -------------------------------------------------------------------------------------------------------------------


def test_records_of_access_are_kept_for_some_days_and_not_longer(aoi: User) -> None:
    session(aoi)
    for _ in range(2):
        Client().post(
            "/login",
            {"email": "somebody@example.org", "password": "wrong"},
            REMOTE_ADDR="192.0.2.7",
        )
    team = making.team(making.contest())
    link, _ = rules.invite(organizer(), team, "member", days=1)
    accounts.revoke(accounts.new_token(aoi, "old")[0])
    kept = (AccessAttempt, AccessLog, Session, Token, Invite)
    now = timezone.now()
    forget_old(now + timedelta(days=13), 30)
    erasing.forget_old_invites(now + timedelta(days=13), 30)
    assert all(model.objects.exists() for model in kept)
    forget_old(now + timedelta(days=31), 30)
    erasing.forget_old_invites(now + timedelta(days=32), 30)
    assert not [model for model in (*kept, AccessFailureLog) if model.objects.exists()]
    assert link.pk


# -- the log -------------------------------------------------------------------------------------------------------------------


def test_the_log_tells_nothing_of_people_but_what_their_teams_are_called(judge_home: Path) -> None:
    assert judge_home
    contest = making.contest()
    mori = making.user("mori")
    User.objects.filter(pk__in=[mori.pk, organizer().pk]).update(name=NAME)
    team = making.team(contest, "foxes", mori)
    phase = making.opened(contest)
    begun = submissions.begin(mori, making.entry(team), phase, phase.opens_at)
    submissions.add_file(begun, "pre_anonymizeddata_01.csv", store.put(b"1"))
    received = submissions.finish(begun, phase.opens_at)
    submissions.withdraw(mori, received, phase.opens_at)
    rules.disqualify(organizer(), making.entry(team), "a reason")
    job = enqueue("standings", contest, making.entry(team).round)
    type(job).objects.filter(pk=job.pk).update(state="parked")
    rerun(organizer(), job)
    entries = list(LogEntry.objects.filter(contest=contest).values("kind", "body"))
    assert {"member.joined", "submission.received", "submission.withdrawn", "job.rerun"} <= {
        one["kind"] for one in entries
    }
    told = json.dumps(entries)
    assert not [
        mark for mark in (NAME, "@example.org", "192.0.2", '"by"', '"user"') if mark in told
    ]


# -- files ---------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def over(judge_home: Path, settings: Any) -> Contest:
    """A contest that ended 31 days ago, with a file of each kind; what another contest has, too, is in both."""
    settings.HOME = judge_home
    made = {}
    for slug, days in (("cup", 31), ("fresh", 1)):
        contest = making.contest(slug)
        team = making.team(contest, "foxes")
        round_ = contest.rounds.get()
        for path, content in (("public/a.csv", slug.encode()), ("public/b.csv", b"shared")):
            RoundFile.objects.create(
                round=round_, path=path, visible=Visible.PUBLIC, blob=store.put(content)
            )
        for path, content in (
            ("secret/a", f"secret {slug}".encode()),
            ("secret/b", b"shared secret"),
        ):
            digest, size = store.put_secret(content)
            SecretFile.objects.create(round_id=round_.pk, path=path, digest=digest, size=size)
            store.reveal(digest)
        received = {"number": 1, "received_at": timezone.now(), "state": "scored"}
        submission = Submission.objects.create(
            entry=making.entry(team), phase=making.phase(contest), **received
        )
        SubmittedFile.objects.create(
            submission=submission, name="release.csv", blob=store.put(f"of {slug}".encode())
        )
        Contest.objects.filter(pk=contest.pk).update(ended_at=timezone.now() - timedelta(days=days))
        checkpoint(contest)
        made[slug] = Contest.objects.get(pk=contest.pk)
    return made["cup"]


def test_the_files_of_a_contest_are_deleted_some_days_after_its_end_and_what_others_share_stays(
    over: Contest,
) -> None:
    fresh = Contest.objects.get(slug="fresh")
    assert codes(attempt(erasing.erase, organizer(), making.contest("running"), "running")) == [
        "contests.not_ended"
    ]
    assert codes(attempt(erasing.erase, organizer(), fresh, "fresh")) == ["contests.erasable_later"]
    assert codes(attempt(erasing.erase, organizer(), over, "fresh")) == ["contests.not_confirmed"]
    entries = over.log.count()
    erasing.erase(organizer(), over, "cup")
    assert codes(attempt(erasing.erase, organizer(), over, "cup")) == ["contests.erased"]
    assert erasing.erase_files() == 5
    store.forget_unused(timezone.now() + timedelta(hours=1))
    left = {
        kind: {one["path"] for one in SecretFile.objects.values("path")} for kind in ("secret",)
    }
    assert left == {"secret": {"secret/a", "secret/b"}}
    on_disk = {
        name: {
            path.read_bytes() for path in Path(storages[name].location).rglob("*") if path.is_file()
        }  # type: ignore[attr-defined]
        for name in ("default", "secret")
    }
    assert on_disk["secret"] == {b"secret fresh", b"shared secret"}
    assert on_disk["default"] == {
        b"fresh",
        b"shared",
        b"of fresh",
        b"secret fresh",
        b"shared secret",
    }
    assert Blob.objects.count() == 3
    assert over.log.count() == entries + 1, "the log says so, and nothing of it is gone"
    assert erasing.erase_files() == 0


def test_from_the_moment_of_deletion_nobody_can_fetch_a_file_though_its_bytes_go_later(
    over: Contest,
) -> None:
    client, submission = Client(), Submission.objects.get(phase__round__contest=over)
    client.force_login(organizer(), "django.contrib.auth.backends.ModelBackend")
    over.rounds.update(prepared_at=timezone.now())
    addresses = [
        place + address
        for place, files in (
            ("/contests/cup/rounds/pre/files/", ["public/a.csv"]),
            ("/api/v1/contests/cup/rounds/pre/files/", ["public/a.csv"]),
            (f"/submissions/{submission.pk}/files/", ["release.csv"]),
            (f"/api/v1/submissions/{submission.pk}/files/", ["release.csv"]),
            ("/contests/cup/rounds/pre/", ["handout.zip"]),
        )
        for address in files
    ]
    assert {client.get(address).status_code for address in addresses} == {200}
    erasing.erase(organizer(), over, "cup")
    assert {client.get(address).status_code for address in addresses} == {404}
    assert client.get("/api/v1/contests/cup/rounds/pre/files").json() == []


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"of cup", "rounds/pre/submissions/01/anonymize/0001/release.csv"),
        (b"secret cup", "rounds/pre/preparation/secret/a"),
    ],
)
def test_where_a_store_has_lost_a_file_it_is_named_before_anything_of_the_archive_is_sent(
    over: Contest, judge_home: Path, content: bytes, named: str
) -> None:
    assert over.ended_at is not None
    for path in [
        one for one in judge_home.rglob("*") if one.is_file() and one.read_bytes() == content
    ]:
        path.unlink()
    told, shown = (Client().get(f"{place}/contests/cup/archive.zip") for place in ("/api/v1", ""))
    assert (told.status_code, shown.status_code) == (500, 500)
    assert told.json()["error"] == "lost"
    assert [one["file"] for one in told.json()["problems"]] == [named]
    assert named in shown.content.decode()


def test_a_single_file_that_a_store_has_lost_is_named_too(over: Contest, judge_home: Path) -> None:
    over.rounds.update(prepared_at=timezone.now())
    for path in [
        one for one in judge_home.rglob("*") if one.is_file() and one.read_bytes() == b"cup"
    ]:
        path.unlink()
    for place in ("/api/v1", ""):
        answer = Client().get(f"{place}/contests/cup/rounds/pre/files/public/a.csv")
        assert answer.status_code == 500
        assert "a.csv" in answer.content.decode()


def test_where_the_files_were_deleted_page_and_api_say_that_no_archive_can_be_made(
    over: Contest,
) -> None:
    client = Client()
    client.force_login(organizer(), "django.contrib.auth.backends.ModelBackend")
    page = client.get("/contests/cup/manage/").content.decode()
    assert "/contests/cup/manage/erase" in page
    assert "The archive can no longer be made" in page, "said before it is done"
    client.post("/contests/cup/manage/erase", {"confirm": "cap"})
    assert Contest.objects.get(slug="cup").erased_at is None
    client.post("/contests/cup/manage/erase", {"confirm": "cup"})
    checkpoint(over)
    erasing.erase_files()
    for address in ("/contests/cup/", "/contests/cup/manage/", "/contests/cup/archive.zip"):
        assert b"the archive can no longer be made" in client.get(address).content, address
    told = client.get("/api/v1/contests/cup/archive.zip")
    assert (told.status_code, told.json()["error"]) == (410, "erased")
    by = {"Authorization": f"Bearer {accounts.new_token(organizer(), 'x')[1]}"}
    again = Client().post("/api/v1/contests/cup/erase?confirm=cup", headers=by)
    assert (again.status_code, again.json()["problems"][0]["code"]) == (422, "contests.erased")
