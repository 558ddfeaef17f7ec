"""The builds that the tutorial shows call the audit with options that it has, and stop where it fails."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
import yaml
from tests.docs.pages import REPOSITORY

import kakurenbo
from kakurenbo.cli.audit import audit

PAGES = ("docs/tutorial/audit.md", "docs/ja/audit.md")
BUT_OPEN = " || [ $? -eq 3 ]"
"""What the page offers for a build that an open verdict does not stop."""


def builds(page: str) -> list[dict]:  # type: ignore[type-arg]
    text = (REPOSITORY / page).read_text("utf-8")
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.S)]


def workflow_command(page: str) -> str:
    (command,) = [
        step["run"] for step in builds(page)[0]["jobs"]["audit"]["steps"] if "run" in step
    ]
    return str(command)


def hook(page: str) -> dict:  # type: ignore[type-arg]
    (local,) = builds(page)[1]["repos"]
    (only,) = local["hooks"]
    return dict(only)


def started(entry: str, folder: Path, programs: Path) -> int:
    """The exit code of an entry that is started as pre-commit does it: split into words, without a shell."""
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        shlex.split(entry), cwd=folder, env=environment, capture_output=True, timeout=300
    ).returncode


def program(folder: Path, lines: str) -> Path:
    """A folder with a ``kakurenbo`` of these lines, to stand first on the path."""
    folder.mkdir()
    (folder / "kakurenbo").write_text(f"#!/bin/sh\n{lines}\n")
    (folder / "kakurenbo").chmod(0o755)
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_a_build_calls_the_audit_with_a_baseline_that_is_kept_beside_the_original(
    page: str,
) -> None:
    for called in (workflow_command(page), hook(page)["entry"]):
        name, verb, *arguments = shlex.split(called)
        assert (name, verb) == ("kakurenbo", "audit")
        given = audit.make_context("audit", arguments, resilient_parsing=False).params
        assert given["baseline"] == given["original"].parent / "accepted.json"
        assert str(given["limits"]) == "limits.toml"
        assert given["holdout"] is not None
    assert hook(page)["pass_filenames"] is False


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("audited", "ends"), [(0, 0), (1, 1), (2, 2), (3, 3)])
def test_the_hook_is_stopped_by_a_leak_a_mistake_and_an_open_verdict(
    page: str, audited: int, ends: int, tmp_path: Path
) -> None:
    assert (
        started(hook(page)["entry"], tmp_path, program(tmp_path / "bin", f"exit {audited}")) == ends
    )


@pytest.mark.parametrize(
    ("audited", "strict", "lenient"), [(0, 0, 0), (1, 1, 1), (2, 2, 1), (3, 3, 0)]
)
def test_the_workflow_is_stopped_by_an_open_verdict_unless_its_command_says_otherwise(
    audited: int, strict: int, lenient: int, tmp_path: Path
) -> None:
    command, programs = workflow_command(PAGES[0]), program(tmp_path / "bin", f"exit {audited}")
    for line, code in ((command, strict), (command + BUT_OPEN, lenient)):
        (tmp_path / "step.sh").write_text(line)
        assert started("bash -e step.sh", tmp_path, programs) == code  # as a workflow runs a step


@pytest.mark.slow
def test_the_hook_runs_a_real_audit_of_the_files_that_it_names(tmp_path: Path) -> None:
    source = Path(kakurenbo.__file__).resolve().parent.parent
    programs = program(
        tmp_path / "bin",
        f'PYTHONPATH={shlex.quote(str(source))} exec {sys.executable} -m kakurenbo "$@"',
    )
    data, folder, entry = tmp_path / "data", tmp_path / "repository", hook(PAGES[0])["entry"]
    folder.mkdir()
    (folder / "limits.toml").write_text(
        "membership = 0.3\nsingling_out = 0.6\nlinkability = 0.6\ninference = 0.6\n"
    )
    made = f"kakurenbo generate table hospital --rows 400 --seed 1 -o {data}/original.csv --holdout {data}/holdout.csv"
    others = "kakurenbo generate table hospital --rows 400 --seed 2 -o release.csv"
    assert [started(line, folder, programs) for line in (made, others)] == [0, 0]
    accepting = entry.replace("--baseline ../data/accepted.json", "-o ../data/accepted.json")
    assert started(accepting, folder, programs) == 0
    assert started(entry, folder, programs) == 0
    (folder / "release.csv").write_bytes((data / "original.csv").read_bytes())
    assert started(entry, folder, programs) == 1


def test_an_option_that_the_audit_does_not_have_would_be_noticed() -> None:
    with pytest.raises(click.NoSuchOption):
        audit.make_context("audit", ["a.csv", "b.csv", "--base-line", "x.json"])
