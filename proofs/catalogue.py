"""Every theorem, and how patterns select obligations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache

from ..spec.errors import InputError
from .obligation import Obligation, Theorem
from .power import (
    blocked,
    encoding,
    integers,
    kernels,
    layouts,
    masking,
    numerics,
    priming,
    signs,
    state,
    transport,
)
from .pto import blocked as pto_blocked
from .pto import layouts as pto_layouts
from .pto import microscaling, pitches, products, ragged_k, tile_layouts
from .pto import transport as pto_transport
from .ptx import (
    alignment,
    block_scaling,
    composition,
    dot_add_integers,
    fragments,
    integer_ranges,
    loaded_tiles,
    matrix_moves,
    metadata,
    printed_fragments,
    rounding_bound,
    rounding_error,
    scaled_rows,
    selectors,
    sparsity,
    warp,
    wmma,
)
from .ptx import blocked as ptx_blocked
from .ptx import numerics as ptx_numerics


@cache
def theorems() -> tuple[Theorem, ...]:
    """Return every theorem, in the order they are reported."""
    modules = (
        layouts,
        transport,
        masking,
        integers,
        signs,
        numerics,
        priming,
        state,
        encoding,
        blocked,
        kernels,
        fragments,
        printed_fragments,
        warp,
        matrix_moves,
        loaded_tiles,
        wmma,
        alignment,
        selectors,
        metadata,
        sparsity,
        block_scaling,
        scaled_rows,
        composition,
        ptx_blocked,
        integer_ranges,
        ptx_numerics,
        dot_add_integers,
        rounding_error,
        rounding_bound,
        pto_layouts,
        tile_layouts,
        pitches,
        pto_transport,
        products,
        microscaling,
        pto_blocked,
        ragged_k,
    )
    return tuple(theorem for module in modules for theorem in module.THEOREMS)


@cache
def obligations() -> dict[str, Obligation]:
    """Return every obligation by id.

    Raises
    ------
    ValueError
        If two obligations have one id, or one does not belong to its theorem.
    """
    found: dict[str, Obligation] = {}
    for theorem in theorems():
        for obligation in theorem.obligations():
            if obligation.id in found or not obligation.id.startswith(theorem.id + "/"):
                raise ValueError(f"{obligation.id}: not unique, or not under {theorem.id}")
            found[obligation.id] = obligation
    return found


def matches(identifier: str, pattern: str) -> bool:
    """Tell whether a pattern (a prefix, or a glob) selects an id."""
    return identifier.startswith(pattern) or fnmatchcase(identifier, pattern)


def select(patterns: Sequence[str]) -> list[Obligation]:
    """Return the obligations that any of the patterns selects (all for no pattern).

    Raises
    ------
    InputError
        If a pattern selects nothing.
    """
    everything: Iterable[Obligation] = obligations().values()
    for pattern in patterns:
        if not any(matches(identifier, pattern) for identifier in obligations()):
            families = sorted({theorem.id for theorem in theorems()})
            raise InputError(f"no obligation matches {pattern!r}; theorems: {', '.join(families)}")
    return [o for o in everything if not patterns or any(matches(o.id, pattern) for pattern in patterns)]
