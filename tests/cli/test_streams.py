"""Standard streams: ``-`` for a file, output that nobody reads or that is full, encodings without our letters, Ctrl-C."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kakurenbo.cli import main
from kakurenbo.cli.terminal import SafeConsole, plain_table

COMMAND = [sys.executable, "-m", "kakurenbo"]
HOSTILE = "a\x1b[31m\nb\u202ec"
SHOWN = r"a\x1b[31m\nb\u202ec"


def kakurenbo(*arguments: str, cwd: Path, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, text=True, timeout=120, **options)  # type: ignore[call-overload,no-any-return]


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    with pytest.raises(SystemExit) as left:
        main(
            [
                "prepare",
                "amic2020",
                "-o",
                str(folder / "contest"),
                "--teams",
                "2",
                "--scale",
                "small",
                "--seed",
                "7",
            ]
        )
    assert not left.value.code
    return folder


def test_a_dash_is_standard_output_and_standard_input(contest: Path) -> None:
    made = kakurenbo(
        "anonymize",
        "amic2020",
        "rr",
        "contest/teams/01",
        "-",
        "--seed",
        "1",
        cwd=contest,
        capture_output=True,
    )
    assert made.returncode == 0
    assert made.stdout.count("\n") == 1000
    assert "1,000" in made.stderr
    call = ("check", "amic2020", "contest/teams/01", "-", "--json")
    checked = kakurenbo(*call, cwd=contest, capture_output=True, input=made.stdout)
    assert json.loads(checked.stdout)["valid"] is True
    refused = kakurenbo(*call, cwd=contest, capture_output=True, input="one,two\n")
    assert refused.returncode == 2
    assert refused.stderr.startswith("-:")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (
            ("anonymize", "amic2020", "rr", "contest/teams/01", "-", "--json"),
            "--json prints on standard output",
        ),
        (("prepare", "amic2020", "--teams", "2", "-o", "-"), "name a folder"),
        (("generate", "amic2020", "-o", HOSTILE), "cannot be shown"),
        (("generate", "amic2020", "-o", "contest"), "this is a folder"),
        (
            ("generate", "amic2020", "-o", "contest/public/contest.json/x"),
            "is a file, not a folder",
        ),
        (("check", "amic2020", HOSTILE, "x"), SHOWN),
        (("standings", "amic2020", HOSTILE), SHOWN),
        (("run", "amic2020", "--teams", HOSTILE, "-o", "out"), SHOWN),
        (("prepare", "amic2020", "--teams", "1-9999999", "-o", "out"), "at most 9,999 teams"),
        (
            ("prepare", "amic2020", "--teams", "2", "--unranked", "12", "-o", "out"),
            "(there are 01, 02)",
        ),
        (("run", "amic2020", "--repeat", "1001", "-o", "out"), "1001"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line_before_any_work(
    contest: Path,
    arguments: tuple[str, ...],
    word: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(contest)
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    assert left.value.code == 2
    *_, last = capsys.readouterr().err.splitlines()
    assert word in last
    assert not Path("out").exists()


def test_devices_are_written_into_and_never_replaced(contest: Path) -> None:
    before = Path("/dev/null").stat()
    call = ("anonymize", "amic2020", "rr", "contest/teams/01")
    assert kakurenbo(*call, "/dev/null", cwd=contest).returncode == 0
    after = Path("/dev/null").stat()
    assert (before.st_mode, before.st_rdev, before.st_ino) == (
        after.st_mode,
        after.st_rdev,
        after.st_ino,
    )
    full = kakurenbo(*call, "/dev/full", cwd=contest, capture_output=True)
    assert (full.returncode, full.stderr) == (
        2,
        "error: /dev/full: cannot be written (No space left on device)\n",
    )


@pytest.mark.slow
def test_a_full_standard_output_is_told_without_a_traceback(tmp_path: Path) -> None:
    for options in ((), ("--json",)):
        with Path("/dev/full").open("w") as full:
            done = kakurenbo("attacks", *options, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
        assert "No space left on device" in done.stderr


def test_output_that_nobody_reads_or_that_is_closed_gives_no_traceback(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as broken:
        assert (
            kakurenbo("attacks", cwd=tmp_path, stdout=broken, stderr=subprocess.PIPE).stderr == ""
        )
    closed = subprocess.run(
        f"exec {sys.executable} -m kakurenbo attacks >&-",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (closed.returncode, closed.stderr) == (0, "")


@pytest.mark.parametrize("encoding", ["cp932", "cp1252", "ascii"])
def test_terminals_without_our_letters_are_served(tmp_path: Path, encoding: str) -> None:
    matrix = {"credits": {"01": {"ひ–é": {"hits": 3, "of": 10}}}, "utility": {"01": 0.5}}
    (tmp_path / "results.json").write_text(json.dumps(matrix), encoding="utf-8")
    call = ("standings", "amic2020", "results.json")
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    options = {"capture_output": True, "env": environment, "encoding": encoding}
    shown = kakurenbo(*call, cwd=tmp_path, **options)
    assert (shown.returncode, shown.stderr) == (0, "")
    printed = kakurenbo(*call, "--json", cwd=tmp_path, **options)
    assert "ひ–é" in {line["team"] for line in json.loads(printed.stdout)["attack"]}


def test_signs_that_act_on_a_terminal_are_escaped_in_every_message_and_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    matrix = {"credits": {"01": {HOSTILE: {"hits": 3, "of": 10}}}, "utility": {"01": 0.5}}
    (tmp_path / "results.json").write_text(json.dumps(matrix))
    for options in ((), ("--json",)):
        with pytest.raises(SystemExit):
            main(["standings", "amic2020", str(tmp_path / "results.json"), *options])
        out, _ = capsys.readouterr()
        assert "\x1b" not in out
        assert "\u202e" not in out
    assert HOSTILE in {line["team"] for line in json.loads(out)["attack"]}
    console = SafeConsole(file=io.StringIO(), width=200)
    table = plain_table("name")
    table.add_row(HOSTILE)
    console.print(table)
    console.print(f"\n{HOSTILE!r} [bold]x[/]")
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert SHOWN in text
    assert "[bold]" not in text
    assert "\x1b" not in text


def interrupted(
    call: list[str], cwd: Path, when: Callable[[int], bool]
) -> tuple[subprocess.Popen[str], float, str]:
    """Press Ctrl-C, which goes to all processes of the terminal, when the process has come so far."""
    process = subprocess.Popen(
        [*COMMAND, *call],
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while not when(process.pid) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    begun = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    return process, time.monotonic() - begun, err


LOADING = "import os, runpy; os.write(1, b'.'); runpy.run_module('kakurenbo', run_name='__main__', alter_sys=True)"
"""Tells that Python itself is there, and then does what ``python -m kakurenbo`` does."""


@pytest.mark.parametrize("call", [("rulebooks",), ("demo", "-o", "out")])
def test_ctrl_c_while_it_is_still_being_loaded_ends_with_130_and_no_traceback(
    tmp_path: Path, call: tuple[str, ...]
) -> None:
    for seconds in (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6):
        process = subprocess.Popen(
            [sys.executable, "-c", LOADING, *call],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout is not None
        process.stdout.read(1)
        time.sleep(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=30)
        assert "Traceback" not in err.decode(), seconds
        assert "ignored" not in err.decode(), seconds
        assert process.returncode == 130 or (
            call == ("rulebooks",) and process.returncode in (0, -signal.SIGINT)
        ), seconds


def others_of_session(session: int) -> list[str]:
    stats = [
        path.read_text().rpartition(")")[2].split()
        for path in Path("/proc").glob("[0-9]*/stat")
        if path.exists()
    ]
    return [" ".join(stat[:4]) for stat in stats if stat[3] == str(session) and stat[0] != "Z"]


@pytest.mark.parametrize("when", ["starting", "playing"])
def test_ctrl_c_ends_a_run_at_once_with_130_and_leaves_nothing_half_written(
    tmp_path: Path, when: str
) -> None:
    call = [
        "run",
        "amic2020",
        "--scale",
        "small",
        "--data",
        "embedded",
        "--jobs",
        "2",
        "--seed",
        "1",
        "-o",
        "run",
    ]

    def so_far(pid: int) -> bool:
        return (
            any(tmp_path.glob("run/jobs/*/*/result.json"))
            if when == "playing"
            else "polars" in Path(f"/proc/{pid}/maps").read_text()
        )

    process, seconds, err = interrupted(call, tmp_path, so_far)
    assert process.returncode == 130
    assert seconds < 2, err  # a second on a machine that does nothing else
    assert err.rstrip().endswith("error: stopped; the same command goes on where it stopped")
    assert "Traceback" not in err
    assert not list(tmp_path.glob("run/results*"))
    deadline = time.monotonic() + 10
    while others_of_session(process.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert others_of_session(process.pid) == []


@pytest.mark.parametrize(
    ("verb", "language", "said"),
    [
        ("run", "en", "error: stopped; the same command goes on where it stopped"),
        ("run", "ja", "エラー: 中断しました。同じコマンドで続きから再開できます"),
        ("demo", "en", "error: stopped; the same command plays it again from the beginning"),
        ("demo", "ja", "エラー: 中断しました。同じコマンドで最初からやり直せます"),
        ("measure", "en", "error: stopped"),
    ],
)
def test_ctrl_c_says_whether_the_same_command_goes_on(
    verb: str,
    language: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted_call(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setenv("KAKURENBO_LANG", language)
    monkeypatch.setattr(sys.modules["kakurenbo.cli.main"], "run", interrupted_call)
    with pytest.raises(SystemExit) as left:
        main([verb])
    assert left.value.code == 130
    assert capsys.readouterr().err.rstrip() == said
