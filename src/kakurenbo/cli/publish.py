"""``publish R HANDOUT RELEASE... -o DIR``: what attackers get, and the secret answer beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import PATH, AnyRulebook, chosen_seed, json_option, out_option, rulebook_verb, seed_option
from kakurenbo.contracts import Preparation
from kakurenbo.errors import UsageError
from kakurenbo.tables import Problem, Problems, Source, check_free, sources_of, write_folder


def _publish(
    rulebook: AnyRulebook,
    handout: Path,
    release: tuple[Path, ...],
    team: str | None,
    seed: int | None,
    out: Path,
    as_json: bool,
) -> int:
    check_free(out)
    preparation = rulebook.read_preparation(handout)
    if isinstance(preparation, Problems):
        return output.refuse(preparation, as_json)
    sources = [source for path in release for source in sources_of(path)]
    notices: list[Problem] = []
    checked = {
        name: rulebook.check_release(preparation.handouts[name], files, notices)
        for name, files in _by_team(rulebook, preparation, sources, team).items()
    }
    refused = [found for found in checked.values() if isinstance(found, Problems)]
    if refused:
        return output.refuse(Problems.of(*refused), as_json)
    targets = rulebook.publish(preparation, checked, chosen_seed(seed))
    files: dict[str, bytes] = {}
    for target in targets.values():
        files |= {f"attackers/{name}": data for name, data in target.public_files.items()}
        files |= {f"secret/{name}": data for name, data in target.secret_files.items()}
    write_folder(out, files, private=("secret",))
    output.print_notices(notices)
    if as_json:
        output.print_json({"out": str(out), "teams": sorted(targets), "files": sorted(files)})
    else:
        output.console().print(f"{out}/attackers  give to the attackers\n{out}/secret     keep: the answers")
    return output.DONE


def _by_team(
    rulebook: AnyRulebook, preparation: Preparation[Any], sources: list[Source], team: str | None
) -> dict[str, list[Source]]:
    """Whose release is which: told by --team, by the file names, or clear because there is only one team."""
    only = next(iter(preparation.handouts)) if len(preparation.handouts) == 1 else None
    grouped: dict[str, list[Source]] = {}
    for source in sources:
        owner = team or rulebook.team_of(source.name) or only
        if owner is None or owner not in preparation.handouts:
            known = ", ".join(preparation.handouts)
            raise UsageError(f"{source.name}: whose release is this? Name the team with --team (there are {known})")
        grouped.setdefault(owner, []).append(source)
    return grouped


def _parameters() -> list[click.Parameter]:
    handout = click.Argument(["handout"], type=PATH)
    release = click.Argument(["release"], type=PATH, nargs=-1, required=True)
    team = click.Option(["--team"], help="Whose release it is, where the file names do not tell.")
    return [handout, release, out_option, team, seed_option, json_option]


publish = rulebook_verb("publish", _publish, _parameters, "What attackers get of a release, and the secret answer beside it.")
