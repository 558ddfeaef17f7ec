"""The organizer's work before the round: three candidates B per team, their digests, and the committed masks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kakurenbo import __version__
from kakurenbo.commitments import COMMITMENTS_FILE, OPENING_FILE, commit
from kakurenbo.contracts import Files, Preparation
from kakurenbo.datasets.ratings import MOVIES, RELATED, ratings_statistics
from kakurenbo.errors import ParameterError
from kakurenbo.generators import fidelity
from kakurenbo.generators.ratings import RatingsGenerator
from kakurenbo.rng import stream
from kakurenbo.rulebooks.pwscup2024 import files
from kakurenbo.rulebooks.pwscup2024.files import Handout
from kakurenbo.tables import Table, table_bytes

ROWS = {"full": 10_000, "small": 1_000}
EMBEDDED = "embedded statistics: drawn from stored one- and two-way tables of a real B file, with made-up names"
COMMON, PER_TEAM = "common", "per_team"


@dataclass(frozen=True, eq=False)
class Secrets:
    """The masked column of every row of b, for all teams or by team; empty where publishing is to draw them."""

    masks: Mapping[str | None, NDArray[np.int64]] = field(default_factory=dict)

    def of_team(self, team: str, seed: int) -> NDArray[np.int64]:
        """Position among the movies of the rating hidden in row i of b, shape (50,)."""
        if team in self.masks:
            return self.masks[team]
        return self.masks[None] if None in self.masks else draw_masks(seed, team)


def prepare(
    seed: int, teams: Sequence[str], *, round_: str, scale: str, masks: str, options: Mapping[str, Any]
) -> Preparation[Handout]:
    """Everything the organizer needs for a round; ``options`` go into ``contest.json`` as they are."""
    numbers = {f"{number:02d}" for number in range(1, 100)}
    if not teams or len(set(teams)) < len(teams) or not set(teams) <= numbers:
        raise ParameterError("teams", "different two-digit team numbers from 01 to 99", list(teams))
    generator = RatingsGenerator(stream(seed, "pwscup2024", round_, "calibration"))
    drawn = {
        team: generator(files.CANDIDATES, ROWS[scale], stream(seed, "pwscup2024", round_, "candidates", team)) for team in teams
    }
    facts = {
        "rulebook": "pwscup2024",
        "version": __version__,
        "round": round_,
        "scale": scale,
        "masks": masks,
        "data": EMBEDDED,
        "rows": ROWS[scale],
        "teams": list(teams),
        **options,
    }
    handouts = {team: Handout(team, tuple(tables), facts={**facts, "team": team}) for team, tables in drawn.items()}
    whose: list[str | None] = [None] if masks == COMMON else list(teams)
    secrets = Secrets({team: draw_masks(seed, round_, team or COMMON) for team in whose})
    closeness = fidelity(
        ratings_statistics().related, Table.stack([_related(table) for tables in drawn.values() for table in tables])
    )
    report = {"data": EMBEDDED, "fidelity": closeness.as_json(), "teams": list(teams), "round": round_}
    return Preparation(handouts, _folders(seed, facts, handouts, secrets), report, secrets)


def draw_masks(seed: int, *purpose: str) -> NDArray[np.int64]:
    """A random movie for every row of b."""
    return stream(seed, "pwscup2024", "masks", *purpose).integers(len(MOVIES), size=files.TEST_ROWS)


def _related(table: Table) -> Table:
    """The columns that the statistics relate, with every level of the domain."""
    schema = ratings_statistics().related.schema
    return Table.from_texts(schema, {name: table.texts(name) for name in RELATED})


def _folders(seed: int, facts: Mapping[str, Any], handouts: Mapping[str, Handout], secrets: Secrets) -> dict[str, Files]:
    folders: dict[str, dict[str, bytes]] = {
        "public": {files.CONTEST_FILE: json_bytes(facts)},
        "attackers": {files.CONTEST_FILE: json_bytes(facts)},
        "secret": {files.masks_file(team): files.masks_bytes(masks) for team, masks in secrets.masks.items()},
    }
    digests: dict[str, str] = {}
    for team, handout in handouts.items():
        candidates = {
            files.candidate_file(team, number): table_bytes(table, header=True)
            for number, table in enumerate(handout.candidates, start=1)
        }
        digests |= {name: hashlib.sha256(content).hexdigest() for name, content in candidates.items()}
        folders[f"teams/{team}"] = {files.CONTEST_FILE: json_bytes(handout.facts), **candidates}
    folders["public"][files.DIGESTS_FILE] = json_bytes({"sha256": digests})
    hidden = {
        f"{folder}/{name}": content for folder, part in folders.items() if folder != "public" for name, content in part.items()
    }
    for path, content in zip((COMMITMENTS_FILE, OPENING_FILE), commit(seed, hidden), strict=True):
        folder, name = path.split("/")
        folders[folder][name] = content
    return dict(folders)


def json_bytes(content: object) -> bytes:
    """A JSON file, readable and the same every time."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
