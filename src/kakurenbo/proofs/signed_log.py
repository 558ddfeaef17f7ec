"""The log by itself: leaves, numbers, signatures; and against what somebody kept of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.proofs import Checkpoint, ProofError, Receipt, Tree, leaf_of
from kakurenbo.proofs.archive import LOG, LogFile, LogRow
from kakurenbo.proofs.differences import Difference
from kakurenbo.proofs.log import HASH_BYTES, SALT_BYTES, entry_bytes, hex_field

_SIGNED_WITHIN = timedelta(minutes=1)
"""A judge signs every five seconds; one that is very busy may be late."""


def check_log(log: LogFile) -> Tree:
    """The tree of a log whose leaves, numbers and signatures hold; of a contest that is over, up to the last entry.

    Raises
    ------
    Difference
        For the first entry or checkpoint that does not.
    """
    tree = Tree()
    for place, row in enumerate(log.entries):
        if row.number != place:
            raise Difference("verification.gap", LOG, f"entries[{place}]", row.number, place)
        tree.append(_leaf(row))
    for signed in _checkpoints(log):
        what = f"checkpoint {signed.size}"
        _checked(signed, LOG, what)
        if signed.size > len(tree):
            raise Difference("verification.short_log", LOG, what, len(tree), signed.size)
        if tree.root(signed.size) != signed.root:
            raise Difference(
                "verification.other_root",
                LOG,
                what,
                tree.root(signed.size).hex(),
                signed.root.hex(),
            )
    last = max((row.size for row in log.checkpoints), default=0)
    if is_open(log) and (last != len(tree) or not len(tree)):
        if _ended_just_now(log, last):
            raise UsageError(text("verification.not_signed_yet", entries=len(tree), signed=last))
        raise Difference("verification.unsigned", LOG, f"entries[{last}:]", len(tree), last)
    return tree


def _ended_just_now(log: LogFile, signed: int) -> bool:
    """Whether all that no signature covers came with the end, so that a judge that signs every few seconds was about to."""
    told = entries_of(log)
    try:
        ends = [
            datetime.fromisoformat(entry["at"])
            for entry in told
            if entry["kind"] == "contest.ended"
        ]
        return bool(ends) and all(
            datetime.fromisoformat(entry["at"]) >= ends[0] - _SIGNED_WITHIN
            for entry in told[signed:]
        )
    except (KeyError, TypeError, ValueError):
        return False


def check_kept(kept: Receipt | Checkpoint, file: str, log: LogFile, tree: Tree) -> None:
    """Whether a log still begins as it did when somebody kept a receipt or a checkpoint of it."""
    _checked(kept, file, "")
    signed = kept.checkpoint if isinstance(kept, Receipt) else kept
    for what, here, should_be in (
        ("contest", log.contest, signed.contest),
        ("public_key", log.public_key, signed.public_key.hex()),
    ):
        if here != should_be:
            raise Difference(
                "verification.other_than_kept", LOG, what, here, f"{should_be} ({file})"
            )
    if signed.size > len(tree):
        raise Difference("verification.short_log", LOG, file, len(tree), signed.size)
    if isinstance(kept, Receipt):
        here_leaf = log.entries[kept.number].leaf
        if here_leaf != kept.leaf.hex():
            raise Difference(
                "verification.other_than_kept",
                LOG,
                f"entry {kept.number}",
                here_leaf,
                f"{kept.leaf.hex()} ({file})",
            )
    if tree.root(signed.size) != signed.root:
        raise Difference(
            "verification.rewritten", LOG, file, tree.root(signed.size).hex(), signed.root.hex()
        )


def entries_of(log: LogFile) -> list[dict[str, Any]]:
    """What the entries say, each with its number, kind, body and time; they belong to their leaves already."""
    return [json.loads(row.entry or "") for row in log.entries]


def is_open(log: LogFile) -> bool:
    """Whether the entries are told, as they are when a contest is over."""
    return all(row.entry is not None and row.salt is not None for row in log.entries)


def untold(log: LogFile) -> int:
    """The first entry whose salt or content is not told."""
    return next(row.number for row in log.entries if row.entry is None or row.salt is None)


def _leaf(row: LogRow) -> bytes:
    what = f"entry {row.number}"
    try:
        leaf = hex_field({"leaf": row.leaf}, "leaf", HASH_BYTES)
        if row.entry is None or row.salt is None:
            return leaf
        found = leaf_of(hex_field({"salt": row.salt}, "salt", SALT_BYTES), row.entry.encode())
    except ProofError as wrong:
        raise Difference(wrong.why, LOG, f"{what}, {wrong.field}") from None
    if found != leaf:
        raise Difference("verification.other_leaf", LOG, what, found.hex(), leaf.hex())
    if not _is_as_written(row):
        raise Difference("verification.bad_entry", LOG, what)
    return leaf


def _is_as_written(row: LogRow) -> bool:
    """Whether an entry is, byte by byte, one that the judge writes: no key twice, and none beside those it knows."""
    entry = row.entry or ""
    try:
        told = json.loads(entry)
        written = entry_bytes(
            row.number, told["kind"], told["body"], datetime.fromisoformat(told["at"])
        )
        return (
            isinstance(told["body"], dict)
            and isinstance(told["kind"], str)
            and written == entry.encode()
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return False


def _checkpoints(log: LogFile) -> Iterator[Checkpoint]:
    for row in log.checkpoints:
        told = {"size": row.size, "root": row.root, "at": row.at, "signature": row.signature}
        try:
            yield Checkpoint.from_json(told, contest=log.contest, public_key=log.public_key)
        except ProofError as wrong:
            raise Difference(wrong.why, LOG, f"checkpoint {row.size}, {wrong.field}") from None


def _checked(kept: Receipt | Checkpoint, file: str, what: str) -> None:
    try:
        kept.check()
    except ProofError as wrong:
        raise Difference(
            wrong.why, file, f"{what}, {wrong.field}" if what else wrong.field
        ) from None
