"""NHANES health checks: the twelve columns of pwscup2021, its table B, the survey's files, and the embedded statistics."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import polars as pl

from kakurenbo.core import (
    Category,
    Decimal,
    InputError,
    Integer,
    Layout,
    Moments,
    Schema,
    Severity,
    Source,
    Table,
    gather,
    read_table,
)
from kakurenbo.core.arrays import Floats
from kakurenbo.data.statistics import stored_statistics

NAMES = ("gen", "age", "race", "edu", "mar", "bmi", "dep", "pir", "gh", "mets", "qm", "dia")
"""The columns in their order: files have no header."""
GEN, AGE, RACE, EDU, MAR, BMI, DEP, PIR, GH, METS, QM, DIA = NAMES
NUMBERS = (AGE, BMI)
FLAGS = (DEP, PIR, DIA)
UNUSED = (GH, METS)

AGES, BMIS = (13, 85), (13, 75)
"""What a released age and body mass index may be."""
_ANY_AGE, _ANY_BMI = (0, 120), (5, 200)  # of people as they are: one of 2017-2018 has 84.4
LEVELS = {
    GEN: ("Female", "Male"),
    RACE: ("Black", "Hispanic", "Mexican", "Other", "White"),
    EDU: ("11th", "9th", "College", "Graduate", "HighSchool"),
    MAR: ("Divorced", "Married", "Never", "Parther", "Separated", "Widowed"),
    QM: ("Q1", "Q2", "Q3", "Q4"),
}
"""In alphabetical order, so that the first is the base of a regression; ``Parther`` is how the contest wrote it."""

ROWS = 4190
"""Of the contest's B (NHANES 2015-2016)."""
FEWEST_ROWS = 200
STATISTICS_FILE = "nhanes.json"
_TENTHS = 10


def _schema(age: Integer | Decimal, bmi: Integer | Decimal) -> Schema:
    columns = {AGE: age, BMI: bmi, **{name: Integer(name, 0, 0) for name in UNUSED}}
    categories = {name: Category(name, levels) for name, levels in LEVELS.items()}
    flags = {name: Integer(name, 0, 1) for name in FLAGS}
    return Schema({**columns, **categories, **flags}[name] for name in NAMES)


SCHEMA = _schema(Decimal(AGE, *_ANY_AGE), Decimal(BMI, *_ANY_BMI))
"""Of a table B, and of what anonymizers are given."""

# The generators know whole numbers: ages in years, body mass indices in tenths.
_COUNTED = _schema(
    Integer(AGE, *_ANY_AGE), Integer(BMI, _ANY_BMI[0] * _TENTHS, _ANY_BMI[1] * _TENTHS)
)


def read_health(source: Source, least: int = 1) -> Table:
    """Read a table B: twelve columns, no header, at least so many rows."""
    return read_table(source, SCHEMA, Layout(min_rows=least))


def counted(table: Table) -> Table:
    """Return the table in whole numbers, ages rounded to years and body mass indices to tenths, as generators take it."""
    ages = np.rint(table.values(AGE)).astype(np.int64) - _ANY_AGE[0]
    tenths = np.rint(table.values(BMI) * _TENTHS).astype(np.int64) - _ANY_BMI[0] * _TENTHS
    return Table(_COUNTED, {**table.codes, AGE: ages, BMI: tenths})


def uncounted(table: Table) -> Table:
    """Return the table of years and tenths as health checks are written."""
    ages = table.values(AGE).astype(np.float64)
    return Table(SCHEMA, {**table.codes, AGE: ages, BMI: table.values(BMI) / _TENTHS})


@cache
def embedded_statistics() -> Moments:
    """Return counts and cross products of a table like the contest's B; see ``scripts/make_nhanes_statistics.py``."""
    return Moments.from_json(stored_statistics(STATISTICS_FILE), _COUNTED)


# -- from the files of NHANES ------------------------------------------------------------------------------------------

FILES = ("DEMO", "DIQ", "BMX", "PAQ", "GHB", "DPQ", "INQ")
"""What B is made from, as the files of a survey are called before their letter: ``DEMO_I.XPT``."""
_PERSON = "SEQN"
_VIGOROUS = (("PAD615", "PAQ610"), ("PAD660", "PAQ655"))
_MODERATE = (("PAD630", "PAQ625"), ("PAD645", "PAQ640"), ("PAD675", "PAQ670"))
_ACTIVITIES = tuple(name for pair in (*_VIGOROUS, *_MODERATE) for name in pair)
_NOT_ANSWERED = (99.0, 9999.0)
_CODED: Mapping[str, tuple[str, str]] = {  # variable, and the words of its codes 1, 2, ...
    GEN: ("RIAGENDR", "Male Female"),
    RACE: ("RIDRETH1", "Mexican Hispanic White Black Other"),
    EDU: ("DMDEDUC2", "9th 11th HighSchool College Graduate"),
    MAR: ("DMDMARTL", "Married Widowed Divorced Separated Never Parther"),
}
_DIABETES = ("DIQ010", "DIQ050", "DIQ070")
_MEASURED = ("RIDAGEYR", "BMXBMI", "LBXGH", "DPQ020")
_CODES = tuple(variable for variable, _ in _CODED.values())
_NEEDED = (*_CODES, *_MEASURED[:3], *_DIABETES, "DIQ175A", "DPQ020", "INDFMMPI", *_ACTIVITIES)


def import_files(sources: Sequence[Source]) -> Mapping[str, Table]:
    """Read the files of a survey as they were published, or one table B that was made from them."""
    if len(sources) == 1 and not sources[0].read().startswith(_FIRST):
        return {"B": read_health(sources[0], FEWEST_ROWS)}
    return {"B": read_survey(sources)}


def read_survey(sources: Sequence[Source]) -> Table:
    """Read B from the original files of a survey, as the contest made it; see :func:`health_table`."""
    with gather() as problems:
        values = [problems.of(read_xport, source) for source in sources]
    files = [variables for variables in values if _PERSON in variables]
    missing = [name for name in (_PERSON, *_NEEDED) if not any(name in file for file in files)]
    if missing:
        raise InputError.of(
            "nhanes.lacks",
            sources[0].name,
            severity=Severity.MALFORMED,
            missing=missing[:5],
            files=[f"{name}_I.XPT" for name in FILES],
        )
    # People who are in every file, by number.
    frames = [pl.DataFrame(file).unique(_PERSON, keep="first") for file in files]
    people = frames[0]
    for frame in frames[1:]:
        new = [name for name in frame.columns if name == _PERSON or name not in people.columns]
        people = people.join(frame.select(new), on=_PERSON)
    return health_table(people.sort(_PERSON))


def health_table(people: pl.DataFrame) -> Table:
    """Return B: people of 20 years and more, without those at genetic risk (DIQ175A = 10), none with a value missing.

    The quartiles of activity are those of all people who were joined.
    """
    answers = people.select(
        pl.when(pl.col(name).is_in(_NOT_ANSWERED))
        .then(0)
        .otherwise(pl.col(name).fill_nan(0))
        .alias(name)
        for name in _ACTIVITIES
    )
    vigorous, moderate = (
        sum(answers[minutes] * answers[days] for minutes, days in pairs)
        for pairs in (_VIGOROUS, _MODERATE)
    )
    effort = np.asarray(8 * vigorous + 4 * moderate)
    quartile = np.searchsorted(np.quantile(effort, (0.25, 0.5, 0.75)), effort, side="left")
    words = {
        name: pl.col(variable).replace_strict(
            {float(code): word for code, word in enumerate(words.split(), start=1)},
            default=None,
            return_dtype=pl.String,
        )
        for name, (variable, words) in _CODED.items()
    }
    flags = {
        DEP: pl.col("DPQ020").is_in((1.0, 2.0, 3.0)),
        PIR: pl.col("INDFMMPI") < 1,
        DIA: (pl.col("LBXGH") >= 6.5) | pl.any_horizontal(pl.col(_DIABETES) == 1),
    }
    rows = people.with_columns(
        pl.Series(QM, np.asarray(LEVELS[QM])[quartile]),
        pl.Series(BMI, people["BMXBMI"].to_numpy().round(1)),
        pl.lit(0).alias(GH),
        pl.lit(0).alias(METS),
        age=pl.col("RIDAGEYR"),
        **words,
        **{name: flag.cast(pl.Int64) for name, flag in flags.items()},
    ).filter(
        pl.col("RIDAGEYR") >= 20,
        pl.col("DIQ175A") != 10,
        pl.all_horizontal(pl.col(_MEASURED).is_not_nan(), pl.col(*_CODED).is_not_null()),
    )
    return Table.from_rows(SCHEMA, rows.select(NAMES).rows())


# -- SAS transport files (version 5, .XPT) -----------------------------------------------------------------------------

_CARD = 80  # bytes of a record
_FIRST, _MEMBER, _VARIABLES, _ROWS = (
    b"HEADER RECORD*******%-8sHEADER RECORD!!!!!!!" % name
    for name in (b"LIBRARY", b"MEMBER", b"NAMESTR", b"OBS")
)
_NUMERIC = 1
_MOST_VARIABLES = 5000


def read_xport(source: Source) -> dict[str, Floats]:
    """Read the numeric variables of the first data set of a transport file by name; a missing value is NaN."""
    data = source.read()
    try:
        return _variables(data)
    except (ValueError, struct.error, UnicodeDecodeError) as error:
        raise InputError.of(
            "nhanes.no_transport_file", source.name, severity=Severity.MALFORMED
        ) from error


def _variables(data: bytes) -> dict[str, Floats]:
    if not data.startswith(_FIRST):
        raise ValueError("no transport file")
    member, listed = data.index(_MEMBER), data.index(_VARIABLES)
    size, count = int(data[member + 74 : member + 78]), int(data[listed + 54 : listed + 58])
    if not 0 < count <= _MOST_VARIABLES or size < 88:
        raise ValueError("no variables")
    begin, width, places = listed + _CARD, 0, {}
    for card in range(begin, begin + count * size, size):
        kind, _, length, name, start = struct.unpack_from(">3h2x8s68xl", data, card)
        if length < 1 or start < 0 or (kind == _NUMERIC and not 2 <= length <= 8):
            raise ValueError("no variable")
        width = max(width, start + length)
        if kind == _NUMERIC:
            places[name.decode("ascii").strip()] = slice(start, start + length)
    rows = data.index(_ROWS, begin + count * size) + _CARD
    body = np.frombuffer(data[rows:], dtype=np.uint8)
    body = body[: len(body) // width * width].reshape(-1, width)
    # The last card is filled up with blanks, which a short row could be mistaken for.
    used = np.flatnonzero((body != ord(" ")).any(axis=1))
    body = body[: used[-1] + 1 if len(used) else 0]
    return {name: _numbers(body[:, place]) for name, place in places.items()}


def _numbers(cells: np.ndarray) -> Floats:
    """Decode IBM floating point, (-1)^s * 0.f * 16^(e - 64): a sign, 7 bits of exponent, up to 56 bits of fraction."""
    padded = np.zeros((len(cells), 8), dtype=np.uint8)
    padded[:, : cells.shape[1]] = cells
    bits = padded.view(">u8")[:, 0].astype(np.uint64)
    exponent = (padded[:, 0] & 0x7F).astype(np.int64) - 64
    fraction = (bits & np.uint64(2**56 - 1)).astype(np.float64) / 2**56
    values = np.where(padded[:, 0] & 0x80, -1.0, 1.0) * np.ldexp(fraction, 4 * exponent)
    # A missing value is a letter, "_" or "." with nothing behind it.
    missing = (fraction == 0) & (padded[:, 0] != 0)
    return np.where(missing, np.nan, values)
