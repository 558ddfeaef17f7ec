"""The questionnaire of the text, line by line: what a team says of its method. Attackers get it with the release.

A team fills in the blank form of its folder, in JSON. The text's own words are keys, in any case: "Record Deletion",
"k-Anonymity". Every line is optional.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from kakurenbo.contest import Anonymizer, AnyRulebook, Mechanism, json_number, misfit
from kakurenbo.core import InputError, ProblemCollector, Source, Table, json_bytes, read_json
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import Message
from kakurenbo.methods import registry

MAX_BYTES = 20_000
Part = TypeVar("Part", bound=msgspec.Struct)

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
WHOLE_RECORDS = frozenset(
    {"Record Deletion", "Partial Records Extraction", "Dummy Record Addition"}
)
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
        method: Anonymizer | None = (
            registry.build("anonymizers", self.declared) if self.declared else None
        )
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
        lines[method] = {
            **named,
            **({} if method in WHOLE_RECORDS else {"attributes": []}),
            "records": None,
        }
    return json_bytes(
        {
            "claims": {**claims, "others": {"name": "", "value": None}},
            "methods": lines,
            "declared": "",
        }
    )


def read_questionnaire(
    source: Source, rulebook: type[AnyRulebook], *, published: bool = False
) -> Questionnaire:
    """A filled-in form.

    Parameters
    ----------
    source : Source
    rulebook : type of Rulebook
        The contest whose tables a declared method must fit.
    published : bool
        Whether it is one that ``publish`` wrote, which also holds the team and what was computed.
    """
    form = read_json(source, MAX_BYTES)
    if not isinstance(form, dict):
        raise InputError.of("amic2020.form_not_an_object", source.name)
    problems = ProblemCollector(source.name)
    if not published:
        for place, words in _texts(form):
            if _SIGNS.search(words):
                problems.add("amic2020.form_signs", column=", ".join(place), value=words)
    content: dict[str, Any] = {}
    for name, value in form.items():
        if value is not None:
            part = _PARTS.get(_key(name), str(name))
            _put_once(problems, "questionnaire", content, part, name, value)
    if published:
        content = {
            name: value for name, value in content.items() if name not in ("team", "computed")
        }
    claims = _convert_claims(problems, content.pop("claims", {}))
    methods = _convert_methods(problems, content.pop("methods", {}))
    rest = _convert(problems, "", content, Questionnaire)
    _check_declared(problems, rest, rulebook)
    problems.check()
    return Questionnaire(claims, methods, rest.declared)


_SIGNS = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
)
"""Signs that act on a terminal, hide, or turn the direction of what follows."""


def _texts(content: object, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Give every text within a form with the names of its lines."""
    if isinstance(content, str):
        yield place, content
    elif isinstance(content, dict):
        for name, value in content.items():
            yield from _texts(value, (*place, str(name)))
    elif isinstance(content, list):
        for value in content:
            yield from _texts(value, place)


# -- words of the text -------------------------------------------------------------------------------------------------


def _key(words: str) -> str:
    """A key without case, blanks and signs: the text writes "k-Anonymity" and "δ-Presence"."""
    return re.sub(
        r"[\W_]",
        "",
        words.casefold().replace("ε", "epsilon").replace("ϵ", "epsilon").replace("δ", "delta"),
    )


_PARTS = {
    "claims": "claims",
    "privacymeasures": "claims",
    "methods": "methods",
    "anonymizationmethods": "methods",
    "declared": "declared",
    "declaredmethod": "declared",
}
_METHOD_OF = {_key(method): method for method in METHODS} | {
    "toporbottomcoding": "Top (Bottom) Coding"
}
_CLAIM_OF = {_key(name): name for name in Claims.__struct_fields__}
_CLAIMS_OF_LINE = {
    "differentialprivacy": {"epsilon": "epsilon", "delta": "delta"},
    "kanonymity": {"k": "k"},
    "pkanonymity": {"k": "Pk"},
    "deltapresence": {"delta": "delta_presence"},
}


def _put_once(
    problems: ProblemCollector,
    place: str,
    content: dict[str, Any],
    line: str,
    written: str,
    value: object,
) -> None:
    """Enter the value of a line; report it where the form gives that line by another spelling before."""
    if line in content:
        problems.add("amic2020.line_twice", column=place, value=written, line=line)
    content[line] = value


def _flat_claims(problems: ProblemCollector, content: object) -> object:
    """Privacy measures by the names of :class:`Claims`, whether by these or by the lines of the text; the rest as it is."""
    if not isinstance(content, dict):
        return content
    given: dict[str, Any] = content
    flat: dict[str, Any] = {}
    for name, value in given.items():
        line = _CLAIMS_OF_LINE.get(_key(name), {})
        if line and isinstance(value, dict):
            for inner, number in value.items():
                claim = line.get(_key(inner), f"{name}: {inner}")
                _put_once(problems, "claims", flat, claim, f"{name}: {inner}", number)
        elif len(line) == 1:
            _put_once(problems, "claims", flat, next(iter(line.values())), name, value)
        else:
            _put_once(problems, "claims", flat, _CLAIM_OF.get(_key(name), name), name, value)
    if flat.get("others") is None:
        flat.pop("others", None)
    if flat.get("epsilon") == "inf":
        flat["epsilon"] = math.inf
    return flat


# -- numbers as people write them ------------------------------------------------------------------


_NUMBER = re.compile(
    r"(\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(\.\d{1,15})?(e[-+]?\d{1,2})?", re.ASCII | re.IGNORECASE
)
_ROUGHLY = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|ca\.?|~|≈|約|およそ|おおよそ)?\s*(?P<number>[\d,.]+)\s*"
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
    """Return the number of a rough count such as "about 3,000" or "約3000"; any other value as it is."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    written = unicodedata.normalize("NFKC", value).strip() if isinstance(value, str) else ""
    rough = _ROUGHLY.fullmatch(written)
    number = _as_number(rough["number"]) if rough else value
    return number if isinstance(number, int) else value


# -- parts of the form, each problem reported ------------------------------------------------------


def _convert(problems: ProblemCollector, place: str, content: object, kind: type[Part]) -> Part:
    """Convert an object field by field, so that every problem is reported."""
    if not isinstance(content, dict):
        _add_unfit(problems, place or "questionnaire", content)
        return kind()
    values: dict[str, Any] = {}
    for name, value in content.items():
        column = ", ".join(filter(None, (place, name)))
        if name not in kind.__struct_fields__:
            problems.add(
                "amic2020.form_line",
                column=place or "questionnaire",
                value=name,
                known=kind.__struct_fields__,
            )
            continue
        if _fits(kind, name, value):
            values[name] = getattr(msgspec.convert({name: value}, kind), name)
            continue
        elements = value if isinstance(value, list) and _fits(kind, name, []) else []
        for wrong in [element for element in elements if not _fits(kind, name, [element])] or [
            value
        ]:
            _add_unfit(problems, column, wrong)
    return kind(**values)


def _add_unfit(problems: ProblemCollector, column: str, value: object) -> None:
    """Report a value that a line does not take; what is neither text nor number is named as JSON."""
    is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
    written = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    code = "amic2020.form_value" if is_plain else "amic2020.form_json"
    problems.add(code, column=column, value=written)


def _fits(kind: type[msgspec.Struct], name: str, value: object) -> bool:
    try:
        msgspec.convert({name: value}, kind)
    except msgspec.ValidationError:
        return False
    return True


def _convert_claims(problems: ProblemCollector, content: object) -> Claims:
    claims = _flat_claims(problems, content)
    if isinstance(claims, dict):
        claims = {
            name: value if name == "others" else _as_number(value) for name, value in claims.items()
        }
    return _convert(problems, "claims", claims, Claims)


def _convert_methods(problems: ProblemCollector, content: object) -> dict[str, Applied]:
    """Convert the lower half; a bare text is a remark, null a blank line, and blank lines are left out."""
    if not isinstance(content, dict):
        _convert(problems, "", {"methods": content}, Questionnaire)
        return {}
    lines: dict[str, Applied] = {}
    for name, line in content.items():
        method = _METHOD_OF.get(_key(name))
        if method is None:
            problems.add("amic2020.unknown_method", value=name, methods=METHODS)
        elif method in lines:
            problems.add("amic2020.method_twice", value=name, method=method)
        else:
            lines[method] = _convert(problems, f"methods, {method}", _line(line), Applied)
            wrong = (
                _attributes_that_fit(line) - NUMBER_ATTRIBUTES if method in NUMBERS_ONLY else set()
            )
            for attribute in sorted(wrong):
                problems.add("amic2020.numbers_only", column=method, value=str(attribute))
    return {method: line for method, line in lines.items() if line != Applied()}


def _attributes_that_fit(line: object) -> set[int]:
    """Return the numbers from 1 to 9 of a line, also where it has others that are no attributes."""
    content = _line(line)
    listed = content.get("attributes") if isinstance(content, dict) else None
    elements = listed if isinstance(listed, list) else []
    return {element for element in elements if _fits(Applied, "attributes", [element])}


def _line(content: object) -> object:
    """Return a line of the lower half as an object with numbers, where it is one."""
    if isinstance(content, str):
        return {"remark": content}
    if not isinstance(content, dict):
        return {} if content is None else content
    line: dict[str, Any] = dict(content)
    if "records" in line:
        line["records"] = _as_count(line["records"])
    if isinstance(line.get("attributes"), list):
        line["attributes"] = [_as_number(number) for number in line["attributes"]]
    return line


def _check_declared(
    problems: ProblemCollector, form: Questionnaire, rulebook: type[AnyRulebook]
) -> None:
    """Report a declared method that does not exist, or that does not fit this contest's tables with these parameters."""
    try:
        method = form.method()
        misfits = misfit(rulebook, method) if method is not None else ""
        name = registry.name_of(form.declared)
        reason = Message("error.method_misfit", {"method": name, "reason": misfits})
    except KakurenboError as error:
        misfits, reason = error.message, error.message
    if misfits:
        problems.add("amic2020.declared", value=form.declared, reason=reason)


def form_bytes(form: Questionnaire, team: str, computed: Mapping[str, Any]) -> bytes:
    """The form as attackers get it, with what the software computed itself."""
    return json_bytes({"team": team, **form.as_json(), "computed": dict(computed)})
