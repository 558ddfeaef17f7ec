"""Stored statistics, importers, generators."""
