"""What all contests share: READMEs that work as typed, schedules, judges as players, prohibited actions, status FOLDER."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.calling import call, run

from kakurenbo.contest import read_facts, read_schedule
from kakurenbo.contest.readme import judges_text
from kakurenbo.core import README_FILES, archive_bytes
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import render
from kakurenbo.methods import registry

ROOT = Path(__file__).parents[2]
CONTESTS = {
    "amic2020": ("--scale", "small", "--data", "embedded", "--vcm", "0.05"),
    "darc2019": ("--scale", "small", "--data", "embedded"),
    "pwscup2021": (
        "--scale",
        "small",
        "--data",
        "embedded",
        "--round",
        "main",
        "--rows",
        "800",
        "--odds-ratio",
        "9",
    ),
    "pwscup2024": ("--scale", "small", "--data", "embedded"),
}
SCHEDULE = """
[[phase]]
round = "pre"
phase = "anonymize"
opens = 2020-08-27T00:00:00+09:00
closes = 2020-09-08T00:00:00+09:00

[[phase]]
round = "pre"
phase = "attack"
opens = 2020-09-09T00:00:00+09:00
closes = 2120-09-19T00:00:00+09:00

[[phase]]
round = "main"
phase = "anonymize"
opens = 2120-09-24T00:00:00+09:00
closes = 2120-10-06T00:00:00+09:00

[[event]]
name = "Contest entry"
name_ja = "参加申し込み"
date = 2020-08-07
until = 2020-08-26

[[event]]
name = "Result announcement"
date = 2020-09-22
"""


def commands(readme: Path) -> list[list[str]]:
    """The commands of a README, ``kakurenbo`` left out, but for those that submit."""
    words = [
        shlex.split(line)[1:]
        for line in re.findall(r"^\$ (.*)$", readme.read_text("utf-8"), re.MULTILINE)
    ]
    return [command for command in words if command[0] != "submit"]


def prepare(rulebook: str, out: Path, *options: object) -> Path:
    assert (
        call(
            "prepare",
            rulebook,
            "-o",
            out,
            "--teams",
            3,
            "--seed",
            2**70,
            *CONTESTS[rulebook],
            *options,
        ).code
        == 0
    )
    return out


PLAYED = [
    "amic2020",
    "pwscup2021",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("darc2019", "pwscup2024")),
]


@pytest.fixture(scope="module", params=PLAYED)
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A contest whose team 01 did what its README says, and what was published of it."""
    folder = tmp_path_factory.mktemp(request.param)
    prepare(request.param, folder / "contest")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "contest" / "teams" / "01")
        for command in commands(Path(README_FILES[0])):
            code, _, err = run(*command)
            assert code == 0, (command, err)
    release = folder / "in" / "01"
    shutil.copytree(folder / "contest" / "teams" / "01" / "release", release)
    shutil.copy(
        folder / "contest" / "teams" / "01" / "README.md", release
    )  # a copied README is ignored
    shutil.rmtree(folder / "contest" / "teams" / "01" / "release")
    published = call(
        "publish", request.param, folder / "contest", folder / "in", "-o", folder / "phase"
    )
    assert published.json["published"] == ["01"], published
    assert not published.json["unassigned"]
    return request.param, folder


def test_the_round_may_be_left_out_of_the_schedule_where_a_contest_has_only_one(
    tmp_path: Path,
) -> None:
    file = tmp_path / "schedule.toml"
    file.write_text("\n".join(line for line in SCHEDULE.splitlines()[:6] if "round" not in line))
    assert [phase.round for phase in read_schedule(file, ("round",)).phases] == ["round"]
    with pytest.raises(UsageError, match=r"phase\[1\].round: this key is missing"):
        read_schedule(file, ("pre", "main"))


def test_an_attack_on_a_target_alone_says_that_the_folder_of_the_attackers_is_missing(
    played: tuple[str, Path], tmp_path: Path
) -> None:
    name, folder = played
    if name not in ("amic2020", "darc2019"):
        pytest.skip("its targets need no other folder")
    shutil.copytree(folder / "phase" / "targets" / "01", tmp_path / "01")
    if name == "amic2020":
        assert "fill it in" not in (tmp_path / "01" / README_FILES[0]).read_text("utf-8")
    attack = {"amic2020": "nearest", "darc2019": "keys"}[name]
    code, _, err = run("attack", name, attack, tmp_path / "01", "-o", tmp_path / "guess")
    assert code == 2
    assert "PHASE/attackers in its place beside targets" in err


def test_every_folder_that_is_handed_out_has_both_readmes_and_the_commitments_cover_them(
    played: tuple[str, Path],
) -> None:
    name, folder = played
    handed_out = [
        "contest/public",
        "contest/teams/01",
        "contest/teams/02",
        "contest/attackers",
        "phase/public",
    ]
    for place in [*handed_out, "phase/attackers", "phase/targets/01"]:
        english, japanese = (
            (folder / place / readme).read_text("utf-8") for readme in README_FILES
        )
        assert name in english
        assert "## 提出の規則" in japanese
        assert commands(folder / place / README_FILES[0]) == commands(
            folder / place / README_FILES[1]
        )
        assert len(english.splitlines()) < 110
    code, out, err = run("verify", name, folder / "contest", folder / "phase", "--again")
    assert code == 0, out + err


def test_a_team_folder_names_its_own_files_and_every_file_and_column_of_it(
    played: tuple[str, Path],
) -> None:
    name, folder = played
    readme = (folder / "contest" / "teams" / "02" / "README.md").read_text("utf-8")
    assert "readme.file.other" not in readme
    assert "data of the contest" not in readme, "every file is described"
    rules = registry.load("rulebooks", name)()
    assert f"`{next(iter(rules.release_schema())).name}`" in readme
    assert "Dataset of team 02" in readme
    assert [command[0] for command in commands(folder / "contest/teams/02/README.md")] == [
        *("status", "anonymize", "check", "measure"),
    ]


def test_the_readme_of_a_target_attacks_it_and_the_guess_is_scored(
    played: tuple[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    name, folder = played
    copied = tmp_path / "phase"
    for part in ("targets", "attackers"):
        shutil.copytree(folder / "phase" / part, copied / part)
    monkeypatch.chdir(copied / "targets" / "01")
    for _ in range(2):  # what was written does not disturb the next attack
        for command in commands(Path("README.md")):
            code, _, err = run(*command)
            assert code == 0, (command, err)
    shutil.copytree("guess", tmp_path / "guesses" / "02")
    shutil.copy("README.md", tmp_path / "guesses" / "02")
    scored = call(
        "score", name, folder / "phase", tmp_path / "guesses", "-o", tmp_path / "results.json"
    )
    assert not scored.json["refused"]
    assert "02" in scored.json["credits"]["01"]


def test_no_readme_tells_a_secret_or_anything_of_other_teams(played: tuple[str, Path]) -> None:
    _, folder = played
    seed = json.loads((folder / "contest/secret/opening.json").read_text())["seed"]
    for readme in folder.rglob("README*.md"):
        text = readme.read_text("utf-8")
        assert str(seed) not in text
        assert str(2**70) not in text
    team = (folder / "contest/teams/02/README.md").read_text("utf-8")
    assert not re.search(r"team 0[13]|_0[13]\.", team)
    target = (folder / "phase/targets/01/README.md").read_text("utf-8")
    assert "03" not in re.sub(r"\d{3,}", "", target)


def test_a_zip_of_a_release_may_hold_the_readme(tmp_path: Path) -> None:
    contest = prepare("pwscup2024", tmp_path / "contest")
    team = contest / "teams" / "01"
    assert call("anonymize", "pwscup2024", "shuffle_rows", team, tmp_path / "C01").code == 0
    files = {path.name: path.read_bytes() for path in (tmp_path / "C01").iterdir()}
    (tmp_path / "C01.zip").write_bytes(archive_bytes({**files, "README.md": b"# me\n"}))
    assert call("check", "pwscup2024", team, tmp_path / "C01.zip").code == 0


# -- schedule ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scheduled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scheduled")
    (folder / "dates.toml").write_text(SCHEDULE, "utf-8")
    return prepare(
        "amic2020", folder / "contest", "--schedule", folder / "dates.toml", "--judges", "02"
    )


def test_the_schedule_stands_in_the_facts_and_in_every_readme(scheduled: Path) -> None:
    facts = read_facts(scheduled / "teams" / "01")
    assert facts is not None
    assert [(one.round, one.phase) for one in facts.schedule.phases] == [
        *(("pre", "anonymize"), ("pre", "attack"), ("main", "anonymize")),
    ]
    assert facts.schedule.phases[0].opens.isoformat() == "2020-08-27T00:00:00+09:00"
    for place in ("public", "teams/01", "attackers"):
        english, japanese = ((scheduled / place / name).read_text("utf-8") for name in README_FILES)
        assert (
            "| 2020-08-27 00:00 +09:00 – 2020-09-08 00:00 +09:00 | Anonymization phase, preliminary round |"
            in english
        )
        assert "| 2020-08-07 – 2020-08-26 | 参加申し込み |" in japanese
        assert english.index("Contest entry") < english.index(
            "Anonymization phase, preliminary round"
        )
    assert run("verify", "amic2020", scheduled, "--again")[0] == 0


def test_a_folder_without_schedule_and_judges_has_no_such_keys_and_older_ones_are_read(
    tmp_path: Path,
) -> None:
    contest = prepare("amic2020", tmp_path / "contest")
    content = json.loads((contest / "public" / "contest.json").read_text())
    assert not {"schedule", "judges"} & content.keys()
    facts = read_facts(contest / "public")
    assert facts is not None
    assert not facts.schedule
    assert facts.judges == ()
    assert "## Schedule" not in (contest / "public" / "README.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('round = "pre"', 'round = "third"', ("phase[1].round", "pre, main")),
        ('phase = "anonymize"', 'phase = "party"', ("phase[1].phase", "anonymize, attack")),
        ("2020-08-27T00:00:00+09:00", "2020-08-27T00:00:00", ("phase[1].opens", "+09:00")),
        (
            "2020-08-27T00:00:00+09:00",
            "2020-09-09T00:00:00+09:00",
            ("phase[1].closes", "not after"),
        ),
        ('phase = "attack"', 'phase = "anonymize"', ("phase[2]", "another entry")),
        (
            "2020-09-09T00:00:00+09:00",
            "2020-09-01T00:00:00+09:00",
            ("phase[2].opens", "before the anonymization phase"),
        ),
        ("until = 2020-08-26", "until = 2020-08-01", ("event[1].until", "not after")),
        ("date = 2020-09-22", 'date = "soon"', ("event[2].date", "2020-08-27")),
        ("date = 2020-09-22", "", ("event[2].date", "missing")),
        ("date = 2020-09-22", "date = 2020-09-22\nplace = 1", ("event[2].place", "unknown")),
        ('name = "Contest entry"', "name = 3", ("event[1].name", "text")),
        ("[[event]]", "[[party]]", ("party", "[[event]]")),
        ("[[event]]", "[[event]", ("line",)),
    ],
)
def test_an_error_of_a_schedule_names_file_key_and_fix(
    tmp_path: Path, old: str, new: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "dates.toml").write_text(SCHEDULE.replace(old, new, 1), "utf-8")
    options = ("--teams", 2, "--schedule", tmp_path / "dates.toml", *CONTESTS["amic2020"])
    code, _, err = run("prepare", "amic2020", "-o", tmp_path / "contest", *options)
    assert code == 2
    assert all(word in err for word in (str(tmp_path / "dates.toml"), *words)), err
    assert not (tmp_path / "contest").exists()


# -- judges as players ---------------------------------------------------------------------------------------------------


def test_judges_are_ranked_like_everybody_and_marked_with_the_disclosure(
    scheduled: Path, tmp_path: Path
) -> None:
    for team in ("01", "02", "03"):
        out = tmp_path / "in" / team / "D.csv"
        assert (
            call(
                "anonymize",
                "amic2020",
                "rrp",
                scheduled / "teams" / team,
                out,
                "--p",
                "0.99",
                "--seed",
                1,
            ).code
            == 0
        )
    assert (
        call("publish", "amic2020", scheduled, tmp_path / "in", "-o", tmp_path / "phase").code == 0
    )
    (tmp_path / "guesses").mkdir()
    call(
        "score",
        "amic2020",
        tmp_path / "phase",
        tmp_path / "guesses",
        "-o",
        tmp_path / "results.json",
    )
    told = call("standings", "amic2020", tmp_path / "results.json").json
    assert told["judges"] == ["02"]
    assert "ensures fairness" in told["disclosure"], "the words of this contest's rules"
    by_team = {line["team"]: line for line in told["anonymization"]}
    assert by_team["02"]["rank"] == by_team["01"]["rank"] == 1
    assert by_team["02"]["note"] == "committee member"
    assert "note" not in by_team["01"]
    _, out, _ = run("standings", "amic2020", tmp_path / "results.json")
    assert "committee member" in out
    assert "ensures fairness" in out
    page = tmp_path / "report.html"
    assert call("report", tmp_path / "results.json", "-o", page).code == 0
    report = page.read_text("utf-8")
    assert "committee member" in report
    assert "ensures fairness" in report
    assert "2020-08-27 00:00" in report


def test_rule_17_of_darc2019_is_disclosed_of_judges_who_play() -> None:
    english = judges_text("darc2019", ["03"], "en")
    assert english.startswith("Teams with members of the committee: 03.")
    assert "do not collude" in english
    assert "disclosed publicly" in english
    assert "公開されます" in judges_text("darc2019", ["03"], "ja")


def test_a_judge_is_a_team_of_the_round(tmp_path: Path) -> None:
    code, _, err = run(
        "prepare",
        "amic2020",
        "-o",
        tmp_path / "c",
        "--teams",
        2,
        "--judges",
        "07",
        *CONTESTS["amic2020"],
    )
    assert code == 2
    assert "07" in err


# -- status FOLDER, prohibited actions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["", "public", "teams/01", "attackers"])
def test_status_of_a_folder_tells_the_facts_of_the_contest(scheduled: Path, part: str) -> None:
    told = call("status", scheduled / part).json
    assert (told["rulebook"], told["round"], told["judges"]) == ("amic2020", "pre", ["02"])
    assert told["thresholds"]["vcm"] == 0.05
    assert "max_histogram_error" not in told["thresholds"]
    assert [phase["state"] for phase in told["schedule"]["phases"]] == ["closed", "open", "waiting"]
    assert len(told["prohibited"]) == 3
    _, out, _ = run("status", scheduled / part)
    for words in (
        "`vcm` must be at least 0.05",
        "Contest entry",
        "Attack phase, preliminary round: open until",
        "obstructing",
    ):
        assert words in out


def test_status_of_anything_else_asks_a_judge(tmp_path: Path) -> None:
    code, _, err = run("status", tmp_path)
    assert code == 2
    assert "judge" in err


@pytest.mark.parametrize("name", list(CONTESTS))
def test_the_contest_pages_state_every_prohibited_action_in_both_languages(name: str) -> None:
    pages = {"en": ROOT / "docs" / f"{name}.md", "ja": ROOT / "docs" / "ja" / "contests.md"}
    for language, page in pages.items():
        text = page.read_text("utf-8")
        for code in registry.load("rulebooks", name).prohibited:
            sentence = render(code, {}, language).message
            assert sentence != code
            assert f"- {sentence}" in text, (page, sentence)


def test_the_readmes_of_both_languages_state_the_prohibited_actions(scheduled: Path) -> None:
    for language, name in zip(("en", "ja"), README_FILES, strict=True):
        for place in ("public", "teams/01", "attackers"):
            text = (scheduled / place / name).read_text("utf-8")
            assert all(
                render(code, {}, language).message in text
                for code in registry.load("rulebooks", "amic2020").prohibited
            )


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_readme_says_how_the_contest_is_scored_and_where_methods_are_listed(
    tmp_path: Path, language: str
) -> None:
    for rulebook, options in CONTESTS.items():
        folder = tmp_path / rulebook
        prepared = ("prepare", rulebook, "-o", folder, "--teams", 2, "--seed", 1, *options)
        assert call(*prepared).code == 0
        name = README_FILES[("en", "ja").index(language)]
        text = (folder / "teams" / "01" / name).read_text()
        assert render(f"{rulebook}.readme.score", {}, language).message in text
        assert f"`kakurenbo list anonymizers {rulebook}`" in text
        if rulebook == "pwscup2024":
            assert "`--release`" in text
            assert "`--trace`" in text
