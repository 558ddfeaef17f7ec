"""Every sentence that a person reads, by code, in English and Japanese: one catalogue for all of kakurenbo."""

from kakurenbo.core.messages.catalogue import (
    LANGUAGES,
    Phrase,
    Sentence,
    add,
    codes_by_english,
    escaped,
    language,
    phrase,
    render,
    shorten,
    speaking,
    speaking_to,
    spoken_in,
    text,
    text_or,
)
from kakurenbo.core.messages.retelling import retold

__all__ = [
    "LANGUAGES",
    "Phrase",
    "Sentence",
    "add",
    "codes_by_english",
    "escaped",
    "language",
    "phrase",
    "render",
    "retold",
    "shorten",
    "speaking",
    "speaking_to",
    "spoken_in",
    "text",
    "text_or",
]
