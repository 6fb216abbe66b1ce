"""What AMD's documents leave open about MFMA, or say differently from AMD's tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..choices import OpenPoint, choose

SEQUENTIAL, PAIRWISE, UNSPECIFIED = "sequential", "pairwise", "unspecified"

OPEN_POINTS = (
    OpenPoint(
        "accumulation",
        (
            (SEQUENTIAL, "fused multiply-adds in C's type, k increasing from C, to nearest even"),
            (
                PAIRWISE,
                "of f16 and bf16 on gfx908 and gfx90a, the products that a lane holds are rounded to f32 and "
                "added pairwise, then to C, k increasing; of f32 and f64 as sequential; of others unknown",
            ),
            (UNSPECIFIED, "an arbitrary function of the row of A, the column of B and C; proofs only"),
        ),
        SEQUENTIAL,
        "no document gives order, width or intermediate rounding of the sums; for f32 and f64 MMA-Sim "
        "(arXiv 2511.10909) is sequential, for f16 and bf16 of CDNA1 and CDNA2 pairwise; that CDNA3 aligns "
        "and truncates narrower types, by MMA-Sim alone, is not modelled; NaN results are the default NaN",
    ),
    OpenPoint(
        "broadcast",
        (
            (
                "neighbours",
                "block b takes A of block (b & ~(2^cbsz - 1)) | abid: neighbours share one",
            ),
            ("lanes", "A comes from lane l mod S + S*abid, S = 64 / 2^cbsz: the wavefront repeats S lanes"),
        ),
        "neighbours",
        "AMD's matrix instruction calculator and the HIP documentation: neighbours; CDNA4 ISA chapter 7: "
        "lanes; they agree for cbsz = 0 and for 2^cbsz = blocks",
    ),
    OpenPoint(
        "xf32",
        (
            ("truncated", "the low 13 bits of A and B are dropped"),
            ("rounded", "A and B are rounded to 10 fraction bits, to nearest even"),
        ),
        "truncated",
        "CDNA3 ISA: rounded to 10 bits (as others report it); MMA-Sim (arXiv 2511.10909), compared "
        "with hardware by its authors: truncated",
    ),
    OpenPoint(
        "integer-overflow",
        (
            ("wrap", "the 32-bit sum wraps around"),
            ("clamp", "the exact sum is clamped once, at the end"),
        ),
        "wrap",
        "CDNA4 ISA chapter 7: the carry out is dropped; its table of rules clamps if MODE.FP16_OVFL is 1, "
        "and does not say at which step",
    ),
    OpenPoint(
        "subnormals",
        (
            ("documented", "products of f16 and bf16 lose theirs on gfx90a, A, B, C and D; no others do"),
            ("kept", "nothing loses them"),
            ("flushed", "products of f16 and bf16 lose theirs, and A and B of f32, as MODE may ask"),
        ),
        "documented",
        "CDNA4 ISA chapter 7, numerics; MIOpen documentation for gfx90a; partial sums keep theirs (MMA-Sim: "
        "they don't)",
    ),
    OpenPoint(
        "flushed-zero",
        (
            ("signed", "a subnormal that is flushed becomes the zero of its sign"),
            ("positive", "one of A, B and C becomes +0, one of D the zero of its sign"),
        ),
        "signed",
        "no document says; MMA-Sim (arXiv 2511.10909) of CDNA2: positive",
    ),
)
"""Every open point of MFMA."""


@dataclass(frozen=True)
class Choices:
    """One reading of every open point; the field names are those of `OPEN_POINTS`."""

    accumulation: str = SEQUENTIAL
    broadcast: str = "neighbours"
    xf32: str = "truncated"
    integer_overflow: str = "wrap"
    subnormals: str = "documented"
    flushed_zero: str = "signed"


PRESETS = MappingProxyType(
    {
        SEQUENTIAL: Choices(),
        PAIRWISE: replace(Choices(), accumulation=PAIRWISE),
        UNSPECIFIED: replace(Choices(), accumulation=UNSPECIFIED),
        "manual": Choices(broadcast="lanes", xf32="rounded"),
    }
)
"""Named combinations."""


def choices_named(names: Sequence[str]) -> Choices:
    """Read ``--choice`` arguments: preset names or ``point=option``, later ones win.

    Raises
    ------
    InputError
        If a preset, point or option does not exist.
    """
    return choose(names, Choices(), PRESETS, OPEN_POINTS)
