"""Anonymizers: frozen dataclasses of parameters that turn a table into a release."""
