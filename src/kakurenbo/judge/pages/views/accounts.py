"""The first organizer's set-up, logging in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import auth
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from kakurenbo.core import InputError
from kakurenbo.core.messages import language, text
from kakurenbo.judge.accounts import guessing, rules
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.pages.forms.accounts import LogInForm, RegistrationForm

BACKEND = "django.contrib.auth.backends.ModelBackend"


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def setup(request: HttpRequest) -> HttpResponse:
    """Make the organizer's account; only where there is no account at all."""
    if User.objects.exists():
        return redirect("login")
    form = RegistrationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            user = rules.make_first_organizer(given["email"], given["new_password"], given["name"])
        except InputError as error:
            for problem in error.problems:
                form.add_error(None, problem.sentence)
        else:
            User.objects.filter(pk=user.pk).update(language=language())
            auth.login(request, user, backend=BACKEND)
            return redirect("home")
    return render(request, "judge/setup.html", {"form": form})


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def log_in(request: HttpRequest) -> HttpResponse:
    """Log in, then go where the viewer was heading."""
    if not User.objects.exists():
        return redirect("setup")
    target = request.POST.get("next", request.GET.get("next", ""))
    form = LogInForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        user = auth.authenticate(
            request, username=given["email"].strip().lower(), password=given["password"]
        )
        if user is not None:
            auth.login(request, user)
            safe = url_has_allowed_host_and_scheme(
                target, {request.get_host()}, require_https=request.is_secure()
            )
            return redirect(target if safe else "home")
        form.add_error(None, text("page.wrong_login"))
    address = f"{reverse('login')}?{urlencode({'next': target})}" if target else reverse("login")
    return render(request, "judge/login.html", {"form": form, "next": target, "address": address})


def locked_out(
    request: HttpRequest,
    response: HttpResponse | None,  # noqa: ARG001 - as axes calls it
    credentials: Mapping[str, Any] | None,
) -> HttpResponse:
    """The answer to whom guesses of passwords keep out for a while."""
    strangers = guessing.is_closed_to_strangers(request, credentials)
    page = render(request, "judge/locked.html", {"strangers": strangers}, status=429)
    page.headers["Retry-After"] = str(guessing.seconds_closed(request, credentials))
    return page


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """Log out."""
    auth.logout(request)
    return redirect("home")
