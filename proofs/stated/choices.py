"""The open points of every instruction set, as docs/contracts.md and the help of ``--choice`` name them."""

from __future__ import annotations

from ..text_tables import rows

_POINTS = """
isa   | point | default | other readings
power | bf16-sum | two-step | single
power | negation | after-rounding | before-rounding
power | nan | operand-order | default
power | aliasing | separate | shared
pto   | accumulation | seeded | added-last unspecified
pto   | accumulator-rounding | nearest-even | toward-zero
pto   | microscaled-sum | accumulator | f64
pto   | accumulator-read | in-place | operand
pto   | k-tail | valid | granules
pto   | load-fill | granule | buffer none
pto   | tf32 | off | e8m10 e8m11
pto   | subnormals | kept | flushed
pto   | conversion | nearest-even | unspecified
pto   | one-row-scales | line | boxes
ptx   | accumulation | sequential | unspecified volta turing ampere ada hopper blackwell-sm100 blackwell
ptx   | zero-products | ignored | factors
ptx   | zero-groups | ignored | scales
ptx   | zero-sign | positive | negative
ptx   | f64-nan | positive | negative
ptx   | padding | zero | ignored
ptx   | tf32-low-bits | ignored | zero
ptx   | half-k-metadata | as-twice-k | unspecified
mfma  | accumulation | sequential | pairwise unspecified
mfma  | broadcast | neighbours | lanes
mfma  | xf32 | truncated | rounded
mfma  | integer-overflow | wrap | clamp
mfma  | subnormals | documented | kept flushed
"""

_PRESETS = """
isa   | preset      | readings
power | isa         |
power | qemu-7.2    | bf16-sum=single negation=before-rounding aliasing=shared
pto   | npu         |
pto   | cpu         | accumulation=added-last accumulator-read=operand load-fill=buffer
pto   | cpu-2026-07 | accumulation=added-last accumulator-read=operand load-fill=buffer
pto   | cpu-2026-06 | accumulation=added-last accumulator-read=operand load-fill=buffer microscaled-sum=f64
pto   | unspecified | accumulation=unspecified conversion=unspecified
ptx   | sequential  |
ptx   | unspecified | accumulation=unspecified
ptx   | volta       | accumulation=volta
ptx   | turing      | accumulation=turing
ptx   | ampere      | accumulation=ampere
ptx   | ada         | accumulation=ada
ptx   | hopper      | accumulation=hopper
ptx   | blackwell-sm100 | accumulation=blackwell-sm100
ptx   | blackwell   | accumulation=blackwell
mfma  | sequential  |
mfma  | pairwise    | accumulation=pairwise
mfma  | unspecified | accumulation=unspecified
mfma  | manual      | broadcast=lanes xf32=rounded
"""


def points(isa: str) -> dict[str, tuple[str, ...]]:
    """Return the readings of each open point, the default first."""
    return {
        row["point"]: (row["default"], *row["other readings"].split())
        for row in rows(_POINTS)
        if row["isa"] == isa
    }


def presets(isa: str) -> dict[str, dict[str, str]]:
    """Return the readings of each preset, by point."""
    defaults = {point: readings[0] for point, readings in points(isa).items()}
    return {
        row["preset"]: {**defaults, **dict(reading.split("=") for reading in row["readings"].split())}
        for row in rows(_PRESETS)
        if row["isa"] == isa
    }
