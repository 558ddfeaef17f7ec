"""What an audit says of an argument that is off is Japanese where Japanese is spoken, names and values aside."""

from __future__ import annotations

import ast
import re
import traceback
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.reading import attempt

import kakurenbo
from kakurenbo.audit import running
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.limits import DEFAULTS
from kakurenbo.audit.options import Options
from kakurenbo.audit.persons import Persons
from kakurenbo.audit.running import run_audit
from kakurenbo.audit.schema import infer_schema
from kakurenbo.audit.transactions import read_transactions
from kakurenbo.core.errors import ParameterError

SOURCE = Path(running.__file__).parent
PEOPLE = pl.DataFrame({"年齢": range(60), "県": ["北", "南"] * 30})
OTHERS = pl.DataFrame({"年齢": range(100, 160), "県": ["北", "南"] * 30})
TWO = {"一": PEOPLE, "二": PEOPLE}
MANY = pl.DataFrame({"年齢": range(120), "額": range(300, 420)})
FOREIGN = pl.DataFrame({"色": ["赤", "青"] * 30})


def refused(
    original: object = PEOPLE, release: object = PEOPLE, **given: object
) -> Callable[[], object]:
    return lambda: kakurenbo.audit(original, release, **given)  # type: ignore[arg-type]


def in_language(language: str) -> Callable[[], object]:
    return lambda: kakurenbo.audit(PEOPLE, PEOPLE).write_report("report.md", language=language)  # type: ignore[func-returns-value]


def by_schema() -> object:
    tables = frame_of("original", PEOPLE), frame_of("release", PEOPLE), None
    return run_audit(*tables, Options(schema=infer_schema(frame_of("other", FOREIGN))))


def by_person(column: str, original: pl.DataFrame, holdout: pl.DataFrame) -> Callable[[], object]:
    frames = [
        frame_of(name, table)
        for name, table in (("original", original), ("release", original), ("holdout", holdout))
    ]
    return lambda: attempt(read_transactions, Persons(column), *frames)


CASES: dict[str, tuple[Callable[[], object], set[str]]] = {
    "a holdout of the same people": (refused(holdout=PEOPLE), {"holdout"}),
    "a holdout that is the release": (
        refused(release=MANY[60:], original=MANY[:60], holdout=MANY[60:]),
        {"holdout"},
    ),
    "an earlier release of other columns": (refused(earlier=[FOREIGN]), {"earlier"}),
    "no data frame": (refused(original=1), {"original", "Polars", "pandas", "int"}),
    "no records": (refused(original=PEOPLE[:0]), {"original"}),
    "lists": (refused(original=pl.DataFrame({"列": [[1], [2]]})), {"original"}),
    "a limit of nothing": (refused(limits={"色": 0.1}), {"limits", *DEFAULTS}),
    "half a record": (refused(limits={"records": 0.5}), {"limits", "records"}),
    "more than all": (refused(limits={"inference": 2}), {"limits", "inference"}),
    "a decade": (
        refused(person="県", period="年代"),
        {"period", "week", "month", "quarter", "year"},
    ),
    "people for times": (refused(person="県", time="県"), {"time"}),
    "times of nobody": (refused(time="年齢"), {"time", "person"}),
    "a rival without a holdout": (refused(method="rr"), {"method", "rr"}),
    "a rival of people with several rows": (
        refused(holdout=OTHERS, person="県", method="rr"),
        {"method", "rr"},
    ),
    "a method of several releases": (
        refused(release=TWO, holdout=OTHERS, method="rr"),
        {"method", "rr"},
    ),
    "no release by any name": (refused(release={}), {"release"}),
    "a release beside run": (refused(run="true"), {"release", "run"}),
    "running a number": (refused(release=None, run=1), {"run", "int"}),
    "a baseline that is none": (refused(baseline={}), {"baseline", "JSON", "dict"}),
    "a report in another language": (in_language("de"), {"language", "en", "ja", "de"}),
    "people in several files": (refused(earlier=[PEOPLE], person="県"), {"person"}),
    "knowing what is not there": (refused(know=["色"]), {"know"}),
    "ignoring what is not there": (refused(ignored=["色"]), {"ignore"}),
    "a schema of another table": (by_schema, {"schema"}),
    "a release of another table": (refused(release=FOREIGN), {"release"}),
    "no column of people": (by_person("色", PEOPLE, OTHERS), {"person"}),
    "no column of people in the holdout": (by_person("県", PEOPLE, OTHERS.drop("県")), {"person"}),
    "people of the original in the holdout": (by_person("県", PEOPLE, OTHERS), {"holdout"}),
}
"""Each with the names and values that stand in it as they were given."""


def error_of(case: str) -> ParameterError:
    with pytest.raises(ParameterError) as caught:
        CASES[case][0]()
    return caught.value


@pytest.mark.parametrize("case", CASES)
def test_an_error_of_the_audit_has_no_english_word_but_names_and_values(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", "ja")
    said = str(error_of(case))
    assert re.search("[ぁ-ん]", said)
    assert set(re.findall(r"[A-Za-z_]{2,}", said)) - CASES[case][1] == set(), said


def test_every_place_of_the_audit_that_raises_such_an_error_is_among_the_cases() -> None:
    raised = set()
    for case in CASES:
        last = traceback.extract_tb(error_of(case).__traceback__)[-1]
        raised.add((Path(last.filename).name, last.lineno))
    places = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Raise)
                and getattr(getattr(node.exc, "func", None), "id", "") == "ParameterError"
            ):
                places.add((path.name, node.lineno))
    assert raised == places


def test_a_column_that_has_a_word_of_the_catalogue_for_its_name_keeps_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", "ja")
    table = pl.DataFrame({"value": range(60), "record": range(60)})
    with pytest.raises(ParameterError, match=re.escape("(value, record)")):
        kakurenbo.audit(table, table, know=["wage"])


def test_what_is_raised_in_english_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", "en")
    said = str(error_of("a release of another table"))
    assert (
        said
        == "parameter 'release' must be a table of some columns of the original (年齢, 県); got 'release (色)'"
    )
