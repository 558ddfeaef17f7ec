"""The words of the pages: every code that a template names is in the catalogue, and every entry is named somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.catalogue import entries

import kakurenbo
from kakurenbo.core.messages import LANGUAGES, render

PACKAGE = Path(kakurenbo.__file__).resolve().parent
PAGES = PACKAGE / "judge" / "pages"
WORDS = {code for code in entries("en") if code.startswith("page.")}
BY_VALUE = {
    *(
        "chart",
        "counts_rule",
        "entry_says",
        "entry_state",
        "field",
        "guess_file",
        "hint",
        "job",
        "job_state",
        "kind",
        "kind_short",
        "move",
        "move_says",
        "move_yes",
        "moved",
        "ranking",
        "rejudge_table",
        "rejudging_says",
        "rejudging_state",
    ),
    *("release_state", "role", "span", "state", "visibility"),
}  # codes whose end is a value: a state, a field's name


def named() -> Iterator[str]:
    """Every code that templates and views name whole."""
    for path in PAGES.rglob("*.html"):
        yield from (
            f"page.{code}"
            for code in re.findall(r"""\{%\s*t\s+["']([\w.]+)["']""", path.read_text("utf-8"))
        )
    for path in PAGES.rglob("*.py"):
        yield from re.findall(r"""["'](page\.[\w.]+)["']""", path.read_text("utf-8"))


def test_every_code_that_a_page_names_has_words() -> None:
    assert set(named()) - WORDS == set()


def test_no_words_of_the_pages_are_unused() -> None:
    decided = {
        f"page.{what}_done" for what in ("disqualify", "excuse")
    }  # put together from the decision
    assert {
        code for code in WORDS - set(named()) - decided if code.split(".")[1] not in BY_VALUE
    } == set()


def test_every_state_and_kind_has_a_word() -> None:
    from kakurenbo.judge.contests.models import PhaseState, Role, Visibility
    from kakurenbo.judge.scoring.models import JobKind, JobState
    from kakurenbo.judge.submissions.models import State

    groups = {
        "state": PhaseState, "role": Role, "visibility": Visibility, "job": JobKind, "job_state": JobState,
        "entry_state": State, "entry_says": State,
    }  # fmt: skip
    for group, values in groups.items():
        for value in values.values:
            for language in LANGUAGES:
                assert "page." not in render(f"page.{group}.{value}", {}, language).message


def test_the_judge_has_one_name_in_japanese() -> None:
    of_contests = ("darc2019.", "judges.", "pwscup2024.")  # their committees
    named = [code for code, words in entries("ja").items() if "審判" in words]
    assert [code for code in named if not code.startswith(of_contests)] == []


OTHER_WORDS = (
    "スーパーバイザ",
    "スイープ",
    "審判サーバー",
    "サーバ(?!ー)",
    "フォルダー",
    "仕事",
    "置き場",
    "クッキー",
    "キュー",
    "リリース",
)
"""What the glossary of the operators' page has another word for."""


def test_operators_read_one_japanese_word_for_one_thing_on_their_page_and_in_what_the_judge_prints() -> (
    None
):
    page = Path(__file__).parents[2] / "docs" / "ja" / "operate-judge.md"
    of_operators = ("doctor.", "backup.", "restore.", "judge_serve.")
    texts = {code: words for code, words in entries("ja").items() if code.startswith(of_operators)}
    texts[page.name] = page.read_text("utf-8")
    found = {name: re.findall("|".join(OTHER_WORDS), text) for name, text in texts.items()}
    assert not any(found.values()), found
