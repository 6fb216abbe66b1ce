"""A kernel of one CTA or two: it puts A and B where descriptors say, multiplies them, and stores D."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mmaproof.spec.formats import format_named
from mmaproof.spec.ptx.matrix_descriptor import MatrixDescriptor, SharedMatrix
from mmaproof.spec.ptx.tensor_memory.instruction_descriptor import InstructionDescriptor
from mmaproof.spec.ptx.tensor_memory.shared_descriptor import encoded, shared_matrix

_B_AT = 16384
"""Where B begins in shared memory, from the beginning of A."""

_SCALES_AT = 2 * _B_AT
_THREADS = 128
_A_COLUMN, _SCALE_COLUMN = 32, 96
"""Columns of A, and of scale factors, behind those of D."""

_KINDS = {
    "f16": "f16",
    "bf16": "f16",
    "tf32": "tf32",
    "e4m3": "f8f6f4",
    "e5m2": "f8f6f4",
    "s8": "i8",
    "u8": "i8",
}


@dataclass(frozen=True)
class Kernel:
    """A product of M × N × K.

    Attributes
    ----------
    types : (str, str)
        Of D, and of A and B.
    m, n : int
        Rows and columns of D.
    swizzles : (int, int)
        Bytes of a swizzled row, of A and of B.
    transposed : (bool, bool)
        Whether A and B lie along M and N.
    a_in_cells : bool
        Whether A is stored to tensor memory.
    ws : bool
        Whether B is the operand that is kept.
    steps : int
        Products, of neighbouring parts of K.
    scaled : str
        Whether elements are scaled in blocks, and how factors come to tensor memory: ``st`` or ``cp``; empty
        where they are not.
    upper : bool
        Whether 64 rows of D are in the upper half of the lanes.
    columns : int
        Columns of tensor memory that are allocated.
    sparse : bool
        Whether A, of 16 bits, has half of its elements: of 4 the first two where row and group are even
        together or odd together, otherwise the last two.
    ctas : int
        CTAs that work together.
    """

    types: tuple[str, str] = ("f32", "f16")
    m: int = 128
    n: int = 16
    swizzles: tuple[int, int] = (128, 128)
    transposed: tuple[bool, bool] = (False, False)
    a_in_cells: bool = False
    ws: bool = False
    steps: int = 1
    scaled: str = ""
    upper: bool = False
    columns: int = 128
    sparse: bool = False
    ctas: int = 1

    @property
    def bits(self) -> int:
        """Width of an element of A."""
        return format_named(self.types[1]).bits

    @property
    def k(self) -> int:
        """Columns of A, of a sparse one those that are stored."""
        return 256 // self.bits * self.steps

    @property
    def own(self) -> tuple[int, int]:
        """Rows of A, and columns of B, that a CTA has."""
        return self.m // self.ctas, self.n // self.ctas

    @property
    def rows(self) -> int:
        """Rows of B."""
        return self.k * (1 + self.sparse)

    @property
    def kind(self) -> str:
        """Behind ``.kind::``."""
        return "mxf8f6f4" if self.scaled else _KINDS[self.types[1]]

    @property
    def contract(self) -> str:
        """What it computes."""
        d, a = self.types
        row = "4 * (k // 2) + k % 2 + 2 * ((i + k // 2) % 2)" if self.sparse else "k"
        scales, product = "", f"A[i, k] * B[{row}, j]"
        if self.scaled:
            product += " * P[i, k // 32] * Q[j, k // 32]"
            scales = "".join(
                f'[[param]]\nname = "{name}"\ntype = "ue8m0"\nshape = ["{lines}", 4]\n'
                for name, lines in (("P", self.m), ("Q", 32))
            )
        return f"""
[kernel]
isa = "ptx"
[launch]
grid = {self.ctas}
block = {_THREADS}
{f"cluster = {self.ctas}" if self.ctas > 1 else ""}
[sizes]
N = {self.n}
K = {self.rows}
L = {self.k}
[[param]]
name = "A"
type = "{a}"
shape = [{self.m}, "L"]
[[param]]
name = "B"
type = "{a}"
shape = ["K", "N"]
[[param]]
name = "D"
type = "{d}"
shape = [{self.m}, "N"]
access = "out"
{scales}
[ensures]
formula = "D[i, j] = sum(k, {product})"
"""

    # -- where operands lie
    def _matrix(self, role: int) -> SharedMatrix:
        """Return where the whole of A (0) or of B (1) lies, from the beginning of the pattern."""
        swizzle, transposed = self.swizzles[role], self.transposed[role]
        lines, row = self.own[role], swizzle or 16
        length = (self.k, self.rows)[role]
        across = length if transposed else lines
        along = across * row
        pair = (128, along) if swizzle == 0 else (along, 8 * row)
        leading, stride = pair if transposed or swizzle else (along, 128)
        if transposed and not swizzle:
            leading, stride = 128, along
        atom = 32 if transposed and self.bits == 32 else 16
        if atom == 32:
            leading, stride = along, 512
        descriptor = MatrixDescriptor(_B_AT * role, leading, stride, swizzle, atom=atom)
        return shared_matrix(descriptor, lines, length, self.bits, transposed=transposed)

    def _step(self, role: int) -> int:
        """Return how far the next part of K begins."""
        matrix, swizzle = self._matrix(role), self.swizzles[role]
        if self.transposed[role]:
            if self.bits == 32:
                return 8 // 4 * 512
            eights = 256 // self.bits // 8
            return eights * (matrix.descriptor.stride if swizzle else matrix.descriptor.leading)
        whole = (self.k, self.rows)[role] // self.k
        return whole * (32 if swizzle else 2 * matrix.descriptor.leading)

    def _addresses(self, role: int) -> str:
        matrix = self._matrix(role)
        byte, _ = matrix.address(*np.indices((matrix.lines, matrix.length)))
        return ", ".join(map(str, byte.reshape(-1).tolist()))

    def idesc(self, step: int = 0) -> int:
        """Return the instruction descriptor of a step."""
        d, a = self.types
        values: dict[str, int | str] = {"m": self.m, "n": self.n, "a": a, "b": a}
        if self.scaled:
            values |= {"scale": "ue8m0", "scale_a_id": step % 4, "scale_b_id": step % 4}
        else:
            values |= {"d": d, "sparse": int(self.sparse)}
        for role, transposed in zip("ab", self.transposed, strict=True):
            if transposed:
                values[f"transpose_{role}"] = 1
        return InstructionDescriptor.of(self.kind, **values).encoding

    # -- the text
    @property
    def text(self) -> str:
        """The module."""
        counts = self.own[0] * self.k, self.own[1] * self.rows
        tables = "\n".join(
            f".const .align 2 .u16 place{role}[{counts[role]}] = {{{self._addresses(role)}}};"
            for role in range(2)
            if not (role == 0 and self.a_in_cells)
        )
        scales = ", .param .u64 p, .param .u64 q" if self.scaled else ""
        return f""".version 8.8
.target sm_100a
.address_size 64
{tables}
.const .align 4 .u32 metadata[128] = {{{self._metadata}}};
.visible .entry multiply(.param .u64 a, .param .u64 b, .param .u64 d{scales})
{{
.shared .align 1024 .b8 tile[{_SCALES_AT + 1024}];
.shared .align 8 .b64 done;
.shared .align 4 .b32 cells;
.reg .b64 %d<32>; .reg .b32 %r<64>; .reg .b32 %f<256>; .reg .b16 %h<3>;
.reg .pred %p<8>;
mov.u32 %r0, %tid.x;
mov.u32 %r1, tile;
mov.u32 %r2, cells;
mov.u32 %r3, done;
{"mov.u32 %r60, %cluster_ctarank; mov.u16 %h2, 3;" if self.ctas > 1 else ""}
setp.lt.u32 %p1, %r0, 32;
setp.eq.u32 %p2, %r0, 0;
@%p1 tcgen05.alloc.cta_group::{self.ctas}.sync.aligned.shared::cta.b32 [%r2], {self.columns};
@%p1 tcgen05.relinquish_alloc_permit.cta_group::{self.ctas}.sync.aligned;
@%p2 mbarrier.init.shared::cta.b64 [%r3], 1;
{"".join(self._put(role) for role in range(2) if not (role == 0 and self.a_in_cells))}
bar.sync 0;
ld.shared.b32 %r40, [cells];
shr.u32 %r41, %r0, 5;
shl.b32 %r42, %r41, 21;
add.u32 %r43, %r40, %r42;
{self._store_a() if self.a_in_cells else ""}{self._put_scales()}{self._put_metadata()}
fence.proxy.async.shared::cta;
tcgen05.fence::before_thread_sync;
{self._barrier}
tcgen05.fence::after_thread_sync;
{self._first}
@!%p2 bra ISSUED;
{"".join(self._products())}
tcgen05.commit.cta_group::{self.ctas}.mbarrier::arrive::one.shared::cluster{self._told};
ISSUED:
WAITING:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
@!%p3 bra WAITING;
tcgen05.fence::after_thread_sync;
{"".join(self._loads())}
tcgen05.wait::ld.sync.aligned;
{"".join(self._stores())}
tcgen05.fence::before_thread_sync;
{self._barrier}
@%p1 tcgen05.dealloc.cta_group::{self.ctas}.sync.aligned.b32 %r40, {self.columns};
ret;
}}
"""

    @property
    def _barrier(self) -> str:
        """Return the barrier of all threads that work together."""
        return "bar.sync 0;" if self.ctas == 1 else "barrier.cluster.arrive;\nbarrier.cluster.wait;"

    @property
    def _first(self) -> str:
        """Return what makes %p2 hold in the thread that multiplies alone."""
        return "" if self.ctas == 1 else "setp.eq.and.u32 %p2, %r60, 0, %p2;"

    @property
    def _told(self) -> str:
        """Return who is told, behind ``shared::cluster``."""
        if self.ctas == 1:
            return ".b64 [%r3]"
        return ".multicast::cluster.b64 [%r3], %h2"

    def _put(self, role: int) -> str:
        """Copy an operand to shared memory, element by element."""
        name, size = "ab"[role], self.bits // 8
        rows, columns = self.own
        count = (rows * self.k, columns * self.rows)[role]
        place = f"rem.u32 %r4, %r7, {self.rows};\ndiv.u32 %r5, %r7, {self.rows};"
        index = f"{place}\nmad.lo.u32 %r4, %r4, {self.n}, %r5;" if role else "mov.u32 %r4, %r7;"
        if self.ctas > 1:
            index += f"\nmad.lo.u32 %r4, %r60, {(rows * self.k, columns)[role]}, %r4;"
        kind, register = f"u{8 * size}", "%h0" if size < 4 else "%r8"
        return f"""
ld.param.u64 %d0, [{name}];
mov.u32 %r7, %r0;
COPY{role}:
{index}
mul.wide.u32 %d1, %r4, {size};
add.u64 %d1, %d0, %d1;
ld.global.{kind} {register}, [%d1];
mul.wide.u32 %d6, %r7, 2;
mov.u64 %d7, place{role};
add.u64 %d6, %d7, %d6;
ld.const.u16 %h1, [%d6];
cvt.u32.u16 %r6, %h1;
add.u32 %r6, %r6, %r1;
st.shared.{kind} [%r6], {register};
add.u32 %r7, %r7, {_THREADS};
setp.lt.u32 %p0, %r7, {count};
@%p0 bra COPY{role};
"""

    def _store_a(self) -> str:
        """Store the rows of A to tensor memory, a thread each."""
        words = self.k * self.bits // 32
        loads = "\n".join(f"ld.global.b32 %f{index}, [%d1+{4 * index}];" for index in range(words))
        row = f"mad.lo.u32 %r4, %r60, {self.own[0]}, %r0;" if self.ctas > 1 else "mov.u32 %r4, %r0;"
        return f"""
ld.param.u64 %d0, [a];
{row}
mul.wide.u32 %d1, %r4, {4 * words};
add.u64 %d1, %d0, %d1;
{loads}
tcgen05.st.sync.aligned.32x32b.x{words}.b32 [%r43 + {_A_COLUMN}], {{{_registers(words)}}};
tcgen05.wait::st.sync.aligned;
"""

    @property
    def _metadata(self) -> str:
        """Return the word of each lane: 4 nibbles of two rows that are 8 apart."""
        words = [0] * 128
        for row, group in np.ndindex(128, 8):
            lane = row % 8 + 8 * (group // 4) + 16 * (row // 16)
            low = 4 * (group % 4) + 16 * (row // 8 % 2)
            words[lane] |= (0b0100, 0b1110)[(row + group) % 2] << low
        return ", ".join(map(str, words))

    def _put_metadata(self) -> str:
        """Store the metadata, the same for each step."""
        if not self.sparse:
            return ""
        return f"""
mul.wide.u32 %d8, %r0, 4;
mov.u64 %d9, metadata;
add.u64 %d8, %d8, %d9;
ld.const.u32 %f0, [%d8];
tcgen05.st.sync.aligned.32x32b.x1.b32 [%r43 + {_SCALE_COLUMN}], {{%f0}};
tcgen05.wait::st.sync.aligned;
"""

    def _put_scales(self) -> str:
        """Store the scale factors, four of each row, to each quarter of the lanes, or copy them."""
        if not self.scaled:
            return ""
        text = "and.b32 %r44, %r0, 31;\n"
        for name, lines, column in (("p", self.own[0], 0), ("q", 32, 4)):
            groups = lines // 32
            text += f"ld.param.u64 %d0, [{name}];\n"
            for group in range(groups):
                text += f"""
add.u32 %r45, %r44, {32 * group};
{f"mad.lo.u32 %r45, %r60, {lines}, %r45;" if self.ctas > 1 and name == "p" else ""}
mul.wide.u32 %d1, %r45, 4;
add.u64 %d1, %d0, %d1;
ld.global.b32 %f{group}, [%d1];
"""
                if self.scaled == "cp":
                    text += f"""
mul.lo.u32 %r45, %r44, 16;
add.u32 %r45, %r45, %r1;
@%p1 st.shared.b32 [%r45+{_SCALES_AT + 512 * (column // 4) + 4 * group}], %f{group};
"""
            if self.scaled == "st":
                text += (
                    f"tcgen05.st.sync.aligned.32x32b.x{groups}.b32 [%r43 + {_SCALE_COLUMN + column}], "
                    f"{{{_registers(groups)}}};\n"
                )
            elif groups < 4:
                text += "mov.b32 %f8, 0;\n" + "".join(
                    f"@%p1 st.shared.b32 [%r45+{_SCALES_AT + 512 * (column // 4) + 4 * each}], %f8;\n"
                    for each in range(groups, 4)
                )
        return text + ("tcgen05.wait::st.sync.aligned;\n" if self.scaled == "st" else "")

    def _descriptor(self, role: int, step: int, register: str) -> str:
        fields = self._matrix(role).descriptor
        word = encoded(MatrixDescriptor(0, fields.leading, fields.stride, fields.swizzle, atom=fields.atom))
        return _described(_B_AT * role + step * self._step(role), word, register)

    def _products(self) -> Iterator[str]:
        if self.scaled == "cp":
            word = encoded(MatrixDescriptor(0, 128, 128, 0))
            for index in range(2):
                yield _described(_SCALES_AT + 512 * index, word, "%d5")
                at = f"%r40 + {_SCALE_COLUMN + 4 * index}"
                yield f"tcgen05.cp.cta_group::{self.ctas}.32x128b.warpx4 [{at}], %d5;\n"
        mnemonic = (
            f"tcgen05.mma{'.ws' * self.ws}{'.sp' * self.sparse}.cta_group::{self.ctas}.kind::{self.kind}"
            + ".block_scale.block32" * bool(self.scaled)
        )
        at = f"%r40 + {16 << 16 if self.upper else 0}"
        for step in range(self.steps):
            a = f"[%r40 + {_A_COLUMN + 8 * step}]"
            if not self.a_in_cells:
                yield self._descriptor(0, step, "%d2")
                a = "%d2"
            yield self._descriptor(1, step, "%d3")
            yield f"mov.b32 %r50, {self.idesc(step):#x};\nsetp.ne.u32 %p4, {step}, 0;\n"
            scales = f" [%r40 + {_SCALE_COLUMN}], [%r40 + {_SCALE_COLUMN + 4}]," if self.scaled else ""
            metadata = f" [%r40 + {_SCALE_COLUMN}]," if self.sparse else ""
            yield f"{mnemonic} [{at}], {a}, %d3,{metadata} %r50,{scales} %p4;\n"

    # -- D
    @property
    def _parts(self) -> int:
        """Parts of the columns of D that lie in different lanes."""
        return {128: 1, 64: 2, 32: 4}[self.own[0]]

    @property
    def _is_of_half_lanes(self) -> bool:
        """Whether a warp's quarter of the lanes has 16 rows of D."""
        return self.own[0] == 64 and not self.ws and (self.ctas == 1 or self.sparse)

    def _loads(self) -> Iterator[str]:
        count = self.n // self._parts
        if self._is_of_half_lanes:
            at = f"[%r43 + {16 << 16 if self.upper else 0}], {count}"
            yield f"tcgen05.ld.sync.aligned.16x32bx2.x{count}.b32 {{{_registers(count)}}}, {at};\n"
        else:
            yield f"tcgen05.ld.sync.aligned.32x32b.x{count}.b32 {{{_registers(count)}}}, [%r43];\n"

    def _stores(self) -> Iterator[str]:
        size, count = 2 if self.types[0] == "f16" else 4, self.n // self._parts
        if self._is_of_half_lanes:  # a warp has 16 rows, half a warp half of the columns
            place = "and.b32 %r20, %r0, 15;\nmad.lo.u32 %r20, %r41, 16, %r20;\nbfe.u32 %r21, %r0, 4, 1;"
        else:
            rows = self.own[0]
            place = f"rem.u32 %r20, %r0, {rows};\ndiv.u32 %r21, %r0, {rows};"
        yield f"""
ld.param.u64 %d0, [d];
{place}
mul.lo.u32 %r21, %r21, {count};
{f"mad.lo.u32 %r20, %r60, {self.own[0]}, %r20;" if self.ctas > 1 else ""}
mad.lo.u32 %r20, %r20, {self.n}, %r21;
mul.wide.u32 %d1, %r20, {size};
add.u64 %d0, %d0, %d1;
"""
        for index in range(count):
            yield (
                f"st.global.b{8 * size} [%d0+{size * index}], %f{index};\n"
                if size == 4
                else (f"cvt.u16.u32 %h1, %f{index};\nst.global.b16 [%d0+{size * index}], %h1;\n")
            )


def _described(at: int, word: int, register: str) -> str:
    """Make a descriptor of a place in the tiles."""
    return f"""
add.u32 %r9, %r1, {at};
shr.u32 %r9, %r9, 4;
and.b32 %r9, %r9, 16383;
cvt.u64.u32 {register}, %r9;
or.b64 {register}, {register}, {word};
"""


def _registers(count: int) -> str:
    return ", ".join(f"%f{index}" for index in range(count))


RIGHT = (
    Kernel(steps=2),
    Kernel(swizzles=(64, 32)),
    Kernel(swizzles=(0, 0), steps=2),
    Kernel(transposed=(True, True), n=64, steps=2),
    Kernel(transposed=(True, True), swizzles=(0, 0), steps=2),
    Kernel(m=64),
    Kernel(m=64, upper=True, n=8),
    Kernel(m=64, ws=True, n=64),
    Kernel(m=32, ws=True, n=64),
    Kernel(types=("f32", "bf16"), n=32),
    Kernel(types=("f16", "f16")),
    Kernel(types=("s32", "s8"), steps=2),
    Kernel(types=("s32", "u8"), n=8),
    Kernel(types=("f32", "tf32"), steps=2),
    Kernel(types=("f32", "tf32"), transposed=(True, True), n=32, steps=2),
    Kernel(types=("f32", "e4m3")),
    Kernel(types=("f16", "e5m2"), swizzles=(32, 0)),
    Kernel(types=("f32", "e4m3"), transposed=(True, True)),
    Kernel(a_in_cells=True, steps=2),
    Kernel(types=("f32", "e4m3"), a_in_cells=True),
    Kernel(types=("f32", "e4m3"), scaled="st", steps=4),
    Kernel(types=("f32", "e4m3"), scaled="cp", steps=4, n=32),
    Kernel(sparse=True, steps=2),
)
"""Every layout of D, every way in which operands lie, and most types."""

PAIRS = (
    Kernel(ctas=2, m=256, n=32, steps=2),
    Kernel(ctas=2, n=64, steps=2),
    Kernel(ctas=2, m=256, n=64, transposed=(True, True), swizzles=(128, 64)),
    Kernel(ctas=2, m=256, n=32, a_in_cells=True, steps=2),
    Kernel(ctas=2, m=256, n=32, types=("f32", "e4m3"), scaled="st", steps=2),
    Kernel(ctas=2, m=256, n=32, types=("f32", "e4m3"), scaled="cp", steps=2),
    Kernel(ctas=2, m=256, n=32, sparse=True),
    Kernel(ctas=2, n=32, types=("s32", "s8")),
)
"""The same of two CTAs."""
