"""What ``kakurenbo doctor`` asks of a judge, in a process of its own: ``python -m kakurenbo.judge.operations.doctor ORDER``.

It prints its findings as one line of JSON. Every check says what to do where something is not well; one that breaks is itself
a finding. Nothing is changed but for a file in each store that is written, read and deleted again.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from psycopg.conninfo import make_conninfo

from kakurenbo.core.messages import language, text
from kakurenbo.judge.serve.postgres import address_in, dsn_in

_PATIENCE: dict[str, str | int | None] = {
    "connect_timeout": 5,
    "options": "-c statement_timeout=60000",
}


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Order:
    """What is to be examined.

    Attributes
    ----------
    home : str
        The judge's folder.
    every_file : bool
        Read every file of the stores, not only some.
    """

    home: str
    every_file: bool = False


Check = Callable[[Order], tuple[bool, str]]
"""Whether it is well, and what was found; where it is not, with what to do."""


def asked(order: Order) -> list[Finding]:
    """The findings, from a process that has the judge's settings and nothing of this one's."""
    command = [sys.executable, "-P", "-m", __spec__.name, json.dumps(dataclasses.asdict(order))]
    environment = {**os.environ, "KAKURENBO_LANG": language()}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        told = (done.stderr.strip().splitlines() or [""])[-1]
        return [Finding("judge", ok=False, detail=text("doctor.broke", error=told))]
    return [Finding(**one) for one in json.loads(done.stdout)]


def examined(order: Order) -> Iterator[Finding]:
    """Everything, one check after the other; what needs the database only where that answers."""
    from kakurenbo.judge.operations import doctor_database as database
    from kakurenbo.judge.operations import doctor_storage as storage

    yield tried("kernel", storage.kernel, order)
    yield tried("rights", storage.rights, order)
    yield tried("room", storage.room, order)
    answers = tried("database", database.answers, order)
    yield answers
    if not answers.ok:
        yield Finding("workers", ok=False, detail=text("doctor.workers_unknown", home=order.home))
        return
    current = tried("tables", database.tables, order)
    yield current
    if not current.ok:
        return
    checks: dict[str, Check] = {
        "roles": database.roles,
        "stores": storage.stores,
        "files": storage.files,
        "workers": database.workers,
        "queue": database.queue,
        "sweep": database.sweep,
        "clock": database.clock,
        "fingerprints": database.fingerprints,
        "log": database.logs,
    }
    for name, check in checks.items():
        yield tried(name, check, order)


def tried(name: str, check: Check, order: Order) -> Finding:
    """What a check found; that it broke is a finding, too."""
    try:
        return Finding(name, *check(order))
    except Exception as error:
        told = (str(error).strip().splitlines() or [""])[0]
        return Finding(
            name, ok=False, detail=text("doctor.broke", error=f"{type(error).__name__}: {told}")
        )


def _settle(home: Path) -> None:
    """Use the database and the stores as ``serve`` does, but do not wait for ever."""
    given = os.environ.get("DATABASE_URL")
    try:
        dsn = make_conninfo(given or dsn_in(home), **_PATIENCE)
    except OSError:  # there is no database here: whoever tries to connect is told
        dsn = make_conninfo(address_in(home), **_PATIENCE)
    os.environ.update(
        DJANGO_SETTINGS_MODULE="kakurenbo.judge.serve.settings",
        KAKURENBO_JUDGE_HOME=str(home.resolve()),
        KAKURENBO_JUDGE_SECRET_KEY="nothing is signed here",
        KAKURENBO_JUDGE_DSN=dsn,
        **({"DATABASE_URL": dsn} if given else {}),
    )
    import django

    django.setup()


def main(arguments: list[str]) -> int:
    """Print the findings."""
    order = Order(**json.loads(arguments[0]))
    _settle(Path(order.home))
    print(json.dumps([dataclasses.asdict(finding) for finding in examined(order)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
