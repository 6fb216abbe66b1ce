"""Faults in operands, exceptions and machine code of PTX are refuted by what is stated of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mmaproof.proofs.obligation import Certificate, Theorem
from mmaproof.proofs.ptx import (
    combinations,
    contradicted,
    dot_adds,
    executed,
    machine_code,
    printed_tables,
    texts,
    undefined_operands,
)
from mmaproof.spec import dot_add, dot_add_bound
from mmaproof.spec.ptx import (
    accumulation_bound,
    assembly,
    block_scaling,
    constant_expressions,
    leniency,
    operand_arrays,
    operand_rules,
    product,
    shared_memory,
    signatures,
    tables,
    variant_rules,
)
from mmaproof.spec.ptx import legality as rules
from mmaproof.spec.ptx.machine_code import MachineCode
from mmaproof.spec.ptx.matrix_move_forms import MatrixMoveForm
from mmaproof.spec.ptx.signatures import Sort
from mmaproof.spec.ptx.sparsity import Sparsity
from mmaproof.spec.ptx.targets import Availability
from mmaproof.spec.ptx.wmma_forms import WmmaForm
from mmaproof.spec.rounding import Rounding

SUMS, PRINTED, TEXTS = dot_adds.dot_adds, printed_tables.printed_tables, texts.read_texts
CONSTANTS, PRODUCTS = texts.constant_expressions, executed.whole_products
OPERANDS, CONTRADICTIONS, CODES, UNDEFINED = (
    combinations.operands, contradicted.contradictions, machine_code.machine_codes,
    undefined_operands.undefined_operands,
)  # fmt: skip

Change = Callable[[Any], Any]


def clamped_after_each_half(old: Any) -> Any:
    def exact_sum(alg: Any, form: Any, x: Any, y: Any, c: Any, choices: Any) -> Any:
        half = x.shape[-1] // 2
        first = old(alg, form, x[..., :half], y[..., :half], c, choices)
        return old(alg, form, x[..., half:], y[..., half:], first, choices)

    return exact_sum


MUTANTS: dict[str, tuple[Theorem, str, object, str, Change]] = {
    "clamped after each half of K": (
        PRODUCTS, "saturated", product, "exact_sum", clamped_after_each_half,
    ),
    "one more class": (
        OPERANDS, "wmma/registers", signatures, "_ADDRESS_CLASSES", lambda old: (*old, "b16"),
    ),
    "another constant": (
        OPERANDS, "mma/constants", signatures, "_ACCUMULATOR_CONSTANTS",
        lambda old: {**old, "s32": old["f32"]},
    ),
    "sinks that are read": (OPERANDS, "vectors", operand_rules, "SINK", lambda old: operand_rules.CLASS),
    "pairs of any length": (
        OPERANDS, "vectors", operand_rules, "_length",
        lambda old: lambda form, length: iter(()) if form.sort is Sort.PAIR else old(form, length),
    ),
    "any space": (OPERANDS, "addresses", operand_rules, "_space", lambda old: lambda *_: iter(())),
    "other words": (
        CODES, "mma", MachineCode, "described", lambda old: lambda self, form: "native",
    ),
    "a rule without its contradiction": (
        CONTRADICTIONS, "rules", contradicted, "RULES", lambda old: [replace(old[0], contradictions=())],
    ),
    "a claim that two have": (
        CONTRADICTIONS, "sides", tables, "CONTRADICTIONS",
        lambda old: (*old[:-1], replace(old[-1], claims=old[-1].claims[:1] * 2)),
    ),
    "a contradiction less": (CONTRADICTIONS, "sides", tables, "CONTRADICTIONS", lambda old: old[1:]),
    "an exception less": (CONTRADICTIONS, "exceptions", leniency, "LENIENCIES", lambda old: old[:-1]),
    "a wider exception": (
        CONTRADICTIONS, "exceptions", leniency, "LENIENCIES",
        lambda old: (*old[:-1], replace(old[-1], explains=lambda *_: True)),
    ),
    "no release": (
        CONTRADICTIONS, "releases", contradicted, "LENIENCIES",
        lambda old: [replace(each, closed=None) for each in old],
    ),
    "braces anywhere": (
        CONTRADICTIONS, "braces", contradicted, "refuses_braces", lambda old: lambda *_: False,
    ),
    "no bits refused": (UNDEFINED, "operands", operand_arrays, "_refuse_bits", lambda old: lambda *_: None),
    "metadata of any shape known": (
        UNDEFINED, "operands", operand_arrays, "require_known_layouts", lambda old: lambda *_: None,
    ),
    "metadata of no shape known": (
        UNDEFINED, "operands", Sparsity, "is_of_half_k", lambda old: property(lambda self: True),
    ),
    "no scale factor refused": (
        UNDEFINED, "operands", block_scaling.BlockScale, "require_valid", lambda old: lambda *_: None,
    ),
    "selectors exchanged": (
        UNDEFINED, "selectors", operand_arrays, "Selectors", lambda old: lambda byte, thread: (thread, byte),
    ),
    "too few bits": (
        UNDEFINED, "scaled", undefined_operands, "SCALED", lambda old: replace(old, fraction_bits=6, bits=16),
    ),
    "one batch for all": (
        UNDEFINED, "batches", shared_memory, "store",
        lambda old: lambda alg, move, words: old(alg, move, words[:1] if words.ndim > 2 else words),
    ),
    "nothing said": (UNDEFINED, "messages", variant_rules, "_spell", lambda old: lambda value: ""),
    "zeros that push out": (
        SUMS, "00-f16-f32-nearest-even", dot_add, "EXPONENT_OF_ZERO", lambda old: 100,
    ),
    "another direction": (
        SUMS, "03-f16-f32-downward", dot_add, "_TO_INTEGER",
        lambda old: {**old, Rounding.DOWNWARD: old[Rounding.UPWARD]},
    ),
    "signs lost": (SUMS, "special", dot_add, "_decoded", lambda old: lambda *rest: unsigned(old(*rest))),
    "no limits": (SUMS, "limits", dot_add, "require_exact_sum", lambda old: lambda *_: None),
    "native everywhere": (
        CODES, "mma", machine_code, "machine_code",
        lambda old: lambda form, target: (found := old(form, target)) and replace(found, interleaved=False),
    ),
    "rows of one register": (PRINTED, "wmma", WmmaForm, "registers", lambda old: lambda *_: 1),
    "moves of no matrix": (
        PRINTED, "matrix-move", MatrixMoveForm, "matrices",
        lambda old: lambda self, count: old(self, count) if count else 0,
    ),
    "one pair": (
        PRINTED, "mma", tables, "spell_pairs", lambda old: lambda pairs, between: old([*pairs][:1], between),
    ),
    "a column less": (PRINTED, "columns", tables, "GENERATIONS", lambda old: old[1:]),
    "one target more": (PRINTED, "mma", Availability, "targets", lambda old: property(lambda self: "sm_70+")),
    "dense ones alone": (
        TEXTS, "named", assembly, "_allowed",
        lambda old: lambda family: tuple(name for name in old(family) if name != "sp"),
    ),
    "shorter lines": (TEXTS, "reasons", assembly, "_quoted", lambda old: lambda text: old(text, 59)),
    "groups of no weight": (
        machine_code.bounds, "dot-adds", dot_add_bound, "truncated_terms",
        lambda old: lambda *step: old(*step)._replace(weight=1),
    ),
    "longer lines": (TEXTS, "named", assembly, "_quoted", lambda old: lambda text: old(text, 61)),
    "stored backwards": (
        PRODUCTS, "sparse", Sparsity, "expand",
        lambda old: lambda self, alg, stored, *rest: old(self, alg, stored[..., ::-1], *rest),
    ),
    "any condition": (
        CONSTANTS, "taken", constant_expressions, "_chosen",
        lambda old: lambda condition, yes, no: yes,
    ),
    "C with the products": (
        CODES, "steps", accumulation_bound, "rounding_step",
        lambda old: lambda fmt, *direction: replace_unit(old(fmt)),
    ),
}  # fmt: skip


def replace_unit(step: Any) -> Any:
    return step._replace(formula="2^-1")


def unsigned(terms: dot_add.Terms) -> dot_add.Terms:
    return dot_add.Terms(np.abs(terms.values), terms.exponents)


def defect(theorem: Theorem, name: str) -> str | None:
    (obligation,) = (o for o in theorem.obligations() if o.id == f"{theorem.id}/{name}")
    goal = obligation.goal()
    assert isinstance(goal, Certificate)
    return goal.check()


@pytest.fixture
def no_memory() -> Iterator[None]:
    for each in (
        signatures.signature,
        rules._operand_complaints,
        variant_rules.narrow,
        operand_arrays.operands,
    ):
        each.cache_clear()
    yield
    for each in (
        signatures.signature,
        rules._operand_complaints,
        variant_rules.narrow,
        operand_arrays.operands,
    ):
        each.cache_clear()


@pytest.mark.usefixtures("no_memory")
@pytest.mark.parametrize("what", MUTANTS)
def test_a_fault_is_refuted(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theorem, name, owner, attribute, change = MUTANTS[what]
    monkeypatch.setattr(owner, attribute, change(getattr(owner, attribute)))
    assert defect(theorem, name) is not None


@pytest.mark.parametrize(
    "theorem",
    [OPERANDS, CONTRADICTIONS, CODES, UNDEFINED, SUMS, PRINTED, TEXTS, CONSTANTS, PRODUCTS],
    ids=lambda theorem: theorem.id,
)
def test_the_specification_agrees(theorem: Theorem) -> None:
    found = {
        obligation.id: defect(theorem, obligation.id.removeprefix(f"{theorem.id}/"))
        for obligation in theorem.obligations()
    }
    assert found == dict.fromkeys(found)
