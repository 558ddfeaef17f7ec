"""What every template knows."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from kakurenbo import __version__
from kakurenbo.core.messages import language
from kakurenbo.judge.contests.permissions import is_organizer

THEMES = ("light", "dark")
THEME_COOKIE = "theme"


def chosen_theme(request: HttpRequest) -> str:
    """The theme that the viewer chose; empty to follow the system."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def look(request: HttpRequest) -> dict[str, Any]:
    """Language, theme, time and who is there."""
    return {
        "language": language(),
        "own_address": request.get_full_path() if request.method == "GET" else request.path,
        "theme": chosen_theme(request),
        "now": timezone.now(),
        "version": __version__,
        "organizer": is_organizer(request.user),
    }
