"""The forms of ``wgmma.mma_async``, dense and sparse, and of what orders them, as a table.

Source: PTX ISA 9.1 section 9.7.15; ptxas of CUDA 13.0 takes these forms of 129,792 dense and as many sparse
ones that were tried, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from ..formats import FORMATS
from .forms import Allowed, CatalogueRow, Pairs, ProductRow
from .mma_forms import EIGHT_BIT_FLOATS, REGISTER_BITS, equal, pairs
from .targets import Availability, Version
from .variant import WARP_LANES, WARPGROUP_ORDER, WARPGROUP_WARPS, Family, Shape, Variant

M = 64
"""Rows of A and D: 16 for each warp."""

A_REGISTERS = 4
"""Registers of a thread that hold A, where it is not in shared memory."""

A_ROW_BYTES = 32
"""Bytes of a row of A, of a sparse one those that are stored."""

COLUMNS_BY_8 = tuple(range(8, 257, 8))
"""What N may be of products of floats."""

COLUMNS_OF_INTEGERS = (8, 16, *range(24, 33, 8), *range(48, 257, 16))
"""What N may be of products of integers."""

SOURCE = "PTX ISA 9.7.15; ptxas"


@dataclass(frozen=True)
class WgmmaForm(ProductRow):
    """One row of the tables of ``wgmma.mma_async``: the types of a product, at every N.

    Attributes
    ----------
    family : Family
        `Family.WGMMA` or `Family.WGMMA_SP`.
    multiplicands : tuple of (str, str)
        The legal pairs of A and B types.
    accumulators : tuple of (str, str)
        The legal types of D, which is C, too.
    available : Availability
        Targets and PTX versions that have it.
    columns : tuple of int
        What N may be.
    negates : bool
        Whether ``scale-a`` and ``scale-b`` are operands.
    transposes : bool
        Whether ``trans-a`` and ``trans-b`` are.
    satfinite : bool
        Whether ``.satfinite`` is allowed.
    bit_operation : str, optional
        The operation that must be spelled, with ``.popc``.
    chunk : int
        Of a sparse A: logical columns that one metadata nibble describes.
    selectors : int
        Of a sparse A: the sparsity selector is less than this.
    source : str
        Where it is stated.
    """

    family: Family
    multiplicands: Pairs
    accumulators: Pairs
    available: Availability
    columns: tuple[int, ...] = COLUMNS_BY_8
    negates: bool = True
    transposes: bool = False
    satfinite: bool = False
    bit_operation: str | None = None
    chunk: int = 0
    selectors: int = 0
    layouts: Pairs = ()
    roundings: tuple[str, ...] = ()
    source: str = SOURCE

    @property
    def sparse(self) -> bool:
        """Whether A is stored without half of its elements."""
        return self.family is Family.WGMMA_SP

    @property
    def bits(self) -> int:
        """Bits of an element of A and B."""
        return FORMATS[self.multiplicands[0][0]].bits

    @property
    def k(self) -> int:
        """Columns of A: those that are stored, and of a sparse one as many that are not."""
        return A_ROW_BYTES * 8 // self.bits * (1 + self.sparse)

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The shape at every N."""
        return tuple(Shape(M, n, self.k) for n in self.columns)

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """The shape at the greatest N."""
        return self.shapes[-1]

    def shape_of(self, variant: Variant) -> Shape:
        """Return a legal variant's shape."""
        assert variant.shape in self.shapes
        return variant.shape

    @property
    def families(self) -> tuple[Family, ...]:
        """The one instruction."""
        return (self.family,)

    @property
    def operations(self) -> tuple[str | None, ...]:
        """The bit operation that must be spelled; None where there is none."""
        return (self.bit_operation,)

    def registers(self, n: int, element_type: str) -> int:
        """Return how many registers of a thread hold N columns of D."""
        return M * n * FORMATS[element_type].bits // (WARPGROUP_WARPS * WARP_LANES * REGISTER_BITS)

    @cached_property
    def _allowed(self) -> Allowed:
        return {
            "shape": self.shapes,
            "multiplicand-types": self.multiplicands,
            "accumulator-types": self.accumulators,
            "type-count": (3,),
            "layout": ((),),
            "satfinite": (None, ".satfinite") if self.satfinite else (None,),
            "bit-operation": (self.bit_operation,),
            "popc": (self.bit_operation and ".popc",),
            "metadata-variant": ("sp" if self.sparse else None,),
        }

    def allowed(self, variant: Variant) -> Allowed:
        """Return what every variant of the row may spell."""
        return self._allowed

    def variants(self) -> Iterator[Variant]:
        """Yield every variant of the row."""
        for shape, (d, _), (a, b), satfinite in product(
            self.shapes, self.accumulators, self.multiplicands, (False, True)[: 1 + self.satfinite]
        ):
            yield Variant(
                self.family,
                shape,
                (d, a, b),
                satfinite=satfinite,
                popc=self.bit_operation is not None,
                bit_operation=self.bit_operation,
            )


@dataclass(frozen=True)
class WarpgroupOrderForm(CatalogueRow):
    """An instruction that orders products of a warpgroup with accesses to registers.

    Attributes
    ----------
    family : Family
        Which.
    available : Availability
        Targets and PTX versions that have it.
    counts_groups : bool
        Whether its operand is the number of groups that may be pending.
    source : str
        Where it is stated.
    """

    family: Family
    available: Availability
    counts_groups: bool
    source: str

    @property
    def families(self) -> tuple[Family, ...]:
        """The one instruction."""
        return (self.family,)

    def allowed(self, variant: Variant) -> Allowed:
        """Return that only ``.sync`` and ``.aligned`` are spelled."""
        return {"element-type": ((),), "layout": ((),)}

    def variants(self) -> Iterator[Variant]:
        """Yield the one variant."""
        yield Variant(self.family)


def _on(ptx: Version) -> Availability:
    return Availability(ptx, exactly=frozenset({"sm_90a"}))


_F16, _F32, _F16_OR_F32, _S32 = equal("f16"), equal("f32"), equal("f16", "f32"), equal("s32")
_MIXED: Pairs = (("s8", "u8"), ("u8", "s8"))


def _forms(family: Family, ptx: Version) -> Iterator[WgmmaForm]:
    def row(multiplicands: Pairs, accumulators: Pairs, since: Version = ptx, **more: Any) -> WgmmaForm:
        bits = FORMATS[multiplicands[0][0]].bits
        if family is Family.WGMMA_SP:
            more |= {"chunk": 2 if bits == 32 else 4, "selectors": 1 if bits == 8 else 2}
        return WgmmaForm(family, multiplicands, accumulators, _on(since), **more)

    integers: dict[str, Any] = {"columns": COLUMNS_OF_INTEGERS, "negates": False}
    yield row(_F16, _F16_OR_F32, transposes=True)
    yield row(equal("bf16"), _F32, transposes=True)
    yield row(equal("tf32"), _F32)
    yield row(pairs(*EIGHT_BIT_FLOATS), _F16_OR_F32)
    yield row(equal("s8", "u8"), _S32, satfinite=True, **integers)
    yield row(_MIXED, _S32, (8, 4), satfinite=True, **integers)
    if family is Family.WGMMA:
        yield row(equal("b1"), _S32, bit_operation="and", **integers)


WGMMA_FORMS: tuple[WgmmaForm, ...] = (
    *_forms(Family.WGMMA, (8, 0)),
    *_forms(Family.WGMMA_SP, (8, 2)),
)
"""Every row of ``wgmma.mma_async``."""

WARPGROUP_ORDER_FORMS: tuple[WarpgroupOrderForm, ...] = tuple(
    WarpgroupOrderForm(family, _on((8, 0)), family is Family.WGMMA_WAIT, SOURCE) for family in WARPGROUP_ORDER
)
"""The instructions that order them."""
