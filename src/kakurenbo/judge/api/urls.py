"""The API's addresses, under the place that ``serve`` gives it."""

from __future__ import annotations

from functools import cache
from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

from kakurenbo.judge.api.app import api


@require_safe
def description(_request: HttpRequest) -> JsonResponse:
    """The OpenAPI description: what every route takes and answers."""
    return JsonResponse(_schema())


@cache
def _schema() -> dict[str, Any]:
    return api.get_openapi_schema()


urlpatterns = [path("", description), path("openapi.json", description, name="openapi"), path("", api.urls)]
