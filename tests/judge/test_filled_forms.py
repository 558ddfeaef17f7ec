"""A blank file of the handout becomes a form, and what is filled in becomes the file again."""

from __future__ import annotations

import json

from kakurenbo.core import Source
from kakurenbo.judge.pages.filled_forms import BlankFile, FilledForm
from kakurenbo.rulebooks.amic2020 import Amic2020
from kakurenbo.rulebooks.amic2020.questionnaire import blank_form, read_questionnaire

BLANK = BlankFile("questionnaire_01.json", json.loads(blank_form()))


def test_every_line_of_a_blank_file_is_a_field_in_its_section() -> None:
    sections = dict(FilledForm(BLANK).sections())
    assert [field.label for field in sections["claims"]] == [
        "epsilon",
        "delta",
        "k",
        "Pk",
        "delta presence",
    ]
    assert "methods · Record Deletion" in sections


def test_what_is_left_blank_stays_as_it_was() -> None:
    form = FilledForm(BLANK, {})
    assert form.is_valid()
    assert json.loads(form.file_bytes()) == BLANK.content


def test_what_is_filled_in_is_a_file_that_the_rulebook_reads() -> None:
    given = {
        "claims.epsilon": "1.5",
        "claims.k": "3",
        "methods.Noise Addition.attributes": "1, 8",
        "declared": "rr:p=0.9",
    }
    form = FilledForm(BLANK, given)
    assert form.is_valid()
    read = read_questionnaire(Source(BLANK.name, form.file_bytes()), Amic2020)
    assert read.claims.epsilon == 1.5
    assert read.claims.k == 3
    assert read.methods["Noise Addition"].attributes == (1, 8)
    assert read.declared == "rr:p=0.9"
