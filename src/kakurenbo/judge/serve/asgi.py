"""The web's door: bodies of uploads go straight to disk, everything else to Django."""

from __future__ import annotations

from django.core.asgi import get_asgi_application

from kakurenbo.judge.serve.intake import Intake

_django = get_asgi_application()

from kakurenbo.judge.submissions.store import incoming  # noqa: E402 (needs Django, which is set up by now)

application = Intake(_django, incoming)
