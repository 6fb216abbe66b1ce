"""libm idioms: real functions expanded as float bits, polynomials and selects.

The part of a term above the one number that all of it depends on is shown to be a known function of that,
but for roundings, for every number there is (`function_proofs`). A verdict that rests on this says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from math import log2
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ....spec.formats import F32, Format
from ...analysis.approximations import SURELY
from ...analysis.required_outcomes import RequiredOutcomes
from ...terms import domains, operations
from ...terms.evaluation import evaluate
from ...terms.interning import Ids
from ...terms.store import (
    CONCATENATION,
    CONSTANT,
    LEAVES,
    NORMAL_FORM,
    UNDEFINED,
    VECTOR,
    Operation,
    TermStore,
    bits,
)
from ...terms.traversal import operands
from .function_proofs import Domain, Proof, count, error_of, proved
from .library_functions import (
    FUNCTIONS,
    QUADRANTS,
    LibraryFunction,
    Reals,
    approximate,
    exact,
    exponential,
    powers,
    scaled,
)
from .quadrants import reduction, takes_quadrant

MOST_OPERATIONS = 128
"""Operations that a function is written out with."""

_MOST_CUTS = 4
"""Numbers that a term is tried to be a function of."""

_SIZES = np.geomspace(2.0**-20, 2.0**20, 81)

_GUESSED = np.concatenate([[1.0, 2.0], _SIZES, -_SIZES]).astype(np.float32)
"""Numbers that tell which function may be written out."""

_PRODUCT, _SUM = operations.fused(F32, ((F32, F32),)), operations.fused(F32, (), (F32, F32))

_ARITHMETIC = (operations.FUSED, operations.NEGATE, operations.QUOTIENT, operations.FUNCTION)
"""What makes a product or a reciprocal; a library makes a power of bits."""

_ROUNDING = 2.0**-23
"""A product may be off by so much of its value: twice one rounding."""

_NONE = -1


class Written(NamedTuple):
    """A recognised expansion of a function.

    Attributes
    ----------
    function : LibraryFunction
        What it is.
    error : float
        By how much of its value it is off at most.
    words : int
        For how many arguments that is shown: for all there are, NaNs apart, which it keeps.
    limit : float
        Below which magnitude its argument has to be.
    """

    function: LibraryFunction
    error: float
    words: int
    limit: float = np.inf

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.name

    def __str__(self) -> str:
        off = f"2^{log2(self.error or 2.0**-53):.1f}"
        below = "" if self.limit == np.inf else f" below {self.limit:g}"
        return f"{self.name} written out (within {off} of it on all {self.words:,} arguments{below})"


class _Cut(NamedTuple):
    """Operations, from the top, and the number that these compute something of.

    What libraries make of an argument is the rest and the multiple of its reduction.
    """

    number: int
    above: list[int]
    multiple: int | None = None

    def given(self, quadrant: int) -> dict[int, int]:
        """Return the word that the multiple is."""
        return {} if self.multiple is None else {self.multiple: quadrant}


_KNOWN: dict[tuple[Any, ...], Written | None] = {}
"""What has been tried, by structure: the same of the terms of any store."""

_ENDS: WeakKeyDictionary[TermStore, dict[int, tuple[int, Written] | None]] = WeakKeyDictionary()
"""The argument and the function whose written form a term ends, None where it ends none, of every store."""

_LIMITED: WeakKeyDictionary[TermStore, dict[int, tuple[int, Written]]] = WeakKeyDictionary()
"""Those of them whose arguments have a limit, whoever recognised them."""


class _Computing(domains.Domain):
    """Whether a term, or what it chooses from, is computed: 1 or 0."""

    dtype, join = np.int8, np.maximum

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[domains.Reading]:
        if operation.name != operations.SELECT:
            return []
        return [(each, read) for each in self.store.arguments(terms)[:, 1:3].T]

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        if operation.name == operations.SELECT:
            return self.join.reduce(self.table()[self.store.arguments(terms)[:, 1:3]], axis=1)
        return int(operation.name not in (CONSTANT, UNDEFINED))


Make = Callable[[TermStore, LibraryFunction, int], int]
"""Makes a function of a term."""


class _Replaced(domains.Rewriting):
    """Terms with functions in place of those written out, of which only the arguments are looked at."""

    def __init__(self, functions: SoftwareFunctions, make: Make) -> None:
        super().__init__(functions.store)
        self._functions, self._make = functions, make

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[domains.Reading]:
        arguments = self._functions.arguments(operation, terms)
        yield arguments[arguments != _NONE], read
        yield from super().depends(operation, terms[arguments == _NONE], read)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        arguments, found = self._functions.arguments(operation, terms), terms.copy()
        for place in np.flatnonzero(arguments != _NONE):
            found[place] = self._functions.function(int(terms[place]), self.table(), self._make)
        rest = arguments == _NONE
        found[rest] = super().transfer(operation, terms[rest], read)
        return found

    def applied(self, operation: Operation, terms: Ids, given: list[Ids]) -> Ids:
        made = super().applied(operation, terms, given)
        return self._functions.without_products(operation, terms, made, self.table(), self._make)


class SoftwareFunctions:
    """Recognises inline expansions of library functions.

    Parameters
    ----------
    store : TermStore
        The terms.

    Attributes
    ----------
    limited : dict of int to (int, Written)
        By term, functions of arguments below a limit, and these arguments.
    """

    def __init__(self, store: TermStore) -> None:
        self.store = store
        self._known: dict[int, int] = {}
        self._ends = _ENDS.setdefault(store, {})
        self.limited = _LIMITED.setdefault(store, {})
        self._used = set[str]()
        self._computing = _Computing(store)
        self._required = RequiredOutcomes(store)

    @property
    def recognised(self) -> tuple[str, ...]:
        """What was taken for a function."""
        return tuple(sorted(self._used))

    def equal(self, terms: Ids, fmt: Format) -> Ids:
        """Return the functions that terms (n,) of one operation are; -1 where they are none that is known."""
        found = np.full(len(terms), _NONE, dtype=np.int32)
        operation = self.store.operation(int(terms[0]))
        if fmt == F32 and (some := self._candidates(operation, terms)) is not None:
            for place in np.flatnonzero(some):
                term = int(terms[place])
                if term not in self._known:
                    self._known[term] = self._recognised(term)
                found[place] = self._known[term]
        return found

    def beside_powers(self, terms: Ids, fmt: Format, powers: Callable[[Ids, Format], Ids]) -> Ids:
        """Return the functions that terms (n,) are, but for products with a power of two made of bits.

        Of these the exponent is known; `powers` returns them, -1 of other words.
        """
        plain = self.scaled_by_bits(terms, fmt)
        for place in np.flatnonzero(plain):
            factors = self.store.arguments(terms[place : place + 1])[0, :2]
            of_bits = factors[self.store.are(CONCATENATION, factors)]
            plain[place] = all(powers(form.reshape(1), fmt)[0] >= 0 for form in of_bits)
        found = np.full(len(terms), _NONE, dtype=np.int32)
        if not plain.all():
            found[~plain] = self.equal(terms[~plain], fmt)
        return found

    def _candidates(self, operation: Operation, terms: Ids) -> NDArray[np.bool_] | None:
        """Tell which terms (n,) of an operation may be the end of what is written out."""
        if operation.name == operations.SELECT:
            return self._computes(terms)
        return self.scaled_by_bits(terms, F32) if operation == _PRODUCT else None

    def scaled_by_bits(self, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
        """Tell which terms (n,) of one operation, read in a format, are products with floats made of bits."""
        if fmt != F32 or self.store.operation(int(terms[0])) != _PRODUCT:
            return np.zeros(len(terms), dtype=bool)
        return self._of_bits(self.store.arguments(terms))

    def _of_bits(self, arguments: Ids) -> NDArray[np.bool_]:
        """Tell in which rows of arguments a factor is put together from bits."""
        return np.asarray(self.store.are(CONCATENATION, arguments[:, :2]).any(axis=1))

    def _computes(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which choices (n,) have something computed among what they choose from.

        A table, too, is written as choices, but of constants.
        """
        return np.asarray(self._computing.values(terms) != 0)

    def replaced(self, terms: Ids, make: Make = approximate) -> Ids:
        """Return terms (n,) with functions, approximate ones, in place of those that are written out."""
        if not any(self.store.named(name).any() for name in (operations.SELECT, CONCATENATION)):
            return terms
        return _Replaced(self, make).values(terms)

    def arguments(self, operation: Operation, terms: Ids) -> Ids:
        """Return of what terms (n,) of one operation are functions; -1 of others."""
        found = np.full(len(terms), _NONE, dtype=np.int32)
        if operation.result.bits == F32.bits:
            for place in np.flatnonzero(self.equal(terms, F32) != _NONE):
                found[place] = self._of(int(terms[place]))[0]
        return found

    def without_products(self, operation: Operation, members: Ids, made: Ids, known: Ids, make: Make) -> Ids:
        """Return what a sum is made into, of which a product is a function that is written out."""
        if operation.operands != (F32, F32, F32) or operation.name != operations.FUSED:
            return made
        arguments = self.store.arguments(members)
        for place in np.flatnonzero(self._of_bits(arguments)):
            product = self.store.apply(_PRODUCT, *arguments[place, :2]).reshape(1)
            if self.equal(product, F32)[0] >= 0:
                function = self.function(int(product[0]), known, make)
                made[place] = self.store.apply(_SUM, function, known[arguments[place, 2]])
        return made

    def function(self, term: int, known: Ids, make: Make) -> int:
        """Return a function in place of one that is written out, of what its argument is known to be."""
        argument, written = self._of(term)
        return make(self.store, written.function, int(known[argument]))

    def _of(self, term: int) -> tuple[int, Written]:
        found = self._ended(term)
        assert found is not None, term
        return found

    def _recognised(self, term: int) -> int:
        found = self._ended(term)
        if found is None:
            return _NONE
        self._used.add(str(found[1]))
        return exact(self.store, found[1].function, found[0])

    def _ended(self, term: int) -> tuple[int, Written] | None:
        """Return the argument and the function whose written form a term ends."""
        if term not in self._ends:
            self._ends[term] = found = next(filter(None, map(self._written, self._cuts(term))), None)
            if found is not None and found[1].limit < np.inf:
                self.limited[term] = found
        return self._ends[term]

    def _written(self, cut: _Cut) -> tuple[int, Written] | None:
        """Return the argument and the function that operations compute of it, whatever that is made of."""
        if cut.multiple is None:
            written = self._known_of(cut, self._domain(cut.number))
            return None if written is None else (cut.number, written)
        reduced = reduction(self.store, cut.number, cut.multiple)
        written = reduced and self._known_of(cut, Domain(-reduced.rest, reduced.rest, nan=True))
        if not reduced or written is None:
            return None
        error, words = written.error + reduced.error, count(-reduced.limit, reduced.limit)
        found = written._replace(error=error, words=words, limit=reduced.limit)
        return (reduced.argument, found) if error <= SURELY else None

    def _known_of(self, cut: _Cut, domain: Domain) -> Written | None:
        """Return the function that operations compute of a number of some domain."""
        key = domain, self._structure(cut)
        if key not in _KNOWN:
            shown = self._shown if cut.multiple is None else self._turned
            try:
                _KNOWN[key] = shown(cut, domain)
            except UnsupportedError:
                _KNOWN[key] = None
        return _KNOWN[key]

    def _cuts(self, term: int) -> Iterator[_Cut]:
        """Yield numbers that all of a term depends on by them alone, or by them and a multiple of π/2.

        What is made of a term has a greater number than that.
        """
        pending, seen, above = [-term], {term}, list[int]()
        cuts = 0
        while pending and len(above) < MOST_OPERATIONS and cuts < _MOST_CUTS:
            top = -heappop(pending)
            operation = self.store.operation(top)
            if above and not pending and operation.result in (F32, bits(32)):
                cuts += 1
                yield _Cut(top, list(above))
            elif above and len(pending) == 1:
                for number, multiple in ((top, -pending[0]), (-pending[0], top)):
                    if takes_quadrant(self.store, above, multiple):
                        yield _Cut(number, list(above), multiple)
            if operation.name in LEAVES or operation.name == NORMAL_FORM:
                return
            above.append(top)
            for operand in self._operands(operation, top):
                if operand not in seen and self.store.operation(operand).name != CONSTANT:
                    seen.add(operand)
                    heappush(pending, -operand)

    def _operands(self, operation: Operation, term: int) -> list[int]:
        given = operands(self.store, operation, np.array([term], dtype=np.int32))
        return [each for some in given for each in some.tolist()]

    def _structure(self, cut: _Cut) -> tuple[Any, ...]:
        """Return what is the same for the same function of whatever number: operations and constants."""
        places: dict[int, Any] = {cut.number: -1} | {term: place for place, term in enumerate(cut.above)}
        places |= {} if cut.multiple is None else {cut.multiple: -2}
        found = []
        for term in cut.above:
            operation = self.store.operation(term)
            given = self._operands(operation, term)
            for operand in given:
                if operand not in places:
                    word = self.store.constant_values(np.array([operand]))
                    places[operand] = self.store.operation(operand), int(word[0])
            found.append((operation, *(places[operand] for operand in given)))
        return tuple(found)

    def _shown(self, cut: _Cut, domain: Domain) -> Written | None:
        """Return the function that operations compute of an argument.

        Numbers tell which function it may be; that it is one is shown for all.
        """
        for function in _likely(domain, self._values(cut, _words(_GUESSED))):
            plain = function.rational and self._has_side(cut, function)
            proof = self._proved(cut, function, domain, _ROUNDING if plain else SURELY)
            if proof is not None:
                return Written(function, proof.error, proof.words)
        return None

    def _turned(self, cut: _Cut, domain: Domain) -> Written | None:
        """Return the sine or cosine that operations compute of the rest and the multiple of an argument."""
        got = self._values(cut, _words(_GUESSED))
        some = (domain.least <= _GUESSED) & (domain.greatest >= _GUESSED)
        for first, function in enumerate(QUADRANTS):
            if error_of(function, _GUESSED[some], got[some]) <= SURELY:
                turned = [*QUADRANTS[first:], *QUADRANTS[:first]]
                proofs = [
                    self._proved(cut, each, domain, SURELY / 2, place) for place, each in enumerate(turned)
                ]
                errors = [proof.error for proof in proofs if proof is not None]
                if len(errors) == len(turned):
                    return Written(function, max(errors), 0)
        return None

    def _proved(
        self, cut: _Cut, function: LibraryFunction, domain: Domain, most: float, quadrant: int = 0
    ) -> Proof | None:
        """Show that operations compute a function of a number, in a quadrant."""
        given = cut.given(quadrant)

        def compute(words: NDArray[np.uint64]) -> Reals:
            return self._values(cut, words, quadrant)

        return proved(self.store, cut.number, cut.above[0], function, domain, compute, most, given)

    def _has_side(self, cut: _Cut, function: LibraryFunction) -> bool:
        """Tell whether a side of a choice is a function by arithmetic alone.

        What else is chosen beside ``x^2`` has to be that, too, and not to 19 bits only.
        """
        values = self._computed(cut, _words(_GUESSED))
        plain = {cut.number}
        for term in reversed(cut.above):
            operation = self.store.operation(term)
            given = [operand for operand in self._operands(operation, term) if operand in values]
            if operation.name in _ARITHMETIC and plain.issuperset(given):
                plain.add(term)
        sides = {
            each
            for term in cut.above
            if self.store.operation(term).name == operations.SELECT
            for each in self.store.arguments(term)[1:3].tolist()
        }
        return any(
            error_of(function, _GUESSED, _numbers(values[side])) <= SURELY
            for side in sides & plain - {cut.number}
        )

    def _domain(self, argument: int) -> Domain:
        """Return between which numbers an argument is, by ``[requires]``, as clamped, or as a magnitude."""
        ends = self._required.values(np.array([argument], dtype=np.int32), F32)[0]
        known = not np.isnan(ends).any()
        (least, greatest), nan = ends.tolist() if known else (-np.inf, np.inf), not known
        operation = self.store.operation(argument)
        if operation.name == operations.EXTREMUM and operation.result == F32:
            assert isinstance(operation.attribute, tuple)
            which, propagates, _ = operation.attribute
            sides = self.store.arguments(np.array([argument]))[0, :2]
            limits = sides[self.store.are(CONSTANT, sides)]
            opposites = self.store.apply(operations.negate(F32), sides)
            if which == "max" and (opposites == sides[::-1]).any():
                least = max(least, 0.0)
            numbers = self.store.constant_values(limits).astype(np.uint32).view(np.float32)
            for limit in numbers[~np.isnan(numbers)].tolist():
                nan &= propagates
                if which == "max":
                    least = max(least, limit)
                else:
                    greatest = min(greatest, limit)
        return Domain(least, greatest, nan)

    def _values(self, cut: _Cut, words: NDArray[np.uint64], quadrant: int = 0) -> Reals:
        """Return the numbers that operations are for words of their number."""
        return _numbers(self._computed(cut, words, quadrant)[cut.above[0]])

    def _computed(
        self, cut: _Cut, words: NDArray[np.uint64], quadrant: int = 0
    ) -> dict[int, NDArray[np.uint64]]:
        """Return what operations, and the constants in them, are for words of their number."""
        values = {cut.number: words}
        values |= {term: np.full_like(words, word) for term, word in cut.given(quadrant).items()}

        def value(term: int) -> NDArray[np.uint64]:
            if term not in values:
                values[term] = np.broadcast_to(self.store.constant_values(np.array([term])), words.shape)
            return values[term]

        for term in reversed(cut.above):
            operation = self.store.operation(term)
            given = [value(operand) for operand in self._operands(operation, term)]
            values[term] = (
                np.stack(given, axis=-1) if operation.name == VECTOR else evaluate(operation, given)
            )
        return values


def _likely(domain: Domain, got: Reals) -> list[LibraryFunction]:
    """Return the functions that values are near, those at `_GUESSED`."""
    of_number = exponential(float(got[0]))
    functions = [*FUNCTIONS, *powers(float(got[1])), *([] if of_number is None else [of_number])]
    some = (domain.least <= _GUESSED) & (domain.greatest >= _GUESSED)
    multiples = (scaled(function, _GUESSED[some].astype(np.float64), got[some]) for function in FUNCTIONS)
    return [
        function
        for function in (*functions, *filter(None, multiples))
        if (some & (function.least <= _GUESSED) & (function.greatest >= _GUESSED)).any()
        and error_of(function, _GUESSED[some], got[some]) <= SURELY
    ]


def _numbers(words: NDArray[np.uint64]) -> Reals:
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return words.astype(np.uint32).view(np.float32).astype(np.float64)


def _words(numbers: NDArray[np.float32]) -> NDArray[np.uint64]:
    return numbers.view(np.uint32).astype(np.uint64)
