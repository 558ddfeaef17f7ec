"""What people mistype: every error names what there is, and a command that works."""

from __future__ import annotations

import shlex
from pathlib import Path

import polars as pl
import pytest
from tests.calling import run

from kakurenbo.audit.methods import table_methods
from kakurenbo.cli.examples import TABLE, example
from kakurenbo.core.messages import speaking
from kakurenbo.methods import registry

TUTORIAL = (
    "generate",
    "table",
    "hospital",
    "--rows",
    "200",
    "--seed",
    "1",
    "-o",
    "original.csv",
    "--holdout",
    "holdout.csv",
)
AUDIT = ("audit", "original.csv", "original.csv", "--holdout", "holdout.csv", "--seed", "1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the tutorial's table lies."""
    monkeypatch.chdir(tmp_path)
    assert run(*TUTORIAL)[0] == 0
    return tmp_path


# -- methods ------------------------------------------------------------------------------------------------------------


def test_a_parameter_that_a_method_has_not_is_told_with_those_that_it_has() -> None:
    code, _, err = run(*AUDIT, "--method", "rr:q=1")
    assert code == 2
    assert "rr has no parameter q; it takes p (a number from 0 to 1); columns (" in err


@pytest.mark.parametrize(
    "call",
    [(*AUDIT, "--method", "nosuch"), ("anonymize", "table", "nosuch", "original.csv", "x.csv")],
)
def test_of_a_method_that_there_is_not_the_methods_for_tables_are_told_and_no_others(
    call: tuple[str, ...],
) -> None:
    code, _, err = run(*call)
    assert code == 2
    assert "synthetic" in err
    assert ", ".join(table_methods()) in err
    assert "crowds" not in err


def test_a_method_of_a_contest_is_told_where_it_plays() -> None:
    assert (
        "made for the data of darc2019; for any table there are"
        in run(*AUDIT, "--method", "crowds")[2]
    )


def test_a_method_of_another_contest_is_told_with_those_that_fit() -> None:
    code, _, err = run("attack", "darc2019", "blind", "phase/targets/01", "-o", "guess.csv")
    assert code == 2
    assert "darc2019: blind does not fit here; these do: " in err
    assert "blind_shop" in err
    assert "blind_link" not in err


def test_the_example_of_a_repair_has_a_release_to_repair() -> None:
    for contest, method in (("pwscup2024", "crosstab_repair"), ("amic2020", "repair")):
        out = run("anonymize", contest, method, "--help")[1]
        assert "--release release" in " ".join(out.split())


@pytest.mark.parametrize("told", ["mst", "pipeline:steps=rr|mst"])
def test_a_method_whose_library_is_missing_says_what_to_install_and_not_that_the_table_does_not_fit(
    told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    code, _, err = run(*AUDIT, "--method", told)
    assert code == 2
    assert "pip install 'kakurenbo[dp]'" in err
    assert "fit" not in err
    name, _, steps = told.partition(":steps=")
    given = ("--steps", steps) if steps else ()
    assert "fit" not in run("anonymize", "table", name, "original.csv", "x.csv", *given)[2]


def test_a_method_whose_default_columns_are_of_a_contest_says_how_to_name_others() -> None:
    assert "--columns a,b" in run("anonymize", "table", "kanony", "original.csv", "x.csv")[2]


@pytest.mark.parametrize("name", table_methods())
def test_the_example_of_every_method_for_tables_works_on_the_table_of_the_tutorial(
    name: str,
) -> None:
    if needed := registry.load("anonymizers", name)().lacking():
        pytest.skip(str(needed))
    code, out, err = run(*shlex.split(example("anonymize", TABLE, name))[1:])
    assert code == 0, err
    assert "release.csv" in out


# -- names of what can be generated -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        ("generate", "hospital", "-o", "x.csv"),
        ("generate", "hospitals"),
        ("generate", "nothing", "-o", "x.csv"),
        ("generate", "-o", "x.csv"),
        ("generate", "darc2019", "-o", "x.csv"),
        ("generate", "table", "-o", "x.csv"),
        ("generate", "table", "clinic", "-o", "x.csv"),
    ],
)
def test_whoever_mistypes_what_to_generate_is_told_what_there_is_and_how(
    call: tuple[str, ...],
) -> None:
    for language in ("en", "ja"):
        with speaking(language):
            code, _, err = run(*call)
        assert code == 2
        assert "kakurenbo generate table hospital -o original.csv --holdout holdout.csv" in err
        assert "table" in call or "amic2020, pwscup2021" in err


def test_whoever_forgets_the_word_table_is_told_so() -> None:
    assert (
        "kakurenbo anonymize table rr original.csv release.csv"
        in run("anonymize", "rr", "original.csv", "x.csv")[2]
    )
    assert (
        "kakurenbo anonymize table rr original.csv release.csv"
        in run("anonymize", "zzz", "original.csv", "x.csv")[2]
    )


# -- names of files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.xlsx", "x.tsv", "x.parquet", "x.csv.zip"])
@pytest.mark.parametrize(
    "call",
    [
        ("anonymize", "table", "rr", "original.csv", "{}"),
        ("generate", "table", "hospital", "-o", "{}"),
        ("generate", "table", "hospital", "-o", "y.csv", "--holdout", "{}"),
        ("generate", "amic2020", "--rows", "10", "-o", "{}"),
    ],
)
def test_a_table_whose_name_promises_another_format_is_refused(
    call: tuple[str, ...], name: str, folder: Path
) -> None:
    code, _, err = run(*(word.format(name) for word in call))
    assert code == 2
    assert ".csv, .csv.gz" in err
    assert not (folder / name).exists()


@pytest.mark.parametrize("name", ["x", "x.csv", "x.CSV", "x.csv.gz"])
def test_a_table_is_written_under_names_that_promise_csv_or_nothing(
    name: str, folder: Path
) -> None:
    assert run("anonymize", "table", "rr", "original.csv", name)[0] == 0
    assert pl.read_csv(folder / name).height == 200


def test_a_schema_is_toml() -> None:
    code, _, err = run("schema", "original.csv", "-o", "x.csv")
    assert code == 2
    assert ".toml" in err


@pytest.mark.parametrize(
    "place", ["/proc/report.html", f"{'long' * 61}.html", "original.csv/report.html"]
)
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_read(
    place: str, folder: Path
) -> None:
    code, _, err = run("audit", "not there.csv", "nor this.csv", "-o", place)
    assert code == 2
    assert place in err
    assert "not there" not in err
    assert sorted(path.name for path in folder.iterdir()) == ["holdout.csv", "original.csv"]


# -- options, files and reasons -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [("--know", "agee"), ("--know=agee",)])
def test_a_value_that_is_off_is_told_by_the_option_that_was_typed(given: tuple[str, ...]) -> None:
    code, _, err = run(*AUDIT, *given)
    assert code == 2
    assert err.startswith("error: --know must be columns of the original (")
    assert err.rstrip().endswith("got 'agee'; did you mean age?")


def test_a_file_that_is_not_there_is_told_with_the_one_that_was_meant(folder: Path) -> None:
    assert (
        "orignal.csv: there is no such file or folder; did you mean original.csv?"
        in run("audit", "orignal.csv", "x.csv")[2]
    )
    (folder / "nested").mkdir()
    (folder / "nested" / "Release.csv").touch()
    assert (
        "did you mean nested/Release.csv?" in run("audit", "original.csv", "nested/relaese.csv")[2]
    )
    assert (
        run("audit", "zzzzzzzz.parquet", "x.csv")[2]
        == "error: zzzzzzzz.parquet: there is no such file or folder\n"
    )


def test_a_holdout_among_the_releases_is_told_how_to_be_given() -> None:
    code, _, err = run("audit", "original.csv", "original.csv", "holdout.csv")
    assert (code, "write --holdout holdout.csv" in err) == (2, True)


@pytest.mark.parametrize(
    ("language", "told"),
    [("en", "'x' is not a valid integer."), ("ja", "'x' は整数ではありません。")],
)
def test_what_is_no_number_is_told_in_words_of_the_language(language: str, told: str) -> None:
    with speaking(language):
        assert told in run(*AUDIT, "--runs", "x")[2]


def test_the_reason_why_nothing_can_be_written_is_told_in_the_language(folder: Path) -> None:
    (folder / "file").touch()
    with speaking("ja"):
        _, _, err = run("schema", "original.csv", "-o", "file/schema.toml")
    assert "Not a directory" not in err
    assert "フォルダ" in err


@pytest.mark.parametrize("option", ["--secret", "--id", "--ignore", "--person"])
def test_of_a_column_that_is_not_there_the_one_that_was_meant_is_told(option: str) -> None:
    for language, told in (
        ("en", "; did you mean diagnosis?"),
        ("ja", "。diagnosis のことですか?"),
    ):
        with speaking(language):
            code, _, err = run(*AUDIT, option, "diagnosys")
        assert (code, err.rstrip().endswith(told)) == (2, True), err


def test_columns_after_a_blank_are_told_to_want_a_comma() -> None:
    for language in ("en", "ja"):
        with speaking(language):
            code, _, err = run("audit", "original.csv", "original.csv", "--know", "age", "sex")
        assert code == 2
        assert "sex: " in err
        assert "--know a,b" in err


def test_what_no_value_would_mend_is_told_in_a_sentence_of_its_own() -> None:
    call = ("audit", "original.csv", "original.csv", "--method", "synthetic")
    assert (
        run(*call)[2]
        == "error: --method needs a holdout: without one nobody can be told from members\n"
    )
    with speaking("ja"):
        err = run(*call)[2]
    assert "--method にはホールドアウトが必要です" in err
    assert "「" not in err


def test_a_release_of_other_columns_is_told_by_the_word_of_the_help(folder: Path) -> None:
    pl.DataFrame({"colour": ["red", "blue"] * 50}).write_csv(folder / "other.csv")
    code, _, err = run("audit", "original.csv", "other.csv")
    assert code == 2
    assert "error: RELEASE must be a table of some columns of the original (" in err


def test_names_and_kinds_in_settings_are_quoted_and_told_what_was_meant(folder: Path) -> None:
    (folder / "limits.toml").write_text("membersip = 0.1\n")
    (folder / "kind.toml").write_text('[age]\nkind = "number"\n')
    (folder / "field.toml").write_text('[age]\nkind = "integer"\nlowest = 0\nhigh = 120\n')
    limits, kind, field = (
        run(*AUDIT, option, f"{name}.toml")[2]
        for option, name in (("--limits", "limits"), ("--schema", "kind"), ("--schema", "field"))
    )
    assert (
        '"membersip" is no risk that has a limit; did you mean membership? limits are set for membership, '
        in limits
    )
    assert '"number" is no kind of column' in kind
    assert '"lowest" is nothing that a column has' in field


@pytest.mark.parametrize("written", ["0,15", "5%"])
def test_a_mistake_in_toml_is_told_by_its_place_in_the_language_and_how_numbers_are_written(
    written: str, folder: Path
) -> None:
    (folder / "limits.toml").write_text(f"records = 0\nmembership = {written}\n")
    for language, told in (
        ("en", "limits.toml:2: this is not TOML from character 15 of the line on"),
        ("ja", "limits.toml:2: TOML"),
    ):
        with speaking(language):
            code, _, err = run(*AUDIT, "--limits", "limits.toml")
        assert code == 2
        assert told in err
        assert "0.15" in err
        assert "Expected" not in err
