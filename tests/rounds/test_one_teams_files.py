"""What one team hands in costs that team alone, even where it is well-formed and only what is made of it is not."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reading import attempt

from kakurenbo.cli import main
from kakurenbo.contest import ANONYMIZE, ATTACK, AnyRulebook, Attack
from kakurenbo.contest.engine import prepare
from kakurenbo.contest.records import sort_guess_files
from kakurenbo.contest.rounds import publish_round, score_round
from kakurenbo.contest.submissions import list_submission, named_tables
from kakurenbo.contest.verify import verify_round
from kakurenbo.core import Layout, Problems, Schema, Source, Text, read_table, write_folder
from kakurenbo.core.errors import ParameterError
from kakurenbo.methods.threats import MembershipKnowledge
from kakurenbo.rulebooks.amic2020 import Amic2020
from kakurenbo.rulebooks.darc2019 import Darc2019
from kakurenbo.rulebooks.pwscup2024 import Pwscup2024
from kakurenbo.rulebooks.pwscup2024.guesses import GuessForm, read_guess

TEAMS = ("01", "02")


def prepared(rules: AnyRulebook, folder: Path) -> Path:
    write_folder(folder / "round", prepare(rules, 7, TEAMS).files())
    return folder / "round"


def published(
    rules: AnyRulebook, folder: Path, entries: dict[str, bytes]
) -> dict[str, tuple[str, str]]:
    """What became of each release; then all of them are scored, which must not fail."""
    write_folder(folder / "entries", entries)
    found = publish_round(rules, folder / "round", folder / "entries")
    write_folder(folder / "phase", found.files)
    (folder / "guesses").mkdir()
    score_round(rules, folder / "phase", folder / "guesses", sample_attacks=False)
    return {record.team: (record.state, record.cause) for record in found.records}


def test_a_questionnaire_that_is_refused_does_not_cost_the_release(tmp_path: Path) -> None:
    rules = Amic2020(scale="small", data="embedded", histogram=0, vcm=0, dta_relationship=0)
    contest = prepared(rules, tmp_path)
    sample = {
        team: (contest / "teams" / team / f"pre_samplingdata_{team}.csv").read_bytes()
        for team in TEAMS
    }
    form = json.loads((contest / "teams" / "02" / "questionnaire_02.json").read_bytes())
    plain = json.dumps({**form, "remarks": ""}, ensure_ascii=False, separators=(",", ":"))
    remark = "x" * (19_990 - len(plain.encode()))
    large = json.dumps(
        {**form, "remarks": remark}, ensure_ascii=False, separators=(",", ":")
    ).encode()
    found = published(
        rules,
        tmp_path,
        {"01/D.csv": sample["01"], "02/D.csv": sample["02"], "02/questionnaire_02.json": large},
    )
    assert found["01"] == ("published", "")
    assert found["02"] == ("published", "")


def test_pseudonyms_whose_months_make_a_line_too_long_cost_that_table_alone(tmp_path: Path) -> None:
    rules = Darc2019(scale="small", data="embedded")
    contest = prepared(rules, tmp_path)
    tables = {
        team: next((contest / "teams" / team).glob("*.csv")).read_text().splitlines()
        for team in TEAMS
    }
    header, *rows = tables["02"]
    months = {
        who: {row.split(",")[1][:7] for row in rows if row.startswith(f"{who},")}
        for who in {row.split(",")[0] for row in rows}
    }
    faithful = max(sorted(months), key=lambda who: len(months[who]))
    length = (
        100_000 // len(months[faithful]) + 1
    )  # so that the months of one customer are a line of more than 100,000 bytes

    def renamed(row: str) -> str:
        who, day, *rest = row.split(",")
        pseudonym = f"{who}-{day[:7].replace('/', '')}"
        return ",".join(
            [pseudonym.ljust(length, "x") if who == faithful else pseudonym, day, *rest]
        )

    entries = {
        "01/A_01.csv": "\n".join(tables["01"]).encode(),
        "02/A_02.csv": "\n".join([header, *map(renamed, rows)]).encode(),
    }
    found = published(rules, tmp_path, entries)
    assert found["01"] == ("published", "")
    assert found["02"][0] == "refused"
    assert "cannot be read" in found["02"][1]


def test_a_zip_where_the_contest_takes_none_is_told_what_to_hand_in_instead(tmp_path: Path) -> None:
    rules = Amic2020(scale="small", data="embedded", histogram=0, vcm=0, dta_relationship=0)
    contest = prepared(rules, tmp_path)
    sample = (contest / "teams" / "01" / "pre_samplingdata_01.csv").read_bytes()
    found = published(rules, tmp_path, {"01/D.csv": sample, "02/D.zip": b"PK\x03\x04"})
    told = "D.zip: this is a zip, which this contest does not take; unpack it and hand in pre_anonymizeddata_02.csv"
    assert found == {"01": ("published", ""), "02": ("refused", told)}


@pytest.mark.parametrize(
    ("spoken", "told"),
    [
        ("en", "this is a zip, which this contest does not take; unpack it and hand in A_01-1.csv"),
        ("ja", "zip です。このコンテストでは受け付けません。展開して A_01-1.csv を出してください"),
    ],
)
def test_a_zip_beside_tables_is_told_so_and_not_that_its_name_is_unknown(
    spoken: str, told: str
) -> None:
    tables, strangers = named_tables(
        Darc2019(), "01", [Source("A_01-1.csv", b""), Source("A_01-2.zip", b"")]
    )
    assert [table.name for table in tables] == ["A_01-1.csv"]
    ((name, problems),) = strangers
    assert (name, problems[0].in_language(spoken)) == ("01/A_01-2.zip", f"01/A_01-2.zip: {told}")


def test_a_zipped_guess_is_told_so_and_not_that_its_name_is_unknown() -> None:
    _, refusals = sort_guess_files(
        Amic2020().phase(ATTACK), ("01", "02"), [Source("guesses.zip", b"")], "02"
    )
    assert [problem.code for _, problems in refusals for problem in problems] == ["release.zip"]
    assert "inference_01_02.index" in str(refusals[0][1][0])


def test_a_contest_that_takes_zips_is_not_told_to_unpack_them() -> None:
    assert not Pwscup2024().phase(ANONYMIZE).takes_no_zip("C01.zip")


@pytest.mark.parametrize("columns", [200, 100_000, 10_000_000])
def test_a_guess_with_more_columns_than_teams_is_refused_at_once(columns: int) -> None:
    begun = time.process_time()
    refused = attempt(
        read_guess,
        GuessForm(target="02"),
        Source("E01.csv.gz", gzip.compress(b"," * (columns - 1))),
    )
    assert isinstance(refused, Problems)
    assert [problem.code for problem in refused] == ["pwscup2024.too_many_columns"]
    assert time.process_time() - begun < 1


def test_a_file_of_far_too_many_lines_is_refused_by_their_number_alone() -> None:
    begun = time.process_time()
    refused = attempt(
        read_table,
        Source("D.csv", b'"",\n' * 3_000_000),
        Schema([Text("a"), Text("b")]),
        Layout(max_rows=10),
    )
    assert isinstance(refused, Problems)
    assert [problem.code for problem in refused] == ["table.row_count"]
    assert time.process_time() - begun < 1


def test_a_file_too_large_to_keep_is_refused_and_verified_all_the_same(tmp_path: Path) -> None:
    rules = Amic2020(scale="small", data="embedded", histogram=0, vcm=0, dta_relationship=0)
    contest = prepared(rules, tmp_path)
    sample = (contest / "teams" / "01" / "pre_samplingdata_01.csv").read_bytes()
    (tmp_path / "entries" / "02").mkdir(parents=True)
    with (tmp_path / "entries" / "02" / "D.csv").open("wb") as sparse:
        sparse.truncate(101_000_000)
    (tmp_path / "entries" / "01").mkdir()
    (tmp_path / "entries" / "01" / "D.csv").write_bytes(sample)
    found = publish_round(rules, contest, tmp_path / "entries")
    assert [record.state for record in found.records] == ["published", "refused"]
    write_folder(tmp_path / "phase", found.files)
    assert {
        finding.state for finding in verify_round(rules, contest, tmp_path / "phase", again=True)
    } == {"kept"}


def test_a_folder_that_nobody_may_look_into_is_refused_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Path.iterdir

    def forbidden(self: Path) -> Iterator[Path]:
        if self.name == "02":
            raise PermissionError
        return whole(self)

    (tmp_path / "02").mkdir()
    monkeypatch.setattr(Path, "iterdir", forbidden)
    sources, refused = list_submission(tmp_path / "02")
    assert sources == []
    assert [(name, problems[0].code) for name, problems in refused] == [("02", "source.forbidden")]


class BreaksOn:
    """An organizers' attack that breaks on one release, as hostile files may make it."""

    def __init__(self, attack: Attack[Any, Any], target: MembershipKnowledge) -> None:
        self._attack, self._rows = attack, len(target.release)

    def __call__(self, knowledge: MembershipKnowledge, rng: np.random.Generator) -> object:
        if len(knowledge.release) == self._rows:
            raise ParameterError("k", "at most the rows of the release", 7)
        return self._attack(knowledge, rng)


def test_a_release_that_breaks_the_organizers_attack_costs_that_figure_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = Amic2020(scale="small", data="embedded", histogram=0, vcm=0, dta_relationship=0)
    contest = prepared(rules, tmp_path)
    sample = {
        team: (contest / "teams" / team / f"pre_samplingdata_{team}.csv").read_bytes()
        for team in TEAMS
    }
    fewer = b"".join(sample["02"].splitlines(keepends=True)[:-1])
    found = published(rules, tmp_path, {"01/D.csv": sample["01"], "02/D.csv": fewer})
    assert {state for state, _ in found.values()} == {"published"}
    rows = b"".join(b"%d\n" % row for row in range(100))
    write_folder(
        tmp_path / "given", {"02/inference_01_02.index": rows, "01/inference_02_01.index": rows}
    )
    phase, given, out = tmp_path / "phase", tmp_path / "given", tmp_path / "results.json"
    whole = score_round(rules, phase, given)
    seen = rules.read_target(phase / "targets" / "02", attacker="").knowledge
    honest = rules.sample_attacks
    breaking = {name: BreaksOn(attack, seen) for name, attack in honest.items()}
    monkeypatch.setattr(Amic2020, "sample_attacks", breaking)
    monkeypatch.setenv("KAKURENBO_LANG", "ja")

    scored = score_round(rules, phase, given)
    (name,) = honest
    assert scored.results.credit("02", name) is None
    assert scored.results.credit("01", name) == whole.results.credit("01", name)
    for target, attacker in (("01", "02"), ("02", "01")):
        assert scored.results.credit(target, attacker) == whole.results.credit(target, attacker)
    assert [(one.team, one.file, one.problems[0].code) for one in scored.failed] == [
        ("02", "targets/02", "sample_attack.broke")
    ]

    for options in ((), ("--json",)):
        with pytest.raises(SystemExit) as left:
            main(["score", "amic2020", str(phase), str(given), "-o", str(out), *options])
        assert not left.value.code
    shown, told = capsys.readouterr()
    assert json.loads(shown.splitlines()[-1])["failed"][0]["file"] == "targets/02"
    assert f"targets/02: 主催者の攻撃 {name} が" in told
    assert "at most the rows of the release" in json.loads(out.read_bytes())["failures"][0]["cause"]
    assert "失敗" not in out.read_text("utf-8"), "documents are English whoever makes them"
    with pytest.raises(SystemExit) as left:
        main(["standings", "amic2020", str(out)])
    assert not left.value.code


@pytest.mark.parametrize(
    ("spoken", "advice"),
    [
        ("en", "hand in the file of team 03, or mend its name"),
        ("ja", "チーム 03 のファイルを出すか、ファイル名を直してください"),
    ],
)
def test_who_hands_in_a_file_of_another_team_is_asked_for_their_own(
    spoken: str, advice: str
) -> None:
    (problem,) = Problems.of("release.other_team", "A_04.csv", named="04", team="03")
    assert problem.in_language(spoken).endswith(advice)


@pytest.mark.parametrize(
    ("spoken", "told"), [("en", "release of 02: missing"), ("ja", "02 の匿名加工データ: 未提出")]
)
def test_score_says_that_it_is_the_release_which_is_out_below_the_table_of_guesses(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    spoken: str,
    told: str,
) -> None:
    rules = Amic2020(scale="small", data="embedded", histogram=0, vcm=0, dta_relationship=0)
    contest = prepared(rules, tmp_path)
    published(
        rules,
        tmp_path,
        {"01/D.csv": (contest / "teams" / "01" / "pre_samplingdata_01.csv").read_bytes()},
    )
    monkeypatch.setenv("KAKURENBO_LANG", spoken)
    with pytest.raises(SystemExit):
        main(
            [
                "score",
                "amic2020",
                str(tmp_path / "phase"),
                str(tmp_path / "guesses"),
                "-o",
                str(tmp_path / "results.json"),
            ]
        )
    assert told in capsys.readouterr().out.splitlines()
