"""The coverage page: each row names commands, pages and tests that exist and do what the row says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.docs.pages import REPOSITORY, File, steps

PAGE = REPOSITORY / "docs" / "reference" / "coverage.md"

_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]+))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.M)
_COUNT = re.compile(r"^(\d+) requirements: (\d+) yes, (\d+) does not apply\.$", re.M)


@dataclass(frozen=True)
class Row:
    """A requirement and what fulfils it."""

    id: str
    fulfilled_by: str
    shows: tuple[str, ...]
    exit_code: int
    state: str

    @property
    def commands(self) -> list[str]:
        return [code for code in _CODE.findall(self.fulfilled_by) if not code.startswith("tests/")]

    @property
    def tests(self) -> list[str]:
        return [code for code in _CODE.findall(self.fulfilled_by) if code.startswith("tests/")]


def read_rows() -> list[Row]:
    """Read the rows of all tables of requirements."""
    rows = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 6 and re.fullmatch(r"[ADP]\d+", cells[0]):
            exits = re.search(r"exits (\d)", _CODE.sub("", cells[4]))
            shows = tuple(_CODE.findall(cells[4]))
            rows.append(Row(cells[0], cells[3], shows, int(exits[1]) if exits else 0, cells[5]))
    return rows


ROWS = read_rows()


@pytest.mark.slow
def test_every_command_does_what_its_row_says(tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    environment = make_environment(tmp_path)
    for step in steps(PAGE):
        if isinstance(step, File):
            (folder / step.name).write_text(step.text, encoding="utf-8")
        else:
            code, printed = run_line(step.line, folder, environment)
            assert code == step.exit_code, f"$ {step.line}\n{printed}"
    failures = []
    for row in ROWS:
        failures.extend(run_row(row, folder, environment))
    assert not failures, "\n\n".join(failures)


def test_ids_count_from_1_in_each_contest() -> None:
    counts = Counter(row.id[0] for row in ROWS)
    expected = [f"{letter}{number}" for letter in "ADP" for number in range(1, counts[letter] + 1)]
    assert [row.id for row in ROWS] == expected


def test_every_row_has_a_state_and_something_that_fulfils_it() -> None:
    for row in ROWS:
        assert row.state == "yes" or row.state.startswith("does not apply: "), row.id
        has_evidence = row.commands or row.tests or _LINK.search(row.fulfilled_by)
        assert has_evidence or row.state.startswith("does not apply"), row.id


def test_the_count_at_the_end_of_the_page_is_that_of_its_rows() -> None:
    states = Counter(row.state.split(":")[0] for row in ROWS)
    counted = _COUNT.search(PAGE.read_text(encoding="utf-8"))
    assert counted is not None
    counts = [len(ROWS), states["yes"], states["does not apply"]]
    assert [int(count) for count in counted.groups()] == counts


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_pages_and_tests_that_a_row_names_exist(row: Row) -> None:
    for name, anchor in _LINK.findall(row.fulfilled_by):
        page = (PAGE.parent / name).resolve() if name else PAGE
        assert page.is_file(), f"{row.id}: {name}"
        assert not anchor or anchor in read_anchors(page), f"{row.id}: {name}#{anchor}"
    for test in row.tests:
        path, function = test.split("::")
        source = (REPOSITORY / path).read_text(encoding="utf-8")
        assert f"def {function}(" in source, f"{row.id}: {test}"


def read_anchors(page: Path) -> set[str]:
    """Return the anchors that the site gives to the headings of a page."""
    anchors = set()
    for heading in _HEADING.findall(page.read_text(encoding="utf-8")):
        text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", heading)
        words = re.sub(r"[^\w\s-]", "", text).strip().lower()
        anchors.add(re.sub(r"[-\s]+", "-", words))
    return anchors


def make_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which ``kakurenbo`` and ``python`` are those of this run."""
    programs = folder / "bin"
    programs.mkdir()
    for name, command in (
        ("kakurenbo", f"{sys.executable} -m kakurenbo"),
        ("python", sys.executable),
    ):
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "200", "KAKURENBO_HOME": str(folder / "home")}


def run_row(row: Row, folder: Path, environment: dict[str, str]) -> list[str]:
    """Run the commands of a row and return what is wrong with them."""
    failures, outputs = [], []
    for number, line in enumerate(row.commands, 1):
        code, printed = run_line(line, folder, environment)
        outputs.append(printed)
        expected = row.exit_code if number == len(row.commands) else 0
        if code != expected:
            failures.append(
                f"{row.id}: exit code {code} instead of {expected}\n$ {line}\n{printed}"
            )
    text = normalize("\n".join(outputs))
    missing = [shown for shown in row.shows if normalize(shown) not in text]
    if missing:
        failures.append(f"{row.id}: {missing} not printed\n{text}")
    return failures


def run_line(line: str, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout


def normalize(text: str) -> str:
    return " ".join(text.split())
