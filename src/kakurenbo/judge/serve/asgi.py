"""The web's door: bodies of uploads go straight to disk, everything else to Django, nobody's requests before all others'."""

from __future__ import annotations

from django.core.asgi import get_asgi_application

from kakurenbo.judge.serve.clients import Clients
from kakurenbo.judge.serve.intake import Intake
from kakurenbo.judge.serve.turns import Turns

_django = get_asgi_application()

from kakurenbo.judge.submissions.store import has_room, incoming  # noqa: E402 (needs Django, which is set up by now)

_clients = Clients()
application = Intake(Turns(_django, _clients), incoming, _clients, has_room)
