"""Sums over every number of terms that count with their index and the size itself."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import pytest
from quantified_kernels import prove_size

from mmaproof.refinement.sizes.partial_sums import PartialSums
from mmaproof.spec.errors import UnsupportedError

KERNEL = """.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 x, .param .u64 w, .param .u64 y, .param .u32 n)
{
.reg .pred %p<9>;
.reg .b32 %r<19>;
.reg .f32 %f<19>;
.reg .b64 %rd<19>;
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [w];
ld.param.u64 %rd3, [y];
ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x;
mul.wide.u32 %rd4, %r2, 4;
add.s64 %rd1, %rd1, %rd4;
add.s64 %rd3, %rd3, %rd4;
mov.f32 %f1, 0f00000000;
mov.u32 %r3, 0;
LOOP:
mul.wide.u32 %rd5, %r3, 4;
add.s64 %rd6, %rd1, %rd5;
ld.global.f32 %f2, [%rd6];
TERM
add.f32 %f1, %f1, %f3;
add.s32 %r3, %r3, 1;
setp.lt.u32 %p1, %r3, %r1;
@%p1 bra LOOP;
END
st.global.f32 [%rd3], %f1;
ret;
}
"""

CONTRACT = """
[kernel]
isa = "ptx"
entry = "kernel"
[launch]
grid = 1
block = 2
[sizes]
K = "any up to 1000000"
[[param]]
name = "x"
type = "f32"
shape = ["K + 1"]
access = "in"
[[param]]
name = "w"
type = "f32"
shape = ["K"]
access = "in"
[[param]]
name = "y"
type = "f32"
shape = [2]
access = "out"
[[param]]
name = "n"
type = "u32"
value = "K"
[ensures]
formula = "y[i] = FORMULA"
"""

PLAIN = "mov.f32 %f3, %f2;"
COUNTED = "cvt.rn.f32.u32 %f4, %r3;\nmul.f32 %f3, %f2, %f4;"
FROM_THE_END = """sub.s32 %r4, %r1, %r3;
mul.wide.u32 %rd7, %r4, 4;
add.s64 %rd7, %rd2, %rd7;
ld.global.f32 %f4, [%rd7+-4];
mul.f32 %f3, %f2, %f4;"""
TWO_TAPS = """mul.wide.u32 %rd7, %r3, 4;
add.s64 %rd7, %rd2, %rd7;
ld.global.f32 %f4, [%rd7];
mul.f32 %f3, %f2, %f4;
fma.rn.f32 %f3, %f2, 0f40400000, %f3;"""
MEAN = "cvt.rn.f32.u32 %f5, %r1;\ndiv.rn.f32 %f1, %f1, %f5;"
SUM = "sum(k < K, x[i + k])"

RIGHT: Mapping[str, tuple[str, str, str]] = {
    "a mean": (PLAIN, MEAN, f"{SUM} / K"),
    "a mean by the reciprocal": (PLAIN, MEAN, f"{SUM} * (1 / K)"),
    "a number of terms added": (PLAIN, "cvt.rn.f32.u32 %f5, %r1;\nadd.f32 %f1, %f1, %f5;", f"{SUM} + K"),
    "terms times their index": (COUNTED, "", "sum(k < K, x[i + k] * k)"),
    "a centre of mass": (COUNTED, MEAN, "sum(k < K, x[i + k] * k) / K"),
    "a convolution": (FROM_THE_END, "", "sum(k < K, x[i + k] * w[K - 1 - k])"),
    "two taps": (TWO_TAPS, "", "sum(k < K, r < 2, x[i + k] * where(r == 0, w[k], 3))"),
    "two taps, the outer sum": (TWO_TAPS, "", "sum(r < 2, k < K, x[i + k] * where(r == 0, w[k], 3 * r))"),
}

WRONG: Mapping[str, tuple[str, str, str]] = {
    "a mean of one more": (PLAIN, MEAN, f"{SUM} / (K + 1)"),
    "a mean of one less": (PLAIN, MEAN.replace("\n", "\nadd.f32 %f5, %f5, 0fBF800000;\n"), f"{SUM} / K"),
    "no mean": (PLAIN, "", f"{SUM} / K"),
    "an index from 1": (COUNTED, "", "sum(k < K, x[i + k] * (k + 1))"),
    "an index that falls": (COUNTED, "", "sum(k < K, x[i + k] * (K - 1 - k))"),
    "an index modulo 256": (
        f"and.b32 %r5, %r3, 255;\n{COUNTED.replace('%r3', '%r5')}",
        "",
        "sum(k < K, x[i + k] * k)",
    ),
    "weights in order": (FROM_THE_END, "", "sum(k < K, x[i + k] * w[k])"),
    "one tap": (TWO_TAPS, "", "sum(k < K, r < 1, x[i + k] * where(r == 0, w[k], 3))"),
    "three taps": (TWO_TAPS, "", "sum(k < K, r < 3, x[i + k] * where(r == 0, w[k], 3))"),
    "taps that count": (TWO_TAPS, "", "sum(r < 2, k < K, x[i + k] * where(r == 0, w[k], 3 * k))"),
}


def _prove(parts: tuple[str, str, str], folder: Path) -> None:
    term, end, formula = parts
    path = folder / "kernel.ptx"
    path.write_text(KERNEL.replace("TERM", term).replace("END", end), encoding="utf-8")
    prove_size(CONTRACT.replace("FORMULA", formula), path)


@pytest.mark.parametrize("name", RIGHT)
def test_sums_that_count_are_proved(name: str, tmp_path: Path) -> None:
    _prove(RIGHT[name], tmp_path)


@pytest.mark.parametrize("name", WRONG)
def test_other_counts_are_not(name: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError):
        _prove(WRONG[name], tmp_path)


def test_an_index_may_leave_no_array_of_the_formula(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="out of bounds"):
        _prove((FROM_THE_END, "", "sum(k < K, x[i + k] * w[K - k])"), tmp_path)


def test_terms_that_saturate_are_made_of_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    met = []
    original = PartialSums.so_far

    def so_far(sums: PartialSums, *given: object) -> object:
        with pytest.raises(UnsupportedError, match="elements alone"):
            sums.term_range(None)  # type: ignore[arg-type]
        met.append(sums)
        return original(sums, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(PartialSums, "so_far", so_far)
    _prove(RIGHT["terms times their index"], tmp_path)
    assert met


@pytest.mark.parametrize(("order", "is_right"), [("K - 1 - k", True), ("k", False)])
def test_an_array_may_have_any_name(order: str, is_right: bool, tmp_path: Path) -> None:
    path = tmp_path / "kernel.ptx"
    path.write_text(KERNEL.replace("TERM", FROM_THE_END).replace("END", ""), encoding="utf-8")
    text = CONTRACT.replace('"w"', '"sum_so_far"')
    text = text.replace("FORMULA", f"sum(k < K, x[i + k] * sum_so_far[{order}])")
    with nullcontext() if is_right else pytest.raises(UnsupportedError):
        prove_size(text, path)


WHOLE = (
    KERNEL.replace(".f32 %f<", ".b32 %f<")
    .replace(".global.f32", ".global.u32")
    .replace("mov.f32 %f1, 0f00000000", "mov.u32 %f1, 0")
    .replace("add.f32", "add.s32")
    .replace("END", "")
)
FACTORS: Mapping[str, str] = {
    "k": "mul.lo.s32 %f3, %f2, %r3;",
    "K": "mul.lo.s32 %f3, %f2, %r1;",
    "(K - k)": "sub.s32 %r4, %r1, %r3;\nmul.lo.s32 %f3, %f2, %r4;",
}


@pytest.mark.parametrize("stated", FACTORS)
@pytest.mark.parametrize("made", FACTORS)
def test_integers_are_counted_too(made: str, stated: str, tmp_path: Path) -> None:
    path = tmp_path / "kernel.ptx"
    path.write_text(WHOLE.replace("TERM", FACTORS[made]), encoding="utf-8")
    text = CONTRACT.replace('"f32"', '"s32"').replace("FORMULA", f"s32(sum(k < K, x[i + k] * {stated}))")
    with nullcontext() if made == stated else pytest.raises(UnsupportedError):
        prove_size(text, path)


GRAM = """
[kernel]
isa = "ptx"
[launch]
block = 4
[sizes]
K = "any up to 1000"
[[param]]
name = "a"
type = "f32"
shape = ["K", 2]
[[param]]
name = "y"
type = "f32"
shape = [2, 2]
access = "out"
[[param]]
name = "k"
type = "s32"
value = "K"
[ensures]
formula = "y[i, j] = sum(k, a[k, i] * a[k, j])"
"""
SYMMETRIC = """.version 8.0
.target sm_80
.address_size 64
.visible .entry gram(.param .u64 a, .param .u64 y, .param .u32 k) {
.reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %d<9>;
ld.param.u64 %d0, [a]; ld.param.u64 %d1, [y]; ld.param.u32 %r0, [k];
mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 1; and.b32 %r3, %r1, 1; mov.u32 %r4, 0; mov.f32 %f0, 0f00000000;
mul.wide.u32 %d2, %r2, 4; add.s64 %d2, %d0, %d2; mul.wide.u32 %d3, %r3, 4; add.s64 %d3, %d0, %d3;
AGAIN: ld.global.f32 %f1, [%d2]; ld.global.f32 %f2, [%d3]; fma.rn.f32 %f0, %f1, %f2, %f0;
add.s64 %d2, %d2, 8; add.s64 %d3, %d3, 8; add.s32 %r4, %r4, 1; setp.lt.s32 %p1, %r4, %r0; @%p1 bra AGAIN;
mul.wide.u32 %d4, %r1, 4; add.s64 %d4, %d1, %d4; st.global.f32 [%d4], %f0; ret;
}
"""


def test_outputs_may_share_a_sum(tmp_path: Path) -> None:
    """A symmetric product: y[0, 1] and y[1, 0] are one sum, in registers of two threads."""
    path = tmp_path / "gram.ptx"
    path.write_text(SYMMETRIC, encoding="utf-8")
    assert prove_size(GRAM, path).domain.most == 1000


def test_a_sum_of_integers_that_a_loop_holds_as_a_float_is_none(tmp_path: Path) -> None:
    text = KERNEL.replace(
        "ld.global.f32 %f2, [%rd6];", "ld.global.s32 %r5, [%rd6];\ncvt.rn.f32.s32 %f2, %r5;"
    )
    text = text.replace("st.global.f32 [%rd3], %f1;", "cvt.rzi.s32.f32 %r6, %f1;\nst.global.s32 [%rd3], %r6;")
    path = tmp_path / "kernel.ptx"
    path.write_text(text.replace("TERM", PLAIN).replace("END", ""), encoding="utf-8")
    contract = CONTRACT.replace('"f32"', '"s32"').replace("FORMULA", SUM)
    with pytest.raises(UnsupportedError, match="a sum of integers is held as f32"):
        prove_size(contract, path)
