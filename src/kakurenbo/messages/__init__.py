"""Every sentence that a player reads about an input, by code, in English and Japanese: one catalogue for all of kakurenbo."""

from kakurenbo.messages.catalogue import LANGUAGES, Phrase, Sentence, add, escaped, language, phrase, render, shorten

__all__ = ["LANGUAGES", "Phrase", "Sentence", "add", "escaped", "language", "phrase", "render", "shorten"]
