"""What PTO's documents leave open, or where its profiles differ.

Source: pto-isa at 3186c381 (headers and pages) and its issue threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..choices import OpenPoint, choose
from ..formats import TF32, FloatFormat
from ..rounding import Rounding
from .targets import Profile

SEEDED = "seeded"
ADDED_LAST = "added-last"
UNSPECIFIED = "unspecified"
IN_PLACE = "in-place"
OPERAND = "operand"
LINE = "line"
BOXES = "boxes"

E8M11 = FloatFormat("e8m11", 32, exponent_bits=8, fraction_bits=11, bias=127, padding_bits=12)
"""What A2A3 calls HF32."""

TF32_FORMATS = MappingProxyType({"e8m10": TF32, "e8m11": E8M11})
"""What f32 factors are rounded to, by the choice of ``tf32``."""

DIRECTIONS = MappingProxyType({"nearest-even": Rounding.NEAREST_EVEN, "toward-zero": Rounding.TOWARD_ZERO})
"""How a float accumulator rounds, by the choice of ``accumulator-rounding``."""

OPEN_POINTS = (
    OpenPoint(
        "accumulation",
        (
            (SEEDED, "fused multiply-adds in the accumulator's type, k increasing, from C, the bias or +0"),
            (ADDED_LAST, "fused multiply-adds, k increasing, from +0; C or the bias is added last"),
            (UNSPECIFIED, "an arbitrary function of the row of A, the column of B and C; proofs only"),
        ),
        SEEDED,
        "pto-isa issue 280: maintainers say the NPU is seeded, the CPU simulator added last until 2026-09; "
        "the tgemv_bias page adds the bias after the sum; nothing fixes an order",
    ),
    OpenPoint(
        "accumulator-rounding",
        (
            ("nearest-even", "each addition to a float accumulator rounds to nearest even, as IEEE 754 does"),
            ("toward-zero", "each addition to a float accumulator is cut off, as matrix units of others do"),
        ),
        "nearest-even",
        "pages on tgemv: A2A3 rounds to nearest even, A5 in 'the accumulator's native rounding mode', which "
        "no document names; the simulator rounds to nearest even; accumulation=unspecified leaves it open",
    ),
    OpenPoint(
        "integer-overflow",
        (
            ("wrap", "an i32 sum wraps around modulo 2^32"),
            ("clamp", "the exact sum, with the accumulator or the bias, is clamped once, at the end"),
        ),
        "wrap",
        "the CPU simulator wraps; no document speaks of the NPU",
    ),
    OpenPoint(
        "microscaled-sum",
        (
            ("accumulator", "as without scale factors"),
            ("f64", "the sum is taken in f64 from +0; C is added to it, or the bias to its rounding to f32"),
        ),
        "accumulator",
        "the CPU simulator summed its .mx forms in double (cpu/TMatmul.hpp at 54caa19c) until 2026-07-20, "
        "and in the accumulator's type since; nothing is said of A5",
    ),
    OpenPoint(
        "accumulator-read",
        (
            (IN_PLACE, "the .acc forms add to the previous contents of their destination; cIn is never read"),
            (OPERAND, "the .acc forms add to cIn"),
        ),
        IN_PLACE,
        "NPU headers never use cIn (pypto pull request 537); the CPU simulator does",
    ),
    OpenPoint(
        "k-tail",
        (
            ("valid", "what lies beyond k in a buffer has no effect"),
            ("granules", "k is rounded up to whole rows of 32 bytes: lanes beyond k must hold zeros"),
        ),
        "valid",
        "tilelang-ascend issue 1341: the matrix unit consumes k in whole C0 blocks; pto-isa is silent",
    ),
    OpenPoint(
        "unit-pitches",
        (
            ("derived", "the matrix unit derives the pitches of all operands from m, k and n"),
            ("physical", "those of A, B and scale factors are of their tiles' physical extents"),
        ),
        "derived",
        "pto-isa issue 253: maintainers confirm C's; those of A and B are inferred from the movers made to "
        "match them, those of scale factors by analogy",
    ),
    OpenPoint(
        "load-fill",
        (
            ("granule", "a load into boxes writes zeros up to the end of the last C0 group of columns"),
            ("buffer", "a load first fills the whole buffer with the pad value (0 without one)"),
            ("none", "a load writes the valid region only"),
        ),
        "granule",
        "pto-isa headers at 3186c381 for the NPU; the CPU simulator fills the buffer (cpu/TLoad.hpp)",
    ),
    OpenPoint(
        "tf32",
        (
            ("off", "f32 factors are used as they are"),
            ("e8m10", "f32 factors are first rounded to 10 fraction bits, to nearest even: A5's mode"),
            ("e8m11", "f32 factors are first rounded to 11 fraction bits, to nearest even: A2A3's mode"),
        ),
        "off",
        "a mode bit, off by default (SetMadTF32Mode page); the mode that rounds ties away is not modelled",
    ),
    OpenPoint(
        "subnormals",
        (
            ("kept", "IEEE 754"),
            ("flushed", "a subnormal factor, addend or sum counts as a zero of its sign"),
        ),
        "kept",
        "pages say flushed on the NPU, without saying which operands or results; no header does",
    ),
    OpenPoint(
        "conversion",
        (
            ("nearest-even", "a move to a narrower type rounds to nearest even, overflow gives infinity"),
            (UNSPECIFIED, "an arbitrary function of the element; proofs only"),
        ),
        "nearest-even",
        "no document states the rounding of a move from the accumulator; there are saturating modes",
    ),
    OpenPoint(
        "one-row-scales",
        (
            (LINE, "more than two scale factors of a one-row tile follow each other, as in a one-row left"),
            (
                BOXES,
                "they lie in boxes of 16 x 2, which end after the tile: such a tile's buffer is neither read "
                "nor written",
            ),
        ),
        LINE,
        "pto_tile.hpp's formula leaves the buffer; the headers' movers put a one-row left in a line, and say "
        "nothing of scale factors; PTOAS issues 831 and 1365 expand these to boxes of 16 x 2",
    ),
)
"""Every open point of the PTO specification; the defaults are those of the NPU profiles."""


OF_SUMS = ("accumulation", "accumulator_rounding")
"""The fields of `Choices` that say how products of floats are summed."""


@dataclass(frozen=True)
class Choices:
    """One reading of every open point; the field names are those of `OPEN_POINTS`."""

    accumulation: str = SEEDED
    accumulator_rounding: str = "nearest-even"
    integer_overflow: str = "wrap"
    microscaled_sum: str = "accumulator"
    accumulator_read: str = IN_PLACE
    k_tail: str = "valid"
    unit_pitches: str = "derived"
    load_fill: str = "granule"
    tf32: str = "off"
    subnormals: str = "kept"
    conversion: str = "nearest-even"
    one_row_scales: str = LINE


_CPU_2026_07 = Choices(accumulation=ADDED_LAST, accumulator_read=OPERAND, load_fill="buffer")
"""The simulator from 2026-07-20 on; issue 280 changes ``accumulation`` on 2026-09-02."""

PRESETS = MappingProxyType(
    {
        "npu": Choices(),
        "cpu": _CPU_2026_07,
        "cpu-2026-07": _CPU_2026_07,
        "cpu-2026-06": replace(_CPU_2026_07, microscaled_sum="f64"),
        UNSPECIFIED: Choices(accumulation=UNSPECIFIED, conversion=UNSPECIFIED),
    }
)
"""Named combinations; those of the CPU simulator by the month of the version, ``cpu`` the newest of them."""


def choices_of(profile: Profile) -> Choices:
    """Return the readings that a profile takes unless told otherwise."""
    return PRESETS["npu" if profile.cube else "cpu"]


def choices_named(names: Sequence[str], profile: Profile) -> Choices:
    """Read ``--choice`` arguments: preset names or ``point=option``, later ones win.

    Raises
    ------
    InputError
        If a preset, point or option does not exist.
    """
    return choose(names, choices_of(profile), PRESETS, OPEN_POINTS)
