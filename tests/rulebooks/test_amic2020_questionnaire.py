"""The questionnaire of amic2020: every line of the text's form, and what is told where a claim is not borne out."""

from __future__ import annotations

import json
import math

import pytest
from tests.reading import attempt

from kakurenbo.core import Problems, Source, Table
from kakurenbo.data.adult import SCHEMA
from kakurenbo.rulebooks.amic2020 import Amic2020, Questionnaire
from kakurenbo.rulebooks.amic2020.claims import computed_claims, exaggerated, exaggerated_presence
from kakurenbo.rulebooks.amic2020.questionnaire import (
    METHODS,
    blank_form,
    form_bytes,
    read_questionnaire,
)

ADA = (
    39,
    "Private",
    "Bachelors",
    "Never-married",
    "Adm-clerical",
    "Not-in-family",
    "Male",
    40,
    "<=50K",
)
BOB = (50, "State-gov", "HS-grad", "Divorced", "Sales", "Unmarried", "Female", 20, ">50K")
CEM = (28, "Local-gov", "Masters", "Divorced", "Sales", "Wife", "Female", 60, ">50K")
FILE = "questionnaire_01.json"


def table(*rows: tuple[object, ...]) -> Table:
    return Table.from_rows(SCHEMA, rows)


def read(content: object, *, published: bool = False) -> Questionnaire:
    found = attempt(
        read_questionnaire,
        Source(FILE, json.dumps(content).encode()),
        Amic2020,
        published=published,
    )
    assert not isinstance(found, Problems), found
    return found.value


def refused(content: object) -> Problems:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    found = attempt(read_questionnaire, Source(FILE, data), Amic2020)
    assert isinstance(found, Problems)
    return found


def test_the_blank_form_has_every_line_of_the_text() -> None:
    form = json.loads(blank_form())
    assert list(form["claims"]) == ["epsilon", "delta", "k", "Pk", "delta_presence", "others"]
    assert form["claims"]["others"] == {"name": "", "value": None}
    assert list(form["methods"]) == [
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
    ]
    assert form["methods"]["Record Deletion"] == {"records": None}
    assert form["methods"]["Noise Addition"] == {"attributes": [], "records": None}
    assert form["methods"]["Others"] == {"name": "", "attributes": [], "records": None}


def test_a_form_left_blank_says_nothing() -> None:
    assert read(json.loads(blank_form())) == Questionnaire()


def test_every_line_can_be_filled_in() -> None:
    form = read(
        {
            "claims": {
                "epsilon": 4.1,
                "delta": 0.001,
                "k": 2,
                "Pk": 1.5,
                "delta_presence": 0.3,
                "others": {"name": "t-closeness", "value": 0.2},
            },
            "methods": {
                "Record Deletion": {"records": 500},
                "Top (Bottom) Coding": {"attributes": [1, 8], "records": 120},
                "Others": {"name": "sorting", "attributes": [2], "records": 9},
            },
            "declared": "rr:p=0.9",
        }
    )
    assert form.claims.others.name == "t-closeness"
    assert form.claims.others.value == 0.2
    assert form.methods["Top (Bottom) Coding"].attributes == (1, 8)
    assert form.methods["Others"].name == "sorting"
    assert form.as_json()["claims"] == {
        "epsilon": 4.1,
        "delta": 0.001,
        "k": 2,
        "Pk": 1.5,
        "delta_presence": 0.3,
        "others": {"name": "t-closeness", "value": 0.2},
    }
    assert form.as_json()["methods"]["Record Deletion"] == {"records": 500}


def test_the_texts_own_words_are_keys_in_any_case() -> None:
    by_text = read(
        {
            "Privacy Measures": {
                "Differential Privacy": {"ε": 3, "δ": 0.5},
                "k-Anonymity": {"k": 2},
                "PK-anonymity": 3,
                "δ-Presence": {"δ": 0.25},
                "Others": {"name": "l-diversity", "value": "2"},
            },
            "ANONYMIZATION METHODS": {name.upper(): {"records": 7} for name in METHODS},
        }
    )
    by_names = read(
        {
            "claims": {
                "epsilon": 3,
                "delta": 0.5,
                "k": 2,
                "pk": 3,
                "delta_presence": 0.25,
                "others": {"name": "l-diversity", "value": "2"},
            },
            "methods": {name.lower(): {"records": 7} for name in METHODS},
        }
    )
    assert by_text == by_names
    assert set(by_text.methods) == set(METHODS)


def test_an_infinite_epsilon_is_the_text_inf() -> None:
    form = read({"claims": {"epsilon": "inf"}})
    assert form.claims.epsilon == math.inf
    assert json.loads(form_bytes(form, "01", {}))["claims"] == {"epsilon": "inf"}


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"claims": {"delta": 7}}, "claims, delta"),
        ({"claims": {"delta": -0.1}}, "claims, delta"),
        ({"claims": {"delta_presence": 1.5}}, "claims, delta_presence"),
        ({"claims": {"epsilon": -1}}, "claims, epsilon"),
        ({"claims": {"epsilon": True}}, "claims, epsilon"),
        ({"claims": {"k": 0}}, "claims, k"),
        ({"claims": {"k": "many"}}, "claims, k"),
        ({"claims": {"k": 1.5}}, "claims, k"),
        ({"claims": {"luck": 7}}, "claims"),
        ({"claims": {"Differential Privacy": {"luck": 7}}}, "claims"),
        ({"claims": [1]}, "claims"),
        ({"methods": [1]}, "methods"),
        ({"methods": {"Noise Addition": {"attributes": [0], "records": 1}}}, "methods"),
        ({"methods": {"Noise Addition": {"attributes": [10]}}}, "methods"),
        ({"methods": {"Noise Addition": {"attributes": ["age"]}}}, "methods"),
        ({"methods": {"Noise Addition": {"records": -1}}}, "methods"),
        ({"methods": {"Noise Addition": {"records": "half"}}}, "methods"),
        ({"methods": {"Noise Addition": {"strength": 3}}}, "methods"),
        ({"methods": {"Noise Addition": 7}}, "methods"),
        ({"declared": 3}, "declared"),
        ({"computed": {"k": 9}}, "questionnaire"),
        ({"spare": 1}, "questionnaire"),
    ],
)
def test_what_does_not_fit_the_form_is_refused_with_its_place(content: object, place: str) -> None:
    found = refused(content)[0]
    assert found.code in ("amic2020.form_value", "amic2020.form_json", "amic2020.form_line")
    assert (found.column or "").startswith(place)
    assert found.severity.value != "malformed", "it is JSON, but against the rules"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", "json.syntax"),
        (b'{"claims": {"k": NaN}}', "json.not_finite"),
        (b"[1]", "amic2020.form_not_an_object"),
        ({"methods": {"magic": {"records": 1}}}, "amic2020.unknown_method"),
        (
            {"methods": {"Noise Addition": {"records": 1}, "NOISE ADDITION": {"records": 2}}},
            "amic2020.method_twice",
        ),
        ({"claims": {"k": 1, "K": 2, "k-Anonymity": 3}}, "amic2020.line_twice"),
        (
            {"claims": {"delta": 0, "Differential Privacy": {"delta": 0.1}}},
            "amic2020.line_twice",
        ),
        ({"claims": {"k": 1}, "Privacy Measures": {"k": 2}}, "amic2020.line_twice"),
        (b" ", "document.empty"),
        ({"methods": {"Top (Bottom) Coding": {"attributes": [1, 2]}}}, "amic2020.numbers_only"),
        ({"methods": {"Microaggregation": {"attributes": [9]}}}, "amic2020.numbers_only"),
    ],
)
def test_other_things_that_are_no_questionnaire(content: object, code: str) -> None:
    assert refused(content)[0].code == code


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"claims": {"k": True}}, "the JSON value true does not fit the form"),
        ({"declared": ["rr:p=0.9"]}, 'the JSON value ["rr:p=0.9"] does not fit the form'),
        ({"claims": {"k": "true"}}, '"true" does not fit the form'),
    ],
)
def test_a_value_of_another_kind_does_not_look_like_a_text(content: object, message: str) -> None:
    assert message in str(refused(content)[0])


def test_every_wrong_attribute_of_a_line_is_named_whatever_is_wrong_with_it() -> None:
    found = refused({"methods": {"Top (Bottom) Coding": {"attributes": [1, 2, 12]}}})
    assert [(problem.code, problem.value) for problem in found] == [
        ("amic2020.form_value", "12"),
        ("amic2020.numbers_only", "2"),
    ]


def test_true_is_no_attribute_although_it_equals_1() -> None:
    found = refused({"methods": {"Noise Addition": {"attributes": [1, True]}}})
    assert [(problem.code, problem.value) for problem in found] == [("amic2020.form_json", "true")]


@pytest.mark.parametrize(
    ("declared", "word"),
    [
        ("rr:p=7", "must be a number from 0 to 1"),
        ("rr:columns=foo", "no column 'foo'"),
        ("pipeline:steps=rr:columns=foo", "no column 'foo'"),
        ("shuffle_columns", "no anonymizer is called"),
        ("monthly_pseudonyms", "does not play amic2020"),
        ("olh", "does not play amic2020"),
        ("rr:=,=,", "must be"),
    ],
)
def test_a_declared_method_must_fit_this_contest_with_its_parameters(
    declared: str, word: str
) -> None:
    found = refused({"declared": declared})[0]
    assert found.code == "amic2020.declared"
    assert word in str(found)


def test_k_epsilon_and_delta_presence_are_computed() -> None:
    population = table(ADA, BOB, CEM)
    computed = computed_claims(
        read({"declared": "rr:p=0.5"}), table(ADA, ADA, BOB, BOB), population
    )
    assert computed["k"] == 2
    assert computed["delta_presence"] == [0.0, 1.0], "CEM is surely not in it, ADA surely is"
    # sum over the nine attributes of ln((.5 + .5/d) / (.5/d)) = ln(d + 1)
    sizes = (74, 8, 16, 7, 14, 6, 2, 99, 2)
    assert computed["epsilon"] == pytest.approx(sum(math.log(size + 1) for size in sizes))
    assert "epsilon" not in computed_claims(Questionnaire(), table(ADA), population)
    assert computed_claims(read({"declared": "rr:p=1"}), table(ADA), population)["epsilon"] == "inf"


def test_pk_is_computed_of_a_declared_method_and_l_and_t_of_the_incomes() -> None:
    release = table(ADA, ADA, BOB, BOB)
    computed = computed_claims(read({"declared": "rr:p=0"}), release, table(ADA, BOB, CEM))
    assert computed["Pk"] == pytest.approx(4), "nothing is kept: each of four rows may be anybody's"
    assert (computed["l"], computed["l_entropy"], computed["t"]) == (1, 1, 0.5)
    keeping = computed_claims(read({"declared": "rr:p=1"}), release, table(ADA, BOB, CEM))
    assert keeping["Pk"] == 2, "equal rows hide each other, whatever made them"
    assert "Pk" not in computed_claims(Questionnaire(), release, table(ADA, BOB, CEM))


def test_a_claimed_pk_above_that_of_the_declared_method_gets_a_notice() -> None:
    # Sizes 74, 8, 16, 7, 14, 6, 2, 99, 2 and p = 0.1: 1 + 3 times the product of (.9 / (1 + .1 (d - 1)))^2 is 1.00000...
    release = table(ADA, BOB, CEM, ADA)
    for declared, claimed, told in (
        ("rr:p=0.1", 1.0, 0),
        ("rr:p=0.1", 1.5, 1),
        ("rr:p=0", 4, 0),
        ("rr:p=0", 5, 1),
        ("", 9, 0),
    ):
        form = read({"declared": declared, "claims": {"Pk": claimed}})
        found = exaggerated(form, release, release, FILE)
        assert [notice.code for notice in found] == ["amic2020.claimed_Pk"] * told


@pytest.mark.parametrize(
    ("claims", "codes"),
    [
        ({"k": 2}, []),
        ({"k": 3}, ["amic2020.claimed_k"]),
        ({"epsilon": 22.8}, []),  # 22.884, and people round
        ({"epsilon": 22.0}, ["amic2020.claimed_epsilon"]),
        ({"epsilon": 99}, []),
        ({"epsilon": 22.0, "delta": 0.1}, []),
        ({"k": 3, "epsilon": 1}, ["amic2020.claimed_k", "amic2020.claimed_epsilon"]),
    ],
)
def test_a_claim_that_the_release_does_not_bear_out_gets_a_notice(
    claims: dict[str, float], codes: list[str]
) -> None:
    form = read({"claims": claims, "declared": "rr:p=0.5"})
    release = table(ADA, ADA, BOB, BOB)
    assert form.mechanism(release) is not None
    found = exaggerated(form, table(ADA, BOB), release, FILE)
    assert [notice.code for notice in found] == codes
    assert all(notice.severity.value == "notice" for notice in found)


def test_the_epsilon_of_a_method_that_looks_at_data_is_doubted_only_where_sample_and_release_agree_that_it_is_wrong() -> (
    None
):
    sample, release = table(ADA, BOB, BOB, BOB), table(ADA, BOB)
    form = read({"declared": "rrp:p=0.5"})
    in_sample, in_release = (form.mechanism(one).epsilon(SCHEMA.names) for one in (sample, release))  # type: ignore[union-attr]
    # The rarest value has a share of 1/4 in the sample, so (.5 + .125) / .125 = 5; and 1/2 in the release: 3; in nine columns.
    assert in_sample == pytest.approx(9 * math.log(5))
    assert in_release == pytest.approx(9 * math.log(3))
    for claimed, told in ((14.4, 0), (10.0, 0), (9.0, 1)):
        form = read({"declared": "rrp:p=0.5", "claims": {"epsilon": claimed}})
        assert len(exaggerated(form, sample, release, FILE)) == told


def test_a_claimed_delta_presence_below_the_computed_one_gets_a_notice() -> None:
    population, release = table(ADA, BOB, CEM), table(ADA)
    for claimed, told in ((0.5, 1), (1.0, 0)):
        form = read({"claims": {"delta_presence": claimed}})
        assert len(exaggerated_presence(form, release, population, FILE)) == told
    assert exaggerated_presence(Questionnaire(), release, population, FILE) == ()


def test_the_published_form_is_read_back() -> None:
    form = read(
        {"claims": {"epsilon": 3}, "methods": {"Noise Addition": "all"}, "declared": "rr:p=0.5"}
    )
    published = json.loads(form_bytes(form, "07", {"k": 1}))
    assert published == {
        "team": "07",
        "claims": {"epsilon": 3.0},
        "methods": {"Noise Addition": {"remark": "all"}},
        "declared": "rr:p=0.5",
        "computed": {"k": 1},
    }
    assert read(published, published=True) == form


def test_every_sentence_is_there_in_english_and_japanese() -> None:
    found = refused({"methods": {"magic": {}}})[0]
    assert "is not a method of the form" in found.in_language("en")
    assert "用紙にある加工手法ではありません" in found.in_language("ja")
