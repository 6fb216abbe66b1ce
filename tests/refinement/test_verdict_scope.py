"""What a verdict says of itself: how much it is about, on what it rests, and why it is none."""

from __future__ import annotations

import json

import pytest
from document_schemas import validate

from mmaproof.refinement.findings.finding import Kind
from mmaproof.spec.errors import InputError

from ..elementwise_kernels import result_of

COPY = "mov.b32 %C, %A;"
VECTORS = {"A": "f32", "C": "f32 out"}


def test_a_formula_that_covers_nothing_is_wrong_use() -> None:
    with pytest.raises(InputError, match="covers no element of C"):
        result_of("", "C[i] = A[i] if i < 0", VECTORS)


def test_a_verdict_says_how_much_it_is_about() -> None:
    result = result_of(COPY, "C[i] = A[i]", VECTORS)
    (coverage,) = result.outputs
    assert (coverage.name, coverage.elements, coverage.covered, coverage.bytes) == ("C", 32, 32, 128)
    assert result.assumptions == ("no two arrays overlap",)
    assert result.hypotheses == ()
    validate("verify", json.loads(json.dumps(result.document())))


def test_a_verdict_over_the_reals_names_its_hypotheses() -> None:
    body = "add.rn.f32 %f0, %A, %B; add.rn.f32 %C, %f0, %D;"
    arrays = {"A": "f32", "B": "f32", "D": "f32", "C": "f32 out"}
    result = result_of(body, "C[i] = A[i] + (B[i] + D[i])", arrays)
    assert (result.verdict, result.equality) == ("verified", "value")
    assert {hypothesis.name for hypothesis in result.hypotheses} == {
        "finite-inputs",
        "no-overflow",
        "no-underflow",
    }
    validate("verify", json.loads(json.dumps(result.document())))


def test_what_is_undecided_names_element_line_and_terms() -> None:
    body = "sin.approx.f32 %f0, %A; cos.approx.f32 %f1, %A; mul.rn.f32 %f0, %f0, %f1;"
    body += "add.rn.f32 %C, %f0, %f0;"
    result = result_of(body, "C[i] = sin(2 * A[i])", VECTORS)
    assert result.verdict == "undecided"
    assert {finding.kind for finding in result.findings} == {Kind.UNDECIDED}
    first = result.findings[0]
    assert first.line and first.output.startswith("C[")
    assert "expected" in first.message and "A[" in first.message
    validate("verify", json.loads(json.dumps(result.document())))
