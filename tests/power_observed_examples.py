"""Results of single instructions, seen on QEMU 7.2 or posted to qemu-devel, as one table.

Operands are written as the documents write them: a float is a value, an int is an encoding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from power_vectors import Vectors

from mmaproof.spec.formats import Format, numpy_type
from mmaproof.spec.power.catalogue import UPDATES, RankKUpdate
from mmaproof.spec.rounding import Rounding

Element = int | float
Matrix = Element | Sequence["Element | Sequence[Element]"]

INVALID = {"VXSNAN": 0x0100_0000, "VXISI": 0x0080_0000, "VXIMZ": 0x0010_0000}
"""FPSCR's sticky bits of the invalid operations."""


@dataclass(frozen=True)
class Example:
    """One instruction on operands that are the same in every row and column, unless written out.

    Attributes
    ----------
    instruction : str
        Mnemonic; a word form has all masks on.
    x, y : sequence
        One row of k elements, or all rows.
    result : element, matrix, or one element for each rounding direction
        Elements (i, j) of the new accumulator.
    acc : element
        Every element of the old accumulator.
    masks : tuple of int
        XMSK, YMSK, PMSK.
    roundings : tuple of Rounding
        Directions it holds for.
    by_rounding : bool
        Whether `result` lists one element for each of `roundings`.
    presets : tuple of str
        The presets of choices it holds for.
    saturated : bool
        VSCR.SAT afterwards.
    invalid : tuple of str, optional
        Bits of `INVALID` set afterwards; None when not recorded.
    """

    instruction: str
    x: Sequence[Element | Sequence[Element]]
    y: Sequence[Element | Sequence[Element]]
    result: Matrix
    acc: Element = 0
    masks: tuple[int, int, int] = (0xF, 0xF, 0xFF)
    roundings: tuple[Rounding, ...] = tuple(Rounding)
    by_rounding: bool = False
    presets: tuple[str, ...] = ("isa", "qemu-7.2")
    saturated: bool = False
    invalid: tuple[str, ...] | None = None

    def __str__(self) -> str:
        operands = " ".join(map(_text, (self.x, self.y, self.acc)))
        return f"{self.instruction} {operands} {','.join(self.presets)}"

    @property
    def update(self) -> RankKUpdate:
        return UPDATES[self.instruction.removeprefix("pm")]

    @property
    def prefixed(self) -> bool:
        return self.instruction.startswith("pm")

    def vectors(self) -> Vectors:
        """Return one vector for each rounding direction."""
        family, count = self.update.family, len(self.roundings)

        def operand(written: Matrix, fmt: Format, *shape: int) -> NDArray[np.unsignedinteger]:
            return np.broadcast_to(encodings(written, fmt), (count, *shape))

        def mask(immediate: int, width: int) -> NDArray[np.int64]:
            return np.full(count, immediate & ((1 << width) - 1))

        return Vectors(
            operand(self.x, family.x, 4, family.rank),
            operand(self.y, family.y, family.columns, family.rank),
            operand(self.acc, family.result, 4, family.columns),
            np.array([rounding.value for rounding in self.roundings]),
            mask(self.masks[0], 4),
            mask(self.masks[1], family.columns),
            mask(self.masks[2], family.rank),
        )

    def expected(self) -> NDArray[np.unsignedinteger]:
        """Return the accumulators (n, 4, columns), one for each rounding direction."""
        family = self.update.family
        result = encodings(self.result, family.result)
        if self.by_rounding:
            result = result[:, None, None]
        return np.broadcast_to(result, (len(self.roundings), 4, family.columns))


def encodings(written: Matrix, fmt: Format) -> NDArray[np.unsignedinteger]:
    """Return the array of encodings that a nest of values (floats) and encodings (ints) stands for."""
    if isinstance(written, Sequence):
        return np.stack([encodings(part, fmt) for part in written])
    if isinstance(written, float):
        value = np.array(written, dtype=numpy_type(fmt))
        assert float(value) == written, f"{written} is not a value of {fmt}"
        return value.view(fmt.storage)
    return np.array(written, dtype=fmt.storage)


def _text(written: Matrix) -> str:
    if isinstance(written, Sequence):
        return f"({','.join(map(_text, written))})"
    return f"{written:g}" if isinstance(written, float) else f"{written:#x}"


INF = float("inf")
SIGNALLING_F16, SIGNALLING_F32 = 0x7C01, 0x7F800001
NEAREST = (Rounding.NEAREST_EVEN,)
ISA, QEMU = ("isa",), ("qemu-7.2",)

INEXACT_NP = partial(Example, "xvf32gernp", [1 + 2.0**-23], [1 + 2.0**-23], acc=0.0, by_rounding=True)
OVERFLOWING_SUM = partial(
    Example, "xvbf16ger2pp", [2.0**127, 0.0], [2.0, 0.0], acc=-(2.0**127), roundings=NEAREST
)
SUBNORMAL_SUM = partial(Example, "xvbf16ger2", roundings=NEAREST)
NO_PRODUCTS = partial(Example, x=[1.0, 1.0], y=[1.0, 1.0], masks=(0xF, 0xF, 0))

EXAMPLES = (
    # f32 rounds once; f16 and bf16 round the product sum, then the sum with the accumulator
    Example("xvf32gerpp", [1 + 2.0**-12], [1 + 2.0**-12], 2.0**-24, acc=-(1 + 2.0**-11)),
    Example("xvbf16ger2pp", [1.0, 2.0**-12], [1.0, 2.0**-12], 1.0, acc=2.0**-24, roundings=NEAREST),
    Example("xvf16ger2pp", [1.0, 2.0**-12], [1.0, 2.0**-12], 1.0, acc=2.0**-24, roundings=NEAREST),
    # np is minus the rounded difference for f32, the sum with the negated product for f16
    Example("xvf32gernp", [1.0], [1.0], [-0.0, -0.0, -0.0, 0.0], acc=1.0, by_rounding=True),
    Example("xvf16ger2np", [1.0, 0.0], [1.0, 0.0], [0.0, 0.0, 0.0, -0.0], acc=1.0, by_rounding=True),
    Example("xvf16ger2", [1.0, -1.0], [1.0, 1.0], [0.0, 0.0, 0.0, -0.0], by_rounding=True),
    INEXACT_NP(result=[0xBF800002, 0xBF800002, 0xBF800003, 0xBF800002], presets=ISA),
    INEXACT_NP(result=[0xBF800002, 0xBF800002, 0xBF800002, 0xBF800003], presets=QEMU),
    # the first rounding of bf16: exponent range unbounded, or f32's
    OVERFLOWING_SUM(result=2.0**127, presets=ISA),
    OVERFLOWING_SUM(result=INF, presets=QEMU),
    SUBNORMAL_SUM(x=[2.0**-75, 2.0**-90], y=[2.0**-75, 2.0**-90], result=0, presets=ISA),
    SUBNORMAL_SUM(x=[2.0**-75, 2.0**-90], y=[2.0**-75, 2.0**-90], result=1, presets=QEMU),
    # posted to qemu-devel on 2022-05-10 as values of mambo or the hardware
    SUBNORMAL_SUM(x=[0x0009, 0x23DA], y=[0x9D08, 0x0000], result=0x80000000),
    SUBNORMAL_SUM(x=[0x28C3, 0x1F00], y=[0x000F, 0x97AC], result=0x80000016, presets=ISA),
    SUBNORMAL_SUM(x=[0x28C3, 0x1F00], y=[0x000F, 0x97AC], result=0x80000015, presets=QEMU),
    SUBNORMAL_SUM(x=[0x0001, 0x8540], y=[0xB709, 0x2F00], result=0x80000001),
    # ranges and special values
    Example("xvf16ger2", [65504.0, 65504.0], [65504.0, 65504.0], 0x4FFFC004),
    Example("xvf16ger2", [2.0**-24, 0.0], [1.0, 0.0], 2.0**-24),
    Example("xvf16ger2", [INF, -INF], [1.0, 1.0], 0x7FC00000, invalid=("VXISI",)),
    # masks: a disabled element is +0, and nothing it would have raised is raised
    Example(
        "pmxvf32gerpp", [[2.0], [3.0], [5.0], [7.0]], [[11.0], [13.0], [17.0], [19.0]],
        [[0.0, 0.0, 0.0, 39.0], *[[0.0] * 4] * 3], acc=1.0, masks=(0b1000, 0b0001, 0),
    ),
    Example("pmxvf32gerpp", [1.0], [1.0], 0.0, acc=1.0, masks=(0, 0, 0), invalid=()),
    Example(
        "pmxvf32gerpp", [[SIGNALLING_F32], [1.0], [1.0], [1.0]], [1.0],
        [[0.0] * 4, *[[2.0] * 4] * 3], acc=1.0, masks=(0b0111, 0xF, 0), invalid=(),
    ),
    Example(
        "pmxvf16ger2pp", [SIGNALLING_F16, 2.0], [1.0, 1.0], 3.0, acc=1.0, masks=(0xF, 0xF, 0b01), invalid=(),
    ),
    # without products, a zero is still added to the accumulator
    NO_PRODUCTS("pmxvf16ger2pp", result=[0.0, 0.0, 0.0, -0.0], acc=-0.0, by_rounding=True),
    NO_PRODUCTS("pmxvf16ger2pn", result=0.0, acc=-0.0),
    NO_PRODUCTS("pmxvf16ger2np", result=-0.0, acc=-0.0),
    NO_PRODUCTS("pmxvf16ger2nn", result=[0.0, 0.0, 0.0, -0.0], acc=-0.0, by_rounding=True),
    NO_PRODUCTS("pmxvf16ger2pp", result=0x7FC00001, acc=SIGNALLING_F32, invalid=("VXSNAN",)),
    # integers: the exact sum is clamped once, the accumulator included
    Example("xvi16ger2", [0x8000] * 2, [0x8000] * 2, 0x80000000),
    Example("xvi16ger2s", [0x8000] * 2, [0x8000] * 2, 0x7FFFFFFF, saturated=True),
    Example("xvi16ger2spp", [0x8000] * 2, [0x8000] * 2, 0, acc=0x80000000),
    Example("xvi16ger2spp", [0x7FFF, 0x8000], [0x7FFF, 0x7FFF], 0x7FFF8000, acc=0x7FFFFFFF),
    Example("xvi8ger4", [0x80] * 4, [0xFF] * 4, 0xFFFE0200),
    Example("xvi8ger4spp", [0x80] * 4, [0xFF] * 4, 0x80000000, acc=0x80000000, saturated=True),
    Example("xvi4ger8", [8] * 8, [8] * 8, 512),
    Example("pmxvi16ger2spp", [1] * 2, [1] * 2, 0x7FFFFFFF, acc=0x7FFFFFFF, masks=(0xF, 0xF, 0)),
)  # fmt: skip
"""Every observed example in ISA element order."""
