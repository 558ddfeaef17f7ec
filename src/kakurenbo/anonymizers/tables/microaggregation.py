"""Groups of k records that become alike: `microaggregate` (MDAV, Domingo-Ferrer and Torra 2005) and `mondrian` (LeFevre 2006)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kakurenbo.anonymizers.tables.columns import ColumnMethod
from kakurenbo.contest import Release
from kakurenbo.core import Category, Codes, Integer, Schema, Table
from kakurenbo.core.arrays import Ints, Rng
from kakurenbo.core.compiling import compiled
from kakurenbo.core.messages import Message
from kakurenbo.methods.parameters import parameter


@dataclass(frozen=True)
class Microaggregate(ColumnMethod):
    """Put records into groups of k to 2k - 1 that are near each other, and make each group alike on the chosen columns.

    Examples
    --------
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(20,), (70,), (22,), (72,), (21,), (71,)])
    >>> Microaggregate(k=3)(table, np.random.default_rng(0)).table.values("age").tolist()
    [21, 71, 21, 71, 21, 71]
    """

    kinds = Category | Integer

    k: int = parameter(5, "smallest number of records in a group", low=1)
    columns: tuple[str, ...] | None = parameter(
        None, "columns that are made alike", none="word.all_columns"
    )

    def __call__(self, table: Table, rng: Rng) -> Release:
        names = self.names(table.schema)
        # Numbers in units of their spread; to differ in a category is one standard deviation.
        parts = [np.zeros((len(table), 0))]
        for name in names:
            codes = table.codes[name][:, None]
            if isinstance(table.schema[name], Category):
                parts.append((codes == np.unique(codes)) / np.sqrt(2))
            else:
                parts.append(codes.astype(np.float64) / (codes.std(dtype=np.float64) or 1))
        groups = _group_mdav(np.ascontiguousarray(np.hstack(parts)), self.k)
        return make_alike(table, names, groups, self.k)


def make_alike(table: Table, names: Iterable[str], groups: Ints, k: int) -> Release:
    """Give every group, numbered by ``groups`` of shape (n,), the lower median of each number and the mode of each category."""
    names, changed = tuple(names), {}
    for name in names:
        is_category = isinstance(table.schema[name], Category)
        changed[name] = (_modes if is_category else _lower_medians)(table.codes[name], groups)
    # The questionnaire's k is about whole records: it follows only where all columns are made alike.
    holds = len(names) == len(table.schema) and len(table) >= k
    return Release.of(table.with_codes(changed), claims={"k": float(k)} if holds else {})


def _lower_medians(codes: Codes, groups: Ints) -> Codes:
    order = np.lexsort((codes, groups))
    _, starts, member, counts = np.unique(
        groups[order], return_index=True, return_inverse=True, return_counts=True
    )
    result = np.empty_like(codes)
    result[order] = codes[order][(starts + (counts - 1) // 2)[member]]
    return result


def _modes(codes: Codes, groups: Ints) -> Codes:
    """Return the commonest level of each row's group, the first of equals."""
    _, member = np.unique(groups, return_inverse=True)
    size = int(codes.max(initial=0)) + 1
    cells, counts = np.unique(member * size + codes.astype(np.int64), return_counts=True)
    order = np.lexsort((cells, -counts, cells // size))
    _, firsts = np.unique(cells[order] // size, return_index=True)
    modes: Codes = (cells[order][firsts] % size)[member]
    return modes


@compiled
def _group_mdav(view: Any, k: int) -> Any:
    """Number the groups of rows of shape (n, d): around the row farthest from the centre, then the one farthest from that."""
    rows, width = view.shape
    groups = np.zeros(rows, dtype=np.int64)
    left = np.arange(rows)
    count, group = rows, 0
    distances, centre = np.zeros(rows), np.zeros(width)
    while count >= 2 * k:
        centre[:] = 0.0
        for place in range(count):
            centre += view[left[place]]
        centre /= count
        seeds = 2 if count >= 3 * k else 1
        towards = centre
        for _ in range(seeds):
            far = 0
            farthest = -1.0
            for place in range(count):
                distance = ((view[left[place]] - towards) ** 2).sum()
                if distance > farthest:
                    far, farthest = place, distance
            towards = view[left[far]].copy()
            for place in range(count):
                distances[place] = ((view[left[place]] - towards) ** 2).sum()
            # A twin of the seed that comes before it must not push it out of its own group.
            distances[far] = -1.0
            nearest = np.argsort(distances[:count], kind="mergesort")
            groups[left[nearest[:k]]] = group
            left[: count - k] = left[np.sort(nearest[k:])]
            count -= k
            group += 1
    groups[left[:count]] = group
    return groups


@dataclass(frozen=True)
class Mondrian(ColumnMethod):
    """Cut the records into parts at medians, as finely as k, l and t allow, and make each part alike.

    The sensitive column stays as it is: every part has at least l of its values, and their distribution is at most t (total
    variation) from that of the whole table. Without one, all columns are made alike.

    Examples
    --------
    >>> table = Table.from_rows(Schema([Integer("age", 0, 99)]), [(20,), (70,), (22,), (72,), (21,), (71,)])
    >>> Mondrian(k=3)(table, np.random.default_rng(0)).table.values("age").tolist()
    [21, 71, 21, 71, 21, 71]
    """

    kinds = Category | Integer

    k: int = parameter(5, "smallest number of records in a part", low=1)
    l: int = parameter(1, "fewest different sensitive values in a part", low=1)  # noqa: E741 - the name of the guarantee
    t: float = parameter(
        1.0,
        "how far a part's sensitive values may be from the table's, in total variation",
        low=0,
        high=1,
    )
    sensitive: str = parameter(
        "", "column that stays as it is, and that l and t are about", none="word.no_column"
    )

    def chosen(self) -> tuple[str, ...] | None:
        return (self.sensitive,) if self.sensitive else None

    def unfit(self, schema: Schema) -> str | Message:
        wrong = super().unfit(schema)
        if not wrong and not self.sensitive and (self.l > 1 or self.t < 1):
            return Message("misfit.no_sensitive")
        return wrong

    def __call__(self, table: Table, rng: Rng) -> Release:
        names = [name for name in table.schema.names if name != self.sensitive]
        columns = [table.codes[name].astype(np.int64) for name in names]
        # A category counts in its levels, a number in the range that it really has.
        sizes = [c.size if isinstance(c := table.schema[name], Category) else 0 for name in names]
        spans = [
            float(size or max(1, np.ptp(codes) if len(codes) else 0))
            for size, codes in zip(sizes, columns, strict=True)
        ]
        secret = np.zeros(len(table), dtype=np.int64)
        if self.sensitive:
            secret = np.unique(table.codes[self.sensitive], return_inverse=True)[1]
        groups, finished, waiting = np.zeros(len(table), dtype=np.int64), 0, [np.arange(len(table))]
        while waiting:
            rows = waiting.pop()
            if halves := self._halve(rows, columns, spans, secret):
                waiting.extend(halves)
            else:
                groups[rows] = finished
                finished += 1
        return make_alike(table, names, groups, self.k)

    def _halve(
        self, rows: Ints, columns: list[Ints], spans: list[float], secret: Ints
    ) -> tuple[Ints, Ints] | None:
        """Return both halves by the widest column that can be cut; None where no column can."""
        if len(rows) < 2 * self.k:
            return None
        widths = np.array([np.ptp(c[rows]) / span for c, span in zip(columns, spans, strict=True)])
        for place in np.argsort(-widths, kind="stable")[: int((widths > 0).sum())]:
            values = columns[place][rows]
            median = np.partition(values, (len(values) - 1) // 2)[(len(values) - 1) // 2]
            # Ties stay together; where the median is the largest value, it goes to the right by itself.
            left = values <= median if (values > median).any() else values < median
            if self._is_allowed(rows[left], secret) and self._is_allowed(rows[~left], secret):
                return rows[left], rows[~left]
        return None

    def _is_allowed(self, rows: Ints, secret: Ints) -> bool:
        if len(rows) < self.k or not self.sensitive:
            return len(rows) >= self.k
        every = np.bincount(secret)
        part = np.bincount(secret[rows], minlength=len(every))
        distance = np.abs(part / len(rows) - every / len(secret)).sum() / 2
        return int((part > 0).sum()) >= self.l and float(distance) <= self.t
