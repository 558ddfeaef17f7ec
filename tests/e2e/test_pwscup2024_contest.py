"""A whole contest of pwscup2024 by files on the command line, and a second implementation of its rules in plain Python.

Five teams with gaps in their numbers; 12 is the organizers' own. What they hand in is good, bad, late or missing.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.pwscup2024 import small_original, zipped

from kakurenbo.cli import main
from kakurenbo.core import table_bytes

pytestmark = pytest.mark.slow

TEAMS = ("01", "03", "04", "07", "12")
OWN_TEAM = "12"
ATTRIBUTES = ("Gender", "Age", "Occupation", "ZIP-code")
Run = Callable[..., Any]
Scores = tuple[dict[str, Fraction], dict[str, Fraction]]
"""Totals by anonymizer, attack scores by attacker."""


class Contest:
    """The folders of both rounds, played once; ``told`` keeps what the verbs said."""

    def __init__(self, folder: Path, run: Run) -> None:
        self.folder, self.run = folder, run
        self.told: dict[str, Any] = {}

    def path(self, *parts: str) -> Path:
        return self.folder.joinpath(*parts)

    def play(self) -> None:
        self._organizers_files()
        self._prepare()
        self._hand_in_pre()
        self._hand_in_main()
        for round_ in ("pre", "main"):
            words = (
                "publish",
                "pwscup2024",
                self.path(round_),
                self.path(f"{round_}-in"),
                "-o",
                self.path(f"{round_}-phase"),
            )
            self.told[f"publish {round_}"] = self.run(*words, code=1)
        self._attack()
        for round_ in ("pre", "main"):
            words = (
                "score",
                "pwscup2024",
                self.path(f"{round_}-phase"),
                self.path(f"{round_}-guesses"),
            )
            self.told[f"score {round_}"] = self.run(
                *words, "-o", self.path(f"{round_}.json"), code=1
            )

    def _organizers_files(self) -> None:
        self.path("own").mkdir()
        for number in range(3 * len(TEAMS)):
            content = table_bytes(small_original(2000, seed=100 + number), header=True)
            self.path("own", f"Bi{number + 1:02d}.csv").write_bytes(content)

    def _prepare(self) -> None:
        """The preliminary round from the organizer's own B files, the main round from the embedded statistics."""
        common = (
            "--teams",
            ",".join(TEAMS),
            "--unranked",
            OWN_TEAM,
            "--scale",
            "small",
            "--seed",
            str(2**70 + 1),
        )
        for round_, data in (("pre", self.path("own")), ("main", "embedded")):
            out = ("-o", self.path(round_))
            self.run("prepare", "pwscup2024", *out, *common, "--round", round_, "--data", data)

    def release(self, round_: str, team: str, candidate: int, epsilon: float) -> dict[str, bytes]:
        """What ``anonymize`` writes for one of a team's candidates."""
        given = self.path(round_, "teams", team, f"Bi{team}-{candidate}.csv")
        out = self.path(f"{round_}-made", team)
        self.run(
            "anonymize",
            "pwscup2024",
            "pseudo_olh",
            given,
            out,
            "--epsilon",
            epsilon,
            "--seed",
            int(team),
        )
        return {file.name: file.read_bytes() for file in sorted(out.iterdir())}

    def hand_in(self, *place: str, files: Mapping[str, bytes]) -> None:
        self.path(*place).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            self.path(*place, name).write_bytes(content)

    def _hand_in_pre(self) -> None:
        made = {team: self.release("pre", team, 2 if team == "01" else 1, 4) for team in TEAMS}
        without = {
            team: {name: data for name, data in files.items() if "choice" not in name}
            for team, files in made.items()
        }
        self.hand_in("pre-in", "01", files={"C01.zip": zipped({**made["01"], "id.txt": b"01\n"})})
        boxed = {f"C03/{name}": data for name, data in without["03"].items()} | {
            "__MACOSX/C03/._C03_0.csv": b"junk"
        }
        self.hand_in("pre-in", "03", files={"our release.zip": zipped(boxed)})
        decimal = made["04"]["C04_2.csv"].decode().split("\n")
        decimal[3] = decimal[3].rsplit(",", 1)[0] + ",0.0"
        self.hand_in("pre-in", "04", files={**made["04"], "C04_2.csv": "\n".join(decimal).encode()})
        self.hand_in(
            "pre-in", "07", files={**without["07"], "C03_choice.json": b'{"candidate": 2}'}
        )
        self.hand_in("pre-in", OWN_TEAM, files=made[OWN_TEAM])
        self.hand_in("pre-in", "late", files={"C04.zip": zipped(made["04"])})

    def _hand_in_main(self) -> None:
        made = {
            team: self.release("main", team, 3 if team == "07" else 1, 3 + int(team) / 4)
            for team in ("01", "04", "07")
        }
        stolen = zipped({**made["01"], "id.txt": b"01"})
        self.hand_in("main-in", "01", files={"C01.zip": stolen})
        self.hand_in("main-in", "03", files={"release.zip": stolen})
        self.hand_in(
            "main-in",
            "04",
            files={name: data.replace(b"\n", b"\r\n") for name, data in made["04"].items()},
        )
        self.hand_in("main-in", "07", files=made["07"])

    def guess(self, round_: str, target: str, method: str) -> list[str]:
        """The lines that ``attack`` writes from a target that lies alone in a folder of its own."""
        alone = self.path("alone", round_, target)
        if not alone.exists():
            shutil.copytree(self.path(f"{round_}-phase", "targets", target), alone)
        out = self.path("alone", f"{round_}-{target}-{method}.csv")
        self.run("attack", "pwscup2024", method, alone, "-o", out, "--seed", "1")
        return out.read_text().splitlines()

    def answer(self, round_: str, target: str) -> list[str]:
        return (
            self.path(f"{round_}-phase", "answers", target, f"B{target}x.csv")
            .read_text()
            .splitlines()
        )

    def _attack(self) -> None:
        sample = {target: self.guess("pre", target, "sample") for target in ("01", "03", "12")}
        pairs = {target: self.guess("pre", target, "all_pairs") for target in ("01", "03", "12")}
        e_file = side_by_side({3: pairs["03"], 12: pairs["12"]})
        self.hand_in(
            "pre-guesses", "01", files={"E01.zip": zipped({"E01.csv": e_file, "id.txt": b"1"})}
        )
        shifted = side_by_side({1: sample["01"], 2: sample["12"]})
        self.hand_in("pre-guesses", "03", files={"E03.csv": shifted})
        bad = ["x" + line for line in sample["03"]]
        self.hand_in(
            "pre-guesses",
            "04",
            files={"E04.csv": side_by_side({1: sample["01"], 3: bad, 12: sample["12"]})},
        )
        single = {f"E07_{target}.csv": "\n".join(lines).encode() for target, lines in pairs.items()}
        self.hand_in("pre-guesses", "07", files=single)
        known = {target: self.guess("main", target, "all_pairs") for target in ("01", "04", "07")}
        zeros = ["0,0"] * 50
        self.hand_in(
            "main-guesses", "01", files={"E01.csv": side_by_side({4: known["04"], 7: zeros})}
        )
        blanks = side_by_side({1: known["01"], 4: zeros, 7: known["07"]}).replace(b"*", b"")
        self.hand_in("main-guesses", "03", files={"E03.csv": b"\xef\xbb\xbf" + blanks})
        other = {"E04.csv": side_by_side({1: known["01"], 7: known["07"]}), "id.txt": b"07"}
        self.hand_in("main-guesses", "04", files={"E04.zip": zipped(other)})
        on_itself = side_by_side({1: zeros, 4: known["04"], 7: zeros})
        self.hand_in("main-guesses", "07", files={"E07.csv": on_itself, "readme.txt": b"hi"})
        perfect = side_by_side({int(target): self.answer("main", target) for target in known})
        self.hand_in("main-guesses", OWN_TEAM, files={"E12.csv": perfect})


def side_by_side(pairs: Mapping[int, list[str]]) -> bytes:
    """An E file: the two columns of each number, stars for all others up to the last."""
    stars = ["*,*"] * 50
    columns = [pairs.get(number, stars) for number in range(1, max(pairs) + 1)]
    return "".join(",".join(cells) + "\n" for cells in zip(*columns, strict=True)).encode()


@pytest.fixture(scope="module")
def run() -> Run:
    """Call the command line with --json; gives what it printed, and holds it to an exit code."""

    def call(*words: object, code: int = 0) -> Any:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as left:
            main([*map(str, words), "--json"])
        told = json.loads(out.getvalue())
        assert left.value.code == code, told
        return told

    return call


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory, run: Run) -> Contest:
    played = Contest(tmp_path_factory.mktemp("pwscup2024"), run)
    played.play()
    return played


# -- what the verbs say ----------------------------------------------------------------------------------------------------


def test_publish_names_who_is_published_refused_missing_and_late_and_why(contest: Contest) -> None:
    pre, main_ = contest.told["publish pre"], contest.told["publish main"]
    assert pre["published"] == ["01", "03", "12"]
    refused = {entry["team"]: entry["problem"] for entry in pre["refused"]}
    assert set(refused) == {"04", "07"}
    assert refused["04"].startswith(
        "C04_2.csv:4: column 2138: 0.0 is not an integer from 0 to 5; write 0"
    )
    assert "C03_choice.json" in refused["07"]
    assert [entry["file"] for entry in pre["unassigned"]] == ["late"]
    assert main_["published"] == ["01", "04", "07"]
    assert [entry["team"] for entry in main_["refused"]] == ["03"]
    assert [entry["team"] for entry in main_["missing"]] == ["12"]
    records = {
        record["target"]: record
        for record in json.loads(contest.path("pre-phase/answers/releases.json").read_text())
    }
    told = " | ".join(records["03"]["notices"])
    assert "__MACOSX" in told
    assert "candidate 1" in told
    assert "candidate" not in " | ".join(records["01"]["notices"])


def test_score_names_every_refused_file_and_every_pair_without_a_guess(contest: Contest) -> None:
    pre, main_ = contest.told["score pre"], contest.told["score main"]
    problems = {
        (entry["team"], entry["file"]): entry["problems"][0]["code"] for entry in pre["refused"]
    }
    assert problems == {
        ("03", "03/E03.csv"): "pwscup2024.too_few_columns",
        ("04", "04/E04.csv"): "pwscup2024.no_row_of_a",
    }
    missing = {(entry["team"], entry["target"]) for entry in pre["missing"]}
    assert missing == {("03", "01"), ("03", "12"), ("04", "03")}
    problems = {
        (entry["team"], entry["file"]): entry["problems"][0]["code"] for entry in main_["refused"]
    }
    assert problems == {
        ("04", "04/id.txt"): "pwscup2024.id_other_team",
        ("07", "07/E07.csv"): "pwscup2024.own_columns",
        ("07", "07/readme.txt"): "guess.unknown_name",
    }
    assert pre["out_of_play"] == {"04": "refused", "07": "refused"}
    assert main_["out_of_play"] == {"03": "refused", "12": "missing"}


def test_credit_takes_one_guess_or_the_columns_of_an_e_file_and_agrees_with_score(
    contest: Contest, run: Run
) -> None:
    told = contest.told["score main"]["credits"]["04"]["01"]
    answer = contest.path("main-phase", "answers", "04")
    for guess in (
        contest.path("main-guesses", "01", "E01.csv"),
        contest.path("alone", "main-04-all_pairs.csv"),
    ):
        credit = run("credit", "pwscup2024", answer, guess)
        assert {key: credit[key] for key in told} == told
    other = contest.path("pre-guesses", "07", "E07_03.csv")
    refused = run("credit", "pwscup2024", contest.path("pre-phase", "answers", "01"), other, code=1)
    assert refused["problems"][0]["code"] == "guess.other_target"
    assert credit["constant"] == 1 + sum(
        line.endswith(",0") for line in contest.answer("main", "04")
    )


def test_nothing_of_the_answers_lies_in_what_attackers_get(contest: Contest) -> None:
    for target in ("01", "04", "07"):
        files = [path.name for path in contest.path("main-phase", "targets", target).iterdir()]
        expected = [
            f"B{target}a.csv",
            f"B{target}b.csv",
            *(f"C{target}_{number}.csv" for number in range(10)),
            "contest.json",
        ]
        assert sorted(files) == sorted([*expected, "README.md", "README.ja.md"])


def test_a_second_publication_into_the_same_folder_and_missing_paths_are_usage_errors(
    contest: Contest, run: Run
) -> None:
    words = (
        "publish",
        "pwscup2024",
        contest.path("pre"),
        contest.path("pre-in"),
        "-o",
        contest.path("pre-phase"),
    )
    assert "already" in run(*words, code=2)["error"]
    for words in (
        (
            "publish",
            "pwscup2024",
            contest.path("nowhere"),
            contest.path("pre-in"),
            "-o",
            contest.path("x"),
        ),
        (
            "publish",
            "pwscup2024",
            contest.path("pre"),
            contest.path("nowhere"),
            "-o",
            contest.path("x"),
        ),
        (
            "score",
            "pwscup2024",
            contest.path("pre-phase"),
            contest.path("nowhere"),
            "-o",
            contest.path("x"),
        ),
        ("attack", "pwscup2024", "sample", contest.path("nowhere"), "-o", contest.path("x")),
        ("credit", "pwscup2024", contest.path("nowhere"), contest.path("nowhere")),
        ("measure", "pwscup2024", contest.path("nowhere"), contest.path("pre-in", "01")),
        ("standings", "pwscup2024", contest.path("nowhere")),
    ):
        run(*words, code=2)
    assert not contest.path("x").exists()


# -- the second implementation ---------------------------------------------------------------------------------------------

SPLITS = (
    "260 653 1525 2105 2193 2253 2628 2872 3438 3439 3440 3877 3889",
    "2 56 260 653 673 1009 1073 1525 1750 1881 1967 2043 2093 2105 2143 2193 2399 2628 2968 3479 3489 3877 3889",
    "673 1881 1920 2087 2138",
    "2 56 673 810 885 1009 1073 1097 1525 1654 1702 1750 1881 1920 1967 2017 2043 2087 2093 2138 2399 3438 3439 3440",
    "673 810 1073 1126 1702 2100 2174 2253 2797 3393 3466",
    "247 885 1097 1654 2086 2138 2872",
    "247 2100 2143 2872 3479",
    "260 1097 1750 2021 2093 2105 2628 2968",
    "247 1920 2017 2087",
    "260 1097 2628 2174 2797 1073 2100 2968 2105 2193",
)


def columns_of(path: Path) -> dict[str, list[str]]:
    header, *rows = list(csv.reader(io.StringIO(path.read_text())))
    return dict(zip(header, zip(*rows, strict=True), strict=True))


def utility(original: Path, release: Path, team: str) -> Fraction:
    """U = min_j 100 (1 - max e / 2n) over every pair of columns that is not made of two attributes."""
    before = columns_of(original)
    n = len(before["Name"])
    worst = Fraction(100)
    for number, movies in enumerate(SPLITS):
        after = columns_of(release / f"C{team}_{number}.csv")
        assert list(after) == [*ATTRIBUTES, *movies.split()]
        for first, second in combinations(after, 2):
            if first in ATTRIBUTES and second in ATTRIBUTES:
                continue
            cells = Counter(zip(before[first], before[second], strict=True))
            cells.subtract(Counter(zip(after[first], after[second], strict=True)))
            worst = min(worst, 100 * (1 - Fraction(sum(map(abs, cells.values())), 2 * n)))
    return worst


def hits(answer: list[str], guess: list[str]) -> int:
    pairs = [(true.split(","), said.split(",")) for true, said in zip(answer, guess, strict=True)]
    return sum(true[0] == said[0] for true, said in pairs) + sum(
        true[1] == said[1] for true, said in pairs
    )


def total(anonymity: Fraction, use: Fraction) -> Fraction:
    return max(
        Fraction(0),
        anonymity + use - 2 * max(Fraction(0), 50 - anonymity) - 2 * max(Fraction(0), 50 - use),
    )


def expected_round(
    utilities: Mapping[str, Fraction], matrix: Mapping[str, Mapping[str, int]], attackers: list[str]
) -> Scores:
    """Totals and attack scores; ``attackers`` are those whose hits count."""
    most = {
        target: max(row.get(attacker, 0) for attacker in attackers if attacker != target)
        for target, row in matrix.items()
    }
    anonymity = {target: Fraction(100 - most[target]) for target in matrix}
    totals = {target: total(anonymity[target], utilities[target]) for target in matrix}
    ranked = [target for target in matrix if target != OWN_TEAM]
    five = sorted(ranked, key=lambda target: (-totals[target], target))[:5]
    attack = {
        attacker: Fraction(
            sum(
                most[target] if target == attacker else matrix[target].get(attacker, 0)
                for target in five
            )
        )
        for attacker in attackers
    }
    return totals, attack


def ranks(scores: Mapping[str, Fraction]) -> dict[str, int]:
    return {
        team: 1 + sum(other > score for other in scores.values()) for team, score in scores.items()
    }


@pytest.fixture(scope="module")
def expected_pre(contest: Contest) -> Scores:
    made = contest.path("pre-made")
    utilities = {
        team: utility(
            contest.path("pre", "teams", team, f"Bi{team}-{candidate}.csv"), made / team, team
        )
        for team, candidate in (("01", 2), ("03", 1), ("12", 1))
    }
    answer = {target: contest.answer("pre", target) for target in utilities}
    sample = {target: contest.guess("pre", target, "sample") for target in utilities}
    pairs = {target: contest.guess("pre", target, "all_pairs") for target in utilities}
    matrix = {
        "01": {"04": hits(answer["01"], sample["01"]), "07": hits(answer["01"], pairs["01"])},
        "03": {"01": hits(answer["03"], pairs["03"]), "07": hits(answer["03"], pairs["03"])},
        "12": {"01": hits(answer["12"], pairs["12"]), "04": hits(answer["12"], sample["12"])},
    }
    matrix["12"]["07"] = matrix["12"]["01"]
    return expected_round(utilities, matrix, ["01", "03", "04", "07"])


@pytest.fixture(scope="module")
def expected_main(contest: Contest) -> Scores:
    made = contest.path("main-made")
    utilities = {
        team: utility(
            contest.path("main", "teams", team, f"Bi{team}-{candidate}.csv"), made / team, team
        )
        for team, candidate in (("01", 1), ("04", 1), ("07", 3))
    }
    answer = {target: contest.answer("main", target) for target in utilities}
    known = {target: contest.guess("main", target, "all_pairs") for target in utilities}
    always_0 = {target: hits(answer[target], ["0,0"] * 50) for target in utilities}
    matrix = {
        "01": {"03": hits(answer["01"], known["01"]), "07": always_0["01"]},
        "04": {
            "01": hits(answer["04"], known["04"]),
            "03": always_0["04"],
            "07": hits(answer["04"], known["04"]),
        },
        "07": {"01": always_0["07"], "03": hits(answer["07"], known["07"])},
    }
    return expected_round(utilities, matrix, ["01", "03", "04", "07"])


def shown(ranking: list[dict[str, Any]]) -> dict[str, tuple[float | None, int | None]]:
    return {
        line["team"]: (line["score"], line["rank"])
        for line in ranking
        if not line.get("note", "").startswith("not ranked")
    }


def test_a_plain_implementation_of_the_rules_gives_the_same_standings(
    contest: Contest, run: Run, expected_pre: Scores, expected_main: Scores
) -> None:
    (pre_total, pre_attack), (main_total, main_attack) = expected_pre, expected_main
    standings = run(
        "standings",
        "pwscup2024",
        "--pre",
        contest.path("pre.json"),
        "--main",
        contest.path("main.json"),
    )
    teams = [team for team in TEAMS if team != OWN_TEAM]
    pre, main_ = Fraction(1, 10), Fraction(9, 10)
    totals = {
        team: pre * pre_total.get(team, 0) + main_ * main_total.get(team, 0) for team in teams
    }
    attacks = {team: pre * pre_attack[team] + main_ * main_attack[team] for team in teams}
    for name, scores in (("anonymization", totals), ("overall", totals), ("attack", attacks)):
        rank = ranks(scores)
        assert shown(standings[name]) == {team: (float(scores[team]), rank[team]) for team in teams}
    for name, scores in (("total", totals), ("attack", attacks)):
        rank = ranks(scores)
        first = sorted(
            (team for team in teams if rank[team] <= 3), key=lambda team: (rank[team], team)
        )
        assert standings["awards"][name] == first
    unranked = {line["team"] for line in standings["attack"] if line["rank"] is None}
    assert unranked == {OWN_TEAM, "sample attack"}
    notes = {line["team"]: line.get("note", "") for line in standings["overall"]}
    assert notes["03"] == "refused in main"
    assert notes["04"] == notes["07"] == "refused in pre"
    assert notes[OWN_TEAM] == "not ranked, missing in main"


def test_one_round_alone_and_a_disqualification_by_round(
    contest: Contest, run: Run, expected_main: Scores
) -> None:
    _, main_attack = expected_main
    alone = run("standings", "pwscup2024", contest.path("main.json"))
    assert {line["team"]: line["rank"] for line in alone["anonymization"]}["03"] is None
    assert {team: score for team, (score, _) in shown(alone["attack"]).items()} == {
        team: float(score) for team, score in main_attack.items()
    }
    both = ("--pre", contest.path("pre.json"), "--main", contest.path("main.json"))
    barred = run("standings", "pwscup2024", *both, "--disqualified", "main:01")
    assert "01" not in barred["awards"]["total"]
    assert {line["team"]: (line["score"], line["rank"]) for line in barred["overall"]}["01"] == (
        None,
        None,
    )


# -- the reveal ------------------------------------------------------------------------------------------------------------


def test_everything_was_committed_to_and_is_made_again_from_the_revealed_seed(
    contest: Contest, run: Run
) -> None:
    for round_, data in (("pre", ("--data", contest.path("own"))), ("main", ())):
        folders = (contest.path(round_), contest.path(f"{round_}-phase"))
        assert run("verify", "pwscup2024", *folders)["verified"]
        again = run("verify", "pwscup2024", *folders, "--again", *data)
        assert any(
            finding["name"].startswith("made again: phase: answers/01")
            for finding in again["findings"]
        )


def test_verify_again_without_the_organizers_files_names_what_is_missing(
    contest: Contest, run: Run
) -> None:
    told = run(
        "verify", "pwscup2024", contest.path("pre"), contest.path("pre-phase"), "--again", code=1
    )
    states = {finding["state"] for finding in told["findings"]}
    assert states == {"kept", "cannot be made again"}
    assert "--data" in told["findings"][-1]["why"]


@pytest.mark.parametrize(
    "name",
    [
        "main/public/digests.json",
        "main/teams/03/Bi03-2.csv",
        "main/teams/03/Bi03-2_7.csv",
        "main/secret/masks.csv",
        "main/secret/contest.json",
        "main-phase/targets/04/B04a.csv",
        "main-phase/targets/04/B04b.csv",
        "main-phase/targets/04/C04_9.csv",
        "main-phase/answers/04/B04x.csv",
        "main-phase/answers/03/submitted/release.zip",
        "main-phase/public/releases.json",
        "main-phase/attackers/contest.json",
    ],
)
def test_a_flipped_byte_in_any_published_or_revealed_file_is_named(
    contest: Contest, run: Run, name: str
) -> None:
    path = contest.path(name)
    content = path.read_bytes()
    place = len(content) // 2
    try:
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        told = run("verify", "pwscup2024", contest.path("main"), contest.path("main-phase"), code=1)
    finally:
        path.write_bytes(content)
    folder, _, file = name.partition("/")
    broken = [finding["name"] for finding in told["findings"] if finding["state"] != "kept"]
    assert broken == [file if folder == "main" else f"phase: {file}"]
