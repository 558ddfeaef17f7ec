"""Keeping a judge well: looking after it, its logs and figures, backup and restore."""
