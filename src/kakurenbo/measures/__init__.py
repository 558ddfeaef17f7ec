"""Utility and privacy measures."""
