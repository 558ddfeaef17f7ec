"""A whole contest of amic2020 by files on the command line, with good, bad, late and missing ones, and its scores once more.

Teams 01, 03, 04 and 07 take part, 12 is the organizers' own, which only anonymizes. The second implementation of the scores
at the end is plain Python from the rules page: it reads answers and guesses from the files and uses nothing of kakurenbo.
"""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest
from tests.calling import Called, call

from kakurenbo.cli import main

TEAMS = ("01", "03", "04", "07", "12")
OWN = "12"
ATTACKERS = ("01", "03", "04", "07")
ROUNDS = ("pre", "main")
PUBLISHED = {"pre": ("01", "07", "12"), "main": ("01", "03", "04")}
OUT = {"pre": {"03": "refused", "04": "disqualified"}, "main": {"07": "refused", "12": "missing"}}
SETTINGS = {
    "pre": (
        "--histogram",
        "0.9",
        "--vcm",
        "0.01",
        "--dta-relationship",
        "0.5",
        "--dta-income",
        "0.5",
    ),
    "main": (
        "--max-histogram-error",
        "0.2",
        "--max-correlation-difference",
        "0.3",
        "--dta-relationship",
        "0.5",
        "--dta-income",
        "0.5",
    ),
}


class Contest:
    """The folders of both rounds, and what each call said."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.published: dict[str, Called] = {}
        self.scored: dict[str, Called] = {}

    def preparation(self, round_: str) -> Path:
        return self.folder / round_ / "preparation"

    def submissions(self, round_: str) -> Path:
        return self.folder / round_ / "submissions"

    def phase(self, round_: str) -> Path:
        return self.folder / round_ / "phase"

    def guesses(self, round_: str) -> Path:
        return self.folder / round_ / "guesses"

    def results(self, round_: str) -> Path:
        return self.folder / round_ / "results.json"

    def answer(self, round_: str, team: str) -> list[int]:
        return read_rows(
            self.preparation(round_) / "secret" / team / f"{round_}_answer_{team}.index"
        )

    def anonymize(self, round_: str, team: str, name: str, p: float) -> Path:
        out = self.submissions(round_) / team / name
        out.parent.mkdir(parents=True, exist_ok=True)
        handout = self.preparation(round_) / "teams" / team
        assert call("anonymize", "amic2020", "rrp", handout, out, "--p", p, "--seed", 3).code == 0
        return out

    def hand_in_guess(
        self,
        round_: str,
        attacker: str,
        target: str,
        hits: int,
        *,
        name: str = "",
        count: int = 100,
    ) -> Path:
        """A guess with so many hits: the organizers know the answer."""
        members = self.answer(round_, target)
        others = sorted(set(range(10_000)) - set(members))
        path = self.guesses(round_) / attacker / (name or f"inference_{target}_{attacker}.index")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{row}\n" for row in [*members[:hits], *others[: count - hits]]))
        return path


def read_rows(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def contest(tmp_path_factory: pytest.TempPathFactory) -> Contest:
    played = Contest(tmp_path_factory.mktemp("amic2020"))
    for number, round_ in enumerate(ROUNDS):
        common = (
            "--teams",
            ",".join(TEAMS),
            "--unranked",
            OWN,
            "--scale",
            "small",
            "--data",
            "embedded",
        )
        out = played.preparation(round_)
        prepared = call(
            "prepare",
            "amic2020",
            "-o",
            out,
            "--round",
            round_,
            "--seed",
            2**90 + number,
            *common,
            *SETTINGS[round_],
        )
        assert prepared.code == 0
    hand_in_pre(played)
    hand_in_main(played)
    for round_ in ROUNDS:
        played.published[round_] = call(
            "publish",
            "amic2020",
            played.preparation(round_),
            played.submissions(round_),
            "-o",
            played.phase(round_),
        )
    attack_pre(played)
    attack_main(played)
    for round_ in ROUNDS:
        played.scored[round_] = call(
            "score",
            "amic2020",
            played.phase(round_),
            played.guesses(round_),
            "-o",
            played.results(round_),
        )
    return played


def hand_in_pre(played: Contest) -> None:
    """Submit for 01 from Windows, for 03 an age of 91 and a bad form, for 04 too much noise, for 07 a packed file.

    One more file names a team that does not exist.
    """
    windows = played.anonymize("pre", "01", "pre_anonymizeddata_01.csv", 0.99)
    windows.write_bytes(b"\xef\xbb\xbf" + windows.read_bytes().replace(b"\n", b"\r\n"))
    form = json.loads(
        (played.preparation("pre") / "teams" / "01" / "questionnaire_01.json").read_text()
    )
    form["methods"]["Randomization / Randomized Response / PRAM"] = {
        "attributes": list(range(1, 10)),
        "records": 1000,
    }
    form["declared"], form["claims"]["k"] = "rrp:p=0.99", 5
    (windows.parent / "questionnaire_01.json").write_text(json.dumps(form))
    old = played.anonymize("pre", "03", "D.csv", 0.99)
    old.write_text("91," + old.read_text().partition(",")[2])
    old.with_name("questionnaire_03.json").write_text('{"declared": "rr:columns=foo"}')
    played.anonymize("pre", "04", "D.csv", 0.3)
    plain = played.anonymize("pre", "07", "D.csv", 0.98)
    plain.with_name("D.csv.gz").write_bytes(gzip.compress(plain.read_bytes(), mtime=0))
    plain.unlink()
    played.anonymize("pre", "12", "pre_anonymizeddata_12.csv", 0.99)
    (played.submissions("pre") / "readme.txt").write_text("our release follows")


def hand_in_main(played: Contest) -> None:
    """07 hands in a file in the name of 03, and 12 comes late: the organizers put it aside."""
    for team, p in (("01", 0.99), ("03", 0.98), ("04", 0.97)):
        played.anonymize("main", team, f"main_anonymizeddata_{team}.csv", p)
    played.anonymize("main", "07", "main_anonymizeddata_03.csv", 0.99)
    played.anonymize("main", "12", "D.csv", 0.99)
    (played.submissions("main") / "12").rename(played.submissions("main") / "late")


def attack_pre(played: Contest) -> None:
    """Each attacker has good files beside bad ones."""
    target = played.phase("pre") / "targets" / "07"
    guess = played.guesses("pre") / "01" / "inference_07_01.index"
    assert call("attack", "amic2020", "nearest", target, "-o", guess, "--seed", 1).code == 0
    played.hand_in_guess("pre", "01", "12", 40)
    played.hand_in_guess("pre", "01", "01", 100)  # its own target
    (played.guesses("pre") / "01" / "readme.txt").write_text("done by hand")
    played.hand_in_guess("pre", "03", "01", 30, count=99)
    played.hand_in_guess("pre", "03", "07", 33)
    played.hand_in_guess("pre", "03", "07", 100, name="inference_99_03.index")  # no such target
    played.hand_in_guess("pre", "04", "01", 31)
    windows = played.hand_in_guess("pre", "04", "07", 35)
    windows.write_bytes(windows.read_bytes().replace(b"\n", b"\r\n"))
    played.hand_in_guess("pre", "04", "12", 12)
    played.hand_in_guess("pre", "07", "01", 100, name="inference_01_03.index")  # in the name of 03
    played.hand_in_guess("pre", "07", "12", 77)
    (played.guesses("pre") / "notes.txt").write_text("whose is this?")


def attack_main(played: Contest) -> None:
    """Only 01 and 07 attack everybody; a tie between 03 and 04."""
    for attacker, hits in (
        ("01", {"03": 32, "04": 32}),
        ("03", {"01": 9}),
        ("04", {}),
        ("07", {"01": 21, "03": 14, "04": 8}),
    ):
        for target, count in hits.items():
            played.hand_in_guess("main", attacker, target, count)
    repeated = played.hand_in_guess("main", "04", "01", 50)
    repeated.write_text(
        repeated.read_text().replace(
            repeated.read_text().split("\n")[1], repeated.read_text().split("\n")[0], 1
        )
    )


# -- publication ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("round_", ROUNDS)
def test_everybody_else_is_published_and_what_was_not_is_named_with_its_reason(
    contest: Contest, round_: str
) -> None:
    code, told, _ = contest.published[round_]
    assert code == 1, "somebody was refused or is missing"
    assert tuple(told["published"]) == PUBLISHED[round_]
    found = {
        entry["team"]: state
        for state in ("refused", "disqualified", "missing", "failed")
        for entry in told[state]
    }
    assert found == OUT[round_]
    assert {path.name for path in (contest.phase(round_) / "targets").iterdir()} == set(
        PUBLISHED[round_]
    )


def test_each_refusal_says_what_is_wrong(contest: Contest) -> None:
    pre, final = contest.published["pre"].json, contest.published["main"].json
    assert "17 to 90" in pre["refused"][0]["problem"]
    assert [entry["team"] for entry in pre["attachments"]] == ["03"], (
        "the questionnaire has its own verdict"
    )
    assert "no column 'foo'" in pre["attachments"][0]["problem"]
    assert "must be ≥" in pre["disqualified"][0]["problem"]
    assert "the name says team 03, but team 07 handed it in" in final["refused"][0]["problem"]
    assert [entry["file"] for entry in pre["unassigned"]] == ["readme.txt"]
    assert [entry["file"] for entry in final["unassigned"]] == ["late"]


def test_what_was_put_right_and_what_was_claimed_too_highly_is_told(contest: Contest) -> None:
    records = {
        record["team"]: record
        for record in json.loads((contest.phase("pre") / "answers" / "releases.json").read_text())
    }
    notices = " ".join(records["01"]["notices"])
    assert "byte-order mark" in notices
    assert "CRLF" in notices
    assert "claims k = 5" in notices
    told = json.loads(
        (contest.phase("pre") / "targets" / "01" / "questionnaire_01.json").read_text()
    )
    assert told["methods"] == {
        "Randomization / Randomized Response / PRAM": {
            "attributes": [1, 2, 3, 4, 5, 6, 7, 8, 9],
            "records": 1000,
        }
    }
    assert told["computed"]["k"] == 1


def test_a_team_sees_before_the_deadline_what_the_judge_will_say(contest: Contest) -> None:
    for team, code in (("01", 0), ("03", 1), ("04", 1), ("07", 0)):
        handout, entry = (
            contest.preparation("pre") / "teams" / team,
            contest.submissions("pre") / team,
        )
        assert call("measure", "amic2020", handout, entry).code == code
    measured = call(
        "measure",
        "amic2020",
        contest.preparation("pre") / "teams" / "04",
        contest.submissions("pre") / "04",
    ).json
    assert measured["thresholds"]["vcm"] == {"minimum": 0.01}, "the contest's own thresholds"
    records = json.loads((contest.phase("pre") / "public" / "releases.json").read_text())
    judged = next(record for record in records if record["team"] == "04")
    assert {one["name"]: one["value"] for one in judged["measurements"]} == measured["scores"]


def test_an_explicit_round_goes_before_the_contests(contest: Contest) -> None:
    handout, entry = (
        contest.preparation("main") / "teams" / "01",
        contest.submissions("main") / "01",
    )
    assert set(call("measure", "amic2020", handout, entry).json["thresholds"]) == {
        "dta_relationship",
        "dta_income",
        "max_histogram_error",
        "max_correlation_difference",
    }
    as_pre = call("measure", "amic2020", handout, entry, "--round", "pre").json["thresholds"]
    assert as_pre == {
        "histogram": {"minimum": 0.99},
        "vcm": {"minimum": 0.4},
        "dta_relationship": {"minimum": 0.85},
        "dta_income": {"minimum": 0.85},
    }


# -- guesses -------------------------------------------------------------------------------------------------------------


def test_a_bad_guess_costs_that_file_alone_and_is_named(contest: Contest) -> None:
    code, told, _ = contest.scored["pre"]
    assert code == 1
    assert {(entry["team"], entry["file"]) for entry in told["refused"]} == {
        ("", "notes.txt"),
        ("01", "01/inference_01_01.index"),
        ("01", "01/readme.txt"),
        ("03", "03/inference_01_03.index"),
        ("03", "03/inference_99_03.index"),
        ("07", "07/inference_01_03.index"),
    }
    reasons = {(entry["team"], entry["file"]): entry["problem"] for entry in told["refused"]}
    assert "exactly 100" in reasons["03", "03/inference_01_03.index"]
    assert "one's own release" in reasons["01", "01/inference_01_01.index"]
    assert "a name is inference_07_01.index" in reasons["01", "01/readme.txt"], (
        "not one's own target"
    )
    assert "no target 99" in reasons["03", "03/inference_99_03.index"]
    assert (
        "the name says attacker 03, but 07 handed it in"
        in reasons["07", "07/inference_01_03.index"]
    )
    hits = {
        (target, attacker): row["hits"]
        for target, found in told["credits"].items()
        for attacker, row in found.items()
    }
    assert hits["07", "03"] == 33
    assert hits["07", "04"] == 35, "Windows line ends are put right"
    assert {(entry["team"], entry["target"]) for entry in told["missing"]} == {
        ("03", "01"),
        ("03", "12"),
        ("07", "01"),
    }


def test_credit_says_what_score_says_and_refuses_a_guess_at_another_target(
    contest: Contest,
) -> None:
    answers, guesses = contest.phase("pre") / "answers", contest.guesses("pre")
    guess = guesses / "01" / "inference_07_01.index"
    credit = call("credit", "amic2020", answers / "07", guess)
    assert credit.code == 0
    assert credit.json["hits"] == contest.scored["pre"].json["credits"]["07"]["01"]["hits"]
    assert credit.json["hits"] > 80, "nearest sees through so little noise"
    assert credit.json["chance"] == {"hits": 10.0, "band95": [5.0, 16.0]}
    other = call("credit", "amic2020", answers / "12", guess)
    assert other.code == 1
    assert "this is a guess at 07, but the answer is that of 12" in other.err
    bare = call(
        "credit",
        "amic2020",
        contest.preparation("pre") / "secret" / "07" / "pre_answer_07.index",
        guess,
    )
    assert bare.json == credit.json


def test_an_attack_reads_the_questionnaire_or_single_files(
    contest: Contest, tmp_path: Path
) -> None:
    phase = contest.phase("pre")
    files = (
        phase / "attackers" / "pre_syntheticdata.csv",
        phase / "targets" / "01" / "pre_anonymizeddata_01.csv",
    )
    for number, given in enumerate(((phase / "targets" / "01",), files)):
        assert (
            call(
                "attack",
                "amic2020",
                "likelihood",
                *given,
                "-o",
                tmp_path / str(number),
                "--seed",
                1,
            ).code
            == 0
        )
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes(), (
        "both know the declared method"
    )
    assert (
        call(
            "attack", "amic2020", "nearest", phase / "targets" / "55", "-o", tmp_path / "none"
        ).code
        == 2
    )


# -- standings -----------------------------------------------------------------------------------------------------------


def test_a_second_implementation_gives_the_same_standings(contest: Contest) -> None:
    hits = {round_: hits_by_the_rules(contest, round_) for round_ in ROUNDS}
    for weights, arguments in (
        ({"pre": Fraction(1)}, (contest.results("pre"),)),
        ({"main": Fraction(1)}, (contest.results("main"),)),
        (
            {"pre": Fraction(1, 10), "main": Fraction(9, 10)},
            ("--pre", contest.results("pre"), "--main", contest.results("main")),
        ),
    ):
        found = call("standings", "amic2020", *arguments)
        assert found.code == 0
        expected = standings_by_the_rules(hits, weights)
        for ranking, lines in expected.items():
            ranked = [
                line
                for line in found.json[ranking]
                if not line.get("note", "").startswith("not ranked")
            ]
            assert [
                (line["team"], line["rank"], line.get("shown", "")) for line in ranked
            ] == lines, (ranking, weights)
            barred = {
                line["team"]
                for line in ranked
                if "disqualified" in line.get("note", "") and ranking != "attack"
            }
            may_win = [
                (team, place)
                for team, place, _ in lines
                if place is not None and team not in barred
            ]
            winners = [
                team for team, place in may_win if sum(other < place for _, other in may_win) < 3
            ]
            assert found.json["awards"].get(ranking) == (
                None if set(weights) == {"pre"} else winners
            ), "none for pre alone"


def test_the_organizers_own_team_and_sample_attack_are_shown_below_without_rank_or_award(
    contest: Contest,
) -> None:
    found = call("standings", "amic2020", contest.results("pre")).json
    assert found["anonymization"][-1] == {
        "team": "12",
        "score": 0.23,
        "rank": None,
        "shown": "230",
        "note": "not ranked",
    }
    assert found["attack"][-1]["team"] == "attack.py"
    assert found["attack"][-1]["rank"] is None
    both = ("--pre", contest.results("pre"), "--main", contest.results("main"))
    awards = call("standings", "amic2020", *both).json["awards"]
    assert awards
    assert all("12" not in winners for winners in awards.values())


def test_disqualified_teams_take_no_prize_rank(contest: Contest) -> None:
    found = call("standings", "amic2020", contest.results("pre")).json
    lines = {line["team"]: line for line in found["anonymization"]}
    assert {team: (lines[team]["rank"], lines[team]["note"]) for team in ("03", "04")} == {
        "03": (None, "refused"),
        "04": (None, "disqualified"),
    }
    assert {line["team"] for line in found["anonymization"] if line["rank"]} == {"01", "07"}
    later = call("standings", "amic2020", contest.results("pre"), "--disqualified", "pre:01").json
    assert [line["team"] for line in later["anonymization"] if line["rank"]] == ["07"]
    assert later["awards"] == {}


def test_standings_are_shown_with_awards_to_people(
    contest: Contest, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(
            [
                "standings",
                "amic2020",
                "--pre",
                str(contest.results("pre")),
                "--main",
                str(contest.results("main")),
            ]
        )
    assert not left.value.code
    text = capsys.readouterr().out
    assert "Anonymization" in text
    assert "award for overall: " in text


# -- after the reveal ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("round_", ROUNDS)
def test_everything_was_committed_to_and_can_be_made_again_in_any_language(
    contest: Contest, round_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified = call("verify", "amic2020", contest.preparation(round_), contest.phase(round_))
    assert verified.code == 0, verified.err
    names = {finding["name"] for finding in verified.json["findings"]}
    assert {
        "seed",
        "teams/01/test.csv",
        f"phase: targets/01/{round_}_anonymizeddata_01.csv",
    } <= names
    monkeypatch.setenv("KAKURENBO_LANG", "ja")
    again = call(
        "verify", "amic2020", contest.preparation(round_), contest.phase(round_), "--again"
    )
    assert again.code == 0, [
        finding for finding in again.json["findings"] if finding["state"] != "kept"
    ]
    assert len(again.json["findings"]) > len(names)


@pytest.mark.parametrize(
    "place",
    [
        "preparation/public/contest.json",
        "preparation/public/commitments.json",
        "preparation/attackers/pre_syntheticdata.csv",
        "preparation/teams/03/pre_samplingdata_03.csv",
        "preparation/teams/04/questionnaire_04.json",
        "preparation/teams/07/test.csv",
        "preparation/secret/01/pre_answer_01.index",
        "preparation/secret/contest.json",
        "phase/public/releases.json",
        "phase/public/contest.json",
        "phase/attackers/pre_syntheticdata.csv",
        "phase/targets/01/pre_anonymizeddata_01.csv",
        "phase/targets/01/questionnaire_01.json",
        "phase/answers/07/pre_answer_07.index",
        "phase/answers/07/submitted/D.csv.gz",
        "phase/answers/03/submitted/questionnaire_03.json",
    ],
)
def test_one_changed_byte_in_any_file_is_named(
    contest: Contest, tmp_path: Path, place: str
) -> None:
    forged = tmp_path / "pre"
    shutil.copytree(contest.folder / "pre", forged, copy_function=_link)
    data = bytearray((forged / place).read_bytes())
    # A digit or a letter in the middle becomes another one, so that the file stays as well-formed as it was.
    middle = next(place for place in range(len(data) // 2, len(data)) if chr(data[place]).isalnum())
    data[middle] ^= 1
    (forged / place).unlink()
    (forged / place).write_bytes(data)
    found = call("verify", "amic2020", forged / "preparation", forged / "phase")
    if found.code == 2:
        assert place in found.json["error"], "a contest.json that is none any more"
        return
    assert found.code == 1
    changed = {finding["name"] for finding in found.json["findings"] if finding["state"] != "kept"}
    if place.endswith("commitments.json"):
        assert changed, "whatever it does not speak of truly any more"
    else:
        assert place.removeprefix("preparation/").replace("phase/", "phase: ") in changed


def _link(source: str, target: str) -> None:
    Path(target).hardlink_to(source)


def test_another_seed_opens_nothing(contest: Contest, tmp_path: Path) -> None:
    forged = tmp_path / "preparation"
    shutil.copytree(contest.preparation("pre"), forged)
    opening = forged / "secret" / "opening.json"
    opening.write_text(opening.read_text().replace(str(2**90), str(2**90 + 2)))
    found = call("verify", "amic2020", forged)
    assert found.code == 1
    assert {finding["state"] for finding in found.json["findings"]} == {"broken"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("publish", "amic2020", "{pre}/preparation", "{pre}/nothing", "-o", "{out}"),
        ("publish", "amic2020", "{pre}/phase", "{pre}/submissions", "-o", "{out}"),
        ("score", "amic2020", "{pre}/preparation", "{pre}/guesses", "-o", "{out}"),
        ("score", "amic2020", "{pre}/phase", "{pre}/nothing", "-o", "{out}"),
        ("credit", "amic2020", "{pre}/phase/answers/99", "{pre}/guesses/01/inference_07_01.index"),
        ("standings", "amic2020", "{pre}/nothing.json"),
        ("verify", "amic2020", "{pre}/nothing"),
        ("check", "amic2020", "{pre}/nothing", "{pre}/submissions/01"),
        ("check", "amic2020", "{pre}/preparation/teams/01", "{pre}/nothing"),
        ("sample", "amic2020", "{pre}/nothing.csv", "-o", "{out}"),
    ],
)
def test_a_path_that_is_not_there_is_a_sentence_and_exit_code_2(
    contest: Contest, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    filled = [word.format(pre=contest.folder / "pre", out=tmp_path / "out") for word in arguments]
    found = call(*filled)
    assert found.code == 2
    assert "bug in kakurenbo" not in found.err
    assert len(found.err.strip().splitlines()) <= 2
    assert not (tmp_path / "out").exists()


def test_generator_and_sampling_function_run_on_their_own(tmp_path: Path) -> None:
    table, sample, index = tmp_path / "B.csv", tmp_path / "C.csv", tmp_path / "C.index"
    made = call(
        "generate", "amic2020", "--rows", "400", "--data", "embedded", "-o", table, "--seed", "1"
    )
    assert made.code == 0
    assert made.json["rows"] == 400
    drawn = call(
        "sample", "amic2020", table, "--rate", "0.25", "-o", sample, "--index", index, "--seed", "1"
    )
    assert drawn.code == 0
    everybody = table.read_text().splitlines()
    assert [everybody[row] for row in read_rows(index)] == sample.read_text().splitlines()
    assert len(read_rows(index)) == 100


# -- the scores once more, in plain Python from the rules page ------------------------------------------------------------


def hits_by_the_rules(contest: Contest, round_: str) -> dict[tuple[str, str], int]:
    """|E_ij intersect C_i| of every valid guess, by (anonymizer, attacker)."""
    hits = {}
    for attacker in ATTACKERS:
        for target in PUBLISHED[round_]:
            path = contest.guesses(round_) / attacker / f"inference_{target}_{attacker}.index"
            if target == attacker or not path.is_file():
                continue
            rows = [int(word) for word in path.read_text().split()]
            if len(rows) == len(set(rows)) == 100 and all(0 <= row < 10_000 for row in rows):
                answer = (
                    contest.phase(round_) / "answers" / target / f"{round_}_answer_{target}.index"
                )
                hits[target, attacker] = len(set(rows) & set(read_rows(answer)))
    return hits


def standings_by_the_rules(
    hits: dict[str, dict[tuple[str, str], int]], weights: dict[str, Fraction]
) -> dict[str, list[tuple[str, int | None, str]]]:
    """(team, rank, shown points) of the three rankings, best first."""
    anonymization: dict[str, Fraction | None] = dict.fromkeys(ATTACKERS)
    attack = dict.fromkeys(ATTACKERS, Fraction(0))
    for round_, weight in weights.items():
        accuracy = {pair: Fraction(count, 100) for pair, count in hits[round_].items()}
        ranked = [team for team in PUBLISHED[round_] if team != OWN]
        own = {
            i: 1
            - max(
                (accuracy.get((i, j), Fraction(0)) for j in ATTACKERS if j != i),
                default=Fraction(0),
            )
            for i in ranked
        }
        for team, score in own.items():
            anonymization[team] = (anonymization[team] or Fraction(0)) + weight * score
        best_first = sorted(ranked, key=lambda team: (-own[team], team))
        for j in ATTACKERS:
            first = [team for team in best_first if team != j][:3]
            attack[j] += (
                weight
                * sum((accuracy.get((i, j), Fraction(0)) for i in first), Fraction(0))
                / len(first)
            )
    anonymization_rank = ranks(anonymization)
    attack_rank = ranks(dict(attack))
    overall: dict[str, Fraction | None] = {}
    for team in ATTACKERS:
        hiding, seeking = anonymization_rank[team], attack_rank[team]
        overall[team] = None if hiding is None or seeking is None else Fraction(1, hiding + seeking)
    return {
        "anonymization": table(anonymization),
        "attack": table(dict(attack)),
        "overall": table(overall),
    }


def ranks(scores: dict[str, Fraction | None]) -> dict[str, int | None]:
    """1, 1, 3; none without a score."""
    known = [score for score in scores.values() if score is not None]
    return {
        team: None if score is None else 1 + sum(other > score for other in known)
        for team, score in scores.items()
    }


def table(scores: dict[str, Fraction | None]) -> list[tuple[str, int | None, str]]:
    place = ranks(scores)
    order: Iterable[str] = sorted(
        scores, key=lambda team: (place[team] is None, place[team] or 0, team)
    )
    return [
        (team, place[team], "" if (score := scores[team]) is None else str(int(score * 1000)))
        for team in order
    ]
