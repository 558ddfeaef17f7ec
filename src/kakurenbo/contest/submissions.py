"""The files of submissions: which of a folder may be judged, and whose they are.

Nothing that one team puts there may stop the others: no name that cannot be written, no link to another team's file, no pipe
that waits, no more bytes than a contest needs. Everything else is named and refused before a byte is read.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from kakurenbo.contest.phases import ANONYMIZE, Counting
from kakurenbo.contest.records import Refusal
from kakurenbo.contest.results import by_number
from kakurenbo.core import (
    README_FILES,
    InputError,
    Problems,
    Severity,
    Source,
    few_names,
)
from kakurenbo.core.errors import UsageError
from kakurenbo.core.files import DEFAULT_LIMIT

if TYPE_CHECKING:
    from kakurenbo.contest.rulebook import AnyRulebook

MAX_FILES = 200
MAX_BYTES = 1_000_000_000
MAX_NAME_LENGTH = 200
_FILE_MANAGER_NAMES = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
_DEVICE = re.compile(r"con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]", re.IGNORECASE)
"""What Windows keeps for itself, whatever comes after a dot."""
_NEVER_IN_NAMES = frozenset('<>:"|?*\ufffd')
"""What Windows has no names with; and the sign for bytes that are no text, under which two names may be one."""

RefusedFile = tuple[str, Problems]
"""A file by the name that may be shown, and why it is refused."""
GuessFiles = tuple[str, list[Source]]
"""Guess files that were submitted together, after the folder they lie in; none for files side by side."""
_MAX_DIGITS = 6  # of the number of a submission


class SubmittedFiles(NamedTuple):
    """The files of one team that may be judged, and those that are refused before."""

    sources: list[Source]
    refused: list[RefusedFile]


def list_submission(path: Path) -> SubmittedFiles:
    """Return the files of a folder, or the one file, that may be judged, and what is refused."""
    is_folder = False
    try:
        is_folder = path.is_dir() and not path.is_symlink()
        entries = sorted(path.iterdir()) if is_folder else [path]
    except OSError:  # not even a folder that cannot be listed stops the others
        name = printable_name(path.name)
        problems = Problems.of("source.forbidden", name, severity=Severity.MALFORMED)
        return SubmittedFiles([], [(name, problems)])
    sources: list[Source] = []
    refused: list[RefusedFile] = []
    total = 0
    for entry in entries:
        if is_folder and is_ignored(entry.name):
            continue
        code = _refusal_code(entry)
        if code is None:
            total += entry.stat().st_size
            if len(sources) >= MAX_FILES:
                code = "release.too_many_files"
            elif total > MAX_BYTES:
                code = "release.too_many_bytes"
        if code is None:
            sources.append(Source.of(entry))
        else:
            name = printable_name(entry.name)
            problems = Problems.of(
                code, name, files=MAX_FILES, bytes=MAX_BYTES, limit=DEFAULT_LIMIT
            )
            refused.append((name, problems))
    return SubmittedFiles(sources, refused)


def folders_in(entries: Iterable[Path]) -> frozenset[str]:
    """Return the names of those entries that are folders themselves, and no links to one."""
    return frozenset(entry.name for entry in entries if entry.is_dir() and not entry.is_symlink())


def is_ignored(name: str) -> bool:
    """Return whether a file manager put this file or folder there, or it is the README of a handout.

    Examples
    --------
    >>> [is_ignored(name) for name in (".DS_Store", "README.md", "D.csv")]
    [True, True, False]
    """
    return name.startswith(".") or name.lower() in _FILE_MANAGER_NAMES or name in README_FILES


def is_unsafe(name: str) -> bool:
    """Return whether some system or program would take a file of this name for something else, or keep it under another one.

    Examples
    --------
    >>> [is_unsafe(name) for name in ("C01_1.csv", "CON", "nul.csv", "-rf", "a.csv ", "a\ufffd.csv", "a:b")]
    [False, True, True, True, True, True, True]
    """
    device = _DEVICE.fullmatch(name.partition(".")[0].rstrip())
    return bool(device or name[:1] in "- " or name[-1:] in ". " or set(name) & _NEVER_IN_NAMES)


def printable_name(name: str) -> str:
    """Return a file name that can be shown and written, whatever it is made of.

    Examples
    --------
    >>> printable_name("a\\x1b[31m.csv")
    'a\\\\x1b[31m.csv'
    """
    safe = "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in name
    )
    return safe[:MAX_NAME_LENGTH]


def _refusal_code(entry: Path) -> str | None:
    """Return why an entry of a folder is no file that could be judged; None where it is one."""
    if printable_name(entry.name) != entry.name:
        return "release.bad_name"
    mode = entry.lstat().st_mode
    if stat.S_ISLNK(mode):
        return "release.link"
    if not stat.S_ISREG(mode):
        return "release.not_a_file"
    # What is judged must be kept whole.
    return "release.too_large" if entry.lstat().st_size > DEFAULT_LIMIT else None


# -- whose files they are --------------------------------------------------------------------------------------------------


def owned_entries(
    folder: Path, teams: Sequence[str], codes: tuple[str, str], team_in_name: Callable[[str], str]
) -> tuple[list[tuple[str, Path]], list[RefusedFile]]:
    """Return whose each entry of a folder is: by folders named for teams, or else by the names of files.

    A team that has a folder has submitted what lies there, and nothing else: anybody may have put a file beside it.
    ``codes`` are those of the problems of an unknown team, and of a file beside its team's folder.
    """
    owned: list[tuple[str, Path]] = []
    refused: list[RefusedFile] = []
    entries = sorted(folder.iterdir()) if folder.is_dir() else [folder]
    folders = folders_in(entries)
    for entry in entries:
        if is_ignored(entry.name):
            continue
        is_folder, name = entry.name in folders, printable_name(entry.name)
        team = entry.name if is_folder else team_in_name(entry.name)
        if team not in teams:
            refused.append((name, Problems.of(codes[0], name, teams=", ".join(teams))))
        elif team in folders and not is_folder:
            refused.append((name, Problems.of(codes[1], name, team=team)))
        else:
            owned.append((team, entry))
    return owned, refused


def files_by_team(
    rules: AnyRulebook, teams: Sequence[str], submissions: Path, team: str = ""
) -> tuple[dict[str, SubmittedFiles], list[RefusedFile]]:
    """Return the files of each team, and files that belong to no team; see `owned_entries`.

    ``team`` is whose all files are, where neither folders nor names tell.
    """
    if not submissions.exists():
        raise UsageError("error.no_file", at=submissions)
    if team:
        if team not in teams:
            raise UsageError("error.no_team_in_round", name=repr(team), teams=list(teams))
        return {team: list_submission(submissions)}, []

    def team_in_name(name: str) -> str:
        if name in teams:
            return name
        parsed = (pattern.parse(name) or {} for pattern in rules.phase(ANONYMIZE).files)
        return next((fields["team"] for fields in parsed if "team" in fields), "")

    by_team: dict[str, SubmittedFiles] = {}
    codes = ("release.unknown_team", "release.beside_folder")
    owned, unassigned = owned_entries(submissions, teams, codes, team_in_name)
    for owner, entry in owned:
        is_folder = entry.is_dir() and not entry.is_symlink()
        sources, refused = list_submission(entry)
        files = by_team.setdefault(owner, SubmittedFiles([], []))
        files.sources.extend(sources)
        for file, problems in refused:
            place = f"{owner}/{file}" if is_folder else file
            files.refused.append((place, problems.in_file(place)))
    return by_team, unassigned


def check_names(rules: AnyRulebook, team: str, sources: Sequence[Source]) -> None:
    """Raise InputError for files whose names tell another team or round, and for zips where none is accepted.

    All files of the same other team or round are one problem.
    """
    wrong: list[Problems] = []
    others: dict[tuple[str, str], list[Source]] = {}
    phase, expected = rules.phase(ANONYMIZE), {"team": team, "round": rules.round_name}
    for source in sources:
        if phase.takes_no_zip(source.name):
            example = rules.release_pattern.name(**expected, **{"try": "1"})
            wrong.append(Problems.of("release.zip", source.name, example=example))
            continue
        for pattern in phase.files:
            named = pattern.parse(source.name) or {}
            other = [key for key in expected if named.get(key, expected[key]) != expected[key]]
            if other:
                others.setdefault((other[0], named[other[0]]), []).append(source)
                break
    for (key, name), files in others.items():
        shown: dict[str, Any] = {"named": name, key: expected[key]}
        listed = ", ".join(few_names(files))
        wrong.append(Problems.of(f"release.other_{key}", listed, **shown))
    if wrong:
        raise InputError(Problems.join(wrong))


def named_tables(
    rules: AnyRulebook, team: str, sources: Sequence[Source]
) -> tuple[list[Source], list[RefusedFile]]:
    """Return the files that belong to a table of the team, and every other file with what is wrong with it.

    Where a team may submit several tables, their names tell which is which. A single file needs no name. Where no name tells
    a table, all files stay together, as one entry that is refused.
    """
    phase = rules.phase(ANONYMIZE)
    if phase.counts is not Counting.LAST_FEW or len(sources) < 2:
        return list(sources), []
    tables: list[Source] = []
    refused: list[RefusedFile] = []
    for source in sources:
        name = f"{team}/{source.name}"
        try:
            check_names(rules, team, [source])
        except InputError as error:
            refused.append((name, error.problems.in_file(name)))
            continue
        if all(pattern.parse(source.name) is None for pattern in phase.files):
            example = rules.release_pattern.name(**{"team": team, "try": "1"})
            refused.append((name, Problems.of("release.unknown_name", name, example=example)))
        else:
            tables.append(source)
    return tables or list(sources), refused


def entries_of(rules: AnyRulebook, team: str, sources: Sequence[Source]) -> dict[str, list[Source]]:
    """Return a team's files by entry: all together, or by number where a team may submit several tables."""
    phase = rules.phase(ANONYMIZE)
    if phase.counts is not Counting.LAST_FEW:
        return {team: list(sources)}
    entries: dict[str, list[Source]] = {}
    for source in named_tables(rules, team, sources)[0]:
        parsed = (pattern.parse(source.name) for pattern in phase.files)
        number = next(filter(None, parsed), {}).get("try")
        entries.setdefault(f"{team}-{number}" if number else team, []).append(source)
    return dict(sorted(entries.items(), key=lambda entry: by_number(entry[0])))


# -- guesses ------------------------------------------------------------


def guesses_by_attacker(
    rules: AnyRulebook, teams: Sequence[str], guesses: Path
) -> tuple[dict[str, list[GuessFiles]], list[Refusal]]:
    """Return the submissions of each attacker, and what is refused; see `owned_entries`."""
    if not guesses.is_dir():
        raise UsageError("error.no_guesses", at=guesses)

    def team_in_name(name: str) -> str:
        fields = rules.guess_pattern.parse(name) or {}
        return name if name in teams else fields.get("attacker", fields.get("team", ""))

    codes = ("guess.unknown_attacker", "guess.beside_folder")
    owned, unassigned = owned_entries(guesses, teams, codes, team_in_name)
    refused = [Refusal.of("", name, problems) for name, problems in unassigned]
    by_attacker: dict[str, list[GuessFiles]] = {}
    for attacker, entry in owned:
        if folders_in([entry]):
            submissions, rejected = _list_submissions(entry, attacker)
            if rejected or any(sources for _, sources in submissions):
                by_attacker[attacker] = submissions  # an empty folder makes no attacker
        elif entry.name == attacker:
            problems = Problems.of("guess.no_folder", attacker, team=attacker)
            rejected = [Refusal.of("", attacker, problems)]
        else:
            sources, unfit = list_submission(entry)
            by_attacker.setdefault(attacker, [("", [])])[0][1].extend(sources)
            rejected = [Refusal.of(attacker, name, problems) for name, problems in unfit]
        refused += rejected
    return dict(sorted(by_attacker.items(), key=lambda item: by_number(item[0]))), refused


def _list_submissions(place: Path, attacker: str) -> tuple[list[GuessFiles], list[Refusal]]:
    """Return the submissions in an attacker's folder in order, and what is refused."""
    sources, unfit = list_submission(place)
    numbered = sorted(
        (name for name in folders_in(place / name for name, _ in unfit) if _is_number(name)),
        key=lambda name: (int(name), name),
    )
    rejected = [(attacker, name, why) for name, why in unfit if name not in numbered]
    submissions = [(attacker, sources)] if sources or not numbered else []
    for number in numbered:
        sources, unfit = list_submission(place / number)
        submissions.append((f"{attacker}/{number}", sources))
        rejected += [(f"{attacker}/{number}", name, why) for name, why in unfit]
    return submissions, [
        Refusal.of(attacker, name, problems).in_folder(folder)
        for folder, name, problems in rejected
    ]


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= _MAX_DIGITS
