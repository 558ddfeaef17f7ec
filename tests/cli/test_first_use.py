"""The first minutes: a greeting, listings with commands that work as typed, completion, and no silent waiting."""

from __future__ import annotations

import json
import queue
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from tests.arena.conftest import install, installed

from kakurenbo.arena.calls import MethodCall
from kakurenbo.arena.jobs import ATTACK, JUDGE, Task
from kakurenbo.arena.plan import Job
from kakurenbo.arena.pool import processes
from kakurenbo.cli import VERBS, command_line, main
from kakurenbo.cli.listing import INDEX, make_index
from kakurenbo.cli.main import ALIASES
from kakurenbo.core import compiling
from kakurenbo.methods import registry

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
    return [
        shlex.split(found)[1:]
        for found in re.findall(r"kakurenbo [a-z]+ [^()\n]*?(?=  |\)|\n|$)", text)
    ]


def test_bare_kakurenbo_greets_with_the_six_commands_that_people_need(call: Call) -> None:
    code, text = call()
    assert code == 0
    shown = [line.split()[1] for line in text.splitlines() if line.startswith("  kakurenbo ")]
    assert shown == ["demo", "prepare", "anonymize", "measure", "attack", "audit"]


def test_the_commands_of_the_greeting_work_as_typed(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = [
        one
        for one in commands(call()[1])
        if one[0] in ("prepare", "anonymize", "measure", "attack")
    ]
    assert len(shown) == 4
    for command in shown:
        assert call(*command)[0] == 0, command


def test_help_lists_the_verbs_that_exist_and_no_others(call: Call) -> None:
    tasks = call("--help")[1].partition("Play a contest by files:")[2]
    listed = re.findall(r"^  ([a-z]+)  +\S", tasks, re.MULTILINE)
    assert listed == list(VERBS)
    for verb in listed:
        assert call(verb, "--help")[0] == 0


def test_methods_are_listed_by_the_contest_they_play(call: Call) -> None:
    for group in ("anonymizers", "attacks"):
        text = call(group)[1]
        parts = re.split(r"^(amic2020|darc2019|pwscup2021|pwscup2024): ", text, flags=re.MULTILINE)
        contests = zip(parts[1::2], parts[2::2], strict=True)
        listed = {
            name: set(re.findall(r"^([a-z_]+)  ", part, re.MULTILINE)) for name, part in contests
        }
        assert set(listed) == set(registry.names("rulebooks"))
    assert "nearest" in listed["amic2020"]
    assert "nearest" not in listed["darc2019"]
    assert "tfidf" in listed["darc2019"]


@pytest.mark.parametrize("rulebook", ["amic2020", "darc2019", "pwscup2021", "pwscup2024"])
def test_the_examples_of_the_listings_work_as_typed(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rulebook: str
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = [
        one
        for group in ("anonymizers", "attacks")
        for one in commands(call(group)[1])
        if one[1] == rulebook
    ]
    by_verb = {command[0]: command for command in shown}
    assert set(by_verb) == {"prepare", "anonymize", "publish", "attack"}
    assert call(*by_verb["prepare"], "--scale", "small", "--seed", "1")[0] == 0
    assert call(*by_verb["anonymize"])[0] == 0
    assert call(*by_verb["publish"], "--with-disqualified")[0] == 1, "team 02 hands in nothing"
    assert call(*by_verb["attack"])[0] == 0


def test_the_help_of_attack_names_the_files_that_attackers_know(call: Call) -> None:
    text = " ".join(call("attack", "--help")[1].split())
    for files in (
        "amic2020: B.csv D.csv",
        "darc2019: T.csv S.csv",
        "pwscup2021: CT.csv D.csv",
        "pwscup2024: a.csv b.csv",
    ):
        assert files in text
    text = " ".join(call("attack", "darc2019", "--help")[1].split())
    assert "T.csv S.csv" in text
    assert "D.csv" not in text


@pytest.mark.parametrize(
    ("typed", "incomplete", "expected"),
    [
        ((), "anon", {"anonymize"}),
        (("measure",), "a", {"amic2020"}),
        (("attacks",), "d", {"darc2019"}),
        (("anonymize", "amic2020"), "r", {"repair", "rr", "rrp"}),
        (
            ("attack", "darc2019"),
            "",
            {
                "blind_shop",
                "fellegi_sunter",
                "keys",
                "overlap",
                "profile",
                "rhythm",
                "tfidf",
                "two_owners",
            },
        ),
        (("attack", "amic2020", "nearest", "--metric"), "", {"rules", "onehot", "sum"}),
        (("attack", "amic2020", "likelihood", "--trust"), "t", {"true"}),
        (("anonymize", "amic2020", "rr", "--columns"), "n", {"none"}),
        (("prepare", "pwscup2024", "--scale"), "s", {"small"}),
        (("attack", "amic2020", "nearest", "--mechanism"), "rr", {"rr", "rrp"}),
        (("data", "import"), "a", {"adult"}),
    ],
)
def test_verbs_rulebooks_methods_and_values_are_completed(
    typed: tuple[str, ...], incomplete: str, expected: set[str]
) -> None:
    completing = ShellComplete(command_line(), {}, "kakurenbo", "_KAKURENBO_COMPLETE")
    assert {item.value for item in completing.get_completions(list(typed), incomplete)} == expected


@pytest.mark.parametrize(
    ("line", "large"),
    [
        (["--help"], {"numba", "numpy", "pandas", "polars", "rich", "scipy", "sklearn"}),
        (["list", "contests"], {"numba", "numpy", "pandas", "polars", "scipy", "sklearn"}),
        (["list", "anonymizers"], {"numba", "numpy", "pandas", "polars", "scipy", "sklearn"}),
        (["attacks", "--json"], {"numba", "numpy", "pandas", "polars", "scipy", "sklearn"}),
        (["check", "--help"], {"numba", "pandas", "scipy", "sklearn"}),
    ],
    ids=["help", "contests", "anonymizers", "attacks", "every rulebook"],
)
def test_help_is_quick_because_it_loads_none_of_the_large_libraries(
    line: list[str], large: set[str]
) -> None:
    program = f"""
import sys
from kakurenbo.cli import main
try:
    main({line!r})
except SystemExit:
    pass
print(sorted({large!r} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stderr.strip() == "[]"


def test_the_stored_listing_is_what_the_classes_say() -> None:
    assert json.loads(json.dumps(make_index())) == json.loads(INDEX.read_bytes()), "make reference"


def test_listings_show_no_header_of_a_catalogue(call: Call) -> None:
    assert "Content-Type" not in call("list", "anonymizers")[1]


def test_old_names_of_commands_are_aliases(call: Call) -> None:
    for old, words in ALIASES.items():
        assert call(old, "--help")[0] == 0
        assert old not in re.findall(r"^  ([a-z]+)  ", call("--help")[1], re.MULTILINE), words
    assert call("attacks", "--json") == call("list", "attacks", "--json")


def test_compiling_is_announced_once_and_only_where_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "loops.py").write_text(
        "from kakurenbo.core.compiling import announce_with, compiled\n"
        "announce_with(lambda: print('compiling'))\n"
        "@compiled\ndef one(x):\n    return x + 1\n"
        "@compiled\ndef two(x):\n    return one(x) + 1\n"
        "print(two(1))\n"
    )
    printed = [
        subprocess.run(
            [sys.executable, "-c", "import loops"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert printed == [["compiling", "3"], ["3"]]


def test_what_workers_compile_is_announced_once_in_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, site = tmp_path / "package", tmp_path / "site"
    package.mkdir()
    site.mkdir()
    (package / "announcing.py").write_text(
        "from kakurenbo.core import compiling\ncompiling.announce()\n"
    )
    (package / "pyproject.toml").write_text(
        '[project]\nname = "announcing"\nversion = "1"\n'
        '[project.entry-points."kakurenbo.rulebooks"]\nannouncing = "announcing:Rules"\n'
    )
    install(package, site)
    told: queue.Queue[str] = queue.Queue()
    compiling.announce_with(lambda: told.put("compiling"))
    with installed(site, monkeypatch), processes(1).open(lambda _: ()) as crew:
        for kind in (JUDGE, ATTACK):
            task = Task(kind, MethodCall("rulebooks", "announcing"))
            crew.submit(Job(0, "only", 0, "01", "", task), task, {}, None)
            while not crew.wait():
                pass
    assert told.get(timeout=60) == "compiling"
    assert told.empty(), "once"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "compiling for this machine, once, which takes some seconds"),
        ("ja", "計算の一部をこのマシン用に初回だけコンパイルしています"),
    ],
)
def test_compiling_is_one_line_that_names_no_part_of_the_program(
    language: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", language)
    with pytest.raises(SystemExit):
        main(["--version"])
    for _ in range(2):
        compiling.announce()
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(said)
    assert "`" not in line


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("anonymize", "amic2020", "rpr"), "rrp"),
        (("anonymize", "amic2020", "knaony"), "kanony"),
        (("attack", "darc2019", "tfdif"), "tfidf"),
        (("measure", "acim2020"), "amic2020"),
        (("measure", "DARC2019"), "darc2019"),
        (("mesaure",), "measure"),
    ],
)
def test_letters_in_another_order_are_understood(
    capfd: pytest.CaptureFixture[str], typed: tuple[str, ...], meant: str
) -> None:
    with pytest.raises(SystemExit) as left:
        main(list(typed))
    assert left.value.code == 2
    assert re.search(f"did you mean ['\"]{meant}['\"]", capfd.readouterr().err)


def forgetful_calls() -> list[tuple[str, ...]]:
    """Every verb of every contest with nothing given, which lacks an argument or an option at least."""
    verbs = ("prepare", "check", "measure", "publish", "credit", "score", "run", "verify")
    calls = [
        (verb, rulebook)
        for verb in verbs
        for rulebook in ("amic2020", "darc2019", "pwscup2021", "pwscup2024")
    ]
    methods = [
        ("attack", "amic2020", "nearest"),
        ("anonymize", "darc2019", "dates"),
        ("anonymize", "pwscup2024", "olh"),
    ]
    return [
        *calls,
        *methods,
        ("generate", "amic2020"),
        ("sample", "amic2020"),
        ("report",),
        ("data", "import"),
    ]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_whoever_forgets_an_argument_is_told_what_it_is_and_a_whole_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", language)
    missing, example = {"en": ("Missing", "Example: "), "ja": ("がありません: ", "例: ")}[language]
    for call in forgetful_calls():
        with pytest.raises(SystemExit) as left:
            main(list(call))
        assert left.value.code == 2
        last = capsys.readouterr().err.splitlines()[-1]
        assert missing in last, call
        sentence, _, command = last.partition(example)
        assert command.startswith(f"kakurenbo {' '.join(call)} "), call
        assert len(sentence.partition(": ")[2].partition(": ")[2]) > 5, "what it is"


def test_an_example_lacks_no_argument(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for call in forgetful_calls():
        if call[0] in ("run", "generate", "prepare"):
            continue  # would be done
        with pytest.raises(SystemExit):
            main(list(call))
        command = capsys.readouterr().err.splitlines()[-1].partition("Example: ")[2]
        with pytest.raises(SystemExit) as left:
            main(shlex.split(command)[1:])
        told = capsys.readouterr().err
        assert left.value.code == 2
        assert "Missing" not in told, command
        assert re.search("there is no|give the|cannot be", told), f"nothing is there: {told}"


def test_none_is_explained_in_listings_and_help(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = call("anonymizers")[1]
    assert "columns=none (all columns)" in listed
    assert not re.search(r"=none(?!\s+\()", listed + call("attacks")[1] + call("rulebooks")[1])
    shown = " ".join(call("anonymize", "amic2020", "rr", "--help")[1].split())
    assert (
        "columns to randomize (a list of names a,b,c, or none for all columns; default none)"
        in shown
    )
    monkeypatch.setenv("KAKURENBO_LANG", "ja")
    assert "columns=none (すべての列)" in call("anonymizers")[1]


def test_measure_says_in_words_what_passes_and_anonymize_what_epsilon_means(
    call: Call, tmp_path: Path
) -> None:
    contest, release = tmp_path / "contest", tmp_path / "D.csv"
    call(
        "prepare",
        "amic2020",
        "-o",
        contest,
        "--teams",
        "2",
        "--scale",
        "small",
        "--seed",
        "1",
        "--max-histogram-error",
        "0.5",
    )
    made = call(
        "anonymize", "amic2020", "rr", contest / "teams" / "01", release, "--seed", "1", "--verbose"
    )[1]
    assert re.search(r"epsilon \d", made)
    assert "a smaller one hides more" in made
    code, measured = call("measure", "amic2020", contest / "teams" / "01", release)
    assert code == 1
    lines = {
        line.split()[0]: " ".join(line.split()) for line in measured.splitlines() if line.strip()
    }
    assert "at least 0.990 fails" in lines["histogram"]
    assert "at least 0.850 passes" in lines["dta_relationship"]
    assert "at most 50.0 % passes" in lines["max_histogram_error"]
    assert "≥" not in measured


def test_generate_says_how_near_the_data_are_in_short_and_all_of_it_when_asked(
    call: Call, tmp_path: Path
) -> None:
    given = ("generate", "amic2020", "--rows", "1000", "--seed", "1", "-o", tmp_path / "B.csv")
    short, long = (
        next(line for line in call(*given, *more)[1].splitlines() if "fidelity" in line)
        for more in ((), ("--verbose",))
    )
    assert re.fullmatch(
        r"fidelity: largest total variation 0\.\d+ \(age\), covariance sum [\d.]+, covariance max [\d.]+",
        short,
    )
    assert "workclass" in long


@pytest.mark.parametrize("group", ["anonymizers", "attacks"])
def test_a_listing_of_one_contest_shows_what_plays_it_alone(call: Call, group: str) -> None:
    code, listed = call(group, "darc2019")
    assert code == 0
    assert "darc2019" in listed
    assert "amic2020" not in listed
    every = json.loads(call(group, "--json")[1])[group]
    own = json.loads(call(group, "darc2019", "--json")[1])[group]
    assert own == [entry for entry in every if "darc2019" in entry["rulebooks"]]
    assert 0 < len(own) < len(every)
    assert call(group, "darc2091")[0] == 2
