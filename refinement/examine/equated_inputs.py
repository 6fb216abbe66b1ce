"""Inputs of trials on which comparisons find equal numbers: all that can at once.

``x[k + 1] == x[k] + 2`` for all k, or ``x[k] == k`` for all k: a kernel that is wrong only there is right on
any numbers that are drawn. What is compared is linear in the inputs; the equations are solved by elimination.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..contract.contract import Instance
from ..expected.input_bounds import words_of
from ..expected.requirements import Requirements
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import sparse
from ..terms import operations
from ..terms.domains import Domain
from ..terms.input_ends import Reals
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, Operation, TermStore, bits
from ..terms.traversal import by_operation
from .counterexamples import input_formats
from .trial_inputs import Words

_EQUAL, _UNEQUAL = ("eq", "equ"), ("ne", "neu")

_MOST = 256
"""Comparisons of each format that are looked at: elimination takes time with the square of them."""

_LARGEST = 100
"""Inputs that no equation tells are integers up to here: sums and products of a few are exact in f32."""

_NOT_LINEAR = 2

Element = tuple[str, int]
"""An input by its name and linear index."""

Linear = Mapping[Element | None, Fraction]
"""A sum of multiples of inputs; None is 1."""


_OTHERS = (
    operations.SELECT, operations.EXTREMUM, operations.FUNCTION, operations.QUOTIENT, operations.COMPARE
)  # fmt: skip
"""What is not linear in what it is made of."""


class _Degree(Domain):
    """The degree of terms as polynomials in inputs, as they are written: 2 of whatever is not linear."""

    join = np.maximum

    def leaf(self, operation: Operation, terms: Ids) -> int:
        return {INPUT: 1, CONSTANT: 0}.get(operation.name, _NOT_LINEAR)

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        if operation.name in (operations.FUSED, operations.RING):
            assert isinstance(operation.attribute, operations.Sum)
            factors = 2 * operation.attribute.products
            products = [
                left + right for left, right in zip(given[:factors:2], given[1:factors:2], strict=True)
            ]
            given = [*products, *given[factors:]]
        degree = np.minimum(super().applied(operation, terms, given), _NOT_LINEAR)
        return _NOT_LINEAR * (degree > 0) if operation.name in _OTHERS else degree


def equated_inputs(
    instance: Instance, store: TermStore, requirements: Requirements, seed: int
) -> Iterator[dict[str, Words]]:
    """Yield sets on which as many comparisons as possible find equal numbers, from the first or the last on.

    Parameters
    ----------
    instance, store, requirements, seed
        As of `more_trial_inputs`.
    """
    equations, others = (list(_equations(store, each)) for each in (_EQUAL, _UNEQUAL))
    random, formats = np.random.default_rng([seed, 4]), input_formats(instance)
    every = equations + others
    orders = [every, every[::-1]] if every else []
    orders += [equations, others] if equations and others else []  # the others are rarely met, then
    for order in orders:
        values = {
            name: random.integers(0, _LARGEST, int(np.prod(shape))).astype(np.float64)
            for name, (_, shape) in formats.items()
        }
        for (name, index), rest in solved(order).items():
            if name in values and all(each is None or each[0] in values for each in rest):
                values[name][index] = float(sum(_of(each, values) * factor for each, factor in rest.items()))
        words = {name: words_of(numbers, formats[name][0]) for name, numbers in values.items()}
        if (met := requirements.admissible(words, random)) is not None:
            yield met


def _of(element: Element | None, values: Mapping[str, Reals]) -> Fraction:
    return Fraction(1) if element is None else Fraction(float(values[element[0]][element[1]]))


def solved(equations: Sequence[Linear]) -> dict[Element, Linear]:
    """Return inputs by others such that sums are 0: of sums that can't be together, the first ones."""
    found: dict[Element, dict[Element | None, Fraction]] = {}
    for equation in equations:
        left = _substituted(equation, found)
        unknown = [each for each in left if each is not None]
        if not unknown:
            continue
        pivot = min(unknown, key=lambda each: abs(left[each]) != 1)
        rest = {each: -factor / left[pivot] for each, factor in left.items() if each != pivot}
        for other, known in found.items():
            found[other] = _substituted(known, {pivot: rest})
        found[pivot] = rest
    return dict(found)


def _substituted(
    linear: Linear, known: Mapping[Element, Mapping[Element | None, Fraction]]
) -> dict[Element | None, Fraction]:
    """Return a sum with some inputs by others."""
    found: dict[Element | None, Fraction] = {}
    for element, factor in linear.items():
        parts = known.get(element, {element: Fraction(1)}) if element is not None else {None: Fraction(1)}
        for each, times in parts.items():
            found[each] = found.get(each, Fraction(0)) + factor * times
    return {each: total for each, total in found.items() if total}


def _equations(store: TermStore, relations: Sequence[str]) -> Iterator[Linear]:
    """Yield the differences of what is compared by some relations, of those that are linear in inputs."""
    terms = np.arange(len(store), dtype=np.int32)
    forms, degree = NormalForms(store), _Degree(store)
    forms.quantifier.is_patient = False
    for operation, members in by_operation(store, terms[store.are(operations.COMPARE, terms)]):
        fmt = operation.operands[0]
        if operation.attribute not in relations or not isinstance(fmt, FloatFormat | IntegerFormat):
            continue
        read: Format = bits(fmt.bits) if isinstance(fmt, IntegerFormat) else fmt
        compared = store.arguments(members)[:, :2]
        some = compared[degree.values(compared).max(axis=1) < _NOT_LINEAR][:_MOST]
        if not len(some):
            continue
        left, right = some.T
        try:
            differences = sparse(forms.difference(left, right, read), len(some))
        except (UnsupportedError, RecursionError):
            continue
        for difference in differences:
            linear = _linear(store, forms, difference, fmt)
            if linear is not None:
                yield linear


def _linear(
    store: TermStore, forms: NormalForms, difference: Mapping[tuple[int, ...], int | Fraction], fmt: Format
) -> Linear | None:
    """Return what is linear in inputs read in their own format; None of other polynomials."""
    found: dict[Element | None, Fraction] = {}
    half = 1 << fmt.bits - 1
    for monomial, coefficient in difference.items():
        factor = Fraction(coefficient)
        if isinstance(fmt, IntegerFormat):  # modulo a power of two: the least
            factor = (factor + half) % (2 * half) - half
        if not monomial:
            found[None] = factor
            continue
        term = forms.quantifier.terms(np.array(monomial, dtype=np.int64))
        if len(monomial) != 1 or not store.are(INPUT, term)[0]:
            return None
        name = str(store.operation(int(term[0])).attribute)
        found[name, int(store.arguments(term)[0, 0])] = factor
    return found
