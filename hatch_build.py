"""Compile the message catalogues for wheels and editable installations."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MESSAGES = Path("src") / "kakurenbo" / "core" / "messages"


class CompileMessages(BuildHookInterface):  # type: ignore[type-arg]
    """Write a ``.mo`` file for each language."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of the package are collected."""
        folder = Path(self.root) / MESSAGES
        compiled = runpy.run_path(str(folder / "po.py"))["compiled"]
        for source in folder.glob("*.po"):
            compiled(folder, source.stem)
