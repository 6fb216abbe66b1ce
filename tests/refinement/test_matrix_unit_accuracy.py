"""Sums in a matrix unit that are left open, refuted where every number of their format is too far off."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from contract_texts import contract_text
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.errors.exact_errors import ExactValues
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.verification import verify
from mmaproof.spec.float_encoding import decode
from mmaproof.spec.formats import BF16, F16, F32, FloatFormat

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry product(.param .u64 a, .param .u64 b, .param .u64 c)
{{
    .reg .b64 %d<4>; .reg .b32 %a<8>; .reg .b32 %b<8>; .reg .b32 %r<3>; .reg .f32 %f<9>;
    ld.param.u64 %d0, [a]; ld.param.u64 %d1, [b]; ld.param.u64 %d2, [c];
    cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;
    mov.u32 %r0, 16;
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}}, [%d0], %r0;
    wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {{%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}}, [%d1], %r0;
    {body}
    ret;
}}
"""
OPERANDS = "{%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}"
IN_F16 = f"""
    .reg .b32 %c<4>; mov.b32 %c0, 0; mov.b32 %c1, 0; mov.b32 %c2, 0; mov.b32 %c3, 0;
    wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16 {{%c0,%c1,%c2,%c3}}, {OPERANDS}, {{%c0,%c1,%c2,%c3}};
    wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%d2], {{%c0,%c1,%c2,%c3}}, %r0;
"""


@pytest.mark.parametrize(("limit", "verdict"), [("1e-5", Verdict.REFUTED), ("2^-10", Verdict.UNDECIDED)])
def test_accumulators_of_f16_are_refuted_where_no_number_of_f16_is_near(
    limit: str, verdict: Verdict, tmp_path: Path
) -> None:
    kernel, contract = tmp_path / "kernel.ptx", tmp_path / "contract.toml"
    kernel.write_text(KERNEL.format(body=IN_F16), encoding="utf-8")
    arrays = {"A": "f16 16 16", "B": "f16 16 16", "C": "f16 16 16 out"}
    ensures = f'max_relative = "{limit}"\n[launch]\ngrid = 1\nblock = 32\n'
    text = contract_text("C[i, j] = sum(k, A[i, k] * B[k, j])", arrays, ensures=ensures)
    contract.write_text(text, encoding="utf-8")
    found = verify(kernel, contract)
    assert found.result.verdict is verdict
    (finding,) = found.result.findings
    assert finding.kind is (Kind.INACCURATE if verdict is Verdict.REFUTED else Kind.UNDECIDED)
    assert "in f16" in finding.message
    assert (found.counterexample is not None) == (verdict is Verdict.REFUTED)


@settings(max_examples=25)
@given(
    st.sampled_from([F16, BF16]),
    st.floats(-60000, 60000, width=32).filter(lambda x: abs(x) > 1e-4),
    st.booleans(),
)
def test_a_widened_number_is_at_least_as_far_off_as_the_nearest(
    fmt: FloatFormat, number: float, negated: bool
) -> None:
    store = TermStore()
    (term,) = store.apply(operations.fused(fmt, (), (F32,)), store.inputs("x", F32, np.arange(1)))
    if negated:
        (term,) = store.apply(operations.negate(fmt), np.array([term]))
    (wide,) = store.apply(operations.fused(F32, (), (fmt,)), np.array([term]))
    values = ExactValues(store, {"x": np.array([0], dtype=np.uint64)})
    value = Fraction(number)
    found = values.distance(int(wide), F32, value)
    words = np.arange(1 << 16, dtype=np.uint32).astype(fmt.storage)
    with np.errstate(invalid="ignore"):
        bits = np.asarray(decode(words, fmt), dtype=np.float64)
    finite = bits[np.isfinite(bits)]
    nearest = finite[np.argmin(np.abs(finite - number))]
    assert found <= abs(Fraction(float(nearest)) - value)
    if abs(number) < 60000:
        assert found == abs(Fraction(float(nearest)) - value)
