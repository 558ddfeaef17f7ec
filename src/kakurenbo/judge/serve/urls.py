"""Where everything is: pages at the root, the API under ``/api/v1``, ``/health`` and ``/metrics`` for those who watch it."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from kakurenbo.judge.operations.metrics import metrics
from kakurenbo.judge.serve.health import health

handler400 = "kakurenbo.judge.pages.views.errors.bad_request"
handler500 = "kakurenbo.judge.serve.faults.server_error"
urlpatterns: list[URLPattern | URLResolver] = [
    path("health", health, name="health"),
    path("metrics", metrics, name="metrics"),
    path("api/v1/", include("kakurenbo.judge.api.urls")),
    path("", include("kakurenbo.judge.pages.urls")),
]
