"""Kernels that bring indices back into a size, `x % n`, are shown for every size, and wrong ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from edited_kernels import edited
from element_contracts import contract_of
from quantified_kernels import prove_blocks

from mmaproof.refinement.findings.result import Equality
from mmaproof.spec.errors import UnsupportedError

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry wrapped(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %p;
    .reg .f32 %f<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    shl.b32 %r4, %r2, 6;
    or.b32 %r5, %r4, %r3;
    rem.u32 %r6, %r5, %r1;
    mul.wide.u32 %rd3, %r6, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.f32 %f0, [%rd4];
    mov.f32 %f1, %f0;
    add.f32 %f2, %f0, %f1;
    setp.ge.u32 %p, %r5, %r1;
    @%p bra END;
    mul.wide.u32 %rd5, %r5, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f2;
END:
    ret;
}
"""

CONTRACT = contract_of("wrapped", {"n": "DOMAIN"}, ["(n + 63) // 64"], [64], "Y[i] = X[i] + X[i]", passed="n")


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "wrapped.ptx"
    path.write_text(KERNEL, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "domain", ["any up to 100000", "any multiple of 16 up to 100000", "any multiple of 64"]
)
def test_rows_that_are_stored_are_those_that_were_loaded(kernel: Path, domain: str) -> None:
    (shown,) = prove_blocks(kernel, CONTRACT.replace("DOMAIN", domain)).domains
    assert shown.most >= 99984


FAULTS = {
    "the next row": (("mul.wide.u32 %rd3, %r6, 4;", "add.u32 %r6, %r6, 1;\nmul.wide.u32 %rd3, %r6, 4;"),),
    "by one more": (("rem.u32 %r6, %r5, %r1;", "add.u32 %r7, %r1, 1;\nrem.u32 %r6, %r5, %r7;"),),
    "by one less": (("rem.u32 %r6, %r5, %r1;", "sub.u32 %r7, %r1, 1;\nrem.u32 %r6, %r5, %r7;"),),
    "all are stored": (("setp.ge.u32 %p, %r5, %r1;", "setp.ge.u32 %p, %r6, %r1;"),),
    "of another lane": (("mov.f32 %f1, %f0;", "shfl.sync.down.b32 %f1, %f0, 1, 31, -1;"),),
    "of the next index": (
        (
            "mov.f32 %f1, %f0;",
            "add.u32 %r7, %r5, 1;\nrem.u32 %r7, %r7, %r1;\nmul.wide.u32 %rd3, %r7, 4;\n"
            "add.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, [%rd4];",
        ),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_wrong_with_wrapped_rows_is_not_shown(kernel: Path, fault: str, tmp_path: Path) -> None:
    wrong = edited(tmp_path, kernel, *FAULTS[fault])
    with pytest.raises(UnsupportedError):
        prove_blocks(wrong, CONTRACT.replace("DOMAIN", "any up to 100000"))


def test_what_depends_on_rows_that_may_not_be_there_is_refused(kernel: Path, tmp_path: Path) -> None:
    other = "shfl.sync.down.b32 %f1, %f0, 1, 31, -1;\nmax.f32 %f1, %f1, %f0;"
    wrong = edited(tmp_path, kernel, ("mov.f32 %f1, %f0;", other))
    with pytest.raises(UnsupportedError, match="is not shown"):
        prove_blocks(wrong, CONTRACT.replace("DOMAIN", "any up to 100000"))


def test_rows_that_may_not_be_there_may_cancel_as_numbers(kernel: Path, tmp_path: Path) -> None:
    other = "shfl.sync.down.b32 %f1, %f0, 1, 31, -1;\nsub.f32 %f1, %f1, %f1;\nadd.f32 %f1, %f1, %f0;"
    text = CONTRACT.replace("DOMAIN", "any up to 100000")
    assert (
        prove_blocks(edited(tmp_path, kernel, ("mov.f32 %f1, %f0;", other)), text).equality is Equality.VALUE
    )


BEHIND = """
    shfl.sync.down.b32 %f1, %f0, 1, 31, -1;
    shfl.sync.down.b32 %f2, %f0, 2, 31, -1;
    sub.f32 %f1, %f1, %f2;
    and.b32 %r8, %r3, 31;
    setp.lt.u32 %p, %r8, 30;
    selp.f32 %f1, %f1, 0f00000000, %p;
    add.u32 %r7, %r5, 1;
    setp.ge.u32 %p, %r7, %r1;
    selp.f32 %f1, %f1, 0f00000000, %p;
    add.u32 %r7, %r5, 2;
    setp.ge.u32 %p, %r7, %r1;
    selp.f32 %f1, %f1, 0f00000000, %p;
    add.f32 %f1, %f1, %f0;"""
"""Adds the difference of the next two rows, where both are behind the end: of the elements 0 and 1."""


@pytest.mark.parametrize("domain", ["any up to 100000", "any up to 40", "any multiple of 8 up to 4000"])
def test_two_rows_behind_the_end_are_not_one(kernel: Path, domain: str, tmp_path: Path) -> None:
    wrong = edited(tmp_path, kernel, ("mov.f32 %f1, %f0;", BEHIND))
    with pytest.raises(UnsupportedError, match="is not shown"):
        prove_blocks(wrong, CONTRACT.replace("DOMAIN", domain))


def test_a_row_behind_the_end_is_one(kernel: Path, tmp_path: Path) -> None:
    same = edited(tmp_path, kernel, ("mov.f32 %f1, %f0;", BEHIND.replace("%f0, 2, 31", "%f0, 1, 31")))
    prove_blocks(same, CONTRACT.replace("DOMAIN", "any up to 100000"))


@pytest.mark.parametrize(
    ("index", "seen"),
    [
        ("i", True),
        ("i % 536870912", False),
        ("i % (16384 * 32768)", False),
        ("i - (i >> 29 << 29)", False),
        ("i // 8 * 8 + i % 8", True),
    ],
)
def test_what_an_index_that_overflows_meets_is_a_fault_unless_the_formula_says_so(
    kernel: Path, index: str, seen: bool, tmp_path: Path
) -> None:
    guard = "setp.ge.u32 %p, %r5, %r1;\n@%p bra END;"
    edits = (("rem.u32 %r6, %r5, %r1;", f"{guard}\nmul.lo.u32 %r6, %r5, 8;\nshr.u32 %r6, %r6, 3;"),)
    contract = CONTRACT.replace("DOMAIN", "any up to 1073741824")
    contract = contract.replace("X[i] + X[i]", f"X[{index}] + X[{index}]")
    found = prove_blocks(edited(tmp_path, kernel, *edits), contract).overflow
    assert (found is not None and "it should be X[536870912]" in found.access) == seen


def test_an_index_that_overflows_is_no_fault_where_what_it_loads_cancels(
    kernel: Path, tmp_path: Path
) -> None:
    guard = "setp.ge.u32 %p, %r5, %r1;\n@%p bra END;"
    edits = (
        ("rem.u32 %r6, %r5, %r1;", f"{guard}\nmul.lo.u32 %r6, %r5, 8;\nshr.u32 %r6, %r6, 3;"),
        (
            "mov.f32 %f1, %f0;",
            "sub.f32 %f1, %f0, %f0;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
            "ld.global.f32 %f0, [%rd4];",
        ),
    )
    contract = CONTRACT.replace("DOMAIN", "any up to 1073741824").replace("X[i] + X[i]", "X[i]")
    assert prove_blocks(edited(tmp_path, kernel, *edits), contract).overflow is None
