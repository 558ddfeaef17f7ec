"""Results from files: what ``score`` and ``run`` wrote or printed, or a table that a contest published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from kakurenbo.contracts import AnyRulebook, Credit, Figure, RoundResults, Unit
from kakurenbo.reporting.copies import disagreement
from kakurenbo.reporting.document import FORMAT, Document, parse_document
from kakurenbo.reporting.matrix import read_matrix
from kakurenbo.reporting.table import COLUMNS, read_results_csv
from kakurenbo.tables import Problems, Read, Reading, Severity, Source, read_json, refused

RESULTS_FILE, PLAN_FILE = "results.json", "run.json"
_LIMIT = 100_000_000
_UNNAMED = "round"
Rounds = Mapping[str, Sequence[RoundResults]]


@dataclass(frozen=True)
class ResultsFile:
    """What a file of results holds.

    Attributes
    ----------
    rounds : mapping of round to sequence of RoundResults
        One for each repeat.
    settings : mapping of option to value
        Of the contest, where the file tells them.
    """

    rounds: Rounds
    settings: Mapping[str, Any] = field(default_factory=dict)


def read_results(rulebook: AnyRulebook, path: Path, name: str = "") -> Reading[ResultsFile]:
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
    data = source.read(_LIMIT)
    if isinstance(data, Problems):
        return data
    text = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith((b"{", b"[")):
        read = _from_json(rulebook, source, text)
    elif text.startswith(",".join(COLUMNS[:3]).encode()):
        read = read_results_csv(source.name, text).map(ResultsFile)
    else:
        read = rulebook.read_published(source).map(lambda results: ResultsFile({_UNNAMED: (results,)}))
    if isinstance(read, Problems):
        return read
    problem = _implausible(rulebook, source, read.value.rounds)
    if problem is not None:
        return problem
    rounds = read.value.rounds
    told = next((round_ for round_ in rounds if round_ in rulebook.rounds), name)
    if name and told != name and len(rounds) == 1:
        return refused("results.other_round", source.name, found=told, expected=name)
    named = {name: next(iter(rounds.values()))} if name and len(rounds) == 1 else rounds
    return Read(ResultsFile(named, read.value.settings), read.notices)


def read_document(path: Path) -> Reading[Document]:
    """A document from its file."""
    source = Source.of(path)
    data = source.read(_LIMIT)
    if isinstance(data, Problems):
        return data
    if not data.lstrip().startswith(b"{"):
        return refused("results.no_document", source.name, severity=Severity.MALFORMED)
    return _document(source, data)


def results_place(path: Path) -> Path:
    """Where the results lie: in the folder of a run, beside its ``run.json``, or in the file itself."""
    return path / RESULTS_FILE if path.is_dir() else path.with_name(RESULTS_FILE) if path.name == PLAN_FILE else path


def _document(source: Source, data: bytes) -> Reading[Document]:
    content = read_json(Source(source.name.removesuffix(".gz"), data), _LIMIT)
    if isinstance(content, Problems):
        return content
    if isinstance(content.value, dict) and content.value.get("format", FORMAT) != FORMAT:
        return refused("results.other_format", source.name, found=str(content.value["format"])[:20], expected=FORMAT)
    try:
        document = parse_document(data)
    except (msgspec.MsgspecError, RecursionError) as error:
        return refused("results.not_a_document", source.name, error=str(error))
    place = disagreement(document)
    return refused("results.copies_disagree", source.name, place=place) if place else Read(document)


def _from_json(rulebook: AnyRulebook, source: Source, data: bytes) -> Reading[ResultsFile]:
    """A document, or the results of one round as ``score`` prints them."""
    content = read_json(Source(source.name.removesuffix(".gz"), data), _LIMIT)
    if isinstance(content, Problems):
        return content
    if not isinstance(content.value, dict) or not {"rounds", "credits"} & content.value.keys():
        return refused("results.no_matrix", source.name, severity=Severity.MALFORMED)
    if "rounds" not in content.value:
        return read_matrix(source.name, content.value, _UNNAMED).map(ResultsFile)
    read = _document(source, data)
    if isinstance(read, Problems):
        return read
    document = read.value
    if document.rulebook.name != rulebook.name:
        return refused("results.other_rulebook", source.name, found=document.rulebook.name, expected=rulebook.name)
    return Read(ResultsFile({one.name: one.repeats for one in document.rounds}, document.settings))


def _implausible(rulebook: AnyRulebook, source: Source, rounds: Rounds) -> Problems | None:
    """Figures that no round can give: more hits than there are, utility outside its range, a release without it."""
    every = [results for repeats in rounds.values() for results in repeats]
    if not every or not all(rounds.values()) or not all(results.targets for results in every):
        return refused("results.no_matrix", source.name)
    for results in every:
        problem = (
            _unknown(source, results) or _impossible_hits(rulebook, source, results) or _bad_utility(rulebook, source, results)
        )
        if problem is not None:
            return problem
    return None


def _unknown(source: Source, results: RoundResults) -> Problems | None:
    """Somebody whom the lists of targets and attackers do not have, or have twice."""
    for listed in (results.targets, results.attackers):
        if len(set(listed)) < len(listed):
            return refused("results.twice", source.name, name=next(name for name in listed if listed.count(name) > 1))
    for target in (*results.credits, *results.tries, *results.out, *results.utility):
        if target not in results.targets:
            return refused("results.unknown_target", source.name, target=target)
    for row in (*results.credits.values(), *results.tries.values()):
        for attacker in row:
            if attacker not in results.attackers:
                return refused("results.unknown_attacker", source.name, attacker=attacker)
    return None


def _bad_share(rulebook: AnyRulebook, credit: Credit) -> bool:
    """Whether a further figure that should be a share is none."""
    shares = [value for name, value in credit.details.items() if rulebook.figures.get(name, Figure()).unit is Unit.SHARE]
    return not all(isinstance(value, int | float) and 0 <= value <= 1 for value in shares)


def _impossible_hits(rulebook: AnyRulebook, source: Source, results: RoundResults) -> Problems | None:
    for target, row in results.credits.items():
        for attacker, credit in row.items():
            for one in (credit, *results.tries.get(target, {}).get(attacker, ())):
                if not one.least <= one.hits <= one.of or one.of <= one.least or _bad_share(rulebook, one):
                    figures: dict[str, Any] = {"hits": one.hits, "of": one.of}
                    return refused("results.impossible_hits", source.name, target=target, attacker=attacker, **figures)
    return None


def _bad_utility(rulebook: AnyRulebook, source: Source, results: RoundResults) -> Problems | None:
    low, high = rulebook.utility_range
    for target in results.in_play if rulebook.utility_score else ():
        if target not in results.utility:
            return refused("results.no_utility", source.name, target=target)
        value = results.utility[target]
        if not low <= value <= high:
            return refused("results.impossible_utility", source.name, target=target, found=value, low=low, high=high)
    return None
