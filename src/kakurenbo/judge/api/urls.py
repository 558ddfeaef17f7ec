"""The API's addresses, under the place that ``serve`` gives it."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

from kakurenbo.judge.api.app import api
from kakurenbo.judge.api.description import description as described


@require_safe
def description(_request: HttpRequest) -> JsonResponse:
    """The OpenAPI description: what every route takes and answers."""
    return JsonResponse(described())


urlpatterns = [
    path("", description),
    path("openapi.json", description, name="openapi"),
    path("", api.urls),
]
