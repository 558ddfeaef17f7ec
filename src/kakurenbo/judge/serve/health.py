"""Is the judge well? For a supervisor, a proxy or a monitor: 200 when everything works, 503 with what does not."""

from __future__ import annotations

import shutil
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from procrastinate.contrib.django.models import ProcrastinateWorker

_SILENT_WORKER = timedelta(seconds=60)
_LEAST_DISK = 500 * 2**20


@require_safe
def health(_request: HttpRequest) -> JsonResponse:
    """What works: the database answers, workers were heard of in the last minute, and there is room for uploads."""
    checks = {"database": _database_answers(), "disk": shutil.disk_usage(settings.HOME).free > _LEAST_DISK}
    checks["workers"] = checks["database"] and _workers_are_alive()
    well = all(checks.values())
    answer = JsonResponse({"ok": well, "checks": checks}, status=200 if well else 503)
    answer._has_been_logged = True  # type: ignore[attr-defined]  # whoever asks is told; the log need not be
    return answer


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("select 1")
    except DatabaseError:
        return False
    return True


def _workers_are_alive() -> bool:
    return ProcrastinateWorker.objects.filter(last_heartbeat__gte=timezone.now() - _SILENT_WORKER).exists()
