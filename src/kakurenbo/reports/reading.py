"""Results from files: what ``score`` and ``run`` wrote or printed, or a table that a contest published."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contest import AnyRulebook, RoundResults, Unit
from kakurenbo.core import InputError, Severity, Source, read_json
from kakurenbo.reports.build import Rounds, recompute
from kakurenbo.reports.document import FORMAT, Document, parse_document
from kakurenbo.reports.matrix import read_matrix
from kakurenbo.reports.table import COLUMNS

RESULTS_FILE, PLAN_FILE = "results.json", "run.json"
_LIMIT = 100_000_000
_UNNAMED = "round"
_FLAT = ",".join(COLUMNS[:3]).encode()


@dataclass(frozen=True)
class ResultsFile:
    """What a file of results holds.

    Attributes
    ----------
    rounds : mapping of round to sequence of RoundResults
        One for each repeat.
    settings : mapping of option to value
        Of the contest, where the file tells them.
    judges : tuple of str
        Teams with members of the committee.
    """

    rounds: Rounds
    settings: Mapping[str, Any] = field(default_factory=dict)
    judges: tuple[str, ...] = ()


def read_results(rulebook: AnyRulebook, path: Path, name: str = "") -> ResultsFile:
    """The results of one round or several, with their repeats.

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
        file = _from_json(rulebook, source, text)
    elif text.startswith(_FLAT):
        raise InputError.of("results.flat_table", source.name)
    else:
        file = ResultsFile({_UNNAMED: (rulebook.read_published(source),)})
    _check_plausible(rulebook, source, file.rounds)
    if not name or len(file.rounds) != 1:
        return file
    ((round_, repeats),) = file.rounds.items()
    if round_ in rulebook.rounds and round_ != name:
        raise InputError.of("results.other_round", source.name, found=round_, expected=name)
    return replace(file, rounds={name: repeats})


def read_document(path: Path) -> Document:
    """A document from its file."""
    source = Source.of(path)
    data = source.read(_LIMIT)
    if not data.lstrip().startswith(b"{"):
        raise InputError.of("results.no_document", source.name, severity=Severity.MALFORMED)
    return _document(source, data)


def results_place(path: Path) -> Path:
    """Return the file of results: in the folder of a run, beside its ``run.json``, or the path itself."""
    if path.is_dir():
        return path / RESULTS_FILE
    return path.with_name(RESULTS_FILE) if path.name == PLAN_FILE else path


def _document(source: Source, data: bytes) -> Document:
    content = read_json(Source(source.name.removesuffix(".gz"), data), _LIMIT)
    if isinstance(content, dict) and content.get("format", FORMAT) != FORMAT:
        formats = {"found": str(content["format"])[:20], "expected": FORMAT}
        raise InputError.of("results.other_format", source.name, **formats)
    try:
        # What follows from the results of the repeats is computed again, whatever the file says.
        document = recompute(parse_document(data))
        rows = (row.values() for entry in document.rounds for row in entry.attacks.values())
        if not all(math.isfinite(attack.accuracy.mean) for row in rows for attack in row):
            raise ValueError("figures too large for a mean")
    except (msgspec.MsgspecError, RecursionError, OverflowError, ValueError) as error:
        raise InputError.of("results.not_a_document", source.name, error=str(error)) from error
    return document


def _from_json(rulebook: AnyRulebook, source: Source, data: bytes) -> ResultsFile:
    """A document, or the results of one round as ``score`` prints them."""
    content = read_json(Source(source.name.removesuffix(".gz"), data), _LIMIT)
    if not isinstance(content, dict) or not {"rounds", "credits"} & content.keys():
        raise InputError.of("results.no_matrix", source.name, severity=Severity.MALFORMED)
    if "rounds" not in content:
        return ResultsFile(read_matrix(source.name, content, _UNNAMED))
    document = _document(source, data)
    if document.rulebook.name != rulebook.name:
        names = {"found": document.rulebook.name, "expected": rulebook.name}
        raise InputError.of("results.other_rulebook", source.name, **names)
    rounds = {entry.name: entry.repeats for entry in document.rounds}
    return ResultsFile(rounds, document.settings, document.judges)


def _check_plausible(rulebook: AnyRulebook, source: Source, rounds: Rounds) -> None:
    """Refuse figures that no round can give: too many correct guesses, utility outside its range, a release without it."""
    every = [results for repeats in rounds.values() for results in repeats]
    if not every or not all(rounds.values()) or not all(results.targets for results in every):
        raise InputError.of("results.no_matrix", source.name)
    for results in every:
        _check_names(source, results)
        _check_hits(rulebook, source, results)
        _check_utility(rulebook, source, results)


def _check_names(source: Source, results: RoundResults) -> None:
    """Refuse somebody whom the lists of targets and attackers do not have, or have twice."""
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
    low, high = rulebook.utility_range
    for target in results.in_play if rulebook.utility_score else ():
        if target not in results.utility:
            raise InputError.of("results.no_utility", source.name, target=target)
        value = results.utility[target]
        if not low <= value <= high:
            figures = {"found": value, "low": low, "high": high}
            raise InputError.of("results.impossible_utility", source.name, target=target, **figures)
