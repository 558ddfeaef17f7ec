"""The files of submissions: which of a folder may be judged, and whose they are.

Nothing that one team puts there may stop the others: no name that cannot be written, no link to another team's file, no pipe
that waits, no more bytes than a contest needs. Everything else is named and refused before a byte is read.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kakurenbo.contest.phases import ANONYMIZE, Counting
from kakurenbo.contest.results import by_number
from kakurenbo.contest.rulebook import AnyRulebook
from kakurenbo.core import README_FILES, InputError, Problems, Severity, Source
from kakurenbo.core.errors import UsageError
from kakurenbo.core.sources import DEFAULT_LIMIT

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


def list_submission(path: Path) -> tuple[list[Source], list[RefusedFile]]:
    """Return the files of a folder, or the one file, that may be judged, and what is refused."""
    is_folder = False
    try:
        is_folder = path.is_dir() and not path.is_symlink()
        entries = sorted(path.iterdir()) if is_folder else [path]
    except OSError:  # not even a folder that cannot be listed stops the others
        name = printable_name(path.name)
        return [], [(name, Problems.of("source.forbidden", name, severity=Severity.MALFORMED))]
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
    return sources, refused


def folders_in(entries: Iterable[Path]) -> frozenset[str]:
    """The names of those entries that are folders themselves, and no links to one."""
    return frozenset(entry.name for entry in entries if entry.is_dir() and not entry.is_symlink())


def is_ignored(name: str) -> bool:
    """Whether a file manager put this file or folder there, or it is the README of a handout.

    Examples
    --------
    >>> [is_ignored(name) for name in (".DS_Store", "README.md", "D.csv")]
    [True, True, False]
    """
    return name.startswith(".") or name.lower() in _FILE_MANAGER_NAMES or name in README_FILES


def is_unsafe(name: str) -> bool:
    """Whether some system or program would take a file of this name for something else, or keep it under another one.

    Examples
    --------
    >>> [is_unsafe(name) for name in ("C01_1.csv", "CON", "nul.csv", "-rf", "a.csv ", "a\ufffd.csv", "a:b")]
    [False, True, True, True, True, True, True]
    """
    device = _DEVICE.fullmatch(name.partition(".")[0].rstrip())
    return bool(device or name[:1] in "- " or name[-1:] in ". " or set(name) & _NEVER_IN_NAMES)


def printable_name(name: str) -> str:
    """A file name that can be shown and written, whatever it is made of.

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
    """Why an entry of a folder is no file that could be judged; None where it is one."""
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


@dataclass(frozen=True, eq=False)
class SubmittedFiles:
    """The files of one team that may be judged, and those that are refused before."""

    sources: list[Source] = field(default_factory=list)
    refused: list[RefusedFile] = field(default_factory=list)


def files_by_team(
    rules: AnyRulebook, teams: Sequence[str], submissions: Path, team: str = ""
) -> tuple[dict[str, SubmittedFiles], list[RefusedFile]]:
    """Return the submitted files of each team, and files that belong to no team.

    The organizer says whose a file is: by folders named for teams, by ``team``, or else by the names of files. A team that
    has a folder has submitted what lies there, and nothing else.
    """
    if not submissions.exists():
        raise UsageError("error.no_file", at=submissions)
    if team:
        if team not in teams:
            raise UsageError("error.no_team_in_round", name=repr(team), teams=list(teams))
        return {team: SubmittedFiles(*list_submission(submissions))}, []
    by_team: dict[str, SubmittedFiles] = {}
    unassigned: list[RefusedFile] = []
    entries = sorted(submissions.iterdir()) if submissions.is_dir() else [submissions]
    folders = folders_in(entries)
    for entry in entries:
        if is_ignored(entry.name):
            continue
        is_folder, name = entry.name in folders, printable_name(entry.name)
        named = entry.name if is_folder or entry.name in teams else _team_in_name(rules, entry.name)
        if named not in teams:
            listed = ", ".join(teams)
            unassigned.append((name, Problems.of("release.unknown_team", name, teams=listed)))
            continue
        if named in folders and not is_folder:
            # Anybody may have put the file there: it must not touch what the team submitted.
            unassigned.append((name, Problems.of("release.beside_folder", name, team=named)))
            continue
        sources, refused = list_submission(entry)
        files = by_team.setdefault(named, SubmittedFiles())
        files.sources.extend(sources)
        for file, problems in refused:
            place = f"{named}/{file}" if is_folder else file
            files.refused.append((place, problems.in_file(place)))
    return by_team, unassigned


def _team_in_name(rules: AnyRulebook, name: str) -> str:
    for pattern in rules.phase(ANONYMIZE).files:
        fields = pattern.parse(name)
        if fields and "team" in fields:
            return fields["team"]
    return ""


def check_names(rules: AnyRulebook, team: str, sources: Sequence[Source]) -> None:
    """Raise InputError for files whose names tell another team or round, and for zips where none is accepted."""
    wrong, round_, phase = [], rules.round_name, rules.phase(ANONYMIZE)
    for source in sources:
        if phase.takes_no_zip(source.name):
            example = rules.release_pattern.name(**{"team": team, "round": round_, "try": "1"})
            wrong.append(Problems.of("release.zip", source.name, example=example))
            continue
        for pattern in phase.files:
            fields = pattern.parse(source.name)
            if fields and fields.get("team", team) != team:
                named = fields["team"]
                wrong.append(Problems.of("release.other_team", source.name, named=named, team=team))
                break
            if fields and fields.get("round", round_) != round_:
                named = fields["round"]
                problem = Problems.of("release.other_round", source.name, named=named, round=round_)
                wrong.append(problem)
                break
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
