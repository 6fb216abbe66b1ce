"""The published schemas are those of the models that documents are written from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, NotRequired, TypedDict

import jsonschema
import pytest
from document_schemas import SCHEMAS, fields, schema, validate, written
from schema_documents import DOCUMENTS
from schema_generation import document_schema, schema_of, text

from mmaproof.reports.legality_answer import LegalityAnswer, no_instruction
from mmaproof.spec.instruction_set import Judgement
from mmaproof.spec.json_fields import Keyword, Natural, Some
from mmaproof.spec.legality import Note, NoteKind

COMMAND = "PYTHONPATH=. python tests/schema_generation.py"


def test_there_is_a_schema_of_every_document() -> None:
    assert {path.name for path in SCHEMAS.iterdir()} == {f"{name}.schema.json" for name in DOCUMENTS}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_published_schema_is_the_generated_one(name: str) -> None:
    published = (SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8")
    assert published == text(DOCUMENTS[name]), f"written anew by: {COMMAND}"


def test_an_answer_of_legal_writes_every_field_that_its_schema_names() -> None:
    notes = (Note(NoteKind.SCOPE, "judged"), Note(NoteKind.NOT_JUDGED, "not known"))
    answers = [LegalityAnswer("x", Judgement("sm_80", (), notes)), no_instruction("y", None, "no")]
    for answer in answers:
        validate("legal", answer.document())
    found = {field for answer in answers for field in written(answer.document())}
    assert found == set(fields(schema("legal")))


class Word(Enum):
    ONE = "one"
    TWO = "two"


@dataclass
class Part:
    """A part.

    Attributes
    ----------
    count : int
        How many.
    """

    count: Natural


class Whole(TypedDict):
    """A whole.

    Attributes
    ----------
    parts : list of Part
        Its parts.
    word : Word or None
        A word.
    note : str
        A remark.
    """

    parts: Some[Part]
    word: Word | None
    note: NotRequired[Annotated[str, Keyword("maxLength", 3)]]


GOOD = {"parts": [{"count": 0}], "word": None}


@pytest.mark.parametrize("change", [{}, {"word": "two"}, {"note": "abc"}])
def test_what_a_model_can_be_fits_its_schema(change: dict[str, Any]) -> None:
    jsonschema.validate({**GOOD, **change}, document_schema(Whole, closed=True))


@pytest.mark.parametrize(
    "change",
    [
        {"word": "three"},
        {"word": 1},
        {"note": None},
        {"note": "long"},
        {"parts": []},
        {"parts": [{}]},
        {"parts": [{"count": -1}]},
        {"parts": [{"count": 0.5}]},
        {"parts": [{"count": 0, "more": 0}]},
        {"more": 0},
    ],
)
def test_what_a_model_can_not_be_does_not_fit(change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**GOOD, **change}, document_schema(Whole, closed=True))


def test_an_attribute_without_a_description_is_refused() -> None:
    class Mute(TypedDict):
        """It says nothing."""

        silent: int

    Mute.__annotations__["silent"] = int
    with pytest.raises(TypeError, match="silent is not described"):
        schema_of(Mute, closed=True)
