"""What organizers tell everybody."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from kakurenbo.judge.contests import rules
from kakurenbo.judge.pages.access import UserRequest, for_organizers, managed_contest, telling
from kakurenbo.judge.pages.forms.managing import AnnouncementForm
from kakurenbo.judge.pages.scene import scene


@require_http_methods(["GET", "POST"])
@for_organizers
def announce(request: UserRequest, slug: str) -> HttpResponse:
    """Write an announcement; the earlier ones stand below."""
    contest = managed_contest(request, slug)
    form = AnnouncementForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        with telling(request, "page.announced"):
            rules.announce(
                request.user, contest, given["announcement_title"], given["announcement_text"]
            )
            return redirect("contest", slug=slug)
    known = {"form": form, "announcements": contest.announcements.all()}
    return render(request, "judge/announce.html", scene(request, contest, "manage", **known))
