"""What each kind of ``tcgen05.mma`` multiplies, and the M and N that there are: one row for each.

Source: PTX ISA 9.1 section 9.7.16 (tables of kinds, shapes and data types). Rules on N that only CUTLASS
has are in `contradicted`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

NARROW = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
"""Floats of 8 bits and less, in the order that the manual lists them."""

ROW_BYTES = 32
"""Bytes of a row of A, or a column of B, that are stored for one instruction."""

CTA_LANES = 128
"""Lanes of the tensor memory of a CTA."""

COLUMNS = 512
"""Columns, of 32 bits, of the tensor memory of a CTA."""


@dataclass(frozen=True)
class Kind:
    """A kind of product.

    Attributes
    ----------
    name : str
        As behind ``.kind::``.
    multiplicands : tuple of str
        Types of A and B, in any pair but for `unmixed`.
    accumulators : tuple of str
        Types of D.
    container : int
        Bits that an element of A or B occupies.
    scales : tuple of str
        Types of scale factors; none where there are none.
    vectors : tuple of (str, int)
        Scale factors of a row of A, by how their number is spelled; "" where it may be left out.
    """

    name: str
    multiplicands: tuple[str, ...]
    accumulators: tuple[str, ...]
    container: int
    scales: tuple[str, ...] = ()
    vectors: tuple[tuple[str, int], ...] = ()

    @property
    def is_scaled(self) -> bool:
        """Whether there are scale factors."""
        return bool(self.scales)

    @property
    def is_integer(self) -> bool:
        """Whether elements are integers."""
        return self.name == "i8"

    def k(self, *, sparse: bool = False) -> int:
        """Return the columns of A: those that are stored, and of a sparse one as many that are not."""
        return ROW_BYTES * 8 // self.container * (1 + sparse)

    @property
    def chunk(self) -> int:
        """Columns of a sparse A that one nibble of metadata describes."""
        return {32: 2, 4: 8}.get(self.container, 4)


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            Kind("f16", ("f16", "bf16"), ("f16", "f32"), 16),
            Kind("tf32", ("tf32",), ("f32",), 32),
            Kind("f8f6f4", NARROW, ("f16", "f32"), 8),
            Kind("i8", ("u8", "s8"), ("s32",), 8),
            Kind(
                "mxf8f6f4", NARROW, ("f32",), 8, ("ue8m0",),
                (("", 1), ("scale_vec::1X", 1), ("block32", 1)),
            ),
            Kind(
                "mxf4", ("e2m1",), ("f32",), 4, ("ue8m0",),
                (("", 2), ("scale_vec::2X", 2), ("block32", 2)),
            ),
            Kind(
                "mxf4nvf4", ("e2m1",), ("f32",), 4, ("ue4m3", "ue8m0"),
                (("scale_vec::2X", 2), ("scale_vec::4X", 4), ("block16", 4), ("block32", 2)),
            ),
        )
    }
)  # fmt: skip
"""Every kind by name."""


def rows_of_d(kind: Kind, *, ws: bool, ctas: int, sparse: bool) -> tuple[int, ...]:
    """Return what M may be: rows of D, of both CTAs together."""
    if ws:
        return () if kind.is_scaled or ctas > 1 else (32, 64, 128)
    if kind.is_scaled:
        return (128,) if ctas == 1 else (256,) if sparse else (128, 256)
    return (64, 128) if ctas == 1 else (128, 256)


def columns_of_d(kind: Kind, *, ws: bool, ctas: int, sparse: bool) -> tuple[int, ...]:
    """Return what N may be: columns of D, of both CTAs together."""
    if ws:
        return (64, 128) if sparse else (64, 128, 256)
    if kind.is_integer:
        return tuple(range(32, 257, 32)) if ctas == 2 else (8, 16, 24, *range(32, 257, 16))
    return tuple(range(8 * ctas, 257, 8 * ctas))
