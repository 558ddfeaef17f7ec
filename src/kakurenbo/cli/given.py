"""Which options somebody wrote on the command line, where a default cannot be told from a choice by its value."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.core import ParameterSource


def given_options(names: Iterable[str]) -> list[str]:
    """Those of these parameters of the command that runs, by the names of their values, that were given; as options."""
    context = click.get_current_context()
    given = [
        name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    return [f"--{name.replace('_', '-')}" for name in given]
