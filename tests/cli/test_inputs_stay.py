"""An output never replaces an input of the same command; it may lie beside inputs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.calling import run


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A published round of amic2020 with two teams, and a table."""
    here = tmp_path_factory.mktemp("inputs")
    before = Path.cwd()
    os.chdir(here)
    try:
        succeed("prepare amic2020 -o round --teams 2 --scale small --seed 7 --round pre")
        for team in ("01", "02"):
            out = f"handed/{team}/pre_anonymizeddata_{team}.csv"
            succeed(f"anonymize amic2020 rr round/teams/{team} {out} --p 0.999 --seed 1")
        succeed("publish amic2020 round handed -o phase --with-disqualified", allowed=(0, 1))
        (here / "guesses").mkdir()
        succeed("score amic2020 phase guesses -o phase/results.json", allowed=(0, 1))
        succeed("generate table hospital --rows 50 -o table.csv --seed 1")
    finally:
        os.chdir(before)
    return here


@pytest.fixture
def here(played: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(played)
    return played


def succeed(line: str, allowed: tuple[int, ...] = (0,)) -> None:
    code, _, err = run(*line.split())
    assert code in allowed, err


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("line", "inputs"),
    [
        ("anonymize amic2020 rr {given} {given}", "{given}"),
        ("anonymize amic2020 rr round/teams/01 {given}", "round/teams/01"),
        ("anonymize amic2020 rr {given} round/teams/01/contest.json", ""),
        ("anonymize amic2020 repair {given} x.csv --release {release} --trace {release}", ""),
        ("anonymize amic2020 repair {given} {release} --release {release}", ""),
        ("anonymize table rr table.csv ./table.csv", "table.csv"),
        ("attack amic2020 blind phase/targets/01 -o {target}", "phase/targets/01"),
        ("attack amic2020 blind phase/targets/01 -o phase/targets/01/contest.json", ""),
        ("generate amic2020 --rows 10 --from {given} -o {given}", ""),
        ("sample amic2020 {given} -o {given}", ""),
        ("sample amic2020 {given} -o x.csv --index {given}", ""),
        ("score amic2020 phase guesses -o phase/public/contest.json", ""),
        ("report phase/results.json -o phase/results.json", ""),
        ("audit table.csv table.csv -o link.html", ""),
        ("schema table.csv -o link.toml", ""),
    ],
)
def test_an_output_that_would_replace_an_input_is_refused(
    here: Path, line: str, inputs: str
) -> None:
    given = next(Path("round/teams/01").glob("*.csv"))
    target = next(Path("phase/targets/01").glob("*.csv"))
    for name in ("link.toml", "link.html"):
        if not Path(name).is_symlink():
            Path(name).symlink_to("table.csv")
    shown = {"given": given, "target": target}
    words = line.format(**shown, release="handed/01/pre_anonymizeddata_01.csv").split()
    before = contents(here)
    for language, said in (("en", "would replace"), ("ja", "上書き")):
        os.environ["KAKURENBO_LANG"] = language
        try:
            code, _, err = run(*words)
        finally:
            del os.environ["KAKURENBO_LANG"]
        assert code == 2, err
        assert said in err
        assert inputs.format(**shown) in err
    assert contents(here) == before


def test_a_release_may_lie_beside_its_inputs_and_be_made_again(here: Path) -> None:
    release = "round/teams/01/pre_anonymizeddata_01.csv"
    for seed in ("1", "2"):
        succeed(f"anonymize amic2020 rr round/teams/01 {release} --p 0.999 --seed {seed}")
    (here / release).unlink()


def test_results_may_lie_beside_the_folders_of_a_phase(here: Path) -> None:
    for _ in range(2):
        succeed("score amic2020 phase guesses -o phase/results.json", allowed=(0, 1))
        succeed("report phase/results.json -o phase/report.html")
    assert (here / "phase/report.html").exists()
