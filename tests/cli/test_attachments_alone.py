"""Checking a questionnaire without a release: it gets a verdict of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.calling import call, run


@pytest.fixture(scope="module")
def handout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    contest = tmp_path_factory.mktemp("contest") / "round"
    code, _, err = run("prepare", "amic2020", "--scale", "small", "--teams", "2", "-o", contest)
    assert code == 0, err
    return contest / "teams" / "01"


def test_a_good_questionnaire_is_valid(handout: Path, tmp_path: Path) -> None:
    form = tmp_path / "questionnaire_01.json"
    form.write_text(
        '{"claims": {"k": "1"}, "methods": {"Record Deletion": {"records": "about 3,000"}}}'
    )
    code, out, err = run("check", "amic2020", handout, form)
    assert (code, err) == (0, "")
    assert "questionnaire_01.json: valid; this attachment can be submitted" in out
    called = call("check", "amic2020", handout, form)
    assert (called.code, called.json) == (0, {"valid": True, "notices": []})


def test_a_bad_questionnaire_is_refused_with_every_problem(handout: Path, tmp_path: Path) -> None:
    form = tmp_path / "questionnaire_01.json"
    form.write_text(
        '{"claims": {"epsilon": "-1"}, "methods": {"Record Deletion": {"records": "many"}}}'
    )
    code, out, err = run("check", "amic2020", handout, form)
    assert (code, out) == (1, "")
    assert "epsilon" in err
    assert "many" in err


def test_a_questionnaire_of_another_team_is_refused(handout: Path, tmp_path: Path) -> None:
    form = tmp_path / "questionnaire_02.json"
    form.write_text("{}")
    code, _, err = run("check", "amic2020", handout, form)
    assert code == 1
    assert "02" in err
