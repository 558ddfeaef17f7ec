"""Charts as SVG: every release and attack once, frontier and thresholds, words of two languages, light and dark."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.reports.synthetic import HOSTILE, synthetic_document

from kakurenbo.cli import main
from kakurenbo.contest import Chance
from kakurenbo.core.messages import LANGUAGES
from kakurenbo.reports import figures
from kakurenbo.reports.charts import scatter, utility_chart
from kakurenbo.reports.document import (
    Document,
    Estimate,
    MeasureEntry,
    ReleaseEntry,
    RoundEntry,
    RulebookEntry,
)
from kakurenbo.reports.drawing import NARROW, WIDE, placed_labels, text_width
from kakurenbo.reports.view import View, axes_of

DRAWN = {"svg", "title", "style", "rect", "text", "g", "line", "path", "circle"}
SVG = "{http://www.w3.org/2000/svg}"


def classes(drawn: ET.Element, name: str) -> list[ET.Element]:
    """Return the elements of a class."""
    return [one for one in drawn.iter() if name in (one.get("class") or "").split()]


def drawn(document: Document, language: str = "en") -> dict[str, ET.Element]:
    return {name: ET.fromstring(text) for name, text in figures(document, language).items()}


@pytest.mark.parametrize("size", [(1, 1), (2, 5), (13, 20), (60, 60)])
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_charts_show_every_release_and_every_attack_once(
    size: tuple[int, int], language: str
) -> None:
    document = synthetic_document(*size)
    charts = drawn(document, language)
    assert len(classes(charts["heatmap.svg"], "found")) == document.attack_count
    points = classes(charts["scatter.svg"], "point")
    assert len(points) == size[0]
    titles = {point.findtext(f"{SVG}title", "").split()[0] for point in points}
    assert titles == set(document.rounds[0].releases)


def test_a_point_below_a_threshold_is_a_triangle_and_the_legend_names_it() -> None:
    document = synthetic_document(7, 7)
    chart = drawn(document)["scatter.svg"]
    below = [one for one in document.rounds[0].releases.values() if one.is_below_threshold]
    assert below
    assert len([one for one in classes(chart, "bad") if "point" in one.get("class", "")]) == len(
        below
    )
    legend = [one.text for one in chart.iter(f"{SVG}text")]
    assert {"passes", "below threshold"} <= set(legend)
    assert "disqualified" not in legend
    assert {f"{one.team} {one.name}" for one in document.players} <= {
        title.text for title in chart.iter(f"{SVG}title")
    }, "the legend names every number"


def of_errors(document: Document) -> Document:
    """Return the document with max_error as its only measure, which puts several releases on the frontier."""
    (entry,) = document.rounds
    measures = tuple(measure for measure in entry.measures if measure.name == "max_error")
    return replace(document, rounds=(replace(entry, measures=measures),))


def test_the_frontier_and_the_sweeps_are_drawn_and_named() -> None:
    document = of_errors(synthetic_document(13, 20))
    chart = drawn(document)["scatter.svg"]
    frontier, _ = classes(chart, "frontier")
    _, kind = axes_of(document)["main"]
    steps = len(document.rounds[0].frontiers["max_error"][kind]) - 1
    assert steps > 2
    assert frontier.get("d", "").count("V") == steps
    sweep, _ = classes(chart, "sweep")
    assert sweep.get("d", "").count("L") == 1, "players 04 and 09 of 13 are of one sweep"
    legend = {one.text for one in chart.iter(f"{SVG}text")}
    assert {"frontier", "sweep of noise"} <= legend


def test_thresholds_and_blind_guessing_are_drawn_and_named() -> None:
    chart = drawn(synthetic_document(13, 20))["scatter.svg"]
    assert len(classes(chart, "mark-line")) == 2
    assert [one.text for one in classes(chart, "mark-name")] == [
        "blind guessing",
        "threshold 0.600",
    ]


def test_on_a_phone_the_chart_is_narrow_and_shows_the_same_points() -> None:
    document = synthetic_document(13, 20, 3)
    view = View(document, document.rounds[0], "en")
    for width in (NARROW, WIDE):
        chart = ET.fromstring(scatter(view, width).inline("chart"))
        assert float(chart.get("width", 0)) == width
        assert len(classes(chart, "point")) == 13
        assert len(classes(chart, "whisker")) == 26
        for text in chart.iter("text"):
            start = float(text.get("x", 0))
            room = text_width(text.text or "", 11)
            left = {"middle": start - room / 2, "end": start - room}.get(
                text.get("text-anchor", ""), start
            )
            assert left >= -8
            assert text.get("class") is None or left + room <= width + 16, text.text


def test_the_same_document_gives_the_same_bytes() -> None:
    assert figures(synthetic_document(13, 20, 2)) == figures(synthetic_document(13, 20, 2))


def test_without_measures_there_is_no_scatter_plot() -> None:
    document = synthetic_document(3, 3)
    bare = replace(document, rounds=(replace(document.rounds[0], measures=()),))
    assert list(figures(bare)) == ["heatmap.svg"]


def test_names_of_players_stay_texts_in_pictures() -> None:
    for text in figures(synthetic_document(4, 4, 1, HOSTILE)).values():
        whole = ET.fromstring(text)
        assert {one.tag.removeprefix(SVG) for one in whole.iter()} <= DRAWN
        assert not any(name.startswith("on") for one in whole.iter() for name in one.attrib)
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_pictures_are_in_the_language_of_whoever_makes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", "ja")
    assert all(
        "匿名加工データ" in text or "有用性" in text
        for text in figures(synthetic_document(3, 3)).values()
    )


def test_a_picture_is_light_or_dark_as_the_screen_is_and_knows_its_colours() -> None:
    for text in figures(synthetic_document(3, 3)).values():
        assert "prefers-color-scheme: dark" in text
        assert "var(" not in text, "programs that draw SVG know no variables"
    assert "prefers-color-scheme: dark" in utility_chart([(50.0, 60.0), (55.0, 61.0)], "utility")


@pytest.mark.parametrize("sweeps", [2, 12])
def test_pictures_are_no_wider_than_900_pixels_and_hold_all_they_draw(sweeps: int) -> None:
    document = synthetic_document(13, 20, 2)
    names = [f"a sweep with a rather long name {at % sweeps}" for at in range(20)]
    players = tuple(
        replace(one, sweep=name) for one, name in zip(document.players, names, strict=True)
    )
    for name, whole in drawn(replace(document, players=players)).items():
        width, height = float(whole.get("width", 0)), float(whole.get("height", 0))
        assert width <= 900, name
        (group,) = (one for one in whole if one.tag == f"{SVG}g")
        top = float(re.findall(r"[\d.]+", group.get("transform", ""))[1])
        for text in group.findall(f"{SVG}text"):
            assert top + float(text.get("y", 0)) <= height, text.text


def test_where_there_are_repeats_charts_show_intervals_and_say_what_they_are() -> None:
    repeated, single = figures(synthetic_document(5, 5, 3)), figures(synthetic_document(5, 5))
    assert 'class="whisker"' in repeated["scatter.svg"]
    assert "Whiskers: 95 % intervals of the means of 3 repeats." in repeated["scatter.svg"]
    assert 'class="tiny' in repeated["heatmap.svg"]
    assert "Means of 3 repeats" in repeated["heatmap.svg"]
    assert not any(
        "whisker" in text.split("</style>")[1] or 'class="tiny' in text for text in single.values()
    )


@pytest.mark.parametrize(
    ("language", "said"), [("en", "Dark: few found"), ("ja", "暗いほど見破られた数が少なく")]
)
def test_the_heat_map_does_not_call_dark_safe_but_points_to_chance(
    language: str, said: str
) -> None:
    document = synthetic_document(3, 3)
    text = figures(document, language)["heatmap.svg"]
    assert said in text
    chance = document.rounds[0].chance
    assert chance is not None
    assert text.count(f"{100 * chance.mean:.1f} %") >= 1
    assert "safe" not in text


def test_the_scale_of_the_heat_map_ends_at_all_of_them() -> None:
    document = synthetic_document(2, 2)
    (one,) = document.rounds
    guessed = replace(document, rounds=(replace(one, chance=Chance(0.5, 0.4, 0.6)),))
    assert "150.0 %" not in figures(guessed)["heatmap.svg"]
    assert ">100.0 %<" in figures(guessed)["heatmap.svg"]


def test_no_number_covers_another_or_a_point() -> None:
    points = [
        (100 + 9.0 * (place % 4), 100 + 9.0 * (place // 4), f"{place:02d}") for place in range(12)
    ]
    rooms = []
    for (_, _, text), place in zip(points, placed_labels(points, (0, 0, 400, 400)), strict=True):
        if place is not None:
            width = text_width(text, 11)
            left = {"start": 0.0, "middle": width / 2, "end": width}[place.anchor]
            rooms.append((place.x - left, place.y - 9, place.x - left + width, place.y + 1))
    assert len(rooms) >= 10
    points_too = [*rooms, *((x - 4, y - 4, x + 4, y + 4) for x, y, _ in points)]
    for at, (left, top, right, bottom) in enumerate(rooms):
        for other in points_too[at + 1 :]:
            assert right <= other[0] or left >= other[2] or bottom <= other[1] or top >= other[3]


def test_report_writes_its_charts_into_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    document: Document = synthetic_document(3, 4)
    (run / "results.json").write_bytes(document.as_bytes())
    (run / "timings.json").write_text("{}")
    with pytest.raises(SystemExit) as ended:
        main(["report", str(run), "--figures", str(tmp_path / "pictures"), "--json"])
    assert ended.value.code == 0
    written = json.loads(capsys.readouterr().out)["figures"]
    assert [Path(path).name for path in written] == ["heatmap.svg", "scatter.svg"]
    assert {Path(path).name: Path(path).read_text() for path in written} == figures(document)
    assert (run / "report.html").exists()


# -- axes ------------------------------------------------------------------------------------------


def entry(*measures: MeasureEntry, name: str = "main") -> RoundEntry:
    """Four releases: a is the same for all, b tells two pairs apart, c all; so does the mean of attacks, the best finds all."""
    releases = {}
    for place in range(4):
        estimates = {"a": Estimate(1), "b": Estimate(place // 2), "c": Estimate(place)}
        privacy = {"worst": Estimate(0.0), "mean": Estimate(float(place % 2))}
        releases[f"0{place}"] = ReleaseEntry(
            f"0{place}", f"0{place}", "published", estimates=estimates, privacy=privacy
        )
    return RoundEntry(name, releases=releases, measures=measures)


def axes(*rounds: RoundEntry, utility_score: str = "") -> dict[str, tuple[str, str]]:
    document = Document(RulebookEntry("toy", "a toy", utility_score=utility_score), rounds)
    return {name: (measure.name, kind) for name, (measure, kind) in axes_of(document).items()}


def test_the_scatter_plot_has_the_pair_of_axes_that_sets_most_releases_apart() -> None:
    assert axes(entry(MeasureEntry("a"), MeasureEntry("b"))) == {"main": ("b", "mean")}


def test_a_measure_that_decides_comes_before_one_that_only_differs_and_the_score_before_all() -> (
    None
):
    decisive = entry(MeasureEntry("a", minimum=0.5), MeasureEntry("b"))
    assert axes(decisive) == {"main": ("a", "mean")}
    assert axes(decisive, utility_score="b") == {"main": ("b", "mean")}


def test_a_threshold_far_from_all_releases_makes_a_measure_tell_less() -> None:
    # Of an axis from 0 to 100 the values 0 to 3 fill one field.
    far = entry(MeasureEntry("c", minimum=100), MeasureEntry("b", minimum=0.1))
    assert axes(far) == {"main": ("b", "mean")}


def test_all_rounds_of_a_document_tell_privacy_in_one_way() -> None:
    # Alone the second round would be told by the best attack; the first tells releases apart only by the mean of all.
    first, second = entry(MeasureEntry("c")), entry(MeasureEntry("c"), name="second")
    releases = {
        name: replace(one, privacy={"worst": one.estimates["c"], "mean": Estimate(0.5)})
        for name, one in list(second.releases.items())[:2]
    }
    flat = {
        name: replace(one, estimates={"c": Estimate(1)}) for name, one in first.releases.items()
    }
    rounds = (replace(first, releases=flat), replace(second, releases=releases))
    assert [axes(one)[one.name][1] for one in rounds] == ["mean", "worst"]
    assert len({kind for _, kind in axes(*rounds).values()}) == 1
