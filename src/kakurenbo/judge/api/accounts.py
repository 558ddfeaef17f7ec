"""Routes about the asker's own account."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router, Status

from kakurenbo.judge.accounts import rules
from kakurenbo.judge.api.authentication import somebody
from kakurenbo.judge.api.refusals import not_there

router = Router(tags=["account"])
_BEARER = "Bearer "


@router.delete("/me/token", response={204: None}, summary="Revoke the token that you show")
def revoke(request: HttpRequest) -> Status[None]:
    somebody(request)
    shown = request.headers.get("Authorization", "")
    if not shown:  # who is logged in by the pages shows none
        not_there()
    rules.revoke_shown(shown[len(_BEARER) :])
    return Status(204, None)
