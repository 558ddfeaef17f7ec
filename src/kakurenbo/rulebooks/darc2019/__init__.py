"""darc2019 (Data Anonymization and Re-identification Competition 2019)."""

from kakurenbo.rulebooks.darc2019.files import Handout
from kakurenbo.rulebooks.darc2019.matrices import Answer
from kakurenbo.rulebooks.darc2019.rules import Darc2019

__all__ = ["Answer", "Darc2019", "Handout"]
