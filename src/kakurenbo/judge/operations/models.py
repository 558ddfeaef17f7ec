"""Signs of life of what no queue knows."""

from __future__ import annotations

from django.db import models


class Heartbeat(models.Model):
    """When a part of the judge was last at work."""

    name = models.CharField(max_length=20, primary_key=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
