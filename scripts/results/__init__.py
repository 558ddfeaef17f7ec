"""The tables of docs/results: every anonymizer against every attack of a contest, over many draws.

``python -m scripts.results`` plays what ``tables.toml`` lists and is not played yet, and lays out the pages. It can be stopped
at any moment: every finished cell is kept in ``out/results`` under a digest of rules, methods, parameters, draw and code.
"""
