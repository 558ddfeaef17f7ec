"""Everything that runs is killed, stopped, starved of disk or given a wrong clock while teams hand in; nothing is lost."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.calling import call
from tests.judge.chaos.accounts import account, wait_for_rest
from tests.judge.chaos.contest import Chaotic
from tests.judge.chaos.judge import Judge, small_disk
from tests.judge.chaos.kills import Chaos
from tests.judge.waiting import PATIENCE

pytestmark = pytest.mark.slow

WORKER_KILLS = int(
    os.environ.get("KAKURENBO_WORKER_KILLS", "2")
)  # `make soak` asks for more, and for more of all else
WHOLE = WORKER_KILLS >= 10
OTHERS = max(1, WORKER_KILLS // 10)
DEEDS = {
    "worker": WORKER_KILLS,
    "sweep": OTHERS,
    "postgres": OTHERS,
    "web_in_mid_upload": OTHERS,
    "stopped_worker": OTHERS,
    **(
        dict.fromkeys(("full_disk", "postgres_out_of_room", "clock_forward", "clock_back"), OTHERS)
        if WHOLE
        else {}
    ),
    **(
        dict.fromkeys(("scoring_child", "fork_server", "stopped_sweep", "supervisor"), OTHERS)
        if WHOLE
        else {}
    ),
}
TEAMS, RELEASES, PAUSE, SEED = (3, 3, 20.0, 1) if WHOLE else (2, 1, 0.5, 1)
TRIES = {"amic2020": 80, "darc2019": 12} if WHOLE else {"amic2020": 40}
MEGABYTES = 900
_SHOWN = 5
OUT = Path("out/soak.json")
NEVER = (
    *(
        "lost",
        "scored twice",
        "not scored",
        "never acknowledged",
        "wrong state or scores",
        "quota wrong",
    ),
    *(
        "receipts that do not hold",
        "archives that do not hold",
        "stuck",
        "faults",
        "half files",
        "orphans",
    ),
)
"""What must not be found, by the names that ``accounts`` gives it."""


@pytest.fixture
def disk() -> Iterator[tuple[Path, bool]]:
    """A folder for the judge, on a small disk where one can be had."""
    with tempfile.TemporaryDirectory(
        prefix="kk"
    ) as folder:  # a short path: that of pytest may be too long for a socket
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
    judge.process.wait(PATIENCE)
    assert not [pid for pid in members if Path(f"/proc/{pid}").exists()]


def test_whatever_is_killed_nothing_acknowledged_is_lost_nothing_is_stuck_nothing_is_scored_twice(
    judge: Judge, disk: tuple[Path, bool], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.monotonic()
    contests = Chaotic.held(judge, TRIES, TEAMS)
    for contest in contests:
        judge.wait_until(contest.is_open)
        contest.make_releases(tmp_path, RELEASES)
    chaos = Chaos(judge, contests, SEED, disk[0] if disk[1] else None, quick=not WHOLE)
    hand_in_during(chaos, contests)
    found = {
        **chaos.done,
        "seconds until all was judged": wait_for_rest(judge),
        **account(judge, contests, tmp_path),
    }
    if WHOLE:
        found["archives that do not hold"] = sum(
            not ended_and_verified(judge, contest, tmp_path) for contest in contests
        )
    found["seconds"] = round(time.monotonic() - began)
    with capsys.disabled():
        tell(found, chaos.skipped)
    assert {**chaos.done, **dict.fromkeys(chaos.skipped, OTHERS)} == DEEDS
    assert not {name: found[name] for name in NEVER if found.get(name)}


def hand_in_during(chaos: Chaos, contests: list[Chaotic]) -> None:
    """Let every team hand in while the judge is hurt."""
    over, teams = (
        threading.Event(),
        [(team, contest.tries) for contest in contests for team in contest.teams],
    )
    with ThreadPoolExecutor(len(teams)) as people:
        playing = [
            people.submit(team.play, tries, PAUSE, over, patient=not WHOLE) for team, tries in teams
        ]
        try:
            chaos.run(DEEDS)
        finally:
            over.set()
    for played in playing:
        played.result()


def ended_and_verified(judge: Judge, contest: Chaotic, folder: Path) -> bool:
    """End a contest as its organizer does, and have its archive verified with every receipt that the teams kept."""
    for kind, state in (("anonymize", "closed"), ("attack", "open"), ("attack", "closed")):
        assert contest.go_on() == kind
        judge.wait_until(lambda kind=kind, state=state: contest.state_of(kind) == state)  # type: ignore[misc]
    assert contest.go_on() == "ended"
    wait_for_rest(judge)
    judge.wait_until(contest.is_signed)
    receipts = [
        word
        for one in contest.acknowledged()
        for word in ("--receipt", folder / f"receipt-{one}.json")
    ]
    verified = call("verify", contest.archive(folder / f"{contest.rulebook}.zip"), *receipts)
    return verified.code == 0 and bool(verified.json["complete"])


def tell(found: dict[str, Any], skipped: dict[str, str]) -> None:
    """Print a table, and keep it."""
    print()
    for name, value in found.items():
        print(f"{name:>28}  {len(value) if isinstance(value, list) else value}")
        for one in value[:_SHOWN] if isinstance(value, list) else ():
            print(f"{'':>30}{one}")
    for name, reason in skipped.items():
        print(f"{name:>28}  skipped: {reason}")
    if WHOLE:
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(
            json.dumps({**found, "skipped": skipped}, indent=2, default=str) + "\n",
            encoding="utf-8",
        )
