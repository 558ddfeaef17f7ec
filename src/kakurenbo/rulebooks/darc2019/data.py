"""The organizer's data of darc2019: T, imported, a table of one's own, or simulated; the same for all teams."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kakurenbo.contest import RoundData
from kakurenbo.core import InputError, Source, Table, table_bytes
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.data.store import load_part
from kakurenbo.data.transactions import ANY_MONTHS, Calendar, narrowed, with_headings
from kakurenbo.rulebooks.darc2019.files import ORIGINAL_FILE, read_original

DATASET, PART = "online_retail", "T"
SIMULATED = Message("word.shop_simulated")
IMPORTED = Message("word.shop_imported")
OWN = Message("word.shop_own")
CONTEST_CUSTOMERS = 4_034
"""Of the contest's own T, and of the shop that is simulated in its place."""
CUSTOMERS = {"full": None, "small": 400}  # None: as many as T has


@dataclass(frozen=True, eq=False)
class Original:
    """T, where it comes from, and the value of the option ``data`` that says so."""

    table: Table
    source: Message
    data: str
    digest: str = ""

    def described(self) -> Mapping[str, Any]:
        """For ``contest.json``: enough to see whether somebody else has the same data."""
        return {"source": self.source.stored(), **({"sha256": self.digest} if self.digest else {})}


def original_table(rng: np.random.Generator, data: str, scale: str, own: str) -> Original:
    """T by the options; at scale ``small`` the rows of 400 customers, drawn from ``rng`` as a simulated shop is."""
    if own and data not in ("auto", "own"):
        raise UsageError("error.darc2019_table", data=data)
    if own:
        try:
            table = read_original(Source.of(Path(own)))
        except InputError as error:
            raise UsageError(error.message, at=own) from error
        return Original(_fewer(table, scale, rng), OWN, "own", _digest(table))
    imported = None if data == "embedded" else load_part(DATASET, PART, ANY_MONTHS)
    if imported is not None:
        imported = narrowed(imported)
        return Original(_fewer(imported, scale, rng), IMPORTED, "imported", _digest(imported))
    if data == "imported":
        raise UsageError("error.darc2019_import")
    if data == "own":
        raise UsageError("error.darc2019_own")
    from kakurenbo.data.shop import (
        simulate_shop,
    )  # takes a while to load, and only drawing needs it

    return Original(simulate_shop(rng, CUSTOMERS[scale]), SIMULATED, "embedded")


def draw(original: Original, teams: Sequence[str]) -> RoundData:
    """T for every team and for attackers, and what is to be known of it."""
    table = original.table
    content = table_bytes(table, header=True)
    report = {
        "rows": len(table),
        "customers": len(table.vocabularies["id_user"]),
        "items": len(table.vocabularies["id_item"]),
        "months": Calendar.of(table).months,
    }
    return RoundData(
        handouts={team: {ORIGINAL_FILE: content} for team in teams},
        attackers={ORIGINAL_FILE: content},
        data={**original.described(), **report},
        settings={"data": original.data},
        report=report,
    )


def _digest(table: Table) -> str:
    return hashlib.sha256(table_bytes(with_headings(table), header=True)).hexdigest()


def _fewer(table: Table, scale: str, rng: np.random.Generator) -> Table:
    """At scale ``small`` all rows of a few customers, chosen at random."""
    count = CUSTOMERS[scale]
    if count is None or count >= len(table.vocabularies["id_user"]):
        return table
    chosen = rng.permutation(len(table.vocabularies["id_user"]))[:count]
    wanted = table.take(np.isin(table.codes["id_user"], chosen))
    return Table.from_encoded(
        table.schema,
        {column.name: column.encode(wanted.texts(column.name)) for column in table.schema},
    )
