"""How often the steps of a round open each of their files: once, whatever the number of teams."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kakurenbo.contest import AnyRulebook, publish_round, score_round, verify_round
from kakurenbo.contest.engine import prepare
from kakurenbo.core import write_folder
from kakurenbo.core.rng import stream
from kakurenbo.rulebooks.amic2020 import Amic2020

TEAMS = ("01", "02", "03")
RULES: AnyRulebook = Amic2020()
_watched: list[tuple[Path, Counter[str]]] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _watched or not isinstance(arguments[0], str | Path):
        return
    for folder, opened in _watched:
        path = Path(arguments[0])
        if path.is_relative_to(folder) and path.is_file():
            opened[path.relative_to(folder).as_posix()] += 1


@pytest.fixture(scope="module")
def opens() -> Callable[[Path], Any]:
    """Count the files that are opened below a folder while a block runs."""
    sys.addaudithook(_note)  # a hook stays for good: it does nothing while no folder is watched

    @contextmanager
    def watch(folder: Path) -> Iterator[Counter[str]]:
        opened: Counter[str] = Counter()
        _watched.append((folder, opened))
        try:
            yield opened
        finally:
            _watched.remove((folder, opened))

    return watch


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contest")
    rules = Amic2020(scale="small", data="embedded", histogram=0, vcm=0, dta_relationship=0)
    write_folder(folder / "preparation", prepare(rules, 7, TEAMS).files())
    for team in TEAMS:
        handout = folder / "preparation" / "teams" / team
        files = {
            "D.csv": (handout / f"pre_samplingdata_{team}.csv").read_bytes(),
            f"questionnaire_{team}.json": (handout / f"questionnaire_{team}.json").read_bytes(),
        }
        write_folder(folder / "submissions" / team, files)
    published = publish_round(RULES, folder / "preparation", folder / "submissions")
    write_folder(folder / "phase", published.files)
    return folder


def test_publish_and_score_open_every_file_at_most_once(
    contest: Path, opens: Callable[[Path], Any]
) -> None:
    with opens(contest / "preparation") as prepared, opens(contest / "submissions") as submitted:
        published = publish_round(RULES, contest / "preparation", contest / "submissions")
    assert {record.state for record in published.records} == {"published"}
    assert submitted
    assert max(submitted.values()) == 1, submitted.most_common(5)
    assert max(prepared.values()) == 1, prepared.most_common(5)

    for attacker, target in (("01", "02"), ("02", "01")):
        knowledge = RULES.read_target(contest / "phase" / "targets" / target).knowledge
        guess = next(iter(RULES.sample_attacks.values()))(knowledge, stream(1))
        files = RULES.guess_files({target: guess}, attacker)
        write_folder(contest / "guesses" / attacker, files)
    with opens(contest / "phase") as phase, opens(contest / "guesses") as guesses:
        scored = score_round(RULES, contest / "phase", contest / "guesses")
    assert len(scored.missing) == 4
    assert max(guesses.values()) == 1, guesses.most_common(5)
    assert max(phase.values()) == 1, phase.most_common(5)


def test_verify_opens_no_file_more_than_four_times(
    contest: Path, opens: Callable[[Path], Any]
) -> None:
    """To know the contest, to check its commitment, to make the round again, and to compare."""
    with opens(contest) as opened:
        findings = verify_round(RULES, contest / "preparation", contest / "phase", again=True)
    assert {finding.state for finding in findings} == {"kept"}
    assert max(opened.values()) <= 4, opened.most_common(5)
