"""Runs on numbers whose elements are related: what is wrong only for them is stopped behind the prover."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from contract_texts import contract_text
from forced_equality import equality_forced

from mmaproof.refinement.examine.trials import DisagreementError
from mmaproof.refinement.expected.input_bounds import InputBounds
from mmaproof.refinement.expected.structured_inputs import nearly_structured
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import verify
from mmaproof.spec.formats import F32

ROWS, WIDTH = 4, 12
BEGIN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 x, .param .u64 y) {
.reg .pred %p<9>; .reg .b32 %r<9>; .reg .f32 %f<20>; .reg .b64 %d<9>;
ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 48; add.s64 %d0, %d0, %d2; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
mov.f32 %f19, 0f3F800000;
"""
LOADS = "".join(f"ld.global.f32 %f{k}, [%d0+{4 * k}];\n" for k in range(WIDTH))
END = "st.global.f32 [%d1], %f19; ret; }\n"
SORTED = "sum(k < 11, where(x[i, k] <= x[i, k + 1], 1, 0)) == 11"
EQUAL = "sum(k < 11, where(x[i, k] == x[i, k + 1], 1, 0)) == 11"
COUNTED = "sum(k, where(x[i, k] == k, 1, 0)) == 12"


def verdict(checks: str, formula: str, folder: Path, others: Sequence[str] = ()) -> Verdict:
    """Return the verdict of a kernel that stores 1 where no check fails, by a prover that says yes."""
    kernel, contract = folder / "rows.ptx", folder / "rows.toml"
    parameters = "".join(f", .param .u64 other{number}" for number in range(len(others)))
    begin = BEGIN.replace(".param .u64 y", f".param .u64 y{parameters}")
    kernel.write_text(begin + LOADS + checks + END, encoding="utf-8")
    launch = f"\n[launch]\ngrid = 1\nblock = {ROWS}"
    arrays = {"x": f"f32 {ROWS} {WIDTH} in", "y": f"f32 {ROWS} out"}
    arrays |= {f"other{number}": shape for number, shape in enumerate(others)}
    contract.write_text(contract_text(formula, arrays, ensures=launch), encoding="utf-8")
    with equality_forced():
        return verify(kernel, contract).result.verdict


def check(relation: str, left: str, right: str) -> str:
    return f"setp.{relation}.f32 %p1, {left}, {right}; selp.f32 %f19, %f19, 0f00000000, %p1;\n"


def neighbours(relation: str, forgotten: int = -1) -> str:
    return "".join(check(relation, f"%f{k}", f"%f{k + 1}") for k in range(WIDTH - 1) if k != forgotten)


@pytest.mark.parametrize(("relation", "wanted", "forgotten"), [("le", SORTED, 2), ("eq", EQUAL, WIDTH - 2)])
def test_a_pair_that_is_not_compared_is_seen(
    relation: str, wanted: str, forgotten: int, tmp_path: Path
) -> None:
    with pytest.raises(DisagreementError):
        verdict(neighbours(relation, forgotten), f"y[i] = where({wanted}, 1, 0)", tmp_path)


def test_what_counted_elements_alone_break_is_seen(tmp_path: Path) -> None:
    counted = "".join(check("eq", f"%f{k}", f"0f{np.float32(k).view(np.uint32):08X}") for k in range(WIDTH))
    with pytest.raises(DisagreementError):
        verdict(counted, "y[i] = 0", tmp_path)
    assert verdict(counted, f"y[i] = where({COUNTED}, 1, 0)", tmp_path) is Verdict.VERIFIED


def test_right_kernels_stay_verified(tmp_path: Path) -> None:
    assert verdict(neighbours("le"), f"y[i] = where({SORTED}, 1, 0)", tmp_path) is Verdict.VERIFIED


def test_arrays_may_have_different_sizes(tmp_path: Path) -> None:
    wanted = f"y[i] = where({SORTED}, 1, 0)"
    assert verdict(neighbours("le"), wanted, tmp_path, ["f32 3 in", "s32 2 5 in"]) is Verdict.VERIFIED


def test_each_place_is_once_the_one_that_differs() -> None:
    numbers = np.random.default_rng(0).random(3 * 8)
    ends = InputBounds().of("x", F32, len(numbers))
    found = [each.reshape(3, 8) for each in nearly_structured(numbers, (3, 8), ends)]
    exchanged, other, falling = found[::3], found[1::3], found[2::3]
    for arrays in (exchanged, falling):
        falls = [np.flatnonzero(np.diff(row) < 0).tolist() for each in arrays for row in each]
        assert {tuple(each) for each in falls} == {(), *((place,) for place in range(7))}
    assert {int(np.flatnonzero(row != np.median(row))[0]) for each in other for row in each} == set(range(8))
