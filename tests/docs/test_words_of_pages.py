"""Pages on the judge call its buttons and headings as the judge does, in English and Japanese."""

from __future__ import annotations

import re

import pytest
from tests.catalogue import entries
from tests.docs.pages import REPOSITORY

ITALIC, QUOTED = re.compile(r"(?<!\*)\*([^*\n]+)\*(?!\*)"), re.compile(r"「([^」]+)」")
_APART = re.compile(r"```.*?```|`[^`]*`|\*\*[^*]+\*\*", re.S)
PAGES = {
    "docs/tutorial/hold-a-contest.md": (
        "en",
        ITALIC,
        {"amic2020", "scale", "data", "vcm", "dta income", "pre"},
    ),
    "docs/how-to/judge-organizer.md": ("en", ITALIC, {"italics"}),
    "docs/how-to/judge-player.md": ("en", ITALIC, set()),
    "docs/ja/hold-a-contest.md": ("ja", QUOTED, {"きつね", "たぬき"}),
    "docs/ja/judge-organizer.md": (
        "ja",
        QUOTED,
        {"ほかと同じように順位が付き、表彰され"},
    ),  # a sentence of the rules
    "docs/ja/judge-player.md": ("ja", QUOTED, set()),
}
"""Each with its language, how it marks words of the judge, and what it marks besides."""


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_says_of_the_judges_words_is_what_the_judge_says(name: str) -> None:
    language, mark, besides = PAGES[name]
    said = {_name(words) for words in _words_of_the_judge(language)}
    named = mark.findall(_APART.sub("", (REPOSITORY / name).read_text(encoding="utf-8")))
    assert len(named) >= 10
    words = {part for word in named for part in word.split(" · ")} - besides
    assert sorted(word for word in words if _name(word) not in said) == []


def _name(words: str) -> str:
    """What people call a button or a choice: without what explains it, and without the dots of one that asks first."""
    return re.split(r": | while the phase is open|…$", words)[0].lower()


def _words_of_the_judge(language: str) -> list[str]:
    return [words for code, words in entries(language).items() if code.startswith("page.")]
