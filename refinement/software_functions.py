"""Functions of real numbers that a library writes out, with the bits of floats, polynomials and selections.

The part of a term above the one number that all of it depends on is computed on many numbers. If it is a
known function there, but for roundings, it is taken for that; a verdict that rests on this says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from heapq import heappop, heappush
from math import log2
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import UnsupportedError
from ..spec.formats import F32, Format
from . import operations
from .approximations import SURELY
from .evaluation import evaluate, order
from .interning import Ids
from .library_functions import FUNCTIONS, LibraryFunction, approximate, exact, exponential, powers, values
from .terms import CONCATENATION, CONSTANT, LEAVES, NORMAL_FORM, UNDEFINED, VECTOR, Operation, TermStore, bits
from .traversal import fill, leaves_of, operands
from .turning_points import turning_points

MOST_OPERATIONS = 128
"""Operations that a function is written out with."""

_MOST_CUTS = 4
"""Numbers that a term is tried to be a function of."""

_OVERFLOWING = (1 - 2.0**-20) * 2.0**128
"""From where on infinity may stand for a number."""

_FLUSHED = 2.0**-125
"""What values of subnormal numbers are less than, about: such numbers may be taken for zeros."""

_INFINITIES = np.array([-np.inf, np.inf], dtype=np.float32).view(np.uint32)

_SAMPLE = 256
"""Numbers on which it mostly shows that something is none of the functions."""

_PRODUCT, _SUM = operations.fused(F32, ((F32, F32),)), operations.fused(F32, (), (F32, F32))

_NONE = -1


class Written(NamedTuple):
    """A function that is written out.

    Attributes
    ----------
    function : LibraryFunction
        What it is.
    error : float
        By how much of its value it was off at most, where it was tried.
    tried : int
        On how many numbers it was.
    of_infinities : bool
        Whether it is right of infinite arguments too.
    """

    function: LibraryFunction
    error: float
    tried: int
    of_infinities: bool

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.name

    def __str__(self) -> str:
        off = f"2^{log2(self.error or 2.0**-53):.1f}"
        return f"{self.name} written out (within {off} of it on the {self.tried} numbers tried)"


_KNOWN: WeakKeyDictionary[TermStore, dict[tuple[Any, ...], Written | None]] = WeakKeyDictionary()
"""What has been tried of the terms of a store."""


class SoftwareFunctions:
    """Recognises functions that are written out.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._of_structure = _KNOWN.setdefault(store, {})
        self._known: dict[int, int] = {}
        self._used = set[str]()
        self._computing = np.zeros(0, dtype=np.int8)

    @property
    def recognised(self) -> tuple[str, ...]:
        """What was taken for a function."""
        return tuple(sorted(self._used))

    def equal(self, terms: Ids, fmt: Format) -> Ids:
        """Return the functions that terms (n,) of one operation are; -1 where they are none that is known."""
        found = np.full(len(terms), _NONE, dtype=np.int32)
        operation = self._store.operation(int(terms[0]))
        if fmt == F32 and (some := self._candidates(operation, terms)) is not None:
            for place in np.flatnonzero(some):
                term = int(terms[place])
                if term not in self._known:
                    self._known[term] = self._recognised(term)
                found[place] = self._known[term]
        return found

    def _candidates(self, operation: Operation, terms: Ids) -> NDArray[np.bool_] | None:
        """Tell which terms (n,) of an operation may be the end of what is written out."""
        if operation.name == operations.SELECT:
            return self._computes(terms)
        if operation != _PRODUCT:
            return None
        return self._of_bits(self._store.arguments(terms))

    def _of_bits(self, arguments: Ids) -> NDArray[np.bool_]:
        """Tell in which rows of arguments a factor is put together from bits."""
        return np.asarray(self._store.are(CONCATENATION, arguments[:, :2]).any(axis=1))

    def _computes(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which choices (n,) have something computed among what they choose from.

        A table, too, is written as choices, but of constants.
        """
        store, known = self._store, self._computing
        table = np.full(len(store), _NONE, dtype=np.int8)
        table[: len(known)] = known

        def depends(operation: Operation, members: Ids) -> list[Ids]:
            return list(store.arguments(members)[:, 1:3].T) if operation.name == operations.SELECT else []

        def compute(operation: Operation, members: Ids, found: NDArray[np.int8]) -> NDArray[np.int8]:
            if operation.name == operations.SELECT:
                return np.maximum(*(found[each] for each in depends(operation, members)))
            return np.full(len(members), operation.name not in (CONSTANT, UNDEFINED), dtype=np.int8)

        fill(store, terms, table, _NONE, depends, compute)
        self._computing = table
        return np.asarray(table[terms] == 1)

    def replaced(self, terms: Ids) -> Ids:
        """Return terms (n,) with approximate functions in place of those that are written out."""
        if not any(self._store.named(name).any() for name in (operations.SELECT, CONCATENATION)):
            return terms
        table = np.full(len(self._store), _NONE, dtype=np.int32)

        def depends(operation: Operation, members: Ids) -> list[Ids]:
            return operands(self._store, operation, members)

        def compute(operation: Operation, members: Ids, known: Ids) -> Ids:
            if operation.name in LEAVES or operation.name == NORMAL_FORM:
                return members
            if operation.name == VECTOR:
                return self._store.vectors(known[self._store.elements(members)])
            arguments = self._store.arguments(members).copy()
            for column, each in enumerate(depends(operation, members)):
                arguments[:, column] = known[each]
            made = self._store.apply(operation, *(column for column in arguments.T if (column >= 0).all()))
            written = self.equal(members, F32) if operation.result.bits == F32.bits else made * 0 + _NONE
            for place in np.flatnonzero(written >= 0):
                made[place] = self._approximate(int(members[place]), known)
            return self._without_products(operation, members, made, known)

        fill(self._store, terms, table, _NONE, depends, compute)
        found: Ids = table[terms]
        return found

    def _without_products(self, operation: Operation, members: Ids, made: Ids, known: Ids) -> Ids:
        """Return what a sum is made into, of which a product is a function that is written out."""
        if operation.operands != (F32, F32, F32) or operation.name != operations.FUSED:
            return made
        arguments = self._store.arguments(members)
        for place in np.flatnonzero(self._of_bits(arguments)):
            product = self._store.apply(_PRODUCT, *arguments[place, :2]).reshape(1)
            if self.equal(product, F32)[0] >= 0:
                function = self._approximate(int(product[0]), known)
                made[place] = self._store.apply(_SUM, function, known[arguments[place, 2]])
        return made

    def _approximate(self, term: int, known: Ids) -> int:
        """Return an approximate function in place of one that is written out."""
        for argument, above in self._cuts(term):
            written = self._written(argument, above)
            if written is not None:
                return approximate(self._store, written.function, int(known[argument]))
        raise AssertionError(term)

    def _recognised(self, term: int) -> int:
        for argument, above in self._cuts(term):
            written = self._written(argument, above)
            if written is not None:
                self._used.add(str(written))
                return exact(self._store, written.function, argument)
        return _NONE

    def _written(self, argument: int, above: list[int]) -> Written | None:
        """Return the function that operations compute of an argument, whatever that is made of."""
        key = self._key(argument, above)
        if key not in self._of_structure:
            self._of_structure[key] = self._tried(argument, above)
        written = self._of_structure[key]
        if written is None or written.of_infinities or not self._has_infinities(argument):
            return written
        return None

    def _has_infinities(self, argument: int) -> bool:
        """Tell whether something that a term is made of is an infinite constant."""
        found = leaves_of(self._store, np.array([argument], dtype=np.int32))
        words = self._store.constant_values(found[self._store.are(CONSTANT, found)])
        return bool(np.isin(words, _INFINITIES).any())

    def _cuts(self, term: int) -> Iterator[tuple[int, list[int]]]:
        """Yield numbers that all of a term depends on by them alone, and the operations above, from the top.

        What is made of a term has a greater number than that.
        """
        pending, seen, above = [-term], {term}, list[int]()
        cuts = 0
        while pending and len(above) < MOST_OPERATIONS and cuts < _MOST_CUTS:
            top = -heappop(pending)
            operation = self._store.operation(top)
            if above and not pending and operation.result in (F32, bits(32)):
                cuts += 1
                yield top, list(above)
            if operation.name in LEAVES or operation.name == NORMAL_FORM:
                return
            above.append(top)
            for each in self._operands(operation, top):
                if each not in seen and self._store.operation(each).name != CONSTANT:
                    seen.add(each)
                    heappush(pending, -each)

    def _operands(self, operation: Operation, term: int) -> list[int]:
        given = operands(self._store, operation, np.array([term], dtype=np.int32))
        return [each for some in given for each in some.tolist()]

    def _key(self, argument: int, above: list[int]) -> tuple[Any, ...]:
        return self._limits(argument), self._structure(argument, above)

    def _structure(self, argument: int, above: list[int]) -> tuple[Any, ...]:
        """Return what is the same for the same function of whatever argument."""
        places = {argument: -1} | {term: place for place, term in enumerate(above)}
        return tuple(
            (
                number,
                *(places.get(each, (each,)) for each in self._operands(self._store.operation(term), term)),
            )
            for term, number in zip(above, self._store.operation_numbers(above).tolist(), strict=True)
        )

    def _tried(self, argument: int, above: list[int]) -> Written | None:
        """Return the function that operations compute of an argument."""
        limits = least, greatest = self._limits(argument)
        numbers = _numbers()[(_numbers() >= least) & (_numbers() <= greatest)]
        ends = np.array([each for each in limits if np.isfinite(each)], dtype=np.float32)
        numbers = np.concatenate([numbers, ends])  # a clamp makes its limit of many numbers
        some = np.concatenate([[1.0, 2.0], numbers[:: len(numbers) // _SAMPLE + 1]]).astype(np.float32)
        try:
            got = self._values(argument, above, some)
            of_number = exponential(float(got[0]))
            functions = [*FUNCTIONS, *powers(float(got[1])), *([] if of_number is None else [of_number])]
            likely = [each for each in functions if _error(each, some[2:], got[2:]) <= SURELY]
            if likely:
                numbers = np.concatenate([numbers, self._turning_points(argument, above, numbers)])
                got = self._values(argument, above, numbers)
        except UnsupportedError:
            return None
        for function in likely if len(numbers) >= _SAMPLE else ():
            error = _error(function, numbers, got)
            if error <= SURELY:
                ends = np.array([each for each in limits if np.isinf(each)], dtype=np.float32)
                of_infinities = _equal(function, ends, self._values(argument, above, ends))
                return Written(function, error, len(numbers), of_infinities)
        return None

    def _turning_points(
        self, argument: int, above: list[int], numbers: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """Return numbers, among others, at which the comparisons above an argument change their outcome."""
        compared = [each for each in above if self._store.operation(each).name == operations.COMPARE]

        def sides(numbers: NDArray[np.float32]) -> NDArray[np.int8]:
            values = self._computed(argument, above, numbers.view(np.uint32).astype(np.uint64))
            found = np.zeros((len(compared), len(numbers)), dtype=np.int8)
            for row, each in enumerate(compared):
                operation = self._store.operation(each)
                given = [values[side] for side in self._operands(operation, each)]
                found[row] = order(operation.operands[0], *given)
            return found

        return turning_points(sides, numbers)

    def _limits(self, argument: int) -> tuple[float, float]:
        """Return between which numbers an argument is, where it is clamped."""
        least, greatest = -np.inf, np.inf
        operation = self._store.operation(argument)
        if operation.name == operations.EXTREMUM and operation.result == F32:
            assert isinstance(operation.attribute, tuple)
            sides = self._store.arguments(np.array([argument]))[0, :2]
            limits = sides[self._store.are(CONSTANT, sides)]
            for word in self._store.constant_values(limits).astype(np.uint32):
                limit = float(word.view(np.float32))
                if operation.attribute[0] == "max":
                    least = limit
                else:
                    greatest = limit
        return least, greatest

    def _values(self, argument: int, above: list[int], numbers: NDArray[np.float32]) -> NDArray[np.float64]:
        words = self._computed(argument, above, numbers.view(np.uint32).astype(np.uint64))[above[0]]
        return words.astype(np.uint32).view(np.float32).astype(np.float64)

    def _computed(
        self, argument: int, above: list[int], words: NDArray[np.uint64]
    ) -> dict[int, NDArray[np.uint64]]:
        """Return what operations, and the constants in them, are for words of their argument."""
        values: dict[int, NDArray[np.uint64]] = {argument: words}

        def value(term: int) -> NDArray[np.uint64]:
            if term not in values:
                values[term] = np.broadcast_to(self._store.constant_values(np.array([term])), words.shape)
            return values[term]

        for term in reversed(above):
            operation = self._store.operation(term)
            given = [value(each) for each in self._operands(operation, term)]
            values[term] = (
                np.stack(given, axis=-1) if operation.name == VECTOR else evaluate(operation, given)
            )
        return values


def _error(function: LibraryFunction, numbers: NDArray[np.float32], got: NDArray[np.float64]) -> float:
    """Return how far values are off at most, as a part: nothing where both overflow, or nearly underflow.

    It is no number where a value is none, and infinite where there is none. At the ends of where the function
    has values it may be infinite.
    """
    inside = (numbers >= function.least) & (numbers <= function.greatest)
    if not inside.any():
        return np.inf
    got, wanted = got[inside], values(function, numbers[inside])
    with np.errstate(all="ignore"):
        off = np.abs(got - wanted)
        relative = np.where(off <= _FLUSHED, 0.0, off / np.abs(wanted))
    beyond = (np.abs(wanted) >= _OVERFLOWING) & np.isinf(got) & ((got > 0) == (wanted > 0))
    return float(np.where(beyond, 0.0, relative).max())


def _equal(function: LibraryFunction, numbers: NDArray[np.float32], got: NDArray[np.float64]) -> bool:
    """Tell whether values are the function's, as f32 has them, wherever it has one."""
    inside = (numbers >= function.least) & (numbers <= function.greatest)
    wanted = values(function, numbers).astype(np.float32)
    return bool((got == wanted)[inside & ~np.isnan(wanted)].all())


@cache
def _numbers() -> NDArray[np.float32]:
    """Return numbers of every size and sign, and many about 1."""
    random = np.random.default_rng(1)
    exponents = np.repeat(np.arange(1, 255, dtype=np.uint32), 96)
    fractions = random.integers(0, 1 << 23, len(exponents), dtype=np.uint32)
    fractions[::96], fractions[1::96] = 0, (1 << 23) - 1
    of_every_size = (exponents << np.uint32(23) | fractions).view(np.float32)
    about_1 = np.linspace(0.25, 4, 1 << 14, dtype=np.float32)
    subnormal = random.integers(1, 1 << 23, 64, dtype=np.uint32).view(np.float32)
    positive = np.concatenate([of_every_size, about_1, subnormal])
    return np.concatenate([positive, -positive])
