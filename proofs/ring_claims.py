"""Claims over a commutative ring: decided on polynomials, refuted by integers.

Two polynomials over the integers differ exactly if they have different values somewhere, so what
refutes an identity is numbers for its indeterminates. They tell more than polynomials do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..smt.integers import IntegerAlgebra
from ..smt.ring_algebra import RingAlgebra, polynomial_variables
from ..spec.algebra import Algebra, Array
from ..spec.errors import InputError
from .obligation import EmptyClaimError, Equality, IntegerProperty, Obligation, RingProperty, Status
from .replay import Counterexample, Difference
from .verdict import RING, Verdict

FORMAT = "integer"
"""The format of inputs that are indeterminates' values."""

_GREATEST = (3, 7, 63, 1023, 65535)
"""Bounds of the numbers that are tried, several times each."""

_ATTEMPTS = 4


def decide_in_ring(obligation: Obligation, prop: RingProperty) -> Verdict:
    """Decide whether a claim holds for the indeterminates of a polynomial ring over the integers.

    Raises
    ------
    EmptyClaimError
        If nothing is compared.
    """
    shapes = {v.name: v.shape for v in prop.variables}
    different, compared = _difference(prop, polynomial_variables(shapes), obligation.equality)
    if different is None:
        if not compared:
            raise EmptyClaimError
        return Verdict(obligation.id, Status.PROVED, "sympy", method=RING)
    found = numbers_that_refute(obligation, prop) or Counterexample(obligation.id, {}, different)
    return Verdict(obligation.id, Status.REFUTED, "sympy", counterexample=found, method=RING)


def difference_at(prop: RingProperty, numbers: Mapping[str, Array], equality: Equality) -> Difference | None:
    """Return the first difference of a claim's sides where its indeterminates have values.

    Parameters
    ----------
    prop : RingProperty
        The claim.
    numbers : mapping of str to array
        The values, Python integers in object arrays.
    equality : Equality
        Which equality is meant.
    """
    return _difference(prop, numbers, equality)[0]


def read_numbers(inputs: Any, prop: RingProperty, where: str) -> dict[str, Array]:
    """Read the values of indeterminates from the inputs of a counterexample document.

    Raises
    ------
    InputError
        If one is missing, or its shape or a number does not fit.
    """
    found = {}
    for variable in prop.variables:
        entry = inputs.get(variable.name) if isinstance(inputs, dict) else None
        values = entry.get("values") if isinstance(entry, dict) else None
        count = int(np.prod(variable.shape, dtype=int))
        if not isinstance(values, list) or len(values) != count:
            raise InputError(f'input {variable.name!r} must have {count} numbers in "values"', where)
        try:
            found[variable.name] = _array([int(value) for value in values], variable.shape)
        except (TypeError, ValueError):
            raise InputError(f"input {variable.name!r} has values that are not integers", where) from None
    return found


def _difference(
    prop: RingProperty, elements: Mapping[str, Array], equality: Equality
) -> tuple[Difference | None, int]:
    """Return the first difference and how many elements were compared until then."""
    inputs = {**elements, **prop.concrete}
    alg: Algebra = RingAlgebra()
    compared = 0
    if isinstance(prop, IntegerProperty):
        alg = IntegerAlgebra()
        if prop.assuming and not all(np.all(condition) for condition in prop.assuming(alg, inputs)):
            return None, 0
    for equation in prop.claim(alg, inputs):
        wrong = ~equation.truth(alg, equality)
        compared += wrong.size
        if equation.where is not None:
            wrong = wrong & equation.where
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            left, right = (
                str(np.broadcast_to(side, wrong.shape)[index]) for side in (equation.left, equation.right)
            )
            return Difference(equation.label, index, left, right), compared
    return None, compared


def numbers_that_refute(obligation: Obligation, prop: RingProperty) -> Counterexample | None:
    """Look for numbers for which the two sides of a claim differ; None when none was met."""
    for numbers in _numbers(prop):
        if (different := difference_at(prop, numbers, obligation.equality)) is not None:
            inputs = {name: documented(array) for name, array in numbers.items()}
            return Counterexample(obligation.id, inputs, different)
    return None


def _numbers(prop: RingProperty) -> Iterator[dict[str, Array]]:
    """Yield values of the indeterminates: odd, so that no truncation of halves leaves them as they are."""
    rng = np.random.default_rng(0)
    for greatest, _ in itertools.product(_GREATEST, range(_ATTEMPTS)):
        yield {
            v.name: _array((2 * rng.integers(0, (greatest + 1) // 2, v.shape) + 1).ravel().tolist(), v.shape)
            for v in prop.variables
        }


def _array(numbers: list[int], shape: tuple[int, ...]) -> Array:
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    return array.reshape(shape)


def documented(array: Array) -> dict[str, Any]:
    """Return the values of a variable as a counterexample documents them."""
    numbers = array.ravel().tolist()
    return {
        "format": FORMAT,
        "shape": list(array.shape),
        "bits": [f"{number:#x}" for number in numbers],
        "values": [str(number) for number in numbers],
    }
