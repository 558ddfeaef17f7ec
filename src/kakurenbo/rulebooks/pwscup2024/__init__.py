"""pwscup2024 (PWS Cup 2024, identification and database reconstruction)."""

from kakurenbo.rulebooks.pwscup2024.files import Handout
from kakurenbo.rulebooks.pwscup2024.release import Submission
from kakurenbo.rulebooks.pwscup2024.rules import Pwscup2024
from kakurenbo.rulebooks.pwscup2024.targets import Answer, rehearse

__all__ = ["Answer", "Handout", "Pwscup2024", "Submission", "rehearse"]
