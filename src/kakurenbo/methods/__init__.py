"""Interfaces, parameters and registry of methods."""
