"""One's own account, and the tokens by which programs act for one."""

from __future__ import annotations

from django.contrib import auth, messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from kakurenbo.core import InputError
from kakurenbo.core.messages import text
from kakurenbo.judge.accounts import rules
from kakurenbo.judge.accounts.forgetting import delete_account
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.pages.access import UserRequest, for_organizers, for_users, telling
from kakurenbo.judge.pages.forms.accounts import DeletionForm, PasswordForm, ProfileForm, TokenForm
from kakurenbo.judge.pages.once import forgotten_on, secret_of, shown_on


@never_cache
@require_http_methods(["GET", "POST"])
@for_users
def profile(request: UserRequest) -> HttpResponse:
    """Name, language, password and tokens."""
    user = request.user
    form = ProfileForm(request.POST or None, initial={"name": user.name, "language": user.language})
    if request.method == "POST" and form.is_valid():
        try:
            rules.change_profile(user, form.cleaned_data["name"], form.cleaned_data["language"])
            messages.success(request, text("page.saved"))
            return redirect("profile")
        except InputError as error:
            form.add_error("name", error.problems[0].sentence)
    return _page(request, form=form, secret=secret_of(request, reverse("profile")))


@sensitive_post_parameters()
@require_POST
@for_users
def password(request: UserRequest) -> HttpResponse:
    """Another password; other sessions end, and so do tokens."""
    form = PasswordForm(request.POST)
    if form.is_valid() and not _is_own_password(request, form.cleaned_data["password"]):
        form.add_error("password", text("page.wrong_password"))
    if not form.is_valid():
        return _page(request, password_form=form)
    revoked = rules.change_password(request.user, form.cleaned_data["new_password"])
    auth.update_session_auth_hash(request, request.user)
    messages.success(request, text("page.password_changed", count=revoked))
    return redirect("profile")


@require_POST
@for_users
def end_sessions(request: UserRequest) -> HttpResponse:
    """Log out everywhere but here."""
    ended = rules.end_sessions(request.user, but=request.session.session_key or "")
    messages.success(request, text("page.sessions_ended", count=ended))
    return redirect("profile")


@require_POST
@for_users
def make_token(request: UserRequest) -> HttpResponse:
    """A new token, shown on the profile for a few minutes."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, token_form=form)
    try:
        _, secret = rules.new_token(request.user, form.cleaned_data["label"])
    except InputError as error:
        form.add_error("label", error.problems[0].sentence)
        return _page(request, token_form=form)
    return shown_on(reverse("profile"), request, secret)


@require_POST
@for_users
def revoke_token(request: UserRequest, pk: int) -> HttpResponse:
    """End a token at once."""
    rules.revoke(get_object_or_404(request.user.tokens, pk=pk))
    messages.success(request, text("page.token_revoked"))
    return forgotten_on(reverse("profile"))


@sensitive_post_parameters()
@require_POST
@for_users
def delete(request: UserRequest) -> HttpResponse:
    """One's own account, by whoever knows its password."""
    form = DeletionForm(request.POST)
    if form.is_valid() and not _is_own_password(request, form.cleaned_data["password"]):
        form.add_error("password", text("page.wrong_password"))
    if not form.is_valid():
        return _page(request, deletion_form=form)
    try:
        delete_account(request.user)
    except InputError as error:
        form.add_error(None, error.problems[0].sentence)
        return _page(request, deletion_form=form)
    auth.logout(request)
    messages.success(request, text("page.account_deleted"))
    return redirect("home")


@require_POST
@for_organizers
def delete_other(request: UserRequest, pk: int) -> HttpResponse:
    """The account of somebody who asked for it, by an organizer who types its address."""
    found = get_object_or_404(User, pk=pk, is_active=True)
    if request.POST.get("confirm", "").strip().lower() == found.email:
        with telling(request, "page.account_deleted"):
            delete_account(found)
        return redirect(
            "home"
        )  # the account was in all its contests, not only in the one that the organizer came from
    messages.error(request, text("page.deletion_not_confirmed", email=found.email))
    teams = (own.team for own in found.memberships.select_related("team__contest"))
    came_from = next((team for team in teams if str(team.pk) == request.POST.get("team")), None)
    return (
        redirect("home")
        if came_from is None
        else redirect("manage-team", came_from.contest.slug, came_from.number)
    )


def _page(request: UserRequest, **changed: object) -> HttpResponse:
    user = request.user
    known = {
        "address": reverse("profile"),
        "form": ProfileForm(initial={"name": user.name, "language": user.language}),
        "password_form": PasswordForm(),
        "token_form": TokenForm(),
        "deletion_form": DeletionForm(),
        "tokens": user.tokens.filter(revoked_at__isnull=True).order_by("-created_at"),
    }
    return render(request, "judge/profile.html", {**known, **changed})


def _is_own_password(request: UserRequest, given: str) -> bool:
    """Asked as at the log-in, so that whoever borrowed a session cannot try passwords without end."""
    return auth.authenticate(request, username=request.user.email, password=given) is not None
