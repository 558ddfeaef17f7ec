"""Comparisons of records that several attacks and the audit share."""
