"""Every rule by which formulas are equal over the reals, against 60 digits; and faults in the rules.

Each family makes two formulas that one rule relates, if their parameters are the same; mostly one differs.
What the normal forms call equal must have equal values. A fault in a rule must make some pair equal that
numbers refute, or one unequal that the rule is there for.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from random import Random
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
from real_expressions import Expressions, NormalFormValues, NoValueError
from real_formula_families import (
    FAMILIES,
    INPUTS,
    POINTS,
    Family,
    Pair,
    X,
    crosswise,
    fractions,
    hyperbolic,
    literals,
    masks,
    maxima,
    powers,
    products,
    quotients,
    roots,
    signs,
)

from mmaproof.refinement.analysis import literal_constants
from mmaproof.refinement.checker.evaluated import ObjectionError
from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.equality.sign_cases import SignCases
from mmaproof.refinement.normal_forms import (
    common_denominators,
    elementary_forms,
    extrema,
    extremal_terms,
    monomial_reduction,
)
from mmaproof.refinement.normal_forms.elementary_forms import OutweighedMaskError
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.normal_forms.function_symmetries import FunctionSymmetries
from mmaproof.spec.formats import F32


def points(expressions: Expressions) -> Iterator[dict[int, Any]]:
    """Yield values of the inputs."""
    for point in POINTS:
        values = (mpmath.mpf(each.numerator) / each.denominator for each in point)
        yield dict(zip(expressions.inputs.tolist(), values, strict=True))


def tolerance(forms: NormalForms) -> float:
    """Return how far values may be apart: literals for other numbers, and masks, are not exact."""
    return 1e-5 if forms.uncounted or forms.quantifier.literals else 1e-40


class Judged(NamedTuple):
    """What is said of two formulas: that they are equal, and whether numbers refute it."""

    equal: bool
    refuted: bool


def judged(pair: Pair) -> Judged:
    expressions = Expressions(F32, INPUTS)
    left, right = (np.array([int(expressions.built(each.tree))], dtype=np.int32) for each in pair)
    forms = NormalForms(expressions.store)
    found = compare(forms, left, right, F32)
    if not found.equal[0]:
        return Judged(equal=False, refuted=False)
    off = tolerance(forms)
    for inputs in points(expressions):
        with suppress(NoValueError):
            sides = [expressions.value(int(each[0]), inputs) for each in (left, right)]
            if not mpmath.almosteq(*sides, rel_eps=off, abs_eps=off):
                return Judged(equal=True, refuted=True)
    return Judged(equal=True, refuted=False)


def is_refuted(formula: X) -> bool:
    """Tell whether a normal form of a formula is not what the formula is."""
    expressions = Expressions(F32, INPUTS)
    term = expressions.built(formula.tree)
    forms = NormalForms(expressions.store)
    for each in (forms, forms.outer, forms.masked, forms.of_fractions):
        try:
            for inputs in points(expressions):
                with suppress(NoValueError):
                    exact = expressions.value(int(term), inputs)
                    found = NormalFormValues(expressions, each, inputs).value(term)
                    if forms.poles:  # no number, whatever the inputs are
                        return False
                    off = 1e-40 if each in (forms, forms.outer) and not forms.quantifier.literals else 1e-5
                    if not mpmath.almosteq(exact, found, rel_eps=off, abs_eps=off):
                        return True
        except OutweighedMaskError:
            continue
    return False


def pairs(family: Family, count: int, seed: int = 0) -> Iterator[Pair]:
    random = Random(f"{family.__name__} {seed}")
    yield from islice((pair for _ in range(count) for pair in family(random)), count)


@pytest.fixture(autouse=True)
def _digits() -> Iterator[None]:
    with mpmath.workdps(60):
        yield


@pytest.mark.sample(4)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda each: each.__name__)
def test_nothing_is_equal_that_numbers_refute(family: Family) -> None:
    found = [judged(pair) for pair in pairs(family, 16)]
    assert not any(each.refuted for each in found)
    assert any(each.equal for each in found)
    assert not all(each.equal for each in found)


@pytest.mark.sample(3)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda each: each.__name__)
def test_normal_forms_have_the_values_of_what_they_are_of(family: Family) -> None:
    for pair in pairs(family, 6, seed=1):
        assert not any(map(is_refuted, pair))


# -- faults in the rules


class Fault(NamedTuple):
    """One line of a rule, written wrongly.

    Attributes
    ----------
    where : type or module
        What the rule is in.
    name : str
        The function.
    old, new : str
        What is replaced in it, by what.
    family : callable
        Makes pairs of which one shows the fault.
    at : int
        The place of such a pair, the first that is looked at.
    """

    where: Any
    name: str
    old: str
    new: str
    family: Family
    at: int = 0


Forms = elementary_forms.ElementaryForms
FAULTS = [
    # quotients with 1 + c 2^y
    Fault(Forms, "quotient", "ratio(1, factor)", "ratio(factor, 1)", quotients),
    Fault(Forms, "quotient", "(-inverse, lower, plain)", "(inverse, lower, plain)", quotients),
    Fault(Forms, "quotient", "(-factor, higher, plain)", "(-1, higher, plain)", quotients, at=4),
    Fault(Forms, "quotient",
          "lower, inverse = added(exponent, step, -1)", "lower, inverse = added(exponent, step)", quotients),
    Fault(Forms, "quotient", "rest = without(plain, (atom,))", "rest = ()", quotients),
    Fault(Forms, "_as_product", "polynomial[whole] == -polynomial[divided]", "True", products),
    Fault(Forms, "_as_product", "polynomial[whole] * factor", "polynomial[whole]", products),
    Fault(Forms, "_as_product", "without(divided, (atom,)) == whole", "True", products, at=3),
    Fault(Forms, "_as_product", "added(exponent, step)", "exponent", products),
    # powers and logarithms
    Fault(Forms, "power", "Fraction(1, 1 << -whole)", "(1 << -whole)", powers),
    Fault(Forms, "_exponential", "if halves % 2:", "if False:", powers, at=28),
    Fault(Forms, "_exponential", "range(-int(halves // 2))", "range(0)", powers, at=37),
    Fault(elementary_forms, "_logarithm_of_power",
          "above.bit_length() - below.bit_length()", "above.bit_length()", powers, at=1),
    Fault(elementary_forms, "_logarithm_of_power", "return None", "return 0", powers, at=8),
    Fault(Forms, "_divided", "added(exponent, by.exponent, -1)", "exponent", powers, at=3),
    Fault(Forms, "_factors", "not all(map(self.is_positive, monomial))", "False", roots, at=9),
    Fault(Forms, "_factors", "Fraction(1, 2)", "Fraction(1, 4)", roots, at=12),
    # roots and reciprocals
    Fault(elementary_forms, "_square_root", "return 1, False", "return 1, True", roots),
    Fault(Forms, "_root", "ratio(value, 2)", "value", powers, at=7),
    Fault(Forms, "_reciprocal", "ratio(1, content.coefficient)", "1", roots, at=6),
    Fault(Forms, "_reciprocal_root", "self._reciprocal(polynomial)", "self._root(polynomial)", roots, at=2),
    Fault(monomial_reduction.MonomialReduction, "_simplified",
          "_without(atoms, [atom, atom])", "_without(atoms, [atom])", roots, at=1),
    Fault(monomial_reduction.MonomialReduction, "_reciprocal_of",
          "self._forms.arguments[atom] == argument", "True", roots, at=15),
    # hyperbolic functions, and those that are odd or even
    Fault(Forms, "_hyperbolic", "= 2 * value", "= value", hyperbolic),
    Fault(Forms, "_hyperbolic", "Product(-2, {}, ())", "Product(2, {}, ())", hyperbolic),
    Fault(FunctionSymmetries, "expanded", "[Piece(sign,", "[Piece(1,", hyperbolic, at=3),
    Fault(FunctionSymmetries, "expanded", "[Piece(sign,", "[Piece(-1,", hyperbolic, at=5),
    # literals
    Fault(Forms, "_with_one_literal", "is_nearly(literal + more, name)", "True", literals, at=6),
    Fault(literal_constants, "is_nearly", "value * _TOGETHER", "value / 64", literals, at=6),
    Fault(literal_constants, "fraction",
          "abs(simple - scaled) <= near", "abs(simple - scaled) <= 9000 * near", fractions, at=7),
    Fault(literal_constants, "fraction", "return simple / scale", "return simple", fractions),
    # masks
    Fault(Forms, "_masked", "<= -_MASK", "<= -2", masks, at=100),
    Fault(Forms, "_masked", "abs(constant) > _ORDINARY", "False", masks, at=2),
    Fault(Forms, "_masked", "Product(0, {}, ())", "Product(1, {}, ())", masks),
    Fault(Forms, "_constant", "exponent.get((), 0)", "min(exponent.values())", masks, at=2),
    # extrema
    Fault(extrema.Extrema, "_merged", "inner.which == which", "True", maxima, at=43),
    Fault(extrema.Extrema, "_flattened", "inner.which == wanted", "True", maxima, at=12),
    Fault(extrema.Extrema, "_flattened", "which if coefficient > 0", "which if True", maxima, at=44),
    Fault(extrema.Extrema, "_undominated",
          'which == "max" else min', 'which != "max" else min', maxima, at=6),
    Fault(extrema.Extrema, "_is_limited",
          "sign * value > 0 and self._is_product(key)", "True", maxima, at=17),
    Fault(extrema.Extrema, "_is_limited",
          "sign * value > 0 and self._is_product(key)", "sign * value > 0", maxima, at=17),
    Fault(extrema.Extrema, "_magnitude", "value != -opposite", "False", maxima, at=11),
    Fault(extrema.Extrema, "_magnitude", "if count % 2:", "if count:", maxima, at=20),
    Fault(extrema.Extrema, "_without_common_factors", "if self.is_not_negative(atom)", "", maxima, at=4),
    Fault(extrema.Extrema, "_of", "which = OPPOSITE_EXTREMES[which]", "pass", maxima),
    Fault(extrema.Extrema, "_clamped", "_constant(low) > _constant(high)", "False", maxima, at=12),
    Fault(extremal_terms.ExtremalTerms, "_chosen",
          "(-1, operations.OPPOSITE_EXTREMES[which])", "(-1, which)", maxima, at=8),
    Fault(extremal_terms.ExtremalTerms, "_proportions",
          "= [_sign_of_ratio(*pair) for pair in pairs]", "= [1 for pair in pairs]", maxima, at=21),
    # choices by signs
    Fault(SignCases, "_are_equal", "signs.append(_NOTHING)", "pass", signs, at=11),
    Fault(SignCases, "_are_equal", "signs = [_NEGATIVE, _POSITIVE]", "signs = [_POSITIVE]", signs, at=4),
    Fault(SignCases, "_are_equal", "signs = [_NEGATIVE, _POSITIVE]", "signs = [_NEGATIVE]", signs, at=8),
    Fault(SignCases, "_chosen_by",
          "holds if sign[1] > 0 else (holds[2], holds[1], holds[0])", "holds", signs, at=11),
    Fault(SignCases, "_resolved", "side = sign * of[1]", "side = sign", signs, at=10),
    Fault(SignCases, "_roots", "constant = -sum(", "constant = 1 - sum(", signs, at=11),
    # quotients, crosswise
    Fault(common_denominators.CommonDenominators, "_cleared",
          "self._multiplied(done, divisor) if done else done", "done", crosswise, at=5),
]  # fmt: skip


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """Let a rule be wrong for a while, wherever it is used."""
    original = getattr(fault.where, fault.name)
    inside = original.__wrapped__ if hasattr(original, "__wrapped__") else original
    source = textwrap.dedent(inspect.getsource(inside))
    assert fault.old in source, f"{fault.name} has no {fault.old}"
    space = dict(vars(sys.modules[inside.__module__]))
    exec(source.replace(fault.old, fault.new), space)
    modules = [each for name, each in sys.modules.items() if name.startswith("mmaproof.refinement")]
    holders = [module for module in (fault.where, *modules) if vars(module).get(fault.name) is original]
    for each in holders:
        setattr(each, fault.name, space[fault.name])
    try:
        yield
    finally:
        for each in holders:
            setattr(each, fault.name, original)


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{each.name}: {each.new}" for each in FAULTS])
def test_a_fault_in_a_rule_is_noticed(fault: Fault) -> None:
    given = list(pairs(fault.family, 120))
    with planted(fault):
        given = [given[fault.at], *given]
        assert any(map(_is_noticed, given))


def _is_noticed(pair: Pair) -> bool:
    try:
        return any(map(is_refuted, pair)) or judged(pair).refuted
    except ObjectionError:  # the checker knows none of the rules
        return True


@pytest.mark.sweep
@pytest.mark.parametrize("family", FAMILIES, ids=lambda each: each.__name__)
@pytest.mark.parametrize("seed", range(2, 10))
def test_many_formulas_are_what_numbers_say(family: Family, seed: int) -> None:
    for pair in pairs(family, 100, seed):
        assert not judged(pair).refuted
        assert not any(map(is_refuted, pair))
