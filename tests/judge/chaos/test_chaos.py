"""Everything that runs is killed, stopped, starved of disk or given a wrong clock while teams hand in; nothing is lost."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.judge.chaos.accounts import account, wait_for_rest
from tests.judge.chaos.contest import Chaotic
from tests.judge.chaos.judge import Judge, small_disk
from tests.judge.chaos.kills import Chaos

WORKER_KILLS = int(os.environ.get("KAKURENBO_WORKER_KILLS", "2"))  # `make soak` asks for more, and for more of all else
WHOLE = WORKER_KILLS >= 10
OTHERS = max(1, WORKER_KILLS // 10)
DEEDS = {
    "worker": WORKER_KILLS,
    "sweep": OTHERS,
    "postgres": OTHERS,
    "web_in_mid_upload": OTHERS,
    "stopped_worker": OTHERS,
    **(dict.fromkeys(("scoring_child", "fork_server", "stopped_sweep", "supervisor", "full_disk"), 2) if WHOLE else {}),
    **(dict.fromkeys(("clock_forward", "clock_back"), 2) if WHOLE else {}),
}
TEAMS, PAUSE, SEED = (3, 8.0, 1) if WHOLE else (1, 0.0, 1)
TRIES = {"amic2020": 80, "darc2019": 12} if WHOLE else {"amic2020": 6, "darc2019": 3}
MEGABYTES = 900


@pytest.fixture
def disk() -> Iterator[tuple[Path, bool]]:
    """A folder for the judge, on a small disk where one can be had."""
    with tempfile.TemporaryDirectory(prefix="kk") as folder:  # a short path: that of pytest may be too long for a socket
        Path(folder).chmod(0o711)  # under root the database has another account
        with small_disk(Path(folder), MEGABYTES) as is_small:
            yield Path(folder), is_small


@pytest.fixture
def judge(disk: tuple[Path, bool]) -> Iterator[Judge]:
    judge = Judge(disk[0])
    judge.start()
    yield judge
    members = judge.members()
    judge.process.terminate()
    judge.process.wait(60)
    assert not [pid for pid in members if Path(f"/proc/{pid}").exists()]


def test_whatever_is_killed_nothing_acknowledged_is_lost_nothing_is_stuck_nothing_is_scored_twice(
    judge: Judge, disk: tuple[Path, bool], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    contests = [Chaotic(judge, rulebook, TEAMS, tries) for rulebook, tries in TRIES.items()]
    for contest in contests:
        judge.wait_until(contest.is_open)
        contest.make_releases(tmp_path, 3)
    chaos = Chaos(judge, contests, SEED, disk[0] if disk[1] else None)
    over = threading.Event()
    players = [
        threading.Thread(target=team.play, args=(contest.tries, PAUSE, over)) for contest in contests for team in contest.teams
    ]
    for player in players:
        player.start()
    try:
        chaos.run(DEEDS)
    finally:
        over.set()
        for player in players:
            player.join()
    rest = wait_for_rest(judge)
    with capsys.disabled():
        print(chaos.done, rest, time.monotonic() - began)
        print(account(judge, contests, tmp_path))
        print(json.dumps({str(k): v for contest in contests for team in contest.teams for k, v in team.answers.items()}))
