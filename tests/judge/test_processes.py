"""Parts of the judge start again whenever they end, and end with their supervisor."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.judge.waiting import PATIENCE, lives, wait_until

from kakurenbo.core.errors import UsageError
from kakurenbo.judge.operations.logs import TextLines
from kakurenbo.judge.serve.credentials import Credentials
from kakurenbo.judge.serve.home import Home
from kakurenbo.judge.serve.plan import Plan
from kakurenbo.judge.serve.processes import Process, fork, wait_for
from kakurenbo.judge.serve.supervisor import Supervisor


def ended(process: Process) -> float:
    """Wait until it has; gives the moment at which that was noticed."""

    def noticed() -> float:
        now = time.monotonic()
        return now if process.ended(now) else 0.0

    return wait_until(noticed)


def test_a_part_that_ends_well_is_due_again_all_the_same() -> None:
    part = Process("part", lambda: None, lambda: None)
    part.start()
    noticed = ended(part)
    assert part.pid is None
    assert part.due < noticed + 1


def test_a_part_that_dies_again_and_again_is_started_less_and_less_often() -> None:
    part = Process("part", lambda: os._exit(3), lambda: None)
    delays = []
    for _ in range(3):
        part.start()
        noticed = ended(part)
        delays.append(part.due - noticed)
    assert delays[0] < delays[1] < delays[2] < 1


def test_what_is_done_once_is_not_due_again() -> None:
    part = Process("part", lambda: None, lambda: None, once=True)
    part.start()
    ended(part)
    assert part.due == float("inf")


def test_a_database_that_does_not_start_is_tried_again_and_does_not_end_the_judge(
    tmp_path: Path,
) -> None:
    supervisor = Supervisor(
        Plan(tmp_path / "home", "127.0.0.1", 1, "http://127.0.0.1:1", 1), Credentials()
    )
    database: Any = Mock()
    supervisor._database = database
    database.process.poll.return_value = 1
    database.start.side_effect = [UsageError("no room"), OSError("no room"), None]
    for attempts in (1, 2):
        supervisor._keep_database()
        supervisor._keep_database()
        assert database.start.call_count == attempts, "there is a moment between attempts"
        assert 0 < supervisor._patience() <= 1
        supervisor._database_due = 0
    supervisor._keep_database()
    assert database.start.call_count == 3


def test_a_log_on_a_full_disk_keeps_no_part_from_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Path("/dev/full").open("w")  # noqa: SIM115 - to close it fails, too
    full.write("what is still to be said")
    monkeypatch.setattr(sys, "stderr", full)
    assert wait_for(fork("part", lambda: None, lambda: None)) == 0
    with pytest.raises(OSError, match="No space"):
        full.close()


def test_a_part_says_by_its_exit_code_how_it_went(tmp_path: Path) -> None:
    def fails() -> None:
        raise ValueError("as it were")

    kept = logging.FileHandler(tmp_path / "log")
    kept.setFormatter(TextLines())
    logging.getLogger().addHandler(kept)
    assert wait_for(fork("good", lambda: None, lambda: None)) == 0
    assert wait_for(fork("told", lambda: sys.exit(7), lambda: None)) == 7
    assert wait_for(fork("bad", fails, lambda: None)) == 1
    logging.getLogger().removeHandler(kept)
    kept.close()
    told = (tmp_path / "log").read_text(encoding="utf-8")
    assert "ValueError" in told
    assert "as it were" not in told, "what an error says may be anybody's secret"


def test_every_part_has_a_title_by_which_ps_tells_it_apart_and_keeps_what_it_was_given() -> None:
    program = """
from pathlib import Path
from kakurenbo.judge.serve.processes import fork, wait_for
show = lambda: print(Path("/proc/self/cmdline").read_text().replace(chr(0), " "))
wait_for(fork("worker-1", show, lambda: None))
"""
    words = ["kakurenbo.judge.serve", '{"home": "/srv/judge"}', "x" * 200]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith('kakurenbo.judge.serve: worker-1 {"home": "/srv/judge"} xxx'), (
        done
    )


def test_a_part_hears_signals_that_its_supervisor_blocks() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        part = Process("part", lambda: time.sleep(2 * PATIENCE), lambda: None)
        part.start()
        part.signal(signal.SIGTERM)
        assert part.wait(time.monotonic() + PATIENCE)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])


def test_a_part_ends_when_its_supervisor_is_killed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    code = (
        "import os, pathlib, signal, time\n"
        "from kakurenbo.judge.serve.processes import fork\n"
        f"pid_file = pathlib.Path({str(pid_file)!r})\n"
        "def write_pid():\n"  # renamed when it is complete, so that nobody reads an empty file
        "    partial = pid_file.with_suffix('.partial')\n"
        "    partial.write_text(str(os.getpid()))\n"
        "    partial.rename(pid_file)\n"
        f"pid = fork('part', lambda: time.sleep({2 * PATIENCE}), write_pid)\n"
        "while not pid_file.exists(): time.sleep(0.01)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    wait_until(lambda: not lives(int(pid_file.read_text())))


def test_two_judges_never_run_in_one_folder(tmp_path: Path) -> None:
    first = Home(tmp_path / "judge")
    first.take()
    with pytest.raises(UsageError, match="another judge"):
        Home(tmp_path / "judge").take()
    first.leave_to_parent()
    Home(tmp_path / "judge").take()


def test_the_key_of_sessions_is_made_once_and_shown_to_nobody(tmp_path: Path) -> None:
    home = Home(tmp_path / "judge")
    home.take()
    key = home.secret_key()
    assert len(key) >= 50
    assert home.secret_key() == key
    assert (tmp_path / "judge" / "secret-key").stat().st_mode & 0o777 == 0o600


def test_uploads_that_were_cut_off_by_a_stop_are_gone_at_the_next_start(tmp_path: Path) -> None:
    half = tmp_path / "files" / "incoming" / "upload-1"
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half")
    Home(tmp_path).take()
    assert not half.exists()


def test_a_folder_that_cannot_be_made_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--home"):
        Home(tmp_path / "file" / "judge").take()
