"""The scoring child: a process for each step, under limits, that knows nothing but its folder."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.judge.waiting import lives, wait_until

from kakurenbo.contest import AnyRulebook
from kakurenbo.contest.engine import prepare
from kakurenbo.core import write_folder
from kakurenbo.core.messages import speaking_to
from kakurenbo.judge import confinement
from kakurenbo.judge.scoring.child import ChildDied, ForkServer, Limits
from kakurenbo.judge.scoring.texts import problem_words
from kakurenbo.methods import registry

RULEBOOK = {"name": "trouble", "options": {"size": 20}, "round": "only"}
needs_landlock = pytest.mark.skipif(not confinement.version(), reason="the kernel has no Landlock")
REQUEST = {"rulebook": RULEBOOK, "team": "01", "number": 1}


@pytest.fixture
def server(fork_server: ForkServer, plugins: Path) -> ForkServer:
    assert plugins
    return fork_server


@pytest.fixture
def rules(plugins: Path) -> AnyRulebook:
    assert plugins
    made: AnyRulebook = registry.build("rulebooks", "trouble:size=20")
    return made


@pytest.fixture
def folder(rules: AnyRulebook, tmp_path: Path) -> Path:
    """What the step ``release`` sees: the organizer's folder, and a release that changes nothing."""
    write_folder(tmp_path / "step" / "preparation", prepare(rules, 1, ["01", "02"]).files())
    hidden = (tmp_path / "step" / "preparation" / "teams" / "01" / "sample.csv").read_bytes()
    hand_in(tmp_path / "step", hidden)
    return tmp_path / "step"


def hand_in(folder: Path, content: bytes) -> None:
    (folder / "submitted").mkdir(exist_ok=True)
    (folder / "submitted" / "release_01.csv").write_bytes(content)


def release(server: ForkServer, folder: Path, limits: Limits | None = None) -> dict[str, Any]:
    return server.run("release", folder, REQUEST, limits or Limits(60, 2000))


def test_a_step_says_what_it_found(server: ForkServer, folder: Path) -> None:
    result = release(server, folder)
    assert result["record"]["state"] == "published", result["record"]["cause"]
    assert [(one["name"], one["value"]) for one in result["record"]["measurements"]] == [
        ("moved", 0.0)
    ]
    assert len(result["fingerprint"]) == 64


def test_what_is_wrong_is_said_in_both_languages_with_file_row_and_column(
    server: ForkServer, folder: Path
) -> None:
    lines = (folder / "submitted" / "release_01.csv").read_text().splitlines()
    lines[3] = "200," + lines[3].partition(",")[2]
    hand_in(folder, "\n".join(lines).encode())
    result = release(server, folder)
    (problem,) = result["problems"]
    assert (result["record"]["state"], result["total"]) == ("refused", 1)
    assert (problem["file"], problem["row"], problem["column"]) == ("release_01.csv", 4, "age")
    words = {}
    for language in ("en", "ja"):
        with speaking_to(language):
            words[language] = problem_words(problem).message
    assert problem["en"]["message"] == words["en"] != words["ja"]


def test_a_memory_hog_is_stopped(server: ForkServer, folder: Path) -> None:
    hand_in(folder, b"hog")
    result = release(server, folder, Limits(60, 1000))
    assert result["record"]["state"] == "failed"
    assert "MemoryError" in result["record"]["cause"]


def test_an_endless_loop_is_stopped(server: ForkServer, folder: Path) -> None:
    hand_in(folder, b"loop")
    with pytest.raises(ChildDied, match="longer than 1 seconds"):
        release(server, folder, Limits(1, 2000))


def test_a_child_that_dies_leaves_the_server_to_serve_the_next(
    server: ForkServer, folder: Path
) -> None:
    hidden = (folder / "submitted" / "release_01.csv").read_bytes()
    hand_in(folder, b"die")
    with pytest.raises(ChildDied, match="signal 9"):
        release(server, folder)
    assert server.running
    hand_in(folder, hidden)
    assert release(server, folder)["record"]["state"] == "published"


def test_a_step_that_cannot_be_done_says_why(server: ForkServer, folder: Path) -> None:
    with pytest.raises(ChildDied, match=r"UsageError: no rulebook is called 'nothing'"):
        server.run(
            "release",
            folder,
            {**REQUEST, "rulebook": {**RULEBOOK, "name": "nothing"}},
            Limits(60, 2000),
        )


def test_the_second_step_needs_no_loading(server: ForkServer, folder: Path) -> None:
    release(server, folder)
    release(server, folder)
    assert server.loaded == []
    assert wait_until(lambda: _seconds(server, folder) < 3), (
        "where libraries are loaded anew, it takes longer each time"
    )


def _seconds(server: ForkServer, folder: Path) -> float:
    began = time.monotonic()
    release(server, folder)
    return time.monotonic() - began


def test_when_the_worker_is_killed_neither_its_server_nor_its_child_lives_on(folder: Path) -> None:
    hand_in(folder, b"loop")
    script = (
        "import sys, json, pathlib\n"
        "from kakurenbo.judge.scoring.child import ForkServer, Limits\n"
        "server = ForkServer(); server.warm([]); print(server._process.pid, flush=True)\n"
        "server.run('release', pathlib.Path(sys.argv[1]), json.loads(sys.argv[2]), Limits(60, 2000))\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", script, str(folder), json.dumps(REQUEST)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert worker.stdout is not None
    server = int(worker.stdout.readline())
    children = wait_until(lambda: _children_of(server))
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    worker.stdout.close()
    wait_until(lambda: not any(lives(pid) for pid in (server, *children)))


def test_the_child_gets_no_secret_of_the_environment() -> None:
    from kakurenbo.judge.scoring.child import clean_environment

    given = {
        "PATH": "/bin",
        "DATABASE_URL": "postgres://secret",
        "KAKURENBO_JUDGE_DSN": "secret",
        "KAKURENBO_JUDGE_SECRET_KEY": "secret",
        "KAKURENBO_TOKEN": "secret",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "KAKURENBO_HOME": "kept",
    }
    cleaned = clean_environment(given)
    assert not any("secret" in value for value in cleaned.values())
    assert {"PATH", "KAKURENBO_HOME", "OMP_NUM_THREADS"} <= set(cleaned)


@needs_landlock
def test_a_step_reads_its_own_folder_and_libraries_and_nothing_else_whatever_it_runs(
    plugins: Path, folder: Path, tmp_path: Path
) -> None:
    assert plugins
    home = tmp_path / "home"
    own = home / "work" / "1" / "jobs" / "own"
    for place in (
        "files/ab/handed-in",
        "secret/cd/answer",
        "secret-key",
        "postgres.password",
        "work/2/jobs/other/request.json",
    ):
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text("secret")
    tree = home / "work" / "1" / "trees" / "one"
    tree.parent.mkdir(parents=True)
    (folder / "preparation").rename(tree)
    folder.rename(own_made := _made(own))
    (own_made / "preparation").symlink_to(tree)
    beside = [
        str(path)
        for path in home.rglob("*")
        if path.is_file() and not path.is_relative_to(home / "work" / "1")
    ]
    other_job = home / "work" / "1" / "jobs" / "other"
    other_job.mkdir()
    (other_job / "request.json").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        told = {
            "read": [*beside, str(other_job / "request.json"), "/etc/shadow"],
            "list": [
                str(path)
                for path in (
                    home,
                    home / "secret",
                    home / "files",
                    home / "work",
                    other_job,
                    Path.home(),
                )
            ],
            "write": [str(home / "secret-key"), str(tree / "more"), str(tmp_path / "elsewhere")],
            "process": os.getpid(),
            "port": listening.getsockname()[1],
        }
        (own / "told").write_text(json.dumps(told))
        hand_in(own, f"spy {own / 'told'}".encode())
        server = ForkServer(home / "work" / "1", home)
        try:
            result = release(server, own)
        finally:
            server.retire()
    assert result["record"]["state"] == "published", result["record"]["cause"]
    seen = json.loads((own / "seen.json").read_text())
    assert {name for name, became in seen.items() if became == "done"} == {
        "own file",
        "library",
        "symbolic link",
        "own process",
    } | _let_through()


def _let_through() -> set[str]:
    """What an older kernel cannot keep from a process."""
    known = confinement.version()
    return (set() if known >= 4 else {"connect", "listen"}) | (set() if known >= 6 else {"signal"})


def _made(place: Path) -> Path:
    place.parent.mkdir(parents=True)
    return place


def test_a_link_that_a_step_made_leads_nobody_anywhere(
    server: ForkServer, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "answer").write_text("secret")
    hand_in(folder, f"link {tmp_path / 'answer'}".encode())
    with pytest.raises(ChildDied, match="a link"):
        release(server, folder)


def test_what_a_step_leaves_running_ends_with_it(server: ForkServer, folder: Path) -> None:
    hand_in(folder, b"stay")
    release(server, folder)
    assert server._process is not None
    assert _children_of(server._process.pid) == []


def _children_of(pid: int) -> list[int]:
    try:
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return []
