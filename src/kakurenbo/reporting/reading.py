"""Results from files: what ``score`` and ``run`` wrote, a matrix in JSON, or a table that a contest published."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contracts import AnyRulebook, Chance, Credit, RoundResults
from kakurenbo.reporting.document import FORMAT, Document, parse_document
from kakurenbo.reporting.table import COLUMNS
from kakurenbo.tables import Problems, Read, Reading, Source, read_json, refused

RESULTS_FILE, PLAN_FILE = "results.json", "run.json"
_LIMIT = 200_000_000
Rounds = Mapping[str, Sequence[RoundResults]]


def read_rounds(rulebook: AnyRulebook, path: Path, name: str = "") -> Reading[Rounds]:
    """The results of one round or several, with their repeats.

    Parameters
    ----------
    rulebook : Rulebook
    path : Path
        A file; or the folder of a run, or its ``run.json``, beside which the results lie.
    name : str
        What the round is called, where the file holds a single one.
    """
    source = Source.of(_place(path))
    data = source.read(_LIMIT)
    if isinstance(data, Problems):
        return data
    text = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith(b"{"):
        rounds = _from_json(rulebook, source, text)
    elif text.startswith(",".join(COLUMNS[:3]).encode()):
        rounds = _from_csv(source, text)
    else:
        published = rulebook.read_published(source)
        if isinstance(published, Problems):
            return published
        return Read({name or "round": (published.value,)}, published.notices)
    if isinstance(rounds, Problems):
        return rounds
    problem = _implausible(rulebook, source, rounds)
    if problem is not None:
        return problem
    return Read({name: next(iter(rounds.values()))} if name and len(rounds) == 1 else rounds)


def _place(path: Path) -> Path:
    return path / RESULTS_FILE if path.is_dir() else path.with_name(RESULTS_FILE) if path.name == PLAN_FILE else path


def recorded_settings(path: Path) -> Mapping[str, Any]:
    """The settings of the contest that a file of results is of, where it tells them."""
    content = read_json(Source.of(_place(path)), _LIMIT)
    found: Any = {} if isinstance(content, Problems) else content.value
    for key in ("manifest", "contest", "settings"):
        found = found.get(key, {}) if isinstance(found, Mapping) else {}
    return found if isinstance(found, Mapping) else {}


def read_document(path: Path) -> Reading[Document]:
    """A document from its file."""
    source = Source.of(path)
    data = source.read(_LIMIT)
    if isinstance(data, Problems):
        return data
    try:
        document = parse_document(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        return refused("results.not_a_document", source.name, error=str(error))
    if document.format != FORMAT:
        return refused("results.other_format", source.name, found=document.format, expected=FORMAT)
    return Read(document)


def _from_json(rulebook: AnyRulebook, source: Source, data: bytes) -> Rounds | Problems:
    """A document, or the bare results of one round."""
    content = read_json(Source(source.name.removesuffix(".gz"), data), _LIMIT)
    if isinstance(content, Problems):
        return content
    if not isinstance(content.value, dict) or "rounds" not in content.value:
        return _from_matrix(source, content.value)
    try:
        document = parse_document(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        return refused("results.not_a_document", source.name, error=str(error))
    if document.rulebook.name != rulebook.name:
        return refused("results.other_rulebook", source.name, found=document.rulebook.name, expected=rulebook.name)
    return {one.name: one.repeats for one in document.rounds}


def _from_matrix(source: Source, content: Any) -> Rounds | Problems:
    """``{"credits": {target: {attacker: {"hits": 3, "of": 100}}}, ...}``, as the --json of ``score`` prints it."""
    try:
        credits = {
            str(target): {str(attacker): _credit(credit) for attacker, credit in row.items()}
            for target, row in content["credits"].items()
        }
        attackers = [attacker for row in credits.values() for attacker in row]
        results = RoundResults(
            credits,
            tuple(map(str, content.get("targets", content.get("anonymizers", list(credits))))),
            tuple(map(str, content.get("attackers", list(dict.fromkeys(attackers))))),
            {str(target): _number(value) for target, value in content.get("utility", {}).items()},
            {str(target): str(why) for target, why in content.get("out_of_play", content.get("out", {})).items()},
            frozenset(map(str, content.get("unranked", ()))),
            frozenset(map(str, content.get("excluded", ()))),
        )
    except (KeyError, TypeError, AttributeError, ValueError):
        return refused("results.no_matrix", source.name)
    return {str(content.get("round", "round")): (results,)}


def _credit(content: Mapping[str, Any]) -> Credit:
    known = {"hits", "of", "accuracy", "chance", "constant"}
    chance = content.get("chance")
    return Credit(
        _number(content["hits"]),
        _number(content["of"]),
        Chance(_number(chance["hits"]), *map(_number, chance["band95"])) if chance else None,
        None if content.get("constant") is None else _number(content["constant"]),
        {str(key): _number(value) for key, value in content.items() if key not in known},
    )


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("not a number")
    return value


def _from_csv(source: Source, data: bytes) -> Rounds | Problems:
    """The flat table that ``run`` writes: a line per round, repeat, release and attacker."""
    collected: dict[str, dict[int, _Lines]] = {}
    for number, line in enumerate(csv.DictReader(io.StringIO(data.decode("utf-8", "replace"))), start=2):
        try:
            lines = collected.setdefault(line["round"], {}).setdefault(int(line["repeat"]), _Lines())
            lines.add(line)
        except (KeyError, ValueError, TypeError):
            return refused("results.bad_line", source.name, row=number)
    if not collected:
        return refused("results.no_matrix", source.name)
    return {name: tuple(lines.results() for _, lines in sorted(repeats.items())) for name, repeats in collected.items()}


class _Lines:
    """The lines of one repeat of a round."""

    def __init__(self) -> None:
        self.credits: dict[str, dict[str, Credit]] = {}
        self.utility: dict[str, float] = {}
        self.out: dict[str, str] = {}
        self.unranked: set[str] = set()
        self.excluded: set[str] = set()
        self.attackers: dict[str, None] = {}

    def add(self, line: Mapping[str, str]) -> None:
        target, attacker = line["target"], line["attacker"]
        row = self.credits.setdefault(target, {})
        if line["utility"]:
            self.utility[target] = _number(float(line["utility"]))
        if line["out"]:
            self.out[target] = line["out"]
        if line["ranked"] == "excluded":
            self.excluded.add(target.partition("-")[0])
        if not attacker:
            return
        self.attackers[attacker] = None
        if line["attacker_ranked"] == "no":
            self.unranked.add(attacker)
        if line["hits"]:
            details = dict(part.split("=", 1) for part in line["details"].split(";") if part)
            numbers = {name: _number(float(text)) for name, text in details.items()}
            row[attacker] = Credit(_whole(line["hits"]), _whole(line["of"]), details=numbers)

    def results(self) -> RoundResults:
        return RoundResults(
            self.credits,
            tuple(self.credits),
            tuple(self.attackers),
            self.utility,
            self.out,
            frozenset(self.unranked),
            frozenset(self.excluded),
        )


def _whole(text: str) -> float:
    value = _number(float(text))
    return int(value) if value.is_integer() else value


def _implausible(rulebook: AnyRulebook, source: Source, rounds: Rounds) -> Problems | None:
    """Figures that no round can give: more hits than there are, utility outside its range, a release without it."""
    low, high = rulebook.utility_range
    for results in (one for repeats in rounds.values() for one in repeats):
        for target, row in results.credits.items():
            if target not in results.targets:
                return refused("results.unknown_target", source.name, target=target)
            for attacker, credit in row.items():
                if not credit.least <= credit.hits <= credit.of or credit.of <= credit.least:
                    return refused(
                        "results.impossible_hits", source.name, target=target, attacker=attacker, hits=credit.hits, of=credit.of
                    )
        for target in results.in_play if rulebook.utility_score else ():
            if target not in results.utility:
                return refused("results.no_utility", source.name, target=target)
            value = results.utility[target]
            if not low <= value <= high:
                return refused("results.impossible_utility", source.name, target=target, found=value, low=low, high=high)
    return None
