"""The report as Markdown."""

from __future__ import annotations

from dataclasses import replace

from tests.reporting.synthetic import synthetic_document

from kakurenbo.contracts import Measurement
from kakurenbo.reporting import markdown_report
from kakurenbo.reporting.document import Document, FigureEntry


def test_methods_are_code_and_what_limits_a_measure_is_in_words() -> None:
    document = synthetic_document(3, 3)
    limited = Measurement("U", 0.9, limit={"depth": 1, "original_asks": "age <= 40.5", "release_asks": "sex=Male"})
    releases = {name: replace(one, measurements=(limited,)) for name, one in document.rounds[0].releases.items()}
    text = markdown_report(replace(document, rounds=(replace(document.rounds[0], releases=releases),)), {})
    assert "03 with `synthetic:generator=omth17` won" in text
    assert "Method: `kanony:k=3,columns=age,education`." in text
    assert "\\`" not in text
    assert "original asks age &lt;= 40.5" in text
    assert "original_asks" not in text.replace("\\", "")


def test_a_method_cannot_leave_its_code() -> None:
    document = synthetic_document(3, 3)
    players = tuple(replace(one, anonymizer="`<b>`\n# x") for one in document.players)
    text = markdown_report(replace(document, players=players, verdicts={"en": ("by `<b>` *`\n# x",)}), {})
    assert "Method: `<b> # x`." in text
    assert "by `<b>` \\*`# x`" in text


def test_the_report_says_where_its_data_come_from() -> None:
    assert "\nData: made-up figures.\n" in markdown_report(synthetic_document(3, 3), {})


def in_points(repeats: int) -> Document:
    document = synthetic_document(3, 3, repeats)
    figure = FigureEntry(of=1, shown_times=1000, definitions={"en": "1 minus the best accuracy; as points, times 1,000"})
    return replace(document, figures={**document.figures, "anonymization": figure})


def test_where_the_caption_speaks_of_points_the_column_shows_points_with_repeats_too() -> None:
    # The first release lets 100 - 46 = 54 of 100 hide in one repeat and a few less in others: 0.5 is 500 points.
    text = markdown_report(in_points(3), {})
    assert "Higher is better, out of 1,000." in text
    assert "| rank | team | name | points |" in text
    score = next(line.score for line in in_points(3).rankings["anonymization"].lines if line.score is not None)
    row = next(line for line in text.splitlines() if line.startswith("| 1 | "))
    assert row.split(" | ")[3].startswith(f"{1000 * score:.0f} ±")


def test_signs_that_nobody_sees_or_that_turn_the_direction_are_written_out() -> None:
    report = markdown_report(synthetic_document(3, 3, 1, "a\u202eb\x1b\u200b`c"), {})
    assert not {"\u202e", "\x1b", "\u200b"} & set(report)
    assert r"a\\u202eb\\x1b\\u200b" in report
