"""One step of each float product reaches the exact theory of floating point, and faults in it are refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import judged

from mmaproof.proofs.families import exact_steps as family
from mmaproof.proofs.families.block_products import BlockProduct
from mmaproof.proofs.mfma import numerics as mfma
from mmaproof.proofs.obligation import Equality, Property, Theorem
from mmaproof.proofs.pto import numerics as pto
from mmaproof.proofs.ptx import numerics as ptx
from mmaproof.proofs.recorded_methods import recorded_method
from mmaproof.proofs.replay import search
from mmaproof.smt.float_terms import holds_exactly
from mmaproof.spec.algebra import Algebra, Array, Operand
from mmaproof.spec.formats import BF16, E4M3, E5M2, F16, F32, UE4M3, UE8M0, FloatFormat
from mmaproof.spec.rounding import Rounding

BLOCKS: dict[str, dict[str, BlockProduct]] = {
    "ptx": dict(ptx._of_one_product()),
    "pto": dict(pto._of_one_product()),
    "mfma": dict(mfma._shortest()),
}
MODULES = {"ptx": ptx, "pto": pto, "mfma": mfma}


def one_term(module: Any) -> Theorem:
    (theorem,) = (each for each in module.THEOREMS if each.id.endswith("/numerics/one-term"))
    return theorem


@pytest.mark.parametrize("isa", MODULES)
def test_every_type_of_a_float_product_is_there_and_asks_a_solver_exactly(isa: str) -> None:
    theorem = one_term(MODULES[isa])
    obligations = list(theorem.obligations())
    named = {obligation.id.split("/", 3)[3].rpartition("/")[0] for obligation in obligations}
    floats = {name: block for name, block in BLOCKS[isa].items() if not block.is_integer}
    assert {(floats[name].operands["a"].format, floats[name].result) for name in named} == {
        (block.operands["a"].format, block.result) for block in floats.values()
    }
    for obligation in obligations:
        goal = obligation.goal()
        assert isinstance(goal, Property)
        assert not goal.abstract
        assert recorded_method(obligation.id) == "z3"


def test_a_step_is_decided_by_a_solver() -> None:
    theorem = one_term(ptx)
    chosen = {obligation.id: obligation for obligation in theorem.obligations()}
    for name in ("f16-f16-f32/factor", "f16-f16-f16/accumulator"):
        assert judged(chosen[f"{theorem.id}/{name}"].goal()).method == "z3"


def twice(compute: Any) -> Any:
    """Round in a narrower type first."""

    def multiply(alg: Algebra, v: Any, reading: Any) -> Array:
        narrow = Operand(compute(alg, v, reading), F32)
        once = alg.fused(BF16, Rounding.NEAREST_EVEN, (), [narrow])
        return alg.fused(F32, Rounding.NEAREST_EVEN, (), [Operand(once, BF16)])

    return multiply


def negated(compute: Any) -> Any:
    return lambda alg, v, reading: alg.negate(Operand(compute(alg, v, reading), F32))


def from_b(compute: Any) -> Any:
    """Multiply by B twice, and never by A."""
    return lambda alg, v, reading: compute(alg, {**v, "a": v["b"].swapaxes(-1, -2)}, reading)


def without_c(compute: Any) -> Any:
    return lambda alg, v, reading: compute(alg, {**v, "c": v["c"] ^ v["c"]}, reading)


@pytest.mark.parametrize(
    ("isa", "name"), [("ptx", "f16-f16-f32"), ("pto", "f16-f16-f32/tmatmul.acc"), ("mfma", "f16-f16-f32")]
)
@pytest.mark.parametrize(
    ("fault", "wrong"),
    [
        (twice, ["_factor", "_accumulator"]),
        (negated, ["_factor", "_accumulator"]),
        (from_b, ["_factor"]),
        (without_c, ["_accumulator"]),
    ],
)
def test_faults_of_a_step_are_refuted(
    isa: str, name: str, fault: Callable[..., Any], wrong: list[str]
) -> None:
    block = BLOCKS[isa][name]
    broken = replace(block, multiply=fault(block.multiply))
    for claim in ("_factor", "_accumulator"):
        found = search(getattr(family, claim)(broken), Equality.IEEE)
        assert (found is not None) == (claim in wrong)
        assert search(getattr(family, claim)(block), Equality.IEEE) is None


@pytest.mark.parametrize("element", [E4M3, E5M2])
@pytest.mark.parametrize("scale", [UE8M0, UE4M3])
def test_a_format_that_holds_a_product_has_every_one(element: FloatFormat, scale: FloatFormat) -> None:
    """A power of two costs no bits of precision; any other factor does."""
    wide = FloatFormat("wide", 20, exponent_bits=9, fraction_bits=element.fraction_bits, bias=255)
    assert holds_exactly(wide, element, scale) == (scale == UE8M0)
    values = [element.exact(bits) for bits in range(1 << element.bits)]
    factors = [scale.exact(bits) for bits in range(0x7F)]
    products = {x * s for x in values for s in factors if x is not None and s is not None}
    digits = {abs(p.numerator) // (p.numerator & -p.numerator) for p in products if p}
    assert (max(digits).bit_length() <= wide.precision) == (scale == UE8M0)


def test_a_step_of_two_types_goes_through_the_accumulators() -> None:
    block = BLOCKS["ptx"]["f16-f16-f16-f32"]
    assert (block.operands["c"].format, block.result) in {(F16, F32), (F32, F16)}
