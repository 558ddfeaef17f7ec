"""Which files an archive may have at all, by what its log tells: before anything is made again."""

from __future__ import annotations

import re

from kakurenbo.contest import ATTACK
from kakurenbo.contest.releases import RELEASES_FILE
from kakurenbo.verification.archive import (
    CONTEST,
    EARNED,
    LOG,
    README,
    REJUDGINGS,
    STANDINGS,
    SUBMISSIONS,
    Archive,
)
from kakurenbo.verification.differences import Difference
from kakurenbo.verification.ledger import Ledger

_GUESSES = re.compile(
    r"rounds/(?P<round>[^/]+)/guesses/(?P<team>[^/]+)(?:/(?P<number>[0-9]+)/[^/]+)?"
)
_FOLDERS = ("preparation/", "phase/attackers/", "phase/public/")
"""Folders of a round whose files are held against commitments, or made again, one by one."""


def check_places(archive: Archive, ledger: Ledger) -> None:
    """Raise :class:`Difference` for a file, or an empty folder, of which nothing can speak."""
    rounds = {name for name, _ in ledger.phases}
    known = {README, CONTEST, LOG, STANDINGS, *([REJUDGINGS] if ledger.rejudged else [])}
    known |= {
        f"rounds/{name}/{file}" for name in rounds for file in (SUBMISSIONS, EARNED, STANDINGS)
    }
    known |= {
        f"{one.folder}/{name}" for one in ledger.submissions.values() for name in one.told["files"]
    }
    known |= {f"rounds/{name}/phase/answers/{RELEASES_FILE}" for name in rounds}
    begun = (
        *(f"rounds/{name}/{folder}" for name in rounds for folder in _FOLDERS),
        *(
            f"rounds/{of}/phase/{folder}/{name}/"
            for of, name in ledger.sealed
            for folder in ("targets", "answers")
        ),
    )
    for name in sorted(archive.names):
        if name not in known and not name.startswith(begun) and not _is_guess(name, ledger):
            raise Difference("verification.stray_file", name)
    for name in sorted(archive.empty_folders):
        if not _is_attacker(name, ledger):
            raise Difference("verification.stray_folder", name)


def _is_guess(name: str, ledger: Ledger) -> bool:
    found = _GUESSES.fullmatch(name)
    if found is None or found["number"] is None:
        return False
    told = (one.told for one in ledger.submissions.values())
    place = (found["round"], found["team"], int(found["number"]))
    return any(
        (one["round"], one["team"], one["number"]) == place
        for one in told
        if one["phase"] == ATTACK
    )


def _is_attacker(name: str, ledger: Ledger) -> bool:
    """Whether this is the folder of a team whose guesses there are none of."""
    found = _GUESSES.fullmatch(name)
    return (
        found is not None
        and found["number"] is None
        and (found["round"], found["team"]) in ledger.entries
    )
