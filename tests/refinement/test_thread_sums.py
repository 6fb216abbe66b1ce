"""Sums that threads go over in steps, for every number of terms: one thread, and all where they meet."""

from __future__ import annotations

from pathlib import Path

import pytest
from quantified_kernels import contract_and_kernel

from mmaproof.refinement import every_size
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.ptx.any_size import residue_classes
from mmaproof.refinement.ptx.any_size.block_proofs import BlockProver
from mmaproof.refinement.ptx.any_size.size_proofs import SizeProof
from mmaproof.refinement.ptx.any_size.thread_sums import ThreadSums
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError, UnsupportedError

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = "M"
block = 32
[sizes]
M = 2
K = "any up to 100000"
[[param]]
name = "a"
type = "f32"
shape = ["M", "K"]
[[param]]
name = "y"
type = "f32"
shape = ["M"]
access = "out"
[[param]]
name = "k"
type = "s32"
value = "K"
[ensures]
formula = "y[i] = sum(k, a[i, k])"
"""

BEGIN = """.version 8.0
.target sm_80
.address_size 64
.visible .entry rows(.param .u64 a, .param .u64 y, .param .u32 k) {
.reg .pred %p<9>; .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %d<9>;
ld.param.u64 %d0, [a]; ld.param.u64 %d1, [y]; ld.param.u32 %r0, [k];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.f32 %f0, 0f00000000;
mul.wide.s32 %d2, %r1, %r0; shl.b64 %d2, %d2, 2; add.s64 %d2, %d0, %d2; mov.u32 %r3, %r2;
"""
END = """
MEET:
shfl.sync.bfly.b32 %f1, %f0, 16, 31, -1; add.f32 %f0, %f0, %f1;
shfl.sync.bfly.b32 %f1, %f0, 8, 31, -1; add.f32 %f0, %f0, %f1;
shfl.sync.bfly.b32 %f1, %f0, 4, 31, -1; add.f32 %f0, %f0, %f1;
shfl.sync.bfly.b32 %f1, %f0, 2, 31, -1; add.f32 %f0, %f0, %f1;
shfl.sync.bfly.b32 %f1, %f0, 1, 31, -1; add.f32 %f0, %f0, %f1;
setp.ne.u32 %p0, %r2, 0; @%p0 ret;
mul.wide.s32 %d3, %r1, 4; add.s64 %d3, %d1, %d3; st.global.f32 [%d3], %f0; ret;
}
"""
TERM = """mul.wide.s32 %d4, %r3, 4; add.s64 %d4, %d2, %d4; ld.global.f32 %f2, [%d4]; add.f32 %f0, %f0, %f2;
add.s32 %r3, %r3, 32;
"""
LOOP = f"""setp.ge.s32 %p1, %r3, %r0; @%p1 bra MEET;
AGAIN: {TERM} setp.lt.s32 %p1, %r3, %r0; @%p1 bra AGAIN;
"""
UNROLLED = f"""setp.ge.s32 %p1, %r3, %r0; @%p1 bra MEET;
not.b32 %r4, %r2; add.s32 %r4, %r4, %r0; shr.u32 %r5, %r4, 5; add.s32 %r5, %r5, 1; and.b32 %r6, %r5, 1;
setp.eq.s32 %p2, %r6, 0; @%p2 bra TWICE; {TERM}
TWICE: setp.lt.u32 %p3, %r4, 32; @%p3 bra MEET;
AGAIN: {TERM} {TERM} setp.lt.s32 %p1, %r3, %r0; @%p1 bra AGAIN;
"""
VECTORS = """shr.u32 %r4, %r0, 2; setp.ge.s32 %p1, %r3, %r4; @%p1 bra LEFT;
AGAIN: mul.wide.s32 %d4, %r3, 16; add.s64 %d4, %d2, %d4; ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%d4];
add.f32 %f6, %f2, %f3; add.f32 %f7, %f4, %f5; add.f32 %f6, %f6, %f7; add.f32 %f0, %f0, %f6;
add.s32 %r3, %r3, 32; setp.lt.s32 %p1, %r3, %r4; @%p1 bra AGAIN;
LEFT: shl.b32 %r5, %r4, 2; add.s32 %r3, %r5, %r2; setp.ge.s32 %p2, %r3, %r0; @%p2 bra MEET;
mul.wide.s32 %d4, %r3, 4; add.s64 %d4, %d2, %d4; ld.global.f32 %f2, [%d4]; add.f32 %f0, %f0, %f2;
"""
ONE_ROW = CONTRACT.replace("M = 2", "M = 1")


def prove(folder: Path, text: str, kernel: str, *, falls: bool = False) -> SizeProof:
    """Prove a kernel; raises `UnsupportedError` or `InputError` if it is not shown."""
    path = folder / "rows.ptx"
    path.write_text(kernel, encoding="utf-8")
    contract, entry = contract_and_kernel(text, path)
    assert contract.quantified is not None
    (domain,) = contract.quantified.domains
    return ThreadSums(entry, contract, {}, domain, lambda _: None).proof(falls=falls)


def test_lanes_in_steps_are_one_proof_for_all_rests(tmp_path: Path) -> None:
    proof = prove(tmp_path, CONTRACT, BEGIN + LOOP + END)
    assert (proof.domain.most, len(proof.alone), proof.limit) == (100000, 0, "")
    assert proof.roundings is not None and "for every K" in str(proof.roundings)


@pytest.mark.parametrize("loops", [UNROLLED, VECTORS], ids=["unrolled", "vectors"])
def test_what_compilers_make_of_such_loops_is_shown(loops: str, tmp_path: Path) -> None:
    text = ONE_ROW if loops == VECTORS else CONTRACT  # rows of any length are aligned to one element
    assert prove(tmp_path, text, BEGIN + loops + END).domain.most == 100000


@pytest.mark.parametrize("domain", ["any >= 33 up", "any multiple of 4 up"])
def test_domains_may_begin_anywhere_or_have_steps(domain: str, tmp_path: Path) -> None:
    text = CONTRACT.replace("any up", domain)
    assert prove(tmp_path, text, BEGIN + LOOP + END).domain.most == 100000


FAULTS = [
    (LOOP, "add.s32 %r3, %r3, 32", "add.s32 %r3, %r3, 33"),
    (LOOP, "setp.lt.s32 %p1, %r3, %r0", "setp.le.s32 %p1, %r3, %r0"),
    (LOOP, "setp.ge.s32 %p1, %r3, %r0", "setp.gt.s32 %p1, %r3, %r0"),
    (LOOP, "mov.u32 %r3, %r2", "add.u32 %r3, %r2, 1"),
    (LOOP, "setp.lt.s32 %p1, %r3, %r0", "setp.lt.s32 %p1, %r3, 5000"),
    (LOOP, "add.f32 %f0, %f0, %f2", "mov.f32 %f0, %f2"),
    (LOOP, "mov.f32 %f0, 0f00000000", "mov.f32 %f0, 0f3F800000"),
    (LOOP, "setp.ge.s32 %p1, %r3, %r0", "setp.eq.s32 %p3, %r2, 31; setp.ge.or.s32 %p1, %r3, %r0, %p3"),
    (LOOP, "shfl.sync.bfly.b32 %f1, %f0, 1, 31, -1", "mov.f32 %f1, %f0"),
    (UNROLLED, "and.b32 %r6, %r5, 1", "and.b32 %r6, %r4, 1"),
    (VECTORS, "add.f32 %f7, %f4, %f5", "add.f32 %f7, %f4, %f4"),
    (VECTORS, "setp.ge.s32 %p2, %r3, %r0", "setp.gt.u32 %p3, %r2, 1; setp.ge.or.s32 %p2, %r3, %r0, %p3"),
]  # fmt: skip


@pytest.mark.parametrize(("loops", "right", "wrong"), FAULTS)
def test_faults_are_not_shown(loops: str, right: str, wrong: str, tmp_path: Path) -> None:
    whole = BEGIN + loops + END
    assert right in whole
    with pytest.raises((UnsupportedError, InputError)):
        prove(tmp_path, ONE_ROW if loops == VECTORS else CONTRACT, whole.replace(right, wrong, 1))


def test_too_few_threads_for_what_vectors_leave_are_refused(tmp_path: Path) -> None:
    """Of two threads, none takes the third term behind vectors of four."""
    first, last = END.index("shfl.sync.bfly.b32 %f1, %f0, 16"), END.index("shfl.sync.bfly.b32 %f1, %f0, 1,")
    end = END[:first] + END[last:].replace("31, -1", "31, 3")
    loops = VECTORS.replace("add.s32 %r3, %r3, 32", "add.s32 %r3, %r3, 2")
    with pytest.raises(UnsupportedError, match="quotient"):
        prove(tmp_path, ONE_ROW.replace("block = 32", "block = 2"), BEGIN + loops + end)


def test_a_row_that_the_kernel_writes_is_not_read_for_others(tmp_path: Path) -> None:
    """Another block may have written it: what is read there is not what it was before the kernel."""
    text = CONTRACT.replace('shape = ["M", "K"]', 'shape = ["M", "K"]\naccess = "inout"')
    with pytest.raises((UnsupportedError, InputError)):
        prove(tmp_path, text, BEGIN + LOOP + END)


def test_terms_may_be_added_from_the_last_one(tmp_path: Path) -> None:
    falling = """setp.lt.s32 %p1, %r0, 1; @%p1 bra MEET; add.s32 %r3, %r0, -1; mov.f32 %f0, 0f00000000;
    AGAIN: mul.wide.s32 %d4, %r3, 4; add.s64 %d4, %d2, %d4; ld.global.f32 %f2, [%d4]; add.f32 %f0, %f0, %f2;
    add.s32 %r3, %r3, -1; setp.ge.s32 %p1, %r3, 0; @%p1 bra AGAIN;
    """
    end = """MEET: mul.wide.s32 %d3, %r1, 4; add.s64 %d3, %d1, %d3; st.global.f32 [%d3], %f0; ret; }"""
    text = ONE_ROW.replace("block = 32", "block = 1")
    assert prove(tmp_path, text, BEGIN + falling + end, falls=True).domain.most == 100000
    for right, wrong in [("setp.ge.s32 %p1, %r3, 0", "setp.gt.s32 %p1, %r3, 0"), ("%r0, -1", "%r0, -2")]:
        with pytest.raises(UnsupportedError):
            prove(tmp_path, text, BEGIN + falling.replace(right, wrong, 1) + end, falls=True)


TWO_ROWS = CONTRACT.replace('grid = "M"', 'grid = "(M + 1) // 2"').replace("block = 32", "block = 64")
ROWS = BEGIN.replace(
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;",
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; ld.param.u32 %r8, [m]; shl.b32 %r1, %r1, 1;"
    "shr.u32 %r9, %r2, 5; add.s32 %r1, %r1, %r9; and.b32 %r2, %r2, 31; GUARD",
).replace(".param .u32 k)", ".param .u32 k, .param .u32 m)")
MORE = TWO_ROWS.replace("M = 2", 'M = "any up to 1000"').replace(
    "[ensures]", '[[param]]\nname = "m"\ntype = "s32"\nvalue = "M"\n[ensures]'
)


@pytest.mark.parametrize("guarded", [True, False])
def test_warps_of_rows_that_there_may_not_be_are_to_leave_first(guarded: bool, tmp_path: Path) -> None:
    """Loops are skipped where all threads meet: what they read in other rows would not be seen."""
    guard = "setp.ge.s32 %p4, %r1, %r8; @%p4 ret;" if guarded else ""
    end = END if guarded else END.replace("@%p0 ret;", "setp.ge.or.s32 %p0, %r1, %r8, %p0; @%p0 ret;")
    path = tmp_path / "rows.ptx"
    path.write_text(ROWS.replace("GUARD", guard) + LOOP + end, encoding="utf-8")
    contract, kernel = contract_and_kernel(MORE, path)
    prover = BlockProver(kernel, contract, lambda _: None)
    (order,), (rows,), (terms,) = prover.orders, prover.domains, prover.others
    *_, last = order.positions([rows], {"M": 1000})
    sums = ThreadSums(kernel, contract, {}, terms, lambda _: None, last)
    if guarded:
        assert sums.proof().domain.most == 100000
        return
    with pytest.raises(UnsupportedError, match="rows that M may not have"):
        sums.proof()


def test_loops_of_threads_that_no_sum_needs_are_not_skipped(tmp_path: Path) -> None:
    """A second warp goes over a row for nothing: whether that lies in the array would not be seen."""
    wide = CONTRACT.replace("block = 32", "block = 64")
    with pytest.raises(UnsupportedError, match="neighbouring threads"):
        prove(tmp_path, wide, BEGIN + LOOP + END)


def verified(folder: Path, kernel: str) -> Result:
    """Verify a kernel for every K."""
    (folder / "rows.ptx").write_text(kernel, encoding="utf-8")
    (folder / "rows.toml").write_text(ONE_ROW, encoding="utf-8")
    return verify(folder / "rows.ptx", folder / "rows.toml").result


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("add.s32 %r3, %r3, 32", "add.s32 %r3, %r3, 31"),
        ("shfl.sync.bfly.b32 %f1, %f0, 16, 31, -1", "mov.f32 %f1, 0f00000000"),
    ],
)
def test_a_kernel_is_run_for_several_steps_before_slower_proofs(
    right: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is right where each thread takes one term at most, and the other ways took minutes to fail."""

    def slow(*_: object) -> SizeProof:
        raise AssertionError("proved in another way")

    monkeypatch.setattr(residue_classes, "prove", slow)
    found = verified(tmp_path, (BEGIN + LOOP + END).replace(right, wrong, 1))
    assert found.verdict is Verdict.REFUTED and "K = 34" in found.findings[0].message


def test_a_kernel_is_run_for_several_steps_only_where_no_proof_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(every_size._Probe, "__call__", None)
    assert verified(tmp_path, BEGIN + LOOP + END).verdict is Verdict.VERIFIED
