"""The archive, by the command line: what its README says makes the judge's standings again, to the digit."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from tests.judge import making
from tests.judge.making import organizer
from tests.judge.scoring_helpers import anonymized, hand_in
from tests.judge.stage import RANKINGS, Stage, commands_of, standings_from_files

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.judge.contests import archive, rules
from kakurenbo.judge.contests.models import Contest, Team
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.models import Job, JobKind, JobState, StandingSnapshot
from kakurenbo.judge.scoring.rules import enqueue
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.trust.rules import checkpoint, record

pytestmark = [pytest.mark.slow, pytest.mark.django_db]
DOCS = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "judge-organizer.md"

GUESSED = [
    ("first", "second"),
    ("second", "first"),
    ("third", "disqualified"),
    ("disqualified", "first"),
    ("disqualified", "second"),
    ("late", "first"),
    ("organizers", "third"),
    ("excused", "third"),
    ("first", "second"),  # the latest counts
    ("first", "organizers"),
]
"""Who attacked whom, in this order."""


@pytest.fixture
def stage(
    judge_home: Path,
    plugins: Path,
    fork_server: ForkServer,
    settings: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Stage]:
    """A contest of the documentation, whose first phase is open."""
    assert plugins
    settings.HOME = judge_home
    worker = Worker(server=fork_server)
    made = Stage("", tmp_path / "stage", monkeypatch, worker)
    made.contest = making.contest(
        "autumn",
        rulebook="hide-and-seek",
        options={"size": 40},
        phases=making.plan(timezone.now() + timedelta(days=1), ("only",)),
        places=9,
    )
    yield made
    worker.close()


def unpacked(stage: Stage) -> Path:
    """The archive as an organizer gets it."""
    pieces = archive.archive(organizer(), stage.contest, timezone.now())
    zipfile.ZipFile(io.BytesIO(b"".join(pieces))).extractall(stage.folder / "archive")
    return stage.folder / "archive" / stage.contest.slug


def guess(first: int) -> bytes:
    return "\n".join(map(str, range(first, first + 10))).encode()


def played(stage: Stage) -> dict[str, Team]:
    """Nine teams: three that play to the end, and one of each other kind."""
    names = (
        "first",
        "second",
        "third",
        "organizers",
        "disqualified",
        "excused",
        "idle",
        "came all the same",
    )
    teams = {
        name: rules.add_team(organizer(), stage.contest, name, unranked=name == "organizers")
        for name in names
    }
    stage.open("only", ANONYMIZE)
    round_ = stage.contest.rounds.get()
    for place, name in enumerate(
        ("first", "second", "third", "organizers", "disqualified", "came all the same")
    ):
        number = teams[name].number
        hand_in(round_, number, anonymized(round_, number, stage.folder / "made", place % 4))
    for name in ("excused", "came all the same"):
        rules.excuse(organizer(), making.entry(teams[name], "only"), "nobody answers")
    stage.open("only", ATTACK)
    teams["late"] = rules.add_team(organizer(), stage.contest, "late")
    for first, (attacker, target) in enumerate(GUESSED):
        at, by = teams[target].number, teams[attacker].number
        hand_in(round_, by, {f"guess_{at}_{by}.csv": guess(3 * first)}, ATTACK)
    hand_in(round_, "01", {"guess_02_01.csv": b"not a guess"}, ATTACK)
    rules.disqualify(organizer(), making.entry(teams["disqualified"], "only"), "shared its handout")
    stage.finish()
    return teams


def test_the_commands_of_the_readme_and_of_the_documentation_make_the_judges_standings_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    teams = played(stage)
    found = unpacked(stage)
    shown = StandingSnapshot.objects.get(contest=stage.contest, shown=True).standings
    made = standings_from_files(found, monkeypatch)
    for standings in made:
        for line in standings["attack"]:  # in a judge every team of a round may attack
            if line.get("note") == "does not attack":
                del line["note"]
    assert made == [{name: shown[name] for name in made[0]}]
    noted = {line["team"]: line.get("note", "") for line in shown["anonymization"]}
    assert {
        name: noted[teams[name].number] for name in ("disqualified", "excused", "idle", "late")
    } == {
        "disqualified": "disqualified",
        "excused": "missing",
        "idle": "missing",
        "late": "missing",
    }
    assert teams["organizers"].number not in {
        line["team"] for name in RANKINGS for line in shown[name] if line["rank"]
    }
    assert noted[teams["came all the same"].number] == "", (
        "nobody waited for it, and its release is published like all others"
    )
    assert teams["idle"].number not in str(shown["awards"])
    assert (found / "rounds" / "only" / "guesses" / teams["idle"].number).is_dir()
    assert sorted(one.name for one in (found / "rounds" / "only" / "guesses" / "01").iterdir()) == [
        "0001",
        "0002",
        "0003",
    ]
    assert commands_of(found) == documented("hide-and-seek", "only", teams["disqualified"].number)


def documented(rulebook: str, round_name: str, disqualified: str) -> list[list[str]]:
    """The commands of the documentation for another rulebook and round, with a team that is out."""
    page = DOCS.read_text(encoding="utf-8")
    block = page[page.index("unzip -q") :].split("```")[0]
    lines = re.findall(r"^\$ kakurenbo (.*)$", block, re.MULTILINE)
    swapped = [re.sub(r"\bpre\b", round_name, line.replace("amic2020", rulebook)) for line in lines]
    return [
        re.sub(r"--disqualified \S+", f"--disqualified {disqualified}", line).split()
        for line in swapped
    ]


def test_before_the_end_the_readme_names_no_commands_and_no_answers_are_there(stage: Stage) -> None:
    rules.add_team(organizer(), stage.contest, "first")
    stage.open("only", ANONYMIZE)
    found = unpacked(stage)
    told = (found / "README.txt").read_text(encoding="utf-8")
    assert "answers, secrets and the entries of the log are not in this archive" in told
    assert "まだ終わっていません" in told
    assert commands_of(found) == []
    assert not (found / "rounds" / "only" / "guesses").exists()


def test_the_archive_is_handed_out_when_the_last_standings_are_made_and_the_whole_log_is_signed() -> (
    None
):
    contest = making.contest()
    Contest.objects.filter(pk=contest.pk).update(ended_at=timezone.now())
    page, api = "/contests/cup/", "/api/v1/contests/cup/archive.zip"
    link = b'href="/contests/cup/archive.zip"'

    def is_being_made() -> bool:
        told, shown, overview = (
            Client().get(address) for address in (api, page + "archive.zip", page)
        )
        refused = (told.status_code, shown.status_code, link in overview.content) == (
            409,
            409,
            False,
        )
        if refused:
            assert (told.json()["error"], told.headers["Retry-After"]) == (
                "archive_incomplete",
                shown.headers["Retry-After"],
            )
            assert b"The archive is being made" in shown.content
        return refused or (told.status_code, shown.status_code, link in overview.content) != (
            200,
            200,
            True,
        )

    assert is_being_made(), "nothing is signed"
    checkpoint(contest)
    assert not is_being_made()
    job = enqueue(JobKind.STANDINGS, contest, contest.rounds.get())
    assert is_being_made(), "standings are to come"
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE)
    record(contest, "standings.final", {"round": "pre"})
    assert is_being_made(), "the last entry is not signed"
    checkpoint(contest)
    assert not is_being_made()
