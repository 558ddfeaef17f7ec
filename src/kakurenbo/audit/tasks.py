"""An audit as tasks that know nothing of each other: each a function of the same tables and the seed.

So it does not matter where they are done, or in which order: in threads of this process, or on other machines.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from kakurenbo.audit import statistics
from kakurenbo.audit.checking import driving_columns, measure_utility, self_tests
from kakurenbo.audit.combining import attack_files
from kakurenbo.audit.encoding import Coded, Codes
from kakurenbo.audit.files import Several
from kakurenbo.audit.inferring import askable, attack_inference
from kakurenbo.audit.likeness import standing_out
from kakurenbo.audit.linking import attack_linkability
from kakurenbo.audit.membership import REVERSED, Membership, Others, Rehearsed, attack_membership
from kakurenbo.audit.result import (
    FEWEST_PEOPLE,
    Caveat,
    DrivingColumn,
    FileRisk,
    Risk,
    SelfTest,
    Utility,
)
from kakurenbo.audit.singling import attack_singling_out, fitting_one
from kakurenbo.audit.steps import step
from kakurenbo.core import rng

FEWEST = FEWEST_PEOPLE
_SIGNIFICANT = 0.05
_LOADED_FIRST = (
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.tree",
    "kakurenbo.audit.kernels",
)
"""Libraries that tasks load when they need them: two threads that load parts of each other at a time would find halves."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """All that a task takes.

    Attributes
    ----------
    coded : Coded
    asked : array of int32, shape (n, columns)
        People of the original who may be asked about, where names were undone by the others.
    members, controls : arrays of int32, shape (m, columns), (c, columns)
        Targets.
    others : Others
        Everybody else of both tables.
    know, secret : tuple of str
        Columns; all where none is named.
    seed : int
    why_not : str
        Why rows are not taken for people; empty where they are.
    several : Several or None
        The files of a release that has several, or of earlier ones beside it.
    rehearsed : tuple of Rehearsed
        What a rival made of the same people.
    """

    coded: Coded
    asked: Coded
    members: Codes
    controls: Codes
    others: Others
    know: tuple[str, ...]
    secret: tuple[str, ...]
    seed: int
    why_not: str = ""
    several: Several | None = None
    rehearsed: tuple[Rehearsed, ...] = ()

    def places(self, names: tuple[str, ...]) -> list[int]:
        """The numbers of these columns; of all where none is named."""
        return [place for place, name in enumerate(self.coded.names) if not names or name in names]

    def stream(self, name: str) -> np.random.Generator:
        """The randomness of one task."""
        return rng.stream(self.seed, "audit", name)


def perform(name: str, prepared: Prepared) -> Any:
    """Do one task, with one thread of each library, so that sums have one order everywhere.

    The limit is set where the task is done: OpenMP keeps one for each thread that calls it.
    """
    with threadpool_limits(1):
        return TASKS[name](prepared)


def _membership(prepared: Prepared) -> Membership | None:
    known = prepared.places(prepared.know)
    if prepared.why_not or not known or min(len(prepared.members), len(prepared.controls)) < FEWEST:
        return None
    members, controls = prepared.members[:, known], prepared.controls[:, known]
    coded, others = prepared.coded.select(known), prepared.others.select(known)
    rehearsed = [one.select(known) for one in prepared.rehearsed]
    found = attack_membership(
        coded, members, controls, prepared.stream("membership"), others, rehearsed
    )
    told = next(row for row in found.risk.rows if row.attack == REVERSED)
    if told.control is not None and statistics.fisher(told.rate, told.control) < _SIGNIFICANT / len(
        found.risk.rows
    ):
        return found.hiding("non_members")
    return found


def _why_not(prepared: Prepared) -> str:
    """Why nothing can be said of this table, or nothing."""
    if prepared.why_not:
        return prepared.why_not
    coded = prepared.asked
    if len(coded.original) < FEWEST or len(coded.release) < FEWEST:
        return "too_few"
    return "one_column" if len(coded.columns) < 2 else ""


def _compared(coded: Coded) -> Coded:
    """The same without a holdout that is too small to compare with: then what is released is compared with no release."""
    return coded if len(coded.holdout) >= FEWEST else replace(coded, holdout=coded.holdout[:0])


def _singling_out(prepared: Prepared) -> tuple[Risk, float]:
    if why := _why_not(prepared):
        return Risk("singling_out", False, why), 1.0
    asked = _compared(prepared.asked)
    return attack_singling_out(asked, asked.holdout, prepared.stream("singling_out"))


def _linkability(prepared: Prepared) -> tuple[Risk, float, tuple[FileRisk, ...]]:
    """With what each file does alone, where there are several."""
    if why := _why_not(prepared):
        return Risk("linkability", False, why), 1.0, ()
    stream, several = prepared.stream("linkability"), prepared.several
    if several is not None:
        known = [name for name in several.base.names if name in prepared.know]
        wanted = [
            name for name in several.base.names if name in prepared.secret and name not in known
        ]
        return attack_files(
            several.files,
            _compared(several.base),
            stream,
            (known, wanted) if known and wanted else None,
        )
    know, secret = prepared.places(prepared.know), prepared.places(prepared.secret)
    sides = (tuple(know), tuple(place for place in secret if place not in know))
    given = [sides] if prepared.know and prepared.secret and all(sides) else None
    asked = _compared(prepared.asked)
    return (*attack_linkability(asked, asked.holdout, stream, given), ())


def _inference(prepared: Prepared) -> tuple[Risk, float]:
    if why := _why_not(prepared):
        return Risk("inference", False, why), 1.0
    know, secret = prepared.places(prepared.know), prepared.places(prepared.secret)
    asked = [
        place
        for place in askable(prepared.asked)
        if place in secret and [one for one in know if one != place]
    ]
    if not asked:
        return Risk("inference", False, "nothing_secret"), 1.0
    coded = _compared(prepared.asked)
    return attack_inference(coded, coded.holdout, prepared.stream("inference"), know, asked)


def _self_tests(prepared: Prepared) -> tuple[SelfTest, ...]:
    if prepared.why_not:
        return ()
    return self_tests(prepared.coded, prepared.coded.holdout, prepared.stream("self_tests"))


def _standing_out(prepared: Prepared) -> Caveat | None:
    if (
        prepared.why_not
        or min(len(prepared.members), len(prepared.controls)) < FEWEST
        or len(prepared.coded.columns) < 2
    ):
        return None
    return standing_out(prepared.coded, prepared.members, prepared.controls)


def _columns(prepared: Prepared) -> tuple[DrivingColumn, ...]:
    known = prepared.places(prepared.know)
    people = prepared.members[:, known], prepared.controls[:, known], prepared.others.select(known)
    return driving_columns(prepared.coded.select(known), *people)


def _utility(prepared: Prepared) -> tuple[Utility, int | None]:
    """With how many released rows fit one person alone, where rows are people."""
    coded = prepared.coded
    copies = None if prepared.why_not else fitting_one(coded)
    return measure_utility(coded, coded.holdout, len(coded.columns)), copies


TASKS: dict[str, Callable[[Prepared], Any]] = {
    "membership": _membership,
    "inference": _inference,
    "linkability": _linkability,
    "singling_out": _singling_out,
    "self_tests": _self_tests,
    "standing_out": _standing_out,
    "utility": _utility,
    "columns": _columns,
}
"""By name, what takes longest first."""

Told = Callable[[str], None]
Submit = Callable[[str], Future[Any]]
Crew = Callable[[Prepared, Told], contextlib.AbstractContextManager[Submit]]
"""Who does the tasks: given what they take, and whom to tell of each that begins."""


def threads(count: int | None = None) -> Crew:
    """So many tasks at a time in this process; as many as there are cores where nothing is said.

    The loops are compiled and hold no lock, and threads share the tables.
    """

    @contextlib.contextmanager
    def opened(prepared: Prepared, tell: Told) -> Iterator[Submit]:
        def told(name: str) -> Any:
            with step(tell, name):
                return perform(name, prepared)

        size = count or os.cpu_count() or 1
        for library in _LOADED_FIRST:
            importlib.import_module(library)
        # Here, too: a task that ends must not give threads back to those that go on.
        with (
            threadpool_limits(1),
            ThreadPoolExecutor(size, thread_name_prefix="kakurenbo-audit") as pool,
        ):
            try:
                yield lambda name: pool.submit(told, name)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    return opened
