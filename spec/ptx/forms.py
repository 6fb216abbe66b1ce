"""What the rows of the catalogue have in common, whatever instructions they are about."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping

from .targets import Availability, Version
from .variant import Family, Shape, Variant

Values = tuple[Hashable, ...]
"""What may be spelled; None stands for nothing."""

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
