"""Instructions that count or find bits.

Source: PTX ISA 9.1 section 9.7.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.ptx.open_results import BASE_OF_FNS
from ...terms import bit_slices, operations
from ...terms.evaluation import Words, apply, ones
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..registers.value_operations import left_unknown
from ..registers.values import Rule, Value, compute
from ..state.execution import Decoders
from ..state.handlers import Modifiers, pointwise
from ..text.module import TYPE_BITS


def _on_numbers_only(
    count: Callable[[Words, int], Any], allowed: Sequence[str], modifiers: Modifiers
) -> tuple[Sequence[int], Rule]:
    name = modifiers.type(allowed)
    width, opcode = TYPE_BITS[name], modifiers.instruction.opcode

    def on_terms(_: Ids) -> Ids:
        raise UnsupportedError(f"{opcode} of data")

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        return compute(store, 32, values, lambda a: count(a, width), on_terms)

    return (width,), rule


def bit_lengths(words: Words) -> Any:
    """Return how many bits each word needs."""
    high, low = words >> np.uint64(32), words & np.uint64(0xFFFFFFFF)
    lengths = [np.frexp(half.astype(np.float64))[1] for half in (high, low)]
    return np.where(high != 0, 32 + lengths[0], lengths[1])


def _popc(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    width = TYPE_BITS[modifiers.type(("b32", "b64"))]
    add = operations.ring(32, 0, 2)

    def on_terms(store: TermStore, a: Ids) -> Ids:
        total = bit_slices.zero_extend(store, bit_slices.extract(store, a, 0, 1), 32)
        for low in range(1, width):
            bit = bit_slices.zero_extend(store, bit_slices.extract(store, a, low, 1), 32)
            total = apply(store, add, total, bit)
        return total

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        return compute(store, 32, values, np.bitwise_count, partial(on_terms, store))

    return (width,), rule


def _bfind(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    name = modifiers.type(("u32", "u64", "s32", "s64"))
    from_top = modifiers.flag("shiftamt")
    width, signed = TYPE_BITS[name], name[0] == "s"

    def on_numbers(a: Words) -> Any:
        negative = (a >> np.uint64(width - 1)) & np.uint64(signed)
        found = bit_lengths(np.where(negative != 0, ~a & ones(width), a)) - 1
        return np.where(found < 0, -1, width - 1 - found if from_top else found)

    def on_terms(_: Ids) -> Ids:
        raise UnsupportedError("bfind of data")

    return (width,), lambda store, values: compute(store, 32, values, on_numbers, on_terms)


def _fns(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    modifiers.type(("b32",))

    def on_numbers(mask: Words, base: Words, offset: Words) -> Any:
        places = [_nth_set(*(int(n) for n in row)) for row in zip(mask, base, offset, strict=True)]
        return np.array(places, dtype=np.int64)

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        found = compute(store, 32, values, on_numbers, on_terms)
        return left_unknown(store, found, values[1].numbers >= 32, BASE_OF_FNS)

    def on_terms(*_: Ids) -> Ids:
        raise UnsupportedError("fns of data")

    return (32, 32, 32), rule


def _nth_set(mask: int, base: int, offset: int) -> int:
    offset = offset - (1 << 32) if offset >> 31 else offset
    if not offset:
        return base if mask >> base & 1 else -1
    # No bit is set above 31: from a base up there, the search down begins at 31.
    places = range(base, 32) if offset > 0 else range(min(base, 31), -1, -1)
    found = [place for place in places if mask >> place & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else -1


_PLANS: MappingProxyType[str, Callable[[Modifiers], tuple[Sequence[int], Rule]]] = MappingProxyType(
    {
        "popc": _popc,
        "clz": partial(_on_numbers_only, lambda a, width: width - bit_lengths(a), ("b32", "b64")),
        "bfind": _bfind,
        "fns": _fns,
    }
)

HANDLERS: Decoders = MappingProxyType({opcode: pointwise(plan) for opcode, plan in _PLANS.items()})
"""Decoders of this module's instructions."""
