"""Kernels of clusters of two blocks, with their contracts, and their verification after edits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify

Edit = tuple[str, str]


@dataclass(frozen=True)
class ClusterKernel:
    """A kernel.

    Attributes
    ----------
    text : str
        In PTX.
    contract : str
        What it computes.
    """

    text: str
    contract: str

    def edited(self, *edits: Edit) -> ClusterKernel:
        """Return it after edits, each of the first place where its text is found."""
        text, contract = self.text, self.contract
        for old, new in edits:
            assert old in text or old in contract, old
            text, contract = text.replace(old, new, 1), contract.replace(old, new, 1)
        return ClusterKernel(text, contract)

    def verified(self, folder: Path, *edits: Edit) -> Result:
        """Verify it after edits."""
        changed = self.edited(*edits)
        kernel, described = folder / "k.ptx", folder / "k.toml"
        kernel.write_text(changed.text)
        described.write_text(changed.contract)
        return verify(kernel, described).result


EXCHANGE = ClusterKernel(
    """
.version 8.8
.target sm_90a
.address_size 64
.visible .entry reduce(
.param .u64 p0,
.param .u64 p1
)
.explicitcluster
.reqnctapercluster 2, 1, 1
{
.reg .b32 %r<19>;
.reg .b64 %rd<8>;
.shared .align 4 .b8 part[256];
ld.param.u64 %rd1, [p0];
ld.param.u64 %rd2, [p1];
cvta.to.global.u64 %rd3, %rd2;
cvta.to.global.u64 %rd4, %rd1;
mov.b32 %r1, %cluster_ctarank;
mov.u32 %r2, %ctaid.x;
shl.b32 %r3, %r2, 6;
mov.u32 %r4, %tid.x;
add.s32 %r5, %r3, %r4;
mul.wide.u32 %rd5, %r5, 4;
add.s64 %rd6, %rd4, %rd5;
ld.global.u32 %r6, [%rd6];
shl.b32 %r7, %r4, 2;
mov.u32 %r8, part;
add.s32 %r9, %r8, %r7;
st.shared.u32 [%r9], %r6;
barrier.cluster.arrive;
barrier.cluster.wait;
xor.b32 %r10, %r1, 1;
mapa.shared::cluster.u32 %r11, %r8, %r10;
ld.shared.u32 %r12, [%r9];
mov.u32 %r13, 63;
sub.s32 %r14, %r13, %r4;
shl.b32 %r15, %r14, 2;
add.s32 %r16, %r11, %r15;
ld.shared::cluster.u32 %r17, [%r16];
add.s32 %r18, %r17, %r12;
add.s64 %rd7, %rd3, %rd5;
st.global.u32 [%rd7], %r18;
barrier.cluster.arrive;
barrier.cluster.wait;
ret;
}
""",
    """
[kernel]
isa = "ptx"
[launch]
grid = 4
block = 64
[[param]]
name = "A"
type = "s32"
shape = [2, 2, 64]
[[param]]
name = "C"
type = "s32"
shape = [2, 2, 64]
access = "out"
[ensures]
formula = "C[i, j, k] = A[i, j, k] + A[i, 1 - j, 63 - k]"
""",
)
"""Each block adds to what it has what its peer has, in reverse: cooperative groups, compiled by nvcc."""

RING = ClusterKernel(
    """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry ring(.param .u64 a, .param .u64 c)
.reqnctapercluster 2
{
.reg .b64 %d<16>; .reg .b32 %r<32>; .reg .pred %p<8>;
.shared .align 128 .b8 stage[256];
.shared .align 8 .b8 full[8];
.shared .align 8 .b8 empty[8];
ld.param.u64 %d0, [a];
ld.param.u64 %d1, [c];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %cluster_ctarank;
mov.u32 %r2, %clusterid.x;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra MADE;
mbarrier.init.shared::cta.b64 [full], 64;
mbarrier.init.shared::cta.b64 [empty], 64;
fence.mbarrier_init.release.cluster;
MADE:
barrier.cluster.arrive.relaxed.aligned;
barrier.cluster.wait.acquire.aligned;
mov.u32 %r3, stage;
mov.u32 %r4, full;
mov.u32 %r5, empty;
xor.b32 %r6, %r1, 1;
mapa.shared::cluster.u32 %r7, %r3, %r6;
mapa.shared::cluster.u32 %r8, %r4, %r6;
mapa.shared::cluster.u32 %r9, %r5, %r6;
shl.b32 %r10, %r0, 2;
add.u32 %r11, %r7, %r10;
add.u32 %r12, %r3, %r10;
mul.lo.u32 %r13, %r2, 1024;
add.u32 %r13, %r13, %r10;
cvt.u64.u32 %d2, %r13;
add.u64 %d3, %d0, %d2;
add.u64 %d4, %d1, %d2;
setp.ne.u32 %p1, %r1, 0;
mov.u32 %r14, 0;
NEXT:
and.b32 %r15, %r14, 1;
xor.b32 %r16, %r15, 1;
@%p1 bra CONSUME;
FREE:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [empty], %r16;
@!%p2 bra FREE;
ld.global.u32 %r17, [%d3];
st.shared::cluster.u32 [%r11], %r17;
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];
bra BOTH;
CONSUME:
WAIT:
mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [full], %r15;
@!%p3 bra WAIT;
ld.shared.u32 %r18, [%r12];
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];
add.u32 %r18, %r18, 1;
st.global.u32 [%d4], %r18;
BOTH:
add.u64 %d3, %d3, 256;
add.u64 %d4, %d4, 256;
add.u32 %r14, %r14, 1;
setp.lt.u32 %p4, %r14, 4;
@%p4 bra NEXT;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ret;
}
""",
    """
[kernel]
isa = "ptx"
[launch]
grid = 4
block = 64
[[param]]
name = "A"
type = "u32"
shape = [2, 4, 64]
[[param]]
name = "C"
type = "u32"
shape = [2, 4, 64]
access = "out"
[ensures]
formula = "C[i, j, k] = A[i, j, k] + 1"
""",
)
"""A block stores to shared memory of its peer, and signals it; the peer signals back when it has read."""

MULTICAST = ClusterKernel(
    """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry multi(.param .u64 a, .param .u64 c)
.reqnctapercluster 2
{
.reg .b64 %d<16>; .reg .b32 %r<32>; .reg .b16 %h<4>; .reg .pred %p<8>;
.shared .align 128 .b8 stage[512];
.shared .align 8 .b8 full[16];
.shared .align 8 .b8 empty[16];
ld.param.u64 %d0, [a];
ld.param.u64 %d1, [c];
mov.u32 %r0, %tid.x;
mov.u32 %r1, %cluster_ctarank;
mov.u32 %r2, %clusterid.x;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra MADE;
mbarrier.init.shared::cta.b64 [full], 1;
mbarrier.init.shared::cta.b64 [full+8], 1;
mbarrier.init.shared::cta.b64 [empty], 128;
mbarrier.init.shared::cta.b64 [empty+8], 128;
fence.mbarrier_init.release.cluster;
MADE:
barrier.cluster.arrive.relaxed.aligned;
barrier.cluster.wait.acquire.aligned;
mul.lo.u32 %r3, %r1, 128;
mul.wide.u32 %d2, %r2, 1024;
add.u64 %d0, %d0, %d2;
cvt.u64.u32 %d3, %r3;
add.u64 %d0, %d0, %d3;
mul.lo.u32 %r4, %r2, 2048;
mul.lo.u32 %r5, %r1, 1024;
add.u32 %r4, %r4, %r5;
shl.b32 %r6, %r0, 2;
add.u32 %r4, %r4, %r6;
cvt.u64.u32 %d4, %r4;
add.u64 %d1, %d1, %d4;
mov.u16 %h0, 3;
xor.b32 %r20, %r1, 1;
mov.u32 %r7, 0;
NEXT:
and.b32 %r8, %r7, 1;
shr.u32 %r9, %r7, 1;
and.b32 %r9, %r9, 1;
mov.u32 %r10, stage;
mad.lo.u32 %r10, %r8, 256, %r10;
mov.u32 %r11, full;
mad.lo.u32 %r11, %r8, 8, %r11;
mov.u32 %r12, empty;
mad.lo.u32 %r12, %r8, 8, %r12;
@%p0 bra WAIT;
xor.b32 %r13, %r9, 1;
FREE:
mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r12], %r13;
@!%p1 bra FREE;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r11], 256;
add.u32 %r14, %r10, %r3;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
    [%r14], [%d0], 128, [%r11], %h0;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r11], %r9;
@!%p2 bra WAIT;
add.u32 %r15, %r10, %r6;
ld.shared.u32 %r16, [%r15];
mapa.shared::cluster.u32 %r17, %r12, 0;
mbarrier.arrive.shared::cluster.b64 _, [%r17];
mapa.shared::cluster.u32 %r18, %r12, 1;
mbarrier.arrive.shared::cluster.b64 _, [%r18];
add.u32 %r16, %r16, %r1;
st.global.u32 [%d1], %r16;
add.u64 %d0, %d0, 256;
add.u64 %d1, %d1, 256;
add.u32 %r7, %r7, 1;
setp.lt.u32 %p3, %r7, 4;
@%p3 bra NEXT;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ret;
}
""",
    """
[kernel]
isa = "ptx"
[launch]
grid = 4
block = 64
[[param]]
name = "A"
type = "u32"
shape = [2, 4, 64]
[[param]]
name = "C"
type = "u32"
shape = [2, 2, 4, 64]
access = "out"
[ensures]
formula = "C[i, r, j, k] = A[i, j, k] + r"
""",
)
"""Each block copies one half of a stage to both blocks."""

PRODUCT = ClusterKernel(
    """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry product(.param .align 64 .b8 am[128], .param .align 64 .b8 bm[128], .param .u64 c)
.reqnctapercluster 2
.maxntid 128
{
.reg .b64 %d<16>; .reg .b32 %r<40>; .reg .f32 %f<8>; .reg .b16 %h<4>; .reg .pred %p<8>;
.shared .align 1024 .b8 tiles[6144];
.shared .align 8 .b8 full[16];
.shared .align 8 .b8 empty[16];
mov.b64 %d0, am;
cvta.param.u64 %d0, %d0;
mov.b64 %d1, bm;
cvta.param.u64 %d1, %d1;
ld.param.u64 %d2, [c];
cvta.to.global.u64 %d2, %d2;
mov.u32 %r0, %tid.x;
mov.u32 %r1, %cluster_ctarank;
mov.u32 %r2, %ctaid.x;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra MADE;
mbarrier.init.shared::cta.b64 [full], 1;
mbarrier.init.shared::cta.b64 [full+8], 1;
mbarrier.init.shared::cta.b64 [empty], 2;
mbarrier.init.shared::cta.b64 [empty+8], 2;
fence.mbarrier_init.release.cluster;
MADE:
barrier.cluster.arrive.relaxed.aligned;
barrier.cluster.wait.acquire.aligned;
mov.u16 %h0, 3;
mov.f32 %f0, 0f00000000;
mov.f32 %f1, 0f00000000;
mov.f32 %f2, 0f00000000;
mov.f32 %f3, 0f00000000;
mov.f32 %f4, 0f00000000;
mov.f32 %f5, 0f00000000;
mov.f32 %f6, 0f00000000;
mov.f32 %f7, 0f00000000;
mov.u32 %r3, 0;
NEXT:
and.b32 %r4, %r3, 1;
shr.u32 %r5, %r3, 1;
and.b32 %r5, %r5, 1;
mov.u32 %r6, tiles;
mad.lo.u32 %r6, %r4, 2048, %r6;
mov.u32 %r7, tiles;
add.u32 %r7, %r7, 4096;
mad.lo.u32 %r7, %r4, 512, %r7;
mov.u32 %r8, full;
mad.lo.u32 %r8, %r4, 8, %r8;
mov.u32 %r9, empty;
mad.lo.u32 %r9, %r4, 8, %r9;
@%p0 bra WAIT;
xor.b32 %r10, %r5, 1;
FREE:
mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r9], %r10;
@!%p1 bra FREE;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 2560;
mul.lo.u32 %r11, %r3, 16;
mul.lo.u32 %r12, %r2, 64;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
    [%r6], [%d0, {%r11, %r12}], [%r8];
mul.lo.u32 %r13, %r1, 8;
mad.lo.u32 %r14, %r1, 256, %r7;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
    [%r14], [%d1, {%r11, %r13}], [%r8], %h0;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r8], %r5;
@!%p2 bra WAIT;
and.b32 %r15, %r6, 262143;
shr.u32 %r15, %r15, 4;
cvt.u64.u32 %d3, %r15;
or.b64 %d3, %d3, -4611685949707845632;
and.b32 %r16, %r7, 262143;
shr.u32 %r16, %r16, 4;
cvt.u64.u32 %d4, %r16;
or.b64 %d4, %d4, -4611685949707845632;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16
    {%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}, %d3, %d4, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
bar.sync 0;
setp.gt.u32 %p3, %r0, 1;
@%p3 bra RELEASED;
mapa.shared::cluster.u32 %r17, %r9, %r0;
mbarrier.arrive.shared::cluster.b64 _, [%r17];
RELEASED:
add.u32 %r3, %r3, 1;
setp.lt.u32 %p4, %r3, 4;
@%p4 bra NEXT;
shr.u32 %r20, %r0, 5;
mul.lo.u32 %r20, %r20, 16;
and.b32 %r21, %r0, 31;
shr.u32 %r22, %r21, 2;
add.u32 %r20, %r20, %r22;
mad.lo.u32 %r20, %r2, 64, %r20;
and.b32 %r23, %r21, 3;
mul.lo.u32 %r24, %r20, 64;
mad.lo.u32 %r24, %r23, 8, %r24;
cvt.u64.u32 %d5, %r24;
add.u64 %d5, %d2, %d5;
st.global.v2.f32 [%d5], {%f0, %f1};
st.global.v2.f32 [%d5+512], {%f2, %f3};
st.global.v2.f32 [%d5+32], {%f4, %f5};
st.global.v2.f32 [%d5+544], {%f6, %f7};
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
ret;
}
""",
    """
[kernel]
isa = "ptx"
[launch]
grid = 2
block = 128
[[param]]
name = "a_map"
type = "tensor_map"
to = "A"
box = [64, 16]
swizzle = 32
[[param]]
name = "b_map"
type = "tensor_map"
to = "B"
box = [8, 16]
swizzle = 32
[[param]]
name = "C"
type = "f32"
shape = [128, 16]
access = "out"
[[array]]
name = "A"
type = "f16"
shape = [128, 64]
[[array]]
name = "B"
type = "f16"
shape = [16, 64]
[ensures]
formula = "C[i, j] = sum(k, A[i, k] * B[j, k])"
""",
)
"""A product of warpgroups: A is each block's own, each half of B is copied to both by one of them."""
