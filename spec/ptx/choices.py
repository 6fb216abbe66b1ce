"""What PTX leaves open about matrix instructions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from ..choices import OpenPoint, choose
from ..dot_add_model import DotAddModel
from .architectures import ARCHITECTURES

SEQUENTIAL = "sequential"
UNSPECIFIED = "unspecified"
NEGATIVE_NAN = "negative"
AS_TWICE_K = "as-twice-k"
AS_PATTERN = "pattern"
EVEN_LANE_FIRST = "even-lane-first"
LOWEST_FIRST = "lowest-first"
INCREASING = "increasing"

OPEN_POINTS = (
    OpenPoint(
        "accumulation",
        (
            (
                SEQUENTIAL,
                "fused multiply-adds in the accumulator's type (f32 where C's and D's differ), k increasing "
                "from C, to nearest even",
            ),
            (UNSPECIFIED, "an arbitrary function of the row of A, the column of B and C; proofs only"),
            *((architecture.name, architecture.meaning) for architecture in ARCHITECTURES),
        ),
        SEQUENTIAL,
        "PTX ISA section 9.7.14.5.14 leaves order, rounding and subnormal inputs of f16, bf16, tf32 and the "
        "8-, 6- and 4-bit types open; the models are measurements, not promises: MMA-Sim (arXiv 2511.10909), "
        "Khattak and Mikaitis (arXiv 2512.07004), Valpey et al. (arXiv 2502.15999); that mma.sp follows them "
        "with its kept products in the order they are stored is unconfirmed, and so is that tcgen05.mma does "
        "with .sp, .ws, two CTAs or 6-bit elements",
    ),
    OpenPoint(
        "zero-products",
        (
            ("ignored", "a zero product has the exponent -126, so that it cuts nothing off"),
            ("factors", "it has the sum of its factors' exponents, -126 for each zero (MMA-Sim)"),
        ),
        "ignored",
        "fused dot-adds of the architectures; MMA-Sim's reading was not measured with such operands",
    ),
    OpenPoint(
        "zero-groups",
        (
            ("ignored", "16 products of kind mxf4 or mxf4nvf4 that sum to zero cut nothing off"),
            ("scales", "they have the exponents of their scale factors (MMA-Sim)"),
        ),
        "ignored",
        "as zero-products",
    ),
    OpenPoint(
        "zero-sign",
        (
            ("positive", "a fused dot-add of which nothing is left is +0 (MMA-Sim)"),
            ("negative", "it is -0 where every product and C is negative or -0, as IEEE 754 adds them"),
        ),
        "positive",
        "sources are silent but for MMA-Sim",
    ),
    OpenPoint(
        "underflow-sign",
        (
            ("kept", "a negative sum of a fused dot-add that is rounded to zero is -0"),
            ("positive", "it is +0, as one of which nothing is left"),
        ),
        "kept",
        "PTX ISA section 9.7.14.5.14 does not say, and no measurement is of such a sum",
    ),
    OpenPoint(
        "satfinite-clamp",
        (
            ("once", "the exact sum with C is clamped to s32 once, at the end"),
            (
                "halves",
                "the sum of C and the first half of the products is clamped, too",
            ),
        ),
        "once",
        "PTX ISA section 9.7.14.5.14 limits the result, and says nothing of partial sums; a single clamp is "
        "well supported, hardware of smaller shapes may repeat it",
    ),
    OpenPoint(
        "f64-order",
        (
            ("increasing", "fused multiply-adds, k increasing from C"),
            (UNSPECIFIED, "an arbitrary function of the row of A, the column of B and C; proofs only"),
        ),
        "increasing",
        "PTX ISA section 9.7.14.5.14 gives f64 a precision and a rounding, and no order; k increasing is "
        "MMA-Sim's",
    ),
    OpenPoint(
        "f64-nan",
        (
            ("positive", "0x7ff8000000000000"),
            (
                NEGATIVE_NAN,
                "0xfff8000000000000 (CUDA's CUDART_NAN; MMA-Sim gives it for invalid operations on x86, and "
                "propagates NaNs of operands)",
            ),
        ),
        "positive",
        "PTX ISA does not say which NaN an f64 mma gives",
    ),
    OpenPoint(
        "padding",
        (
            ("zero", "non-zero padding bits of 6- and 4-bit elements in 8-bit containers are refused"),
            ("ignored", "padding bits have no effect"),
        ),
        "zero",
        "PTX ISA section 9.7.14.5 calls the bits padding and says no more",
    ),
    OpenPoint(
        "tf32-low-bits",
        (
            ("ignored", "bits 12 to 0 of a tf32 register have no effect"),
            ("zero", "a tf32 operand with one of bits 12 to 0 set is refused"),
        ),
        "ignored",
        "PTX ISA section 5.2.3 leaves the layout of tf32 to the implementation; hardware truncates",
    ),
    OpenPoint(
        "half-k-metadata",
        (
            (
                AS_TWICE_K,
                "metadata of mma.sp m16n8k16 (f16, bf16), m16n8k8 (tf32), m16n8k32 (8-bit integers) and "
                "m16n8k64 (4-bit) are in the bits that either half of twice the K has",
            ),
            (UNSPECIFIED, "in bits that are not known: registers of these shapes are refused, matrices not"),
        ),
        AS_TWICE_K,
        "PTX ISA section 9.7.14.6.2 draws the bits in figures, which were not read; those of twice the K are "
        "CUTLASS's, which has none of these shapes; no hardware was asked",
    ),
    OpenPoint(
        "sparse-b",
        (
            (
                AS_PATTERN,
                "B of mma.sp m16n8k32 (f16, bf16) and m16n8k16 (tf32) lies as in the other shapes of B: bits "
                "of k that a register does not hold follow those of the quad",
            ),
            (UNSPECIFIED, "where is not known: registers of these shapes are refused, matrices not"),
        ),
        AS_PATTERN,
        "PTX ISA section 9.7.14.6 draws B of these shapes in figures, which were not read; no dense mma has "
        "them, and CuTe confirms larger ones of other types",
    ),
    OpenPoint(
        "scale-a-rows",
        (
            (EVEN_LANE_FIRST, "of a pair of lanes the even one supplies row g, the odd one row g + 8"),
            (
                UNSPECIFIED,
                "which is not known: registers with scale factors are refused, matrices not",
            ),
        ),
        EVEN_LANE_FIRST,
        "PTX ISA section 9.7.14.3 names the pair; the row of each of its lanes, and that bytes follow K, are "
        "from CuTe's layouts; no hardware was asked",
    ),
    OpenPoint(
        "narrow-rows",
        (
            (LOWEST_FIRST, "value n of a source row of ldmatrix b6x16_p32 or b4x16_p64 is at bit 6·n or 4·n"),
            (UNSPECIFIED, "their order is not known: these loads are refused"),
        ),
        LOWEST_FIRST,
        "PTX ISA section 9.7.14.5.15 does not number the values; the order, and that 6-bit values are in the "
        "low bits of their bytes, follow CUTLASS's shift of 4-bit ones",
    ),
    OpenPoint(
        "wgmma-metadata",
        (
            (INCREASING, "the indices of a nibble of metadata of wgmma must increase, others are refused"),
            ("distinct", "they must differ; a stored element meets the row of B that its own index names"),
        ),
        INCREASING,
        "PTX ISA section 9.7.15 lists the nibbles whose indices are equal as undefined, and does not say "
        "whether the first index may be greater than the second",
    ),
)
"""Every open point of the PTX specification."""


@dataclass(frozen=True)
class Choices:
    """One reading of every open point; the field names are those of `OPEN_POINTS`."""

    accumulation: str = SEQUENTIAL
    padding: str = "zero"
    tf32_low_bits: str = "ignored"
    zero_products: str = "ignored"
    zero_groups: str = "ignored"
    zero_sign: str = "positive"
    f64_nan: str = "positive"
    half_k_metadata: str = AS_TWICE_K
    underflow_sign: str = "kept"
    satfinite_clamp: str = "once"
    f64_order: str = "increasing"
    sparse_b: str = AS_PATTERN
    scale_a_rows: str = EVEN_LANE_FIRST
    narrow_rows: str = LOWEST_FIRST
    wgmma_metadata: str = INCREASING

    def read(self, model: DotAddModel) -> DotAddModel:
        """Return a model with what it leaves open read as chosen."""
        zero_terms = self.zero_groups == "scales" if model.group > 1 else self.zero_products == "factors"
        return replace(
            model,
            zero_terms=zero_terms,
            signed_zeros=self.zero_sign == "negative",
            positive_underflow=self.underflow_sign == "positive",
        )


PRESETS = MappingProxyType(
    {name: replace(Choices(), accumulation=name) for name in OPEN_POINTS[0].option_names}
)
"""Named combinations: one for each way to accumulate."""


def choices_named(names: list[str]) -> Choices:
    """Read ``--choice`` arguments: preset names or ``point=option``, later ones win.

    Raises
    ------
    InputError
        If a preset, point or option does not exist.
    """
    return choose(names, Choices(), PRESETS, OPEN_POINTS)
