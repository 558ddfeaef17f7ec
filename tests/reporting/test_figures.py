"""The charts as pictures without a browser, and the page's own choices: axes, scores as texts."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from tests.reporting.synthetic import HOSTILE, synthetic_document

from kakurenbo.cli import main
from kakurenbo.contracts import Chance
from kakurenbo.messages import speaking
from kakurenbo.reporting import figures
from kakurenbo.reporting.document import Document, Estimate, MeasureEntry, PlayerEntry, ReleaseEntry, RoundEntry, RulebookEntry
from kakurenbo.reporting.drawing import Box, clipped, crosses, overlap, placed_labels, ramp, text_width, ticks
from kakurenbo.reporting.layout import axes_of, leading_axes, score_texts
from kakurenbo.reporting.shown import Shown

DRAWN = {"svg", "title", "style", "rect", "text", "g", "line", "path", "circle"}
SVG = "{http://www.w3.org/2000/svg}"


def entry(*measures: MeasureEntry) -> RoundEntry:
    """Four releases: a is the same for all, b tells two pairs apart, c all; so does the mean of attacks, the best finds all."""
    releases = {}
    for place in range(4):
        estimates = {"a": Estimate(1), "b": Estimate(place // 2), "c": Estimate(place)}
        privacy = {"worst": Estimate(0.0), "mean": Estimate(float(place % 2))}
        releases[f"0{place}"] = ReleaseEntry(f"0{place}", f"0{place}", "published", estimates=estimates, privacy=privacy)
    return RoundEntry("main", releases=releases, measures=measures)


def test_the_scatter_plot_opens_on_the_pair_of_axes_that_sets_most_releases_apart() -> None:
    assert leading_axes(entry(MeasureEntry("a"), MeasureEntry("b")), "") == ("b", "mean")


def test_a_measure_that_decides_comes_before_one_that_only_differs_and_the_score_before_all() -> None:
    decisive = entry(MeasureEntry("a", minimum=0.5), MeasureEntry("b"))
    assert leading_axes(decisive, "") == ("a", "mean")
    assert leading_axes(decisive, "b") == ("b", "mean")


def test_a_threshold_far_from_all_releases_makes_a_measure_tell_less() -> None:
    # Of an axis from 0 to 100 the values 0 to 3 fill one field.
    assert leading_axes(entry(MeasureEntry("c", minimum=100), MeasureEntry("b", minimum=0.1)), "") == ("b", "mean")


def test_without_measures_there_are_no_axes_and_no_scatter_plot() -> None:
    assert leading_axes(RoundEntry("main"), "") == ("", "")
    document = synthetic_document(3, 3)
    bare = replace(document, rounds=(replace(document.rounds[0], measures=()),))
    assert list(figures(bare)) == ["heatmap.svg"]


def test_scores_are_texts_with_their_intervals() -> None:
    document = synthetic_document(3, 3, 3)
    line = document.rankings["anonymization"].lines[0]
    assert line.half is not None
    assert "±" in scores(document)[0]
    assert "±" not in scores(synthetic_document(3, 3))[0]


def scores(document: Document) -> list[str]:
    return score_texts(document.rankings["anonymization"].lines, document.figure("anonymization"), "en")


def test_the_same_document_gives_the_same_bytes() -> None:
    assert figures(synthetic_document(13, 20, 2)) == figures(synthetic_document(13, 20, 2))


@pytest.mark.parametrize("size", [(1, 1), (2, 5), (13, 20), (60, 60)])
def test_every_attack_and_every_release_is_in_the_pictures(size: tuple[int, int]) -> None:
    document = synthetic_document(*size)
    drawn = {name: ET.fromstring(text) for name, text in figures(document).items()}
    cells = [one for one in drawn["heatmap.svg"].iter(SVG + "g") if one.get("class") == "found"]
    assert len(cells) == document.attack_count
    points = [one for one in drawn["scatter.svg"].iter() if (one.get("class") or "").startswith("point ")]
    assert len(points) == size[0]


def test_names_of_players_stay_texts_in_pictures() -> None:
    for text in figures(synthetic_document(4, 4, 1, HOSTILE)).values():
        whole = ET.fromstring(text)
        assert {one.tag.removeprefix(SVG) for one in whole.iter()} <= DRAWN
        assert not any(name.startswith("on") for one in whole.iter() for name in one.attrib)
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_pictures_are_in_the_language_of_whoever_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", "ja")
    assert all("匿名加工データ" in text or "有用性" in text for text in figures(synthetic_document(3, 3)).values())


def test_a_picture_is_light_or_dark_as_the_screen_is_and_knows_its_colours() -> None:
    text = figures(synthetic_document(3, 3))["heatmap.svg"]
    assert "prefers-color-scheme: dark" in text
    assert "var(" not in text, "programs that draw SVG know no variables"


def test_no_label_covers_another_or_a_point() -> None:
    points = [(100 + 9.0 * (place % 8), 100 + 9.0 * (place // 8), f"{place:02d}") for place in range(40)]
    places = placed_labels(points, (0, 0, 400, 400), [])
    rooms: list[Box] = []
    for (_, _, text), place in zip(points, places, strict=True):
        assert place is not None
        width = text_width(text, 11)
        left = {"start": place.x, "middle": place.x - width / 2, "end": place.x - width}[place.anchor]
        rooms.append((left, place.y - 10, left + width, place.y + 2))
    assert not any(overlap(one, other) for at, one in enumerate(rooms) for other in rooms[at + 1 :])
    assert not any(overlap(room, (x - 4, y - 4, x + 4, y + 4)) for room in rooms for x, y, _ in points)


def test_a_wide_letter_takes_more_room_and_a_long_name_is_shortened() -> None:
    assert text_width("匿名") > text_width("ab")
    assert clipped("東京匿名加工研究会", 60) == "東京匿…会"
    assert [tick.text for tick in ticks(0.936, 0.991, 6)] == ["0.94", "0.95", "0.96", "0.97", "0.98", "0.99"]
    assert (ramp(0), ramp(1), ramp(7)) == ("#00224e", "#fee838", "#fee838")


def player(team: str, name: str, sweep: str = "") -> PlayerEntry:
    return PlayerEntry(team, name, "rr", sweep=sweep)


def test_of_teams_of_one_sweep_a_short_label_says_what_differs_and_the_tooltip_says_all() -> None:
    document = synthetic_document(3, 3)
    names = ("keep with probability p=0.9", "keep with probability p=0.97", "東京匿名加工研究会・第二部会")
    sweeps = ("keep with probability", "keep with probability", "")
    players = tuple(player(f"0{at + 1}", name, sweep) for at, (name, sweep) in enumerate(zip(names, sweeps, strict=True)))
    shown = Shown(replace(document, players=players), document.rounds[0], "en")
    assert [shown.fitted_label(team, 100, 11) for team in ("01", "02")] == ["01 p=0.9", "02 p=0.97"]
    assert shown.fitted_label("03", 100, 11) == "03 東京匿名…部会", "shortened in the middle"
    assert shown.fitted_label("01", 400) == "01 keep with probability p=0.9"
    for text in figures(replace(document, players=players)).values():
        assert "01 keep with probability p=0.9</title>" in text


def test_lines_run_through_no_label_that_has_another_place() -> None:
    points = [(100.0, 100.0, "one"), (200.0, 100.0, "other")]
    lines: list[Box] = [(100, 100, 200, 100), (0, 120, 300, 80), (200, 0, 200, 300)]
    for (_, _, text), place in zip(points, placed_labels(points, (0, 0, 300, 300), [], lines), strict=True):
        assert place is not None
        width = text_width(text, 11)
        left = {"start": place.x, "middle": place.x - width / 2, "end": place.x - width}[place.anchor]
        room = (left, place.y - 10, left + width, place.y + 2)
        assert not any(crosses(line, room) for line in lines)


@pytest.mark.parametrize("sweeps", [2, 12])
def test_pictures_are_no_wider_than_900_pixels_and_their_legends_stay_inside(sweeps: int) -> None:
    document = synthetic_document(13, 20, 2)
    names = [f"a sweep with a rather long name {at % sweeps}" for at in range(20)]
    players = tuple(replace(one, sweep=name) for one, name in zip(document.players, names, strict=True))
    for name, text in figures(replace(document, players=players)).items():
        whole = ET.fromstring(text)
        width, height = float(whole.get("width", 0)), float(whole.get("height", 0))
        assert width <= 900, name
        for group in whole.iter(SVG + "g"):
            label = group.find(SVG + "text")
            if (group.get("transform") or "").startswith("translate") and label is not None and label.get("x") == "24":
                x, y = map(float, group.get("transform", "")[10:-1].split(","))
                assert 16 + x + 24 + text_width(label.text or "", 11) <= width
                assert 42 + 2 * 16 + y + 11 <= height


def test_where_there_are_repeats_charts_show_intervals_and_say_what_they_are() -> None:
    repeated, single = figures(synthetic_document(5, 5, 3)), figures(synthetic_document(5, 5))
    assert 'class="whisker"' in repeated["scatter.svg"]
    assert "Whiskers: 95 % intervals of the means of 3 repeats." in repeated["scatter.svg"]
    assert 'class="tiny' in repeated["heatmap.svg"]
    assert "Means of 3 repeats" in repeated["heatmap.svg"]
    assert not any("whisker" in text.split("</style>")[1] or 'class="tiny' in text for text in single.values())


def test_report_writes_its_charts_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


@pytest.mark.parametrize(("language", "said"), [("en", "Dark: few found"), ("ja", "暗いほど見破られた数が少なく")])
def test_the_heat_map_does_not_call_dark_safe_but_points_to_chance(
    language: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", language)
    document = synthetic_document(3, 3)
    drawn = figures(document)["heatmap.svg"]
    assert said in drawn
    chance = document.rounds[0].chance
    assert chance is not None
    assert drawn.count(f"{100 * chance.mean:.1f} %") >= 1
    assert "safe" not in drawn


def test_all_rounds_of_a_document_tell_privacy_in_one_way() -> None:
    # Alone the second round would be told by the best attack; the first tells releases apart only by the mean of all.
    measures = (MeasureEntry("c"),)
    both = (entry(*measures), entry(*measures))
    alike = {
        name: replace(one, privacy={"worst": one.estimates["c"], "mean": Estimate(0.5)})
        for name, one in both[1].releases.items()
    }
    apart = replace(both[1], name="second", releases={name: alike[name] for name in ("00", "01")})
    flat = replace(
        both[0], releases={name: replace(one, estimates={"c": Estimate(1)}) for name, one in both[0].releases.items()}
    )
    document = Document(RulebookEntry("toy", "a toy"), (flat, apart))
    assert [leading_axes(one, "")[1] for one in document.rounds] == ["mean", "worst"]
    assert len({kind for _, kind in axes_of(document)}) == 1


def test_the_scale_of_the_heat_map_ends_at_all_of_them() -> None:
    document = synthetic_document(2, 2)
    (one,) = document.rounds
    guessed = replace(document, rounds=(replace(one, chance=Chance(0.5, 0.4, 0.6)),))
    assert "150.0 %" not in figures(guessed)["heatmap.svg"]
    assert ">100.0 %<" in figures(guessed)["heatmap.svg"]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_notes_of_a_narrow_picture_stand_in_several_lines_and_none_is_cut(language: str) -> None:
    document = synthetic_document(2, 2)
    with speaking(language):
        drawn = ET.fromstring(figures(document)["heatmap.svg"])
    notes = [text.text or "" for text in drawn.findall(f"{SVG}text[@class='dim small']")]
    shown = Shown(document, document.rounds[0], language)
    whole = "".join([shown.text("heat_axes"), shown.text("heat_ramp"), shown.text("heat_blind", chance="10.0 %")])
    assert "".join(notes).replace(" ", "") == whole.replace(" ", "")
