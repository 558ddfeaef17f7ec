"""Everything that organizers and players do on pages is done with the rights of the web, which sees no secret."""

from __future__ import annotations

import ctypes
import io
import multiprocessing
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from django.core.files import File
from django.core.files.storage import storages
from django.utils import timezone
from tests.judge import making
from tests.judge.making import blob, organizer, plan
from tests.judge.test_roles import as_web

from kakurenbo.contest import ATTACK
from kakurenbo.core.errors import UsageError
from kakurenbo.judge import confinement
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.advancing import end_contest
from kakurenbo.judge.contests.models import Contest, PhaseState, Role
from kakurenbo.judge.contests.rehearsal import rehearse
from kakurenbo.judge.scoring.models import Job, SecretFile, Target
from kakurenbo.judge.scoring.sweep import reveal_secrets
from kakurenbo.judge.serve.closed import ClosedStore
from kakurenbo.judge.serve.credentials import SECRET_KEY, SECRET_KEY_ID, Credentials, set_apart
from kakurenbo.judge.serve.parts import _confine_web, use_secret_keys
from kakurenbo.judge.serve.roles import make_web_role
from kakurenbo.judge.serve.settings import _store
from kakurenbo.judge.submissions import queries, store
from kakurenbo.judge.submissions import rules as submissions


@pytest.mark.django_db
def test_organizers_and_players_need_no_other_rights() -> None:
    make_web_role("of the moment")
    now = timezone.now()
    with as_web():
        contest = making.contest(phases=plan(now + timedelta(days=1)))
        hanako = making.user()
        team = making.team(contest, "foxes", hanako)
        invite, _ = rules.invite(organizer(), team, Role.ADVISER)
        rules.revoke_invite(organizer(), invite)
        phase = making.phase(contest, ATTACK)
        rules.reschedule(organizer(), phase, phase.opens_at, phase.closes_at + timedelta(hours=1))
        rules.set_visibility(organizer(), phase, "hidden")
        rules.announce(organizer(), contest, "Hello", "Read the rules.")
    entry, phase = making.entry(team), making.opened(contest)
    with as_web():
        submission = submissions.begin(hanako, entry, phase, now)
        submissions.add_file(submission, "pre_anonymizeddata_01.csv", blob())
        submission = submissions.finish(submission, now)
        assert [one.number for one in queries.history(entry, phase)] == [1]
        assert queries.counting(entry, phase) == []
        submissions.withdraw(hanako, submission, now)
        rules.disqualify(organizer(), entry, "by mistake")
    Target.objects.create(
        round=entry.round, entry=entry, name="01", record={"state": "disqualified"}
    )
    with as_web():
        rules.reinstate(organizer(), entry)
        assert not Target.objects.exists()
        rules.excuse(organizer(), entry, "was ill")
        rehearse(organizer(), contest)
        contest.rounds.get().phases.update(state=PhaseState.CLOSED)
        rules.end(organizer(), contest)
    assert Contest.objects.count() == 2
    assert {"judge", "seal", "standings"} == set(Job.objects.values_list("kind", flat=True))


@pytest.mark.skipif(not confinement.version(), reason="the kernel has no Landlock")
def test_the_web_neither_reads_nor_lists_secrets_keys_and_the_database_though_its_account_could(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    secrets = (
        "secret/ab/answer",
        "secret-key",
        "postgres.password",
        "postgres/PG_VERSION",
        "work/1/answer",
    )
    for name in (*secrets, "files/ab/release", "web/upload"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("it")
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as web:
        web.submit(_confine_web, home).result()
        for name in secrets:
            assert (
                web.submit(_attempted, partial((home / name).read_text)).result()
                == "PermissionError"
            ), name
        for folder in (home, home / "secret", home / "secret" / "ab", home / "postgres", tmp_path):
            assert (
                web.submit(_attempted, partial(os.listdir, folder)).result() == "PermissionError"
            ), folder
        for what in ("environ", "mem", "maps"):
            place = Path(f"/proc/{os.getpid()}/{what}")
            assert web.submit(_attempted, place.open).result() == "PermissionError", what
        for place in (
            home / "secret-key",
            home / "secret" / "new",
            tmp_path / "new",
            Path(__file__),
        ):
            assert web.submit(_attempted, partial(place.open, "a")).result() == "PermissionError", (
                place
            )
        assert web.submit(_attempted, partial(os.kill, os.getpid(), 0)).result() == (
            "PermissionError" if confinement.version() >= 6 else "done"
        )
        assert web.submit((home / "files" / "ab" / "release").read_text).result() == "it"
        assert web.submit((home / "files" / "cd").mkdir).result() is None
        assert Path(web.submit(_temporary).result()).parent == home / "web"
        assert web.submit(Path(__file__).read_text).result()


@pytest.mark.skipif(not confinement.version(), reason="the kernel has no Landlock")
def test_the_web_reaches_neither_memory_nor_open_files_of_the_processes_around_it(
    tmp_path: Path,
) -> None:
    _, word = set_apart({"DATABASE_URL": "host=db password=x"})
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as web:
        web.submit(os.close, int(word)).result()
        web.submit(_confine_web, tmp_path).result()
        supervisor = os.getpid()
        attempts: dict[str, Callable[[], object]] = {
            "attach": partial(_system_call, "ptrace", _PTRACE_ATTACH, supervisor, 0, 0),
            "read memory": partial(_read_memory, supervisor),
            "take a file": partial(_take_file, supervisor, int(word)),
            **{
                name: partial(os.listdir, f"/proc/{supervisor}/{name}")
                for name in ("fd", "root", "cwd")
            },
            "open a file": partial(os.open, f"/proc/{supervisor}/fd/{word}", os.O_RDONLY),
        }
        assert {
            name: web.submit(_attempted, attempt).result() for name, attempt in attempts.items()
        } == dict.fromkeys(attempts, "PermissionError")
    assert Credentials(int(word)).read() == {"PGPASSWORD": "x"}


_PTRACE_ATTACH, _PIDFD_GETFD = 16, 438


def _system_call(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _read_memory(pid: int) -> None:
    span = (ctypes.c_size_t * 2)(id(pid), 8)
    own = ctypes.create_string_buffer(8)
    into = (ctypes.c_size_t * 2)(ctypes.addressof(own), 8)
    _system_call("process_vm_readv", pid, into, 1, span, 1, 0)


def _take_file(pid: int, file: int) -> None:
    _system_call("syscall", _PIDFD_GETFD, os.pidfd_open(pid), file, 0)


def test_what_only_workers_may_have_is_taken_out_of_the_environment() -> None:
    keys = {SECRET_KEY_ID: "a", SECRET_KEY: "b"}
    given = {
        "DATABASE_URL": "postgresql://me:p%20w@db/judge",
        "KAKURENBO_JUDGE_S3_BUCKET": "k",
        "PATH": "/bin",
        **keys,
    }
    left, word = set_apart(given)
    assert left == {
        "DATABASE_URL": "user=me dbname=judge host=db",
        "KAKURENBO_JUDGE_S3_BUCKET": "k",
        "PATH": "/bin",
    }
    assert Credentials.inherited(word).read() == {"PGPASSWORD": "p w", **keys}
    assert set_apart({"PATH": "/bin"}) == ({"PATH": "/bin"}, "")
    for lacking in given.keys() & {*keys, "KAKURENBO_JUDGE_S3_BUCKET"}:
        with pytest.raises(UsageError, match="KAKURENBO_JUDGE_SECRET_S3"):
            set_apart({name: value for name, value in given.items() if name != lacking})


def test_the_store_of_secrets_is_reached_by_its_own_keys_and_by_the_web_not_at_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAKURENBO_JUDGE_S3_BUCKET", "k")
    backends = {"default": _store("files"), "secret": _store("secret")}
    monkeypatch.setattr(storages, "backends", backends)
    use_secret_keys({SECRET_KEY_ID: "a", SECRET_KEY: "b"})
    assert (
        backends["secret"]["OPTIONS"]["access_key"],
        backends["secret"]["OPTIONS"]["secret_key"],
    ) == ("a", "b")
    assert "access_key" not in backends["default"]["OPTIONS"]
    closed = ClosedStore()
    for attempt in (
        partial(closed.open, "ab/x"),
        partial(closed.exists, "ab/x"),
        partial(closed.save, "x", File(io.BytesIO())),
    ):
        assert _attempted(attempt) == "PermissionError"


def _attempted(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"


def _temporary() -> str:
    with tempfile.NamedTemporaryFile() as file:
        return file.name


@pytest.mark.django_db
def test_once_a_contest_is_over_its_secrets_are_in_the_open_store_and_those_of_others_are_not(
    judge_home: Path,
) -> None:
    over, under_way = (making.contest(slug=slug) for slug in ("over", "under-way"))
    digests = {}
    for contest in (over, under_way):
        digest, size = store.put_secret(contest.slug.encode())
        SecretFile.objects.create(
            round_id=contest.rounds.get().pk, path="secret/answer", digest=digest, size=size
        )
        digests[contest.slug] = digest
    Contest.objects.update(
        ended_at=timezone.now()
    )  # which the web could write: the log of the other does not tell of it
    end_contest(over, timezone.now())
    done: set[int] = set()
    reveal_secrets(done)
    assert done == {over.pk}
    with store.open_blob(digests["over"]) as file:
        assert file.read() == b"over"
    with pytest.raises(FileNotFoundError):
        store.open_blob(digests["under-way"])
    if confinement.version():
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as web:
            web.submit(_confine_web, judge_home).result()
            assert web.submit(store.read_secret, digests["over"]).result() == b"over"
