"""The examples of points and weights on the contests' pages come out as their sentences say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.docs.pages import REPOSITORY, File, steps

from kakurenbo.methods import registry
from kakurenbo.reports import read_results
from kakurenbo.reports.rankings import ranked

EXAMPLES = {
    "amic2020": {
        "anonymization": {"01": 0.75, "03": 0.70, "02": 0.60},
        "attack": {"01": 0.30, "03": 0.30, "02": 0.20},
        "overall": {"01": 1 / 2, "03": 1 / 3, "02": 1 / 6},
    },
    "darc2019": {
        "anonymization": {"01": 0.35, "02": 0.35, "03": 0.40},
        "attack": {"01": 0.60, "03": 0.50, "02": 0.40},
    },
    "pwscup2021": {
        "anonymization": {"01": 0.25, "03": 0.30, "02": 0.40},
        "attack": {"01": 0.30, "03": 0.30, "02": 0.20},
        "overall": {"01": 2, "03": 3, "02": 6},
    },
    "pwscup2024": {
        "anonymization": {"01": 150, "03": 110, "02": 90},
        "attack": {"02": 115, "01": 100, "03": 85},
    },
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_page_scores_as_the_page_computes_it(name: str, tmp_path: Path) -> None:
    (file,) = [
        step
        for step in steps(REPOSITORY / "docs" / f"{name}.md")
        if isinstance(step, File) and step.name.endswith(".csv")
    ]
    results = tmp_path / file.name
    results.write_text(file.text, encoding="utf-8")
    rulebook = registry.load("rulebooks", name)()
    read = read_results(rulebook, results)
    rounds = {entry.name: entry.repeats for entry in read.rounds}
    rankings, _, _ = ranked(rulebook, rounds)
    for ranking, expected in EXAMPLES[name].items():
        lines = [line for line in rankings[ranking].lines if line.rank is not None]
        assert [line.team for line in lines] == list(expected)
        assert [float(line.score) for line in lines] == pytest.approx(list(expected.values()))
