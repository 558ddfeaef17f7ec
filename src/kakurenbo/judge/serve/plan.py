"""What ``serve`` is asked for, as the command line hands it to the supervisor."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import system_error
from kakurenbo.judge.operations import logs

_SHORTEST_TOKEN = 16


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
        Processes that score; none where other machines do.
    demo : bool
        Rehearse a contest as soon as it is ready, where there is none.
    workers_only : bool
        Nothing but workers, for a judge on another machine.
    log : str
        The form of the log.
    metrics_token_file : Path or None
        Holds what somebody elsewhere shows to see figures. Only its place is told to other processes.
    retain_days : int
        How long records of people's visits are kept.
    """

    home: Path
    host: str
    port: int
    url: str
    workers: int
    demo: bool = False
    workers_only: bool = False
    log: str = logs.TEXT
    metrics_token_file: Path | None = None
    retain_days: int = 30

    def environment(self, dsn: str, secret_key: str) -> dict[str, str]:
        """What the settings read."""
        return {
            "DJANGO_SETTINGS_MODULE": "kakurenbo.judge.serve.settings",
            "KAKURENBO_JUDGE_HOME": str(self.home.resolve()),
            "KAKURENBO_JUDGE_URL": self.url,
            "KAKURENBO_JUDGE_RETAIN_DAYS": str(self.retain_days),
            "KAKURENBO_JUDGE_SECRET_KEY": secret_key,
            "KAKURENBO_JUDGE_LOG": self.log,
            **({"KAKURENBO_JUDGE_DSN": dsn} if dsn else {}),
            **(
                {"KAKURENBO_JUDGE_METRICS_TOKEN": self.metrics_token()}
                if self.metrics_token_file
                else {}
            ),
        }

    def metrics_token(self) -> str:
        """What the file says."""
        assert self.metrics_token_file is not None
        try:
            token = self.metrics_token_file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeError) as error:
            told = system_error(error) if isinstance(error, OSError) else "ASCII"
            raise UsageError(
                "judge_serve.no_metrics_token", path=str(self.metrics_token_file), error=told
            ) from None
        if len(token) < _SHORTEST_TOKEN:
            raise UsageError(
                "judge_serve.short_metrics_token",
                path=str(self.metrics_token_file),
                least=_SHORTEST_TOKEN,
            )
        return token

    @property
    def is_private(self) -> bool:
        """Whether what people send is read by nobody on the way: by TLS, or because it does not leave the machine."""
        return urlsplit(self.url).scheme == "https" or self.host in (
            "127.0.0.1",
            "::1",
            "localhost",
        )

    @property
    def local_host(self) -> str:
        """Where somebody on this machine reaches it."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)

    @property
    def local_url(self) -> str:
        """The address by which a proxy or a probe on this machine reaches it."""
        return f"http://{f'[{self.local_host}]' if ':' in self.local_host else self.local_host}:{self.port}"

    def as_text(self) -> str:
        """One word for another process."""
        places = {
            "home": str(self.home),
            "metrics_token_file": self.metrics_token_file and str(self.metrics_token_file),
        }
        return json.dumps({**dataclasses.asdict(self), **places})

    @classmethod
    def from_text(cls, word: str) -> Plan:
        """The plan that a word stands for."""
        given = json.loads(word)
        token = given["metrics_token_file"]
        return cls(
            **{
                **given,
                "home": Path(given["home"]),
                "metrics_token_file": Path(token) if token else None,
            }
        )
