"""CUDA kernels with one fault planted are refuted, and for that fault; harmless edits are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cuda_contracts import CORPUS, KERNELS, Edit, verify_edited
from cuda_faults import (
    DEQUANTISED,
    F64,
    FAULTS,
    GEMM,
    GEMV,
    MXF4,
    MXF8,
    S4,
    SIMT,
    SPARSE,
    WMMA_S8,
    WMMA_SCALED,
)
from frozen_table import cheapest, frozen
from sweep_parameters import spread

from mmaproof.refinement.findings.finding import Kind

AT_THE_EDIT = {
    "registers of A swapped",
    "registers of B swapped",
    "ldmatrix of B without .trans",
    "nibbles exchanged after conversion",
    "scale of the neighbouring column",
    "byte id of a scale",
    "scale registers exchanged",
    "elements read as another format",
    "registers of A in the order of memory",
    "signed elements read as unsigned",
    "result of the neighbouring column stored",
    "tile of B read a row further down",
    "beta is alpha",
    "row distance of a fragment",
}
"""Wrong values whose one cause is the very instruction that was edited."""

ELSEWHERE = {
    "swizzle of the reads is not that of the writes": "ldmatrix",
    "scales loaded by the wrong thread of four": "ld.global.u32",
    "metadata of the other threads": "mma.sp",
    "outputs of a thread exchanged": "mma",
    "distance of a shuffle": "add.f32",
    "last step of K left out": "mma",
    "remainder of K left out": "mma",
    "accumulator cleared in each step": "mma",
}
"""Instructions that are at fault for an operand that another one, edited, computes or should have made."""


BY_NAME = {fault.name: fault for fault in FAULTS}
assert len(BY_NAME) == len(FAULTS)

HARMLESS = {
    "scale factors in braces": Edit(MXF8, "%r52, {0, 0}, %r53, {0, 0};", "{%r52}, {0, 0}, {%r53}, {0, 0};"),
    "halves of K in the other order": Edit(
        S4, "{%r96, %r97, %r98, %r99}, {%r100, %r101}", "{%r98, %r99, %r96, %r97}, {%r101, %r100}"
    ),
    "stored in the other order": Edit(
        F64,
        "[%rd32], %fd65;\n\tst.global.f64 \t[%rd32+8], %fd66",
        "[%rd32+8], %fd66;\n\tst.global.f64 \t[%rd32], %fd65",
    ),
    "all copies waited for": Edit(GEMM, "cp.async.wait_group 1;", "cp.async.wait_all;"),
    "one more barrier": Edit(SIMT, "bar.sync \t0;", "bar.sync \t0;\n\tbar.sync \t0;"),
    "shuffled down, not crosswise": Edit(GEMV, "shfl.sync.bfly.b32 \t%r32", "shfl.sync.down.b32 \t%r32"),
    "magic number put in by xor": Edit(DEQUANTISED, "1677747200, 0xEA", "1677747200, 0x6A"),
    "scales of the other threads, which have the same": Edit(MXF4, "%r153, {2, 0}", "%r153, {2, 1}"),
    "metadata of the other threads, which have the same": Edit(SPARSE, "%r105, 0x0", "%r105, 0x1"),
    "saturation that no sum reaches": Edit(S4, "row.col.s32.s4.s4.s32", "row.col.satfinite.s32.s4.s4.s32"),
    "the same stored by all lanes": Edit(GEMV, "@%p12 bra \t$L__BB0_10;", ""),
    "later target": Edit(WMMA_S8, ".target sm_80", ".target sm_86"),
    "factors of a product exchanged": Edit(
        WMMA_SCALED, "mul.f32 \t%f61, %f52, %f75;", "mul.f32 \t%f61, %f75, %f52;"
    ),
}


SLOW = {"magic number put in by xor", "scale factors in braces"}
"""Edits of kernels that take several seconds."""


def test_the_frozen_verdicts_are_those_of_the_faults() -> None:
    """``tests/tools/test_frozen_verdicts.py`` verifies the kernels."""
    for name, fault in BY_NAME.items():
        verdict, _, kinds = frozen("CUDA faults", name)
        assert (verdict, kinds[0]) == ("refuted", fault.kind), name


def manner(name: str) -> tuple[Kind, bool, bool]:
    """Return what a fault is found as, and how the line at fault is looked at."""
    return BY_NAME[name].kind, name in AT_THE_EDIT, name in ELSEWHERE


@pytest.mark.parametrize("name", cheapest("CUDA faults", BY_NAME, manner))
def test_a_faulty_kernel_is_refuted_for_its_fault(name: str, tmp_path: Path) -> None:
    fault = BY_NAME[name]
    found = verify_edited(fault.edit, tmp_path)
    assert found.result.verdict == "refuted"
    first = found.result.findings[0]
    assert first.kind is fault.kind
    assert re.search(fault.says, first.message)
    if fault.name in AT_THE_EDIT:
        (finding,) = found.result.findings
        assert finding.count > 1
        assert finding.line in edited_lines(fault.edit)
    if fault.name in ELSEWHERE:
        blamed = fault.edit.applied().splitlines()[first.line - 1]
        assert blamed.strip().startswith(ELSEWHERE[fault.name])


def edited_lines(edit: Edit) -> set[int]:
    """Return the lines in which a kernel with a replacement differs from the kernel as it was."""
    was = (CORPUS / edit.kernel).read_text(encoding="utf-8").splitlines()
    lines = edit.applied().splitlines()
    assert len(was) == len(lines)
    return {number for number, pair in enumerate(zip(was, lines, strict=True), 1) if pair[0] != pair[1]}


@pytest.mark.parametrize("name", spread(HARMLESS, 3, SLOW))
def test_a_harmless_edit_is_verified(name: str, tmp_path: Path) -> None:
    assert verify_edited(HARMLESS[name], tmp_path).result.verdict == "verified"


def test_faults_of_every_kind_are_planted_in_every_kernel() -> None:
    gapless = {Kind.CLOBBERED}  # all memory of these kernels' outputs is theirs; see test_verify_gaps
    of_others = {Kind.ACCUMULATOR, Kind.DEADLOCK, Kind.REGISTER}  # what PTX has not
    of_others |= {Kind.PENDING, Kind.PROXY}  # of products of warpgroups; see test_ptx_warpgroup_products
    of_others |= {Kind.LIFETIME}  # of clusters; see test_ptx_cluster_copies
    of_others |= {Kind.INACCURATE}  # these contracts bound no errors; see test_error_search
    assert {fault.kind for fault in FAULTS} == {kind for kind in Kind if kind.refutes} - gapless - of_others
    entries = {KERNELS[fault.edit.kernel]["entry"] for fault in FAULTS}
    assert entries == {kernel["entry"] for kernel in KERNELS.values()}
    assert len({fault.edit for fault in FAULTS}) == len(FAULTS) >= 20
