"""Comparison with what both sides share as atoms: an accumulator, a mean, a maximum.

Sums of both sides that are equal over the real numbers are replaced by one atom each, the inner ones first,
and what is left is compared. Nothing is expanded that both sides have: ``(s - m) * rsqrt(v + eps)`` is that
whatever ``s``, ``m`` and ``v`` are made of. Sums that are equal by what atoms stand for are replaced, too
(`sum_relations`): a variance about the mean, and the mean of squares less the square of the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import BF16, F16, F32, F64, FloatFormat, Format
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError
from ..terms import operations
from ..terms.domains import Domain, Rewriting
from ..terms.instances import RELATED, SHARED, TermInstances
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, NORMAL_FORM, VECTOR, Operation
from ..terms.traversal import by_operation, cone, operands
from .sum_relations import SumRelations

Unequal = Callable[[Ids, Ids, Format], NDArray[np.intp]]
"""Tells which terms (n,) are not shown equal to others."""

_MOST_TERMS = 1 << 16
"""Terms that one side depends on."""

_ROUNDS = 8
"""Times that sums are looked for which others are made of."""

_SUMS = (operations.FUSED, operations.DOT, operations.SCALED_DOT)


class SharedSubterms:
    """Compares terms with equal sums in them taken for atoms.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    unequal : callable
        Compares what is left.
    """

    def __init__(self, forms: NormalForms, unequal: Unequal) -> None:
        self._forms, self._store, self._unequal = forms, forms.store, unequal
        self._infinite, self._computed = _HasInfinities(forms.store), _IsComputed(forms.store)
        self._inputs = _Inputs(forms.store)
        self._related: dict[tuple[Format, frozenset[Any]], int] = {}

    def unequal(self, left: Ids, right: Ids, fmt: Format) -> NDArray[np.intp]:
        """Return which terms (n,) are not shown equal; after the first that is not, none is looked at.

        What one pair shares, the others mostly share too: those that are instances of it then are equal. An
        instance of the pair as it is shares the same, renamed, with others again: the elements of each row
        share a mean.
        """
        instances = TermInstances(self._store)
        pairs, members = np.stack([left, right], axis=1), np.arange(len(left))
        while len(members):
            first = pairs[members[0]]
            atoms = self._shared(fmt, first.tolist())
            if atoms is None:
                return members
            (shown,) = self._rewritten(atoms, first).reshape(-1, 2)
            members = self._without(instances, shown, atoms, pairs, members[1:])
            same, images = instances.images(first, pairs[members], [*atoms])
            members = np.delete(members, same)
            for renamed in images:
                if not len(members):
                    break
                others = dict(zip(renamed.tolist(), atoms.values(), strict=True))
                before, members = len(members), self._without(instances, shown, others, pairs, members)
                if len(members) == before:
                    break
        return members

    def _without(
        self,
        instances: TermInstances,
        shown: Ids,
        atoms: dict[int, int],
        pairs: Ids,
        members: NDArray[np.intp],
    ) -> NDArray[np.intp]:
        """Return which pairs (n, 2) are no instances of one that is shown, with atoms in place of sums."""
        if not len(members):
            return members
        made = self._rewritten(atoms, pairs[members].reshape(-1)).reshape(-1, 2)
        shapes = instances.shapes(made.reshape(-1)).reshape(-1, 2)
        alike = np.flatnonzero((shapes == instances.shapes(shown)).all(axis=1))
        return np.delete(members, alike[instances.of(shown, made[alike])])

    def _shared(self, fmt: Format, pair: Sequence[int]) -> dict[int, int] | None:
        """Return what both terms share, by the numbers of atoms, if they are equal with it; else None."""
        sides = [self._sums(np.array([each], dtype=np.int32)) for each in pair]
        if any(side is None or not len(side[0]) for side in sides):
            return None
        (one, every), (other, all_others) = (side for side in sides if side is not None)
        atoms: dict[int, int] = {}
        relations = SumRelations(self._forms)
        for _ in range(_ROUNDS):
            before = len(atoms)
            while self._match(one, other, atoms):
                pass
            if len(atoms) > before and self._are_equal(atoms, pair, fmt):
                return atoms
            before = len(atoms)
            left = self._of_equal_inputs(one, other, atoms)
            if not self._match_by_relations(*left, atoms, relations):
                either = np.concatenate([one, other])
                self._match_multiplied_out(*self._of_equal_inputs(every, all_others, atoms, either), atoms)
            if len(atoms) == before:
                return None
            if self._are_equal(atoms, pair, fmt):
                return atoms
        return None

    def _are_equal(self, atoms: dict[int, int], pair: Sequence[int], fmt: Format) -> bool:
        """Tell whether a pair is shown equal with atoms in the place of sums."""
        terms = self._rewritten(atoms, np.array(pair, dtype=np.int32))
        with suppress(ExpansionError):
            return not len(self._unequal(terms[:1], terms[1:], fmt))
        return False

    def _sums(self, term: Ids) -> tuple[Ids, Ids] | None:
        """Return the sums that a term depends on in several ways, and all; None where none is to be replaced.

        Sums that are one real number may have been rounded to two, which equalities and bits tell apart.
        """
        reached = cone(self._store, term, _MOST_TERMS)
        if reached is None:
            return None
        parents = np.zeros(len(self._store), dtype=np.int32)
        divided = np.zeros(len(self._store), dtype=bool)
        vectors = list[tuple[Ids, list[Ids]]]()
        for operation, members in by_operation(self._store, reached):
            if operations.equates_floats(operation) or self._reads_bits(operation, members):
                return None
            given = operands(self._store, operation, members)
            for each in given:
                np.add.at(parents, each.reshape(-1), 1)
            if operation.name == operations.FUNCTION:  # once is enough: a sum is not seen through it
                for each in given:
                    parents[each.reshape(-1)] += 1
            if operation.name == operations.QUOTIENT:
                divided[members] = self._store.are(CONSTANT, given[1])
            if operation.name == VECTOR:
                vectors.append((members, given))
        for members, given in vectors:  # a sum of squares depends on each element twice
            for each in given:
                np.add.at(parents, each.reshape(len(members), -1), (parents[members] > 1)[:, None])
        opposites = reached[self._store.are(operations.NEGATE, reached) & (parents[reached] > 1)]
        parents[self._store.arguments(opposites)[:, 0]] += 1
        sums = np.array([_is_sum(each) for each in self._store.operations])
        is_sum = sums[self._store.operation_numbers(reached)] | divided[reached]
        every = reached[is_sum]
        every = every[~self._infinite.values(every)] if len(every) else every
        return every[parents[every] > 1], every

    def _reads_bits(self, operation: Operation, terms: Ids) -> bool:
        """Tell whether terms of one operation depend on the bits of a float that is computed."""
        if operation.name in (operations.SELECT, VECTOR):
            return False
        given = operands(self._store, operation, terms)
        formats = [*operation.operands, *[None] * len(given)]  # what is put together is bits
        read = [each for each, fmt in zip(given, formats, strict=False) if not isinstance(fmt, FloatFormat)]
        return any(self._computed.values(each).any() for each in read)

    def _match(self, one: Ids, other: Ids, atoms: dict[int, int]) -> bool:
        """Add sums of both sides that are equal, with those that are already atoms in them replaced.

        Of sums that one side has twice, rounded in two ways, none is: a comparison may tell them apart.
        Tells whether there is any.
        """
        before = len(atoms)
        numbers = [self._numbers(side[~np.isin(side, list(atoms))], atoms) for side in (one, other)]
        for *pair, number in _joined(numbers):
            atoms.update(dict.fromkeys(pair, number))
        return len(atoms) > before

    def _of_equal_inputs(
        self, one: Ids, other: Ids, atoms: dict[int, int], some: Ids | None = None
    ) -> tuple[Ids, Ids]:
        """Return the sums of each side that are no atoms, and depend on the inputs of one of the other.

        Of the many running sums of one side, few can be a sum of the other. If some are given, one of these
        is also to depend on them.
        """
        sides = [side[~np.isin(side, list(atoms))] for side in (one, other)]
        inputs = [[each.tobytes() for each in self._inputs.values(side)] for side in sides]
        both = set(inputs[0]) & set(inputs[1])
        if some is not None:
            both &= {each.tobytes() for each in self._inputs.values(some[~np.isin(some, list(atoms))])}
        chosen = [np.array([each in both for each in own], dtype=bool) for own in inputs]
        return sides[0][chosen[0]], sides[1][chosen[1]]

    def _match_multiplied_out(self, one: Ids, other: Ids, atoms: dict[int, int]) -> None:
        """Add sums of both sides without functions that are equal with everything in them multiplied out.

        A variance that is merged from parts (Welford) is no sum of the products that the formula adds.
        """
        quantifier = self._forms.quantifier
        plain = [each[~self._forms.are_slow(each)] for each in (one, other)]
        patient, quantifier.is_patient = quantifier.is_patient, False
        try:
            if len(plain[0]) and len(plain[1]):
                found = sorted(_joined([self._numbers(each, {}, self._forms.thorough) for each in plain]))
                for *pair, number in found:  # the inner ones first, which may show the others
                    cheap = [self._numbers(np.array([each], dtype=np.int32), atoms) for each in pair]
                    if cheap[0].keys() != cheap[1].keys():
                        atoms.update(dict.fromkeys(pair, number))
        finally:
            quantifier.is_patient = patient

    def _match_by_relations(
        self, one: Ids, other: Ids, atoms: dict[int, int], relations: SumRelations
    ) -> bool:
        """Add sums that are equal by what the atoms stand for, and those that are multiples of an atom.

        Tells whether there is any.
        """
        before = len(atoms)
        quantities = self._quantities(atoms, relations)
        found: list[dict[tuple[Format, frozenset[Any]], list[int]]] = []
        for side in (one, other):
            by_polynomial: dict[tuple[Format, frozenset[Any]], list[int]] = {}
            left = side if quantities else side[:0]
            for term, made in zip(left.tolist(), self._rewritten(atoms, left).tolist(), strict=True):
                fmt = self._format(term)
                if (polynomial := relations.reduced(made, fmt)) is not None:
                    by_polynomial.setdefault((fmt, frozenset(polynomial.items())), []).append(term)
            found.append(by_polynomial)
        for key in found[0].keys() & found[1].keys():
            if len(found[0][key]) == len(found[1][key]) == 1:
                number = self._related.setdefault(key, -1 - len(self._related))
                atoms[found[0][key][0]] = atoms[found[1][key][0]] = number
        return len(atoms) > before

    def _quantities(self, atoms: dict[int, int], relations: SumRelations) -> bool:
        """Note what the atoms stand for; tells whether there are any."""
        terms = np.array([*atoms], dtype=np.int32)
        for term, made in zip(terms.tolist(), self._rewritten(atoms, terms), strict=True):
            fmt = self._format(term)
            (atom,) = self._forms.quantifier.read(made.reshape(1), fmt).tolist()
            if atom in relations.noted:
                continue
            others = {each: of for each, of in atoms.items() if of != atoms[term]}
            (inner,) = self._rewritten(others, np.array([term], dtype=np.int32))
            relations.note(atom, int(inner), fmt)
        return bool(atoms)

    def _format(self, term: int) -> Format:
        return self._store.operation(term).result

    def _numbers(
        self, terms: Ids, atoms: dict[int, int], forms: NormalForms | None = None
    ) -> dict[int, list[int]]:
        """Return the sums by the numbers of their polynomials."""
        found: dict[int, list[int]] = {}
        if not len(terms):
            return found
        made = self._rewritten(atoms, terms)
        with suppress(ExpansionError):
            for operation, members in by_operation(self._store, np.unique(made)):
                some = np.flatnonzero(np.isin(made, members))
                numbers = (forms or self._forms).identifiers(made[some], operation.result)
                for term, number in zip(terms[some].tolist(), numbers.tolist(), strict=True):
                    found.setdefault(number, []).append(term)
        return found

    def _rewritten(self, atoms: dict[int, int], terms: Ids) -> Ids:
        """Return terms with atoms in the place of sums."""
        if not atoms:
            return terms
        rewriting = Rewriting(self._store)
        for operation, members in by_operation(self._store, np.array([*atoms], dtype=np.int32)):
            numbers = np.array([atoms[each] for each in members.tolist()], dtype=np.int32)
            for kind, some in ((SHARED, numbers >= 0), (RELATED, numbers < 0)):
                if some.any():
                    atom = Operation(NORMAL_FORM, operation.result, attribute=kind)
                    rewriting.put(members[some], self._store.apply(atom, np.abs(numbers[some])))
        found: Ids = rewriting.values(terms)
        return found


def _is_sum(operation: Operation) -> bool:
    return operation.name in _SUMS and isinstance(operation.result, FloatFormat)


def _joined(numbers: Sequence[dict[int, list[int]]]) -> list[tuple[int, int, int]]:
    """Return the sums of two sides that alone have one number, with that."""
    alike = ((*numbers[0][each], *numbers[1][each], each) for each in numbers[0].keys() & numbers[1].keys())
    return [(some[0], some[1], some[2]) for some in alike if len(some) == 3]


class _Inputs(Domain):
    """Which inputs a term depends on, as a row of bits: the same for the same inputs, rarely for others."""

    dtype = np.dtype((np.uint64, 16))

    def leaf(self, operation: Operation, terms: Ids) -> NDArray[np.uint64]:
        """Return one bit of each input."""
        found = np.zeros((len(terms), *self.dtype.shape), dtype=np.uint64)
        if operation.name == INPUT:
            words, bits = np.divmod(terms % (64 * found.shape[1]), 64)
            found[np.arange(len(terms)), words] = np.uint64(1) << bits.astype(np.uint64)
        return found


class _IsComputed(Domain):
    """Whether a word is a float that is computed, or is chosen from such."""

    dtype = bool

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return whether results are floats, or of selects what is chosen from."""
        if operation.name == operations.SELECT:
            return given[1] | given[2]
        return np.full(len(terms), isinstance(operation.result, FloatFormat))


class _HasInfinities(Domain):
    """Whether a term depends on constants that are no finite numbers if they are floats."""

    dtype = bool

    def leaf(self, operation: Operation, terms: Ids) -> NDArray[np.bool_]:
        """Return whether leaves are such constants."""
        found = np.zeros(len(terms), dtype=bool)
        for fmt in (F16, BF16, F32, F64):
            if operation.name == CONSTANT and operation.result.bits == fmt.bits:
                words = self.store.constant_values(terms) & np.uint64((1 << fmt.magnitude_bits) - 1)
                found |= words > np.uint64(fmt.largest)
        return found
