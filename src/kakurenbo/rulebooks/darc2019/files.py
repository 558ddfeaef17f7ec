"""The files of darc2019: names, the handout, submission and answer they hold, and the pseudonym matrices F and F^."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.attacks.reidentification import GUESSES, NOBODY, ReidentificationGuess
from kakurenbo.datasets.transactions import DELETED, MONTHS, SCHEMA, kept, month_name, months, with_users
from kakurenbo.errors import UsageError
from kakurenbo.tables import Layout, ProblemCollector, Problems, Schema, Severity, Source, Table, Text, read_table
from kakurenbo.tables.transitional import plain, taken

CONTEST_FILE = "contest.json"
ORIGINAL_FILE = "T.csv"
SEPARATOR = ":"  # between the guesses of a cell
ATTACKS_PER_TABLE = 10
TABLES_PER_TEAM = 3
MAX_TABLE_BYTES = 500 * 1000 * 1000
MATRIX_COLUMNS = ("id_user", *(month_name(month) for month in range(MONTHS)))


def release_file(table: str) -> str:
    return f"A_{table}.csv"


def published_file(table: str) -> str:
    return f"S_{table}.csv"


def answer_file(table: str) -> str:
    return f"F_{table}.csv"


def guess_file(table: str, attacker: str) -> str:
    return f"guess_{table}_{attacker}.csv"


def team_of(name: str) -> str | None:
    """The team, or the table of a team such as 07-2, in a file name such as ``A_07.csv``."""
    match = re.search(r"_(\d\d(?:-\d+)?)\.csv(?:\.gz)?$", name)
    return match.group(1) if match else None


def target_of_guess(name: str, targets: Iterable[str], attacker: str) -> str | Problems:
    """The target of a guess file such as ``guess_01_02.csv``, or ``guess_01_02-3.csv`` for a third attack on it."""
    for target in targets:
        match = re.fullmatch(rf"guess_{re.escape(target)}_{re.escape(attacker)}(?:-(\d{{1,9}}))?\.csv(?:\.gz)?", name)
        if match is None:
            continue
        if match.group(1) and not 1 <= int(match.group(1)) <= ATTACKS_PER_TABLE:
            message, fix = f"this is attack number {match.group(1)}", f"{ATTACKS_PER_TABLE} attacks are allowed per table"
            return Problems([plain(message, fix, name, value=match.group(1))])
        return target
    known = ", ".join(guess_file(target, attacker) for target in sorted(targets)[:3])
    return Problems([plain("no target has this file name", f"the names are {known} …", name)])


@dataclass(frozen=True, eq=False)
class Handout:
    """What every team is given: T, and what ``contest.json`` says of the contest."""

    team: str
    original: Table
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Submission:
    """A valid A(T): the rows of T in their order, deleted ones under the pseudonym "DEL".

    ``name`` is the team, or one of a team's tables such as 07-2; what is published of it is named so.
    """

    table: Table
    name: str


@dataclass(frozen=True, eq=False)
class Answer:
    """F: the pseudonym of each customer in each month.

    Attributes
    ----------
    customers, pseudonyms : tuple of str
        Sorted.
    cells : array of int32, shape (n, 13)
        Codes of pseudonyms; -1 where the customer has no kept row in that month (DEL).
    """

    customers: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    cells: NDArray[np.int32]


def answer_of(original: Table, released: Table) -> tuple[Answer, Table]:
    """F, and the kept rows of A(T) in file order (S before it is shuffled)."""
    alive = kept(released)
    rows = released.take(alive)
    rows = with_users(rows, rows.texts("id_user"))  # the vocabulary of S names nobody who is not in it
    customers = original.vocabularies["id_user"]
    cells = np.full((len(customers), MONTHS), NOBODY, dtype=np.int32)
    cells[original.codes["id_user"][alive], months(original)[alive]] = rows.codes["id_user"]
    return Answer(customers, rows.vocabularies["id_user"], cells), rows


# -- T ----------------------------------------------------------------------------------------------------------------


def read_original(source: Source) -> Table | Problems:
    """T from its file: every customer, no deleted rows."""
    table = taken(read_table(source, SCHEMA, Layout(header=True, min_rows=1, max_bytes=MAX_TABLE_BYTES)))
    if not isinstance(table, Problems) and not kept(table).all():
        record = int(np.flatnonzero(~kept(table))[0])
        message, fix = "T holds no deleted rows", "give the contest's own table, not a release"
        return Problems([plain(message, fix, source.name, record + 2, record, "id_user", DELETED)])
    return table


def find_original(path: Path) -> Path:
    """T itself, or the one in a folder that prepare wrote."""
    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder")
    if not path.is_dir():
        return path
    for name in (ORIGINAL_FILE, ORIGINAL_FILE + ".gz"):
        if (path / name).exists():
            return path / name
    raise UsageError(f"{path}: there is no {ORIGINAL_FILE} in this folder; name the file of T")


def read_facts(folder: Path) -> dict[str, Any]:
    """What ``contest.json`` says, where there is one; nothing where it was not written by us."""
    try:
        facts = json.loads((folder / CONTEST_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    ours = isinstance(facts, dict) and facts.get("rulebook") == "darc2019" and isinstance(facts.get("settings"), dict)
    return facts if ours else {}


# -- F and F^ ---------------------------------------------------------------------------------------------------------


def matrix_bytes(customers: tuple[str, ...], pseudonyms: tuple[str, ...], cells: NDArray[np.int32]) -> bytes:
    """A pseudonym matrix as CSV; ``cells`` has shape (n, 13, guesses), and -1 stands for no guess."""
    names = pl.Series([*pseudonyms, None], dtype=pl.String)  # code -1 takes the last
    parts = [names.gather(cells[:, :, place].reshape(-1) % len(names)) for place in range(cells.shape[2])]
    joined = pl.DataFrame({str(place): part for place, part in enumerate(parts)}).select(
        pl.concat_str(pl.all(), separator=SEPARATOR, ignore_nulls=True).alias("cell")
    )["cell"]
    texts = pl.select(pl.when(joined == "").then(pl.lit(DELETED)).otherwise(joined)).to_series()
    columns = {name: texts.gather_every(MONTHS, month) for month, name in enumerate(MATRIX_COLUMNS[1:])}
    frame = pl.DataFrame({MATRIX_COLUMNS[0]: pl.Series(customers, dtype=pl.String), **columns})
    return frame.write_csv(line_terminator="\n").encode()


def answer_bytes(answer: Answer) -> bytes:
    """F as a file."""
    return matrix_bytes(answer.customers, answer.pseudonyms, answer.cells[:, :, None])


def guess_bytes(guess: ReidentificationGuess) -> bytes:
    """F^ as a file."""
    return matrix_bytes(guess.customers, guess.pseudonyms, guess.cells)


def read_answer(path: Path) -> Answer | Problems:
    """F from its file."""
    found = _read_matrix(Source.of(path), None, 1)
    if isinstance(found, Problems):
        return found
    return Answer(found.customers, found.pseudonyms, found.cells[:, :, 0])


def read_guess(source: Source, customers: tuple[str, ...]) -> ReidentificationGuess | Problems:
    """F^: a row per customer in any order, up to three guesses a:b:c per cell, DEL for none."""
    return _read_matrix(source, customers, GUESSES)


def _read_matrix(source: Source, customers: tuple[str, ...] | None, guesses: int) -> ReidentificationGuess | Problems:
    data = source.read()
    if isinstance(data, Problems):
        return data
    head, newline, rest = data.partition(b"\n")
    header = head.startswith(b"id_user,")
    if header:  # months may be named in any way: by number, as the competition did, or by their names
        data = ",".join(MATRIX_COLUMNS).encode() + newline + rest if head.count(b",") == MONTHS else data
    plain = Source(source.name.removesuffix(".gz"), data)
    schema = Schema([Text(name) for name in MATRIX_COLUMNS])
    rows = None if customers is None else len(customers)
    table = taken(read_table(plain, schema, Layout(header=header, max_rows=rows)))
    if isinstance(table, Problems):
        return table.in_file(source.name)
    found = ProblemCollector(source.name)
    first_line = 1 + int(header)
    order = _check_customers(table, customers, first_line, found)
    texts = pl.concat([table.texts(name).alias("cell") for name in MATRIX_COLUMNS[1:]])
    parts = texts.str.split(SEPARATOR)
    _check_cells(texts, parts, guesses, len(table), first_line, found)
    return found.problems() if found else _guess(table, parts, order)


def _check_customers(
    table: Table, customers: tuple[str, ...] | None, first_line: int, found: ProblemCollector
) -> NDArray[np.int64]:
    """Each customer once; gives the rows in the order of the sorted customers."""
    names = table.vocabularies["id_user"]
    codes = table.codes["id_user"]
    _, first = np.unique(codes, return_index=True)
    repeated = np.setdiff1d(np.arange(len(codes)), first)
    for record in repeated[: found.room].tolist():
        name = names[codes[record]]
        where = {"row": record + first_line, "record": record, "column": "id_user", "value": name}
        found.add(
            "plain",
            message=f"customer {name} has a second row (first in line {first[codes[record]] + first_line})",
            fix="give each once",
            **where,
        )
    if customers is not None:
        for record in np.flatnonzero(~np.isin(names, customers)[codes])[: found.room].tolist():
            name = names[codes[record]]
            where = {"row": record + first_line, "record": record, "column": "id_user", "value": name}
            found.add("plain", message=f"{name!r} is not a customer of T", fix="use the customers of T", **where)
        for name in sorted(set(customers) - set(names))[: found.room]:
            end = len(table) + first_line - 1
            found.add(
                "plain",
                message=f"customer {name} has no row",
                fix="give every customer of T a row",
                row=end,
                column="id_user",
                value=name,
            )
    return first


def _check_cells(texts: pl.Series, parts: pl.Series, guesses: int, rows: int, first_line: int, found: ProblemCollector) -> None:
    many = (parts.list.len() > guesses).to_numpy()
    blank = parts.list.eval(pl.element() == "").list.any().to_numpy()
    for place in np.flatnonzero(many | blank)[: found.room].tolist():
        month, record = divmod(place, rows)
        allowed = (
            f"up to {guesses} guesses are allowed, separated by {SEPARATOR}" if guesses > 1 else "one pseudonym is allowed"
        )
        message = f"the cell lists {len(parts[place])} guesses" if many[place] else "the cell lists an empty guess"
        column = MATRIX_COLUMNS[1 + month]
        found.add(
            "plain", message=message, fix=allowed, row=record + first_line, record=record, column=column, value=texts[place]
        )
    found.count_unlisted(max(0, int((many | blank).sum()) - found.total))


def _guess(table: Table, parts: pl.Series, order: NDArray[np.int64]) -> ReidentificationGuess:
    flat = parts.explode().unique().sort()
    pseudonyms = flat.filter(flat != DELETED).to_list()
    numbers = pl.Enum(pseudonyms)
    cells = np.full((len(table), MONTHS, GUESSES), NOBODY, dtype=np.int32)
    for place in range(GUESSES):
        chosen = parts.list.get(place, null_on_oob=True).cast(numbers, strict=False).to_physical()
        cells[:, :, place] = chosen.cast(pl.Int32).fill_null(NOBODY).to_numpy().reshape(MONTHS, len(table)).T
    return ReidentificationGuess(table.vocabularies["id_user"], tuple(pseudonyms), cells[order])


def malformed(message: str, fix: str, file: str) -> Problems:
    """One problem with a file that is not what it should be."""
    return Problems([plain(message, fix, file, severity=Severity.MALFORMED)])
