"""Products over indices in formulas: kernels that multiply rows, right and wrong; names stay free."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract_texts import contract_of

from mmaproof.api.kernels import verify
from mmaproof.spec.errors import InputError

SIZES = {"M": 2, "N": 1, "K": 3}

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry row_products(.param .u64 a, .param .u64 y)
{
  .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f32 %f<8>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 12;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  ld.global.f32 %f2, [%rd4+4];
  ld.global.f32 %f3, [%rd4+8];
  mul.f32 %f4, %f2, %f3;
  mul.f32 %f5, LAST, %f4;
  mul.wide.u32 %rd5, %r1, 4;
  add.s64 %rd6, %rd2, %rd5;
  st.global.f32 [%rd6], %f5;
  ret;
}
"""

CONTRACT = """
[kernel]
isa = "ptx"
entry = "row_products"
target = "sm_80"

[launch]
grid = 1
block = 4

[[param]]
name = "a"
type = "f32"
shape = [4, 3]

[[param]]
name = "y"
type = "f32"
shape = [4]
access = "out"

[ensures]
formula = "y[i] = FORMULA"
"""


def verdict(folder: Path, last: str, formula: str) -> tuple[str, str]:
    (folder / "kernel.ptx").write_text(KERNEL.replace("LAST", last), encoding="utf-8")
    (folder / "contract.toml").write_text(CONTRACT.replace("FORMULA", formula), encoding="utf-8")
    result = verify(folder / "kernel.ptx", folder / "contract.toml").result
    return str(result.verdict), " ".join(map(str, result.findings))


@pytest.mark.parametrize(
    ("last", "formula", "wanted"),
    [
        ("%f1", "prod(k, a[i, k])", "verified"),
        ("%f1", "a[i, 0] * prod(k < 2, a[i, k + 1])", "verified"),
        ("%f2", "prod(k, a[i, k])", "refuted"),
        ("0f3F800000", "prod(k, a[i, k])", "refuted"),
        ("0f3F800000", "prod(k, where(k > 0, a[i, k], 1.0))", "verified"),
    ],
)
def test_products_of_rows(last: str, formula: str, wanted: str, tmp_path: Path) -> None:
    found, said = verdict(tmp_path, last, formula)
    assert found == wanted, said
    assert wanted != "refuted" or "wrong-value" in said


def test_a_product_of_nothing_says_how_it_is_written() -> None:
    with pytest.raises(InputError, match=r"prod takes indices and what is multiplied: prod\(k, A\[i, k\]\)"):
        contract_of("C[i, 0] = prod(A[i, 0])", {"A": "f32 M K", "C": "f32 M N out"}, sizes=SIZES)


def test_arrays_may_be_called_so() -> None:
    contract_of("C[i, 0] = prod[i, 0] + 1.0", {"prod": "f32 M K", "C": "f32 M N out"}, sizes=SIZES)
