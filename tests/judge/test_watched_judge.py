"""A judge that runs, as whoever watches over it sees it: log, health, figures, and what the doctor says."""

from __future__ import annotations

import hashlib
import http.cookiejar
import json
import os
import re
import signal
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.bench_judge import family
from tests.calling import call
from tests.judge.test_serve import Served
from tests.judge.waiting import PATIENCE, wait_until

ADDRESS, PASSWORD, WRONG = "marked-address@example.org", "marked-Password-1", "marked-Password-2"
METRICS_TOKEN = "marked-token-of-the-metrics"
MONITORING = resources.files("kakurenbo.judge.operations") / "monitoring"


class Visitor:
    """Somebody with a browser that keeps cookies."""

    def __init__(self, port: int) -> None:
        self._address = f"http://127.0.0.1:{port}"
        self.cookies = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        return self._send(urllib.request.Request(self._address + path, headers=headers))

    def post(self, path: str, **fields: str) -> tuple[int, str]:
        token = (
            next((cookie.value for cookie in self.cookies if cookie.name == "csrftoken"), None)
            or ""
        )
        body = urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": token}).encode()
        return self._send(
            urllib.request.Request(self._address + path, body, {"Referer": self._address + path})
        )

    def put(self, path: str, body: bytes, **headers: str) -> tuple[int, str]:
        return self._send(urllib.request.Request(self._address + path, body, headers, method="PUT"))

    def _send(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()


@pytest.fixture(scope="module")
def judge() -> Iterator[Served]:
    with tempfile.TemporaryDirectory(prefix="kk") as folder:
        Path(folder).chmod(0o711)
        token = Path(folder) / "token"
        token.write_text(METRICS_TOKEN + "\n")
        served = Served(Path(folder) / "home")
        served.start("--log", "json", "--workers", "1", "--metrics-token-file", str(token))
        yield served
        served.process.terminate()
        served.process.wait(PATIENCE)


@pytest.fixture(scope="module")
def owner(judge: Served) -> Visitor:
    """Return the logged-in owner; without one the judge shows only the page of its first set-up."""
    visitor = Visitor(judge.port)
    visitor.get("/setup")
    assert visitor.post("/setup", name="Mori", email=ADDRESS, new_password=PASSWORD)[0] == 200
    return visitor


def lines(judge: Served) -> list[dict[str, Any]]:
    return [json.loads(line) for line in judge.log.read_text().splitlines()]


def test_no_secret_of_anybody_reaches_the_log_of_the_judge_or_of_the_database(
    judge: Served, owner: Visitor
) -> None:
    visitor = owner
    Visitor(judge.port).get("/login")
    stranger = Visitor(judge.port)
    stranger.get("/login")
    assert "login" in stranger.post("/login", email=ADDRESS, password=WRONG)[1]
    _, page = visitor.post("/profile/tokens", label="of a program")
    token = re.search(
        r"kakurenbo_[\w-]{20,}|kk[\w]*_[\w-]{20,}|[\w-]{40,}", re.sub(r"<[^>]*>", " ", page)
    )
    assert token is not None, page
    bearer, invitation, body = token[0], "marked-invitation-of-a-team", b"marked,bytes\n1,2\n"
    assert (
        visitor.get("/api/v1/contests?secret=marked-query", Authorization=f"Bearer {bearer}")[0]
        == 200
    )
    assert visitor.get("/api/v1/contests", Authorization="Bearer marked-bearer")[0] == 401
    assert (
        visitor.put(
            "/api/v1/submissions/marked/files/marked-name.csv",
            body,
            Authorization=f"Bearer {bearer}",
        )[0]
        == 404
    )
    with (
        judge.database() as connection
    ):  # a page that breaks, and a statement that fails with what somebody sent in it
        connection.execute("ALTER TABLE contests_invite RENAME TO elsewhere")
        try:
            status, page = visitor.get(f"/join/{invitation}")
        finally:
            connection.execute("ALTER TABLE elsewhere RENAME TO contests_invite")
    assert status == 500
    sessions = [cookie.value or "" for cookie in visitor.cookies if cookie.name == "sessionid"]
    assert sessions
    marks = [ADDRESS, PASSWORD, WRONG, bearer, invitation, METRICS_TOKEN, "marked", *sessions]
    marks += [hashlib.sha256(mark.encode()).hexdigest() for mark in (bearer, invitation)]
    marks += [(judge.home / name).read_text() for name in ("secret-key", "postgres.password")]
    judge.wait_until(lambda: any(line.get("status") == 500 for line in lines(judge)))
    written = judge.log.read_text() + (judge.home / "postgres.log").read_text()
    assert [mark for mark in marks if mark in written] == []
    (failed,) = (line for line in lines(judge) if line["logger"] == "django.request")
    assert failed["route"] == "join/<str:invitation>"
    assert failed["error"].startswith("ProgrammingError")
    assert failed["request"] in page
    told = [
        (line["route"], line["method"], line["status"])
        for line in lines(judge)
        if line.get("event") == "request" and "route" in line
    ]
    assert ("login", "POST", 200) in told
    assert ("profile/tokens", "POST", 302) in told
    assert all(
        {"time", "level", "process", "logger", "event"} <= set(line) for line in lines(judge)
    )


def test_health_answers_within_two_seconds_while_the_database_hangs(judge: Served) -> None:
    visitor = Visitor(judge.port)
    assert json.loads(visitor.get("/health")[1])["ok"]
    database = [
        pid
        for pid in family(judge.process.pid)
        if b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()[:80]
    ]
    assert database
    for pid in database:
        os.kill(pid, signal.SIGSTOP)

    def seconds() -> float:
        began = time.monotonic()
        status, answer = visitor.get("/health")
        assert status == 503
        assert json.loads(answer)["checks"]["database"] is False
        return time.monotonic() - began

    try:
        for _ in range(2):
            wait_until(lambda: seconds() < 2)  # no answer would be, if it waited for the database
        figures = visitor.get("/metrics")[1]
        assert "kakurenbo_database_up 0.0" in figures
    finally:
        for pid in database:
            os.kill(pid, signal.SIGCONT)
    judge.wait_until(judge.is_well)


def test_figures_are_for_this_machine_and_for_whoever_has_the_token(judge: Served) -> None:
    visitor = Visitor(judge.port)
    assert visitor.get("/metrics")[0] == 200
    assert visitor.get("/metrics", **{"X-Forwarded-For": "192.0.2.7"})[0] == 404
    assert (
        visitor.get(
            "/metrics", **{"X-Forwarded-For": "192.0.2.7", "Authorization": "Bearer wrong"}
        )[0]
        == 404
    )
    by_token = {"X-Forwarded-For": "192.0.2.7", "Authorization": f"Bearer {METRICS_TOKEN}"}
    assert visitor.get("/metrics", **by_token)[0] == 200


def test_every_figure_of_the_dashboard_and_of_the_alerts_exists(judge: Served) -> None:
    figures = Visitor(judge.port).get("/metrics")[1]
    known = {line.split()[2] for line in figures.splitlines() if line.startswith("# TYPE")}
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    shown = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    rules = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"][0]["rules"]
    assert all(
        rule["annotations"]["summary"] and rule["for"] and rule["labels"]["severity"]
        for rule in rules
    )
    named = {
        name
        for expr in (*shown, *(rule["expr"] for rule in rules))
        for name in re.findall(r"kakurenbo_\w+", expr)
    }
    assert {
        name
        for name in named
        if name not in known and re.sub("_(bucket|sum|count)$", "", name) not in known
    } == set()
    charted = {re.sub("_(bucket|sum|count)$", "", name) for name in named} | named
    assert known - charted == set(), "a figure that nobody looks at"
    (fails,) = (rule["expr"] for rule in rules if rule["alert"] == "JudgeFails")
    assert 'route!="health"' in fails, "that the judge is unwell has alerts of its own"
    labels = set(re.findall(r'(\w+)="', figures))
    assert labels <= {"route", "method", "status", "le", "kind", "state", "rulebook"}


@pytest.mark.usefixtures("owner")
def test_a_failed_login_is_counted(judge: Served) -> None:
    def login_failures() -> float:
        figures = visitor.get("/metrics")[1]
        return float(re.search(r"^kakurenbo_login_failures_total (\S+)$", figures, re.MULTILINE)[1])  # type: ignore[index]

    visitor = Visitor(judge.port)
    before = login_failures()
    visitor.get("/login")
    visitor.post("/login", email="unknown@example.org", password=WRONG)
    assert login_failures() == before + 1


def test_the_doctor_finds_nothing_wrong_with_a_judge_that_runs_and_leaves_nothing_behind(
    judge: Served,
) -> None:
    examined = call("doctor", "--home", judge.home, "--all")
    found = {check["name"]: check for check in examined.json["checks"]}
    assert [name for name, check in found.items() if not check["ok"]] == []
    assert examined.code == 0
    wanted = {
        "kernel",
        "rights",
        "room",
        "database",
        "tables",
        "roles",
        "stores",
        "files",
        "workers",
        "queue",
        "sweep",
    }
    assert wanted | {"clock", "fingerprints", "log"} <= set(found)
    assert not [
        path for name in ("files", "secret") for path in (judge.home / name).glob("doctor*")
    ], "nothing is left behind"
