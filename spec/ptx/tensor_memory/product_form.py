"""What the mnemonic of a ``tcgen05.mma`` says of the product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .kinds import KINDS, Kind


@dataclass(frozen=True)
class ProductForm:
    """A form of the instruction, as far as descriptors have to suit it.

    Attributes
    ----------
    mnemonic : str
        As it is written.
    kind : Kind
        The types.
    ctas : int
        How many CTAs work together: 1 or 2.
    ws : bool
        Whether A is used again and B kept (``.ws``).
    sparse : bool
        Whether A is stored without half of its elements.
    vector : int
        Scale factors of a row of A; 0 where there are none.
    ashift : bool
        Whether A is used shifted by a row.
    a_in_tensor_memory : bool
        Whether A is there, and not where a descriptor says.
    """

    mnemonic: str
    kind: Kind
    ctas: int = 1
    ws: bool = False
    sparse: bool = False
    vector: int = 0
    ashift: bool = False
    a_in_tensor_memory: bool = False

    @property
    def k(self) -> int:
        """Logical columns of A."""
        return self.kind.k(sparse=self.sparse)


def product_form(head: str, modifiers: Sequence[str], *, a_in_tensor_memory: bool = False) -> ProductForm:
    """Return what a legal mnemonic says, by its head and modifiers."""
    words = frozenset(modifiers)
    kind = next(kind for name, kind in KINDS.items() if f"kind::{name}" in words)
    vectors = dict(kind.vectors)
    spelled = next((word for word in vectors if word in words), "")
    return ProductForm(
        ".".join([head, *modifiers]),
        kind,
        2 if "cta_group::2" in words else 1,
        ".ws" in head,
        head.endswith(".sp"),
        vectors[spelled] if kind.is_scaled else 0,
        "ashift" in words,
        a_in_tensor_memory,
    )
