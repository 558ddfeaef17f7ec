"""A whole contest of darc2019 by files on the command line, and a second implementation of its rules in plain Python.

Five teams with gaps in their numbers; 12 is the organizers' own. What they hand in is good, bad, late or missing.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
import json
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kakurenbo.cli import main

TEAMS = ("01", "03", "04", "07", "12")
OWN_TEAM = "12"
PUBLISHED = ("01-2", "01-4", "01-5", "03", "12")
Run = Callable[..., Any]
Cell = tuple[str, int]
"""A customer, and a month from 0."""


def run(*arguments: object, code: int = 0) -> Any:
    """The JSON object that a call of the command line prints; its exit code must be ``code``."""
    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main([*map(str, arguments), "--json"])
    assert (left.value.code or 0) == code, (arguments, err.getvalue())
    assert "Traceback" not in err.getvalue()
    return json.loads(out.getvalue())


# -- the rules in plain Python ------------------------------------------------------------------------------------------


class PlainContest:
    """What the rules pages say, row by row, from the files of the phase folder."""

    keys: ClassVar = {1: "dq", 2: "ip", 3: "iq", 4: "id", 5: "ipq", 6: "idq"}

    def __init__(self, phase: Path, mode: str) -> None:
        self.phase, self.mode = phase, mode
        self.original = rows_of(phase / "attackers" / "ground_truth.csv")
        self.month = {
            name: place for place, name in enumerate(sorted({row[1][:7] for row in self.original}))
        }
        self.customers = sorted({row[0] for row in self.original})
        self.truth = {target: self.pseudonyms(target) for target in PUBLISHED}

    def submitted(self, target: str) -> list[list[str]]:
        (file,) = (self.phase / "answers" / target / "submitted").iterdir()
        return rows_of(file)

    def pseudonyms(self, target: str) -> dict[Cell, str]:
        """F, without its DEL."""
        pairs = zip(self.original, self.submitted(target), strict=True)
        return {(t[0], self.month[t[1][:7]]): a[0] for t, a in pairs if a[0] != "DEL"}

    def matrix(
        self, guesses: Mapping[Cell, str], header: bool = True, names: Sequence[str] = ()
    ) -> str:
        """F^ as a file."""
        lines = [",".join(["id_user", *(names or self.month)])] if header else []
        cells = range(len(self.month))
        lines += [
            ",".join([who, *(guesses.get((who, month), "DEL") for month in cells)])
            for who in self.customers
        ]
        return "\n".join(lines) + "\n"

    def guesses(self, path: Path) -> dict[Cell, list[str]]:
        """The guesses of a file, with or without a header, best first."""
        rows = [
            row
            for row in csv.reader(io.StringIO(path.read_text("utf-8-sig")))
            if row[0] != "id_user"
        ]
        cells = {
            (row[0], month): text
            for row in rows
            for month, text in enumerate(row[1:])
            if text != "DEL"
        }
        return {
            cell: text.split(":") if self.mode == "aicrowd" else [text]
            for cell, text in cells.items()
        }

    def credit(self, target: str, guesses: Mapping[Cell, Sequence[str]]) -> tuple[Fraction, int]:
        """What is earned, and of how many cells."""
        counted = {
            cell: name
            for cell, name in self.truth[target].items()
            if self.mode == "rules" or cell[1] != 12
        }
        earned = Fraction(0)
        for cell, name in counted.items():
            told = list(guesses.get(cell, ()))
            if self.mode == "rules":
                earned += told[:1] == [name]
            else:
                worth = [3 - place for place, text in enumerate(told) if name in text]
                earned += Fraction(worth[-1], 3) if worth else 0
        return earned, len(counted)

    def rate(self, credit: tuple[Fraction, int]) -> Fraction:
        figure = float(credit[0]) / credit[1]
        return Fraction(str(round(figure, 6) if self.mode == "aicrowd" else figure))

    def baselines(self, target: str) -> dict[str, dict[Cell, list[str]]]:
        published = rows_of(self.phase / "targets" / target / f"S_{target}.csv")
        found = {
            f"S{number}": self._key_match(published, self.keys[number]) for number in self.keys
        }
        if self.mode == "aicrowd":
            found["S6"] = self._key_match(published, "idp")
        return {**found, "S7": self._overlap(published)}

    def _key_match(self, published: list[list[str]], names: str) -> dict[Cell, list[str]]:
        rules = self.mode == "rules"

        def key(row: list[str]) -> tuple[str, ...]:
            parts = {"d": row[1], "i": row[3][:2] if rules else row[3], "p": row[4], "q": row[5]}
            return (*(parts[name] for name in names), row[1][:7] if rules else "")

        last = {key(row): row[0] for row in published}
        return {
            (row[0], self.month[row[1][:7]]): [last[key(row)]]
            for row in self.original
            if key(row) in last
        }

    def _overlap(self, published: list[list[str]]) -> dict[Cell, list[str]]:
        bought, offered = self._items(self.original), self._items(published)
        by_month: dict[int, dict[str, set[str]]] = defaultdict(dict)
        for (name, month), items in sorted(offered.items()):
            by_month[month][name] = items
        guesses = {}
        for (who, month), own in bought.items():
            there = by_month[month]
            guesses[who, month] = sorted(there, key=lambda name: -len(own & there[name]))[:3]
        return guesses

    def _items(self, rows: list[list[str]]) -> dict[Cell, set[str]]:
        items: dict[Cell, set[str]] = defaultdict(set)
        for row in rows:
            if self.mode == "rules" or row[1] != "2010/12/31":
                items[row[0], self.month[row[1][:7]]].add(row[3])
        return items

    def errors(self, target: str) -> dict[str, float]:
        """E4, E5 and E6."""
        days = prices = deleted = 0.0
        for t, a in zip(self.original, self.submitted(target), strict=True):
            if a[0] == "DEL":
                deleted += 1
                continue
            days += abs((day_of(t[1]) - day_of(a[1])).days) / 31
            low, high = sorted((float(t[4]), float(a[4])))
            prices += 0 if high == low == 0 else 1 - (low / high if low > 0 else 0)
        return {
            name: figure / len(self.original)
            for name, figure in zip(("E4", "E5", "E6"), (days, prices, deleted), strict=True)
        }


def rows_of(path: Path) -> list[list[str]]:
    """The rows of a table below its header."""
    return list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8-sig"))))[1:]


def day_of(text: str) -> datetime.date:
    return datetime.date(*map(int, text.split("/")))


# -- the contest ----------------------------------------------------------------------------------------------------------


class Contest:
    """The folders of a round, played once; ``told`` keeps what the verbs said."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder, self.mode = folder, mode
        self.told: dict[str, Any] = {}

    def path(self, *parts: str) -> Path:
        return self.folder.joinpath(*parts)

    def play(self) -> None:
        settings = (
            "--scale",
            "small",
            "--data",
            "embedded",
            "--mode",
            self.mode,
            "--seed",
            str(2**70 + 1),
        )
        teams = ("--teams", ",".join(TEAMS), "--unranked", OWN_TEAM)
        run("prepare", "darc2019", "-o", self.path("contest"), *teams, *settings)
        self._hand_in()
        words = (
            "publish",
            "darc2019",
            self.path("contest"),
            self.path("in"),
            "-o",
            self.path("phase"),
        )
        self.told["publish"] = run(*words, code=1)
        self.plain = PlainContest(self.path("phase"), self.mode)
        self._attack()
        words = (
            "score",
            "darc2019",
            self.path("phase"),
            self.path("guesses"),
            "-o",
            self.path("results.json"),
        )
        self.told["score"] = run(*words, code=1)
        self.told["standings"] = run("standings", "darc2019", self.path("results.json"))

    def write(self, *place: str, content: str | bytes) -> None:
        self.path(*place).parent.mkdir(parents=True, exist_ok=True)
        self.path(*place).write_bytes(content.encode() if isinstance(content, str) else content)

    def release(self, team: str, method: str, *options: str) -> bytes:
        out = self.path("made.csv")
        run(
            "anonymize",
            "darc2019",
            method,
            self.path("contest", "teams", team),
            out,
            *options,
            "--seed",
            team,
        )
        return out.read_bytes()

    def _hand_in(self) -> None:
        """01: five tables, the third against the rules. 03: one of any name. 04: too many rows deleted. 07: nothing."""
        monthly = self.release("01", "monthly_pseudonyms")
        lines = monthly.decode().splitlines()
        kept = len(lines) // 3
        third = "\n".join(lines[:kept]) + "\n" + "DEL,,,,,\n" * (len(lines) - kept)
        place = next(place for place, line in enumerate(lines) if ",2011/03/" in line)
        lines[place] = lines[place].replace(",2011/03/", ",2011/04/")
        deleted = self.release("01", "delete", "--share", "0.05")
        self.write("in", "01", "A_01-1.csv", content=monthly)
        self.write(
            "in", "01", "A_01-2.csv", content=b"\xef\xbb\xbf" + deleted.replace(b"\n", b"\r\n")
        )
        self.write("in", "01", "A_01-3.csv", content="\n".join(lines))
        self.write(
            "in",
            "01",
            "A_01-4.csv",
            content=self.release("01", "pipeline", "--steps", "dates:method=noise|values"),
        )
        self.write("in", "01", "A_01-5.csv", content=self.release("01", "crowds"))
        self.write("in", "01", "A_03.csv", content=monthly)
        self.write("in", "03", "our table.csv", content=self.release("03", "swap_items"))
        self.write("in", "04", "A_04.csv", content=third)
        self.write("in", "12", "A_12.csv", content=self.release("12", "dates"))
        self.write("in", "12", "readme.txt", content="our table")
        self.write("in", "late", "A_04.csv", content=monthly)

    def attack(self, target: str, method: str) -> bytes:
        """The guess that ``attack`` writes from what attackers are given, and nothing beside it."""
        if not self.path("players").exists():
            for part in ("targets", "attackers"):
                shutil.copytree(self.path("phase", part), self.path("players", part))
        out = self.path("guess.csv")
        run(
            "attack",
            "darc2019",
            method,
            self.path("players", "targets", target),
            "-o",
            out,
            "--seed",
            "1",
        )
        return out.read_bytes()

    def part(self, target: str, share: float) -> dict[Cell, str]:
        """The true pseudonyms of the first customers."""
        first = set(self.plain.customers[: int(share * len(self.plain.customers))])
        return {cell: name for cell, name in self.plain.truth[target].items() if cell[0] in first}

    def _attack(self) -> None:
        matrix = self.plain.matrix
        for number in range(
            1, 11
        ):  # the seventh is the best of the ten; an eleventh would be better still
            guess = matrix(self.part("01-4", (7 * number % 10 + 1) / 20))
            self.write("guesses", "03", f"guess_01-4_03-{number}.csv", content=guess)
        self.write(
            "guesses", "03", "guess_01-4_03-11.csv", content=matrix(self.plain.truth["01-4"])
        )
        self.write("guesses", "03", "guess_12_03.csv", content=self.attack("12", "tfidf"))

        backwards = matrix(self.plain.truth["01-5"], names=list(self.plain.month)[::-1])
        self.write("guesses", "04", "guess_01-5_04.csv", content=backwards)
        self.write("guesses", "04", "guess_01-2_04.csv", content=self.attack("01-2", "keys"))
        self.write("guesses", "04", "readme.txt", content="how we did it")

        self.write("guesses", "07", "guess_03_07.csv", content=self.attack("03", "tfidf"))
        self.write(
            "guesses", "07", "guess_01-1_07.csv", content=matrix({})
        )  # later tables count instead of 01-1
        short = matrix(self.plain.truth["12"]).splitlines()[:-1]
        self.write("guesses", "07", "guess_12_07.csv", content="\n".join(short) + "\n")
        bare = matrix(self.part("01-5", 0.2), header=False).splitlines()[::-1]
        self.write("guesses", "07", "guess_01-5_07-2.csv", content="\r\n".join(bare) + "\r\n")

        self.write("guesses", "01", "guess_01-5_01.csv", content=matrix(self.plain.truth["01-5"]))
        listed = {cell: f"x:{name}:{name}" for cell, name in self.part("03", 0.3).items()}
        self.write(
            "guesses", "01", "guess_03_01.csv", content=matrix({**self.part("03", 0.4), **listed})
        )
        self.write("guesses", "12", "guess_01-5_12.csv", content=matrix(self.plain.truth["01-5"]))
        self.write("guesses", "guests", "guess_03_99.csv", content=matrix({}))


@pytest.fixture(scope="module", params=["rules", "aicrowd"])
def contest(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Contest]:
    played = Contest(tmp_path_factory.mktemp("darc2019"), request.param)
    played.play()
    yield played
    shutil.rmtree(played.folder)


COUNTED = {  # the guess files that count, by target and attacker
    "01-2": {"04": "guess_01-2_04.csv"},
    "01-4": {"03": "guess_01-4_03-7.csv"},
    "01-5": {"07": "guess_01-5_07-2.csv", "12": "guess_01-5_12.csv"},
    "03": {"01": "guess_03_01.csv", "07": "guess_03_07.csv"},
    "12": {"03": "guess_12_03.csv"},
}


# -- what becomes of files ------------------------------------------------------------------------------------------------


def test_of_five_tables_the_last_three_valid_ones_are_published_and_nobodys_file_touches_anothers(
    contest: Contest,
) -> None:
    told = contest.told["publish"]
    assert tuple(told["published"]) == PUBLISHED
    assert told["superseded"] == ["01-1"]
    assert [(one["target"], one["files"]) for one in told["refused"]] == [
        ("01-3", ["A_01-3.csv"]),
        ("04", ["A_04.csv"]),
    ]
    assert "the month was changed" in told["refused"][0]["problem"]
    assert any("rows are deleted" in problem for problem in told["refused"][1]["problems"])
    assert [one["team"] for one in told["missing"]] == ["07"]
    assert [one["file"] for one in told["unassigned"]] == ["late", "01/A_03.csv", "12/readme.txt"]
    assert told["disqualified"] == told["failed"] == []


def test_a_phase_folder_is_never_written_over(contest: Contest) -> None:
    before = {
        path: path.read_bytes() for path in contest.path("phase").rglob("*") if path.is_file()
    }
    run(
        "publish",
        "darc2019",
        contest.path("contest"),
        contest.path("in"),
        "-o",
        contest.path("phase"),
        code=2,
    )
    assert before == {
        path: path.read_bytes() for path in contest.path("phase").rglob("*") if path.is_file()
    }


def test_s_holds_the_kept_rows_in_another_order_and_f_is_that_of_t_and_a(contest: Contest) -> None:
    for target in PUBLISHED:
        kept = [row for row in contest.plain.submitted(target) if row[0] != "DEL"]
        published = rows_of(contest.path("phase", "targets", target, f"S_{target}.csv"))
        assert sorted(published) == sorted(kept)
        assert published != kept
        answer = contest.path("phase", "answers", target, f"F_{target}.csv").read_text()
        assert answer == contest.plain.matrix(contest.plain.truth[target])


def test_a_bad_guess_file_costs_that_file_alone_and_is_named(contest: Contest) -> None:
    refused = {
        (one["team"], one["file"]): one["problems"][0]["code"]
        for one in contest.told["score"]["refused"]
    }
    assert refused == {
        ("", "guests"): "guess.unknown_attacker",
        ("01", "01/guess_01-5_01.csv"): "guess.own_target",
        ("03", "03/guess_01-4_03-11.csv"): "guess.too_many",
        ("04", "04/guess_01-5_04.csv"): "darc2019.month_order",
        ("04", "04/readme.txt"): "guess.unknown_name",
        ("07", "07/guess_01-1_07.csv"): "guess.unknown_target",
        ("07", "07/guess_12_07.csv"): "darc2019.customer_missing",
    }
    missing = {(one["team"], one["target"]) for one in contest.told["score"]["missing"]}
    assert missing >= {("04", "01-5"), ("07", "12")}
    assert ("07", "03") not in missing


# -- the second implementation --------------------------------------------------------------------------------------------


@cache
def wanted_credits(contest: Contest) -> dict[str, dict[str, tuple[Fraction, int]]]:
    """The credit of every guess that counts and of every baseline, cell by cell."""
    plain, found = contest.plain, {}
    for target in PUBLISHED:
        told = {
            who: plain.guesses(contest.path("guesses", who, file))
            for who, file in COUNTED[target].items()
        }
        everybody = {**told, **plain.baselines(target)}
        found[target] = {who: plain.credit(target, guesses) for who, guesses in everybody.items()}
    return found


def test_every_credit_is_that_of_the_rules(contest: Contest) -> None:
    wanted, found = wanted_credits(contest), contest.told["score"]["credits"]
    assert {target: set(row) for target, row in found.items()} == {
        target: set(row) for target, row in wanted.items()
    }
    for target, row in wanted.items():
        for attacker, (earned, cells) in row.items():
            credit = found[target][attacker]
            assert credit["hits"] == pytest.approx(float(earned), rel=1e-12), (target, attacker)
            assert credit["of"] == cells
            assert Fraction(str(credit["reid"])) == contest.plain.rate((earned, cells))
            assert credit["reid_of_all_cells"] == pytest.approx(
                float(earned) / 13 / len(contest.plain.customers)
            )


def test_the_maximum_of_ten_attacks_counts(contest: Contest) -> None:
    plain = contest.plain
    files = [
        contest.path("guesses", "03", f"guess_01-4_03-{number}.csv") for number in range(1, 11)
    ]
    earned = [plain.credit("01-4", plain.guesses(file))[0] for file in files]
    tries = contest.told["score"]["tries"]["01-4"]["03"]
    assert [credit["hits"] for credit in tries] == [float(hits) for hits in earned]
    assert (
        contest.told["score"]["credits"]["01-4"]["03"]["hits"]
        == float(max(earned))
        == float(earned[6])
    )


def test_utility_is_at_least_every_error_that_is_worked_out_row_by_row(contest: Contest) -> None:
    records = json.loads(contest.path("phase", "public", "releases.json").read_text())
    for record in (one for one in records if one["target"] in PUBLISHED):
        figures = {measured["name"]: measured["value"] for measured in record["measurements"]}
        wanted = contest.plain.errors(record["target"])
        assert {name: figures[name] for name in wanted} == pytest.approx(
            wanted, abs=1e-4 if contest.mode == "aicrowd" else 1e-9
        )
        assert figures["U"] == max(figures[f"E{number}"] for number in range(1, 7))
        assert contest.told["score"]["utility"][record["target"]] == figures["U"]


def test_the_standings_are_those_of_the_rules(contest: Contest) -> None:
    """Rules 14 to 18: (U + reid) / 2, the best of a team's tables, the lowest wins; the organizers' team has no rank."""
    counting = {
        "S1",
        "S2",
        "S3",
        "S4",
        "S5",
        "S6",
        *({"S7"} if contest.mode == "aicrowd" else ()),
        "01",
        "03",
        "04",
        "07",
    }
    rates = {
        target: {who: contest.plain.rate(credit) for who, credit in row.items()}
        for target, row in wanted_credits(contest).items()
    }
    scores = {}
    for target, row in rates.items():
        reid = max(rate for who, rate in row.items() if who in counting)
        scores[target] = (Fraction(str(contest.told["score"]["utility"][target])) + reid) / 2
    found = contest.told["standings"]
    assert {table: line["score"] for table, line in found["tables"].items()} == pytest.approx(
        {target: float(score) for target, score in scores.items()}, abs=1e-12
    )
    teams = {
        "01": min(scores[table] for table in ("01-2", "01-4", "01-5")),
        "03": scores["03"],
        "12": scores["12"],
    }
    order = sorted(("01", "03"), key=lambda team: teams[team])
    lines = [(line["team"], line["rank"], line["score"]) for line in found["anonymization"]]
    assert lines == [
        (order[0], 1, pytest.approx(float(teams[order[0]]))),
        (order[1], 2, pytest.approx(float(teams[order[1]]))),
        ("04", None, None),
        ("07", None, None),
        ("12", None, pytest.approx(float(teams["12"]))),
    ]
    assert [line.get("note") for line in found["anonymization"]] == [
        None,
        None,
        "refused",
        "missing",
        "not ranked",
    ]
    assert found["overall"] == found["anonymization"]

    first = min((table for table in scores if table != OWN_TEAM), key=lambda table: scores[table])
    attackers = {who: rates[first][who] for who in ("01", "03", "04", "07") if who in rates[first]}
    best = [who for who, rate in attackers.items() if rate == max(attackers.values())]
    assert [line["team"] for line in found["attack"] if line["rank"] == 1] == best
    assert found["awards"] == {"anonymization": order, "re-identification": best}


def test_standings_follow_the_mode_of_the_contest_and_refuse_another(contest: Contest) -> None:
    other = "rules" if contest.mode == "aicrowd" else "aicrowd"
    again = run("standings", "darc2019", contest.path("results.json"), "--mode", contest.mode)
    assert again == contest.told["standings"]
    refused = run("standings", "darc2019", contest.path("results.json"), "--mode", other, code=1)
    assert [problem["code"] for problem in refused["problems"]] == ["results.other_setting"]
    contest.write("printed.json", content=json.dumps(contest.told["score"]))
    printed = run("standings", "darc2019", contest.path("printed.json"), "--mode", contest.mode)
    assert printed == again, "what score printed is ranked as what it wrote"


def test_credit_follows_the_contest_and_refuses_a_guess_at_another_target(contest: Contest) -> None:
    guess = contest.path("guesses", "03", "guess_01-4_03-7.csv")
    alone = run("credit", "darc2019", contest.path("phase", "answers", "01-4"), guess)
    scored = contest.told["score"]["credits"]["01-4"]["03"]
    assert {name: alone[name] for name in scored} == scored
    refused = run("credit", "darc2019", contest.path("phase", "answers", "01-5"), guess, code=1)
    assert [problem["code"] for problem in refused["problems"]] == ["guess.other_target"]


# -- after the reveal -------------------------------------------------------------------------------------------------------


def test_everything_was_committed_to_and_is_made_again_from_the_revealed_seed(
    contest: Contest,
) -> None:
    folders = (contest.path("contest"), contest.path("phase"))
    assert run("verify", "darc2019", *folders)["verified"]
    told = run("verify", "darc2019", *folders, "--again")
    assert told["verified"]
    again = {one["name"] for one in told["findings"] if one["name"].startswith("made again: ")}
    assert {f"made again: phase: targets/{target}/S_{target}.csv" for target in PUBLISHED} <= again
    assert "made again: teams/07/ground_truth.csv" in again


@pytest.mark.parametrize(
    "place",
    [
        "contest/public/contest.json",
        "contest/teams/03/ground_truth.csv",
        "contest/attackers/ground_truth.csv",
        "contest/secret/contest.json",
        "phase/public/releases.json",
        "phase/attackers/ground_truth.csv",
        "phase/targets/01-4/S_01-4.csv",
        "phase/answers/01-4/F_01-4.csv",
        "phase/answers/01-1/submitted/A_01-1.csv",
        "phase/answers/04/submitted/A_04.csv",
    ],
)
def test_a_byte_that_was_changed_is_named(contest: Contest, place: str) -> None:
    path = contest.path(place)
    whole = path.read_bytes()
    middle = len(whole) // 2
    while (
        chr(whole[middle]) not in "0123456789"
    ):  # another digit: every file can still be read as what it is
        middle += 1
    other = b"2" if whole[middle : middle + 1] == b"1" else b"1"  # no number begins with 0
    path.write_bytes(whole[:middle] + other + whole[middle + 1 :])
    try:
        told = run("verify", "darc2019", contest.path("contest"), contest.path("phase"), code=1)
    finally:
        path.write_bytes(whole)
    folder, _, name = place.partition("/")
    broken = [one["name"] for one in told["findings"] if one["state"] != "kept"]
    assert broken == [name if folder == "contest" else f"phase: {name}"]
