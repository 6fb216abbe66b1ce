"""The algebra of words on registers: numbers where they are known, else terms.

Operations that the terms do not have are refused on data, as are controls that depend on it, unless few bits
decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.formats import IntegerFormat
from ....spec.numpy_words import NumpyWords
from ....spec.open_results import OpenResult
from ....spec.rounding import Rounding
from ....spec.word_algebra import Control, Field, Part, Pieces
from ...terms import bit_slices, operations
from ...terms.evaluation import apply, evaluate
from ...terms.interning import Ids
from ...terms.store import CONSTANT, Operation, TermStore
from ...terms.store import bits as raw
from ..registers.bit_moves import moved, moving
from ..registers.value_operations import applied, chosen, combined, known_numbers, left_unknown, widened
from ..registers.values import KNOWN, Value, compute, of_terms

_ON_NUMBERS = NumpyWords()


class TermWords:
    """Executes a meaning on registers; see `WordAlgebra` for what each operation means.

    Parameters
    ----------
    store : TermStore
        The terms.
    count : int
        Threads.
    opcode : str
        The instruction, for messages.
    """

    def __init__(self, store: TermStore, count: int, opcode: str) -> None:
        self.store = store
        self._count = count
        self._opcode = opcode

    def _applied(self, operation: Operation, *words: Value) -> Value:
        return applied(self.store, operation, *words)

    def _refused(self, what: str) -> Callable[..., Ids]:
        """Return what refuses terms."""

        def refuse(*_: Ids) -> Ids:
            raise UnsupportedError(what)

        return refuse

    def constant(self, number: int, width: int) -> Value:
        """Return one number for every thread."""
        return Value(width, np.full(self._count, number & (1 << width) - 1, dtype=np.uint64))

    def bitwise(self, table: int, width: int, *words: Value) -> Value:
        """Combine slices."""
        return combined(self.store, table, *words)

    def add(self, width: int, *words: Value) -> Value:
        """Apply `operations.ring`."""
        return self._applied(operations.ring(width, 0, len(words)), *words)

    def multiply(self, width: int, a: Value, b: Value, *addends: Value) -> Value:
        """Apply `operations.ring`."""
        return self._applied(operations.ring(width, 1, len(addends)), a, b, *addends)

    def negate(self, width: int, a: Value) -> Value:
        """Apply `operations.negate`."""
        return self._applied(operations.negate(raw(width)), a)

    def high_product(self, fmt: IntegerFormat, a: Value, b: Value) -> Value:
        """Multiply wider words; of 64 bits, numbers alone."""
        width = fmt.bits
        if width < 64:
            product = self.multiply(2 * width, *(self.extend(2 * width, fmt, word) for word in (a, b)))
            return self.move([Field(width, width)], product)
        refuse = self._refused("the upper half of a 128-bit product of data")
        return compute(self.store, 64, [a, b], partial(_ON_NUMBERS.high_product, fmt), refuse)

    def quotient(self, fmt: IntegerFormat, a: Value, b: Value) -> Value:
        """Divide; by a power of two, move bits."""
        return self._divided("div", fmt, a, b)

    def remainder(self, fmt: IntegerFormat, a: Value, b: Value) -> Value:
        """Divide; by a power of two, move bits."""
        return self._divided("rem", fmt, a, b)

    def _divided(self, name: str, fmt: IntegerFormat, a: Value, b: Value) -> Value:
        power = _power_of_two(b)
        if power is not None and not fmt.signed and not a.is_known:
            part = Field(0, power) if name == "rem" else Field(power, fmt.bits - power)
            return widened(self.store, self.move([part], a), fmt.bits, signed=False)
        operation = operations.function(name, fmt, fmt, fmt)
        on_numbers = lambda *numbers: evaluate(operation, numbers)  # noqa: E731
        return compute(self.store, fmt.bits, [a, b], on_numbers, partial(self.store.apply, operation))

    def extremum(self, fmt: IntegerFormat, which: str, a: Value, b: Value) -> Value:
        """Apply `operations.extremum`."""
        return self._applied(operations.extremum(fmt, which), a, b)

    def compare(self, fmt: IntegerFormat, relation: str, a: Value, b: Value) -> Value:
        """Apply `operations.compare`."""
        return self._applied(operations.compare(fmt, relation), a, b)

    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value:
        """Choose; where the condition is known, no operation is left."""
        return chosen(self.store, condition, then, otherwise)

    def clamp(self, result: IntegerFormat, fmt: IntegerFormat, a: Value) -> Value:
        """Apply `operations.convert`."""
        return self._applied(operations.convert(result, fmt, Rounding.NEAREST_EVEN, saturate=True), a)

    def extend(self, width: int, fmt: IntegerFormat, a: Value) -> Value:
        """Move bits."""
        return widened(self.store, a, width, signed=fmt.signed)

    def move(self, pieces: Pieces, *sources: Value) -> Value:
        """Move bits."""
        return moved(self.store, pieces, *sources)

    def steer(self, plan: Callable[..., Pieces], controls: Sequence[Control], *sources: Value) -> Value:
        """Move bits by controls that are known."""

        def pieces(*numbers: int) -> Pieces:
            return plan(
                *(
                    min(number & mask, limit)
                    for number, (_, mask, limit) in zip(numbers, controls, strict=True)
                )
            )

        rule = moving(pieces, len(controls), f"a control operand of {self._opcode}")
        return rule(self.store, [*sources, *(control.word for control in controls)])

    def pick(self, parts: Sequence[Part], selector: Value, *sources: Value) -> Value:
        """Move bits by selectors that are known; by data, choose by one bit after the other."""

        def pieces(number: int) -> Pieces:
            return [part.options[number >> part.low & (1 << part.width) - 1] for part in parts]

        by_number = moving(pieces, 1)
        if selector.terms is None or not (by_data := selector.terms != KNOWN).any():
            return by_number(self.store, [*sources, selector])
        result = Value(selector.width, np.zeros(len(by_data), dtype=np.uint64))
        words = [*sources, selector]
        if not by_data.all():
            result = result.updated(~by_data, by_number(self.store, [word.at(~by_data) for word in words]))
        *terms, selecting = (word.at(by_data).as_terms(self.store) for word in words)
        picked = [self._picked(part, selecting, terms) for part in parts]
        joined = bit_slices.concatenate(self.store, picked)
        return result.updated(by_data, of_terms(self.store, joined, selector.width))

    def _picked(self, part: Part, selector: Ids, sources: Sequence[Ids]) -> Ids:
        """Return one part (n,) of a word, where the selector is a term."""
        options = []
        for field in part.options:
            bits = bit_slices.extract(self.store, sources[field.source], field.low, field.width)
            options.append(
                bit_slices.sign_extend(self.store, bits, field.extended) if field.extended else bits
            )
        choice = operations.select(part.options[0].extended or part.options[0].width)
        for bit in range(part.width):
            holds = bit_slices.extract(self.store, selector, part.low + bit, 1)
            known = self.store.are(CONSTANT, holds)
            zeros = self.store.constants(0, 1)
            one = known & (self.store.constant_values(np.where(known, holds, zeros)) == 1)
            options = [
                np.where(
                    known, np.where(one, after, before), _selected(self.store, choice, holds, after, before)
                )
                for before, after in zip(options[::2], options[1::2], strict=True)
            ]
        return options[0]

    def shift(self, plan: Callable[[int], Pieces], width: int, word: Value, amount: Value) -> Value:
        """Move bits; by data, once for each power of two that the amount has."""
        if known_numbers(amount):
            return moving(plan, 1)(self.store, [word, amount])
        bits = width.bit_length() - 1
        result = word
        for bit in range(bits):
            wanted = self.move([Field(bit, 1)], amount)
            result = self.choose(wanted, self.move(plan(1 << bit), result), result)
        more = self.move([Field(bits, amount.width - bits)], amount)
        beyond = self.compare(operations.unsigned(more.width), "ne", more, self.constant(0, more.width))
        return self.choose(beyond, self.move(plan(width), word), result)

    def count_ones(self, width: int, a: Value) -> Value:
        """Add bits."""
        add = operations.ring(32, 0, 2)

        def on_terms(a: Ids) -> Ids:
            bits = (
                bit_slices.zero_extend(self.store, bit_slices.extract(self.store, a, low, 1), 32)
                for low in range(width)
            )
            total = next(bits)
            for bit in bits:
                total = apply(self.store, add, total, bit)
            return total

        return compute(self.store, 32, [a], partial(_ON_NUMBERS.count_ones, width), on_terms)

    def leading_zeros(self, width: int, a: Value) -> Value:
        """Count in numbers alone."""
        refuse = self._refused(f"{self._opcode} of data")
        return compute(self.store, 32, [a], partial(_ON_NUMBERS.leading_zeros, width), refuse)

    def dot(
        self, result: IntegerFormat, left: Sequence[Field], right: Sequence[Field],
        formats: tuple[IntegerFormat, IntegerFormat], a: Value, b: Value, c: Value,
    ) -> Value:  # fmt: skip
        """Apply `operations.dot` to vectors of fields."""
        operation = operations.dot(result, *formats, result, operations.Accumulation("exact", len(left)))

        def on_terms(a: Ids, b: Ids, c: Ids) -> Ids:
            return self.store.apply(operation, self._vectors(a, left), self._vectors(b, right), c)

        on_numbers = partial(_ON_NUMBERS.dot, result, left, right, formats)
        return compute(self.store, result.bits, [a, b, c], on_numbers, on_terms)

    def _vectors(self, words: Ids, fields: Sequence[Field]) -> Ids:
        value = Value(32, np.zeros(len(words), dtype=np.uint64), words)
        elements = [self.move([field], value).as_terms(self.store) for field in fields]
        return self.store.vectors(np.stack(elements, axis=-1))

    def leave_open(self, result: Value, of: OpenResult, where: Callable[..., Any], *operands: Value) -> Value:
        """Return unknown values where the operands are known, and the condition holds."""
        open_ = np.asarray(where(*(operand.numbers for operand in operands)))
        for operand in operands:
            if operand.terms is not None:
                open_ = open_ & (operand.terms == KNOWN)
        return left_unknown(self.store, result, open_, of)


def _power_of_two(value: Value) -> int | None:
    """Return the exponent if a value is one known power of two, greater than 1."""
    if not value.is_known or not len(value) or (value.numbers != value.numbers[0]).any():
        return None
    number = int(value.numbers[0])
    return number.bit_length() - 1 if number > 1 and number & (number - 1) == 0 else None


def _selected(store: TermStore, choice: Operation, holds: Ids, after: Ids, before: Ids) -> Ids:
    """Return `after` where a bit is 1, else `before`: what both are, where they are the same."""
    result = before.copy()
    different = np.flatnonzero(after != before)
    if len(different):
        result[different] = apply(store, choice, holds[different], after[different], before[different])
    return result
