"""The questionnaire of the text: what a team says of its method. Attackers get it with the release.

A team fills in the blank form of its folder, in JSON. The text's own words are keys, in any case: "Record Deletion",
"k-Anonymity". Every line is optional.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from kakurenbo.contest import Anonymizer, AnyRulebook, Mechanism, misfit
from kakurenbo.core import InputError, ProblemCollector, Source, Table, json_bytes, read_json
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import Message
from kakurenbo.methods import registry

MAX_BYTES = 20_000
Part = TypeVar("Part", bound=msgspec.Struct)

OTHERS = "Others"
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
    OTHERS,
)
"""The nine methods of the form, and "Others"."""
WHOLE_RECORDS = {"Record Deletion", "Partial Records Extraction", "Dummy Record Addition"}
"""Methods of whole records: the form asks for no attributes."""
NUMBERS_ONLY = {"Top (Bottom) Coding", "Microaggregation"}
"""Methods for which the form takes the attributes 1 (age) and 8 (hours-per-week) alone."""
NUMBER_ATTRIBUTES = (1, 8)
ATTRIBUTES = range(1, 10)

Words = Annotated[str, Meta(max_length=500)]
Probability = Annotated[float, Meta(ge=0, le=1)]


class FormPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Part of the form; lines that are left blank are not written."""


class OtherMeasure(FormPart, frozen=True):
    """Privacy measure that the form does not name, and its value."""

    name: Words = ""
    value: float | Words | None = None


class Claims(FormPart, frozen=True):
    """Upper half of the form: privacy measures."""

    epsilon: Annotated[float, Meta(ge=0)] | None = None
    delta: Probability | None = None
    k: Annotated[int, Meta(ge=1)] | None = None
    Pk: Annotated[float, Meta(ge=1)] | None = None
    delta_presence: Probability | None = None
    others: OtherMeasure = OtherMeasure()


class Applied(FormPart, frozen=True):
    """Line of the lower half: to which attributes (1 to 9) and to roughly how many records a method was applied."""

    name: Words = ""
    attributes: Annotated[tuple[Annotated[int, Meta(ge=1, le=9)], ...], Meta(max_length=9)] = ()
    records: Annotated[int, Meta(ge=0)] | None = None
    remark: Words = ""


class Questionnaire(msgspec.Struct, frozen=True):
    """Answers of a team.

    Attributes
    ----------
    claims : Claims
    methods : mapping of method to Applied
        Keys are of ``METHODS``; blank lines are left out.
    declared : str
        A method of this software with parameters, ``rr:p=0.9``, whose mechanism attackers may use. Empty for none.
    """

    claims: Claims = Claims()
    methods: dict[str, Applied] = msgspec.field(default_factory=dict)
    declared: Words = ""

    def method(self) -> Anonymizer | None:
        """Return the declared method."""
        return registry.build("anonymizers", self.declared) if self.declared else None

    def mechanism(self, table: Table) -> Mechanism | None:
        """Return the mechanism of the declared method, with ``table`` in place of the original where it looks at data."""
        method = self.method()
        return None if method is None else method.mechanism(table)

    def as_json(self) -> dict[str, Any]:
        """Return what was filled in."""
        content: dict[str, Any] = msgspec.to_builtins(self)
        if self.claims.epsilon == math.inf:
            content["claims"]["epsilon"] = "inf"
        return content


def blank_form() -> bytes:
    """Return the form of a team's folder: every line of the text, empty."""
    others = {"name": "", "value": None}
    methods: dict[str, dict[str, Any]] = {}
    for method in METHODS:
        line = methods[method] = {"name": ""} if method == OTHERS else {}
        if method not in WHOLE_RECORDS:
            line["attributes"] = []
        line["records"] = None
    claims = {**dict.fromkeys(Claims.__struct_fields__), "others": others}
    return json_bytes({"claims": claims, "methods": methods, "declared": ""})


def form_bytes(form: Questionnaire, team: str, computed: Mapping[str, Any]) -> bytes:
    """Return the form as attackers get it, with what the software computed itself."""
    return json_bytes({"team": team, **form.as_json(), "computed": dict(computed)})


def read_questionnaire(
    source: Source, rulebook: type[AnyRulebook], *, published: bool = False
) -> Questionnaire:
    """Read a filled-in form.

    Parameters
    ----------
    source : Source
    rulebook : type of Rulebook
        The contest whose tables a declared method must fit.
    published : bool
        Whether ``publish`` wrote it, with the team and what was computed.
    """
    content = read_json(source, MAX_BYTES)
    if not isinstance(content, dict):
        raise InputError.of("amic2020.form_not_an_object", source.name)
    reader = _FormReader(source.name)
    if not published:
        reader.check_signs(content)
    written = {name: value for name, value in content.items() if value is not None}
    parts = reader.lines("questionnaire", written, _PARTS)
    if published:
        parts = {name: value for name, value in parts.items() if name not in ("team", "computed")}
    claims = reader.claims(parts.pop("claims", {}))
    methods = reader.methods(parts.pop("methods", {}))
    declared = reader.fill(Questionnaire, "questionnaire", parts).declared
    form = Questionnaire(claims, methods, declared)
    reader.check_declared(form, rulebook)
    reader.problems.check()
    return form


# -- lines by the words of the text ----------------------------------------------------------------


def _key(words: str) -> str:
    """Return a key without case, blanks and signs: the text writes "k-Anonymity" and "δ-Presence"."""
    for letter, name in (("ε", "epsilon"), ("ϵ", "epsilon"), ("δ", "delta")):
        words = words.casefold().replace(letter, name)
    return re.sub(r"[\W_]", "", words)


_PARTS = {
    "claims": "claims",
    "privacymeasures": "claims",
    "methods": "methods",
    "anonymizationmethods": "methods",
    "declared": "declared",
    "declaredmethod": "declared",
}
_METHODS = {_key(method): method for method in METHODS} | {
    "toporbottomcoding": "Top (Bottom) Coding"
}
_CLAIMS = {_key(name): name for name in Claims.__struct_fields__} | {
    "differentialprivacyepsilon": "epsilon",
    "differentialprivacydelta": "delta",
    "kanonymity": "k",
    "kanonymityk": "k",
    "pkanonymity": "Pk",
    "pkanonymityk": "Pk",
    "deltapresencedelta": "delta_presence",
}


_SIGNS = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
"""Characters that act on a terminal, hide, or turn the direction of what follows."""


class _FormReader:
    """Reads a form part by part and collects every problem."""

    def __init__(self, file: str) -> None:
        self.problems = ProblemCollector(file)

    def check_signs(self, content: object, *place: str) -> None:
        """Report every text within a form that has control characters."""
        if isinstance(content, str) and _SIGNS.search(content):
            self.problems.add("amic2020.form_signs", column=", ".join(place), value=content)
        elif isinstance(content, dict):
            for name, value in content.items():
                self.check_signs(value, *place, str(name))
        elif isinstance(content, list):
            for value in content:
                self.check_signs(value, *place)

    def lines(
        self, place: str, content: Mapping[str, Any], names: Mapping[str, str]
    ) -> dict[str, Any]:
        """Return the lines of a part under the form's names; unknown ones keep theirs."""
        lines: dict[str, Any] = {}
        for written, value in content.items():
            line = names.get(_key(written), written)
            if line in lines:
                self.problems.add("amic2020.line_twice", column=place, value=written, line=line)
            lines[line] = value
        return lines

    def claims(self, content: object) -> Claims:
        """Read the upper half, its numbers by their names or by the lines of the text, in quotes or not."""
        if not isinstance(content, dict):
            return self.fill(Claims, "claims", content)
        flat: dict[str, Any] = {}
        for name, value in content.items():
            is_line = isinstance(value, dict) and _key(name) != "others"
            flat |= {f"{name}: {part}": value[part] for part in value} if is_line else {name: value}
        claims = self.lines("claims", flat, _CLAIMS)
        others = claims.pop("others", None)
        claims = {name: _as_number(value) for name, value in claims.items()}
        if others is not None:
            claims["others"] = others
        if claims.get("epsilon") == "inf":
            claims["epsilon"] = math.inf
        return self.fill(Claims, "claims", claims)

    def methods(self, content: object) -> dict[str, Applied]:
        """Read the lower half; blank lines are left out."""
        if not isinstance(content, dict):
            self._refuse("methods", content)
            return {}
        methods: dict[str, Applied] = {}
        for name, line in content.items():
            method = _METHODS.get(_key(name))
            if method is None:
                self.problems.add("amic2020.unknown_method", value=name, methods=METHODS)
            elif method in methods:
                self.problems.add("amic2020.method_twice", value=name, method=method)
            else:
                methods[method] = self._applied(method, line)
        return {method: line for method, line in methods.items() if line != Applied()}

    def _applied(self, method: str, content: object) -> Applied:
        """Read a line of the lower half: an object, a bare text as a remark, or null for a blank line."""
        place = f"methods, {method}"
        if content is None or isinstance(content, str):
            return self.fill(Applied, place, {"remark": content or ""})
        if not isinstance(content, dict):
            return self.fill(Applied, place, content)
        line = {**content}
        if "records" in line:
            line["records"] = _as_count(line["records"])
        attributes = line.get("attributes")
        if not isinstance(attributes, list):
            return self.fill(Applied, place, line)
        fitting = []
        for number in map(_as_number, attributes):
            if type(number) is int and number in ATTRIBUTES:
                fitting.append(number)
            else:
                self._refuse(f"{place}, attributes", number)
        applied = self.fill(Applied, place, {**line, "attributes": fitting})
        if method in NUMBERS_ONLY:
            for number in sorted(set(fitting).difference(NUMBER_ATTRIBUTES)):
                self.problems.add("amic2020.numbers_only", column=method, value=str(number))
        return applied

    def fill(self, kind: type[Part], place: str, content: object) -> Part:
        """Convert an object field by field, so that every problem is reported."""
        if not isinstance(content, dict):
            self._refuse(place, content)
            return kind()
        values: dict[str, Any] = {}
        known = kind.__struct_fields__
        for name, value in content.items():
            if name not in known:
                self.problems.add("amic2020.form_line", column=place, value=name, known=known)
                continue
            try:
                values[name] = getattr(msgspec.convert({name: value}, kind), name)
            except msgspec.ValidationError:
                self._refuse(name if kind is Questionnaire else f"{place}, {name}", value)
        return kind(**values)

    def _refuse(self, column: str, value: object) -> None:
        """Report a value that a line does not take; what is neither text nor number is written as JSON."""
        is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        written = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        code = "amic2020.form_value" if is_plain else "amic2020.form_json"
        self.problems.add(code, column=column, value=written)

    def check_declared(self, form: Questionnaire, rulebook: type[AnyRulebook]) -> None:
        """Report a declared method that does not exist or does not fit this contest's tables."""
        try:
            method = form.method()
            if method is None or not (reason := misfit(rulebook, method)):
                return
            name = registry.name_of(form.declared)
            message = Message("error.method_misfit", {"method": name, "reason": reason})
        except KakurenboError as error:
            message = error.message
        self.problems.add("amic2020.declared", value=form.declared, reason=message)


# -- numbers as people write them ------------------------------------------------------------------


_NUMBER = re.compile(
    r"(\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(\.\d{1,15})?(e[-+]?\d{1,2})?", re.ASCII | re.IGNORECASE
)
_ROUGH_COUNT = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|ca\.?|~|≈|約|およそ|おおよそ)?\s*([\d,.]+)\s*"
    r"(?:records?|rows?|件|行|レコード)?\s*(?:ほど|程度|くらい|ぐらい)?",
    re.IGNORECASE,
)


def _as_number(value: object) -> object:
    """Return the number that a text such as "10" or "3,000" stands for; any other value as it is."""
    written = unicodedata.normalize("NFKC", value).strip() if isinstance(value, str) else ""
    if not _NUMBER.fullmatch(written):
        return value
    digits = written.replace(",", "")
    return int(digits) if digits.isdecimal() else float(digits)


def _as_count(value: object) -> object:
    """Return the whole number of a rough count such as "about 3,000" or "約3000"; any other value as it is."""
    written = str(value) if isinstance(value, str | float) else ""
    rough = _ROUGH_COUNT.fullmatch(unicodedata.normalize("NFKC", written).strip())
    number = _as_number(rough[1]) if rough else value
    is_whole = isinstance(number, int) or (isinstance(number, float) and number.is_integer())
    return int(number) if is_whole and not isinstance(number, bool) else value  # type: ignore[call-overload]
