"""Data sets: schemas, small embedded statistics of our own, and importers for the real files."""
