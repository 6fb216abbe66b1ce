"""Which element types a product takes: accumulator, A and B.

Source: pto-isa headers at 3186c381 (TMatmul, CheckStaticMad).
"""

from __future__ import annotations

from dataclasses import dataclass

from .catalogue import Operation
from .element_types import ELEMENT_TYPES, ElementType
from .targets import A2A3, A5, CPU, Profile


@dataclass(frozen=True)
class TypeTriple:
    """Element types that go together.

    Attributes
    ----------
    accumulator : ElementType
        Of C and D.
    factors : tuple of ElementType
        A and B may each be any of these.
    plain, microscaled : tuple of Profile
        Who has them in the products without and with scale factors.
    note : str
        What else there is to know.
    """

    accumulator: ElementType
    factors: tuple[ElementType, ...]
    plain: tuple[Profile, ...] = ()
    microscaled: tuple[Profile, ...] = ()
    note: str = ""

    def on(self, profile: Profile, operation: Operation) -> bool:
        """Whether a profile's operation takes it."""
        return profile in (self.microscaled if operation.microscaled else self.plain)

    def __str__(self) -> str:
        factors = "/".join(map(str, self.factors))
        return f"{self.accumulator} <- {factors} x {factors}"


def _triple(
    accumulator: str,
    *factors: str,
    plain: tuple[Profile, ...] = (),
    microscaled: tuple[Profile, ...] = (),
    note: str = "",
) -> TypeTriple:
    types = tuple(ELEMENT_TYPES[name] for name in factors)
    return TypeTriple(ELEMENT_TYPES[accumulator], types, plain, microscaled, note)


_EVERYONE = (A2A3, A5, CPU)

TYPE_TRIPLES = (
    _triple("i32", "i8", plain=_EVERYONE),
    _triple("f32", "f16", plain=_EVERYONE),
    _triple(
        "f32", "bf16", plain=_EVERYONE,
        note="on CPU only with a C++23 library: before, bfloat16_t is an alias of half",
    ),
    _triple("f32", "f32", plain=_EVERYONE),
    _triple("f32", "f8E4M3FN", "f8E5M2", plain=(A5,), microscaled=(A5, CPU)),
    _triple("f32", "hif8", plain=(A5,)),
    _triple("f32", "f4E1M2x2", "f4E2M1x2", microscaled=(A5, CPU)),
)  # fmt: skip
"""Every triple."""


def triples(profile: Profile, operation: Operation) -> tuple[TypeTriple, ...]:
    """Return what a profile's product takes."""
    return tuple(triple for triple in TYPE_TRIPLES if triple.on(profile, operation))
