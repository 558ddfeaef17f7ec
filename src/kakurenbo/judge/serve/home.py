"""The judge's folder: everything it keeps, and nothing of it open to others.

==================== =============================================
``postgres/``        the embedded database, with ``run/`` and ``postgres.password``
``files/``           what players may see some time, under its SHA-256
``secret/``          answers and secrets, under their SHA-256
``web/``             files that a page receives, until they are in ``files/``
``work/``            what workers have in hand
``secret-key``       signs sessions
``demo``             there where the folder was made to look at
``lock``             held by the one supervisor
==================== =============================================
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import system_error

_SECRET_KEY_BYTES = 48


def default_home() -> Path:
    """Where the judge lives unless told: the platform's place for data; under root, that of services."""
    if os.geteuid() == 0:
        return Path("/var/lib/kakurenbo-judge")
    own = os.environ.get("KAKURENBO_HOME")
    if own:
        return Path(own) / "judge"
    import platformdirs

    return platformdirs.user_data_path("kakurenbo", appauthor=False) / "judge"


@dataclass
class Home:
    """A judge's folder, taken by one supervisor at a time."""

    path: Path
    _lock: int | None = field(default=None, init=False)

    def take(self) -> None:
        """Make the folder where there is none, and refuse one that another judge runs in."""
        try:
            self.path.mkdir(mode=0o711, parents=True, exist_ok=True)
            self._lock = os.open(self.path / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise self.refusal(error) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError("judge_serve.home_taken", path=str(self.path)) from None
        try:
            self._make_folders()
        except OSError as error:
            raise self.refusal(error) from None

    def refusal(self, error: OSError) -> UsageError:
        """What to say when the folder cannot be used."""
        return UsageError("judge_serve.no_home", path=str(self.path), error=system_error(error))

    def _make_folders(self) -> None:
        # What came in only half before the last stop is nobody's.
        for name in ("web", "files/incoming", "secret/incoming"):
            shutil.rmtree(self.path / name, ignore_errors=True)
        for name in ("files", "secret", "web"):
            (self.path / name).mkdir(mode=0o700, exist_ok=True)

    def leave_to_parent(self) -> None:
        """In a forked process: the lock is the supervisor's alone."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def is_demo(self, *, asked: bool) -> bool:
        """Whether the folder is one to look at: it was asked for before anything else was done in it."""
        mark = self.path / "demo"
        if asked and not (self.path / "secret-key").exists():
            mark.touch()
        return mark.exists()

    def secret_key(self) -> str:
        """The key that signs sessions; made once."""
        place = self.path / "secret-key"
        if not place.exists():
            made = self.path / "secret-key.new"
            made.unlink(missing_ok=True)
            with os.fdopen(
                os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="ascii"
            ) as file:
                file.write(secrets.token_urlsafe(_SECRET_KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            made.rename(place)
        return place.read_text(encoding="ascii")
