"""Ways to use tensor memory wrongly, what each is refuted for, and edits that do no harm."""

from __future__ import annotations

from pathlib import Path

from tensor_memory_kernels import Kernel

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify
from mmaproof.spec.ptx.matrix_descriptor import MatrixDescriptor
from mmaproof.spec.ptx.tensor_memory.shared_descriptor import encoded

ONE, STEPS = Kernel(), Kernel(steps=2)
IN_CELLS = Kernel(a_in_cells=True, steps=2)
HALF = Kernel(m=64, n=8)
SCALED = Kernel(types=("f32", "e4m3"), scaled="st", steps=2)
SPARSE = Kernel(sparse=True)
COPIED = Kernel(types=("f32", "e4m3"), scaled="cp", n=32)
HALVED = Kernel(columns=256)
PAIR = Kernel(ctas=2, m=256, n=32, steps=2)
INTEGERS = Kernel(types=("s32", "s8"), n=8)

ALLOCATED = "@%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 128;"
FREED = "@%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r40, 128;"
GIVEN_UP = "@%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];"
WAIT = "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n@!%p3 bra WAITING;"
WAIT_LOAD, WAIT_STORE = "tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::st.sync.aligned;"
ISSUE = "@!%p2 bra ISSUED;"
BEFORE, AFTER = "tcgen05.fence::before_thread_sync;", "tcgen05.fence::after_thread_sync;"
END = f"{BEFORE}\nbar.sync 0;\n@%p1 tcgen05.dealloc"
TILE_WORD = encoded(MatrixDescriptor(0, 16384, 1024, 128))
"""What a descriptor of A says besides where it begins."""

STORE_A = "tcgen05.st.sync.aligned.32x32b.x16.b32 [%r43 + 32]"
STORE_P = "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r43 + 96]"
IDESC = "mov.b32 %r50, 0x8040010;"
ADDRESS = "ld.shared.b32 %r40, [cells];"

LEADER = "setp.eq.and.u32 %p2, %r60, 0, %p2;"
TOLD = "mov.u16 %h2, 3;"
CLUSTER = "barrier.cluster.arrive;\nbarrier.cluster.wait;"
PAIR_ALLOCATED, PAIR_FREED = (each.replace("::1", "::2") for each in (ALLOCATED, FREED))
LAST = "tcgen05.mma.cta_group::2.kind::f16 [%r40 + 0], %d2, %d3, %r50, %p4;\n\ntcgen05.commit"
OF_FIRST = "setp.eq.and.u32 %p7, %r60, 0, %p1;"

LANE = "shl.b32 %r42, %r41, 21;"
FIRST, SECOND = "setp.ne.u32 %p4, 0, 0;", "setp.ne.u32 %p4, 1, 0;"

_ROWS = encoded(MatrixDescriptor(0, 128, 128, 0))
COPY_TO_D = f"""
cvt.u64.u32 %d5, %r9;
or.b64 %d5, %d5, {_ROWS};
tcgen05.cp.cta_group::1.128x128b [%r40], %d5;
"""


def _idesc(word: int) -> str:
    return f"mov.b32 %r50, {word:#x};"


FAULTS = {
    "D is read before it is there": (STEPS, WAIT, "", Kind.RACE),
    "nothing is committed": (STEPS, COMMIT, "", Kind.DEADLOCK),
    "another thread commits": (
        STEPS, f"{COMMIT}\nISSUED:", f"ISSUED:\nsetp.eq.u32 %p5, %r0, 32;\n@%p5 {COMMIT}", Kind.RACE,
    ),
    "the commit is before the last product": (
        STEPS, f"{IDESC}\nsetp.ne.u32 %p4, 1, 0;", f"{IDESC}\nsetp.ne.u32 %p4, 1, 0;\n{COMMIT}", Kind.RACE,
    ),
    "all threads of a warp multiply": (STEPS, ISSUE, "@!%p1 bra ISSUED;", Kind.RACE),
    "the old D counts": (STEPS, FIRST, FIRST.replace("ne", "eq"), Kind.UNINITIALISED),
    "the first product is lost": (STEPS, SECOND, SECOND.replace("ne", "eq"), Kind.WRONG_VALUE),
    "the next part of K": (STEPS, "%r1, 16416;", "%r1, 16384;", Kind.WRONG_VALUE),
    "no proxy fence": (STEPS, "fence.proxy.async.shared::cta;", "", Kind.PROXY),
    "a tile is written before the product is over": (
        STEPS, "ISSUED:\n", "ISSUED:\nst.shared.u16 [%r1], %h0;\n", Kind.RACE,
    ),
    "nothing is freed": (STEPS, FREED, "", Kind.UNDEFINED),
    "other columns are freed": (STEPS, FREED, FREED.replace("128", "64"), Kind.UNDEFINED),
    "they are freed twice": (STEPS, FREED, f"{FREED}\n{FREED}", Kind.UNDEFINED),
    "they are freed before all have read": (STEPS, END, "@%p1 tcgen05.dealloc", Kind.RACE),
    "they are freed before D is read": (STEPS, WAIT, f"{WAIT}\n{FREED}", Kind.OUT_OF_BOUNDS),
    "a load is not waited for before that": (STEPS, WAIT_LOAD, "", Kind.RACE),
    "one more is allocated when nobody may": (STEPS, GIVEN_UP, f"{GIVEN_UP}\n{ALLOCATED}", Kind.UNDEFINED),
    "the sizes of allocations grow": (
        STEPS, GIVEN_UP, f"{ALLOCATED.replace('128', '256')}\n{GIVEN_UP}", Kind.UNDEFINED,
    ),
    "columns that nobody has allocated": (STEPS, "[%r43];", "[%r43 + 120];", Kind.OUT_OF_BOUNDS),
    "the address is not read": (STEPS, ADDRESS, "mov.b32 %r40, 0;", Kind.OUT_OF_BOUNDS),
    "the address of half of them is not read": (HALVED, ADDRESS, "mov.b32 %r40, 0;", Kind.OUT_OF_BOUNDS),
    "the target has no tensor memory": (ONE, "sm_100a", "sm_120a", Kind.ILLEGAL),
    "the target has no forms of its own": (ONE, "sm_100a", "sm_100", Kind.ILLEGAL),
    "the version is older than tensor memory": (ONE, ".version 8.8", ".version 8.5", Kind.ILLEGAL),
    "the target has no products of integers": (INTEGERS, "sm_100a", "sm_103a", Kind.ILLEGAL),
    "the address is read too early": (
        STEPS, f"bar.sync 0;\n{ADDRESS}", f"{ADDRESS}\nbar.sync 0;", Kind.RACE,
    ),
    "lanes of another warp": (STEPS, LANE, LANE.replace("21", "22"), Kind.OUT_OF_BOUNDS),
    "half of a warp loads": (
        STEPS, WAIT_LOAD, f"and.b32 %r60, %r0, 16;\nsetp.eq.u32 %p5, %r60, 0;\n@%p5 {WAIT_LOAD}",
        Kind.DIVERGENCE,
    ),
    "columns are swapped": (STEPS, "{%f0, %f1,", "{%f1, %f0,", Kind.WRONG_VALUE),
    "N is half": (ONE, IDESC, _idesc(0x8020010), Kind.UNINITIALISED),
    "N of a later product is half": (STEPS, IDESC, _idesc(0x8020010), Kind.RACE),
    "M is one that there is not": (STEPS, IDESC, _idesc(0x6040010), Kind.ILLEGAL),
    "a reserved bit": (STEPS, IDESC, _idesc(0x8040050), Kind.ILLEGAL),
    "B is transposed": (STEPS, IDESC, _idesc(0x8050010), Kind.WRONG_VALUE),
    "A is negated": (STEPS, IDESC, _idesc(0x8042010), Kind.WRONG_VALUE),
    "a descriptor of wgmma": (
        STEPS, f"%d2, %d2, {TILE_WORD};", f"%d2, %d2, {TILE_WORD & ~(1 << 46)};", Kind.ILLEGAL,
    ),
    "A is multiplied before it is there": (IN_CELLS, WAIT_STORE, "", Kind.RACE),
    "A is stored when it may be read": (
        IN_CELLS, "ISSUED:\n", f"ISSUED:\n{STORE_A}, {{{', '.join(f'%f{i}' for i in range(16))}}};\n",
        Kind.RACE,
    ),
    "A is in other columns": (IN_CELLS, "[%r40 + 40]", "[%r40 + 48]", Kind.UNINITIALISED),
    "D is in the upper lanes": (HALF, "[%r40 + 0]", f"[%r40 + {16 << 16}]", Kind.UNINITIALISED),
    "D is in lanes where it can't be": (HALF, "[%r40 + 0]", f"[%r40 + {8 << 16}]", Kind.UNDEFINED),
    "the second half of the columns": (HALF, "[%r43 + 0], 4;", "[%r43 + 0], 0;", Kind.WRONG_VALUE),
    "scale factors of the next rows": (SCALED, "[%r40 + 96]", "[%r40 + 97]", Kind.WRONG_VALUE),
    "scale factors of another part of K": (
        SCALED, f"%r50, {SCALED.idesc(1):#x};", f"%r50, {SCALED.idesc(0):#x};", Kind.WRONG_VALUE,
    ),
    "scale factors are not waited for": (SCALED, WAIT_STORE, "", Kind.RACE),
    "one quarter has no scale factors": (
        SCALED, STORE_P, f"setp.ne.u32 %p6, %r41, 2;\n@%p6 {STORE_P}", Kind.UNINITIALISED,
    ),
    "scale factors are copied from behind": (COPIED, "%r1, 32768;", "%r1, 33280;", Kind.WRONG_VALUE),
    "scale factors are copied when a product may read them": (
        COPIED, COMMIT, f"tcgen05.cp.cta_group::1.32x128b.warpx4 [%r40 + 96], %d5;\n{COMMIT}", Kind.RACE,
    ),
    "metadata of other columns": (SPARSE, "%d3, [%r40 + 96]", "%d3, [%r40 + 98]", Kind.UNINITIALISED),
    "metadata of two equal indices": (SPARSE, "metadata[128] = {", "metadata[129] = {0, ", Kind.UNDEFINED),
    "the bit of sparse A": (SPARSE, f"{SPARSE.idesc():#x};", f"{SPARSE.idesc() & ~4:#x};", Kind.ILLEGAL),
    "both CTAs multiply": (PAIR, LEADER, "", Kind.RACE),
    "the other CTA is not told": (PAIR, TOLD, TOLD.replace("3", "1"), Kind.DEADLOCK),
    "a CTA that there is not is told": (PAIR, TOLD, TOLD.replace("3", "7"), Kind.OUT_OF_BOUNDS),
    "the CTAs do not wait for each other": (PAIR, CLUSTER, "bar.sync 0;", Kind.LIFETIME),
    "one CTA allocates": (PAIR, PAIR_ALLOCATED, f"{OF_FIRST}\n@%p7{PAIR_ALLOCATED[4:]}", Kind.DEADLOCK),
    "one CTA frees": (PAIR, PAIR_FREED, f"{OF_FIRST}\n@%p7{PAIR_FREED[4:]}", Kind.DEADLOCK),
    "the CTAs allocate different numbers of columns": (
        PAIR, PAIR_ALLOCATED, f"shl.b32 %r61, 64, %r60;\n{PAIR_ALLOCATED.replace('128', '%r61')}",
        Kind.UNDEFINED,
    ),
    "both CTAs have the same columns of B": (
        PAIR, "%r4, %r60, 16, %r4;", "%r4, %r60, 0, %r4;", Kind.WRONG_VALUE,
    ),
    "a product of one CTA among those of two": (
        PAIR, "tcgen05.commit.cta_group::2", "tcgen05.commit.cta_group::1", Kind.ILLEGAL,
    ),
}  # fmt: skip
"""The kernel, what of its text is replaced once and by what, and the kind of the first finding."""

HARMLESS = {
    "half of the columns are allocated": (HALVED, "", ""),
    "another target of the family": (ONE, "sm_100a", "sm_103a"),
    "a copy is issued before the product that replaces it": (ONE, FIRST, f"{FIRST}\n{COPY_TO_D}"),
    "D is waited for twice": (STEPS, WAIT, f"{WAIT}\n{WAIT.replace('WAITING', 'AGAIN')}".replace(
        "mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n@!%p3 bra AGAIN;",
        "AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;\n@!%p3 bra AGAIN;")),
    "an elected thread multiplies": (
        STEPS, ISSUE, "@!%p1 bra ISSUED;\nelect.sync %r61|%p5, -1;\n@!%p5 bra ISSUED;",
    ),
    "no fences, as Triton has none": (STEPS, AFTER, ""),
    "columns are allocated and freed in between": (
        STEPS, GIVEN_UP,
        f"{ALLOCATED.replace('[%r2], 128', '[%r1+32768], 32')}\n@%p1 bar.warp.sync -1;\n"
        f"@%p1 ld.shared.b32 %r62, [%r1+32768];\n{FREED.replace('%r40, 128', '%r62, 32')}\n{GIVEN_UP}",
    ),
    "all columns are allocated": (
        STEPS, GIVEN_UP,
        f"{''.join(ALLOCATED.replace('%r2', f'%r1+{at}') for at in (32768, 32772, 32776))}\n"
        "@%p1 bar.warp.sync -1;\n@%p1 ld.shared.b32 %r61, [%r1+32768];\n"
        "@%p1 ld.shared.b32 %r62, [%r1+32772];\n@%p1 ld.shared.b32 %r63, [%r1+32776];\n"
        f"{''.join(FREED.replace('%r40', name) for name in ('%r61', '%r62', '%r63'))}\n{GIVEN_UP}",
    ),
    "registers are used before the wait": (
        STEPS, WAIT_LOAD, f"add.f32 %f0, %f0, 0f00000000;\n{WAIT_LOAD}",
    ),
    "the collector is filled": (STEPS, "kind::f16", "kind::f16.collector::a::fill"),
    "A is stored again when it was read": (
        IN_CELLS, WAIT, f"{WAIT}\n{STORE_A}, {{{', '.join(f'%f{i}' for i in range(16))}}};\n{WAIT_STORE}",
    ),
    "the operand of the commit is generic": (
        STEPS, COMMIT, f"cvt.u64.u32 %d20, %r3;\ncvta.shared.u64 %d20, %d20;\n"
        f"{COMMIT.replace('.shared::cluster', '').replace('%r3', '%d20')}",
    ),
    "a CTA of the pair multiplies that is not the first": (PAIR, LEADER, LEADER.replace(" 0,", " 1,")),
    "the use of the barriers ends": (
        PAIR, WAIT_LOAD,
        f"{WAIT_LOAD}\nbar.sync 0;\nsetp.eq.u32 %p7, %r0, 0;\n@%p7 mbarrier.inval.shared::cta.b64 [%r3];",
    ),
    "no lane of either CTA is disabled": (
        PAIR, LAST, f"mov.b32 %r63, 0;\n{LAST.replace('%p4', '{' + ', '.join(8 * ['%r63']) + '}, %p4')}",
    ),
}  # fmt: skip
"""The kernel, and what of its text is replaced once and by what."""


def edited(kernel: Kernel, old: str, new: str) -> str:
    """Return the text of a kernel with one place replaced."""
    assert old in kernel.text, old
    return kernel.text.replace(old, new, 1)


def verified(folder: Path, text: str, contract: str) -> Result:
    """Verify a text against a contract."""
    kernel, described = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(text)
    described.write_text(contract)
    return verify(kernel, described).result
