"""What the log is told, in the transaction in which it happens, and the signatures under it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import connection, transaction
from django.utils import timezone

from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.trust.models import Checkpoint, LogEntry, SigningKey
from kakurenbo.proofs import Checkpoint as SignedRoot
from kakurenbo.proofs import Tree, entry_bytes, leaf_of
from kakurenbo.proofs.log import SALT_BYTES

_LOCK = 6962  # the class of advisory locks that number log entries


def record(contest: Contest, kind: str, body: Mapping[str, Any]) -> LogEntry:
    """Add an entry to a contest's log, as part of the caller's transaction.

    Entries of a contest are written one after the other: the lock is held until the caller commits, so that numbers have no
    gap. Take it last, and keep the transaction short.

    Parameters
    ----------
    contest : Contest
    kind : str
        What happened: ``submission.received``, ``target.sealed``, ...
    body : mapping
        Texts, whole numbers, truth values, lists and objects. Of fractions, which a database may write otherwise, give texts;
        of anything large its digest.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK, contest.pk])
        last = LogEntry.objects.filter(contest=contest).order_by("-number").first()
        number, at, salt = 0, timezone.now(), secrets.token_bytes(SALT_BYTES)
        if last is not None:
            number, at = (
                last.number + 1,
                max(at, last.at),
            )  # a clock that was set back makes nothing happen earlier
        leaf = leaf_of(salt, entry_bytes(number, kind, body, at))
        return LogEntry.objects.create(
            contest=contest, number=number, kind=kind, body=dict(body), salt=salt, leaf=leaf, at=at
        )


def new_key(contest: Contest) -> None:
    """Make the key by which a contest signs its log; whoever calls needs the right to add keys, not to read them."""
    key = Ed25519PrivateKey.generate()
    SigningKey.objects.create(contest_id=contest.pk, private=key.private_bytes_raw())
    contest.public_key = key.public_key().public_bytes_raw()
    contest.save(update_fields=["public_key"])


def checkpoint(contest: Contest) -> Checkpoint:
    """Sign the log as it is; the last checkpoint where nothing was added since."""
    entries = LogEntry.objects.filter(contest=contest)
    tree = Tree(bytes(leaf) for leaf in entries.values_list("leaf", flat=True))
    last = Checkpoint.objects.filter(contest=contest, size=len(tree)).first()
    if last is not None:
        return last
    root, at = (
        tree.root(),
        max(timezone.now(), *entries.filter(number=len(tree) - 1).values_list("at", flat=True)),
    )
    private = bytes(SigningKey.objects.get(contest_id=contest.pk).private)
    made = SignedRoot.signed(contest.slug, private, len(tree), root, moment(at))
    return Checkpoint.objects.create(
        contest=contest, size=len(tree), root=root, signature=made.signature, at=at
    )


def moment(at: datetime) -> str:
    """The time of a checkpoint, as it is signed."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")
