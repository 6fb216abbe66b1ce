"""What is wrong with a value, in the contract's own names: products missing, extra or swapped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..spec.formats import Format, IntegerFormat
from .polynomials import ABSENT, Polynomials
from .quantities import Quantifier
from .terms import CONCATENATION, CONSTANT, INPUT, NORMAL_FORM, UNDEFINED

MOST = 4
"""Products that a message names."""


@dataclass(frozen=True)
class Monomial:
    """A product with its coefficient.

    Attributes
    ----------
    coefficient : number
        Exact.
    atoms : tuple of int
        Quantities.
    """

    coefficient: Any
    atoms: tuple[int, ...]


class Namer:
    """Spells quantities as a contract does.

    Parameters
    ----------
    quantifier : Quantifier
        Of the quantities.
    shapes : mapping of str to tuple of int
        Extents of every input array by name; ``()`` of a scalar.
    """

    def __init__(self, quantifier: Quantifier, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self._quantifier = quantifier
        self._shapes = shapes

    def element(self, name: str, index: int) -> str:
        """Spell an element of an input: ``A[3,9]``."""
        shape = self._shapes.get(name, ())
        if not shape:
            return name
        return f"{name}[{','.join(map(str, np.unravel_index(index, shape)))}]"

    def quantity(self, quantity: int) -> str:
        """Spell a quantity."""
        term = int(self._quantifier.terms(np.array([quantity]))[0])
        spelled = self.term(term)
        fmt = self._quantifier.format(quantity)
        natural = self._quantifier.store.operation(term)
        if natural.name == INPUT and natural.result != fmt:
            return f"{fmt}({spelled})"
        return spelled

    def term(self, term: int, depth: int = 3) -> str:
        """Spell a term, to a depth."""
        store = self._quantifier.store
        operation = store.operation(term)
        arguments = store.arguments(np.array([term]))[0]
        if operation.name == INPUT:
            return self.element(str(operation.attribute), int(arguments[0]))
        if operation.name == CONSTANT:
            return hex(int(store.constant_values(np.array([term]))[0]))
        if operation.name == UNDEFINED:
            return "undefined"
        if operation.name == NORMAL_FORM:
            name = operation.attribute[0] if isinstance(operation.attribute, tuple) else operation.attribute
            return f"{name}(…)"
        if depth == 0 or operation.name == CONCATENATION:
            return f"{operation.name}(…)"
        given = (self.term(int(each), depth - 1) for each in arguments[: len(operation.operands)])
        return f"{operation.name}({', '.join(given)})"

    def monomial(self, monomial: Monomial) -> str:
        """Spell a product with its coefficient: ``2*A[3,9]*B[9,5]``."""
        factors = [self.quantity(atom) for atom in sorted(monomial.atoms)]
        number = abs(monomial.coefficient)
        if number != 1 or not factors:
            factors = [_number(number), *factors]
        return "*".join(factors)


def _number(value: Any) -> str:
    exact = Fraction(value)
    return str(exact.numerator) if exact.denominator == 1 else str(float(exact))


def monomials_of(difference: Polynomials, owner: int, fmt: Format) -> list[Monomial]:
    """Return the products of one owner's difference, signed."""
    start, end = np.searchsorted(difference.owners, [owner, owner + 1])
    half = 1 << (fmt.bits - 1) if isinstance(fmt, IntegerFormat) else None
    found = []
    for coefficient, atoms in zip(
        difference.coefficients[start:end], difference.atoms[start:end], strict=True
    ):
        number = coefficient
        if half is not None and number >= half:
            number = int(number) - 2 * half
        found.append(Monomial(number, tuple(int(atom) for atom in atoms if atom != ABSENT)))
    return found


def explained(monomials: Sequence[Monomial], namer: Namer) -> str:
    """Say what an output has and should not have, pairing products that share a factor."""
    extra = [monomial for monomial in monomials if monomial.coefficient > 0]
    missing = [monomial for monomial in monomials if monomial.coefficient < 0]
    said: list[str] = []
    for monomial in list(extra):
        partner = _counterpart(monomial, missing)
        if partner is not None:
            extra.remove(monomial)
            missing.remove(partner)
            said.append(f"uses {namer.monomial(monomial)}, expected {namer.monomial(partner)}")
    said += [f"lacks {namer.monomial(monomial)}" for monomial in missing]
    said += [f"has {namer.monomial(monomial)} too much" for monomial in extra]
    more = f"; and {len(said) - MOST} more" if len(said) > MOST else ""
    return "; ".join(said[:MOST]) + more


def _counterpart(monomial: Monomial, among: Sequence[Monomial]) -> Monomial | None:
    """Return the product that most likely should have been there: one factor is the same."""
    atoms = set(monomial.atoms)
    return next(
        (
            other
            for other in among
            if len(other.atoms) == len(monomial.atoms)
            and other.coefficient == -monomial.coefficient
            and len(atoms & set(other.atoms)) >= len(atoms) - 1
        ),
        None,
    )
