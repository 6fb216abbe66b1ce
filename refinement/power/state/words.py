"""Concolic words of general-purpose registers and condition bits: concrete if known, else terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.power.open_results import HIGH_WORD
from ...terms import bit_slices, operations
from ...terms.choices import chosen
from ...terms.evaluation import apply
from ...terms.store import CONSTANT, Operation, TermStore, bits
from ...terms.truth_tables import Table
from . import conditions

MASK = (1 << 64) - 1
_SUM = operations.ring(64, 0, 2)


@dataclass(frozen=True, slots=True)
class Data:
    """A symbolic value: a term.

    Attributes
    ----------
    term : int
        As wide as the word.
    """

    term: int


Word = int | Data
"""Of 64 bits, or a condition of one."""


class UnknownNumberError(UnsupportedError):
    """An address, a branch or a shift is symbolic where it has to be concrete.

    Parameters
    ----------
    what : str
        What it is for.
    term : int
        What it is.
    """

    def __init__(self, what: str, term: int) -> None:
        super().__init__(f"{what} depends on data")
        self.what = what
        self.term = term


def signed(value: int, width: int = 64) -> int:
    """Return a number's low bits in two's complement."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def known(what: str, word: Word) -> int:
    """Return a number.

    Raises
    ------
    UnknownNumberError
        If it is none.
    """
    if isinstance(word, Data):
        raise UnknownNumberError(what, word.term)
    return word


class WordArithmetic:
    """Arithmetic of instructions on concolic words.

    Parameters
    ----------
    store : TermStore
        Where terms are made.
    """

    def __init__(self, store: TermStore) -> None:
        self.store = store

    def term(self, word: Word, width: int = 64) -> int:
        """Return the term of a word, or of as many of its low bits."""
        if isinstance(word, Data):
            held = int(self.store.widths(word.term))
            if held == width:
                return word.term
            return int(bit_slices.extract(self.store, np.array([word.term], dtype=np.int32), 0, width)[0])
        return int(self.store.constants(word & ((1 << width) - 1), width))

    def word(self, term: int) -> Word:
        """Return a term as a word, a number where it is a constant."""
        if self.store.operation(term).name == CONSTANT:
            return int(self.store.constant_values(term))
        return Data(term)

    def applied(self, operation: Operation, *terms: int) -> Word:
        """Return an operation's result."""
        return self.word(int(apply(self.store, operation, *terms)))

    def add(self, *words: Word) -> Word:
        """Add modulo ``2**64``."""
        total, data = 0, []
        for word in words:
            if isinstance(word, Data):
                term, constant = self._parted(word.term)
                data.append(term)
                total += constant
            else:
                total += word
        if not data:
            return total & MASK
        if total & MASK:
            data.append(self.term(total))
        if len(data) == 1:
            return Data(data[0])
        result: Word = Data(data[0])
        for each in data[1:]:
            result = self.applied(_SUM, self.term(result), each)
        return result

    def _parted(self, term: int) -> tuple[int, int]:
        """Return a word without the constant that `add` added, and that: together they may cancel."""
        if self.store.operation(term) == _SUM:
            sides = self.store.arguments(term)[:2]
            for one, other in (sides, sides[::-1]):
                if self.store.operation(int(other)).name == CONSTANT:
                    return int(one), int(self.store.constant_values(other[None])[0])
        return term, 0

    def negated(self, word: Word) -> Word:
        """Return minus a word."""
        if isinstance(word, Data):
            return self.applied(operations.negate(bits(64)), word.term)
        return -word & MASK

    def multiplied(self, left: Word, right: Word) -> Word:
        """Multiply modulo ``2**64``."""
        if isinstance(left, Data) or isinstance(right, Data):
            return self.applied(operations.ring(64, 1, 0), self.term(left), self.term(right))
        return left * right & MASK

    def combined(self, table: Table, left: Word, right: Word, width: int = 64) -> Word:
        """Combine bit by bit with a truth table of two operands (`truth_tables.A` and ``B``)."""
        if not isinstance(left, Data) and not isinstance(right, Data):
            return _combined(int(table), left, right, (1 << width) - 1)
        if width == 1:
            return self.word(conditions.combined(self.store, table, self.term(left, 1), self.term(right, 1)))
        a, b = (np.array([self.term(each, width)], dtype=np.int32) for each in (left, right))
        return self.word(int(bit_slices.bitwise(self.store, table, a, b, a)[0]))

    def cut(self, word: Word, low: int, width: int) -> Word:
        """Return some bits of a word, as a word of so few bits."""
        if isinstance(word, Data):
            array = np.array([word.term], dtype=np.int32)
            return self.word(int(bit_slices.extract(self.store, array, low, width)[0]))
        return word >> low & ((1 << width) - 1)

    def extended(self, word: Word, width: int, to: int = 64, *, sign: bool) -> Word:
        """Return the low bits of a word, extended by their sign or by zeros."""
        low = self.cut(word, 0, width)
        if isinstance(low, Data):
            array = np.array([low.term], dtype=np.int32)
            extend = bit_slices.sign_extend if sign else bit_slices.zero_extend
            return self.word(int(extend(self.store, array, to)[0]))
        return signed(low, width) & ((1 << to) - 1) if sign else low

    def joined(self, *parts: tuple[Word, int]) -> Word:
        """Join words with their widths, the first least significant."""
        if not any(isinstance(word, Data) for word, _ in parts):
            total = at = 0
            for word, width in parts:
                assert isinstance(word, int)
                total |= (word & ((1 << width) - 1)) << at
                at += width
            return total
        arrays = [np.array([self.term(word, width)], dtype=np.int32) for word, width in parts]
        return self.word(int(bit_slices.concatenate(self.store, arrays)[0]))

    def with_undefined(self, word: Word, width: int) -> Word:
        """Return the low bits of a word, and above them what is undefined."""
        if width == 64:
            return word
        above = Data(int(self.store.undefined(1, 64 - width, HIGH_WORD)[0]))
        return self.joined((self.cut(word, 0, width), width), (above, 64 - width))

    def rotated(self, word: Word, amount: int, width: int = 64) -> Word:
        """Rotate the low bits of a word to the left."""
        amount %= width
        if not amount:
            return self.cut(word, 0, width)
        return self.joined(
            (self.cut(word, width - amount, amount), amount),
            (self.cut(word, 0, width - amount), width - amount),
        )

    def compared(self, left: Word, right: Word, width: int, *, sign: bool) -> tuple[Word, Word, Word]:
        """Return whether a word is less, greater, equal: the low `width` bits."""
        left, right = self.cut(left, 0, width), self.cut(right, 0, width)
        if isinstance(left, Data) or isinstance(right, Data):
            fmt = (operations.signed if sign else operations.unsigned)(width)
            terms = self.term(left, width), self.term(right, width)
            if terms[0] == terms[1]:
                return 0, 0, 1
            less, greater, equal = (
                self.applied(operations.compare(fmt, relation), *terms) for relation in ("lt", "gt", "eq")
            )
            return less, greater, equal
        if sign:
            left, right = signed(left, width), signed(right, width)
        return int(left < right), int(left > right), int(left == right)

    def chosen(self, condition: Word, then: Word, otherwise: Word, width: int = 64) -> Word:
        """Choose by a condition."""
        if isinstance(condition, Data):
            terms = condition.term, self.term(then, width), self.term(otherwise, width)
            return self.word(
                int(chosen(self.store, *(np.array([term], dtype=np.int32) for term in terms))[0])
            )
        return then if condition else otherwise


def _combined(table: int, left: int, right: int, mask: int) -> int:
    """Combine numbers bit by bit; bit ``4 a + 2 b + c`` of a table is its value."""
    found = 0
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        if table >> (4 * a + 2 * b) & 1:
            found |= (left if a else ~left) & (right if b else ~right)
    return found & mask
