"""``kakurenbo audit``: exit codes, JSON, reports, and what it refuses."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import io
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.calling import run

from kakurenbo.cli import main
from kakurenbo.core.rng import salt

CALL = ("audit", "original.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three tables of made-up people: a column of numbers, one of words, one that follows from both."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    for name in ("original", "holdout", "strangers"):
        ages, towns = rng.integers(18, 90, 300), rng.integers(0, 30, 300)
        wages = ages * 20 + towns * 7 + rng.integers(0, 40, 300)
        pl.DataFrame(
            {"age": ages, "town": [f"town {town}" for town in towns], "wage": wages}
        ).write_csv(f"{name}.csv")
    return tmp_path


def test_a_copy_of_the_original_exits_with_1_and_prints_one_json_object() -> None:
    code, out, _ = run(*CALL, "original.csv", "--holdout", "holdout.csv", "--seed", "1", "--json")
    content = json.loads(out)
    assert code == 1
    assert content["verdict"]["code"] == "leaks"
    assert content["risks"]["membership"]["rate"] > 0.9
    assert content["records"]["flagged"] > 200
    assert content["method"]["seed"] == 1


def test_without_a_holdout_a_release_is_never_passed() -> None:
    code, out, _ = run(*CALL, "strangers.csv", "--seed", "1")
    assert code == 3
    assert "--holdout" in out
    assert run(*CALL, "strangers.csv", "--seed", "1", "--strict")[0] == 1


def test_without_a_holdout_a_copy_of_the_original_exits_with_1_and_says_why(folder: Path) -> None:
    code, out, _ = run(*CALL, "original.csv", "--seed", "1")
    assert code == 1
    assert "singling out" in out
    lines = (folder / "original.csv").read_text().splitlines()[1:]
    alone = sum(lines.count(line) == 1 for line in lines)
    assert f"{alone} of its rows fit exactly one person" in " ".join(out.split())
    assert "not assessed" in out


@pytest.mark.parametrize("name", ["report.html", "report.md", "report.json"])
def test_the_report_is_written_by_the_name_of_its_file(name: str, folder: Path) -> None:
    run(*CALL, "strangers.csv", "original.csv", "--seed", "1", "-o", name)
    assert "strangers.csv" in (folder / name).read_text()
    if name.endswith("json"):
        content = json.loads((folder / name).read_text())
        assert [one["name"] for one in content["candidates"]] == ["strangers.csv", "original.csv"]


def test_each_of_several_releases_stands_as_in_an_audit_of_its_own_and_the_first_gives_the_exit_code() -> (
    None
):
    call = ("--holdout", "holdout.csv", "--seed", "1", "--json")
    alone = {name: run(*CALL, name, *call)[0] for name in ("strangers.csv", "original.csv")}
    assert alone == {"strangers.csv": 3, "original.csv": 1}
    for order in (("strangers.csv", "original.csv"), ("original.csv", "strangers.csv")):
        code, out, _ = run(*CALL, *order, *call)
        assert code == alone[order[0]]
        assert {one["name"]: one["exit_code"] for one in json.loads(out)["candidates"]} == alone


def test_the_terminal_shows_every_candidate_with_its_own_verdict_and_says_which_one_is_reported() -> (
    None
):
    call = (*CALL, "strangers.csv", "original.csv", "--holdout", "holdout.csv", "--seed", "1")
    code, out, _ = run(*call)
    assert code == 3
    assert out.startswith("Audit of strangers.csv\n")
    lines = {
        line.split()[0]: line
        for line in out.splitlines()
        if line.startswith(("strangers.csv", "original.csv"))
    }
    assert "inconclusive, or not all assessed" in lines["strangers.csv"]
    assert "some risk above its limit" in lines["original.csv"]
    assert all(re.search(r"[0-9.]+ % +[0-9.]+ %", line) for line in lines.values())
    strict = run(*call, "--strict")
    assert strict[0] == 1
    assert "inconclusive, or not all assessed" in strict[1]


def test_records_are_shown_only_when_asked_for(folder: Path) -> None:
    call = (*CALL, "original.csv", "--holdout", "holdout.csv", "--seed", "1", "--json")
    assert "row" not in json.loads(run(*call)[1])["records"]["listed"][0]
    shown = json.loads(run(*call, "--show-records")[1])["records"]["listed"][0]
    lines = (folder / "original.csv").read_text().splitlines()
    assert lines[shown["row"] + 1] == ",".join(shown["values"].values())


def test_a_release_that_is_worse_than_the_baseline_fails(folder: Path) -> None:
    (folder / "limits.toml").write_text(
        "membership = 1\nsingling_out = 1\nlinkability = 1\ninference = 1\nrecords = 1000"
    )
    call = ("--holdout", "holdout.csv", "--seed", "1", "--limits", "limits.toml", "--json")
    _, out, _ = run(*CALL, "strangers.csv", *call)
    (folder / "old.json").write_text(out)
    code, out, _ = run(*CALL, "original.csv", *call, "--baseline", "old.json")
    assert (code, json.loads(out)["verdict"]["code"]) == (1, "regressed")
    assert "membership" in json.loads(out)["regressions"]


def test_a_release_that_leaks_and_is_worse_than_the_baseline_is_told_both(folder: Path) -> None:
    audited_before(folder, "--holdout", "holdout.csv")
    code, out, _ = run(
        *CALL, "original.csv", "--holdout", "holdout.csv", "--seed", "1", "--baseline", "old.json"
    )
    told = " ".join(out.split())
    assert code == 1
    assert "This release gives people away: membership" in told
    assert "Worse than the baseline: membership" in told


def test_at_the_terminal_a_negative_gain_over_luck_is_explained_beside_it() -> None:
    told = " ".join(run(*CALL, "strangers.csv", "--seed", "1")[1].split())
    assert "about 1/e" in told


STEPS = {
    "reading values",
    "undoing renamed values",
    "membership",
    "inference",
    "linkability",
    "singling out",
    "testing the attack itself",
    "people who stand out",
    "utility",
}


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


def test_where_nobody_looks_every_step_is_one_whole_line_when_it_is_done_with_how_long_it_took() -> (
    None
):
    _, _, err = run(*CALL, "strangers.csv", "--seed", "1", "--jobs", "4")
    lines = [line.partition(" … ") for line in err.splitlines()]
    assert {step for step, *_ in lines} == STEPS
    assert len(lines) == len(STEPS)
    assert all(re.fullmatch(r"[0-9.]+ s", spent) for *_, spent in lines)


def test_steps_of_several_releases_say_which_it_is(folder: Path) -> None:
    (folder / "others.csv").write_bytes((folder / "holdout.csv").read_bytes())
    _, _, err = run(*CALL, "strangers.csv", "others.csv", "--seed", "1")
    for name in ("strangers.csv", "others.csv"):
        assert {line.partition(" … ")[0] for line in err.splitlines() if line.startswith(name)} == {
            f"{name}: {step}" for step in STEPS
        }


def test_at_a_terminal_steps_that_are_done_stay_above_a_bar_and_json_is_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out, err = io.StringIO(), Terminal()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit),
    ):
        main([*CALL, "strangers.csv", "--seed", "1"])
    told = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", err.getvalue())
    for step in STEPS:
        assert re.search(rf"{step} … [0-9.]+ s", told)
    assert "9/9" in told
    out, err = io.StringIO(), Terminal()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit),
    ):
        main([*CALL, "strangers.csv", "--seed", "1", "--json"])
    assert json.loads(out.getvalue())["verdict"]
    assert err.getvalue() == ""


LOOSE = "membership = 1\nsingling_out = 1\nlinkability = 1\ninference = 1\nrecords = 1000"


def audited_before(folder: Path, *given: str) -> tuple[str, ...]:
    """A baseline of the release of strangers within limits that nothing exceeds, and the options that are the same later."""
    (folder / "limits.toml").write_text(LOOSE)
    call = (*given, "--seed", "1", "--limits", "limits.toml", "--json")
    (folder / "old.json").write_text(run(*CALL, "strangers.csv", *call)[1])
    return (*call, "--baseline", "old.json")


def caveats(out: str) -> dict[str, bool]:
    return {caveat["code"]: caveat["blocks"] for caveat in json.loads(out)["caveats"]}


def test_the_same_audit_as_the_baseline_has_nothing_to_tell_of_it(folder: Path) -> None:
    call = audited_before(folder, "--holdout", "holdout.csv")
    code, out, _ = run(*CALL, "strangers.csv", *call)
    assert (code, caveats(out)) == (0, {})


def test_a_missing_baseline_and_one_that_is_no_audit_are_told_apart(folder: Path) -> None:
    (folder / "other.json").write_text('{"risks": {}}')
    said = {
        name: run(*CALL, "strangers.csv", "--baseline", name)
        for name in ("none.json", "holdout.csv", "other.json")
    }
    assert {code for code, *_ in said.values()} == {2}
    assert "no such baseline" in said["none.json"][2]
    assert "not the JSON of an audit" in said["holdout.csv"][2]
    assert "not the JSON of an audit" in said["other.json"][2]


def test_a_baseline_of_other_people_of_the_same_table_is_told_and_one_of_another_table_does_not_reassure(
    folder: Path,
) -> None:
    call = audited_before(folder, "--holdout", "holdout.csv")
    people = pl.read_csv("original.csv")
    people[:290].write_csv("original.csv")
    code, out, _ = run(*CALL, "strangers.csv", *call)
    assert (code, caveats(out)) == (0, {"baseline_original": False})
    people.rename({"wage": "pay"}).write_csv("original.csv")
    code, out, _ = run(*CALL, "strangers.csv", *call)
    assert (code, caveats(out)["baseline_columns"]) == (3, True)


def test_a_risk_that_the_baseline_measured_and_nobody_measures_now_is_told(folder: Path) -> None:
    call = audited_before(folder, "--holdout", "holdout.csv")
    code, out, _ = run(
        *CALL, "strangers.csv", *(word for word in call if word not in ("--holdout", "holdout.csv"))
    )
    assert (code, caveats(out)) == (3, {"baseline_not_assessed": True})
    told = " ".join(run(*CALL, "strangers.csv", "--seed", "1", "--baseline", "old.json")[1].split())
    assert "the earlier audit measured membership, and this one did not" in told


def test_columns_that_are_known_wanted_or_left_out_take_part_accordingly() -> None:
    call = (*CALL, "original.csv", "--holdout", "holdout.csv", "--seed", "1", "--json")
    content = json.loads(run(*call, "--know", "age,town", "--secret", "wage")[1])
    assert [row["wants"] for row in content["risks"]["inference"]["rows"]] == [["wage"]]
    assert content["risks"]["membership"]["rows"][0]["knows"] == ["age", "town"]
    content = json.loads(run(*call, "--id", "wage")[1])
    assert set(content["utility"]["by_column"]) == {"age", "town"}


@pytest.mark.parametrize(
    "given",
    [
        ("nothing.csv",),
        ("original.csv", "-o", "report.pdf"),
        ("original.csv", "--know", "colour"),
        ("original.csv", "--baseline", "original.csv"),
    ],
)
def test_a_call_that_is_off_exits_with_2(given: tuple[str, ...]) -> None:
    code, _, told = run(*CALL, *given)
    assert code == 2
    assert "Traceback" not in told


@pytest.mark.parametrize(
    ("given", "needed"),
    [
        (("--period", "month"), "--person"),
        (("--time", "age"), "--person"),
        (("--key", "original.csv"), "--person"),
        (("--person", "town", "--period", "month"), "--time"),
        (("--runs", "3"), "--run"),
        (("--time-limit", "600"), "--run"),
        (("--jobs", "1", "--cluster", "tcp://127.0.0.1:9"), "--cluster"),
    ],
)
@pytest.mark.parametrize("language", ["en", "ja"])
def test_an_option_that_would_change_nothing_is_refused_even_where_it_says_what_is_the_default(
    given: tuple[str, ...], needed: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAKURENBO_LANG", language)
    code, out, err = run(*CALL, "original.csv", *given)
    assert (code, out) == (2, "")
    assert given[-2] in err or given[0] in err
    assert needed in err


def test_the_digest_of_a_record_takes_more_than_the_report_to_make() -> None:
    content = json.loads(
        run(*CALL, "original.csv", "--holdout", "holdout.csv", "--seed", "1", "--json")[1]
    )
    lines = Path("original.csv").read_text().splitlines()[1:]
    key = salt(content["method"]["seed"], "audit", "records")
    guessed = {
        hmac.new(key, "\x1f".join(line.split(",")).encode(), hashlib.sha256).hexdigest()[:16]
        for line in lines
    }
    assert content["records"]["flagged"] > 200
    assert not guessed & {record["digest"] for record in content["records"]["listed"]}


def test_columns_that_the_schema_leaves_out_are_left_out_and_one_that_is_not_there_is_named() -> (
    None
):
    assert run("schema", "original.csv", "-o", "schema.toml")[0] == 0
    parts = Path("schema.toml").read_text().split("\n[")
    Path("fewer.toml").write_text(
        "\n[".join(part for part in parts if not part.lstrip("[").startswith("wage"))
    )
    code, out, _ = run(*CALL, "original.csv", "--schema", "fewer.toml", "--seed", "1", "--json")
    assert code == 1
    assert "wage" not in json.dumps(json.loads(out)["risks"])
    Path("other.toml").write_text(Path("schema.toml").read_text().replace("wage", "salary"))
    code, _, err = run(*CALL, "original.csv", "--schema", "other.toml")
    assert code == 2
    assert "salary" in err


def test_the_original_is_no_holdout() -> None:
    rows = Path("original.csv").read_text().splitlines()
    Path("reversed.csv").write_text("\n".join([rows[0], *rows[:0:-1]]) + "\n")
    code, _, err = run(*CALL, "strangers.csv", "--holdout", "reversed.csv")
    assert code == 2
    assert "people who are not in the original" in err


# -- a schema that somebody edited --------------------------------------------------------------------------------------

SCHEMA = """[age]
kind = "integer"
missing = ["?"]
low = {low}
high = 120

[town]
kind = "category"
levels = [{levels}]

[seen]
kind = "date"
pattern = "%Y-%m-%d"
first = {first}
last = 2024-12-31
"""
EVERY_TOWN = ", ".join(f'"town {number}"' for number in range(3))


@pytest.fixture
def seen(folder: Path) -> None:
    """A table with a number that is missing, words and dates, and its release."""
    rows = [
        f"{20 + number},town {number % 3},2024-01-{1 + number % 28:02}" for number in range(100)
    ]
    text = "\n".join(["age,town,seen", *rows, "?,town 0,2024-02-01"]) + "\n"
    for name in ("seen", "released"):
        (folder / f"{name}.csv").write_text(text)


@pytest.mark.parametrize(
    ("edited", "row", "words"),
    [
        ({"low": "21"}, 2, "age: the cell is no integer from 21 to 120"),
        ({"levels": '"town 1", "town 2"'}, 2, "town: the cell is none of the levels"),
        ({"first": "2024-01-02"}, 2, "seen: the cell is no date from 2024-01-02 to 2024-12-31"),
    ],
)
@pytest.mark.usefixtures("seen")
def test_a_cell_of_the_original_outside_an_edited_schema_is_refused(
    edited: dict[str, str], row: int, words: str, folder: Path
) -> None:
    given = {"low": "0", "levels": EVERY_TOWN, "first": "2024-01-01"}
    (folder / "schema.toml").write_text(SCHEMA.format(**given))
    assert (
        run("audit", "seen.csv", "released.csv", "--schema", "schema.toml", "--seed", "1")[0] != 2
    )
    (folder / "schema.toml").write_text(SCHEMA.format(**{**given, **edited}))
    for call in (
        ("audit", "seen.csv", "released.csv", "--seed", "1"),
        ("anonymize", "table", "rr", "seen.csv", "x.csv"),
    ):
        code, _, err = run(*call, "--schema", "schema.toml")
        assert code == (
            2 if call[0] == "audit" else 1
        )  # 1 of an audit says that a release gives people away
        assert f"seen.csv:{row}: {words}" in err
        assert "in the schema" in err


@pytest.mark.usefixtures("seen")
def test_what_the_bounds_of_a_schema_are_for_stands_in_the_file(folder: Path) -> None:
    run("schema", "seen.csv", "-o", "schema.toml")
    assert "anonymize and audit refuse any other" in (folder / "schema.toml").read_text()
    assert (
        run("audit", "seen.csv", "released.csv", "--schema", "schema.toml", "--seed", "1")[0] != 2
    )


def test_cells_that_could_not_be_read_are_counted_and_one_is_shown_on_demand_alone(
    folder: Path,
) -> None:
    lines = (folder / "strangers.csv").read_text().splitlines()
    told = [
        lines[0],
        *(line.replace(line.split(",")[0], "Anna of Bremen", 1) for line in lines[1:]),
    ]
    (folder / "named.csv").write_text("\n".join(told) + "\n")
    call = (*CALL, "named.csv", "--holdout", "holdout.csv", "--seed", "1", "-o", "report.html")
    for more in ((), ("--json",), ("--show-records",), ("--show-records", "--json")):
        out = run(*call, *more)[1]
        assert "300" in out
        shown = " ".join(out.split()), (folder / "report.html").read_text()
        assert ["Anna of Bremen" in one for one in shown] == ["--show-records" in more] * 2


@pytest.mark.parametrize("place", ["original", "holdout", "strangers"])
@pytest.mark.parametrize("line", ["44,Anna of Bremen", '44,"Anna of Bremen,1400'])
def test_a_malformed_line_is_told_by_its_place_and_shown_on_demand_alone(
    line: str, place: str, folder: Path
) -> None:
    with (folder / f"{place}.csv").open("a") as file:
        file.write(f"{line}\n")
    call = (*CALL, "strangers.csv", "--holdout", "holdout.csv", "--seed", "1")
    for more in ((), ("--json",), ("--show-records", "--json")):
        code, out, err = run(*call, *more)
        assert (code, f"{place}.csv:302: " in err) == (2, True)
        assert ("Anna" in out + err) == ("--show-records" in more)


def test_a_baseline_that_would_switch_the_comparison_off_is_none(folder: Path) -> None:
    call = audited_before(folder, "--holdout", "holdout.csv")
    earlier = json.loads((folder / "old.json").read_text())
    risks = earlier["risks"]
    linked = risks["linkability"]
    forged = [{}, {name: risk for name, risk in risks.items() if name != "inference"}]
    excesses = [
        {**linked["excess"], "interval": interval}
        for interval in (["x", {}], [2, -1], [True, True], [0.1], None)
    ]
    forged += [
        {**risks, "linkability": {**linked, "interval": None, "excess": excess}}
        for excess in (*excesses, None)
    ]
    for content in forged:
        (folder / "old.json").write_text(json.dumps({**earlier, "risks": content}))
        code, _, err = run(*CALL, "original.csv", *call)
        assert (code, "not the JSON of an audit" in err) == (2, True)


def test_too_little_memory_is_told_in_a_sentence_and_is_no_bug(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("kakurenbo.cli.audit_call.run_audit", exhausted)
    code, _, err = run(*CALL, "strangers.csv", "--seed", "1")
    assert code == 2
    assert "too little memory" in err
    assert "bug" not in err


def test_a_method_takes_dates_without_leading_zeros_and_writes_them_with(folder: Path) -> None:
    (folder / "dates.csv").write_text(
        "seen,town\n" + "".join(f"2024/1/{1 + row % 28},t{row % 3}\n" for row in range(90))
    )
    assert run("anonymize", "table", "rr", "dates.csv", "made.csv", "--seed", "1")[0] == 0
    made = pl.read_csv("made.csv", infer_schema=False)["seen"]
    assert made.str.contains(r"^2024/01/[0-9]{2}$").all()
