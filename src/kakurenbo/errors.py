"""What can go wrong, as exceptions: each carries a sentence that tells the user what to do next.

Bad *input* is not an exception but a :class:`kakurenbo.tables.Problem`; only the command line turns problems into an exit.
"""

from __future__ import annotations

from kakurenbo.messages import retold, text


class KakurenboError(Exception):
    """Base of every error that a user may meet; its text is shown without a traceback."""


class UsageError(KakurenboError):
    """The call itself is off: a missing file, an unknown name, an output that is in the way (exit code 2)."""


class ParameterError(KakurenboError, ValueError):
    """A parameter outside what its method takes: names parameter, expectation and value (exit code 2)."""

    def __init__(self, parameter: str, expectation: str, value: object) -> None:
        self.parameter, self.expectation, self.value = parameter, expectation, value
        super().__init__(text("usage.parameter", parameter=parameter, expectation=retold(expectation), value=repr(value)))

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str, object]]:
        return type(self), (self.parameter, self.expectation, self.value)
