"""Every dense MFMA as one table: result, shape, blocks, element types, opcodes.

``D[b] = C[b] + A[b] x B[b]`` for each of B independent blocks; A is M x K, B is K x N, C and D are
M x N. Sizes give the registers: a wavefront has 64 lanes, each of which holds as many elements of a
matrix as the others. Source: AMD, "AMD Instinct MI300" Instruction Set Architecture, chapter 7; every
row was checked against llvm-mc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from types import MappingProxyType

from .targets import DEFAULT_TARGET, TARGETS, Target

LANES = 64
"""Lanes of a wavefront."""

_TABLE = """
f32 32x32x1    2 f32   40:8a45g
f32 16x16x1    4 f32   41:8a45g
f32 4x4x1     16 f32   42:8a45g
f32 32x32x2    1 f32   44:8a45g
f32 16x16x4    1 f32   45:8a45g
f32 32x32x4    2 f16   48:8a45g
f32 16x16x4    4 f16   49:8a45g
f32 4x4x4     16 f16   4a:8a45g
f32 32x32x8    1 f16   4c:8a45g
f32 16x16x16   1 f16   4d:8a45g
f32 16x16x32   1 f16   54:5
f32 32x32x16   1 f16   55:5
f32 32x32x4    2 bf16  63:a 5d:45g
f32 16x16x4    4 bf16  64:a 5e:45g
f32 4x4x4     16 bf16  65:a 5f:45g
f32 32x32x8    1 bf16  66:a 60:45g
f32 16x16x16   1 bf16  67:a 61:45g
f32 16x16x32   1 bf16  35:5
f32 32x32x16   1 bf16  37:5
f32 32x32x2    2 bf16  68:8a
f32 16x16x2    4 bf16  69:8a
f32 4x4x2     16 bf16  6b:8a
f32 32x32x4    1 bf16  6c:8a
f32 16x16x8    1 bf16  6d:8a
f32 32x32x4    1 xf32  3f:4
f32 16x16x8    1 xf32  3e:4
f32 16x16x32   1 bf8_bf8  70:45
f32 16x16x32   1 bf8_fp8  71:45
f32 16x16x32   1 fp8_bf8  72:45
f32 16x16x32   1 fp8_fp8  73:45
f32 32x32x16   1 bf8_bf8  74:45
f32 32x32x16   1 bf8_fp8  75:45
f32 32x32x16   1 fp8_bf8  76:45
f32 32x32x16   1 fp8_fp8  77:45
i32 32x32x4    2 i8    50:8a45g
i32 16x16x4    4 i8    51:8a45g
i32 4x4x4     16 i8    52:8a45g
i32 32x32x8    1 i8    54:8a
i32 16x16x16   1 i8    55:8a
i32 32x32x16   1 i8    56:45g
i32 16x16x32   1 i8    57:45g
i32 16x16x64   1 i8    36:5
i32 32x32x32   1 i8    38:5
f64 16x16x4    1 f64   6e:a45g
f64 4x4x4      4 f64   6f:a45g
"""
"""Result, MxNxK, B, type of A and B, and the hexadecimal opcode of the targets with these letters."""


@dataclass(frozen=True)
class MatrixMultiply:
    """One instruction.

    Attributes
    ----------
    result : str
        Element type of C and D as the mnemonic spells it.
    m, n, k, blocks : int
        M, N, K and B.
    factors : str
        Element types of A and B as the mnemonic spells them: one for both, or ``fp8_bf8``.
    opcodes : tuple of (targets' letters, opcode)
        The 7-bit opcodes.
    """

    result: str
    m: int
    n: int
    k: int
    blocks: int
    factors: str
    opcodes: tuple[tuple[str, int], ...]

    @property
    def name(self) -> str:
        """The name on CDNA3, or the only one there is."""
        if not any(set("45g") & set(letters) for letters, _ in self.opcodes):
            return self._short_name
        blocks = f"_{self.blocks}b" if self.blocks > 1 else ""
        return f"v_mfma_{self.result}_{self.shape}{blocks}_{self.factors}"

    @property
    def shape(self) -> str:
        """MxNxK."""
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def _short_name(self) -> str:
        """The name without blocks; the first bf16 products had the shorter K, these are the second."""
        second = "_1k" if self.factors == "bf16" and self.elements("a") == 4 else ""
        return f"v_mfma_{self.result}_{self.shape}{self.factors}{second}"

    def opcode(self, target: Target) -> int | None:
        """Return the opcode on a target, None where it does not exist."""
        return next((code for letters, code in self.opcodes if target.column in letters), None)

    def names(self, target: Target) -> tuple[str, ...]:
        """Return the names that a target knows it by, the one to print first."""
        if self.opcode(target) is None:
            return ()
        if target.short_names:
            return (self._short_name,)
        if "_" in self.factors:
            return (self.name,)
        short = self._short_name
        return tuple(dict.fromkeys((self.name, short.removesuffix("_1k"), short)))

    @cached_property
    def types(self) -> Mapping[str, str]:
        """The element type of each operand, as mnemonics spell it."""
        a, _, b = self.factors.partition("_")
        return {"a": a, "b": b or a, "c": self.result, "d": self.result}

    def extents(self, operand: str) -> tuple[int, int]:
        """Return rows and columns of one block of an operand."""
        return {"a": (self.m, self.k), "b": (self.k, self.n)}.get(operand, (self.m, self.n))

    def elements(self, operand: str) -> int:
        """Return how many elements of an operand a lane holds."""
        rows, columns = self.extents(operand)
        return rows * columns * self.blocks // LANES

    def registers(self, operand: str) -> int:
        """Return in how many 32-bit registers a lane holds them."""
        return self.elements(operand) * DEFAULT_TARGET.format(self.types[operand]).bits // 32

    @property
    def is_double(self) -> bool:
        """Whether everything is f64."""
        return self.result == "f64"

    def __str__(self) -> str:
        return self.name


def _rows() -> Iterator[MatrixMultiply]:
    for line in _TABLE.strip().splitlines():
        result, shape, blocks, factors, *opcodes = line.split()
        codes = tuple((letters, int(code, 16)) for code, letters in (item.split(":") for item in opcodes))
        m, n, k = map(int, shape.split("x"))
        yield MatrixMultiply(result, m, n, k, int(blocks), factors, codes)


ROWS = tuple(_rows())
"""The catalogue."""


def on(target: Target) -> tuple[MatrixMultiply, ...]:
    """Return what a target has."""
    return tuple(row for row in ROWS if row.opcode(target) is not None)


def _by_name() -> dict[str, dict[str, MatrixMultiply]]:
    found: dict[str, dict[str, MatrixMultiply]] = {}
    for target, row in product(TARGETS.values(), ROWS):
        for name in row.names(target):
            found.setdefault(name, {}).setdefault(target.name, row)
    return found


BY_NAME: Mapping[str, Mapping[str, MatrixMultiply]] = MappingProxyType(_by_name())
"""What each name stands for, by target: some stand for different instructions on different targets."""
