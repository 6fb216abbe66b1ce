"""The sizes m, k and n of a product: which operand's valid region each is read from.

Source: pto-isa headers at 3186c381 (TMatmul, TGemv).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .catalogue import Operation, OperationKind
from .targets import A2A3, Profile

SIZE_BITS = 16
"""Sizes are narrowed to so many bits before anything looks at them."""

GEMV_ROWS = 16
"""What A2A3 takes a matrix product of one row as, to keep the matrix unit out of its GEMV mode."""


SCALE_GROUP = 32
"""Neighbouring elements of K that share a scale factor."""


class Extents(NamedTuple):
    """Rows and columns of a matrix; ints, numpy integers or bit-vectors."""

    rows: Any
    columns: Any


class Sizes(NamedTuple):
    """Rows of A, columns of A, columns of B."""

    m: Any
    k: Any
    n: Any


class SizeSource(NamedTuple):
    """The operand and the extent of its valid region that a size is read from."""

    role: str
    extent: str

    def __str__(self) -> str:
        return f"valid {self.extent} of {self.role}"


def gemv_mode(operation: Operation, profile: Profile) -> bool:
    """Tell whether a product takes A as one linear row, whatever A's valid rows (the NPU's ``tgemv``)."""
    return profile.cube and operation.kind is OperationKind.GEMV


def size_sources(operation: Operation, profile: Profile) -> tuple[SizeSource | None, SizeSource, SizeSource]:
    """Return where m, k and n of a product come from; None is the constant 1."""
    gemv = gemv_mode(operation, profile)
    of_a = SizeSource("a", "columns")
    return (
        None if gemv else SizeSource("a", "rows"),
        SizeSource("b", "rows") if gemv and not operation.microscaled else of_a,
        SizeSource("b", "columns"),
    )


def sizes(operation: Operation, profile: Profile, valid: Mapping[str, tuple[Any, Any]]) -> Sizes:
    """Return the sizes of a product.

    Parameters
    ----------
    operation, profile : Operation, Profile
        The product, and what executes it.
    valid : mapping of str to (rows, columns)
        The valid regions of ``a`` and ``b``.
    """
    mask = (1 << SIZE_BITS) - 1
    return Sizes(
        *(
            1 if source is None else getattr(Extents(*valid[source.role]), source.extent) & mask
            for source in size_sources(operation, profile)
        )
    )


OPERAND_EXTENTS = MappingProxyType(
    {
        "a": Extents("m", "k"),
        "b": Extents("k", "n"),
        "c": Extents("m", "n"),
        "d": Extents("m", "n"),
        "bias": Extents("1", "n"),
        "scale_a": Extents("m", "g"),
        "scale_b": Extents("g", "n"),
    }
)
"""Rows and columns of every operand of a product by role; g counts the groups of K that share a factor."""


def scale_groups(k: Any) -> Any:
    """Return how many scale factors a row of A or a column of B has."""
    return (k + (SCALE_GROUP - 1)) >> (SCALE_GROUP.bit_length() - 1)


def operand_extents(m: Any, k: Any, n: Any) -> dict[str, Extents]:
    """Return `OPERAND_EXTENTS` for sizes, g being `scale_groups`."""
    of_name = {"1": 1, "m": m, "k": k, "n": n, "g": scale_groups(k)}
    return {role: Extents(*(of_name[name] for name in names)) for role, names in OPERAND_EXTENTS.items()}


def executed_rows(operation: Operation, profile: Profile, m: int) -> int:
    """Return how many rows of A are read, and of C written: m, but 16 for A2A3's ``tmatmul`` of one row."""
    return GEMV_ROWS if profile == A2A3 and operation.kind is OperationKind.MATMUL and m == 1 else m


def rounded_up(extent: Any, granule: int) -> Any:
    """Return the least multiple of a power of two that is no less than an extent."""
    above = extent + (granule - 1)
    return above - (above & (granule - 1))
