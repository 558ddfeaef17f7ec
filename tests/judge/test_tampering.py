"""Somebody with all rights changes a row of the database, or a byte in a store: ``verify`` names it in the archive."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from django.db import connection, transaction
from tests.arena.conftest import installed
from tests.calling import call
from tests.judge import making
from tests.judge.making import organizer
from tests.judge.playing import Play, stage_for_playing

from kakurenbo.contest import ANONYMIZE, ATTACK
from kakurenbo.judge.contests import rules
from kakurenbo.judge.scoring.child import ForkServer
from kakurenbo.judge.scoring.models import RoundFile, SecretFile
from kakurenbo.judge.submissions.models import SubmittedFile
from kakurenbo.judge.submissions.store import name_of
from kakurenbo.judge.trust.rules import checkpoint

# django_db: else pytest makes no database for what is played once for all tests
pytestmark = [pytest.mark.slow, pytest.mark.django_db]
LOG, CONTEST = "log.json", "contest.json"
ROUND = "rounds/only"
ROWS, EARNED, BOARD = f"{ROUND}/submissions.json", f"{ROUND}/earned.json", f"{ROUND}/standings.json"
SCORED = (
    "(SELECT id FROM submissions_submission WHERE state = 'scored' ORDER BY received_at LIMIT 1)"
)
NUMBER = "(result #>> '{record,measurements,0,value}')::float + 0.125"


@dataclass(frozen=True)
class Row:
    """A statement that changes what the database says, and the file that differs by it."""

    statement: str
    file: str
    what: str = ""


def changed(table: str, column: str, value: str, where: str = "true") -> str:
    return f"UPDATE {table} SET {column} = {value} WHERE {where}"


OF_LOG = "number = 3"
LAST_CHECKPOINT = "size = (SELECT max(size) FROM trust_checkpoint)"
FLIPPED = "set_byte({0}, 5, get_byte({0}, 5) # 1)"
HOUR = "{0} + interval '1 second'"
ROWS_OF_THE_DATABASE = {
    "when a submission was received": Row(
        changed(
            "submissions_submission", "received_at", HOUR.format("received_at"), f"id = {SCORED}"
        ),
        ROWS,
        "received_at",
    ),
    "the state of a submission": Row(
        changed("submissions_submission", "state", "'invalid'", f"id = {SCORED}"), ROWS, "state"
    ),
    "which entry was chosen": Row(
        changed("submissions_submission", "chosen_at", "now()", f"id = {SCORED}"), ROWS, "chosen_at"
    ),
    "the number of a submission": Row(
        changed("submissions_submission", "number", "number + 40", f"id = {SCORED}"), ROUND
    ),
    "whose submission it is": Row(
        f"UPDATE submissions_submission SET number = 77, entry_id = (SELECT max(id) FROM contests_entry) WHERE id = {SCORED}",
        ROUND,
    ),
    "a submission that is gone": Row(
        "DELETE FROM submissions_submission WHERE state = 'scored' AND id IN (SELECT submission_id FROM secret.earned)",
        ROUND,
    ),
    "the file of a submission": Row(
        "UPDATE submissions_submittedfile SET blob_id = (SELECT max(other.blob_id) FROM scoring_roundfile other"
        " WHERE other.blob_id <> submissions_submittedfile.blob_id)"
        f" WHERE submission_id = {SCORED}",
        ROWS,
        "sha256",
    ),
    "the name of a file": Row(
        changed("submissions_submittedfile", "name", "'other.csv'", f"submission_id = {SCORED}"),
        ROUND,
    ),
    "a measured figure": Row(
        "UPDATE scoring_judging SET result = jsonb_set(result::jsonb, '{record,measurements,0,value}',"
        f" to_jsonb({NUMBER}))::json WHERE submission_id = {SCORED}",
        ROWS,
        "measurements[0].value",
    ),
    "a verdict": Row(
        changed("scoring_judging", "verdict", "'failed'", f"submission_id = {SCORED}"),
        ROWS,
        "verdict",
    ),
    "which judging counts": Row(
        changed("scoring_judging", "in_effect", "false", f"submission_id = {SCORED}"),
        ROWS,
        "in_effect",
    ),
    "by what a submission was judged": Row(
        changed("scoring_judging", "fingerprint", "repeat('0', 64)", f"submission_id = {SCORED}"),
        ROWS,
        "fingerprint",
    ),
    "what a guess earned": Row(
        "UPDATE secret.earned SET credit = jsonb_set(credit::jsonb, '{hits}', to_jsonb((credit ->> 'hits')::int + 1))::json"
        " WHERE id = (SELECT max(id) FROM secret.earned WHERE submission_id IS NOT NULL)",
        EARNED,
        "hits",
    ),
    "what an organizers' attack earned": Row(
        "UPDATE secret.earned SET credit = jsonb_set(credit::jsonb, '{hits}', to_jsonb((credit ->> 'hits')::int + 1))::json"
        " WHERE submission_id IS NULL",
        EARNED,
        "hits",
    ),
    "a credit that is gone": Row(
        "DELETE FROM secret.earned WHERE submission_id IS NOT NULL", EARNED
    ),
    "what became of a release": Row(
        "UPDATE scoring_target SET record = jsonb_set(record::jsonb, '{state}', '\"missing\"')::json WHERE name = '01'",
        f"{ROUND}/phase/",
        "state",
    ),
    "a figure of a sealed release": Row(
        "UPDATE scoring_target SET record = jsonb_set(record::jsonb, '{measurements,0,value}', '0.625')::json"
        " WHERE name = '01'",
        f"{ROUND}/phase/",
        "value",
    ),
    "a release that is gone": Row("DELETE FROM scoring_target WHERE name = '01'", f"{ROUND}/"),
    "a rank": Row(
        "UPDATE scoring_standingsnapshot SET standings = jsonb_set(standings::jsonb, '{overall,0,rank}', '2')::json"
        " WHERE round_id IS NOT NULL",
        BOARD,
        "overall[0].rank",
    ),
    "a result": Row(
        "UPDATE scoring_standingsnapshot SET results = jsonb_set(results::jsonb, '{credits,01,02,hits}', '99')::json"
        " WHERE round_id IS NOT NULL",
        BOARD,
        "results.credits.01.02.hits",
    ),
    "when standings were made": Row(
        changed(
            "scoring_standingsnapshot", "taken_at", HOUR.format("taken_at"), "round_id IS NOT NULL"
        ),
        BOARD,
        "taken_at",
    ),
    "an entry of the log": Row(
        changed("trust_logentry", "body", 'body || \'{"zone": "UTC"}\'', "number = 0"),
        LOG,
        "entry 0",
    ),
    "the kind of an entry": Row(
        changed("trust_logentry", "kind", "'phase.opened'", OF_LOG), LOG, "entry 3"
    ),
    "the time of an entry": Row(
        changed("trust_logentry", "at", HOUR.format("at"), OF_LOG), LOG, "entry 3"
    ),
    "the salt of an entry": Row(
        changed("trust_logentry", "salt", FLIPPED.format("salt"), OF_LOG), LOG, "entry 3"
    ),
    "the leaf of an entry": Row(
        changed("trust_logentry", "leaf", FLIPPED.format("leaf"), OF_LOG), LOG, "entry 3"
    ),
    "an entry that is gone": Row(f"DELETE FROM trust_logentry WHERE {OF_LOG}", LOG, "entries[3]"),
    "the root of a checkpoint": Row(
        changed("trust_checkpoint", "root", FLIPPED.format("root"), LAST_CHECKPOINT),
        LOG,
        "signature",
    ),
    "a signature": Row(
        changed("trust_checkpoint", "signature", FLIPPED.format("signature"), LAST_CHECKPOINT),
        LOG,
        "signature",
    ),
    "the time of a checkpoint": Row(
        changed("trust_checkpoint", "at", HOUR.format("at"), LAST_CHECKPOINT), LOG, "signature"
    ),
    "the size of a checkpoint": Row(
        changed("trust_checkpoint", "size", "size - 1", LAST_CHECKPOINT), LOG, "signature"
    ),
    "a checkpoint that is gone": Row(
        f"DELETE FROM trust_checkpoint WHERE {LAST_CHECKPOINT}", LOG, "entries["
    ),
    "the key of the contest": Row(
        changed("contests_contest", "public_key", FLIPPED.format("public_key")), LOG, "signature"
    ),
    "the commitments of a round": Row(
        changed("contests_round", "commitments", "replace(commitments, '0', '1')"),
        f"{ROUND}/phase/public/contest.json",
    ),
    "the facts of a round": Row(
        changed("contests_round", "facts", "jsonb_set(facts::jsonb, '{teams}', '[\"01\"]')::json"),
        f"{ROUND}/phase/public/contest.json",
    ),
    "the fingerprint of a round": Row(
        changed("contests_round", "fingerprint", "repeat('0', 64)"), CONTEST, "fingerprint"
    ),
    "when data was drawn": Row(
        changed("contests_round", "prepared_at", HOUR.format("prepared_at")), CONTEST, "prepared_at"
    ),
    "when a phase opens": Row(
        changed("contests_phase", "opens_at", HOUR.format("opens_at"), "kind = 'attack'"),
        CONTEST,
        "opens_at",
    ),
    "when a phase closes": Row(
        changed("contests_phase", "closes_at", HOUR.format("closes_at"), "kind = 'attack'"),
        CONTEST,
        "closes_at",
    ),
    "the state of a phase": Row(
        changed("contests_phase", "state", "'open'", "kind = 'attack'"), CONTEST, "state"
    ),
    "what a phase allows": Row(
        changed("contests_phase", "tries_in_all", "99", "kind = 'attack'"), CONTEST, "tries_in_all"
    ),
    "a disqualification": Row(
        changed("contests_entry", "disqualified", "''", "disqualified <> ''"),
        CONTEST,
        "entries.03.disqualified",
    ),
    "an excuse": Row(
        changed("contests_entry", "excused", "'ill'", "disqualified <> ''"),
        CONTEST,
        "entries.03.excused",
    ),
    "the name of a team": Row(
        changed("contests_team", "name", "'boxes'", "number = '01'"), CONTEST, "teams.01.name"
    ),
    "who is unranked": Row(
        changed("contests_team", "unranked", "true", "number = '01'"), CONTEST, "teams.01.unranked"
    ),
    "an option": Row(
        changed("contests_contest", "options", "jsonb_set(options::jsonb, '{size}', '41')::json"),
        CONTEST,
        "options.size",
    ),
    "the end": Row(
        changed("contests_contest", "ended_at", HOUR.format("ended_at")), CONTEST, "ended_at"
    ),
    "an announcement": Row(changed("contests_announcement", "text", "'Bad luck'"), CONTEST, "text"),
    "a handout that is gone": Row(
        "DELETE FROM scoring_roundfile WHERE path LIKE 'teams/01/%'", f"{ROUND}/preparation"
    ),
    "whose target a file is": Row(
        changed(
            "scoring_roundfile", "path", "replace(path, '/01/', '/09/')", "path LIKE 'targets/01/%'"
        ),
        f"{ROUND}/phase/targets/",
    ),
    "the digest of a secret": Row(
        changed(
            "secret.file",
            "digest",
            "(SELECT max(digest) FROM secret.file)",
            "path LIKE 'answers/01/%'",
        ),
        f"{ROUND}/phase/answers/01/",
    ),
    "a secret that is gone": Row(
        "DELETE FROM secret.file WHERE path LIKE 'answers/01/%'", f"{ROUND}/phase/answers/01/"
    ),
}
STORED: dict[str, tuple[str, Callable[[], str], str]] = {
    "a release in the store": (
        "default",
        lambda: _submitted("release_01"),
        f"{ROUND}/submissions/01/anonymize/0001/",
    ),
    "a guess in the store": ("default", lambda: _submitted("guess_01"), f"{ROUND}/"),
    "a handout in the store": (
        "default",
        lambda: _of_round("teams/01/"),
        f"{ROUND}/preparation/teams/01/",
    ),
    "what is public in the store": (
        "default",
        lambda: _of_round("public/commitments"),
        f"{ROUND}/preparation/public/",
    ),
    "a target in the store": ("default", lambda: _of_round("targets/02/"), f"{ROUND}/"),
    "an answer in the store of secrets": (
        "secret",
        lambda: _secret("answers/02/"),
        f"{ROUND}/phase/answers/02/",
    ),
    "the opening in the store of secrets": (
        "secret",
        lambda: _secret("secret/opening"),
        f"{ROUND}/preparation/",
    ),
}

GONE = ("a release in the store", "an answer in the store of secrets")


def _submitted(name: str) -> str:
    return (
        SubmittedFile.objects.filter(name__startswith=name)
        .order_by("submission__received_at")[0]
        .blob_id
    )


def _of_round(path: str) -> str:
    return RoundFile.objects.filter(path__startswith=path)[0].blob_id


def _secret(path: str) -> str:
    return SecretFile.objects.filter(path__startswith=path)[0].digest


@contextlib.contextmanager
def undone() -> Iterator[Any]:
    """The database without its triggers, as its owner can have it; whatever is changed is undone."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET LOCAL session_replication_role = replica")
            yield cursor
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def archives(
    request: pytest.FixtureRequest,
    plugin_site: Path,
    django_db_blocker: Any,
    fork_server: ForkServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[str, Path]]:
    """The archive of a contest that was played, as it is, and after each change of its own."""
    request.getfixturevalue("django_db_setup")
    folder, made = tmp_path_factory.mktemp("archives"), {}
    place = tmp_path_factory.mktemp("play")

    def keep(what: str, play: Play) -> None:
        made[what] = folder / f"{len(made)}.zip"
        made[what].write_bytes(play.archive())

    with pytest.MonkeyPatch.context() as patch, installed(plugin_site, patch):
        with django_db_blocker.unblock(), stage_for_playing(place, fork_server) as worker:
            play = _played(Play("hide-and-seek", ("only",), place, worker, size=40))
            keep("nothing", play)
            for what, row in ROWS_OF_THE_DATABASE.items():
                with undone() as cursor:
                    cursor.execute(row.statement.replace("%", "%%"), [])
                    assert cursor.rowcount > 0, what
                    keep(what, play)
            for what, (name, digest, _) in STORED.items():
                stored = Path(storages[name].path(name_of(digest())))
                content = stored.read_bytes()
                stored.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
                keep(what, play)
                if what in GONE:
                    stored.unlink()
                    keep(f"{what}, which is gone", play)
                stored.write_bytes(content)
        yield made


def _played(play: Play) -> Play:
    teams = [play.team(name) for name in ("foxes", "owls", "rogues")]
    rules.announce(organizer(), play.contest, "Welcome", "Good luck")
    play.open("only", ANONYMIZE)
    for team in teams:
        play.hand_in(team, ANONYMIZE, play.release(team))
    checkpoint(play.contest)
    rogues = making.entry(play.contest.teams.get(number=teams[2]), "only")
    rules.disqualify(organizer(), rogues, "two accounts")
    play.open("only", ATTACK)
    for team in teams[:2]:
        play.hand_in(team, ATTACK, play.guesses(team))
    play.end()
    return play


def test_what_nobody_changed_holds(archives: dict[str, Path]) -> None:
    found = call("verify", archives["nothing"])
    assert (found.code, found.json["complete"]) == (0, True), found.json


@pytest.mark.parametrize("what", ROWS_OF_THE_DATABASE)
def test_a_row_that_somebody_changed_in_the_database_is_named(
    what: str, archives: dict[str, Path]
) -> None:
    found, row = call("verify", archives[what]), ROWS_OF_THE_DATABASE[what]
    assert found.code == 1, found
    difference = found.json["difference"]
    assert difference["file"].startswith(row.file), difference
    assert row.what in difference["what"], difference


@pytest.mark.parametrize("what", [*STORED, *(f"{what}, which is gone" for what in GONE)])
def test_a_byte_that_somebody_changed_in_a_store_is_named_and_so_is_a_file_that_is_gone(
    what: str, archives: dict[str, Path]
) -> None:
    found = call("verify", archives[what])
    assert found.code == 1, found
    assert found.json["difference"]["file"].startswith(
        STORED[what.removesuffix(", which is gone")][2]
    ), found.json
