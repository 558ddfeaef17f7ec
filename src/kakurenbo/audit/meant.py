"""Which column somebody meant who names one that is not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kakurenbo.audit.frames import Frame
from kakurenbo.core.errors import ParameterError
from kakurenbo.methods.registry import nearest_name

_OF_ORIGINAL = ("know", "secret", "id", "schema", "person", "time")
_OF_RELEASE = ("ignore",)


@contextmanager
def suggesting_columns(original: Frame, releases: Sequence[Frame] = ()) -> Iterator[None]:
    """Let errors about a column that is not there say which one is nearly called so.

    Raises
    ------
    ParameterError
    """
    try:
        yield
    except ParameterError as error:
        released = [
            name
            for release in releases
            for frame in (release, *release.parts)
            for name in frame.columns
        ]
        known = {
            **dict.fromkeys(_OF_ORIGINAL, original.columns),
            **dict.fromkeys(_OF_RELEASE, released),
        }
        names = known.get(error.parameter, ())
        if (
            not isinstance(error.value, str)
            or error.value in names
            or not (near := nearest_name(error.value, names))
        ):
            raise
        raise error.meaning(near) from None
