"""A tournament in its folder: the plan, the stores of results, and the documents and reports made from them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kakurenbo.arena.plan import Plan
from kakurenbo.arena.pool import Workers
from kakurenbo.arena.results import collect, timings
from kakurenbo.arena.runner import ProgressListener, Settings, locked, play
from kakurenbo.arena.store import ResultStore
from kakurenbo.core import InputError, json_bytes, json_object, write_file
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import Message
from kakurenbo.reports import Document, html_report, read_document, results_csv
from kakurenbo.reports.reading import PLAN_FILE, RESULTS_FILE, results_place

TIMINGS_FILE, CSV_FILE = "timings.json", "results.csv"
_TO_GIVE = Message("error.to_report")
REPORT_FILE = "report.html"


@dataclass(frozen=True)
class Tournament:
    """What stands in a run's folder.

    Attributes
    ----------
    path : Path
    document : Document
        What ``results.json`` holds.
    times : mapping
        What ``timings.json`` holds; empty where nothing was timed.
    """

    path: Path
    document: Document
    times: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Tournament:
        """A finished tournament from its folder; or a round from the results file that ``score`` wrote, without times."""
        if not os.path.lexists(path):
            raise UsageError("error.no_run", at=path, hint=_TO_GIVE)
        results = results_place(path)
        folder = results.parent
        if not results.exists():
            begun = (folder / PLAN_FILE).exists()
            hint = Message("error.not_ended") if begun else _TO_GIVE
            raise UsageError("error.no_results", at=path, file=RESULTS_FILE, hint=hint)
        try:
            document = read_document(results)
        except InputError as error:
            raise UsageError(error.problems[0].statement, at=results) from error
        timed = results.name == RESULTS_FILE and os.path.lexists(folder / TIMINGS_FILE)
        return cls(folder, document, _json(folder / TIMINGS_FILE) if timed else {})

    def write_report(self, out: Path | None = None) -> Path:
        """Write the report and return its path. In the run's own folder it is for the owner alone, for the seed is in it."""
        target = out or self.path / REPORT_FILE
        write_file(target, html_report(self.document, self.times).encode(), private=out is None)
        return target


def play_tournament(
    plan: Plan,
    out: Path,
    workers: Workers,
    settings: Settings,
    listener: ProgressListener | None = None,
) -> Tournament:
    """Play a plan in a folder, going on where an earlier start was stopped, and write documents and report."""
    _check_folder(plan, out, replace_results=settings.replace_results)
    with locked(out):
        write_file(out / PLAN_FILE, json_bytes(plan.as_json()), private=True)  # the seed is in it
        store = ResultStore(out)
        found = play(plan, store, workers, settings, listener)
        tournament = Tournament(out, collect(plan, found), timings(store, found))
        write_file(out / TIMINGS_FILE, json_bytes(tournament.times))
        write_file(out / CSV_FILE, results_csv(tournament.document).encode())
        write_file(
            out / RESULTS_FILE, tournament.document.as_bytes(), private=True
        )  # so are the seeds
        tournament.write_report()
        return tournament


def _check_folder(plan: Plan, out: Path, *, replace_results: bool) -> None:
    """Refuse a folder that holds something else: what no run wrote, or what another run did."""
    if out.is_file() or (out.is_dir() and any(out.iterdir()) and not (out / PLAN_FILE).exists()):
        raise UsageError("error.no_run_wrote_it", at=out)
    before = stored_plan(out)
    if not before or replace_results or before == plan.as_json():
        return
    rulebook = before["rulebook"].get("name") if isinstance(before.get("rulebook"), dict) else None
    if rulebook != plan.rulebook.name:
        raise UsageError("error.other_run", at=out, rulebook=rulebook)
    if (out / RESULTS_FILE).exists():
        differing = (
            ", ".join(key for key, value in plan.as_json().items() if before.get(key) != value)
            or "something"
        )
        raise UsageError("error.other_results", at=out, what=differing)


def stored_plan(out: Path) -> Mapping[str, Any]:
    """The plan that an earlier start left in the folder; empty where there is none."""
    return _json(out / PLAN_FILE) if os.path.lexists(out / PLAN_FILE) else {}


def _json(path: Path) -> Mapping[str, Any]:
    return json_object(path, "run")
