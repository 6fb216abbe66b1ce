"""What ptxas emits for every form on every target is what `spec.ptx.machine_code` says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from machine_code import Code, assemble
from ptx_assembler import assembler

from mmaproof.spec.formats import F16, F32, F64, IntegerFormat
from mmaproof.spec.ptx.catalogue import WARP_FORMS
from mmaproof.spec.ptx.machine_code import MachineCode, machine_code
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.tables import GENERATIONS
from mmaproof.spec.ptx.targets import TARGETS, Target
from mmaproof.spec.ptx.variant import MULTIPLYING, Variant

RENAMED = ("sm_101", "sm_101a", "sm_101f")
"""What sm_110 was called before."""


def one_of_each_type() -> Iterator[Variant]:
    """Yield a variant of every row, for each of its types, satfinite or not."""
    seen = set()
    for form in WARP_FORMS:
        for variant in form.variants():
            kind = (id(form), variant.family, variant.types, variant.satfinite, variant.bit_operation)
            if variant.family in MULTIPLYING and kind not in seen:
                seen.add(kind)
                yield variant


FORMS = [multiplication(variant) for variant in one_of_each_type()]


def present(target: Target) -> list[Multiplication]:
    newest = assembler().ptx
    return [form for form in FORMS if form.form.availability(form.variant).allows(target, newest)]


def mismatch(form: Multiplication, expected: MachineCode | None, code: Code) -> str | None:
    """Say how machine code differs from what is expected."""
    if expected is None:
        return "a matrix instruction" if code.matrix else None
    if not code.matrix:
        return None if expected.exact else "no matrix instruction"
    if expected.exact:
        return None if code.others else "nothing but a matrix instruction"
    if form.is_quad_pairs:  # several steps, each of some of the elements
        return None if all("STEP" in m.modifiers[-1] for m in code.matrix) and not code.others else "steps"
    first = code.matrix[0]
    tiles = -(-form.shape.m * form.shape.n // (8 * first.rows))
    observed: dict[str, object] = {
        "products": {m.products for m in code.matrix},
        "instructions": len(code.matrix) / tiles,
        "from zero": [m.from_zero for m in code.matrix].count(True) / tiles,
        "halves": [sorted(m.halves) for m in code.matrix if m.halves],
        "widened to f16": code.uses("F2FP.F16.E"),
        "C widened": code.uses("HADD2.F32"),
        "D rounded": code.uses("F2FP.F16.F32.PACK_AB", "F2FP.PACK_AB", "F2F.F16.F32"),
        "added last": code.uses("FADD") or ("HADD2" in code.others),
        "integer f16 unit": first.unit == "HMMA",
        "reordered": code.uses("SHFL") and not expected.addend_last,
    }
    wanted: dict[str, object] = {
        "products": {expected.products},
        "instructions": expected.instructions,
        "from zero": 1.0 if expected.addend_last else 0.0,
        "halves": [["low"], ["high"]] if expected.interleaved else [],
        "widened to f16": expected.factors != form.a,
        "C widened": expected.accumulator == F32 and form.c == F16,
        "D rounded": expected.accumulator == F32 and form.d == F16,
        "added last": expected.addend_last,
        "integer f16 unit": expected.factors.bits >= 16 and expected.factors != F64,
        "reordered": expected.reordered,
    }
    if not form.is_integer and not form.is_double:
        observed["accumulators"] = {"F16" if "F16" in m.modifiers[:2] else "F32" for m in code.matrix}
        wanted["accumulators"] = {expected.accumulator.name.upper()}
    if expected.is_native(form):
        observed["others"], wanted["others"] = sorted(code.others), []
    if code.uses("CALL"):  # which registers a function gives back is not followed
        wanted["halves"] = observed["halves"]
    differs = [
        f"{name}: {observed[name]}, not {wanted[name]}" for name in wanted if observed[name] != wanted[name]
    ]
    return "; ".join(differs) or None


def check(name: str) -> None:
    target = TARGETS[name]
    forms = present(target)
    codes = assemble([form.variant for form in forms], target)
    wrong = {
        form.name: difference
        for form, code in zip(forms, codes, strict=True)
        if (difference := mismatch(form, machine_code(form, target), code))
    }
    assert forms and not wrong, "\n".join(f"{form}: {text}" for form, text in wrong.items())


@pytest.mark.parametrize("name", GENERATIONS)
def test_a_generation_executes_every_form_as_the_table_says(name: str) -> None:
    check(name)


@pytest.mark.sweep
@pytest.mark.parametrize("name", sorted(set(TARGETS) - {"sm_70", "sm_72", *RENAMED, *GENERATIONS}))
def test_a_target_executes_every_form_as_the_table_says(name: str) -> None:
    check(name)


def test_the_comparison_notices_other_machine_code() -> None:
    form = next(form for form in FORMS if form.name.endswith("m16n8k32.row.col.f32.e4m3.e5m2.f32"))
    hopper, ada = TARGETS["sm_90a"], TARGETS["sm_89"]
    (code,) = assemble([form.variant], hopper)
    assert mismatch(form, machine_code(form, hopper), code) is None
    assert mismatch(form, machine_code(form, ada), code) is not None
    assert not isinstance(form.a, IntegerFormat)
