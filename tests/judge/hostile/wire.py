"""HTTP by hand: requests that no library would send."""

from __future__ import annotations

import contextlib
import select
import socket
from typing import NamedTuple

from tests.judge.hostile.field import Answer, Player, read_json
from tests.judge.waiting import PATIENCE


class Sent(NamedTuple):
    """All that came back on a connection."""

    raw: bytes

    @property
    def answers(self) -> list[Answer]:
        """Every answer, in order; bodies are as long as they say."""
        found, rest = [], self.raw
        while rest.startswith(b"HTTP/1."):
            head, _, rest = rest.partition(b"\r\n\r\n")
            if head.split(b" ")[1] == b"100":
                continue
            sizes = [
                line.split(b":")[1]
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            ]
            size = int(sizes[0]) if sizes else len(rest)
            found.append(Answer(int(head.split(b" ")[1]), read_json(rest[:size])))
            rest = rest[size:]
        return found


def send(
    player: Player,
    *pieces: bytes,
    pause: float = 0.0,
    shut: bool = True,
    patience: float = PATIENCE,
) -> Sent:
    """What a judge answers to bytes; afterwards the sender says no more, unless it stays."""
    with socket.create_connection(("127.0.0.1", player.field.port), patience) as connection:
        with contextlib.suppress(OSError):  # who has heard enough closes, and has mostly said why
            for number, piece in enumerate(pieces):
                if number and pause and _has_answer(connection, pause):
                    break
                connection.sendall(piece)
            if shut:
                connection.shutdown(socket.SHUT_WR)
        got = b""
        with contextlib.suppress(OSError):
            while piece := connection.recv(65536):
                got += piece
                if not shut and Sent(got).answers and b"connection: close" not in got.lower():
                    break
    return Sent(got)


def _has_answer(connection: socket.socket, seconds: float) -> bool:
    return bool(select.select([connection], [], [], seconds)[0])


def head(player: Player, method: str, path: str, *lines: str) -> bytes:
    """The head of a request, with these lines beside those that tell who asks."""
    first = [f"{method} /api/v1{path} HTTP/1.1", f"Host: 127.0.0.1:{player.field.port}"]
    own = [f"Authorization: Bearer {player.token}", f"Accept-Language: {player.language}"]
    return "\r\n".join([*first, *own, *lines, "", ""]).encode("latin-1")
