"""Fault localisation of a wrong product: the line that multiplied, or that loaded the operand.

A product that should not be there is followed down the kernel's terms to the operation that multiplies
its factors. If that operation elsewhere multiplies the very factor that is wanted here, its operands are
exchanged; else whatever brought the wrong factor there is at fault.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..normal_forms.readings import Quantifier
from ..terms.domains import Domain
from ..terms.interning import Ids
from ..terms.operations import DOT, FUSED, RING, SCALED_DOT, Sum
from ..terms.store import INPUT, LEAVES, NORMAL_FORM, UNDEFINED, VECTOR, Operation, TermStore
from ..terms.traversal import leaves_of, operands
from .diagnosis import Monomial, paired

_MOST_LEAVES = 7
_STEPS = 100_000
"""Terms that are looked at on the way down."""

_WORD = 32
"""Bits of a register."""

PRODUCTS = 2
"""Products of an element that are followed."""

_Cover = NDArray[np.uint8]
"""By term: on which of some leaves it depends, as bits."""


@dataclass(frozen=True)
class Fetches:
    """The input terms that each line loaded.

    Attributes
    ----------
    memory, shared : mapping of int to array
        From the kernel's arrays, and from memory that its threads share.
    """

    memory: Mapping[int, Ids]
    shared: Mapping[int, Ids]

    def lines(self, term: int) -> list[int]:
        """Return the lines that fetched a term last: from shared memory, if any did."""
        found = [
            [line for line, terms in each.items() if term in terms] for each in (self.shared, self.memory)
        ]
        return found[0] or found[1]

    def of_memory(self, term: int) -> list[int]:
        """Return the lines that loaded a term from the kernel's arrays."""
        return [line for line, terms in self.memory.items() if term in terms]


@dataclass(frozen=True)
class Fault:
    """A product with a wrong factor.

    Attributes
    ----------
    line : int
        Of the operation that multiplies its factors.
    used, wanted : int, optional
        The input that is wrong, and the one that should be there.
    made : int
        The line that made the factor of an input, 0 where the factor is the input.
    across : (int, int), optional
        The other factor, and the one that should be there, if it may as well be that one that is wrong: of
        products whose factors are all there, but paired otherwise.
    """

    line: int
    used: int | None
    wanted: int | None
    made: int
    across: tuple[int, int] | None = None


class FaultLocator:
    """Finds the lines at fault for wrong elements.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    """

    def __init__(self, quantifier: Quantifier) -> None:
        self._quantifier, self._store = quantifier, quantifier.store
        self._factors: dict[int, Ids] = {}

    def undefined(self, difference: Sequence[Monomial]) -> int | None:
        """Return the term of what nobody has written or stated, in a product that should not be there."""
        for monomial in difference:
            if monomial.contract == 0:
                factors = self._quantifier.terms(np.array(monomial.atoms, dtype=np.int64)).tolist()
                terms = [self._quantifier.origin(factor) or factor for factor in factors]
                leaves = leaves_of(self._store, np.array(terms, dtype=np.int32))
                unwritten = leaves[self._store.are(UNDEFINED, leaves)]
                if len(unwritten):
                    return int(unwritten[0])
        return None

    def faults(self, term: int, difference: Sequence[Monomial]) -> list[Fault]:
        """Return what is wrong with the first products in which a term differs from what it is to be."""
        found = []
        for used, wanted in paired(difference)[:PRODUCTS]:
            apart = [set(one.atoms) - set(other.atoms) for one, other in ((used, wanted), (wanted, used))]
            wrong, right = (self._input(each) for each in apart)
            leaves = self._leaves(used.atoms)
            if leaves:
                fault = self._fault(term, leaves, wrong, right, counted=used is wanted)
                found.append(replace(fault, across=self._across(used, apart[0], difference)))
        return found

    def _across(
        self, used: Monomial, wrong: set[int], difference: Sequence[Monomial]
    ) -> tuple[int, int] | None:
        """Return the factor beside a wrong one, and the one with which that is to be multiplied instead."""
        lacking = (
            monomial
            for monomial in difference
            if monomial.kernel == 0 and wrong and wrong <= set(monomial.atoms)
        )
        if (other := next(lacking, None)) is None:
            return None
        sides = (set(used.atoms) - set(other.atoms), set(other.atoms) - set(used.atoms))
        factor, partner = (self._input(side) for side in sides)
        return None if factor is None or partner is None else (factor, partner)

    def line(self, faults: Sequence[Fault], fault: Fault, fetches: Fetches) -> int:
        """Return the line that is at fault.

        Parameters
        ----------
        faults : sequence of Fault
            All that are known.
        fault : Fault
            One of them.
        fetches : Fetches
            By the threads concerned.
        """
        if fault.across and self._disordered(fault.line, fault.used) < self._disordered(
            fault.line, fault.across[0]
        ):
            fault = replace(fault, used=fault.across[0], wanted=fault.across[1])
        if fault.used is None:
            return fault.made or fault.line
        if fault.wanted is not None and not fetches.of_memory(fault.wanted):
            lines = fetches.of_memory(fault.used)
            return max(lines, key=lambda line: _nearness(line, fault.line), default=fault.line)
        if fault.made and (fault.wanted is None or self._together(fault.used, fault.wanted)):
            here = [each for each in faults if each.line == fault.line]
            exchanged = {each.used for each in here} == {each.wanted for each in here}
            return fault.line if exchanged else fault.made
        factors = self._multiplied(fault.line)
        if not fault.made and fault.wanted is not None and self._together(fault.used, fault.wanted):
            return fault.line
        alone = len({each.line for each in faults}) == 1
        if alone and fault.wanted is not None and fault.wanted in factors:
            return fault.line
        return _nearest(fetches, fault, factors)

    def pattern(self, fault: Fault, loaded: int) -> Hashable:
        """Return what faults have in common that come of one cause, given the line that is at fault.

        That is from where to where an operation moves an input, or of which array a wrong one is loaded.
        """
        if fault.used is None or fault.wanted is None:
            return fault
        terms = np.array([fault.used, fault.wanted])
        names = tuple(str(self._store.operation(int(term)).attribute) for term in terms)
        used, wanted = self._store.arguments(terms)[:, 0].tolist()
        return (*names, abs(used - wanted)) if loaded == fault.line else names

    def makes(self, difference: Sequence[Monomial]) -> bool:
        """Tell whether the kernel computes, of an element that differs, the first product that it lacks."""
        wanted = next((monomial for monomial in difference if monomial.kernel == 0), None)
        leaves = [] if wanted is None else self._leaves(wanted.atoms)
        if not leaves:
            return False
        terms = np.arange(len(self._store), dtype=np.int32)
        cover = self._covers(terms[~self._store.are(VECTOR, terms)], leaves)  # a normal form's are no terms'
        everything = (1 << len(leaves)) - 1
        for x, y in self._multiplications(terms[self._store.lines(terms) > 0]):
            whole = (cover[x] | cover[y]) == everything
            if (whole & (cover[x] != everything) & (cover[y] != everything)).any():
                return True
        return False

    def accumulation(self, term: int) -> int:
        """Return the line of the innermost sum whose terms were added one after the other.

        That is where a product is missing of which nothing else is known.
        """
        node, line = term, 0
        for _ in range(_STEPS):
            operation = self._store.operation(node)
            if operation.name in LEAVES:
                break
            products, addends = self._parts(operation, node)
            made = int(self._store.lines(node))
            sums = operation.name in (DOT, SCALED_DOT) or (products and addends)
            following = [addend for addend in addends if self._store.operation(addend).name not in LEAVES]
            if sums and any(self._store.operation(each) == operation for each in following):
                return made
            line = made if sums else line or made
            inside = following or [each for product in products for each in product.tolist()]
            inside = [each for each in inside if self._store.operation(each).name not in LEAVES]
            if not inside:
                break
            node = inside[0]
        return line

    # -- details
    def _input(self, atoms: set[int]) -> int | None:
        """Return the one input that some quantities, one factor of a product, depend on."""
        leaves = self._leaves(tuple(atoms))
        return leaves[0] if len(leaves) == 1 else None

    def _together(self, one: int, other: int) -> bool:
        """Tell whether two inputs lie in one word of memory, so that whoever loads one has both."""
        operations = [self._store.operation(term) for term in (one, other)]
        if operations[0] != operations[1]:
            return False
        width = operations[0].result.bits
        places = self._store.arguments(np.array([one, other]))[:, 0] * width // _WORD
        return width < _WORD and int(places[0]) == int(places[1])

    def _leaves(self, atoms: Sequence[int]) -> list[int]:
        """Return the inputs that quantities depend on; none if they are too many to follow."""
        found: dict[int, None] = {}
        pending = [int(term) for term in self._quantifier.terms(np.array(atoms, dtype=np.int64))]
        steps = 0
        while pending and steps < _STEPS:
            steps += 1
            term = pending.pop()
            operation = self._store.operation(term)
            if operation.name == INPUT:
                found[term] = None
            elif operation.name == NORMAL_FORM:
                origin = self._quantifier.origin(term)
                pending += [] if origin is None else [origin]
            elif operation.name not in LEAVES:
                some = np.array([term], dtype=np.int32)
                for operand in operands(self._store, operation, some):
                    pending += operand.tolist()
            if len(found) > _MOST_LEAVES:
                return []
        return list(found)

    def _cover(self, root: int, leaves: Sequence[int]) -> _Cover:
        return self._covers(np.array([root], dtype=np.int32), leaves)

    def _covers(self, roots: Ids, leaves: Sequence[int]) -> _Cover:
        domain = _Covers(self._store, leaves)
        domain.fill(roots)
        return domain.table()

    def _fault(
        self, root: int, leaves: Sequence[int], wrong: int | None, right: int | None, *, counted: bool
    ) -> Fault:
        """Follow a product down to the operation that multiplies its factors."""
        cover = self._cover(root, leaves)
        want, node, line, made = (1 << len(leaves)) - 1, root, 0, 0
        bit = 1 << leaves.index(wrong) if wrong in leaves else 0
        for _ in range(_STEPS):
            operation = self._store.operation(node)
            if operation.name in LEAVES:
                break
            line = int(self._store.lines(node)) or line
            products, addends = self._parts(operation, node)
            covers = [np.bitwise_or.reduce(cover[product]) & want for product in products]
            combining = [
                product
                for product, covered in zip(products, covers, strict=True)
                if covered == want and not (cover[product] & want == want).any()
            ]
            if combining:
                factors = combining[0]
                nested = [each for each in factors.tolist() if int(cover[each] & want).bit_count() > 1]
                nested = [each for each in nested if not bit or cover[each] & bit]
                if nested:
                    node, want = nested[0], int(cover[nested[0]]) & want
                    continue
                suspects = [each for each in factors.tolist() if not bit or cover[each] & bit]
                made = max((self._made(cover, suspect, bit or want) for suspect in suspects), default=0)
                break
            inside = [addend for addend in addends if cover[addend] & want == want]
            inside += [
                each for product in products for each in product.tolist() if cover[each] & want == want
            ]
            if not inside or (counted and len(inside) > 1):
                break
            node = inside[0]
        return Fault(line, wrong, right, made)

    def _made(self, cover: _Cover, factor: int, bits: int) -> int:
        """Return the line that first computed on an input on its way to a factor; 0 if none did."""
        node, line = factor, 0
        for _ in range(_STEPS):
            operation = self._store.operation(node)
            if operation.name in LEAVES:
                break
            line = int(self._store.lines(node)) or line
            some = operands(self._store, operation, np.array([node], dtype=np.int32))
            inside = [int(term) for terms in some for term in terms if cover[term] & bits]
            if not inside:
                break
            node = inside[0]
        return line

    def _parts(self, operation: Operation, node: int) -> tuple[list[Ids], list[int]]:
        """Return the factors of each product that a term is the sum of, and what else it depends on."""
        arguments = self._store.arguments(np.array([node]))[0]
        if operation.name in (DOT, SCALED_DOT):
            sides = [self._store.elements(arguments[[column]])[0] for column in (0, 1)]
            addend = int(arguments[2])
            if operation.name == SCALED_DOT:
                addend, *scales = self._store.elements(arguments[[2]])[0].tolist()
                for scale in scales:
                    factors = self._store.elements(np.array([scale]))[0]
                    sides.append(np.repeat(factors, len(sides[0]) // len(factors)))
            return list(np.stack(sides, axis=1)), [addend]
        some = [int(t) for operand in operands(self._store, operation, np.array([node])) for t in operand]
        if operation.name in (FUSED, RING):
            assert isinstance(operation.attribute, Sum)
            pairs = 2 * operation.attribute.products
            return [np.array(some[i : i + 2]) for i in range(0, pairs, 2)], some[pairs:]
        return [], some

    def _disordered(self, line: int, factor: int | None) -> bool:
        """Tell whether a line's vectors with a factor have their inputs in another order than memory."""
        terms = np.flatnonzero(self._store.lines(np.arange(len(self._store))) == line).astype(np.int32)
        terms = terms[self._store.are(DOT, terms)]
        for column in (0, 1) if len(terms) else ():
            vectors = self._store.elements(self._store.arguments(terms)[:, column])
            found = vectors[(vectors == factor).any(axis=1)]
            if len(found) and self._store.are(INPUT, found).all():
                return bool((np.diff(self._store.arguments(found)[..., 0]) < 0).any())
        return False

    def _multiplied(self, line: int) -> Ids:
        """Return everything that the operations of a line multiply."""
        if line not in self._factors:
            terms = np.flatnonzero(self._store.lines(np.arange(len(self._store))) == line).astype(np.int32)
            found = [np.empty(0, dtype=np.int32), *self._all_factors(terms)]
            self._factors[line] = np.unique(np.concatenate(found))
        return self._factors[line]

    def _multiplications(self, terms: Ids) -> Iterator[tuple[Ids, Ids]]:
        """Yield the factors, in pairs of arrays, of the products that terms are sums of."""
        numbers = self._store.operation_numbers(terms)
        for number in np.unique(numbers):
            operation, some = self._store.operations[number], terms[numbers == number]
            arguments = self._store.arguments(some)
            if operation.name in (DOT, SCALED_DOT):
                yield self._store.elements(arguments[:, 0]), self._store.elements(arguments[:, 1])
            elif operation.name in (FUSED, RING):
                assert isinstance(operation.attribute, Sum)
                for index in range(0, 2 * operation.attribute.products, 2):
                    yield arguments[:, index], arguments[:, index + 1]

    def _all_factors(self, terms: Ids) -> Iterator[Ids]:
        numbers = self._store.operation_numbers(terms)
        for number in np.unique(numbers):
            operation, some = self._store.operations[number], terms[numbers == number]
            arguments = self._store.arguments(some)
            if operation.name in (DOT, SCALED_DOT):
                for column in (0, 1):
                    yield self._store.elements(np.unique(arguments[:, column])).reshape(-1)
            if operation.name == SCALED_DOT:
                for scales in self._store.elements(np.unique(arguments[:, 2]))[:, 1:].T:
                    yield self._store.elements(np.unique(scales)).reshape(-1)
            elif operation.name in (FUSED, RING):
                assert isinstance(operation.attribute, Sum)
                yield arguments[:, : 2 * operation.attribute.products].reshape(-1)


class _Covers(Domain):
    """The leaves that a term depends on, a bit each."""

    dtype = np.uint8

    def __init__(self, store: TermStore, leaves: Sequence[int]) -> None:
        super().__init__(store)
        self._leaves = leaves

    def leaf(self, operation: Operation, terms: Ids) -> Any:
        return sum((terms == leaf) << bit for bit, leaf in enumerate(self._leaves))


def _nearest(fetches: Fetches, fault: Fault, factors: Ids) -> int:
    """Return the line that fetched the wrong input: of several, one whose loads are multiplied there."""
    assert fault.used is not None
    lines = fetches.lines(fault.used)
    loaded = fetches.shared if any(line in fetches.shared for line in lines) else fetches.memory
    shares = {line: float(np.isin(loaded[line], factors).mean()) for line in lines if line in loaded}
    return max(shares, key=lambda line: (shares[line], *_nearness(line, fault.line)), default=fault.line)


def _nearness(line: int, use: int) -> tuple[bool, int]:
    """Return what is greatest of the line that is next before another."""
    return line < use, line
