"""Reports of a tournament, and texts of players that want to be code."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from tests.catalogue import entries

from kakurenbo import arena, reports
from kakurenbo.arena.runner import Settings
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import LANGUAGES
from kakurenbo.methods.registry import load
from kakurenbo.reports import html_report, results_csv

HOSTILE = '</script><script>alert(1)</script>|<img src=x onerror=alert(2)>"\u2028=cmd'
FOLDER = Path(reports.__file__).parent


@pytest.fixture
def played(plugins: Path, here: arena.Workers, tmp_path: Path) -> arena.Tournament:
    """A tournament whose players have names of the worst kind, one of whose attacks fails, and that has a sweep."""
    assert plugins.is_dir()
    teams = tmp_path / "teams.toml"
    players = [
        f'name = {json.dumps(HOSTILE)}\nanonymizer = "blur:reach=1"\nattack = "nearest"',
        'name = "=SUM(A1)"\nanonymizer = "leave-out"\nattack = "broken"',
        'name = "sweep"\nanonymizer = { method = "blur", reach = [2, 4, 8] }\nattack = "blind"',
    ]
    teams.write_text("\n".join(f"[[players]]\n{player}" for player in players))
    entrants = arena.read_teams_file(teams).entrants
    plan = arena.make_plan(load("rulebooks", "hide-and-seek")(size=20), entrants, 3, repeats=2)
    return arena.play_tournament(plan, tmp_path / "run", here, Settings())


def test_no_text_of_a_player_can_become_markup_or_script(played: arena.Tournament) -> None:
    page = html_report(played.document, played.times)
    assert "alert(1)</script>" not in page
    assert "<img src=x" not in page
    data = re.search(r'id="results">(.*?)</script>', page, re.S)
    assert data is not None
    assert json.loads(data.group(1))["players"][0]["name"] == HOSTILE[:60]
    assert page.count("<script") == page.count("</script>") == 4, "two of data, two of our own"
    assert "default-src 'none'" in page


def test_the_page_asks_the_network_for_nothing(played: arena.Tournament) -> None:
    page = html_report(played.document, played.times)
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page
    assert not re.search(r"<(?:script|img|iframe)[^>]+src=|<link[^>]+href=\"(?!data:,)", page)


def test_the_page_shows_figures_causes_and_the_seed(played: arena.Tournament) -> None:
    page = html_report(played.document, played.times)
    assert "Blind guessing gets 50.0 %" in page
    assert "IndexError" in page
    assert str(played.document.manifest["plan"]["seed"]) in page


def test_the_csv_has_a_line_per_pair_and_no_formulas(played: arena.Tournament) -> None:
    rows = list(csv.DictReader(io.StringIO(results_csv(played.document))))
    repeats = played.document.rounds[0].repeats
    assert len(rows) == sum(len(results.targets) * len(results.attackers) for results in repeats)
    credited = [row for row in rows if row["hits"]]
    assert len(credited) == sum(len(row) for results in repeats for row in results.credits.values())
    assert {row["chance_accuracy"] for row in credited} == {"0.5"}
    assert all(row["sample_attack_accuracy"] for row in credited), (
        "every attack stands beside the sample attack"
    )
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


def test_report_makes_the_page_again_and_refuses_what_no_run_wrote(
    played: arena.Tournament, tmp_path: Path
) -> None:
    page = (played.path / "report.html").read_bytes()
    (played.path / "report.html").unlink()
    again = arena.Tournament.read(played.path)
    assert again.document == played.document
    assert again.write_report() == played.path / "report.html"
    assert (played.path / "report.html").read_bytes() == page
    with pytest.raises(UsageError, match="no such file or folder"):
        arena.Tournament.read(tmp_path / "absent")
    damaged = {**played.document.as_builtins(), "players": 3}
    (played.path / "results.json").write_text(json.dumps(damaged))
    with pytest.raises(
        UsageError,
        match=r"not a results file that score or run wrote \(Expected `array`, got `int`",
    ):
        arena.Tournament.read(played.path)
    (played.path / "results.json").unlink()
    with pytest.raises(UsageError, match="has not ended"):
        arena.Tournament.read(played.path)


def test_the_page_has_all_its_texts_in_english_and_japanese() -> None:
    page = (FOLDER / "templates" / "report.html").read_text()
    used = set(re.findall(r'\bt\("(\w+)"[,)]', page))
    assert len(used) > 40
    for language in LANGUAGES:
        assert {f"report.{key}" for key in used} <= entries(language).keys()
