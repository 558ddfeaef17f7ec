"""The catalogue: every code has words in both languages, and every word belongs to a code that is used."""

from __future__ import annotations

import ast
import json
import os
import pickle
import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.catalogue import entries, po_entries

import kakurenbo
from kakurenbo.core import (
    Category,
    InputError,
    Problem,
    Problems,
    Severity,
    add_notices,
    collect_notices,
    gather,
    messages,
    notice,
    report_in,
)
from kakurenbo.core.messages import Message, Wording, catalogue
from kakurenbo.core.messages.po import Entry, compiled, format_po
from kakurenbo.methods import registry

SOURCE = Path(kakurenbo.__file__).resolve().parent


@pytest.fixture(autouse=True)
def _catalogue_as_it_was() -> Iterator[None]:
    """What a test adds is gone after it: others ask of every sentence that there is."""
    yield
    for added in catalogue._ADDED.values():
        added.clear()


METHODS = tuple(f"{group}." for group in registry.GROUPS)  # their English is their code
CATALOGUE = {
    language: {
        code: text for code, text in entries(language).items() if not code.startswith(METHODS)
    }
    for language in messages.LANGUAGES
}
TAKE_A_CODE = {
    "option",
    "text",
    "Message",
    "Problem",
    "refused",
    "render",
    "add",
    "_refused",
    "_refuse",
    "_Unfit",
}


QUOTED = ("q", "+commas", "+points", "+utf8")  # formats of texts


def placeholders(text: str) -> set[tuple[str, str | None]]:
    """Name and kind of everything that is put into a text."""
    return {(name, spec) for _, name, spec, _ in string.Formatter().parse(text) if name is not None}


def codes_given() -> Iterator[tuple[str, str]]:
    """(file, code) of every call in the source that names a code."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and node.args:
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                for part in ast.walk(node) if name in TAKE_A_CODE else ():
                    if (
                        isinstance(part, ast.Constant)
                        and isinstance(part.value, str)
                        and part.value.count(".") == 1
                    ):
                        prefix, word = part.value.split(".")
                        if word not in ("", "css", "html", "js") and prefix in {
                            code.split(".")[0] for code in CATALOGUE["en"]
                        }:
                            yield path.name, part.value


def test_every_code_exists_in_both_languages_with_the_same_placeholders_and_formats() -> None:
    assert CATALOGUE["en"].keys() == CATALOGUE["ja"].keys()
    for language in messages.LANGUAGES:
        ids = [(entry.context, entry.id) for entry in po_entries(language)]
        assert ids == sorted(set(ids)), "in alphabetical order, each once"
    for code, english in CATALOGUE["en"].items():
        assert placeholders(english) == placeholders(CATALOGUE["ja"][code]), code
        if code.endswith(".fix"):
            assert code.removesuffix(".fix") in CATALOGUE["en"]
        else:
            kinds = dict(placeholders(english + CATALOGUE["en"].get(f"{code}.fix", "")))
            params = {name: "1" if kind in QUOTED else 1 for name, kind in kinds.items()}
            for language in messages.LANGUAGES:
                assert messages.render(code, params, language).message is not None


def test_plural_forms_follow_the_count() -> None:
    for count, words in ((1, "1 column"), (2, "2 columns"), (0, "0 columns")):
        assert messages.render("columns", {"count": count}, "en").message == words


def test_a_catalogue_is_compiled_again_when_its_text_changes(tmp_path: Path) -> None:
    text = format_po("Language: xx", [Entry("", "a.b", "", ("one",))])
    (tmp_path / "xx.po").write_text(text, "utf-8")
    first = compiled(tmp_path, "xx")
    assert compiled(tmp_path, "xx") == first == (tmp_path / "xx.mo").read_bytes()
    (tmp_path / "xx.po").write_text(text.replace("one", "two"), "utf-8")
    os.utime(tmp_path / "xx.mo", ns=(0, 0))
    assert b"two" in compiled(tmp_path, "xx")
    (tmp_path / "xx.po").unlink()  # a wheel has the compiled catalogue alone
    assert b"two" in compiled(tmp_path, "xx")


def test_messages_are_stored_by_code_and_parameters() -> None:
    message = Message("advice.give", {"domain": Message("domain.integer", {"low": 1, "high": 2})})
    stored = json.loads(json.dumps(message.as_json()))
    assert stored["code"] == "advice.give"
    assert Message.from_json(stored).text("ja") == message.text("ja") != message.text("en")


def test_every_code_in_the_source_is_in_the_catalogue() -> None:
    given = set(codes_given())
    assert len(given) > 50
    assert {(file, code) for file, code in given if code not in CATALOGUE["en"]} == set()


def test_a_problem_speaks_the_language_asked_for() -> None:
    column = Category("sex", ("Female", "Male"))
    why = column.explain("male")
    problem = Problem(why.code, why.params, "D.csv", 3, 2, "sex", "male")
    assert str(problem) == 'D.csv:3: sex: "male" is not one of Female, Male; did you mean "Male"?'
    assert (
        problem.in_language("ja")
        == 'D.csv:3: sex: "male" は Female, Male のいずれかではありません。"Male" ではありませんか'
    )


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "ja_JP.UTF-8"}, "ja"),
        ({"LANG": "ja_JP.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LC_MESSAGES": "ja_JP.eucJP"}, "ja"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "ja_JP.UTF-8", "KAKURENBO_LANG": "en"}, "en"),
        ({"KAKURENBO_LANG": "ja"}, "ja"),
        ({"KAKURENBO_LANG": "xx"}, "en"),
    ],
)
def test_the_language_is_that_of_kakurenbo_lang_else_of_the_locale(
    variables: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KAKURENBO_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert messages.language() == language
    assert Problem("line.empty").message == messages.render("line.empty", {}, language).message


def test_json_has_a_stable_code_and_the_words_of_the_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", "ja")
    shown = Problem("line.empty", file="D.csv", row=2, severity=Severity.MALFORMED).as_json()
    assert shown == {
        "code": "line.empty",
        "file": "D.csv",
        "row": 2,
        "record": None,
        "column": None,
        "value": None,
        "message": "空の行です",
        "fix": "この行を削除してください",
        "severity": "malformed",
    }


def test_whole_numbers_have_separators_unless_they_are_asked_for_without() -> None:
    assert messages.render("rows.exactly", {"count": 12_345}, "en").message == "exactly 12,345"
    assert (
        messages.render("domain.integer", {"low": 0, "high": 12_345}, "en").message
        == "an integer from 0 to 12345"
    )


def test_place_and_value_are_at_hand_in_every_sentence_and_control_characters_never_are() -> None:
    messages.add({"en": {"test.place": ("{file} {row} {column} {value} {name}", "")}})
    (problem,) = Problems.of(
        "test.place", "D.csv", row=1_234, column="age", value="x" * 70, name="\x1b[31m"
    )
    assert problem.message == f"D.csv 1,234 age {'x' * 60}… \\x1b[31m"


def test_a_plugin_adds_its_own_sentences_and_english_stands_in_for_what_it_lacks() -> None:
    messages.add(
        {
            "en": {"test.both": ("no", "yes"), "test.english": ("only", "")},
            "ja": {"test.both": ("いいえ", "はい")},
        }
    )
    assert messages.render("test.both", {}, "ja") == Wording("いいえ", "はい")
    assert messages.render("test.english", {}, "ja") == Wording("only", "")
    messages.add({"en": {"test.both": ("no", "yes")}})  # a module that is loaded again
    with pytest.raises(ValueError, match="other words"):
        messages.add({"en": {"test.both": ("never", "yes")}})
    with pytest.raises(ValueError, match="English"):
        messages.add({"ja": {"test.japanese": ("日本語", "")}})


def test_a_code_that_nobody_added_is_shown_as_it_is() -> None:
    assert (
        str(Problem("absent.plugin", {"count": 3}, "D.csv"))
        == "D.csv: absent.plugin (file=D.csv, count=3)"
    )


def test_messages_within_messages_are_put_into_one_language() -> None:
    advice = Message("advice.give", {"domain": Message("domain.number")})
    assert advice.text("en") == "give a number"
    assert advice.text("ja") == "数値を書いてください"


def test_problems_travel_between_processes() -> None:
    (problem,) = Problems.of("cell.empty", "D.csv", domain=Message("domain.text"))
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert len({problem, problem}) == 1


def test_problems_of_several_readings_are_gathered_and_raised_at_once() -> None:
    bad = Problems([Problem("line.empty")], total=30)

    def read(problems: Problems | None) -> int:
        notice("text.bom", file="a.csv", row=1)
        if problems is not None:
            raise InputError(problems)
        return 5

    with collect_notices() as notices, gather() as good:
        assert good.of(read, None) + good.of(read, None) == 10
        good.add(Problems([]))
    assert [found.code for found in notices] == ["text.bom"] * 2

    def read_three(last: Exception) -> None:
        with gather() as problems:
            problems.of(read, bad)
            assert problems.of(read, None) == 5, "the others are read all the same"
            raise last

    with pytest.raises(InputError) as refusal:
        read_three(InputError(bad))
    assert (len(refusal.value.problems), refusal.value.problems.total) == (2, 60)
    with pytest.raises(KeyError):  # nothing may hide what went wrong otherwise
        read_three(KeyError())


def test_an_error_shows_its_first_problem_and_travels_between_processes() -> None:
    error = InputError.of("line.empty", "D.csv", row=3)
    assert (
        str(pickle.loads(pickle.dumps(error)))
        == str(error)
        == "D.csv:3: " + error.problems[0].sentence
    )
    with pytest.raises(InputError, match=r"^b\.csv:3: "), report_in("b.csv"):
        raise error


def test_notices_go_to_the_innermost_collector_and_to_nobody_where_there_is_none() -> None:
    notice("text.bom", file="a.csv")
    with collect_notices() as outer:
        with collect_notices() as inner:
            notice("text.bom", file="b.csv")
        add_notices(inner)
        notice("text.bom", file="c.csv")
    assert [found.file for found in outer] == ["b.csv", "c.csv"]
    assert [found.severity for found in inner] == [Severity.NOTICE]
