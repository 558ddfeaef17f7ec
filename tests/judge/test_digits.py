"""What the judge finds of a release is what ``kakurenbo measure`` finds, to the last digit, whatever the contest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.judge.scoring_helpers import anonymized, exported, hand_in, new_round, prepare

from kakurenbo.cli import main
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.models import Job, JobState, Judging, StandingSnapshot
from kakurenbo.judge.scoring.worker import Worker

pytestmark = pytest.mark.django_db

CONTESTS = {
    "amic2020": ({"data": "embedded", "scale": "small"}, "pre"),
    "darc2019": ({"data": "embedded", "scale": "small"}, "round"),
    "pwscup2024": ({"data": "embedded", "scale": "small"}, "pre"),
    "hide-and-seek": ({}, "only"),
}


@pytest.fixture
def worker(judge_home: Path, plugins: Path, fork_server: ForkServer, settings: Any) -> Iterator[Worker]:
    assert plugins
    settings.HOME = judge_home
    made = Worker(server=fork_server)
    yield made
    made.close()


@pytest.mark.parametrize("rulebook", CONTESTS)
def test_the_digits_of_a_release_are_those_of_the_command_line(
    rulebook: str, worker: Worker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options, round_name = CONTESTS[rulebook]
    round = new_round(rulebook, options, round_name, teams=1, places=1)
    prepare(round, worker)
    files = anonymized(round, "01", tmp_path / "made")
    submission = hand_in(round, "01", files)
    worker.drain()
    left = [(job.kind, job.cause) for job in Job.objects.exclude(state=JobState.DONE)]
    assert not left
    (line,) = StandingSnapshot.objects.get(round=round).standings["anonymization"]
    assert line["team"] == "01"
    judging = Judging.objects.get(submission=submission)
    found = {one["name"]: one["value"] for one in judging.result["record"]["measurements"]}
    for name, content in files.items():
        (tmp_path / "release").mkdir(exist_ok=True)
        (tmp_path / "release" / name).write_bytes(content)
    handout = exported(round, "teams/01/", tmp_path / "handed out")
    with pytest.raises(SystemExit):
        main(["measure", rulebook, str(handout), str(tmp_path / "release"), "--json"])
    measured = json.loads(capsys.readouterr().out)
    assert found == measured["scores"]
    assert (judging.verdict, judging.result["record"]["state"]) == (
        "scored",
        "published" if measured["passes"] else "disqualified",
    )
