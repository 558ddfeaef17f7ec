"""A release of several files about the same people: which list them in one order, and the model of all of them together.

Files of one order add their evidence row by row; one in an order of its own is marginalised, as in pwscup2024.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kakurenbo.attacks.records.alignment import column_agreement, groups_by, shared_noise
from kakurenbo.audit.encoding import Coded, Codes, Floats, encode
from kakurenbo.audit.engine import likelihoods
from kakurenbo.audit.frames import Frame, codes_of_one_kind
from kakurenbo.audit.mechanism import coarsening, joint_shares, retention, with_retention
from kakurenbo.audit.schema import TableSchema
from kakurenbo.audit.tracing import released_form
from kakurenbo.core.errors import ParameterError, UsageError
from kakurenbo.core.messages import text

_MOST_PAIRS = 400  # pairs of columns by which two files without a common one are compared
_SMOOTHED = 0.5
_LEAST = 1e-300
Ints = NDArray[np.int64]
Sides = tuple[Sequence[str], Sequence[str]]


@dataclass(frozen=True, eq=False)
class ReleasedFile:
    """One file.

    Attributes
    ----------
    frame : Frame
    coded : Coded
        Its columns that the original has.
    earlier : bool
        Whether it was released before.
    """

    frame: Frame
    coded: Coded
    earlier: bool


@dataclass(frozen=True, eq=False)
class Files:
    """All files of a release, and earlier ones beside it.

    Attributes
    ----------
    files : tuple of ReleasedFile
    groups : tuple of tuple of int
        Numbers of files that list people in the same order, the group with most columns first.
    """

    files: tuple[ReleasedFile, ...]
    groups: tuple[tuple[int, ...], ...]

    @classmethod
    def of(
        cls,
        frames: Sequence[Frame],
        earlier: Sequence[Frame],
        schema: TableSchema,
        names: Sequence[str],
        original: Frame,
        holdout: Frame | None,
    ) -> Files:
        """The files of a release, then earlier ones; each has some of the columns ``names``."""
        found = []
        for frame, before in [
            *((frame, False) for frame in frames),
            *((frame, True) for frame in earlier),
        ]:
            own = [name for name in names if name in frame.columns]
            found.append(ReleasedFile(frame, encode(schema, own, original, frame, holdout), before))
        groups = groups_by(
            len(found), lambda one, other: _agreement(found[one].coded, found[other].coded)
        )
        columns = {
            group: len({name for number in group for name in found[number].coded.names})
            for group in groups
        }
        return cls(tuple(found), tuple(sorted(groups, key=lambda group: (-columns[group], group))))

    def of_release(self) -> Files:
        """Without earlier ones."""
        return self.chosen([number for number, file in enumerate(self.files) if not file.earlier])

    def chosen(self, numbers: Sequence[int]) -> Files:
        """Some files alone."""
        place = {number: position for position, number in enumerate(numbers)}
        groups = (
            tuple(place[number] for number in group if number in place) for group in self.groups
        )
        return Files(
            tuple(self.files[number] for number in numbers),
            tuple(group for group in groups if group),
        )

    def side_by_side(self, name: str, digest: str) -> Frame:
        """The release as one table: of the files in the commonest order, every column from the first that has it."""
        own = self.of_release()
        frames = [own.files[number].frame for number in own.groups[0]]
        columns: dict[str, pl.Series] = {}
        for frame in frames:
            columns |= {
                column: frame.cells[column] for column in frame.columns if column not in columns
            }
        parts = tuple(file.frame for file in own.files)
        return Frame(
            name, pl.DataFrame(list(columns.values())), digest, parts if len(parts) > 1 else ()
        )


@dataclass(frozen=True, eq=False)
class Several:
    """All files, and original and holdout in every column that any of them has."""

    files: Files
    base: Coded


def _agreement(one: Coded, other: Coded) -> float:
    """How much more than by chance two files agree row by row, in standard deviations."""
    if len(one.release) != len(other.release):
        return 0.0
    shared = [name for name in one.names if name in other.names]
    if shared:
        scores = []
        for name in shared:
            places = one.names.index(name), other.names.index(name)
            codes = codes_of_one_kind(_texts(one, places[0]), _texts(other, places[1]))
            scores.append(column_agreement(*codes))
        return max(scores)
    pairs = list(itertools.product(range(len(one.columns)), range(len(other.columns))))[
        :_MOST_PAIRS
    ]
    return max(_related(one, other, *pair) for pair in pairs)


def _texts(coded: Coded, place: int) -> pl.Series:
    return pl.Series(coded.columns[place].shown, dtype=pl.String).gather(coded.release[:, place])


def _related(one: Coded, other: Coded, i: int, j: int) -> float:
    """How much likelier the pairs of two columns are row by row than in any order, by what goes together in the original."""
    people = [
        released_form(coded.select([place]), coded.original[:, [place]])[:, 0]
        for coded, place in ((one, i), (other, j))
    ]
    sizes = [one.columns[i].released, other.columns[j].released]
    joint = joint_shares(people[0], sizes[0], people[1], sizes[1]) * len(
        people[0]
    ) + _SMOOTHED / np.prod(sizes)
    joint /= joint.sum()
    weight = np.log(joint) - np.log(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    seen = joint_shares(one.release[:, i], sizes[0], other.release[:, j], sizes[1])
    apart = np.outer(seen.sum(axis=1), seen.sum(axis=0))
    mean = float((apart * weight).sum())
    deviation = np.sqrt(max(float((apart * weight**2).sum()) - mean**2, 0.0) / len(one.release))
    return float((float((seen * weight).sum()) - mean) / deviation) if deviation > 0 else 0.0


# -- the model ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GroupModel:
    """The files of one order as one row model.

    Attributes
    ----------
    release : array of int32, shape (m, copies)
        A column for each copy of a column of the original.
    matrices : list of arrays, shape (size, released)
        What each released code gives an original one.
    columns : tuple of str
        The column of the original that each copy is of.
    people : array of int32, shape (original and holdout, copies)
        Everybody as the files' own codes have them.
    """

    release: Codes
    matrices: list[Floats]
    columns: tuple[str, ...]
    people: Codes

    def scores(self, who: Ints, sides: Sides) -> Floats | None:
        """Evidence that two sources are of the same person, shape (n, n); None where the group has columns of one alone."""
        one, other = (
            tuple(place for place, name in enumerate(self.columns) if name in side)
            for side in sides
        )
        if not one or not other:
            return None
        people = self.people[who]
        together, alone = np.zeros((len(who), len(who))), [np.zeros(len(who)), np.zeros(len(who))]
        for of_one, of_other in zip(
            self._blocks(people, one), self._blocks(people, other), strict=True
        ):
            together += of_one.T @ of_other  # (n, block) @ (block, n)
            alone[0] += of_one.sum(axis=0)
            alone[1] += of_other.sum(axis=0)
        return np.asarray(
            np.log(np.maximum(together, _LEAST)) - np.log(np.maximum(np.outer(*alone), _LEAST))
        )

    def _blocks(self, people: Codes, places: Sequence[int]) -> Iterator[Floats]:
        own = list(places)
        return likelihoods(
            people[:, own], self.release[:, own], [self.matrices[place] for place in own]
        )


def fit(files: Files, rows: Ints | None, *, by_copies: bool) -> list[GroupModel]:
    """A model for each group of files, its noise told by everybody, members or not.

    Parameters
    ----------
    rows : array of int or None
        The released rows that take part, of files that have as many; None for all.
    by_copies : bool
        Whether noise is told by how copies of a column in several files agree, or in each file for itself.
    """
    models = []
    for group in files.groups:
        coded = [files.files[number].coded for number in group]
        people = np.column_stack([np.concatenate([one.original, one.holdout]) for one in coded])
        columns = tuple(column for one in coded for column in one.columns)
        wide = Coded(columns, people, people[:0], np.column_stack([one.release for one in coded]))
        if rows is not None:
            wide = wide.with_release(wide.release[rows[rows < len(wide.release)]])
        matrices = _matrices(wide, [len(one.columns) for one in coded], by_copies=by_copies)
        models.append(GroupModel(wide.release, matrices, wide.names, people))
    return models


def _matrices(wide: Coded, widths: Sequence[int], *, by_copies: bool) -> list[Floats]:
    """P(released | original) of each copy, scaled so that a row of many columns is no smaller than a number can be."""
    maps = [coarsening(column, wide.release[:, place]) for place, column in enumerate(wide.columns)]
    if by_copies:
        kept = retention(wide, wide.original, maps)
    else:
        ends = np.cumsum(widths)
        parts = [
            list(range(end - width, end)) for end, width in zip(ends.tolist(), widths, strict=True)
        ]
        kept = np.concatenate(
            [
                retention(
                    wide.select(part), wide.original[:, part], [maps[place] for place in part]
                )
                for part in parts
            ]
        )
    weights = _weights(wide, kept)
    found = []
    for place, matrix in enumerate(with_retention(wide, wide.original, maps, kept)):
        seen = np.bincount(wide.release[:, place], minlength=matrix.shape[1]) / len(wide.release)
        usual = float(matrix.mean(axis=0) @ seen)
        found.append(np.maximum(matrix / max(usual, _LEAST), _LEAST) ** weights[place])
    return found


def _weights(wide: Coded, kept: Floats) -> Floats:
    """What each copy of a column counts: less than 1 where copies have their noise in common, shape (copies,)."""
    weights = np.ones(len(wide.columns))
    for one in dict.fromkeys(wide.names):
        copies = [place for place, other in enumerate(wide.names) if other == one]
        exact = [wide.columns[place].exact for place in copies]
        sizes = {wide.columns[place].size for place in copies}
        if len(copies) < 2 or len(sizes) > 1 or any((codes < 0).any() for codes in exact):
            continue
        shown = [codes[wide.release[:, place]] for codes, place in zip(exact, copies, strict=True)]
        in_common = shared_noise(shown, wide.columns[copies[0]].size, float(np.mean(kept[copies])))
        weights[copies] = 1 / (1 + (len(copies) - 1) * in_common)
    return weights


def single(files: Files) -> list[Files]:
    """Every file for itself."""
    return [replace(files, files=(file,), groups=((0,),)) for file in files.files]


def arranged(
    schema: TableSchema,
    left_out: Sequence[str],
    tables: tuple[Frame, Frame, Frame | None],
    earlier: Sequence[Frame],
) -> tuple[Frame, Several]:
    """The release as one table, and all its files with earlier ones.

    Raises
    ------
    ParameterError
        Where no file shares a column with the original, or the holdout lacks one.
    """
    original, release, holdout = tables
    frames = release.parts or (release,)
    before = [part for frame in earlier for part in (frame.parts or (frame,))]
    seen = {name for frame in (*frames, *before) for name in frame.columns}
    names = [name for name in schema.names if name in seen and name not in left_out]
    for frame in (*frames, *before):
        if not set(frame.columns) & set(names):
            shared = text("expects.some_columns", columns=original.columns)
            raise ParameterError("earlier" if frame in before else "release", shared, frame.name)
    if holdout is not None and (lacking := [name for name in names if name not in holdout.columns]):
        raise UsageError("usage.audit_holdout_column", file=holdout.name, column=lacking[0])
    files = Files.of(frames, before, schema, names, original, holdout)
    base = encode(schema, names, original, original, holdout)
    return files.side_by_side(release.name, release.digest), Several(files, base)
