"""The report as people meet it: opened from a file in a real browser, without a network."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.browser import CHROMIUM, opened, started
from tests.reports.synthetic import HOSTILE, synthetic_document

from kakurenbo import arena
from kakurenbo.core.messages import escaped
from kakurenbo.methods.registry import load
from kakurenbo.reports import figures, html_report

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CHROMIUM, reason="no browser: install Debian's chromium (make browser)"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small amic2020 tournament with a sweep, several seeds, and a name that wants to be code."""
    folder = tmp_path_factory.mktemp("tournament")
    players = [
        f'name = {json.dumps(HOSTILE[:37])}\nanonymizer = "rr:p=0.99"\nattack = "nearest"',
        'name = "noise"\nanonymizer = { method = "rrp", p = [0.5, 0.9, 0.999] }\nattack = "blind"',
        'name = "too few"\nanonymizer = "synthetic:rows=5"',
    ]
    (folder / "teams.toml").write_text("\n".join(f"[[players]]\n{player}" for player in players))
    rulebook = load("rulebooks", "amic2020")(scale="small", data="embedded")
    plan = arena.make_plan(
        rulebook, arena.read_teams_file(folder / "teams.toml").entrants, 4, repeats=2
    )
    return (
        arena.play_tournament(plan, folder / "run", arena.processes(2), arena.Settings()).path
        / "report.html"
    )


@pytest.fixture(scope="module")
def page(browser: Any, report: Path) -> Any:
    return opened(browser, report)


@pytest.fixture(scope="module")
def hostile(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A report whose first team has a name of the worst kind, whole."""
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    path.write_text(html_report(synthetic_document(4, 4, 2, HOSTILE), {}), encoding="utf-8")
    return opened(browser, path)


def saved(page: Any, button: str) -> bytes:
    """What a button of the page saves."""
    with page.expect_download() as found:
        page.locator(button).first.evaluate("element => element.click()")
    return Path(found.value.path()).read_bytes()


def column(page: Any, table: str, number: int) -> list[str]:
    return page.locator(f"#{table} tbody td:nth-child({number})").all_inner_texts()


def choose(page: Any, *choices: str) -> None:
    for choice in choices:
        page.click(f"[data-choice='{choice.replace('-', ':')}']:visible")


# -- opening and reading -------------------------------------------------------------------------------------------------


def test_it_opens_from_a_file_with_no_error_and_asks_the_network_for_nothing(
    page: Any, report: Path
) -> None:
    attacks = json.loads((report.parent / "results.json").read_bytes())["rounds"][0]["attacks"]
    assert page.locator("#heatmap-en .found").count() == sum(map(len, attacks.values())) > 8
    assert page.locator("#frontier-en .for-wide .point").count() == 4
    assert page.faults == []


def test_a_name_that_wants_to_be_code_is_shown_as_it_is(hostile: Any) -> None:
    assert hostile.evaluate("window.hacked") is None
    assert hostile.locator("#team-01-en summary b").text_content() == f"01 {escaped(HOSTILE)}"
    assert hostile.locator("img, [data-language] script").count() == 0
    assert hostile.faults == []


def test_a_team_shows_every_measure_its_verdict_and_what_limits_it(page: Any, report: Path) -> None:
    choose(page, "language-en")
    page.evaluate("location.hash = 'team-02-en'")
    page.wait_for_selector("#team-02-en[open]")
    shown = page.locator("#team-02-en").inner_text()
    document = json.loads((report.parent / "results.json").read_bytes())
    release = document["rounds"][0]["releases"]["02"]
    for measured in release["measurements"]:
        assert measured["name"] in shown
    assert "±" in shown
    assert "Attacked by" in shown
    assert release["verdicts"]["en"].replace("`", "") in shown
    assert all(
        lesson.replace("`", "") in page.locator("header:visible").inner_text()
        for lesson in document["verdicts"]["en"]
    )
    assert "refused" in page.locator("#team-05-en").inner_text()


def test_ranks_that_noise_could_reverse_are_marked_as_ties(browser: Any, tmp_path: Path) -> None:
    document = synthetic_document(13, 20, 3)
    tied = {
        line.team: line.tied_with for line in document.rankings["attack"].lines if line.tied_with
    }
    assert tied, "a document without a tie would show nothing here"
    (tmp_path / "report.html").write_text(html_report(document, {}), encoding="utf-8")
    page = opened(browser, tmp_path / "report.html")
    marked = {
        row.locator("a").inner_text(): row.locator(".tied").get_attribute("title").split(", ")
        for row in page.locator("#standings-attack-en table tbody tr:has(.tied)").all()
    }
    assert {team: [name[:2] for name in names] for team, names in marked.items()} == {
        team: list(others) for team, others in tied.items()
    }


def test_on_a_phone_a_line_without_a_tie_says_nothing_of_ties(browser: Any, tmp_path: Path) -> None:
    document = synthetic_document(13, 20, 3)
    lines = document.rankings["attack"].lines
    assert any(line.tied_with for line in lines)
    assert not all(line.tied_with for line in lines)
    (tmp_path / "report.html").write_text(html_report(document, {}), encoding="utf-8")
    page = opened(browser, tmp_path / "report.html", 390)
    rows = page.locator("#standings-attack-en table tbody tr").all()
    titles = "row => [...row.cells].filter((cell) => cell.checkVisibility()).map((cell) => cell.dataset.title)"
    told = ["tied with" in row.evaluate(titles) for row in rows]
    assert told == [bool(line.tied_with) for line in lines]
    page.context.close()


# -- choices -------------------------------------------------------------------------------------------------------------


def test_tables_sort_by_the_column_that_is_clicked(page: Any) -> None:
    choose(page, "language-en")
    head = page.locator("#standings-attack-en table th:nth-child(2)")
    head.locator("button").click()
    up = column(page, "standings-attack-en table", 2)
    head.locator("button").click()
    assert column(page, "standings-attack-en table", 2) == up[::-1]
    assert up != up[::-1]
    assert head.get_attribute("aria-sort") == "descending"


def test_language_and_theme_are_remembered(page: Any) -> None:
    choose(page, "language-ja", "theme-dark")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload()
    assert "大会レポート" in page.locator("h1:visible").inner_text()
    assert page.evaluate("document.documentElement.lang") == "ja"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark
    choose(page, "language-en", "theme-light")
    assert "Tournament report" in page.locator("h1:visible").inner_text()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark


def test_japanese_is_complete(page: Any) -> None:
    """Outside names, methods, measures and versions no English word is left."""
    choose(page, "language-ja")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    titles = page.locator(
        "[data-language=ja] :is(h2, h3, th[scope=col], nav a, .card > span, .mark, .legend, .hint, summary .dim)"
    ).all_inner_texts()
    choose(page, "language-en")
    names = {"SHA", "verify", "noise", "rrp", *re.findall(r"[A-Za-z]{3,}", HOSTILE)}
    assert {found for title in titles for found in re.findall(r"[A-Za-z]{3,}", title)} <= names
    assert any("匿名加工データ" in title for title in titles)


def test_a_report_made_where_japanese_is_spoken_opens_in_japanese(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KAKURENBO_LANG", raising=False)
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")
    (tmp_path / "report.html").write_text(
        html_report(synthetic_document(4, 4), {}), encoding="utf-8"
    )
    page = opened(browser, tmp_path / "report.html", locale="en-US")
    assert page.evaluate("document.documentElement.lang") == "ja"
    assert "合格" in page.locator("#frontier-ja").text_content()


def test_the_heat_map_sorts_by_the_release_that_is_clicked(page: Any) -> None:
    choose(page, "language-en")
    head = page.locator("#matrix-en thead th:nth-child(2)")
    for direction, sign in (("ascending", 1), ("descending", -1)):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == direction
        shares = [sign * float(cell.split()[0]) for cell in column(page, "matrix-en", 2) if cell]
        assert shares == sorted(shares)
        assert len(set(shares)) > 1


def test_it_can_be_printed(page: Any) -> None:
    assert page.pdf().startswith(b"%PDF")


# -- what can be taken out -----------------------------------------------------------------------------------------------


def test_results_can_be_saved_as_csv_and_json(page: Any, report: Path) -> None:
    assert (
        saved(page, "[data-file$='results.csv']").decode()
        == (report.parent / "results.csv").read_text()
    )
    assert json.loads(saved(page, "[data-file$='results.json']")) == json.loads(
        (report.parent / "results.json").read_bytes()
    )


def test_every_table_can_be_saved_as_csv_without_formulas(hostile: Any) -> None:
    assert hostile.locator("[data-save]").count() == hostile.locator("table").count() > 10
    for table in ("standings-anonymization", "matrix", "players", "attacked-main-02"):
        name = f"toy-{table}.csv"
        rows = list(
            csv.reader(io.StringIO(saved(hostile, f"[data-save='{name}']").decode("utf-8-sig")))
        )
        assert len(rows) > 3
        assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for row in rows for cell in row)
        assert any(escaped(HOSTILE) in cell for row in rows for cell in row), name
    assert hostile.evaluate("[harmless('=1+1'), harmless('-x'), harmless('7 teams')]") == [
        "'=1+1",
        "'-x",
        "7 teams",
    ]


@pytest.mark.parametrize("language", ["en", "ja"])
@pytest.mark.parametrize("chart", ["heatmap", "scatter"])
def test_the_picture_from_the_button_is_the_one_that_is_drawn_without_a_browser(
    hostile: Any, chart: str, language: str
) -> None:
    written = figures(synthetic_document(4, 4, 2, HOSTILE), language)[f"{chart}.svg"]
    button = f"[data-file='toy-{language}-{chart}.svg']"
    assert saved(hostile, button).decode() == written
