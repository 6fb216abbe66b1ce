"""A float is certain to the bit only where the assembler may not fuse its product with its sum."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.result import Equality, Verdict
from mmaproof.refinement.verification import verify

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry scaled(.param .u64 a, .param .u64 b, .param .u64 c)
{
    .reg .b64 %rd<5>;
    .reg .b32 %r1;
    .reg .f32 %f<5>;
    ld.param.u64 %rd1, [a];
    ld.param.u64 %rd2, [b];
    ld.param.u64 %rd3, [c];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.s64 %rd1, %rd1, %rd4;
    add.s64 %rd2, %rd2, %rd4;
    add.s64 %rd3, %rd3, %rd4;
    ld.global.f32 %f1, [%rd1];
    ld.global.f32 %f2, [%rd2];
    PRODUCT.f32 %f3, %f1, %f2;
    SUM.f32 %f4, %f3, %f1;
    st.global.f32 [%rd3], %f4;
    ret;
}
"""

ARRAY = """
[[param]]
name = "{name}"
type = "f32"
shape = [32]
access = "{access}"
"""

ACCESSES = {"A": "in", "B": "in", "C": "out"}
CONTRACT = (
    '[kernel]\nisa = "ptx"\n[launch]\ngrid = 1\nblock = 32\n'
    + "".join(
        ARRAY.format(name=name, access=access) for name, access in (("A", "in"), ("B", "in"), ("C", "out"))
    )
    + '[ensures]\nformula = "C[i] = A[i] * B[i] + A[i]"\n'
)


@pytest.mark.parametrize(
    ("product", "total", "equality"),
    [
        ("mul", "add", Equality.VALUE),
        ("mul.rn", "add", Equality.BITS),
        ("mul", "add.rn", Equality.BITS),
        ("mul.rn", "add.rn", Equality.BITS),
    ],
)
def test_what_spells_no_rounding_may_be_fused(
    product: str, total: str, equality: Equality, tmp_path: Path
) -> None:
    kernel, contract = tmp_path / "scaled.ptx", tmp_path / "scaled.toml"
    kernel.write_text(KERNEL.replace("PRODUCT", product).replace("SUM", total), encoding="utf-8")
    contract.write_text(CONTRACT, encoding="utf-8")
    result = verify(kernel, contract).result
    assert (result.verdict, result.equality) == (Verdict.VERIFIED, equality)
    assert (result.bound is None) == (equality is Equality.BITS)
