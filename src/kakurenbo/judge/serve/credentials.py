"""What only workers may have of the environment: set apart before the judge's processes start, read by those that need it.

The web is forked from the supervisor and has its memory and its first environment (``/proc/self/environ``). So the command line
puts the database's password and the keys to the secret store into a file in memory and becomes the supervisor without them. The
supervisor never reads that file: processes that work do, right after they were forked; the web closes it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from kakurenbo.core.errors import UsageError

DATABASE, BUCKET = "DATABASE_URL", "KAKURENBO_JUDGE_S3_BUCKET"
SECRET_KEY_ID, SECRET_KEY = (
    "KAKURENBO_JUDGE_SECRET_S3_ACCESS_KEY_ID",
    "KAKURENBO_JUDGE_SECRET_S3_SECRET_ACCESS_KEY",
)
_PASSWORD = "PGPASSWORD"
_MOST_BYTES = 1 << 16


@dataclass(frozen=True)
class Credentials:
    """A file in memory with what was set apart.

    Attributes
    ----------
    file : int or None
        Its descriptor; None where there was nothing.
    """

    file: int | None = None

    @classmethod
    def inherited(cls, word: str) -> Credentials:
        """What the command line left to this process; nothing that it starts by a new program has it."""
        if not word:
            return cls()
        os.set_inheritable(int(word), False)
        return cls(int(word))

    def read(self) -> dict[str, str]:
        """In a forked process: what was set apart, by the name that it had in the environment; the file is closed."""
        if self.file is None:
            return {}
        held: dict[str, str] = json.loads(os.pread(self.file, _MOST_BYTES, 0))
        self.leave()
        return held

    def leave(self) -> None:
        """In a forked process that may not have it: close it unread."""
        if self.file is not None:
            os.close(self.file)


def set_apart(environment: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """An environment without what only workers may have, and the word by which :meth:`Credentials.inherited` finds that."""
    left = dict(environment)
    held = {
        name: left.pop(name) for name in (SECRET_KEY_ID, SECRET_KEY, _PASSWORD) if left.get(name)
    }
    if len(held.keys() & {SECRET_KEY_ID, SECRET_KEY}) == 1 or (
        SECRET_KEY in held and not left.get(BUCKET)
    ):
        raise UsageError(
            "judge_serve.half_secret_keys", names=", ".join((BUCKET, SECRET_KEY_ID, SECRET_KEY))
        )
    if left.get(DATABASE):
        left[DATABASE], password = _without_password(left[DATABASE])
        if password:
            held[_PASSWORD] = password
    if not held:
        return left, ""
    file = os.memfd_create("credentials", 0)  # a new program keeps it open
    os.write(file, json.dumps(held).encode())
    return left, str(file)


def password_in(held: Mapping[str, str]) -> str:
    """The password of the database's account, of what was set apart; empty where the database asks for none."""
    return held.get(_PASSWORD, "")


def _without_password(url: str) -> tuple[str, str]:
    try:
        given = conninfo_to_dict(url)
    except ProgrammingError as error:
        raise UsageError(
            "judge_serve.no_database", error=str(error).strip().splitlines()[0]
        ) from None
    password = str(given.pop("password", None) or "")
    return make_conninfo("", **given), password
