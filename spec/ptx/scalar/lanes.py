"""Words of two elements, and integers that are clamped: what meanings of several rows share."""

from __future__ import annotations

from collections.abc import Callable

from ...word_algebra import Field, Word, WordAlgebra, signed
from .rows import Form


def lanewise(alg: WordAlgebra, form: Form, rule: Callable[..., Word], *operands: Word) -> Word:
    """Apply a rule to each element of its operands."""
    kind = form.type
    if kind.lanes == 1:
        return rule(*operands)
    lows = range(0, kind.bits, kind.width)
    elements = [[alg.move([Field(low, kind.width)], word) for word in operands] for low in lows]
    joined = [Field(0, kind.width, index) for index in range(kind.lanes)]
    return alg.move(joined, *(rule(*words) for words in elements))


def clamped(alg: WordAlgebra, rule: Callable[..., Word], *operands: Word) -> Word:
    """Apply a rule of 64 bits to words of 32, and clamp the result to a signed word."""
    wide = (alg.extend(64, signed(32), word) for word in operands)
    return alg.clamp(signed(32), signed(64), rule(*wide))
