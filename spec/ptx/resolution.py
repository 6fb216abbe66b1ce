"""Resolve a legal product of matrices: everything its meaning depends on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

from ..errors import InputError
from ..formats import F32, F64, FloatFormat, Format, IntegerFormat, format_named
from ..fragment import Fragment, Packing
from ..rounding import Rounding
from . import quad_pairs
from .architectures import Architecture
from .block_scaling import BlockScale
from .forms import ProductRow
from .fragments import in_runs, packing
from .sparsity import Sparsity
from .targets import NEWEST, target_named
from .variant import MULTIPLYING, SPARSE, WARPGROUP, Family, Shape, Variant
from .variant_rules import form_of

ROUNDINGS = {
    "rn": Rounding.NEAREST_EVEN,
    "rz": Rounding.TOWARD_ZERO,
    "rm": Rounding.DOWNWARD,
    "rp": Rounding.UPWARD,
}
"""The rounding modifiers."""

ACCUMULATOR_RUN = 2
"""Neighbouring columns of C and D that a lane holds."""


@dataclass(frozen=True)
class Multiplication:
    """What a multiply-accumulate computes: D = A·B + C on matrices of these formats.

    Attributes
    ----------
    variant : Variant
        The instruction.
    form : MmaForm or WmmaForm
        Its row of the catalogue.
    """

    variant: Variant
    form: ProductRow

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Everything cached by instruction asks for it, on every execution.
        return hash(self.variant)

    @cached_property
    def name(self) -> str:
        """The instruction's spelling."""
        return str(self.variant)

    @cached_property
    def shape(self) -> Shape:
        """The instruction's logical shape."""
        return self.form.shape_of(self.variant)

    @cached_property
    def _types(self) -> tuple[Format, ...]:
        """Formats of D, A, B and C."""
        names = self.variant.types
        if len(names) == 2:  # wmma.mma on f16 spells D and C
            names = (names[0], "f16", "f16", names[1])
        if self.is_of_warpgroup:
            names = (*names, names[0])
        return tuple(map(format_named, names[:4]))

    @property
    def d(self) -> Format:
        """Element type of D."""
        return self._types[0]

    @property
    def a(self) -> Format:
        """Element type of A."""
        return self._types[1]

    @property
    def b(self) -> Format:
        """Element type of B."""
        return self._types[2]

    @property
    def c(self) -> Format:
        """Element type of C."""
        return self._types[3]

    def floats(self, fmt: Format) -> FloatFormat:
        """Return a format that is known to be a float's."""
        assert isinstance(fmt, FloatFormat), f"{self.variant} computes on floats"
        return fmt

    def integers(self, fmt: Format) -> IntegerFormat:
        """Return a format that is known to be an integer's."""
        assert isinstance(fmt, IntegerFormat), f"{self.variant} computes on integers"
        return fmt

    @property
    def is_of_warpgroup(self) -> bool:
        """Whether a warpgroup executes it: C is the D before, B is in shared memory."""
        return self.variant.family in WARPGROUP

    @property
    def is_integer(self) -> bool:
        """Whether sums are exact integers."""
        return isinstance(self.a, IntegerFormat)

    @property
    def is_double(self) -> bool:
        """Whether elements are f64, whose rounding PTX does specify."""
        return self.a == F64

    @property
    def accumulator(self) -> Format:
        """Type of partial sums: that of C and D, f32 where these differ."""
        return self.d if self.c == self.d else F32

    @property
    def rounding(self) -> Rounding:
        """Direction of each fused multiply-add."""
        return ROUNDINGS[self.variant.rounding or "rn"]

    @property
    def container(self) -> int:
        """Bits that an element of A or B occupies in a register."""
        return self.form.container_bits("a", str(self.a))

    @cached_property
    def is_quad_pairs(self) -> bool:
        """Whether the warp computes four independent products (``mma.m8n8k4`` on f16)."""
        return self.form.computations == quad_pairs.COMPUTATIONS

    @property
    def batch(self) -> tuple[int, ...]:
        """Extents of the axis that counts independent products, if there is one."""
        return (quad_pairs.COMPUTATIONS,) if self.is_quad_pairs else ()

    @cached_property
    def sparsity(self) -> Sparsity | None:
        """Which elements of A are stored; None for all."""
        if self.variant.family not in SPARSE.values():
            return None
        return Sparsity(self.shape, self.container, self.form.chunk, self.requires_order)

    @property
    def requires_order(self) -> bool:
        """Whether the indices in a metadata nibble must increase."""
        eight_bit = not self.is_integer and self.container <= 8 and not self.is_of_warpgroup
        return self.variant.ordered_metadata or eight_bit

    @cached_property
    def block_scale(self) -> BlockScale | None:
        """Which elements share a scale factor; None where there are no factors."""
        if self.form.scale_type is None:
            return None
        scale_type = self.floats(format_named(self.form.scale_type))
        return BlockScale(self.form.scale_factors, self.shape.k, scale_type)

    @property
    def order_name(self) -> str:
        """Names what an accumulation order may depend on: shape and types."""
        return "_".join([str(self.shape), *self.variant.types])

    @property
    def products(self) -> int:
        """Products summed into one element of D."""
        return self.shape.k // 2 if self.sparsity else self.shape.k

    def matrix_shape(self, role: str) -> tuple[int, ...]:
        """Return the extents of operand ``a`` (its stored part), ``b``, ``c`` or ``d``."""
        m, n, k = self.shape
        return (*self.batch, *{"a": (m, self.products), "b": (k, n)}.get(role, (m, n)))

    def format(self, role: str) -> Format:
        """Return the element type of operand ``a``, ``b``, ``c`` or ``d``."""
        return {"a": self.a, "b": self.b, "c": self.c, "d": self.d}[role]

    def fragment(self, role: str) -> Fragment:
        """Return how a warp holds operand ``a`` (its stored part), ``b``, ``c`` or ``d``.

        Raises
        ------
        InputError
            For ``wmma``, whose fragments PTX leaves unspecified, and B of a warpgroup, which is in no
            registers.
        """
        return _fragment(self, role)

    def require_executable_on(self, architecture: Architecture) -> None:
        """Refuse an architecture whose matrix unit does not execute the instruction.

        Raises
        ------
        InputError
            If its target lacks the instruction, or replaces it by other arithmetic.
        """
        if not self.is_executable_on(architecture):
            where = f"{architecture.name} ({architecture.target})"
            raise InputError(f"{where} has no matrix unit for {self.variant}")

    def is_executable_on(self, architecture: Architecture) -> bool:
        """Whether an architecture's matrix unit executes the instruction."""
        target = target_named(architecture.target)
        if self.is_quad_pairs:  # a sequence of scalar instructions from sm_80 on
            return target.number < 80
        return self.form.availability(self.variant).allows(target, NEWEST)


@cache
def multiplication(variant: Variant) -> Multiplication:
    """Resolve a legal multiply-accumulate.

    Raises
    ------
    InputError
        If the variant is not legal, or does not multiply.
    """
    form = form_of(variant)
    if not isinstance(form, ProductRow) or variant.family not in MULTIPLYING:
        raise InputError(f"{variant} does not multiply; {', '.join(MULTIPLYING)} do")
    return Multiplication(variant, form)


@cache
def _fragment(form: Multiplication, role: str) -> Fragment:
    if form.variant.family is Family.WMMA_MMA:
        raise InputError(f"PTX does not specify which thread of {form.variant} holds which element")
    if form.is_of_warpgroup and role == "b":
        raise InputError(
            f"no registers hold B of {form.variant}: a descriptor says where it is in shared memory"
        )
    fmt = form.format(role)
    name = f"{form.shape} {fmt} {role}"
    m, n, k = form.shape
    if role in "cd":
        packed = Packing(fmt, fmt.bits)
        if form.is_quad_pairs:
            return Fragment(quad_pairs.accumulator_layout(fmt), packed)
        return Fragment(in_runs(name, m, n, ACCUMULATOR_RUN), packed)
    packed = packing(fmt, form.container)
    if form.is_quad_pairs:
        return Fragment(quad_pairs.multiplicand_layout(role, form.variant.layouts[role == "b"]), packed)
    if role == "a":
        return Fragment(in_runs(name, m, form.products, packed.per_register), packed)
    return Fragment(in_runs(name, n, k, packed.per_register, by="column"), packed)
