"""A described ``tcgen05.mma`` as a product of matrices: what `spec.ptx.product` computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ...errors import UnsupportedError
from ...fragment import Fragment
from ..forms import Allowed, ProductRow
from ..resolution import Multiplication
from ..sparsity import Sparsity
from ..targets import Availability
from ..variant import Family, Shape, Variant
from .instruction_descriptor import InstructionDescriptor
from .layouts import TensorMemoryLayouts
from .product_form import ProductForm
from .rows import SINCE_86


@dataclass(frozen=True)
class DescribedRow(ProductRow):
    """What a mnemonic and a descriptor say together, as a row of products.

    Attributes
    ----------
    product : ProductForm
        The instruction.
    fields : InstructionDescriptor
        What its descriptor says.
    available : Availability
        Where tensor memory is.
    """

    product: ProductForm
    fields: InstructionDescriptor
    available: Availability = SINCE_86
    source: str = "PTX ISA 9.1 section 9.7.16"

    @property
    def shape(self) -> Shape:  # type: ignore[override]
        """M and N of both CTAs together, and the logical K."""
        return Shape(self.fields.m, self.fields.n, self.product.k)

    @property
    def chunk(self) -> int:  # type: ignore[override]
        """Logical columns that one nibble of metadata describes."""
        return self.product.kind.chunk

    @property
    def scale_type(self) -> str | None:  # type: ignore[override]
        """Type of the scale factors."""
        return self.fields.named("scale") if self.product.vector else None

    @property
    def scale_factors(self) -> int:
        """Scale factors of a row of A."""
        return self.product.vector

    @property
    def families(self) -> tuple[Family, ...]:
        """Whose words stand for it in `variant`."""
        return (Family.MMA_SP if self.product.sparse else Family.MMA,)

    @property
    def operations(self) -> tuple[str | None, ...]:
        """No bit operations."""
        return (None,)

    def container_bits(self, operand: str, element_type: str) -> int:
        """Return the bits that an element occupies."""
        return self.product.kind.container

    def allowed(self, variant: Variant) -> Allowed:
        """Return nothing: the forms of the mnemonic are those of `product_rows`."""
        return {}

    @property
    def variant(self) -> Variant:
        """The types in the words of ``mma``, which are never printed: sums depend on nothing else."""
        types = (self.fields.d, self.fields.named("a"), self.fields.named("b"), self.fields.d)
        saturates = bool(self.fields.number("saturate"))
        return Variant(self.families[0], self.shape, types, kind=self.product.kind.name, satfinite=saturates)

    def variants(self) -> Iterator[Variant]:
        """Yield the one."""
        yield self.variant


@dataclass(frozen=True)
class TensorMultiplication(Multiplication):
    """A described ``tcgen05.mma``; see `Multiplication`."""

    form: DescribedRow

    def __hash__(self) -> int:
        return hash((self.form.product, self.form.fields.encoding))

    @cached_property
    def name(self) -> str:
        """The mnemonic and the descriptor."""
        return f"{self.form.product.mnemonic} with idesc {self.form.fields.encoding:#010x}"

    @property
    def product_form(self) -> ProductForm:
        """What the mnemonic says."""
        return self.form.product

    @property
    def fields(self) -> InstructionDescriptor:
        """What the descriptor says."""
        return self.form.fields

    @cached_property
    def layouts(self) -> TensorMemoryLayouts:
        """Where the operands are in tensor memory."""
        return TensorMemoryLayouts(self.form.product, self.form.fields)

    @property
    def requires_order(self) -> bool:
        """Whether the indices in a metadata nibble must increase: what else means is not known."""
        return True

    @cached_property
    def sparsity(self) -> Sparsity | None:
        """Which elements of A are stored; where the metadata are is for `layouts` to say."""
        if not self.form.product.sparse:
            return None
        return Sparsity(self.shape, self.container, self.form.chunk, self.requires_order)

    def fragment(self, role: str) -> Fragment:
        """Return where tensor memory holds ``a``, ``c`` or ``d``.

        Raises
        ------
        UnsupportedError
            For B, which is in shared memory.
        """
        if role == "b":
            raise UnsupportedError(f"B of {self.name} is in shared memory")
        return self.layouts.a if role == "a" else self.layouts.d


def multiplication(product: ProductForm, fields: InstructionDescriptor) -> TensorMultiplication:
    """Return the product that a mnemonic and a descriptor that suits it say.

    Raises
    ------
    UnsupportedError
        If no source says enough of it: rows that are shifted, and K of 96.
    """
    if product.ashift:
        raise UnsupportedError(f"{product.mnemonic}: no source says which way rows of A are shifted")
    if fields.number("k96"):
        raise UnsupportedError(f"{product.mnemonic}: K = 96 is not specified")
    row = DescribedRow(product, fields)
    return TensorMultiplication(row.variant, row)
