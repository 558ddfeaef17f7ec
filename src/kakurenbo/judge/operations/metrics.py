"""Figures for Prometheus: of requests, counted in this process, and of the judge, asked of the database when somebody looks.

No figure names a team, a person or an address: labels are patterns of addresses, kinds of jobs and rulebooks.
"""

from __future__ import annotations

import hmac
import shutil
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from kakurenbo.judge.operations import probing

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_CREATED, _UPLOAD = 201, "/files/"
_LOOPBACK = ("127.0.0.1", "::1")
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-IP", "Via")
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.3, 0.5, 1, 2.5, 5, 10, 30)
_WORK = """
SELECT job.kind, contest.rulebook, count(*), coalesce(sum(extract(epoch FROM finished_at - started_at)), 0)::float
FROM scoring_job job JOIN contests_contest contest ON contest.id = job.contest_id
WHERE job.state = 'done' AND finished_at IS NOT NULL AND started_at IS NOT NULL GROUP BY job.kind, contest.rulebook
"""
_DEATHS = "SELECT coalesce(sum(attempts), 0)::float FROM scoring_job WHERE state <> 'done'"

_NOTHING_IS_ZERO = ("oldest_waiting_job_seconds", "unsigned_log_seconds")

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series beside each, of when it began, which nobody looks at
registry = CollectorRegistry()
_requests = Counter(
    "kakurenbo_requests",
    "Requests that were answered.",
    ["route", "method", "status"],
    registry=registry,
)
_latency = Histogram(
    "kakurenbo_request_seconds", "From the first byte of a request to the last of its answer.", ["route"],
    buckets=_SECONDS, registry=registry,
)  # fmt: skip
_uploads = Counter("kakurenbo_uploads", "Files that were received.", registry=registry)
_upload_bytes = Counter("kakurenbo_upload_bytes", "Their bytes.", registry=registry)
_failed_logins = Counter(
    "kakurenbo_login_failures", "Log-ins with a wrong password or name.", registry=registry
)


def count_request(route: str, method: str, status: int, seconds: float, received: int) -> None:
    """Count a request that was answered."""
    _requests.labels(route, method if method in _METHODS else "other", str(status)).inc()
    _latency.labels(route).observe(seconds)
    if method == "PUT" and status == _CREATED and _UPLOAD in route:
        _uploads.inc()
        _upload_bytes.inc(received)


def count_failed_login() -> None:
    """Count a log-in that failed."""
    _failed_logins.inc()


class JudgeFigures(Collector):
    """What the database, its pool and the disk say when somebody looks."""

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: whoever registers it asks no database."""
        return ()

    def collect(self) -> Iterable[Metric]:
        yield _gauge("disk_free_bytes", "Room for uploads.", shutil.disk_usage(settings.HOME).free)
        yield from _pool()
        known = probing.asked.ask(_known)
        yield _gauge("database_up", "Whether the database answers in time.", known is not None)
        if known is not None:
            yield from _of_state(known[0])
            yield from _of_work(*known[1:])


def _known() -> tuple[probing.State, list[tuple[str, str, int, float]], float]:
    with connection.cursor() as cursor:
        cursor.execute(_WORK)
        work = cursor.fetchall()
        cursor.execute(_DEATHS)
        deaths = cursor.fetchone()[0]
    return probing.state(), work, deaths


def _of_state(state: probing.State) -> Iterable[Metric]:
    jobs = GaugeMetricFamily("kakurenbo_jobs", "Jobs that are not done.", labels=["kind", "state"])
    for (kind, at), count in sorted(state.jobs.items()):
        jobs.add_metric([kind, at], count)
    yield jobs
    ages = {
        "oldest_waiting_job_seconds": (
            "Age of the oldest job that waits; 0 where none does.",
            state.oldest_waiting,
        ),
        "checkpoint_age_seconds": ("Since the last signature under a log.", state.last_checkpoint),
        "unsigned_log_seconds": (
            "How long the oldest entry waits for a signature; 0 where none does.",
            state.unsigned,
        ),
        "worker_age_seconds": ("Since the last sign of life of any worker.", state.last_worker),
        "sweep_age_seconds": ("Since the sweep's last sign of life.", state.sweep),
        "clock_ahead_seconds": ("How far the database's clock is ahead of the web's.", state.clock),
    }
    for name, (meaning, age) in ages.items():
        family = GaugeMetricFamily(f"kakurenbo_{name}", meaning)
        if age is not None or name in _NOTHING_IS_ZERO:
            family.add_metric([], age.total_seconds() if age is not None else 0)
        yield family
    yield _gauge("parked_jobs", "Jobs that wait for an organizer.", state.parked)
    yield _gauge(
        "workers", "Workers of which something was heard lately, within seconds.", state.workers
    )
    yield _gauge("log_entries", "Entries in the logs of all contests.", state.log_entries)


def _of_work(work: list[tuple[str, str, int, float]], deaths: float) -> Iterable[Metric]:
    seconds = SummaryMetricFamily(
        "kakurenbo_job_seconds", "What finished jobs took.", labels=["kind", "rulebook"]
    )
    for kind, rulebook, count, took in work:
        seconds.add_metric([kind, rulebook], count_value=count, sum_value=took)
    yield seconds
    yield _gauge(
        "job_deaths", "How often the process of a job that is not done died of it.", deaths
    )


def _pool() -> Iterable[Metric]:
    """Of the pool of connections, where this process has one."""
    pool = connection.pool if connection.settings_dict["OPTIONS"].get("pool") else None  # type: ignore[attr-defined]
    if pool is None:
        return
    told = pool.get_stats()
    yield _gauge("database_connections", "Connections of the web.", told.get("pool_size", 0))
    yield _gauge("database_connections_free", "Of these, free ones.", told.get("pool_available", 0))
    yield _gauge(
        "database_requests_waiting",
        "Requests that wait for a connection.",
        told.get("requests_waiting", 0),
    )
    waited = CounterMetricFamily(
        "kakurenbo_database_wait_seconds", "What requests have waited for connections."
    )
    waited.add_metric([], told.get("requests_wait_ms", 0) / 1000)
    yield waited


def _gauge(name: str, meaning: str, value: Any) -> Metric:
    return GaugeMetricFamily(f"kakurenbo_{name}", meaning, value=float(value))


registry.register(JudgeFigures())


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """All figures, for whoever watches over this judge; for others there is no such page."""
    if not _may_look(request):
        raise Http404
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


def _may_look(request: HttpRequest) -> bool:
    """Whoever has the operator's token; without one, somebody on this machine whom no proxy stands for."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    wanted: str = settings.METRICS_TOKEN
    if wanted and hmac.compare_digest(given.encode(), wanted.encode()):
        return True
    behind_proxy = settings.SECURE_PROXY_SSL_HEADER is not None or any(
        name in request.headers for name in _FORWARDED
    )
    return not behind_proxy and request.META.get("REMOTE_ADDR") in _LOOPBACK
