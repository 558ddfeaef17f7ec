"""The log: gapless, append-only, hidden behind salts, signed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.trust import queries, rules
from kakurenbo.judge.trust.models import LogEntry
from kakurenbo.proofs import ProofError, Tree, entry_bytes, leaf_hash, verify_consistency

pytestmark = pytest.mark.django_db

MakeContest = Callable[..., Contest]


def test_entries_are_numbered_from_0_and_their_leaves_can_be_made_again_from_the_database(
    new_contest: MakeContest,
) -> None:
    contest = new_contest()
    for number in range(3):
        rules.record(
            contest,
            "team.joined",
            {"team": f"0{number}", "name": "隠れん坊", "places": [1, None, True]},
        )
    entries = list(LogEntry.objects.filter(contest=contest))
    assert [entry.number for entry in entries] == [0, 1, 2]
    for entry in entries:
        written = entry_bytes(entry.number, entry.kind, entry.body, entry.at)
        assert bytes(entry.leaf) == leaf_hash(bytes(entry.salt) + written)


def test_no_entry_is_changed_or_taken_away(new_contest: MakeContest) -> None:
    entry = rules.record(new_contest(), "contest.made", {})
    for change in (
        lambda: LogEntry.objects.update(kind="other"),
        lambda: LogEntry.objects.filter(pk=entry.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="only ever added to"), transaction.atomic():
            change()


def test_a_fraction_is_refused_because_it_may_come_back_in_other_words(
    new_contest: MakeContest,
) -> None:
    with pytest.raises(TypeError, match="as text"):
        rules.record(new_contest(), "submission.judged", {"scores": [{"U": 0.1}]})


def test_a_checkpoint_signs_the_root_of_all_entries_and_is_made_once(
    new_contest: MakeContest,
) -> None:
    contest = new_contest()
    rules.new_key(contest)
    entries = [
        rules.record(contest, "phase.opened", {"phase": name}) for name in ("anonymize", "attack")
    ]
    signed = rules.checkpoint(contest)
    assert rules.checkpoint(contest).pk == signed.pk
    found = queries.signed_root(signed, Contest.objects.get(pk=contest.pk))
    assert (found.size, found.root) == (2, Tree(bytes(entry.leaf) for entry in entries).root())
    found.check()
    for change in (
        {"size": 1},
        {"root": bytes(32)},
        {"at": found.at[:-1]},
        {"contest": "other"},
        {"public_key": bytes(32)},
    ):
        with pytest.raises(ProofError):
            replace(found, **change).check()


def test_a_clock_that_is_set_back_makes_nothing_happen_before_what_happened(
    new_contest: MakeContest, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest, now = new_contest(), timezone.now()
    rules.new_key(contest)
    at = []
    for hours in (0, 3, -2, 4):
        monkeypatch.setattr(rules.timezone, "now", lambda hours=hours: now + timedelta(hours=hours))
        at += [rules.record(contest, "phase.opened", {}).at, rules.checkpoint(contest).at]
    assert at == [now + timedelta(hours=hours) for hours in (0, 0, 3, 3, 3, 3, 4, 4)]


def test_a_log_of_today_is_proven_to_begin_with_that_of_any_earlier_time(
    new_contest: MakeContest,
) -> None:
    contest = new_contest()
    tree = Tree(
        bytes(rules.record(contest, "phase.opened", {"phase": str(number)}).leaf)
        for number in range(5)
    )
    for first in range(1, 6):
        proof = queries.consistency(contest, first, 5)
        assert proof is not None
        assert verify_consistency(first, 5, tree.root(first), tree.root(), proof)
    assert [queries.consistency(contest, *sizes) for sizes in ((0, 5), (3, 2), (1, 6))] == [
        None
    ] * 3


@pytest.mark.django_db(transaction=True)
def test_entries_written_at_once_leave_no_gap_also_where_some_are_rolled_back(
    new_contest: MakeContest,
) -> None:
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
