"""The algebra of words on numbers: uint64 arrays, zeros above a word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .errors import InputError
from .formats import IntegerFormat
from .open_results import OpenResult
from .word_algebra import Control, Field, Part, Pieces, piece_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

Words: TypeAlias = "NDArray[np.uint64]"
"""Words (n,)."""

_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


def ones(width: int) -> np.uint64:
    """Return `width` ones."""
    return np.uint64((1 << width) - 1)


def signed_values(words: Words, width: int) -> NDArray[np.int64]:
    """Return two's complement numbers."""
    shift = np.uint64(64 - width)
    return (words << shift).view(np.int64) >> np.int64(64 - width)


def integers(words: Words, fmt: IntegerFormat) -> NDArray[Any]:
    """Return the integers that words stand for, int64 or (unsigned) uint64."""
    return signed_values(words, fmt.bits) if fmt.signed else words


def cut(numbers: Any, width: int) -> Words:
    """Return numbers modulo ``2**width``."""
    return np.asarray(numbers).astype(np.uint64) & ones(width)


class NumpyWords:
    """Executes a meaning on numbers; see `WordAlgebra` for what each operation means.

    Raises
    ------
    InputError
        Of a result that the ISA leaves open.
    """

    def constant(self, number: int, width: int) -> Words:
        """Return one word."""
        return cut([number & int(ones(width))], width)

    def bitwise(self, table: int, width: int, *words: Words) -> Words:
        """Unite the rows of the table that hold."""
        a, b, c = (words[min(index, len(words) - 1)] for index in range(3))
        result = np.zeros(np.broadcast_shapes(*map(np.shape, words)), dtype=np.uint64)
        for row in range(8):
            if table >> row & 1:
                result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
        return result & ones(width)

    def add(self, width: int, *words: Words) -> Words:
        """Add."""
        total = words[0]
        for word in words[1:]:
            total = total + word
        return cut(total, width)

    def multiply(self, width: int, a: Words, b: Words, *addends: Words) -> Words:
        """Multiply and add."""
        return self.add(width, a * b, *addends)

    def negate(self, width: int, a: Words) -> Words:
        """Complement, and add 1."""
        return cut(~a + np.uint64(1), width)

    def high_product(self, fmt: IntegerFormat, a: Words, b: Words) -> Words:
        """Multiply; 64 bits by halves."""
        if fmt.bits < 64:
            return cut(
                integers(a, fmt) * integers(b, fmt) >> np.array(fmt.bits, integers(a, fmt).dtype), fmt.bits
            )
        low, half = ones(32), np.uint64(32)
        a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
        middle = a1 * b0 + (a0 * b0 >> half)
        upper = a1 * b1 + (middle >> half) + ((middle & low) + a0 * b1 >> half)
        if fmt.signed:
            zero, sign = np.uint64(0), np.uint64(63)
            upper = upper - np.where(a >> sign != 0, b, zero) - np.where(b >> sign != 0, a, zero)
        return np.asarray(upper)

    def quotient(self, fmt: IntegerFormat, a: Words, b: Words) -> Words:
        """Divide magnitudes."""
        x, y = _magnitudes(fmt, a, b)
        quotients = x // np.where(y == 0, np.uint64(1), y)
        opposite = (integers(a, fmt) < 0) != (integers(b, fmt) < 0)
        return cut(np.where(opposite, ~quotients + np.uint64(1), quotients), fmt.bits)

    def remainder(self, fmt: IntegerFormat, a: Words, b: Words) -> Words:
        """Divide magnitudes; the sign is that of the dividend."""
        x, y = _magnitudes(fmt, a, b)
        rests = x % np.where(y == 0, np.uint64(1), y)
        return cut(np.where(integers(a, fmt) < 0, ~rests + np.uint64(1), rests), fmt.bits)

    def extremum(self, fmt: IntegerFormat, which: str, a: Words, b: Words) -> Words:
        """Compare."""
        x, y = integers(a, fmt), integers(b, fmt)
        return cut(np.maximum(x, y) if which == "max" else np.minimum(x, y), fmt.bits)

    def compare(self, fmt: IntegerFormat, relation: str, a: Words, b: Words) -> Words:
        """Compare."""
        return cut(_RELATIONS[relation](integers(a, fmt), integers(b, fmt)), 1)

    def choose(self, condition: Words, then: Words, otherwise: Words) -> Words:
        """Choose by one bit."""
        return np.where(condition != 0, then, otherwise)

    def clamp(self, result: IntegerFormat, fmt: IntegerFormat, a: Words) -> Words:
        """Clip."""
        return cut(np.clip(integers(a, fmt), result.minimum, result.maximum), result.bits)

    def extend(self, width: int, fmt: IntegerFormat, a: Words) -> Words:
        """Copy the sign."""
        return cut(integers(a, fmt), width)

    def move(self, pieces: Pieces, *sources: Words) -> Words:
        """Shift and mask the pieces."""
        result, position = np.zeros(np.broadcast_shapes(*map(np.shape, sources)), dtype=np.uint64), 0
        for piece in pieces:
            if not piece.width:
                continue
            bits: Any = np.uint64(piece.value if not isinstance(piece, Field) else 0)
            if isinstance(piece, Field):
                bits = sources[piece.source] >> np.uint64(piece.low) & ones(piece.width)
                if piece.extended:
                    bits = cut(signed_values(bits, piece.width), piece.extended)
            result = result | bits << np.uint64(position)
            position += piece_width(piece)
        return result

    def steer(self, plan: Callable[..., Pieces], controls: Sequence[Control], *sources: Words) -> Words:
        """Move by the plan of each set of numbers."""
        numbers = [np.minimum(word & np.uint64(mask), np.uint64(limit)) for word, mask, limit in controls]
        shape = np.broadcast_shapes(*map(np.shape, (*numbers, *sources)))
        *numbers, last = (np.broadcast_to(number, shape).reshape(-1) for number in (*numbers, numbers[0]))
        flat = [np.broadcast_to(source, shape).reshape(-1) for source in sources] or [last]
        rows, members = np.unique(np.stack(numbers, axis=-1), axis=0, return_inverse=True)
        result = np.zeros(last.shape, dtype=np.uint64)
        for index, row in enumerate(rows):
            where = members.reshape(-1) == index
            result[where] = self.move(plan(*map(int, row)), *(source[where] for source in flat))
        return result.reshape(shape)

    def pick(self, parts: Sequence[Part], selector: Words, *sources: Words) -> Words:
        """Choose each part by its bits of the selector."""
        result, position = np.zeros(np.broadcast_shapes(*map(np.shape, (selector, *sources))), np.uint64), 0
        for part in parts:
            number = selector >> np.uint64(part.low) & ones(part.width)
            for index, option in enumerate(part.options):
                field = self.move([option], *sources) << np.uint64(position)
                result = result | np.where(number == index, field, np.uint64(0))
            position += piece_width(part.options[0])
        return result

    def shift(self, plan: Callable[[int], Pieces], width: int, word: Words, amount: Words) -> Words:
        """Move by the plan of each amount."""
        return self.steer(plan, [Control(amount, 0xFFFFFFFF, width)], word)

    def count_ones(self, width: int, a: Words) -> Words:
        """Count."""
        return cut(np.bitwise_count(a), 32)

    def leading_zeros(self, width: int, a: Words) -> Words:
        """Count from the top."""
        half = np.uint64(32)
        high, low = (np.frexp(part.astype(np.float64))[1] for part in (a >> half, a & ones(32)))
        return cut(width - np.where(a >> half != 0, 32 + high, low), 32)

    def dot(
        self, result: IntegerFormat, left: Sequence[Field], right: Sequence[Field],
        formats: tuple[IntegerFormat, IntegerFormat], a: Words, b: Words, c: Words,
    ) -> Words:  # fmt: skip
        """Add products to the third operand."""
        total = c.astype(np.int64)
        for x, y in zip(left, right, strict=True):
            factors = (self.move([field], word) for field, word in ((x, a), (y, b)))
            one, other = (
                integers(word, fmt).astype(np.int64) for word, fmt in zip(factors, formats, strict=True)
            )
            total = total + one * other
        return cut(total, result.bits)

    def leave_open(self, result: Words, of: OpenResult, where: Callable[..., Any], *operands: Words) -> Words:
        """Refuse operands of which the result is open."""
        if np.any(where(*operands)):
            raise InputError(f"PTX leaves open {of}: {of.bits} ({of.source})")
        return result


def _magnitudes(fmt: IntegerFormat, *words: Words) -> list[Words]:
    return [np.where(integers(word, fmt) < 0, cut(~word + np.uint64(1), fmt.bits), word) for word in words]
