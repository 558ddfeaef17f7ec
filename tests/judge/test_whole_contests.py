"""Whole contests by the command line and the API: from the first handout to the archive, digit for digit as by files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.arena.conftest import EXAMPLES, install
from tests.judge.stage import Stage, call, staged
from tests.pwscup2024 import zipped

from kakurenbo import registry
from kakurenbo.contracts import ANONYMIZE, ATTACK

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("judge_home")]
RANKINGS = ("anonymization", "attack", "overall")


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example contest of the documentation, installed for this process and those it starts."""
    site = tmp_path / "site"
    site.mkdir()
    install(EXAMPLES / "hide-and-seek", site)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", str(site))
    registry._declared.cache_clear()
    yield
    registry._declared.cache_clear()


@pytest.fixture
def stage(live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with staged(live_server.url, tmp_path / "stage", monkeypatch) as made:
        yield made


def scores_of(submission: dict[str, Any]) -> dict[str, float]:
    return {measured["name"]: measured["value"] for measured in submission["judging"]["measurements"]}


def ranks(standings: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    return {name: [(line["team"], line["score"], line["rank"]) for line in standings[name]] for name in RANKINGS}


@pytest.mark.usefixtures("plugins")
def test_a_contest_of_a_plugin_runs_with_no_change_to_the_judge(stage: Stage) -> None:
    stage.hold("hide-and-seek", ("only",), teams=3, size=40)
    for team, reach in (("01", 0), ("02", 2), ("03", 4)):
        handout = stage.fetch(team) / "teams" / team
        release = stage.folder / f"release{team}" / "hidden.csv"
        assert call("anonymize", "hide-and-seek", "blur", handout, release, "--reach", reach, "--seed", 7).code == 0
        judged = stage.submit(team, release)
        assert (judged["state"], judged["number"]) == ("scored", 1), judged
        assert scores_of(judged) == call("measure", "hide-and-seek", handout, release).json["scores"]
    stage.open("only", ATTACK)
    for attacker in stage.tokens:
        guesses = stage.folder / f"guesses{attacker}"
        for target in sorted((stage.fetch(attacker) / "targets").iterdir()):
            if target.name != attacker:
                guess = guesses / f"guess_{target.name}_{attacker}.csv"
                assert call("attack", "hide-and-seek", "nearest", target, "-o", guess, "--seed", 1).code == 0
        assert stage.submit(attacker, guesses)["state"] == "scored"
    stage.finish()
    archive = stage.archive()
    shown = stage.get("contests/cup/standings")["standings"]
    assert ranks(shown) == ranks(stage.standings_from_files())
    assert json.loads((archive / "standings.json").read_text())["standings"] == shown
    assert call("verify", "hide-and-seek", archive / "rounds" / "only" / "preparation").code == 0
    site = zipfile.ZipFile(io.BytesIO(stage.download("contests/cup/results-site.zip")))
    assert {"cup-results/index.html", "cup-results/results.json"} <= set(site.namelist())


def test_amic2020_is_played_over_two_rounds_with_bad_late_and_missing_releases(stage: Stage) -> None:
    lenient = {"histogram": 0.5, "vcm": 0.01, "dta_relationship": 0.4, "dta_income": 0.4}
    lenient |= {"max_histogram_error": 0.5, "max_correlation_difference": 0.9}
    stage.hold("amic2020", ("pre", "main"), teams=3, scale="small", data="embedded", **lenient)
    for round_name in ("pre", "main"):
        if round_name == "main":
            stage.open("main", ANONYMIZE)
        for team, p in (("01", 0.99), ("02", 0.95)):
            handout = stage.fetch(team) / "teams" / team
            release = stage.folder / f"{round_name}{team}" / f"{round_name}_anonymizeddata_{team}.csv"
            assert call("anonymize", "amic2020", "rrp", handout, release, "--p", p, "--seed", 1).code == 0
            judged = stage.submit(team, release)
            assert judged["state"] == "scored", judged
            assert scores_of(judged) == call("measure", "amic2020", handout, release).json["scores"]
        broken = stage.folder / f"broken-{round_name}" / release.name.replace("_02", "_03")
        broken.parent.mkdir()
        broken.write_bytes(b"91" + release.read_bytes()[2:])
        refused = stage.submit("03", broken)
        assert (refused["state"], refused["counts"]) == ("invalid", None)
        assert (refused["judging"]["problems"][0]["row"], refused["judging"]["problems"][0]["column"]) == (1, "age")
        stage.open(round_name, ATTACK)
        for attacker in stage.tokens:
            guesses = stage.folder / f"guesses-of-{attacker}-{round_name}"
            targets = [one for one in sorted((stage.fetch(attacker) / "targets").iterdir()) if one.name != attacker]
            for target in targets:
                guess = guesses / f"inference_{target.name}_{attacker}.index"
                assert call("attack", "amic2020", "nearest", target, "-o", guess).code == 0
            assert stage.submit(attacker, guesses)["state"] == "scored"
    stage.finish()
    assert ranks(stage.get("contests/cup/standings")["standings"]) == ranks(stage.standings_from_files())


def test_darc2019_takes_the_last_three_tables_of_a_team_and_the_best_of_ten_attacks_on_each(stage: Stage) -> None:
    stage.hold("darc2019", ("round",), teams=2, scale="small", data="embedded")
    methods = ("monthly_pseudonyms", "dates", "values", "crowds")
    for number, method in enumerate(methods, start=1):
        handout = stage.fetch("01") / "teams" / "01"
        release = stage.folder / f"A_01-{number}.csv"
        assert call("anonymize", "darc2019", method, handout, release, "--seed", 1).code == 0
        judged = stage.submit("01", release)
        assert (judged["state"], scores_of(judged)) == ("scored", call("measure", "darc2019", handout, release).json["scores"])
    (phase,) = [one for one in stage.call("01", "status", "cup").json["phases"] if one["kind"] == ANONYMIZE]
    assert [one["number"] for one in phase["submissions"] if one["counts"]] == [4, 3, 2]
    stage.open("round", ATTACK)
    targets = stage.fetch("02") / "targets"
    assert sorted(target.name for target in targets.iterdir()) == ["01-2", "01-3", "01-4"]
    made = stage.folder / "made.csv"
    for number in range(1, 12):
        method = "keys" if number == 4 else "tfidf"
        assert call("attack", "darc2019", method, targets / "01-2", "-o", made, "--seed", number).code == 0
        guess = stage.folder / f"guess_01-2_02-{number}.csv"
        guess.write_bytes(made.read_bytes())
        if number <= 10:
            assert stage.submit("02", guess)["state"] == "scored"
        else:
            refused = stage.call("02", "submit", "cup", guess, "--wait", 0)
            assert (refused.code, refused.json["problems"][0]["code"]) == (1, "submissions.no_try_on_target")
    for target in ("01-3", "01-4"):
        assert call("attack", "darc2019", "tfidf", targets / target, "-o", made, "--seed", 1).code == 0
        guess = stage.folder / f"guess_{target}_02.csv"
        guess.write_bytes(made.read_bytes())
        assert stage.submit("02", guess)["state"] == "scored"
    stage.finish()
    assert ranks(stage.get("contests/cup/standings")["standings"]) == ranks(stage.standings_from_files())


def test_pwscup2024_takes_zips_as_macos_and_others_pack_them(stage: Stage) -> None:
    stage.hold("pwscup2024", ("pre",), teams=2, scale="small", data="embedded")
    for team in ("01", "02"):
        handout = stage.fetch(team) / "teams" / team
        made = stage.folder / f"made{team}"
        candidate = handout / f"Bi{team}-1.csv"
        assert call("anonymize", "pwscup2024", "pseudo_olh", candidate, made, "--epsilon", 4, "--seed", 1).code == 0
        files = {file.name: file.read_bytes() for file in sorted(made.iterdir())}
        box = "" if team == "01" else f"our release {team}/"
        packed = {f"{box}{name}": content for name, content in files.items()}
        junk = {f"__MACOSX/{box}._C{team}_0.csv": b"junk", f"{box}.DS_Store": b"junk"}
        release = stage.folder / f"C{team}.zip"
        release.write_bytes(zipped({**packed, **junk}))
        judged = stage.submit(team, release)
        assert (judged["state"], scores_of(judged)) == ("scored", call("measure", "pwscup2024", handout, made).json["scores"])
    stage.open("pre", ATTACK)
    for attacker, target in (("01", "02"), ("02", "01")):
        guess = stage.folder / f"E{attacker}_{target}.csv"
        place = stage.fetch(attacker) / "targets" / target
        assert call("attack", "pwscup2024", "all_pairs", place, "-o", guess, "--seed", 1).code == 0
        assert stage.submit(attacker, guess)["state"] == "scored"
    stage.finish()
    assert ranks(stage.get("contests/cup/standings")["standings"]) == ranks(stage.standings_from_files())
