"""A clock that is set while the judge runs: the web, the workers, the sweep and PostgreSQL all see the same wrong time."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

_SOURCE = Path(__file__).with_name("clock.c")
_SECONDS = struct.Struct("=q")


class MovedClock:
    """The time of day of every process that is started with ``environment``.

    Parameters
    ----------
    folder : Path
        Everybody may look into it: PostgreSQL may have an account of its own.
    """

    def __init__(self, folder: Path) -> None:
        library, self._place = folder / "clock.so", folder / "moved"
        subprocess.run(
            [_compiler(), "-O1", "-shared", "-fPIC", "-o", library, _SOURCE, "-ldl"], check=True
        )
        self.set(0)
        self.environment = {"LD_PRELOAD": str(library), "MOVED_CLOCK": str(self._place)}

    @staticmethod
    def can_be_had() -> bool:
        """Whether this machine can build one."""
        return bool(_compiler())

    def set(self, seconds: int) -> None:
        """Be so many seconds ahead of the true time from now on, or behind it."""
        with self._place.open("r+b" if self._place.exists() else "wb") as file:
            file.write(_SECONDS.pack(seconds))
        self._place.chmod(0o644)


def _compiler() -> str:
    return shutil.which("cc") or shutil.which("gcc") or ""
