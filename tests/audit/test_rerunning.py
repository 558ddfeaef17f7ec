"""``--run``: the user's own command on halves of the original, canaries planted, nothing left behind."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.calling import run
from tests.reading import Read, attempt

from kakurenbo.audit.commands import Anonymizing
from kakurenbo.audit.frames import frame_of
from kakurenbo.audit.rerunning import canaries, told_apart, worst_tests
from kakurenbo.audit.result import SelfTest
from kakurenbo.core.errors import UsageError

COPY = "import sys, pathlib; pathlib.Path(sys.argv[2]).write_bytes(pathlib.Path(sys.argv[1]).read_bytes())\n"
LOOKING = """
import os
assert sorted(os.listdir()) == ["in.csv", "out.csv", "output"], os.listdir()
pathlib.Path("left").write_text("something")
"""
FRESH = """
import sys, numpy, polars
rng = numpy.random.default_rng(int(sys.argv[3]))
ages, towns = rng.integers(18, 90, 220), rng.integers(0, 30, 220)
wages = ages * 20 + towns * 7 + rng.integers(0, 40, 220)
polars.DataFrame({"age": ages, "town": [f"town {town}" for town in towns], "wage": wages}).write_csv(sys.argv[2])
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of made-up people, and anonymizers that copy it, make others up, fail, hang or write nothing."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    rng = np.random.default_rng(4)
    ages, towns = rng.integers(18, 90, 400), rng.integers(0, 30, 400)
    wages = ages * 20 + towns * 7 + rng.integers(0, 40, 400)
    pl.DataFrame(
        {"age": ages, "town": [f"town {town}" for town in towns], "wage": wages}
    ).write_csv("original.csv")
    scripts = {
        "copying.py": COPY,
        "looking.py": COPY + LOOKING,
        "fresh.py": FRESH,
        "broken.py": "import sys; print('first', flush=True); sys.exit('the last line')",
        "hanging.py": "import time; time.sleep(600)",
        "silent.py": "",
    }
    for name, script in scripts.items():
        Path(name).write_text(script)
    return tmp_path


def command(script: str, *more: str) -> str:
    return " ".join([sys.executable, script, "{in}", "{out}", *more])


def test_a_command_that_copies_leaks_and_its_canaries_are_found(folder: Path) -> None:
    code, out, err = run(
        "audit",
        "original.csv",
        "--run",
        command("looking.py"),
        "--runs",
        "2",
        "--seed",
        "1",
        "--json",
    )
    assert code == 1, err
    content = json.loads(out)
    membership = content["risks"]["membership"]
    assert content["verdict"]["code"] == "leaks"
    assert membership["canaries"] > 0.9
    row = membership["rows"][-1]
    assert (row["attack"], row["of"], row["control"]["of"]) == ("canaries", 40, 40)
    assert row["excess"]["interval"][0] > 0.5
    assert membership["of"] == sum(one["of"] for one in membership["rows"][1:3])
    attacks = {one["attack"]: one for one in membership["rows"][3:-1]}
    # Of every attack the tries of both runs together; the rival of a run has what the command made in the other.
    assert {one["of"] for one in attacks.values()} == {membership["of"]}
    assert attacks["rehearsed"]["threat"] == "rival"
    assert attacks["rehearsed"]["excess"]["interval"][0] > 0.5
    assert content["method"]["options"]["runs"] == 2
    assert list((folder / "temporary").iterdir()) == []
    assert not (folder / "left").exists()


def test_a_command_that_never_looks_at_its_input_tells_no_canary_and_the_seed_fixes_every_byte() -> (
    None
):
    call = (
        "audit",
        "original.csv",
        "--run",
        command("fresh.py", "{seed}"),
        "--runs",
        "2",
        "--seed",
        "1",
        "--json",
    )
    code, out, _ = run(*call)
    content = json.loads(out)
    assert content["risks"]["membership"]["standing"] != "above"
    assert content["risks"]["membership"]["canaries"] < 0.4
    assert code in (1, 3)
    assert run(*call)[1] == out


def test_what_was_made_and_held_out_is_told_as_what_it_is_with_the_command_its_runs_and_its_time() -> (
    None
):
    """A command that copies makes of each half a release of its 200 rows and the 20 planted ones."""
    given = command("copying.py").replace("copying.py", str(Path("copying.py").absolute()))
    call = (
        "audit",
        "original.csv",
        "--run",
        given,
        "--runs",
        "2",
        "--time-limit",
        "60",
        "--seed",
        "1",
    )
    content = json.loads(run(*call, "--json", "-o", "report.md")[1])
    files, options = content["method"]["files"], content["method"]["options"]
    assert (options["run"], options["runs"], options["time_limit"]) == (given, 2, 60.0)
    assert (
        files["original"]["sha256"] == hashlib.sha256(Path("original.csv").read_bytes()).hexdigest()
    )
    assert (files["release"]["rows"], files["holdout"]["rows"]) == (220, 200)
    assert files["holdout"]["drawn_from"] == "original"
    assert [made["name"] for made in files["release"]["runs"]] == ["release 1", "release 2"]
    digests = [made["sha256"] for role in ("release", "holdout") for made in files[role]["runs"]]
    assert len({*digests, files["original"]["sha256"]}) == 5
    assert files["release"]["sha256"] == digests[0]
    report = Path("report.md").read_text()
    assert "half of original.csv, drawn by lot in each run" in report
    assert "has release 2" in report


def test_all_runs_together_are_compared_with_a_baseline_of_the_same_original() -> None:
    call = (
        "audit",
        "original.csv",
        "--run",
        command("fresh.py", "{seed}"),
        "--runs",
        "2",
        "--seed",
        "1",
        "--json",
    )
    Path("old.json").write_text(run(*call)[1])
    content = json.loads(run(*call, "--baseline", "old.json")[1])
    assert (content["regressions"], content["caveats"]) == ([], [])
    copied = ("audit", "original.csv", "--run", command("copying.py"), "--seed", "1", "--json")
    assert "membership" in json.loads(run(*copied, "--baseline", "old.json")[1])["regressions"]


@pytest.mark.parametrize(
    ("script", "more", "said"),
    [
        ("broken.py", (), "exit code 1"),
        ("broken.py", ("--show-records",), "first / the last line"),
        ("hanging.py", ("--time-limit", "0.5"), "--time-limit"),
        ("silent.py", (), "{out}"),
        ("no-such.py", (), "exit code 2"),
    ],
)
def test_a_command_that_fails_is_told_and_its_words_are_kept_for_its_owner(
    folder: Path, script: str, more: tuple[str, ...], said: str
) -> None:
    code, out, err = run("audit", "original.csv", "--run", command(script), *more)
    told = (out + err).replace("\n", " ")
    assert code == 2
    assert said in told
    assert "Traceback" not in err
    kept = list((folder / "temporary").iterdir())
    if script in ("hanging.py", "silent.py"):
        assert kept == []
        return
    assert [path.name in told.replace(" ", "") for path in kept] == [True]
    assert kept[0].stat().st_mode & 0o777 == 0o600
    if script == "broken.py":
        assert kept[0].read_text().split("\n")[:2] == ["first", "the last line"]
        assert ("the last line" in told) == bool(more)


def test_words_of_a_command_that_fails_are_kept_beside_the_report(folder: Path) -> None:
    code, _, err = run("audit", "original.csv", "--run", command("broken.py"), "-o", "report.html")
    assert code == 2
    assert "report.run.log" in err
    assert "the last line" not in err
    log = folder / "report.run.log"
    assert "the last line" in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_program_that_there_is_not_is_told_by_its_name() -> None:
    assert (
        "there is no program no-such-tool"
        in run("audit", "original.csv", "--run", "no-such-tool {in} {out}")[2]
    )


def test_no_shell_ever_sees_the_command(folder: Path) -> None:
    trap = f"{command('copying.py')} ; touch {folder}/trapped"
    code, _, _ = run("audit", "original.csv", "--run", trap, "--runs", "1", "--json")
    assert code == 1
    assert not (folder / "trapped").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--run", "tool {in}"),
        ("--run", "tool '{in} {out}"),
        ("original.csv", "--run", "tool {in} {out}"),
        ("--holdout", "original.csv", "--run", "tool {in} {out}"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments: tuple[str, ...]) -> None:
    code, _, err = run("audit", "original.csv", *arguments)
    assert code == 2
    assert "--run" in err


def test_canaries_that_score_alike_are_told_apart_by_nothing_and_all_of_both_kinds_count() -> None:
    """The upper half of the scores exceeds what the lower one sets, and the lower one nothing that the upper one sets."""
    scores = np.arange(40.0)
    alike = told_apart(scores, scores)
    assert [(one.hits, one.of) for one in alike] == [(20, 40), (20, 40)]
    assert [(one.hits, one.of) for one in told_apart(scores + 100, scores)] == [(40, 40), (20, 40)]
    assert [one.of for one in told_apart(scores[:21], scores[:21])] == [21, 21]


def test_of_every_self_test_the_run_in_which_it_went_worst_is_told() -> None:
    good, weak = (
        SelfTest("planted", "likelihood", 0.99, 1.0, True),
        SelfTest("planted", "nearest", 0.4, 1.0, False),
    )
    fresh = [SelfTest("fresh", "likelihood", read, 0.0, True) for read in (0.001, 0.012, -0.004)]
    assert worst_tests([(fresh[0], good), (fresh[1], weak), (fresh[2],)]) == (fresh[1], weak)
    failed = SelfTest("fresh", "likelihood", 0.01, 0.0, False)
    assert worst_tests([(fresh[1],), (failed,)]) == (failed,)
    assert worst_tests([(), ()]) == ()


def test_canaries_are_new_records_of_known_values_without_twins() -> None:
    original = frame_of(
        "original", pl.DataFrame({"a": [1, 1, 1, 2], "b": ["x", "y", "z", "w"], "c": [1, 2, 3, 4]})
    )
    made = canaries(original, 20, np.random.default_rng(1))
    assert made.height == made.unique().height == 20
    assert made.join(original.cells, on=original.columns, how="semi").is_empty()
    for name in original.columns:
        assert set(made[name]) <= set(original.cells[name])
    few = frame_of("few", pl.DataFrame({"a": [1, 2]}))
    with pytest.raises(UsageError):
        canaries(few, 20, np.random.default_rng(1))


def test_kakurenbo_itself_is_a_command() -> None:
    table = pl.read_csv("original.csv", infer_schema=False)
    release = attempt(
        Anonymizing.parsed(
            "kakurenbo anonymize table rrp {in} {out} --p 0.8 --seed {seed}", 60
        ).release_of,
        table,
        5,
    )
    assert isinstance(release, Read)
    assert len(release.value) == 400


@pytest.mark.skipif(os.name != "posix", reason="signals of other systems are others")
def test_who_is_ended_leaves_neither_the_table_nor_the_command(folder: Path) -> None:
    call = [
        sys.executable,
        "-m",
        "kakurenbo",
        "audit",
        "original.csv",
        "--run",
        command("hanging.py"),
    ]
    temporary = folder / "temporary"
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(call, env=environment, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + 60
        while not list(temporary.glob("kakurenbo-audit-*/output")) and time.monotonic() < end:
            time.sleep(0.1)
        process.terminate()
        assert process.wait(30) == 128 + signal.SIGTERM
    assert not list(temporary.glob("kakurenbo-*"))
