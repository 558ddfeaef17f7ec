"""Results from files: what ``score`` and ``run`` wrote or printed, or a table that a contest published.

``score --json`` prints ``{"credits": {target: {attacker: {"hits": 3, "of": 100, ...}}}, "utility": {...}, ...}``: small
enough to write by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from kakurenbo.contest import (
    AnyRulebook,
    Chance,
    Credit,
    RoundResults,
    Unit,
    by_number,
    json_number,
)
from kakurenbo.core import InputError, Severity, Source, read_json
from kakurenbo.reports.build import recompute, rulebook_entry
from kakurenbo.reports.document import FORMAT, Document, RoundEntry, parse_document
from kakurenbo.reports.table import COLUMNS

RESULTS_FILE, PLAN_FILE = "results.json", "run.json"
_LIMIT = 100_000_000
_UNNAMED = "round"
_FLAT = ",".join(COLUMNS[:3]).encode()
Number = int | float


def read_results(rulebook: AnyRulebook, path: Path, name: str = "") -> Document:
    """Read the results of one round or several, with their repeats: a document to be ranked, without releases or players.

    Parameters
    ----------
    rulebook : Rulebook
    path : Path
        A file; or the folder of a run, or its ``run.json``, beside which the results lie.
    name : str
        What the round is called, where the file holds a single one.
    """
    source = Source.of(results_place(path))
    text = source.read(_LIMIT).lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith((b"{", b"[")):
        document = _from_json(rulebook, source, text)
    elif text.startswith(_FLAT):
        raise InputError.of("results.flat_table", source.name)
    else:
        document = _single(rulebook, _UNNAMED, rulebook.read_published(source))
    _check_plausible(rulebook, source, document)
    entries = [RoundEntry(entry.name, repeats=entry.repeats) for entry in document.rounds]
    if name and len(entries) == 1:
        (entry,) = entries
        if entry.name in rulebook.rounds and entry.name != name:
            raise InputError.of("results.other_round", source.name, found=entry.name, expected=name)
        entries = [replace(entry, name=name)]
    contest = rulebook_entry(rulebook)
    results = Document(contest, tuple(entries), manifest=document.manifest)
    return _recomputed(source, lambda: results)


def read_document(path: Path) -> Document:
    """Read a document."""
    source = Source.of(path)
    data = source.read(_LIMIT)
    if not data.lstrip().startswith(b"{"):
        raise InputError.of("results.no_document", source.name, severity=Severity.MALFORMED)
    return _document(source, data, _json(source, data))


def results_place(path: Path) -> Path:
    """Return the file of results: in the folder of a run, beside its ``run.json``, or the path itself."""
    if path.is_dir():
        return path / RESULTS_FILE
    return path.with_name(RESULTS_FILE) if path.name == PLAN_FILE else path


def _json(source: Source, data: bytes) -> Any:
    return read_json(Source(source.name.removesuffix(".gz"), data), _LIMIT)


def _single(rulebook: AnyRulebook, name: str, results: RoundResults) -> Document:
    return Document(rulebook_entry(rulebook), (RoundEntry(name, repeats=(results,)),))


def _document(source: Source, data: bytes, content: Any) -> Document:
    if isinstance(content, dict) and content.get("format", FORMAT) != FORMAT:
        formats = {"found": str(content["format"])[:20], "expected": FORMAT}
        raise InputError.of("results.other_format", source.name, **formats)
    return _recomputed(source, lambda: parse_document(data))


def _recomputed(source: Source, read: Callable[[], Document]) -> Document:
    """Compute what follows from the results of the repeats, whatever the file says."""
    try:
        document = recompute(read())
        rows = (row.values() for entry in document.rounds for row in entry.attacks.values())
        if not all(math.isfinite(attack.accuracy.mean) for row in rows for attack in row):
            raise ValueError("figures too large for a mean")
    except (msgspec.MsgspecError, RecursionError, OverflowError, ValueError) as error:
        raise InputError.of("results.not_a_document", source.name, error=str(error)) from error
    return document


def _from_json(rulebook: AnyRulebook, source: Source, data: bytes) -> Document:
    """Read a document, or the results of one round as ``score`` prints them."""
    content = _json(source, data)
    if not isinstance(content, dict) or not {"rounds", "credits"} & content.keys():
        raise InputError.of("results.no_matrix", source.name, severity=Severity.MALFORMED)
    if "rounds" not in content:
        name, results = read_matrix(source.name, content)
        return _single(rulebook, name or _UNNAMED, results)
    document = _document(source, data, content)
    if document.rulebook.name != rulebook.name:
        names = {"found": document.rulebook.name, "expected": rulebook.name}
        raise InputError.of("results.other_rulebook", source.name, **names)
    return document


# -- checks ----------------------------------------------------------------------------------------


def _check_plausible(rulebook: AnyRulebook, source: Source, document: Document) -> None:
    """Refuse results that no round can give."""
    rounds = document.rounds
    every = [results for entry in rounds for results in entry.repeats]
    if not every or not all(entry.repeats for entry in rounds):
        raise InputError.of("results.no_matrix", source.name)
    for results in every:
        if not results.targets:
            raise InputError.of("results.no_matrix", source.name)
        _check_names(source, results)
        _check_hits(rulebook, source, results)
        _check_utility(rulebook, source, results)


def _check_names(source: Source, results: RoundResults) -> None:
    """Refuse names that the lists of targets and attackers do not have, or have twice."""
    for listed in (results.targets, results.attackers):
        if twice := [name for name in listed if listed.count(name) > 1]:
            raise InputError.of("results.twice", source.name, name=twice[0])
    for target in (*results.credits, *results.tries, *results.out, *results.utility):
        if target not in results.targets:
            raise InputError.of("results.unknown_target", source.name, target=target)
    for row in (*results.credits.values(), *results.tries.values()):
        for attacker in row:
            if attacker not in results.attackers:
                raise InputError.of("results.unknown_attacker", source.name, attacker=attacker)


def _check_hits(rulebook: AnyRulebook, source: Source, results: RoundResults) -> None:
    """Refuse more correct guesses than there can be, and details that are no shares though declared as such."""
    shares = {name for name, figure in rulebook.figures.items() if figure.unit is Unit.SHARE}
    for target, row in results.credits.items():
        for attacker, counting in row.items():
            for credit in (counting, *results.tries.get(target, {}).get(attacker, ())):
                details = (credit.details[name] for name in shares & credit.details.keys())
                is_possible = credit.least <= credit.hits <= credit.of > credit.least
                if not is_possible or not all(0 <= value <= 1 for value in details):
                    names = {"target": target, "attacker": attacker}
                    figures = {"hits": credit.hits, "of": credit.of}
                    raise InputError.of("results.impossible_hits", source.name, **names, **figures)


def _check_utility(rulebook: AnyRulebook, source: Source, results: RoundResults) -> None:
    """Refuse a release in play without utility, where that is a score, or with one outside its range."""
    low, high = rulebook.utility_range
    for target in results.in_play if rulebook.utility_score else ():
        value = results.utility.get(target)
        if value is None:
            raise InputError.of("results.no_utility", source.name, target=target)
        if not low <= value <= high:
            figures = {"found": value, "low": low, "high": high}
            raise InputError.of("results.impossible_utility", source.name, target=target, **figures)


# -- the results of one round as score prints them -------------------------------------------------


class _Blind(msgspec.Struct):
    hits: Number
    band95: tuple[Number, Number]


class _Earned(msgspec.Struct):
    hits: Number
    of: Number
    accuracy: Number | None = None
    least: Number = 0
    chance: _Blind | None = None
    constant: Number | None = None


class _Matrix(msgspec.Struct):
    """What is not as in `RoundResults`; targets and attackers are those of the credits where they are not listed."""

    credits: dict[str, dict[str, dict[str, Any]]]
    tries: dict[str, dict[str, list[dict[str, Any]]]] = {}
    targets: tuple[str, ...] | None = None
    attackers: tuple[str, ...] | None = None
    out_of_play: dict[str, str] = {}
    round: str = ""


def results_json(results: RoundResults) -> dict[str, Any]:
    """Return the results of a round as commands print them."""
    return {
        "credits": _plain(results.credits),
        "tries": _plain(results.tries),
        "targets": list(results.targets),
        "attackers": list(results.attackers),
        "unranked": sorted(results.unranked, key=by_number),
        "excluded": sorted(results.excluded, key=by_number),
        "utility": _plain(results.utility),
        "beside": _plain(results.beside),
        "out_of_play": dict(results.out),
    }


def _plain(value: Any) -> Any:
    """Turn credits and numbers into plain data, in mappings and sequences too."""
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, Sequence):
        return list(map(_plain, value))
    return value.as_json() if isinstance(value, Credit) else json_number(value)


def read_matrix(file: str, content: Mapping[str, Any]) -> tuple[str, RoundResults]:
    """Read the name of a round, where it has one, and its results from plain data."""
    try:
        matrix = msgspec.convert(content, _Matrix)
        credits = _each(_credit, matrix.credits)
        attackers = list(dict.fromkeys(name for row in credits.values() for name in row))
        known = {
            "credits": credits,
            "tries": _each(lambda listed: list(map(_credit, listed)), matrix.tries),
            "targets": list(credits) if matrix.targets is None else matrix.targets,
            "attackers": attackers if matrix.attackers is None else matrix.attackers,
            "out": matrix.out_of_play,
        }
        return matrix.round, msgspec.convert({**content, **known}, RoundResults)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError.of("results.not_a_document", file, error=str(error)) from error


def _each(
    convert: Callable[[Any], Any], table: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    return {
        target: {attacker: convert(cell) for attacker, cell in row.items()}
        for target, row in table.items()
    }


def _credit(content: Mapping[str, Any]) -> Credit:
    """Read a credit; figures under other names are its details."""
    earned = msgspec.convert(content, _Earned)
    others = {name: content[name] for name in content if name not in _Earned.__struct_fields__}
    chance = Chance(earned.chance.hits, *earned.chance.band95) if earned.chance else None
    details = msgspec.convert(others, dict[str, Number])
    return Credit(earned.hits, earned.of, chance, earned.constant, details, least=earned.least)
