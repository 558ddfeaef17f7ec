"""Files of results that nobody wrote: each is refused in a sentence, whatever is in it."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.reading import attempt

from kakurenbo.cli import main
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.contest.results import PUBLISHED
from kakurenbo.core import Problems
from kakurenbo.methods.registry import load
from kakurenbo.reports import make_document, read_document, read_results

RULEBOOK = load("rulebooks", "darc2019")()
PLAIN: dict[str, Any] = {
    "credits": {"01": {"02": {"hits": 3, "of": 10}}, "02": {"01": {"hits": 1, "of": 10}}},
    "utility": {"01": 0.5, "02": 0.25},
}


def matrix(change: Callable[[dict[str, Any]], object]) -> str:
    content = json.loads(json.dumps(PLAIN))
    change(content)
    return json.dumps(content)


def refusal(tmp_path: Path, text: str, name: str = "results.json") -> str:
    (tmp_path / name).write_text(text)
    read = attempt(read_results, RULEBOOK, tmp_path / name)
    assert isinstance(read, Problems), read
    return read[0].code


def test_what_the_following_are_made_of_is_read(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(PLAIN))
    read = attempt(read_results, RULEBOOK, tmp_path / "results.json")
    assert not isinstance(read, Problems)
    (entry,) = read.value.rounds
    (results,) = entry.repeats
    assert results.targets == ("01", "02")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda it: it["credits"]["01"]["02"].update(hits=11), "results.impossible_hits"),
        (lambda it: it["credits"]["01"]["02"].update(hits=-1), "results.impossible_hits"),
        (lambda it: it["credits"]["01"]["02"].update(of=0, hits=0), "results.impossible_hits"),
        (lambda it: it["credits"]["01"]["02"].update(hits=None), "results.not_a_document"),
        (lambda it: it["credits"]["01"]["02"].update(hits=float("nan")), "json.not_finite"),
        (lambda it: it["credits"]["01"]["02"].update(of=float("inf")), "json.not_finite"),
        (lambda it: it["credits"]["01"]["02"].update(hits="3"), "results.not_a_document"),
        (lambda it: it["credits"]["01"]["02"].update(hits=True), "results.not_a_document"),
        (lambda it: it["credits"]["01"]["02"].update(chance=[1, 2]), "results.not_a_document"),
        (lambda it: it["credits"]["01"]["02"].update(reid="much"), "results.not_a_document"),
        (lambda it: it["credits"]["01"].update({"02": [1, 2]}), "results.not_a_document"),
        (lambda it: it.update(credits=[1, 2]), "results.not_a_document"),
        (lambda it: it.update(credits={}, utility={}), "results.no_matrix"),
        (lambda it: it.update(targets=["01", "02", "01"]), "results.twice"),
        (lambda it: it.update(targets=["01"]), "results.unknown_target"),
        (lambda it: it.update(attackers=["01"]), "results.unknown_attacker"),
        (lambda it: it.update(out_of_play={"09": "missing"}), "results.unknown_target"),
        (lambda it: it["utility"].update({"01": -5}), "results.impossible_utility"),
        (lambda it: it["utility"].update({"01": None}), "results.not_a_document"),
        (lambda it: it["utility"].pop("02"), "results.no_utility"),
        (lambda it: it.pop("credits"), "results.no_matrix"),
    ],
)
def test_figures_that_no_round_gives_are_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], code: str
) -> None:
    assert refusal(tmp_path, matrix(change)) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[1, 2, 3]", "results.no_matrix"),
        ("{}", "results.no_matrix"),
        ('{"credits": ' * 2000 + "1" + "}" * 2000, "json.too_deep"),
        ('{"rounds": ' + "[" * 5000 + "]" * 5000 + "}", "json.too_deep"),
        ('{"rounds": []}', "results.not_a_document"),
        (
            '{"rounds": 3, "format": 3, "rulebook": {"name": "darc2019", "title": ""}}',
            "results.not_a_document",
        ),
        (
            '{"rounds": [], "format": 3, "rulebook": {"name": "darc2019", "title": ""}}',
            "results.no_matrix",
        ),
        (
            '{"rounds": [{"name": "x"}], "format": 3, "rulebook": {"name": "darc2019", "title": ""}}',
            "results.no_matrix",
        ),
        (
            '{"rounds": [], "format": 3, "rulebook": {"name": "amic2020", "title": ""}}',
            "results.other_rulebook",
        ),
        (
            '{"rounds": [], "format": 99, "rulebook": {"name": "darc2019", "title": ""}}',
            "results.other_format",
        ),
        ('{"rounds": [', "json.syntax"),
        ("round,repeat,target\npre,1,01\n", "results.flat_table"),
    ],
)
def test_files_that_hold_something_else_are_refused(tmp_path: Path, text: str, code: str) -> None:
    assert refusal(tmp_path, text) == code


def whole() -> dict[str, Any]:
    """A document of darc2019, as plain data."""
    from kakurenbo.reports.reading import read_matrix

    read = attempt(read_matrix, "x", PLAIN)
    assert not isinstance(read, Problems)
    rounds = {"round": [read.value[1]]}
    records = [ReleaseRecord(target, target, PUBLISHED) for target in ("01", "02")]
    return make_document(RULEBOOK, rounds, {"round": [records]}).as_builtins()


WHOLE = whole()
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def changed(draw: st.DrawFn, content: Any) -> Any:
    """The content with something else at a random place."""
    content = json.loads(json.dumps(content))
    here = content
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = draw(st.sampled_from(keys))
        inner = here[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.integers(0, 3)) == 0:
            if draw(st.booleans()):
                here[key] = draw(anything)
            else:
                del here[key]
            return content
        here = inner


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(content=changed(WHOLE) | changed(PLAIN) | anything)
def test_standings_never_break_whatever_is_in_the_file(
    content: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("any") / "results.json"
    path.write_text(json.dumps(content))
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        pytest.raises(SystemExit) as left,
    ):
        main(["standings", "darc2019", str(path), "--json"])
    assert left.value.code in (0, 1, 2)
    assert "a bug in kakurenbo" not in printed.getvalue()


def changed_document(change: Callable[[dict[str, Any]], object]) -> str:
    content = json.loads(json.dumps(WHOLE))
    change(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it["rounds"][0]["attacks"]["01"]["02"].update(hits=9),
        lambda it: it["rounds"][0]["attacks"]["02"].pop("01"),
        lambda it: it["rounds"][0]["attackers"]["01"].update(accuracy=0.9),
        lambda it: it["rounds"][0]["releases"]["01"].update(best_accuracy=0),
        lambda it: it["rounds"][0].update(passing=5, leading_measure="x", frontiers={}),
        lambda it: it.update(attack_count=7, sample_attacks=["02"]),
    ],
)
def test_a_document_shows_what_its_repeats_gave_whatever_else_the_file_says(
    tmp_path: Path, change: Callable[[dict[str, Any]], object]
) -> None:
    path = tmp_path / "results.json"
    path.write_text(changed_document(change))
    read = attempt(read_document, path)
    assert not isinstance(read, Problems)
    assert read.value.as_builtins() == WHOLE


def test_a_changed_repeat_changes_all_that_follows_from_it(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(
        changed_document(
            lambda it: it["rounds"][0]["repeats"][0]["credits"]["01"]["02"].update(hits=9)
        )
    )
    read = attempt(read_document, path)
    assert not isinstance(read, Problems)
    (entry,) = read.value.rounds
    assert entry.attacks["01"]["02"].accuracy.mean == 0.9
    assert entry.releases["01"].best_accuracy == 0.9
    assert read.value.attackers["02"].accuracy == 0.9


def test_figures_without_a_mean_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(
        changed_document(
            lambda it: it["rounds"][0]["repeats"][0]["credits"]["01"]["02"].update(
                hits=1e308, of=1e308, least=-1e308
            )
        )
    )
    read = attempt(read_document, path)
    assert isinstance(read, Problems)
    assert read[0].code == "results.not_a_document"


@pytest.mark.parametrize("contest", [3, {"settings": []}, {"schedule": {"phases": 1}}])
def test_a_document_whose_contest_is_something_else_is_refused(
    tmp_path: Path, contest: object
) -> None:
    path = tmp_path / "results.json"
    path.write_text(changed_document(lambda it: it["manifest"].update(contest=contest)))
    for read in (attempt(read_document, path), attempt(read_results, RULEBOOK, path)):
        assert isinstance(read, Problems)
        assert read[0].code == "results.not_a_document"


def test_figures_without_a_mean_in_a_printed_matrix_are_refused(tmp_path: Path) -> None:
    huge = {"hits": 1e308, "of": 1e308, "least": -1e308}
    text = matrix(lambda it: it["credits"]["01"]["02"].update(huge))
    assert refusal(tmp_path, text) == "results.not_a_document"


def test_a_document_as_it_was_written_is_read(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(WHOLE))
    assert not isinstance(attempt(read_document, tmp_path / "results.json"), Problems)
