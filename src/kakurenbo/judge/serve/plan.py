"""What ``serve`` is asked for, as the command line hands it to the supervisor."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Plan:
    """What is to be served.

    Attributes
    ----------
    home : Path
    host, port : str, int
        Where the web listens.
    url : str
        How people reach it.
    workers : int
        Processes that score.
    demo : bool
        Rehearse a contest as soon as it is ready, where there is none.
    retain_days : int
        How long records of people's visits are kept.
    """

    home: Path
    host: str
    port: int
    url: str
    workers: int
    demo: bool = False
    retain_days: int = 30

    def environment(self, dsn: str, secret_key: str) -> dict[str, str]:
        """What the settings read."""
        return {
            "DJANGO_SETTINGS_MODULE": "kakurenbo.judge.serve.settings",
            "KAKURENBO_JUDGE_HOME": str(self.home.resolve()),
            "KAKURENBO_JUDGE_URL": self.url,
            "KAKURENBO_JUDGE_RETAIN_DAYS": str(self.retain_days),
            "KAKURENBO_JUDGE_SECRET_KEY": secret_key,
            **({"KAKURENBO_JUDGE_DSN": dsn} if dsn else {}),
        }

    @property
    def is_private(self) -> bool:
        """Whether what people send is read by nobody on the way: by TLS, or because it does not leave the machine."""
        return urlsplit(self.url).scheme == "https" or self.host in ("127.0.0.1", "::1", "localhost")

    def as_text(self) -> str:
        """One word for another process."""
        return json.dumps({**dataclasses.asdict(self), "home": str(self.home)})

    @classmethod
    def from_text(cls, text: str) -> Plan:
        """The plan that a word stands for."""
        given = json.loads(text)
        return cls(**{**given, "home": Path(given["home"])})
