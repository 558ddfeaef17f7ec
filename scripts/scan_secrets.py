"""Finds keys, tokens and passwords that somebody left in a file: ``python -m scripts.scan_secrets [PATH...]``.

Without paths, all files that git knows of are looked at. What is meant to be there (a key of an example, say) has
``not a secret`` on its line.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
MEANT = "not a secret"
KINDS = {
    "private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
    "GitLab token": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "Slack token": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "Google key": r"\bAIza[0-9A-Za-z_-]{35}",
    "Stripe key": r"\b[rs]k_live_[0-9A-Za-z]{20,}",
    "OpenAI key": r"\bsk-[A-Za-z0-9_-]{32,}",
    "SendGrid key": r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "PyPI token": r"\bpypi-AgE[A-Za-z0-9_-]{50,}",
    "npm token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "web token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "token of a judge": r"\bkakurenbo_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
    "password in an address": r"\b[a-z][a-z0-9+]+://[^\s/:@'\"{}<>]+:(?P<value>[^\s/@'\"{}<>$]{6,})@[a-z0-9]",
    "value of a secret": r"(?i)\b[\w.-]*(?:secret|passw(?:or)?d|token|api_?key|private_?key)[\w.-]*['\"]?\s*[:=]\s*"
    r"['\"](?P<value>[A-Za-z0-9+/_=-]{20,})['\"]",
}
_PATTERNS = {kind: re.compile(pattern) for kind, pattern in KINDS.items()}
_BITS = 3.7  # of each sign: words of a language have less, what was drawn at random has more
_MOST_BYTES = 2_000_000


def main(arguments: list[str]) -> int:
    """Name every place where something was found; 1 where there is any."""
    places = [Path(name) for name in arguments] or list(_known_to_git())
    found = [f"{place}:{line}: {kind}" for place in places for line, kind in secrets_in(place)]
    for place in found:
        print(f"{place}: take it out and revoke it; where it is none, write '{MEANT}' on its line")
    return 1 if found else 0


def secrets_in(place: Path) -> Iterator[tuple[int, str]]:
    """Lines of a file with what looks like a secret, and what it looks like."""
    try:
        text = place.read_bytes()[:_MOST_BYTES].decode()
    except (OSError, UnicodeDecodeError):  # a picture, or a file that was removed
        return
    for number, line in enumerate(text.splitlines(), start=1):
        if MEANT not in line:
            yield from ((number, kind) for kind in _kinds_in(line))


def _kinds_in(line: str) -> Iterable[str]:
    for kind, pattern in _PATTERNS.items():
        for match in pattern.finditer(line):
            value = match.groupdict().get("value")
            if value is None or (_is_mixed(value) and _bits(value) >= _BITS):
                yield kind


def _is_mixed(value: str) -> bool:
    """Whether it is no name of something: what was drawn at random has digits and small letters."""
    return any(sign.isdigit() for sign in value) and any(sign.islower() for sign in value)


def _bits(value: str) -> float:
    """The entropy of a sign of a text."""
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)


def _known_to_git() -> Iterator[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    yield from (REPOSITORY / name for name in listed.stdout.decode().split("\0") if name)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
