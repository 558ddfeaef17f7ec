"""Attacks on releases."""
