"""The dense forms of ``mma``, as a table.

Source: PTX ISA 9.1 sections 9.7.14.5 (mma) and 9.7.14.3 (block scaling); every row was checked against
ptxas of CUDA 13.0, the one of PTX 9.1 against CUDA 13.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from ..formats import FORMATS
from .forms import Allowed, Pairs, ProductRow
from .targets import Availability, Version
from .variant import WARP_LANES, Family, Shape, Variant

ROUNDINGS = ("rn", "rz", "rm", "rp")
KINDS = ("f8f6f4", "mxf8f6f4", "mxf4", "mxf4nvf4")
REGISTER_BITS = 32

EIGHT_BIT_FLOATS = ("e4m3", "e5m2")
NARROW_FLOATS = (*EIGHT_BIT_FLOATS, "e3m2", "e2m3", "e2m1")


@dataclass(frozen=True)
class MmaForm(ProductRow):
    """One row of the tables of ``mma`` and ``mma.sp``: a set of legal variants.

    Attributes
    ----------
    family : Family
        `Family.MMA` or `Family.MMA_SP`.
    shape : Shape
        The instruction's logical shape.
    multiplicands : tuple of (str, str)
        The legal pairs of A and B types.
    accumulators : tuple of (str, str)
        The legal pairs of D and C types.
    available : Availability
        Targets and PTX versions that have it.
    container : int
        Bits that an element of A or B occupies in a register.
    layouts : tuple of (str, str)
        Legal layouts of A and B.
    satfinite : bool
        Whether ``.satfinite`` is allowed.
    roundings : tuple of str
        Allowed rounding modifiers; leaving it out means the first.
    bit_operation : str, optional
        The operation that must be spelled, with ``.popc``.
    kind : str, optional
        The kind that must be spelled; None forbids it.
    scale_vec : str, optional
        Block scaling with this vector size.
    scale_vec_default : bool
        Whether the vector size may be left out.
    scale_type : str, optional
        Type of the scale factors.
    ordered_metadata : bool
        For ``mma.sp``: whether it is ``mma.sp::ordered_metadata``.
    chunk : int
        For ``mma.sp``: logical columns that one metadata nibble describes.
    selectors : int
        For ``mma.sp``: the sparsity selector is less than this.
    source : str
        Where it is stated.
    """

    family: Family
    shape: Shape
    multiplicands: Pairs
    accumulators: Pairs
    available: Availability
    container: int
    layouts: Pairs = (("row", "col"),)
    satfinite: bool = False
    roundings: tuple[str, ...] = ()
    bit_operation: str | None = None
    kind: str | None = None
    scale_vec: str | None = None
    scale_vec_default: bool = False
    scale_type: str | None = None
    ordered_metadata: bool = False
    chunk: int = 0
    selectors: int = 0
    source: str = ""

    @property
    def sparse(self) -> bool:
        """Whether A is stored without half of its elements."""
        return self.family is Family.MMA_SP

    @property
    def computations(self) -> int:
        """Independent products of one instruction: 4 for ``m8n8k4`` on f16, else 1."""
        return 4 if self.shape == Shape(8, 8, 4) and self.container == FORMATS["f16"].bits else 1

    @property
    def stored_k(self) -> int:
        """Columns of A in registers: k, of a sparse A half of it."""
        return self.shape.k // 2 if self.sparse else self.shape.k

    @property
    def scale_factors(self) -> int:
        """Scale factors along k: the number in ``scale_vec``; 0 without block scaling."""
        return int(self.scale_vec[:-1]) if self.scale_vec else 0

    def elements(self, operand: str) -> int:
        """Return how many elements of ``a``, ``b``, ``c`` or ``d`` a thread holds."""
        m, n, k = self.shape
        extent = {"a": m * self.stored_k, "b": k * n, "c": m * n, "d": m * n}[operand]
        return extent * self.computations // WARP_LANES

    def container_bits(self, operand: str, element_type: str) -> int:
        """Return the bits that one element of an operand occupies."""
        return self.container if operand in ("a", "b") else FORMATS[element_type].bits

    def registers(self, operand: str, element_type: str) -> int:
        """Return how many registers (of 32 bits, for f64 of 64) hold an operand of this type."""
        bits = self.container_bits(operand, element_type)
        return self.elements(operand) * bits // max(bits, REGISTER_BITS)

    @property
    def operations(self) -> tuple[str | None, ...]:
        """The bit operation that must be spelled; None where there is none."""
        return (self.bit_operation,)

    @property
    def families(self) -> tuple[Family, ...]:
        """The one instruction."""
        return (self.family,)

    @cached_property
    def _allowed(self) -> Allowed:
        metadata = "sp::ordered_metadata" if self.ordered_metadata else "sp"
        return {
            "shape": (self.shape,),
            "multiplicand-types": self.multiplicands,
            "kind": (self.kind,),
            "block-scale": (".block_scale" if self.scale_vec else None,),
            "scale-vector": (self.scale_vec, None) if self.scale_vec_default else (self.scale_vec,),
            "scale-type": (self.scale_type,),
            "accumulator-types": self.accumulators,
            "type-count": (4,),
            "layout": self.layouts,
            "satfinite": (None, ".satfinite") if self.satfinite else (None,),
            "rounding": (None, *self.roundings),
            "bit-operation": (self.bit_operation,),
            "popc": (self.bit_operation and ".popc",),
            "metadata-variant": (metadata if self.sparse else None,),
        }

    def allowed(self, variant: Variant) -> Allowed:
        """Return what every variant of the row may spell."""
        return self._allowed

    def canonical(self, variant: Variant) -> Variant:
        """Return a variant with the vector size of block scaling spelled."""
        left_out = variant.block_scale and variant.scale_vec is None
        return replace(variant, scale_vec=self.scale_vec) if left_out else variant

    def variants(self) -> Iterator[Variant]:
        """Yield every variant of the row, with the vector size of block scaling spelled."""
        scale = (self.scale_type,) if self.scale_type else ()
        for layouts, (d, c), (a, b), satfinite, rounding in product(
            self.layouts, self.accumulators, self.multiplicands,
            (False, True)[: 1 + self.satfinite], (None, *self.roundings),
        ):  # fmt: skip
            yield Variant(
                self.family,
                self.shape,
                (d, a, b, c, *scale),
                layouts,
                kind=self.kind,
                block_scale=self.scale_vec is not None,
                scale_vec=self.scale_vec,
                ordered_metadata=self.ordered_metadata,
                satfinite=satfinite,
                popc=self.bit_operation is not None,
                rounding=rounding,
                bit_operation=self.bit_operation,
            )


def pairs(*types: str) -> Pairs:
    """Return all pairs of the types."""
    return tuple(product(types, types))


def equal(*types: str) -> Pairs:
    """Return the pairs of a type with itself."""
    return tuple((element_type, element_type) for element_type in types)


FAMILY_OF_SM_120 = frozenset({"sm_120a", "sm_120f", "sm_121a", "sm_121f"})
"""The targets of the family-specific features of sm_120; those with f need PTX 8.8 for themselves."""


def since(ptx: Version, minimum: int) -> Availability:
    """Return the availability on a target and every later one."""
    return Availability(ptx, minimum)


def _dense(
    shape: str, multiplicands: Pairs, accumulators: Pairs, available: Availability, container: int,
    section: str, **extras: object,
) -> MmaForm:  # fmt: skip
    source = f"PTX ISA 9.7.14.{section}; ptxas"
    return MmaForm(
        Family.MMA, Shape.parse(shape), multiplicands, accumulators, available, container,
        source=source, **extras,  # type: ignore[arg-type]
    )  # fmt: skip


def _integer_forms() -> Iterator[MmaForm]:
    for types, container, shapes in (
        (pairs("s8", "u8"), 8, ("m8n8k16", "m16n8k16", "m16n8k32")),
        (pairs("s4", "u4"), 4, ("m8n8k32", "m16n8k32", "m16n8k64")),
    ):
        for shape in shapes:
            available = since((6, 5), 75) if shape.startswith("m8") else since((7, 0), 80)
            yield _dense(shape, types, equal("s32"), available, container, "5", satfinite=True)
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for operation, ptx in (("xor", (7, 0)), ("and", (7, 1))):
            minimum = 75 if (shape, operation) == ("m8n8k128", "xor") else 80
            yield _dense(
                shape, equal("b1"), equal("s32"), since(ptx, minimum), 1, "5", bit_operation=operation
            )


def _block_scaled_forms() -> Iterator[MmaForm]:
    for kind, scale_vec, scale_type, ptx in BLOCK_SCALING:
        wide = kind == "mxf8f6f4"
        yield _dense(
            "m16n8k32" if wide else "m16n8k64",
            pairs(*NARROW_FLOATS) if wide else equal("e2m1"),
            equal("f32"),
            Availability(ptx, exactly=FAMILY_OF_SM_120),
            8 if wide else 4,
            "3",
            kind=kind,
            scale_vec=scale_vec,
            scale_vec_default=kind != "mxf4nvf4",
            scale_type=scale_type,
        )


BLOCK_SCALING: tuple[tuple[str, str, str, Version], ...] = (
    ("mxf8f6f4", "1X", "ue8m0", (8, 7)),
    ("mxf4", "2X", "ue8m0", (8, 7)),
    ("mxf4nvf4", "2X", "ue8m0", (8, 7)),
    ("mxf4nvf4", "4X", "ue4m3", (8, 7)),
    ("mxf4nvf4", "4X", "ue8m0", (9, 1)),
)
"""The combinations of kind, vector size and type of block scaling, and their PTX versions."""

_F64 = equal("f64")
_F32 = equal("f32")
_F16_OR_F32 = equal("f16", "f32")

DENSE_FORMS: tuple[MmaForm, ...] = (
    _dense(
        "m8n8k4", equal("f16"), (("f16", "f16"), ("f32", "f32"), ("f32", "f16")), since((6, 4), 70), 16, "5",
        layouts=pairs("row", "col"),
    ),
    _dense("m8n8k4", _F64, _F64, since((7, 0), 80), 64, "5", roundings=ROUNDINGS),
    _dense("m16n8k4", _F64, _F64, since((7, 8), 90), 64, "5", roundings=ROUNDINGS),
    _dense("m16n8k8", _F64, _F64, since((7, 8), 90), 64, "5", roundings=ROUNDINGS),
    _dense("m16n8k16", _F64, _F64, since((7, 8), 90), 64, "5", roundings=ROUNDINGS),
    _dense("m16n8k4", equal("tf32"), _F32, since((7, 0), 80), 32, "5"),
    _dense("m16n8k8", equal("tf32"), _F32, since((7, 0), 80), 32, "5"),
    _dense("m16n8k8", equal("f16"), _F16_OR_F32, since((6, 5), 75), 16, "5"),
    _dense("m16n8k16", equal("f16"), _F16_OR_F32, since((7, 0), 80), 16, "5"),
    _dense("m16n8k8", equal("bf16"), _F32, since((7, 0), 80), 16, "5"),
    _dense("m16n8k16", equal("bf16"), _F32, since((7, 0), 80), 16, "5"),
    *_integer_forms(),
    _dense("m16n8k32", pairs(*EIGHT_BIT_FLOATS), _F32, since((8, 4), 89), 8, "5"),
    _dense("m16n8k32", pairs(*EIGHT_BIT_FLOATS), equal("f16"), since((8, 7), 89), 8, "5"),
    _dense("m16n8k16", pairs(*EIGHT_BIT_FLOATS), _F16_OR_F32, since((8, 7), 89), 8, "5"),
    _dense(
        "m16n8k32", pairs(*NARROW_FLOATS), _F16_OR_F32, Availability((8, 7), exactly=FAMILY_OF_SM_120), 8,
        "5", kind="f8f6f4",
    ),
    *_block_scaled_forms(),
)  # fmt: skip
"""Every row of ``mma``."""
