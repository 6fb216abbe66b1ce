"""Diagnosis of wrong values in the contract's names: missing, extra and swapped products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..normal_forms.polynomials import ABSENT, Polynomials
from ..normal_forms.readings import Quantifier
from ..terms.operations import (
    COMPARE,
    DOT,
    EXTEND,
    EXTREMUM,
    FUNCTION,
    FUSED,
    RING,
    SELECT,
    Accumulation,
    Sum,
)
from ..terms.store import CONCATENATION, CONSTANT, INPUT, NORMAL_FORM, UNDEFINED, VECTOR, Operation
from ..terms.value_tables import TABLE
from .table_names import table_name

_SIGNS = MappingProxyType(
    {
        "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
        "lo": "<", "ls": "<=", "hi": ">", "hs": ">=",
    }
)  # fmt: skip
_NAMES = MappingProxyType({SELECT: "where"})

MOST = 4
"""Products that a message names."""

_SPELLED = 2
"""Products of one term that are spelled."""

_NUMBERS = 6
"""Numbers that are spelled of those of which one is the greatest or the least."""


@dataclass(frozen=True)
class Monomial:
    """A product whose coefficients in kernel and contract differ.

    Attributes
    ----------
    atoms : tuple of int
        Quantities.
    kernel, contract : number
        How often each side adds it, exactly.
    """

    atoms: tuple[int, ...]
    kernel: Any
    contract: Any


class Namer:
    """Spells readings in the contract's names.

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

    def term(self, term: int, depth: int = 3, fmt: Format | None = None) -> str:
        """Spell a term, to a depth; a constant as the number that it is in a format."""
        store = self._quantifier.store
        operation = store.operation(term)
        arguments = store.arguments(np.array([term]))[0]
        if operation.name == INPUT:
            return self.element(str(operation.attribute), int(arguments[0]))
        if operation.name == CONSTANT:
            return _constant(int(store.constant_values(np.array([term]))[0]), fmt)
        if operation.name == UNDEFINED:
            return "undefined" if operation.attribute is None else str(operation.attribute)
        if operation.name == VECTOR:
            return "[…]"
        if _is_table(operation):
            leaf = int(arguments[0])
            assert isinstance(operation.attribute, tuple)
            return table_name(
                operation.attribute[1], operation.result, store.operation(leaf).result, self.term(leaf)
            )
        if operation.name == NORMAL_FORM:
            if (origin := self._quantifier.origin(term)) is not None:
                return self.term(origin, depth, fmt)
            name = operation.attribute[0] if isinstance(operation.attribute, tuple) else operation.attribute
            return f"{name}(…)"
        if operation.name == EXTEND:
            return self.term(int(arguments[0]), depth, operation.operands[0])
        name = str(operation.attribute) if operation.name == FUNCTION else operation.name
        if operation.name == EXTREMUM:
            return self._extremum(term, depth)
        if depth == 0 or operation.name == CONCATENATION:
            return f"{name}(…)"
        if operation.name in (FUSED, DOT, RING):
            return self._sum(operation, arguments, depth)
        formats = (operation.operands[0], fmt, fmt) if operation.name == SELECT else operation.operands
        given = [
            self.term(int(each), depth - 1, read) for each, read in zip(arguments, formats, strict=False)
        ]
        if operation.name == COMPARE and (relation := _SIGNS.get(str(operation.attribute).removesuffix("u"))):
            return f" {relation} ".join(given)
        return f"{_NAMES.get(name, name)}({', '.join(given)})"

    def _extremum(self, term: int, depth: int) -> str:
        """Spell the first numbers of which one is the greatest or the least, however they nest."""
        store = self._quantifier.store
        operation, pending, found = store.operation(term), [term], list[int]()
        assert isinstance(operation.attribute, tuple)
        if depth == 0:
            return f"{operation.attribute[0]}(…)"
        while pending and len(found) <= _NUMBERS:
            each = pending.pop()
            if store.operation(each) == operation:
                pending += reversed(store.arguments(np.array([each]))[0, :2].tolist())
            else:
                found.append(each)
        given = [self.term(each, depth - 1, operation.result) for each in found[:_NUMBERS]]
        more = ["…"] * (len(found) > _NUMBERS)
        return f"{operation.attribute[0]}({', '.join(given + more)})"

    def _place(self, quantity: int) -> tuple[int, int]:
        """Return where a factor stands in a product: inputs as the contract has them, others after them."""
        store = self._quantifier.store
        (term,) = self._quantifier.terms(np.array([quantity]))
        operation = store.operation(int(term))
        if _is_table(operation):
            term = store.arguments(term)[0]
            operation = store.operation(int(term))
        names = list(self._shapes)
        if operation.name != INPUT or operation.attribute not in names:
            return len(names), quantity
        return names.index(str(operation.attribute)), int(store.arguments(term)[0])

    def _sum(self, operation: Operation, arguments: Sequence[int], depth: int) -> str:
        """Spell a sum of products: ``f32(A[0,0]*B[0,0] + A[0,1]*B[1,0] + …)``."""
        store, formats = self._quantifier.store, operation.operands
        factor: Callable[[tuple[int, Format]], str] = lambda read: self.term(read[0], depth - 1, read[1])  # noqa: E731
        if isinstance(operation.attribute, Accumulation):
            x, y = (store.elements(np.array([vector]))[0].tolist() for vector in arguments[:2])
            pairs = [((x, formats[0]), (y, formats[1])) for x, y in zip(x, y, strict=True)]
            addends = [(int(arguments[2]), formats[2])]
        else:
            assert isinstance(operation.attribute, Sum)
            read = [(int(each), fmt) for each, fmt in zip(arguments, formats, strict=False)]
            products = 2 * operation.attribute.products
            pairs = list(zip(read[:products:2], read[1:products:2], strict=True))
            addends = read[products:]
        spelled = [f"{factor(x)}*{factor(y)}" for x, y in pairs[:_SPELLED]]
        spelled += ["…"] * (len(pairs) > _SPELLED)
        spelled += [factor(addend) for addend in addends]
        return f"{operation.result}({' + '.join(spelled)})"

    def monomial(self, atoms: Sequence[int], coefficient: Any) -> str:
        """Spell a product with its coefficient: ``2*A[3,9]*B[9,5]``, inputs in the contract's order."""
        factors = [self.quantity(atom) for atom in sorted(atoms, key=self._place)]
        if coefficient != 1 or not factors:
            factors = [_number(coefficient), *factors]
        return "*".join(factors)


def _is_table(operation: Operation) -> bool:
    """Tell whether a term is a function of one element that is known by its values."""
    how = operation.attribute
    return operation.name == NORMAL_FORM and isinstance(how, tuple) and how[0] == TABLE


def _constant(word: int, fmt: Format | None) -> str:
    """Spell a constant as the number that it is in a floating-point format; else its bits."""
    exact = fmt.exact(word) if isinstance(fmt, FloatFormat) else None
    return hex(word) if exact is None else _number(exact)


def _number(value: Any) -> str:
    exact = Fraction(value)
    return str(exact.numerator) if exact.denominator == 1 else str(float(exact))


def differing(kernel: Polynomials, contract: Polynomials, owner: int, fmt: Format) -> list[Monomial]:
    """Return the products of one owner that the two sides do not add equally often."""
    sides = [_coefficients(each, owner, fmt) for each in (kernel, contract)]
    found = [Monomial(atoms, sides[0].get(atoms, 0), sides[1].get(atoms, 0)) for atoms in sides[0] | sides[1]]
    return [monomial for monomial in found if monomial.kernel != monomial.contract]


def _coefficients(polynomials: Polynomials, owner: int, fmt: Format) -> dict[tuple[int, ...], Any]:
    start, end = np.searchsorted(polynomials.owners, [owner, owner + 1])
    half = 1 << (fmt.bits - 1) if isinstance(fmt, IntegerFormat) else None
    found: dict[tuple[int, ...], Any] = {}
    rows = zip(polynomials.coefficients[start:end].tolist(), polynomials.atoms[start:end], strict=True)
    for coefficient, atoms in rows:
        number = coefficient - 2 * half if half is not None and coefficient >= half else coefficient
        found[tuple(int(atom) for atom in atoms if atom != ABSENT)] = number
    return found


Inside = Callable[[int, int], str]
"""Says in what the arguments of two quantities, the kernel's and the contract's, differ; or nothing."""


def explained(monomials: Sequence[Monomial], namer: Namer, inside: Inside = lambda one, other: "") -> str:
    """Say what an output has and should not have, pairing products that share a factor."""
    extra = [monomial for monomial in monomials if monomial.contract == 0]
    missing = [monomial for monomial in monomials if monomial.kernel == 0]
    swapped: list[str] = []
    for monomial in list(extra):
        partner = _counterpart(monomial, missing)
        if partner is not None:
            extra.remove(monomial)
            missing.remove(partner)
            used = namer.monomial(monomial.atoms, monomial.kernel)
            expected = namer.monomial(partner.atoms, partner.contract)
            apart = [set(x.atoms) - set(y.atoms) for x, y in ((monomial, partner), (partner, monomial))]
            detail = inside(*(each.pop() for each in apart)) if all(apart) and not swapped else ""
            # Only what its bits are read as differs: a sign, a type, a table; or what is not spelled.
            unspelled = " of other values in place of …" if "…" in used else " by another reading of its bits"
            otherwise = unspelled if used == expected else ""
            swapped.append(f"uses {used}{otherwise}, expected {expected}{detail}")
    counted = [
        f"has {namer.monomial(monomial.atoms, monomial.kernel)}, expected "
        f"{namer.monomial(monomial.atoms, monomial.contract)}"
        for monomial in monomials
        if monomial.kernel != 0 and monomial.contract != 0
    ]
    lacks = [f"lacks {namer.monomial(monomial.atoms, monomial.contract)}" for monomial in missing]
    has = [f"has {namer.monomial(monomial.atoms, monomial.kernel)} too much" for monomial in extra]
    # One of each kind comes first.
    kinds = [kind for kind in (swapped, counted, has, lacks) if kind]
    said = [kind[0] for kind in kinds] + [text for kind in kinds for text in kind[1:]]
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
            and other.contract == monomial.kernel
            and len(atoms & set(other.atoms)) >= len(atoms) - 1
        ),
        None,
    )


def paired(monomials: Sequence[Monomial]) -> list[tuple[Monomial, Monomial]]:
    """Return the products that a kernel has too often, each with the one that likely should be there.

    One without such a counterpart comes with itself, behind the others.
    """
    missing = [monomial for monomial in monomials if monomial.kernel == 0]
    found, alone = [], []
    for monomial in monomials:
        if monomial.kernel == 0:
            continue
        partner = _counterpart(monomial, missing) if monomial.contract == 0 else None
        if partner is None:
            alone.append((monomial, monomial))
        else:
            missing.remove(partner)
            found.append((monomial, partner))
    return found + alone
