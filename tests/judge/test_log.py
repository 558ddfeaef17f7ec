"""The log: gapless, append-only, hidden behind salts, signed."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.db import DatabaseError, connection, transaction

from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.trust import rules
from kakurenbo.judge.trust.models import LogEntry
from kakurenbo.judge.trust.tree import Tree, leaf_hash

pytestmark = pytest.mark.django_db

MakeContest = Callable[..., Contest]


def test_entries_are_numbered_from_0_and_their_leaves_can_be_made_again_from_the_database(new_contest: MakeContest) -> None:
    contest = new_contest()
    for number in range(3):
        rules.record(contest, "team.joined", {"team": f"0{number}", "name": "隠れん坊", "places": [1, None, True]})
    entries = list(LogEntry.objects.filter(contest=contest))
    assert [entry.number for entry in entries] == [0, 1, 2]
    for entry in entries:
        written = rules.entry_bytes(entry.number, entry.kind, entry.body, entry.at)
        assert bytes(entry.leaf) == leaf_hash(bytes(entry.salt) + written)


def test_no_entry_is_changed_or_taken_away(new_contest: MakeContest) -> None:
    entry = rules.record(new_contest(), "contest.made", {})
    for change in (lambda: LogEntry.objects.update(kind="other"), lambda: LogEntry.objects.filter(pk=entry.pk).delete()):
        with pytest.raises(DatabaseError, match="only ever added to"), transaction.atomic():
            change()


def test_a_fraction_is_refused_because_it_may_come_back_in_other_words(new_contest: MakeContest) -> None:
    with pytest.raises(TypeError, match="as text"):
        rules.record(new_contest(), "submission.judged", {"scores": [{"U": 0.1}]})


def test_a_checkpoint_signs_the_root_of_all_entries_and_is_made_once(new_contest: MakeContest) -> None:
    contest = new_contest()
    rules.new_key(contest)
    entries = [rules.record(contest, "phase.opened", {"phase": name}) for name in ("anonymize", "attack")]
    signed = rules.checkpoint(contest)
    assert rules.checkpoint(contest).pk == signed.pk
    root = Tree(entry.leaf for entry in entries).root()
    key = Ed25519PublicKey.from_public_bytes(bytes(Contest.objects.get(pk=contest.pk).public_key))
    key.verify(bytes(signed.signature), rules.signed_text(contest.slug, 2, root))
    with pytest.raises(InvalidSignature):
        key.verify(bytes(signed.signature), rules.signed_text(contest.slug, 1, root))


@pytest.mark.django_db(transaction=True)
def test_entries_written_at_once_leave_no_gap_also_where_some_are_rolled_back(new_contest: MakeContest) -> None:
    contest = new_contest()

    def write(fails: bool) -> None:
        try:
            for number in range(10):
                with transaction.atomic():
                    rules.record(contest, "submission.received", {"number": number})
                    if fails and number % 2:
                        transaction.set_rollback(True)
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(fails,)) for fails in (False, True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = LogEntry.objects.filter(contest=contest).values_list("number", flat=True)
    assert sorted(numbers) == list(range(25))
