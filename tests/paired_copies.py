"""A kernel whose blocks, a pair of CTAs, copy a row each; all bytes complete on one barrier."""

from __future__ import annotations

from cluster_kernels import ClusterKernel

PAIRED = ClusterKernel(
    """
.version 8.6
.target sm_100a
.address_size 64
.visible .entry copies(.param .align 64 .b8 a[128], .param .u64 c)
.reqnctapercluster 2
{
.reg .b64 %d<8>; .reg .b32 %r<16>; .reg .b16 %h<2>; .reg .pred %p<4>;
.shared .align 128 .b8 tile[256];
.shared .align 8 .b64 full;
mov.u32 %r0, %tid.x;
mov.u32 %r1, %cluster_ctarank;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra MADE;
mbarrier.init.shared::cta.b64 [full], 1;
fence.mbarrier_init.release.cluster;
MADE:
barrier.cluster.arrive.relaxed.aligned;
barrier.cluster.wait.acquire.aligned;
setp.ne.u32 %p1, %r1, 0;
@%p0 bra COPIED;
mov.u64 %d0, a;
cvta.param.u64 %d0, %d0;
mov.u32 %r2, full;
mapa.shared::cluster.u32 %r3, %r2, 0;
mov.u32 %r4, tile;
@!%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
mov.u32 %r5, 0;
mov.u16 %h0, 3;
cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes
    [%r4], [%d0, {%r5, %r1}], [%r3];
COPIED:
@%p1 bra TOLD;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;
@!%p2 bra WAIT;
TOLD:
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
mov.u32 %r6, tile;
mad.lo.u32 %r6, %r0, 4, %r6;
ld.shared.u32 %r7, [%r6];
ld.param.u64 %d1, [c];
mad.lo.u32 %r8, %r1, 64, %r0;
mul.wide.u32 %d2, %r8, 4;
add.u64 %d1, %d1, %d2;
st.global.u32 [%d1], %r7;
ret;
}
""",
    """
[kernel]
isa = "ptx"
[launch]
grid = 2
block = 64
[[array]]
name = "A"
type = "s32"
shape = [2, 64]
[[param]]
name = "a"
type = "tensor_map"
to = "A"
box = [1, 64]
swizzle = 0
[[param]]
name = "C"
type = "s32"
shape = [2, 64]
access = "out"
[ensures]
formula = "C[i, j] = A[i, j]"
""",
)
"""Each block of a pair copies a row, and the bytes of both complete on the barrier of the first."""

PAIRED_BYTES = PAIRED.edited(
    ('name = "A"\ntype = "s32"\nshape = [2, 64]', 'name = "A"\ntype = "u8"\nshape = [2, 256]'),
    ("box = [1, 64]", 'box = [1, 256]\nelements = "u32"'),
    ('name = "C"\ntype = "s32"\nshape = [2, 64]', 'name = "C"\ntype = "u8"\nshape = [2, 256]'),
)
"""The same of arrays of bytes, of which each element of the map is four."""
