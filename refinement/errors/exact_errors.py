"""Exact errors on given inputs: the rational value of a formula, and the result of a kernel.

Both are known only where nothing is left open: sums, products, extrema and conversions to formats of 16
bits and more, without overflow and underflow; of a matrix unit, only sums that are exact in any order.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode
from ...spec.formats import F32, TF32, FloatFormat, Format
from ..terms import operations
from ..terms.assignments import Assignment
from ..terms.evaluation import integers
from ..terms.inputs import Inputs
from ..terms.operations import Sum
from ..terms.store import CONCATENATION, CONSTANT, INPUT, VECTOR, Operation, TermStore
from ..terms.traversal import gathered, operands

_STEP_BITS = 8
"""Conversions to floats of so many bits, or fewer, are functions with steps."""

LITERAL_BITS = 8
"""Significant bits of a literal that is sure to be what a formula says, also multiplied with another one."""

_BITS_MOVED = frozenset((CONSTANT, INPUT, VECTOR, CONCATENATION, operations.BITWISE, operations.EXTEND))
_OF_INTEGERS = frozenset((operations.RING, operations.NEGATE, operations.EXTREMUM, operations.CONVERT))


class OpenValueError(Exception):
    """A term without a certain value on given inputs, or one that violates a hypothesis there."""


class Exact(NamedTuple):
    """A rational number, and the sum of the absolute values of its summands."""

    value: Fraction
    size: Fraction


class ExactValues:
    """Terms evaluated on inputs over the rational numbers.

    Parameters
    ----------
    store : TermStore
        The terms.
    inputs : mapping of str to array
        The encodings of each input.
    functions : collection of str
        Functions whose results the instruction set rounds to nearest.
    """

    def __init__(self, store: TermStore, inputs: Inputs, functions: Collection[str] = ()) -> None:
        self._store, self._assignment, self._functions = store, Assignment(store, inputs), functions
        self._exact: dict[tuple[int, Format], Exact] = {}
        self._certain: set[int] = set()
        self.visited = 0

    def exact(self, term: int, fmt: Format) -> Exact:
        """Return what a term is where nothing rounds, read in a format.

        Raises
        ------
        OpenValueError
            If that is not known, or no finite normal number of the formats that it goes through.
        UnsupportedError
            If a term has no value that can be computed.
        """
        pending = [(term, fmt)]
        while pending:
            one = pending[-1]
            needed = [part for part in self._parts(*one) if part not in self._exact]
            if needed:
                pending += needed
                continue
            pending.pop()
            if one not in self._exact:
                self.visited += 1
                self._exact[one] = self._combined(*one)
        return self._exact[term, fmt]

    def rounded(self, term: int, fmt: Format) -> Fraction:
        """Return what a term must be on hardware, where each operation rounds as the specification says.

        Raises
        ------
        OpenValueError
            If it is left open, or an operation overflows, underflows or has steps.
        UnsupportedError
            If a term has no value that can be computed.
        """
        pending = [term]
        while pending:
            one = pending.pop()
            if one in self._certain:
                continue
            self._certain.add(one)
            self.visited += 1
            operation = self._store.operation(one)
            self._check(operation, one)
            pending += self._arguments(operation, one)
        return self._number(term, fmt)

    @property
    def states_signs(self) -> bool:
        """Whether the terms that were rounded have zeros of known signs: sums of matrix units have not."""
        of_no_sign = (operations.DOT, operations.EXTREMUM)
        return all(self._store.operation(each).name not in of_no_sign for each in self._certain)

    def computed(self, term: int, fmt: Format) -> Fraction:
        """Return what a term is by `evaluation`, where it is a finite normal number; raises as `rounded`."""
        return self._number(term, fmt)

    def distance(self, term: int, fmt: FloatFormat, value: Fraction) -> Fraction:
        """Return how far a term is from a number at least, whatever is left open.

        It is a number of the format that it was rounded to last, before it was widened.
        """
        coarsest = fmt
        while (operation := self._store.operation(term)).result == fmt:
            coarsest = min(coarsest, fmt, key=lambda each: each.precision)
            how = operation.attribute
            widened = isinstance(how, Sum) and (how.products, how.addends) == (0, 1)
            if not widened and operation.name != operations.NEGATE:
                break
            (fmt,) = operation.operands  # type: ignore[assignment]
            term = int(self._store.arguments(term)[0])
        if not value:
            return Fraction(0)
        size, unit = abs(value), Fraction(2) ** (coarsest.minimum_exponent - coarsest.precision + 1)
        while size >= unit * 2**coarsest.precision:
            unit *= 2
        return abs(size - round(size / unit) * unit)

    # -- over the rational numbers
    def _parts(self, term: int, fmt: Format) -> list[tuple[int, Format]]:
        """Return the floating-point numbers that a term is made of."""
        operation = self._store.operation(term)
        if not _computes_floats(operation):
            return []
        if operation.result != fmt:
            raise OpenValueError
        if operation.name == operations.CONVERT and not isinstance(operation.operands[0], FloatFormat):
            return []
        columns = gathered(self._store, operation, np.array([term]))
        read = zip(columns, operation.operands, strict=True)
        return [(each, own) for column, own in read for each in column.reshape(-1).tolist()]

    def _combined(self, term: int, fmt: Format) -> Exact:
        operation = self._store.operation(term)
        if not _computes_floats(operation):
            return self._leaf(term, fmt)
        parts = [self._exact[part] for part in self._parts(term, fmt)]
        match operation.name:
            case operations.FUSED:
                assert isinstance(operation.attribute, Sum)
                found = _summed(parts, operation.attribute.products, adjacent=True)
            case operations.DOT:
                found = _summed(parts, len(parts) // 2, adjacent=False)
            case operations.NEGATE:
                found = Exact(-parts[0].value, parts[0].size)
            case operations.EXTREMUM:
                assert isinstance(operation.attribute, tuple)
                chosen = max if operation.attribute[0] == "max" else min
                found = Exact(chosen(part.value for part in parts), sum((p.size for p in parts), Fraction(0)))
            case operations.CONVERT if parts:
                found = parts[0]
            case operations.CONVERT:
                found = self._converted(operation, int(self._store.arguments(term)[0]))
            case _:
                raise OpenValueError
        _require_normal(found.value, operation.result)
        return found

    def _leaf(self, term: int, fmt: Format) -> Exact:
        """Return a number that is read from inputs, of which only bits were moved, or a constant."""
        self._require_integers(term)
        value = self._number(term, fmt)
        if self._store.operation(term).name == CONSTANT and significant_bits(value) > 2 * LITERAL_BITS:
            raise OpenValueError  # it may be a literal that was rounded
        return Exact(value, abs(value))

    def _converted(self, operation: Operation, argument: int) -> Exact:
        self._require_integers(argument)
        value = Fraction(int(integers(self._words(argument), operation.operands[0])))
        return Exact(value, abs(value))

    def _require_integers(self, term: int) -> None:
        """Check that nothing that is computed with floats is in a term."""
        pending, seen = [term], set[int]()
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            operation = self._store.operation(one)
            formats = (operation.result, *operation.operands)
            whole = operation.name in _OF_INTEGERS and not any(isinstance(f, FloatFormat) for f in formats)
            if operation.name not in _BITS_MOVED and not whole:
                raise OpenValueError
            pending += self._arguments(operation, one)

    # -- as it is rounded
    def _check(self, operation: Operation, term: int) -> None:
        """Check that an operation's result follows from its arguments, and that it breaks no hypothesis."""
        formats = (operation.result, *operation.operands)
        if operation.name in _BITS_MOVED:
            return
        if not any(isinstance(fmt, FloatFormat) for fmt in formats):
            if operation.name not in (*_OF_INTEGERS, operations.DOT):
                raise OpenValueError
            return
        if (
            operation.name in (operations.FUNCTION, operations.QUOTIENT)
            and operation.attribute in self._functions
        ):
            self._number(term, operation.result)  # neither too great nor too small
            return
        if not _computes_floats(operation):
            raise OpenValueError
        if operation.name == operations.CONVERT and not isinstance(operation.operands[0], FloatFormat):
            value = Fraction(int(integers(self._words(int(self._store.arguments(term)[0])), formats[1])))
        else:
            parts = [Exact(each := self._number(*part), abs(each)) for part in self._parts(term, formats[0])]
            if operation.name == operations.DOT:
                self._require_exact_sums(operation, parts)
                return
            products = operation.attribute.products if isinstance(operation.attribute, Sum) else 0
            one = operation.name in (operations.NEGATE, operations.EXTREMUM)
            value = parts[0].value if one else _summed(parts, products, adjacent=True).value
        _require_normal(value, operation.result)
        self._number(term, operation.result)

    def _require_exact_sums(self, operation: Operation, parts: Sequence[Exact]) -> None:
        """Check that a matrix unit's sums are exact in any order: multiples of what its format still has."""
        assert isinstance(operation.result, FloatFormat)
        if any(fmt.bits < 2 * _STEP_BITS for fmt in operation.operands):
            raise OpenValueError  # units add up such products with fewer bits than their result has
        count = len(parts) // 2
        summed = [parts[k].value * parts[count + k].value for k in range(count)] + [parts[-1].value]
        unit = Fraction(1, max(each.denominator for each in summed))
        if sum(map(abs, summed)) > unit * 2**operation.result.precision:
            raise OpenValueError
        for each in summed:
            _require_normal(each, operation.result)

    # -- numbers
    def _arguments(self, operation: Operation, term: int) -> list[int]:
        given = operands(self._store, operation, np.array([term]))
        return [int(each) for some in given for each in some]

    def _words(self, term: int) -> NDArray[np.uint64]:
        return self._assignment.values(np.array([term], dtype=np.int32)).reshape(())

    def _number(self, term: int, fmt: Format) -> Fraction:
        """Return the normal number, or zero, that a term's bits are in a format."""
        if not isinstance(fmt, FloatFormat):
            raise OpenValueError
        words = np.asarray(self._words(term)).astype(fmt.storage)
        value = float(decode(words, fmt))
        if fmt == TF32 and value != float(decode(words, F32)):  # reading an f32 as tf32 rounds
            raise OpenValueError
        if not np.isfinite(value):
            raise OpenValueError
        _require_normal(Fraction(value), fmt)
        return Fraction(value)


def _computes_floats(operation: Operation) -> bool:
    """Tell whether an operation is one of those on floats that are known here."""
    fmt = operation.result
    if not isinstance(fmt, FloatFormat) or fmt.bits <= _STEP_BITS:
        return False
    return operation.name in (
        operations.FUSED,
        operations.DOT,
        operations.NEGATE,
        operations.EXTREMUM,
        operations.CONVERT,
    )


def _summed(parts: Sequence[Exact], products: int, *, adjacent: bool) -> Exact:
    """Return the sum of some products, whose factors are neighbours or in two halves, and of addends."""
    value = size = Fraction(0)
    for k in range(products):
        one, other = (parts[2 * k], parts[2 * k + 1]) if adjacent else (parts[k], parts[products + k])
        value += one.value * other.value
        size += one.size * other.size
    for part in parts[2 * products :]:
        value, size = value + part.value, size + part.size
    return Exact(value, size)


def _require_normal(value: Fraction, fmt: Format) -> None:
    """Check that a number is 0, or neither too great nor too small for a format."""
    assert isinstance(fmt, FloatFormat)
    most: Any = fmt.exact(fmt.largest)
    if value and not Fraction(2) ** fmt.minimum_exponent <= abs(value) <= most:
        raise OpenValueError


def significant_bits(value: Fraction) -> int:
    """Return how many bits the significand of a number with a denominator that is a power of two needs."""
    number = abs(value.numerator)
    return number.bit_length() - ((number & -number).bit_length() - 1) if number else 0
