"""The changelog is made of fragments, one per change, that towncrier can put together."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

from tests.docs.pages import REPOSITORY

FRAGMENTS = [
    path
    for path in sorted((REPOSITORY / "changes").iterdir())
    if path.name not in ("README.md", ".gitignore")
]
KINDS = {
    kind["directory"]: kind["name"]
    for kind in tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["towncrier"][
        "type"
    ]
}


def test_a_fragment_is_named_for_its_change_and_its_kind_and_says_it_in_sentences() -> None:
    for path in FRAGMENTS:
        name = re.fullmatch(r"(?:\d+|\+[a-z0-9-]+)\.(?P<kind>\w+)(?:\.\d+)?\.md", path.name)
        assert name is not None, (
            f"{path.name}: name it ISSUE.KIND.md, or +topic.KIND.md where there is no issue"
        )
        assert name["kind"] in KINDS, f"{path.name}: kinds are {', '.join(KINDS)}"
        text = path.read_text(encoding="utf-8").strip()
        assert text.endswith((".", ")")), f"{path.name} ends in the middle of a sentence"
        assert not text.startswith(("-", "*", "#")), f"{path.name}: towncrier makes the list"


def test_the_next_version_of_the_changelog_can_be_made() -> None:
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "unreleased"]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for path in FRAGMENTS:
        assert path.read_text(encoding="utf-8").strip().splitlines()[0][:60] in done.stdout, (
            path.name
        )
