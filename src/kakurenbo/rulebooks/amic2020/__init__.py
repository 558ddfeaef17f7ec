"""amic2020 (PWS Cup 2020, "Anonymity against Membership Inference" Contest)."""

from kakurenbo.rulebooks.amic2020.files import Answer, Handout, Submission
from kakurenbo.rulebooks.amic2020.questionnaire import Questionnaire
from kakurenbo.rulebooks.amic2020.rules import Amic2020

__all__ = ["Amic2020", "Answer", "Handout", "Questionnaire", "Submission"]
