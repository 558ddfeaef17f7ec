"""The builds that the tutorial shows call the audit with options that it has, and stop where it fails."""

from __future__ import annotations

import re
import shlex

import click
import pytest
import yaml
from tests.docs.pages import REPOSITORY

from kakurenbo.cli.audit import audit

PAGES = ("docs/tutorial/audit.md", "docs/ja/audit.md")


def builds(page: str) -> list[dict]:  # type: ignore[type-arg]
    text = (REPOSITORY / page).read_text("utf-8")
    return [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.S)]


@pytest.mark.parametrize("page", PAGES)
def test_a_build_calls_the_audit_with_a_baseline_and_lets_its_exit_code_stand(page: str) -> None:
    workflow, hook = builds(page)
    (command,) = [step["run"] for step in workflow["jobs"]["audit"]["steps"] if "run" in step]
    (local,) = hook["repos"]
    for called in (command, local["hooks"][0]["entry"]):
        name, verb, *arguments = shlex.split(called)
        assert (name, verb) == ("kakurenbo", "audit")
        given = audit().make_context("audit", arguments, resilient_parsing=False).params
        assert str(given["baseline"]) == "accepted.json"
        assert str(given["limits"]) == "limits.toml"
        assert given["holdout"] is not None
    assert local["hooks"][0]["pass_filenames"] is False


def test_an_option_that_the_audit_does_not_have_would_be_noticed() -> None:
    with pytest.raises(click.NoSuchOption):
        audit().make_context("audit", ["a.csv", "b.csv", "--base-line", "x.json"])
