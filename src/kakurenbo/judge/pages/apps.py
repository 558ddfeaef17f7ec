"""The pages as a Django app: for their template tags and static files."""

from __future__ import annotations

from django.apps import AppConfig


class PagesConfig(AppConfig):
    """Views, forms and templates; no tables."""

    name = "kakurenbo.judge.pages"
    label = "pages"
