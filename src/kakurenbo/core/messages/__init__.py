"""Every message that a person reads, by code, in English and Japanese."""

from kakurenbo.core.messages.catalogue import (
    LANGUAGES,
    Message,
    Wording,
    add,
    escaped,
    is_known,
    language,
    of_click,
    render,
    shorten,
    speaking,
    speaking_to,
    spoken_in,
    stored,
    system_error,
    text,
    text_or,
    translated,
)
from kakurenbo.core.messages.retelling import retold

Phrase = Message

__all__ = [
    "LANGUAGES",
    "Message",
    "Phrase",
    "Wording",
    "add",
    "escaped",
    "is_known",
    "language",
    "of_click",
    "render",
    "retold",
    "shorten",
    "speaking",
    "speaking_to",
    "spoken_in",
    "stored",
    "system_error",
    "text",
    "text_or",
    "translated",
]
