"""Polynomials of many terms at once: flat rows (owner, coefficient, monomial) in numpy arrays.

Expansion takes all rows one step further at a time, grouped by the kind of quantity at their front; it
is exact, and its end is a sorted table in which equal polynomials are equal rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.operand_arrays import blocks
from .reading_words import Coefficient, Monomial, Piece, Pieces, Quantities, numbered
from .readings import Quantifier
from .shared_expansion import Product, TooManyProductsError, polynomials

ABSENT = np.int64(-1)
"""No factor."""

_SAFE = 1 << 62

MOST_CELLS = 1 << 24
"""Numbers that the products of an expansion may take, all at a time."""


_CELLS_AT_FIRST = 1 << 20
"""As many before each quantity is multiplied out once, which is slower where nothing is shared."""


_CELLS_OF_FRACTIONS = 1 << 17
"""As many with coefficients that are fractions, which take far longer."""


_PARTS = 8
"""Parts that are expanded one by one where all together are too many; with more, each does less at once."""

_SHARED = 64
"""Quantities up to which their normal forms are kept: longer rows of the same ones are seldom met again."""


_MOST_KEPT = 1 << 14
"""Rows of them that are kept, some 2 KiB each; beyond, all are made again."""


class ExpansionError(UnsupportedError):
    """A sum with too many products to expand."""

    def __init__(self) -> None:
        super().__init__(f"a sum, multiplied out, has products of more than {MOST_CELLS} words")


class _NestedExpansionError(ExpansionError):
    """One inside of a function of which something is made."""


@dataclass(frozen=True)
class Rows:
    """Monomials of many polynomials, partly expanded.

    Attributes
    ----------
    owners : array (n,)
        Whose polynomial a row belongs to.
    coefficients : array (n,)
        Exact numbers: int64, or Python's integers and fractions.
    atoms : array (n, degree)
        Quantities that don't split, in increasing order, `ABSENT` where there are fewer.
    pending : array (n, depth)
        Quantities still to be split; `ABSENT` where there are fewer.
    """

    owners: NDArray[np.int64]
    coefficients: NDArray[Any]
    atoms: Quantities
    pending: Quantities

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def cells(self) -> int:
        """How many numbers the rows take."""
        return len(self) * (2 + int(self.atoms.shape[1]) + int(self.pending.shape[1]))

    def where(self, chosen: Any) -> Rows:
        """Return some of the rows."""
        return Rows(self.owners[chosen], self.coefficients[chosen], self.atoms[chosen], self.pending[chosen])


def _widened(columns: Quantities, width: int) -> Quantities:
    missing = width - columns.shape[1]
    if missing <= 0:
        return columns
    return np.concatenate([columns, np.full((len(columns), missing), ABSENT)], axis=1)


def concatenated(parts: Sequence[Rows]) -> Rows:
    """Return rows one after the other."""
    parts = parts or [_NONE]
    degree, depth = (max(getattr(p, name).shape[1] for p in parts) for name in ("atoms", "pending"))
    return Rows(
        np.concatenate([part.owners for part in parts]),
        np.concatenate([part.coefficients for part in parts]),
        np.concatenate([_widened(part.atoms, degree) for part in parts]),
        np.concatenate([_widened(part.pending, depth) for part in parts]),
    )


_NONE = Rows(*(np.empty(shape, dtype=np.int64) for shape in (0, 0, (0, 0), (0, 0))))


def _product(left: NDArray[Any], right: Any) -> NDArray[Any]:
    """Multiply exact numbers, in int64 while they surely fit."""
    if isinstance(right, int):
        if right == 1:
            return left
        right = np.array(right, dtype=object)
    if left.dtype == np.int64 and all(isinstance(number, int) for number in right.reshape(-1)):
        largest = max((abs(number) for number in right.reshape(-1)), default=0)
        if largest * max(1, int(np.abs(left).max(initial=0))) < _SAFE:
            product: NDArray[np.int64] = left * right.astype(np.int64)
            return product
    return _of_objects(left.astype(object), np.broadcast_to(right, left.shape))


def _of_objects(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Multiply fractions, which are few that many rows share: those of the same two objects once."""
    known: dict[tuple[int, int], Any] = {}
    products = np.empty(len(left), dtype=object)
    for index, (one, other) in enumerate(zip(left, right, strict=True)):
        key = id(one), id(other)
        if key not in known:
            known[key] = one * other
        products[index] = known[key]
    return products


class Expander:
    """Expands readings into polynomials of atoms.

    Parameters
    ----------
    quantifier : Quantifier
        What quantities split into.
    normalise : callable
        Gives quantities (n,) of one kind that don't split a normal form: groups of their indices, each
        with an expansion.
    whole : callable
        Tells whether quantities (n,) of one kind are given to `normalise` although they may split.
    """

    def __init__(
        self, quantifier: Quantifier, normalise: Normaliser, whole: Callable[[Quantities], bool]
    ) -> None:
        self.quantifier = quantifier
        self._normalise = normalise
        self._whole = whole
        self._kept: dict[bytes, Normalised] = {}

    def expand(self, quantities: Quantities, owners: NDArray[Any], sign: int = 1) -> Rows:
        """Return the rows of `sign` times quantities (n,), in no particular order.

        Raises
        ------
        ExpansionError
            If they are too many; nothing large is made before that is known.
        """
        rows = Rows(
            np.asarray(owners, dtype=np.int64),
            np.full(len(quantities), sign, dtype=np.int64),
            np.empty((len(quantities), 0), dtype=np.int64),
            np.asarray(quantities, dtype=np.int64).reshape(-1, 1),
        )
        try:
            return self._in_parts(rows)
        except _NestedExpansionError:
            raise  # in any other order it is met as well
        except ExpansionError:
            with suppress(TooManyProductsError):
                return self._from_inside(rows)
            if not self.quantifier.is_patient:  # nested expansions would each be tried in every way
                raise
        return self._all_at_once(rows, MOST_CELLS, MOST_CELLS)

    def _in_parts(self, rows: Rows) -> Rows:
        """Split all rows, as many at a time as are few enough, or else an eighth of them."""
        length = len(rows)
        while True:
            try:
                found = [self._all_at_once(rows.where(slice(length)), _CELLS_AT_FIRST, _CELLS_OF_FRACTIONS)]
                break
            except ExpansionError as error:
                if length < _PARTS or isinstance(error, _NestedExpansionError):
                    raise
                length //= _PARTS
        for part in [*blocks(len(rows), length)][1:]:
            found.append(self._all_at_once(rows.where(part), _CELLS_AT_FIRST, _CELLS_OF_FRACTIONS))
            if sum(each.cells for each in found) > MOST_CELLS:
                raise ExpansionError
        return concatenated(found)

    def _all_at_once(self, rows: Rows, most: int, most_of_fractions: int) -> Rows:
        """Split what all rows have at their fronts, until nothing is left to be split."""
        finished = [rows.where(slice(0, 0))]
        while len(rows):
            cells = sum(each.cells for each in (*finished, rows))
            if cells > (most_of_fractions if rows.coefficients.dtype == object else most):
                raise ExpansionError
            rows = self._settled(rows)
            done = (rows.pending == ABSENT).all(axis=1)
            finished.append(rows.where(done))
            rows = self._stepped(rows.where(~done))
        return concatenated(finished)

    def _from_inside(self, rows: Rows) -> Rows:
        """Multiply each quantity out once, however many others are made of it."""
        found = polynomials(rows.pending[:, 0].tolist(), self._products)
        made = [
            (owner, sign * value, monomial)
            for owner, sign, quantity in zip(
                rows.owners.tolist(), rows.coefficients.tolist(), rows.pending[:, 0].tolist(), strict=True
            )
            for monomial, value in found[quantity].items()
        ]
        return rows_of(made)

    def _products(self, quantities: Quantities) -> list[list[Product]]:
        """Split quantities (n,) by one step."""
        one = np.ones(len(quantities), dtype=np.int64)
        split = Rows(np.arange(len(quantities)), one, quantities[:, None][:, :0], quantities[:, None])
        atomic = self._settled(split)
        found: list[list[Product]] = [[] for _ in quantities]
        for rows in (atomic.where((atomic.pending == ABSENT).all(axis=1)), self._split_once(atomic)):
            columns = (rows.owners, rows.coefficients, rows.atoms, rows.pending)
            for owner, value, atoms, pending in zip(*(column.tolist() for column in columns), strict=True):
                some = tuple(each for each in pending if each != ABSENT)
                found[owner].append(Product(value, tuple(atom for atom in atoms if atom != ABSENT), some))
        return found

    def _split_once(self, rows: Rows) -> Rows:
        return self._settled(self._stepped(rows.where((rows.pending != ABSENT).any(axis=1))))

    def _settled(self, rows: Rows) -> Rows:
        """Move pending atoms to the monomials, and close the gaps among what is pending."""
        present = rows.pending != ABSENT
        kinds = self.quantifier.kinds(np.where(present, rows.pending, 0))
        moving = self.quantifier.atomic_kinds()[kinds] & present
        if not moving.any():
            return rows
        moved = np.where(moving, rows.pending, ABSENT)[:, moving.any(axis=0)]
        atoms = compacted(np.concatenate([rows.atoms, moved], axis=1))
        return Rows(rows.owners, rows.coefficients, atoms, compacted(np.where(moving, ABSENT, rows.pending)))

    def _stepped(self, rows: Rows) -> Rows:
        """Split the quantity at the front of each row."""
        if not len(rows):
            return rows
        front = rows.pending[:, 0]
        rest = Rows(rows.owners, rows.coefficients, rows.atoms, rows.pending[:, 1:])
        kinds = self.quantifier.kinds(front)
        stepped: list[Rows] = []
        for kind in np.flatnonzero(np.bincount(kinds)):
            members = np.flatnonzero(kinds == kind)
            whole = self._whole(front[members[:1]])
            pieces = None if whole else self.quantifier.split(front[members])
            if pieces is not None:
                stepped += [_multiplied(rest.where(members), piece) for piece in pieces]
                continue
            distinct, inverse = np.unique(front[members], return_inverse=True)
            try:
                normalised = self._normalised(distinct)
            except ExpansionError as error:
                raise _NestedExpansionError from error
            for indices, normal in normalised:
                chosen = np.isin(inverse.reshape(-1), indices)
                place = np.searchsorted(indices, inverse.reshape(-1)[chosen])
                some = rest.where(members[chosen])
                stepped += [_multiplied(some, _taken(piece, place)) for piece in normal]
        return concatenated(stepped)

    def _normalised(self, quantities: Quantities) -> Normalised:
        """Return the normal forms of quantities of one kind; those of few, which sums share, are kept."""
        if len(quantities) > _SHARED:
            return self._normalise(quantities)
        key = quantities.tobytes()
        if key not in self._kept:
            made = self._normalise(quantities)
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = made
        return self._kept[key]


Normalised = Sequence[tuple[NDArray[np.intp], Pieces]]

Normaliser = Callable[[Quantities], Normalised]
"""Quantities (n,) of one kind to groups: sorted indices, and the expansion of the quantities there."""


def compacted(columns: Quantities) -> Quantities:
    """Sort each row in decreasing order, so what is absent comes last, and drop empty columns."""
    if columns.shape[1] > 1:
        columns = -np.sort(-columns, axis=1)
    return columns[:, : int((columns != ABSENT).any(axis=0).sum())]


def _taken(piece: Piece, place: NDArray[np.intp]) -> Piece:
    """Return a piece of some of its quantities."""
    coefficient = piece.coefficient
    return Piece(
        coefficient if isinstance(coefficient, int) else coefficient[place],
        tuple(factor[place] for factor in piece.factors),
    )


def _multiplied(rows: Rows, piece: Piece) -> Rows:
    """Multiply rows by a piece of the quantities at their front; a sum of K products makes K rows of each."""
    length = max((factor.shape[1] for factor in piece.factors if factor.ndim == 2), default=1)
    if length * (rows.cells + len(rows) * len(piece.factors)) > MOST_CELLS:
        raise ExpansionError
    coefficients = _product(rows.coefficients, piece.coefficient)
    columns = [
        np.broadcast_to(factor if factor.ndim == 2 else factor[:, None], (len(factor), length)).reshape(-1, 1)
        for factor in piece.factors
    ]
    return Rows(
        np.repeat(rows.owners, length),
        np.repeat(coefficients, length),
        np.repeat(rows.atoms, length, axis=0),
        np.concatenate([*columns, np.repeat(rows.pending, length, axis=0)], axis=1),
    )


@dataclass(frozen=True)
class Polynomials:
    """Polynomials in canonical form.

    Attributes
    ----------
    owners : array (n,)
        Whose polynomial a row belongs to, increasing.
    coefficients : array (n,)
        Exact numbers, none of them 0.
    atoms : array (n, degree)
        The monomials, those of one owner distinct and sorted.
    """

    owners: NDArray[np.int64]
    coefficients: NDArray[Any]
    atoms: Quantities

    def __len__(self) -> int:
        return len(self.owners)


def joined(parts: Sequence[Polynomials]) -> Polynomials:
    """Return polynomials of increasing owners one after the other."""
    rows = [Rows(part.owners, part.coefficients, part.atoms, part.atoms[:, :0]) for part in parts]
    every = concatenated(rows)
    return Polynomials(every.owners, every.coefficients, every.atoms)


def rows_of(products: Sequence[tuple[int, Coefficient, Monomial]]) -> Rows:
    """Return owners, coefficients and monomials as rows."""
    degree = max((len(monomial) for _, _, monomial in products), default=0)
    atoms = np.full((len(products), degree), ABSENT)
    for row, (_, _, monomial) in enumerate(products):
        atoms[row, : len(monomial)] = monomial
    return Rows(
        np.array([owner for owner, _, _ in products], dtype=np.int64),
        np.array([coefficient for _, coefficient, _ in products], dtype=object),
        atoms,
        atoms[:, :0],
    )


def combined(rows: Rows, modulus: int | None = None) -> Polynomials:
    """Add up equal monomials of each owner, and drop those that vanish (modulo `modulus`, if given)."""
    order, first = _grouped(rows)
    totals = _totals(rows.coefficients[order], first)
    if modulus is not None:
        totals = totals % modulus if totals.dtype == object else _residues(totals, modulus)
    kept = first[totals != 0]
    return Polynomials(rows.owners[order][kept], totals[totals != 0], rows.atoms[order][kept])


def _totals(coefficients: NDArray[Any], first: NDArray[np.intp]) -> NDArray[Any]:
    """Return the exact sums of groups of coefficients, by where each begins."""
    if (
        coefficients.dtype == np.int64
        and int(np.abs(coefficients).max(initial=0)) * len(coefficients) >= _SAFE
    ):
        coefficients = coefficients.astype(object)
    if not len(first):
        return coefficients
    if coefficients.dtype == object:
        return _totals_of_fractions(coefficients, first)
    return np.add.reduceat(coefficients, first)


def _totals_of_fractions(coefficients: NDArray[Any], first: NDArray[np.intp]) -> NDArray[Any]:
    """Return the sums of groups of integers and fractions, over their common denominator."""
    distinct = {id(coefficient): coefficient for coefficient in coefficients}
    denominator = math.lcm(*(each.denominator for each in distinct.values()))
    over = {key: each.numerator * (denominator // each.denominator) for key, each in distinct.items()}
    numerators = np.array([over[id(coefficient)] for coefficient in coefficients], dtype=object)
    sums = np.add.reduceat(numerators, first)
    if denominator == 1:
        return sums
    totals = {each: Fraction(each, denominator) for each in set(sums.tolist())}
    return np.array([totals[each] for each in sums], dtype=object)


def _residues(totals: NDArray[np.int64], modulus: int) -> NDArray[Any]:
    return totals % modulus if modulus <= _SAFE else totals.astype(object) % modulus


def _grouped(rows: Rows) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return an order of rows by owner and monomial, and where in it each group of equals begins."""
    if not len(rows):
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    columns = [rows.owners, *(_ranks(rows.atoms).T if rows.atoms.shape[1] else ())]
    widths = [int(column.max()).bit_length() for column in columns]
    if sum(widths) < 63:
        key = columns[0]
        for column, width in zip(columns[1:], widths[1:], strict=True):
            key = (key << np.int64(width)) | column
        order = np.argsort(key, kind="stable")
        changes = np.diff(key[order]) != 0
    else:
        order = np.lexsort(columns[::-1])
        changes = np.logical_or.reduce([np.diff(column[order]) != 0 for column in columns])
    return order, np.concatenate([[0], np.flatnonzero(changes) + 1])


def _ranks(atoms: Quantities) -> NDArray[np.int64]:
    """Return small numbers in the order of atoms, 0 for what is absent."""
    present = atoms != ABSENT
    ranks = np.zeros(atoms.shape, dtype=np.int64)
    ranks[present] = numbered(atoms[present])[1] + 1
    return ranks
