from django.apps import AppConfig


class TrustConfig(AppConfig):
    name = "kakurenbo.judge.trust"
    label = "trust"
    default_auto_field = "django.db.models.BigAutoField"
