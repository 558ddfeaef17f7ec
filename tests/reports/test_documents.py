"""The results document: what is computed in it, and that it survives the way into a file and back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reading import attempt

from kakurenbo.contest import (
    AnyRulebook,
    Chance,
    Credit,
    Measurement,
    RoundResults,
    Standing,
    Standings,
    rank_scores,
)
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.contest.results import PUBLISHED
from kakurenbo.core import Problems
from kakurenbo.reports import (
    Document,
    RoundEntry,
    estimate,
    make_document,
    read_document,
    read_results,
    results_json,
)
from kakurenbo.reports.document import parse_document
from kakurenbo.reports.numbers import count, share, shown_value
from kakurenbo.reports.rankings import combined, ranked


def by_hits(rounds: Mapping[str, RoundResults]) -> Standings:
    """Hits of everybody in all rounds."""
    attackers = dict.fromkeys(
        attacker for results in rounds.values() for attacker in results.ranked_attackers
    )
    rows = [row for results in rounds.values() for row in results.credits.values()]
    earned = {
        attacker: sum(
            (Fraction(row[attacker].hits) for row in rows if attacker in row), Fraction(0)
        )
        for attacker in attackers
    }
    return Standings((), rank_scores(earned), ())


RULEBOOK = cast(
    AnyRulebook,
    SimpleNamespace(
        name="toy",
        title="a toy",
        version="1",
        rounds=("pre", "main"),
        utility_score="U",
        utility_range=(0, 1),
        standings=by_hits,
        figures={},
        only_shown=frozenset[str](),
    ),
)


def standings(**scores: Fraction | None) -> Standings:
    return Standings(rank_scores(scores), (), ())


def test_an_interval_is_students_t_around_the_mean() -> None:
    # Three values 1, 2, 3: mean 2, standard deviation 1, t(0.975, 2) = 4.3027, so 2 +- 4.3027 / sqrt(3).
    found = estimate([1.0, 2.0, 3.0])
    assert found.mean == 2
    assert (found.low, found.high, found.half) == pytest.approx(
        (2 - 2.4841, 2 + 2.4841, 2.4841), abs=1e-4
    )
    assert (estimate([1.0]).low, estimate([1.0]).half) == (None, None)


def test_a_single_repeat_keeps_the_rulebooks_own_standings() -> None:
    rankings, awards, _ = combined(
        [replace(standings(a=Fraction(1, 3), b=None), awards={"hiding": ("a",)})]
    )
    lines = rankings["anonymization"].lines
    assert [(line.team, line.rank, line.score) for line in lines] == [
        ("a", 1, 1 / 3),
        ("b", None, None),
    ]
    assert rankings["anonymization"].winners == ("a",)
    assert awards == {"hiding": ("a",)}


def test_repeats_are_ranked_by_their_mean_and_a_team_without_a_score_in_one_has_no_rank() -> None:
    first, second = (
        standings(a=Fraction(1), b=Fraction(0), c=Fraction(9)),
        standings(a=Fraction(0), b=Fraction(1), c=None),
    )
    lines = combined([first, second])[0]["anonymization"].lines
    assert [(line.team, line.rank, line.score) for line in lines] == [
        ("a", 1, 0.5),
        ("b", 1, 0.5),
        ("c", None, None),
    ]
    assert lines[0].tied_with == ("b",), "noise could reverse them"


def test_where_low_scores_win_the_lowest_mean_is_first() -> None:
    low = Standings(
        (Standing("a", Fraction(1), 1), Standing("b", Fraction(2), 2)),
        (),
        (),
        lower_is_better=frozenset({"anonymization"}),
    )
    assert [line.team for line in combined([low, low])[0]["anonymization"].lines] == ["a", "b"]


def test_rounds_of_different_numbers_of_repeats_do_not_make_a_contest() -> None:
    with pytest.raises(Exception, match="different numbers of repeats: pre 1, main 2"):
        ranked(RULEBOOK, {"pre": [results_of({})], "main": [results_of({}), results_of({})]})


def round_of(
    results: Sequence[RoundResults], records: Sequence[Sequence[ReleaseRecord]]
) -> RoundEntry:
    """Return the only round of a document."""
    (entry,) = make_document(RULEBOOK, {"only": results}, {"only": records}).rounds
    return entry


def results_of(hits: Mapping[str, Mapping[str, int]], chance: Chance | None = None) -> RoundResults:
    credits = {
        target: {name: Credit(count, 10, chance) for name, count in row.items()}
        for target, row in hits.items()
    }
    attackers = tuple(dict.fromkeys(name for row in hits.values() for name in row))
    return RoundResults(
        credits, tuple(hits), attackers, unranked=frozenset({"sample"} & set(attackers))
    )


def record(
    target: str, value: float | str, passes: bool | None = None, state: str = PUBLISHED
) -> ReleaseRecord:
    return ReleaseRecord(
        target, target, state, measurements=(Measurement("U", value, minimum=0.5, passes=passes),)
    )


def test_figures_of_a_round_stand_in_the_document() -> None:
    # Release 01: attackers find 4 and 8 of 10, the sample attack 6. Release 02: 2 and 0, the sample attack 1.
    hits = {"01": {"02": 4, "03": 8, "sample": 6}, "02": {"01": 2, "03": 0, "sample": 1}}
    results = results_of(hits, Chance(1, 0, 3))
    entry = round_of([results], [[record("01", 0.9, True), record("02", 0.6, True)]])
    one = entry.releases["01"]
    assert (one.best_attack, one.best_accuracy, one.sample_accuracy, one.verdict) == (
        "03",
        0.8,
        0.6,
        "passes",
    )
    assert {kind: found.mean for kind, found in one.privacy.items()} == pytest.approx(
        {"worst": 0.2, "mean": 0.4, "sample": 0.4}
    )
    found = entry.attackers["03"]
    assert (found.accuracy, found.sample_accuracy, found.chance) == pytest.approx((0.4, 0.35, 0.1))
    assert entry.attackers["01"].sample_accuracy == pytest.approx(0.1), "of the releases of others"
    assert {name: cell.beyond_chance for name, cell in entry.attacks["01"].items()} == {
        "02": True,
        "03": True,
        "sample": True,
    }
    assert not entry.attacks["02"]["01"].beyond_chance
    assert (entry.of, entry.chance_hits, entry.chance_privacy) == (10, Chance(1, 0, 3), 0.9)
    assert (entry.passing, entry.judged, entry.leading_measure) == (2, 2, "U")
    assert entry.frontiers["U"]["worst"] == ("02", "01"), "02 is more private, 01 more useful"


def test_a_release_that_another_beats_in_both_is_not_on_the_frontier() -> None:
    results = results_of({"01": {"03": 8}, "02": {"03": 2}})
    entry = round_of([results], [[record("01", 0.6), record("02", 0.9)]])
    assert entry.frontiers["U"]["worst"] == ("02",)


def test_an_infinite_score_that_may_be_infinite_passes() -> None:
    measured = Measurement("vcm", "inf", minimum=0.4, passes=True)
    endless = ReleaseRecord("01", "01", PUBLISHED, measurements=(measured,))
    entry = round_of([results_of({"01": {}})], [[endless]])
    assert (entry.releases["01"].verdict, entry.releases["01"].passes) == ("passes", True)
    assert entry.measures == (), "it cannot stand on an axis"


def test_a_release_that_fails_in_one_repeat_is_told_with_the_figures_of_that_repeat() -> None:
    repeats = [[record("01", 0.9, True)], [record("01", 0.1, False, "disqualified")]]
    entry = round_of([results_of({"01": {}})] * 2, repeats)
    release = entry.releases["01"]
    assert (release.state, release.passes, release.measurements[0].value) == (
        "disqualified",
        False,
        0.1,
    )
    assert release.estimates["U"].mean == 0.5


def test_counts_are_shown_as_counts() -> None:
    assert (count(1152.0), share(0.5), shown_value(1152.4), shown_value(115200)) == (
        "1,152",
        "50.0 %",
        "1,152",
        "115,200",
    )


# -- into a file and back ------------------------------------------------------------------------------------------------

TEAMS = ("01", "02", "03", "10")
numbers = st.floats(0, 1, allow_nan=False) | st.integers(0, 10)
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
chances = st.none() | st.builds(Chance, *[st.floats(0, 10)] * 3)


@st.composite
def credits_(draw: st.DrawFn) -> Credit:
    details = draw(
        st.dictionaries(st.sampled_from(["identification", "reid"]), numbers, max_size=2)
    )
    return Credit(draw(st.integers(0, 10)), 10, draw(chances), draw(st.none() | numbers), details)


@st.composite
def rounds_(draw: st.DrawFn) -> RoundResults:
    targets = tuple(draw(st.lists(st.sampled_from([*TEAMS, "01-2"]), unique=True, min_size=1)))
    attackers = (*draw(st.lists(st.sampled_from(TEAMS), unique=True, min_size=1)), "sample attack")
    pairs = {
        target: draw(st.dictionaries(st.sampled_from(attackers), credits_())) for target in targets
    }
    out = draw(
        st.dictionaries(
            st.sampled_from(targets), st.sampled_from(["disqualified", "missing"]), max_size=1
        )
    )
    utility = {target: draw(st.floats(0, 1)) for target in targets}
    tries = {
        target: {name: (credit, credit) for name, credit in row.items()}
        for target, row in pairs.items()
        if row
    }
    excluded = frozenset(
        draw(st.lists(st.sampled_from([target[:2] for target in targets]), max_size=1))
    )
    return RoundResults(
        pairs, targets, attackers, utility, out, frozenset({"sample attack"}), excluded, tries
    )


def document_of(rounds: Mapping[str, Sequence[RoundResults]]) -> Document:
    records = {
        name: [[record(target, one.utility[target]) for target in one.targets] for one in repeats]
        for name, repeats in rounds.items()
    }
    return make_document(
        RULEBOOK, rounds, records, manifest={"contest": {"settings": {"mode": "rules"}}}
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(rounds_(), min_size=1, max_size=3))
def test_a_document_is_the_same_after_writing_and_reading(repeats: list[RoundResults]) -> None:
    document = document_of({"only": repeats})
    data = document.as_bytes()
    assert parse_document(data) == document
    assert parse_document(data).as_bytes() == data


@settings(max_examples=40, deadline=None)
@given(results=st.lists(rounds_(), min_size=1, max_size=3))
def test_standings_are_the_same_from_every_file_that_is_written(
    results: list[RoundResults], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("files")
    document = document_of({"main": results})
    (folder / "results.json").write_bytes(document.as_bytes())
    (folder / "run.json").write_text("{}")
    expected = document.rankings["attack"]
    for path in (folder / "results.json", folder / "run.json", folder):
        read = attempt(read_results, RULEBOOK, path)
        assert not isinstance(read, Problems), read
        rounds = {entry.name: entry.repeats for entry in read.value.rounds}
        assert list(rounds) == ["main"]
        assert ranked(RULEBOOK, rounds)[0]["attack"] == expected, path
    read = attempt(read_results, RULEBOOK, folder / "results.json")
    assert not isinstance(read, Problems)
    assert read.value.contest.settings == {"mode": "rules"}


@settings(max_examples=40, deadline=None)
@given(rounds_())
def test_what_score_prints_is_read_back_whole(
    tmp_path_factory: pytest.TempPathFactory, results: RoundResults
) -> None:
    path = tmp_path_factory.mktemp("printed") / "printed.json"
    path.write_text(
        json.dumps(
            {"out": "x", "round": "pre", **results_json(results), "refused": [], "missing": []}
        )
    )
    read = attempt(read_results, RULEBOOK, path)
    assert not isinstance(read, Problems), read
    (entry,) = read.value.rounds
    assert (entry.name, entry.repeats) == ("pre", (results,))


def test_a_file_of_another_format_or_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"format": 1, "rounds": []}')
    read = attempt(read_document, path)
    assert isinstance(read, Problems)
    assert read[0].code == "results.other_format"
