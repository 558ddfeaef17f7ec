"""The questionnaire: what a team says of its method, and what the software can compute itself; attackers get both."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kakurenbo import registry
from kakurenbo.contracts import Anonymizer, Mechanism, json_number
from kakurenbo.errors import KakurenboError
from kakurenbo.measures.privacy import delta_presence, k_anonymity
from kakurenbo.tables import Problems, Severity, Source, Table
from kakurenbo.tables.transitional import plain

CLAIMS = ("epsilon", "delta", "k", "Pk", "delta_presence")
METHODS = (
    "record deletion",
    "top or bottom coding",
    "partial records extraction",
    "microaggregation",
    "data exchange (swapping)",
    "noise addition",
    "synthetic data generation",
    "dummy record addition",
    "randomization / randomized response / PRAM",
    "others",
)
_MAX_BYTES = 20_000


@dataclass(frozen=True)
class Questionnaire:
    """A team's answers.

    Attributes
    ----------
    methods : mapping of method to remark
        Keys are the rows of the form (``METHODS``); remarks say which attributes and about how many records.
    claims : mapping of measure to number
        Keys are ``CLAIMS``.
    declared : str
        A method of this software with parameters, ``rr:p=0.9``; attackers may use its mechanism. Empty for none.
    """

    methods: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, float] = field(default_factory=dict)
    declared: str = ""

    def mechanism(self, release: Table) -> Mechanism | None:
        """The mechanism of the declared method, with the release in place of the original where it looks at data."""
        if not self.declared:
            return None
        method: Anonymizer = registry.build("anonymizers", self.declared)
        return method.mechanism(release)

    def as_json(self) -> dict[str, Any]:
        claims = {name: json_number(value) for name, value in self.claims.items()}
        return {"methods": dict(self.methods), "claims": claims, "declared": self.declared}


def computed_claims(questionnaire: Questionnaire, release: Table, population: Table) -> dict[str, Any]:
    """What the software finds itself: k on D, delta-presence of D in B, epsilon of a declared randomized response."""
    lowest, highest = delta_presence(population, release)
    claims: dict[str, Any] = {"k": k_anonymity(release), "delta_presence": [lowest, highest]}
    mechanism = questionnaire.mechanism(release)
    if mechanism is not None:
        claims["epsilon"] = json_number(mechanism.epsilon(release.schema.names))
    return claims


def read_questionnaire(source: Source) -> Questionnaire | Problems:
    """A questionnaire from JSON ``{"methods": {...}, "claims": {...}, "declared": "rr:p=0.9"}``, every part optional."""
    data = source.read(_MAX_BYTES)
    if isinstance(data, Problems):
        return data
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return _refused(source, "the questionnaire is not JSON", 'write {"methods": {...}, "claims": {...}}', malformed=True)
    if not isinstance(content, dict) or set(content) - {"methods", "claims", "declared"}:
        return _refused(source, "the questionnaire must be an object", "its keys are methods, claims and declared")
    return _check(source, content)


def _check(source: Source, content: dict[str, Any]) -> Questionnaire | Problems:
    methods, claims, declared = content.get("methods", {}), content.get("claims", {}), content.get("declared", "")
    if not isinstance(methods, dict) or not all(isinstance(remark, str) for remark in methods.values()):
        return _refused(source, "methods must be an object of texts", f"keys are: {', '.join(METHODS)}")
    for name in methods:
        if name not in METHODS:
            return _refused(source, f"{name[:60]!r} is not a method of the form", f"keys are: {', '.join(METHODS)}")
    if not isinstance(claims, dict):
        return _refused(source, "claims must be an object of numbers", f"keys are: {', '.join(CLAIMS)}")
    numbers = {}
    for name, value in claims.items():
        number = math.inf if value == "inf" else value
        if name not in CLAIMS or isinstance(number, bool) or not isinstance(number, int | float) or not number >= 0:
            return _refused(
                source, f"the claim {str(name)[:60]!r} is not a number of the form", f"keys are: {', '.join(CLAIMS)}"
            )
        numbers[name] = float(number)
    if not isinstance(declared, str):
        return _refused(source, "declared must be a text", 'such as "rr:p=0.9"')
    questionnaire = Questionnaire(methods, numbers, declared)
    if declared:
        try:
            registry.build("anonymizers", declared)
        except KakurenboError as error:
            return _refused(source, f"declared: {error}", 'name a method and its parameters, such as "rr:p=0.9"')
    return questionnaire


def _refused(source: Source, message: str, fix: str, *, malformed: bool = False) -> Problems:
    severity = Severity.MALFORMED if malformed else Severity.VIOLATION
    return Problems([plain(message, fix, source.name, severity=severity)])
