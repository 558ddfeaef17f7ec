"""``fetch CONTEST -o DIR``: every file of a round that this account may see, as the folders that other verbs take."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import click

from kakurenbo.cli import output
from kakurenbo.cli.common import json_option, option, out_folder_option
from kakurenbo.cli.judge_client import judge_of, judge_options
from kakurenbo.cli.judged import when
from kakurenbo.contest import ANONYMIZE
from kakurenbo.core import STANDARD_OUTPUT
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import escaped, text


def _fetch(
    contest: str,
    out: Path,
    round_: str | None,
    server: str | None,
    token_file: Path | None,
    as_json: bool,
) -> int:
    if out == STANDARD_OUTPUT:
        raise UsageError(text("usage.folder_on_stdout"))
    judge = judge_of(server, token_file)
    meant = _round(judge.contest(contest)["rounds"], round_)
    name = str(meant["name"])
    listed = judge.get("contests", contest, "rounds", name, "files")
    fetched: list[str] = []
    for file in listed:
        place = _inside(out, file["path"])
        if not _has(place, file["sha256"]):
            judge.fetch(
                place,
                file["size"],
                file["sha256"],
                "contests",
                contest,
                "rounds",
                name,
                "files",
                *file["path"].split("/"),
            )
            fetched.append(file["path"])
    if as_json:
        output.print_json(
            {
                "out": str(out),
                "round": name,
                "files": [file["path"] for file in listed],
                "fetched": fetched,
            }
        )
    else:
        for path in fetched:
            output.console().print(escaped(str(out / path)), markup=False)
        same = len(listed) - len(fetched)
        output.console().print(
            text("fetch.done", count=len(fetched), same=same, round=name), markup=False
        )
        opens = _handout_comes(meant, [file["path"] for file in listed])
        if opens is not None:
            output.console().print(
                text("fetch.only_public", round=name, moment=when(opens)), markup=False
            )
    return output.DONE


def _round(rounds: Sequence[Mapping[str, Any]], asked: str | None) -> Mapping[str, Any]:
    """The round that is meant: the one that is played, else the latest that was; before the first, the one that comes."""
    if asked is not None:
        for one in rounds:
            if one["name"] == asked:
                return one
        raise UsageError(
            text("fetch.no_round", name=asked, rounds=[str(one["name"]) for one in rounds])
        )
    prepared = [one for one in rounds if one["prepared_at"] is not None]
    if not prepared:
        raise UsageError(text("fetch.not_prepared"))
    opened = [
        one for one in prepared if any(phase["state"] != "waiting" for phase in one["phases"])
    ]
    played = [one for one in opened if any(phase["state"] == "open" for phase in one["phases"])]
    return [*prepared[:1], *opened, *played][-1]


def _handout_comes(round_: Mapping[str, Any], paths: Sequence[str]) -> str | None:
    """When teams get their handouts, where only what is everybody's is there yet."""
    waiting = [
        phase["opens_at"]
        for phase in round_["phases"]
        if phase["kind"] == ANONYMIZE and phase["state"] == "waiting"
    ]
    only_public = all(PurePosixPath(path).parts[:1] == ("public",) for path in paths)
    return str(waiting[0]) if waiting and only_public else None


def _inside(out: Path, path: str) -> Path:
    """Where a file goes; a judge that names a place outside the folder is not believed."""
    parts = PurePosixPath(path).parts
    if (
        not parts
        or path.startswith("/")
        or ".." in parts
        or "\\" in path
        or ":" in path
        or not path.isprintable()
    ):
        raise UsageError(text("fetch.bad_path", path=path))
    return out.joinpath(*parts)


def _has(place: Path, sha256: str) -> bool:
    return place.is_file() and hashlib.sha256(place.read_bytes()).hexdigest() == sha256


def fetch() -> click.Command:
    """The verb."""
    parameters: list[click.Parameter] = [
        click.Argument(["contest"]),
        out_folder_option(),
        option("--round", "round_", code="option.contest_round", metavar="NAME"),
        *judge_options(),
        json_option(),
    ]
    return click.Command("fetch", params=parameters, callback=_fetch, help=text("help.fetch"))
