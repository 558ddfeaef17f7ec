"""Anonymizers of ratings, split into overlapping files of the same people."""
