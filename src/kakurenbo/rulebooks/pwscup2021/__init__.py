"""pwscup2021 (PWS Cup 2021: anonymized health checks, membership and record linkage)."""

from kakurenbo.rulebooks.pwscup2021.files import Answer, GuessForm, Handout, Submission
from kakurenbo.rulebooks.pwscup2021.rules import Pwscup2021

__all__ = ["Answer", "GuessForm", "Handout", "Pwscup2021", "Submission"]
