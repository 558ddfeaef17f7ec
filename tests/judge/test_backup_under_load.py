"""A backup while teams hand in, restored elsewhere: the same log, the same pages, nothing lost that was acknowledged.

``KAKURENBO_BACKUP_UPLOADS`` says how much is handed in before and during the backup (``make soak`` asks for more).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from benchmarks.bench_judge import asked, said_inside
from tests.calling import call
from tests.judge.test_serve import Served, served
from tests.judge.waiting import wait_until

from kakurenbo.proofs import Tree, verify_consistency

pytestmark = pytest.mark.slow

__all__ = ["served"]
UPLOADS = int(os.environ.get("KAKURENBO_BACKUP_UPLOADS", "12"))
PAUSE = 0.0 if "KAKURENBO_BACKUP_UPLOADS" in os.environ else 1.0
"""Seconds between what one member hands in after that: all of it is judged, which takes longer than to hand it in."""
PEOPLE = """
import django; django.setup()
import json
from datetime import timedelta
from django.test import Client
from django.utils import timezone
from kakurenbo.judge.accounts.rules import make_first_organizer, new_token, register
from kakurenbo.judge.contests import rules
organizer = make_first_organizer("organizer@example.com", "a long password", "Organizer")
now = timezone.now()
plan = [("anonymize", now, now + timedelta(hours=9)), ("attack", now + timedelta(hours=10), now + timedelta(hours=19))]
phases = [rules.PhasePlan("only", *one) for one in plan]
told = {"cookies": {}, "tokens": {}}
def cookie(user):
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value
for slug in ("quiet", "busy"):
    contest = rules.make_contest(
        organizer, title=slug, slug=slug, rulebook="hide-and-seek", options={"size": 40}, zone="UTC", places=2, phases=phases
    )
    for number in ("01", "02"):
        team = rules.add_team(organizer, contest, "Team " + number)
        player = register(number + slug + "@example.com", "another long password", "Player")
        rules.join(player, rules.invite(organizer, team, "member")[1])
        told["tokens"][slug + number] = new_token(player, "program")[1]
told["cookies"] = {"player": cookie(player.__class__.objects.get(email="01quiet@example.com")), "organizer": cookie(organizer)}
print(json.dumps(told, separators=(",", ":")))
"""


@dataclass
class Load:
    """Teams that hand in over and over; what was acknowledged, in this order: submission, and digest of its file."""

    address: str
    tokens: Mapping[str, str]
    release: bytes
    acknowledged: list[tuple[str, str, str]] = field(default_factory=list)
    _enough: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def going_on(self) -> Iterator[None]:
        with ThreadPoolExecutor(4) as pool:
            running = [
                pool.submit(self._hand_in, number, place)
                for number in ("01", "02")
                for place in range(2)
            ]
            try:
                yield
            finally:
                self._enough.set()
            for one in running:
                one.result()

    def wait_for(self, more: int) -> None:
        wanted = len(self.acknowledged) + more
        wait_until(lambda: len(self.acknowledged) >= wanted)

    def _hand_in(self, number: str, place: int) -> None:
        count = 0
        while not self._enough.is_set():
            count += 1
            token = self.tokens[f"busy{number}"]
            content = (
                self.release + f"{number}{place}{count}".encode()
            )  # files that the store has not yet
            pk = handed_in(self.address, token, "busy", f"release_{number}.csv", content)
            self.acknowledged.append((pk, token, hashlib.sha256(content).hexdigest()))
            self._enough.wait(PAUSE if len(self.acknowledged) > UPLOADS else 0)


def handed_in(address: str, token: str, contest: str, name: str, content: bytes) -> str:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"}
    begun = asked(
        address,
        headers,
        f"/contests/{contest}/rounds/only/phases/anonymize/submissions",
        "POST",
        b"",
    )
    asked(address, headers, f"/submissions/{begun['id']}/files/{name}", "PUT", content)
    asked(address, headers, f"/submissions/{begun['id']}/finish", "POST", b"")
    return str(begun["id"])


def told(address: str, token: str, path: str) -> Any:
    return asked(address, {"Authorization": f"Bearer {token}"} if token else {}, path)


def fetched(address: str, path: str, headers: Mapping[str, str]) -> tuple[str, bytes]:
    with urllib.request.urlopen(
        urllib.request.Request(address + path, headers=dict(headers)), timeout=60
    ) as answer:
        return answer.headers.get_content_type(), answer.read()


def kakurenbo(*arguments: object, **environment: str) -> Any:
    command = [sys.executable, "-m", "kakurenbo", *map(str, arguments), "--json"]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )
    assert done.returncode == 0, done
    return json.loads(done.stdout)


# -- pages -----------------------------------------------------------------------------------------------------------------


def pages(address: str, cookie: str) -> dict[str, object]:
    """Every page and file that somebody gets to by links, without what is drawn anew for each answer."""
    found: dict[str, object] = {}
    waiting = ["/"]
    while waiting:
        path = waiting.pop()
        if path in found or path.startswith(("/static/", "/api/", "/contests/busy/")):
            continue
        kind, content = fetched(address, path, {"Cookie": f"sessionid={cookie}"} if cookie else {})
        found[path] = _comparable(content, timeless="/manage/phases/" in path)
        if kind == "text/html":
            links = re.findall(r'(?:href|hx-get)="([^"]+)"', content.decode())
            whole = (
                urldefrag(urljoin(address + path, link.replace("&amp;", "&"))).url for link in links
            )
            waiting += [
                one.removeprefix(address)
                for one in whole
                if urlsplit(one).netloc == urlsplit(address).netloc
            ]
    return found


def _comparable(content: bytes, *, timeless: bool) -> object:
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            return {name: packed.read(name) for name in packed.namelist()}
    content = re.sub(
        rb'(csrfmiddlewaretoken" value=|X-CSRFToken[^A-Za-z0-9]+)"?[A-Za-z0-9]{64}', b"", content
    )
    content = re.sub(
        rb'(data-until="[^"]*" data-words="[^"]*">)[^<]*', rb"\1", content
    )  # the time that is left now
    return (
        re.sub(rb"[0-9]", b"", content) if timeless else content
    )  # a page that offers times counted from now


@pytest.fixture
def judge(served: Served, plugins: Path) -> Served:
    assert plugins
    served.start()
    return served


def test_a_backup_under_load_restored_elsewhere_has_the_same_log_the_same_pages_and_all_that_was_acknowledged(
    judge: Served, tmp_path: Path
) -> None:
    address = f"http://127.0.0.1:{judge.port}"
    known = json.loads(said_inside(judge.home, PEOPLE)[-1])
    tokens, cookies = known["tokens"], {"nobody": "", **known["cookies"]}
    for slug in ("quiet", "busy"):
        judge.wait_until(lambda slug=slug: _phase(address, slug)["state"] == "open")  # type: ignore[misc]
    handout = fetched(
        address,
        "/api/v1/contests/quiet/rounds/only/files/teams/01/sample.csv",
        {"Authorization": f"Bearer {tokens['quiet01']}"},
    )[1]
    shown = handed_in(address, tokens["quiet01"], "quiet", "release_01.csv", handout)
    judge.wait_until(
        lambda: told(address, tokens["quiet01"], f"/submissions/{shown}")["state"] == "scored"
    )
    judge.wait_until(lambda: _is_signed_and_ranked(address, tokens["quiet01"], shown))

    (receipt := tmp_path / "receipt.json").write_text(
        json.dumps(told(address, tokens["quiet01"], f"/submissions/{shown}/receipt"))
    )

    load, out = Load(address, tokens, handout), judge.home.parent / "judge.backup"
    with load.going_on():
        load.wait_for(UPLOADS)
        before = list(load.acknowledged)
        made = kakurenbo("backup", "--home", judge.home, out)
        during = len(load.acknowledged) - len(before)
        load.wait_for(UPLOADS // 2)
    assert during > 0, "nobody waited for the backup"
    assert out.stat().st_mode & 0o777 == 0o600
    as_it_was = {who: pages(address, cookie) for who, cookie in cookies.items()}
    assert f"/submissions/{shown}/" in as_it_was["player"]
    assert "/contests/quiet/manage/" in as_it_was["organizer"]
    live = Tree(
        bytes.fromhex(entry["leaf"]) for entry in told(address, "", "/contests/busy/log")["entries"]
    )
    judge.process.send_signal(signal.SIGTERM)
    judge.process.wait()

    again = Served(judge.home.parent / "again")
    again.port = judge.port  # pages tell their own address
    restored = kakurenbo("restore", out, "--home", again.home)
    assert restored["trees"] == made["trees"]
    again.start()
    try:
        _check_log(address, live, made["trees"])
        for who, cookie in cookies.items():
            here = pages(address, cookie)
            assert here.keys() == as_it_was[who].keys()
            for path, content in here.items():
                assert content == as_it_was[who][path], (who, path)
        _check_acknowledged(again, address, before)
        assert call("verify", receipt, "--log", f"{address}/contests/quiet/").code == 0
    finally:
        again.process.send_signal(signal.SIGTERM)
        again.process.wait()


def _phase(address: str, slug: str) -> Any:
    return told(address, "", f"/contests/{slug}")["rounds"][0]["phases"][0]


def _is_signed_and_ranked(address: str, token: str, submission: str) -> bool:
    """Whether nothing of a contest is still to be done: its standings are there, and its last entry is signed."""
    log = told(address, "", "/contests/quiet/log")
    signed = max((one["size"] for one in log["checkpoints"]), default=0)
    try:
        ranked = told(address, token, "/contests/quiet/standings")
    except urllib.error.HTTPError:
        return False
    judged = told(address, token, f"/submissions/{submission}")["judging"]["made_at"]
    return signed == len(log["entries"]) and ranked["taken_at"] > judged


def _check_log(address: str, live: Tree, trees: list[dict[str, Any]]) -> None:
    """The restored log is the beginning of the one that went on, and its entries are those of its tree."""
    (kept,) = (one for one in trees if one["contest"] == "busy")
    size, root = kept["size"], bytes.fromhex(kept["root"])
    assert 0 < size < len(live)
    assert verify_consistency(size, len(live), root, live.root(), live.consistency_proof(size))
    leaves = [
        bytes.fromhex(entry["leaf"]) for entry in told(address, "", "/contests/busy/log")["entries"]
    ]
    assert Tree(leaves[:size]).root() == root


def _check_acknowledged(judge: Served, address: str, before: list[tuple[str, str, str]]) -> None:
    """Everything that was acknowledged is there, whole, and what was being judged is judged."""
    for submission, token, digest in before:
        judge.wait_until(partial(_is_judged, address, token, submission))
        (file,) = told(address, token, f"/submissions/{submission}")["files"]
        path = f"/api/v1/submissions/{submission}/files/{file['name']}"
        assert (
            hashlib.sha256(
                fetched(address, path, {"Authorization": f"Bearer {token}"})[1]
            ).hexdigest()
            == digest
        )


def _is_judged(address: str, token: str, submission: str) -> bool:
    return told(address, token, f"/submissions/{submission}")["state"] in ("scored", "invalid")
