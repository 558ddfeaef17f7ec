"""Nobody keeps others from their deadline: requests take turns, and count from the moment at which they arrived."""

from __future__ import annotations

import asyncio
import errno
import json
import statistics
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from benchmarks.bench_judge import said_inside
from django.db import OperationalError
from django.test import RequestFactory
from psycopg.errors import DiskFull
from psycopg_pool import PoolTimeout
from tests.judge.test_serve import Served, served
from tests.judge.waiting import wait_until

from kakurenbo.judge.serve import arrival, faults, turns
from kakurenbo.judge.serve.arrival import arrived_at
from kakurenbo.judge.serve.clients import ASKER, Clients
from kakurenbo.judge.serve.turns import OF_MANY, OF_ONE, Turns

pytestmark = pytest.mark.slow

__all__ = ["served"]
NOBODY, FOXES, OWLS = "", "foxes", "owls"


async def settled() -> None:
    """Let everything that can go on do so, whatever the clock says."""
    for _ in range(100):
        await asyncio.sleep(0)


class Work:
    """Stands for Django: each request works until it is let go, and is known by its token."""

    def __init__(self) -> None:
        self.in_work: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.scopes: list[Any] = []
        self.let_go, self.sent = asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        who = dict(scope["headers"]).get(b"authorization", b"").decode()
        scope[ASKER] = who or None
        self.scopes.append(scope)
        self.in_work[who] += 1
        self.most[who] = max(self.most[who], self.in_work[who])
        await self.let_go.wait()
        self.in_work[who] -= 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await self.sent.wait()
        await send({"type": "http.response.body", "body": b""})


class Door:
    """A door before such work, at which requests knock."""

    def __init__(self) -> None:
        self.work = Work()
        self.turns = Turns(self.work, Clients())  # type: ignore[arg-type]

    async def ask(self, who: str, path: str = "/", after: asyncio.Event | None = None) -> int:
        """The status of an answer to a request whose body ends after something."""
        statuses: list[int] = []

        async def receive() -> Any:
            if after is not None:
                await after.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        headers = [(b"authorization", who.encode())] if who else []
        scope = {
            "type": "http",
            "method": "GET",
            "path": path,
            "headers": headers,
            "client": ("192.0.2.1", 5),
        }
        await self.turns(scope, receive, send)
        return statuses[0]

    async def introduce(self, *names: str) -> None:
        """Let each be known from an answer before."""
        self.work.let_go.set()
        self.work.sent.set()
        for name in names:
            await self.ask(name)
        self.work.let_go.clear()
        self.work.most.clear()

    async def begun(self, who: str, count: int) -> list[asyncio.Task[int]]:
        tasks = [asyncio.create_task(self.ask(who)) for _ in range(count)]
        await settled()
        return tasks


def test_of_one_client_a_few_are_in_work_the_others_wait_and_too_many_are_refused() -> None:
    async def play() -> None:
        door = Door()
        await door.introduce(FOXES)
        tasks = await door.begun(FOXES, OF_ONE.in_work + OF_ONE.waiting + 3)
        assert door.work.in_work[FOXES] == OF_ONE.in_work
        door.work.let_go.set()
        statuses = Counter(await asyncio.gather(*tasks))
        assert statuses == {200: OF_ONE.in_work + OF_ONE.waiting, 429: 3}
        assert door.work.most[FOXES] == OF_ONE.in_work

    asyncio.run(play())


def test_the_next_turn_is_of_whom_the_least_is_in_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "AT_ONCE", 3)

    async def play() -> None:
        door = Door()
        await door.introduce(FOXES, OWLS)
        foxes = await door.begun(FOXES, 12)
        (owl,) = await door.begun(OWLS, 1)
        order = [asyncio.create_task(asyncio.wait_for(owl, 5))]
        seen = len(door.work.scopes)
        door.work.let_go.set()
        await asyncio.gather(*order, *foxes)
        assert door.work.scopes[seen][ASKER] == OWLS, "it came last, and is the first to begin"

    asyncio.run(play())


def test_invented_sessions_and_tokens_count_as_the_address_they_come_from() -> None:
    async def play() -> None:
        door = Door()
        tasks = [task for number in range(30) for task in await door.begun(f"invented{number}", 1)]
        assert door.work.in_work.total() == OF_MANY.in_work
        door.work.let_go.set()
        door.work.sent.set()
        await asyncio.gather(*tasks)

    asyncio.run(play())


def test_whoever_reads_slowly_keeps_nobody_waiting_and_health_never_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "AT_ONCE", 4)

    async def play() -> None:
        door = Door()
        await door.introduce(FOXES, OWLS)
        door.work.sent.clear()
        slow = await door.begun(FOXES, 4)
        health = asyncio.create_task(door.ask(NOBODY, "/health"))
        await settled()
        assert door.work.in_work[NOBODY] == 1
        door.work.let_go.set()
        await settled()
        door.work.let_go.clear()
        owls = await door.begun(OWLS, 4)
        assert door.work.in_work[OWLS] == 4, "the answers to the others are still on their way"
        door.work.let_go.set()
        door.work.sent.set()
        assert set(await asyncio.gather(*slow, *owls, health)) == {200}

    asyncio.run(play())


def test_who_goes_away_while_waiting_leaves_the_turn_to_others() -> None:
    async def play() -> None:
        door = Door()
        await door.introduce(FOXES)
        tasks = await door.begun(FOXES, OF_ONE.in_work + 2)
        tasks[0].cancel()
        tasks[-1].cancel()
        await settled()
        assert door.work.in_work[FOXES] == OF_ONE.in_work + 1, "one of which was cut off"
        door.work.let_go.set()
        assert [
            task for task in await asyncio.gather(*tasks, return_exceptions=True) if task == 200
        ] == [200] * OF_ONE.in_work
        assert await door.ask(FOXES) == 200

    asyncio.run(play())


def test_who_is_still_sending_a_body_has_a_turn_though_others_of_the_same_client_came_and_went() -> (
    None
):
    async def play() -> None:
        door = Door()
        await door.introduce(FOXES)
        door.work.let_go.set()
        last_byte = asyncio.Event()
        slow = asyncio.create_task(door.ask(FOXES, after=last_byte))
        await settled()
        assert await door.ask(FOXES) == 200
        last_byte.set()
        assert await asyncio.wait_for(slow, 5) == 200

    asyncio.run(play())


def test_no_header_says_when_a_request_arrived() -> None:
    request = RequestFactory().post("/", headers={arrival.KEY: "2020-01-01T00:00:00Z"})
    assert arrived_at(request).year > 2020


@pytest.mark.parametrize(
    ("path", "kind"), [("/login", "text/html"), ("/api/v1/contests", "application/json")]
)
def test_where_no_connection_is_free_the_answer_is_to_come_again(path: str, kind: str) -> None:
    try:
        try:
            raise PoolTimeout("none within 20 s")
        except PoolTimeout as error:
            raise OperationalError from error
    except OperationalError:
        answer = faults.server_error(RequestFactory().get(path))
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.headers["Content-Type"].startswith(kind)
    assert faults.server_error(RequestFactory().get(path)).status_code == 500


def test_where_the_disk_is_full_a_program_is_told_so_whoever_noticed() -> None:
    for error in (
        OSError(errno.ENOSPC, "no space left on device"),
        DiskFull("could not extend file"),
    ):
        try:
            raise OperationalError from error
        except OperationalError:
            answer = faults.server_error(RequestFactory().get("/api/v1/me"))
        assert (answer.status_code, json.loads(answer.content)["error"]) == (507, "no_room")
        assert answer["Retry-After"] == "5"


# -- a judge that really runs --------------------------------------------------------------------------------------------------

_TWO_TEAMS = """
import django; django.setup()
from datetime import timedelta
from django.db import transaction
from django.utils import timezone
from kakurenbo.judge.accounts.rules import make_first_organizer, new_token, register
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.models import Phase, Round
organizer = make_first_organizer("organizer@example.com", "a long password", "Organizer")
now = timezone.now()
phases = [
    rules.PhasePlan("pre", "anonymize", now, now + timedelta(hours=1)),
    rules.PhasePlan("pre", "attack", now + timedelta(hours=1), now + timedelta(hours=2)),
]
with transaction.atomic():
    contest = rules.make_contest(
        organizer, title="Cup", slug="cup", rulebook="amic2020", options={}, zone="UTC", places=2, phases=phases
    )
    Round.objects.update(prepared_at=now)
    Phase.objects.filter(kind="anonymize").update(state="open")
for name in ("foxes", "owls"):
    team = rules.add_team(organizer, contest, name)
    player = register(f"{name}@example.com", f"a long password of {name}", name)
    rules.join(player, rules.invite(organizer, team, "member")[1])
    print(new_token(player, "test")[1])
"""
_FILE = "pre_anonymizeddata_02.csv"


class Player:
    """Somebody who sends requests to the API."""

    def __init__(self, served: Served, token: str) -> None:
        self._place, self._headers = (
            f"http://127.0.0.1:{served.port}/api/v1",
            {"Authorization": f"Bearer {token}"},
        )

    def ask(self, path: str, method: str = "GET", body: bytes | None = None) -> tuple[int, Any]:
        request = urllib.request.Request(
            f"{self._place}{path}", method=method, data=body, headers=self._headers
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert answer.headers["Cache-Control"] == "private, no-store"
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as refused:
            return refused.code, json.load(refused)

    def sent(self) -> str:
        """A submission with its file, to be finished at this address."""
        _, begun = self.ask("/contests/cup/rounds/pre/phases/anonymize/submissions", "POST")
        place = f"/submissions/{begun['id']}"
        assert self.ask(f"{place}/files/{_FILE}", "PUT", b"a,b\n")[0] == 201
        return f"{place}/finish"

    def seconds(self, times: int) -> float:
        def once() -> float:
            began = time.perf_counter()
            assert self.ask("/contests/cup/status")[0] == 200
            return time.perf_counter() - began

        return statistics.median(once() for _ in range(times))


def test_no_flood_makes_another_team_late_and_what_arrived_in_time_is_taken(served: Served) -> None:
    served.start()
    foxes, owls = (Player(served, token) for token in said_inside(served.home, _TWO_TEAMS))
    _a_flood_by_one_leaves_the_other_quick(foxes, owls)
    _the_moment_of_arrival_decides(served, owls)


def _a_flood_by_one_leaves_the_other_quick(foxes: Player, owls: Player) -> None:
    alone, over, statuses = owls.seconds(5), threading.Event(), Counter[int]()

    def flood() -> None:
        while not over.is_set():
            statuses[foxes.ask("/contests/cup/status")[0]] += 1

    loops = [threading.Thread(target=flood) for _ in range(20)]
    for loop in loops:
        loop.start()
    try:
        wait_until(lambda: statuses.total() >= len(loops))  # the flood is there
        wait_until(
            lambda: owls.seconds(8) < max(10 * alone, 1.0), lambda: f"{alone} s without the flood"
        )
    finally:
        over.set()
        for loop in loops:
            loop.join()
    assert set(statuses) <= {200, 429}, statuses


def _the_moment_of_arrival_decides(served: Served, owls: Player) -> None:
    in_time, too_late = owls.sent(), owls.sent()
    with served.database() as outside, ThreadPoolExecutor(2) as people:
        close = "update contests_phase set closes_at = clock_timestamp() where kind = 'anonymize' returning closes_at"
        with outside.transaction():
            outside.execute("select 1 from contests_phase where kind = 'anonymize' for update")
            early = people.submit(owls.ask, in_time, "POST")
            wait_until(lambda: _held_up(served) == 1)
            (closes_at,) = outside.execute(close).fetchone() or ()
            late = people.submit(owls.ask, too_late, "POST")
            wait_until(lambda: _held_up(served) == 2)
        status, said = early.result()
        assert (status, said["state"]) == (200, "received"), said
        assert datetime.fromisoformat(said["received_at"]) < closes_at
        status, said = late.result()
        assert (status, said["problems"][0]["code"]) == (422, "submissions.closed")


def _held_up(served: Served) -> int:
    """How many wait for a row of the database."""
    with served.database() as connection:
        query = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and usename = 'kakurenbo_web'"
        return int((connection.execute(query).fetchone() or (0,))[0])
