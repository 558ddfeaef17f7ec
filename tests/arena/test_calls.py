"""Methods by name, as jobs carry them and as content hashes see them."""

from __future__ import annotations

import pytest

from kakurenbo.arena import calls
from kakurenbo.arena.calls import MethodCall


@pytest.mark.usefixtures("plugins")
def test_a_result_is_played_again_when_the_code_of_its_method_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = ("blur", "pipeline:steps=blur", "pipeline:steps=rr|blur:reach=2", "pipeline:steps=rr")
    parsed = {text: MethodCall.parsed("anonymizers", text) for text in written}
    before = {text: call.identity() for text, call in parsed.items()}
    digest = calls._package_digest
    monkeypatch.setattr(
        calls,
        "_package_digest",
        lambda package: "edited" if package == "hide_and_seek" else digest(package),
    )
    changed = {text for text, call in parsed.items() if call.identity() != before[text]}
    assert changed == {"blur", "pipeline:steps=blur", "pipeline:steps=rr|blur:reach=2"}, (
        "steps of a pipeline count too"
    )


@pytest.mark.usefixtures("plugins")
def test_a_plugin_inherits_code_of_kakurenbo_that_counts_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    call = MethodCall.parsed("rulebooks", "hide-and-seek")
    before, digest = call.identity(), calls._package_digest
    monkeypatch.setattr(
        calls,
        "_package_digest",
        lambda package: "edited" if package == "kakurenbo" else digest(package),
    )
    assert call.identity() != before


@pytest.mark.parametrize(
    "text", ["rr:p=0.1,columns=age,sex", "kanony:k=3,columns=none", "synthetic:rows=10"]
)
def test_parameters_survive_the_way_into_a_job(text: str) -> None:
    call = MethodCall.parsed("anonymizers", text)
    assert MethodCall.of("anonymizers", call.name, call.make()) == call
