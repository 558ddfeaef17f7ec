"""What each process of the judge does. Modules are imported where they are needed: no process carries more than it uses."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from kakurenbo.core.messages import text
from kakurenbo.judge import confinement
from kakurenbo.judge.serve.credentials import SECRET_KEY, SECRET_KEY_ID

_POOL = {
    "min_size": 1,
    "max_size": 24,
    "timeout": 20,
}  # connections of the web; PostgreSQL restarts behind it are waited for
_BACKLOG = 1024
WITHOUT_WEB_ROLE, OF_A_NEWER_JUDGE = 3, 4
_OF_AN_OLDER_JUDGE, _WITHOUT_RIGHTS, _WITHOUT_STORE = 5, 6, 7


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


def use_secret_keys(held: Mapping[str, str]) -> None:
    """Reach the store of secrets by keys of its own, where there are such."""
    if SECRET_KEY_ID in held:
        _stores()["secret"]["OPTIONS"] |= {
            "access_key": held[SECRET_KEY_ID],
            "secret_key": held[SECRET_KEY],
        }


def _stores() -> dict[str, dict[str, Any]]:
    """How the stores are described, until the first of them is used."""
    from django.core.files.storage import storages

    return cast("dict[str, dict[str, Any]]", storages.backends)


def migrate(web_password: str) -> None:
    """Bring the tables up to date, and give the web its account; ends with another code where the database lets us not."""
    from django.core.management import call_command

    if _is_newer_than_database():
        call_command("migrate", verbosity=0, interactive=False)
    from kakurenbo.judge.serve.roles import make_web_role, make_worker_role

    if not (make_web_role(web_password) and make_worker_role()):
        sys.exit(WITHOUT_WEB_ROLE)


def check_worker_host() -> None:
    """End with a code that :func:`hindrance` words, where a machine of workers cannot use the judge's database or stores."""
    from django.core.files.storage import storages
    from django.db.utils import ProgrammingError

    try:
        if _is_newer_than_database():
            sys.exit(_OF_AN_OLDER_JUDGE)
    except ProgrammingError as error:
        print(error, file=sys.stderr)
        sys.exit(_WITHOUT_RIGHTS)
    try:
        for name in ("default", "secret"):
            storages[name].exists("is-it-there")
    except Exception as error:  # whatever speaks to the store has its own
        print(error, file=sys.stderr)
        sys.exit(_WITHOUT_STORE)


def hindrance(code: int) -> str:
    """Why a machine of workers cannot work."""
    worded = {
        OF_A_NEWER_JUDGE: "judge_serve.workers_older",
        _OF_AN_OLDER_JUDGE: "judge_serve.workers_newer",
        _WITHOUT_RIGHTS: "judge_serve.workers_without_rights",
        _WITHOUT_STORE: "judge_serve.workers_without_store",
    }
    return text(worded.get(code, "judge_serve.workers_not_started"))


def _is_newer_than_database() -> bool:
    """Whether this version wants tables that are not there yet; ends where the database is that of a newer one."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    known = executor.loader.graph.nodes
    if any(
        app in executor.loader.migrated_apps and (app, name) not in known
        for app, name in executor.loader.applied_migrations
    ):
        sys.exit(OF_A_NEWER_JUDGE)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def web(host: str, port: int, password: str) -> None:
    """Answer requests, until told to end; with a password, by the web's own account in the database."""
    from django.conf import settings
    from django.db import connections
    from granian.constants import Interfaces
    from granian.server.embed import Server

    from kakurenbo.judge.serve.asgi import answers, application
    from kakurenbo.judge.serve.roles import WEB
    from kakurenbo.judge.serve.uploads import AT_ONCE

    # Static files are small and read whole; downloads are given piece by piece.
    warnings.filterwarnings("ignore", "StreamingHttpResponse must consume synchronous iterators")
    for name in ("DATABASE_URL", "KAKURENBO_JUDGE_DSN"):
        os.environ.pop(name, None)
    database = connections.settings["default"]
    database["OPTIONS"]["pool"] = _POOL
    if password:
        database.update(USER=WEB, PASSWORD=password)
    _stores()["secret"] = {"BACKEND": "kakurenbo.judge.serve.closed.ClosedStore"}
    _confine_web(settings.HOME)
    beside = answers.answer_uploads_beside(AT_ONCE)

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
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, server.stop)
        for pid in beside.pids:
            loop.add_reader(os.pidfd_open(pid), server.stop)
        await server.serve()

    asyncio.run(answer())
    beside.end()


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
