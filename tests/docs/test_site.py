"""The site: built strictly, no block is empty, and the reference comes from the software itself."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs.pages import REPOSITORY, markdown_pages

import kakurenbo
from kakurenbo.cli import VERBS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documentation") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def text_of(page: Path) -> str:
    """The article of a page, without tags."""
    found = re.search(r"<article.*?</article>", page.read_text(encoding="utf-8"), re.S)
    assert found is not None, f"{page} has no article"
    return html.unescape(re.sub(r"<[^>]+>", "", found[0]))


def test_no_block_of_code_is_empty(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) >= 20
    for page in pages:
        for block in re.findall(r"<pre[^>]*>.*?</pre>", page.read_text(encoding="utf-8"), re.S):
            assert re.sub(r"<[^>]+>", "", block).strip(), f"{page} has an empty block"
    assert "class RankSwap" in text_of(site / "tutorial" / "own-methods.html")
    assert "class HideAndSeek" in text_of(site / "how-to" / "rulebook.html")


def test_reference_pages_are_what_the_software_says_of_itself() -> None:
    command = [sys.executable, str(REPOSITORY / "scripts" / "make_reference.py"), "--check"]
    done = subprocess.run(
        command, env={**os.environ, "LANG": "ja_JP.UTF-8"}, capture_output=True, text=True
    )
    assert done.returncode == 0, (
        f"stale: run `make reference` and commit\n{done.stdout}{done.stderr}"
    )


@pytest.mark.slow
def test_the_film_of_the_readme_shows_what_its_commands_print() -> None:
    command = [sys.executable, str(REPOSITORY / "scripts" / "make_recording.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, (
        f"stale: run `make recording`, look at docs/images/terminal.svg, and commit\n{done.stderr}"
    )


def test_a_clone_can_be_read_without_building_the_site() -> None:
    for page in markdown_pages():
        text = page.read_text(encoding="utf-8")
        own = re.sub(r"<!--.*?-->|^:::.*|^#.*", "", text, flags=re.M)
        assert len(own.split()) >= 20, f"{page} says nothing in a clone"
        assert "--8<--" not in text, f"{page} shows an include where code should stand"
        assert not re.search(r"^(```+)\w*\n\1$", text, re.M), f"{page} has an empty block"


def test_the_command_reference_has_every_verb_and_the_options_of_every_rulebook(site: Path) -> None:
    commands = text_of(site / "reference" / "commands.html")
    for verb in VERBS:
        assert f"kakurenbo {verb}" in commands
    for option in (
        "--cluster ADDRESS",
        "--with-disqualified",
        "--again",
        "--distinct",
        "--masks",
        "--mode",
    ):
        assert option in commands
    assert "rrp" in text_of(site / "reference" / "methods.html")


def test_the_library_reference_describes_what_the_package_exports(site: Path) -> None:
    pages = [text_of(page) for page in (site / "reference" / "api").glob("*.html")]
    exported = text_of(site / "reference" / "api" / "index.html")
    assert all(name in exported for name in kakurenbo.__all__)
    for name in ("rulebook_checks", "publish_round", "Document", "read_release", "read_table"):
        assert any(name in page for page in pages)


def test_the_problem_reference_has_every_sentence_in_both_languages(site: Path) -> None:
    problems = text_of(site / "reference" / "problems.html")
    for code, english, japanese in (
        ("guess.own_target", "one's own release", "自分のチームの匿名加工データ"),
        ("amic2020.row_twice", "is named twice", "2 回書かれています"),
    ):
        assert code in problems
        assert english in problems
        assert japanese in problems


def test_links_of_pages_outside_the_site_lead_somewhere() -> None:
    outside = [*REPOSITORY.glob("*.md"), REPOSITORY / "changes" / "README.md"]
    for page in outside:
        for link in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            assert "://" in link or (page.parent / link).exists(), f"{page.name}: {link}"
