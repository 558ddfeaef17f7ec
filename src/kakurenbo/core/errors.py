"""What can go wrong, as exceptions: each carries a sentence that tells the user what to do next.

Bad *input* is not an exception but a :class:`kakurenbo.core.Problem`; only the command line turns problems into an exit.
"""

from __future__ import annotations

from kakurenbo.core.messages import retold, text

_PARAMETER = "{parameter}"


class KakurenboError(Exception):
    """Base of every error that a user may meet; its text is shown without a traceback."""


class UsageError(KakurenboError):
    """The call itself is off: a missing file, an unknown name, an output that is in the way (exit code 2)."""


class ParameterError(KakurenboError, ValueError):
    """A parameter outside what its method takes: names parameter, expectation and value (exit code 2).

    Parameters
    ----------
    parameter : str
    expectation : str
        What the value must be; or a sentence of its own that begins with ``{parameter}``, where no value would do.
    value : object
    near : str
        The value that was probably meant, if any.
    """

    def __init__(self, parameter: str, expectation: str, value: object, near: str = "") -> None:
        self.parameter, self.expectation, self.value, self.near = (
            parameter,
            expectation,
            value,
            near,
        )
        super().__init__(self.told())

    def told(self, name: str = "") -> str:
        """What it says, of a parameter that goes by another name such as that of an option."""
        expectation, value = retold(self.expectation), repr(self.value)
        if expectation.startswith(_PARAMETER):
            said = expectation.replace(_PARAMETER, name or self.parameter, 1)
        elif name:
            said = text("usage.option", option=name, expectation=expectation, value=value)
        else:
            said = text(
                "usage.parameter", parameter=self.parameter, expectation=expectation, value=value
            )
        return text("usage.near", error=said, near=self.near) if self.near else said

    def meaning(self, near: str) -> ParameterError:
        """The same error, where it is known which value was probably meant."""
        return ParameterError(self.parameter, self.expectation, self.value, near)

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str, object, str]]:
        return type(self), (self.parameter, self.expectation, self.value, self.near)
