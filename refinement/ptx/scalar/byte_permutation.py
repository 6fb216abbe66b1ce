"""``prmt``: bytes picked from two words, also by a selector that is data.

With known words that is a look-up: the exponent bytes of 4-bit floats are found so.
Source: PTX ISA 9.1 section 9.7.9.7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

import numpy as np

from ...terms import bit_slices, operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import CONSTANT, Operation, TermStore
from ..registers.bit_moves import Field, Pieces, moving
from ..registers.values import KNOWN, Rule, Value, of_terms
from ..state.handlers import Modifiers

_MODES: MappingProxyType[str, Callable[[int], Sequence[int]]] = MappingProxyType(
    {
        "f4e": lambda n: (n, n + 1, n + 2, n + 3),
        "b4e": lambda n: (n, n + 7 & 7, n + 6 & 7, n + 5 & 7),
        "rc8": lambda n: (n, n, n, n),
        "ecl": lambda n: (n, max(n, 1), max(n, 2), 3),
        "ecr": lambda n: (0, min(n, 1), min(n, 2), n),
        "rc16": lambda n: (2 * (n & 1), 2 * (n & 1) + 1) * 2,
    }
)
"""Bytes of {b, a} that each mode picks, least significant first."""

_NIBBLES = (0, 4, 8, 12)
"""Where the selector says which byte the first, second, third and fourth is, without a mode."""


def _byte(number: int, *, sign: bool = False) -> Field:
    source, byte = divmod(number, 4)
    return Field(8 * byte + 7, 1, source, 8) if sign else Field(8 * byte, 8, source)


def permutation(modifiers: Modifiers) -> tuple[Sequence[int], Rule]:
    """Decode a ``prmt``: widths of its operands, and its rule."""
    modifiers.type(("b32",))
    mode = modifiers.one_of(_MODES, default="")

    def plan(selector: int) -> Pieces:
        if mode:
            return [_byte(number & 7) for number in _MODES[mode](selector & 3)]
        return [_byte(selector >> low & 7, sign=bool(selector >> low & 8)) for low in _NIBBLES]

    by_number = moving(plan, 1)

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        selector = values[2].terms
        if selector is None or not (by_data := selector != KNOWN).any():
            return by_number(store, values)
        result = Value(32, np.zeros(len(by_data), dtype=np.uint64))
        if not by_data.all():
            result = result.updated(~by_data, by_number(store, [each.at(~by_data) for each in values]))
        terms = [each.at(by_data).as_terms(store) for each in values]
        picked = [_picked(store, mode, byte, terms) for byte in range(4)]
        return result.updated(by_data, of_terms(store, bit_slices.concatenate(store, picked), 32))

    return (32, 32, 32), rule


def _picked(store: TermStore, mode: str, byte: int, words: Sequence[Ids]) -> Ids:
    """Return one byte (n,) of the result, from the two words and the selector, all of them terms."""
    low, bits = (0, 2) if mode else (_NIBBLES[byte], 4)
    options = []
    for number in range(1 << bits):
        field = _byte(_MODES[mode](number)[byte] & 7) if mode else _byte(number & 7, sign=number >= 8)
        found = bit_slices.extract(store, words[field.source], field.low, field.width)
        options.append(bit_slices.sign_extend(store, found, 8) if field.extended else found)
    choice = operations.select(8)
    for bit in range(bits):
        holds = bit_slices.extract(store, words[2], low + bit, 1)
        known = store.are(CONSTANT, holds)
        one = known & (store.constant_values(np.where(known, holds, store.constants(0, 1))) == 1)
        options = [
            np.where(known, np.where(one, after, before), _chosen(store, choice, holds, after, before))
            for before, after in zip(options[::2], options[1::2], strict=True)
        ]
    return options[0]


def _chosen(store: TermStore, choice: Operation, holds: Ids, after: Ids, before: Ids) -> Ids:
    """Return `after` where a bit is 1, else `before`: what both are, where they are the same."""
    found = before.copy()
    different = np.flatnonzero(after != before)
    if len(different):
        found[different] = apply(store, choice, holds[different], after[different], before[different])
    return found
