"""Every command that README and documentation show is run, page by page, and prints what they say it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.arena.conftest import install
from tests.docs.pages import REPOSITORY, Command, File, markdown_pages, steps, translated_from

PAGES = {str(page.relative_to(REPOSITORY)): page for page in markdown_pages()}
EXECUTED = [
    name
    for name, page in PAGES.items()
    if any(isinstance(step, Command) and not step.not_executed for step in steps(page))
    and translated_from(page) is None
]
TRANSLATED = [name for name, page in PAGES.items() if translated_from(page) is not None]
INSTALL = "pip install -e ."
REASONS = (
    "sets up an environment",
    "needs the network",
    "needs a download",
    "needs several machines",
    "needs a judge",
    "it serves until it is stopped",
    "takes hours",
)


QUICK = "README.md"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == QUICK else pytest.mark.slow) for name in EXECUTED],
)
def test_the_commands_of_a_page_do_what_it_says(name: str, tmp_path: Path) -> None:
    folder, site = tmp_path / "reader", tmp_path / "site"
    folder.mkdir()
    site.mkdir()
    for step in steps(PAGES[name]):
        if isinstance(step, File):
            _write(folder / step.name, step)
        elif step.line.split("#")[0].strip() == INSTALL:
            install(folder, site)  # what pip would do, without a network
        elif not step.not_executed:
            _run(step, folder, _environment(site, tmp_path / "bin"))


@pytest.mark.parametrize("name", TRANSLATED)
def test_a_translated_page_asks_for_the_same_as_the_page_it_comes_from(name: str) -> None:
    original = translated_from(PAGES[name])
    assert original is not None
    assert [_without_language(step) for step in steps(PAGES[name])] == [
        _without_language(step) for step in steps(original)
    ]


def test_output_that_a_translated_page_shows_stands_on_a_page_that_is_run() -> None:
    seen = {
        line
        for name in EXECUTED
        for step in steps(PAGES[name])
        if isinstance(step, Command)
        for line in step.shown
    }
    for name in TRANSLATED:
        for step in steps(PAGES[name]):
            if isinstance(step, Command) and not step.not_executed:
                assert set(step.shown) <= seen, f"{name}: {step.line}"


def _without_language(step: Command | File) -> Command | File:
    """A step without what a translation may have otherwise: the language it asks for, what is printed, and remarks."""
    if isinstance(step, File):
        return step
    return replace(
        step, line=step.line.replace("KAKURENBO_LANG=ja ", "").split("  #")[0].rstrip(), shown=()
    )


def test_commands_that_are_not_executed_say_why() -> None:
    left_out = {
        (name, step.line): step.not_executed
        for name, page in PAGES.items()
        for step in steps(page)
        if isinstance(step, Command) and step.not_executed
    }
    for (name, line), reason in left_out.items():
        print(f"{name}: {line}: {reason}")
        assert reason.startswith(REASONS), f"{name}: {line}: {reason!r} is no reason that counts"
    assert not any(line.startswith("kakurenbo prepare") for _, line in left_out), (
        "small contests can always be played"
    )


def _write(path: Path, file: File) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text(encoding="utf-8") + "\n\n" if file.continued else ""
    path.write_text(f"{before}{file.text.rstrip()}\n", encoding="utf-8")


def _environment(site: Path, programs: Path) -> dict[str, str]:
    """An environment in which ``kakurenbo`` is this one, with the plugins that the page has installed."""
    programs.mkdir(exist_ok=True)
    for name, command in (
        ("kakurenbo", f"{sys.executable} -m kakurenbo"),
        ("python", sys.executable),
    ):
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "PYTHONPATH": str(site), "COLUMNS": "200"}


def _run(command: Command, folder: Path, environment: dict[str, str]) -> None:
    shell = ["bash", "-o", "pipefail", "-c", command.line]
    done = subprocess.run(
        shell,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert done.returncode == command.exit_code, f"$ {command.line}\n{done.stdout}"
    printed = [_plain(line) for line in done.stdout.splitlines()]
    for line in _without_gaps(command.shown):
        assert line in printed, f"$ {command.line}\ndoes not print: {line}\n{done.stdout}"


def _without_gaps(shown: Iterable[str]) -> list[str]:
    """Lines of output; a line that is an ellipsis stands for any lines."""
    return [plain for line in shown if (plain := _plain(line)) not in ("…", "...")]


def _plain(line: str) -> str:
    return " ".join(line.split())
