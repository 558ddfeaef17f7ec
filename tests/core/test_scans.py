"""What ``make lint`` looks for beside style: secrets that somebody left, and versions that are known to be vulnerable."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from scripts import audit_dependencies, scan_secrets

RANDOM = "q7Rt2vXk9LmZp4Wc8YhN3sBd6FgJ1aQe"  # not a secret
SECRETS = {
    "private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "AWS key": "AKIA" + "IOSFODNN7ABCDEFG",
    "GitHub token": "ghp_" + RANDOM + "abcd",
    "GitLab token": "glpat-" + RANDOM,
    "Slack token": "xoxb-" + "1234567890-abcdefghij",
    "Google key": "AIza" + RANDOM + "abc",
    "Stripe key": "sk_live_" + RANDOM,
    "OpenAI key": "sk-" + RANDOM + "abcd",
    "SendGrid key": "SG." + RANDOM + "." + RANDOM,
    "PyPI token": "pypi-AgE" + RANDOM + RANDOM,
    "npm token": "npm_" + RANDOM + "abcd",
    "web token": f"eyJ{RANDOM}.eyJ{RANDOM}.{RANDOM}",
    "token of a judge": "kakurenbo_" + RANDOM + "0123456789a",
    "password in an address": f"postgresql://judge:{RANDOM}@db.example/judge",
    "value of a secret": f'API_KEY = "{RANDOM}"',
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_planted_secret_is_found_and_named(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "settings.py"
    place.write_text(f"first = 1\nplanted: {SECRETS[kind]}\n")
    assert scan_secrets.main([str(place)]) == 1
    assert f"{place}:2: {kind}: take it out" in capsys.readouterr().out


def test_every_kind_of_secret_is_planted() -> None:
    assert set(SECRETS) == set(scan_secrets.KINDS)


@pytest.mark.parametrize(
    "line",
    [
        'password = "hide and seek 7"',
        'TOKEN_PREFIX = "kakurenbo_"',
        'SECRET_KEY = "KAKURENBO_JUDGE_SECRET_S3_ACCESS_KEY"',
        "postgresql://judge:{password}@db.example/judge",
        'secret = "aaaaaaaaaaaaaaaaaaaaaaaaaaaa"',
        f'API_KEY = "{RANDOM}"  # not a secret: of a test',
    ],
)
def test_words_about_secrets_are_none(line: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(line)
    assert scan_secrets.main([str(tmp_path / "page.md")]) == 0


def test_the_repository_holds_no_secret() -> None:
    assert scan_secrets.main([]) == 0


@contextmanager
def service(answers: Any, status: int = 200) -> Iterator[str]:
    """A database of vulnerabilities that says this."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(answers).encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def constraints(tmp_path: Path) -> str:
    (tmp_path / "constraints.txt").write_text("# exact versions\nclick==8.2.1\nnumpy==2.2.0\n")
    return str(tmp_path / "constraints.txt")


def audited(constraints: str, answers: Any, *more: str, status: int = 200) -> int:
    with service(answers, status) as address:
        return audit_dependencies.main(["--constraints", constraints, "--service", address, *more])


def test_a_known_vulnerability_fails_and_is_named(
    constraints: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = {"results": [{}, {"vulns": [{"id": "PYSEC-2026-1"}]}]}
    assert audited(constraints, found) == 1
    assert (
        capsys.readouterr().out
        == "numpy 2.2.0: PYSEC-2026-1\n2 dependencies audited, 1 known vulnerabilities\n"
    )
    assert audited(constraints, found, "--ignore", "PYSEC-2026-1") == 0


def test_good_versions_pass(constraints: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert audited(constraints, {"results": [{}, {}]}) == 0
    assert capsys.readouterr().out == "2 dependencies audited, 0 known vulnerabilities\n"


@pytest.mark.parametrize(
    ("answers", "status"), [({"results": [{}]}, 200), ({}, 200), ({}, 403), ("proxy", 502)]
)
def test_where_nothing_can_be_asked_one_line_says_so(
    constraints: str, answers: Any, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audited(constraints, answers, status=status) == 0
    said = capsys.readouterr().out
    assert said.startswith("dependencies were not audited")
    assert said.count("\n") == 1


def test_without_a_network_one_line_says_so(
    constraints: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        audit_dependencies.main(["--constraints", constraints, "--service", "http://127.0.0.1:9/"])
        == 0
    )
    assert capsys.readouterr().out.count("\n") == 1
