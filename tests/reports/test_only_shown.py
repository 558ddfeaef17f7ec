"""Organizers' attacks that a contest shows and does not count: no other figure of a report rests on them."""

from __future__ import annotations

import pytest

from kakurenbo.contest import Credit, Measurement, RoundResults
from kakurenbo.contest.records import ReleaseRecord
from kakurenbo.contest.results import PUBLISHED
from kakurenbo.reports import Document, html_report, make_document, results_csv
from kakurenbo.rulebooks.darc2019 import Darc2019

FOUND = {"01": {"02": 0.25, "S1": 0.5, "S7": 0.75}, "02": {"01": 0.125, "S1": 0.25, "S7": 0.875}}


def report(mode: str, found: dict[str, dict[str, float]] = FOUND) -> Document:
    credits = {
        table: {name: Credit(share, 1, details={"reid": share}) for name, share in row.items()}
        for table, row in found.items()
    }
    attackers = ("01", "02", "S1", "S7")
    results = RoundResults(
        credits,
        ("01", "02"),
        attackers,
        dict.fromkeys(found, 0.5),
        unranked=frozenset({"S1", "S7"}),
    )
    records = [
        ReleaseRecord(
            table, table, PUBLISHED, measurements=(Measurement("U", 0.5, higher_is_better=False),)
        )
        for table in found
    ]
    return make_document(Darc2019(mode=mode), {"round": [results]}, {"round": [records]})


@pytest.mark.parametrize(
    ("mode", "sample", "least"), [("rules", 0.5, "01"), ("aicrowd", 0.75, "02")]
)
def test_sample_attack_and_who_hid_least_rest_on_the_baselines_that_the_mode_counts(
    mode: str, sample: float, least: str
) -> None:
    document = report(mode)
    (entry,) = document.rounds
    assert entry.releases["01"].sample_accuracy == sample
    assert entry.releases["01"].privacy["sample"].mean == 1 - sample
    assert (
        entry.attackers["02"].sample_accuracy == document.attackers["02"].sample_accuracy == sample
    )
    assert any(f"{least} hid least" in lesson for lesson in document.verdicts["en"])
    assert document.rankings["overall"].winners == ("02" if least == "01" else "01",), (
        "as the score says"
    )
    assert {
        line.rsplit(",", 1)[1]
        for line in results_csv(document).splitlines()
        if ",01,,,0.5," in line
    } == {str(sample)}


def test_a_baseline_that_is_only_shown_does_not_stand_in_where_nobody_else_attacked() -> None:
    (entry,) = report("rules", {"01": {"S7": 0.75}, "02": {"S7": 0.875}}).rounds
    assert [(one.sample_accuracy, one.privacy) for one in entry.releases.values()] == [
        (None, {})
    ] * 2


def test_the_report_says_which_baseline_is_only_shown() -> None:
    said = "Only shown, and counted for nothing: S7."
    assert [said in html_report(report(mode), {}) for mode in ("rules", "aicrowd")] == [
        True,
        False,
    ]
