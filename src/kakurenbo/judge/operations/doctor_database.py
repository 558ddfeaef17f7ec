"""What the doctor asks of the database: is it there, of this version, closed to the web, and is work being done?"""

from __future__ import annotations

import time
from datetime import timedelta

from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import DatabaseError, ProgrammingError

from kakurenbo.core.messages import text
from kakurenbo.judge.contests.models import Contest, Round
from kakurenbo.judge.operations import probing
from kakurenbo.judge.operations.doctor import Order
from kakurenbo.judge.scoring.models import Job, JobState, Judging
from kakurenbo.judge.serve.roles import WEB
from kakurenbo.judge.trust.models import LogEntry
from kakurenbo.judge.trust.queries import latest_checkpoint
from kakurenbo.proofs import ProofError, Tree, entry_bytes, leaf_of

Found = tuple[bool, str]
_LONG_WAIT = timedelta(minutes=10)
_MOST_NAMED = 5
_WITH_SET = 160000  # since when being a member and acting as one are two rights
_FORBIDDEN = (
    "SELECT 1 FROM secret.signing_key",
    "DELETE FROM secret.file",
    "UPDATE trust_logentry SET kind = kind",
    "INSERT INTO trust_checkpoint DEFAULT VALUES",
)
"""What the web is refused whatever is in the tables; each is taken back in any case."""
_EARLY_SECRETS = """
SELECT count(*) FROM secret.file JOIN contests_round ON contests_round.id = file.round_id
JOIN contests_contest ON contests_contest.id = contests_round.contest_id WHERE contests_contest.ended_at IS NULL
"""


def answers(order: Order) -> Found:
    began = time.monotonic()
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            version = cursor.fetchone()[0]
    except DatabaseError as error:
        told = (str(error).strip().splitlines() or [""])[0]
        return False, text("doctor.no_database", home=order.home, error=told)
    return True, text(
        "doctor.database",
        version=version.split()[0],
        milliseconds=round((time.monotonic() - began) * 1000),
    )


def tables(_order: Order) -> Found:
    executor = MigrationExecutor(connection)
    loader = executor.loader
    unknown = [
        key
        for key in loader.applied_migrations
        if key[0] in loader.migrated_apps and key not in loader.graph.nodes
    ]
    if unknown:
        return False, text("doctor.newer_database")
    missing = executor.migration_plan(loader.graph.leaf_nodes())
    return not missing, text("doctor.tables_missing", count=len(missing)) if missing else text(
        "doctor.tables"
    )


def roles(_order: Order) -> Found:
    """Try, as the web, what it must not do."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [WEB])
        if cursor.fetchone() is None:
            return False, text("doctor.no_web_role", role=WEB)
        may_become = "SET" if connection.pg_version >= _WITH_SET else "MEMBER"  # type: ignore[attr-defined]
        cursor.execute("SELECT pg_has_role(current_user, %s, %s)", [WEB, may_become])
        if not cursor.fetchone()[0]:
            return _roles_by_rights()
    done = [statement for statement in _FORBIDDEN if _may(statement)]
    if done:
        return False, text("doctor.web_may", role=WEB, what=done)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL ROLE {WEB}")
        cursor.execute(_EARLY_SECRETS)
        seen = cursor.fetchone()[0]
        cursor.execute("RESET ROLE")
    return not seen, text("doctor.web_sees", role=WEB, count=seen) if seen else text(
        "doctor.roles", count=len(_FORBIDDEN) + 1
    )


def _may(statement: str) -> bool:
    """Whether the web may do this; it is not done."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL ROLE {WEB}")
                cursor.execute(statement)
            transaction.set_rollback(True)
    except ProgrammingError:
        return False
    except DatabaseError:  # it was let in, and stumbled over something else
        return True
    return True


def _roles_by_rights() -> Found:
    """The same by asking for rights, where this account may not act as the web."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT has_table_privilege(%s, 'secret.signing_key', 'SELECT')", [WEB])
        keys = cursor.fetchone()[0]
        cursor.execute("SELECT has_table_privilege(%s, 'trust_logentry', 'UPDATE, DELETE')", [WEB])
        log = cursor.fetchone()[0]
        cursor.execute(
            "SELECT bool_and(relrowsecurity) FROM pg_class WHERE oid IN ('secret.file'::regclass, 'secret.earned'::regclass)"
        )
        closed = cursor.fetchone()[0]
    well = not keys and not log and bool(closed)
    return well, text("doctor.roles_by_rights") if well else text(
        "doctor.web_may", role=WEB, what=["secret", "trust_logentry"]
    )


def workers(order: Order) -> Found:
    state, seconds = probing.state(), int(probing.WORKER_SILENT.total_seconds())
    if state.workers:
        return True, text("doctor.workers", count=state.workers, seconds=seconds)
    last = (
        text("doctor.never")
        if state.last_worker is None
        else text("doctor.ago", seconds=int(state.last_worker.total_seconds()))
    )
    return False, text("doctor.no_workers", home=order.home, seconds=seconds, last=last)


def queue(_order: Order) -> Found:
    """Nothing waits long, and nothing waits for an organizer."""
    parked = Job.objects.filter(state=JobState.PARKED).select_related("contest")
    if parked:
        named = [f"{job.pk} ({job.contest.slug}: {job})" for job in parked[:_MOST_NAMED]]
        return False, text("doctor.parked", count=len(parked), jobs=named)
    state = probing.state()
    if state.oldest_waiting is not None and state.oldest_waiting > _LONG_WAIT:
        return False, text(
            "doctor.long_wait", minutes=int(state.oldest_waiting / timedelta(minutes=1))
        )
    under_way = sum(state.jobs.values())
    return True, text("doctor.queue", count=under_way) if under_way else text("doctor.queue_empty")


def sweep(order: Order) -> Found:
    state = probing.state()
    if not state.sweep_is_alive:
        return False, text("doctor.no_sweep", home=order.home)
    if not state.log_is_signed:
        return False, text("doctor.unsigned")
    return True, text("doctor.sweep")


def clock(_order: Order) -> Found:
    """Both clocks agree, and neither is behind what has happened."""
    state = probing.state()
    ahead = f"{state.clock.total_seconds():+.3f}"
    if abs(state.clock) > probing.CLOCKS_APART:
        return False, text("doctor.clocks_apart", seconds=ahead)
    if not state.clock_is_right and state.last_event is not None:
        return False, text(
            "doctor.clock_back", event=state.last_event.isoformat(timespec="seconds")
        )
    return True, text("doctor.clock", seconds=ahead)


def fingerprints(_order: Order) -> Found:
    """What scores here is what scored before, in contests that are not over."""
    from kakurenbo.proofs.fingerprint import fingerprint_of  # with the rulebook

    other: list[str] = []
    rounds = list(
        Round.objects.filter(contest__ended_at=None)
        .exclude(fingerprint="")
        .select_related("contest")
    )
    for one in rounds:
        here = fingerprint_of({"name": one.contest.rulebook, "options": one.contest.options})
        in_effect = Judging.objects.filter(
            submission__entry__round=one, in_effect=True
        ).values_list("fingerprint", flat=True)
        if set(in_effect.distinct() or [one.fingerprint]) != {
            here
        }:  # a round that was judged again was drawn by another
            other.append(f"{one.contest.slug}/{one.name}")
    return not other, text("doctor.other_fingerprint", rounds=other) if other else text(
        "doctor.fingerprints", count=len(rounds)
    )


def logs(_order: Order) -> Found:
    """Every log is, entry by entry, what was signed last."""
    entries, broken = 0, []
    contests = list(Contest.objects.exclude(public_key=b""))
    for contest in contests:
        fault, count = _fault_in_log(contest)
        entries += count
        if fault:
            broken.append(f"{contest.slug}: {fault}")
    return not broken, text("doctor.log_broken", logs=broken) if broken else text(
        "doctor.log", contests=len(contests), entries=entries
    )


def _fault_in_log(contest: Contest) -> tuple[str, int]:
    """What is wrong with a log, empty for nothing; and how many entries it has."""
    tree = Tree()
    for place, entry in enumerate(
        LogEntry.objects.filter(contest=contest).order_by("number").iterator()
    ):
        leaf = bytes(entry.leaf)
        if entry.number != place:
            return text("doctor.log_gap", number=place), place
        if (
            leaf_of(bytes(entry.salt), entry_bytes(entry.number, entry.kind, entry.body, entry.at))
            != leaf
        ):
            return text("doctor.log_entry", number=place), place
        tree.append(leaf)
    signed = latest_checkpoint(contest)
    if signed is None:
        return "", len(tree)
    if signed.size > len(tree) or tree.root(signed.size) != signed.root:
        return text("doctor.log_root", size=signed.size), len(tree)
    try:
        signed.check()
    except ProofError:
        return text("doctor.log_signature", size=signed.size), len(tree)
    return "", len(tree)
