"""A submission: the ten files C, alone or in a zip, the choice of a candidate, and ``id.txt``; every violation is reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kakurenbo.core import (
    InputError,
    Layout,
    Problem,
    Problems,
    Schema,
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
from kakurenbo.core.problems import LISTED_ROWS
from kakurenbo.data import ratings
from kakurenbo.rulebooks.pwscup2024 import files
from kakurenbo.rulebooks.pwscup2024.files import CANDIDATES, CHOICE, RELEASE, Handout

Numbered = Mapping[int, Source]
CLEAR_AGREEMENT = 0.1  # this larger a share of equal ratings tells which candidate was anonymized
FAR_BETTER = 10  # times fewer problems with another candidate tell that it was anonymized
STRANGE_VALUES = "pwscup2024.strange_values"
MANY_STRANGE = 5  # so many files with values that the candidate lacks tell of other data


@dataclass(frozen=True, eq=False)
class Submission:
    """Ten valid files, and the candidate they were made of (from 0)."""

    tables: tuple[Table, ...]
    chosen: int = 0


def release_files(handout: Handout, tables: Sequence[Table]) -> dict[str, bytes]:
    """Write the ten files, and the choice where there is one."""
    content = split_files(handout.team, tables)
    if len(handout.candidates) > 1:
        content[CHOICE.name(team=handout.team)] = files.choice_bytes(handout.chosen)
    return content


def split_files(team: str, tables: Sequence[Table]) -> dict[str, bytes]:
    """Write the ten files of a release."""
    names = RELEASE.names(team=team)
    return {n: table_bytes(table, header=True) for n, table in zip(names, tables, strict=True)}


def read_release(handout: Handout, sources: Sequence[Source]) -> Submission:
    """Read everything that a team submitted, against its handout."""
    archives = [source for source in sources if is_archive(source)]
    loose = [source for source in sources if source not in archives]
    if len(archives) > 1 or (archives and not all(_is_about_submission(s.name) for s in loose)):
        raise InputError.of("pwscup2024.one_archive", archives[0].name, files=few_names(sources))
    submitted = [*(open_archive(archives[0]) if archives else ()), *loose]
    tables = [source for source in submitted if not _is_about_submission(source.name)]
    team = handout.team if handout.assigned else ""
    numbered: Numbered = {}
    refusal = Problems([])
    try:
        with collect_notices() as left_aside:
            numbered = sort_release(tables, team, strict=bool(archives))
    except InputError as error:
        refusal = error.problems
    teams = [name[0] for s in numbered.values() if (name := files.release_number(s.name))]
    with gather() as problems:
        problems.of(files.check_id, submitted, team or next(iter(teams), ""))
        chosen = problems.of(_chosen, handout, submitted)
        problems.add(refusal)
    add_notices(left_aside)
    try:
        submission = Submission(_read_tables(numbered, handout.candidates[chosen]), chosen)
    except InputError as error:
        other = _of_other_candidate(handout, chosen, numbered, error.problems.total)
        strange = _of_other_data(error.problems)
        raise other or strange or error from error
    _compare_candidates(handout, submission)
    return submission


def sort_release(sources: Sequence[Source], team: str, *, strict: bool) -> Numbered:
    """Sort the ten files by number.

    Parameters
    ----------
    sources : sequence of Source
    team : str
        Whose files they must be; empty where any one team's will do.
    strict : bool
        Whether other files beside the ten are refused (in an archive) or left aside with a notice (in a folder).
    """
    numbered: dict[int, Source] = {}
    by_team: dict[str, str] = {}
    problems: list[Problems] = []
    names = RELEASE.names(team=team or "NN")
    for source in sources:
        file, named = source.name, files.release_number(source.name)
        if named is None and strict:
            code = "pwscup2024.strange_file"
            problems.append(Problems.of(code, file, first=names[0], last=names[-1]))
        elif named is None:
            notice("pwscup2024.left_aside", file=file)
        elif team and named[0] != team:
            problems.append(Problems.of("release.other_team", file, named=named[0], team=team))
        elif named[1] in numbered:
            problems.append(Problems.of("pwscup2024.file_twice", file, number=named[1]))
        else:
            numbered[named[1]] = source
            by_team[named[0]] = file
    missing = [name for number, name in enumerate(names) if number not in numbered]
    if missing:
        problems.append(Problems.of("pwscup2024.files_missing", missing[0], missing=missing))
    if len(teams := sorted(by_team)) > 1:
        problems.append(Problems.of("pwscup2024.several_teams", by_team[teams[1]], teams=teams))
    if problems:
        raise InputError(Problems.join(problems))
    return numbered


def read_released_alone(sources: Numbered) -> tuple[Table, ...]:
    """Read the ten files as attackers do: without B, so any value of the contest's domains may occur."""
    schema = ratings.widest_schema(names=False)
    layout = Layout(header=True, min_rows=1, max_bytes=RELEASE.max_bytes)
    with gather() as problems:
        tables = [
            problems.of(read_table, sources[number], schema.select(columns), layout)
            for number, columns in enumerate(ratings.SPLIT_COLUMNS)
        ]
    counts = [len(table) for table in tables]
    for number, count in enumerate(counts):
        if count != counts[0]:
            code = "pwscup2024.row_counts_differ"
            raise InputError.of(code, sources[number].name, counts=counts)
    return tuple(tables)


def _read_tables(sources: Numbered, original: Table) -> tuple[Table, ...]:
    """Read all ten files against the splits of B; report the problems of all of them together."""
    layout = Layout(True, len(original), len(original), RELEASE.max_bytes)
    with gather() as problems:
        tables = [
            problems.of(_read_table, sources[number], split.schema, layout)
            for number, split in enumerate(ratings.split(original))
        ]
    return tuple(tables)


def _read_table(source: Source, schema: Schema, layout: Layout) -> Table:
    """Read one file; where all that is wrong are attribute values of other data, refuse each column once."""
    try:
        return read_table(source, schema, layout)
    except InputError as error:
        raise _strange_values(source, schema, layout) or error from error


def _strange_values(source: Source, schema: Schema, layout: Layout) -> InputError | None:
    """Return one problem for each column with values that do not occur in the candidate.

    None where anything else is wrong with the file.
    """
    widest = ratings.widest_schema(names=False).select(schema.names)
    try:
        with collect_notices():
            table = read_table(source, widest, layout)
    except InputError:
        return None
    problems = []
    for column in schema:
        texts = table.texts(column.name)
        records = (~texts.is_in(column.spellings or ())).arg_true().to_list()
        if records:
            first, different = records[0], texts.gather(records).n_unique()
            code = STRANGE_VALUES if different > 1 else "pwscup2024.strange_value"
            rows = tuple(record + 2 for record in records[:LISTED_ROWS])
            place = {"row": rows[0], "record": first, "column": column.name}
            problem = Problem.of(
                code, source.name, value=texts[first], different=different, **place
            )
            rows = rows if len(records) > 1 else ()
            problems.append(replace(problem, rows=rows, count=len(records)))
    total = sum(problem.count for problem in problems)
    return InputError(Problems(problems, total)) if problems else None


def _of_other_data(problems: Problems) -> InputError | None:
    """Say first that many attribute values do not occur in the candidate: nearly always a release of other data."""
    strange = {problem.file for problem in problems if problem.code == STRANGE_VALUES}
    if len(strange) < MANY_STRANGE:
        return None
    return InputError(
        Problems.join([Problems.of("pwscup2024.strange_release", "release"), problems])
    )


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
    code, example = "pwscup2024.other_candidate", CHOICE.name(team=handout.team)
    other = Problems.of(code, "release", fits=fits + 1, taken=chosen + 1, example=example)
    return InputError(Problems.join([other, rest]))


def _compare_candidates(handout: Handout, submission: Submission) -> None:
    """Note that a release agrees far more with another candidate: its choice was forgotten or is wrong."""
    if len(handout.candidates) == 1:
        return
    agreements = [_agreement(submission.tables, candidate) for candidate in handout.candidates]
    fits, taken = int(np.argmax(agreements)), submission.chosen
    if agreements[fits] > agreements[taken] + CLEAR_AGREEMENT:
        code, example = "pwscup2024.closer_candidate", CHOICE.name(team=handout.team)
        notice(code, file="release", taken=taken + 1, fits=fits + 1, example=example)


def _agreement(tables: Sequence[Table], original: Table) -> float:
    """Return the share of ratings that are those of the original in the same row."""
    if len(tables[0]) != len(original):
        return 0.0
    movies = [(table, name) for table in tables for name in table.schema.names]
    equal = [
        np.mean(table.codes[name] == original.codes[name])
        for table, name in movies
        if name in ratings.MOVIES
    ]
    return float(np.mean(equal))


def _is_about_submission(name: str) -> bool:
    """Return whether a file is no data but says something of the submission."""
    return name == files.ID_FILE or files.is_choice(name)


def _chosen(handout: Handout, sources: Sequence[Source]) -> int:
    """Return the candidate that was anonymized, with a notice where no file says which of several.

    A single table is the chosen one, whatever its number was where it came from.
    """
    choices = [source for source in sources if files.is_choice(source.name)]
    if len(choices) > 1:
        raise InputError.of("pwscup2024.choice_twice", choices[1].name)
    count = len(handout.candidates)
    for source in choices:
        team = (CHOICE.parse(source.name) or {}).get("team", handout.team)
        if handout.assigned and team != handout.team:
            raise InputError.of("release.other_team", source.name, named=team, team=handout.team)
        choice = files.read_choice(source, count if count > 1 else CANDIDATES)
        named, example = handout.named, files.candidate_file(handout.team, choice + 1)
        if named is not None and named != choice:
            shown = {"named": named + 1, "chosen": choice + 1, "example": example}
            raise InputError.of("pwscup2024.other_than_named", source.name, **shown)
        return choice if count > 1 else handout.chosen
    if count > 1:
        example = CHOICE.name(team=handout.team)
        number = handout.chosen + 1
        notice("pwscup2024.not_chosen", file="release", candidate=number, example=example)
    return handout.chosen
