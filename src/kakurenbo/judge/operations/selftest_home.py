"""Where the self-test is played: a folder and a database of its own, in a process of its own, all gone afterwards.

No player sees it and nothing of it is left: it never touches the judge's own database or stores. That takes a minute or so,
most of it to make a database and to load libraries, so that it is done only where it is asked for.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from kakurenbo.judge.operations.doctor import Finding
from kakurenbo.judge.serve.postgres import EmbeddedPostgres
from kakurenbo.messages import language, text

NAME = "self-test"
_FOREIGN = ("DATABASE_URL", "KAKURENBO_JUDGE_")
"""What a judge's environment says of its own database and stores: none of it is for the self-test."""


def tested_apart() -> list[dict[str, Any]]:
    """The findings, as ``doctor`` prints them: one for each rulebook."""
    with tempfile.TemporaryDirectory(prefix="kk") as folder:  # a short path: it holds a socket
        Path(folder).chmod(0o711)  # under root the database has another account
        environment = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        environment["KAKURENBO_LANG"] = language()
        command = [sys.executable, "-P", "-m", __spec__.name, str(Path(folder) / "home")]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        told = (done.stderr.strip().splitlines() or [""])[-1]
        return [dataclasses.asdict(Finding(NAME, ok=False, detail=text("doctor.broke", error=told)))]
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return found


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
            return [found(rulebook, worker) for rulebook in rulebooks()]
        finally:
            worker.close()
    finally:
        database.stop()


def found(rulebook: str, worker: Any) -> Finding:
    """What came of one rulebook."""
    from kakurenbo.judge.operations.selftest import play

    name = f"{NAME}:{rulebook}"
    try:
        played = play(rulebook, worker)
    except Exception as error:  # whatever is wrong with a rulebook is a finding
        told = (str(error).strip().splitlines() or [""])[0]
        return Finding(name, ok=False, detail=text("doctor.broke", error=f"{type(error).__name__}: {told}"))
    if played.wrong:
        return Finding(name, ok=False, detail=text("doctor.test_fails", wrong=played.wrong))
    return Finding(name, ok=True, detail=text("doctor.test", seen=played.seen))


if __name__ == "__main__":
    print(json.dumps([dataclasses.asdict(one) for one in played_in(Path(sys.argv[1]))]))
