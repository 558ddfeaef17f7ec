from django.apps import AppConfig


class ScoringConfig(AppConfig):
    name = "kakurenbo.judge.scoring"
    label = "scoring"
    default_auto_field = "django.db.models.BigAutoField"
