from __future__ import annotations

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "kakurenbo.judge.operations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from kakurenbo.judge.operations.logins import watch_logins

        watch_logins()
