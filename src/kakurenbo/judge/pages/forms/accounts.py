"""Accounts: set-up, log-in, registration, profile, tokens."""

from __future__ import annotations

from typing import Any

from django import forms

from kakurenbo.core.messages import LANGUAGES
from kakurenbo.judge.pages.forms.worded import WordedForm

_LEAST = 10


def _password(autocomplete: str, least: int | None = None) -> forms.CharField:
    attributes = {"autocomplete": autocomplete, **({} if least is None else {"minlength": least})}
    return forms.CharField(
        widget=forms.PasswordInput(attrs=attributes), strip=False, min_length=least, max_length=200
    )


class LogInForm(WordedForm):
    """Who are you?"""

    email = forms.EmailField(widget=forms.EmailInput(attrs={"autocomplete": "username"}))
    password = _password("current-password")


class RegistrationForm(WordedForm):
    """A new account, for the first organizer or somebody who was invited."""

    name = forms.CharField(max_length=100, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.EmailField(widget=forms.EmailInput(attrs={"autocomplete": "email"}))
    new_password = _password("new-password", _LEAST)


class ProfileForm(WordedForm):
    """How a person is called and spoken to."""

    name = forms.CharField(max_length=100, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    language = forms.ChoiceField(choices=[("en", "English"), ("ja", "日本語")], required=False)

    def clean_language(self) -> str:
        """Only languages of the catalogue."""
        chosen = str(self.cleaned_data["language"])
        return chosen if chosen in LANGUAGES else ""


class PasswordForm(WordedForm):
    """Another password; who changes it must know the old one."""

    password = _password("current-password")
    new_password = _password("new-password", _LEAST)


class DeletionForm(WordedForm):
    """The end of an account; who asks for it must know its password."""

    password = _password("current-password")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.auto_id = "delete_%s"  # the page asks for the password elsewhere, too


class TokenForm(WordedForm):
    """What a token is for."""

    label = forms.CharField(max_length=100)
