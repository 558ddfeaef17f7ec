"""Every page by its address. Addresses that change something take POST alone."""

from __future__ import annotations

from django.urls import URLPattern, path

from kakurenbo.judge.pages.views import (
    accounts,
    announcing,
    contests,
    downloads,
    joining,
    looks,
    making,
    managing,
    playing,
    profile,
    rejudging,
    standings,
    submissions,
    teams,
    trust,
)

_CONTEST, _PHASE = (
    "contests/<slug:slug>/",
    "contests/<slug:slug>/play/<slug:round_name>/<slug:kind>/",
)

urlpatterns: list[URLPattern] = [
    path("", contests.home, name="home"),
    path("look.css", looks.stylesheet, name="look"),
    path("preferences", looks.preferences, name="preferences"),
    # accounts
    path("setup", accounts.setup, name="setup"),
    path("login", accounts.log_in, name="login"),
    path("logout", accounts.log_out, name="logout"),
    path("join/<str:invitation>", joining.join, name="join"),
    path("profile", profile.profile, name="profile"),
    path("profile/password", profile.password, name="password"),
    path("profile/sessions/end", profile.end_sessions, name="end-sessions"),
    path("profile/tokens", profile.make_token, name="make-token"),
    path("profile/tokens/<int:pk>/revoke", profile.revoke_token, name="revoke-token"),
    path("profile/delete", profile.delete, name="delete-own-account"),
    path("accounts/<int:pk>/delete", profile.delete_other, name="delete-account"),
    # contests
    path("contests/new/", making.choose, name="choose-rulebook"),
    path("contests/new/<slug:rulebook>/", making.make, name="make-contest"),
    path(_CONTEST, contests.overview, name="contest"),
    path(_CONTEST + "standings/", standings.standings, name="standings"),
    path(_CONTEST + "log/", trust.log, name="log"),
    # players
    path(_CONTEST + "team/", playing.team, name="team"),
    path(_CONTEST + "play/", playing.current, name="play"),
    path(_PHASE, playing.phase, name="phase"),
    path(_PHASE + "submit", submissions.submit, name="submit"),
    path(_PHASE + "begin", submissions.begin, name="begin"),
    path(_PHASE + "form/<str:file>", submissions.questionnaire, name="questionnaire"),
    path("submissions/<uuid:pk>/", submissions.submission, name="submission"),
    path("submissions/<uuid:pk>/finish", submissions.finish, name="finish"),
    path("submissions/<uuid:pk>/withdraw", submissions.withdraw, name="withdraw"),
    path("submissions/<uuid:pk>/choose", submissions.choose, name="choose"),
    path("submissions/<uuid:pk>/receipt.json", trust.receipt, name="receipt"),
    path("submissions/<uuid:pk>/files/<str:name>", downloads.submitted_file, name="submitted-file"),
    path(
        _CONTEST + "rounds/<slug:round_name>/files/<path:file>",
        downloads.round_file,
        name="round-file",
    ),
    path(_CONTEST + "rounds/<slug:round_name>/handout.zip", downloads.handout, name="handout"),
    path(_CONTEST + "rounds/<slug:round_name>/targets.zip", downloads.targets, name="targets"),
    # organizers
    path(_CONTEST + "manage/", managing.dashboard, name="manage"),
    path(_CONTEST + "manage/queue", managing.queue, name="queue"),
    path(_CONTEST + "manage/jobs/<int:pk>/rerun", managing.rerun, name="rerun"),
    path(_CONTEST + "manage/phases/<int:pk>", managing.edit_phase, name="edit-phase"),
    path(_CONTEST + "manage/end", managing.end, name="end-contest"),
    path(_CONTEST + "manage/erase", managing.erase, name="erase-contest"),
    path(_CONTEST + "manage/rehearse", managing.rehearse, name="rehearse"),
    path(_CONTEST + "archive.zip", downloads.archive, name="archive"),
    path(_CONTEST + "results-site.zip", downloads.results_site, name="results-site"),
    path(_CONTEST + "manage/announcements", announcing.announce, name="announce"),
    path(_CONTEST + "manage/rejudgings/", rejudging.every, name="rejudgings"),
    path(_CONTEST + "manage/rejudgings/<int:pk>/", rejudging.one, name="rejudging"),
    path(_CONTEST + "manage/rejudgings/<int:pk>/apply", rejudging.apply, name="apply-rejudging"),
    path(_CONTEST + "manage/rejudgings/<int:pk>/cancel", rejudging.cancel, name="cancel-rejudging"),
    path(_CONTEST + "manage/teams/", teams.teams, name="teams"),
    path(_CONTEST + "manage/teams/add", teams.add, name="add-team"),
    path(_CONTEST + "manage/teams/<slug:number>/", teams.team, name="manage-team"),
    path(_CONTEST + "manage/teams/<slug:number>/invite", teams.invite, name="invite"),
    path(_CONTEST + "manage/invites/<int:pk>/revoke", teams.revoke_invite, name="revoke-invite"),
    path(_CONTEST + "manage/entries/<int:pk>/<slug:what>", teams.decide, name="decide"),
]
