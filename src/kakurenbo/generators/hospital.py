"""A hospital that does not exist: one row per stay, drawn from a small model whose every number stands in this file.

For trying out what is meant for tables of one's own. What depends on what: diagnosis → age, sex, ward, season, days and
HbA1c; age → insurance, days. Rows are drawn independently, so that any two halves of a table are alike.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

FIRST_DAY, DAYS = datetime.date(2024, 1, 1), 366
_OLDEST = 99
_LONGEST = 180
_INTENSIVE_CARE = "intensive care"
_ON_ANOTHER_WARD = 0.05  # share of stays that are not on the ward of their diagnosis
_QUIET_WEEKEND = 0.35  # planned and other admissions on a Saturday or Sunday, beside those of another day


@dataclass(frozen=True)
class _Diagnosis:
    """Who comes with it, where they lie, and for how long.

    Attributes
    ----------
    weight : float
        How many of 1,000 stays.
    age, spread : float
        Mean and standard deviation, in years; the ages that are drawn are whole and from 0 to 99.
    women : float
        Share of women.
    days : float
        Median of the length of stay at 60 years.
    peak : int or None
        The day of the year around which most come; None for all the year.
    """

    name: str
    ward: str
    weight: float
    age: float
    spread: float
    women: float
    days: float
    peak: int | None = None


_DIAGNOSES = (
    _Diagnosis("pneumonia", "respiratory", 95, 76, 15, 0.42, 14, peak=20),
    _Diagnosis("heart failure", "cardiology", 88, 80, 11, 0.50, 16, peak=25),
    _Diagnosis("cataract", "ophthalmology", 86, 74, 9, 0.57, 2),
    _Diagnosis("colorectal polyp", "gastroenterology", 80, 66, 11, 0.36, 2),
    _Diagnosis("cerebral infarction", "neurology", 70, 76, 12, 0.44, 17),
    _Diagnosis("angina pectoris", "cardiology", 58, 71, 10, 0.29, 4),
    _Diagnosis("femoral fracture", "orthopaedics", 56, 83, 10, 0.77, 24),
    _Diagnosis("delivery", "obstetrics", 52, 32, 5, 1.0, 6),
    _Diagnosis("diabetes mellitus", "internal medicine", 50, 66, 14, 0.40, 12),
    _Diagnosis("colorectal cancer", "surgery", 44, 71, 11, 0.43, 14),
    _Diagnosis("lung cancer", "respiratory", 42, 72, 9, 0.34, 11),
    _Diagnosis("gastric cancer", "surgery", 38, 72, 11, 0.31, 13),
    _Diagnosis("gallstones", "gastroenterology", 36, 67, 15, 0.45, 8),
    _Diagnosis("breast cancer", "surgery", 30, 60, 13, 0.994, 8),
    _Diagnosis("asthma", "paediatrics", 28, 5, 4, 0.40, 5, peak=275),
    _Diagnosis("appendicitis", "surgery", 26, 36, 19, 0.45, 6),
    _Diagnosis("influenza", "internal medicine", 24, 60, 28, 0.49, 7, peak=15),
    _Diagnosis("prostate cancer", "urology", 24, 74, 7, 0.0, 9),
    _Diagnosis("urinary tract infection", "urology", 22, 74, 18, 0.63, 11),
    _Diagnosis("depression", "psychiatry", 16, 52, 18, 0.60, 38),
    _Diagnosis("schizophrenia", "psychiatry", 12, 47, 15, 0.51, 60),
    _Diagnosis("heat stroke", "internal medicine", 8, 68, 24, 0.36, 4, peak=215),
    _Diagnosis("leukaemia", "haematology", 7, 61, 19, 0.43, 30),
    _Diagnosis("HIV infection", "internal medicine", 3, 44, 12, 0.06, 12),
    _Diagnosis("multiple sclerosis", "neurology", 2.5, 41, 12, 0.74, 10),
    _Diagnosis("Kawasaki disease", "paediatrics", 1.5, 2, 1.5, 0.43, 9),
    _Diagnosis("Fabry disease", "internal medicine", 0.6, 45, 14, 0.48, 5),
    _Diagnosis("Creutzfeldt-Jakob disease", "neurology", 0.4, 70, 8, 0.57, 45),
)
_DIABETES = next(place for place, one in enumerate(_DIAGNOSES) if one.name == "diabetes mellitus")
# Where the hospital stands, its neighbours, and a tail of people who fell ill while travelling.
_PREFECTURES = {
    "Kanagawa": 640, "Tokyo": 190, "Shizuoka": 48, "Saitama": 36, "Chiba": 31, "Yamanashi": 18, "Ibaraki": 8, "Aichi": 5,
    "Osaka": 5, "Nagano": 4, "Hokkaido": 3, "Fukuoka": 3, "Niigata": 2, "Hyogo": 2, "Miyagi": 2, "Kyoto": 1, "Okinawa": 1,
    "Ishikawa": 0.5, "Kagoshima": 0.5,
}  # fmt: skip
_INSURANCES = ("employees", "national", "late-stage elderly", "public assistance")
# Shares of each insurance up to an age (not included).
_INSURED = (
    (18, (0.74, 0.21, 0.0, 0.05)),
    (65, (0.66, 0.29, 0.0, 0.05)),
    (75, (0.22, 0.72, 0.0, 0.06)),
    (_OLDEST + 1, (0, 0, 0.94, 0.06)),
)


def hospital(rows: int, rng: np.random.Generator) -> pl.DataFrame:
    """Stays in a made-up hospital in 2024.

    Parameters
    ----------
    rows : int
    rng : Generator
        The only source of randomness.

    Returns
    -------
    DataFrame, ``rows`` high
        ``age`` (years), ``sex``, ``prefecture``, ``ward``, ``diagnosis``, ``admitted`` (a day), ``days`` (of the stay),
        ``insurance``, ``hba1c`` (percent; null where it was not measured).
    """
    weights = np.array([one.weight for one in _DIAGNOSES])
    which = rng.choice(len(_DIAGNOSES), size=rows, p=weights / weights.sum())
    age = _ages(which, rng)
    women = rng.random(rows) < _of("women", which)
    return pl.DataFrame(
        {
            "age": age,
            "sex": np.where(women, "female", "male"),
            "prefecture": _drawn(tuple(_PREFECTURES), tuple(_PREFECTURES.values()), rows, rng),
            "ward": _wards(which, rng),
            "diagnosis": np.array([one.name for one in _DIAGNOSES])[which],
            "admitted": _days_of_admission(which, rng),
            "days": _lengths(which, age, rng),
            "insurance": _insurances(age, rng),
            "hba1c": _hba1c(which, age, rng),
        }
    )


def _of(name: str, which: NDArray[np.int64]) -> NDArray[np.float64]:
    """A number of each row's diagnosis, shape (rows,)."""
    return np.array([getattr(one, name) for one in _DIAGNOSES], dtype=np.float64)[which]


def _drawn(names: tuple[str, ...], weights: tuple[float, ...], rows: int, rng: np.random.Generator) -> NDArray[np.str_]:
    shares = np.array(weights, dtype=np.float64)
    return np.array(names)[rng.choice(len(names), size=rows, p=shares / shares.sum())]


def _ages(which: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Normal, folded at 0 and at the oldest age, so that no age at the edge is heaped up."""
    drawn = np.abs(rng.normal(_of("age", which), _of("spread", which)))
    folded = np.where(drawn > _OLDEST, 2 * _OLDEST - drawn, drawn)
    ages: NDArray[np.int64] = np.floor(np.clip(folded, 0, _OLDEST)).astype(np.int64)
    return ages


def _wards(which: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.str_]:
    own = np.array([one.ward for one in _DIAGNOSES])[which]
    elsewhere = rng.random(len(which)) < _ON_ANOTHER_WARD
    return np.where(elsewhere, _INTENSIVE_CARE, own)


def _days_of_admission(which: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.datetime64]:
    """A day of the year: near the peak of a season for two of three stays that have one, and seldom on a weekend."""
    rows = len(which)
    peaks = np.array([-1 if one.peak is None else one.peak for one in _DIAGNOSES])[which]
    near = np.round(rng.normal(peaks, 24)).astype(np.int64) % DAYS
    day = np.where((peaks >= 0) & (rng.random(rows) < 2 / 3), near, rng.integers(DAYS, size=rows))
    weekday = (FIRST_DAY.weekday() + day) % 7
    moved = (weekday >= 5) & (rng.random(rows) >= _QUIET_WEEKEND)
    day = np.where(moved, (day + 7 - weekday + rng.integers(3, size=rows)) % DAYS, day)
    return np.datetime64(FIRST_DAY, "D") + day.astype("timedelta64[D]")


def _lengths(which: NDArray[np.int64], age: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Log-normal, longer with age."""
    median = _of("days", which) * np.exp(0.008 * (age - 60))
    drawn = np.ceil(median * np.exp(rng.normal(0, 0.45, len(which))))
    lengths: NDArray[np.int64] = np.clip(drawn, 1, _LONGEST).astype(np.int64)
    return lengths


def _insurances(age: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.str_]:
    bounds = [limit for limit, _ in _INSURED[:-1]]
    shares = np.array([share for _, share in _INSURED])[np.searchsorted(bounds, age, side="right")]  # (rows, insurances)
    place = (rng.random(len(age))[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    chosen: NDArray[np.str_] = np.array(_INSURANCES)[np.minimum(place, len(_INSURANCES) - 1)]
    return chosen


def _hba1c(which: NDArray[np.int64], age: NDArray[np.int64], rng: np.random.Generator) -> pl.Series:
    """Measured of nearly all who have diabetes, and of some of the others over 40; to a tenth of a percent."""
    diabetes = which == _DIABETES
    measured = rng.random(len(which)) < np.where(diabetes, 0.97, np.where(age > 40, 0.38, 0.04))
    value = np.where(diabetes, rng.normal(8.4, 1.4, len(which)), rng.normal(5.7, 0.45, len(which)))
    return pl.Series(np.clip(value, 4.0, 15.0).round(1)).set(pl.Series(~measured), None)
