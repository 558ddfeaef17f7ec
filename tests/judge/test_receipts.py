"""Receipts: given to a team by page, API and command line, and compared with a judge's log as it is now."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from tests.calling import call
from tests.judge import making

from kakurenbo.cli.client import receipt_of
from kakurenbo.cli.judge_client import judge_of
from kakurenbo.core.errors import UsageError
from kakurenbo.judge.accounts import rules as accounts
from kakurenbo.judge.contests.models import Contest
from kakurenbo.judge.trust import rules as trust
from kakurenbo.proofs import Receipt

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("judge_home")]


@pytest.fixture
def contest(live_server: Any, monkeypatch: pytest.MonkeyPatch) -> Contest:
    """A contest that takes releases, and the token of a member of team 01."""
    made = making.contest(phases=making.plan(timezone.now()))
    member = making.user("member")
    making.team(made, "foxes", member)
    making.opened(made)
    monkeypatch.setenv("KAKURENBO_SERVER", live_server.url)
    monkeypatch.setenv("KAKURENBO_TOKEN", accounts.new_token(member, "of a program")[1])
    return made


@pytest.fixture
def release(tmp_path: Path) -> Path:
    file = tmp_path / "pre_anonymizeddata_01.csv"
    file.write_text("1,2\n")
    return file


def test_a_team_gets_its_receipt_when_the_log_is_signed(
    contest: Contest, release: Path, tmp_path: Path
) -> None:
    first = call("submit", "cup", release, "--wait", 0, "--receipt", tmp_path / "none.json")
    assert (first.code, first.json["receipt"], (tmp_path / "none.json").exists()) == (
        0,
        None,
        False,
    )
    pk = first.json["id"]
    client = Client()
    client.force_login(making.user("member"), "django.contrib.auth.backends.ModelBackend")
    page = f"/submissions/{pk}/"
    assert client.get(f"{page}receipt.json").headers["Location"] == page
    trust.checkpoint(contest)
    answer = client.get(f"{page}receipt.json")
    receipt = Receipt.from_json(json.loads(b"".join(answer)))  # type: ignore[arg-type]
    receipt.check()
    assert receipt.content()["body"]["submission"] == pk
    assert 'filename="receipt-01-anonymize-1.json"' in answer.headers["Content-Disposition"]
    assert f"{page}receipt.json" in client.get(page).content.decode()
    shown = Client().get("/contests/cup/log/").content.decode()
    assert receipt.checkpoint.root.hex() in shown
    assert receipt.checkpoint.public_key.hex() in shown


def test_submit_keeps_a_receipt_only_of_the_files_it_sent(
    contest: Contest, release: Path, live_server: Any
) -> None:
    pk = call("submit", "cup", release, "--wait", 0).json["id"]
    trust.checkpoint(contest)
    judge = judge_of(live_server.url, None)
    assert receipt_of(judge, pk, {release.name: release}, 0) is not None
    release.write_text("3,4\n")
    with pytest.raises(UsageError, match="other files"):
        receipt_of(judge, pk, {release.name: release}, 0)


def test_a_log_that_grew_holds_and_one_that_was_made_anew_does_not(
    contest: Contest, release: Path, tmp_path: Path, live_server: Any
) -> None:
    pk = call("submit", "cup", release, "--wait", 0).json["id"]
    trust.checkpoint(contest)
    receipt = tmp_path / "receipt.json"
    client = Client()
    client.force_login(making.user("member"), "django.contrib.auth.backends.ModelBackend")
    receipt.write_bytes(b"".join(client.get(f"/submissions/{pk}/receipt.json")))  # type: ignore[arg-type]
    address = f"{live_server.url}/contests/cup/"
    trust.record(contest, "phase.opened", {"round": "pre", "phase": "anonymize"})
    size = trust.checkpoint(contest).size
    grown = call("verify", receipt, "--log", address)
    assert (grown.code, grown.json["log_size"]) == (0, size)
    whole = call("verify", address, "--receipt", receipt)
    assert (whole.code, whole.json["complete"], whole.json["checked"]["entries"]) == (
        0,
        False,
        size,
    )
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE trust_logentry, trust_checkpoint")
    trust.record(contest, "contest.made", {})
    trust.checkpoint(contest)
    assert (
        call("verify", receipt, "--log", address).json["difference"]["code"]
        == "verification.short_log"
    )
    for number in range(size):
        trust.record(contest, "phase.opened", {"phase": str(number)})
    trust.checkpoint(contest)
    rewritten = call("verify", receipt, "--log", address)
    assert (rewritten.code, rewritten.json["difference"]["code"]) == (1, "verification.rewritten")
    assert (
        call("verify", address, "--receipt", receipt).json["difference"]["code"]
        == "verification.other_than_kept"
    )


def test_a_receipt_is_the_teams_own_and_tells_nothing_of_others(
    contest: Contest, release: Path
) -> None:
    pk = call("submit", "cup", release, "--wait", 0).json["id"]
    trust.checkpoint(contest)
    other = making.user("other")
    making.team(contest, "owls", other)
    client = Client()
    client.force_login(other, "django.contrib.auth.backends.ModelBackend")
    assert client.get(f"/submissions/{pk}/receipt.json").status_code == 404
    token = accounts.new_token(other, "of a program")[1]
    answer = Client().get(
        f"/api/v1/submissions/{pk}/receipt", headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.status_code == 404
