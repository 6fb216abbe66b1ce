"""The algebra of words on Z3 terms, in object arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

import z3

from ..spec.errors import UnsupportedError
from ..spec.formats import IntegerFormat
from ..spec.open_results import OpenResult
from ..spec.word_algebra import Control, Field, Fill, Part, Pieces
from .bit_fields import cut, join
from .z3_algebra import element, elementwise

Words = Any
"""Object arrays of bit-vectors."""

_WIDEST_CONTROL = 7
"""Bits of a control that are told apart: lengths and places in 64 bits."""


class Z3Words:
    """Builds bit-vectors; see `WordAlgebra` for what each operation means."""

    def constant(self, number: int, width: int) -> Words:
        """Return a numeral."""
        return element(z3.BitVecVal(number, width))

    def bitwise(self, table: int, width: int, *words: Words) -> Words:
        """Unite the rows of the table that hold."""

        def combine(*terms: Any) -> Any:
            a, b, c = (terms[min(index, len(terms) - 1)] for index in range(3))
            result = z3.BitVecVal(0, width)
            for row in range(8):
                if table >> row & 1:
                    result |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)
            return result

        return elementwise(combine, *words)

    def add(self, width: int, *words: Words) -> Words:
        """Add."""
        return elementwise(lambda *terms: sum(terms[1:], terms[0]), *words)

    def multiply(self, width: int, a: Words, b: Words, *addends: Words) -> Words:
        """Multiply and add."""
        return elementwise(lambda x, y, *terms: sum(terms, x * y), a, b, *addends)

    def negate(self, width: int, a: Words) -> Words:
        """Negate."""
        return elementwise(lambda x: -x, a)

    def high_product(self, fmt: IntegerFormat, a: Words, b: Words) -> Words:
        """Multiply words of twice the bits."""
        width = fmt.bits
        wide = partial(_extended, 2 * width, fmt)
        return elementwise(lambda x, y: z3.Extract(2 * width - 1, width, wide(x) * wide(y)), a, b)

    def quotient(self, fmt: IntegerFormat, a: Words, b: Words) -> Words:
        """Divide."""
        return elementwise(lambda x, y: x / y if fmt.signed else z3.UDiv(x, y), a, b)

    def remainder(self, fmt: IntegerFormat, a: Words, b: Words) -> Words:
        """Divide."""
        return elementwise(z3.SRem if fmt.signed else z3.URem, a, b)

    def extremum(self, fmt: IntegerFormat, which: str, a: Words, b: Words) -> Words:
        """Compare."""
        relation = _relation(fmt, "gt" if which == "max" else "lt")
        return elementwise(lambda x, y: z3.If(relation(x, y), x, y), a, b)

    def compare(self, fmt: IntegerFormat, relation: str, a: Words, b: Words) -> Words:
        """Compare."""
        holds = _relation(fmt, relation)
        one, zero = z3.BitVecVal(1, 1), z3.BitVecVal(0, 1)
        return elementwise(lambda x, y: z3.If(holds(x, y), one, zero), a, b)

    def choose(self, condition: Words, then: Words, otherwise: Words) -> Words:
        """Choose by one bit."""
        return elementwise(lambda bit, x, y: z3.If(bit == 1, x, y), condition, then, otherwise)

    def clamp(self, result: IntegerFormat, fmt: IntegerFormat, a: Words) -> Words:
        """Compare with the ends."""
        below, above = _relation(fmt, "lt"), _relation(fmt, "gt")
        low, high = (z3.BitVecVal(end, fmt.bits) for end in (result.minimum, result.maximum))

        def nearest(x: Any) -> Any:
            return cut(result.bits - 1, 0, z3.If(below(x, low), low, z3.If(above(x, high), high, x)))

        return elementwise(nearest, a)

    def extend(self, width: int, fmt: IntegerFormat, a: Words) -> Words:
        """Copy the sign."""
        return elementwise(partial(_extended, width, fmt), a)

    def move(self, pieces: Pieces, *sources: Words) -> Words:
        """Concatenate pieces."""
        return elementwise(lambda *terms: _moved(pieces, terms), *sources)

    def steer(self, plan: Callable[..., Pieces], controls: Sequence[Control], *sources: Words) -> Words:
        """Choose among the pieces of all numbers, bit by bit of the controls.

        Raises
        ------
        UnsupportedError
            If a control has too many numbers.
        """
        bits = [control.limit.bit_length() for control in controls]
        if max(bits) > _WIDEST_CONTROL:
            raise UnsupportedError("a control of so many numbers in Z3")
        ranges = [range(1 << count) for count in bits]
        limits = [control.limit for control in controls]

        def build(*terms: Any) -> Any:
            words, data = terms[: len(controls)], terms[len(controls) :]
            steering = [_bounded(word, control) for word, control in zip(words, controls, strict=True)]
            choices = [_moved(plan(*map(min, numbers, limits)), data) for numbers in product(*ranges)]
            for word, count in zip(reversed(steering), reversed(bits), strict=True):
                for bit in range(count):
                    choices = _halved(cut(bit, bit, word), choices)
            return choices[0]

        return elementwise(build, *(control.word for control in controls), *sources)

    def pick(self, parts: Sequence[Part], selector: Words, *sources: Words) -> Words:
        """Choose each part, bit by bit of the selector."""

        def build(word: Any, *data: Any) -> Any:
            picked = []
            for part in parts:
                choices = [_moved([option], data) for option in part.options]
                for bit in range(part.low, part.low + part.width):
                    choices = _halved(cut(bit, bit, word), choices)
                picked.append(choices[0])
            return join(*reversed(picked))

        return elementwise(build, selector, *sources)

    def shift(self, plan: Callable[[int], Pieces], width: int, word: Words, amount: Words) -> Words:
        """Choose among the pieces of all amounts."""
        return self.steer(plan, [Control(amount, 0xFFFFFFFF, width)], word)

    def count_ones(self, width: int, a: Words) -> Words:
        """Add bits."""

        def count(x: Any) -> Any:
            bits = (z3.ZeroExt(31, z3.Extract(place, place, x)) for place in range(width))
            return sum(bits, z3.BitVecVal(0, 32))

        return elementwise(count, a)

    def leading_zeros(self, width: int, a: Words) -> Words:
        """Find the highest 1."""

        def count(x: Any) -> Any:
            result = z3.BitVecVal(width, 32)
            for place in range(width):
                result = z3.If(z3.Extract(place, place, x) == 1, z3.BitVecVal(width - 1 - place, 32), result)
            return result

        return elementwise(count, a)

    def dot(
        self, result: IntegerFormat, left: Sequence[Field], right: Sequence[Field],
        formats: tuple[IntegerFormat, IntegerFormat], a: Words, b: Words, c: Words,
    ) -> Words:  # fmt: skip
        """Add products of fields."""

        def total(x: Any, y: Any, z: Any) -> Any:
            for one, other in zip(left, right, strict=True):
                factors = zip((_moved([one], [x]), _moved([other], [y])), formats, strict=True)
                first, second = (_extended(result.bits, fmt, term) for term, fmt in factors)
                z = z + first * second
            return z

        return elementwise(total, a, b, c)

    def leave_open(self, result: Words, of: OpenResult, where: Callable[..., Any], *operands: Words) -> Words:
        """Return any word where the result is open."""

        def build(term: Any, *terms: Any) -> Any:
            return z3.If(where(*terms), z3.FreshConst(term.sort(), "open"), term)

        return elementwise(build, result, *operands)


def _extended(width: int, fmt: IntegerFormat, term: Any) -> Any:
    count = width - term.size()
    return (z3.SignExt if fmt.signed else z3.ZeroExt)(count, term) if count else term


def _moved(pieces: Pieces, terms: Sequence[Any]) -> Any:
    parts = []
    for piece in pieces:
        if not piece.width:
            continue
        if isinstance(piece, Fill):
            parts.append(z3.BitVecVal(piece.value, piece.width))
            continue
        field = cut(piece.low + piece.width - 1, piece.low, terms[piece.source])
        parts.append(z3.SignExt(piece.extended - piece.width, field) if piece.extended else field)
    return join(*reversed(parts)) if len(parts) > 1 else parts[0]


def _bounded(word: Any, control: Control) -> Any:
    """Return the number of a control."""
    masked = word & z3.BitVecVal(control.mask, word.size())
    limit = z3.BitVecVal(control.limit, word.size())
    return masked if control.mask <= control.limit else z3.If(z3.ULE(masked, limit), masked, limit)


def _halved(bit: Any, choices: Sequence[Any]) -> list[Any]:
    """Return the choices that are left when a bit chooses between neighbours."""
    return [
        low if low.eq(high) else z3.If(bit == 1, high, low)
        for low, high in zip(choices[::2], choices[1::2], strict=True)
    ]


def _relation(fmt: IntegerFormat, name: str) -> Callable[[Any, Any], Any]:
    return {**_EQUALITY, **(_SIGNED if fmt.signed else _UNSIGNED)}[name]


_EQUALITY: dict[str, Callable[[Any, Any], Any]] = {"eq": operator.eq, "ne": operator.ne}
_SIGNED: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
_UNSIGNED: dict[str, Callable[[Any, Any], Any]] = {"lt": z3.ULT, "le": z3.ULE, "gt": z3.UGT, "ge": z3.UGE}
