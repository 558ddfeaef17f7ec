"""Interfaces, parameters, registry, threats."""
