"""Where the self-test is played: a folder and a database of its own, in a process of its own, all gone afterwards.

No player sees it and nothing of it is left: it never touches the judge's own database or stores. That takes minutes, so that it
is done only where it is asked for; the process tells how far it is, a line for each step, and its findings last.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from kakurenbo.core.messages import language, text
from kakurenbo.judge.operations.doctor import Finding
from kakurenbo.judge.serve.postgres import EmbeddedPostgres

NAME = "self-test"
_STEP = "step "
_FOREIGN = ("DATABASE_URL", "KAKURENBO_JUDGE_")
"""What a judge's environment says of its own database and stores: none of it is for the self-test."""


@dataclasses.dataclass(frozen=True)
class Step:
    """What begins: so many-th of so many rulebooks, and a step of its contest."""

    rulebook: str
    number: int
    of: int
    step: str


def tested_apart(tell: Callable[[Step], None]) -> list[dict[str, Any]]:
    """The findings, as ``doctor`` prints them: one for each rulebook; ``tell`` is called with each step that begins."""
    with tempfile.TemporaryDirectory(prefix="kk") as folder:  # a short path: it holds a socket
        Path(folder).chmod(0o711)  # under root the database has another account
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)
        }
        environment["KAKURENBO_LANG"] = language()
        command = [sys.executable, "-P", "-m", __spec__.name, str(Path(folder) / "home")]
        code, last, errors = _listened(command, environment, tell)
    if code:
        told = (errors.strip().splitlines() or [""])[-1]
        return [
            dataclasses.asdict(Finding(NAME, ok=False, detail=text("doctor.broke", error=told)))
        ]
    found: list[dict[str, Any]] = json.loads(last)
    return found


def _listened(
    command: list[str], environment: dict[str, str], tell: Callable[[Step], None]
) -> tuple[int, str, str]:
    """The exit code of a process, its last line, and its errors; its steps are told while it runs."""
    last = ""
    with (
        tempfile.TemporaryFile(
            "w+", encoding="utf-8"
        ) as errors,  # not a pipe, which would be full some time
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment
        ) as process,
    ):
        assert process.stdout is not None
        for last in process.stdout:
            if last.startswith(_STEP):
                tell(Step(**json.loads(last.removeprefix(_STEP))))
        code = process.wait()
        errors.seek(0)
        return code, last, errors.read()


def _say(rulebook: str, number: int, of: int, step: str) -> None:
    print(f"{_STEP}{json.dumps(dataclasses.asdict(Step(rulebook, number, of, step)))}", flush=True)


def played_in(home: Path) -> list[Finding]:
    """Make a judge's folder, play in it, and leave it with nothing running."""
    database = EmbeddedPostgres(home)
    database.start()
    try:
        os.environ.update(
            DJANGO_SETTINGS_MODULE="kakurenbo.judge.serve.settings",
            KAKURENBO_JUDGE_HOME=str(home.resolve()),
            KAKURENBO_JUDGE_SECRET_KEY="nothing is signed here",
            KAKURENBO_JUDGE_DSN=database.dsn,
        )
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0, interactive=False)
        from kakurenbo.judge.operations.selftest import rulebooks
        from kakurenbo.judge.scoring.worker import Worker

        worker = Worker()
        try:
            names = list(rulebooks())
            return [
                found(name, worker, partial(_say, name, number, len(names)))
                for number, name in enumerate(names, start=1)
            ]
        finally:
            worker.close()
    finally:
        database.stop()


def found(rulebook: str, worker: Any, tell: Callable[[str], None] = lambda _step: None) -> Finding:
    """What came of one rulebook."""
    from kakurenbo.judge.operations.selftest import play

    name = f"{NAME}:{rulebook}"
    try:
        played = play(rulebook, worker, tell)
    except Exception as error:  # whatever is wrong with a rulebook is a finding
        told = (str(error).strip().splitlines() or [""])[0]
        return Finding(
            name, ok=False, detail=text("doctor.broke", error=f"{type(error).__name__}: {told}")
        )
    if played.wrong:
        return Finding(name, ok=False, detail=text("doctor.test_fails", wrong=played.wrong))
    return Finding(name, ok=True, detail=text("doctor.test", seen=played.seen))


if __name__ == "__main__":
    print(json.dumps([dataclasses.asdict(one) for one in played_in(Path(sys.argv[1]))]))
