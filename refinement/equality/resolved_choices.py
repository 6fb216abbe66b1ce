"""What terms are in each order of the numbers by which they choose."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import is_nan
from ...spec.formats import FloatFormat, Format, Special
from ..terms import operations
from ..terms.evaluation import Words, apply, evaluate
from ..terms.interning import Ids
from ..terms.store import CONCATENATION, CONSTANT, INPUT, LEAVES, NORMAL_FORM, VECTOR, Operation, TermStore
from ..terms.traversal import operands
from .weak_orders import Among, ordinal, representatives

_EQUALITIES = ("eq", "ne")

_OPEN, _UNKNOWN, _NO_CODE = -1, 0xFFFF, -1

_AT_A_TIME = 1 << 16
"""Orders that are looked at together."""

MOST_ORDERS = 1 << 20
"""Orders that are looked at: of eight numbers there are 545,835, of nine 7,087,261."""

Number = tuple[int, Format]
"""A term, and the format in which it is compared."""


class Numbers(NamedTuple):
    """Numbers that are compared with each other.

    Attributes
    ----------
    format : Format
        As what they are read.
    terms, constants : tuple of int
        The terms that they are, constants apart.
    """

    format: Format
    terms: tuple[int, ...]
    constants: tuple[int, ...]


def ordered_format(operation: Operation) -> Format | None:
    """Return in what format an operation compares its operands, or takes one by their order; else None."""
    fmt = operation.operands[0] if operation.operands else None
    if operation.name == operations.EXTREMUM:
        flushed = isinstance(operation.attribute, tuple) and operation.attribute[2]
        return None if flushed else fmt
    if operation.name != operations.COMPARE:
        return None
    compares = isinstance(fmt, FloatFormat) or operation.attribute in _EQUALITIES
    return fmt if compares or operations.orders_integers(operation) else None


class ResolvedChoices:
    """The orders of some numbers, and the terms that others are in each of them.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    same : mapping of Number to int
        The number that one is.
    words : sequence of mappings of Number to array (orders,)
        What stands for each number in each order, for each group of numbers that are compared.
    standing : mapping of int to array (orders,)
        The term by which a number is replaced, in each order, since they are equal.
    count : int
        How many orders there are.
    """

    def __init__(
        self,
        store: TermStore,
        same: Mapping[Number, int],
        words: Sequence[Mapping[Number, Words]],
        standing: Mapping[int, Ids],
        count: int,
    ) -> None:
        self._store, self._same, self._standing, self.count = store, same, standing, count
        self._values: dict[Format, Words] = {}
        self._codes: dict[Format, tuple[Ids, NDArray[np.uint16]]] = {}
        self._groups: dict[Format, NDArray[np.intp]] = {}
        for fmt in {of for some in words for _, of in some}:
            numbers = {term: each for some in words for (term, of), each in some.items() if of == fmt}
            groups = [at for at, some in enumerate(words) for _, of in some if of == fmt]
            self._values[fmt] = values = np.unique(np.concatenate([*numbers.values()]))
            codes = [np.searchsorted(values, each).astype(np.uint16) for each in numbers.values()]
            rows = np.full(len(store), len(codes), dtype=np.int32)  # what is no number has the last row
            rows[list(numbers)] = np.arange(len(codes))
            for (term, of), number in same.items():
                if of == fmt and number in numbers:
                    rows[term] = rows[number]
            self._codes[fmt] = rows, np.stack([*codes, np.full(count, _UNKNOWN, dtype=np.uint16)])
            self._groups[fmt] = np.array([*groups, -1])
        self._part = slice(0, count)

    @classmethod
    def of(
        cls,
        store: TermStore,
        groups: Sequence[Numbers],
        same: Mapping[Number, int],
        exact: Collection[int] | None,
        signs: Sequence[Mapping[tuple[int, int], Collection[int]]] = (),
    ) -> ResolvedChoices | None:
        """Return the orders of numbers; None if they are too many.

        Parameters
        ----------
        store : TermStore
            Of the terms.
        groups : sequence of Numbers
            The numbers.
        same : mapping of Number to int
            The number of a group that a term is.
        exact : collection of int, optional
            Floats that are read as bits too, so that no equal one stands for them. Without it no number is to
            stand for another, and floats may be infinite and NaN.
        signs : sequence of mapping of (int, int) to collection of int
            The signs that the differences of two numbers of each group, by their places, may have alone.
        """
        tables, count = [], 1
        for number, group in enumerate(groups):
            if isinstance(group.format, FloatFormat) and group.format.special is not Special.IEEE:
                return None
            constants = store.constant_values(np.array(group.constants, dtype=np.int32))
            if isinstance(group.format, FloatFormat) and _are_nans(constants, group.format).any():
                return None
            among = Among.ALL if exact is None else _among(store, group)
            table = representatives(
                group.format, len(group.terms), constants.tolist(), MOST_ORDERS // max(1, count), among
            )
            if table is None or len(np.unique(table)) + len(constants) >= _UNKNOWN // len(groups):
                return None
            table = _possible(table, group.format, signs[number] if signs else {})
            tables.append(table)
            count *= len(table)
        if not count:
            return None
        rows = np.indices([len(each) for each in tables]).reshape(len(tables), -1)
        words: list[dict[Number, Words]] = []
        for group, table, row in zip(groups, tables, rows, strict=True):
            words.append({(term, group.format): table[row, at] for at, term in enumerate(group.terms)})
        formats: dict[int, set[Format]] = {}
        for term, fmt in same:
            formats.setdefault(term, set()).add(fmt)
        standing: dict[int, Ids] = {}
        for group, own in () if exact is None else zip(groups, words, strict=True):
            leading = _leading(store, group, own)
            for (term, fmt), number in same.items():
                bits = isinstance(fmt, FloatFormat) and exact is not None and term in exact
                if fmt == group.format and number in leading and len(formats[term]) == 1 and not bits:
                    standing[term] = leading[number]
        for group, own in zip(groups, words, strict=True):  # constants are compared too
            for term in group.constants:
                own[term, group.format] = np.full(count, store.constant_values(np.array([term]))[0])
        return cls(store, same, words, standing, count)

    def resolved(self, terms: Sequence[int], wanted: Sequence[int], orders: slice = slice(None)) -> Ids:
        """Return what some terms are in the orders, each row once, (rows, wanted).

        Parameters
        ----------
        terms : sequence of int
            What the terms depend on, but for what numbers depend on, in increasing order.
        wanted : sequence of int
            Those terms.
        orders : slice
            In which of the orders.
        """
        numbers = {term for term, _ in self._same}
        rows = []
        begin, end, _ = orders.indices(self.count)
        for start in range(begin, end, _AT_A_TIME):
            self._part = slice(start, min(start + _AT_A_TIME, end))
            found: dict[int, Ids] = {}
            for term in terms:
                operation = self._store.operation(term)
                if term in numbers or operation.name in LEAVES or operation.name == NORMAL_FORM:
                    found[term] = self._number(term)
                else:
                    found[term] = self._resolved(operation, term, found)
            rows.append(np.unique(np.stack([found[each] for each in wanted], axis=1), axis=0))
        distinct: Ids = np.unique(np.concatenate(rows), axis=0)
        return distinct

    def _number(self, term: int) -> Ids:
        if term in self._standing:
            return self._standing[term][self._part]
        return np.full(self._part.stop - self._part.start, term, dtype=np.int32)

    def _resolved(self, operation: Operation, term: int, found: Mapping[int, Ids]) -> Ids:
        given = [
            found[each]
            for some in operands(self._store, operation, np.array([term], dtype=np.int32))
            for each in some.tolist()
        ]
        if operation.name == operations.SELECT:
            return self._selected(operation, given)
        fmt = ordered_format(operation)
        if fmt in self._values:
            return self._ordered(operation, given, fmt)
        return self._applied(operation, given)

    def _ordered(self, operation: Operation, given: Sequence[Ids], fmt: Format) -> Ids:
        """Return results of comparisons, or extrema, where the order tells."""
        values = self._values[fmt]
        results = evaluate(operation, np.broadcast_arrays(values[:, None], values))
        (one, group), (other, second) = (self._read(each, fmt) for each in given)
        both = (one != _UNKNOWN) & (other != _UNKNOWN) & (group == second)  # else no order is supposed
        found = np.full(len(both), _OPEN, dtype=np.int32)
        if operation.name == operations.COMPARE:
            truths = self._store.constants(results.reshape(-1), 1).reshape(results.shape)
            found[both] = truths[one[both], other[both]]
        else:
            places = np.searchsorted(values, results)
            places[~np.isin(results, values)] = _NO_CODE
            if isinstance(fmt, FloatFormat):  # which NaN it is, the order does not tell
                places[_are_nans(results, fmt)] = _NO_CODE
            told = both & ((one != other) | (given[0] == given[1]))
            codes = np.full(len(both), _NO_CODE)
            codes[told] = places[one[told], other[told]]
            for side, terms in zip((one, other), given, strict=True):
                found[codes == side] = terms[codes == side]
        left = np.flatnonzero(found == _OPEN)
        found[left] = self._applied(operation, [each[left] for each in given])
        return found

    def _selected(self, operation: Operation, given: Sequence[Ids]) -> Ids:
        conditions, then, otherwise = given
        constant = self._store.are(CONSTANT, conditions)
        found = otherwise.copy()
        holds = np.zeros(len(conditions), dtype=bool)
        holds[constant] = self._store.constant_values(conditions[constant]).astype(bool)
        found[holds] = then[holds]
        left = np.flatnonzero(~constant)
        found[left] = self._applied(operation, [each[left] for each in given])
        return found

    def _read(self, terms: Ids, fmt: Format) -> tuple[NDArray[np.uint16], NDArray[np.intp]]:
        """Return the codes of what stands for terms (orders,), `_UNKNOWN` of others, and their groups."""
        rows, codes = self._codes[fmt]
        known = np.where(terms < len(rows), rows[np.minimum(terms, len(rows) - 1)], len(codes) - 1)
        return codes[known, np.arange(self._part.start, self._part.stop)], self._groups[fmt][known]

    def _applied(self, operation: Operation, given: Sequence[Ids]) -> Ids:
        """Return the terms of an operation on others, constants of constants."""
        if not len(given[0]):
            return given[0]
        first, places = _distinct(given)
        return self._made(operation, np.stack([each[first] for each in given], axis=1))[places]

    def _made(self, operation: Operation, rows: Ids) -> Ids:
        """Return the terms of an operation on others, (rows, operands)."""
        if operation.name == VECTOR:
            return self._store.vectors(rows)
        if operation.name not in (CONCATENATION, operations.DOT):
            return apply(self._store, operation, *rows.T)
        parts = [self._store.elements(each) for each in rows.T[:2]] + [each[:, None] for each in rows.T[2:]]
        parts = parts[: len(rows.T)]
        made = self._store.apply(operation, *rows.T)
        constant = np.logical_and.reduce([self._store.are(CONSTANT, part).all(axis=1) for part in parts])
        if constant.any():
            words = [self._store.constant_values(part[constant]) for part in parts]
            words[2:] = [word[:, 0] for word in words[2:]]
            made[constant] = self._store.constants(evaluate(operation, words), operation.result.bits)
        return made


def _among(store: TermStore, group: Numbers) -> Among:
    """Tell among what numbers some are over the reals: inputs are floats, what is computed need be none."""
    operations_of = map(store.operation, group.terms)
    inputs = all(each.name == INPUT and each.result == group.format for each in operations_of)
    return Among.FINITE if inputs or not isinstance(group.format, FloatFormat) else Among.REALS


def _possible(table: Words, fmt: Format, signs: Mapping[tuple[int, int], Collection[int]]) -> Words:
    """Return the orders (orders, numbers) in which differences have signs that they may have."""
    words, which = np.unique(table, return_inverse=True)
    numbers = [ordinal(fmt, each) for each in words.tolist()]
    ranks = {number: rank for rank, number in enumerate(sorted(set(numbers)))}  # 64 bits have no difference
    places = np.array([ranks[each] for each in numbers], dtype=np.int64)[which].reshape(table.shape)
    possible = np.ones(len(table), dtype=bool)
    for (one, other), allowed in signs.items():
        possible &= np.isin(np.sign(places[:, one] - places[:, other]), list(allowed))
    return table[possible]


def _distinct(columns: Sequence[Ids]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where rows are that differ, and for each row which of these it is."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        if (column != column[0]).any():
            key = np.unique(key << 32 | column, return_inverse=True)[1].astype(np.int64)
    _, first, places = np.unique(key, return_index=True, return_inverse=True)
    return first, places


def _leading(store: TermStore, group: Numbers, words: Mapping[Number, Words]) -> Mapping[int, Ids]:
    """Return which term stands for each number, in each order: an equal constant, or the first equal one."""
    found: dict[int, Ids] = {}
    constants = store.constant_values(np.array(group.constants, dtype=np.int32))
    for at, term in enumerate(group.terms):
        own = words[term, group.format]
        leading = np.full(len(own), term, dtype=np.int32)
        for other in reversed(group.terms[:at]):
            leading[words[other, group.format] == own] = other
        for constant, value in zip(group.constants, constants, strict=True):
            leading[own == value] = constant
        found[term] = leading
    return found


def _are_nans(words: Words, fmt: FloatFormat) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = is_nan(words.astype(fmt.storage), fmt)
    return found
