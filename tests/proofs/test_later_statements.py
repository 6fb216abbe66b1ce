"""Faults in bounds, dot-adds, metadata, directions, defaults, formats, targets and moves are refuted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mmaproof.proofs.catalogue import theorems
from mmaproof.proofs.families import formats as stated_formats
from mmaproof.proofs.obligation import Certificate, Theorem
from mmaproof.proofs.power import executed as power_executed
from mmaproof.proofs.pto import given_arrays, moves, tables, verdicts
from mmaproof.proofs.ptx import documented, dot_add_parts, executed, machine_code, texts, undefined_operands
from mmaproof.spec import dot_add, formats, matrix_product, rounding_bound
from mmaproof.spec.dot_add import Terms
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.pto import formula, movers, operand_arrays, sizes
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.rules import move_types
from mmaproof.spec.pto.text.module import Module
from mmaproof.spec.ptx import accumulation_bound, resolution, shared_memory
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.sparsity import Sparsity
from mmaproof.spec.ptx.targets import Availability
from mmaproof.spec.ptx.wmma import MemoryOperand

(FORMATS,) = (each for each in theorems(("ptx/stated/formats",)))
BOUNDS, PARTS = machine_code.bounds, dot_add_parts.parts

Change = Callable[[Any], Any]

MUTANTS: dict[str, tuple[Theorem, str, object, str, Change]] = {
    "steps that lose nothing": (
        BOUNDS, "products", accumulation_bound, "total_bound", lambda old: lambda steps: old(steps[:1]),
    ),
    "an architecture less": (
        BOUNDS, "told", accumulation_bound, "ARCHITECTURES", lambda old: old[:-1],
    ),
    "no growth": (
        BOUNDS, "sums", rounding_bound, "error_bound",
        lambda old: lambda growth, *rest: old(0 * growth, *rest),
    ),
    "any depth": (BOUNDS, "sums", rounding_bound, "min", lambda old: lambda *_: -1),
    "one block": (
        PARTS, "batch/addends", dot_add, "truncated_sum",
        lambda old: lambda model, factors, addend: old(model, factors, first_of(addend)),
    ),
    "factors in reverse": (
        PARTS, "parts", matrix_product, "spread",
        lambda old: lambda factors, *rest: old(factors[..., ::-1], *rest),
    ),
    "an exponent forgotten": (
        PARTS, "terms/1", Terms, "times",
        lambda old: lambda self, other: Terms(self.values * other.values, self.exponents),
    ),
    "any number held": (FORMATS, "contained", formats.FloatFormat, "contains", lambda old: lambda *_: True),
    "up for down": (
        executed.whole_products, "doubles", resolution, "ROUNDINGS",
        lambda old: {**old, "rm": old["rp"], "rp": old["rm"]},
    ),
    "any metadata": (
        undefined_operands.undefined_operands, "nibbles", Sparsity, "legal_nibbles",
        lambda old: property(lambda self: tuple(range(16))),
    ),
    "no default": (
        texts.read_texts, "defaults", MmaForm, "canonical", lambda old: lambda self, variant: variant,
    ),
    "no greatest number": (
        power_executed.executed, "saturated", NumpyAlgebra, "in_range",
        lambda old: lambda self, value, fmt: old(self, value + 1, fmt),
    ),
    "lines anywhere": (
        executed.executed_moves, "strides", MemoryOperand, "fragment_bytes",
        lambda old: property(lambda self: 1),
    ),
    "rows at one address": (
        executed.executed_moves, "stores", shared_memory, "_require_distinct", lambda old: lambda *_: None,
    ),
    "any version": (
        documented.target_versions, "allowed", Availability, "allows",
        lambda old: lambda self, target, version: self.on(target),
    ),
    "a chip less": (
        documented.target_versions, "least", Availability, "on",
        lambda old: lambda self, target: not self.exactly and target.number >= self.minimum - 1,
    ),
    "a digit that is always 0": (
        FORMATS, "u8", NumpyAlgebra, "arbitrary", lambda old: lambda *given: old(*given) >> 1,
    ),
    "numbers that change in rounding": (
        FORMATS, "f64", stated_formats, "rounded", lambda old: lambda value, *rest: old(value, *rest) / 2,
    ),
    "words of any width": (
        FORMATS, "e2m3", stated_formats, "checked_encodings", lambda old: lambda name, bits, fmt: bits,
    ),
    "types of any extract": (
        verdicts.rules, "extract-types", move_types, "_EXTRACTED",
        lambda old: {profile: {*types, ELEMENT_TYPES["i64"]} for profile, types in old.items()},
    ),
    "one valid extent": (
        given_arrays.given, "regions", operand_arrays, "IntegerArray",
        lambda old: lambda shape=(): old(shape and (1,)),
    ),
    "blocks from the first element": (
        given_arrays.given, "blocks", formula, "block",
        lambda old: lambda matrix, row, column, extent: old(matrix, 0, 0, extent),
    ),
    "moves from anywhere": (
        given_arrays.given, "indices", movers, "require_block", lambda old: lambda *_: None,
    ),
    "models of one name": (PARTS, "parts", DotAddModel, "__str__", lambda old: lambda self: "dot_add"),
    "twelve bits": (tables.sizes, "narrowed", sizes, "SIZE_BITS", lambda old: 12),
    "the outermost module alone": (
        moves.modules, "targets", Module, "target",
        lambda old: property(lambda self: dict(self.attributes).get("pto.target_arch")),
    ),
}  # fmt: skip


def first_of(addend: Terms) -> Terms:
    """Return the first addend for all of them."""
    return Terms(0 * addend.values + addend.values.flat[0], addend.exponents)


def defect(theorem: Theorem, name: str) -> str | None:
    (obligation,) = (o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    goal = obligation.goal()
    assert isinstance(goal, Certificate)
    return goal.check()


@pytest.mark.parametrize("what", MUTANTS)
def test_a_fault_is_refuted(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theorem, name, owner, attribute, change = MUTANTS[what]
    assert defect(theorem, name) is None
    monkeypatch.setattr(owner, attribute, change(getattr(owner, attribute, None)), raising=False)
    assert defect(theorem, name) is not None


@pytest.mark.parametrize("theorem", [BOUNDS, PARTS], ids=lambda theorem: theorem.id)
def test_the_specification_agrees(theorem: Theorem) -> None:
    found = {o.id: defect(theorem, o.id.removeprefix(f"{theorem.id}/")) for o in theorem.obligations()}
    assert found == dict.fromkeys(found)
