"""Whatever lies where a file is expected: every verb refuses it in one sentence, at once, and without holding much of it."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kakurenbo.cli import main

MOST_SECONDS = 2.0  # a second on a machine that does nothing else
MOST_BYTES = 300_000_000


class Place(NamedTuple):
    """Where a hostile file lies, and a call that reads it.

    ``call`` has ``X`` for the hostile file; ``at`` is its place in the contest's folders where that matters, else it is any
    file named ``name``.
    """

    call: str
    at: str = ""
    name: str = "hostile.csv"
    holds: str = "table"

    def __str__(self) -> str:
        return f"{self.call.partition(' ')[0]} {self.at or self.name}"


PLACES = [
    Place("anonymize amic2020 rr X OUT"),
    Place(
        "anonymize amic2020 rr contest/teams/01 OUT", "contest/teams/01/contest.json", holds="json"
    ),
    Place("check amic2020 X release.csv"),
    Place("check amic2020 contest/teams/01 X"),
    Place(
        "check amic2020 contest/teams/01 submissions/01",
        "submissions/01/questionnaire_01.json",
        holds="form",
    ),
    Place("check pwscup2024 X X", name="B01.csv"),
    Place("check darc2019 X X"),
    Place("measure amic2020 contest/teams/01 X"),
    Place("measure amic2020 X release.csv"),
    Place("sample amic2020 X -o OUT"),
    Place("prepare darc2019 --table X --teams 2 -o OUT"),
    Place(
        "publish amic2020 contest submissions -o OUT", "contest/public/contest.json", holds="json"
    ),
    Place(
        "publish amic2020 contest submissions -o OUT",
        "contest/public/commitments.json",
        holds="any json",
    ),
    Place(
        "publish amic2020 contest submissions -o OUT", "contest/secret/opening.json", holds="json"
    ),
    Place("attack amic2020 nearest X release.csv -o OUT"),
    Place("attack amic2020 nearest contest/attackers/pre_syntheticdata.csv X -o OUT"),
    Place(
        "attack amic2020 nearest phase/targets/01 -o OUT",
        "phase/targets/01/contest.json",
        holds="json",
    ),
    Place("credit amic2020 X guess.csv"),
    Place("credit amic2020 phase/answers/01/pre_answer_01.csv X"),
    Place(
        "credit amic2020 phase/answers/01 guess.csv", "phase/answers/01/contest.json", holds="json"
    ),
    Place("score amic2020 phase guesses -o OUT", "phase/public/contest.json", holds="json"),
    Place("score amic2020 phase guesses -o OUT", "phase/public/releases.json", holds="json"),
    Place("standings amic2020 X", name="results.csv"),
    Place("standings amic2020 X", name="results.json", holds="json"),
    Place("run amic2020 --scale small --jobs 1 --teams X -o OUT", name="teams.toml", holds="toml"),
    Place("run amic2020 --scale small --jobs 1 -o run", "run/run.json", holds="json"),
    Place("report run", "run/results.json", holds="json"),
    Place("report run", "run/timings.json", holds="any json"),
    Place("verify amic2020 contest", "contest/public/contest.json", holds="json"),
    Place("verify amic2020 contest", "contest/public/commitments.json", holds="json"),
    Place("verify amic2020 contest", "contest/secret/opening.json", holds="json"),
    Place("verify amic2020 contest", "contest/attackers/pre_syntheticdata.csv", holds="bytes"),
    Place("verify amic2020 contest --commitments X", name="commitments.json", holds="json"),
    Place(
        "verify amic2020 contest phase --phase-commitments X", name="commitments.json", holds="json"
    ),
    Place("audit X guess.csv"),
    Place("audit guess.csv X"),
    Place("data import adult X", name="adult.data"),
    Place("data import online_retail X", name="retail.xlsx"),
    Place("data import online_retail X", name="retail.csv"),
    Place("data import ratings X"),
]


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def unix_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the path of a socket may have a hundred characters
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


def two_gigabytes(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2_000_000_000)


def ninety_megabytes(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(90_000_000)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def text(content: str) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content.encode()) and None


SPECIAL = {
    "pipe": pipe,
    "device": device,
    "socket": unix_socket,
    "two gigabytes": two_gigabytes,
    "loop": loop,
}
STRAYS = (pipe, device, unix_socket, loop)
JSON = {
    "deep": text("[" * 100_000),
    "deep object": text('{"a":' * 50_000 + "1" + "}" * 50_000),
    "NaN": text('{"rulebook": NaN, "seed": NaN, "rounds": NaN, "commitments": {"seed": Infinity}}'),
    "surrogate": text(
        r'{"rulebook": "\ud800", "seed": "\ud800", "scope": "\ud800", "rounds": {"\udfff": 1}}'
    ),
    "digits": text(
        '{"rulebook": 1'
        + "0" * 5000
        + ', "seed": '
        + "7" * 5000
        + ', "rounds": '
        + "1" * 5000
        + "}"
    ),
    "many values": text("[" + "[]," * 4_000_000 + "[]]"),
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 4) and None,
}
OTHER_JSON = {"no object": text("[1, 2]"), "null": text("null")}
TOML = {
    "dotted keys": text(".".join(["a"] * 20_000) + " = 1\n"),
    "dotted headers": text(
        "".join(f"[{'.'.join(['a'] * 200)}.b{number}]\n" for number in range(100))
    ),
    "deep": text("a = " + "[" * 50_000),
    "deep inline": text("a = " + "{a=" * 20_000),
    "digits": text("seed = " + "7" * 5000 + '\n[[players]]\nattack = "nearest"\n'),
    "seed beyond": text("seed = " + "7" * 400 + '\n[[players]]\nattack = "nearest"\n'),
    "infinity": text('seed = inf\n[[players]]\nattack = "nearest"\n'),
    "binary": JSON["binary"],
}
OF_KIND: dict[str, dict[str, Callable[[Path], None]]] = {
    "table": {**SPECIAL, "90 megabytes": ninety_megabytes},
    "form": {**SPECIAL, **JSON},
    "json": {**SPECIAL, **JSON, **OTHER_JSON, "90 megabytes": ninety_megabytes},
    "toml": {**SPECIAL, **TOML},
}
CASES = [
    pytest.param(place, make, id=f"{place}: {kind}")
    for place in PLACES
    for kind, make in OF_KIND.get(place.holds, SPECIAL).items()
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small contest, played to the end, and the folder of a run."""
    here = tmp_path_factory.mktemp("hostile")
    call(here, "prepare amic2020 -o contest --teams 2 --scale small --seed 7 --round pre")
    for team in ("01", "02"):
        (here / "submissions" / team).mkdir(parents=True)
        out = f"submissions/{team}/pre_anonymizeddata_{team}.csv"
        call(here, f"anonymize amic2020 rr contest/teams/{team} {out} --p 0.999 --seed 1")
    shutil.copy(here / "submissions/01/pre_anonymizeddata_01.csv", here / "release.csv")
    call(here, "publish amic2020 contest submissions --with-disqualified -o phase", expected=None)
    (here / "guesses").mkdir()
    (here / "guess.csv").write_text("".join(f"{row}\n" for row in range(100)))
    call(here, "score amic2020 phase guesses -o run/results.json", expected=None)
    (here / "run" / "timings.json").write_text("{}")
    (here / "run" / "run.json").write_text("{}")
    return here


def call(here: Path, line: str, expected: int | None = 0) -> int:
    before = Path.cwd()
    os.chdir(here)
    signal.alarm(60)  # ends the tests rather than waiting for ever
    try:
        with pytest.raises(SystemExit) as left:
            main(line.split())
    finally:
        signal.alarm(0)
        os.chdir(before)
    code = int(left.value.code or 0)
    assert expected in (None, code)
    return code


@contextmanager
def lying_at(path: Path, make: Callable[[Path], Any]) -> Iterator[None]:
    """The hostile file in place of what is there."""
    aside = path.with_name(path.name + ".aside")
    if path.exists():
        path.rename(aside)
    try:
        make(path)
        yield
    finally:
        path.unlink()
        if aside.exists():
            aside.rename(path)


def peak_bytes() -> int:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) * 1024


def stopped(*_: object) -> None:
    raise TimeoutError("still waiting")


signal.signal(signal.SIGALRM, stopped)


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of memory is reset as on Linux"
)
@pytest.mark.parametrize(("place", "make"), CASES)
def test_every_verb_refuses_every_hostile_file_in_a_sentence_at_once(
    place: Place,
    make: Callable[[Path], None],
    folders: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    where = folders / place.at if place.at else tmp_path / place.name
    line = place.call.replace("X", str(where)).replace("OUT", str(tmp_path / "out"))
    with lying_at(where, make):
        Path("/proc/self/clear_refs").write_text("5")
        before, begun = peak_bytes(), time.process_time()
        code = call(folders, line, expected=None)
        seconds, grown = time.process_time() - begun, peak_bytes() - before
    out, err = capsys.readouterr()
    listed = (
        make in STRAYS and place.holds == "bytes"
    )  # verify goes on, and names it among all that it finds
    told = out if listed else err
    assert code == (1 if listed else 2), told
    assert "bug in kakurenbo" not in err
    assert "Traceback" not in err
    beside_release = "questionnaire" in place.at and place.call.startswith(
        "check"
    )  # which is valid, as a second line says
    assert err.count("\n") == (0 if listed else 2 if beside_release else 1), err
    assert place.name.partition(".")[0] in told or Path(place.at).name in told, told
    assert len(told) < 1000
    assert seconds < MOST_SECONDS
    assert grown < MOST_BYTES
    assert not (tmp_path / "out").exists()
