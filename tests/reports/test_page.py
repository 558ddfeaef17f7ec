"""The HTML report: what it says, and that what players wrote stays text."""

from __future__ import annotations

import json
import re

from msgspec.structs import replace
from tests.reports.pages import table, words
from tests.reports.synthetic import HOSTILE, synthetic_document

from kakurenbo.contest import Measurement
from kakurenbo.core.messages import LANGUAGES, escaped
from kakurenbo.reports import figures, html_report, results_csv
from kakurenbo.reports.document import Document, FigureEntry
from kakurenbo.reports.numbers import score_texts


def embedded(page: str, name: str) -> dict[str, object]:
    """Return the JSON that a script element of the page holds."""
    found = re.search(f'<script type="application/json" id="{name}">(.*?)</script>', page)
    assert found is not None
    content: dict[str, object] = json.loads(found[1])
    return content


def bare(text: str) -> str:
    """Return a text without blanks: markup in a sentence may stand where none is."""
    return "".join(text.split())


def shown(page: str) -> str:
    """Return the page without the data that it holds for saving."""
    return page.split('<script type="application/json"')[0]


def test_methods_are_code_and_what_limits_a_measure_is_in_words() -> None:
    document = synthetic_document(3, 3)
    limited = Measurement(
        "U", 0.9, limit={"attribute": "age", "missed": 1, "largest_group": "sex=Male"}
    )
    releases = {
        name: replace(one, measurements=(limited,))
        for name, one in document.rounds[0].releases.items()
    }
    page = html_report(
        replace(document, rounds=(replace(document.rounds[0], releases=releases),)), {}
    )
    assert "03 with <code>synthetic:<wbr>generator=omth17</code> won" in page
    (row,) = table(page, "measures-1-main-01-en")
    assert row[3] == "attribute age, missed 1, largest group sex=Male"


def test_every_release_has_its_measures_verdict_and_attacks_in_every_language() -> None:
    document = synthetic_document(5, 7, 3)
    page = html_report(document, {})
    for language in LANGUAGES:
        for target, release in document.rounds[0].releases.items():
            names = [
                row[0].split()[0] for row in table(page, f"measures-1-main-{target}-{language}")
            ]
            assert names == [one.name for one in release.measurements]
            attackers = table(page, f"attacked-main-{target}-{language}")
            assert len(attackers) == len(document.rounds[0].attacks[target])
            assert bare(release.verdicts[language].replace("`", "")) in bare(words(page))
        matrix = table(page, f"matrix-{language}")
        assert [row[0].split()[0] for row in matrix] == [
            name.split()[0] for name in (*["01", "02", "03", "04", "05", "06", "07"], matrix[-1][0])
        ]


def test_below_a_threshold_is_not_called_disqualified() -> None:
    document = synthetic_document(7, 7)
    below = [name for name, one in document.rounds[0].releases.items() if one.is_below_threshold]
    page = html_report(document, {})
    notes = {row[1][:2]: row[1] for row in table(page, "standings-anonymization-en")}
    assert below
    assert all("below threshold" in notes[name] for name in below)
    assert "しきい値未満" in page
    text = words(shown(page))
    assert "disqualified" not in text
    assert "失格" not in text


def test_a_name_stays_text_and_every_sign_of_it_can_be_seen() -> None:
    page = html_report(synthetic_document(4, 4, 1, HOSTILE), {})
    assert "<img" not in page
    assert page.count("<script") == page.count("</script>") == 4, "two of data, two of our own"
    assert not {"\u202e", "\x1b", "\u200b"} & set(shown(page))
    assert f"01 {escaped(HOSTILE)}" in words(page)


def test_a_method_cannot_leave_its_code() -> None:
    document = synthetic_document(3, 3)
    players = tuple(replace(one, anonymizer="`<b>`\n# x") for one in document.players)
    page = html_report(
        replace(document, players=players, verdicts={"en": ("by `<b>` <i>*`\n# x",)}), {}
    )
    assert "<b>`" not in page
    assert "by <code>&lt;b&gt;</code> &lt;i&gt;*" in page


def test_the_report_says_where_its_data_come_from() -> None:
    assert "data: made-up figures" in words(html_report(synthetic_document(3, 3), {}))


def in_points(repeats: int) -> Document:
    document = synthetic_document(3, 3, repeats)
    figure = FigureEntry(
        of=1,
        shown_times=1000,
        definitions={"en": "1 minus the best accuracy; as points, times 1,000"},
    )
    return replace(document, figures={**document.figures, "anonymization": figure})


def test_where_the_caption_speaks_of_points_the_column_shows_points_with_repeats_too() -> None:
    page = html_report(in_points(3), {})
    assert "higher is better, out of 1,000 · 1 minus the best accuracy" in words(page)
    score = next(
        line.score
        for line in in_points(3).rankings["anonymization"].lines
        if line.score is not None
    )
    assert table(page, "standings-anonymization-en")[0][2].startswith(f"{1000 * score:.0f} ±")


def test_scores_are_texts_with_their_intervals() -> None:
    def scores(document: Document) -> list[str]:
        lines = document.rankings["anonymization"].lines
        return score_texts(lines, document.figure("anonymization"), "en")

    assert "±" in scores(synthetic_document(3, 3, 3))[0]
    assert "±" not in scores(synthetic_document(3, 3))[0]


def test_the_page_holds_the_files_that_it_saves() -> None:
    document = synthetic_document(4, 5, 2)
    page = html_report(document, {})
    charts = {
        f"toy-{language}-{name}": text
        for language in LANGUAGES
        for name, text in figures(document, language).items()
    }
    assert embedded(page, "files") == {"toy-results.csv": results_csv(document), **charts}
    assert embedded(page, "results") == json.loads(document.as_bytes())
    offered = set(re.findall(r'data-file="([^"]+)"', page))
    assert offered == {"toy-results.json", "toy-results.csv", *charts}


def test_no_word_of_the_page_stands_in_the_other_language() -> None:
    page = html_report(synthetic_document(6, 6, 2), {})
    english, japanese = page.split('<div data-language="ja"')
    said = words(english.split("<body>")[1])
    for word in ("順位", "正答率", "しきい値"):
        assert word not in said.replace("日本語", "")
        assert word in japanese
    titles = re.findall(r"<h[23]>(.*?)</h[23]>|<th[^>]*><button[^>]*>(.*?)</button>", japanese)
    letters = {
        found for pair in titles for found in re.findall(r"[A-Za-z]{3,}", words(pair[0] + pair[1]))
    }
    assert letters <= {"SHA"}
