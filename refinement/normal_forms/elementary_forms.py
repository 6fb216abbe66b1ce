"""Normal forms of powers of two, logarithms, reciprocals and roots of polynomials, over the reals.

- A power ``2^(x + y)`` is a product; of the powers in a monomial one remains, whose exponent is their sum.
- What divides is divided by its least monomial: its coefficient, the power of two in it, and the atoms that
  all monomials share. Of ``exp(x - m) / Σ exp(x - m)``, any m cancels so.
- ``log2`` of such a product is a sum, ``sqrt`` of it a product, and ``rsqrt(x)`` is ``sqrt(x) / x``.
- ``2^log2(x)`` is x, and ``tanh(x)`` is ``1 - 2 / (exp(2 x) + 1)``.
- Where masks are to be as good as -∞, ``2^(x - 1000000)`` is 0.

What divides is not 0 here, and what has a root or a logarithm is not negative: elsewhere, both sides of an
equality may be no numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from math import floor, isqrt
from typing import Any, NamedTuple

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import F64, FloatFormat, Format
from ..analysis.literal_constants import LN_OF_2, LOG2_OF_10, LOG2_OF_E, is_nearly
from ..terms import operations
from ..terms.store import NORMAL_FORM, Operation
from .reading_words import Piece, Pieces
from .readings import Quantifier
from .sparse_polynomials import Coefficient, Monomial, Sparse, added, common_atoms, is_less, ratio, without

STEMS = ("ex2", "lg2", "rcp", "sqrt", "rsqrt")
"""The functions that have a normal form here, approximated or not."""

POLES = ("lg2", "rcp", "rsqrt")
"""Those that have no value at 0."""

HYPERBOLIC = "tanh"
"""A function that is one of powers of two, where it is written so."""


_OF_PRODUCTS = ("lg2", "rcp", "sqrt", "rsqrt")
"""Functions of which the value of a product is known by those of its factors."""

_LARGEST_POWER = 1 << 12

_MASK, _ORDINARY = 1 << 13, 1 << 10
"""A mask subtracts at least so much in an exponent of 2, any other constant there at most so much."""

_ABOUT_LOG2_OF_E = Fraction(3, 2)
"""By this masks in exponents of e are compared with those of 2."""

_MOST_FACTORS = 4
"""How often the argument of a logarithm is multiplied with itself in a power."""

_MOST_STEPS = 8
"""How many times what divides goes into a power of two, at most."""

_AT_A_TIME = 256
"""Atoms of a function that are made at a time."""

POWER, LOGARITHM, RECIPROCAL, ROOT = (
    Operation(NORMAL_FORM, F64, attribute=(name,)) for name in ("power", "lg2", "rcp", "sqrt")
)
"""Functions of a polynomial that are atoms."""


def stem(operation: Operation) -> str:
    """Return what a function approximates."""
    return str(operation.attribute).partition(".")[0]


def is_elementary(operation: Operation, fmt: Format, *, hyperbolic: bool) -> bool:
    """Tell whether the terms of an operation, read in a format, have a normal form here."""
    real = isinstance(fmt, FloatFormat) and fmt == operation.result
    if operation.name != operations.FUNCTION or not real:
        return False
    return stem(operation) in STEMS or (hyperbolic and stem(operation) == HYPERBOLIC)


class OutweighedMaskError(UnsupportedError):
    """A finite mask that may not stand for an infinite one.

    Parameters
    ----------
    constant : Fraction
        What is in an exponent of 2, and no mask.
    """

    def __init__(self, constant: Fraction) -> None:
        super().__init__(f"the constant {float(constant):.6g} in an exponent of 2 may outweigh a mask")


class Product(NamedTuple):
    """``coefficient * 2^exponent * Π atoms``."""

    coefficient: Coefficient
    exponent: Sparse
    atoms: Monomial


def _times(one: Product, other: Product) -> Product:
    exponent = added(one.exponent, other.exponent)
    return Product(one.coefficient * other.coefficient, exponent, (*one.atoms, *other.atoms))


class ElementaryForms:
    """Makes normal forms of elementary functions of polynomials.

    Parameters
    ----------
    quantifier : Quantifier
        Of the store.
    """

    def __init__(self, quantifier: Quantifier) -> None:
        self._quantifier = quantifier
        self._store = quantifier.store
        self._atoms: dict[tuple[Operation, frozenset[tuple[Monomial, Coefficient]]], int] = {}
        self.arguments: dict[int, Sparse] = {}
        self._unused: dict[Operation, list[int]] = {}
        self._made = 0
        self._powers: dict[Monomial, tuple[Coefficient, Monomial]] = {}
        self.inverses: dict[int, int] = {}
        """Of reciprocals of single atoms, these atoms."""
        ln, log2 = (int(quantifier.read(quantifier.irrational(each), F64)) for each in (LN_OF_2, LOG2_OF_E))
        self.inverses[ln], self._log2_of_e, self._ln_of_2 = log2, log2, ln
        log2_of_10 = int(quantifier.read(quantifier.irrational(LOG2_OF_10), F64))
        self._irrational = {LOG2_OF_E: log2, LOG2_OF_10: log2_of_10}
        self._one = int(quantifier.one)
        self.binomials: dict[int, tuple[Coefficient, Sparse]] = {}
        """Of reciprocals of ``1 + c·2^y``, c and y."""
        self.magnitude: Callable[[int], int] = int
        """Returns the atom that is the magnitude of another one; known once extrema are."""
        self.sees_masks = False
        """Whether an exponent has had a constant so far below 0 that it can only be a mask."""
        self.masks = set[Coefficient]()
        """Those that were taken for -∞."""

    def pieces(self, operation: Operation, arguments: Sequence[Sparse], *, masked: bool) -> list[Pieces]:
        """Return the expansions of a function of polynomials; if `masked`, what has a mask is never finite.

        Raises
        ------
        OutweighedMaskError
            If masks are to be infinite, and a constant in an exponent is too great beside them.
        """
        name = stem(operation)
        if name in _OF_PRODUCTS:
            arguments = [self._as_product(argument) for argument in arguments]
        powers = self._masked if masked else self._exponential
        sums = {"lg2": self._logarithm, "ex2": powers, HYPERBOLIC: self._hyperbolic}
        if name in sums:
            return [sums[name](argument) for argument in arguments]
        make = {"rcp": self._reciprocal, "sqrt": self._root, "rsqrt": self._reciprocal_root}[name]
        return [[self._piece(make(argument))] for argument in arguments]

    # -- powers of two
    def power(self, exponent: Sparse) -> tuple[Coefficient, int]:
        """Return a power of two as a coefficient and an atom, of exponent 0 the constant 1."""
        exponent = self._settled(exponent)
        constant: Coefficient = exponent.get((), 0)
        whole = floor(constant) if -_LARGEST_POWER <= constant <= _LARGEST_POWER else 0
        rest = dict(exponent)
        if whole:
            rest = added(rest, {(): -whole})
        coefficient = 1 << whole if whole >= 0 else Fraction(1, 1 << -whole)
        return coefficient, self._atom(POWER, rest) if rest else self._one

    def _settled(self, exponent: Sparse) -> Sparse:
        """Return an exponent without what makes a literal more precise: of hi·x + lo·x, lo·x."""
        rest = exponent
        for name in self._quantifier.literals.keys() & {LOG2_OF_E, LOG2_OF_10}:
            rest = self._with_one_literal(rest, name)
        return rest

    def _with_one_literal(self, exponent: Sparse, name: str) -> Sparse:
        literals, irrational = self._quantifier.literals[name], self._irrational[name]
        rest = dict(exponent)
        for monomial, times in exponent.items():
            if irrational in monomial:
                alone = without(monomial, (irrational,))
            elif name == LOG2_OF_E:  # log2(e)·ln(2) = 1
                alone = tuple(sorted((*monomial, self._ln_of_2), reverse=True))
            else:
                continue
            for literal in [each for each in literals if each is not None]:
                more = rest.get(alone, 0) / Fraction(times)
                if more and is_nearly(literal + more, name):
                    literals.add(literal + more)
                    del rest[alone]
        return rest

    def exponents(self, monomial: Monomial) -> tuple[Monomial, Sparse]:
        """Return a monomial without the powers of two in it, and the sum of their exponents."""
        plain: list[int] = []
        exponent: Sparse = {}
        for atom in monomial:
            if self.is_a(atom, POWER):
                exponent = added(exponent, self.arguments[atom]) if exponent else self.arguments[atom]
            else:
                plain.append(atom)
        return tuple(plain), exponent

    def combined(self, powers: Monomial) -> tuple[Coefficient, Monomial]:
        """Return the product of powers of two as a coefficient and one of them, if any."""
        if powers not in self._powers:
            coefficient, atom = self.power(self.exponents(powers)[1])
            self._powers[powers] = coefficient, () if atom == self._one else (atom,)
        return self._powers[powers]

    def quotient(self, monomial: Monomial) -> list[tuple[Coefficient, Monomial]] | None:
        """Return the products that a monomial is of which a power of that in a divisor ``1 + c·2^y`` is part.

        ``2^y / (1 + c·2^y)`` is ``1/c - 1/c / (1 + c·2^y)``, and ``2^-y / (1 + c·2^y)`` is ``2^-y - c /
        (1 + c·2^y)``: of ``2^(n·y)`` so many steps lead to one form of all quotients that are equal. None
        where there is no such divisor.
        """
        plain, exponent = self.exponents(monomial)
        for atom in plain:
            if atom not in self.binomials or not exponent:
                continue
            factor, step = self.binomials[atom]
            times = _whole_ratio(exponent, step)
            if not times:
                continue
            rest = without(plain, (atom,))
            if times > 0:
                lower, inverse = added(exponent, step, -1), ratio(1, factor)
                return [self._product(inverse, lower, rest), self._product(-inverse, lower, plain)]
            higher = added(exponent, step)
            return [self._product(1, exponent, rest), self._product(-factor, higher, plain)]
        return None

    def _as_product(self, polynomial: Sparse) -> Sparse:
        """Return ``a - a / (1 + c·2^y)`` as ``a·c·2^y / (1 + c·2^y)``: what `quotient` makes of that."""
        if len(polynomial) != 2 or not self.binomials:
            return polynomial
        for whole, divided in permutations(polynomial):
            for atom in self.binomials.keys() & set(divided):
                if polynomial[whole] == -polynomial[divided] and without(divided, (atom,)) == whole:
                    plain, exponent = self.exponents(whole)
                    factor, step = self.binomials[atom]
                    coefficient, monomial = self._product(
                        polynomial[whole] * factor, added(exponent, step), (*plain, atom)
                    )
                    return {monomial: coefficient}
        return polynomial

    def _product(
        self, coefficient: Coefficient, exponent: Sparse, atoms: Monomial
    ) -> tuple[Coefficient, Monomial]:
        factor, power = self.power(exponent)
        whole = atoms if power == self._one else tuple(sorted((*atoms, power), reverse=True))
        return coefficient * factor, whole

    def _masked(self, exponent: Sparse) -> Pieces:
        """Return a power of two, which is 0 where a mask is subtracted in its exponent.

        Nothing else in an exponent may be great: what is divided by ``2^-9000`` needs no mask to be 0.
        """
        if (constant := self._constant(exponent)) <= -_MASK:
            for monomial, times in exponent.items():
                if abs(Fraction(times)) > _ORDINARY and monomial not in ((), (self._log2_of_e,)):
                    raise OutweighedMaskError(Fraction(times))
            self.masks.add(exponent.get((), 0) + exponent.get((self._log2_of_e,), 0))
            return [self._piece(Product(0, {}, ()))]
        if abs(constant) > _ORDINARY:
            raise OutweighedMaskError(constant)
        return self._exponential(exponent)

    def _constant(self, exponent: Sparse) -> Fraction:
        """Return about how great the constant in an exponent of 2 is."""
        return exponent.get((), 0) + _ABOUT_LOG2_OF_E * Fraction(exponent.get((self._log2_of_e,), 0))

    def _exponential(self, exponent: Sparse) -> Pieces:
        """Return a power of two, in which logarithms are what they are of: ``2^(x + 3 log2(y)) = 2^x·y³``."""
        self.sees_masks |= self._constant(exponent) <= -_MASK
        rest = dict(exponent)
        product, sums = Product(1, {}, ()), list[Sparse]()
        for monomial, times in exponent.items():
            if len(monomial) != 1 or not self.is_a(monomial[0], LOGARITHM):
                continue
            argument, halves = self.arguments[monomial[0]], 2 * Fraction(times)
            if not argument or halves.denominator != 1 or abs(halves) > 2 * _MOST_FACTORS:
                continue
            del rest[monomial]
            if halves % 2:
                product = _times(product, self._root(argument))
            sums += [argument] * int(halves // 2)
            for _ in range(-int(halves // 2)):
                product = _times(product, self._reciprocal(argument))
        products = [_times(product, Product(1, rest, ()))]
        for each in sums:
            parts = [Product(value, {}, key) for key, value in each.items()]
            products = [_times(one, other) for one in products for other in parts]
        return [self._piece(each) for each in products]

    def _hyperbolic(self, polynomial: Sparse) -> Pieces:
        """Return ``tanh(x) = 1 - 2 / (exp(2 x) + 1)``."""
        self._quantifier.literals.setdefault(LOG2_OF_E, set()).add(None)
        exponent: dict[Monomial, Coefficient] = {}
        for monomial, value in polynomial.items():
            scaled = [*monomial, self._log2_of_e]
            inverse = next((each for each in monomial if self.inverses.get(each) == self._log2_of_e), None)
            if inverse is not None:
                scaled = list(without(monomial, (inverse,)))
            exponent[tuple(sorted(scaled, reverse=True))] = 2 * value
        factor, atom = self.power(exponent)
        grown = added({(): 1}, {() if atom == self._one else (atom,): factor})
        shrunk = _times(Product(-2, {}, ()), self._reciprocal(grown))
        return [self._piece(each) for each in (Product(1, {}, ()), shrunk)]

    # -- products and what is left of a polynomial
    def _content(self, polynomial: Sparse) -> tuple[Product, dict[Monomial, Coefficient]]:
        """Return a polynomial as a product and what it is multiplied with, whose least monomial is 1."""
        split = {monomial: self.exponents(monomial) for monomial in polynomial}
        shared = common_atoms([plain for plain, _ in split.values()])
        least = min(plain for plain, _ in split.values())
        leading: Monomial | None = None
        for monomial, (plain, exponent) in split.items():
            if plain == least and (leading is None or is_less(exponent, split[leading][1])):
                leading = monomial
        assert leading is not None
        content = Product(polynomial[leading], split[leading][1], shared)
        return content, self._divided(polynomial, content)

    def _divided(self, polynomial: Sparse, by: Product) -> dict[Monomial, Coefficient]:
        """Return a polynomial divided by what each of its monomials has."""
        result: dict[Monomial, Coefficient] = {}
        for monomial, coefficient in polynomial.items():
            plain, exponent = self.exponents(monomial)
            factor, atom = self.power(added(exponent, by.exponent, -1))
            left = without(plain, by.atoms)
            key = left if atom == self._one else tuple(sorted((*left, atom), reverse=True))
            result[key] = result.get(key, 0) + ratio(coefficient * factor, by.coefficient)
        return {monomial: total for monomial, total in result.items() if total}

    def _positive(self, polynomial: Sparse) -> tuple[Product, dict[Monomial, Coefficient]]:
        """Return a polynomial as a positive product and what it is multiplied with."""
        content, _ = self._content(polynomial)
        positive = Product(max(content.coefficient, -content.coefficient), content.exponent, ())
        return positive, self._divided(polynomial, positive)

    def _reciprocal(self, polynomial: Sparse) -> Product:
        if not polynomial:
            return Product(1, {}, (self._atom(RECIPROCAL, polynomial),))
        content, rest = self._content(polynomial)
        atoms = () if rest == {(): 1} else (self._atom(RECIPROCAL, rest),)
        inverse = Product(ratio(1, content.coefficient), added({}, content.exponent, -1), atoms)
        for atom in content.atoms:
            inverse = _times(inverse, self._inverse(atom))
        return inverse

    def _inverse(self, atom: int) -> Product:
        if self.is_a(atom, ROOT):
            return _times(Product(1, {}, (atom,)), self._reciprocal(self.arguments[atom]))
        return Product(1, {}, (self._atom(RECIPROCAL, {(atom,): 1}),))

    def _root(self, polynomial: Sparse) -> Product:
        if not polynomial:
            return Product(1, {}, (self._atom(ROOT, polynomial),))
        (size, exponent, _), rest = self._positive(polynomial)
        outer, known = _square_root(size)
        squares, left = self._without_squares(rest)
        atoms = [each for each, count in squares for _ in range(count // 2)]
        if not known:
            atoms.append(self._atom(ROOT, {(): size}))
        if left != {(): 1}:
            atoms.append(self._atom(ROOT, left))
        return Product(outer, {key: ratio(value, 2) for key, value in exponent.items()}, tuple(atoms))

    def _reciprocal_root(self, polynomial: Sparse) -> Product:
        return _times(self._root(polynomial), self._reciprocal(polynomial))

    def _logarithm(self, polynomial: Sparse) -> Pieces:
        if not polynomial:
            return [self._piece(Product(1, {}, (self._atom(LOGARITHM, polynomial),)))]
        (size, exponent, _), rest = self._positive(polynomial)
        pieces = [self._piece(Product(value, {}, key)) for key, value in exponent.items()]
        logarithm = _logarithm_of_power(size)
        if logarithm is None:
            pieces.append(self._piece(Product(1, {}, (self._atom(LOGARITHM, {(): size}),))))
        elif logarithm:
            pieces.append(self._piece(Product(logarithm, {}, ())))
        for part, times in self._factors(rest):
            pieces.append(self._piece(Product(times, {}, (self._atom(LOGARITHM, part),))))
        return pieces or [self._piece(Product(0, {}, ()))]

    def _factors(self, polynomial: Sparse) -> list[tuple[Sparse, Coefficient]]:
        """Return polynomials and the powers to which they are factors of one, all positive if that is."""
        if not polynomial:
            return [(polynomial, 1)]
        if polynomial == {(): 1}:
            return []
        ((monomial, coefficient), *others) = polynomial.items()
        if others or coefficient != 1:
            return [(polynomial, 1)]
        if len(monomial) > 1 and not all(map(self.is_positive, monomial)):
            squares, rest = self._without_squares(polynomial)
            if not squares:
                return [(polynomial, 1)]
            found = self._factors(rest)
            found += [({(each,): 1}, count) for each, count in squares]
            return found
        found = []
        for atom in monomial:
            if self.is_a(atom, RECIPROCAL) or self.is_a(atom, ROOT):
                times = -1 if self.is_a(atom, RECIPROCAL) else Fraction(1, 2)
                found += [
                    (part, ratio(times * power, 1)) for part, power in self._factors(self.arguments[atom])
                ]
            else:
                found.append(({(atom,): 1}, 1))
        return found

    def _without_squares(self, polynomial: Sparse) -> tuple[list[tuple[int, int]], Sparse]:
        """Return the magnitudes of which a single product has even powers, with these, and what is left."""
        ((monomial, coefficient), *others) = polynomial.items()
        if others or coefficient != 1:
            return [], polynomial
        even = {each: count - count % 2 for each, count in Counter(monomial).items() if count > 1}
        squares = [(self.magnitude(each), count) for each, count in even.items()]
        return squares, {without(monomial, tuple(Counter(even).elements())): 1}

    def is_positive(self, atom: int) -> bool:
        """Tell whether an atom is a power of two, or of a sum of such, whatever its exponents."""
        if self.is_a(atom, POWER):
            return True
        if not (self.is_a(atom, RECIPROCAL) or self.is_a(atom, ROOT)):
            return False
        argument = self.arguments[atom].items()
        return all(value > 0 and all(map(self.is_positive, monomial)) for monomial, value in argument)

    def is_not_negative(self, atom: int) -> bool:
        """Tell whether an atom is a function that is not negative, whatever its exponents and radicands."""
        return self.is_a(atom, ROOT) or self.is_positive(atom)

    # -- atoms
    def is_a(self, atom: int, operation: Operation) -> bool:
        """Tell whether an atom is a function of a polynomial."""
        return atom in self.arguments and self._store.operation(atom & 0xFFFFFFFF) == operation

    def _atom(self, operation: Operation, argument: Sparse) -> int:
        key = operation, frozenset(argument.items())
        if key not in self._atoms:
            unused = self._unused.setdefault(operation, [])
            if not unused:
                first, self._made = self._made, self._made + _AT_A_TIME
                terms = self._store.apply(operation, np.arange(self._made - 1, first - 1, -1))
                unused += self._quantifier.read(terms, F64).tolist()
            atom = unused.pop()
            self._atoms[key], self.arguments[atom] = atom, argument
            if operation == RECIPROCAL and len(argument) == 2 and argument.get(()) == 1:
                ((monomial, coefficient),) = ((key, value) for key, value in argument.items() if key)
                if len(monomial) == 1 and self.is_a(monomial[0], POWER):
                    self.binomials[atom] = coefficient, self.arguments[monomial[0]]
            if operation == RECIPROCAL and len(argument) == 1:
                ((monomial, coefficient),) = argument.items()
                if coefficient == 1 and len(monomial) == 1:
                    self.inverses[atom] = monomial[0]
        return self._atoms[key]

    def _piece(self, product: Product) -> Piece:
        factor, power = self.power(product.exponent)
        atoms = [atom for atom in (power, *product.atoms) if atom != self._one]
        coefficient: Any = np.array([product.coefficient * factor], dtype=object)
        return Piece(coefficient, tuple(np.array([atom], dtype=np.int64) for atom in atoms))


def _whole_ratio(one: Sparse, other: Sparse) -> int:
    """Return by which integer a polynomial is multiplied to be another one; 0 if by none, or a great one."""
    if one.keys() != other.keys():
        return 0
    ratios = {Fraction(value) / Fraction(other[key]) for key, value in one.items()}
    ratio = ratios.pop()
    return int(ratio) if not ratios and ratio.denominator == 1 and abs(ratio) <= _MOST_STEPS else 0


def _square_root(number: Coefficient) -> tuple[Coefficient, bool]:
    """Return the root of a positive number where it is rational, else 1, and whether it is."""
    exact = Fraction(number)
    above, below = isqrt(exact.numerator), isqrt(exact.denominator)
    if above * above == exact.numerator and below * below == exact.denominator:
        return ratio(above, below), True
    return 1, False


def _logarithm_of_power(number: Coefficient) -> int | None:
    """Return the logarithm of a power of two; None of other numbers."""
    exact = Fraction(number)
    above, below = exact.numerator, exact.denominator
    if above & (above - 1) or below & (below - 1):
        return None
    return above.bit_length() - below.bit_length()
