"""Generators: tables drawn from the moments of a source alone, and how close they come to it.

`omth17` is the contest's own generator with its drift; `moments` is ours. From the 30,162 rows of Census Income (A),
1,000,000 rows each, and the 100,000 different rows of B chosen of them, seed 1:

==============  ==========  ==========  ===========  ====================  =======================
generator       >50K share  Male share  sd of hours  sum |cov difference|  largest total variation
==============  ==========  ==========  ===========  ====================  =======================
A itself        .249        .676        11.98        0                     0
`omth17`        .283        .631        11.97        53.6                  .672 (hours-per-week)
`omth17`, B     .299        .580        14.23        151.5                 .666 (hours-per-week)
`moments`       .249        .676        11.98        0.1                   .0000 (marital-status)
`moments`, B    .249        .676        11.99        3.5                   .030 (hours-per-week)
==============  ==========  ==========  ===========  ====================  =======================

Chosen with equal chances, B of `moments` would be at 129.8 with 14.77 for the sd of hours. With as few rows as A has,
`moments` is at 0.7; a random sample of A of that size, with replacement, is at 9.9.
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
