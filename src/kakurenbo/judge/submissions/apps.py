from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    name = "kakurenbo.judge.submissions"
    label = "submissions"
    default_auto_field = "django.db.models.BigAutoField"
