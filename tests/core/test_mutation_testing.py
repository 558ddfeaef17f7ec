"""`make mutants`: what counts as a mutant, how a sample is drawn, and that a mutant which no test notices is reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from scripts.mutants.mutations import Mutant, mutants_of
from scripts.mutants.report import interval, share_killed, table
from scripts.mutants.trials import MeasuredTests, Outcome

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SMALL_MODULE = """\
from __future__ import annotations

LIMIT = 5


@compiled
def clipped(value: int | None) -> int | None:
    return LIMIT if value > LIMIT else value


class Shown:
    def __repr__(self) -> str:
        return "x" * 3
"""


def changes(folder: Path, code: str) -> dict[str, tuple[str, ...]]:
    path = folder / "module.py"
    path.write_text(code)
    return {mutant.name: mutant.lines[1] for mutant in mutants_of(path)}


def test_type_hints_texts_for_people_and_speed_do_not_count(tmp_path: Path) -> None:
    assert changes(tmp_path, SMALL_MODULE) == {
        "/NumberReplacer/1": ("LIMIT = 6",),
        "/NumberReplacer/2": ("LIMIT = 4",),
        "clipped/AddNot/1": ("return LIMIT if not value > LIMIT else value",),
        "clipped/ReplaceComparisonOperator_Gt_GtE/1": (
            "return LIMIT if value >= LIMIT else value",
        ),
        "clipped/ReplaceComparisonOperator_Gt_LtE/1": (
            "return LIMIT if value <= LIMIT else value",
        ),
    }


def test_stars_of_unpacking_and_guards_of_the_author_do_not_count(tmp_path: Path) -> None:
    assert (
        changes(tmp_path, "def f(*a, **b):\n    return dict(zip(a, a, strict=True), **b)\n") == {}
    )
    assert list(changes(tmp_path, "def f(a, b):\n    return a * b\n").values()) == [
        ("return a / b",)
    ]


def test_who_is_in_a_sample_does_not_change_with_other_code(tmp_path: Path) -> None:
    def draws(code: str) -> dict[str, bytes]:
        (tmp_path / "module.py").write_text(code)
        return {mutant.name: mutant.draw(1) for mutant in mutants_of(tmp_path / "module.py")}

    before, after = (
        draws(SMALL_MODULE),
        draws(SMALL_MODULE.replace("LIMIT = 5", "LIMIT = 5\n\n\ndef other():\n    return 1 + 2")),
    )
    assert before.items() < after.items()
    assert len(set(after.values())) == len(after)


def test_a_test_is_asked_where_it_reaches_the_function_and_first_where_it_reaches_the_line() -> (
    None
):
    lines = {
        "m.py": {
            "3": ["t.py::quick"],
            "4": ["t.py::slow"],
            "9": ["other.py::"],
            "20": ["t.py::late"],
        }
    }
    seconds = {
        "t.py::slow": 2.0,
        "t.py::quick": 0.1,
        "t.py::late": 0.2,
        "other.py::a": 1.0,
        "t.py::never": 0.0,
    }
    tests = MeasuredTests(("t.py", "other.py"), seconds, lines)
    assert tests.reaching("m.py", 3, (1, 5)) == ["t.py::quick", "t.py::slow"]
    assert tests.reaching("m.py", 4, (1, 5)) == ["t.py::slow", "t.py::quick"]
    assert tests.reaching("m.py", 9, (8, 10)) == ["other.py::a"], (
        "what a fixture reaches, every test of the file does"
    )
    module = ["other.py::a", "t.py::quick", "t.py::late", "t.py::slow"]
    assert tests.reaching("m.py", 35, (30, 40)) == module, (
        "compiled by Numba; tests of quick files come first"
    )
    imported = ["t.py::quick", "t.py::late", "t.py::slow", "other.py::a", "t.py::never"]
    assert tests.reaching("m.py", 1, None) == imported, "a constant may serve any test"
    assert tests.reaching("elsewhere.py", 5, (1, 9)) == []


def test_the_share_counts_tests_that_no_longer_end_as_failures_and_leaves_equivalent_mutants_out() -> (
    None
):
    outcomes = (
        [Outcome.KILLED] * 17
        + [Outcome.TIMED_OUT] * 2
        + [Outcome.SURVIVED]
        + [Outcome.EQUIVALENT] * 3
    )
    assert share_killed(outcomes) == (19, 20)
    row = table({"measures": outcomes}).splitlines()[1].split()
    assert row[:7] == ["measures", "23", "17", "2", "1", "3", "95.0%"]


def test_the_interval_is_wilsons() -> None:
    """19 of 20: (19/20 + 3.8415/40 -+ 1.96 sqrt(.95 * .05 / 20 + 3.8415/1600)) / (1 + 3.8415/20)."""
    assert interval(19, 20) == (pytest.approx(0.7639, abs=1e-4), pytest.approx(0.9911, abs=1e-4))
    assert interval(0, 0) == (0, 1)


def run(memory: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "scripts.mutants",
        "--only",
        "commitments.py",
        "--memory",
        str(memory),
        *options,
    ]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)


@pytest.mark.slow
def test_a_handful_of_mutants_of_a_small_module_is_killed_by_its_own_tests(tmp_path: Path) -> None:
    tests = sorted(
        str(path) for path in (REPOSITORY / "tests" / "core").glob("test_commitments*.py")
    )
    done = run(tmp_path, "--mutants", "4", "--tests", *tests)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].split()[:7] == ["all", "4", "4", "0", "0", "0", "100.0%"]


@pytest.mark.slow
def test_mutants_survive_tests_that_cannot_fail_and_are_shown_with_line_and_change(
    tmp_path: Path,
) -> None:
    harmless = tmp_path / "test_harmless.py"
    harmless.write_text(
        "from kakurenbo.contest import commitments\n\n"
        "def test_nothing():\n    commitments.commit(1, {}, 's')\n"
        f"    with open({str(tmp_path / 'runs.txt')!r}, 'a') as file:\n        file.write('run\\n')\n"
    )
    done = run(tmp_path, "--mutants", "2", "--tests", str(harmless))
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1].split()[:7] == ["all", "2", "0", "0", "2", "0", "0.0%"]
    assert done.stdout.count("survived: src/kakurenbo/contest/commitments.py:") == 2
    assert done.stdout.count("\n  - ") == done.stdout.count("\n  + ") == 2
    assert len((tmp_path / "survivors.txt").read_text().splitlines()) == 2
    assert (tmp_path / "runs.txt").read_text() == "run\n" * 3, (
        "once on the code as it is, and once for each mutant"
    )


@pytest.mark.slow
def test_nothing_is_tried_with_tests_that_fail_on_the_code_as_it_is(tmp_path: Path) -> None:
    failing = tmp_path / "test_failing.py"
    failing.write_text(
        "from kakurenbo.contest import commitments\n\ndef test_it():\n    assert commitments is None\n"
    )
    done = run(tmp_path, "--mutants", "3", "--tests", str(failing))
    assert done.returncode == 2
    assert "fail on the code as it is" in done.stderr


def test_nothing_tried_is_no_success(tmp_path: Path) -> None:
    done = run(tmp_path, "--mutants", "0")
    assert (done.returncode, "no mutant is asked for" in done.stderr) == (2, True)


def test_a_mutant_is_made_of_the_file_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(SMALL_MODULE)
    wrong = Mutant(path, "NumberReplacer", 99, (1, 0), None, "x")
    with pytest.raises(ValueError, match="no occurrence 99"):
        _ = wrong.code
