"""Keeping a judge well: looking after it, its logs and figures, and what keeps it safe."""
