"""The questionnaire of the text, line by line: what a team says of its method. Attackers get it with the release.

A team fills in the blank form of its folder, in JSON. The text's own words are keys, in any case: "Record Deletion",
"k-Anonymity". Every line is optional.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kakurenbo import registry
from kakurenbo.contracts import Anonymizer, AnyRulebook, Mechanism, json_number, misfit
from kakurenbo.errors import KakurenboError
from kakurenbo.tables import Problems, Read, Reading, Source, Table, json_bytes, read_json, refused

MAX_BYTES = 20_000

METHODS = (
    "Record Deletion",
    "Top (Bottom) Coding",
    "Partial Records Extraction",
    "Microaggregation",
    "Data Exchange (Swapping)",
    "Noise Addition",
    "Synthetic Data Generation",
    "Dummy Record Addition",
    "Randomization / Randomized Response / PRAM",
    "Others",
)
"""The nine methods of the form, and "Others"."""
WHOLE_RECORDS = frozenset({"Record Deletion", "Partial Records Extraction", "Dummy Record Addition"})
"""Methods of whole records: the form asks for no attributes."""
NUMBERS_ONLY = frozenset({"Top (Bottom) Coding", "Microaggregation"})
"""Methods for which the form takes the attributes 1 (age) and 8 (hours-per-week) alone."""
NUMBER_ATTRIBUTES = frozenset({1, 8})

Words = Annotated[str, Meta(max_length=500)]
Probability = Annotated[float, Meta(ge=0, le=1)]
Attribute = Annotated[int, Meta(ge=1, le=9)]
Attributes = Annotated[tuple[Attribute, ...], Meta(max_length=9)]


class OtherMeasure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A privacy measure that the form does not name, and its value."""

    name: Words = ""
    value: float | Words | None = None


class Claims(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The upper half of the form: privacy measures."""

    epsilon: Annotated[float, Meta(ge=0)] | None = None
    delta: Probability | None = None
    k: Annotated[int, Meta(ge=1)] | None = None
    Pk: Annotated[float, Meta(ge=1)] | None = None
    delta_presence: Probability | None = None
    others: OtherMeasure = OtherMeasure()


class Applied(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A line of the lower half: to which attributes (1 to 9) and to roughly how many records a method was applied."""

    name: Words = ""
    attributes: Attributes = ()
    records: Annotated[int, Meta(ge=0)] | None = None
    remark: Words = ""


class Questionnaire(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A team's answers.

    Attributes
    ----------
    claims : Claims
    methods : mapping of method to Applied
        Keys are of ``METHODS``; a line that was left blank is not there.
    declared : str
        A method of this software with parameters, ``rr:p=0.9``, whose mechanism attackers may use. Empty for none.
    """

    claims: Claims = Claims()
    methods: dict[str, Applied] = msgspec.field(default_factory=dict)
    declared: Words = ""

    def method(self) -> Anonymizer | None:
        """The declared method."""
        method: Anonymizer | None = registry.build("anonymizers", self.declared) if self.declared else None
        return method

    def mechanism(self, table: Table) -> Mechanism | None:
        """The mechanism of the declared method, with ``table`` in place of the original where it looks at data."""
        method = self.method()
        return None if method is None else method.mechanism(table)

    def as_json(self) -> dict[str, Any]:
        """What was filled in."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        if self.claims.epsilon is not None:
            content["claims"]["epsilon"] = json_number(self.claims.epsilon)
        return content


def blank_form() -> bytes:
    """The form as it lies in every team's folder: every line of the text, empty."""
    claims = dict.fromkeys(("epsilon", "delta", "k", "Pk", "delta_presence"))
    lines: dict[str, dict[str, Any]] = {}
    for method in METHODS:
        named = {"name": ""} if method == "Others" else {}
        lines[method] = {**named, **({} if method in WHOLE_RECORDS else {"attributes": []}), "records": None}
    return json_bytes({"claims": {**claims, "others": {"name": "", "value": None}}, "methods": lines, "declared": ""})


def read_questionnaire(source: Source, rulebook: type[AnyRulebook], *, published: bool = False) -> Reading[Questionnaire]:
    """A filled-in form.

    Parameters
    ----------
    source : Source
    rulebook : type of Rulebook
        The contest whose tables a declared method must fit.
    published : bool
        Whether it is one that ``publish`` wrote, which also holds the team and what was computed.
    """
    read = read_json(source, MAX_BYTES)
    if isinstance(read, Problems):
        return read
    if not isinstance(read.value, dict):
        return refused("amic2020.form_not_an_object", source.name)
    content = {_PARTS.get(_key(name), name): value for name, value in read.value.items()}
    if published:
        content = {name: value for name, value in content.items() if name not in ("team", "computed")}
    lines = _method_lines(source, content.get("methods"))
    if isinstance(lines, Problems):
        return lines
    content |= {"claims": _flat_claims(content.get("claims", {})), "methods": lines}
    try:
        form = msgspec.convert({name: {} if part is None else part for name, part in content.items()}, Questionnaire)
    except msgspec.ValidationError as error:
        return _unfit_value(source, str(error))
    form = Questionnaire(form.claims, {name: line for name, line in form.methods.items() if line != Applied()}, form.declared)
    return _wrong_attributes(source, form) or _wrong_method(source, form, rulebook) or Read(form, read.notices)


# -- words of the text -------------------------------------------------------------------------------------------------


def _key(words: str) -> str:
    """A key without case, blanks and signs: the text writes "k-Anonymity" and "δ-Presence"."""
    return re.sub(r"[\W_]", "", words.casefold().replace("ε", "epsilon").replace("ϵ", "epsilon").replace("δ", "delta"))


_PARTS = {
    **dict.fromkeys(("claims", "privacymeasures"), "claims"),
    **dict.fromkeys(("methods", "anonymizationmethods"), "methods"),
    **dict.fromkeys(("declared", "declaredmethod"), "declared"),
}
_METHOD_OF = {_key(method): method for method in METHODS} | {"toporbottomcoding": "Top (Bottom) Coding"}
_CLAIM_OF = {_key(name): name for name in Claims.__struct_fields__}
_CLAIMS_OF_LINE = {
    "differentialprivacy": {"epsilon": "epsilon", "delta": "delta"},
    "kanonymity": {"k": "k"},
    "pkanonymity": {"k": "Pk"},
    "deltapresence": {"delta": "delta_presence"},
}


def _flat_claims(content: object) -> object:
    """Privacy measures by the names of :class:`Claims`, whether by these or by the lines of the text; the rest as it is."""
    if not isinstance(content, dict):
        return content
    given: dict[str, Any] = content
    flat: dict[str, Any] = {}
    for name, value in given.items():
        line = _CLAIMS_OF_LINE.get(_key(name), {})
        if line and isinstance(value, dict):
            flat |= {line.get(_key(inner), f"{name}: {inner}"): number for inner, number in value.items()}
        elif len(line) == 1:
            flat |= dict.fromkeys(line.values(), value)
        else:
            flat[_CLAIM_OF.get(_key(name), name)] = value
    if flat.get("others") is None:
        flat.pop("others", None)
    if flat.get("epsilon") == "inf":
        flat["epsilon"] = math.inf
    return flat


def _method_lines(source: Source, content: object) -> object | Problems:
    """The lower half by the names of ``METHODS``; a bare text is a remark, and null a line left blank."""
    if not isinstance(content, dict):
        return content
    lines: dict[str, Any] = {}
    for name, line in content.items():
        method = _METHOD_OF.get(_key(name))
        if method is None:
            return refused("amic2020.unknown_method", source.name, value=name, methods=METHODS)
        if method in lines:
            return refused("amic2020.method_twice", source.name, value=name, method=method)
        lines[method] = {"remark": line} if isinstance(line, str) else {} if line is None else line
    return lines


# -- what does not fit -------------------------------------------------------------------------------------------------


def _unfit_value(source: Source, error: str) -> Problems:
    """msgspec says "Expected ... - at `$.claims.delta`"; people are told the place first."""
    reason, _, path = error.partition(" - at `$")
    place = path.strip("`.").replace(".", ", ") or "questionnaire"
    return refused("amic2020.form_value", source.name, column=place, reason=reason)


def _wrong_attributes(source: Source, form: Questionnaire) -> Problems | None:
    for method in sorted(NUMBERS_ONLY & form.methods.keys()):
        wrong = sorted(set(form.methods[method].attributes) - NUMBER_ATTRIBUTES)
        if wrong:
            return refused("amic2020.numbers_only", source.name, column=method, value=str(wrong[0]))
    return None


def _wrong_method(source: Source, form: Questionnaire, rulebook: type[AnyRulebook]) -> Problems | None:
    """A declared method that does not exist, or that does not fit this contest's tables with these parameters."""
    try:
        method = form.method()
    except KakurenboError as error:
        return refused("amic2020.declared", source.name, value=form.declared, reason=str(error))
    reason = misfit(rulebook, method) if method is not None else ""
    if not reason:
        return None
    return refused("amic2020.declared", source.name, value=form.declared, reason=f"{registry.name_of(form.declared)} {reason}")


def form_bytes(form: Questionnaire, team: str, computed: Mapping[str, Any]) -> bytes:
    """The form as attackers get it, with what the software computed itself."""
    return json_bytes({"team": team, **form.as_json(), "computed": dict(computed)})
