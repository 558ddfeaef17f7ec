"""Whatever the API's description allows is sent to it, by everybody: no fault, and every answer is one that is described."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.utils import timezone
from hypothesis import HealthCheck, given, seed, settings
from schemathesis import checks
from schemathesis.specs.openapi import checks as openapi_checks
from tests.judge import making

from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.api.description import description
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.scoring.models import Job, RoundFile, Visible
from kakurenbo.judge.submissions import rules, store
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.judge.trust.rules import checkpoint

pytestmark = pytest.mark.django_db
EXAMPLES = 100 if os.environ.get("KAKURENBO_SOAK") else 4
"""Requests for each route and asker; a soak test sends more."""
_DESCRIBED = "/described.json"
_CHECKS = (
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.content_type_conformance,
    openapi_checks.response_schema_conformance,
    openapi_checks.response_headers_conformance,
)


@pytest.fixture
def contest(judge_home: Path) -> Contest:
    """A contest in which something was handed in, and something is there to fetch."""
    assert judge_home
    made = making.contest(phases=making.plan(timezone.now()))
    member = making.user("member")
    team = making.team(made, "foxes", member)
    phase = making.opened(made)
    RoundFile.objects.create(
        round=phase.round, path="public/a.csv", visible=Visible.PUBLIC, blob=store.put(b"1,2\n")
    )
    for sent in ("handed in", ""):
        begun = rules.begin(member, making.entry(team), phase, timezone.now())
        rules.add_file(begun, "pre_anonymizeddata_01.csv", store.put(b"1,2\n"))
        if sent:
            rules.finish(begun, timezone.now())
    checkpoint(made)
    return made


@pytest.mark.parametrize("asker", ["organizer", "member", "anonymous"])
def test_whatever_is_described_can_be_sent_and_is_answered_as_described(
    contest: Contest, asker: str
) -> None:
    headers = {}
    if asker != "anonymous":
        user = making.organizer() if asker == "organizer" else making.user("member")
        headers = {"Authorization": f"Bearer {accounts.new_token(user, 'of a program')[1]}"}
    schema = schemathesis.openapi.from_wsgi(_DESCRIBED, _served(_with_what_there_is(contest)))
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 20
    for operation in operations:
        _send(operation, headers)


def _send(operation: Any, headers: dict[str, str]) -> None:
    @seed(11)
    @settings(
        max_examples=EXAMPLES, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(case=operation.as_strategy())
    def send(case: Any) -> None:
        case.call_and_validate(headers=headers, checks=list(_CHECKS))

    send()


def _with_what_there_is(contest: Contest) -> dict[str, Any]:
    """The description, with names and numbers that there are beside all others: else nearly everything were missing."""
    described: dict[str, Any] = json.loads(json.dumps(description()))
    known: dict[str, Iterable[Any]] = {
        "slug": [contest.slug],
        "name": ["pre", "pre_anonymizeddata_01.csv"],
        "kind": ["anonymize", "attack"],
        "path": ["public/a.csv"],
        "submission_id": [str(pk) for pk in Submission.objects.values_list("pk", flat=True)],
        "job_id": list(Job.objects.values_list("pk", flat=True)),
        "first": [0, 1],
        "second": [1, 2],
    }
    for methods in described["paths"].values():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                if parameter["name"] in known:
                    parameter["schema"] = {
                        "anyOf": [{"enum": list(known[parameter["name"]])}, parameter["schema"]]
                    }
    return described


def _served(described: dict[str, Any]) -> Callable[..., Iterable[bytes]]:
    """Django, and beside it a description; it keeps the connection in which the test's own rows are."""
    django = WSGIHandler()
    for told in (request_started, request_finished):
        told.disconnect(close_old_connections)

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ["PATH_INFO"] != _DESCRIBED:
            answered: Iterable[bytes] = django(environ, start_response)
            return answered
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(described).encode()]

    return application
