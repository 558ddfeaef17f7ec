"""The report of an audit: verdict first, figures with intervals, two languages, and harmless whatever a table holds."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from tests.audit_report.made_up import HOSTILE, bare, full
from tests.e2e.browser import CHROMIUM, opened, started

from kakurenbo.audit.report import audit_pictures, html_audit, markdown_audit
from kakurenbo.audit.report.words import caveat_sentences, verdict_sentence
from kakurenbo.audit.result import Candidate
from kakurenbo.messages import render, speaking
from kakurenbo.messages.catalogue import catalogue_of
from kakurenbo.tables import Problem


def test_the_verdict_comes_first_then_every_risk_with_its_interval_beside_control_and_limit() -> None:
    told = markdown_audit(full())
    assert told.index("audit.verdict.above") < told.index("| membership |")
    assert "| 85.4 % (82.0–88.3) | 85.6 % (82.2–88.5) | 0.2 % (0.0–1.1) | 5.0 % | above its limit |" in told
    assert "26 of 5,000 tested records" in told
    assert "Worse than the baseline: membership" in told


def test_what_was_not_assessed_is_said_and_never_looks_like_passed() -> None:
    told = markdown_audit(bare())
    assert told.count("not assessed") >= 6
    assert "within its limit" not in told
    page = html_audit(bare())
    assert 'class="mark good"' not in page


def test_the_page_needs_no_network_and_holds_both_languages() -> None:
    page = html_audit(full())
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)[^\"]*\"", page)
    assert page.count('<div lang="en" data-language="en"') == page.count('<div lang="ja" data-language="ja"') == 1
    assert "Who could do what" in page
    assert "誰に何ができるか" in page
    with speaking("ja"):
        assert '<div lang="ja" data-language="ja"><header>' in html_audit(full())


def test_no_name_of_a_file_column_or_release_becomes_markup() -> None:
    result = full()
    assert HOSTILE not in html_audit(result)
    assert HOSTILE not in result._repr_html_()
    assert HOSTILE not in markdown_audit(result)
    for drawn in audit_pictures(result).values():
        ET.fromstring(drawn.partition("\n")[2])
        assert HOSTILE not in drawn


def test_markdown_shows_the_records_that_the_page_shows_with_the_line_of_the_file() -> None:
    """Row 7 from 0 stands in line 9: the header is line 1."""
    for told in (markdown_audit(full()), html_audit(full())):
        assert "line 9, counting the header: age 71" in told
    with speaking("ja"):
        assert "見出しを含めて 9 行目: age 71" in markdown_audit(full())
    hidden = [line for line in markdown_audit(full()).splitlines() if line.startswith("| 0000000000000003")]
    assert hidden == ["| 0000000000000003 | 0.0002 |"]


def test_what_was_put_right_is_told_in_the_language_of_the_reader_and_in_english_in_json() -> None:
    notices = tuple(Problem("text.bom", file=name, row=1) for name in ("a.csv", "b.csv"))
    result = replace(full(), notices=notices)
    english, japanese = ("a.csv, b.csv: " + render("text.bom", {}, spoken).message for spoken in ("en", "ja"))
    assert english in markdown_audit(result)
    with speaking("ja"):
        told = markdown_audit(result)
        stored = result.as_json()["notices"]
    assert japanese in told
    assert english not in told
    page = html_audit(result)
    assert page.index(english) < page.index('<div lang="ja"') < page.index(japanese)
    assert stored == [notice.in_language("en") for notice in notices]


def test_pictures_show_every_candidate_and_the_same_result_gives_the_same_bytes() -> None:
    pictures = audit_pictures(full())
    assert sorted(pictures) == ["frontier.svg", "risks.svg"]
    assert pictures == audit_pictures(full())
    for name in ("rr p=0.9", "rr p=0.5", "synthetic"):
        assert name in pictures["frontier.svg"]
    assert 'class="frontier"' in pictures["frontier.svg"]
    assert sorted(audit_pictures(bare())) == ["risks.svg"]


def test_candidates_stand_in_both_reports_with_their_own_verdicts() -> None:
    told = markdown_audit(full())
    assert "| synthetic | 0.4 % | 79.0 % | every risk within its limit | not beaten in both |" in told
    worse = replace(full(), candidates=(Candidate("later", 0.1, 0.9, 1, True, "regressed"), *full().candidates))
    page = html_audit(worse)
    assert page.count("some risk above its limit</span>") == 2
    assert "some risk worse than in the baseline</span>" in page


def test_a_plain_session_shows_the_verdict_and_a_line_for_each_risk() -> None:
    lines = repr(full()).splitlines()
    assert lines[0] == verdict_sentence(full())
    assert len(lines) == 1 + len(caveat_sentences(full())) + len(full().risks)
    assert all(len(line) < 300 for line in lines)


def test_a_notebook_shows_the_verdict_and_a_picture() -> None:
    shown = full()._repr_html_()
    assert shown.index("audit.verdict.above") < shown.index("<svg")
    assert "<script" not in shown


def test_every_word_that_the_report_says_is_in_the_catalogue_of_both_languages() -> None:
    folder = Path(html_audit.__code__.co_filename).parent
    said = {word for path in folder.glob("*.py") for word in re.findall(r'said\(\s*"([a-z_.]+)"', path.read_text("utf-8"))}
    assert len(said) > 40
    for language in ("en", "ja"):
        assert {word for word in said if f"audit.report.{word}" not in catalogue_of(language)} == set()


def test_renderers_read_the_result_alone() -> None:
    """What ``--json`` prints has every figure that the page shows."""
    assert json.loads(json.dumps(full().as_json()))["risks"]["membership"]["rate"] == 0.856


@pytest.mark.skipif(not CHROMIUM, reason="no browser: install Debian's chromium (make browser)")
def test_the_page_fits_the_screen_and_changes_language_and_colours(tmp_path: Path) -> None:
    report = tmp_path / "audit.html"
    report.write_text(html_audit(full()), "utf-8")
    with started() as browser:
        for width in (390, 1400):
            page = opened(browser, report, width)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.locator("svg:visible").count() == 2
            page.click("[data-choice='language:ja']:visible")
            assert page.locator("h2:visible").first.inner_text() == "リスク"
            page.click("[data-choice='theme:dark']:visible")
            assert page.evaluate("document.documentElement.dataset.theme") == "dark"
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.faults == []  # type: ignore[attr-defined]
