"""The forms of ``wmma.load``, ``wmma.store`` and ``wmma.mma``, as a table.

Source: PTX ISA 9.1 section 9.7.14.4 (wmma); every row was checked against ptxas of CUDA 13.0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product

from ..formats import FORMATS
from .forms import Allowed, Pairs, ProductRow
from .mma_forms import REGISTER_BITS, ROUNDINGS, equal, pairs, since
from .targets import Availability, Version
from .variant import WARP_LANES, WMMA, Family, Shape, Variant

SPACES = (None, "global", "shared", "shared::cta")
"""State spaces of the memory operand; None is a generic address."""

LAYOUTS = ("row", "col")
ALL_LAYOUTS: Pairs = pairs(*LAYOUTS)


@dataclass(frozen=True)
class WmmaForm(ProductRow):
    """One row of the tables of ``wmma``: loads, stores and products on one shape and element type.

    Attributes
    ----------
    shape : Shape
        The instruction's shape.
    multiplicands : tuple of (str, str)
        The legal pairs of A and B types.
    accumulators : tuple of (str, str)
        The legal pairs of D and C types.
    available : Availability
        Targets and PTX versions that have it.
    layouts : tuple of (str, str)
        Legal layouts of A and B; C and D may have either.
    replication : tuple of int
        How often every element of A and of B is held by the warp.
    satfinite : bool
        Whether ``.satfinite`` is allowed on ``wmma.mma``.
    satfinite_before : Version, optional
        The PTX version that took ``.satfinite`` away.
    roundings : tuple of str
        Allowed rounding modifiers on ``wmma.mma``; leaving it out means the first.
    bit_operations : tuple of (str, Availability)
        The operations one of which ``wmma.mma`` must spell, with ``.popc``.
    source : str
        Where it is stated.
    """

    shape: Shape
    multiplicands: Pairs
    accumulators: Pairs
    available: Availability
    layouts: Pairs = ALL_LAYOUTS
    replication: tuple[int, int] = (1, 1)
    satfinite: bool = False
    satfinite_before: Version | None = None
    roundings: tuple[str, ...] = ()
    bit_operations: tuple[tuple[str, Availability], ...] = ()
    source: str = "PTX ISA 9.7.14.4; ptxas"

    @property
    def operations(self) -> tuple[str | None, ...]:
        """The bit operations one of which must be spelled; None where there is none."""
        return tuple(operation for operation, _ in self.bit_operations) or (None,)

    @property
    def families(self) -> tuple[Family, ...]:
        """Loads, stores and products."""
        return WMMA

    def availability(self, variant: Variant) -> Availability:
        """Return where and since when a variant can be used: it depends on the bit operation."""
        return dict(self.bit_operations).get(variant.bit_operation or "", self.available)

    @cached_property
    def _allowed(self) -> Mapping[str | None, Allowed]:
        """What may be spelled, by the operand that is moved; None of products."""
        saturates = self.satfinite or self.satfinite_before is not None
        product_only: Allowed = {
            "shape": (self.shape,),
            "multiplicand-types": self.multiplicands,
            "accumulator-types": self.accumulators,
            "type-count": (2,) if self.multiplicands[0][0] == "f16" else (4,),
            "layout": self.layouts,
            "satfinite": (None, ".satfinite") if saturates else (None,),
            "rounding": (None, *self.roundings),
            "bit-operation": self.operations,
            "popc": tuple(operation and ".popc" for operation in self.operations),
        }
        moves: dict[str | None, Allowed] = {
            role: {
                "shape": (self.shape,),
                "element-type": tuple((element_type,) for element_type in self.role_types(role)),
                "layout": tuple((layout,) for layout in self.role_layouts(role)),
                "state-space": SPACES,
            }
            for role in "abcd"
        }
        return {None: product_only, **moves}

    def allowed(self, variant: Variant) -> Allowed:
        """Return what a load or store of the variant's operand, or a product, may spell."""
        return self._allowed[variant.role]

    def role_types(self, role: str) -> tuple[str, ...]:
        """Return the element types of operand ``a``, ``b``, ``c`` or ``d``."""
        table, place = {
            "a": (self.multiplicands, 0), "b": (self.multiplicands, 1),
            "d": (self.accumulators, 0), "c": (self.accumulators, 1),
        }[role]  # fmt: skip
        return tuple(dict.fromkeys(pair[place] for pair in table))

    def role_layouts(self, role: str) -> tuple[str, ...]:
        """Return the layouts that an operand may have in memory."""
        if role in ("c", "d"):
            return LAYOUTS
        return tuple(dict.fromkeys(pair["ab".index(role)] for pair in self.layouts))

    def role_shape(self, role: str) -> tuple[int, int]:
        """Return rows and columns of an operand."""
        m, n, k = self.shape
        return {"a": (m, k), "b": (k, n)}.get(role, (m, n))

    def elements(self, role: str) -> int:
        """Return how many elements of an operand a thread holds, replicated ones counted each time."""
        rows, columns = self.role_shape(role)
        copies = self.replication["ab".index(role)] if role in ("a", "b") else 1
        return rows * columns * copies // WARP_LANES

    def registers(self, role: str, element_type: str) -> int:
        """Return how many registers (of 32 bits, for f64 of 64) hold an operand of this type."""
        bits = FORMATS[element_type].bits
        return self.elements(role) * bits // max(bits, REGISTER_BITS)

    def variants(self) -> Iterator[Variant]:
        """Yield every variant of the row: the loads, the stores, then the products."""
        for role in ("a", "b", "c", "d"):
            family = Family.WMMA_STORE if role == "d" else Family.WMMA_LOAD
            for element_type, layout, space in product(
                self.role_types(role), self.role_layouts(role), SPACES
            ):
                yield Variant(family, self.shape, (element_type,), (layout,), role=role, space=space)
        for layouts, (d, c), (a, b), satfinite, rounding, operation in product(
            self.layouts, self.accumulators, self.multiplicands, (False, True)[: 1 + self.satfinite],
            (None, *self.roundings), self.operations,
        ):  # fmt: skip
            types = (d, c) if a == "f16" else (d, a, b, c)
            yield Variant(
                Family.WMMA_MMA, self.shape, types, layouts,
                satfinite=satfinite, rounding=rounding, bit_operation=operation, popc=operation is not None,
            )  # fmt: skip


def _tall_and_wide() -> Iterator[WmmaForm]:
    """Yield the forms of the shapes that 16-bit and 8-bit types share."""
    replications = {"m16n16k16": (2, 2), "m8n32k16": (4, 1), "m32n8k16": (1, 4)}
    for shape, replication in replications.items():
        available = since((6, 0) if shape == "m16n16k16" else (6, 1), 70)
        yield WmmaForm(
            Shape.parse(shape), equal("f16"), pairs("f16", "f32"), available,
            replication=replication, satfinite_before=(6, 5),
        )  # fmt: skip
        yield WmmaForm(Shape.parse(shape), equal("bf16"), equal("f32"), since((7, 0), 80))
        yield WmmaForm(Shape.parse(shape), equal("s8", "u8"), equal("s32"), since((6, 3), 72), satfinite=True)


_ROW_COL: Pairs = (("row", "col"),)

WMMA_FORMS: tuple[WmmaForm, ...] = (
    *_tall_and_wide(),
    WmmaForm(Shape(16, 16, 8), equal("tf32"), equal("f32"), since((7, 0), 80)),
    WmmaForm(Shape(8, 8, 4), equal("f64"), equal("f64"), since((7, 0), 80), roundings=ROUNDINGS),
    WmmaForm(
        Shape(8, 8, 32), equal("s4", "u4"), equal("s32"), since((6, 3), 75), _ROW_COL, satfinite=True
    ),
    WmmaForm(
        Shape(8, 8, 128), equal("b1"), equal("s32"), since((6, 3), 75), _ROW_COL,
        bit_operations=(("xor", since((6, 3), 75)), ("and", since((7, 1), 80))),
    ),
)  # fmt: skip
"""Every row of ``wmma``."""
