"""Reading the log: what everybody may have of it, receipts, and proofs that it only grew."""

from __future__ import annotations

import time
from typing import Any

from django.db import connection
from django.db.models import Max

from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.judge.trust.models import Checkpoint, LogEntry
from kakurenbo.judge.trust.rules import moment
from kakurenbo.proofs import Checkpoint as SignedRoot
from kakurenbo.proofs import Receipt, Tree, entry_bytes

RECEIVED = "submission.received"
_OPENED_SECONDS, _LOOK_SECONDS = 30.0, 0.2


def log(contest: Contest, *, ended: bool) -> dict[str, Any]:
    """The log as everybody may see it: leaves and signed roots at once; when all is over, what the entries say, and salts."""
    names = ("size", "root", "at", "signature")
    signed = (
        signed_root(one, contest).as_json() for one in Checkpoint.objects.filter(contest=contest)
    )
    return {
        "contest": contest.slug,
        "public_key": bytes(contest.public_key).hex(),
        "entries": [
            _log_entry(entry, ended=ended) for entry in LogEntry.objects.filter(contest=contest)
        ],
        "checkpoints": [{name: one[name] for name in names} for one in signed],
    }


def latest_checkpoint(contest: Contest) -> SignedRoot | None:
    """The last signed root of a contest."""
    found = Checkpoint.objects.filter(contest=contest).order_by("-size").first()
    return None if found is None else signed_root(found, contest)


def await_opened(contest: Contest) -> None:
    """Wait until what a contest kept secret can be seen by this process: where its rights end at rows, when the end is signed.

    Raises
    ------
    PermissionError
        When it is not within half a minute.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT row_security_active('secret.file')")
        if not cursor.fetchone()[0]:
            return
    until = time.monotonic() + _OPENED_SECONDS
    while True:
        signed = Checkpoint.objects.filter(contest=contest).aggregate(size=Max("size"))["size"] or 0
        if LogEntry.objects.filter(
            contest=contest, kind="contest.ended", number__lt=signed
        ).exists():
            return
        if time.monotonic() > until:
            raise PermissionError(contest.slug)
        time.sleep(_LOOK_SECONDS)


def is_signed(contest: Contest) -> bool:
    """Whether the last signature covers every entry; of a contest without a key nothing is ever signed."""
    latest = latest_checkpoint(contest)
    signed = 0 if latest is None else latest.size
    return not contest.public_key or signed == LogEntry.objects.filter(contest=contest).count()


def signed_root(checkpoint: Checkpoint, contest: Contest) -> SignedRoot:
    """A checkpoint as it is handed over."""
    key, root, signature = (
        bytes(part) for part in (contest.public_key, checkpoint.root, checkpoint.signature)
    )
    return SignedRoot(contest.slug, key, checkpoint.size, root, moment(checkpoint.at), signature)


def receipt(submission: Submission) -> Receipt | None:
    """The receipt of a submission, under the latest signature; None while there is none that covers it.

    Whoever asks is somebody who may see what the team handed in.
    """
    contest = submission.entry.team.contest
    entry = LogEntry.objects.filter(
        contest=contest, kind=RECEIVED, body__submission=str(submission.pk)
    ).first()
    checkpoint = latest_checkpoint(contest)
    if entry is None or checkpoint is None or checkpoint.size <= entry.number:
        return None
    path = _tree(contest, checkpoint.size).path(entry.number)
    return Receipt(entry.number, _written(entry), bytes(entry.salt), tuple(path), checkpoint)


def consistency(contest: Contest, first: int, second: int) -> list[bytes] | None:
    """The proof that the log of ``second`` entries begins with that of ``first``; None where it has not so many."""
    if not 0 < first <= second <= LogEntry.objects.filter(contest=contest).count():
        return None
    return _tree(contest, second).consistency_proof(first)


def _tree(contest: Contest, size: int) -> Tree:
    leaves = LogEntry.objects.filter(contest=contest, number__lt=size).values_list(
        "leaf", flat=True
    )
    return Tree(bytes(leaf) for leaf in leaves)


def _log_entry(entry: LogEntry, *, ended: bool) -> dict[str, Any]:
    told = {"number": entry.number, "leaf": bytes(entry.leaf).hex()}
    return {**told, "salt": bytes(entry.salt).hex(), "entry": _written(entry)} if ended else told


def _written(entry: LogEntry) -> str:
    return entry_bytes(entry.number, entry.kind, entry.body, entry.at).decode()
