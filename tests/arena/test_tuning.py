"""``tune``: ranges of parameters, rehearsals on data of one's own, and a search whose result is measured on fresh draws."""

from __future__ import annotations

import json
import math
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.calling import call

from kakurenbo import arena
from kakurenbo.arena import Search, read_space, tuning
from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.ranges import Numbers, Words
from kakurenbo.arena.rehearsing import (
    Draw,
    Trial,
    Tried,
    contest_points,
    fewer_points_win,
    prepare_draw,
    rehearse,
)
from kakurenbo.cli import main
from kakurenbo.contest import AnyRulebook, Credit
from kakurenbo.core import write_folder
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.methods import registry

TWO_STEPS = "kanony:k=2..9|rrp:p=0.5..0.9,columns=age"
CONTESTS = ("amic2020", "darc2019", "pwscup2021", "pwscup2024")


def game() -> AnyRulebook:
    """The example contest: ages and heights may move by 4 on average, so that the most that passes is a reach of 7 or 8."""
    rules: AnyRulebook = registry.load("rulebooks", "hide-and-seek")()
    return rules


# -- ranges --------------------------------------------------------------------------------------------------------------


def test_a_range_of_numbers_is_searched_evenly_and_a_wide_one_by_its_logarithm() -> None:
    assert [Numbers(0.2, 0.6, whole=False).text_at(place) for place in (0, 0.5, 1)] == [
        "0.2",
        "0.4",
        "0.6",
    ]
    assert Numbers(0.99, 0.999, whole=False).text_at(0.5) == "0.9945", (
        "a narrow range is told as finely"
    )
    assert [Numbers(0.01, 100, whole=False).text_at(place) for place in (0, 0.25, 0.5, 1)] == [
        "0.01",
        "0.1",
        "1",
        "100",
    ]


def test_whole_numbers_are_all_as_likely() -> None:
    texts = [Numbers(1, 3, whole=True).text_at(place) for place in np.linspace(0.001, 0.999, 300)]
    assert [texts.count(number) for number in "123"] == [100, 100, 100]


def test_values_to_choose_from_stand_between_slashes_and_may_be_lists() -> None:
    space = read_space("rrp:p=0.9,columns=age,sex/education")
    assert space.ranges == (Words(("age,sex", "education")),)
    assert [space.text((place,)) for place in (0.1, 0.9)] == [
        "rrp:p=0.9,columns=age,sex",
        "rrp:p=0.9,columns=education",
    ]


@pytest.mark.parametrize("text", [TWO_STEPS, f"pipeline:steps={TWO_STEPS.replace(',', ';')}"])
def test_steps_of_a_pipeline_are_searched_together(text: str) -> None:
    space = read_space(text)
    assert space.ranges == (Numbers(2, 9, whole=True), Numbers(0.5, 0.9, whole=False))
    told = space.text((0.0, 0.5))
    assert told == "pipeline:steps=kanony:k=2|rrp:p=0.7;columns=age"
    assert (
        registry.build("anonymizers", told).unfit(registry.load("rulebooks", "amic2020").schema)
        == ""
    )


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("rrp:p=0.9", UsageError, "leaves nothing to search"),
        ("rrp:p=0.9..0.1", UsageError, "from a lower number to a higher one"),
        ("rrp:p=0.5..2", ParameterError, "a number from 0 to 1"),
        ("rrp:p=a..b", ParameterError, "a number from 0 to 1"),
        ("rrp:p=0.1..0.2..0.3", ParameterError, "a number from 0 to 1"),
        ("rrp:columns=age..sex", ParameterError, "columns"),
        ("rrp:q=0.1..0.9", ParameterError, "q"),
        ("no_such:p=0.1..0.9", UsageError, "no anonymizer is called"),
        ("monthly_pseudonyms:period=month/decade", ParameterError, "decade"),
        ("rrp:0.1..0.9", UsageError, "write rrp:parameter=value"),
        ("", UsageError, "leaves nothing to search"),
    ],
)
def test_what_cannot_be_searched_is_told(text: str, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told.replace("(", r"\(")):
        read_space(text)


def test_points_are_spread_over_every_range_and_neighbours_stay_inside() -> None:
    space, rng = read_space("rrp:p=0.1..0.9,columns=age/sex"), np.random.default_rng(1)
    spread = space.spread(10, rng)
    assert sorted(int(place * 10) for place, _ in spread) == list(range(10)), "one in each tenth"
    near = [space.near((0.99, 0.1), rng) for _ in range(200)]
    assert all(0 <= place <= 1 for point in near for place in point)
    assert np.mean([place for place, _ in near]) > 0.8
    assert {space.text(point).rpartition("=")[2] for point in near} == {"age", "sex"}


def test_settings_that_can_be_counted_are_all_tried_where_tries_suffice() -> None:
    space = read_space("kanony:k=2..4,columns=age/sex")
    texts = {space.text(point) for point in space.spread(6, np.random.default_rng(1))}
    assert texts == {
        f"kanony:k={k},columns={column}" for k in (2, 3, 4) for column in ("age", "sex")
    }


# -- rehearsals ----------------------------------------------------------------------------------------------------------


def drawn(rules: AnyRulebook, folder: Path, number: int = 0) -> Draw:
    draw = Draw.numbered(MethodCall.of("rulebooks", rules.name, rules), 1, number, folder)
    prepare_draw(draw)
    return draw


@pytest.mark.usefixtures("plugins")
def test_a_rehearsal_tells_what_passes_what_attacks_find_and_what_the_contest_makes_of_it(
    tmp_path: Path,
) -> None:
    draw = drawn(game(), tmp_path)
    bare, far = (
        rehearse(Trial(draw, f"blur:reach={reach}", ("nearest", "blind"))) for reach in (0, 20)
    )
    assert bare.passes
    assert bare.missed_by == 0
    assert bare.credits["nearest"].hits == 10
    assert bare.rate == 1
    assert bare.points == 0
    assert not far.passes
    assert far.missed_by == pytest.approx(far.scores["moved"] / 4 - 1)
    assert far.credits == {}, "what does not pass is not worth an attack"


@pytest.mark.usefixtures("plugins")
def test_a_method_that_breaks_is_told_and_breaks_nothing_else(tmp_path: Path) -> None:
    tried = rehearse(Trial(drawn(game(), tmp_path), "leave-out", ("blind",)))
    assert not tried.passes
    assert tried.cause


def test_of_a_target_that_is_dealt_in_parts_one_attackers_part_is_attacked(tmp_path: Path) -> None:
    rules = registry.build("rulebooks", "pwscup2021:round=main,data=embedded,scale=small")
    method = "pipeline:steps=thin:columns=gen;age;race;edu;mar;bmi;dep;pir;qm|swap_near"
    tried = rehearse(Trial(drawn(rules, tmp_path), method, ("rlink",)))
    assert tried.passes, tried
    assert 0 < tried.credits["rlink"].details["topk"] <= 1


def test_points_are_those_of_the_contests_own_ranking() -> None:
    amic, darc = registry.load("rulebooks", "amic2020")(), registry.load("rulebooks", "darc2019")()
    assert contest_points(amic, {"a": Credit(20, 100), "b": Credit(30, 100)}, {}) == pytest.approx(
        0.7
    )
    assert not fewer_points_win(amic)
    baselines = {f"S{number}": 0.1 for number in range(1, 8)}
    credit = Credit(60, 100, details={"reid": 0.6})
    assert contest_points(darc, {"a": credit}, {"U": 0.2, **baselines}) == pytest.approx(0.4), (
        "(U + reid) / 2"
    )
    assert fewer_points_win(darc)


@pytest.mark.parametrize("name", CONTESTS)
def test_every_contest_can_be_rehearsed_from_a_handout(name: str, tmp_path: Path) -> None:
    cls = registry.load("rulebooks", name)
    rules = cls(**{**cls.demo_settings, **({"scale": "small"} if name == "amic2020" else {})})
    write_folder(tmp_path / "contest", rules.prepare(1, ["01"]).files())
    handout = tmp_path / "contest" / "teams" / "01"
    own = cls().in_folder(handout).for_rehearsal(handout)
    assert own.round_name == rules.round_name
    first, again = (own.draw(seed, ["01"]).handouts["01"] for seed in (1, 2))
    assert (first == again) == (name == "darc2019"), (
        "everybody has the T of darc2019, and nobody the rest"
    )


# -- the search ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plugins")
def test_the_strongest_setting_that_passes_is_found(here: arena.Workers) -> None:
    search = Search(("nearest",), tries=21, draws=4)
    tuned = arena.tune(game(), read_space("blur:reach=0..20"), search, 1, here)
    assert tuned.chosen is not None
    assert tuned.chosen.method in {f"blur:reach={reach}" for reach in (5, 6, 7)}, tuned.lines
    assert len(tuned.lines) == 21
    passing = [line for line in tuned.lines if line.passed == line.draws]
    assert list(tuned.lines[: len(passing)]) == passing, "what passes stands first"
    assert all(line.attacked == 0 for line in tuned.lines[len(passing) :])
    assert passing[0].attacked == passing[1].attacked == search.draws, (
        "the best two were attacked in every draw"
    )
    assert passing[-1].attacked == 1


@pytest.mark.usefixtures("plugins")
def test_the_same_seed_finds_the_same_by_any_number_of_processes(here: arena.Workers) -> None:
    space, search = read_space("blur:reach=0..20"), Search(("nearest", "blind"), tries=4, draws=2)
    found = [
        arena.tune(game(), space, search, 5, workers) for workers in (here, arena.processes(2))
    ]
    assert found[0] == found[1]
    assert arena.tune(game(), space, search, 6, here) != found[0]


@pytest.mark.usefixtures("plugins")
def test_where_nothing_passes_nothing_is_chosen_and_the_nearest_stands_first(
    here: arena.Workers,
) -> None:
    tuned = arena.tune(
        game(), read_space("blur:reach=20..40"), Search(("nearest",), tries=6, draws=2), 1, here
    )
    assert tuned.chosen is None
    assert [line.missed_by for line in tuned.lines] == sorted(
        line.missed_by for line in tuned.lines
    )


def faked(trials: list[Trial], value: Callable[[Trial, float], Tried]) -> Callable[[Trial], Tried]:
    """In place of rehearsals: notes what is asked for and answers from a chance of its own."""

    def answer(trial: Trial) -> Tried:
        trials.append(trial)
        rng = np.random.default_rng([zlib.crc32(trial.anonymizer.encode()), trial.draw.seed])
        return value(trial, float(rng.normal(0.5, 0.1)))

    return answer


@pytest.mark.usefixtures("plugins")
def test_what_is_reported_comes_from_draws_that_chose_nothing(
    here: arena.Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials: list[Trial] = []

    def found(trial: Trial, share: float) -> Tried:
        credits = {name: Credit(share, 1) for name in trial.attacks}
        return Tried(True, 0.0, {}, credits, {}, 1 - share if credits else None)

    monkeypatch.setattr(tuning, "rehearse", faked(trials, found))
    monkeypatch.setattr(tuning, "prepare_draw", lambda _draw: None)
    bias: list[float] = []
    for seed in range(12):
        trials.clear()
        search = Search(("nearest",), tries=30, draws=3)
        tuned = arena.tune(game(), read_space("blur:reach=0..50"), search, seed, here)
        assert tuned.chosen is not None
        assert tuned.chosen.rate is not None
        best = tuned.lines[0].rate
        assert best is not None
        chosen = [trial for trial in trials if trial.anonymizer == tuned.chosen.method]
        fresh = {trial.draw.folder.name for trial in chosen[-3:]}
        assert fresh == {"3", "4", "5"}
        assert all(trial.draw.folder.name in {"0", "1", "2"} for trial in trials[:-3])
        bias.append(tuned.chosen.rate.mean - best.mean)
    assert np.mean(bias) > 0.05, "chosen for its luck, the best of many was overrated"


@pytest.mark.usefixtures("plugins")
def test_a_setting_must_pass_in_the_share_of_draws_that_is_asked_for(
    here: arena.Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(trial: Trial, _: float) -> Tried:
        reach = int(trial.anonymizer.partition("=")[2])
        passes = (
            reach < 10 or int(trial.draw.folder.name) % 4 != 1
        )  # the higher ones fail in a quarter of the draws
        credits = {name: Credit(50 - reach, 100) for name in trial.attacks} if passes else {}
        return Tried(
            passes, 0.0 if passes else 0.1, {}, credits, {}, reach / 50 if credits else None
        )

    monkeypatch.setattr(tuning, "rehearse", faked([], found))
    monkeypatch.setattr(tuning, "prepare_draw", lambda _draw: None)
    chosen = {}
    for passing in (1.0, 0.75):
        search = Search(("nearest",), tries=21, draws=4, passing=passing)
        tuned = arena.tune(game(), read_space("blur:reach=0..20"), search, 1, here)
        assert tuned.chosen is not None
        chosen[passing] = tuned.chosen
    assert chosen[1.0].method == "blur:reach=9"
    assert chosen[0.75].method == "blur:reach=20"
    assert math.isclose(chosen[0.75].passed / chosen[0.75].draws, 0.75)


def test_methods_that_do_not_play_are_refused_before_anything_is_drawn(here: arena.Workers) -> None:
    rules = registry.load("rulebooks", "amic2020")()
    for method, attack in (("delete:share=0.1..0.4", "nearest"), ("rrp:p=0.1..0.9", "tfidf")):
        with pytest.raises(UsageError, match="does not play amic2020"):
            arena.tune(rules, read_space(method), Search((attack,), 2, 1), 1, here)


def test_the_attacks_of_the_default_field_are_held_where_none_are_named() -> None:
    assert "champion:shadows=2" in arena.default_attacks(registry.load("rulebooks", "amic2020")())


# -- the verb ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("plugins")
def test_the_verb_needs_no_record_of_the_handout_and_tells_a_command_that_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        call("prepare", "hide-and-seek", "-o", "contest", "--teams", "2", "--seed", "1").code == 0
    )
    shutil.copytree("contest/teams/01", "empty")
    (tmp_path / "empty" / "sample.csv").unlink()
    search = ("--attacks", "nearest", "--tries", "3", "--draws", "2", "--seed", "1", "--jobs", "1")
    found = call("tune", "hide-and-seek", "empty", "blur:reach=0..9", *search, "-o", "tuned.json")
    assert found.code == 0
    assert json.loads((tmp_path / "tuned.json").read_text()) == found.json
    assert found.json["fresh"]["draws"] == 2
    assert len(found.json["tried"]) == 3
    command = found.json["command"].replace("empty", "contest/teams/01").split()
    assert command[:4] == ["kakurenbo", "anonymize", "hide-and-seek", "blur"]
    assert call(*command[1:]).code == 0
    assert call("measure", "hide-and-seek", "contest/teams/01", command[5]).code == 0


@pytest.mark.usefixtures("plugins")
def test_the_verb_shows_people_a_table_and_exits_with_1_where_nothing_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert (
        call("prepare", "hide-and-seek", "-o", "contest", "--teams", "2", "--seed", "1").code == 0
    )
    for ranges, code, told in (
        ("2/3", 0, "Use it: kakurenbo anonymize hide-and-seek blur"),
        ("20..40", 1, "No setting passes"),
    ):
        arguments = [
            "tune",
            "hide-and-seek",
            "contest/teams/01",
            f"blur:reach={ranges}",
            "--attacks",
            "nearest,blind",
        ]
        with pytest.raises(SystemExit) as left:
            main([*arguments, "--tries", "2", "--draws", "1", "--jobs", "1"])
        assert left.value.code == code
        shown = capsys.readouterr().out
        assert told in shown
        assert "best attack finds" in shown


def test_what_is_wrong_with_a_search_is_told_in_a_sentence(tmp_path: Path) -> None:
    assert (
        "there is no such file or folder"
        in call("tune", "amic2020", tmp_path / "none", "rrp:p=0.1..0.9").json["error"]
    )
    found = call("tune", "amic2020", tmp_path, "rrp:p=0.5")
    assert found.code == 2
    assert "leaves nothing to search" in found.json["error"]
