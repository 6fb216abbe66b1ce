"""Ways to use products of warpgroups wrongly, and what each is refuted for."""

from __future__ import annotations

from warpgroup_kernels import Kernel

from mmaproof.refinement.findings.finding import Kind

STEPS = Kernel(steps=2)
IN_REGISTERS = Kernel(a_in_registers=True, steps=2)
FENCE, COMMIT, WAIT = (
    "wgmma.fence.sync.aligned;",
    "wgmma.commit_group.sync.aligned;",
    "wgmma.wait_group.sync.aligned 0;",
)

FAULTS = {
    "no fence": (STEPS, FENCE, "", Kind.PENDING),
    "a register of D after the fence": (STEPS, FENCE, f"{FENCE} mov.b32 %f3, 0;", Kind.PENDING),
    "a register of A after the fence": (IN_REGISTERS, FENCE, f"{FENCE} mov.b32 %a1, %a1;", Kind.PENDING),
    "no group": (STEPS, COMMIT, "", Kind.PENDING),
    "no wait": (STEPS, WAIT, "", Kind.PENDING),
    "a group may be pending": (STEPS, WAIT, WAIT.replace("0", "1"), Kind.PENDING),
    "A is overwritten before the wait": (IN_REGISTERS, COMMIT, f"mov.b32 %a0, 0; {COMMIT}", Kind.PENDING),
    "no proxy fence": (STEPS, "fence.proxy.async.shared::cta;", "", Kind.PROXY),
    "a proxy fence for global memory": (STEPS, ".async.shared::cta", ".async.global", Kind.PROXY),
    "no barrier": (STEPS, "bar.sync 0;", "", Kind.RACE),
    "a tile is overwritten before the wait": (
        STEPS, COMMIT, f"{COMMIT} bar.sync 0; st.shared.u16 [%r1], %h0;", Kind.RACE
    ),
    "a tile is overwritten before all have waited": (
        STEPS, WAIT, f"{WAIT} st.shared.u16 [%r1], %h0;", Kind.RACE
    ),
    "the next part of K": (STEPS, "%r1, 16416;", "%r1, 16384;", Kind.WRONG_VALUE),
    "the old D counts": (STEPS, "%d2, %d3, 0,", "%d2, %d3, 1,", Kind.UNINITIALISED),
    "the first product is lost": (STEPS, "%d2, %d3, 1,", "%d2, %d3, 0,", Kind.WRONG_VALUE),
    "A is negated": (STEPS, "%d2, %d3, 1, 1, 1", "%d2, %d3, 1, -1, 1", Kind.WRONG_VALUE),
    "two warps": (
        STEPS, FENCE, f"setp.lt.u32 %p1, %r0, 64; @%p1 bra OUT; {FENCE}", Kind.DIVERGENCE
    ),
    "the descriptors of two warps differ": (
        STEPS, FENCE, f"shr.u32 %r9, %r0, 6; cvt.u64.u32 %d9, %r9; add.u64 %d2, %d2, %d9; {FENCE}",
        Kind.UNDEFINED,
    ),
}  # fmt: skip
"""The kernel, what of its text is replaced once and by what, and the kind of the first finding."""


def faulty(fault: str) -> str:
    """Return the text of a kernel with a fault."""
    kernel, old, new, _ = FAULTS[fault]
    assert old in kernel.text
    return kernel.text.replace(old, new, 1).replace("ret;", "OUT:\nret;")
