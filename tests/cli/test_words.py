"""The words of the command line: all from the catalogue, complete in Japanese, and safe on any terminal."""

from __future__ import annotations

import ast
import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec
import pytest
from tests.catalogue import entries, po_entries

import kakurenbo
from kakurenbo.arena import processes
from kakurenbo.arena.teams_file import files_in
from kakurenbo.cli import VERBS, main
from kakurenbo.cli.click_words import columns
from kakurenbo.contest import Measurement, why_out
from kakurenbo.contest.records import threshold_cause
from kakurenbo.contest.results import state_note
from kakurenbo.core import Message, Problem, json_bytes, messages
from kakurenbo.core.messages import join_stored
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import parameters_of

Call = Callable[..., tuple[int, str]]
SOURCE = Path(kakurenbo.__file__).resolve().parent
ENGLISH = re.compile(r"(?<![\w/.,=-])[a-z]{2,}(?: [a-z]{2,}){2,}(?![\w/.=-])")
"""Three English words in a row: a sentence, where names of files, methods and columns are none."""


@pytest.fixture
def japanese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAKURENBO_LANG", raising=False)
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.delenv("LC_MESSAGES", raising=False)
    monkeypatch.setenv("LANG", "ja_JP.UTF-8")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Call the command line; gives the exit code and all that it printed."""

    def called(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out + err

    return called


def english_lines(text: str) -> list[str]:
    """Lines with an English sentence; a command to type is none."""
    return [line for line in text.splitlines() if ENGLISH.search(re.sub(r"kakurenbo .*", "", line))]


# -- the catalogue -----------------------------------------------------------------------------------------------------


def test_no_sentence_for_people_stands_in_the_code_of_the_command_line() -> None:
    found = {
        (path.name, text)
        for path in (SOURCE / "cli").glob("*.py")
        for text in _texts(ast.parse(path.read_text("utf-8")))
        if re.search(r"[A-Za-z]{2,},? [a-z]{2,}", re.sub(r"\[/?[a-z ]*\]", "", text))
        and not text.startswith("kakurenbo ")
    }
    assert found == set()


def _texts(tree: ast.Module) -> Iterator[str]:
    """Every text in a module but its docstrings, and the names of rich's styles."""
    left_out = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))
        if isinstance(node, ast.keyword) and node.arg is not None and node.arg.endswith("style"):
            left_out |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in left_out
        ):
            yield node.value


def test_every_built_in_method_and_parameter_is_described_in_japanese_and_nothing_else() -> None:
    wanted = set()
    for group in registry.GROUPS:
        for name in registry.names(group):
            if registry.package(group, name).startswith("kakurenbo "):
                wanted |= {
                    f"{group}.{name}",
                    *(
                        f"{group}.{name}.{one.name}"
                        for one in parameters_of(registry.load(group, name))
                    ),
                }
    groups = tuple(f"{group}." for group in registry.GROUPS)
    assert {code for code in entries("ja") if code.startswith(groups)} == wanted


def test_the_players_of_the_default_fields_have_names_in_japanese_and_nobody_else() -> None:
    loaded = [
        registry.load("rulebooks", name)
        for name in ("amic2020", "darc2019", "pwscup2021", "pwscup2024")
    ]
    fields = [cls(scale=scale).field() for cls in loaded for scale in ("full", "small")]
    names = {words for code, words in entries("en").items() if code.startswith("player.")}
    assert names == {player.name for field in fields for player in field}


def test_click_still_says_what_the_catalogue_translates() -> None:
    said = "".join(path.read_text("utf-8") for path in Path(click.__file__).parent.glob("*.py"))
    sentences = [entry.id for entry in po_entries("ja") if entry.context == "click"]
    assert len(sentences) > 20
    assert [sentence for sentence in sentences if f'"{sentence}"' not in said] == []


def test_what_the_operating_system_says_is_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    error = OSError(errno.EACCES, os.strerror(errno.EACCES))
    monkeypatch.setenv("KAKURENBO_LANG", "en")
    assert str(messages.system_error(error)) == error.strerror
    monkeypatch.setenv("KAKURENBO_LANG", "ja")
    assert re.search("[ぁ-ん]", str(messages.system_error(error)))
    assert str(messages.system_error(OSError(9999, "what is this"))) == "what is this"


@pytest.mark.parametrize(
    ("text", "english", "japanese"),
    [
        (state_note("disqualified"), "disqualified", "失格"),
        (
            join_stored(
                Message("word.in_round", {"state": state_note(state), "round": name}).stored()
                for name, state in {"pre": "missing", "main": "disqualified"}.items()
            ),
            "missing in pre, disqualified in main",
            "pre で未提出, main で失格",
        ),
        (
            threshold_cause(
                [
                    Measurement("histogram", 0.78, minimum=0.99, passes=False),
                    Measurement("vcm", 0.0015, minimum=0.05, passes=False),
                    Measurement("entropy", 0.9, minimum=0.5, passes=True),
                    Measurement("cart", 1e-05, maximum=0.3, passes=False),
                ]
            ),
            "histogram is 0.78, must be ≥ 0.99, vcm is 0.0015, must be ≥ 0.05, cart is 1e-05, must be ≤ 0.3",
            "histogram が 0.78 (≥ 0.99 でなければなりません), vcm が 0.0015 (≥ 0.05 でなければなりません), "
            "cart が 1e-05 (≤ 0.3 でなければなりません)",
        ),
        (
            Problem("line.empty", file="D.csv", row=3).stored(),
            "D.csv:3: the line is empty; remove it",
            "D.csv:3: 空の行です。この行を削除してください",
        ),
        (
            Problem(
                "table.row_count",
                {"count": 1, "allowed": Message("rows.between", {"low": 100, "high": 200})},
                "D.csv",
            ).stored(),
            "D.csv: the number of records is 1; 100 to 200 are allowed",
            "D.csv: レコード数が 1 です。100 以上 200 以下 でなければなりません",
        ),
        (
            Problem("text.nul", file="D.csv").stored(),
            "D.csv: the file holds NUL bytes: it is not a text file; save it as UTF-8",
            "D.csv: NUL バイトがあり、テキストファイルではありません。UTF-8 で保存してください",
        ),
        ("words of somebody's plugin", "words of somebody's plugin", "words of somebody's plugin"),
    ],
)
def test_a_text_of_a_document_is_told_by_its_message(
    text: str, english: str, japanese: str
) -> None:
    assert text == english
    stored = json.loads(json_bytes(msgspec.to_builtins(messages.messages_of(text))))
    read = messages.with_message(json.loads(json.dumps(text)), stored)
    assert messages.translated(read, "ja") == japanese
    assert messages.translated(read, "en") == english


# -- Japanese ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["", *VERBS])
@pytest.mark.usefixtures("japanese")
def test_help_is_japanese(call: Call, verb: str) -> None:
    code, text = call(*verb.split(), "--help")
    assert code == 0
    assert "使い方: kakurenbo" in text
    assert "この説明を表示して終了します。" in text
    assert english_lines(text) == []
    if verb and "RULEBOOK" in text.splitlines()[0]:
        for rulebook in [name for name in registry.names("rulebooks") if name in text]:
            assert english_lines(call(verb, rulebook, "--help")[1]) == []


@pytest.mark.parametrize("group", ["anonymizers", "attacks"])
@pytest.mark.usefixtures("japanese")
def test_the_help_of_every_method_is_japanese(call: Call, group: str) -> None:
    verb = {"anonymizers": "anonymize", "attacks": "attack"}[group]
    for name in registry.names(group):
        for rulebook in registry.names("rulebooks"):
            code, text = call(verb, rulebook, name, "--help")
            assert code == 0 or "ここでは使えません" in text
            assert english_lines(text) == []


@pytest.mark.parametrize("verb", ["", "rulebooks", "anonymizers", "attacks", "doctor"])
@pytest.mark.usefixtures("japanese")
def test_listings_are_japanese(call: Call, verb: str) -> None:
    code, text = call(*verb.split())
    assert code == 0
    assert re.search("[ぁ-ん]", text)
    assert english_lines(text) == []


@pytest.mark.usefixtures("japanese")
def test_a_game_is_played_in_japanese(call: Call, tmp_path: Path) -> None:
    contest, entries_, phase, guesses = (
        tmp_path / name for name in ("contest", "entries", "phase", "guesses")
    )
    handout, release = contest / "teams" / "01", entries_ / "01" / "pre_anonymizeddata_01.csv"
    bad = entries_ / "02" / "pre_anonymizeddata_02.csv"
    printed = []

    def play(*arguments: object, code: int = 0) -> None:
        left, text = call(*arguments)
        assert left == code, text
        assert re.search("[ぁ-んァ-ン一-龥]", text), arguments
        printed.append(text)

    play("prepare", "amic2020", "-o", contest, "--teams", "3", "--scale", "small", "--seed", "7")
    play("anonymize", "amic2020", "rr", handout, release, "--p", "0.999", "--seed", "1")
    play("check", "amic2020", handout, release)
    play("measure", "amic2020", handout, release)
    bad.parent.mkdir()
    bad.write_text("39,Private\n")
    play("check", "amic2020", contest / "teams" / "02", bad, code=2)
    play("publish", "amic2020", contest, entries_, "-o", phase, "--with-disqualified", code=1)
    play(
        "attack",
        "amic2020",
        "nearest",
        phase / "targets" / "01",
        "-o",
        guesses / "02" / "inference_01_02.index",
    )
    play("credit", "amic2020", phase / "answers" / "01", guesses / "02" / "inference_01_02.index")
    play("score", "amic2020", phase, guesses, "-o", tmp_path / "results.json", code=1)
    play("standings", "amic2020", tmp_path / "results.json")
    play("verify", "amic2020", contest, phase, "--again")
    play("measure", "amic2021", handout, release, code=2)
    play("anonymize", "amic2020", "rr", handout, tmp_path / "x", "--p", "2", code=2)
    play("anonymize", "amic2020", "rr", handout, code=2)
    play("prepare", "amic2020", "-o", contest, "--teams", "2", code=2)
    play("check", "amic2020", tmp_path / "nowhere", release, code=2)
    assert [line for text in printed for line in english_lines(text)] == []


@pytest.mark.usefixtures("japanese")
def test_a_tournament_is_told_in_japanese(call: Call, tmp_path: Path) -> None:
    teams = tmp_path / "teams.toml"
    teams.write_text(
        '[[players]]\nname = "A"\nanonymizer = "kanony"\nattack = "blind"\n\n[[players]]\nname = "B"\nanonymizer = "rr:p=0.5"\n'
    )
    code, text = call(
        "run",
        "amic2020",
        "--teams",
        teams,
        "-o",
        tmp_path / "run",
        "--scale",
        "small",
        "--seed",
        "1",
        "--jobs",
        "1",
    )
    assert code in (0, 1), text
    assert "順位" in text
    assert english_lines(text) == []


@pytest.mark.usefixtures("japanese")
def test_json_is_english_whatever_the_language(call: Call, tmp_path: Path) -> None:
    _, text = call("anonymizers", "--json")
    listed = {entry["name"]: entry for entry in json.loads(text)["anonymizers"]}
    assert listed["rr"]["does"].startswith("Keep each cell with probability p")
    assert listed["rr"]["parameters"][0]["expects"] == "a number from 0 to 1"
    _, text = call("check", "amic2020", tmp_path / "nowhere", tmp_path, "--json")
    assert "no such file or folder" in json.loads(text.splitlines()[0])["error"]
    _, text = call("measure", "amic2020", "--json")
    assert "Missing argument" in json.loads(text.splitlines()[0])["error"]


@pytest.mark.usefixtures("japanese")
def test_wide_characters_take_two_columns(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    _, text = call("--help")
    assert max(map(columns, text.splitlines())) <= 80
    assert not any(line.strip().startswith(("。", "、", "）")) for line in text.splitlines())


# -- terminals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "language", "speaks"),
    [
        ("ascii", "C", "Usage"),
        ("cp1252", "en_US", "Usage"),
        ("cp932", "ja_JP", "使い方"),
        ("ascii", "ja_JP", "Usage"),
    ],
)
@pytest.mark.parametrize(
    "arguments", [("--help",), ("measure", "amic2020", "--help"), ("attacks",)]
)
def test_no_terminal_is_too_poor(
    encoding: str, language: str, speaks: str, arguments: tuple[str, ...]
) -> None:
    environment = {
        **os.environ,
        "PYTHONIOENCODING": encoding,
        "LC_ALL": language,
        "PYTHONUTF8": "0",
    }
    environment.pop("KAKURENBO_LANG", None)
    done = subprocess.run(
        [sys.executable, "-m", "kakurenbo", *arguments],
        env=environment,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    if "--help" in arguments:
        assert speaks in done.stdout.decode(encoding)


@pytest.mark.parametrize(
    ("other", "word"),
    [
        ("匿名化手法", "匿名加工手法"),
        ("不受理", "受理されず"),
        ("シード", "種"),
        ("という動詞", "というコマンド"),
    ],
)
def test_one_thing_has_one_japanese_word_on_the_command_line_and_in_the_documentation(
    other: str, word: str
) -> None:
    catalogue = [SOURCE / "core" / "messages" / "ja.po"]
    repository = SOURCE.parents[1]
    pages = [*sorted((repository / "docs" / "ja").glob("*.md")), repository / "README.ja.md"]
    texts = {path.name: path.read_text("utf-8") for path in (*catalogue, *pages)}
    assert [name for name, said in texts.items() if other in said] == []
    assert any(word in said for said in texts.values())


@pytest.mark.usefixtures("japanese")
def test_who_played_and_how_is_told_in_japanese() -> None:
    told = [
        str(processes(1).name),
        str(processes(2).name),
        messages.translated(files_in(Path("entries"))),
        messages.translated(why_out("01", {})),
    ]
    assert told == ["1 プロセス", "2 プロセス", "entries のファイル", "攻撃のみ"]


@pytest.mark.usefixtures("japanese")
@pytest.mark.parametrize("verb", ["rulebooks", "anonymizers", "attacks"])
def test_what_is_listed_into_a_pipe_is_never_cut(call: Call, verb: str) -> None:
    code, told = call(verb)
    assert code == 0
    assert "…" not in told


@pytest.mark.parametrize(
    ("language", "test", "table"),
    [
        ("en", 'test="" (the test rows beside the handout)', 'table="" (as data says)'),
        ("ja", 'test="" (配布物と同じフォルダのテスト用の行)', 'table="" (data の指定による)'),
    ],
)
def test_rulebooks_are_listed_with_what_an_empty_parameter_means(
    call: Call, monkeypatch: pytest.MonkeyPatch, language: str, test: str, table: str
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", language)
    told = " ".join(call("rulebooks")[1].split())
    assert test.split()[0] in told
    assert table in told


def test_report_and_command_line_say_directions_and_thresholds_in_the_same_words() -> None:
    for language in messages.LANGUAGES:
        known = entries(language)
        assert known["figure.higher"] + known["report.out_of"] == known["ranking.score_of"].replace(
            "{direction}", known["figure.higher"]
        )
