"""Integers as polynomials in symbols modulo a power of two, with bounds over a domain.

A form is a row of coefficients, one for each monomial; the first monomial is 1. It stands for an integer
modulo ``2**width``: sums and products of rows are right whatever the width, and whether they wrap. Whatever
looks at the integer itself (a comparison, a quotient, an extension) needs its bounds: then the row, with
coefficients next to 0, is that integer where its bounds lie in the range of the width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
"""Coefficients (…, monomials)."""

Truths = NDArray[np.bool_]

UNBOUNDED = 1 << 62
"""In place of a bound that is not known."""

_EXACT = float(1 << 44)
"""Sums of float64 below this are exact to `_DOUBT`."""

_DOUBT = 2.0**-6


@dataclass(frozen=True)
class Group:
    """Symbols whose bounds depend on each other.

    Attributes
    ----------
    symbols : tuple of str
        Their names.
    corners : tuple of tuple of float
        Points whose convex hull holds every tuple of integers that the symbols may be.
    """

    symbols: tuple[str, ...]
    corners: tuple[tuple[float, ...], ...]


class Symbols:
    """The symbols of a proof: a domain that is the product of one polytope per group.

    A monomial has at most one symbol of each group, so that the extremes of a polynomial are at products of
    corners.

    Parameters
    ----------
    groups : sequence of Group
        The groups.
    degree : int
        The most symbols that are multiplied.

    Attributes
    ----------
    monomials : tuple of tuple of str
        The symbols that are multiplied, by column.
    """

    def __init__(self, groups: Sequence[Group], degree: int = 3) -> None:
        self.groups, self.degree = tuple(groups), degree
        factors = [((), *((symbol,) for symbol in group.symbols)) for group in groups]
        products = (sum(each, ()) for each in product(*factors))
        self.monomials = tuple(
            sorted((each for each in products if len(each) <= degree), key=lambda each: (len(each), each))
        )
        self._places = {frozenset(each): place for place, each in enumerate(self.monomials)}
        self._products = self._multiplication_table()
        self._corners = self._values_at_corners()
        self._chosen_corners: dict[bytes, NDArray[np.float64]] = {}

    def __len__(self) -> int:
        return len(self.monomials)

    def has(self, symbol: str) -> bool:
        """Tell whether integers may depend on a symbol."""
        return frozenset((symbol,)) in self._places

    def column(self, *symbols: str) -> int:
        """Return the column of a product of symbols."""
        return self._places[frozenset(symbols)]

    def _multiplication_table(self) -> NDArray[np.intp]:
        """Return the column of each product of two monomials; -1 where there is none."""
        table = np.full((len(self), len(self)), -1)
        for (i, one), (j, other) in product(enumerate(self.monomials), repeat=2):
            if not set(one) & set(other):
                table[i, j] = self._places.get(frozenset(one + other), -1)
        return table

    def _values_at_corners(self) -> NDArray[np.float64]:
        """Return the values (monomials, corners) of the monomials."""
        counts = [len(group.corners) for group in self.groups]
        chosen = np.indices(counts).reshape(len(counts), prod(counts))  # a corner of each group
        values = {
            symbol: column[which]
            for group, which in zip(self.groups, chosen, strict=True)
            for symbol, column in zip(group.symbols, np.array(group.corners, dtype=np.float64).T, strict=True)
        }
        found = np.ones((len(self), prod(counts)))
        for place, monomial in enumerate(self.monomials):
            for symbol in monomial:
                found[place] *= values[symbol]
        return found

    def largest_monomial(self, row: Rows) -> int:
        """Return the column of the monomial of a row (monomials,), beside 1, that can be the largest."""
        sizes = np.abs(row.astype(np.float64)) * np.abs(self._corners).max(axis=1)
        return 1 + int(np.argmax(sizes[1:]))

    def numbers(self, rows: Rows) -> NDArray[np.int64]:
        """Return the integers (n,) modulo ``2**64`` that rows are, where each group has one corner only."""
        corners = {
            symbol: int(number)
            for group in self.groups
            for symbol, number in zip(group.symbols, group.corners[0], strict=True)
        }
        found = rows[:, 0].copy()
        for column, monomial in enumerate(self.monomials[1:], start=1):
            if rows[:, column].any():
                factor = np.array([prod(corners[symbol] for symbol in monomial) % (1 << 64)], dtype=np.uint64)
                found += rows[:, column] * factor.view(np.int64)
        return found

    def largest_parts(self, rows: Rows) -> NDArray[np.float64]:
        """Return the largest magnitude (n,) that one of a row's monomials can have."""
        return np.asarray((np.abs(rows.astype(np.float64)) * np.abs(self._corners).max(axis=1)).max(axis=1))

    def form(self, coefficients: Mapping[tuple[str, ...], int]) -> Rows:
        """Return the row (monomials,) of coefficients by the symbols that are multiplied."""
        row = np.zeros(len(self), dtype=np.int64)
        for monomial, coefficient in coefficients.items():
            row[self.column(*monomial)] += coefficient
        return row

    def constants(self, numbers: NDArray[np.int64]) -> Rows:
        """Return the rows of known numbers."""
        rows = np.zeros((len(numbers), len(self)), dtype=np.int64)
        rows[:, 0] = numbers
        return rows

    def multiplied(self, one: Rows, other: Rows) -> tuple[Rows, Truths]:
        """Return products of rows (n, monomials), and which of them have only monomials that there are."""
        total = np.zeros_like(one)
        possible = np.ones(len(one), dtype=bool)
        for i in np.flatnonzero(one.any(axis=0)):
            for j in np.flatnonzero(other.any(axis=0)):
                part = one[:, i] * other[:, j]
                place = self._products[i, j]
                if place < 0:
                    possible &= part == 0
                else:
                    total[:, place] += part
        return total, possible

    def substituted(self, rows: Rows, symbol: str, replacement: Rows) -> Rows:
        """Return rows (n, monomials) with a row (monomials,) in place of a symbol.

        The replacement has symbols of the replaced one's group at most, so that all products are there.
        """
        kept, factors = rows.copy(), np.zeros_like(rows)
        for column, monomial in enumerate(self.monomials):
            if symbol in monomial:
                factors[:, self.column(*(each for each in monomial if each != symbol))] = rows[:, column]
                kept[:, column] = 0
        products, possible = self.multiplied(factors, np.broadcast_to(replacement, factors.shape))
        assert possible.all()
        return kept + products

    def raised(self, rows: Rows, symbol: str, numbers: NDArray[np.int64]) -> Rows:
        """Return rows (n, monomials) in which a symbol is counted from some numbers (n,) on."""
        found = rows.copy()
        for column, monomial in enumerate(self.monomials):
            if symbol in monomial:
                rest = self.column(*(each for each in monomial if each != symbol))
                found[:, rest] += numbers * rows[:, column]
        return found

    def _corners_of(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the values (monomials, corners) of some monomials beside 1, each set of values once."""
        key = columns.tobytes()
        if key not in self._chosen_corners:
            self._chosen_corners[key] = np.unique(self._corners[1 + columns], axis=1)
        return self._chosen_corners[key]

    def bounds(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return numbers (n,) that the polynomials are never below, and never above, in the domain."""
        columns = np.flatnonzero(rows[:, 1:].any(axis=0))
        varying, corners = rows[:, 1 + columns].astype(np.float64), self._corners_of(columns)
        with np.errstate(over="ignore", invalid="ignore"):
            values = varying @ corners
            sizes = np.abs(varying) @ np.abs(corners)
        known = (sizes < _EXACT).all(axis=1) & (np.abs(rows[:, 0]) < UNBOUNDED)
        values = np.where(known[:, None], values, 0.0)
        low = np.ceil(values.min(axis=1) - _DOUBT).astype(np.int64)
        high = np.floor(values.max(axis=1) + _DOUBT).astype(np.int64)
        constant = np.where(known, rows[:, 0], 0)
        return np.where(known, constant + low, -UNBOUNDED), np.where(known, constant + high, UNBOUNDED)


def centred(rows: Rows, width: int) -> Rows:
    """Return rows with coefficients next to 0 that are the same modulo ``2**width``."""
    shift = np.int64(64 - width)
    return (rows << shift) >> shift if width < 64 else rows


def divided(symbols: Symbols, rows: Rows, divisor: int) -> tuple[Rows, Rows, Truths]:
    """Return quotients and rests of integers by a positive number, and which are known.

    A quotient is rounded down, and the rest from 0 to ``divisor - 1``.
    """
    found_quotients, found_rests = np.zeros_like(rows), rows.copy()
    known = np.zeros(len(rows), dtype=bool)
    whole = rows // divisor
    # Of coefficients that are no multiples all of it may be rest, or only what a multiple leaves.
    for guess in (np.where(rows % divisor == 0, whole, 0), whole):
        quotients = guess.copy()
        rests = rows - quotients * divisor
        low, _ = symbols.bounds(rests)
        bounded = np.abs(low) < UNBOUNDED
        more = np.where(bounded, low // divisor, 0)
        quotients[:, 0] += more
        rests[:, 0] -= more * divisor
        low, high = symbols.bounds(rests)
        fits = (low >= 0) & (high < divisor) & ~known
        found_quotients[fits], found_rests[fits] = quotients[fits], rests[fits]
        known |= fits
    return found_quotients, found_rests, known


def divided_by(symbols: Symbols, rows: Rows, divisors: Rows) -> tuple[Rows, Rows, Truths]:
    """Return quotients and rests of integers by positive ones that may depend on symbols; see `divided`.

    What is guessed of a quotient is 0, or how often the largest monomial of the divisor goes into others, or
    one less or more; the rest shows whether it is right.
    """
    found_quotients, found_rests = np.zeros_like(rows), rows.copy()
    positive = symbols.bounds(divisors)[0] >= 1
    known = np.zeros(len(rows), dtype=bool)
    leading, one = _leading_quotients(symbols, rows, divisors), symbols.form({(): 1})
    for guess in (np.zeros_like(rows), leading, leading - one, leading + one):
        products, possible = symbols.multiplied(guess, divisors)
        rests = rows - products
        small = _largest(guess) * _largest(divisors) * len(symbols) < UNBOUNDED
        fits = positive & possible & small & ~known & (symbols.bounds(rests)[0] >= 0)
        fits &= symbols.bounds(rests - divisors)[1] < 0
        found_quotients[fits], found_rests[fits] = guess[fits], rests[fits]
        known |= fits
    return found_quotients, found_rests, known


def _largest(rows: Rows) -> NDArray[np.float64]:
    """Return the largest magnitude (n,) of the coefficients of each row."""
    return np.asarray(np.abs(rows.astype(np.float64)).max(axis=1, initial=0.0))


def _leading_quotients(symbols: Symbols, rows: Rows, divisors: Rows) -> Rows:
    """Return how often the largest monomial of each divisor goes into the monomials that it divides."""
    found = np.zeros_like(rows)
    alike, which = np.unique(divisors, axis=0, return_inverse=True)
    for number, divisor in enumerate(alike):
        some = np.flatnonzero(which.reshape(-1) == number)
        leading = symbols.largest_monomial(divisor)
        own = frozenset(symbols.monomials[leading])
        for column, monomial in enumerate(symbols.monomials):
            if own <= frozenset(monomial):
                rest = symbols.column(*(frozenset(monomial) - own))
                found[some, rest] += rows[some, column] // divisor[leading]
    return found
