"""The organizer's data of darc2019: T, imported or simulated, the same for all teams; and the commitment to the seed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kakurenbo import __version__
from kakurenbo.commitments import COMMITMENTS_FILE, OPENING_FILE, commit
from kakurenbo.contracts import Preparation
from kakurenbo.datasets.store import load_part
from kakurenbo.datasets.transactions import SCHEMA, months
from kakurenbo.errors import ParameterError, UsageError
from kakurenbo.generators.shop import simulate_shop
from kakurenbo.rng import stream
from kakurenbo.rulebooks.darc2019 import files
from kakurenbo.rulebooks.darc2019.files import Handout
from kakurenbo.tables import Table, table_bytes

DATASET, PART = "online_retail", "T"
SIMULATED = "a simulated shop: drawn from stored statistics of Online Retail, not its real rows"
IMPORTED = "Online Retail, imported file"
CUSTOMERS = {"full": None, "small": 400}  # None: as many as T has
MAX_TEAMS = 99


@dataclass(frozen=True)
class Secrets:
    """The contest seed, which the orders of all S come from."""

    seed: int


def original_table(seed: int, scale: str, data: str) -> tuple[Table, str]:
    """T and where it comes from; at scale ``small`` the rows of 400 customers."""
    imported = None if data == "embedded" else load_part(DATASET, PART, SCHEMA)
    if imported is None:
        if data == "imported":
            raise UsageError("Online Retail is not imported; run: kakurenbo data import online_retail 'Online Retail.xlsx'")
        return simulate_shop(stream(seed, "darc2019", "shop"), CUSTOMERS[scale]), SIMULATED
    count = CUSTOMERS[scale]
    if count is not None:
        chosen = stream(seed, "darc2019", "customers").permutation(len(imported.vocabularies["id_user"]))[:count]
        wanted = imported.take(np.isin(imported.codes["id_user"], chosen))
        imported = Table.from_encoded(SCHEMA, {column.name: column.encode(wanted.texts(column.name)) for column in SCHEMA})
    return imported, IMPORTED


def prepare(seed: int, teams: Sequence[str], *, scale: str, data: str, settings: Mapping[str, Any]) -> Preparation[Handout]:
    """Everything the organizer needs; ``settings`` go into ``contest.json``."""
    numbers = {f"{number:02d}" for number in range(1, MAX_TEAMS + 1)}
    if not teams or len(set(teams)) < len(teams) or not set(teams) <= numbers:
        raise ParameterError("teams", "different two-digit team numbers from 01 to 99", list(teams))
    original, origin = original_table(seed, scale, data)
    facts = {
        "rulebook": "darc2019",
        "version": __version__,
        "scale": scale,
        "data": origin,
        "rows": len(original),
        "customers": len(original.vocabularies["id_user"]),
        "items": len(original.vocabularies["id_item"]),
        "months": int(months(original).max()) + 1,
        "teams": list(teams),
        "settings": dict(settings),
    }
    content = table_bytes(original, header=True)
    handouts = {team: Handout(team, original, {**facts, "team": team}) for team in teams}
    folders = {
        "public": {files.CONTEST_FILE: json_bytes(facts)},
        "attackers": {files.CONTEST_FILE: json_bytes(facts), files.ORIGINAL_FILE: content},
        "secret": {},
        **{
            f"teams/{team}": {files.CONTEST_FILE: json_bytes(handout.facts), files.ORIGINAL_FILE: content}
            for team, handout in handouts.items()
        },
    }
    given = {f"{folder}/{name}": data for folder, part in folders.items() if folder != "public" for name, data in part.items()}
    commitments, opening = commit(seed, given)
    folders["public"][COMMITMENTS_FILE.split("/")[1]] = commitments
    folders["secret"][OPENING_FILE.split("/")[1]] = opening
    report = {
        "data": origin,
        "rows": facts["rows"],
        "customers": facts["customers"],
        "items": facts["items"],
        "teams": list(teams),
    }
    return Preparation(handouts, folders, report, Secrets(seed))


def json_bytes(content: object) -> bytes:
    """A JSON file, readable and the same every time."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
