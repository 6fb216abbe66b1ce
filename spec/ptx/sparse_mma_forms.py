"""The forms of ``mma.sp`` and ``mma.sp::ordered_metadata``, as a table.

Source: PTX ISA 9.1 section 9.7.14.6 (mma.sp); every row was checked against ptxas of CUDA 13.0.
"""

from __future__ import annotations

from collections.abc import Iterator

from .forms import Pairs
from .mma_forms import (
    BLOCK_SCALING,
    EIGHT_BIT_FLOATS,
    FAMILY_OF_SM_120,
    NARROW_FLOATS,
    MmaForm,
    equal,
    pairs,
    since,
)
from .targets import Availability, Version
from .variant import Family, Shape

_SOURCE = "PTX ISA 9.7.14.6; ptxas"

SPARSE_4_BIT_SCALED = frozenset({"sm_120a", "sm_121a"})
"""Targets of the sparse forms of mxf4 and mxf4nvf4, which are not family-specific."""

_F16_OR_F32 = equal("f16", "f32")

_UNSCALED: tuple[tuple[str, Pairs, Pairs, int, int, int], ...] = (
    ("m16n8k8", equal("tf32"), equal("f32"), 32, 2, 4),
    ("m16n8k16", equal("tf32"), equal("f32"), 32, 2, 2),
    ("m16n8k16", equal("f16"), _F16_OR_F32, 16, 4, 4),
    ("m16n8k16", equal("bf16"), equal("f32"), 16, 4, 4),
    ("m16n8k32", equal("f16"), _F16_OR_F32, 16, 4, 2),
    ("m16n8k32", equal("bf16"), equal("f32"), 16, 4, 2),
    ("m16n8k32", pairs("s8", "u8"), equal("s32"), 8, 4, 2),
    ("m16n8k64", pairs("s8", "u8"), equal("s32"), 8, 4, 1),
    ("m16n8k64", pairs("s4", "u4"), equal("s32"), 4, 8, 2),
    ("m16n8k128", pairs("s4", "u4"), equal("s32"), 4, 8, 1),
    ("m16n8k64", pairs(*EIGHT_BIT_FLOATS), equal("f32"), 8, 4, 1),
)
"""Shape, multiplicands, accumulators, container, chunk and selectors of what has both variants."""


def _unscaled_forms() -> Iterator[MmaForm]:
    for shape, multiplicands, accumulators, container, chunk, selectors in _UNSCALED:
        narrow_floats = multiplicands[0][0] in EIGHT_BIT_FLOATS
        minimum = 89 if narrow_floats else 80
        versions: tuple[tuple[bool, Version], ...] = (
            (False, (8, 4) if narrow_floats else (7, 1)),
            (True, (8, 5)),
        )
        for ordered_metadata, ptx in versions:
            yield MmaForm(
                Family.MMA_SP,
                Shape.parse(shape),
                multiplicands,
                accumulators,
                since(ptx, minimum),
                container,
                satfinite=accumulators == equal("s32"),
                ordered_metadata=ordered_metadata,
                chunk=chunk,
                selectors=selectors,
                source=_SOURCE,
            )


def _narrow_float_forms() -> Iterator[MmaForm]:
    """Yield the forms of sm_120 and later of its family, which only have ordered metadata."""
    available = Availability((8, 7), exactly=FAMILY_OF_SM_120)
    for multiplicands, accumulators, kind in (
        (pairs(*EIGHT_BIT_FLOATS), equal("f16"), None),
        (pairs(*NARROW_FLOATS), _F16_OR_F32, "f8f6f4"),
    ):
        yield MmaForm(
            Family.MMA_SP, Shape(16, 8, 64), multiplicands, accumulators, available, 8,
            kind=kind, ordered_metadata=True, chunk=4, selectors=1, source=_SOURCE,
        )  # fmt: skip
    for kind, scale_vec, scale_type, ptx in BLOCK_SCALING:
        wide = kind == "mxf8f6f4"
        yield MmaForm(
            Family.MMA_SP,
            Shape(16, 8, 64 if wide else 128),
            pairs(*NARROW_FLOATS) if wide else equal("e2m1"),
            equal("f32"),
            Availability(ptx, exactly=FAMILY_OF_SM_120 if wide else SPARSE_4_BIT_SCALED),
            8 if wide else 4,
            kind=kind,
            scale_vec=scale_vec,
            scale_vec_default=kind != "mxf4nvf4",
            scale_type=scale_type,
            ordered_metadata=True,
            chunk=4 if wide else 8,
            selectors=1,
            source=_SOURCE,
        )


SPARSE_FORMS: tuple[MmaForm, ...] = (*_unscaled_forms(), *_narrow_float_forms())
"""Every row of ``mma.sp``."""
