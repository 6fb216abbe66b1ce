"""Loops around barrier objects, for every number of a size: after some turns all is the same again.

Two warps hand each other 64 numbers a turn through one buffer or through several: each thread fills a place,
and reads the place of a thread of the other warp. Barriers for *full* and *empty* tell them of it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from ptx_machine import kernel
from quantified_kernels import prove_size

from mmaproof.refinement.findings.result import Equality
from mmaproof.refinement.ptx.any_size.size_proofs import SizeProof
from mmaproof.spec.errors import UnsupportedError

CONTRACT = """
[kernel]
isa = "ptx"
entry = "k"
[launch]
grid = 1
block = 64
[sizes]
K = "any up to 100000"
[[param]]
name = "p0"
type = "f32"
shape = ["K", 64]
[[param]]
name = "p1"
type = "f32"
shape = [64]
access = "out"
[[param]]
name = "p2"
type = "u64"
value = "K"
[ensures]
formula = "p1[j] = sum(k, p0[k, j])"
"""

STAGES = 3


def summing(
    *,
    stages: int = STAGES,
    parity: str = "",
    empty: str = "mbarrier.arrive.shared.b64 %d9, [%r8+64];",
    wait_empty: str = "mbarrier.try_wait.parity.shared.b64 %p2, [%r8+64], %r7;\n@!%p2 bra EMPTY;",
    full: str = "mbarrier.arrive.shared.b64 %d9, [%r8];",
    wait_full: str = "mbarrier.try_wait.parity.shared.b64 %p2, [%r8], %r6;\n@!%p2 bra FULL;",
    next_stage: str = "",
) -> str:
    """Return a kernel that adds up columns, row by row, through so many buffers.

    ``%r5`` is the stage, ``%r6`` the parity of its phase, ``%r8`` its barriers, ``%r9`` the turn.
    """
    inits = "\n".join(
        f"mbarrier.init.shared.b64 [bars+{place}], 64;"
        for stage in range(stages)
        for place in (8 * stage, 64 + 8 * stage)
    )
    return kernel(
        f"""
        ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.param.u64 %d2, [p2];
        mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0;
        @%p0 bra READY;
        {inits}
        READY: bar.sync 0;
        mul.wide.u32 %d3, %r0, 4; add.u64 %d4, %d0, %d3;
        sub.u32 %r1, 63, %r0; mul.wide.u32 %d5, %r1, 4; add.u64 %d6, %d1, %d5;
        mov.f32 %f0, 0f00000000; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u64 %d7, 0; mov.u32 %r9, 0;
        mov.u32 %r13, bars; mov.u32 %r14, buf;
        LOOP:
        shl.b32 %r8, %r5, 3; add.u32 %r8, %r8, %r13;
        shl.b32 %r10, %r5, 8; add.u32 %r10, %r10, %r14;
        xor.b32 %r7, %r6, 1;
        {parity}
        EMPTY: {wait_empty}
        ld.global.f32 %f1, [%d4];
        shl.b32 %r11, %r0, 2; add.u32 %r11, %r11, %r10; st.shared.f32 [%r11], %f1;
        {full}
        FULL: {wait_full}
        shl.b32 %r12, %r1, 2; add.u32 %r12, %r12, %r10; ld.shared.f32 %f2, [%r12];
        add.f32 %f0, %f0, %f2;
        {empty}
        add.u32 %r5, %r5, 1; setp.eq.u32 %p3, %r5, {stages}; selp.b32 %r5, 0, %r5, %p3;
        @%p3 xor.b32 %r6, %r6, 1;
        {next_stage}
        add.u64 %d4, %d4, 256; add.u64 %d7, %d7, 1; add.u32 %r9, %r9, 1;
        setp.lt.u64 %p1, %d7, %d2;
        @%p1 bra LOOP;
        st.global.f32 [%d6], %f0;
        """,
        parameters=3,
        declared=f".shared .align 8 .b8 bars[128]; .shared .align 4 .b8 buf[{256 * stages}];",
    )


def proof_of(text: str, folder: Path, most: int = 100000) -> SizeProof:
    """Prove a kernel for every number of turns."""
    path = folder / "k.ptx"
    path.write_text(text)
    return prove_size(CONTRACT.replace("100000", str(most)), path)


@pytest.mark.parametrize(
    "stages", [1, pytest.param(2, marks=pytest.mark.sweep), pytest.param(3, marks=pytest.mark.sweep)]
)
def test_a_ring_is_shown_for_every_number_of_turns(stages: int, tmp_path: Path) -> None:
    proof = proof_of(summing(stages=stages), tmp_path)
    assert proof.equality is Equality.VALUE and not proof.limit
    assert proof.first <= 8 * stages


def test_a_domain_that_ends_soon_is_shown_with_what_is_behind_it(tmp_path: Path) -> None:
    proof = proof_of(summing(stages=1), tmp_path, most=5)
    assert proof.domain.most == 5 and not proof.limit
    assert proof.first <= 5  # they are not gone through one by one


FAULTS = {
    "who reads does not wait": {"wait_full": ""},
    "nobody says that a stage is empty": {"empty": ""},
    "one thread does not arrive": {"full": "@%p0 mbarrier.arrive.shared.b64 %d9, [%r8];"},
    "the parity does not change": {"parity": "mov.u32 %r6, 0; mov.u32 %r7, 1;"},
}

LATE_FAULTS = {
    "who refills does not wait": {"wait_empty": ""},
    "a turn far away does not wait": {
        "parity": "setp.eq.u32 %p4, %r9, 5000; selp.b32 %r7, %r6, %r7, %p4;",
    },
    "from some turn on the stage stays": {
        "next_stage": "setp.gt.u32 %p4, %r9, 777; @%p4 mov.u32 %r5, 1;",
    },
    "stages are counted in few bits": {
        "next_stage": "and.b32 %r9, %r9, 255; setp.eq.u32 %p4, %r9, 200; @%p4 mov.u32 %r5, 0;",
    },
}
"""Those for which many beginnings of the induction are tried in vain."""


@pytest.mark.parametrize(
    "fault", [*FAULTS, *(pytest.param(name, marks=pytest.mark.sweep) for name in LATE_FAULTS)]
)
def test_a_faulty_ring_is_not_shown(fault: str, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError):
        proof_of(summing(**{**FAULTS, **LATE_FAULTS}[fault]), tmp_path)


def test_a_faulty_ring_is_not_shown_in_a_domain_that_ends_soon(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError):
        proof_of(summing(stages=1, **FAULTS["the parity does not change"]), tmp_path, most=5)
