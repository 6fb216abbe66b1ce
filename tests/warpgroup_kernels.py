"""A kernel of one warpgroup: it puts A and B where descriptors say, multiplies, and stores D."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mmaproof.spec.formats import format_named
from mmaproof.spec.ptx.matrix_descriptor import MatrixDescriptor, SharedMatrix

_B_AT = 16384
"""Where B begins in shared memory, from the beginning of A."""

_THREADS = 128


@dataclass(frozen=True)
class Kernel:
    """A product of 64 × N × K.

    Attributes
    ----------
    types : (str, str)
        Of D, and of A and B.
    n : int
        Columns of B.
    swizzles : (int, int)
        Bytes of a swizzled row, of A and of B.
    transposed : (bool, bool)
        Whether A and B lie along M and N.
    a_in_registers : bool
        Whether A is loaded from shared memory as a fragment.
    steps : int
        Products, of neighbouring parts of K.
    selector : int, optional
        Of a product whose A is sparse: which threads hold metadata. Of a group of 4 elements (tf32: 2) half
        are kept, the first ones where row and group are even together or odd together, otherwise the last.
    """

    types: tuple[str, str] = ("f32", "f16")
    n: int = 16
    swizzles: tuple[int, int] = (128, 128)
    transposed: tuple[bool, bool] = (False, False)
    a_in_registers: bool = False
    steps: int = 1
    selector: int | None = None

    @property
    def bits(self) -> int:
        """Width of an element of A."""
        return format_named(self.types[1]).bits

    @property
    def k(self) -> int:
        """Columns of A, of a sparse one those that are stored."""
        return 256 // self.bits * self.steps

    @property
    def rows(self) -> int:
        """Rows of B."""
        return self.k * (1 if self.selector is None else 2)

    @property
    def kept(self) -> int:
        """Elements that a group of a sparse A keeps."""
        return 1 if self.bits == 32 else 2

    @property
    def contract(self) -> str:
        """What it computes."""
        d, a = self.types
        group = f"{2 * self.kept} * (k // {self.kept}) + k % {self.kept}"
        row = "k" if self.selector is None else f"{group} + {self.kept} * ((i + k // {self.kept}) % 2)"
        return f"""
[kernel]
isa = "ptx"
[launch]
grid = 1
block = {_THREADS}
[sizes]
N = {self.n}
K = {self.rows}
L = {self.k}
[[param]]
name = "A"
type = "{a}"
shape = [64, "L"]
[[param]]
name = "B"
type = "{a}"
shape = ["K", "N"]
[[param]]
name = "D"
type = "{d}"
shape = [64, "N"]
access = "out"
[ensures]
formula = "D[i, j] = sum(k, A[i, k] * B[{row}, j])"
"""

    def _matrix(self, role: int) -> SharedMatrix:
        """Return where the whole of A (0) or of B (1) lies, from the beginning of the pattern."""
        swizzle, transposed = self.swizzles[role], self.transposed[role]
        lines, row = (64, self.n)[role], swizzle or 16
        length = (self.k, self.rows)[role]
        across = length if transposed else lines
        along = across * row
        pair = (128, along) if swizzle == 0 else (along, 8 * row)
        leading, stride = pair if transposed or swizzle else (along, 128)
        if transposed and not swizzle:
            leading, stride = 128, along
        descriptor = MatrixDescriptor(_B_AT * role, leading, stride, swizzle)
        return SharedMatrix(descriptor, lines, length, self.bits, transposed)

    def _step(self, role: int) -> int:
        """Return how far the next part of K begins."""
        swizzle = self.swizzles[role]
        matrix, whole = self._matrix(role), (self.k, self.rows)[role] // self.k
        if self.transposed[role]:
            return 2 * whole * (matrix.descriptor.stride if swizzle else matrix.descriptor.leading)
        return whole * (32 if swizzle else 2 * matrix.descriptor.leading)

    def _addresses(self, role: int) -> str:
        """Return where each element of A, row by row, or of B, column by column, lies."""
        matrix = self._matrix(role)
        byte, _ = matrix.address(*np.indices((matrix.lines, matrix.length)))
        return ", ".join(map(str, byte.reshape(-1).tolist()))

    @property
    def text(self) -> str:
        """The module."""
        counts = 64 * self.k, self.n * self.rows
        tables = "\n".join(
            f".const .align 4 .u32 place{role}[{counts[role]}] = {{{self._addresses(role)}}};"
            for role in range(2)
        )
        return f""".version 8.4
.target sm_90a
.address_size 64
{tables}
.const .align 4 .u32 metadata[32] = {{{self._metadata}}};
.visible .entry multiply(.param .u64 a, .param .u64 b, .param .u64 d)
{{
.shared .align 1024 .b8 tile[{2 * _B_AT}];
.reg .b64 %d<32>; .reg .b32 %r<64>; .reg .b32 %f<{self.n}>; .reg .b32 %a<4>; .reg .b16 %h<2>;
.reg .pred %p<2>;
mov.u32 %r0, %tid.x;
mov.u32 %r1, tile;
{"".join(self._put(role) for role in range(2))}
fence.proxy.async.shared::cta;
bar.sync 0;
{"".join(self._products())}
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
{"".join(self._stores())}
ret;
}}
"""

    def _put(self, role: int) -> str:
        """Copy an operand to shared memory, element by element."""
        name, size = "ab"[role], self.bits // 8
        count = (64 * self.k, self.n * self.rows)[role]
        column = role == 1
        place = f"rem.u32 %r4, %r3, {self.rows};\ndiv.u32 %r5, %r3, {self.rows};"
        index = f"{place}\nmad.lo.u32 %r4, %r4, {self.n}, %r5;" if column else "mov.u32 %r4, %r3;"
        kind = f"u{8 * size}"
        register = "%h0" if size < 4 else "%r8"
        return f"""
ld.param.u64 %d0, [{name}];
mov.u32 %r3, %r0;
COPY{role}:
{index}
mul.wide.u32 %d1, %r4, {size};
add.u64 %d1, %d0, %d1;
ld.global.{kind} {register}, [%d1];
mul.wide.u32 %d6, %r3, 4;
mov.u64 %d7, place{role};
add.u64 %d6, %d7, %d6;
ld.const.u32 %r6, [%d6];
add.u32 %r6, %r6, %r1;
st.shared.{kind} [%r6], {register};
add.u32 %r3, %r3, {_THREADS};
setp.lt.u32 %p0, %r3, {count};
@%p0 bra COPY{role};
"""

    @property
    def _metadata(self) -> str:
        """Return the word of each thread of a warp; of those that hold no metadata all bits are set."""
        words = [0xFFFFFFFF] * 32
        if self.selector is not None:
            nibbles = (0b0100, 0b1110)
            for row, group in np.ndindex(16, 8 if self.bits > 8 else 16):
                lane = 4 * (row % 8) + (
                    2 * self.selector + group // 4 if self.bits > 8 else 2 * (group // 8) + row // 8
                )
                low = 16 * (row // 8) + 4 * (group % 4) if self.bits > 8 else 4 * (group % 8)
                words[lane] ^= (0xF ^ nibbles[(row + group) % 2]) << low
        return ", ".join(map(str, words))

    def _descriptor(self, role: int, step: int, register: str) -> str:
        descriptor = self._matrix(role).descriptor
        fields = MatrixDescriptor(0, descriptor.leading, descriptor.stride, descriptor.swizzle).encoding
        at = _B_AT * role + step * self._step(role)
        return f"""
add.u32 %r9, %r1, {at};
shr.u32 %r9, %r9, 4;
and.b32 %r9, %r9, 16383;
cvt.u64.u32 {register}, %r9;
or.b64 {register}, {register}, {fields};
"""

    def _products(self) -> Iterator[str]:
        d, a = self.types
        registers = self.n // 2 // (2 if d == "f16" else 1)
        accumulators = ", ".join(f"%f{index}" for index in range(registers))
        operand = "{%a0, %a1, %a2, %a3}" if self.a_in_registers else "%d2"
        sparse = ""
        if self.selector is not None:
            sparse = f" %r30, {self.selector},"
            yield """
and.b32 %r31, %r0, 31;
mul.wide.u32 %d8, %r31, 4;
mov.u64 %d9, metadata;
add.u64 %d8, %d8, %d9;
ld.const.u32 %r30, [%d8];
"""
        for step in range(self.steps):
            yield self._fragment(step) if self.a_in_registers else self._descriptor(0, step, "%d2")
            yield self._descriptor(1, step, "%d3")
            trans = (
                [str(int(each)) for each in self.transposed][self.a_in_registers :] if self.bits == 16 else []
            )
            scales = [] if d == "s32" else ["1", "1"]
            immediates = "".join(f", {scale}" for scale in [*scales, *trans])
            if step == 0 or self.a_in_registers:
                yield "wgmma.fence.sync.aligned;\n"
            yield (
                f"wgmma.mma_async{'.sp' * bool(sparse)}.sync.aligned."
                f"m64n{self.n}k{(512 if sparse else 256) // self.bits}.{d}.{a}.{a} "
                f"{{{accumulators}}}, "
                f"{operand}, %d3,{sparse} {int(step > 0)}{immediates};\n"
            )
            if self.a_in_registers and step + 1 < self.steps:
                yield "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"

    def _fragment(self, step: int) -> str:
        """Load A as the manual's figure has it, from global memory."""
        words, size = "", self.bits // 8
        for register in range(4):
            row, column = 8 * (register % 2), 32 // self.bits * 4 * (register // 2)
            words += f"""
shr.u32 %r10, %r0, 2;
and.b32 %r11, %r10, 7;
shr.u32 %r12, %r0, 5;
mad.lo.u32 %r11, %r12, 16, %r11;
add.u32 %r11, %r11, {row};
and.b32 %r13, %r0, 3;
mul.lo.u32 %r13, %r13, {32 // self.bits};
add.u32 %r13, %r13, {column + step * 256 // self.bits};
mad.lo.u32 %r11, %r11, {self.k}, %r13;
ld.param.u64 %d4, [a];
mul.wide.u32 %d5, %r11, {size};
add.u64 %d4, %d4, %d5;
ld.global.b32 %a{register}, [%d4];
"""
        return words

    def _stores(self) -> Iterator[str]:
        d = self.types[0]
        size = 2 if d == "f16" else 4
        yield f"""
ld.param.u64 %d0, [d];
shr.u32 %r20, %r0, 2;
and.b32 %r20, %r20, 7;
shr.u32 %r21, %r0, 5;
mad.lo.u32 %r20, %r21, 16, %r20;
and.b32 %r21, %r0, 3;
mul.lo.u32 %r21, %r21, 2;
mad.lo.u32 %r20, %r20, {self.n}, %r21;
mul.wide.u32 %d1, %r20, {size};
add.u64 %d0, %d0, %d1;
"""
        for index in range(0, self.n // 2, 4 // size):
            row, column = 8 * (index // 2 % 2), 8 * (index // 4) + index % 2
            register = index if size == 4 else index // 2
            yield f"st.global.b32 [%d0+{size * (row * self.n + column)}], %f{register};\n"


RIGHT = (
    Kernel(),
    Kernel(swizzles=(64, 32)),
    Kernel(swizzles=(0, 0), steps=2),
    Kernel(transposed=(True, True), n=64, steps=2),
    Kernel(transposed=(True, False), swizzles=(64, 32)),
    Kernel(transposed=(True, True), swizzles=(0, 0), steps=2),
    Kernel(types=("s32", "s8"), steps=2),
    Kernel(types=("f32", "e4m3")),
    Kernel(types=("f32", "tf32"), steps=4),
    Kernel(types=("f16", "e5m2"), swizzles=(32, 0)),
    Kernel(types=("f16", "f16")),
    Kernel(types=("s32", "u8"), a_in_registers=True, n=8),
)
"""Every way in which operands lie, and most types."""
