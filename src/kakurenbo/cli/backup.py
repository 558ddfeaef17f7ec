"""``backup OUT``: everything of a judge as one file, while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from kakurenbo.cli import output
from kakurenbo.cli.common import json_option
from kakurenbo.cli.serve import check_installed, home_option
from kakurenbo.core.messages import language, text
from kakurenbo.reports.numbers import counted


def _backup(home: Path | None, new_backup: Path, as_json: bool) -> int:
    check_installed()
    from kakurenbo.judge.operations.backup import back_up
    from kakurenbo.judge.operations.manifest import OPEN_FOLDER, SECRET_FOLDER
    from kakurenbo.judge.serve.home import default_home

    made = back_up(home or default_home(), new_backup)
    number = {
        folder: sum(part.name.startswith(f"{folder}/") for part in made.parts)
        for folder in (OPEN_FOLDER, SECRET_FOLDER)
    }
    size = new_backup.stat().st_size
    if as_json:
        told = {
            "out": str(new_backup),
            "size": size,
            "made_at": made.made_at,
            "files": number[OPEN_FOLDER],
        }
        output.print_json(
            {**told, "secrets": number[SECRET_FOLDER], "trees": msgspec.to_builtins(made.trees)}
        )
        return output.DONE
    console = output.console()
    counts = {
        "files": counted(sum(number.values()), "file", language()),
        "megabytes": f"{size / 1e6:.1f}",
    }
    console.print(text("backup.done", out=str(new_backup), at=made.made_at, **counts), markup=False)
    print_trees(msgspec.to_builtins(made.trees))
    console.print(text("backup.holds_secrets", out=str(new_backup)), markup=False)
    return output.DONE


def print_trees(trees: Sequence[dict[str, Any]]) -> None:
    """The log of each contest in a line."""
    for tree in trees:
        output.console().print(text("backup.tree", **tree), markup=False)


def backup() -> click.Command:
    """The verb."""
    parameters = [
        home_option(),
        click.Argument(["new_backup"], type=click.Path(path_type=Path), metavar="OUT"),
        json_option(),
    ]
    return click.Command("backup", params=parameters, callback=_backup, help=text("help.backup"))
