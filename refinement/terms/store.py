"""The term store: hash-consed expressions over inputs, whole arrays of them at a time.

A term is a number; equal numbers are identical expressions. Its row in the store is an operation and
up to three arguments, each a term, or a vector of terms, or (constants, inputs) a plain number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.open_results import COMPUTED_NAN, OpenResult
from .input_ends import Ends
from .interning import Ids, RowTable

ARGUMENTS = 3
"""The most arguments of an operation."""

CONSTANT = "constant"
INPUT = "input"
UNDEFINED = "undefined"
VECTOR = "vector"
NORMAL_FORM = "normal form"
CONCATENATION = "concatenation"
LEAVES = (CONSTANT, INPUT, UNDEFINED)
"""Operations whose arguments are not terms."""


@cache
def bits(width: int) -> IntegerFormat:
    """Return the format of `width` bits that nobody has interpreted yet."""
    return IntegerFormat(f"b{width}", width, signed=False)


def is_raw(fmt: Format) -> bool:
    """Tell whether a format reads a number modulo a power of two."""
    return fmt == bits(fmt.bits)


@dataclass(frozen=True)
class Operation:
    """The function symbol of a term.

    Attributes
    ----------
    name : str
        ``fma``, ``dot``, ``concatenation``, ….
    result : Format
        Format of the value.
    operands : tuple of Format
        How each argument (each element of a vector argument) is read.
    attribute : hashable
        What else determines the function: a rounding, a comparison, the fields of a concatenation, the
        name of an input.
    """

    name: str
    result: Format
    operands: tuple[Format, ...] = ()
    attribute: Hashable = None

    def __str__(self) -> str:
        detail = "" if self.attribute is None else f"[{self.attribute}]"
        return f"{self.name}{detail}.{self.result}"


def is_no_value(operation: Operation) -> bool:
    """Tell whether a term of an operation is what nobody has written, not merely a value that is open."""
    of = operation.attribute
    return operation.name == UNDEFINED and (not isinstance(of, OpenResult) or of.undefined)


Admitted = Callable[[Mapping[tuple[str, Format, int], int]], Mapping[tuple[str, Format, int], int] | None]
"""From words of inputs to such that meet all conditions on inputs; None where none are found."""


class TermStore:
    """The terms of one verification, hash-consed.

    Attributes
    ----------
    line : int
        The source line that terms made from now on are said to come from.
    open_nans : bool
        Whether no bits are known of a NaN that an operation on constants gives.
    bounded : dict of int to (int, int)
        Least and greatest values of inputs that are integers of which more is known than their formats.
    ends : dict of str to Ends
        The same of whole inputs by name, integers and floats, as the contract's ``[requires]`` has it.
    admitted : callable, optional
        From words of some inputs, by name, format and index, to such that meet all of ``[requires]``; None
        where none are found. Without it there are no conditions.
    required : array of terms
        Comparisons of inputs, which hold by ``[requires]``.
    rounded_literals : set of Fraction
        Numbers of f32 to which formulas round literals.
    zeros : set of int
        Terms that divide and are 0 for all inputs, as their normal forms show: that they are not is no
        hypothesis.
    """

    def __init__(self) -> None:
        self.line = 0
        self.open_nans = False
        self.bounded: dict[int, tuple[int, int]] = {}
        self.ends: dict[str, Ends] = {}
        self.admitted: Admitted | None = None
        self.required: Ids = np.zeros(0, dtype=np.int32)
        self.rounded_literals = set[Fraction]()
        self.zeros = set[int]()
        self.operations: list[Operation] = []
        self._numbers: dict[Operation, int] = {}
        self._table = RowTable(1 + ARGUMENTS)
        self._lines = np.zeros(1024, dtype=np.int32)
        self._widths = np.zeros(0, dtype=np.int32)
        self._vectors: dict[int, RowTable] = {}
        self._undefined = 0
        self._assumed: dict[int, dict[int, int]] = {}

    def __len__(self) -> int:
        return len(self._table)

    # -- making terms
    def number(self, operation: Operation) -> int:
        """Return the number of an operation."""
        number = self._numbers.get(operation)
        if number is None:
            number = self._numbers[operation] = len(self.operations)
            self.operations.append(operation)
            self._widths = np.array([known.result.bits for known in self.operations], dtype=np.int32)
        return number

    def apply(self, operation: Operation, *arguments: Any) -> Ids:
        """Return the terms of an operation on arguments, which broadcast."""
        arrays = np.broadcast_arrays(*(np.asarray(argument, dtype=np.int32) for argument in arguments))
        shape = arrays[0].shape if arrays else ()
        rows = np.full((int(np.prod(shape)), 1 + ARGUMENTS), -1, dtype=np.int32)
        rows[:, 0] = self.number(operation)
        for column, array in enumerate(arrays, start=1):
            rows[:, column] = array.reshape(-1)
        found = self._intern(rows)
        for term, constant in self._assumed.get(int(rows[0, 0]) if len(rows) else -1, {}).items():
            found[found == term] = constant
        return found.reshape(shape)

    def assume(self, term: int, value: int) -> None:
        """Suppose that a term has a value: whenever it is made from now on, the constant is made instead."""
        constant = int(self.constants(value, int(self.widths(term))))
        if constant != term:
            self._assumed.setdefault(int(self.operation_numbers(term)), {})[term] = constant

    def assumed(self) -> list[tuple[int, int]]:
        """Return the terms that are supposed to have a value, and the constants that are made instead."""
        return [pair for pairs in self._assumed.values() for pair in pairs.items()]

    def _intern(self, rows: NDArray[np.int32]) -> Ids:
        before = len(self._table)
        ids = self._table.numbers(rows)
        count = len(self._table)
        if count > len(self._lines):
            self._lines = np.concatenate([self._lines, np.zeros(count, dtype=np.int32)])
        self._lines[before:count] = self.line
        return ids

    def combined_words(self, table: int, words: Sequence[Ids]) -> Ids | None:
        """Return words (n,) combined bit by bit where it is known as a whole; negative elsewhere, or None."""
        return None

    def constants(self, values: Any, width: int) -> Ids:
        """Return constants of `width` bits (at most 64) from unsigned values."""
        words = np.asarray(values, dtype=np.uint64)
        low = (words & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.int32)
        high = (words >> np.uint64(32)).astype(np.uint32).view(np.int32)
        return self.apply(Operation(CONSTANT, bits(width)), low, high)

    def inputs(self, name: str, fmt: Format, indices: Any) -> Ids:
        """Return elements of an input array by their linear indices."""
        return self.apply(Operation(INPUT, fmt, attribute=name), indices)

    def undefined(self, count: int, width: int, of: OpenResult | None = None) -> Ids:
        """Return `count` terms of whose values nothing is known, each different from every other.

        What is not `of` a result that the instruction set leaves open is what nobody has written.
        """
        first, self._undefined = self._undefined, self._undefined + count
        return self.apply(Operation(UNDEFINED, bits(width), attribute=of), first + np.arange(count))

    def computed_nans(self, count: int, fmt: FloatFormat) -> Ids:
        """Return `count` terms of which it is known alone that they are NaNs of a format."""
        first, self._undefined = self._undefined, self._undefined + count
        return self.apply(Operation(UNDEFINED, fmt, attribute=COMPUTED_NAN), first + np.arange(count))

    def are_computed_nans(self, ids: Any, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms are NaNs of a format of which nothing else is known."""
        number = self._numbers.get(Operation(UNDEFINED, fmt, attribute=COMPUTED_NAN), -1)
        found: NDArray[np.bool_] = self.operation_numbers(ids) == number
        return found

    def vectors(self, elements: Any) -> Ids:
        """Return terms (…) that stand for vectors (…, n) of terms."""
        array = np.asarray(elements, dtype=np.int32)
        length = array.shape[-1]
        table = self._vectors.setdefault(length, RowTable(length))
        numbers = table.numbers(array.reshape(-1, length))
        return self.apply(Operation(VECTOR, bits(0), attribute=length), numbers).reshape(array.shape[:-1])

    # -- reading terms
    def operation_numbers(self, ids: Any) -> NDArray[np.int32]:
        """Return the number of each term's operation."""
        numbers: NDArray[np.int32] = self._table.rows[np.asarray(ids), 0]
        return numbers

    def operation(self, term: int) -> Operation:
        """Return one term's operation."""
        return self.operations[int(self._table.rows[term, 0])]

    def arguments(self, ids: Any) -> NDArray[np.int32]:
        """Return the arguments (…, 3) of terms; -1 where there is none."""
        return self._table.rows[np.asarray(ids), 1:]

    def argument(self, ids: Any, column: int) -> NDArray[np.int32]:
        """Return one argument (…,) of terms; -1 where there is none."""
        found: NDArray[np.int32] = self._table.rows[np.asarray(ids), 1 + column]
        return found

    def elements(self, ids: Any) -> NDArray[np.int32]:
        """Return the elements (…, n) of vectors (…) that are all of one length."""
        array = np.asarray(ids, dtype=np.int32)
        numbers = self.operation_numbers(array)
        number = int(numbers.flat[0])
        length = self.operations[number].attribute
        assert isinstance(length, int) and (numbers == number).all()
        return self._vectors[length].rows[self.argument(array, 0)]

    def widths(self, ids: Any) -> NDArray[np.int32]:
        """Return the width of each term in bits."""
        return self._widths[self.operation_numbers(ids)]

    def lines(self, ids: Any) -> NDArray[np.int32]:
        """Return the source line that made each term first."""
        found: NDArray[np.int32] = self._lines[np.asarray(ids)]
        return found

    def named(self, name: str) -> NDArray[np.bool_]:
        """Tell of every operation, by number, whether it has a name."""
        return np.array([operation.name == name for operation in self.operations], dtype=bool)

    def are(self, name: str, ids: Any) -> NDArray[np.bool_]:
        """Tell which terms are of operations with a name."""
        return self.named(name)[self.operation_numbers(ids)]

    def constant_values(self, ids: Any) -> NDArray[np.uint64]:
        """Return the values of terms that are constants (of others, nonsense)."""
        words = self.arguments(ids)[..., :2].astype(np.uint32).astype(np.uint64)
        return words[..., 0] | (words[..., 1] << np.uint64(32))
