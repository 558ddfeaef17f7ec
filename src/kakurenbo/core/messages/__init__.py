"""Every message that a person reads, by code, in English and Japanese."""

from kakurenbo.core.messages.catalogue import (
    LANGUAGES,
    Message,
    StoredText,
    Wording,
    add,
    escaped,
    is_known,
    join_stored,
    language,
    messages_of,
    of_click,
    render,
    shorten,
    speaking,
    speaking_to,
    system_error,
    text,
    translated,
    with_message,
)

Phrase = Message

__all__ = [
    "LANGUAGES",
    "Message",
    "Phrase",
    "StoredText",
    "Wording",
    "add",
    "escaped",
    "is_known",
    "join_stored",
    "language",
    "messages_of",
    "of_click",
    "render",
    "shorten",
    "speaking",
    "speaking_to",
    "system_error",
    "text",
    "translated",
    "with_message",
]
