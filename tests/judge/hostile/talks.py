"""Ways to send that no honest program uses, each as a function from a player and a fresh submission to the last answer."""

from __future__ import annotations

import gzip
import html
import http.client
from collections.abc import Callable

from tests.judge.hostile.field import Answer, Player
from tests.judge.hostile.wire import head, send

from kakurenbo.core.messages import render

Act = Callable[[Player, str], Answer]
GONE = Answer(0, "")
"""The judge closed the connection, or had nobody to answer."""
_ROWS = b"1,2\n"


def place(player: Player, submission: str, name: str = "pre_anonymizeddata_NN.csv") -> str:
    return f"{submission}/files/{player.own(name)}"


def _last(answers: list[Answer]) -> Answer:
    return answers[-1] if answers else GONE


def announcing(size: int) -> Act:
    def act(player: Player, submission: str) -> Answer:
        return _last(
            send(
                player, head(player, "PUT", place(player, submission), f"Content-Length: {size}")
            ).answers
        )

    return act


def streaming(name: str, size: int) -> Act:
    """In chunks, with no word of how much will come."""

    def act(player: Player, submission: str) -> Answer:
        piece = bytes(1 << 16)
        chunk = b"10000\r\n" + piece + b"\r\n"
        first = head(player, "PUT", place(player, submission, name), "Transfer-Encoding: chunked")
        return _last(send(player, first, *[chunk] * (size >> 16), b"0\r\n\r\n", shut=False).answers)

    return act


def head_line(*lines: str) -> Act:
    def act(player: Player, submission: str) -> Answer:
        return _last(
            send(player, head(player, "PUT", place(player, submission), *lines), b"abc").answers
        )

    return act


def giant_header(player: Player, submission: str) -> Answer:
    """Mostly its sender is told so; at times the connection is closed before it has sent all of it."""
    line = "X-A: " + "a" * (1 << 20)
    return _last(
        send(player, head(player, "PUT", place(player, submission), line)).answers
        or [Answer(431, "")]
    )


def half_sent(player: Player, submission: str) -> Answer:
    first = head(player, "PUT", place(player, submission), "Content-Length: 1000000")
    return _last(send(player, first, _ROWS * 1000).answers)


def more_than_announced(player: Player, submission: str) -> Answer:
    """What is beyond the size is no part of the file, and no request."""
    first = head(player, "PUT", place(player, submission), "Content-Length: 4")
    answers = send(player, first, _ROWS + b"3,4\n" * 1000).answers
    assert all(answer.status >= 400 for answer in answers[1:]), answers
    return answers[0]


def chunks_without_end(player: Player, submission: str) -> Answer:
    first = head(player, "PUT", place(player, submission), "Transfer-Encoding: chunked")
    return _last(send(player, first, b"4\r\n" + _ROWS + b"\r\n").answers)


def chunk(line: bytes) -> Act:
    def act(player: Player, submission: str) -> Answer:
        first = head(player, "PUT", place(player, submission), "Transfer-Encoding: chunked")
        return _last(send(player, first, line + _ROWS).answers)

    return act


def smuggled(player: Player, submission: str) -> Answer:
    """A request in the body of another, for a proxy that counts otherwise: it is never answered as one."""
    hidden = head(player, "DELETE", submission)
    lines = (f"Content-Length: {len(hidden) + 5}", "Transfer-Encoding: chunked")
    sized = f"{len(hidden):x}\r\n".encode() + hidden + b"\r\n0\r\n\r\n"
    answers = send(
        player, head(player, "PUT", place(player, submission), *lines), sized, shut=False
    ).answers
    assert player.ask("GET", submission).said["state"] == "receiving"
    return answers[0] if answers else GONE


def pipelined(player: Player, submission: str) -> Answer:
    """Several requests in one breath are answered in their order."""
    finish = head(player, "POST", f"{submission}/finish", "Content-Length: 0")
    answers = send(player, finish * 3, shut=False, pause=0).answers
    return answers[0] if answers else GONE


def other_host(player: Player, submission: str) -> Answer:
    asked = head(player, "PUT", place(player, submission), "Content-Length: 3").replace(
        b"Host: 127.0.0.1", b"Host: evil.example"
    )
    return _last(send(player, asked, b"abc", shut=False).answers)


def with_token(authorization: str) -> Act:
    def act(player: Player, submission: str) -> Answer:
        own = f"Authorization: Bearer {player.token}\r\n".encode()
        other = f"Authorization: {authorization}\r\n".encode("latin-1") if authorization else b""
        asked = head(player, "PUT", place(player, submission), "Content-Length: 3").replace(
            own, other
        )
        return _last(send(player, asked, b"abc", shut=False).answers)

    return act


def for_another_team(player: Player, submission: str) -> Answer:
    rival = player.field.team(player.contest, int(player.number) % 2)
    rival = rival if rival.number != player.number else player.field.team(player.contest, 2)
    return rival.ask("PUT", place(player, submission), _ROWS, player.language)


def to_nobody(player: Player, _: str) -> Answer:
    return player.ask(
        "PUT", place(player, "/submissions/00000000-0000-4000-8000-000000000000"), _ROWS
    )


def begin_in(phase: str) -> Act:
    return lambda player, _: player.ask(
        "POST", f"/contests/{player.contest}/rounds/pre/phases/{phase}/submissions"
    )


def finish_empty(player: Player, submission: str) -> Answer:
    return player.ask("POST", f"{submission}/finish")


def after_finish(player: Player, submission: str) -> Answer:
    player.ask("PUT", place(player, submission), _ROWS)
    assert player.ask("POST", f"{submission}/finish").status == 200
    return player.ask("PUT", place(player, submission), _ROWS * 2)


def after_withdrawal(player: Player, submission: str) -> Answer:
    assert player.ask("DELETE", submission).status == 200
    return player.ask("PUT", place(player, submission), _ROWS)


def many_files(player: Player, submission: str) -> Answer:
    """As many names as a pattern of numbers has: no more of them are taken than an entry can have."""
    for number in range(100):
        answer = player.ask("PUT", place(player, submission, f"CNN_{number:02d}.csv"), _ROWS)
        if answer.status != 201:
            return answer
    return answer


def method_override(player: Player, submission: str) -> Answer:
    """A header does not turn one request into another."""
    answer = player.ask(
        "PUT",
        place(player, submission),
        _ROWS,
        **{"X-HTTP-Method-Override": "DELETE", "X-Method": "DELETE"},
    )
    assert player.ask("GET", submission).said["state"] == "receiving"
    return answer


def as_form(player: Player, submission: str) -> Answer:
    body = b'--b\r\nContent-Disposition: form-data; name="f"; filename="../x"\r\n\r\n1\r\n--b--\r\n'
    return player.ask(
        "POST",
        place(player, submission),
        body,
        **{"Content-Type": "multipart/form-data; boundary=b"},
    )


def posted(body: bytes) -> Act:
    def act(player: Player, _: str) -> Answer:
        path = f"/contests/{player.contest}/rounds/pre/phases/anonymize/submissions"
        answer = player.ask("POST", path, body, **{"Content-Type": "application/json"})
        if answer.status == 201:
            player.ask("DELETE", f"/submissions/{answer.said['id']}")
        return answer

    return act


def posted_without_end(player: Player, _: str) -> Answer:
    piece = b"10000\r\n" + bytes(1 << 16) + b"\r\n"
    first = head(player, "POST", "/contests", "Transfer-Encoding: chunked")
    return _last(send(player, first, *[piece] * 100).answers)


def content_encoding(player: Player, submission: str) -> Answer:
    """What comes is kept as it comes: the check says what is wrong with it."""
    packed = gzip.compress(_ROWS)
    answer = player.ask("PUT", place(player, submission), packed, **{"Content-Encoding": "gzip"})
    assert answer.said["size"] == len(packed)
    return answer


# -- the plain form of the page --------------------------------------------------------------------------------------------

_FORM, _BACK = "/contests/tables/play/pre/anonymize/submit", "/contests/tables/play/pre/anonymize/"
_MARK, _FILES_OF_AN_ENTRY = "m" * 32, 2
_PART = '--b\r\nContent-Disposition: form-data; name="files"; filename="{}"\r\n\r\n1,2\r\n'


def form(
    code: str, *names: str, end: str = "--b--\r\n", kind: str = "multipart/form-data; boundary=b"
) -> Act:
    """Files that a browser sends from the page; what is wrong with them stands on the page that comes next."""

    def act(player: Player, _: str) -> Answer:
        body = "".join(_PART.format(name) for name in names) + end
        status, said, kept = _by_page(player, "POST", _FORM, body, kind)
        if status == 302:
            said = _by_page(player, "GET", _BACK, cookie=kept)[1]
        words = render(code, {"files": _FILES_OF_AN_ENTRY}, player.language).message
        return Answer(
            status,
            {"error": code if words in html.unescape(said) else said[:2000], "message": words},
        )

    return act


def _by_page(
    player: Player,
    method: str,
    path: str,
    body: str | None = None,
    kind: str = "",
    cookie: str = "",
) -> tuple[int, str, str]:
    """Status, page, and the cookie in which the words for the next page are kept."""
    connection = http.client.HTTPConnection("127.0.0.1", player.field.port, timeout=_SECONDS)
    headers = {
        "Cookie": f"sessionid={player.field.session}; csrftoken={_MARK}; django_language={player.language}; {cookie}",
        "X-CSRFToken": _MARK,
        "Accept-Language": player.language,
        **({"Content-Type": kind} if kind else {}),
    }
    try:
        connection.request(method, path, body=body, headers=headers)
        answer = connection.getresponse()
        kept = [
            value.partition(";")[0]
            for value in answer.headers.get_all("Set-Cookie", [])
            if value.startswith("messages=")
        ]
        return answer.status, answer.read().decode(), "".join(kept)
    finally:
        connection.close()


# -- for a soak test -------------------------------------------------------------------------------------------------------

_SECONDS = 150.0


def sending(name: str, size: int, how: str) -> Act:
    """So many zeros, until the judge has enough."""

    def act(player: Player, submission: str) -> Answer:
        line = f"Content-Length: {size}" if how == "announced" else "Transfer-Encoding: chunked"
        return _sent(
            player,
            head(player, "PUT", place(player, submission, name), line),
            size,
            chunked=how != "announced",
        )

    return act


def posting(size: int) -> Act:
    def act(player: Player, _: str) -> Answer:
        return _sent(
            player,
            head(player, "POST", "/contests", "Transfer-Encoding: chunked"),
            size,
            chunked=True,
        )

    return act


def _sent(player: Player, first: bytes, size: int, *, chunked: bool) -> Answer:
    piece = bytes(10**6)
    framed = b"f4240\r\n" + piece + b"\r\n" if chunked else piece
    return _last(send(player, first, *[framed] * (size // len(piece)), shut=False).answers)


def dripping(player: Player, submission: str) -> Answer:
    first = head(player, "PUT", place(player, submission), "Content-Length: 1000000")
    return _last(
        send(player, first, *[b"1"] * 200, pause=1.0, shut=False, patience=_SECONDS).answers
    )


def falling_silent(player: Player, submission: str) -> Answer:
    first = head(player, "PUT", place(player, submission), "Content-Length: 1000000")
    return _last(send(player, first, b"1,2\n", shut=False, patience=_SECONDS).answers)


def dripping_headers(player: Player, submission: str) -> Answer:
    """Nobody who does not come to the end of the first line is waited for."""
    first = head(player, "PUT", place(player, submission))[:-2]
    return _last(
        send(
            player, first, *[b"X-A: 1\r\n"] * 200, pause=1.0, shut=False, patience=_SECONDS
        ).answers
    )
