"""The questionnaire of amic2020 beside a release: its own verdict, when it may come, and how people write numbers."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.calling import call, run
from tests.reading import attempt

import kakurenbo as kb
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.rounds import attach_to_round, publish_round
from kakurenbo.core import Problems, Source, write_folder
from kakurenbo.rulebooks.amic2020 import Amic2020
from kakurenbo.rulebooks.amic2020.questionnaire import MAX_BYTES, METHODS, read_questionnaire

GOOD = {
    "claims": {"k": "10"},
    "methods": {"Noise Addition": {"attributes": [1], "records": "約3000"}},
}
BAD = {"claims": {"epsilon": "strong", "delta": 7}, "methods": {"magic": {}}}
THRESHOLDS = (
    "--vcm",
    "0",
    "--histogram",
    "0.9",
    "--dta-relationship",
    "0.2",
    "--dta-income",
    "0.2",
)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round of three teams: 01 and 02 have a valid release, that of 03 is below a threshold."""
    folder = tmp_path_factory.mktemp("round")
    settings = (
        "--teams",
        "3",
        "--scale",
        "small",
        "--data",
        "embedded",
        "--seed",
        "1",
        *THRESHOLDS,
    )
    assert run("prepare", "amic2020", "-o", folder / "pre", *settings)[0] == 0
    for team, p in (("01", 0.99), ("02", 0.99), ("03", 0.1)):
        release = folder / "submissions" / team / f"pre_anonymizeddata_{team}.csv"
        release.parent.mkdir(parents=True)
        assert (
            run(
                "anonymize",
                "amic2020",
                "rr",
                folder / "pre/teams" / team,
                release,
                "--p",
                p,
                "--seed",
                "1",
            )[0]
            == 0
        )
    return folder


@pytest.fixture
def contest(prepared: Path, tmp_path: Path) -> Path:
    """A copy of the round that a test may change."""
    return Path(shutil.copytree(prepared, tmp_path / "round"))


def write_form(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False))
    return path


def published_form(phase: Path, team: str) -> Any:
    return json.loads((phase / "targets" / team / f"questionnaire_{team}.json").read_text())


def publish(contest: Path, name: str = "phase") -> Any:
    return call(
        "publish", "amic2020", contest / "pre", contest / "submissions", "-o", contest / name
    )


def test_a_refused_questionnaire_costs_only_the_questionnaire(contest: Path) -> None:
    write_form(contest / "submissions/01/questionnaire_01.json", BAD)
    write_form(contest / "submissions/02/questionnaire_02.json", GOOD)
    found = publish(contest)
    assert found.code == 1
    assert found.json["published"] == ["01", "02"]
    (entry,) = found.json["attachments"]
    assert (entry["team"], entry["target"], entry["file"]) == ("01", "01", "questionnaire_01.json")
    assert len(entry["problems"]) == 3, "every problem at once"
    assert entry["problem"] == entry["problems"][0]
    form = published_form(contest / "phase", "01")
    assert form["claims"] == {}
    assert form["methods"] == {}
    assert form["computed"]["k"] == 1, "the software fills in what it computes itself"
    assert published_form(contest / "phase", "02")["claims"] == {"k": 10}
    assert run("verify", "amic2020", contest / "pre", contest / "phase", "--again")[0] == 0


def test_the_record_of_a_refused_questionnaire_is_the_organizers(contest: Path) -> None:
    write_form(contest / "submissions/01/questionnaire_01.json", BAD)
    publish(contest)
    secret = json.loads((contest / "phase/answers/releases.json").read_text())
    assert secret[0]["attachments"][0]["file"] == "questionnaire_01.json"
    public = (contest / "phase/public/releases.json").read_text()
    assert "strong" not in public
    assert "magic" not in public
    assert json.loads(public)[0]["state"] == "published"


def test_publish_lists_the_refused_questionnaire_in_its_text(contest: Path) -> None:
    write_form(contest / "submissions/01/questionnaire_01.json", BAD)
    code, _, err = run(
        "publish", "amic2020", contest / "pre", contest / "submissions", "-o", contest / "phase"
    )
    assert code == 1
    assert "questionnaire_01.json" in err
    assert "the release counts without it" in err


def test_check_gives_both_verdicts(contest: Path) -> None:
    folder = contest / "submissions/01"
    write_form(folder / "questionnaire_01.json", BAD)
    found = call("check", "amic2020", contest / "pre/teams/01", folder)
    assert found.code == 1
    assert found.json["valid"] is True, "the release itself is valid"
    assert len(found.json["attachments"][0]["problems"]) == 3
    code, out, err = run("check", "amic2020", contest / "pre/teams/01", folder)
    assert code == 1
    assert "valid" in out
    assert err.count("questionnaire_01.json") >= 3
    measured = call("measure", "amic2020", contest / "pre/teams/01", folder)
    assert measured.code == 1
    assert measured.json["passes"] is True
    (folder / "pre_anonymizeddata_01.csv").write_text("17,nobody\n")
    found = call("check", "amic2020", contest / "pre/teams/01", folder)
    assert found.json["valid"] is False
    assert {problem["file"] for problem in found.json["problems"]} == {
        "pre_anonymizeddata_01.csv",
        "questionnaire_01.json",
    }


@pytest.mark.parametrize("name", ["questionnaire_02.json", "questionnaire_01.json"])
def test_a_questionnaire_of_another_team_or_too_many_do_not_touch_the_release(
    contest: Path, name: str
) -> None:
    write_form(contest / "submissions/01" / name, GOOD)
    write_form(contest / "submissions/01/form.json", GOOD)
    found = publish(contest)
    assert found.json["published"] == ["01", "02"]
    assert [entry["team"] for entry in found.json["attachments"]] == ["01"]


def test_a_form_that_is_too_long_to_be_published_costs_only_itself(contest: Path) -> None:
    full = "字" * 500  # three bytes each
    long = {
        "claims": {"others": {"name": full, "value": full}},
        "methods": {name: {"remark": full} for name in METHODS}
        | {"Others": {"name": full, "remark": "字" * 490}},
    }
    form = write_form(contest / "submissions/01/questionnaire_01.json", long)
    assert MAX_BYTES - 300 < form.stat().st_size <= MAX_BYTES, (
        "it fits, but not with what is computed beside it"
    )
    found = publish(contest)
    assert found.json["published"] == ["01", "02"]
    assert [entry["team"] for entry in found.json["attachments"]] == ["01"]


def test_late_questionnaires_are_attached(contest: Path) -> None:
    write_form(contest / "submissions/01/questionnaire_01.json", BAD)
    publish(contest)
    write_form(contest / "late/01/questionnaire_01.json", GOOD)
    write_form(contest / "late/questionnaire_02.json", {"claims": {"Pk": 2}})
    found = call(
        "attach",
        "amic2020",
        contest / "pre",
        contest / "phase",
        contest / "late",
        "-o",
        contest / "phase2",
    )
    assert found.code == 0
    assert found.json["attached"] == ["01", "02"]
    assert found.json["attachments"] == []
    assert published_form(contest / "phase2", "01")["claims"] == {"k": 10}
    assert published_form(contest / "phase2", "02")["claims"] == {"Pk": 2.0}
    assert run("verify", "amic2020", contest / "pre", contest / "phase2", "--again")[0] == 0
    for team in ("01", "02"):
        for part in (
            f"targets/{team}/pre_anonymizeddata_{team}.csv",
            f"answers/{team}/pre_answer_{team}.index",
        ):
            assert (contest / "phase" / part).read_bytes() == (
                contest / "phase2" / part
            ).read_bytes()
    before, after = (
        json.loads((contest / name / "public/releases.json").read_text())
        for name in ("phase", "phase2")
    )
    assert before == after, "states and scores stay"
    commitments = [
        (contest / name / "public/commitments.json").read_bytes() for name in ("phase", "phase2")
    ]
    assert commitments[0] != commitments[1]


@pytest.mark.parametrize(("opens", "is_late"), [("2020-09-10", True), ("2999-09-10", False)])
def test_attach_says_when_attackers_have_the_phase_already(
    contest: Path, opens: str, is_late: bool
) -> None:
    facts = contest / "pre/public/contest.json"
    content = json.loads(facts.read_text())
    content["schedule"] = {
        "phases": [
            {
                "round": "pre",
                "phase": "attack",
                "opens": f"{opens}T00:00:00Z",
                "closes": f"{opens}T12:00:00Z",
            }
        ]
    }
    facts.write_text(json.dumps(content))
    publish(contest)
    write_form(contest / "late/01/questionnaire_01.json", GOOD)
    attach = ("attach", "amic2020", contest / "pre", contest / "phase", contest / "late", "-o")
    found = call(*attach, contest / "phase2")
    assert found.code == 0
    said = [notice for notice in found.json["notices"] if "the attack phase opened at" in notice]
    assert bool(said) is is_late


def test_who_cannot_attach_is_named_and_the_others_are_attached(contest: Path) -> None:
    publish(contest)
    write_form(contest / "late/01/questionnaire_01.json", BAD)
    write_form(contest / "late/02/questionnaire_02.json", GOOD)
    write_form(contest / "late/03/questionnaire_03.json", GOOD)
    write_form(contest / "late/questionnaire_77.json", GOOD)
    found = call(
        "attach",
        "amic2020",
        contest / "pre",
        contest / "phase",
        contest / "late",
        "-o",
        contest / "phase2",
    )
    assert found.code == 1
    assert found.json["attached"] == ["02"]
    assert [entry["team"] for entry in found.json["attachments"]] == ["01", "03"]
    assert "disqualified" in found.json["attachments"][1]["problem"]
    assert [entry["file"] for entry in found.json["unassigned"]] == ["questionnaire_77.json"]
    assert run("verify", "amic2020", contest / "pre", contest / "phase2", "--again")[0] == 0


def test_a_release_cannot_be_replaced_by_attach(contest: Path) -> None:
    publish(contest)
    late = contest / "late/01/pre_anonymizeddata_01.csv"
    late.parent.mkdir(parents=True)
    shutil.copy(contest / "submissions/02/pre_anonymizeddata_02.csv", late)
    code, _, err = run(
        "attach",
        "amic2020",
        contest / "pre",
        contest / "phase",
        contest / "late",
        "-o",
        contest / "phase2",
    )
    assert code == 1
    assert "releases stay as they were judged" in err
    kept = "targets/01/pre_anonymizeddata_01.csv"
    assert (contest / "phase" / kept).read_bytes() == (contest / "phase2" / kept).read_bytes()


def test_attach_wants_the_phase_of_its_preparation(contest: Path) -> None:
    publish(contest)
    other = ("--teams", "3", "--scale", "small", "--data", "embedded", "--seed", "2")
    run("prepare", "amic2020", "-o", contest / "other", *other)
    write_form(contest / "late/01/questionnaire_01.json", GOOD)
    code, _, err = run(
        "attach",
        "amic2020",
        contest / "other",
        contest / "phase",
        contest / "late",
        "-o",
        contest / "phase2",
    )
    assert code == 2
    assert "publish wrote" in err
    assert not (contest / "phase2").exists()


def read(content: Any) -> Any:
    return attempt(
        read_questionnaire, Source("questionnaire_01.json", json.dumps(content).encode()), Amic2020
    )


@pytest.mark.parametrize(
    "records",
    [3000, 3000.0, "3000", "about 3,000", "約3000", "約３０００件", "3000 records", "roughly 3000"],
)
def test_rough_numbers_are_read_as_people_write_them(records: object) -> None:
    form = read({"methods": {"Record Deletion": {"records": records}}})
    assert form.value.methods["Record Deletion"].records == 3000


@pytest.mark.parametrize(
    "records", ["half", "3000 to 4000", "30%", "-1", -1, "3,00", "", "1.5", True]
)
def test_other_texts_are_no_number_of_records(records: object) -> None:
    assert isinstance(read({"methods": {"Record Deletion": {"records": records}}}), Problems)


def test_claims_may_be_numbers_in_quotes_but_not_rough_ones() -> None:
    form = read(
        {
            "claims": {
                "epsilon": "4.1",
                "k": "10",
                "delta": "1e-5",
                "delta_presence": "0.5",
                "Pk": "2",
            }
        }
    ).value
    assert (form.claims.epsilon, form.claims.k, form.claims.delta) == (4.1, 10, 1e-5)
    assert isinstance(read({"claims": {"k": "about 10"}}), Problems)


def test_every_problem_of_a_form_is_reported() -> None:
    found = read(
        {
            "claims": {"epsilon": -1, "delta": 7, "luck": 1},
            "methods": {
                "magic": {"records": 1},
                "Top (Bottom) Coding": {"attributes": [2, 3]},
                "Noise Addition": {"attributes": [10], "records": "half"},
            },
            "declared": "no_such_method",
            "spare": 1,
        }
    )
    assert isinstance(found, Problems)
    assert sorted(problem.code for problem in found) == sorted(
        ["amic2020.form_value"] * 4
        + ["amic2020.form_line"] * 2
        + ["amic2020.unknown_method"]
        + ["amic2020.numbers_only"] * 2
        + ["amic2020.declared"]
    )


def test_late_claims_that_the_release_does_not_bear_out_are_named(contest: Path) -> None:
    publish(contest)
    write_form(contest / "late/01/questionnaire_01.json", {"claims": {"k": 500}})
    attached = call(
        "attach",
        "amic2020",
        contest / "pre",
        contest / "phase",
        contest / "late",
        "-o",
        contest / "phase2",
    )
    assert attached.code == 0
    (notice,) = attached.json["notices"]
    assert "claims k = 500" in notice


def test_every_element_of_a_list_is_checked_and_named_in_plain_words() -> None:
    source = Source(
        "questionnaire_01.json",
        b'{"methods": {"Noise Addition": {"attributes": [0, "age", 12]}}, "luck": 1}',
    )
    problems = attempt(read_questionnaire, source, Amic2020)
    assert isinstance(problems, Problems)
    assert [problem.value for problem in problems] == ["0", "age", "12", "luck"]
    assert "msgspec" not in str(list(problems))
    assert "Expected" not in " ".join(map(str, problems))


@pytest.mark.parametrize("name", ["main_anonymizeddata_01.csv", "pre_anonymizeddata_02.csv"])
def test_check_refuses_names_of_another_round_or_team_as_publish_does(
    contest: Path, name: str
) -> None:
    release = contest / "submissions/01/pre_anonymizeddata_01.csv"
    release.rename(release.with_name(name))
    checked = run("check", "amic2020", contest / "pre/teams/01", contest / "submissions/01")
    assert checked[0] == 1
    assert publish(contest).json["refused"][0]["team"] == "01"


def test_a_file_too_large_to_keep_is_named_and_changes_nothing_else(contest: Path) -> None:
    large = contest / "submissions/01/questionnaire_01.json"
    large.touch()
    os.truncate(large, 150_000_000)
    found = publish(contest)
    assert found.json["published"] == ["01", "02"]
    assert [
        "larger than 100,000,000 bytes" in entry["problem"] for entry in found.json["unassigned"]
    ] == [True]
    assert run("verify", "amic2020", contest / "pre", contest / "phase", "--again")[0] == 0


def test_a_late_attachment_of_a_second_table_goes_to_that_table(
    hide_and_seek: ModuleType, tmp_path: Path
) -> None:
    class Several(hide_and_seek.HideAndSeek):  # type: ignore[misc, name-defined]
        phases = (
            kb.Phase(
                kb.ANONYMIZE,
                (
                    kb.FilePattern("release_{team}{-try}.csv"),
                    kb.FilePattern("form_{team}{-try}.json", optional=True, attachment=True),
                ),
                counts=kb.Counting.LAST_FEW,
                keep=2,
            ),
            hide_and_seek.HideAndSeek.phases[1],
        )

    rules = Several()
    write_folder(tmp_path / "c", prepare(rules, 7, ["01", "07"]).files())
    for number in ("1", "2"):
        shutil.copytree(tmp_path / "c/teams/07", tmp_path / "given", dirs_exist_ok=True)
        (tmp_path / "s/07").mkdir(parents=True, exist_ok=True)
        shutil.copy(tmp_path / "given/sample.csv", tmp_path / f"s/07/release_07-{number}.csv")
    published = publish_round(rules, tmp_path / "c", tmp_path / "s")
    assert [record.target for record in published.records] == ["01", "07-1", "07-2"]
    write_folder(tmp_path / "p", published.files)
    write_form(tmp_path / "late/07/form_07-2.json", {})
    write_form(tmp_path / "late/07/form_07-3.json", {})
    attached = attach_to_round(rules, tmp_path / "c", tmp_path / "p", tmp_path / "late")
    assert attached.attached == (("07-2", "form_07-2.json"),)
    assert [target for target, _ in attached.refused] == ["07-3"]
    added = set(attached.files) - set(published.files)
    assert added == {"answers/07-2/submitted/form_07-2.json"}
