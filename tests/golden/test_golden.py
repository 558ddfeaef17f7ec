"""Every command on stored contests, compared with stored outputs; README.md says how to change them."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import shlex
import shutil
import tarfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.calling import run

from kakurenbo.contest import fits
from kakurenbo.methods import registry

FOLDER = Path(__file__).resolve().parent
OUTPUTS = FOLDER / "outputs"
CONTESTS = ("amic2020", "darc2019", "pwscup2021", "pwscup2024")
NOT_PLAYED = {"aim", "mst"}  # they need an optional dependency and minutes
LONGEST = 3000  # bytes of a file that is stored as text; of a longer one its digest is
UNSTORED_NAMES = {"opening.json", "README.md", "README.ja.md"}  # only their names are stored
UNSTORED_SUFFIXES = {".html", ".svg"}
UNSTORED_KEYS = {"version", "versions", "commitments_sha256", "key", "module", "sha256", "created"}
UNSTORED_LINES = (
    re.compile(  # the first use of compiled code on a machine, and progress with its time
        r"compiling for this machine|計算の一部をこのマシン用に|.* … [\d.,]+ (s|秒)$"
    )
)


class Case(NamedTuple):
    """A command on the stored files of a contest, and what is stored of its output."""

    contest: str
    kind: str
    name: str
    command: str

    @property
    def output(self) -> Path:
        return OUTPUTS / self.contest / f"{self.name}.json"


def read_cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.toml")):
        for kind, commands in tomllib.loads(path.read_text(encoding="utf-8")).items():
            for name, command in commands.items():
                yield Case(path.stem, kind, name, command)


CASES = list(read_cases())


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stored files of every contest, unpacked."""
    folder = tmp_path_factory.mktemp("golden")
    for packed in (FOLDER / "inputs").glob("*.tar.xz"):
        with tarfile.open(packed) as archive:
            archive.extractall(folder, filter="data")
    return folder


def link_reference_data(folder: Path, reference_data: Path) -> None:
    """Put the data that is not ours to commit where the commands name it."""
    release = reference_data / "pwscup2021" / "reference"
    (folder / "pwscup2021").mkdir(parents=True, exist_ok=True)
    for link, target in {
        folder / "data": reference_data,
        folder / "pwscup2021" / "pre_anony_01_d.csv.gz": release / "D.csv.gz",
        folder / "pwscup2021" / "pre_anony_01_x.csv": release / "X.csv",
    }.items():
        if not link.exists():
            link.symlink_to(target)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.contest}-{case.name}")
def test_a_command_says_and_writes_what_is_stored(
    case: Case, inputs: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if case.contest == "reference":
        link_reference_data(inputs / "reference", request.getfixturevalue("reference_data"))
    monkeypatch.chdir(inputs / case.contest)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("KAKURENBO_SERVER", raising=False)
    actual = dumped(play(case, monkeypatch))
    assert str(inputs) not in actual, "an absolute path"
    if request.config.getoption("--update-goldens", default=False):
        case.output.parent.mkdir(parents=True, exist_ok=True)
        case.output.write_text(actual, encoding="utf-8")
        return
    stored = case.output.read_text(encoding="utf-8")
    if actual != stored:
        lines = difflib.unified_diff(
            stored.splitlines(), actual.splitlines(), "stored", "actual", lineterm=""
        )
        pytest.fail(f"kakurenbo {case.command}\n" + "\n".join(lines), pytrace=False)


def test_every_stored_output_has_a_case() -> None:
    assert {case.output for case in CASES} == set(OUTPUTS.rglob("*.json"))


@pytest.mark.parametrize(("group", "verb"), [("anonymizers", "anonymize"), ("attacks", "attack")])
def test_every_method_has_a_case(group: str, verb: str) -> None:
    played = {(case.contest, case.name) for case in CASES}
    for contest in CONTESTS:
        rulebook = registry.load("rulebooks", contest)
        for name in set(registry.names(group)) - NOT_PLAYED:
            if fits(rulebook, registry.load(group, name)):
                assert (contest, f"{verb}-{name}") in played


# -- what is stored of a call --------------------------------------------------------------------


def play(case: Case, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what is stored of a call, as the kind of the case says."""
    texts = {}
    if case.kind in ("text", "refused"):
        for language in ("ja", "en"):
            monkeypatch.setenv("KAKURENBO_LANG", language)
            code, out, err = call(case.command)
            texts[language] = {"code": code, "stdout": without_digests(out), "stderr": spoken(err)}
    if case.kind == "text":
        return texts
    code, out, err = call(f"{case.command} --json")
    answer = json.loads(out)
    if case.kind == "refused":
        return {**texts, "code": code, "json": answer}
    if case.kind == "listing":
        return {group: [item["name"] for item in items] for group, items in answer.items()}
    if case.kind == "names":
        return {"code": code, "files": written(with_content=False)}
    if case.kind == "run":
        return {"code": code, "json": answer, "files": written("results.*")}
    return {"code": code, "json": answer, "stderr": spoken(err), "files": written()}


def call(command: str) -> tuple[int, str, str]:
    """Call the command line where the folder ``out`` is empty."""
    shutil.rmtree("out", ignore_errors=True)
    Path("out").mkdir()
    return run(*shlex.split(command))


def without_digests(text: str) -> list[str]:
    """Return the lines of a text; digests of whole folders contain prose and versions."""
    return re.sub(r"\b[0-9a-f]{64}\b", "(digest)", text).splitlines()


def spoken(stderr: str) -> list[str]:
    return [line for line in stderr.splitlines() if not UNSTORED_LINES.match(line)]


def written(pattern: str = "*", with_content: bool = True) -> dict[str, Any]:
    """Return what is stored of every file below ``out``, by name."""
    files = sorted(path for path in Path("out").rglob(pattern) if path.is_file())
    return {path.relative_to("out").as_posix(): content(path, with_content) for path in files}


def content(path: Path, with_content: bool) -> Any:
    """Return the lines of a short file, the content of JSON, or a digest."""
    if path.name in UNSTORED_NAMES or path.suffix in UNSTORED_SUFFIXES:
        return None
    if path.name == "contest.json" or (with_content and path.suffix == ".json"):
        return json.loads(path.read_bytes())
    if not with_content:
        return None
    data = path.read_bytes()
    if len(data) <= LONGEST:
        return data.decode("utf-8", "backslashreplace").splitlines()
    return f"sha256 {hashlib.sha256(data).hexdigest()}"


def dumped(value: Any) -> str:
    return json.dumps(stored_of(value), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def stored_of(value: Any) -> Any:
    """Return a value without versions and digests of prose, numbers to ten digits."""
    if isinstance(value, Mapping):
        return {
            key: commitments(item) if key == "commitments" else stored_of(item)
            for key, item in value.items()
            if key not in UNSTORED_KEYS and not str(key).startswith("store/")
        }
    if isinstance(value, list):
        return [stored_of(item) for item in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def commitments(value: Any) -> Any:
    """Return what is committed to; the digests contain versions and prose."""
    return sorted(value) if isinstance(value, Mapping) else None
