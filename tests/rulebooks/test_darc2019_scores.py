"""darc2019, rules 9, 12 and 14 to 18: publishing, credit of a guess, scores, ranks and awards."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from kakurenbo.anonymizers.transactions.pseudonyms import Pseudonyms
from kakurenbo.commitments import verify
from kakurenbo.contracts import Credit, RoundResults
from kakurenbo.rng import stream
from kakurenbo.rulebooks.darc2019 import Darc2019
from kakurenbo.rulebooks.darc2019.matrices import answer_of, read_answer
from kakurenbo.rulebooks.darc2019.scores import read_results, standings
from kakurenbo.tables import Problems, Source

# -- publish ----------------------------------------------------------------------------------------------------------


def test_publish_shuffles_by_the_committed_seed_and_commits_to_f(tmp_path: Path) -> None:
    book = Darc2019(scale="small", data="embedded")
    preparation = book.prepare(3, ["01"])
    handout = preparation.handouts["01"]
    release = book.anonymize(handout, Pseudonyms(), stream(1, "a"))
    files = book.release_files(handout, release)
    submission = book.check_release(handout, [Source("A_01-2.csv", files["A_01.csv"])])
    assert not isinstance(submission, Problems)
    first, second = (book.publish(preparation, {"01": submission}, seed)["01"] for seed in (7, 8))
    assert first.public_files == second.public_files  # the seed of the preparation decides, not that of the call
    assert set(first.public_files) == {"S_01-2.csv", "commitments.json"}
    findings = verify(
        first.public_files["commitments.json"],
        first.secret_files["opening.json"],
        {"secret/F_01-2.csv": first.secret_files["F_01-2.csv"]},
    )
    assert {finding.state for finding in findings} == {"kept"}
    (tmp_path / "F.csv").write_bytes(first.secret_files["F_01-2.csv"])
    read = read_answer(tmp_path / "F.csv")
    assert not isinstance(read, Problems)
    assert (read.cells == first.answer.cells).all()
    _, rows = answer_of(handout.original, submission.table)
    released = first.knowledge.released
    assert released != rows
    assert sorted(map(str, released.rows())) == sorted(map(str, rows.rows()))


def test_a_release_that_names_customers_gets_monthly_pseudonyms() -> None:
    from kakurenbo.anonymizers.transactions.rows import Dates

    book = Darc2019(scale="small", data="embedded")
    handout = book.prepare(3, ["01"]).handouts["01"]
    release = book.anonymize(handout, Dates(), stream(1, "a"))
    assert not set(release.table.vocabularies["id_user"]) & set(handout.original.vocabularies["id_user"])
    cells = {(a, b) for a, b in zip(handout.original.values("id_user"), release.table.values("id_user"), strict=True)}
    assert len(cells) == len(release.table.vocabularies["id_user"])


def test_the_mode_of_the_contest_holds_unless_another_is_asked_for() -> None:
    assert Darc2019().following({"settings": {"mode": "aicrowd"}}).mode == "aicrowd"
    assert Darc2019(mode="aicrowd").following({"settings": {"mode": "rules"}}).mode == "aicrowd"
    assert Darc2019().following({}).mode == "rules"


# -- standings --------------------------------------------------------------------------------------------------------


def results(utility: dict[str, float], credits: dict[str, dict[str, float]], **more: object) -> RoundResults:
    attackers = tuple(dict.fromkeys(name for row in credits.values() for name in row))
    unranked = frozenset(name for name in attackers if name.startswith("S"))
    graded = {
        table: {name: Credit(rate, 1, details={"reid": rate}) for name, rate in row.items()} for table, row in credits.items()
    }
    return RoundResults(graded, tuple(credits), attackers, utility, unranked=unranked, **more)  # type: ignore[arg-type]


def test_the_score_is_the_mean_of_u_and_the_highest_reid_and_the_lowest_wins() -> None:
    found = standings({"main": results({"01": 0.2, "02": 0.5}, {"01": {"S7": 0.3, "02": 0.1}, "02": {"S7": 0.0, "01": 0.25}})})
    assert [(line.team, line.rank, float(line.score or 0)) for line in found.anonymization] == [
        ("01", 1, 0.25),
        ("02", 2, 0.375),
    ]
    assert [(line.team, line.rank) for line in found.attack] == [("02", 1), ("01", 2), ("S7", None)]
    assert found.details["awards"] == {"anonymization": ["01", "02"], "re-identification": ["02"]}
    assert found.details["tables"]["01"] == {"U": 0.2, "reid": 0.3, "score": 0.25}


def test_the_last_three_tables_of_a_team_count_and_the_best_of_them_ranks() -> None:
    utility = {"01-1": 0.0, "01-2": 0.4, "01-3": 0.3, "01-10": 0.6, "02": 0.35}
    found = standings({"main": results(utility, {table: {"S1": 0.0} for table in utility})})
    assert [(line.team, line.score) for line in found.anonymization] == [
        ("01", Fraction(0.3) / 2),
        ("02", Fraction(0.35) / 2),
    ]
    assert set(found.details["tables"]) == {"01-2", "01-3", "01-10", "02"}


def test_ten_attacks_of_an_attacker_count_on_a_table() -> None:
    tries = {f"02-{number}": number / 100 for number in range(1, 12)}
    found = standings({"main": results({"01": 0.1}, {"01": tries})})
    assert found.details["tables"]["01"]["reid"] == 0.1


def test_nobody_is_credited_for_an_attack_on_a_table_of_their_own() -> None:
    found = standings({"main": results({"01": 0.1}, {"01": {"01": 0.9, "02": 0.2}})})
    assert found.details["tables"]["01"]["reid"] == 0.2
    assert [(line.team, line.rank, line.note) for line in found.attack] == [("02", 1, ""), ("01", 2, "owns the table")]


def test_tied_teams_are_all_awarded() -> None:
    utility = {f"0{number}": 0.2 for number in range(1, 6)}
    found = standings({"main": results(utility, {table: {"06": 0.5, "07": 0.5} for table in utility})})
    assert found.details["awards"] == {"anonymization": ["01", "02", "03", "04", "05"], "re-identification": ["06", "07"]}


def test_a_refused_table_ranks_behind_all_others() -> None:
    given = results({"02": 0.9}, {"01": {}, "02": {"S1": 1.0}}, out={"01": "disqualified"})
    found = standings({"main": given})
    assert [(line.team, line.rank, line.note) for line in found.anonymization] == [("02", 1, ""), ("01", 2, "disqualified")]
    assert found.details["awards"]["anonymization"] == ["02"]


def test_results_are_read_from_a_table_and_from_json() -> None:
    text = "table,utility,S7,02\n01-1,0.5,0.25,\n03,0.125,0.5,0.75\n"
    table = read_results(Source("r.csv", text.encode()))
    assert not isinstance(table, Problems)
    assert table.utility == {"01-1": 0.5, "03": 0.125}
    assert table.unranked == {"S7"}
    assert set(table.credits["01-1"]) == {"S7"}
    import json

    again = read_results(Source("r.json", json.dumps(table.as_json()).encode()))
    assert not isinstance(again, Problems)
    assert standings({"a": again}).as_json() == standings({"a": table}).as_json()


@pytest.mark.parametrize(
    "text", ["", "a,b\n1,2\n", "table,utility,02\n01,2.5,\n", "table,utility\n01,0.1\n01,0.2\n", "{", "{}"]
)
def test_other_files_of_results_are_refused(text: str) -> None:
    assert isinstance(read_results(Source("r", text.encode())), Problems)
