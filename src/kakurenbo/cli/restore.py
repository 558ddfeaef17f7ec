"""``restore BACKUP``: a judge from a backup, in a new folder."""

from __future__ import annotations

from pathlib import Path

import click
import msgspec

from kakurenbo.cli import output
from kakurenbo.cli.backup import print_trees
from kakurenbo.cli.common import check_there, json_option
from kakurenbo.cli.serve import check_installed, home_option
from kakurenbo.core.messages import text


def _restore(backup_file: Path, home: Path | None, as_json: bool) -> int:
    check_installed()
    check_there(backup_file)
    from kakurenbo.judge.operations.restore import restore as restore_judge
    from kakurenbo.judge.serve.home import default_home

    place = home or default_home()
    restored = restore_judge(backup_file, place)
    trees = msgspec.to_builtins(restored.trees)
    if as_json:
        output.print_json({"home": str(place), "made_at": restored.made_at, "trees": trees})
        return output.DONE
    output.console().print(text("restore.done", home=str(place), at=restored.made_at), markup=False)
    print_trees(trees)
    output.console().print(text("restore.next", home=str(place)), markup=False)
    return output.DONE


def restore() -> click.Command:
    """The verb."""
    parameters = [
        click.Argument(["backup_file"], type=click.Path(path_type=Path), metavar="BACKUP"),
        home_option(),
        json_option(),
    ]
    return click.Command("restore", params=parameters, callback=_restore, help=text("help.restore"))
