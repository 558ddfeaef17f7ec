"""The report as people meet it: opened from a file in a real browser, without a network."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kakurenbo import arena
from kakurenbo.registry import load

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1300,1000",
)
HOSTILE = '<img src=x onerror="window.hacked=1">"</script><script>window.hacked=1</script>'

pytestmark = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="no browser: install Debian's chromium and chromium-driver (make browser)"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    downloads = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(DRIVER)))
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["http://*", "https://*"]})
    driver.downloads = downloads  # type: ignore[attr-defined]
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small amic2020 tournament with a sweep, several seeds, and a name that wants to be code."""
    folder = tmp_path_factory.mktemp("tournament")
    players = [
        f'name = {json.dumps(HOSTILE)}\nanonymizer = "rr:p=0.99"\nattack = "nearest"',
        'name = "noise"\nanonymizer = { method = "rrp", p = [0.5, 0.9, 0.999] }\nattack = "blind"',
        'name = "too few"\nanonymizer = "synthetic:rows=5"',
    ]
    (folder / "teams.toml").write_text("\n".join(f"[[players]]\n{player}" for player in players))
    rulebook = load("rulebooks", "amic2020")(scale="small", data="embedded")
    plan = arena.make_plan(rulebook, arena.read_teams_file(folder / "teams.toml").entrants, 4, repeats=2)
    return arena.play_tournament(plan, folder / "run", arena.processes(2), arena.Settings()).path / "report.html"


def opened(browser: Any, report: Path) -> Any:
    browser.get(report.as_uri())
    end = time.monotonic() + 20
    while browser.execute_script("return document.documentElement.dataset.ready") != "true":
        assert time.monotonic() < end, browser.get_log("browser")
        time.sleep(0.05)
    return browser


def choose(browser: Any, choice: str) -> None:
    browser.find_element("css selector", f"[data-choice='{choice}']").click()


def column(browser: Any, table: str, number: int) -> list[str]:
    return [cell.text for cell in browser.find_elements("css selector", f"#{table} tbody td:nth-child({number})")]


def test_it_opens_from_a_file_with_no_error_and_draws_its_charts(browser: Any, report: Path) -> None:
    opened(browser, report)
    for chart in ("heatmap-chart", "scatter-chart"):
        drawn = browser.execute_script(f"return document.querySelectorAll('#{chart} svg path').length")
        assert drawn > 5, f"{chart} is empty"
    cells = browser.execute_script("return document.querySelectorAll('#heatmap-chart svg text').length")
    assert cells >= 4 * 3
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


def test_a_name_that_wants_to_be_code_is_shown_as_it_is(browser: Any, report: Path) -> None:
    opened(browser, report)
    assert browser.execute_script("return window.hacked") is None
    assert HOSTILE[:60] in browser.find_element("css selector", "#team-01 summary").text
    assert browser.execute_script("return document.querySelectorAll('img').length") == 0


def test_tables_sort_by_the_column_that_is_clicked(browser: Any, report: Path) -> None:
    opened(browser, report)
    choose(browser, "language-en")
    head = browser.find_element("css selector", "#standings-attack th:nth-child(2) button")
    head.click()
    up = column(browser, "standings-attack", 2)
    head.click()
    assert column(browser, "standings-attack", 2) == up[::-1]
    assert up != up[::-1]
    sorted_by = browser.find_element("css selector", "#standings-attack th:nth-child(2)")
    assert sorted_by.get_attribute("aria-sort") == "descending"


def test_it_speaks_english_and_japanese_and_is_light_or_dark(browser: Any, report: Path) -> None:
    opened(browser, report)
    choose(browser, "language-ja")
    assert "大会レポート" in browser.find_element("css selector", "h1").text
    assert browser.execute_script("return document.documentElement.lang") == "ja"
    choose(browser, "language-en")
    assert "Tournament report" in browser.find_element("css selector", "h1").text
    choose(browser, "theme-dark")
    dark = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    choose(browser, "theme-light")
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") != dark
    assert browser.execute_script("return document.querySelectorAll('#heatmap-chart svg path').length") > 5


def test_a_team_shows_every_measure_and_what_limits_it(browser: Any, report: Path) -> None:
    opened(browser, report)
    choose(browser, "language-en")
    browser.execute_script("location.hash = 'team-02'")
    time.sleep(0.2)
    text = browser.find_element("css selector", "#team-02 .inside").text
    results = json.loads((report.parent / "results.json").read_bytes())
    for measured in results["rounds"][0]["releases"]["02"]["measurements"]:
        assert measured["name"] in text
    assert "95% interval" in text
    assert "Attacked by" in text
    browser.execute_script("document.getElementById('team-05').open = true")
    assert "refused" in browser.find_element("css selector", "#team-05").text


def test_other_measures_can_be_put_on_the_axes(browser: Any, report: Path) -> None:
    opened(browser, report)
    browser.execute_script(
        "const s = document.querySelector('select[data-choice=measure]'); s.value = 'vcm'; s.dispatchEvent(new Event('change'))"
    )
    shown = browser.execute_script("return document.querySelector('#scatter-chart').textContent")
    assert "vcm" in shown
    assert "threshold 0.4" in shown
    assert "sweep of noise" in shown


def test_results_can_be_saved_as_csv_and_json(browser: Any, report: Path) -> None:
    opened(browser, report)
    for kind, name in (("csv", "results.csv"), ("json", "results.json")):
        browser.find_element("id", f"download-{kind}").click()
        saved = browser.downloads / f"amic2020-results.{kind}"
        end = time.monotonic() + 10
        while not saved.exists() and time.monotonic() < end:
            time.sleep(0.05)
        written = (report.parent / name).read_text()
        if kind == "json":
            assert json.loads(saved.read_text()) == json.loads(written)
        else:
            assert saved.read_text() == written
