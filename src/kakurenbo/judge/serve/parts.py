"""What each process of the judge does. Modules are imported where they are needed: no process carries more than it uses."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import warnings
from pathlib import Path

from kakurenbo.judge import confinement

_POOL = {"min_size": 1, "max_size": 24, "timeout": 20}  # connections of the web; PostgreSQL restarts behind it are waited for
_BACKLOG = 1024
WITHOUT_WEB_ROLE, OF_A_NEWER_JUDGE = 3, 4


def load_django() -> None:
    """Everything that the processes have in common, without a connection to the database."""
    import django

    django.setup()
    from django.urls import get_resolver

    from kakurenbo.judge.serve import asgi  # noqa: F401 (the middleware too is shared)

    _ = get_resolver().url_patterns


def log_in(password: str) -> None:
    """Use the database with a password that the settings do not name."""
    from django.db import connections

    connections.settings["default"]["PASSWORD"] = password


def migrate(web_password: str) -> None:
    """Bring the tables up to date, and give the web its account; ends with another code where the database lets us not."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    known = executor.loader.graph.nodes
    if any(
        app in executor.loader.migrated_apps and (app, name) not in known for app, name in executor.loader.applied_migrations
    ):
        sys.exit(OF_A_NEWER_JUDGE)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0, interactive=False)
    from kakurenbo.judge.serve.roles import make_web_role

    if not make_web_role(web_password):
        sys.exit(WITHOUT_WEB_ROLE)


def web(host: str, port: int, password: str) -> None:
    """Answer requests, until told to end; with a password, by the web's own account in the database."""
    from django.conf import settings
    from django.db import connections
    from granian.constants import Interfaces
    from granian.server.embed import Server

    from kakurenbo.judge.serve.asgi import application
    from kakurenbo.judge.serve.roles import WEB

    # Static files are small and read whole; downloads are given piece by piece.
    warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")
    for name in ("DATABASE_URL", "KAKURENBO_JUDGE_DSN"):
        os.environ.pop(name, None)
    database = connections.settings["default"]
    database["OPTIONS"]["pool"] = _POOL
    if password:
        database.update(USER=WEB, PASSWORD=password)
    _confine_web(settings.HOME)

    async def answer() -> None:
        server = Server(
            application,
            address=host,
            port=port,
            interface=Interfaces.ASGINL,
            websockets=False,
            backlog=_BACKLOG,
            log_enabled=False,
        )
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
        await server.serve()

    asyncio.run(answer())


def _confine_web(home: Path) -> None:
    """Leave the web nothing of the judge's folder but the open store: secrets, keys and the database are out of its reach."""
    received = home / "web"
    for left in received.glob("*"):  # by a web that was killed
        left.unlink()
    tempfile.tempdir = str(received)
    read = (*confinement.without(["/"], [home, confinement.PROCESSES]), *confinement.OWN_PROCESS)
    confinement.confine(read, [home / "files", received], network=True)


def worker() -> None:
    """Do jobs, until told to end."""
    from kakurenbo.judge.scoring.worker import main

    main()


def sweep() -> None:
    """Take up what was lost and move contests on, until told to end."""
    from kakurenbo.judge.scoring.sweep import main

    main()


def demo() -> None:
    """Rehearse a contest."""
    from kakurenbo.judge.serve.demo import main

    main()
