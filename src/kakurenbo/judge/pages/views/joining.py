"""An invitation: who follows it registers or logs in, and is in the team."""

from __future__ import annotations

from django.contrib import auth, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from kakurenbo.core import InputError
from kakurenbo.core.messages import language, text
from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import queries, rules
from kakurenbo.judge.pages.forms.accounts import RegistrationForm
from kakurenbo.judge.pages.views.accounts import BACKEND


@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def join(request: HttpRequest, invitation: str) -> HttpResponse:
    """Show which team invites; join it with the account that is there, or with a new one."""
    invite = queries.open_invite(invitation, timezone.now())
    if invite is None:
        return render(request, "judge/join_refused.html", status=404)
    form = None if request.user.is_authenticated else RegistrationForm(request.POST or None)
    if request.method == "POST":
        user = request.user if isinstance(request.user, User) else _registered(form)
        if user is not None:
            return _joined(request, user, invitation)
    return render(
        request, "judge/join.html", {"invite": invite, "contest": invite.team.contest, "form": form}
    )


def _registered(form: RegistrationForm | None) -> User | None:
    if form is None or not form.is_valid():
        return None
    given = form.cleaned_data
    try:
        return accounts.register(given["email"], given["new_password"], given["name"], language())
    except InputError as error:
        for problem in error.problems:
            form.add_error(None, problem.sentence)
    return None


def _joined(request: HttpRequest, user: User, invitation: str) -> HttpResponse:
    if not request.user.is_authenticated:
        auth.login(request, user, backend=BACKEND)
    try:
        team = rules.join(user, invitation).team
    except InputError as error:
        for problem in error.problems:
            messages.error(request, problem.sentence)
        return redirect("home")
    messages.success(request, text("page.joined", team=team.name))
    return redirect("team", slug=team.contest.slug)
