"""Workers on two other machines score a contest: they share the database and the store with the judge, and nothing else."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from benchmarks.bench_judge import family
from django.core.files.storage import storages
from django.db import connections
from psycopg.conninfo import conninfo_to_dict
from tests.judge.scoring_helpers import hand_in, new_round
from tests.judge.test_serve import holds
from tests.judge.waiting import PATIENCE, wait_until
from tests.judge.worker_hosts import (
    KEYS_TO_SECRETS,
    S3_PORT,
    Machine,
    Site,
    enter,
    new_site,
    skip_without_namespaces,
)

from kakurenbo.judge.contests.models import Round
from kakurenbo.judge.scoring import rules
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.models import Job, JobKind, JobState, Judging, StandingSnapshot
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.serve.postgres import OWNER
from kakurenbo.judge.serve.settings import _store
from kakurenbo.judge.serve.uploads import AT_ONCE
from kakurenbo.judge.submissions.models import Submission

pytestmark = pytest.mark.slow

pytest.importorskip(
    "boto3", reason="what speaks to S3 is not installed: pip install 'kakurenbo[s3]'"
)
moto_server = pytest.importorskip(
    "moto.server", reason="moto is not installed: pip install 'moto[s3]' flask flask-cors"
)

_RUNNING = "SELECT worker FROM scoring_job WHERE state = 'running' AND kind = 'judge'"
_WHOLE = bool(os.environ.get("KAKURENBO_SOAK"))


class Beside:
    """Somebody on the judge's machine: hands in for teams, and scores for comparison."""

    def __init__(self, site: Site, pool: ProcessPoolExecutor) -> None:
        self._pool = pool
        self.ask(
            _be_on_the_judges_machine,
            site.judge.space,
            site.dsn,
            site.judge.environment(OWNER, site.password),
        )

    def ask(self, do: Callable[..., Any], *arguments: object) -> Any:
        return self._pool.submit(do, *arguments).result(240)


@pytest.fixture
def site() -> Iterator[Site]:
    skip_without_namespaces()
    with new_site() as made:
        made.start_database()
        yield made


@pytest.fixture
def beside(site: Site, plugins: Path, django_db_blocker: Any) -> Iterator[Beside]:
    """A process of its own: a namespace is entered for good."""
    assert plugins
    with (
        django_db_blocker.unblock(),
        ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool,
    ):
        yield Beside(site, pool)


def test_both_hosts_score_one_that_ends_or_is_cut_off_loses_its_job_to_the_other_and_results_are_those_of_local_scoring(
    site: Site, beside: Beside, plugins: Path, tmp_path: Path
) -> None:
    site.start_judge()
    _web_has_neither_password_nor_keys_to_secrets(site)
    site.start_workers()
    beside.ask(_begin)
    wait_until(
        lambda: site.ask("SELECT 1 FROM contests_round WHERE prepared_at IS NOT NULL"),
        lambda: _logs(site),
    )

    _both_score(site, beside, plugins / "both")
    waits = plugins / "told to end"
    beside.ask(_hand_in, "01", f"wait {waits}")
    ending, other = _at_work_and_other(site)
    _ends_and_gives_back_its_job(ending, site)
    wait_until(lambda: _hosts_at_work(site) == [other.name], lambda: _logs(site))
    waits.touch()
    wait_until(lambda: _is_idle(site), lambda: _logs(site))
    if _WHOLE:
        site.start_workers()
        _cut_off_in_mid_scoring(site, beside, plugins / "cut off")

    kept = [
        path
        for host in site.hosts
        for store in ("files", "secret")
        for path in (host.home / store).rglob("*")
    ]
    assert not [path for path in kept if path.is_file()]
    for host in site.hosts:
        host.stop()
    found = beside.ask(_found)
    assert {worker.partition(":")[0] for worker, _ in found["judged"]} == {"one", "two"}
    assert len(found["judged"]) == found["submissions"] == 3 + 3 * _WHOLE
    assert beside.ask(_found_locally, tmp_path / "local") == found["results"]


def _web_has_neither_password_nor_keys_to_secrets(site: Site) -> None:
    """Neither in what it was started with nor in its memory; nor does the supervisor, whose memory it was given."""
    assert site.judge.process is not None
    ours = [
        pid
        for pid in family(site.judge.process.pid)
        if b"judge.serve" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    web_and_beside_it = {
        pid for pid in ours if "NoNewPrivs:\t1" in Path(f"/proc/{pid}/status").read_text()
    }
    assert len(web_and_beside_it) == 1 + AT_ONCE
    (sweep,) = set(ours) - web_and_beside_it - {site.judge.process.pid}
    for secret in (site.password.encode(), *(key.encode() for key in KEYS_TO_SECRETS)):
        assert [pid for pid in ours if holds(pid, secret)] == [sweep]
        assert not any(secret in Path(f"/proc/{pid}/environ").read_bytes() for pid in ours)
        assert not any(secret in _open_files(pid) for pid in web_and_beside_it)
    assert KEYS_TO_SECRETS[0].encode() in _open_files(
        site.judge.process.pid
    )  # which nobody else can open


def _open_files(pid: int) -> bytes:
    """What it has open of files in memory."""
    open_ones = list(Path(f"/proc/{pid}/fd").iterdir())
    return b"".join(path.read_bytes() for path in open_ones if "memfd" in str(path.readlink()))


def _both_score(site: Site, beside: Beside, gate: Path) -> None:
    """Each machine has one worker, which takes one of two submissions that wait."""
    beside.ask(_hand_in, "01", f"wait {gate}")
    beside.ask(_hand_in, "02", f"wait {gate}")
    wait_until(lambda: _hosts_at_work(site) == ["one", "two"], lambda: _logs(site))
    gate.touch()
    wait_until(lambda: _is_idle(site), lambda: _logs(site))


def _cut_off_in_mid_scoring(site: Site, beside: Beside, gate: Path) -> None:
    """The lease of a machine whose cable is pulled runs out, another takes over, and the first cannot write its result."""
    beside.ask(_hand_in, "02", f"wait {gate}")
    cut, other = _at_work_and_other(site)
    cut.plug(connected=False)
    began = time.monotonic()
    wait_until(lambda: _hosts_at_work(site) == [other.name], lambda: _logs(site))
    assert time.monotonic() - began > rules.LEASE.total_seconds() / 2
    gate.touch()  # both find their result now
    wait_until(lambda: _is_idle(site), lambda: _logs(site))
    cut.plug(connected=True)
    _both_score(site, beside, gate.with_name("both again"))


def _ends_and_gives_back_its_job(host: Machine, site: Site) -> None:
    """No lease has to run out: when it has ended, nothing is its own."""
    assert host.process is not None
    host.process.terminate()
    assert host.process.wait(PATIENCE) == 0, _logs(site)
    assert host.name not in _hosts_at_work(site)
    host.process = None


def _at_work_and_other(site: Site) -> tuple[Machine, Machine]:
    wait_until(lambda: len(_hosts_at_work(site)) == 1, lambda: _logs(site))
    (name,) = _hosts_at_work(site)
    one, two = site.hosts
    return (one, two) if name == one.name else (two, one)


def _hosts_at_work(site: Site) -> list[str]:
    return sorted(str(worker).partition(":")[0] for (worker,) in site.ask(_RUNNING))


def _is_idle(site: Site) -> bool:
    return site.ask("SELECT 1 FROM scoring_job WHERE state IN ('waiting', 'running')") == []


def _logs(site: Site) -> str:
    told = [
        machine.log.read_text() for machine in (site.judge, *site.hosts) if machine.log.exists()
    ]
    return "\n---\n".join(
        [*told, str(site.ask("SELECT kind, state, worker, cause FROM scoring_job"))]
    )


# -- beside the judge ------------------------------------------------------------------------------------------------------


def _be_on_the_judges_machine(space: str, dsn: str, environment: dict[str, str]) -> None:
    enter(space)
    os.environ.update(environment)
    moto_server.ThreadedMotoServer("0.0.0.0", S3_PORT, verbose=False).start()
    given = conninfo_to_dict(dsn)
    fields = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST"}
    connections.close_all()
    connections["default"].settings_dict.update(
        {fields[key]: value for key, value in given.items()}
    )
    storages.backends.update({"default": _store("files"), "secret": _store("secret")})
    storages._storages.clear()  # type: ignore[attr-defined]
    storages["default"].bucket.create()  # type: ignore[attr-defined]


def _begin() -> None:
    round_ = new_round("trouble", {"size": 20}, "only", teams=2, places=2)
    rules.enqueue(JobKind.PREPARE, round_.contest, round_)


def _hand_in(team: str, words: str) -> None:
    hand_in(Round.objects.get(), team, {"hidden.csv": words.encode()})


def _found() -> dict[str, Any]:
    judged = (
        Job.objects.filter(kind=JobKind.JUDGE).order_by("pk").values_list("worker", "submission_id")
    )
    return {
        "judged": list(judged),
        "submissions": Submission.objects.count(),
        "results": _results(),
    }


def _results() -> list[Any]:
    """What was found of every submission, in the order they came, and the standings made of it; nothing is there twice."""
    assert not [(one.kind, one.cause) for one in Job.objects.exclude(state=JobState.DONE)]
    judgings = Judging.objects.filter(in_effect=True).order_by("submission__received_at")
    assert judgings.count() == Submission.objects.count()
    results: list[Any] = [
        (str(one.submission_id), one.verdict, one.fingerprint, one.result) for one in judgings
    ]
    snapshot = StandingSnapshot.objects.first()
    assert snapshot is not None
    return [*results, snapshot.results, snapshot.standings]


def _found_locally(folder: Path) -> list[Any]:
    """All once more, by a worker in this process."""
    server = ForkServer()
    worker = Worker(folder, server=server)
    by = Round.objects.get().contest.made_by
    before = Judging.objects.count()
    for job in list(Job.objects.filter(kind=JobKind.JUDGE)):
        rules.rerun(by, job)
    StandingSnapshot.objects.all().delete()
    worker.drain()
    server.retire()
    assert Judging.objects.count() == 2 * before  # each of them was there once
    return _results()
