"""The API beside what the table of permissions says: tokens, sessions, languages, downloads, the archive before the end."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.utils import timezone
from tests.judge import making

from kakurenbo.core.messages import Message, render
from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.api.app import api
from kakurenbo.judge.api.middleware import JsonRefusals
from kakurenbo.judge.contests.models import Contest, Entry, Phase
from kakurenbo.judge.scoring.models import Judging, RoundFile, SecretFile, Visible
from kakurenbo.judge.scoring.sweep import sign_logs
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import State, Submission
from kakurenbo.proofs import leaf_hash

pytestmark = pytest.mark.django_db
API = "/api/v1/"
BEGIN = f"{API}contests/cup/rounds/pre/phases/anonymize/submissions"
BACKEND = "django.contrib.auth.backends.ModelBackend"


@pytest.fixture
def contest(judge_home: Path) -> Contest:
    """A contest whose first phase is open, with a team of one member."""
    assert judge_home
    made = making.contest(phases=making.plan(timezone.now()))
    making.team(made, "foxes", making.user("member"))
    making.opened(made)
    return made


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def test_a_token_that_was_revoked_is_refused_even_where_everybody_may_look(
    contest: Contest,
) -> None:
    token, text = accounts.new_token(making.user("member"), "of a program")
    assert (
        Client().get(f"{API}me", headers=bearer(text)).json()["contests"][0]["team"]["number"]
        == "01"
    )
    accounts.revoke(token)
    answer = Client().get(f"{API}contests/{contest.slug}", headers=bearer(text))
    assert (answer.status_code, answer.json()["error"]) == (401, "token")
    assert Client().get(f"{API}contests/{contest.slug}").status_code == 200


@pytest.mark.usefixtures("contest")
def test_a_session_changes_nothing_without_the_mark_of_the_page() -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(making.user("member"), BACKEND)
    answer = browser.post(BEGIN)
    assert (answer.status_code, answer.json()["error"]) == (403, "csrf")
    assert not Submission.objects.exists()
    assert browser.get(f"{API}me").status_code == 200


@pytest.mark.usefixtures("contest")
def test_refusals_are_in_the_language_of_the_asker() -> None:
    headers = bearer(accounts.new_token(making.user("member"), "of a program")[1])
    begun = Client().post(BEGIN, headers=headers).json()
    said = {}
    for language in ("en", "ja"):
        answer = Client().post(
            f"{API}submissions/{begun['id']}/finish",
            headers={**headers, "Accept-Language": language},
        )
        assert answer.status_code == 422
        said[language] = (answer.json()["message"], answer.json()["problems"][0]["message"])
    assert all(
        english != japanese for english, japanese in zip(said["en"], said["ja"], strict=True)
    )
    assert "規則" in said["ja"][0]


def test_what_became_of_an_entry_is_told_in_the_language_of_the_asker(contest: Contest) -> None:
    headers = bearer(accounts.new_token(making.user("member"), "of a program")[1])
    words = {language: render("text.bom", {}, language)._asdict() for language in ("en", "ja")}
    notice = {"file": "guess.csv", "row": 1, **words}
    cause = Message("text.bom").stored()
    results = {
        "anonymize": {
            "record": {
                "state": "invalid",
                "cause": cause,
                "measurements": [],
                "notices": [cause],
                "messages": {cause: cause.message.as_json()},
            },
            "problems": [],
            "total": 1,
        },
        "attack": {"targets": [], "refused": [], "notices": [notice]},
    }
    told = {}
    for phase in Phase.objects.filter(round__contest=contest):
        entry = Entry.objects.get(round=phase.round)
        made = Submission.objects.create(
            entry=entry, phase=phase, number=1, received_at=timezone.now(), state="invalid"
        )
        Judging.objects.create(
            submission=made, fingerprint="", verdict="invalid", result=results[phase.kind]
        )
        for language in ("en", "ja"):
            asked = {**headers, "Accept-Language": language}
            told[phase.kind, language] = (
                Client().get(f"{API}submissions/{made.pk}", headers=asked).json()["judging"]
            )
    for language in ("en", "ja"):
        assert told["anonymize", language]["cause"] == words[language]["message"]
        assert told["anonymize", language]["notices"] == [words[language]["message"]]
        assert told["attack", language]["notices"] == [f"guess.csv: {words[language]['message']}"]


@pytest.mark.usefixtures("contest")
def test_an_answer_to_somebody_is_kept_by_nobody_else_and_can_be_asked_for_without_its_content() -> (
    None
):
    browser = Client()
    browser.force_login(making.user("member"), BACKEND)
    for address in (
        "/",
        "/contests/cup/",
        "/contests/cup/play/",
        f"{API}contests/cup/status",
        "/nothing",
    ):
        full, bare = browser.get(address), browser.head(address)
        assert (
            full.headers["Cache-Control"] == bare.headers["Cache-Control"] == "private, no-store"
        ), address
        assert (bare.status_code, bare.content) == (full.status_code, b""), address
        assert bare.headers["Content-Type"] == full.headers["Content-Type"]
    program = Client().get(
        f"{API}contests",
        headers=bearer(accounts.new_token(making.user("member"), "of a program")[1]),
    )
    assert program.headers["Cache-Control"] == "private, no-store"
    assert "Cache-Control" not in Client().get(f"{API}contests").headers


@pytest.mark.usefixtures("contest")
def test_a_file_is_given_back_as_it_was_sent_and_never_shown_as_a_page() -> None:
    headers = bearer(accounts.new_token(making.user("member"), "of a program")[1])
    begun = Client().post(BEGIN, headers=headers).json()
    place = f"{API}submissions/{begun['id']}/files/questionnaire_01.json"
    sent = Client().put(place, b"<script>", content_type="text/html", headers=headers)
    assert (sent.status_code, sent.json()["size"]) == (201, 8)
    answer: Any = Client().get(place, headers=headers)
    assert answer.getvalue() == b"<script>"
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="questionnaire_01.json"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.usefixtures("contest")
def test_a_body_that_is_too_large_is_refused_while_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from kakurenbo.judge.submissions import rules

    monkeypatch.setattr(rules, "most_bytes", lambda *_: 3)
    headers = bearer(accounts.new_token(making.user("member"), "of a program")[1])
    begun = Client().post(BEGIN, headers=headers).json()
    answer = Client().put(
        f"{API}submissions/{begun['id']}/files/pre_anonymizeddata_01.csv", b"1234", headers=headers
    )
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")


def archive_of(contest: Contest) -> zipfile.ZipFile:
    headers = bearer(accounts.new_token(making.organizer(), "of an organizer")[1])
    answer: Any = Client().get(f"{API}contests/{contest.slug}/archive.zip", headers=headers)
    return zipfile.ZipFile(io.BytesIO(answer.getvalue()))


def test_the_archive_has_secrets_salts_and_entries_only_after_the_end(contest: Contest) -> None:
    round_ = contest.rounds.get()
    for path, visible in (
        ("public/contest.json", Visible.PUBLIC),
        ("targets/01/D.csv", Visible.TARGET),
    ):
        RoundFile.objects.create(round=round_, path=path, visible=visible, blob=store.put(b"{}"))
    digest, size = store.put_secret(b"the seed")
    SecretFile.objects.create(
        round_id=round_.pk, path="secret/opening.json", digest=digest, size=size
    )
    before = archive_of(contest)
    assert "cup/rounds/pre/preparation/public/contest.json" in before.namelist()
    assert not [name for name in before.namelist() if "/secret/" in name or "/answers/" in name]
    assert all(
        set(entry) == {"number", "leaf"}
        for entry in json.loads(before.read("cup/log.json"))["entries"]
    )
    Contest.objects.filter(pk=contest.pk).update(ended_at=timezone.now())
    sign_logs()
    after = archive_of(contest)
    assert after.read("cup/rounds/pre/preparation/secret/opening.json") == b"the seed"
    for entry in json.loads(after.read("cup/log.json"))["entries"]:
        assert (
            leaf_hash(bytes.fromhex(entry["salt"]) + entry["entry"].encode()).hex() == entry["leaf"]
        )


@pytest.mark.usefixtures("contest")
def test_the_description_names_every_route_and_how_to_send_a_token() -> None:
    described = Client().get(f"{API}openapi.json").json()
    assert described["components"]["securitySchemes"]["TokenOrSession"]["scheme"] == "bearer"
    routes = {(method, path) for path, methods in described["paths"].items() for method in methods}
    assert ("put", "/api/v1/submissions/{submission_id}/files/{name}") in routes
    assert len(routes) == sum(
        len(methods) for methods in api.get_openapi_schema()["paths"].values()
    )


SHAPE = {"error", "message", "problems", "problem_count"}
NOWHERE = "00000000-0000-4000-8000-000000000000"


@pytest.mark.usefixtures("contest")
@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "nothing", (404, "missing")),
        ("GET", "contests/no-such-one", (404, "missing")),
        ("GET", "contests/cup/rounds/none/files", (404, "missing")),
        ("GET", f"submissions/{NOWHERE}", (404, "missing")),
        ("GET", "submissions/1", (404, "missing")),
        ("POST", "jobs/none/rerun", (404, "missing")),
        ("POST", "jobs/99999999999999999999/rerun", (404, "missing")),
        ("GET", "contests/a%00b", (404, "missing")),
        ("POST", "contests/cup", (405, "method")),
        ("DELETE", "openapi.json", (405, "method")),
        ("GET", "contests/cup/queue", (403, "forbidden")),
    ],
)
def test_every_refusal_has_the_same_shape_in_the_language_of_the_asker(
    method: str, path: str, expected: tuple[int, str], language: str
) -> None:
    headers = {
        **bearer(accounts.new_token(making.user("member"), "of a program")[1]),
        "Accept-Language": language,
    }
    answer = Client(raise_request_exception=False).generic(method, API + path, headers=headers)
    assert answer.headers["Content-Type"].startswith("application/json")
    assert (answer.status_code, answer.json()["error"]) == expected
    assert set(answer.json()) == SHAPE
    assert answer.json()["message"] == text_in(language, f"judge_api.{expected[1]}")
    assert ("Allow" in answer.headers) == (expected[0] == 405)


def text_in(language: str, code: str) -> str:
    return render(code, {}, language).message


@pytest.mark.usefixtures("contest")
@pytest.mark.parametrize("debug", [False, True])
def test_a_fault_of_the_judge_tells_nothing_of_it(
    monkeypatch: pytest.MonkeyPatch, settings: Any, debug: bool
) -> None:
    def fault(*_: object) -> None:
        raise RuntimeError("the password is swordfish")

    settings.DEBUG = debug
    monkeypatch.setattr("kakurenbo.judge.contests.queries.contests_for", fault)
    answer = Client(raise_request_exception=False).get(f"{API}contests")
    assert (answer.status_code, answer.json()["error"], set(answer.json())) == (
        500,
        "fault",
        {*SHAPE, "request_id"},
    )
    assert b"swordfish" not in answer.content
    assert b"Traceback" not in answer.content


def test_other_refusals_without_a_route_have_it_too() -> None:
    for status, code in (
        (413, "too_large"),
        (429, "too_fast"),
        (400, "malformed"),
        (502, "fault"),
        (503, "busy"),
    ):
        page = HttpResponse("<html>", status=status, headers={"Retry-After": "5"})
        answer = JsonRefusals(lambda _, page=page: page)(RequestFactory().get(f"{API}x"))  # type: ignore[misc]
        assert isinstance(answer, HttpResponse)
        told = json.loads(answer.content)
        assert (answer.status_code, told["error"], answer.headers["Retry-After"]) == (
            status,
            code,
            "5",
        )
        assert JsonRefusals(lambda _, page=page: page)(RequestFactory().get("/x")) is page  # type: ignore[misc]


def test_an_upload_whose_last_byte_comes_after_the_closing_second_does_not_count_and_costs_nothing(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = bearer(accounts.new_token(making.user("member"), "of a program")[1])
    begun = Client().post(BEGIN, headers=headers).json()
    stored = store.put

    def slowly(pieces: Any) -> Any:
        """While the body is on its way, the phase closes."""
        blob = stored(pieces)
        Phase.objects.filter(round__contest=contest, kind="anonymize").update(
            closes_at=timezone.now()
        )
        return blob

    monkeypatch.setattr(store, "put", slowly)
    place = f"{API}submissions/{begun['id']}"
    assert (
        Client().put(f"{place}/files/pre_anonymizeddata_01.csv", b"12", headers=headers).status_code
        == 201
    )
    late = Client().post(f"{place}/finish", headers=headers)
    assert (late.status_code, [one["code"] for one in late.json()["problems"]]) == (
        422,
        ["submissions.closed"],
    )
    submission = Submission.objects.get()
    assert (submission.state, submission.number, submission.received_at) == (
        "withdrawn",
        None,
        None,
    )
    again = Client().post(f"{place}/finish", headers=headers)
    assert [one["code"] for one in again.json()["problems"]] == ["submissions.withdrawn"]
    assert Client().post(BEGIN, headers=headers).status_code == 422


def test_status_of_a_team_that_is_out_tells_the_reason_and_none_of_its_entries_counts(
    contest: Contest,
) -> None:
    headers = bearer(accounts.new_token(making.user("member"), "of a program")[1])
    entry = making.entry(contest.teams.get(), "pre")
    phase = Phase.objects.get(round=entry.round, kind="anonymize")
    found = Submission.objects.create(
        entry=entry,
        phase=phase,
        user=making.user("member"),
        number=1,
        received_at=timezone.now(),
        state=State.SCORED,
    )
    place, one = f"{API}contests/{contest.slug}/status", f"{API}submissions/{found.pk}"
    told = Client().get(place, headers=headers).json()["phases"][0]
    assert (told["disqualified"], told["submissions"][0]["counts"] is None) == ("", False)
    Entry.objects.filter(pk=entry.pk).update(disqualified="shared its handout")
    told = Client().get(place, headers=headers).json()["phases"][0]
    assert (told["disqualified"], told["submissions"][0]["counts"]) == ("shared its handout", None)
    assert Client().get(one, headers=headers).json()["counts"] is None
