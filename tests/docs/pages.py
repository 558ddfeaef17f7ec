"""What a page of the documentation asks its reader to do, taken from its Markdown: files to write, commands to run.

A comment before a block says what the block alone does not:

* ``<!-- not executed: reason -->``: the test leaves the commands out and lists them;
* ``<!-- exits 1 -->``: the last command of the block shows a refusal;
* ``<!-- file: NAME -->``: the block is the content of a file (``continued`` appends to it);
* ``<!-- needs: PATH -->``: a file of the repository that the reader has in the folder.

``<!-- same commands as: PATH -->`` on a page says that it is a translation, whose commands are run where they come from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
_FENCE = re.compile(
    r"^(?P<fence>```+)(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=fence)[ ]*$", re.M | re.S
)
_COMMENTS = re.compile(r"<!--\s*(not executed|exits|file|needs)\b:?\s*(.*?)\s*-->")


@dataclass(frozen=True)
class Command:
    """One command line, the exit code it ends with, and the lines of output that the page shows."""

    line: str
    exit_code: int = 0
    shown: tuple[str, ...] = ()
    not_executed: str = ""


@dataclass(frozen=True)
class File:
    """A file that the reader writes."""

    name: str
    text: str
    continued: bool = False


def markdown_pages() -> list[Path]:
    """README and every page of the documentation."""
    return [*sorted(REPOSITORY.glob("README*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]


def translated_from(page: Path) -> Path | None:
    """The page whose commands this one has, where it is a translation."""
    said = re.search(r"<!-- same commands as: (\S+) -->", page.read_text(encoding="utf-8"))
    return REPOSITORY / said[1] if said else None


def steps(page: Path) -> Iterator[Command | File]:
    """What the page asks for, in order."""
    text, end = page.read_text(encoding="utf-8"), 0
    for block in _FENCE.finditer(text):
        said = dict(_COMMENTS.findall(_comments_before(text[end : block.start()])))
        end = block.end()
        if needed := said.get("needs"):
            yield File(Path(needed).name, (REPOSITORY / needed).read_text(encoding="utf-8"))
        if name := said.get("file"):
            yield File(name.split(",")[0], block["text"], continued=name.endswith("continued"))
        elif block["info"].strip() == "console":
            yield from _commands(
                block["text"], int(said.get("exits", "0")), said.get("not executed", "")
            )


def _comments_before(text: str) -> str:
    """The comments that stand directly before a block."""
    tail = re.search(r"(?:<!--(?:(?!-->).)*-->\s*)*\Z", text, re.S)
    return tail[0] if tail else ""


def _commands(text: str, exit_code: int, not_executed: str) -> list[Command]:
    found: list[tuple[str, list[str]]] = []
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.strip():
            found[-1][1].append(line)
    last = len(found) - 1
    return [
        Command(line, exit_code if place == last else 0, tuple(shown), not_executed)
        for place, (line, shown) in enumerate(found)
    ]
