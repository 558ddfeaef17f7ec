"""Defaults and choices of an audit that its callers name before they load it."""

PERIODS = ("week", "month", "quarter", "year")
"""How long a pseudonym may be kept before another takes its place."""
MOST_TARGETS = 10_000  # members, and as many controls, where nothing else is asked for
