"""Ranking in the scoring child: one round alone, several by the rulebook's weights, chance and sample attack beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.calling import call

from kakurenbo.methods import registry
from kakurenbo.proofs.ranking import standings
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
            *(
                {"attacker": "sample attack", "target": team, "credit": credit(60)}
                for team in ("01", "02")
            ),
        ],
        "attackers": ["01", "02"],
        "samples": ["sample attack"],
        "excluded": [],
        "disqualified": {},
        "players": [
            {"team": team, "name": f"team {team}", "excluded": False} for team in ("01", "02")
        ],
        **changes,
    }


def ranks(made: dict[str, Any], ranking: str) -> dict[str, int | None]:
    return {line["team"]: line["rank"] for line in made["standings"][ranking]}


def test_one_round_is_ranked_alone_with_chance_and_sample_attack_beside() -> None:
    made = standings(Amic2020(), {"rounds": {"pre": known("pre")}})
    assert ranks(made, "attack") == {"02": 1, "01": 2, "sample attack": None}
    assert made["standings"]["beside"] == {
        "pre": {"chance": 0.5, "samples": {"sample attack": 0.6}}
    }
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
    made = standings(Amic2020(), {"rounds": {"pre": known("pre", disqualified={out: "why"})}})
    assert ranks(made, "anonymization") == {other: 1, out: None}
    assert made["results"]["pre"]["out"] == {out: "disqualified"}


def test_an_unranked_team_is_shown_without_a_rank() -> None:
    made = standings(Amic2020(), {"rounds": {"pre": known("pre", excluded=["01"])}})
    assert ranks(made, "anonymization")["02"] == 1
    assert made["results"]["pre"]["excluded"] == ["01"]


def test_no_award_names_a_team_that_handed_in_nothing_though_the_formula_ranks_it() -> None:
    def made(*attacks: bool) -> dict[str, Any]:
        missing = [{"target": "03", "team": "03", "state": "missing"}]
        own = [{"attacker": "03", "target": "01", "credit": credit(0)}]
        rounds = {
            name: known(
                name,
                records=known(name)["records"] + missing,
                attackers=["01", "02", "03"],
                credits=known(name)["credits"] + (own if attacked else []),
            )
            for name, attacked in zip(("main", "pre"), attacks, strict=False)
        }
        return standings(Amic2020(), {"rounds": rounds})

    assert made(True)["standings"]["awards"]["attack"] == ["02", "01", "03"]
    one_round = made(False)
    assert ranks(one_round, "attack")["03"] == 3
    for shown in ("standings", "document"):
        assert list(one_round[shown]["awards"]["attack"]) == ["02", "01"]
    assert "03" not in str(one_round["document"]["award_notices"])
    assert made(False, False)["standings"]["awards"]["attack"] == ["02", "01"]
    assert made(False, True)["standings"]["awards"]["attack"] == ["02", "01", "03"], (
        "idle in one of two rounds alone"
    )


def test_a_team_that_is_disqualified_keeps_its_place_among_attackers_where_the_rules_say_so() -> (
    None
):
    made = standings(Amic2020(), {"rounds": {"main": known("main", disqualified={"02": "why"})}})
    assert ranks(made, "attack") == {"02": 1, "01": 2, "sample attack": None}
    assert made["standings"]["awards"]["attack"][0] == "02"
    assert (
        "02"
        not in made["standings"]["awards"]["anonymization"] + made["standings"]["awards"]["overall"]
    )


def test_a_team_that_is_disqualified_and_handed_in_nothing_takes_no_award() -> None:
    nothing = [{"target": "03", "team": "03", "state": "missing"}]
    changes = {
        "records": known("main")["records"] + nothing,
        "attackers": ["01", "02", "03"],
        "disqualified": {"03": "why"},
    }
    made = standings(Amic2020(), {"rounds": {"main": known("main", **changes)}})
    assert "03" not in str(made["standings"]["awards"])


@pytest.mark.parametrize("out", ["01", "02"])
@pytest.mark.parametrize(
    "rulebook", ["amic2020", "darc2019", "pwscup2021", "pwscup2024", "hide-and-seek"]
)
def test_who_is_disqualified_stands_where_the_command_line_puts_them(
    rulebook: str, out: str, plugins: Path, tmp_path: Path
) -> None:
    assert plugins
    rules = registry.load("rulebooks", rulebook)()
    name = rules.rounds[0]
    measured = {"name": rules.utility_score, "value": 0.5, "higher_is_better": True}
    records = [
        {
            "target": team,
            "team": team,
            "state": "published",
            "measurements": [measured] if rules.utility_score else [],
        }
        for team in ("01", "02", "03")
    ]
    earned = {
        ("01", "02"): 80,
        ("01", "03"): 60,
        ("02", "01"): 70,
        ("03", "01"): 90,
        ("03", "02"): 95,
    }
    credits = [
        {"attacker": one, "target": at, "credit": credit(hits)}
        for (one, at), hits in earned.items()
    ]
    field = {"records": records, "credits": credits, "attackers": ["01", "02", "03"], "samples": []}
    facts = {"rulebook": rulebook, "round": name, "teams": ["01", "02", "03"]}
    playing = standings(rules, {"rounds": {name: known(name, facts=facts, **field)}})
    (tmp_path / "results.json").write_bytes(msgspec.json.encode(playing["document"]))
    judged = standings(
        rules, {"rounds": {name: known(name, facts=facts, **field, disqualified={out: "why"})}}
    )
    by_files = call("standings", rulebook, tmp_path / "results.json", "--disqualified", out).json
    assert judged["standings"] != playing["standings"]
    assert {ranking: judged["standings"][ranking] for ranking in by_files} == by_files
