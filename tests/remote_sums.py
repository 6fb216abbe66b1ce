"""A kernel whose blocks, a pair, add to shared memory of each other by ``red.async``."""

from __future__ import annotations

from cluster_kernels import RING

UPDATE = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
STORED = "st.shared::cluster.u32 [%r11], %r17;\nmbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];"
FIRST, SECOND = f"{UPDATE} [%r11], %r17, [%r8];", f"{UPDATE} [%r20], %r21, [%r8];"
CLEARED = "st.shared.u32 [%r12], %r22;"
READ = "ld.shared.u32 %r18, [%r12];"
ARRIVED = "barrier.cluster.arrive.aligned;"
RELAXED = "barrier.cluster.arrive.relaxed.aligned;"
EXPECTED = "@!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;"
SUMS = RING.edited(
    (STORED, f"xor.b32 %r20, %r11, 4;\nmov.u32 %r21, 1;\n{FIRST}\n{SECOND}"),
    ("CONSUME:", f"CONSUME:\n{EXPECTED}"),
    ("[full], 64", "[full], 1"),
    (
        "MADE:\nbarrier.cluster.arrive.relaxed.aligned;",
        "MADE:\nmov.u32 %r12, stage;\nmad.lo.u32 %r12, %r0, 4, %r12;\nmov.u32 %r22, 0;\n"
        f"{CLEARED}\n{ARRIVED}",
    ),
    (READ, f"{READ}\nst.shared.u32 [%r12], %r22; //"),
    ("A[i, j, k] + 1", "A[i, j, k] + 2"),
)
"""A ring whose threads add to their own place of the peer's stage, and to that of a neighbour."""
