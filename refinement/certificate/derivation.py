"""Finds the instances of rows by which both sides of equations become equal.

The terms are gone through in the order of the document, and evaluated at a random point as the recheck does.
Before an application is made that a row equates with something simpler, the row is applied to it; what the
recheck would refuse is left out. Nothing rests on this: the recheck decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from ...spec.formats import FloatFormat, Format
from ..analysis.literal_constants import LN_OF_2, LOG2_OF_10, LOG2_OF_E, fraction, multiple
from ..recheck.document import RefusedError, Section, Step
from ..recheck.rechecking import SectionRecheck
from ..recheck.residues import PRIME, Residue, negated, number, times

_MOST_PRODUCTS = 64
"""Products into which a product of two sums is multiplied out, at most."""

_MOST_MULTIPLE = 16
"""Greatest power of a power of two that is written as a product."""

_LIMITS: Mapping[str, tuple[str, Callable[[Residue], Residue]]] = MappingProxyType(
    {
        "max": ("floats/greatest-beside-minus-infinity", negated),
        "min": ("floats/least-beside-infinity", lambda infinity: infinity),
    }
)
"""What an extremum of a number and an infinity is, and which infinity."""

IRRATIONAL = {LOG2_OF_E: "log2_of_e", LN_OF_2: "ln_of_2", LOG2_OF_10: "log2_of_10"}
"""Names of irrational numbers in rows."""

_ROOT = ("elementary/reciprocal-root", "-elementary/reciprocal-of-root")
"""``rsqrt(x) = sqrt(x) * rcp(x) = rcp(sqrt(x))``."""


class Monomial(NamedTuple):
    """A coefficient, and an expression of terms."""

    coefficient: Fraction
    text: str


Instance = tuple[tuple[str, ...], dict[str, str]]
"""Rows, and what their variables are."""

Linear = Mapping[int, Monomial]
"""A sum, by the residues of what its coefficients are of."""


def literals_of(section: Section) -> dict[tuple[int, Format], tuple[str, int, int]]:
    """Return the constants of a section that may stand for irrational numbers or for simple fractions."""
    found: dict[tuple[int, Format], tuple[str, int, int]] = {}
    for operation, arguments in section.terms:
        for argument, fmt in zip(arguments, operation.operands, strict=False):
            one = section.terms[argument]
            if one.operation.name == "constant" and isinstance(fmt, FloatFormat):
                stands = _stands_for(one.arguments[0], fmt)
                if stands is not None:
                    found[one.arguments[0], fmt] = stands
    return found


def _stands_for(word: int, fmt: FloatFormat) -> tuple[str, int, int] | None:
    irrational, exact = multiple(word, fmt), fmt.exact(word)
    if irrational is not None:
        ratio = Fraction(irrational.factor)
        return IRRATIONAL[irrational.name], ratio.numerator, ratio.denominator
    if exact is None or (simple := fraction(exact, fmt)) == exact:
        return None
    return "one", simple.numerator, simple.denominator


class Derivation:
    """Finds the steps of a section.

    Parameters
    ----------
    section : Section
        The section, without steps.
    powers : bool
        Whether powers of two of sums are written as products, and tanh by them.
    """

    def __init__(self, section: Section, *, powers: bool) -> None:
        self._section, self._powers = section, powers
        self._live = SectionRecheck(section)
        self._terms = self._live.terms
        self._infinity = self._live.point.functions["infinity"]()
        self._linear: dict[tuple[int, Format], Linear] = {}
        self._units: dict[int, Fraction] = {}
        self._multiples: set[tuple[int, Fraction]] = set()
        self._made: set[tuple[str, int]] = set()
        self.steps: list[Step] = []

    def run(self) -> None:
        """Go through all terms."""
        for term in range(len(self._section.terms)):
            for rows, variables in self._candidates(term):
                step = Step(term, rows, variables)
                try:
                    self._live.apply(step)
                except RefusedError:
                    continue
                self.steps.append(step)
            self._terms.compute(term)

    def holds(self, relation: str, actual: int, expected: int, fmt: Format) -> bool:
        """Tell whether two terms are equal."""
        return self._live.holds(relation, actual, expected, fmt)

    def _candidates(self, term: int) -> Iterator[Instance]:
        """Yield instances of rows that may be about an application that a term makes."""
        operation, arguments = self._section.terms[term]
        if operation.name == "select":
            yield from self._choices(arguments)
        elif operation.name == "extremum" and isinstance(operation.result, FloatFormat):
            row, limit = _LIMITS[operation.attribute[0]]
            for one, other in (arguments, arguments[::-1]):
                if self._terms.read(other, operation.result) == limit(self._infinity):
                    yield (row,), {"x": self._name(one, operation.result)}
        elif operation.name == "function" and isinstance(operation.result, FloatFormat):
            stem = str(operation.attribute).partition(".")[0]
            fmt = operation.operands[0]
            if stem in ("ex2", "tanh", "erf", "sin", "cos", "rsqrt") and isinstance(fmt, FloatFormat):
                yield from self._of_function(stem, arguments[0], fmt)

    def _of_function(self, stem: str, argument: int, fmt: Format) -> Iterator[Instance]:
        name, value = self._name(argument, fmt), self._terms.read(argument, fmt).value
        if (stem, value) in self._made:
            return
        self._made.add((stem, value))
        if stem == "rsqrt":
            yield _ROOT, {"x": name}
        elif stem == "ex2" and self._powers:
            yield from self._power(self._sum(argument, fmt))
        elif stem == "tanh" and self._powers:
            log2_of_e = self._live.point.constants["log2_of_e"]
            factor = {log2_of_e.value: Monomial(Fraction(2), "log2_of_e")}
            if (exponent := self._product(self._sum(argument, fmt), factor)) is not None:
                yield from self._power(exponent)
            yield ("elementary/hyperbolic-tangent",), {"x": name}
        elif stem in ("tanh", "erf", "sin", "cos") and value > PRIME - value:
            yield (f"elementary/{stem}-is-{'even' if stem == 'cos' else 'odd'}",), {"x": f"-{name}"}

    def _choices(self, arguments: tuple[int, ...]) -> Iterator[Instance]:
        """Yield what equates a choice by a comparison with an extremum, or with a number."""
        operation, compared = self._section.terms[arguments[0]]
        if operation.name != "compare":
            return
        fmt, relation = operation.operands[0], str(operation.attribute)
        then, otherwise = arguments[1:]
        a, b, x, y = (self._terms.read(each, fmt).value for each in (*compared, then, otherwise))
        names = [self._name(each, fmt) for each in compared]
        if relation in ("num", "nan") and a == b == (x if relation == "num" else y):
            chosen = (then, otherwise) if relation == "num" else (otherwise, then)
            yield (
                ("choices/number",),
                dict(zip("xy", (self._name(each, fmt) for each in chosen), strict=True)),
            )
        relation = relation.removesuffix("u")
        if (x, y) not in ((a, b), (b, a)) or relation not in ("gt", "ge", "lt", "le"):
            return
        if relation in ("lt", "le"):  # a < b is b > a
            names, a, b = names[::-1], b, a
        sides = dict(zip("xy", names, strict=True))
        if relation in ("gt", "lt"):
            yield (f"extrema/chosen-{'greater' if x == a else 'otherwise'}",), sides
        elif x == a:
            yield ("extrema/chosen-not-less",), sides
        else:
            yield ("extrema/chosen-less",), sides
            yield ("conditions/opposite",), sides | dict(zip("zw", names[::-1], strict=True))

    # -- powers of two
    def _power(self, exponent: Linear) -> Iterator[Instance]:
        """Yield what makes a power of two of a sum a product of powers, each of one unit of its monomial."""
        one = number(1).value
        texts = []
        for key in sorted(exponent):
            coefficient, text = exponent[key]
            texts.append(_scaled(coefficient, text))
            if key != one:
                yield from self._multiple(key, coefficient, text)
        rest = texts.pop() if texts else ""
        while texts:
            first = texts.pop()
            yield ("elementary/power-of-sum",), {"x": first, "y": rest}
            rest = f"{first} + {rest}"

    def _multiple(self, key: int, coefficient: Fraction, text: str) -> Iterator[Instance]:
        if (key, coefficient) in self._multiples:
            return
        self._multiples.add((key, coefficient))
        unit = self._units.setdefault(key, abs(coefficient))
        ratio = abs(coefficient) / unit
        if ratio.denominator == 1 and ratio <= _MOST_MULTIPLE:
            for factor in range(2, int(ratio) + 1):
                x, y = (_scaled(unit * each, text) for each in (1, factor - 1))
                yield ("elementary/power-of-sum",), {"x": x, "y": y}
        if coefficient < 0:
            yield ("elementary/reciprocal-of-power",), {"x": _scaled(-coefficient, text)}

    # -- sums
    def _name(self, term: int, fmt: Format) -> str:
        own = self._section.terms[term].operation.result
        return f"t{term}" if own == fmt else f"t{term}_{fmt}"

    def _sum(self, term: int, fmt: Format) -> Linear:
        """Return a term as a sum of multiples of what does not split."""
        if (term, fmt) not in self._linear:
            found = self._split(term, fmt)
            residue = self._terms.read(term, fmt).value
            alone = {residue: Monomial(Fraction(1), self._name(term, fmt))}
            self._linear[term, fmt] = alone if found is None else found
        return self._linear[term, fmt]

    def _split(self, term: int, fmt: Format) -> Linear | None:
        operation, arguments = self._section.terms[term]
        if operation.name == "constant" and isinstance(fmt, FloatFormat):
            return self._constant(arguments[0], fmt)
        sums_up = operation.name == "negate" or operation.name in ("fused", "convert")
        if operation.result != fmt or not sums_up or not self._terms.rounds(term):
            return None
        sums = [self._sum(each, of) for each, of in zip(arguments, operation.operands, strict=True)]
        if operation.name == "negate":
            return _scaled_sum(sums[0], Fraction(-1))
        if operation.name == "convert":
            return sums[0]
        factors = 2 * operation.attribute[0]
        products = [self._product(*pair) for pair in zip(sums[:factors:2], sums[1:factors:2], strict=True)]
        return None if None in products else _added([*filter(None, products), *sums[factors:]])

    def _constant(self, word: int, fmt: FloatFormat) -> Linear | None:
        exact = fmt.exact(word)
        if exact is None:
            return None
        name, *ratio = self._section.literals.get((word, fmt), ("one", exact.numerator, exact.denominator))
        residue = self._live.point.constants.get(name, number(1))
        text = name if name in self._live.point.constants else "1"
        return {residue.value: Monomial(Fraction(*ratio), text)} if exact else {}

    def _product(self, left: Linear, right: Linear) -> Linear | None:
        if len(left) * len(right) > _MOST_PRODUCTS:
            return None
        products = []
        for one, (x, text) in left.items():
            for other, (y, more) in right.items():
                residue = times(number(one), number(other)).value
                written = " * ".join(each for each in (text, more) if each != "1") or "1"
                products.append({residue: Monomial(x * y, written)})
        return _added(products)


def _added(sums: list[Any]) -> Linear:
    found: dict[int, Monomial] = {}
    for one in sums:
        for key, (coefficient, text) in one.items():
            known = found.get(key, Monomial(Fraction(0), text))
            found[key] = Monomial(known.coefficient + coefficient, known.text)
    return {key: each for key, each in found.items() if each.coefficient}


def _scaled_sum(of: Linear, factor: Fraction) -> Linear:
    return {key: Monomial(factor * each.coefficient, each.text) for key, each in of.items()}


def _scaled(coefficient: Fraction, text: str) -> str:
    """Return the expression of a multiple."""
    number_text = str(coefficient.numerator)
    if coefficient.denominator != 1:
        number_text = f"{number_text} / {coefficient.denominator}"
    return number_text if text == "1" else f"{number_text} * {text}"
