"""Functions of real numbers that a library writes out, with the bits of floats, polynomials and selections.

The part of a term above the one number that all of it depends on is computed on many numbers. If it is a
known function there, but for roundings, it is taken for that; a verdict that rests on this says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from heapq import heappop, heappush
from math import log2
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import UnsupportedError
from ..spec.formats import F32, F64, Format
from . import operations
from .evaluation import evaluate
from .interning import Ids
from .literal_constants import LN_OF_2, literal
from .terms import CONSTANT, LEAVES, NORMAL_FORM, UNDEFINED, VECTOR, Operation, TermStore, bits
from .traversal import fill, operands

MOST_OPERATIONS = 128
"""Operations that a function is written out with."""

_MOST_CUTS = 4
"""Numbers that a term is tried to be a function of."""

_SURELY = 2.0**-20
"""Of a function's value, by which it is off at most where it is written out."""

_FLUSHED = 2.0**-126
"""What subnormal numbers are less than: they may be taken for zeros."""

_NONE = -1


class Written(NamedTuple):
    """A function that is written out.

    Attributes
    ----------
    name : str
        Its name.
    error : float
        By how much of its value it was off at most, where it was tried.
    """

    name: str
    error: float

    def __str__(self) -> str:
        off = f"2^{log2(self.error or 2.0**-53):.1f}"
        return f"{self.name} written out (within {off} of it on the {len(_numbers())} numbers tried)"


class _Known(NamedTuple):
    """A function: its name among operations, a factor, and where it is tried."""

    function: str
    factor: float
    least: float
    greatest: float


_FUNCTIONS: Mapping[str, _Known] = MappingProxyType(
    {
        "log2": _Known("lg2", 1.0, 0.0, np.inf),
        "log": _Known("lg2", float(np.log(2)), 0.0, np.inf),
        "tanh": _Known("tanh", 1.0, -np.inf, np.inf),
        "erf": _Known("erf", 1.0, -np.inf, np.inf),
    }
)


class SoftwareFunctions:
    """Recognises functions that are written out.

    Parameters
    ----------
    store : TermStore
        The terms.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store
        self._of_structure: dict[tuple[Any, ...], Written | None] = {}
        self._known: dict[int, int] = {}
        self._computing = np.zeros(0, dtype=np.int8)

    @property
    def recognised(self) -> tuple[str, ...]:
        """What was taken for a function."""
        return tuple(sorted({str(each) for each in self._of_structure.values() if each is not None}))

    def equal(self, terms: Ids, fmt: Format) -> Ids:
        """Return the functions that terms (n,) of one operation are; -1 where they are none that is known."""
        found = np.full(len(terms), _NONE, dtype=np.int32)
        if fmt == F32 and self._store.operation(int(terms[0])).name == operations.SELECT:
            for place in np.flatnonzero(self._computes(terms)):
                term = int(terms[place])
                if term not in self._known:
                    self._known[term] = self._recognised(term)
                found[place] = self._known[term]
        return found

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
        if not self._store.named(operations.SELECT).any():
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
            written = self.equal(members, F32) if operation.result.bits == F32.bits else made * 0 - 1
            for place in np.flatnonzero(written >= 0):
                made[place] = self._approximate(int(members[place]), known)
            return made

        fill(self._store, terms, table, _NONE, depends, compute)
        found: Ids = table[terms]
        return found

    def _approximate(self, term: int, known: Ids) -> int:
        """Return an approximate function in place of one that is written out."""
        for argument, above in self._cuts(term):
            written = self._of_structure.get(self._structure(argument, above))
            if written is not None:
                return self._made(written.name, int(known[argument]), ".approx")
        raise AssertionError(term)

    def _recognised(self, term: int) -> int:
        for argument, above in self._cuts(term):
            key = self._structure(argument, above)
            if key not in self._of_structure:
                self._of_structure[key] = self._tried(argument, above)
            written = self._of_structure[key]
            if written is not None:
                return self._made(written.name, argument)
        return _NONE

    def _made(self, name: str, argument: int, variant: str = "") -> int:
        function, factor, *_ = _FUNCTIONS[name]
        made = self._store.apply(operations.function(function + variant, F32, F32), argument)
        if factor != 1:
            made = self._store.apply(
                operations.fused(F32, ((F32, F32),)), made, self._store.constants(literal(LN_OF_2, F32), 32)
            )
        return int(made)

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
        numbers = _numbers()
        try:
            words = self._computed(argument, above, numbers.view(np.uint32).astype(np.uint64))
        except UnsupportedError:
            return None
        got = words.astype(np.uint32).view(np.float32).astype(np.float64)
        for name, known in _FUNCTIONS.items():
            some = (numbers > known.least) & (numbers < known.greatest)
            exact = numbers[some].astype(np.float64).view(np.uint64)
            wanted = evaluate(operations.function(known.function, F64, F64), [exact]).view(np.float64)
            wanted = wanted * known.factor
            with np.errstate(all="ignore"):
                off = np.abs(got[some] - wanted)
                relative = np.where(off <= _FLUSHED, 0.0, off / np.abs(wanted))
            if (relative <= _SURELY).all():  # and no NaN among them
                return Written(name, float(relative.max()))
        return None

    def _computed(self, argument: int, above: list[int], words: NDArray[np.uint64]) -> NDArray[np.uint64]:
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
        return values[above[0]]


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
