"""Rulebooks: the files, checks, secrets and scores of one contest each, and nothing else."""
