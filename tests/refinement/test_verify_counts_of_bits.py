"""Kernels that count bits of bytes, as products of matrices of single bits do, are decided."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.normal_forms.bit_products import BitProducts
from mmaproof.refinement.normal_forms.readings import Quantifier
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.verification import verify
from mmaproof.spec.formats import F32

KERNEL = """.version 8.8
.target sm_80
.address_size 64
.visible .entry count(.param .u64 a, .param .u64 b, .param .u64 m, .param .u64 c)
{{
.reg .b32 %r<8>;
.reg .b64 %d<8>;
ld.param.u64 %d0, [a];
ld.param.u64 %d1, [b];
ld.param.u64 %d2, [m];
ld.param.u64 %d3, [c];
ld.global.u8 %r0, [%d0];
ld.global.u8 %r1, [%d1];
ld.global.u8 %r2, [%d2];
{}
popc.b32 %r4, %r3;
st.global.u32 [%d3], %r4;
ret;
}}
"""

ARRAY = '[[param]]\nname = "{}"\ntype = "b1"\nshape = [8]\n'
CONTRACT = (
    '[kernel]\nisa = "ptx"\n'
    + "".join(map(ARRAY.format, "ABM"))
    + '[[param]]\nname = "C"\ntype = "s32"\nshape = [1]\naccess = "out"\n'
    + '[ensures]\nformula = "C[0] = sum(k, {})"\n'
)

DIFFERENT_AND_MARKED = "xor.b32 %r3, %r0, %r1; and.b32 %r3, %r3, %r2;"
FORMULAS = {
    "conditions": "where(A[k] != B[k] and M[k] != 0, 1, 0)",
    "products": "(A[k] + B[k] - 2 * A[k] * B[k]) * M[k]",
    "signs": "(1 - (1 - 2 * A[k]) * (1 - 2 * B[k])) * M[k] // 2",
}


def _verdict(folder: Path, body: str, summand: str) -> Verdict:
    (folder / "k.ptx").write_text(KERNEL.format(body))
    (folder / "k.toml").write_text(CONTRACT.format(summand))
    return verify(folder / "k.ptx", folder / "k.toml").result.verdict


@pytest.mark.parametrize("summand", FORMULAS.values(), ids=FORMULAS)
def test_bits_that_differ_are_counted_where_a_mask_has_ones(summand: str, tmp_path: Path) -> None:
    assert _verdict(tmp_path, DIFFERENT_AND_MARKED, summand) == Verdict.VERIFIED


@pytest.mark.parametrize(
    "body",
    [
        "xor.b32 %r3, %r0, %r1; or.b32 %r3, %r3, %r2;",
        "and.b32 %r3, %r1, %r2; xor.b32 %r3, %r3, %r0;",
        "xor.b32 %r3, %r0, %r1; and.b32 %r3, %r3, %r2; and.b32 %r3, %r3, 0x7f;",
    ],
)
def test_counts_of_other_bits_are_refuted(body: str, tmp_path: Path) -> None:
    assert _verdict(tmp_path, body, FORMULAS["conditions"]) == Verdict.REFUTED


def test_any_function_of_three_bits_is_a_sum_of_products(tmp_path: Path) -> None:
    """A majority, and a multiplexer of bits (``lop3``)."""
    majority = "lop3.b32 %r3, %r0, %r1, %r2, 0xE8;"
    summand = "A[k] * B[k] + A[k] * M[k] + B[k] * M[k] - 2 * A[k] * B[k] * M[k]"
    assert _verdict(tmp_path, majority, summand) == Verdict.VERIFIED
    chosen = "lop3.b32 %r3, %r0, %r1, %r2, 0xCA;"
    assert _verdict(tmp_path, chosen, "where(A[k] != 0, B[k], M[k])") == Verdict.VERIFIED
    assert _verdict(tmp_path, chosen, "where(A[k] != 0, M[k], B[k])") == Verdict.REFUTED


def test_where_no_term_is_made_of_the_bits_there_are_nothing_is_expanded() -> None:
    store = TermStore()
    store.inputs("bit", operations.unsigned(1), np.arange(2))
    numbers = store.inputs("x", F32, np.arange(4))
    squares = store.apply(operations.fused(F32, products=((F32, F32),)), numbers, numbers)
    assert BitProducts(Quantifier(store)).expanded(squares, F32) == []
