"""Mutation testing (``make mutants``): does a test fail when one thing in rulebooks, measures or commitments is changed?

Cosmic Ray makes the mutants. They are tried here, not by its own command, which starts Python anew for each and edits the
sources in place: a server that has loaded the libraries, and nothing else, is forked for each mutant (no library has been used
by then, and Numba compiles as ever), and the mutant stands in a copy of the package. Only tests that reach the changed function
are run, the quick ones first, up to the first failure.
"""
