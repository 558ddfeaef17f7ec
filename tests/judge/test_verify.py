"""``kakurenbo verify`` on archives of contests that were played: everything holds, or the first thing that differs is named."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.arena.conftest import installed
from tests.calling import call
from tests.judge import making
from tests.judge.making import organizer
from tests.judge.playing import Play, stage_for_playing

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import speaking
from kakurenbo.judge.contests import rules
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.submissions import rules as submissions
from kakurenbo.judge.trust import queries
from kakurenbo.judge.trust.rules import checkpoint
from kakurenbo.methods import registry
from kakurenbo.proofs import Checkpoint, Tree, judging, leaf_of
from kakurenbo.proofs.archive import opened
from kakurenbo.proofs.differences import Difference

pytestmark = (
    pytest.mark.django_db
)  # else pytest makes no database for what is played once for all tests
HEX = ("root", "signature", "public_key")
DAMAGES = 300 if os.environ.get("KAKURENBO_SOAK") else 50
"""Places of a zip at which a byte is changed, beside one in each of its files."""


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
    request: pytest.FixtureRequest,
    django_db_blocker: Any,
    fork_server: ForkServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[], contextlib.AbstractContextManager[Any]]:
    """Where contests are played, one after the other."""
    request.getfixturevalue("site")
    request.getfixturevalue("django_db_setup")

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
        foxes, owls, guests = (
            play.team("foxes"),
            play.team("owls"),
            play.team("guests", unranked=True),
        )
        idle, rogues = play.team("idle"), play.team("rogues")
        rules.announce(organizer(), play.contest, "Welcome", "Good luck")
        play.open("only", ANONYMIZE)
        assert play.hand_in(foxes, ANONYMIZE, {"release_01.csv": b"nonsense\n"}).pk
        first = play.hand_in(foxes, ANONYMIZE, play.release(foxes, 1))
        play.hand_in(foxes, ANONYMIZE, play.release(foxes, 2))
        back = play.hand_in(owls, ANONYMIZE, play.release(owls, 3), judge=False)
        submissions.withdraw(making.user("owls"), back, play.now)
        play.hand_in(owls, ANONYMIZE, play.release(owls, 3))
        play.hand_in(guests, ANONYMIZE, play.release(guests))
        play.hand_in(rogues, ANONYMIZE, play.release(rogues))
        signed = checkpoint(play.contest)
        kept = {
            "receipt.json": queries.receipt(first),
            "checkpoint.json": queries.signed_root(signed, play.contest),
        }
        for name, one in kept.items():
            assert one is not None
            (folder / name).write_text(json.dumps(one.as_json()))
        rules.disqualify(
            organizer(),
            making.entry(play.contest.teams.get(number=rogues), "only"),
            "two accounts",
        )
        play.open("only", ATTACK)
        late = play.team("late")
        assert idle
        for team in (foxes, owls, guests, late):
            play.hand_in(team, ATTACK, play.guesses(team))
        play.hand_in(
            owls, ATTACK, dict(list(play.guesses(owls).items())[:1]) | {"guess_09_02.csv": b"?"}
        )
        rules.disqualify(
            organizer(),
            making.entry(play.contest.teams.get(number=guests), "only"),
            "late discovery",
        )
        play.end()
        (folder / "cup.zip").write_bytes(play.archive())
    return Played(folder / "cup.zip", folder / "receipt.json", folder / "checkpoint.json")


@pytest.fixture
def unpacked(played: Played, tmp_path: Path) -> Path:
    with zipfile.ZipFile(played.archive) as packed:
        packed.extractall(tmp_path)
    return tmp_path / "cup"


def test_an_archive_holds_with_teams_that_are_late_idle_unranked_disqualified_or_took_something_back(
    played: Played,
) -> None:
    found = call(
        "verify",
        played.archive,
        "--receipt",
        played.receipt,
        "--receipt",
        played.checkpoint,
        "--again",
    )
    assert found.json["difference"] is None, found.json["difference"]
    assert (found.code, found.json["verified"], found.json["complete"], found.json["notices"]) == (
        0,
        True,
        True,
        [],
    )
    checked = found.json["checked"]
    assert checked["receipts"] == 2
    assert checked["releases"] == 6
    assert checked["guesses"] == 5
    assert all(
        checked[kind] > 0
        for kind in ("entries", "checkpoints", "files", "commitments", "published", "samples")
    )
    assert all(checked[kind] > 0 for kind in ("figures", "ranks", "awards"))


def test_other_software_than_the_judges_is_told_with_what_follows(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "fingerprint", lambda _request: "f" * 64)
    (note,) = call("verify", played.archive).json["notices"]
    assert "11 of 11 submissions of round only" in note
    assert "every figure was computed once more and is the same" in note


# -- one byte anywhere -----------------------------------------------------------------------------------------------------

Change = Callable[[Any], object]
ROUND = "rounds/only"


def edit(path: Path, change: Change) -> None:
    """Change what a JSON file says."""
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def flip(path: Path, place: int = -2) -> None:
    """Another byte at one place, which stays a digit where it was one."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))


def nudge(figures: dict[str, Any], name: str) -> None:
    """A figure that is off by its last digit."""
    figures[name] = figures[name] + 1e-15 if isinstance(figures[name], float) else figures[name] + 1


def other_hex(text: str) -> str:
    return ("0" if text[0] != "0" else "1") + text[1:]


def in_state(submissions: list[dict[str, Any]], state: str, kind: str) -> dict[str, Any]:
    return next(
        one for one in submissions if one["state"] == state and f"/{kind}/" in one["folder"]
    )


def entry_of_kind(log: dict[str, Any], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        one for one in log["entries"] if json.loads(one["entry"])["kind"] == kind
    )
    return found


def reworded(log: dict[str, Any]) -> None:
    entry = entry_of_kind(log, "entry.disqualified")
    entry["entry"] = entry["entry"].replace("two accounts", "no accounts")


def in_json(file: str, change: Change) -> Callable[[Path], None]:
    return lambda root: edit(root / file, change)


def first_release(rows: list[dict[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = in_state(rows, "scored", "anonymize")["judgings"][0]["result"][
        "record"
    ]
    return record


LOG, CONTEST, ROWS, EARNED = (
    "log.json",
    "contest.json",
    f"{ROUND}/submissions.json",
    f"{ROUND}/earned.json",
)
BOARD, TOP = f"{ROUND}/standings.json", "standings.json"
TAMPERED: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "an entry of the log": (in_json(LOG, reworded), LOG, "entry "),
    "the salt of an entry": (
        in_json(
            LOG, lambda log: log["entries"][3].update(salt=other_hex(log["entries"][3]["salt"]))
        ),
        LOG,
        "entry 3",
    ),
    "a leaf": (
        in_json(
            LOG, lambda log: log["entries"][3].update(leaf=other_hex(log["entries"][3]["leaf"]))
        ),
        LOG,
        "entry 3",
    ),
    "a dropped entry": (in_json(LOG, lambda log: log["entries"].pop(5)), LOG, "entries[5]"),
    "the last entry": (in_json(LOG, lambda log: log["entries"].pop()), LOG, "checkpoint"),
    "entries in another order": (
        in_json(LOG, lambda log: log["entries"].insert(2, log["entries"].pop(7))),
        LOG,
        "entries[2]",
    ),
    "the size of a checkpoint": (
        in_json(LOG, lambda log: nudge(log["checkpoints"][0], "size")),
        LOG,
        "checkpoint",
    ),
    "the root of a checkpoint": (
        in_json(
            LOG,
            lambda log: log["checkpoints"][0].update(root=other_hex(log["checkpoints"][0]["root"])),
        ),
        LOG,
        "signature",
    ),
    "the time of a checkpoint": (
        in_json(
            LOG,
            lambda log: log["checkpoints"][0].update(
                at=log["checkpoints"][0]["at"].replace("T", "t")
            ),
        ),
        LOG,
        "signature",
    ),
    "a signature": (
        in_json(
            LOG,
            lambda log: log["checkpoints"][1].update(
                signature=other_hex(log["checkpoints"][1]["signature"])
            ),
        ),
        LOG,
        "signature",
    ),
    "the public key": (
        in_json(LOG, lambda log: log.update(public_key=other_hex(log["public_key"]))),
        LOG,
        "signature",
    ),
    "a checkpoint that is missing": (
        in_json(LOG, lambda log: log["checkpoints"].pop()),
        LOG,
        "entries[",
    ),
    "an option": (
        in_json(CONTEST, lambda contest: nudge(contest["options"], "size")),
        CONTEST,
        "options.size",
    ),
    "the title": (in_json(CONTEST, lambda contest: contest.update(title="Cub")), CONTEST, "title"),
    "a team's name": (
        in_json(CONTEST, lambda contest: contest["teams"][0].update(name="boxes")),
        CONTEST,
        "teams.01.name",
    ),
    "who is unranked": (
        in_json(CONTEST, lambda contest: contest["teams"][2].update(unranked=False)),
        CONTEST,
        "teams.03",
    ),
    "a reason": (
        in_json(
            CONTEST, lambda contest: contest["rounds"][0]["entries"][4].update(disqualified="")
        ),
        CONTEST,
        "entries.05.disqualified",
    ),
    "a deadline": (
        in_json(
            CONTEST,
            lambda contest: contest["rounds"][0]["phases"][0].update(
                closes_at=contest["created_at"]
            ),
        ),
        CONTEST,
        "closes_at",
    ),
    "the end": (
        in_json(CONTEST, lambda contest: contest.update(ended_at=contest["created_at"])),
        CONTEST,
        "ended_at",
    ),
    "an announcement": (
        in_json(CONTEST, lambda contest: contest["announcements"][0].update(text="Bad luck")),
        CONTEST,
        "text",
    ),
    "a file that was handed in": (
        lambda root: flip(next((root / ROUND / "submissions/01/anonymize/0002").iterdir())),
        f"{ROUND}/submissions/01/anonymize/0002/release_01.csv",
        "submission",
    ),
    "a guess": (
        lambda root: flip(next((root / ROUND / "submissions/02/attack/0001").iterdir())),
        f"{ROUND}/submissions/02/attack/0001/guess_01_02.csv",
        "submission",
    ),
    "the digest of a file": (
        in_json(ROWS, lambda rows: rows[0]["files"][0].update(sha256="0" * 64)),
        ROWS,
        "sha256",
    ),
    "when something was received": (
        in_json(ROWS, lambda rows: rows[0].update(received_at=rows[1]["received_at"])),
        ROWS,
        "received_at",
    ),
    "a submission that is missing": (in_json(ROWS, lambda rows: rows.pop()), ROWS, "submission"),
    "a measured figure": (
        in_json(ROWS, lambda rows: nudge(first_release(rows)["measurements"][0], "value")),
        ROWS,
        "measurements[0].value",
    ),
    "a verdict": (
        in_json(ROWS, lambda rows: in_state(rows, "invalid", "anonymize").update(state="scored")),
        ROWS,
        "state",
    ),
    "a word of a problem": (
        in_json(
            ROWS,
            lambda rows: in_state(rows, "invalid", "anonymize")["judgings"][0]["result"][
                "problems"
            ][0].update(en={}),
        ),
        ROWS,
        "problems[0].en",
    ),
    "what a guess earned": (
        in_json(EARNED, lambda rows: nudge(rows[-1]["credit"], "hits")),
        EARNED,
        "hits",
    ),
    "a credit that is missing": (in_json(EARNED, lambda rows: rows.pop(0)), EARNED, " on "),
    "a figure of results": (
        in_json(BOARD, lambda board: nudge(board["results"]["credits"]["01"]["02"], "hits")),
        BOARD,
        "results.credits.01.02.hits",
    ),
    "a score": (
        in_json(BOARD, lambda board: nudge(board["standings"]["attack"][0], "score")),
        BOARD,
        "attack[0].score",
    ),
    "a rank": (
        in_json(TOP, lambda board: nudge(board["standings"]["overall"][1], "rank")),
        TOP,
        "overall[1].rank",
    ),
    "an award": (
        in_json(
            BOARD,
            lambda board: next(iter(board["standings"]["awards"].values())).__setitem__(0, "04"),
        ),
        BOARD,
        "awards",
    ),
    "when standings were made": (
        in_json(TOP, lambda board: board.update(taken_at="2026-01-01T00:00:00+00:00")),
        TOP,
        "taken_at",
    ),
    "a target": (
        lambda root: flip(root / ROUND / "phase/targets/01/release_01.csv"),
        f"{ROUND}/phase/targets/01/release_01.csv",
        "",
    ),
    "an answer": (
        lambda root: flip(root / ROUND / "phase/answers/02/members.csv"),
        f"{ROUND}/phase/answers/02/members.csv",
        "",
    ),
    "a guess in the folder to score": (
        lambda root: flip(next((root / ROUND / "guesses/02/0001").iterdir())),
        f"{ROUND}/guesses/02/0001/guess_01_02.csv",
        "",
    ),
    "what became of a release": (
        in_json(
            f"{ROUND}/phase/public/releases.json", lambda rows: rows[3].update(state="published")
        ),
        f"{ROUND}/phase/public/releases.json",
        "[3].state",
    ),
    "the secret seed": (
        in_json(
            f"{ROUND}/preparation/secret/opening.json",
            lambda opening: opening.update(seed=str(int(opening["seed"]) + 1)),
        ),
        f"{ROUND}/preparation/",
        "",
    ),
    "a handout": (
        lambda root: flip(next((root / ROUND / "preparation/teams/01").glob("*.csv"))),
        f"{ROUND}/preparation/teams/01/",
        "",
    ),
    "a commitment": (
        in_json(
            f"{ROUND}/preparation/public/commitments.json",
            lambda bound: bound["commitments"].update(seed=other_hex(bound["commitments"]["seed"])),
        ),
        f"{ROUND}/preparation/public/commitments.json",
        "",
    ),
    "a file that nobody knows": (
        lambda root: (root / "extra.txt").write_text("?"),
        "extra.txt",
        "",
    ),
    "a folder that nobody knows": (
        lambda root: (root / "rounds/extra").mkdir(),
        "rounds/extra",
        "",
    ),
    "a target that was never sealed": (
        lambda root: shutil.copytree(
            root / ROUND / "phase/targets/01", root / ROUND / "phase/targets/09"
        ),
        f"{ROUND}/phase/targets/09/",
        "",
    ),
    "a file that is missing": (
        lambda root: (root / ROUND / "phase/answers/02/members.csv").unlink(),
        f"{ROUND}/phase/answers/02/members.csv",
        "",
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_verify_names_what_was_tampered_with(what: str, unpacked: Path) -> None:
    tamper, file, part = TAMPERED[what]
    tamper(unpacked)
    found = call("verify", unpacked)
    assert (found.code, found.json["verified"]) == (1, False), found
    difference = found.json["difference"]
    assert difference["file"].startswith(file), difference
    assert part in difference["what"], difference
    assert difference["file"] in difference["message"]


# -- lies that need no new signature ---------------------------------------------------------------------------------------

NOTE = {"note": "–"}  # the character by which differences show what is not there
OPENING = f"{ROUND}/preparation/secret/opening.json"
UNKNOWN: dict[str, tuple[str, Change, str]] = {
    "of the contest": (CONTEST, lambda contest: contest.update(winner="02"), "winner"),
    "of an option": (CONTEST, lambda contest: contest["options"].update(NOTE), "options.note"),
    "of a team": (
        CONTEST,
        lambda contest: contest["teams"][1].update(disqualified="cheating"),
        "teams[1].disqualified",
    ),
    "of a round": (CONTEST, lambda contest: contest["rounds"][0].update(NOTE), "rounds[0].note"),
    "of an entry": (
        CONTEST,
        lambda contest: contest["rounds"][0]["entries"][2].update(NOTE),
        "rounds[0].entries[2].note",
    ),
    "of a phase": (
        CONTEST,
        lambda contest: contest["rounds"][0]["phases"][1].update(NOTE),
        "rounds[0].phases[1].note",
    ),
    "of an announcement": (
        CONTEST,
        lambda contest: contest["announcements"][0].update(NOTE),
        "announcements[0].note",
    ),
    "of a submission": (ROWS, lambda rows: rows[3].update(NOTE), "[3].note"),
    "of a file": (ROWS, lambda rows: rows[3]["files"][0].update(NOTE), "[3].files[0].note"),
    "of a judging": (
        ROWS,
        lambda rows: rows[0]["judgings"][0].update(NOTE),
        "[0].judgings[0].note",
    ),
    "of what was judged": (
        ROWS,
        lambda rows: rows[0]["judgings"][0]["result"].update(NOTE),
        ".result.note",
    ),
    "of what was earned": (EARNED, lambda rows: rows[0].update(NOTE), "[0].note"),
    "of a credit": (EARNED, lambda rows: rows[0]["credit"].update(NOTE), ".note"),
    "of the standings": (TOP, lambda board: board.update(winner="02"), "winner"),
    "of a rank": (
        TOP,
        lambda board: board["standings"]["overall"][0].update(NOTE),
        "overall[0].note",
    ),
    "of a result": (BOARD, lambda board: board["results"].update(NOTE), "results.note"),
    "of the log": (LOG, lambda log: log.update(NOTE), "note"),
    "of an entry of the log": (LOG, lambda log: log["entries"][4].update(NOTE), "entries[4].note"),
    "of a checkpoint": (LOG, lambda log: log["checkpoints"][0].update(NOTE), "checkpoints[0].note"),
    "of what became of a release": (
        f"{ROUND}/phase/public/releases.json",
        lambda rows: rows[0].update(NOTE),
        "[0].note",
    ),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_a_key_that_the_judge_does_not_write_differs_wherever_it_is(
    what: str, unpacked: Path
) -> None:
    file, change, place = UNKNOWN[what]
    edit(unpacked / file, change)
    found = call("verify", unpacked)
    assert (found.code, found.json["difference"]["file"]) == (1, file), found.json
    assert found.json["difference"]["what"].endswith(place), found.json["difference"]


def test_a_key_beside_the_seed_that_is_revealed_differs(unpacked: Path) -> None:
    told = {**json.loads((unpacked / OPENING).read_bytes()), "winner": "02"}
    (unpacked / OPENING).write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")
    difference = call("verify", unpacked).json["difference"]
    assert (difference["code"], difference["file"], difference["what"]) == (
        "verification.unknown_key",
        OPENING,
        "winner",
    )


WRITTEN: dict[str, tuple[str, str, str, str, str]] = {
    "standings before the true ones": (
        TOP,
        '"taken_at"',
        '"standings": {}, "taken_at"',
        "key_twice",
        "standings",
    ),
    "another title": (CONTEST, '"title"', '"title": "Cub", "title"', "key_twice", "title"),
    "another end": (CONTEST, '"ended_at"', '"ended_at": null, "ended_at"', "key_twice", "ended_at"),
    "another verdict": (
        ROWS,
        '"verdict"',
        '"verdict": "failed", "verdict"',
        "key_twice",
        "verdict",
    ),
    "another credit": (EARNED, '"credit"', '"credit": {}, "credit"', "key_twice", "credit"),
    "another leaf": (LOG, '"leaf"', '"leaf": "00", "leaf"', "key_twice", "leaf"),
    "a number that is none": (
        CONTEST,
        '"places"',
        '"points": NaN, "places"',
        "no_json_value",
        "NaN",
    ),
    "a number too large to be one": (
        CONTEST,
        '"places"',
        '"points": 1e999, "places"',
        "no_json_value",
        "1e999",
    ),
    "half a character": (CONTEST, '"title": "', '"title": "\\ud800', "no_json_value", "'\\ud800'"),
    "half a character in a key": (
        CONTEST,
        '"title"',
        '"\\ud800": 1, "\\ud800": 2, "title"',
        "key_twice",
        "?",
    ),
    "a letter in other words": (
        CONTEST,
        '"title"',
        '"\\u0074itle"',
        "not_as_written",
        "line 3, character 3",
    ),
    "another space": (CONTEST, '"title": ', '"title":  ', "not_as_written", "line 3, character 11"),
}


@pytest.mark.parametrize("what", WRITTEN)
def test_a_file_that_others_might_read_otherwise_differs_and_the_key_is_named(
    what: str, unpacked: Path
) -> None:
    file, old, new, code, part = WRITTEN[what]
    (unpacked / file).write_text((unpacked / file).read_text().replace(old, new, 1))
    found = call("verify", unpacked)
    assert (found.code, found.json["difference"]["code"]) == (1, f"verification.{code}"), found.json
    assert (found.json["difference"]["file"], found.json["difference"]["what"][: len(part)]) == (
        file,
        part,
    )


def test_every_json_file_has_the_line_ends_that_the_judge_writes(unpacked: Path) -> None:
    files = [path for path in sorted(unpacked.rglob("*.json")) if b"\n " in path.read_bytes()]
    assert len(files) > 10
    for path in files:
        true = path.read_bytes()
        path.write_bytes(true.replace(b"\n", b"\r\n"))
        found = call("verify", unpacked)
        assert found.code == 1, path
        assert path.name in found.json["difference"]["message"], found.json["difference"]
        path.write_bytes(true)


TWICE: dict[str, tuple[str, Change, str]] = {
    "a team": (
        CONTEST,
        lambda contest: contest["teams"].insert(0, {**contest["teams"][0], "name": "boxes"}),
        "teams.01",
    ),
    "a phase": (
        CONTEST,
        lambda contest: contest["rounds"][0]["phases"].insert(
            0, {**contest["rounds"][0]["phases"][0], "tries_in_all": 1}
        ),
        "rounds.only.phases.anonymize",
    ),
    "an entry": (
        CONTEST,
        lambda contest: contest["rounds"][0]["entries"].insert(
            0, {**contest["rounds"][0]["entries"][0], "excused": "ill"}
        ),
        "rounds.only.entries.01",
    ),
    "a file": (
        ROWS,
        lambda rows: rows[0]["files"].insert(0, {**rows[0]["files"][0], "sha256": "0"}),
        ".files.release_01.csv",
    ),
}


@pytest.mark.parametrize("what", TWICE)
def test_what_is_listed_twice_of_which_the_first_is_a_lie_differs(
    what: str, unpacked: Path
) -> None:
    file, change, place = TWICE[what]
    edit(unpacked / file, change)
    found = call("verify", unpacked)
    assert (found.code, found.json["difference"]["code"]) == (1, "verification.row_twice"), (
        found.json
    )
    assert found.json["difference"]["what"].endswith(place)


def test_a_time_without_an_offset_differs_wherever_it_is_read(unpacked: Path) -> None:
    edit(
        unpacked / CONTEST,
        lambda contest: contest.update(ended_at=contest["ended_at"].partition("+")[0]),
    )
    assert call("verify", unpacked).json["difference"]["what"] == "ended_at"


def test_an_entry_that_is_not_told_after_the_end_differs(unpacked: Path) -> None:
    edit(
        unpacked / LOG, lambda log: (log["entries"][7].pop("salt"), log["entries"][7].pop("entry"))
    )
    found = call("verify", unpacked)
    assert (found.code, found.json["difference"]["what"]) == (1, "entry 7"), found.json


ENTRIES = {
    "a key that it has twice": ('"kind":', '"kind":"team.removed","kind":'),
    "a key that it should not have": ('"kind":', '"judge":"me","kind":'),
    "a space": ('"kind":', '"kind": '),
}


@pytest.mark.parametrize("what", ENTRIES)
def test_an_entry_that_is_signed_but_not_as_the_judge_writes_it_differs(
    what: str, unpacked: Path
) -> None:
    def retold(log: dict[str, Any]) -> None:
        signed_anew(log)
        row = log["entries"][-1]
        row["entry"] = row["entry"].replace(*ENTRIES[what])
        row["leaf"] = leaf_of(bytes.fromhex(row["salt"]), row["entry"].encode()).hex()
        tree, last = (
            Tree(bytes.fromhex(one["leaf"]) for one in log["entries"]),
            log["checkpoints"][-1],
        )
        made = Checkpoint.signed(
            log["contest"], bytes(range(32)), len(tree), tree.root(), last["at"]
        ).as_json()
        last.update({name: made[name] for name in ("root", "signature")})

    edit(unpacked / LOG, retold)
    difference = call("verify", unpacked).json["difference"]
    assert (difference["code"], difference["file"]) == ("verification.bad_entry", LOG), difference


KEPT = {
    "a key twice": ('"salt"', '"salt": "00", "salt"', "salt"),
    "a key that no receipt has": ('"salt"', '"winner": "02", "salt"', "winner"),
    "one in its checkpoint": ('"root"', '"winner": "02", "root"', "checkpoint.winner"),
    "a number that is none": ('"salt"', '"points": NaN, "salt"', "NaN"),
}


@pytest.mark.parametrize("what", KEPT)
def test_a_receipt_that_others_might_read_otherwise_differs(
    what: str, played: Played, tmp_path: Path
) -> None:
    old, new, part = KEPT[what]
    kept = tmp_path / "receipt.json"
    kept.write_text(played.receipt.read_text().replace(old, new, 1))
    for given in ((kept,), (played.archive, "--receipt", kept)):
        found = call("verify", *given)
        assert (found.code, found.json["difference"]["what"], found.json["difference"]["file"]) == (
            1,
            part,
            str(kept),
        )


def test_a_file_that_is_neither_a_zip_nor_a_receipt_is_told_what_was_expected(
    played: Played, tmp_path: Path
) -> None:
    given = {
        "cut.json": played.receipt.read_bytes()[:-9],
        "notes.txt": b"?",
        "empty": b"",
        "no.json": b"{}",
    }
    for name, content in given.items():
        (tmp_path / name).write_bytes(content)
        found = call("verify", tmp_path / name)
        assert (found.code, "(a zip, or its folder), or a receipt" in found.json["error"]) == (
            2,
            True,
        ), found.json
    with (
        speaking("ja"),
        pytest.raises(UsageError, match="zip でも、読み取れる受領証でも"),
        opened(tmp_path / "empty"),
    ):
        pass


# -- what people kept ------------------------------------------------------------------------------------------------------


def signed_anew(log: dict[str, Any]) -> None:
    """All leaves and signatures as a judge would make them that has another key, or forgot its own."""
    private = bytes(range(32))
    tree = Tree()
    for number, entry in enumerate(log["entries"]):
        told = {**json.loads(entry["entry"]), "number": number}
        written = json.dumps(told, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        leaf = leaf_of(bytes.fromhex(entry["salt"]), written.encode())
        tree.append(leaf)
        entry.update(number=number, entry=written, leaf=leaf.hex())
    log["checkpoints"] = [one for one in log["checkpoints"] if one["size"] < len(tree)]
    for one in [*log["checkpoints"], {"size": len(tree), "at": told["at"]}]:
        made = Checkpoint.signed(
            log["contest"], private, one["size"], tree.root(one["size"]), one["at"]
        )
        log["public_key"] = made.public_key.hex()
        one.update({name: made.as_json()[name] for name in ("root", "signature")})
        if one not in log["checkpoints"]:
            log["checkpoints"].append(one)


def test_a_log_that_was_signed_anew_by_another_key_is_caught_by_whatever_somebody_kept(
    played: Played, unpacked: Path
) -> None:
    edit(unpacked / LOG, signed_anew)
    assert call("verify", unpacked).code == 0
    for kept in (played.receipt, played.checkpoint):
        found = call("verify", unpacked, "--receipt", kept)
        assert (found.code, found.json["difference"]["code"]) == (1, "verification.other_than_kept")
        assert found.json["difference"]["what"] == "public_key"
        assert call("verify", kept, "--log", unpacked).json["difference"]["what"] == "public_key"


# -- a judge that lies, and signs its lies ---------------------------------------------------------------------------------

Told = dict[str, Any]


def told_entries(log: dict[str, Any]) -> list[Told]:
    return [json.loads(row["entry"]) for row in log["entries"]]


def place_of(log: dict[str, Any], kind: str, **body: object) -> int:
    """Where the first entry of a kind stands that tells this."""
    found = (
        at
        for at, one in enumerate(told_entries(log))
        if one["kind"] == kind and body.items() <= one["body"].items()
    )
    return next(found)


def retell(log: dict[str, Any], place: int, body: Told, **parts: object) -> None:
    """Another content of an entry."""
    told = told_entries(log)[place]
    log["entries"][place]["entry"] = json.dumps({**told, **parts, "body": {**told["body"], **body}})


def later(time: str, minutes: float) -> str:
    return (datetime.fromisoformat(time) + timedelta(minutes=minutes)).isoformat()


FIRST = {"team": "01", "phase": "anonymize", "number": 2}
CLOSED = {"phase": "anonymize"}


def closing(log: dict[str, Any]) -> str:
    phases = told_entries(log)[0]["body"]["phases"]
    return next(str(one["closes_at"]) for one in phases if one["phase"] == "anonymize")


def late_by(minutes: float) -> Change:
    def lie(log: dict[str, Any]) -> None:
        retell(
            log,
            place_of(log, "submission.received", **FIRST),
            {"received_at": later(closing(log), minutes)},
        )

    return lie


def moved_behind(kind: str, **body: object) -> Change:
    """The entry of a team stands behind another, at its time."""

    def lie(log: dict[str, Any]) -> None:
        place, behind = place_of(log, "submission.received", **FIRST), place_of(log, kind, **body)
        retell(log, place, {}, at=told_entries(log)[behind]["at"])
        taken = log["entries"].pop(place)
        judged = place_of(
            log, "submission.judged", submission=json.loads(taken["entry"])["body"]["submission"]
        )
        retell(log, judged, {}, at=told_entries(log)[behind - 1]["at"])
        again = log["entries"].pop(judged)
        log["entries"][behind - 1 : behind - 1] = [taken, again]

    return lie


def with_limits(kind: str, **limits: object) -> Change:
    def lie(log: dict[str, Any]) -> None:
        phases = told_entries(log)[0]["body"]["phases"]
        retell(
            log,
            0,
            {"phases": [{**one, **limits} if one["phase"] == kind else one for one in phases]},
        )

    return lie


def at_another_time(log: dict[str, Any]) -> None:
    place = place_of(log, "phase.opened", **CLOSED)
    retell(log, place, {}, at=later(told_entries(log)[place]["at"], -600))


def after_its_team_was_out(log: dict[str, Any]) -> None:
    place = place_of(log, "entry.disqualified", team="05")
    first = place_of(log, "phase.opened", **CLOSED)
    retell(log, place, {}, at=told_entries(log)[first]["at"])
    log["entries"].insert(first + 1, log["entries"].pop(place))


def ended_first(log: dict[str, Any]) -> None:
    end, sealed = place_of(log, "contest.ended"), place_of(log, "phase.sealed", phase="attack")
    retell(log, end, {}, at=told_entries(log)[sealed]["at"])
    log["entries"].insert(sealed, log["entries"].pop(end))


def closed_early(log: dict[str, Any]) -> None:
    place = place_of(log, "phase.closed", **CLOSED)
    opens = told_entries(log)[place - 1]["at"]
    retell(log, place, {}, at=opens)


LIES: dict[str, tuple[Change, str]] = {
    "received just after the phase closed": (late_by(0), "received_late"),
    "received 13 minutes late": (late_by(13), "received_late"),
    "told of when its phase was closed": (moved_behind("phase.sealed", **CLOSED), "received_late"),
    "received before the phase opened": (late_by(-8 * 24 * 60), "received_early"),
    "received of a team that was out": (after_its_team_was_out, "received_of_disqualified"),
    "more tries than allowed in all": (with_limits("anonymize", tries_in_all=1), "too_many_tries"),
    "more tries than allowed on a day": (with_limits("attack", tries_per_day=1), "too_many_tries"),
    "a time that goes back": (at_another_time, "time_goes_back"),
    "an end before the last phase is sealed": (ended_first, "out_of_order"),
    "a phase that was closed early": (closed_early, "before_its_time"),
    "standings that the log does not tell of": (lambda log: log["entries"].pop(), "cut_log"),
}


@pytest.mark.parametrize("what", LIES)
def test_a_log_that_breaks_the_rules_of_its_contest_differs_even_when_it_is_signed(
    what: str, unpacked: Path
) -> None:
    lie, code = LIES[what]
    edit(unpacked / LOG, lie)
    edit(unpacked / LOG, signed_anew)
    found = call("verify", unpacked)
    assert (found.code, found.json["difference"]["code"]) == (1, f"verification.{code}"), found.json
    assert found.json["difference"]["file"] == LOG
    assert "releases" not in found.json["checked"], "said before anything is computed"


def test_more_tries_on_a_target_than_allowed_differ(unpacked: Path) -> None:
    edit(unpacked / LOG, with_limits("attack", tries_per_target=1))
    edit(unpacked / LOG, signed_anew)
    edit(
        unpacked / CONTEST,
        lambda contest: contest["rounds"][0]["phases"][1].update(tries_per_target=1),
    )
    found = call("verify", unpacked).json["difference"]
    assert (found["code"], found["here"], found["should_be"]) == (
        "verification.too_many_tries",
        2,
        1,
    )
    assert found["what"].endswith("target 01")


def test_an_archive_that_was_fetched_before_the_last_standings_were_made_says_so_first(
    unpacked: Path,
) -> None:
    edit(unpacked / LOG, lambda log: log["entries"].pop())
    edit(unpacked / LOG, signed_anew)
    for board in (BOARD, TOP):
        edit(unpacked / board, lambda made: made.update(taken_at="2026-01-01T00:00:00+00:00"))
    found = call("verify", unpacked)
    assert (found.code, "fetch it again" in found.json["error"]) == (2, True)


MEMBERS = {
    "the same name": ("cup/contest.json", 0, "cup/contest.json"),
    "a name that differs by case": ("cup/Contest.json", 0, "cup/Contest.json"),
    "a name in another form": ("cup/\u30d5\u309a.txt", 0, "cup/\u30d5\u309a.txt"),
    "an absolute name": ("/etc/hosts", 0, "/etc/hosts"),
    "a name that leads elsewhere": ("cup/../log.json", 0, "cup/../log.json"),
    "a link": ("cup/link", 0o120777, "cup/link"),
    "a file beside the folder": ("beside.txt", 0, "../beside.txt"),
}


@pytest.mark.parametrize("what", MEMBERS)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_zip_of_which_others_might_unpack_other_files_is_refused_and_the_member_named(
    what: str, played: Played, tmp_path: Path
) -> None:
    name, mode, named = MEMBERS[what]
    packed = tmp_path / "cup.zip"
    packed.write_bytes(played.archive.read_bytes())
    with zipfile.ZipFile(packed, "a") as added:
        added.writestr("cup/\u30d7.txt", b"?") if what == "a name in another form" else None
        member = zipfile.ZipInfo(name)
        member.external_attr = mode << 16
        added.writestr(member, b"{}")
    found = call("verify", packed)
    assert (found.code, found.json["difference"]["file"]) == (1, named), found.json


def test_whatever_byte_of_a_zip_is_changed_it_is_refused_or_unpacks_to_the_same_files(
    played: Played, tmp_path: Path
) -> None:
    whole, packed = played.archive.read_bytes(), tmp_path / "cup.zip"
    with zipfile.ZipFile(played.archive) as archive:
        names = {member.filename: member for member in archive.infolist() if member.compress_size}
        contents = {name.removeprefix("cup/"): archive.read(name) for name in names}
    for name, member in names.items():
        lengths = struct.unpack_from(
            "<HH", whole, member.header_offset + 26
        )  # of the name, and of what follows it
        first = member.header_offset + 30 + sum(lengths)
        damage(packed, whole, first + member.compress_size // 2)
        with pytest.raises((UsageError, Difference), match=re.escape(name)), opened(packed):
            pass
    for place in range(0, len(whole), len(whole) // DAMAGES):
        damage(packed, whole, place)
        with contextlib.suppress(UsageError, Difference), opened(packed) as found:
            assert {name: (found.root / name).read_bytes() for name in found.names} == contents, (
                place
            )


def damage(path: Path, whole: bytes, place: int) -> None:
    path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])


def test_what_the_last_signature_does_not_cover_yet_is_no_difference_but_a_reason_to_fetch_the_archive_again(
    unpacked: Path,
) -> None:
    def just_ended(log: dict[str, Any]) -> None:
        end = place_of(log, "contest.ended")
        for place in range(end, len(log["entries"])):
            retell(log, place, {}, at=told_entries(log)[end]["at"])

    def unsigned(log: dict[str, Any]) -> None:
        end, tree = place_of(log, "contest.ended"), Tree()
        for entry in log["entries"][:end]:
            tree.append(bytes.fromhex(entry["leaf"]))
        made = Checkpoint.signed(
            log["contest"], bytes(range(32)), end, tree.root(), told_entries(log)[end]["at"]
        )
        log["checkpoints"][-1] = {
            name: made.as_json()[name] for name in ("size", "root", "at", "signature")
        }

    for change in (just_ended, signed_anew, unsigned):
        edit(unpacked / LOG, change)
    found = call("verify", unpacked)
    assert (found.code, "fetch it again" in found.json["error"]) == (2, True), found.json


def test_a_receipt_is_verified_offline_and_every_part_of_it_matters(
    played: Played, tmp_path: Path
) -> None:
    found = call("verify", played.receipt)
    body = found.json["entry"]["body"]
    assert (found.code, body["team"], body["number"], body["phase"]) == (0, "01", 2, "anonymize")
    assert (
        call("verify", played.receipt, "--log", played.archive).json["log_size"]
        > found.json["checkpoint"]["size"]
    )
    receipt = json.loads(played.receipt.read_bytes())
    changes: list[Change] = [
        lambda kept: kept.update(number=kept["number"] + 1),
        lambda kept: kept.update(entry=kept["entry"].replace('"01"', '"02"')),
        lambda kept: kept.update(salt=other_hex(kept["salt"])),
        lambda kept: kept["path"].pop(),
        lambda kept: kept["path"].__setitem__(0, other_hex(kept["path"][0])),
        *(
            lambda kept, part=part: kept["checkpoint"].update(
                {part: other_hex(kept["checkpoint"][part])}
            )
            for part in HEX
        ),
        lambda kept: kept["checkpoint"].update(size=kept["checkpoint"]["size"] + 1),
        lambda kept: kept["checkpoint"].update(contest="cap"),
    ]
    for number, change in enumerate(changes):
        (tmp_path / f"{number}.json").write_text(json.dumps(receipt))
        edit(tmp_path / f"{number}.json", change)
        assert call("verify", tmp_path / f"{number}.json").code == 1, number


def test_what_cannot_be_read_ends_with_2(played: Played, unpacked: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.zip").write_bytes(played.archive.read_bytes()[:-500])
    (tmp_path / "no.json").write_text('{"format": "kakurenbo receipt 1"}')
    (tmp_path / "empty").mkdir()
    for given in ("cut.zip", "no.json", "empty", "nothing.zip"):
        found = call("verify", tmp_path / given)
        assert (found.code, set(found.json)) == (2, {"error"}), given
    edit(unpacked / LOG, lambda log: log.pop("entries"))
    assert "log.json" in call("verify", unpacked).json["error"]


def test_a_rulebook_that_is_not_installed_is_named(
    unpacked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "names", lambda _group: ("amic2020",))
    assert "'hide-and-seek'" in call("verify", unpacked).json["error"]


def test_verify_needs_none_of_the_judges_packages(played: Played) -> None:
    blocked = "import sys; sys.modules.update(dict.fromkeys(['django', 'ninja', 'psycopg', 'procrastinate', 'zipstream']));"
    program = f"{blocked} from kakurenbo.cli import main; main(['verify', {str(played.archive)!r}, '--json'])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout)["verified"], done.stderr
