"""Single sparse polynomials, coefficients by monomial: for the few arguments of functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from . import reading_words
from .polynomials import ABSENT, Polynomials

Coefficient = reading_words.Coefficient
Monomial = reading_words.Monomial

Sparse = Mapping[Monomial, Coefficient]
"""What the monomials of a polynomial are multiplied with; none of it is 0."""


def sparse(found: Polynomials, count: int) -> list[dict[Monomial, Coefficient]]:
    """Return the polynomials of owners 0 to ``count - 1``."""
    result: list[dict[Monomial, Coefficient]] = [{} for _ in range(count)]
    degrees = (found.atoms != ABSENT).sum(axis=1).tolist()
    rows = zip(found.owners.tolist(), found.coefficients.tolist(), found.atoms.tolist(), degrees, strict=True)
    for owner, coefficient, atoms, degree in rows:
        result[owner][tuple(atoms[:degree])] = coefficient
    return result


def added(one: Sparse, other: Sparse, factor: Coefficient = 1) -> dict[Monomial, Coefficient]:
    """Return ``one + factor * other``."""
    result = dict(one)
    for monomial, coefficient in other.items():
        total = result.get(monomial, 0) + factor * coefficient
        if total:
            result[monomial] = total
        else:
            del result[monomial]
    return result


def is_less(one: Sparse, other: Sparse) -> bool:
    """Order polynomials so that adding the same to both changes nothing."""
    apart = added(one, other, -1)
    return bool(apart) and apart[min(apart)] < 0


def common_atoms(monomials: Sequence[Monomial]) -> Monomial:
    """Return the atoms that all monomials have, as often as all of them do."""
    shared = list(monomials[0])
    for monomial in monomials[1:]:
        left = list(monomial)
        kept = []
        for atom in shared:
            if atom in left:
                left.remove(atom)
                kept.append(atom)
        shared = kept
        if not shared:
            break
    return tuple(shared)


def without(monomial: Monomial, shared: Monomial) -> Monomial:
    """Return a monomial divided by atoms that it has."""
    left = list(monomial)
    for atom in shared:
        left.remove(atom)
    return tuple(left)


def ratio(one: Coefficient, other: Coefficient) -> Coefficient:
    """Return the quotient of coefficients, an integer where it is one."""
    quotient = Fraction(one) / Fraction(other)
    return quotient.numerator if quotient.denominator == 1 else quotient
