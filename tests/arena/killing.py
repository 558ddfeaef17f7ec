"""A tournament in a process of its own that can be killed: ``python killing.py OUT [--cluster ADDRESS]``."""

from __future__ import annotations

import sys
from pathlib import Path

from kakurenbo import arena
from kakurenbo.arena import Entrant
from kakurenbo.arena.calls import MethodCall
from kakurenbo.methods.registry import load

TEAMS = 6


def the_plan() -> arena.Plan:
    """Jobs that take a little time each, so that there is always something to interrupt."""
    attacks = ("sleepy:seconds=0.05", "nearest", "blind")
    entrants = [
        Entrant(
            f"{number + 1:02d}",
            f"player {number}",
            MethodCall.parsed("anonymizers", f"blur:reach={number}"),
            MethodCall.parsed("attacks", attacks[number % len(attacks)]),
        )
        for number in range(TEAMS)
    ]
    return arena.make_plan(load("rulebooks", "hide-and-seek")(size=30), entrants, 11, repeats=2)


def main() -> None:
    out, *rest = sys.argv[1:]
    workers = arena.cluster(rest[1]) if rest else arena.processes(2)
    arena.play_tournament(the_plan(), Path(out), workers, arena.Settings())


if __name__ == "__main__":
    main()
