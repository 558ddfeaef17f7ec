"""What is done to the judge while teams hand in: each deed at a moment that a seed chooses, and counted when it hit."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.judge.chaos.contest import Chaotic
from tests.judge.chaos.judge import LOOK_SECONDS, Judge, kill
from tests.judge.waiting import PATIENCE

HOURS = 3600
_LONGEST_PAUSE = 0.4
_FULL_SECONDS = 8.0
_STOPPED_SECONDS = 8.0
_OVER_THE_LEASE = 30
_NO_DISK = "needs root, to mount a small tmpfs"


class Chaos:
    """Deeds, and how often each was done.

    Parameters
    ----------
    judge : Judge
    contests : list of Chaotic
    seed : int
    disk : Path or None
        A small disk that the judge's folder lies on, to be filled.
    quick : bool
        Let leases run out by the judge's clock, where it can be set, instead of waiting for it.
    """

    def __init__(
        self, judge: Judge, contests: list[Chaotic], seed: int, disk: Path | None, *, quick: bool
    ) -> None:
        self._judge, self._contests, self._disk = judge, contests, disk
        self._quick = quick and judge.clock is not None
        self._chance = random.Random(seed)
        self._hurt: set[int] = set()
        self.done: Counter[str] = Counter()
        self.skipped: dict[str, str] = {}

    def run(self, counts: dict[str, int]) -> None:
        """Do each deed so many times, all in an order that the seed chooses."""
        deeds = [name for name, count in counts.items() for _ in range(count)]
        self._chance.shuffle(deeds)
        for name in deeds:
            deed: Callable[[], bool] = getattr(self, f"_{name}")
            until = time.monotonic() + PATIENCE
            while not deed():
                assert time.monotonic() < until, f"{name} never hit"
            if name not in self.skipped:
                self.done[name] += 1

    # -- processes -------------------------------------------------------------------------------------------------------

    def _worker(self) -> bool:
        """Kill a worker that is scoring; hit where its job was not done when it died."""
        job, worker = self._in_scoring()
        kill(worker)
        return self._has(worker, job, "waiting", "running")

    def _scoring_child(self) -> bool:
        """Kill the process that computes; once for each job, which is put aside after three times."""
        return self._hurt_job(self._judge.child_of)

    def _fork_server(self) -> bool:
        return self._hurt_job(self._judge.fork_server_of)

    def _hurt_job(self, part_of: Callable[[int], int | None]) -> bool:
        job, worker = self._in_scoring()
        if job in self._hurt or not kill(part_of(worker)):
            return False
        self._hurt.add(job)
        return True

    def _sweep(self) -> bool:
        time.sleep(self._chance.uniform(0, 1))
        return kill(self._judge.sweep())

    def _postgres(self) -> bool:
        time.sleep(self._chance.uniform(0, _LONGEST_PAUSE))
        hit = kill(
            self._judge.database_process(), self._chance.choice((signal.SIGKILL, signal.SIGQUIT))
        )
        self._judge.wait_until(self._judge.is_well)
        return hit

    def _web_in_mid_upload(self) -> bool:
        """Kill the web while half of a file is there; its team hears nothing, and sends it once more."""
        team = self._chance.choice(self._contests[0].teams)
        size = len(team.releases[0][1])
        begun, connection = team.half_upload(size)
        incoming, web, until = (
            self._judge.home / "files" / "incoming",
            self._judge.web(),
            time.monotonic() + 5,
        )
        while not any(incoming.glob(f"*:{web}:*")) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
        hit = any(incoming.glob(f"*:{web}:*")) and kill(web)
        connection.settimeout(10)
        try:
            heard = connection.recv(100)
        except OSError:
            heard = b""
        connection.close()
        assert not (hit and heard), heard
        self._judge.wait_until(self._judge.is_well)
        team.resume(begun)
        return hit

    def _supervisor(self) -> bool:
        time.sleep(self._chance.uniform(0, _LONGEST_PAUSE))
        members = self._judge.members()
        self._judge.process.kill()
        self._judge.process.wait()
        self._judge.start()
        left = [pid for pid in members if Path(f"/proc/{pid}").exists()]
        assert not left, f"{left} outlived the supervisor"
        return True

    def _stopped_worker(self) -> bool:
        """Stop a worker for longer than its lease; when it goes on another has the job, or had."""
        job, worker = self._in_scoring()
        stopped = kill(worker, signal.SIGSTOP)
        try:
            if not stopped or not self._has(worker, job, "running"):
                return False
            self._set(_OVER_THE_LEASE if self._quick else 0)
            self._judge.wait_until(
                lambda: not self._has(worker, job, "running"),
                "the job of a worker that was stopped is not given to another",
            )
        finally:
            kill(worker, signal.SIGCONT)
            self._set(0)
        return True

    def _stopped_sweep(self) -> bool:
        pid = self._judge.sweep()
        if not kill(pid, signal.SIGSTOP):
            return False
        time.sleep(_STOPPED_SECONDS)
        return kill(pid, signal.SIGCONT)

    # -- disk and clock --------------------------------------------------------------------------------------------------

    def _full_disk(self) -> bool:
        """Leave no byte: what is sent is refused with a sentence, and everything goes on when there is room."""
        if self._disk is None:
            self.skipped["full_disk"] = _NO_DISK
            return True
        team = self._contests[0].teams[0]
        begun = team.begin()
        name, content = team.releases[0]
        with _filled(self._disk, self._chance.uniform(1, _FULL_SECONDS)):
            refused = team.ask("PUT", f"submissions/{begun}/files/{name}", content * 20)
        assert refused[0] in (507, 503), refused
        assert b"message" in refused[1], refused
        self._judge.wait_until(self._judge.is_well)
        team.resume(begun)
        return True

    def _postgres_out_of_room(self) -> bool:
        """Have the database write more than there is room for, until it gives up; it comes back when there is room."""
        if self._disk is None:
            self.skipped["postgres_out_of_room"] = _NO_DISK
            return True
        with _filled(self._disk, self._chance.uniform(1, _FULL_SECONDS)):
            hit = self._judge.exhaust_database()
        self._judge.wait_until(self._judge.is_well)
        return hit

    def _clock_forward(self) -> bool:
        return self._set_clock(self._chance.randint(2, 5) * HOURS)

    def _clock_back(self) -> bool:
        return self._set_clock(-self._chance.randint(2, 5) * HOURS)

    def _set_clock(self, seconds: int) -> bool:
        """Set the clock for a while, and right again; meanwhile something is handed in and judged."""
        if self._judge.clock is None:
            self.skipped["clock_forward"] = self.skipped["clock_back"] = "needs a C compiler"
            return True
        self._set(seconds)
        try:
            judged = self._judged()
            self._judge.wait_until(
                lambda: self._judged() > judged,
                f"nothing is judged with a clock that is {seconds} s off",
            )
        finally:
            self._set(0)
        judged = self._judged()
        self._judge.wait_until(
            lambda: self._judged() > judged, "nothing is judged after the clock was set right"
        )
        return True

    # -- in common -------------------------------------------------------------------------------------------------------

    def _set(self, seconds: int) -> None:
        if self._judge.clock is not None:
            self._judge.clock.set(seconds)

    def _has(self, worker: int, job: int, *states: str) -> bool:
        """Whether a worker is the last that took a job, and the job in one of these states."""
        query = "select 1 from scoring_job where id = %s and worker like %s and state = any(%s)"
        return bool(self._judge.rows(query, job, f"%:{worker}", list(states)))

    def _judged(self) -> int:
        return int(self._judge.rows("select count(*) from scoring_judging")[0][0])

    def _in_scoring(self) -> tuple[int, int]:
        """A job that is being done, and by whom, at a moment of chance."""
        time.sleep(self._chance.uniform(0, _LONGEST_PAUSE))
        found: list[tuple[int, int]] = []

        def look() -> bool:
            leased = self._judge.in_scoring()
            found.extend([] if leased is None else [leased])
            return bool(found)

        self._judge.wait_until(look, "nothing is being scored")
        time.sleep(self._chance.uniform(0, _LONGEST_PAUSE))
        return found[0]


@contextlib.contextmanager
def _filled(disk: Path, seconds: float) -> Iterator[None]:
    """No room on a disk, from before the caller's deed until some seconds after it, also where others give some back."""
    ballast = disk / "ballast"
    with ballast.open("wb") as file:
        try:
            _fill(file.fileno())
            yield
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                _fill(file.fileno())
                time.sleep(LOOK_SECONDS)
        finally:
            ballast.unlink()


def _fill(file: int) -> None:
    """Take all the room there is."""
    size = 1 << 24
    while size:
        try:
            os.posix_fallocate(file, os.fstat(file).st_size, size)
        except OSError:
            size >>= 1
