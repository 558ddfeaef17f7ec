"""What the self-test hands in: releases that can be made of any contest's data, and guesses whose worth is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kakurenbo.contest import Anonymizer, AnyRulebook, PreparedRound, Release
from kakurenbo.contest.preparation import PublishedTargets
from kakurenbo.core import InputError, Source, Table, read_file
from kakurenbo.core.rng import stream
from kakurenbo.judge.scoring.steps import under_asked_names

IDENTITY, TWIN, SHUFFLED, RANDOM, EMPTY, BROKEN = (
    "identity",
    "identity again",
    "shuffled",
    "random",
    "empty",
    "broken",
)
ENTRIES = (IDENTITY, TWIN, SHUFFLED, RANDOM, EMPTY, BROKEN)
_SEED = 1
_CONTENTS = {EMPTY: b"", BROKEN: b"\0\xff\x00 no table"}


@dataclass(frozen=True)
class Identity(Anonymizer):
    """The table as it is."""

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        return Release.of(table)


@dataclass(frozen=True)
class Shuffled(Anonymizer):
    """Every column in another order: each value stays as often as it is, and nothing belongs together."""

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        return Release.of(
            table.with_codes(
                {name: rng.permutation(table.codes[name]) for name in table.schema.names}
            )
        )


@dataclass(frozen=True)
class Random(Anonymizer):
    """Every cell any value that its column can have, or that the table has where there is no end to them."""

    def __call__(self, table: Table, rng: np.random.Generator) -> Release:
        drawn = {
            column.name: rng.choice(
                table.codes[column.name] if column.size is None else column.size, len(table)
            )
            for column in table.schema
        }
        return Release.of(table.with_codes(drawn))


_METHODS: Mapping[str, Anonymizer] = {
    IDENTITY: Identity(),
    TWIN: Identity(),
    SHUFFLED: Shuffled(),
    RANDOM: Random(),
}


def files_of(entry: str, prepared: PreparedRound[Any], team: str) -> Mapping[str, bytes]:
    """What a team hands in for an entry, under the names that the contest asks for."""
    rules, handout = prepared.rules, prepared.handout(team)
    made = rules.anonymize(handout, _METHODS.get(entry, Identity()), stream(_SEED, entry))
    files = under_asked_names(rules, rules.release_files(handout, made), team)
    return {name: _CONTENTS.get(entry, data) for name, data in files.items()}


def right_guess(
    rules: AnyRulebook, targets: PublishedTargets, name: str, answer: Path
) -> Any | None:
    """The answer as a guess at its target: its file, or as much of it as a guess may have; None where neither is one."""
    form = targets[name].form
    sample = next(iter(rules.sample_attacks.values()))
    files = {path.name: read_file(path) for path in sorted(answer.iterdir()) if path.is_file()}
    whole = next(
        (
            read
            for file, data in files.items()
            if (read := _guess(rules, form, file, data)) is not None
        ),
        None,
    )
    if whole is not None:
        return whole
    lines = rules.guess_bytes(sample(targets[name].knowledge, stream(_SEED, "guess"))).count(b"\n")
    cut = {file: b"".join(data.splitlines(keepends=True)[:lines]) for file, data in files.items()}
    return next(
        (
            read
            for file, data in cut.items()
            if (read := _guess(rules, form, file, data)) is not None
        ),
        None,
    )


def _guess(rules: AnyRulebook, form: Any, file: str, data: bytes) -> Any | None:
    try:
        return rules.read_guess(form, Source(file, data))
    except InputError:
        return None
