"""The examples of the documentation, done as it says: packages that only declare entry points, played by the command line."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kakurenbo import arena
from kakurenbo.registry import load

REPOSITORY = Path(__file__).resolve().parents[2]
EXAMPLES = REPOSITORY / "docs" / "examples"
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def kakurenbo(install_example: Callable[[str, Path], None], tmp_path: Path) -> Command:
    """The command line, with both examples installed."""

    own = tmp_path / "site"
    own.mkdir()
    for name in ("careful-methods", "hide-and-seek"):
        install_example(name, own)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(own)}
        command = [sys.executable, "-m", "kakurenbo", *arguments]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode in (0, 1), done.stderr
        return done

    return run


def test_the_tutorials_methods_are_listed_tried_and_played(kakurenbo: Command, tmp_path: Path) -> None:
    for group, name in (("anonymizers", "rankswap"), ("attacks", "rarest")):
        listed = json.loads(kakurenbo(group, "--json").stdout)[group]
        assert name in {method["name"] for method in listed}
    kakurenbo("prepare", "amic2020", "-o", "contest", "--teams", "2", "--scale", "small", "--seed", "3")
    assert kakurenbo("anonymize", "amic2020", "rankswap", "contest/teams/01", "D.csv", "--reach", "200").returncode == 0
    measured = json.loads(kakurenbo("measure", "amic2020", "contest/teams/01", "D.csv", "--json").stdout)
    assert measured["scores"]["histogram"] == 1, "swapping keeps every histogram"
    knowledge = ("contest/attackers/pre_syntheticdata.csv", "D.csv")
    kakurenbo("attack", "amic2020", "rarest", *knowledge, "-o", "guess.index")
    credit = kakurenbo("credit", "amic2020", "contest/secret/pre_answer_01.index", "guess.index", "--json")
    assert json.loads(credit.stdout)["of"] == 100
    (tmp_path / "teams.toml").write_text((EXAMPLES / "careful-methods" / "teams.toml").read_text())
    kakurenbo("run", "amic2020", "--teams", "teams.toml", "-o", "run", "--json")
    results = json.loads((tmp_path / "run" / "results.json").read_bytes())
    assert results["failures"] == []
    accuracy = results["rounds"][0]["accuracy"]
    assert accuracy["02"]["01"]["mean"] > results["rounds"][0]["chance"]["high"], "rarest finds members in light noise"
    assert results["manifest"]["code"]["anonymizers: rankswap"]["package"] == "careful-methods 0.1"


def test_the_rulebook_of_the_how_to_is_played_with_no_other_change(kakurenbo: Command, tmp_path: Path) -> None:
    assert "hide-and-seek" in kakurenbo("rulebooks").stdout
    kakurenbo("prepare", "hide-and-seek", "-o", "contest", "--teams", "3")
    done = kakurenbo("run", "hide-and-seek", "-o", "run", "--seed", "1", "--json")
    standings = json.loads(done.stdout)["standings"]
    assert len(standings["anonymization"]) == 10
    assert json.loads((tmp_path / "run" / "results.json").read_bytes())["failures"] == []


@pytest.mark.usefixtures("plugins")
def test_a_result_is_played_again_when_the_code_of_its_method_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    from kakurenbo.arena import calls

    written = ("blur", "pipeline:steps=blur", "pipeline:steps=rr|blur:reach=2", "pipeline:steps=rr")
    parsed = {text: calls.Call.parsed("anonymizers", text) for text in written}
    before = {text: call.identity() for text, call in parsed.items()}
    digest = calls._package_digest
    monkeypatch.setattr(calls, "_package_digest", lambda package: "edited" if package == "hide_and_seek" else digest(package))
    changed = {text for text, call in parsed.items() if call.identity() != before[text]}
    assert changed == {"blur", "pipeline:steps=blur", "pipeline:steps=rr|blur:reach=2"}, "steps of a pipeline count too"


@pytest.mark.usefixtures("plugins")
def test_parameters_survive_the_way_into_a_job() -> None:
    from kakurenbo.arena.calls import Call

    for text in ("rr:p=0.1,columns=age,sex", "kanony:k=3,columns=none", "synthetic:rows=10", "likelihood:trust=false"):
        group = "attacks" if text.startswith("likelihood") else "anonymizers"
        call = Call.parsed(group, text)
        assert Call.of(group, call.name, call.make()) == call
    assert arena.default_field(load("rulebooks", "hide-and-seek")()).entrants[3].anonymizer == Call(
        "anonymizers", "blur", (("reach", "3"),)
    )


def test_methods_of_the_tutorial_are_about_thirty_lines_each() -> None:
    text = (EXAMPLES / "careful-methods" / "careful_methods.py").read_text()
    for part in ("anonymizer", "attack"):
        section = re.search(rf"\[start:{part}\]\n(.*?)# --8<-- \[end:{part}\]", text, re.S)
        assert section is not None
        assert len(section.group(1).splitlines()) <= 35


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="the site is built by make docs, which installs MkDocs")
def test_the_site_is_built_and_no_link_leads_nowhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--cluster ADDRESS" in (tmp_path / "site" / "reference" / "commands.html").read_text()
    assert "rrp" in (tmp_path / "site" / "reference" / "methods.html").read_text()
