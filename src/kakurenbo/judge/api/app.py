"""The API itself: ``api.urls`` belongs under ``/api/``; the description is at ``/api/v1/openapi.json``."""

from __future__ import annotations

from ninja import NinjaAPI

from kakurenbo import __version__
from kakurenbo.judge.api import accounts, handing_in, looking, organizing, rejudging, trust
from kakurenbo.judge.api.authentication import TokenOrSession
from kakurenbo.judge.api.refusals import add_refusals

api = NinjaAPI(
    title="kakurenbo judge",
    version=__version__,
    description=(
        "Everything that a team's programs need: handouts, submissions, scores, standings. Send the token of your "
        "profile page as `Authorization: Bearer TOKEN`, and `Accept-Language: ja` for Japanese messages."
    ),
    auth=TokenOrSession(),
    urls_namespace="api-v1",
    docs_url=None,  # its page loads scripts from elsewhere, which the content security policy forbids
    openapi_url=None,  # ours answers GET alone
)
add_refusals(api)
for part in (accounts, looking, handing_in, organizing, rejudging, trust):
    api.add_router("", part.router)
