"""Generators of synthetic tables from moments alone."""

from collections.abc import Mapping
from types import MappingProxyType

from kakurenbo.generators import moments, omth17
from kakurenbo.generators.fidelity import Fidelity, fidelity
from kakurenbo.generators.protocol import Generator
from kakurenbo.generators.samplers import distinct_rows, sample_rows

GENERATORS: Mapping[str, Generator] = MappingProxyType({"moments": moments.generate, "omth17": omth17.generate})
"""Every generator by the name it has in parameters and reports."""

__all__ = ["GENERATORS", "Fidelity", "Generator", "distinct_rows", "fidelity", "sample_rows"]
