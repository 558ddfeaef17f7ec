"""Bytes of any length to whoever asks, under ASGI without holding them in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db import connection
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header

CHUNK = 1 << 16


def download(
    request: HttpRequest, chunks: Iterable[bytes], name: str, size: int | None = None
) -> StreamingHttpResponse:
    """An answer that a browser saves under a name and never shows as a page of this site.

    Parameters
    ----------
    request : HttpRequest
    chunks : iterable of bytes
    name : str
    size : int or None
        Of all chunks together, where it is known.
    """
    # Django reads a plain iterator to its end before it sends a byte under ASGI.
    content = _one_by_one(iter(chunks)) if isinstance(request, ASGIRequest) else chunks
    response = StreamingHttpResponse(content, content_type="application/octet-stream")
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=name)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = (
        "default-src 'none'; sandbox"  # where a browser shows it all the same
    )
    response["Cache-Control"] = "private, no-store"
    if size is not None:
        response["Content-Length"] = str(size)
    return response


async def _one_by_one(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    def following() -> bytes | None:
        """Hold no connection while the reader takes its time: there are fewer of them than readers."""
        try:
            return next(chunks, None)
        finally:
            if not connection.in_atomic_block:
                connection.close()

    while (
        chunk := await sync_to_async(following)()
    ) is not None:  # an empty one, as zipstream gives, is not the end
        yield chunk
