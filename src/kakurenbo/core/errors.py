"""Errors that a user may meet. Each carries a message by code, which says what to do next.

Bad *input* raises :class:`kakurenbo.core.InputError`, which lists problems of files.
"""

from __future__ import annotations

from typing import Any

from kakurenbo.core.messages import Message

_PARAMETER = "{parameter}"


class KakurenboError(Exception):
    """Base of every error that a user may meet; its text is shown without a traceback.

    Parameters
    ----------
    message : str or Message
        The code of a message; a plugin may give a whole sentence instead.
    at : object, optional
        The file or folder that the message is about; its text begins with it.
    **params : object
        Parameters of the message.
    """

    message: Message

    def __init__(self, message: str | Message, /, *, at: object = None, **params: Any) -> None:
        for name, value in params.items():
            if isinstance(value, KakurenboError):
                params[name] = value.message
        stated = Message(message, params) if isinstance(message, str) else message
        if at is not None:
            place = at if isinstance(at, Message) else str(at)
            stated = Message("error.at", {"place": place, "error": stated})
        self.message = stated
        super().__init__(stated)

    def __str__(self) -> str:
        return self.message.text()


class UsageError(KakurenboError):
    """The call itself is wrong: a missing file, an unknown name, an output that is in the way (exit code 2)."""


class ParameterError(KakurenboError, ValueError):
    """A parameter outside what its method takes: names parameter, expectation and value (exit code 2).

    Parameters
    ----------
    parameter : str
    expectation : str or Message
        What the value must be; or a sentence that begins with ``{parameter}``, where no value would do.
    value : object
    near : str
        The value that was probably meant, if any.
    """

    def __init__(
        self, parameter: str, expectation: str | Message, value: object, near: str = ""
    ) -> None:
        self.parameter, self.expectation = parameter, expectation
        self.value, self.near = value, near
        super().__init__(self._message())

    def told(self, name: str) -> str:
        """Return the text with another name of the parameter, such as that of an option."""
        return self._message(name).text()

    def _message(self, option: str = "") -> Message:
        sentence = str(self.expectation)
        if sentence.startswith(_PARAMETER):
            message = Message(sentence.replace(_PARAMETER, option or self.parameter, 1))
        else:
            about = {"option": option} if option else {"parameter": self.parameter}
            code = "usage.option" if option else "usage.parameter"
            value = {"expectation": self.expectation, "value": repr(self.value)}
            message = Message(code, {**about, **value})
        return (
            Message("usage.near", {"error": message, "near": self.near}) if self.near else message
        )

    def meaning(self, near: str) -> ParameterError:
        """Return the same error with the value that was probably meant."""
        return ParameterError(self.parameter, self.expectation, self.value, near)

    def __reduce__(self) -> tuple[type[ParameterError], tuple[str, str | Message, object, str]]:
        return type(self), (self.parameter, self.expectation, self.value, self.near)
