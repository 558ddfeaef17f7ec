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
from kakurenbo.audit.report.pictures import frontier_picture, risk_picture
from kakurenbo.audit.report.words import caveat_sentences, verdict_sentence
from kakurenbo.audit.result import INCONCLUSIVE, Candidate, Excess, Rate, Risk, SelfTest, ThreatRow
from kakurenbo.core import Problem
from kakurenbo.core.messages import catalogue, is_known, render, speaking, text
from kakurenbo.reports.drawing import NARROW, WIDE


def test_the_verdict_comes_first_then_every_risk_with_its_interval_beside_control_and_limit() -> (
    None
):
    told = markdown_audit(full())
    assert told.index("audit.verdict.above") < told.index("| membership |")
    figures = "85.4 % (82.0–88.3) | 85.6 % (82.2–88.5) | 0.2 % (0.0–1.1) | – | 0.1 % | 0.0004 | 5.0 % | above its limit |"
    assert f"| {figures}" in told
    assert "26 of 5,000 tested records" in told
    assert "Worse than the baseline: membership" in told


def test_what_was_not_assessed_is_said_and_never_looks_like_passed() -> None:
    told = markdown_audit(bare())
    assert told.count("not assessed") >= 6
    assert "within its limit" not in told
    page = html_audit(bare())
    assert 'class="mark good"' not in page


def test_markdown_has_every_figure_of_a_risk_that_the_page_has() -> None:
    told, page = markdown_audit(full()), html_audit(full())
    for figure in (
        "members found at 0.1 % false alarms 85.6 %",
        "members found at 1 % false alarms 87.1 %",
        "members among the 100 likeliest 100 (80 by chance)",
    ):
        assert figure in told
        assert figure in page
    assert "| naive guess | chance | p-value (Holm) | limit |" in told
    assert (
        "| 46.0 % (41.6–50.5) | 41.0 % (36.7–45.4) | 38.0 % | 9.5 % | 0.0004 | 5.0 % | inconclusive |"
        in told
    )


def test_columns_stand_beside_what_the_attack_gains_with_all_of_them_and_no_part_is_below_none_or_above_all() -> (
    None
):
    told, page = markdown_audit(full()), html_audit(full())
    for report in (told, page):
        assert "with all columns it gains 80.0 %" in report
    assert "| ward | membership | 100.0 % | −0.4 % |" in told
    assert "| admitted | membership | 62.5 % | 30.0 % |" in told
    assert "| sex | membership | 0.0 % | 83.0 % |" in told
    assert full().as_json()["driving"][3] == {
        "risk": "membership", "column": "sex", "with_all": 0.8, "without": 0.83, "share": 0.0
    }  # fmt: skip


def test_percents_are_written_one_way_in_every_report() -> None:
    rows = {
        "rate": Rate(1, 5000, 0.0002, 0.00001, 0.0011),
        "control": Rate(0, 5000, 0.0, 0.0, 0.00074),
    }
    tiny = replace(
        full().risks["membership"],
        excess=Excess(0.0002, -0.00054, 0.0011),
        baseline=0.00013,
        chance=0.12,
        **rows,
    )
    compared = (Candidate("a", -0.00021, 0.99999, 0, True), Candidate("b", 0.5, 0.6, 1, False))
    result = replace(full(), risks={**full().risks, "membership": tiny}, candidates=compared)
    pictures = "".join(audit_pictures(result).values())
    for told in (
        markdown_audit(result),
        html_audit(result),
        repr(result),
        result._repr_html_(),
        pictures,
    ):
        assert re.findall(r"\d\.\d\d+(?: %|–| %\))", told) == []
    assert (
        "| 0.0 % (−0.1–0.1) | 0.0 % (0.0–0.1) | 0.0 % (0.0–0.1) | &lt; 0.1 % | 12.0 % |"
        in markdown_audit(result)
    )


def test_what_was_found_against_the_limit_is_said_as_it_is_done() -> None:
    for told in (markdown_audit(full()), html_audit(full())):
        assert "corrected for the number of risks (Holm), is below 0.05" in told
        assert "The intervals themselves are not corrected" in told


def test_a_gain_of_singling_out_below_0_is_explained_where_there_is_no_holdout() -> None:
    rate = Rate(10, 100, 0.1, 0.049, 0.176)
    row = ThreatRow(
        "stranger",
        (),
        ("age",),
        "predicates_1",
        rate,
        None,
        Excess(-0.268, -0.319, -0.192),
        reported=True,
    )
    alone = replace(
        Risk.reporting("singling_out", [row], 0), standing=INCONCLUSIVE, why="no_control", limit=0.1
    )
    result = replace(full(), risks={**full().risks, "singling_out": alone})
    held = replace(result, risks={**full().risks, "singling_out": replace(alone, control=rate)})
    for render_audit in (markdown_audit, html_audit):
        assert "its gain is over 36.8 % (about 1/e)" in render_audit(result)
        assert "about 1/e" not in render_audit(held)


def test_a_failed_test_of_the_attack_is_told_once_and_as_what_it_is() -> None:
    weak = {
        name: replace(risk, why="too_weak") if risk.assessed else risk
        for name, risk in full().risks.items()
    }
    result = replace(full(), risks=weak)
    for told in (
        markdown_audit(result),
        html_audit(result).partition('<div lang="ja"')[0],
        repr(result),
        result._repr_html_(),
    ):
        assert told.count("failed its own test") == 1
    eager = replace(result, self_tests=(SelfTest("fresh", "likelihood", 0.2, 0.0, False),))
    assert "| 20.0 % | 0.0 % | finds what is not there |" in markdown_audit(eager)
    assert "attack too weak" not in markdown_audit(eager)


def test_the_page_needs_no_network_and_holds_both_languages() -> None:
    page = html_audit(full())
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)[^\"]*\"", page)
    assert (
        page.count('<div lang="en" data-language="en"')
        == page.count('<div lang="ja" data-language="ja"')
        == 1
    )
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
    hidden = [
        line
        for line in markdown_audit(full()).splitlines()
        if line.startswith("| 0000000000000003")
    ]
    assert hidden == ["| 0000000000000003 | 0.0002 |"]


def test_what_was_put_right_is_told_in_the_language_of_the_reader_and_in_english_in_json() -> None:
    notices = tuple(Problem("text.bom", file=name, row=1) for name in ("a.csv", "b.csv"))
    result = replace(full(), notices=notices)
    english, japanese = (
        "a.csv, b.csv: " + render("text.bom", {}, spoken).message for spoken in ("en", "ja")
    )
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


@pytest.mark.parametrize("spoken", ["en", "ja"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_legend_is_never_cut_and_names_the_control_in_words_that_hold_for_pseudonyms_too(
    spoken: str, width: float
) -> None:
    with speaking(spoken):
        for drawn in (risk_picture(full(), width), frontier_picture(full(), width)):
            *_, legend = drawn.content
            assert "…" not in legend
        meaning = text("audit.report.control_meaning")
        assert meaning in "".join(risk_picture(full(), width).content)
        assert {"en": "control", "ja": "対照"}[spoken] in meaning
        assert {"en": "people", "ja": "人"}[spoken] not in meaning


def test_a_legend_that_does_not_fit_a_row_goes_on_in_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meaning = "the same attack on people who are not in the original at all"
    known = catalogue._template
    monkeypatch.setattr(
        catalogue,
        "_template",
        lambda code, *rest: meaning if code.endswith("control_meaning") else known(code, *rest),
    )
    legend = risk_picture(full(), NARROW).content.rpartition('<g transform="translate(0,')[2]
    assert "…" not in legend
    assert {"not", "all"} <= set(re.findall(r"\w+", legend))


def test_candidates_stand_in_both_reports_with_their_own_verdicts() -> None:
    told = markdown_audit(full())
    assert (
        "| synthetic | 0.4 % | 79.0 % | every risk within its limit | not beaten in both |" in told
    )
    worse = replace(
        full(), candidates=(Candidate("later", 0.1, 0.9, 1, True, "regressed"), *full().candidates)
    )
    page = html_audit(worse)
    assert page.count("some risk above its limit</span>") == 2
    assert "some risk worse than in the baseline</span>" in page


def test_a_plain_session_shows_the_verdict_and_a_line_for_each_risk() -> None:
    lines = repr(full()).splitlines()
    assert lines[0] == verdict_sentence(full())
    assert "Worse than the baseline: membership" in lines
    assert len(lines) == 2 + len(caveat_sentences(full())) + len(full().risks)
    assert all(len(line) < 300 for line in lines)


def test_a_notebook_shows_the_verdict_and_a_picture() -> None:
    shown = full()._repr_html_()
    assert shown.index("audit.verdict.above") < shown.index("<svg")
    assert "<script" not in shown


def test_every_word_that_the_report_says_is_in_the_catalogue_of_both_languages() -> None:
    folder = Path(html_audit.__code__.co_filename).parent
    said = {
        word
        for path in folder.glob("*.py")
        for word in re.findall(r'said\(\s*"([a-z_.]+)"', path.read_text("utf-8"))
    }
    assert len(said) > 40
    for language in ("en", "ja"):
        unknown = [word for word in said if not is_known(f"audit.report.{word}", language)]
        assert unknown == []


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


def test_a_card_without_an_interval_has_no_bracket() -> None:
    undone = Risk("recoding", True, rate=Rate(2, 9, 2 / 9, 0.03, 0.6), standing="no_limit")
    page = html_audit(replace(full(), risks={**full().risks, "recoding": undone}))
    assert ">(<" not in page
    assert "2 of 9 columns" in page


def test_options_and_lists_are_told_in_the_language_of_the_reader() -> None:
    result = full()
    options = {"know": ["age", "sex"], "limits": {"membership": 0.02, "singling_out": 0.1}}
    result = replace(result, method=replace(result.method, options=options))
    with speaking("ja"):
        told = markdown_audit(result)
    assert "メンバーシップ推定 0.02、選び出し 0.1" in told
    assert "age、sex" in told
    assert "membership 0.02, singling out 0.1" in markdown_audit(result)
    assert "age, sex" in markdown_audit(result)


@pytest.mark.parametrize("code", ["copies", "few_copies", "near_copies", "copies_anyway"])
def test_copies_are_told_in_words_that_hold_of_one_as_of_many(code: str) -> None:
    for rows in (1, 12):
        told = render(
            f"audit.caveat.{code}", {"rows": rows, "control": 0, "least": 1, "changed": 1}, "en"
        ).message
        assert f": {rows}" in told
        assert not re.search(r"\d released rows are|\d whole records were|\d records were", told)
