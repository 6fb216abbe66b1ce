"""Expected values of a kernel's outputs, as terms.

Integers are exact: a part is computed modulo a power of two only where nothing but its value modulo the
output (or a cast) counts. Real numbers are terms of f32, or of f64 where the formula has an f64.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F64
from ..analysis.literal_constants import LOG2_OF_10, LOG2_OF_E, is_nearly
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..formula.tree import (
    Formula,
)
from ..terms.interning import Ids
from ..terms.store import TermStore
from .bound_inference import bounded_store
from .formula_space import FormulaSpace
from .formula_terms import FormulaTerms

_MOST_SPELLED = 10**6
"""Denominators of fractions that are spelled as such."""


def expected_terms(
    instance: Instance, output: Array, store: TermStore, *, exact_quotients: bool = False
) -> Ids:
    """Return what an output is to be.

    Parameters
    ----------
    instance : Instance
        A contract at one set of sizes.
    output : Array
        One of its outputs.
    store : TermStore
        Where the terms are made. Inputs are elements by their linear (row-major) index in the shape, an
        ``inout`` array's those before the kernel; given contents are constants.
    exact_quotients : bool
        Make quotients by numbers that the working format has quotients, not products with rounded
        reciprocals: for a `Quantifier` that reads them as the exact ones.

    Returns
    -------
    array of terms (shape)
        Elements that the formula does not cover are what they were: inputs of the output's name.

    Raises
    ------
    InputError
        If an index leaves its array, or an integer may need more than 64 bits.
    """
    space = FormulaSpace(instance, instance.contract.formula(output.name))
    line, store.line = store.line, 0
    try:
        terms = FormulaTerms(space, store, exact_quotients=exact_quotients).stored(output.format)
    finally:
        store.line = line
    expected = store.inputs(output.name, output.format, np.arange(output.elements))
    linear, holds = space.target
    expected[linear[holds]] = space.over_output(terms)[holds]
    return expected.reshape(output.shape)


def error_terms(instance: Instance, output: Array, formula: Formula, store: TermStore) -> Ids:
    """Return the terms (elements,), of f64, of a formula about an output's elements.

    Those of elements that the formula does not cover are 0; raises as `expected_terms`.
    """
    space = FormulaSpace(instance, formula)
    line, store.line = store.line, 0
    try:
        terms = FormulaTerms(space, store).stored(F64)
    finally:
        store.line = line
    found = np.broadcast_to(store.constants(0, F64.bits), output.elements).copy()
    linear, holds = space.target
    found[linear[holds]] = space.over_output(terms)[holds]
    return found


def literal_growth(instance: Instance, output: Array, *, exact_quotients: bool = False) -> float:
    """Return by how much rounded literals and quotients change a formula's products, as a logarithm.

    Terms have them in the working format, whereas the formula means the exact numbers. Infinite where a
    rounded one is an argument of a function, or in a divisor, so that no bound follows from its own. For
    `exact_quotients` see `expected_terms`.
    """
    return float(sum(_made(instance, output, exact_quotients=exact_quotients).deviations))


def rounded_literals(instance: Instance, output: Array) -> Iterator[str]:
    """Yield the literals and quotients of an output's formula that are rounded in its terms."""
    made = _made(instance, output)
    for exact, off in made.rounded.items():
        number = str(exact) if exact.denominator < _MOST_SPELLED else f"{float(exact):.9g}"
        number = next((each for each in (LOG2_OF_E, LOG2_OF_10) if is_nearly(exact, each)), number)
        fmt = made.make.working
        yield f"{number} of the formula is rounded to the nearest {fmt} (relative error 2^{np.log2(off):.1f})"


def _made(instance: Instance, output: Array, *, exact_quotients: bool = False) -> FormulaTerms:
    space = FormulaSpace(instance, instance.contract.formula(output.name))
    found = FormulaTerms(space, bounded_store(instance), exact_quotients=exact_quotients)
    found.stored(output.format)
    return found


def covered(instance: Instance, output: Array) -> NDArray[np.bool_]:
    """Return which elements (shape) of an output its formula describes."""
    return FormulaSpace(instance, instance.contract.formula(output.name)).covered()
