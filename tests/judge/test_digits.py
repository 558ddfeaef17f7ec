"""What the judge finds of a golden release, on its page and by its API, is what ``kakurenbo measure`` finds: every digit."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.calling import call
from tests.judge.browsing import Person
from tests.judge.players import ByPage, scores_of
from tests.judge.stage import Stage

from kakurenbo.judge.scoring.models import RoundFile
from kakurenbo.judge.submissions import store

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@dataclass(frozen=True)
class Golden:
    """A release whose figures others computed, and the table it was made of.

    Attributes
    ----------
    round : str
    original : tuple of str
        The table's file in the handout, and where it is among the reference data.
    release : mapping of str to str
        Where each file of the release is, by the name under which it is handed in.
    known : callable
        Figures that others found, from their file of figures.
    """

    round: str
    original: tuple[str, str]
    release: Mapping[str, str]
    known: Callable[[Any], Mapping[str, float]]


def _of_amic2020(known: Any) -> Mapping[str, float]:
    found = known["cases"]["rrp90"]
    return {
        name: found[name]
        for name in ("histogram", "vcm_edition1", "vcm_edition2", "max_correlation_difference")
    }


def _of_darc2019(known: Any) -> Mapping[str, float]:
    found = known["cases"][2]["rule_text_variant"]
    names = {
        "E1": "e1_copurchaser_unclipped",
        "E2": "e2_copurchaser_each_below6_unclipped",
        "E3": "e3_copurchaser_top180_unclipped",
    }
    return {name: found[theirs] for name, theirs in names.items()}


def _of_pwscup2024(known: Any) -> Mapping[str, float]:
    return {
        "U": known["utility_score"],
        **{f"U_{n}": score for n, score in enumerate(known["utility_score_per_file"])},
    }


GOLDEN = {
    "amic2020": Golden(
        "pre",
        ("pre_samplingdata_01.csv", "amic2020/reference/C.csv.gz"),
        {"pre_anonymizeddata_01.csv": "amic2020/reference/D_rrp90.csv.gz"},
        _of_amic2020,
    ),
    "darc2019": Golden(
        "round",
        ("ground_truth.csv", "darc/reference/T400.csv.gz"),
        {"A_01-1.csv": "darc/reference/ii_dateshuffle_del10_400.csv.gz"},
        _of_darc2019,
    ),
    "pwscup2024": Golden(
        "pre",
        ("Bi01-1.csv", "pwscup2024/sampleBi.csv"),
        {f"C01_{number}.csv": f"pwscup2024/reference/C00_{number}.csv.gz" for number in range(10)},
        _of_pwscup2024,
    ),
}


def _plain(file: Path) -> bytes:
    content = file.read_bytes()
    return gzip.decompress(content) if file.suffix == ".gz" else content


@pytest.mark.parametrize("rulebook", GOLDEN)
def test_a_golden_release_has_the_same_digits_on_the_page_by_the_api_and_by_the_command_line(
    rulebook: str, stage: Stage, people: Callable[..., Person], reference_data: Path
) -> None:
    golden = GOLDEN[rulebook]
    stage.hold(rulebook, (golden.round,), teams=1, scale="small", data="embedded")
    name, place = golden.original
    dealt = RoundFile.objects.filter(
        round__contest=stage.contest, path__endswith=f"/{name}"
    )  # whoever was given it
    assert dealt.update(blob=store.put(_plain(reference_data / place)))
    release = stage.folder / "release"
    release.mkdir()
    for file, where in golden.release.items():
        (release / file).write_bytes(_plain(reference_data / where))
    player = ByPage.of(stage, "01", people())
    judged = player.hand_in(release)  # the page's digits are those of the API
    assert judged["state"] == "scored", judged
    found = scores_of(judged)
    measured = call("measure", rulebook, player.fetch() / "teams" / "01", release).json
    assert found == measured["scores"]
    assert (
        all(one["passes"] is not False for one in judged["judging"]["measurements"])
        == measured["passes"]
    )
    (figures,) = {
        (reference_data / where).with_name("reference.json") for where in golden.release.values()
    }
    known = golden.known(json.loads(figures.read_text()))
    assert {name: found[name] for name in known} == pytest.approx(
        known, abs=0.0005 if rulebook == "pwscup2024" else 1e-9
    )
