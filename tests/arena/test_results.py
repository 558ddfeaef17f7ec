"""Figures over repeats, the reports made of them, and texts of players that want to be code."""

from __future__ import annotations

import csv
import io
import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from kakurenbo.arena.report import html_report, markdown_report, results_csv

from kakurenbo import arena
from kakurenbo.arena.results import Estimate, combined
from kakurenbo.arena.running import Settings
from kakurenbo.contracts import Standing, Standings, rank
from kakurenbo.errors import UsageError
from kakurenbo.registry import load

HOSTILE = '</script><script>alert(1)</script>|<img src=x onerror=alert(2)>"\u2028=cmd'


def standings(**scores: Fraction | None) -> Standings:
    return Standings(rank(scores), (), ())


def test_an_interval_is_students_t_around_the_mean() -> None:
    # Three values 1, 2, 3: mean 2, standard deviation 1, t(0.975, 2) = 4.3027, so 2 +- 4.3027 / sqrt(3).
    estimate = Estimate.of([1.0, 2.0, 3.0])
    assert estimate.mean == 2
    assert estimate.interval == pytest.approx([2 - 2.4841, 2 + 2.4841], abs=1e-4)
    assert Estimate.of([1.0]).interval == []


def test_a_single_repeat_keeps_the_rulebooks_own_standings() -> None:
    only = standings(a=Fraction(1, 3), b=None)
    assert combined([only]) == only.as_json()


def test_repeats_are_ranked_by_their_mean_and_a_team_without_a_score_in_one_comes_last() -> None:
    lines = combined([standings(a=Fraction(1), b=Fraction(0), c=Fraction(9)), standings(a=Fraction(0), b=Fraction(1), c=None)])[
        "anonymization"
    ]
    assert [(line["team"], line["rank"], line["score"]) for line in lines] == [("a", 1, 0.5), ("b", 1, 0.5), ("c", 3, None)]


def test_where_low_scores_win_the_lowest_mean_is_first() -> None:
    low_first = (Standing("a", Fraction(1), 1), Standing("b", Fraction(2), 2))
    lines = combined([Standings(low_first, (), ()), Standings(low_first, (), ())])["anonymization"]
    assert [line["team"] for line in lines] == ["a", "b"]


@pytest.fixture
def held(plugins: Path, tmp_path: Path) -> arena.Tournament:
    """A tournament whose players have names of the worst kind, one of whose attacks fails, and that has a sweep."""
    assert plugins.is_dir()
    teams = tmp_path / "teams.toml"
    players = [
        f'name = {json.dumps(HOSTILE)}\nanonymizer = "blur:reach=1"\nattack = "link"',
        'name = "=SUM(A1)"\nanonymizer = "leave-out"\nattack = "broken"',
        'name = "sweep"\nanonymizer = { method = "blur", reach = [2, 4, 8] }\nattack = "link-blindly"',
    ]
    teams.write_text("\n".join(f"[[players]]\n{player}" for player in players))
    plan = arena.make_plan(load("rulebooks", "hide-and-seek")(size=20), arena.read_field(teams).entrants, 3, repeats=2)
    return arena.hold(plan, tmp_path / "run", arena.serial(), Settings())


def test_no_text_of_a_player_can_become_markup_or_script(held: arena.Tournament) -> None:
    page = html_report(held.results, held.times)
    assert "alert(1)</script>" not in page
    assert "<img src=x" not in page
    data = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert data is not None
    assert json.loads(data.group(1))["results"]["players"][0]["name"] == HOSTILE[:60]
    assert page.count("<script") == 2 + 5
    assert "default-src 'none'" in page.replace("&#x27;", "'")


def test_the_page_asks_the_network_for_nothing(held: arena.Tournament) -> None:
    library = (Path(arena.__file__).parent / "report" / "assets" / "vendor" / "echarts.min.js").read_text()
    page = html_report(held.results, held.times).replace(library, "")
    assert not re.search(r"<(?:script|img|iframe)[^>]+src=|<link[^>]+href=\"(?!data:,)", page)


def test_markdown_shows_the_same_figures_and_no_markup_of_players(held: arena.Tournament) -> None:
    text = markdown_report(held.results, held.times)
    assert "<script>" not in text
    assert "<img" not in text
    assert "## Anonymization" in text
    assert "Blind guessing gets 5 %" in text
    assert "IndexError" in text
    assert f"| seed | {held.results['manifest']['plan']['seed']} |" in text


def test_the_csv_has_a_line_per_attack_and_no_formulas(held: arena.Tournament) -> None:
    rows = list(csv.DictReader(io.StringIO(results_csv(held.results))))
    played = sum(len(row) for one in held.results["rounds"][0]["repeats"] for row in one["credits"].values())
    assert len(rows) == played
    assert {row["chance_accuracy"] for row in rows} == {"0.05"}
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())


def test_every_attack_stands_beside_chance_and_the_sample_attack(held: arena.Tournament) -> None:
    rows = list(csv.DictReader(io.StringIO(results_csv(held.results))))
    assert all(row["sample_attack_accuracy"] for row in rows)


def test_report_makes_the_page_again_and_refuses_what_no_run_wrote(held: arena.Tournament, tmp_path: Path) -> None:
    page = (held.path / "report.html").read_bytes()
    (held.path / "report.html").unlink()
    again = arena.Tournament.read(held.path)
    assert again.write_report() == held.path / "report.html"
    assert (held.path / "report.html").read_bytes() == page
    with pytest.raises(UsageError, match="no such folder"):
        arena.Tournament.read(tmp_path / "absent")
    damaged: dict[str, Any] = {**held.results, "players": 3}
    (held.path / "results.json").write_text(json.dumps(damaged))
    with pytest.raises(UsageError, match="does not hold what run writes"):
        arena.Tournament.read(held.path).write_report()
    (held.path / "results.json").unlink()
    with pytest.raises(UsageError, match="has not ended"):
        arena.Tournament.read(held.path)


def test_english_and_japanese_have_the_same_texts() -> None:
    assets = Path(arena.__file__).parent / "report" / "assets"
    texts = json.loads((assets / "texts.json").read_text())
    assert texts["en"].keys() == texts["ja"].keys()
    script = "".join((assets / name).read_text() for name in ("page.js", "charts.js", "sections.js", "main.js"))
    used = set(re.findall(r'\bt\("(\w+)"[,)]', script))
    assert used <= texts["en"].keys()
