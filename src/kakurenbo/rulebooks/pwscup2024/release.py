"""A submission: the ten files C, alone or in a zip, the choice of a candidate, and ``id.txt``; every violation is reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kakurenbo.core import (
    InputError,
    Layout,
    Problems,
    Source,
    Table,
    add_notices,
    collect_notices,
    few_names,
    gather,
    is_archive,
    notice,
    open_archive,
    read_table,
    table_bytes,
)
from kakurenbo.data import ratings
from kakurenbo.rulebooks.pwscup2024 import names
from kakurenbo.rulebooks.pwscup2024.handout import CANDIDATES, Handout, choice_bytes, read_choice

Numbered = Mapping[int, Source]
CLEAR_AGREEMENT = 0.1  # this larger a share of equal ratings tells which candidate was anonymized
FAR_BETTER = 10  # times fewer problems with another candidate tell that it was anonymized


@dataclass(frozen=True, eq=False)
class Submission:
    """Ten valid files, and the candidate they were made of (from 0)."""

    tables: tuple[Table, ...]
    chosen: int = 0


def release_files(handout: Handout, tables: Sequence[Table]) -> dict[str, bytes]:
    """The ten files, and the choice where there is one."""
    files = split_files(handout.team, tables)
    if len(handout.candidates) > 1:
        files[names.CHOICE.name(team=handout.team)] = choice_bytes(handout.chosen)
    return files


def split_files(team: str, tables: Sequence[Table]) -> dict[str, bytes]:
    """The ten files of a release by name."""
    return {
        names.RELEASE.name(team=team, number=str(number)): table_bytes(table, header=True)
        for number, table in enumerate(tables)
    }


def read_release(handout: Handout, sources: Sequence[Source]) -> Submission:
    """Everything that a team handed in, against its handout."""
    archives = [source for source in sources if is_archive(source)]
    beside = [source for source in sources if source not in archives]
    if len(archives) > 1 or (archives and not all(_tells(source.name) for source in beside)):
        raise InputError.of("pwscup2024.one_archive", archives[0].name, files=few_names(sources))
    handed_in = [*(open_archive(archives[0]) if archives else ()), *beside]
    tables = [source for source in handed_in if not _tells(source.name)]
    team = handout.team if handout.assigned else ""
    numbered: Numbered = {}
    refusal = Problems([])
    try:
        with collect_notices() as left_aside:
            numbered = sort_release(tables, team, strict=bool(archives))
    except InputError as error:
        refusal = error.problems
    with gather() as problems:
        problems.of(names.check_id, handed_in, team or _named_team(numbered))
        chosen = problems.of(_chosen, handout, handed_in)
        problems.add(refusal)
    add_notices(left_aside)
    try:
        submission = Submission(_read_tables(numbered, handout.candidates[chosen]), chosen)
    except InputError as error:
        other = _of_other_candidate(handout, chosen, numbered, error.problems.total)
        raise other or error from error
    _compare_candidates(handout, submission)
    return submission


def sort_release(sources: Sequence[Source], team: str, *, strict: bool) -> Numbered:
    """The ten files by number.

    Parameters
    ----------
    sources : sequence of Source
    team : str
        Whose files they must be; empty where any one team's will do.
    strict : bool
        Whether other files beside the ten are refused (in an archive) or left aside with a notice (in a folder).
    """
    found: dict[int, Source] = {}
    wrong: list[Problems] = []
    shown = team or "NN"
    first, last = (f"C{shown}_{number}.csv" for number in (0, len(ratings.SPLITS) - 1))
    for source in sources:
        named = names.release_number(source.name)
        if named is None and strict:
            wrong.append(
                Problems.of("pwscup2024.strange_file", source.name, first=first, last=last)
            )
        elif named is None:
            notice("pwscup2024.left_aside", file=source.name)
        elif team and named[0] != team:
            wrong.append(Problems.of("release.other_team", source.name, named=named[0], team=team))
        elif named[1] in found:
            wrong.append(Problems.of("pwscup2024.file_twice", source.name, number=named[1]))
        else:
            found[named[1]] = source
    missing = [
        f"C{shown}_{number}.csv" for number in range(len(ratings.SPLITS)) if number not in found
    ]
    if missing:
        wrong.append(Problems.of("pwscup2024.files_missing", missing[0], missing=missing))
    by_team = {
        named[0]: source.name
        for source in found.values()
        if (named := names.release_number(source.name))
    }
    teams = sorted(by_team)
    if len(teams) > 1:
        wrong.append(Problems.of("pwscup2024.several_teams", by_team[teams[1]], teams=teams))
    if wrong:
        raise InputError(Problems.join(wrong))
    return found


def read_released_alone(sources: Numbered) -> tuple[Table, ...]:
    """The ten files as attackers read them: without B, so any value of the contest's domains may occur."""
    schema = ratings.widest_schema(names=False)
    layout = Layout(header=True, min_rows=1, max_bytes=names.RELEASE.max_bytes)
    with gather() as problems:
        tables = [
            problems.of(read_table, sources[number], schema.select(columns), layout)
            for number, columns in enumerate(ratings.SPLIT_COLUMNS)
        ]
    counts = [len(table) for table in tables]
    if len(set(counts)) > 1:
        other = next(number for number, count in enumerate(counts) if count != counts[0])
        raise InputError.of("pwscup2024.row_counts_differ", sources[other].name, counts=counts)
    return tuple(tables)


def _read_tables(sources: Numbered, original: Table) -> tuple[Table, ...]:
    """All ten files against the splits of B; the problems of all of them together."""
    layout = Layout(
        header=True,
        min_rows=len(original),
        max_rows=len(original),
        max_bytes=names.RELEASE.max_bytes,
    )
    with gather() as problems:
        tables = [
            problems.of(read_table, sources[number], split.schema, layout)
            for number, split in enumerate(ratings.split(original))
        ]
    return tuple(tables)


def _of_other_candidate(
    handout: Handout, chosen: int, sources: Numbered, problem_count: int
) -> InputError | None:
    """Refuse files that fit another candidate far better than the chosen one: nearly always a forgotten choice."""
    fewest, fits, rest = problem_count, chosen, Problems([])
    for number, candidate in enumerate(handout.candidates):
        if number == chosen:
            continue
        problems = Problems([])
        try:
            _read_tables(sources, candidate)
        except InputError as error:
            problems = error.problems
        if problems.total < fewest:
            fewest, fits, rest = problems.total, number, problems
    if fewest * FAR_BETTER > problem_count:
        return None
    example = names.CHOICE.name(team=handout.team)
    other = Problems.of(
        "pwscup2024.other_candidate", "release", fits=fits + 1, taken=chosen + 1, example=example
    )
    return InputError(Problems.join([other, rest]))


def _compare_candidates(handout: Handout, submission: Submission) -> None:
    """Note that a release agrees far more with another candidate: its choice was forgotten or is wrong."""
    if len(handout.candidates) == 1:
        return
    agreements = [_agreement(submission.tables, candidate) for candidate in handout.candidates]
    fits = int(np.argmax(agreements))
    if agreements[fits] > agreements[submission.chosen] + CLEAR_AGREEMENT:
        notice(
            "pwscup2024.closer_candidate",
            file="release",
            taken=submission.chosen + 1,
            fits=fits + 1,
            example=names.CHOICE.name(team=handout.team),
        )


def _agreement(tables: Sequence[Table], original: Table) -> float:
    """Return the share of ratings that are those of the original in the same row."""
    equal = [
        np.mean(table.codes[name] == original.codes[name]) if len(table) == len(original) else 0
        for table in tables
        for name in table.schema.names
        if name in ratings.MOVIES
    ]
    return float(np.mean(equal))


def _tells(name: str) -> bool:
    """Whether a file is no data but tells something of the submission."""
    return name == names.ID_FILE or names.is_choice(name)


def _named_team(numbered: Numbered) -> str:
    """The team of the ten files, which have one; empty where they are not all there."""
    named = (names.release_number(source.name) for source in numbered.values())
    return next((team for team, _ in filter(None, named)), "")


def _chosen(handout: Handout, sources: Sequence[Source]) -> int:
    """The candidate that was anonymized; where nothing tells and there are several, a notice does."""
    choices = [source for source in sources if names.is_choice(source.name)]
    if len(choices) > 1:
        raise InputError.of("pwscup2024.choice_twice", choices[1].name)
    if choices:
        return _told_choice(handout, choices[0])
    if len(handout.candidates) > 1:
        example = names.CHOICE.name(team=handout.team)
        number = handout.chosen + 1
        notice("pwscup2024.not_chosen", file="release", candidate=number, example=example)
    return handout.chosen


def _told_choice(handout: Handout, source: Source) -> int:
    """The candidate that a file names, which must be the team's own where it is known whose it is."""
    fields = names.CHOICE.parse(source.name) or {}
    named = fields.get("team", handout.team)
    if handout.assigned and named != handout.team:
        raise InputError.of("release.other_team", source.name, named=named, team=handout.team)
    several = len(handout.candidates) > 1
    choice = read_choice(source, len(handout.candidates) if several else CANDIDATES)
    # A single table is the chosen one, whatever its number was where it came from.
    return choice if several else handout.chosen
