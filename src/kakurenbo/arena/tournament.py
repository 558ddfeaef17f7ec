"""A tournament in its folder: the plan, the store of results, and the documents and reports made from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kakurenbo.arena.executors import Workers
from kakurenbo.arena.plan import Plan
from kakurenbo.arena.report import html_report, markdown_report, results_csv
from kakurenbo.arena.results import collect, timings
from kakurenbo.arena.running import Settings, Tell, locked, play
from kakurenbo.arena.store import Store, json_bytes
from kakurenbo.errors import UsageError
from kakurenbo.tables import write_file

PLAN_FILE, RESULTS_FILE, TIMINGS_FILE, STORE = "run.json", "results.json", "timings.json", "store"
CSV_FILE = "results.csv"
REPORT_FILES = {"html": "report.html", "md": "report.md"}


@dataclass(frozen=True)
class Tournament:
    """What stands in a run's folder.

    Attributes
    ----------
    path : Path
    results : mapping
        The document ``results.json``.
    times : mapping
        The document ``timings.json``.
    """

    path: Path
    results: Mapping[str, Any]
    times: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Tournament:
        """A finished tournament from its folder."""
        if not path.is_dir():
            raise UsageError(f"{path}: there is no such folder; give the folder that run wrote with -o")
        if not (path / RESULTS_FILE).exists():
            begun = (path / PLAN_FILE).exists()
            hint = "the run has not ended; start it again to go on" if begun else "give the folder that run wrote with -o"
            raise UsageError(f"{path}: there is no {RESULTS_FILE}; {hint}")
        return cls(path, _document(path / RESULTS_FILE), _document(path / TIMINGS_FILE))

    def write_report(self, format_: str = "html", out: Path | None = None) -> Path:
        """Make the report; gives its path."""
        make = {"html": html_report, "md": markdown_report}[format_]
        target = out or self.path / REPORT_FILES[format_]
        try:
            content = make(self.results, self.times)
        except (KeyError, TypeError, AttributeError, ValueError, IndexError):
            raise UsageError(f"{self.path / RESULTS_FILE}: this does not hold what run writes there; run again") from None
        write_file(target, content.encode())
        return target


def hold(plan: Plan, out: Path, workers: Workers, settings: Settings, tell: Tell | None = None) -> Tournament:
    """Play a plan in a folder, going on where an earlier start was stopped, and write documents and report."""
    if out.is_file() or (out.is_dir() and any(out.iterdir()) and not (out / PLAN_FILE).exists()):
        raise UsageError(f"{out}: there is something already that no run wrote; name a new folder")
    with locked(out):
        write_file(out / PLAN_FILE, json_bytes(plan.as_json()))
        store = Store(out / STORE)
        found = play(plan, store, workers, settings, tell)
        results, times = collect(plan, found), timings(store, found)
        tournament = Tournament(out, results, times)
        write_file(out / TIMINGS_FILE, json_bytes(times))
        write_file(out / CSV_FILE, results_csv(results).encode())
        write_file(out / RESULTS_FILE, json_bytes(results))
        tournament.write_report()
        return tournament


def stored_plan(out: Path) -> Mapping[str, Any]:
    """The plan that an earlier start left in the folder; empty where there is none."""
    if not (out / PLAN_FILE).exists():
        return {}
    return _document(out / PLAN_FILE)


def _document(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path}: this is not JSON; it was damaged after it was written") from None
    if not isinstance(content, dict):
        raise UsageError(f"{path}: this does not hold what run writes there")
    return content
