"""What is proved of chains of roundings fails where its reasons do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from theorem_checks import SOLVE, decided, unexpected
from theorem_mutants import of

from mmaproof.proofs.families import rounded_chains
from mmaproof.proofs.families.block_products import Blocks
from mmaproof.proofs.induction import Induction, mismatch
from mmaproof.proofs.mfma import chains as mfma
from mmaproof.proofs.obligation import Status
from mmaproof.proofs.power import chains as power
from mmaproof.proofs.ptx import rounding_error
from mmaproof.proofs.recheck import Asking, recheck
from mmaproof.spec.algebra import Algebra, Array
from mmaproof.spec.formats import F32


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


def test_a_term_that_differs_is_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    theorem = rounded_chains.monotone("mfma", "", mfma.sums)
    goal = next(iter(theorem.obligations())).goal()
    named = {each.id: each for each in rounding_error.monotone.obligations()}
    assert isinstance(goal, Induction)
    assert mismatch(goal, named) is None
    monkeypatch.setattr(
        rounded_chains.SameTerm, "following", lambda self, v: (v["s"] + v["p"], v["t"] + v["p"] + v["p"])
    )
    assert decided(of(rounding_error.monotone, "sum")).status is Status.REFUTED


def test_sums_are_rounded_to_their_types() -> None:
    assert {each.result for name, each in power.sums().items() if "f64" not in name} == {F32}


def _ids() -> Iterator[str]:
    for theorem in (*power.THEOREMS, *mfma.THEOREMS):
        yield from (each.id for each in theorem.obligations())


def test_every_float_form_has_a_bound() -> None:
    found = set(_ids())
    assert {f"power/numerics/bound/{name}" for name in power.sums()} <= found
    assert {f"mfma/numerics/monotone/{name}" for name in mfma.sums()} <= found
