"""What the log and the figures tell of log-ins that fail: that they do, by the request, and never a name or an address."""

from __future__ import annotations

import logging

from axes.signals import user_locked_out
from django.conf import settings
from django.contrib.auth.signals import user_login_failed

from kakurenbo.judge.operations import metrics

_log = logging.getLogger(__name__)


def watch_logins() -> None:
    """Tell of every log-in that fails in this process from now on."""
    user_login_failed.connect(_failed, dispatch_uid=f"{__name__}.failed")
    user_locked_out.connect(_locked_out, dispatch_uid=f"{__name__}.locked_out")


def _failed(**_: object) -> None:
    metrics.count_failed_login()
    _log.warning("a log-in failed")


def _locked_out(**_: object) -> None:
    fields = {
        "failures": settings.AXES_FAILURE_LIMIT,
        "seconds": round(settings.AXES_COOLOFF_TIME.total_seconds()),
    }
    _log.warning(
        "log-ins to an account from an address are refused for a while", extra={"fields": fields}
    )
