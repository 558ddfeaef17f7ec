"""Anonymizers of transactions: rows of a shop, several per customer."""
