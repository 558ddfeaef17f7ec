"""Every address x method x role x time against a table: whoever adds an address adds a row, or this fails.

A row has five groups, one for each role (somebody without an account, a member of another team, a member and an adviser of
the team in question, an organizer), of four signs, one for each time (before the first phase, while teams anonymize, while they
attack, after the end): ``+`` it is done or shown, ``r`` the rules of the moment refuse it, ``-`` the asker may not, or may not
even learn whether it is there.

What matters is not what an answer is called but what is in it: everything that is not everybody's carries a mark, and every
byte of every answer, unpacked where it is a zip, is searched for it. ``MARKS`` says who may find which, at what time.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from tests.judge import making

from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.models import Contest, Phase, PhaseState, Role
from kakurenbo.judge.scoring.models import (
    Earned,
    Job,
    JobKind,
    JobState,
    Judging,
    Rejudging,
    RejudgingState,
    RoundFile,
    SecretFile,
    StandingSnapshot,
    Target,
    Visible,
)
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import State, Submission, SubmittedFile
from kakurenbo.judge.trust import rules as trust
from kakurenbo.judge.trust.models import LogEntry
from kakurenbo.reports import Document, RulebookEntry
from kakurenbo.reports.document import FORMAT

pytestmark = pytest.mark.django_db

ROLES = ("anonymous", "other", "member", "adviser", "organizer")
TIMES = ("before", "anonymize", "attack", "ended")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
UNWELL = 503  # what /health says where no worker runs
EVERYBODY = "++++ ++++ ++++ ++++ ++++"
PEOPLE = "---- ++++ ++++ ++++ ++++"
PLAYERS = "---- ++++ ++++ ++++ ----"
TEAM = "---- ---- ++++ ++++ ++++"
ORGANIZERS = "---- ---- ---- ---- ++++"
NOBODY = "---- ---- ---- ---- ----"
HANDOUT = "---+ ---+ -+++ -+++ ++++"
ATTACKED = "---+ --++ --++ --++ ++++"
AT_THE_END = "---+ ---+ ---+ ---+ ++++"
PAGE, PLAY = "contests/cup/", "contests/cup/play/pre/anonymize/"
API, CUP, ROUND = "api/v1/", "api/v1/contests/cup", "api/v1/contests/cup/rounds/pre"


@dataclass(frozen=True)
class Row:
    """What one address says to everybody; ``{...}`` in it stands for something of the world below."""

    method: str
    address: str
    expected: str
    form: tuple[tuple[str, str], ...] = ()


API_ROWS = [
    Row("GET", API, EVERYBODY),
    Row("GET", API + "openapi.json", EVERYBODY),
    Row("GET", API + "me", PEOPLE),
    Row("DELETE", API + "me/token", PEOPLE),
    Row("GET", API + "contests", EVERYBODY),
    Row("GET", CUP, EVERYBODY),
    Row("GET", CUP + "/log", EVERYBODY),
    Row("GET", CUP + "/log/checkpoint", EVERYBODY),
    Row("GET", CUP + "/log/consistency/1/2", EVERYBODY),
    Row("GET", CUP + "/standings", EVERYBODY),
    Row("GET", CUP + "/status", PLAYERS),
    Row("GET", CUP + "/queue", ORGANIZERS),
    Row("GET", CUP + "/rejudgings", ORGANIZERS),
    Row(
        "POST", CUP + "/rejudgings", "rrrr rrrr rrrr rrrr rrrr"
    ),  # the body is looked at before who asks
    Row("GET", CUP + "/rejudgings/{rejudging}", ORGANIZERS),
    Row("POST", CUP + "/rejudgings/{rejudging}/apply", ORGANIZERS),
    Row("POST", CUP + "/rejudgings/{rejudging}/cancel", ORGANIZERS),
    Row("GET", CUP + "/archive.zip", AT_THE_END),
    Row("GET", CUP + "/results-site.zip", AT_THE_END),
    Row("POST", CUP + "/erase", "---- ---- ---- ---- rrrr"),
    Row("GET", API + "accounts", ORGANIZERS),
    Row("DELETE", API + "accounts/{account}", ORGANIZERS),
    Row("GET", ROUND + "/standings", EVERYBODY),
    Row("GET", ROUND + "/files", EVERYBODY),
    Row("GET", ROUND + "/files/public/contest.json", EVERYBODY),
    Row("GET", ROUND + "/files/teams/01/B.csv", HANDOUT),
    Row("GET", ROUND + "/files/attackers/C.csv", ATTACKED),
    Row("GET", ROUND + "/files/targets/01/D.csv", ATTACKED),
    Row("GET", ROUND + "/files/secret/seed.json", NOBODY),
    Row("GET", ROUND + "/files/answers/01/answer.csv", NOBODY),
    Row("POST", ROUND + "/phases/anonymize/submissions", "---- r+rr r+rr ---- ----"),
    Row("POST", ROUND + "/phases/attack/submissions", "---- rr+r rr+r ---- ----"),
    Row(
        "PUT", API + "submissions/{receiving}/files/{release}", "---- ---- ++++ ---- ----"
    ),  # counts only if finished in time
    Row("POST", API + "submissions/{receiving}/finish", "---- ---- r+rr ---- ----"),
    Row("GET", API + "submissions/{scored}", TEAM),
    Row("GET", API + "submissions/{scored}/files/{release}", TEAM),
    Row("GET", API + "submissions/{scored}/receipt", TEAM),
    Row("POST", API + "submissions/{scored}/choose", "---- ---- rrrr ---- ----"),
    Row("DELETE", API + "submissions/{receiving}", "---- ---- ++++ ---- ----"),
    Row("POST", API + "jobs/{job}/rerun", ORGANIZERS),
]
# A page that refuses by the rules of the moment says so on the next page, so that its answer is a ``+`` here.
PAGE_ROWS = [
    Row("GET", "health", EVERYBODY),
    Row("GET", "metrics", EVERYBODY),  # on this machine
    Row("GET", "", EVERYBODY),
    Row("GET", "look.css", EVERYBODY),
    Row("POST", "preferences", EVERYBODY),
    Row("GET", "setup", NOBODY),
    Row("POST", "setup", NOBODY),
    Row("GET", "login", EVERYBODY),
    Row("POST", "login", EVERYBODY),
    Row("GET", "join/{invite}", "+++- +++- +++- +++- +++-"),
    Row("POST", "join/{invite}", "+++- +++- +++- +++- +++-"),
    Row("GET", "profile", PEOPLE),
    Row("POST", "profile", PEOPLE),
    Row("POST", "profile/password", PEOPLE),
    Row("POST", "profile/sessions/end", PEOPLE),
    Row("POST", "profile/tokens", PEOPLE),
    Row("POST", "profile/tokens/{token}/revoke", "---- ---- ++++ ---- ----"),
    Row("POST", "profile/delete", PEOPLE),
    Row("POST", "accounts/{account}/delete", ORGANIZERS),
    Row("GET", "contests/new/", ORGANIZERS),
    Row("GET", "contests/new/amic2020/", ORGANIZERS),
    Row("POST", "contests/new/amic2020/", ORGANIZERS),
    Row("GET", PAGE, EVERYBODY),
    Row("GET", PAGE + "standings/", EVERYBODY),
    Row("GET", PAGE + "log/", EVERYBODY),
    Row("GET", PAGE + "archive.zip", AT_THE_END),
    Row("GET", PAGE + "results-site.zip", AT_THE_END),
    Row("GET", PAGE + "team/", PLAYERS),
    Row("GET", PAGE + "play/", PLAYERS),
    Row("GET", PLAY, PLAYERS),
    Row("POST", PLAY + "submit", "---- ++++ ++++ ---- ----"),
    Row("POST", PLAY + "begin", "---- r+rr r+rr ---- ----"),
    Row("GET", PLAY + "form/questionnaire_01.json", PLAYERS),
    Row("POST", PLAY + "form/questionnaire_01.json", PLAYERS),
    Row("GET", PAGE + "rounds/pre/files/public/contest.json", EVERYBODY),
    Row("GET", PAGE + "rounds/pre/files/teams/01/B.csv", HANDOUT),
    Row("GET", PAGE + "rounds/pre/files/attackers/C.csv", ATTACKED),
    Row("GET", PAGE + "rounds/pre/files/targets/01/D.csv", ATTACKED),
    Row("GET", PAGE + "rounds/pre/files/secret/seed.json", NOBODY),
    Row("GET", PAGE + "rounds/pre/files/answers/01/answer.csv", NOBODY),
    Row(
        "GET", PAGE + "rounds/pre/handout.zip", "---- ++++ ++++ ++++ ++++"
    ),  # what is public is in it from the start
    Row("GET", PAGE + "rounds/pre/targets.zip", "---- --++ --++ --++ ++++"),
    Row("GET", "submissions/{scored}/", TEAM),
    Row("GET", "submissions/{scored}/files/{release}", TEAM),
    Row("GET", "submissions/{scored}/receipt.json", TEAM),
    Row("POST", "submissions/{receiving}/finish", "---- ---- r+rr ---- ----"),
    Row("POST", "submissions/{receiving}/withdraw", "---- ---- ++++ ---- ----"),
    Row("POST", "submissions/{scored}/choose", "---- ---- ++++ ---- ----"),
    Row("GET", PAGE + "manage/", ORGANIZERS),
    Row("GET", PAGE + "manage/queue", ORGANIZERS),
    Row("POST", PAGE + "manage/jobs/{job}/rerun", ORGANIZERS),
    Row("GET", PAGE + "manage/phases/{phase}", ORGANIZERS),
    Row("POST", PAGE + "manage/phases/{phase}", ORGANIZERS),
    Row("POST", PAGE + "manage/end", ORGANIZERS),
    Row("POST", PAGE + "manage/erase", ORGANIZERS),
    Row("POST", PAGE + "manage/rehearse", ORGANIZERS, (("minutes", "5"),)),
    Row("GET", PAGE + "manage/announcements", ORGANIZERS),
    Row("POST", PAGE + "manage/announcements", ORGANIZERS),
    Row("GET", PAGE + "manage/rejudgings/", ORGANIZERS),
    Row("POST", PAGE + "manage/rejudgings/", ORGANIZERS, (("reason", "a reason"),)),
    Row("GET", PAGE + "manage/rejudgings/{rejudging}/", ORGANIZERS),
    Row("POST", PAGE + "manage/rejudgings/{rejudging}/apply", ORGANIZERS),
    Row("POST", PAGE + "manage/rejudgings/{rejudging}/cancel", ORGANIZERS),
    Row("GET", PAGE + "manage/teams/", ORGANIZERS),
    Row("POST", PAGE + "manage/teams/add", ORGANIZERS, (("team_name", "late"),)),
    Row("GET", PAGE + "manage/teams/01/", ORGANIZERS),
    Row("POST", PAGE + "manage/teams/01/invite", ORGANIZERS, (("role", "member"), ("days", "7"))),
    Row("POST", PAGE + "manage/invites/{invite_number}/revoke", ORGANIZERS),
    Row("POST", PAGE + "manage/entries/{entry}/disqualify", ORGANIZERS, (("reason", "a reason"),)),
]
LOGOUT = Row("POST", "logout", EVERYBODY)  # apart from the others, as it forgets who asks
ROWS = [*API_ROWS, *PAGE_ROWS]
MARKS = {
    b"handout of 01": HANDOUT,
    b"for attackers": ATTACKED,
    b"target 01": ATTACKED,
    b"release of 01": "---+ ---+ ++++ ++++ ++++",
    b"figure_of_01": "---+ ---+ ++++ ++++ ++++",
    b"what 02 earned": "---+ ---+ ---+ ---+ ---+",
    b"seed of the round": "---+ ---+ ---+ ---+ ---+",
    b"answer to 01": "---+ ---+ ---+ ---+ ---+",
    b"salt of the log": "---+ ---+ ---+ ---+ ---+",
    b"why 03 is out": "---+ ---+ ---+ ---+ ++++",
    b"why 03 is excused": "---+ ---+ ---+ ---+ ++++",
    b"why all is judged again": ORGANIZERS,
}
"""Marks of what is hidden from some: who finds them in any answer at all, by role and time as in the rows."""
RELEASE = "pre_anonymizeddata_01.csv"
MEASURED = {"name": "figure_of_01", "value": 0.5, "higher_is_better": True}
RECORD = {
    "target": "01",
    "team": "01",
    "state": "published",
    "cause": "",
    "measurements": [MEASURED],
    "notices": [],
}
RESULT = {"record": RECORD, "problems": [], "total": 0}
DOCUMENT = Document(rulebook=RulebookEntry("amic2020", "a contest"), rounds=()).as_builtins()


@dataclass
class World:
    """A contest of two teams, its people with their tokens, and what stands for the braces of addresses."""

    contest: Contest
    clients: dict[str, Client]
    tokens: dict[str, str]
    names: dict[str, str]
    salt: bytes
    seen: bytes = b""

    def address(self, row: Row) -> str:
        return "/" + row.address.format_map(self.names)

    def asked(self, row: Row, role: str, method: str = "") -> HttpResponseBase:
        """The answer to one role; what it changed is undone."""
        by_token = row.address.startswith(API)
        client = self.clients["anonymous" if by_token else role]
        headers = (
            {"Authorization": f"Bearer {self.tokens[role]}"}
            if by_token and role in self.tokens
            else {}
        )
        body: dict[str, Any] = {}
        if row.method == "POST":
            body = {"data": dict(row.form)}
        elif row.method == "PUT":
            body = {"data": b"1,2\n", "content_type": "application/octet-stream"}
        with transaction.atomic():
            if method:
                response: HttpResponseBase = client.generic(
                    method, self.address(row), headers=headers
                )
            else:
                response = getattr(client, row.method.lower())(
                    self.address(row), **body, headers=headers
                )
            self.seen = response.getvalue() if response.streaming else response.content  # type: ignore[attr-defined]
            transaction.set_rollback(True)
        return response

    def found(self) -> set[bytes]:
        """The marks in the body of the last answer, and in the names and contents of what is packed in it."""
        content = self.seen
        if content.startswith(b"PK"):
            packed = zipfile.ZipFile(io.BytesIO(content))
            content = b"\0".join(
                [*map(str.encode, packed.namelist()), *map(packed.read, packed.namelist())]
            )
        return {
            mark for mark in MARKS if (self.salt if mark == b"salt of the log" else mark) in content
        }

    def at(self, time: str) -> None:
        """Move the contest to a time."""
        states = {
            "before": (PhaseState.WAITING, PhaseState.WAITING),
            "anonymize": (PhaseState.OPEN, PhaseState.WAITING),
            "attack": (PhaseState.CLOSED, PhaseState.OPEN),
            "ended": (PhaseState.CLOSED, PhaseState.CLOSED),
        }[time]
        now = timezone.now()
        times = {
            PhaseState.WAITING: (now + timedelta(days=1), now + timedelta(days=2)),
            PhaseState.OPEN: (now - timedelta(days=1), now + timedelta(days=1)),
            PhaseState.CLOSED: (now - timedelta(days=3), now - timedelta(days=2)),
        }
        for kind, state in zip(("anonymize", "attack"), states, strict=True):
            opens, closes = times[state]
            Phase.objects.filter(round__contest=self.contest, kind=kind).update(
                state=state, opens_at=opens, closes_at=closes
            )
        Contest.objects.filter(pk=self.contest.pk).update(ended_at=now if time == "ended" else None)


@pytest.fixture
def world(judge_home: Path, settings: Any) -> World:
    settings.HOME = judge_home
    people = {
        "organizer": making.organizer(),
        "other": making.user("other"),
        "member": making.user("member"),
        "adviser": making.user("adviser"),
    }
    contest = making.contest(phases=making.plan(visibility="live"))
    own = making.team(contest, "foxes", people["member"])
    _, text = rules.invite(people["organizer"], own, Role.ADVISER)
    rules.join(people["adviser"], text)
    other = making.team(contest, "badgers", people["other"])
    round_ = contest.rounds.get()
    round_.prepared_at, round_.facts = timezone.now(), {"rulebook": "amic2020"}
    round_.save()
    for path, visible, subject, content in [
        ("public/contest.json", Visible.PUBLIC, "", b"{}"),
        ("teams/01/B.csv", Visible.TEAM, "01", b"handout of 01"),
        ("attackers/C.csv", Visible.ATTACKERS, "", b"for attackers"),
        ("targets/01/D.csv", Visible.TARGET, "01", b"target 01"),
    ]:
        RoundFile.objects.create(
            round=round_, path=path, visible=visible, subject=subject, blob=store.put(content)
        )
    for path, content in (
        ("secret/seed.json", b"seed of the round"),
        ("answers/01/answer.csv", b"answer to 01"),
    ):
        digest, size = store.put_secret(content)
        SecretFile.objects.create(round_id=round_.pk, path=path, digest=digest, size=size)
    phase = making.phase(contest)
    entry = making.entry(own)
    received = {"number": 1, "received_at": timezone.now(), "user": people["member"]}
    scored = Submission.objects.create(entry=entry, phase=phase, state=State.SCORED, **received)
    trust.record(contest, "submission.received", {"submission": str(scored.pk)})
    trust.checkpoint(contest)
    receiving = Submission.objects.create(entry=entry, phase=phase, user=people["member"])
    for submission, names in ((scored, [RELEASE]), (receiving, ["a file before"])):
        for name in names:
            SubmittedFile.objects.create(
                submission=submission, name=name, blob=store.put(b"release of 01")
            )
    target = Target.objects.create(
        round=round_, entry=entry, name="01", submission=scored, record=RECORD
    )
    Earned.objects.create(
        target=target,
        attacker=making.entry(other),
        credit={"hits": 1, "of": 2, "note": "what 02 earned"},
    )
    out = making.entry(making.team(contest, "hedgehogs"))
    out.disqualified, out.excused = "why 03 is out", "why 03 is excused"
    out.save()
    Judging.objects.create(submission=scored, fingerprint="0" * 64, verdict="scored", result=RESULT)
    for of_round in (round_, None):
        StandingSnapshot.objects.create(
            contest=contest, round=of_round, shown=True, document=DOCUMENT, format=FORMAT
        )
    job = Job.objects.create(
        kind=JobKind.JUDGE, contest=contest, round=round_, submission=scored, state=JobState.PARKED
    )
    rejudging = Rejudging.objects.create(
        contest=contest, reason="why all is judged again", state=RejudgingState.READY
    )
    invite, invitation = rules.invite(people["organizer"], own, Role.MEMBER)
    names = {
        "receiving": str(receiving.pk),
        "scored": str(scored.pk),
        "job": str(job.pk),
        "release": RELEASE,
        "phase": str(phase.pk),
        "entry": str(entry.pk),
        "account": str(people["other"].pk),
        "invite": invitation,
        "invite_number": str(invite.pk),
        "rejudging": str(rejudging.pk),
        "token": str(accounts.new_token(people["member"], "to be revoked")[0].pk),
    }
    trust.checkpoint(contest)  # an archive is made when its whole log is signed
    tokens = {role: accounts.new_token(user, "of a test")[1] for role, user in people.items()}
    clients = {role: Client(raise_request_exception=False) for role in ROLES}
    for role, user in people.items():
        clients[role].force_login(user, "django.contrib.auth.backends.ModelBackend")
    salt = bytes(LogEntry.objects.filter(contest=contest).earliest("number").salt).hex().encode()
    return World(contest, clients, tokens, names, salt)


def sign(response: HttpResponseBase) -> str:
    """What an answer means: see the top of this file."""
    if response.status_code in (401, 403, 404) or response.headers.get("Location", "").startswith(
        "/login"
    ):
        return "-"
    if response.status_code in (400, 409, 413, 422):
        return "r"
    assert response.status_code < 400 or response.status_code == UNWELL, response.status_code
    return "+"


@pytest.mark.slow
def test_every_address_says_to_everybody_what_the_table_says_and_shows_no_mark_to_whom_it_is_hidden_from(
    world: World,
) -> None:
    found = {(row.method, row.address): dict.fromkeys(ROLES, "") for row in ROWS}
    seen = {mark: dict.fromkeys(ROLES, "") for mark in MARKS}
    for time in TIMES:
        world.at(time)
        marks: dict[str, set[bytes]] = {role: set() for role in ROLES}
        for row in ROWS:
            for role in ROLES:
                found[row.method, row.address][role] += sign(world.asked(row, role))
                marks[role] |= world.found()
        for mark, by_role in seen.items():
            for role in ROLES:
                by_role[role] += "+" if mark in marks[role] else "-"
    said = [(*address, " ".join(by_role.values())) for address, by_role in found.items()]
    assert said == [(row.method, row.address, row.expected) for row in ROWS]
    assert {mark: " ".join(by_role.values()) for mark, by_role in seen.items()} == MARKS


def routes() -> Iterator[str]:
    """Every address of the judge, as Django writes it."""

    def below(patterns: list[Any], before: str) -> Iterator[str]:
        for pattern in patterns:
            here = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from below(pattern.url_patterns, here)
            else:
                assert isinstance(pattern, URLPattern)
                yield here

    return below(get_resolver().url_patterns, "")


def fits(route: str, address: str) -> bool:
    """Whether an address of the table is one of a route."""
    parts = re.split(r"<[^>]+>", route)
    kinds = re.findall(r"<([^>]+)>", route)
    wild = [r".+" if kind.startswith("path:") else r"[^/]+" for kind in kinds]
    pattern = "".join(
        re.escape(part) + (wild[place] if place < len(wild) else "")
        for place, part in enumerate(parts)
    )
    return re.fullmatch(pattern, address) is not None


def test_who_logs_out_is_nobody_afterwards(world: World) -> None:
    profile = Row("GET", "profile", PEOPLE)
    for role in ROLES:
        assert world.asked(LOGOUT, role).status_code == 302
        assert sign(world.asked(profile, role)) == "-"


def test_nothing_is_done_by_a_session_without_the_mark_of_the_page_that_asks_for_it(
    world: World,
) -> None:
    world.at("anonymize")
    sender = Client(enforce_csrf_checks=True, raise_request_exception=False)
    taken = []
    for user in (making.organizer(), making.user("member")):
        sender.force_login(user, "django.contrib.auth.backends.ModelBackend")
        for row in [*ROWS, LOGOUT]:
            if row.method != "GET":
                status = sender.generic(
                    row.method, world.address(row), headers={"Origin": "https://evil.example"}
                ).status_code
                taken += [(row.method, row.address, status)] if status != 403 else []
    assert not taken


def test_every_address_has_a_row() -> None:
    without = [
        route for route in routes() if not any(fits(route, row.address) for row in [*ROWS, LOGOUT])
    ]
    assert without == []


def test_every_row_has_an_address() -> None:
    known = list(routes())
    assert [
        row.address for row in ROWS if not any(fits(route, row.address) for route in known)
    ] == []


def test_methods_without_a_row_are_refused_at_any_time_to_an_organizer_and_to_everybody_else(
    world: World,
) -> None:
    taken = {
        (row.method, route)
        for row in [*ROWS, LOGOUT]
        for route in routes()
        if fits(route, row.address)
    }
    rows = [
        (route, next(row for row in [*ROWS, LOGOUT] if fits(route, row.address)))
        for route in routes()
    ]
    refused = [
        (method, route, row)
        for route, row in rows
        for method in METHODS
        if (method, route) not in taken
    ]
    others = ROLES[:-1]
    for time in (
        TIMES
    ):  # in turn: each address and method at one time, by an organizer and by one of the others
        world.at(time)
        for place, (method, route, row) in enumerate(refused):
            if TIMES[place % len(TIMES)] != time:
                continue
            status = world.asked(row, "organizer", method).status_code
            assert status in (404, 405), f"{method} {route}: {status}"
            answer = world.asked(row, others[place // len(TIMES) % len(others)], method)
            assert answer.status_code in (404, 405) or sign(answer) == "-", (
                f"{method} {route}: {answer.status_code}"
            )
            assert not world.found()
