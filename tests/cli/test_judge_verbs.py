"""submit, status and fetch against a judge that says what a test wants: exit codes, refusals, what is never sent or written."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kakurenbo.cli import judge_client, main

Call = Callable[..., tuple[int, str, str]]
TOKEN = "kkr_0123456789"
MOST_BYTES = 20_000_000


def _phase(kind: str, state: str) -> dict[str, Any]:
    times = {"opens_at": "2024-10-03T00:00:00Z", "closes_at": "2024-10-09T00:00:00Z"}
    return {
        "kind": kind,
        "state": state,
        **times,
        "files": [{"template": "D.csv", "max_bytes": MOST_BYTES, "optional": False}],
    }


CONTEST = {
    "slug": "autumn",
    "rounds": [
        {
            "name": "pre",
            "prepared_at": "2024-10-01T00:00:00Z",
            "phases": [_phase("anonymize", "closed")],
        },
        {
            "name": "main",
            "prepared_at": "2024-10-02T00:00:00Z",
            "phases": [_phase("anonymize", "open"), _phase("attack", "waiting")],
        },
    ],
}


class FakeJudge:
    """Answers by a table of (method, path); a list is answered one after the other, the last for ever."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], Any] = {}
        self.heard: list[tuple[str, str, dict[str, str], bytes]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = self.path.removeprefix("/api/v1")
                fake.heard.append((self.command, path, dict(self.headers), body))
                found = fake.answers.get(
                    (self.command, path), (404, {"error": "missing", "message": "nothing here"})
                )
                if isinstance(found, list):
                    found = found.pop(0) if len(found) > 1 else found[0]
                status, content = found
                self.send_response(status)
                if status in (301, 302):
                    self.send_header("Location", content)
                    content = b""
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815 - names of the standard library

            def log_message(self, *_arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def told(self, *methods: str) -> list[tuple[str, str]]:
        return [(method, path) for method, path, _, _ in self.heard if method in methods]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeJudge]:
    judge = FakeJudge()
    threading.Thread(target=judge.server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("KAKURENBO_SERVER", judge.address)
    monkeypatch.setenv("KAKURENBO_TOKEN", TOKEN)
    monkeypatch.setenv("KAKURENBO_LANG", "en")
    monkeypatch.setattr(judge_client, "_AGAIN_AFTER", (0.01, 0.01))
    yield judge
    judge.server.shutdown()
    judge.server.server_close()


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def called(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return int(left.value.code or 0), captured.out, captured.err

    return called


def submission(state: str, number: int | None = 3, **judging: Any) -> dict[str, Any]:
    return {
        "id": "S",
        "number": number,
        "state": state,
        "received_at": None if number is None else "2024-10-03T03:00:00Z",
        "files": [],
        "counts": None,
        "judging": judging,
    }


def takes(fake: FakeJudge, *ends: dict[str, Any]) -> None:
    """A judge that takes one file, D.csv, and then shows these states."""
    fake.answers |= {
        ("GET", "/contests/autumn"): (200, CONTEST),
        ("POST", "/contests/autumn/rounds/main/phases/anonymize/submissions"): (
            201,
            submission("receiving", None),
        ),
        ("PUT", "/submissions/S/files/D.csv"): (201, {"name": "D.csv"}),
        ("POST", "/submissions/S/finish"): (200, submission("received")),
        ("GET", "/submissions/S"): [(200, end) for end in ends],
        ("DELETE", "/submissions/S"): (200, submission("withdrawn", None)),
    }


@pytest.fixture
def release(tmp_path: Path) -> Path:
    (tmp_path / "D.csv").write_text("1,2\n")
    return tmp_path / "D.csv"


def test_a_file_is_handed_in_to_the_open_phase_and_its_scores_are_waited_for(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    scores = [{"name": "E1", "value": 0.25, "maximum": 0.5, "passes": True}]
    takes(fake, submission("scoring"), submission("scored", measurements=scores))
    code, out, _ = call("submit", "autumn", release)
    assert code == 0
    assert "received as no. 3 (main anonymize)" in out
    assert "no. 3 is valid and scored" in out
    assert "0.25" in out
    sent = next(body for method, _, _, body in fake.heard if method == "PUT")
    assert sent == b"1,2\n"
    assert all(headers["Authorization"] == f"Bearer {TOKEN}" for _, _, headers, _ in fake.heard)


def test_an_entry_that_is_refused_ends_with_1_and_names_every_problem(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    problem = {
        "file": "D.csv",
        "row": 2,
        "column": "age",
        "message": "this is not a number",
        "fix": "write one",
    }
    takes(fake, submission("invalid", problems=[problem]))
    code, out, err = call("submit", "autumn", release)
    assert code == 1
    assert "D.csv:2: age: this is not a number; write one" in err
    assert "refused and costs no try" in out


def test_a_threshold_that_does_not_hold_ends_with_1(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    takes(
        fake,
        submission(
            "scored", measurements=[{"name": "E1", "value": 0.75, "maximum": 0.5, "passes": False}]
        ),
    )
    assert call("submit", "autumn", release)[0] == 1


def test_json_is_what_the_judge_said_with_its_receipt_and_nothing_else(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    takes(fake, submission("scored"))
    code, out, err = call("submit", "autumn", release, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {**submission("scored"), "receipt": None}


def test_without_waiting_an_entry_is_only_handed_in(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    takes(fake, submission("scored"))
    code, out, _ = call("submit", "autumn", release, "--wait", 0)
    assert code == 0
    assert "waits to be judged" in out
    assert ("GET", "/submissions/S") not in fake.told("GET")


def test_a_file_that_the_judge_refuses_is_told_and_the_entry_taken_back(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    takes(fake, submission("scored"))
    problems = [
        {"file": "D.csv", "row": None, "column": None, "message": "no such name", "fix": ""}
    ]
    fake.answers["PUT", "/submissions/S/files/D.csv"] = (
        422,
        {"error": "refused", "problems": problems, "problem_count": 1},
    )
    code, out, err = call("submit", "autumn", release)
    assert (code, out) == (1, "")
    assert err == "D.csv: no such name\n"
    assert fake.told("POST", "DELETE")[-1] == ("DELETE", "/submissions/S")


def test_where_nothing_was_handed_in_for_no_fault_of_its_files_the_code_is_2_and_no_file_is_named(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    takes(fake, submission("scored"))
    said = {
        "message": "the team has used its 3 tries of today",
        "fix": "the next one is there at noon",
    }
    problems = [{"file": "", "row": None, "column": None, **said}]
    begin = next(
        path for method, path in fake.answers if method == "POST" and path.endswith("/submissions")
    )
    fake.answers["POST", begin] = (
        422,
        {"error": "refused", "problems": problems, "problem_count": 1},
    )
    code, out, err = call("submit", "autumn", release)
    assert (code, out, err) == (
        2,
        "",
        "the team has used its 3 tries of today; the next one is there at noon\n",
    )


def test_a_file_that_is_too_large_is_told_with_the_limit_and_not_a_byte_is_sent(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    takes(fake, submission("scored"))
    with release.open("r+b") as file:
        file.truncate(MOST_BYTES + 1)
    code, out, err = call("submit", "autumn", release)
    assert (code, out) == (1, "")
    assert err.startswith(f"D.csv: the file is larger than {MOST_BYTES:,} bytes")
    assert not fake.told("POST", "PUT")
    with release.open("r+b") as file:
        file.truncate(4)
    assert call("submit", "autumn", release)[0] == 0


def test_a_judge_that_answers_in_the_middle_of_a_file_is_heard(
    fake: FakeJudge, call: Call, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes(fake, submission("scored"))
    fake.answers["PUT", "/submissions/S/files/D.csv"] = (
        413,
        {"error": "too_large", "message": "at most 10 bytes"},
    )
    send = socket.socket.sendall

    def broken(self: socket.socket, data: Any, *flags: int) -> None:
        send(self, data, *flags)
        if bytes(data) == b"1,2\n":
            raise BrokenPipeError

    monkeypatch.setattr(socket.socket, "sendall", broken)
    code, _, err = call("submit", "autumn", release)
    assert code == 2
    assert "at most 10 bytes" in err


def test_a_folder_is_handed_in_without_what_file_managers_leave_there(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    (release.parent / ".DS_Store").write_bytes(b"x")
    takes(fake, submission("scored"))
    assert call("submit", "autumn", release.parent)[0] == 0
    assert fake.told("PUT") == [("PUT", "/submissions/S/files/D.csv")]


def test_where_no_phase_is_open_nothing_is_sent(fake: FakeJudge, call: Call, release: Path) -> None:
    closed = {**CONTEST, "rounds": CONTEST["rounds"][:1]}
    fake.answers["GET", "/contests/autumn"] = (200, closed)
    code, _, err = call("submit", "autumn", release)
    assert code == 2
    assert "no phase is open" in err
    assert fake.told("POST", "PUT") == []


def test_a_judge_that_is_restarted_meanwhile_is_asked_again(
    fake: FakeJudge, call: Call, release: Path
) -> None:
    takes(fake, submission("scored"))
    fake.answers["GET", "/submissions/S"] = [(503, b""), (502, b""), (200, submission("scored"))]
    assert call("submit", "autumn", release)[0] == 0


def test_a_token_is_sent_to_no_other_address(fake: FakeJudge, call: Call) -> None:
    other = FakeJudge()
    fake.answers["GET", "/me"] = (302, f"{other.address}/api/v1/me")
    code, _, err = call("status")
    other.server.server_close()
    assert code == 2
    assert "where your token is not sent" in err
    assert other.heard == []


def test_a_wrong_token_is_told_in_the_judges_words(fake: FakeJudge, call: Call) -> None:
    fake.answers["GET", "/me"] = (401, {"error": "token", "message": "there is no such token"})
    code, _, err = call("status")
    assert code == 2
    assert "there is no such token" in err
    assert TOKEN not in err


def test_a_token_is_read_from_a_file(
    fake: FakeJudge, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KAKURENBO_TOKEN")
    (tmp_path / "token").write_text("kkr_other\n")
    fake.answers["GET", "/me"] = (200, {"contests": []})
    assert call("status", "--token-file", tmp_path / "token")[0] == 0
    assert fake.heard[0][2]["Authorization"] == "Bearer kkr_other"
    code, _, err = call("status")
    assert code == 2
    assert "$KAKURENBO_TOKEN" in err


def test_what_is_no_judge_is_told_as_such(fake: FakeJudge, call: Call) -> None:
    fake.answers["GET", "/me"] = (404, b"<html>not found</html>")
    code, _, err = call("status")
    assert code == 2
    assert "does not answer as a judge does" in err


def test_status_shows_tries_left_and_what_counts(fake: FakeJudge, call: Call) -> None:
    entry = {**submission("scored"), "counts": "the latest valid one", "files": [{"name": "D.csv"}]}
    left = {"count": 2, "again_at": None, "resets_at": "2024-10-03T15:00:00Z"}
    phase = {
        "round": "main",
        "kind": "anonymize",
        "state": "open",
        "closes_at": "2024-10-09T15:00:00Z",
        "left": left,
    }
    told = {"contest": "autumn", "team": "01", "phases": [{**phase, "submissions": [entry]}]}
    fake.answers["GET", "/contests/autumn/status"] = (200, told)
    code, out, _ = call("status", "autumn")
    assert code == 0
    assert "tries left: 2" in out
    assert "the latest valid one" in out
    assert "begin anew" in out
    assert json.loads(call("status", "autumn", "--json")[1]) == told


def test_status_of_a_disqualified_team_says_so_with_the_reason(fake: FakeJudge, call: Call) -> None:
    left = {"count": 2, "again_at": None, "resets_at": "2024-10-03T15:00:00Z"}
    phase = {
        "round": "main",
        "kind": "anonymize",
        "state": "open",
        "closes_at": "2024-10-09T15:00:00Z",
        "left": left,
    }
    told = {**phase, "disqualified": "shared its handout", "submissions": [submission("scored")]}
    fake.answers["GET", "/contests/autumn/status"] = (
        200,
        {"contest": "autumn", "team": "01", "phases": [told]},
    )
    code, out, _ = call("status", "autumn")
    assert code == 0
    assert "out of this round: shared its handout" in out
    assert "tries" not in out


def announced(path: str, content: bytes) -> dict[str, Any]:
    return {"path": path, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def offers(fake: FakeJudge, *files: tuple[str, bytes]) -> None:
    fake.answers["GET", "/contests/autumn"] = (200, CONTEST)
    fake.answers["GET", "/contests/autumn/rounds/main/files"] = (
        200,
        [announced(path, content) for path, content in files],
    )
    for path, content in files:
        fake.answers["GET", f"/contests/autumn/rounds/main/files/{path}"] = (200, content)


def test_files_are_fetched_once_into_the_folders_that_verbs_take(
    fake: FakeJudge, call: Call, tmp_path: Path
) -> None:
    offers(fake, ("public/contest.json", b"{}"), ("teams/07/B.csv", b"1\n"))
    code, out, _ = call("fetch", "autumn", "-o", tmp_path / "data")
    assert code == 0
    assert (tmp_path / "data" / "teams" / "07" / "B.csv").read_bytes() == b"1\n"
    assert "2 files fetched, 0 were there already (round main)" in out
    assert (
        json.loads(call("fetch", "autumn", "-o", tmp_path / "data", "--json")[1])["fetched"] == []
    )


def round_of(name: str, *states: str) -> dict[str, Any]:
    phases = [
        _phase(kind, state) for kind, state in zip(("anonymize", "attack"), states, strict=True)
    ]
    return {"name": name, "prepared_at": "2024-10-02T00:00:00Z", "phases": phases}


@pytest.mark.parametrize(
    ("pre", "main", "meant"),
    [
        (("open", "waiting"), ("waiting", "waiting"), "pre"),
        (("closed", "open"), ("waiting", "waiting"), "pre"),
        (("closed", "closed"), ("waiting", "waiting"), "pre"),
        (("closed", "closed"), ("open", "waiting"), "main"),
        (("closed", "closed"), ("closed", "closed"), "main"),
        (("waiting", "waiting"), ("waiting", "waiting"), "pre"),
    ],
    ids=[
        "pre is open",
        "pre is attacked",
        "between rounds",
        "main is open",
        "all is over",
        "before the first",
    ],
)
def test_the_round_that_is_played_is_fetched_else_the_latest_that_was(
    fake: FakeJudge,
    call: Call,
    tmp_path: Path,
    pre: tuple[str, ...],
    main: tuple[str, ...],
    meant: str,
) -> None:
    both = {**CONTEST, "rounds": [round_of("pre", *pre), round_of("main", *main)]}
    fake.answers["GET", "/contests/autumn"] = (200, both)
    fake.answers["GET", f"/contests/autumn/rounds/{meant}/files"] = (200, [])
    code, out, _ = call("fetch", "autumn", "-o", tmp_path / "data")
    assert (code, f"(round {meant})" in out) == (0, True)


def test_before_a_round_opens_fetch_says_when_the_handout_comes(
    fake: FakeJudge, call: Call, tmp_path: Path
) -> None:
    offers(fake, ("public/contest.json", b"{}"))
    fake.answers["GET", "/contests/autumn"] = (
        200,
        {**CONTEST, "rounds": [round_of("main", "waiting", "waiting")]},
    )
    code, out, _ = call("fetch", "autumn", "-o", tmp_path / "data")
    assert code == 0
    assert "main has not opened" in out
    assert "2024-10-0" in out
    offers(fake, ("public/contest.json", b"{}"))
    assert "has not opened" not in call("fetch", "autumn", "-o", tmp_path / "data")[1]


def test_bytes_that_were_not_announced_are_not_kept(
    fake: FakeJudge, call: Call, tmp_path: Path
) -> None:
    offers(fake, ("public/contest.json", b"{}"))
    fake.answers["GET", "/contests/autumn/rounds/main/files/public/contest.json"] = (200, b"[]")
    assert call("fetch", "autumn", "-o", tmp_path / "data")[0] == 2
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "path", ["../outside", "/etc/passwd", "teams/../../outside", "C:\\outside", ""]
)
def test_a_judge_cannot_write_outside_the_folder(
    fake: FakeJudge, call: Call, tmp_path: Path, path: str
) -> None:
    offers(fake, (path, b"x"))
    assert call("fetch", "autumn", "-o", tmp_path / "data")[0] == 2
    assert list(tmp_path.iterdir()) == []
