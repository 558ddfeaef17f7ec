"""The first minutes: a greeting, listings with commands that work as typed, completion, and no silent waiting."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from kakurenbo import registry
from kakurenbo.cli import VERBS, command_line, main

Call = Callable[..., tuple[int, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Call the command line; gives the exit code and what stands on stdout."""

    def called(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return int(left.value.code or 0), capsys.readouterr().out

    return called


def commands(text: str) -> list[list[str]]:
    """The commands that a text shows, without ``kakurenbo``."""
    return [shlex.split(found)[1:] for found in re.findall(r"kakurenbo [a-z]+ [^()\n]*?(?=  |\)|\n|$)", text)]


def test_bare_kakurenbo_greets_with_the_five_commands_that_people_need(call: Call) -> None:
    code, text = call()
    assert code == 0
    shown = [line.split()[1] for line in text.splitlines() if line.startswith("  kakurenbo ")]
    assert shown == ["demo", "prepare", "anonymize", "measure", "attack"]


def test_the_commands_of_the_greeting_work_as_typed(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = [one for one in commands(call()[1]) if one[0] in ("prepare", "anonymize", "measure", "attack")]
    assert len(shown) == 4
    for command in shown:
        assert call(*command)[0] == 0, command


def test_help_lists_the_verbs_that_exist_and_no_others(call: Call) -> None:
    listed = re.findall(r"^  ([a-z]+)  +\S", call("--help")[1].partition("Verbs:")[2], re.MULTILINE)
    assert listed == list(VERBS)
    for verb in listed:
        assert call(verb, "--help")[0] == 0


def test_methods_are_listed_by_the_contest_they_play(call: Call) -> None:
    for group in ("anonymizers", "attacks"):
        text = call(group)[1]
        parts = re.split(r"^(amic2020|darc2019|pwscup2024): ", text, flags=re.MULTILINE)
        contests = zip(parts[1::2], parts[2::2], strict=True)
        listed = {name: set(re.findall(r"^([a-z_]+)  ", part, re.MULTILINE)) for name, part in contests}
        assert set(listed) == set(registry.names("rulebooks"))
    assert "nearest" in listed["amic2020"]
    assert "nearest" not in listed["darc2019"]
    assert "tfidf" in listed["darc2019"]


@pytest.mark.parametrize("rulebook", ["amic2020", "darc2019", "pwscup2024"])
def test_the_examples_of_the_listings_work_as_typed(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rulebook: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = [one for group in ("anonymizers", "attacks") for one in commands(call(group)[1]) if one[1] == rulebook]
    by_verb = {command[0]: command for command in shown}
    assert set(by_verb) == {"prepare", "anonymize", "publish", "attack"}
    assert call(*by_verb["prepare"], "--scale", "small", "--seed", "1")[0] == 0
    assert call(*by_verb["anonymize"])[0] == 0
    assert call(*by_verb["publish"], "--with-disqualified")[0] == 1, "team 02 hands in nothing"
    assert call(*by_verb["attack"])[0] == 0


def test_the_help_of_attack_names_the_files_that_attackers_know(call: Call) -> None:
    text = " ".join(call("attack", "--help")[1].split())
    for files in ("amic2020: B.csv D.csv", "darc2019: T.csv S.csv", "pwscup2024: a.csv b.csv C_DIR"):
        assert files in text
    text = " ".join(call("attack", "darc2019", "--help")[1].split())
    assert "T.csv S.csv" in text
    assert "D.csv" not in text


@pytest.mark.parametrize(
    ("typed", "incomplete", "expected"),
    [
        ((), "anon", {"anonymizers", "anonymize"}),
        (("measure",), "a", {"amic2020"}),
        (("anonymize", "amic2020"), "r", {"rr", "rrp"}),
        (("attack", "darc2019"), "", {"fellegi_sunter", "keys", "overlap", "profile", "rhythm", "tfidf"}),
        (("attack", "amic2020", "nearest", "--metric"), "", {"rules", "onehot"}),
        (("attack", "amic2020", "likelihood", "--trust"), "t", {"true"}),
        (("anonymize", "amic2020", "rr", "--columns"), "n", {"none"}),
        (("prepare", "pwscup2024", "--scale"), "s", {"small"}),
        (("attack", "amic2020", "nearest", "--mechanism"), "rr", {"rr", "rrp"}),
        (("data", "import"), "a", {"adult"}),
        (("report", "--format"), "", {"html", "md"}),
    ],
)
def test_verbs_rulebooks_methods_and_values_are_completed(typed: tuple[str, ...], incomplete: str, expected: set[str]) -> None:
    completing = ShellComplete(command_line(), {}, "kakurenbo", "_KAKURENBO_COMPLETE")
    assert {item.value for item in completing.get_completions(list(typed), incomplete)} == expected


def test_help_is_quick_because_it_loads_none_of_the_large_libraries() -> None:
    program = """
import sys
from kakurenbo.cli import main
try:
    main(["--help"])
except SystemExit:
    pass
print(sorted({"numba", "numpy", "pandas", "polars", "rich", "scipy", "sklearn"} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "[]"


def test_compiling_is_announced_once_and_only_where_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(
        "from kakurenbo.compiling import announce_with, compiled\n"
        "announce_with(lambda: print('compiling'))\n"
        "@compiled\ndef one(x):\n    return x + 1\n"
        "@compiled\ndef two(x):\n    return one(x) + 1\n"
        "print(two(1))\n"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", "import loops"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
        ).stdout.split()
        for _ in range(2)
    ]
    assert printed == [["compiling", "3"], ["3"]]
