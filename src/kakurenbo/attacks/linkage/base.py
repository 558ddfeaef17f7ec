"""What all linkage attacks share: the columns of words and of numbers."""

from __future__ import annotations

from kakurenbo.contest import Attack
from kakurenbo.core import Category, Schema
from kakurenbo.methods.threats import LinkageGuess, LinkageKnowledge

LinkageAttack = Attack[LinkageKnowledge, LinkageGuess]


def category_names(schema: Schema) -> tuple[str, ...]:
    """Return the columns of words."""
    return tuple(column.name for column in schema if isinstance(column, Category))


def number_names(schema: Schema) -> tuple[str, ...]:
    """Return the columns of numbers."""
    return tuple(column.name for column in schema if not isinstance(column, Category))
