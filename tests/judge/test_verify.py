"""``kakurenbo verify`` on archives of contests that were played: everything holds, or the first thing that differs is named."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.arena.conftest import installed
from tests.judge import making
from tests.judge.making import good, organizer
from tests.judge.playing import Play, first_round, stage_for_playing
from tests.judge.stage import call

from kakurenbo.contracts import ANONYMIZE, ATTACK
from kakurenbo.judge.contests import rules
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.submissions import rules as submissions
from kakurenbo.judge.trust import queries
from kakurenbo.judge.trust.rules import checkpoint

pytestmark = pytest.mark.django_db  # else pytest makes no database for what is played once for all tests
SMALL = {"data": "embedded", "scale": "small"}


@dataclass(frozen=True)
class Played:
    """An archive, and what a team kept while the contest ran."""

    archive: Path
    receipt: Path
    checkpoint: Path


@pytest.fixture(scope="module")
def site(plugin_site: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch, installed(plugin_site, patch):
        yield plugin_site


@pytest.fixture(scope="module")
def stage(
    site: Path, django_db_setup: None, django_db_blocker: Any, fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[], contextlib.AbstractContextManager[Any]]:
    """Where contests are played, one after the other."""

    @contextlib.contextmanager
    def ready() -> Iterator[Any]:
        folder = tmp_path_factory.mktemp("play")
        with django_db_blocker.unblock(), stage_for_playing(folder, fork_server) as worker:
            yield worker, folder

    return ready


@pytest.fixture(scope="module")
def played(stage: Any, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A contest with teams of every kind: bad, late, idle, unranked, disqualified early and late, with what they took back."""
    folder = tmp_path_factory.mktemp("kept")
    with stage() as (worker, place):
        play = Play("hide-and-seek", ("only",), place, worker, size=40)
        foxes, owls, guests = play.team("foxes"), play.team("owls"), play.team("guests", unranked=True)
        idle, rogues = play.team("idle"), play.team("rogues")
        good(rules.announce(organizer(), play.contest, "Welcome", "Good luck"))
        play.open("only", ANONYMIZE)
        assert play.hand_in(foxes, ANONYMIZE, {"hidden_01.csv": b"nonsense\n"}).pk
        first = play.hand_in(foxes, ANONYMIZE, play.release(foxes, 1))
        play.hand_in(foxes, ANONYMIZE, play.release(foxes, 2))
        back = play.hand_in(owls, ANONYMIZE, play.release(owls, 3), judge=False)
        good(submissions.withdraw(making.user("owls"), back, play.now))
        play.hand_in(owls, ANONYMIZE, play.release(owls, 3))
        play.hand_in(guests, ANONYMIZE, play.release(guests))
        play.hand_in(rogues, ANONYMIZE, play.release(rogues))
        signed = checkpoint(play.contest)
        kept = {"receipt.json": queries.receipt(first), "checkpoint.json": queries.signed_root(signed, play.contest)}
        for name, one in kept.items():
            assert one is not None
            (folder / name).write_text(json.dumps(one.as_json()))
        good(rules.disqualify(organizer(), making.entry(play.contest.teams.get(number=rogues), "only"), "two accounts"))
        play.open("only", ATTACK)
        late = play.team("late")
        assert idle
        for team in (foxes, owls, guests, late):
            play.hand_in(team, ATTACK, play.guesses(team))
        play.hand_in(owls, ATTACK, dict(list(play.guesses(owls).items())[:1]) | {"strange.csv": b"?"})
        good(rules.disqualify(organizer(), making.entry(play.contest.teams.get(number=guests), "only"), "late discovery"))
        play.end()
        (folder / "cup.zip").write_bytes(play.archive())
    return Played(folder / "cup.zip", folder / "receipt.json", folder / "checkpoint.json")


@pytest.fixture
def unpacked(played: Played, tmp_path: Path) -> Path:
    with zipfile.ZipFile(played.archive) as packed:
        packed.extractall(tmp_path)
    return tmp_path / "cup"


def test_an_archive_holds_with_teams_that_are_late_idle_unranked_disqualified_or_took_something_back(played: Played) -> None:
    found = call("verify", played.archive, "--receipt", played.receipt, "--receipt", played.checkpoint, "--again")
    assert found.json["difference"] is None, found.json["difference"]
    assert (found.code, found.json["verified"], found.json["complete"], found.json["notices"]) == (0, True, True, [])
    checked = found.json["checked"]
    assert checked["receipts"] == 2
    assert checked["releases"] == 6
    assert checked["guesses"] == 5
    assert all(checked[kind] > 0 for kind in ("entries", "checkpoints", "files", "commitments", "published", "samples"))
    assert all(checked[kind] > 0 for kind in ("figures", "ranks", "awards"))
