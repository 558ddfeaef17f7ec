"""Pictures of the documentation: each is there and named; those of the judge's tutorial are what its script takes."""

from __future__ import annotations

import re
import struct

import pytest
from scripts.screenshots import COMMANDS, LANGUAGES, MOST_BYTES, NAMES, PICTURES
from tests.docs.pages import REPOSITORY, Command, markdown_pages, steps

TUTORIALS = {
    "en": REPOSITORY / "docs" / "tutorial" / "hold-a-contest.md",
    "ja": REPOSITORY / "docs" / "ja" / "hold-a-contest.md",
}
_IMAGE = re.compile(r"!\[(?P<words>[^\]]*)\]\((?P<path>[^)\s]+)\)")


def test_every_picture_that_a_page_shows_is_there_and_is_told_in_words() -> None:
    for page in markdown_pages():
        for image in _IMAGE.finditer(page.read_text(encoding="utf-8")):
            assert (page.parent / image["path"]).is_file(), f"{page.name}: {image['path']}"
            assert image["words"].strip(), (
                f"{page.name}: {image['path']} has no words for who cannot see it"
            )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_tutorial_shows_every_picture_that_its_script_takes_in_this_order(
    language: str,
) -> None:
    page = TUTORIALS[language]
    shown = [
        (page.parent / image["path"]).resolve()
        for image in _IMAGE.finditer(page.read_text(encoding="utf-8"))
    ]
    assert shown == [PICTURES / language / f"{name}.png" for name in NAMES]


def test_no_picture_is_stale_or_large() -> None:
    there = {
        path.relative_to(PICTURES).as_posix(): path
        for path in PICTURES.rglob("*")
        if path.is_file()
    }
    assert sorted(there) == sorted(
        f"{language}/{name}.png" for language in LANGUAGES for name in NAMES
    )
    for name, path in there.items():
        content = path.read_bytes()
        assert len(content) <= MOST_BYTES, name
        assert struct.unpack(">I", content[16:20]) == (1000,), (
            f"{name} is not as wide as the others"
        )


def test_the_commands_of_the_tutorial_are_those_that_its_script_gives() -> None:
    asked = [step.line for step in steps(TUTORIALS["en"]) if isinstance(step, Command)]
    setting_up = ("python3 -m venv", "pip install", "kakurenbo judge serve", "export ")
    given = [command for commands in COMMANDS.values() for command in commands]
    assert [line for line in asked if not line.startswith(setting_up)] == given
