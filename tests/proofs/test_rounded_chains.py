"""What is proved of chains of roundings fails where its reasons do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import SOLVE, decided, unexpected
from theorem_mutants import of

from mmaproof.proofs.families import exact_steps as small_integers_family
from mmaproof.proofs.families import rounded_chains, rounding_trees
from mmaproof.proofs.families.block_products import Blocks
from mmaproof.proofs.families.chains import adds
from mmaproof.proofs.families.exact_steps import small_integers
from mmaproof.proofs.induction import Induction, mismatch
from mmaproof.proofs.mfma import numerics
from mmaproof.proofs.mfma import numerics as mfma
from mmaproof.proofs.obligation import Equality, Obligation, Property, Status
from mmaproof.proofs.power import chains as power
from mmaproof.proofs.power import numerics as power_numerics
from mmaproof.proofs.power import signs
from mmaproof.proofs.pto import numerics as pto
from mmaproof.proofs.ptx import numerics as ptx_numerics
from mmaproof.proofs.ptx import rounding_bound, rounding_error
from mmaproof.proofs.recheck import Asking, recheck
from mmaproof.proofs.replay import counterexample, pinned_encodings
from mmaproof.smt.z3_algebra import Z3Algebra
from mmaproof.spec.algebra import Algebra, Array
from mmaproof.spec.formats import F32, FloatFormat, IntegerFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.catalogue import UPDATES
from mmaproof.spec.power.rank_k_update import SIGNIFICAND_24
from mmaproof.spec.rounding import Rounding


def _some(blocks: Blocks, *names: str) -> Blocks:
    return {name: blocks[name] for name in names}


def test_order_is_as_expected() -> None:
    names = ("xvf16ger2pp", "xvbf16ger2nn", "xvi8ger4spp", "xvf16ger2")
    assert unexpected((rounded_chains.order("power", "", lambda: _some(power.blocks(), *names),
                                            power.product_is_exact),)) == {}  # fmt: skip
    steps = ("k4/xf32-f32", "k16/e4m3-e5m2-f32", "k8/s8-s8-s32", "k4/f64-f64-f64")
    assert unexpected((rounded_chains.order("mfma", "", lambda: _some(mfma.blocks(), *steps), None),)) == {}


def test_order_needs_exact_products() -> None:
    theorem = rounded_chains.order(
        "power", "", lambda: _some(power.blocks(), "xvf16ger2pp"), lambda *_: False
    )
    assert decided(of(theorem, "xvf16ger2pp")).status is Status.REFUTED


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("xvf16ger2", Status.PROVED),
        ("xvf16ger2pp", Status.PROVED),
        ("xvf16ger2pp/left-alone", Status.REFUTED),
    ],
)
def test_order_is_the_same_over_the_reals(name: str, status: Status) -> None:
    """A sum of terms has no normal form: that it has been rounded before is a condition for the solver."""
    theorem = rounded_chains.order("power", "", lambda: _some(power.blocks(), name.partition("/")[0]),
                                   power.product_is_exact)  # fmt: skip
    solver = Asking(SOLVE)
    assert recheck(of(theorem, name), solver, solver, solver).status is status


def test_the_order_of_integers_needs_all_products() -> None:
    block = power.blocks()["xvi16ger2pp"]

    def first_twice(alg: Algebra, v: dict[str, Array], choices: object) -> Array:
        return block.multiply(alg, {**v, "x": v["x"][..., [0, 0]]}, choices)

    faulty = replace(block, multiply=first_twice)
    theorem = rounded_chains.order("power", "", lambda: {"faulty": faulty}, power.product_is_exact)
    assert decided(of(theorem, "faulty")).status is Status.REFUTED


def test_monotone_needs_ties_to_be_alike() -> None:
    assert decided(of(rounding_error.monotone, "f32")).status is Status.PROVED
    assert decided(of(rounding_error.monotone, "f32/unequal-ties")).status is Status.REFUTED


def test_a_step_that_is_no_identity_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    theorem = rounded_chains.monotone("power", "", power.sums)
    named = {each.id: each for each in rounding_error.monotone.obligations()}
    for obligation in theorem.obligations():
        goal = obligation.goal()
        assert isinstance(goal, Induction)
        assert mismatch(goal, named) is None
        negates = not obligation.id.endswith(("ger", "ger2", "pp"))
        assert (f"{rounded_chains.MONOTONE}/negated" in goal.steps) is negates
    for kind, name in (
        (rounded_chains.NoLesserTerm, "sum"),
        (rounded_chains.Negation, "negated"),
        (rounded_chains.Factor, "product"),
    ):
        inner = kind.differences
        with monkeypatch.context() as patched:
            patched.setattr(
                kind,
                "differences",
                lambda self, v, inner=inner: (inner(self, v)[0] + v["s"], inner(self, v)[1]),
            )
            assert decided(of(rounding_error.monotone, name)).status is Status.REFUTED
        assert decided(of(rounding_error.monotone, name)).status is Status.PROVED


def test_bounds_of_negated_sums_need_both_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    assert decided(of(rounding_bound.tree, "negated")).status is Status.PROVED
    inner = rounding_trees.Negated._before
    monkeypatch.setattr(rounding_trees.Negated, "_before", lambda self, v, sign: inner(self, v, 1))
    assert decided(of(rounding_bound.tree, "negated")).status is Status.REFUTED


@pytest.mark.parametrize("name", ["half-a-place", "monotone", "as-f32", "as-f32/toward-zero"])
def test_the_24_bit_significand(name: str) -> None:
    obligation = of(power_numerics.significand, name)
    assert decided(obligation).status is obligation.expect


def _truncating(inner: Callable[..., Any]) -> Callable[..., Any]:
    def fused(self: Any, result: FloatFormat, rounding: Any, *terms: Any) -> Any:
        return inner(self, result, Rounding.TOWARD_ZERO if result == SIGNIFICAND_24 else rounding, *terms)

    return fused


def test_a_truncated_significand_is_further_off(monkeypatch: pytest.MonkeyPatch) -> None:
    for algebra in (Z3Algebra, NumpyAlgebra):
        monkeypatch.setattr(algebra, "fused", _truncating(algebra.fused))
    assert decided(of(power_numerics.significand, "half-a-place")).status is Status.REFUTED


def test_the_letters_of_a_form_are_what_it_negates() -> None:
    for name in ("xvf32gerpn", "xvf64gernn", "xvbf16ger2np"):
        assert decided(of(signs.step, name)).status is Status.PROVED
    update = UPDATES["xvf32gernp"]
    other = replace(signs.block(update), multiply=signs.block(UPDATES["xvf32gerpn"]).multiply)
    claimed = Obligation("power/signs/step/x", "", lambda: signs.adds(other))
    assert decided(claimed).status is Status.REFUTED


@pytest.mark.parametrize(
    ("isa", "module", "names"),
    [
        ("power", power, ("xvf32gerpp", "xvf64gerpn", "xvbf16ger2np", "xvf16ger2nn")),
        ("mfma", mfma, ("k16/e4m3-e5m2-f32", "k4/f64-f64-f64")),
        ("pto", pto, ("f16-f16-f32/tmatmul.acc", "f32-f32-f32/tmatmul.bias")),
    ],
)
def test_one_more_than_a_small_integer_may_be_lost(isa: str, module: Any, names: tuple[str, ...]) -> None:
    found = module.sums()
    theorem = small_integers(isa, "", lambda: {name: found[name] for name in names}, module.blocks)
    beyond = [each for each in theorem.obligations() if each.id.endswith("beyond")]
    assert len(beyond) == sum("bias" not in name for name in names)
    for obligation in beyond:
        assert decided(obligation).status is Status.REFUTED
    goal = of(theorem, names[0]).goal()
    assert isinstance(goal, Induction)
    named = {each.id: each for each in ptx_numerics.small_integers.obligations()}
    assert mismatch(goal, named) is None
    assert all(premise in named for premise in goal.premises if premise.startswith("ptx/"))


@pytest.mark.parametrize("name", ["k8/f16-f16-f32/pairwise-by-4", "k4/bf16-bf16-f32/pairwise-by-2"])
def test_the_pairwise_sum_is_one_tree_and_no_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert decided(of(numerics.step, name)).status is Status.PROVED
    assert decided(of(numerics.order, name)).status is Status.REFUTED
    block = numerics.pairwise_blocks()[name]
    chained = replace(block, readings=(replace(block.readings[0], accumulation="sequential"),))
    claimed = Obligation("mfma/numerics/pairwise/x", "", lambda: adds(chained))
    assert decided(claimed).status is Status.REFUTED
    monkeypatch.setattr(numerics, "_tree", _other_pairs(numerics._tree))
    expected = Status.REFUTED if name.endswith("by-4") else Status.PROVED  # p1 + p0 = p0 + p1
    assert decided(of(numerics.step, name)).status is expected


def _other_pairs(inner: Callable[..., Any]) -> Callable[..., Any]:
    """Add 0 to 2 and 1 to 3."""
    return lambda alg, factors: inner(alg, [*factors[::2], *factors[1::2]] if len(factors) == 4 else factors)


@pytest.mark.parametrize("name", ["truncated", "rounded"])
def test_a_factor_of_eleven_fraction_bits_is_shortened(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert decided(of(numerics.xf32, name)).status is Status.PROVED
    monkeypatch.setattr(numerics, "LOW", IntegerFormat("low", 12, signed=False))
    assert decided(of(numerics.xf32, name)).status is Status.REFUTED


def test_every_group_of_products_of_a_lane_is_stated() -> None:
    found = set(numerics.pairwise_blocks())
    assert {"k2/bf16-bf16-f32/pairwise-by-2", "k4/bf16-bf16-f32/pairwise-by-4"} <= found
    assert all(f"mfma/numerics/bound/{name}" in set(_ids()) for name in found)


def test_half_of_the_integer_that_is_too_large_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counterexample is one because of its size."""
    inner = small_integers_family.power_of_two
    monkeypatch.setattr(
        small_integers_family, "power_of_two", lambda fmt, exponent: inner(fmt, max(0, exponent - 1))
    )
    theorem = small_integers("power", "", power.sums, power.blocks)
    prop = of(theorem, "xvf32gerpp/beyond").goal()
    assert isinstance(prop, Property)
    assert prop.pinned is not None
    assert not counterexample("x", prop, pinned_encodings(prop, prop.pinned), Equality.BITS).replays


def test_the_order_of_pto_s_products_matters() -> None:
    name = "f16-f16-f32/tmatmul.acc"
    theorem = rounded_chains.order("pto", "", lambda: _some(pto.blocks(), name), None)
    assert unexpected((theorem,)) == {}


def test_sums_are_rounded_to_their_types() -> None:
    assert {each.result for name, each in power.sums().items() if "f64" not in name} == {F32}


def _ids() -> Iterator[str]:
    for theorem in (*power.THEOREMS, *mfma.THEOREMS):
        yield from (obligation.id for obligation in theorem.obligations())


def test_every_float_form_has_a_bound() -> None:
    found = set(_ids())
    assert {f"power/numerics/bound/{name}" for name in power.sums()} <= found
    assert {f"mfma/numerics/monotone/{name}" for name in mfma.sums()} <= found
