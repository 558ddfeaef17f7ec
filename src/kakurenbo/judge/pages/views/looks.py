"""Colours shared with the report, and what a viewer prefers."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_POST

from kakurenbo.core.messages import LANGUAGES
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.pages.context import THEME_COOKIE, THEMES
from kakurenbo.reports.assets import asset, palettes

_YEAR = 365 * 24 * 60 * 60


@require_GET
@cache_control(public=True, max_age=3600)
def stylesheet(_request: HttpRequest) -> HttpResponse:
    """The report's palette and figures; dark where the viewer or the viewer's system asks for it."""
    light, dark = (_properties(palettes()[theme]) for theme in THEMES)
    rules = [
        f":root {{ color-scheme: light; {light} }}",
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ color-scheme: dark; {dark} }} }}',
        f':root[data-theme="dark"] {{ color-scheme: dark; {dark} }}',
        asset("figure.css"),
    ]
    return HttpResponse("\n".join(rules), content_type="text/css; charset=utf-8")


@require_POST
def preferences(request: HttpRequest) -> HttpResponse:
    """Keep the language or the theme that was asked for, and go back."""
    target = request.POST.get("next", "")
    safe = url_has_allowed_host_and_scheme(
        target, {request.get_host()}, require_https=request.is_secure()
    )
    response = redirect(target if safe else "home")
    language, theme = request.POST.get("language"), request.POST.get("theme")
    if language in LANGUAGES:
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, language, max_age=_YEAR, samesite="Lax")
        if isinstance(request.user, User):
            User.objects.filter(pk=request.user.pk).update(language=language)
    if theme in (*THEMES, "auto"):
        response.set_cookie(THEME_COOKIE, theme, max_age=_YEAR, samesite="Lax")
    return response


def _properties(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
