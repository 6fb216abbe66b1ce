"""The algebra of words: what the meaning of a scalar instruction may ask of its operands.

A word is a vector of bits without a type; an operation that reads it as a number is given the format, or the
number of bits. As with `algebra`, one meaning runs on numbers, on Z3 terms and on the terms of the verifier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from .formats import IntegerFormat
from .open_results import OpenResult

Word = Any
"""Words of one algebra (n,): uint64 arrays, arrays of Z3 terms, or values of registers."""

A, B, C = 0xF0, 0xCC, 0xAA
"""Truth tables of the first, second and third argument of `WordAlgebra.bitwise`; others by ``& | ^``."""

NOT_A = A ^ 0xFF
"""The truth table of the complement."""


def signed(width: int) -> IntegerFormat:
    """Return the two's complement format of a width."""
    return IntegerFormat(f"s{width}", width, signed=True)


def unsigned(width: int) -> IntegerFormat:
    """Return the unsigned format of a width."""
    return IntegerFormat(f"u{width}", width, signed=False)


class Field(NamedTuple):
    """Bits of an operand.

    Attributes
    ----------
    low, width : int
        Which bits.
    source : int
        Number of the operand.
    extended : int
        Bits of the piece, copies of the sign above the field; 0 for `width`.
    """

    low: int
    width: int
    source: int = 0
    extended: int = 0


class Fill(NamedTuple):
    """Known bits."""

    value: int
    width: int


Pieces = Sequence[Field | Fill]
"""Least significant first."""


def piece_width(piece: Field | Fill) -> int:
    """Return how many bits of the result a piece gives."""
    return piece.extended or piece.width if isinstance(piece, Field) else piece.width


class Control(NamedTuple):
    """An operand that says where bits go, as the number ``min(word & mask, limit)``.

    Attributes
    ----------
    word : Word
        The operand.
    mask : int
        Which bits of it matter.
    limit : int
        The greatest number that is told from others.
    """

    word: Word
    mask: int
    limit: int


class Part(NamedTuple):
    """A part of a word that some bits of another one pick.

    Attributes
    ----------
    low, width : int
        The bits that pick.
    options : sequence of Field
        What they pick, by number.
    """

    low: int
    width: int
    options: Sequence[Field]


class WordAlgebra(Protocol):
    """Operations on words; results have the width that the format, the number of bits or the pieces say."""

    def constant(self, number: int, width: int) -> Word:
        """Return one word."""
        ...

    def bitwise(self, table: int, width: int, *words: Word) -> Word:
        """Combine one to three words bit by bit: bit ``4·a + 2·b + c`` of the table is the result."""
        ...

    def add(self, width: int, *words: Word) -> Word:
        """Return the sum modulo ``2**width``."""
        ...

    def multiply(self, width: int, a: Word, b: Word, *addends: Word) -> Word:
        """Return ``a·b`` plus the addends modulo ``2**width``."""
        ...

    def negate(self, width: int, a: Word) -> Word:
        """Return ``-a`` modulo ``2**width``."""
        ...

    def high_product(self, fmt: IntegerFormat, a: Word, b: Word) -> Word:
        """Return the upper half of the product of two integers, which has twice the bits."""
        ...

    def quotient(self, fmt: IntegerFormat, a: Word, b: Word) -> Word:
        """Return the quotient of two integers, rounded toward zero; by 0, any word."""
        ...

    def remainder(self, fmt: IntegerFormat, a: Word, b: Word) -> Word:
        """Return ``a - b·quotient``, of the sign of a; by 0, any word."""
        ...

    def extremum(self, fmt: IntegerFormat, which: str, a: Word, b: Word) -> Word:
        """Return the ``max`` or ``min`` of two integers."""
        ...

    def compare(self, fmt: IntegerFormat, relation: str, a: Word, b: Word) -> Word:
        """Return one bit: whether two integers are ``eq``, ``ne``, ``lt``, ``le``, ``gt`` or ``ge``."""
        ...

    def choose(self, condition: Word, then: Word, otherwise: Word) -> Word:
        """Choose by one bit."""
        ...

    def clamp(self, result: IntegerFormat, fmt: IntegerFormat, a: Word) -> Word:
        """Return the integer of one format nearest to an integer of another, wider one."""
        ...

    def extend(self, width: int, fmt: IntegerFormat, a: Word) -> Word:
        """Return an integer in as many bits or more: copies of the sign, or zeros, above."""
        ...

    def move(self, pieces: Pieces, *sources: Word) -> Word:
        """Return the word made of pieces of others."""
        ...

    def steer(self, plan: Callable[..., Pieces], controls: Sequence[Control], *sources: Word) -> Word:
        """Return the word made of the pieces that a plan gives for the numbers of the controls."""
        ...

    def pick(self, parts: Sequence[Part], selector: Word, *sources: Word) -> Word:
        """Return the word whose parts are fields of others; bits of a selector pick them."""
        ...

    def shift(self, plan: Callable[[int], Pieces], width: int, word: Word, amount: Word) -> Word:
        """Shift a word by an amount of 32 bits; the plan says how by a number, which `width` bounds."""
        ...

    def count_ones(self, width: int, a: Word) -> Word:
        """Return how many bits are 1, in 32 bits."""
        ...

    def leading_zeros(self, width: int, a: Word) -> Word:
        """Return how many bits are 0 above the highest 1, in 32 bits."""
        ...

    def dot(
        self, result: IntegerFormat, left: Sequence[Field], right: Sequence[Field],
        formats: tuple[IntegerFormat, IntegerFormat], a: Word, b: Word, c: Word,
    ) -> Word:  # fmt: skip
        """Return c plus the products of fields of a and b, integers of two formats, modulo ``2**bits``."""
        ...

    def leave_open(self, result: Word, of: OpenResult, where: Callable[..., Any], *operands: Word) -> Word:
        """Return a result that an ISA leaves open where a condition on the numbers of operands holds."""
        ...
