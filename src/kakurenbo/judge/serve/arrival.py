"""When a request had arrived, noted by the door in the request's scope, which no client can write to."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest
from django.utils import timezone

KEY = "kakurenbo.arrived"


def arrived_at(request: HttpRequest) -> datetime:
    """The moment when a request's last byte had come; now, where no door noted it."""
    noted = getattr(request, "scope", {}).get(KEY)
    return noted if isinstance(noted, datetime) else timezone.now()
