"""What released values are read as, and that nobody takes for suppressed what was not understood."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest

import kakurenbo
from kakurenbo.audit.encoding import MOST_TEXTS, CodedColumn, encode
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.result import ABOVE
from kakurenbo.audit.schema import infer_schema


def coded(original: list[str], release: list[str]) -> CodedColumn:
    tables = [
        frame_of(name, pl.DataFrame({"a": cells}))
        for name, cells in (("original", original), ("release", release))
    ]
    return encode(infer_schema(tables[0]), ["a"], tables[0], tables[1], None).columns[0]


def read(original: list[str], text: str, *others: str) -> list[str]:
    """Which of the original values a released text may stand for; the original has no value twice, and few of them."""
    tables = [
        frame_of(name, pl.DataFrame({"a": cells}))
        for name, cells in (("o", original), ("r", [text, *others]))
    ]
    found = encode(infer_schema(tables[0]), ["a"], tables[0], tables[1], None)
    assert (found.columns[0].not_understood, found.columns[0].example) == (0, "")
    covered = found.columns[0].covers[:, found.release[0, 0]]
    return [
        value for value, code in zip(original, found.original[:, 0], strict=True) if covered[code]
    ]


# -- what is not understood --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "original",
    [
        ["18", "34", "52", "90"],
        ["1980-02-13", "1981-11-30", "1990-01-01"],
        ["Tokyo", "Osaka", "Kobe"],
    ],
    ids=["numbers", "dates", "words"],
)
def test_cells_that_are_not_understood_are_counted_with_the_commonest_of_them(
    original: list[str],
) -> None:
    release = [*original, "", "*", "NA", "suppressed", "gross", "klein", "gross"]
    column = coded(original, release)
    assert (column.not_understood, column.example) == (3, "gross")
    plain = coded(original, [*original, "", "*", "NA", "suppressed"])
    assert (plain.not_understood, plain.example) == (0, "")


def test_rare_words_of_the_original_are_understood_and_others_are_not() -> None:
    own = [f"w{place:05d}" for place in range(2 * MOST_TEXTS)]
    foreign = [f"{place:05d}-v" for place in range(3 * MOST_TEXTS)]
    assert coded(own, own).not_understood == 0
    assert coded(own, [*own[-100:], *foreign]).not_understood == len(foreign)


def test_many_columns_of_words_keep_fewer_codes_each_and_few_keep_all() -> None:
    def sizes(columns: int) -> list[tuple[int, int]]:
        tables = [
            frame_of(
                name,
                pl.DataFrame(
                    {
                        f"c{at}": [f"{name}{at}x{row}" for row in range(3000)]
                        for at in range(columns)
                    }
                ),
            )
            for name in ("original", "release", "holdout")
        ]
        found = encode(infer_schema(tables[0]), tables[0].columns, *tables)
        return [column.covers.shape for column in found.columns]  # type: ignore[misc]

    assert sizes(5) == [(MOST_TEXTS + 1, 3000)] * 5
    assert sum(size * released for size, released in sizes(30)) <= 100_000_000


def test_which_rare_words_have_a_code_does_not_tell_the_original_from_the_holdout() -> None:
    tables = [
        frame_of(name, pl.DataFrame({"a": [f"{name} {row}" for row in range(MOST_TEXTS)]}))
        for name in ("original", "holdout")
    ]
    found = encode(infer_schema(tables[0]), ["a"], tables[0], tables[0], tables[1])
    coded_alone = [
        float((table[:, 0] < MOST_TEXTS).mean()) for table in (found.original, found.holdout)
    ]
    assert coded_alone == pytest.approx([0.5, 0.5], abs=0.05)


def test_new_values_that_new_people_have_are_no_riddles() -> None:
    """Of postal codes that most people share with nobody another sample has others; where all are shared there are none."""
    rare, common = (
        [f"{70_000 + 3 * place}-x" for place in range(1000)],
        [f"{70_000 + 3 * place}-x" for place in range(50)] * 20,
    )
    new = [f"{70_001 + 3 * place}-x" for place in range(500)]
    assert coded(rare, [*rare[:500], *new]).not_understood == 0
    assert coded(common, [*common[:500], *new]).not_understood == len(new)
    assert coded(rare, [*rare[:500], *(f"x{text}" for text in new)]).not_understood == len(new)


# -- dates -------------------------------------------------------------------------------------------------------------

DAYS = [
    "1979-12-31",
    "1980-01-01",
    "1980-02-01",
    "1980-02-13",
    "1980-02-29",
    "1980-03-01",
    "1980-12-31",
    "1984-06-30",
]
DAYS += ["1989-12-31", "1990-01-01"]


@pytest.mark.parametrize(
    ("first", "last", "texts"),
    [
        (
            "1980-02-01",
            "1980-02-29",
            "1980-02|1980/02|1980/2|1980.02|198002|Feb 1980|february 1980|1980 Feb|Feb-1980|02/1980",
        ),
        (
            "1980-02-01",
            "1980-02-29",
            "1980年2月|１９８０年２月|1980-02-**|1980-02-xx|**/02/1980|02/**/1980|[1980-02-01, 1980-03-01)",
        ),
        (
            "1980-01-01",
            "1980-12-31",
            "1980|1980年|1980-**-**|1980-01 to 1980-12|1980-01/1980-12|(1979, 1980]",
        ),
        ("1980-01-01", "1980-03-31", "1980-Q1|1980Q1|Q1 1980|1980年第1四半期|1980-01–1980-03"),
        ("1980-01-01", "1980-06-30", "1980-H1|H1 1980"),
        ("1980-02-11", "1980-02-17", "1980-W07|1980-02-11 - 1980-02-17"),
        (
            "1980-01-01",
            "1989-12-31",
            "1980s|1980's|1980年代|198*|1980-1989|1980–1989|1980 to 1989|1980-89|[1980,1990)",
        ),
        ("1980-01-01", "1984-12-31", "1980-1984|1980-84|1980~1984"),
        ("0001-01-01", "1979-12-31", "<1980|before 1980|<=1979|until 1979|1979以前|< 1980-01-01"),
        (
            "1990-01-01",
            "9999-12-31",
            "1990+|>=1990|>1989|since 1990|after 1989|1990 or later|1990年以降",
        ),
        (
            "1980-02-13",
            "1980-02-13",
            "1980/02/13|13.02.1980|02/13/1980|13/02/1980|1980-02-13 00:00:00|1980年2月13日",
        ),
    ],
)
@pytest.mark.parametrize("pattern", ["%Y-%m-%d", "%d.%m.%Y"])
def test_coarser_dates_are_the_days_that_they_stand_for(
    first: str, last: str, texts: str, pattern: str
) -> None:
    written = {day: datetime.date.fromisoformat(day).strftime(pattern) for day in DAYS}
    for text in texts.split("|"):
        assert read(list(written.values()), text, *written.values()) == [
            written[day] for day in DAYS if first <= day <= last
        ], text


@pytest.mark.parametrize(
    "text",
    ["1980-13", "1989-1980", "Foo 1980", "1980-02-30", "02-13", "Feb", "x" * 5000, "*-" * 5000],
)
def test_what_is_no_date_is_not_taken_for_one(text: str) -> None:
    column = coded(DAYS, [*DAYS, text])
    assert (column.not_understood, column.example) == (1, text)


@pytest.mark.parametrize(
    ("released", "text", "first", "last"),
    [
        (["1980-02-01", "1980-03-01", "1979-12-01"], "1980-02-01", "1980-02-01", "1980-02-29"),
        (["1980-02-15", "1980-03-15", "1979-12-15"], "1980-02-15", "1980-02-01", "1980-02-29"),
        (["1980-01-01", "1980-04-01", "1979-10-01"], "1980-01-01", "1980-01-01", "1980-03-31"),
        (["1980-01-01", "1979-01-01", "1984-01-01"], "1980-01-01", "1980-01-01", "1980-12-31"),
        (["1980-02-01", "1980-03-01", "1979-12-31"], "1980-02-01", "1980-02-01", "1980-02-01"),
    ],
    ids=["months", "middles", "quarters", "years", "not_rounded"],
)
def test_dates_on_one_day_of_each_month_are_rounded(
    released: list[str], text: str, first: str, last: str
) -> None:
    own = [*DAYS, "1982-05-05", "1983-07-17", "1986-08-09"]
    assert read(own, text, *released, *([] if first != last else own)) == [
        day for day in own if first <= day <= last
    ]
    firsts = [f"198{year}-0{month}-01" for year in range(10) for month in (1, 2, 5)]
    assert read(firsts, firsts[3], *firsts) == [firsts[3]]  # as the original has them


# -- numbers -----------------------------------------------------------------------------------------------------------

NUMBERS = [
    0,
    17,
    18,
    49,
    50,
    55,
    59,
    60,
    89,
    90,
    1980,
    1984,
    1985,
    84_000,
    84_600,
    85_900,
    86_000,
    1_160_000,
    1_300_000,
]


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (
            50,
            59,
            "50s|50's|50代|50歳代|50-59|50–59|50—59|50~59|50～59|50 to 59|50..59|50...59|[50,60)|[50, 59]|50-<60|(49,59]",
        ),
        (50, 59, "between 50 and 59|from 50 to 59|50-59 years|50-59歳|5*"),
        (90, 9e9, ">=90|≥90|>89|90+|90 or more|90 and over|90歳以上|over 89|at least 90"),
        (0, 17, "<18|under 18|<=17|less than 18|18未満|17以下|17 and under"),
        (1980, 1989, "1980s|1980-1989|1980-89|1980年代"),
        (84_500, 85_999, "85k|85K|$85k|85千|84.5k-85.9k|84,500-85,999|[84,500, 86,000)"),
        (1_150_000, 1_299_999, "1.2M|1.2m"),
        (86_000, 86_000, "86,000|$86,000|８６０００"),
    ],
)
def test_bands_of_numbers_are_read_in_many_notations(low: float, high: float, texts: str) -> None:
    for text in texts.split("|"):
        assert read([str(number) for number in NUMBERS], text) == [
            str(n) for n in NUMBERS if low <= n <= high
        ], text


@pytest.mark.parametrize(
    "text", ["1980-02", "59-50", "[60,50)", "30,39", "fifty", "50,59,69", "9" * 5000 + "-"]
)
def test_what_is_no_band_is_not_taken_for_one(text: str) -> None:
    own = [str(number) for number in NUMBERS]
    column = coded(own, [*own, text])
    assert (column.not_understood, column.example) == (1, text)


@pytest.mark.parametrize(
    "codes",
    [
        ["70214", "70215", "70301", "81000"],
        ["07021", "07022", "08100"],
        ["1500001", "1500002", "1600000"],
    ],
)
def test_cut_codes_stand_for_those_that_begin_so_even_for_a_single_one(codes: list[str]) -> None:
    cut = sorted({code[:3] for code in codes})
    for text in cut:
        assert read(codes, text, *cut, "", "*") == [code for code in codes if code.startswith(text)]


def test_numbers_that_are_no_beginnings_stay_numbers() -> None:
    assert coded(["70214", "70215", "81000"], ["702", "999"]).exact.min() >= 0  # 999 begins nothing
    assert (
        coded(["14", "215", "8100"], ["1", "2", "8"]).exact.min() >= 0
    )  # as many digits as you like


# -- the whole audit ---------------------------------------------------------------------------------------------------


def _people(count: int, rng: np.random.Generator) -> pl.DataFrame:
    start = np.datetime64("1950-01-01")
    days = {name: start + rng.integers(0, 50 * 365, count) for name in ("born", "married", "moved")}
    return pl.DataFrame({name: values.astype(str) for name, values in days.items()})


@pytest.mark.parametrize("form", ["%Y-%m", "%b %Y", "%Y", "%Y-%m-01"])
def test_three_dates_by_month_or_year_give_everybody_away(form: str) -> None:
    rng = np.random.default_rng(4)
    original, holdout = _people(600, rng), _people(600, rng)
    release = original.select(pl.all().str.to_date().dt.strftime(form))[
        rng.permutation(600).tolist()
    ]
    result = kakurenbo.audit(original, release, holdout=holdout, seed=1)
    assert result.risks["membership"].standing == ABOVE
    assert result.risks["membership"].figures["tpr_at_0.01"] > 0.9
    assert result.verdict.exit_code == 1


@pytest.mark.parametrize(
    ("text", "days"),
    [("5.1.2024", 1), ("05.01.2024", 1), ("1.1.2024-31.1.2024", 2), ("2024-01-05", 1)],
)
def test_released_dates_are_read_with_and_without_leading_zeros(text: str, days: int) -> None:
    original = ["5.1.2024", "9.1.2024", "25.12.2024"]
    assert read(original, text, "25.12.2024") == original[:days]
