"""What one team hands in costs that team alone, even where it is well-formed and only what is made of it is not."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kakurenbo.contracts import AnyRulebook
from kakurenbo.rounds import publish_round, score_round, verify_round
from kakurenbo.rounds.handing_in import handed_in
from kakurenbo.rulebooks.amic2020 import Amic2020
from kakurenbo.rulebooks.darc2019 import Darc2019
from kakurenbo.rulebooks.pwscup2024.guesses import GuessForm, check_guess
from kakurenbo.tables import Layout, Problems, Schema, Source, Text, read_table, write_folder

TEAMS = ("01", "02")


def prepared(rules: AnyRulebook, folder: Path) -> Path:
    write_folder(folder / "round", rules.prepare(7, TEAMS).files())
    return folder / "round"


def published(rules: AnyRulebook, folder: Path, entries: dict[str, bytes]) -> dict[str, tuple[str, str]]:
    """What became of each release; then all of them are scored, which must not fail."""
    write_folder(folder / "entries", entries)
    found = publish_round(rules, folder / "round", folder / "entries")
    write_folder(folder / "phase", found.files)
    (folder / "guesses").mkdir()
    score_round(rules, folder / "phase", folder / "guesses", sample_attacks=False)
    return {record.team: (record.state, record.cause) for record in found.records}


def test_a_questionnaire_that_grows_beyond_the_limit_when_it_is_published_is_refused(tmp_path: Path) -> None:
    rules = Amic2020(scale="small", data="embedded", histogram=0, vcm=0, dta_relationship=0)
    contest = prepared(rules, tmp_path)
    sample = {team: (contest / "teams" / team / f"pre_samplingdata_{team}.csv").read_bytes() for team in TEAMS}
    form = json.loads((contest / "teams" / "02" / "questionnaire_02.json").read_bytes())
    plain = json.dumps({**form, "remarks": ""}, ensure_ascii=False, separators=(",", ":"))
    remark = "x" * (19_990 - len(plain.encode()))
    large = json.dumps({**form, "remarks": remark}, ensure_ascii=False, separators=(",", ":")).encode()
    found = published(rules, tmp_path, {"01/D.csv": sample["01"], "02/D.csv": sample["02"], "02/questionnaire_02.json": large})
    assert found["01"] == ("published", "")
    assert found["02"][0] == "refused"


def test_pseudonyms_whose_months_make_a_line_too_long_cost_that_table_alone(tmp_path: Path) -> None:
    rules = Darc2019(scale="small", data="embedded")
    contest = prepared(rules, tmp_path)
    tables = {team: next((contest / "teams" / team).glob("*.csv")).read_text().splitlines() for team in TEAMS}
    header, *rows = tables["02"]
    months = {
        who: {row.split(",")[1][:7] for row in rows if row.startswith(f"{who},")} for who in {row.split(",")[0] for row in rows}
    }
    faithful = max(sorted(months), key=lambda who: len(months[who]))
    length = 100_000 // len(months[faithful]) + 1  # so that the months of one customer are a line of more than 100,000 bytes

    def renamed(row: str) -> str:
        who, day, *rest = row.split(",")
        pseudonym = f"{who}-{day[:7].replace('/', '')}"
        return ",".join([pseudonym.ljust(length, "x") if who == faithful else pseudonym, day, *rest])

    entries = {
        "01/A_01.csv": "\n".join(tables["01"]).encode(),
        "02/A_02.csv": "\n".join([header, *map(renamed, rows)]).encode(),
    }
    found = published(rules, tmp_path, entries)
    assert found["01"] == ("published", "")
    assert found["02"][0] == "refused"
    assert "cannot be read" in found["02"][1]


@pytest.mark.parametrize("columns", [200, 100_000, 10_000_000])
def test_a_guess_with_more_columns_than_teams_is_refused_at_once(columns: int) -> None:
    begun = time.process_time()
    refused = check_guess(GuessForm(target="02"), Source("E01.csv.gz", gzip.compress(b"," * (columns - 1))))
    assert isinstance(refused, Problems)
    assert [problem.code for problem in refused] == ["pwscup2024.too_many_columns"]
    assert time.process_time() - begun < 1


def test_a_file_of_far_too_many_lines_is_refused_by_their_number_alone() -> None:
    begun = time.process_time()
    refused = read_table(Source("D.csv", b'"",\n' * 3_000_000), Schema([Text("a"), Text("b")]), Layout(max_rows=10))
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
    assert {finding.state for finding in verify_round(rules, contest, tmp_path / "phase", again=True)} == {"kept"}


def test_a_folder_that_nobody_may_look_into_is_refused_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path.iterdir

    def forbidden(self: Path) -> Iterator[Path]:
        if self.name == "02":
            raise PermissionError
        return whole(self)

    (tmp_path / "02").mkdir()
    monkeypatch.setattr(Path, "iterdir", forbidden)
    sources, refused = handed_in(tmp_path / "02")
    assert sources == []
    assert [(name, problems[0].code) for name, problems in refused] == [("02", "source.forbidden")]
