"""Ranking in the scoring child: one round alone, several by the rulebook's weights, chance and sample attack beside them."""

from __future__ import annotations

from typing import Any

import pytest

from kakurenbo.judge.scoring.ranking import standings
from kakurenbo.rulebooks.amic2020 import Amic2020


def credit(hits: int) -> dict[str, Any]:
    return {"hits": hits, "of": 100, "chance": {"mean": 50, "low": 40, "high": 60}}


def known(round: str, **changes: Any) -> dict[str, Any]:
    """Teams 01 and 02 attack each other; the organizers' attack finds 60 of 100."""
    return {
        "facts": {"rulebook": "amic2020", "round": round, "teams": ["01", "02"]},
        "records": [{"target": team, "team": team, "state": "published"} for team in ("01", "02")],
        "credits": [
            {"attacker": "02", "target": "01", "credit": credit(80)},
            {"attacker": "01", "target": "02", "credit": credit(70)},
            *({"attacker": "sample attack", "target": team, "credit": credit(60)} for team in ("01", "02")),
        ],
        "attackers": ["01", "02"],
        "samples": ["sample attack"],
        "excluded": [],
        "idle": [],
        "disqualified": {},
        "players": [{"team": team, "name": f"team {team}", "excluded": False} for team in ("01", "02")],
        **changes,
    }


def ranks(made: dict[str, Any], ranking: str) -> dict[str, int | None]:
    return {line["team"]: line["rank"] for line in made["standings"][ranking]}


def test_one_round_is_ranked_alone_with_chance_and_sample_attack_beside() -> None:
    made = standings(Amic2020(), {"rounds": {"pre": known("pre")}})
    assert ranks(made, "attack") == {"02": 1, "01": 2, "sample attack": None}
    assert made["standings"]["beside"] == {"pre": {"chance": 0.5, "samples": {"sample attack": 0.6}}}
    assert list(made["results"]["pre"]["targets"]) == ["01", "02"]
    assert list(made["document"]["sample_attacks"]) == ["sample attack"]


def test_several_rounds_are_weighed_as_the_rulebook_says() -> None:
    both = standings(Amic2020(), {"rounds": {"pre": known("pre"), "main": known("main")}})
    assert set(both["results"]) == set(both["standings"]["beside"]) == {"pre", "main"}
    assert ranks(both, "attack")["02"] == 1


def test_rounds_that_the_rulebook_does_not_weigh_together_have_no_overall_table() -> None:
    assert standings(Amic2020(), {"rounds": {"pre": known("pre"), "trial": known("trial")}}) == {}


@pytest.mark.parametrize("out", ["01", "02"])
def test_a_team_that_is_out_keeps_its_line_and_loses_its_rank(out: str) -> None:
    other = "02" if out == "01" else "01"
    left = [one for one in known("pre")["credits"] if one["attacker"] != out]
    made = standings(
        Amic2020(),
        {"rounds": {"pre": known("pre", disqualified={out: "why"}, attackers=[other], credits=left)}},
    )
    assert ranks(made, "anonymization") == {other: 1, out: None}
    assert made["results"]["pre"]["out"] == {out: "disqualified"}


def test_an_unranked_team_is_shown_without_a_rank() -> None:
    made = standings(Amic2020(), {"rounds": {"pre": known("pre", excluded=["01"])}})
    assert ranks(made, "anonymization")["02"] == 1
    assert made["results"]["pre"]["excluded"] == ["01"]


def test_no_award_names_a_team_that_handed_in_nothing_though_the_formula_ranks_it() -> None:
    def made(*idle: tuple[str, ...]) -> dict[str, Any]:
        missing = [{"target": "03", "team": "03", "state": "missing"}]
        rounds = {
            name: known(name, records=known(name)["records"] + missing, attackers=["01", "02", "03"], idle=list(teams))
            for name, teams in zip(("pre", "main"), idle, strict=False)
        }
        return standings(Amic2020(), {"rounds": rounds})

    assert made(())["standings"]["awards"]["attack"] == ["02", "01", "03"]
    one_round = made(("03",))
    assert ranks(one_round, "attack")["03"] == 3
    for shown in ("standings", "document"):
        assert list(one_round[shown]["awards"]["attack"]) == ["02", "01"]
    assert "03" not in str(one_round["document"]["award_notices"])
    assert made(("03",), ("03",))["standings"]["awards"]["attack"] == ["02", "01"]
    assert made(("03",), ())["standings"]["awards"]["attack"] == ["02", "01", "03"], "idle in one of two rounds alone"


def test_a_team_that_is_disqualified_stays_in_the_attack_ranking_where_the_rules_say_so() -> None:
    left = [one for one in known("pre")["credits"] if one["attacker"] != "02"]
    made = standings(Amic2020(), {"rounds": {"pre": known("pre", disqualified={"02": "why"}, attackers=["01"], credits=left)}})
    assert ranks(made, "attack")["02"] is not None
    assert "02" in made["standings"]["awards"]["attack"]
    assert "02" not in made["standings"]["awards"]["anonymization"] + made["standings"]["awards"]["overall"]
