"""Anonymizers of one table of records."""
