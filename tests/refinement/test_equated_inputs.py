"""Runs on numbers that kernels compare for equality: what is wrong only there is stopped."""

from __future__ import annotations

import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from contract_texts import contract_text
from forced_equality import equality_forced

from mmaproof.refinement.examine.equated_inputs import Linear, solved
from mmaproof.refinement.examine.trials import DisagreementError
from mmaproof.refinement.verification import verify

COUNT = 8
BEGIN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry row(.param .u64 x, .param .u64 z, .param .u64 y) {
.reg .pred %p<2>; .reg .b32 %r<30>; .reg .b32 %z<30>; .reg .b64 %d<4>; .reg .b32 %t;
ld.param.u64 %d0, [x]; ld.param.u64 %d1, [z]; ld.param.u64 %d2, [y]; mov.u32 %r20, 0x3F800000;
"""
LOADS = "".join(
    f"ld.global.b32 %r{k}, [%d0+{4 * k}]; ld.global.b32 %z{k}, [%d1+{4 * k}];\n" for k in range(COUNT)
)
END = "st.global.b32 [%d2], %r20; ret; }\n"


def equal(left: str, right: str, kind: str) -> str:
    """Keep what is stored if two numbers are equal, else store 0."""
    return f"setp.eq.{kind} %p1, {left}, {right}; selp.b32 %r20, %r20, 0, %p1;\n"


def steps(kind: str, by: str) -> str:
    return "".join(f"add.{kind} %t, %r{k}, {by};" + equal(f"%r{k + 1}", "%t", kind) for k in range(COUNT - 1))


def single(number: float) -> str:
    return f"0f{struct.pack('>f', number).hex().upper()}"


@pytest.mark.parametrize(
    ("kind", "checks"),
    [
        ("s32", steps("s32", "2")),
        ("s32", steps("s32", "-5")),
        ("f32", "".join(equal(f"%r{k}", single(k + 0.5), "f32") for k in range(COUNT))),
        ("s32", "".join(equal(f"%r{k}", str(k * k), "s32") for k in range(COUNT))),
        ("s32", "".join(f"add.s32 %t, %r{k}, 100;" + equal(f"%z{k}", "%t", "s32") for k in range(COUNT))),
        ("s32", "".join(f"add.s32 %t, %r{k}, %r{k};" + equal(f"%z{k}", "%t", "s32") for k in range(COUNT))),
    ],
    ids=["steps", "steps down", "given floats", "given numbers", "another array's", "twice as much"],
)
def test_what_is_wrong_only_where_all_are_equal_is_seen(kind: str, checks: str, tmp_path: Path) -> None:
    kernel, contract = tmp_path / "row.ptx", tmp_path / "row.toml"
    kernel.write_text(BEGIN + LOADS + checks + END, encoding="utf-8")
    arrays = dict.fromkeys("xz", f"{kind} {COUNT} in") | {"y": f"{kind} 1 out"}
    launch = "\n[launch]\ngrid = 1\nblock = 1"
    contract.write_text(contract_text("y[i] = 0", arrays, ensures=launch), encoding="utf-8")
    with equality_forced(), pytest.raises(DisagreementError):
        verify(kernel, contract)


def linear(**factors: int) -> Linear:
    return {None if name == "one" else (name, 0): Fraction(factor) for name, factor in factors.items()}


@pytest.mark.parametrize("order", [list, lambda each: each[::-1]])
def test_of_equations_that_contradict_each_other_the_first_hold(
    order: Callable[[list[Linear]], list[Linear]],
) -> None:
    equations = order([linear(a=1, b=-1, one=2), linear(b=3, c=-1), linear(a=1, b=-1, one=3)])
    found = solved(equations)
    values = {None: Fraction(1), ("a", 0): Fraction(1), ("b", 0): Fraction(5), ("c", 0): Fraction(9)}
    for name, rest in found.items():
        values[name] = sum((values[each] * factor for each, factor in rest.items()), Fraction(0))
    holds = [not sum(values[each] * factor for each, factor in one.items()) for one in equations]
    assert holds == [True, True, False]
