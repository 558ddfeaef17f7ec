"""Columns by kind; the types of linkage attacks are those of ``methods.threats``."""

from __future__ import annotations

from kakurenbo.core import Category, Schema
from kakurenbo.methods.threats import CHOICES, DELETED, LinkageGuess, LinkageKnowledge

__all__ = [
    "CHOICES",
    "DELETED",
    "LinkageGuess",
    "LinkageKnowledge",
    "category_names",
    "number_names",
]


def category_names(schema: Schema) -> tuple[str, ...]:
    """The columns of words."""
    return tuple(column.name for column in schema if isinstance(column, Category))


def number_names(schema: Schema) -> tuple[str, ...]:
    """The columns of numbers."""
    return tuple(column.name for column in schema if not isinstance(column, Category))
