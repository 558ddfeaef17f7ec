"""The organizer's data of darc2019: T, imported, a table of one's own, or simulated; the same for all teams."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kakurenbo.contest import RoundData
from kakurenbo.core import Table, table_bytes
from kakurenbo.core.messages import Message
from kakurenbo.data.store import load_part
from kakurenbo.data.transactions import ANY_MONTHS, Calendar, narrowed, with_headings
from kakurenbo.rulebooks.darc2019.files import ORIGINAL_FILE, read_original
from kakurenbo.rulebooks.sources import EMBEDDED, IMPORTED, OWN, real_data

DATASET, PART = "online_retail", "T"
SIMULATED = Message("word.shop_simulated")
SOURCES = {
    IMPORTED: Message("word.shop_imported"),
    OWN: Message("word.shop_own"),
}
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
        """Return what ``contest.json`` says: enough to see whether somebody else has the same data."""
        return {"source": self.source.stored(), **({"sha256": self.digest} if self.digest else {})}


def original_table(rng: np.random.Generator, data: str, scale: str, own: str) -> Original:
    """Return T by the options; at scale ``small`` the rows of 400 customers, drawn from ``rng`` as a simulated shop is."""
    real = real_data("darc2019", data, _load_imported, own, read_original)
    if real is not None:
        kind, table = real
        digest = hashlib.sha256(table_bytes(with_headings(table), header=True)).hexdigest()
        return Original(_fewer(table, scale, rng), SOURCES[kind], kind, digest)
    from kakurenbo.data.shop import simulate_shop  # slow to load, and only drawing needs it

    return Original(simulate_shop(rng, CUSTOMERS[scale]), SIMULATED, EMBEDDED)


def _load_imported() -> Table | None:
    table = load_part(DATASET, PART, ANY_MONTHS)
    return None if table is None else narrowed(table)


def draw(original: Original, teams: Sequence[str]) -> RoundData:
    """Return T for every team and for attackers, and its size."""
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


def _fewer(table: Table, scale: str, rng: np.random.Generator) -> Table:
    """Return at scale ``small`` all rows of a few customers, chosen at random."""
    count, customers = CUSTOMERS[scale], len(table.vocabularies["id_user"])
    if count is None or count >= customers:
        return table
    chosen = table.take(np.isin(table.codes["id_user"], rng.permutation(customers)[:count]))
    texts = {column.name: column.encode(chosen.texts(column.name)) for column in table.schema}
    return Table.from_encoded(table.schema, texts)
