"""``make demo``: a first impression that waits for nothing which the demo does not need, and survives Ctrl-C."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
PYTHON = """#!/bin/sh
# Stands for Python: makes environments and installs nothing, but writes down what it is asked.
case "$*" in
*"-m venv"*) for folder; do :; done; rm -rf "$folder"; mkdir -p "$folder/bin"; cp "$0" "$folder/bin/python"
  printf '#!/bin/sh\\necho "kakurenbo $*"\\n' > "$folder/bin/kakurenbo"; chmod +x "$folder/bin/kakurenbo"; echo venv >> calls ;;
*"pip install"*|*"pip"*" install"*) for what; do :; done; echo "install $what" >> calls
  test ! -e slow || sleep 20; test ! -e broken ;;
esac
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("make") is None:
        pytest.skip("there is no make")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(REPOSITORY / name, tmp_path)
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    return tmp_path


def make(repository: Path, target: str) -> list[str]:
    """What the target made and installed."""
    calls = repository / "calls"
    calls.unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    call = ["make", "--no-print-directory", target, "PYTHON=./python"]
    subprocess.run(call, cwd=repository, env=environment, capture_output=True, timeout=60)
    return calls.read_text().splitlines() if calls.exists() else []


def test_the_demo_installs_what_it_needs_and_the_tests_the_rest_each_once(repository: Path) -> None:
    assert make(repository, "demo") == ["venv", "install ."]
    assert make(repository, "demo") == []
    assert make(repository, "setup") == ["install .[test]"]
    assert make(repository, "demo") == []
    assert make(repository, "setup") == []
    os.utime(repository / "constraints.txt", (2**32, 2**32))
    assert make(repository, "demo") == ["install ."]


def test_after_the_tests_the_demo_has_all_it_needs(repository: Path) -> None:
    assert make(repository, "setup") == ["venv", "install .[test]"]
    assert make(repository, "demo") == []


def test_an_installation_that_failed_is_tried_again(repository: Path) -> None:
    (repository / "broken").touch()
    assert make(repository, "demo") == ["venv", "install ."]
    (repository / "broken").unlink()
    assert make(repository, "demo") == ["install ."]
    assert make(repository, "demo") == []


def test_an_installation_that_was_interrupted_begins_anew(repository: Path) -> None:
    (repository / "slow").touch()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    process = subprocess.Popen(
        ["make", "demo", "PYTHON=./python"],
        cwd=repository,
        env=environment,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 30
    calls = repository / "calls"
    while not (calls.exists() and "install" in calls.read_text()) and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=30) != 0
    (repository / "slow").unlink()
    assert make(repository, "demo") == ["venv", "install ."]
    assert make(repository, "demo") == []


def test_an_environment_without_pip_is_made_anew(repository: Path) -> None:
    (repository / ".venv" / "bin").mkdir(parents=True)
    (repository / ".venv" / "bin" / "python").write_text("#!/bin/sh\nexit 1\n")
    (repository / ".venv" / "bin" / "python").chmod(0o755)
    assert make(repository, "demo") == ["venv", "install ."]
