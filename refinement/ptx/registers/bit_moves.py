"""Bit moves: results as lists of pieces of the operands.

One list serves numbers and terms alike. It may depend on operands that are known, such as the amount of
a shift; then threads in which these are equal share a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....spec.word_algebra import Field, Fill, Pieces, piece_width
from ...terms import bit_slices
from ...terms.evaluation import Words, ones, signed_values
from ...terms.interning import Ids
from ...terms.slices import groups
from ...terms.store import TermStore
from .dependence import require_known
from .values import Rule, Value, compute


def moved(store: TermStore, pieces: Pieces, *sources: Value) -> Value:
    """Return the words made of pieces of known or unknown words."""
    present = [piece for piece in pieces if piece.width]

    def on_numbers(*words: Words) -> Words:
        result, position = np.zeros(len(words[0]), dtype=np.uint64), 0
        for piece in present:
            if isinstance(piece, Field):
                field = _field(words[piece.source], piece, sources[piece.source].width)
                result |= field << np.uint64(position) if position else field
            elif piece.value:
                result |= np.uint64(piece.value << position)
            position += piece_width(piece)
        return result

    def on_terms(*words: Ids) -> Ids:
        parts = []
        for piece in present:
            if isinstance(piece, Fill):
                parts.append(np.full(len(words[0]), store.constants(piece.value, piece.width)))
                continue
            field = bit_slices.extract(store, words[piece.source], piece.low, piece.width)
            parts.append(bit_slices.sign_extend(store, field, piece.extended) if piece.extended else field)
        return parts[0] if len(parts) == 1 else bit_slices.concatenate(store, parts)

    return compute(store, sum(map(piece_width, present)), sources, on_numbers, on_terms)


def _field(words: Words, piece: Field, width: int) -> Words:
    field = words >> np.uint64(piece.low) if piece.low else words
    if piece.extended:
        return signed_values(field, piece.width).view(np.uint64) & ones(piece.extended)
    return field & ones(piece.width) if piece.low + piece.width < width else field


def moving(plan: Callable[..., Pieces], controls: int = 0, what: str = "a control operand") -> Rule:
    """Return the rule of an instruction that moves bits.

    Parameters
    ----------
    plan : callable
        From the numbers of the control operands to pieces, which all have the same total width.
    controls : int
        How many of the operands, the last ones, say where bits go.
    what : str
        Names the control operands in the error about one that depends on data.
    """

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        if not controls:
            return moved(store, plan(), *values)
        data, steering = values[:-controls], values[-controls:]
        for value in steering:
            require_known(what, value)
        numbers = np.stack([value.numbers for value in steering], axis=-1)
        result: Value | None = None
        for members in groups(numbers):
            pieces = plan(*(int(number) for number in numbers[members[0]]))
            if len(members) == len(numbers):
                return moved(store, pieces, *(data or steering))
            part = moved(store, pieces, *(value.at(members) for value in data or steering))
            if result is None:
                result = Value(part.width, np.zeros(len(numbers), dtype=np.uint64))
            result = result.updated(members, part)
        assert result is not None
        return result

    return rule
