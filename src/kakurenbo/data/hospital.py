"""Draw a hospital that does not exist: one row per stay, from the small model in ``stored/hospital.json``.

For trying out what is meant for tables of one's own. What depends on what: diagnosis → age, sex, ward, season, days and
HbA1c; age → insurance, days. Rows are drawn independently, so that any two halves of a table are alike.

Of a diagnosis the model says how many of 1,000 stays have it, mean and standard deviation of the age, the share of women,
the median length of stay at 60 years, and the day of the year around which most come, if any.
"""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl

from kakurenbo.core.arrays import Rng
from kakurenbo.data.statistics import stored_statistics

FIRST_DAY, DAYS = datetime.date(2024, 1, 1), 366
_OLDEST, _LONGEST = 99, 180
_ON_ANOTHER_WARD = 0.05  # share of stays that are not on the ward of their diagnosis
_QUIET_WEEKEND = 0.35  # admissions on a Saturday or Sunday, relative to another day


def hospital(rows: int, rng: Rng) -> pl.DataFrame:
    """Draw stays in a made-up hospital in 2024.

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
    model = stored_statistics("hospital.json")
    header, *diagnoses = model["diagnoses"]
    table = dict(zip(header, map(np.array, zip(*diagnoses, strict=True)), strict=True))
    shares = table["weight"] / table["weight"].sum()
    which = rng.choice(len(shares), size=rows, p=shares)
    stay = {name: values[which] for name, values in table.items()}

    # Normal, folded at 0 and at the oldest age, so that no age at the edge is heaped up.
    age = np.abs(rng.normal(stay["age"], stay["spread"]))
    age = np.where(age > _OLDEST, 2 * _OLDEST - age, age)
    age = np.floor(np.clip(age, 0, _OLDEST)).astype(np.int64)
    sex = np.where(rng.random(rows) < stay["women"], "female", "male")

    names, shares = map(np.array, zip(*model["prefectures"].items(), strict=True))
    prefecture = names[rng.choice(len(names), size=rows, p=shares / shares.sum())]
    ward = np.where(rng.random(rows) < _ON_ANOTHER_WARD, "intensive care", stay["ward"])

    # Near the peak of a season for two of three stays that have one, and seldom on a weekend.
    near = np.round(rng.normal(stay["peak"], 24)).astype(np.int64) % DAYS
    in_season = (stay["peak"] >= 0) & (rng.random(rows) < 2 / 3)
    day = np.where(in_season, near, rng.integers(DAYS, size=rows))
    weekday = (FIRST_DAY.weekday() + day) % 7
    postponed = (weekday >= 5) & (rng.random(rows) >= _QUIET_WEEKEND)
    day = np.where(postponed, (day + 7 - weekday + rng.integers(3, size=rows)) % DAYS, day)

    # Log-normal, longer with age.
    median = stay["days"] * np.exp(0.008 * (age - 60))
    length = np.ceil(median * np.exp(rng.normal(0, 0.45, rows)))

    insurance = model["insurance"]
    of_age = np.array(insurance["shares"])[np.searchsorted(insurance["ages"], age, side="right")]
    place = (rng.random(rows)[:, None] > of_age.cumsum(axis=1)).sum(axis=1)
    kinds = np.array(insurance["kinds"])

    # Measured of nearly all who have diabetes, and of some of the others over 40; to a tenth of a percent.
    diabetes = stay["name"] == "diabetes mellitus"
    measured = rng.random(rows) < np.where(diabetes, 0.97, np.where(age > 40, 0.38, 0.04))
    hba1c = np.where(diabetes, rng.normal(8.4, 1.4, rows), rng.normal(5.7, 0.45, rows))
    return pl.DataFrame(
        {
            "age": age,
            "sex": sex,
            "prefecture": prefecture,
            "ward": ward,
            "diagnosis": stay["name"],
            "admitted": np.datetime64(FIRST_DAY, "D") + day.astype("timedelta64[D]"),
            "days": np.clip(length, 1, _LONGEST).astype(np.int64),
            "insurance": kinds[np.minimum(place, len(kinds) - 1)],
            "hba1c": pl.Series(np.clip(hba1c, 4.0, 15.0).round(1)).set(pl.Series(~measured), None),
        }
    )
