"""Theorems over what instruction sets supply: a toy that has them all, and mutants of it that do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from theorem_checks import judged, unexpected

from mmaproof.proofs.decision import decide
from mmaproof.proofs.families import blocked, chains, layouts, scaling
from mmaproof.proofs.families.block_products import (
    BlockOperand,
    BlockProduct,
    one_after_the_other,
    outer,
    power_of_two,
)
from mmaproof.proofs.families.blocked import Loops, zero_lane
from mmaproof.proofs.obligation import Case, Equality, Obligation, RingProperty, Status, Variable
from mmaproof.spec.algebra import Algebra, Array
from mmaproof.spec.formats import F16, F32, S8, S32, U8, UE8M0, Format
from mmaproof.spec.fragment import Fragment, Packing
from mmaproof.spec.layout import Axis, Digit, Layout

K = 3

Multiply = Callable[[Algebra, Any], Array]


def block(factor: Format, result: Format, change: Callable[[dict], dict] = lambda v: v) -> BlockProduct:
    """Return c + a·b, one product after the other; a mutant computes it of operands that `change` made."""

    def total(alg: Algebra, v: Any) -> Array:
        return one_after_the_other(alg, v["c"], outer(v["a"], v["b"], (factor, factor)), result)

    pinned = {}
    if result == F32:
        one = power_of_two(factor, 0)
        pinned = {"a": one, "b": one, "c": 0, "q": power_of_two(F32, 24)}
    return BlockProduct(
        {
            "a": BlockOperand(factor, ("m", K)),
            "b": BlockOperand(factor, (K, "n")),
            "c": BlockOperand(result, ("m", "n")),
        },
        result,
        lambda alg, v, reading: total(alg, change(dict(v))),
        lambda alg, v, reading: total(alg, v),
        ("only reading",),
        pinned=pinned,
    )


def toy(change: Callable[[dict], dict] = lambda v: v) -> dict[str, BlockProduct]:
    return {"bytes": block(S8, S32, change), "halves": block(F16, F32, change)}


def test_the_toy_has_every_theorem() -> None:
    family = blocked.theorems(Loops("toy", "madd", "nowhere", toy))
    names = {theorem.id.removeprefix("toy/blocked/") for theorem in family}
    assert names == {"step", "any-k", "reals", "split-k-step", "split-k", "tiles"}
    lanes = zero_lane("toy", "nowhere", lambda: {name: one_lane(each) for name, each in toy().items()})
    assert unexpected((*family, lanes)) == {}


def one_lane(each: BlockProduct) -> BlockProduct:
    factor = each.operands["a"].format
    operands = {"a": BlockOperand(factor, ("m", 1)), "b": BlockOperand(factor, (1, "n"))}
    return replace(each, operands={**each.operands, **operands})


def last_dropped(v: dict) -> dict:
    return v | {"a": v["a"][..., :-1], "b": v["b"][..., :-1, :]}


def backwards(v: dict) -> dict:
    return v | {"a": v["a"][..., ::-1], "b": v["b"][..., ::-1, :]}


def other_rows(v: dict) -> dict:
    return v | {"a": v["a"][..., ::-1, :]}


@pytest.mark.parametrize("name", ["bytes", "halves"])
def test_a_product_that_is_dropped_is_missed(name: str) -> None:
    each = toy(last_dropped)[name]
    assert judged(chains.adds(each)).status is Status.REFUTED
    assert judged(chains.polynomial(each)).status is Status.REFUTED


def test_another_order_shows_in_bits_of_floats_alone() -> None:
    each = toy(backwards)
    assert judged(chains.adds(each["halves"])).status is Status.REFUTED
    assert judged(chains.adds(each["bytes"])).status is Status.PROVED
    assert judged(chains.polynomial(each["halves"])).status is Status.PROVED


@pytest.mark.parametrize("name", ["bytes", "halves"])
def test_a_tile_of_other_rows_is_refuted(name: str) -> None:
    assert judged(chains.tiled(toy(other_rows)[name])).status is Status.REFUTED


def test_an_accumulator_that_is_not_read_is_not_split() -> None:
    each = block(S8, S32, lambda v: v | {"c": v["c"] ^ v["c"]})
    assert judged(chains.added_later(each)).status is Status.REFUTED


LANES = Layout(
    "toy",
    (Axis("lane", 4), Axis("i", 4)),
    (Axis("row", 4), Axis("column", 4)),
    (Digit(0, 1, 2, (1, 0)), Digit(0, 2, 2, (2, 0)), Digit(1, 1, 2, (0, 1)), Digit(1, 2, 2, (0, 2))),
)
COLLAPSED = replace(LANES, digits=(*LANES.digits[:3], Digit(1, 2, 2, (0, 1))))
FRAGMENT = Fragment(LANES, Packing(U8, 8))


def only(cases: Any) -> Case:
    (case,) = cases
    return case


def test_bijections_are_told_from_other_layouts() -> None:
    for layout, status in ((LANES, Status.PROVED), (COLLAPSED, Status.REFUTED)):
        case = only(layouts.bijections({"toy": layout}))
        assert case.statement == layout.formula
        assert judged(case.goal()).status is status


def test_registers_are_read_where_the_layout_says() -> None:
    held = layouts.held_in(FRAGMENT)
    turned = replace(held, gather=lambda alg, registers: held.gather(alg, registers).swapaxes(-1, -2))
    crooked = replace(held, scatter=lambda alg, matrix: held.scatter(alg, matrix)[..., ::-1, :])
    for each, status in ((held, Status.PROVED), (turned, Status.REFUTED), (crooked, Status.REFUTED)):
        assert judged(only(layouts.readings({"toy": each})).goal()).status is status


def test_an_instruction_sees_the_matrices_that_its_registers_hold() -> None:
    held = layouts.held_in(FRAGMENT)
    operands = {name: layouts.RegisterOperand(held) for name in "ab"}

    def execute(swapped: bool) -> layouts.Execute:
        def on_registers(alg: Algebra, registers: layouts.Registers, multiply: layouts.Multiply) -> Array:
            a, b = (held.gather(alg, registers[name]) for name in ("ba" if swapped else "ab"))
            return held.scatter(alg, multiply({"a": a, "b": b}))

        return on_registers

    for swapped, status in ((False, Status.PROVED), (True, Status.REFUTED)):
        assert judged(layouts.sees_matrices(operands, held, execute(swapped))).status is status


def test_moves_are_inverse_or_not() -> None:
    sides = Variable("memory", U8, (4,)), Variable("registers", U8, (4,))
    turn: layouts.Move = lambda alg, data: data[..., ::-1]  # noqa: E731
    keep: layouts.Move = lambda alg, data: data  # noqa: E731
    assert judged(layouts.inverse(turn, turn, sides)).status is Status.PROVED
    assert judged(layouts.inverse(turn, keep, sides)).status is Status.REFUTED


def scaled(served: int) -> BlockProduct:
    """Return c + Σ (sa·a)·(sb·b) over the reals, with factors that serve so many neighbours."""
    plain = block(F16, F32)
    factors = -(-K // 2)
    operands = {
        **plain.operands,
        "scale_a": BlockOperand(UE8M0, ("m", factors)),
        "scale_b": BlockOperand(UE8M0, (factors, "n")),
    }

    def multiply(alg: Algebra, v: Any, reading: Any) -> Array:
        a = v["a"] * v["scale_a"].repeat(served, axis=-1)[..., :K]
        b = v["b"] * v["scale_b"].repeat(served, axis=-2)[..., :K, :]
        return plain.multiply(alg, {**v, "a": a, "b": b}, reading)

    return replace(plain, operands=operands, multiply=multiply)


def test_factors_commute_with_the_sum_of_what_they_serve() -> None:
    for served, status in ((2, Status.PROVED), (3, Status.REFUTED)):
        goal = scaling.commutes(scaled(served), block(F16, F32), 2)
        assert isinstance(goal, RingProperty)
        obligation = Obligation("test/goal", "", lambda goal=goal: goal, equality=Equality.VALUE)
        assert decide(obligation, lambda query: pytest.fail("a solver is asked")).status is status
