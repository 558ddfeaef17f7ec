"""The sweep's sign of life: workers have theirs in the queue's own table."""

from __future__ import annotations

from datetime import datetime

from kakurenbo.judge.operations.models import Heartbeat

SWEEP = "sweep"


def beat(name: str, now: datetime) -> None:
    """Note that a part of the judge is at work."""
    Heartbeat.objects.update_or_create(name=name, defaults={"at": now})
