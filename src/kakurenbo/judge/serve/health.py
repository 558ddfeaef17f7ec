"""Is the judge well? For a supervisor, a proxy or a monitor: 200 when everything works, 503 with what does not.

It answers within two seconds whatever the database does, names no contest, and what only an organizer can mend, such as jobs
that were put aside, is told without making the judge unwell.
"""

from __future__ import annotations

import shutil
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_safe

from kakurenbo.judge.operations import probing

LEAST_DISK = 500 * 2**20


@require_safe
def health(_request: HttpRequest) -> JsonResponse:
    """What works: database, disk, workers, sweep, clock and log."""
    state: probing.State | None = probing.asked.ask(probing.state)
    checks = {
        "database": state is not None,
        "disk": shutil.disk_usage(settings.HOME).free > LEAST_DISK,
    }
    checks["workers"] = state is not None and state.workers > 0
    checks["sweep"] = state is not None and state.sweep_is_alive
    checks["clock"] = state is not None and state.clock_is_right
    checks["log"] = state is not None and state.log_is_signed
    well = all(checks.values())
    told = {} if state is None else _told(state)
    answer = JsonResponse({"ok": well, "checks": checks, **told}, status=200 if well else 503)
    answer._has_been_logged = True  # type: ignore[attr-defined]  # whoever asks is told; the log need not be
    return answer


def _told(state: probing.State) -> dict[str, Any]:
    return {
        "parked_jobs": state.parked,
        "oldest_waiting_seconds": _seconds(state.oldest_waiting),
        "worker_age_seconds": _seconds(state.last_worker),
        "checkpoint_age_seconds": _seconds(state.last_checkpoint),
    }


def _seconds(age: timedelta | None) -> float | None:
    return None if age is None else round(age.total_seconds(), 1)
