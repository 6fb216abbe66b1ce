"""What the rows of the catalogue have in common, whatever instructions they are about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping

from ..formats import FORMATS
from .targets import Availability, Version
from .variant import Family, Shape, Variant

Values = tuple[Hashable, ...]
"""What may be spelled; None stands for nothing."""

Pairs = tuple[tuple[str, str], ...]
"""Types or layouts that go together."""

Allowed = Mapping[str, Values]
"""What a row allows, by aspect (see `variant_rules`); what it does not mention must not be spelled."""


class CatalogueRow(ABC):
    """A set of legal variants of one instruction, or of the three of ``wmma``."""

    shape: Shape
    """The instructions' shape."""

    available: Availability
    """Targets and PTX versions that have it."""

    source: str
    """Where it is stated."""

    bit_operations: tuple[tuple[str, Availability], ...] = ()
    """Where and since when each bit operation can be used, where that differs."""

    satfinite_before: Version | None = None
    """The PTX version that took ``.satfinite`` away."""

    @property
    @abstractmethod
    def families(self) -> tuple[Family, ...]:
        """The instructions that it is about."""

    @abstractmethod
    def variants(self) -> Iterator[Variant]:
        """Yield every legal variant in its canonical spelling."""

    @abstractmethod
    def allowed(self, variant: Variant) -> Allowed:
        """Return what may be spelled of the instruction, and of the operand, that a variant is about."""

    def availability(self, variant: Variant) -> Availability:
        """Return where and since when a variant can be used."""
        return self.available

    def canonical(self, variant: Variant) -> Variant:
        """Return a variant with the modifiers spelled that may be left out."""
        return variant


class ProductRow(CatalogueRow):
    """A row of products. What rows of ``wmma`` don't have has a default here."""

    multiplicands: Pairs
    """The legal pairs of A and B types."""

    accumulators: Pairs
    """The legal pairs of D and C types."""

    layouts: Pairs
    """The legal pairs of A and B layouts."""

    satfinite: bool
    """Whether ``.satfinite`` is allowed."""

    roundings: tuple[str, ...]
    """Allowed rounding modifiers."""

    chunk: int = 0
    """Logical columns that one nibble of metadata describes."""

    scale_type: str | None = None
    """Type of the scale factors, where there are some."""

    def shape_of(self, variant: Variant) -> Shape:
        """Return a legal variant's shape."""
        return self.shape

    @property
    def computations(self) -> int:
        """Independent products of one instruction."""
        return 1

    @property
    def scale_factors(self) -> int:
        """Scale factors along k."""
        return 0

    @property
    @abstractmethod
    def operations(self) -> tuple[str | None, ...]:
        """The bit operations one of which must be spelled; None where there is none."""

    def container_bits(self, operand: str, element_type: str) -> int:
        """Return the bits that one element of an operand occupies in a register."""
        return FORMATS[element_type].bits
