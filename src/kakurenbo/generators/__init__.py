"""Generators: tables drawn from the moments of a source alone, and how close they come to it.

`omth17` is the contest's own generator with its drift; `moments` is ours. From the 30,162 rows of Census Income (A),
1,000,000 rows each, seed 1:

==========  ==========  ==========  ====================  =======================
generator   >50K share  Male share  sum |cov difference|  largest total variation
==========  ==========  ==========  ====================  =======================
A itself    .249        .676        0                     0
`omth17`    .284        .632        51.7                  .670 (hours-per-week)
`moments`   .249        .676        0.2                   .0002 (relationship)
==========  ==========  ==========  ====================  =======================

With as few rows as A has, `moments` is at 0.9; a random sample of A of that size, with replacement, is at 9.9.
"""

from collections.abc import Mapping
from types import MappingProxyType

from kakurenbo.generators import moments, omth17
from kakurenbo.generators.fidelity import Fidelity, fidelity
from kakurenbo.generators.protocol import Choice, Draw, Generator
from kakurenbo.generators.samplers import distinct_rows, generate, sample_rows, sample_rows_at
from kakurenbo.generators.tilting import tilted_rows

GENERATORS: Mapping[str, Generator] = MappingProxyType(
    {
        "moments": Generator(moments.generate, tilted_rows),
        "omth17": Generator(omth17.generate),
    }
)
"""Every generator by the name it has in parameters and reports."""

__all__ = [
    "GENERATORS",
    "Choice",
    "Draw",
    "Fidelity",
    "Generator",
    "distinct_rows",
    "fidelity",
    "generate",
    "sample_rows",
    "sample_rows_at",
    "tilted_rows",
]
