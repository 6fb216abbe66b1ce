"""Stores that threads make in steps, for every number of elements: one thread stands for all."""

from __future__ import annotations

from pathlib import Path

import pytest
from quantified_kernels import contract_and_kernel

from mmaproof.refinement.ptx.any_size.size_proofs import SizeProof
from mmaproof.refinement.ptx.any_size.thread_stores import ThreadStores
from mmaproof.spec.errors import InputError, UnsupportedError

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 2
block = 32
[sizes]
K = "any up to 100000"
[[param]]
name = "x"
type = "f32"
shape = ["K"]
[[param]]
name = "y"
type = "f32"
shape = ["K"]
access = "inout"
[[param]]
name = "k"
type = "s32"
value = "K"
[ensures]
formula = "y[i] = old(y[i]) + x[i]"
"""

BEGIN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 y, .param .u32 k) {
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %d<9>;
ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.u32 %r0, [k];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %nctaid.x;
mad.lo.s32 %r5, %r1, %r3, %r2; mul.lo.s32 %r6, %r3, %r4; mov.f32 %f9, 0f00000000;
"""
STEPS = """
setp.ge.s32 %p0, %r5, %r0; @%p0 ret;
LOOP:
mul.wide.s32 %d2, %r5, 4; add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;
ld.global.f32 %f0, [%d3]; ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, %f0;
st.global.f32 [%d4], %f2;
add.s32 %r5, %r5, %r6; setp.lt.s32 %p1, %r5, %r0; @%p1 bra LOOP;
ret;
}
"""
VECTORS = """
shr.u32 %r7, %r0, 1; mov.u32 %r8, %r5; setp.ge.s32 %p0, %r8, %r7; @%p0 bra REST;
LOOP:
mul.wide.s32 %d2, %r8, 8; add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;
ld.global.v2.f32 {%f0, %f3}, [%d3]; ld.global.v2.f32 {%f1, %f4}, [%d4];
add.f32 %f2, %f1, %f0; add.f32 %f5, %f4, %f3;
st.global.v2.f32 [%d4], {%f2, %f5};
add.s32 %r8, %r8, %r6; setp.lt.s32 %p1, %r8, %r7; @%p1 bra LOOP;
REST:
shl.b32 %r9, %r7, 1; add.s32 %r5, %r9, %r5;
setp.ge.s32 %p0, %r5, %r0; @%p0 ret;
mul.wide.s32 %d2, %r5, 4; add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;
ld.global.f32 %f0, [%d3]; ld.global.f32 %f1, [%d4]; add.f32 %f2, %f1, %f0;
st.global.f32 [%d4], %f2;
ret;
}
"""

ROWS = (
    CONTRACT.replace('K = "any', 'M = 2\nK = "any')
    .replace("grid = 2", 'grid = "M"')
    .replace('shape = ["K"]', 'shape = ["M", "K"]')
    .replace("y[i] = old(y[i]) + x[i]", "y[i, j] = old(y[i, j]) + x[i, j]")
)
ROW = BEGIN.replace("mov.u32 %r4, %nctaid.x;", "").replace(
    "mad.lo.s32 %r5, %r1, %r3, %r2; mul.lo.s32 %r6, %r3, %r4;",
    "mul.wide.s32 %d2, %r1, %r0; shl.b64 %d2, %d2, 2; add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2; "
    "mov.u32 %r5, %r2; mov.u32 %r6, %r3;",
)


def prove(folder: Path, text: str, kernel: str) -> SizeProof:
    """Prove a kernel; raises `UnsupportedError` or `InputError` if it is not shown."""
    path = folder / "add.ptx"
    path.write_text(kernel, encoding="utf-8")
    contract, entry = contract_and_kernel(text, path)
    assert contract.quantified is not None
    (domain,) = contract.quantified.domains
    return ThreadStores(entry, contract, {}, domain, lambda _: None).proof()


@pytest.mark.parametrize(
    ("text", "kernel"),
    [(CONTRACT, BEGIN + STEPS), (CONTRACT, BEGIN + VECTORS), (ROWS, ROW + STEPS)],
    ids=["elements", "vectors", "rows"],
)
def test_what_threads_store_in_steps_is_shown_for_every_number(
    text: str, kernel: str, tmp_path: Path
) -> None:
    """Also of vectors, with an element that is left, and of a block for each row."""
    found = prove(tmp_path, text, kernel)
    assert not found.limit
    assert (found.domain.least, found.domain.most) == (1, 100000)
    assert not found.alone


FAULTS = [
    ("setp.lt.s32 %p1, %r5, %r0", "setp.le.s32 %p1, %r5, %r0"),
    ("setp.ge.s32 %p0, %r5, %r0", "setp.gt.s32 %p0, %r5, %r0"),
    ("mul.lo.s32 %r6, %r3, %r4;", "mov.u32 %r6, %r3;"),  # elements are added to twice
    ("mul.lo.s32 %r6, %r3, %r4;", "mul.lo.s32 %r6, %r3, 3;"),
    ("mad.lo.s32 %r5, %r1, %r3, %r2;", "mov.u32 %r5, %r2;"),
    ("st.global.f32 [%d4], %f2;", "st.global.f32 [%d4+4], %f2;"),
    ("st.global.f32 [%d4], %f2;", "setp.gt.f32 %p3, %f0, 0f00000000; @%p3 st.global.f32 [%d4], %f2;"),
    ("st.global.f32 [%d4], %f2;", "st.global.f32 [%d4], %f2; st.global.f32 [%d1], %f2;"),
    ("st.global.f32 [%d4], %f2;", "setp.eq.s32 %p3, %r5, 4711; @%p3 mov.f32 %f2, %f0; "
     "st.global.f32 [%d4], %f2;"),
    ("st.global.f32 [%d4], %f2;", "setp.gt.s32 %p3, %r0, 90000; @%p3 mov.f32 %f2, %f0; "
     "st.global.f32 [%d4], %f2;"),
    ("add.f32 %f2, %f1, %f0;", "add.f32 %f9, %f9, %f0; add.f32 %f2, %f1, %f9;"),  # of all turns before
    ("ld.global.f32 %f1, [%d4];", "sub.s32 %r9, %r5, %r6; max.s32 %r9, %r9, 0; mul.wide.s32 %d5, %r9, 4; "
     "add.s64 %d5, %d1, %d5; ld.global.f32 %f1, [%d5];"),
    ("mov.u32 %r4, %nctaid.x;", "mov.u32 %r4, %nctaid.y; add.s32 %r4, %r4, 1; mov.u32 %r9, %laneid; "
     "and.b32 %r9, %r9, 0; add.s32 %r4, %r4, %r9;"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong"), FAULTS)
def test_faults_are_not_shown(right: str, wrong: str, tmp_path: Path) -> None:
    """Ends, steps, places, values, conditions; and what other turns store or hold."""
    kernel = BEGIN + STEPS
    assert right in kernel
    with pytest.raises((UnsupportedError, InputError)):
        prove(tmp_path, CONTRACT, kernel.replace(right, wrong))


VECTOR_FAULTS = [
    ("st.global.v2.f32 [%d4], {%f2, %f5}", "st.global.v2.f32 [%d4], {%f5, %f2}"),
    ("setp.ge.s32 %p0, %r5, %r0; @%p0 ret;\nmul", "ret;\nmul"),
]


@pytest.mark.parametrize(("right", "wrong"), VECTOR_FAULTS)
def test_faults_of_vectors_are_not_shown(right: str, wrong: str, tmp_path: Path) -> None:
    """Elements of a vector, and those behind all."""
    kernel = BEGIN + VECTORS
    assert right in kernel
    with pytest.raises((UnsupportedError, InputError)):
        prove(tmp_path, CONTRACT, kernel.replace(right, wrong))


def test_sums_over_the_size_are_not_taken_for_sums_of_one_element(tmp_path: Path) -> None:
    """A formula is evaluated at sizes of one element, where such a sum has one term."""
    text = CONTRACT.replace("old(y[i]) + x[i]", "old(y[i]) + sum(j, x[j]) - sum(j, x[j]) + x[i]")
    with pytest.raises((UnsupportedError, InputError)):
        prove(tmp_path, text, BEGIN + STEPS)
    text = CONTRACT.replace("old(y[i]) + x[i]", "old(y[i]) + sum(j < K, x[0])")
    with pytest.raises((UnsupportedError, InputError)):
        prove(tmp_path, text, BEGIN + STEPS)


def test_neighbours_and_sizes_in_formulas_are_those_of_each_element(tmp_path: Path) -> None:
    """The formula's indices are polynomials, so that a difference of neighbours is one."""
    text = CONTRACT.replace("old(y[i]) + x[i]", "old(y[i]) + x[K - 1 - i]")
    kernel = BEGIN + STEPS.replace(
        "add.s64 %d3, %d0, %d2;", "sub.s32 %r9, %r0, %r5; mul.wide.s32 %d3, %r9, 4; add.s64 %d3, %d0, %d3;"
    ).replace("ld.global.f32 %f0, [%d3];", "ld.global.f32 %f0, [%d3+-4];")
    assert prove(tmp_path, text, kernel).domain.most == 100000
    with pytest.raises((UnsupportedError, InputError)):
        prove(tmp_path, text, kernel.replace("[%d3+-4]", "[%d3+-8]"))


CAPPED = CONTRACT.replace("grid = 2", 'grid = "min((K + 31) // 32, 4)"')


def every(folder: Path, kernel: str) -> SizeProof:
    """Prove a kernel with a capped grid; raises `UnsupportedError` or `InputError` if it is not shown."""
    path = folder / "add.ptx"
    path.write_text(kernel, encoding="utf-8")
    contract, entry = contract_and_kernel(CAPPED, path)
    assert contract.quantified is not None
    (domain,) = contract.quantified.domains
    return entry.for_every(contract, {}, domain, lambda _: None)


def test_grids_with_a_cap_are_shown_below_and_beyond_it(tmp_path: Path) -> None:
    """One block stands for all below, and one thread beyond."""
    found = every(tmp_path, BEGIN + STEPS)
    assert (found.domain.least, found.domain.most, found.limit) == (1, 100000, "")
    assert not found.alone
    names = {each.name.split(":")[0] for each in found.obligations}
    assert {"before the last tile of K", "the last tile of K"} <= names


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("@%p1 bra LOOP;", ""),
        ("mul.lo.s32 %r6, %r3, %r4;", "mov.u32 %r6, 64;"),
        ("st.global.f32 [%d4], %f2;", "setp.lt.u32 %p3, %r4, 3; @%p3 mov.f32 %f2, %f0; "
         "st.global.f32 [%d4], %f2;"),
        ("st.global.f32 [%d4], %f2;", "setp.eq.u32 %p3, %r4, 4; @%p3 mov.f32 %f2, %f0; "
         "st.global.f32 [%d4], %f2;"),
    ],
)  # fmt: skip
def test_faults_below_or_beyond_a_cap_are_not_shown(right: str, wrong: str, tmp_path: Path) -> None:
    """Both proofs count."""
    kernel = BEGIN + STEPS
    assert right in kernel
    with pytest.raises((UnsupportedError, InputError)):
        every(tmp_path, kernel.replace(right, wrong))


def test_grids_that_depend_on_the_size_in_another_way_are_refused(tmp_path: Path) -> None:
    """A block for each row is one for rows of which there are as many whatever the size."""
    text = ROWS.replace("M = 2\n", "").replace('up to 100000"', 'up to 100000"\nM = "2 * K"')
    with pytest.raises(UnsupportedError, match="depends on K"):
        prove(tmp_path, text, ROW + STEPS)
    plain = ROWS.replace('grid = "M"', 'grid = ["M", 1]')
    assert prove(tmp_path, plain, ROW + STEPS).domain.most == 100000
