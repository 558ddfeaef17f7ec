"""pwscup2024 (PWS Cup 2024, identification and database reconstruction)."""

from kakurenbo.rulebooks.pwscup2024.files import Answer, Handout, Submission
from kakurenbo.rulebooks.pwscup2024.rulebook import Pwscup2024

__all__ = ["Answer", "Handout", "Pwscup2024", "Submission"]
