"""Names of `kakurenbo.cli.options` for commands that are made by functions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from kakurenbo.cli.options import ANY_PATH as PATH
from kakurenbo.cli.options import (
    DISQUALIFIED,
    JSON,
    OUT_FILE,
    OUT_FOLDER,
    OUT_FOLDER_OPTION,
    Option,
    argument,
    check_exists,
    integer,
    names,
    rulebook_command,
)
from kakurenbo.cli.options import description as _description
from kakurenbo.core.messages import text
from kakurenbo.core.rng import fresh_seed

__all__ = ["OUT_FILE", "OUT_FOLDER", "PATH", "names"]


def check_there(*paths: Path) -> None:
    for path in paths:
        check_exists(path)


def option(*declarations: str, code: str, **settings: Any) -> click.Option:
    made = Option(*declarations, code=code, **settings)
    made.help = text(code)
    return made


def rulebook_verb(
    name: str,
    body: Callable[..., Any],
    parameters: Callable[[], list[click.Parameter]],
    _help: str,
    *,
    own: Callable[[Any], list[click.Parameter]] = lambda _: [],
) -> click.Group:
    return rulebook_command(name, *parameters(), extra=own)(body)


def described(group: str, name: str, _cls: type) -> str:
    return _description(group, name)


def chosen_seed(seed: int | None) -> int:
    return fresh_seed() if seed is None else seed


def json_option() -> click.Option:
    return JSON


def seed_option() -> click.Option:
    return Option("--seed", type=integer(0))


def out_folder_option() -> click.Option:
    return OUT_FOLDER_OPTION


def disqualified_option() -> click.Option:
    return DISQUALIFIED


def path_argument(name: str) -> click.Argument:
    return argument(name)
