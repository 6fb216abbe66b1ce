"""The published schemas and the typed models say the same: every field and every word of an enumeration."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from enum import Enum
from typing import Any

import pytest
from document_schemas import READ_TOO, SCHEMAS, closed, fields, schema, validate, written

from mmaproof.cli.legality import _tables_of_kernels
from mmaproof.proofs import obligation
from mmaproof.proofs.mutation.scope import Role
from mmaproof.proofs.mutation.score import Fate
from mmaproof.proofs.verdict import Verdict as ProofVerdict
from mmaproof.refinement import findings, result, rounding_depth
from mmaproof.reports.legality_answer import LegalityAnswer, no_instruction
from mmaproof.reports.report import Conclusion
from mmaproof.spec.findings import Cause, Standing
from mmaproof.spec.foreign_layouts import comparison
from mmaproof.spec.instruction_set import NAMES, Judgement, instruction_set
from mmaproof.spec.legality import Note, NoteKind

NAMES_OF_SCHEMAS = sorted(path.name.removesuffix(".schema.json") for path in SCHEMAS.iterdir())


def part(name: str, path: str) -> dict[str, Any]:
    """Return what a schema says of a field: ``findings/kind``."""
    found = schema(name)
    for step in filter(None, path.split("/")):
        found = found["properties"][step]
        found = found.get("items", found)
    return found


def names(model: type) -> set[str]:
    return {field.name for field in dataclasses.fields(model)}


MODELS: list[tuple[str, str, type, Collection[str]]] = [
    ("verify", "", result.Result, {"schema"}),
    ("verify", "outputs", result.Coverage, ()),
    ("verify", "written", result.Written, ()),
    ("verify", "cases", result.CaseVerdict, ()),
    ("verify", "quantified", result.Quantification, ()),
    ("verify", "findings", findings.KernelFinding, ()),
    ("verify", "notes", findings.KernelNote, ()),
    ("check", "obligations", ProofVerdict, {"expect", "equality", "choices", "recheck"}),
    ("gate", "findings/causes", Cause, ()),
    ("layout-comparison", "", comparison.Comparison,
     {"schema", "instr", "operand", "target", "against", "equal"}),
]  # fmt: skip
"""Which model a part of a document is written from, and what the writer adds."""


@pytest.mark.parametrize(("name", "path", "model", "added"), MODELS)
def test_a_schema_has_the_fields_of_the_model(
    name: str, path: str, model: type, added: Collection[str]
) -> None:
    assert set(part(name, path)["properties"]) == names(model) | set(added)


def words(enumeration: type[Enum], *left_out: Enum) -> set[str]:
    return {each.value for each in enumeration if each not in left_out}


TABLES = {table for name in NAMES for table in (*instruction_set(name).tables, *_tables_of_kernels(name))}

ENUMERATIONS: list[tuple[str, str, set[str]]] = [
    ("verify", "verdict", words(result.Verdict)),
    ("verify", "equality", words(result.Equality)),
    ("verify", "cases/verdict", words(result.Verdict)),
    ("verify", "cases/equality", words(result.Equality)),
    ("verify", "quantified/method", words(result.Method)),
    ("verify", "findings/kind", words(findings.Kind)),
    ("check", "obligations/status", words(obligation.Status)),
    ("check", "obligations/equality", words(obligation.Equality)),
    ("check", "summary/conclusion", words(Conclusion)),
    ("list", "obligations/equality", words(obligation.Equality)),
    ("gate", "findings/causes/owner", {*NAMES, "layout", "gate", "legal"}),
    ("gate", "findings/standing", words(Standing, Standing.AGREES, Standing.DEFECT)),
    ("gate", "summary/conclusion", words(Conclusion, Conclusion.DEFECT)),
    ("layout-comparison", "verdict", words(comparison.Verdict)),
    ("mutants", "mutants/role", words(Role)),
    ("mutants", "mutants/outcome", words(Fate)),
    ("tables", "table", TABLES),
]


@pytest.mark.parametrize(("name", "path", "allowed"), ENUMERATIONS)
def test_an_enumeration_has_the_words_of_the_type(name: str, path: str, allowed: set[str]) -> None:
    assert set(part(name, path)["enum"]) - {None} == allowed


def test_an_answer_of_legal_writes_every_field_that_its_schema_names() -> None:
    notes = (Note(NoteKind.SCOPE, "judged"), Note(NoteKind.UNDECIDED, "not known"))
    answers = [LegalityAnswer("x", Judgement("sm_80", (), notes)), no_instruction("y", None, "no")]
    for answer in answers:
        validate("legal", answer.document())
    found = {field for answer in answers for field in written(answer.document())}
    assert found == set(fields(schema("legal")))


@pytest.mark.parametrize("name", sorted(set(NAMES_OF_SCHEMAS) - READ_TOO))
def test_a_field_that_a_schema_does_not_name_is_refused_by_tests(name: str) -> None:
    assert closed(schema(name))["additionalProperties"] is False


def test_hypotheses_are_those_of_the_schema() -> None:
    assert set(part("verify", "hypotheses")["properties"]) == set(rounding_depth.Hypothesis._fields)
