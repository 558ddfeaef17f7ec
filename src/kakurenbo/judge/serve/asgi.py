"""The web's door: bodies of uploads go straight to disk, everything else to Django, nobody's requests before all others'."""

from __future__ import annotations

import django

from kakurenbo.judge.serve.bodies import Bodies
from kakurenbo.judge.serve.clients import Clients
from kakurenbo.judge.serve.intake import Intake
from kakurenbo.judge.serve.turns import Turns

django.setup(set_prefix=False)

from kakurenbo.judge.operations.watching import Watched  # noqa: E402 (these need Django, which is set up by now)
from kakurenbo.judge.serve.answering import Answers  # noqa: E402
from kakurenbo.judge.submissions.store import has_room, incoming  # noqa: E402

_clients = Clients()
answers = Answers()
application = Watched(
    Intake(Bodies(Turns(answers, _clients), _clients), incoming, _clients, has_room)
)
