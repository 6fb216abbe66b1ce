"""Fused dot-adds as a whole, on unknown numbers with unknown exponents: exact on integers, or near the sum.

The specification's own steps run on terms: products, the largest exponent, alignment, truncation, the sum
and the last rounding (`spec.dot_add`), one dot-add after the other where a row takes several. Exponents and
numbers are any that meet what other theorems say of formats: a term that is not 0 is no less than 2^e. What
is claimed is so about every format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
import z3

from ...smt.real_terms import Facts, RealTerm
from ...smt.term_arrays import TermArray
from ...spec.algebra import Array
from ...spec.dot_add import EXPONENT_OF_ZERO, NO_EXPONENT, Terms, rounded_sum, truncated_sum
from ...spec.dot_add_bound import step_bound, truncated_terms
from ...spec.formats import FloatFormat
from ..obligation import Case, Equality, RealClaim, RealGoal, RealProperty, Theorem
from .accumulations import ModelAccumulation, lengths

SOURCE = "MMA-Sim (arXiv 2511.10909); Khattak and Mikaitis (arXiv 2512.07004)"


def name_of(each: ModelAccumulation, steps: int) -> str:
    """Return what a row of steps depends on, as part of an id."""
    return f"{each.sums}/{each.rounds}" + (f"/{steps}-steps" if steps > 1 else "")


def _rows() -> dict[str, tuple[ModelAccumulation, int]]:
    """Return every kind of step in rows of every length that an instruction has."""
    found: dict[str, tuple[ModelAccumulation, int]] = {}
    for each, counts in lengths().items():
        for steps in counts:
            found.setdefault(name_of(each, steps), (each, steps))
    return found


class _Step(NamedTuple):
    """A dot-add, executed on terms.

    Attributes
    ----------
    terms : list of RealTerm
        Products (or groups of them, scaled), and the addend last.
    exponents : list of Z3 term
        Of these, unless they are 0.
    largest : Z3 term
        The exponent that they are aligned to.
    total, result : RealTerm
        Their sum, truncated; and rounded.
    of_largest, of_rounding : list of Z3 terms
        The facts of that exponent, and of the last rounding.
    """

    terms: list[RealTerm]
    exponents: list[Any]
    largest: Any
    total: RealTerm
    result: RealTerm
    of_largest: list[Any]
    of_rounding: list[Any]


def _any_numbers(
    facts: Facts, name: str, count: int, places: Callable[[Any], Any]
) -> tuple[list[RealTerm], list[Any]]:
    """Return unknown numbers and their unknown exponents; `places` tells where their last place may be."""
    exponents = [z3.Int(f"exponent_{name}_{k}") for k in range(count)]
    numbers = [
        RealTerm.constant(facts, z3.Real(f"{name}_{k}"), places={"last": places(exponent)})
        for k, exponent in enumerate(exponents)
    ]
    return numbers, exponents


def _column(facts: Facts, elements: Sequence[Any]) -> TermArray:
    array = np.empty((len(elements), 1), dtype=object)
    array[:, 0] = elements
    return TermArray.of(facts, array)


def _executed(facts: Facts, each: ModelAccumulation, place: int, addend: RealTerm) -> _Step:
    """Execute one step with the specification's functions, on unknown factors and a given addend."""
    model, group = each.model, each.model.group

    def factor(name: str, fmt: FloatFormat, count: int) -> tuple[list[RealTerm], list[Any]]:
        quantum = fmt.quantum if group > 1 and not name.startswith("scale") else None
        return _any_numbers(
            facts, f"{name}{place}", count, lambda e: e - fmt.fraction_bits if quantum is None else quantum
        )

    factors = [factor("x", each.a, each.products), factor("y", each.b, each.products)]
    (x, of_x), (y, of_y) = factors
    terms = [left * right for left, right in zip(x, y, strict=True)]
    exponents = [left + right for left, right in zip(of_x, of_y, strict=True)]
    if group > 1:
        terms = [reduce(add, terms[start : start + group]) for start in range(0, len(terms), group)]
        exponents = [z3.IntVal(0)] * len(terms)
    for name in ("scale_a", "scale_b") if each.scale else ():
        assert each.scale is not None
        factors.append(scales := factor(name, each.scale, each.factors))
        served = len(terms) // each.factors
        terms = [term * scales[0][k // served] for k, term in enumerate(terms)]
        exponents = [exponent + scales[1][k // served] for k, exponent in enumerate(exponents)]
    last = z3.Int(f"exponent_c{place}")
    known = RealTerm.constant(facts, addend.term, places={"last": last - each.accumulator.fraction_bits})
    final = Terms(_column(facts, [known])[0], _column(facts, [last])[0])
    terms, exponents = [*terms, known], [*exponents, last]
    before = len(facts.conditions)
    largest = _largest(facts, terms, exponents, groups=group > 1)
    of_largest = facts.conditions[before:]
    columns = [Terms(_column(facts, numbers), _column(facts, powers)) for numbers, powers in factors]
    total = truncated_sum(model, columns, final)
    of_sum = len(facts.conditions)
    result = rounded_sum(total, each.accumulator, model)
    of_rounding = facts.conditions[of_sum:]
    return _Step(terms, exponents, largest, _only(total), _only(result), of_largest, of_rounding)


def _largest(facts: Facts, terms: list[RealTerm], exponents: list[Any], groups: bool) -> Any:
    """Return the exponent that a step's terms are aligned to; no group of zeros counts."""
    aligned = exponents[:-1]
    if groups:
        zero = np.asarray(_column(facts, terms[:-1]) == 0)[:, 0]
        pairs = zip(zero, aligned, strict=True)
        aligned = [facts.chosen(is_zero, NO_EXPONENT, exponent) for is_zero, exponent in pairs]
    return facts.largest([facts.largest(aligned), exponents[-1]])


def _only(array: Array) -> RealTerm:
    (element,) = array.view(np.ndarray)
    assert isinstance(element, RealTerm)
    return element


def _steps(facts: Facts, each: ModelAccumulation, count: int) -> Iterator[_Step]:
    """Execute steps one after the other, from an unknown C."""
    addend = RealTerm.constant(facts, z3.Real("c"))
    for place in range(count):
        step = _executed(facts, each, place, addend)
        yield step
        addend = step.result


def _zeros(each: ModelAccumulation, step: _Step) -> Iterator[Any]:
    """Yield that no zero is aligned above a zero addend, and no addend below it."""
    yield step.exponents[-1] >= EXPONENT_OF_ZERO
    for place, (term, exponent) in enumerate(zip(step.terms, step.exponents, strict=True)):
        if each.model.group == 1 or place == len(step.terms) - 1:  # a group of zeros is found in the step
            yield z3.Implies(term.term == 0, exponent <= EXPONENT_OF_ZERO)


exact_steps = Theorem(
    "ptx/numerics/dot-add-exact-steps",
    "a row of truncating dot-adds is exact on integers whose terms are not less than their exponents say",
    "x, y, C (and scale factors) any integers and e any exponents with 2^e ≤ |t| for each term t ≠ 0, "
    "e ≤ -126 for t = 0 (of groups, as the step finds it), C's e ≥ -126, also of every sum so far; "
    "Σ |x·y| + |C| < 2^p, p = 1 + min(F, fraction bits kept) ⇒ each step's sum is C + Σ x·y so far, before "
    "and after its last rounding; by the specification's own functions on terms",
    SOURCE,
    lambda: (
        Case(name, partial(_exact, each, steps), equality=Equality.VALUE)
        for name, (each, steps) in _rows().items()
    ),
)


def _exact(each: ModelAccumulation, steps: int, bits_more: int = 0) -> RealProperty:
    return RealProperty(partial(_exact_claim, each, steps, bits_more))


def _exact_claim(each: ModelAccumulation, count: int, bits_more: int) -> RealClaim:
    """Claim the sums of integers, of so many bits more than are kept: each step's from its own facts."""
    facts, stated = Facts(), 0
    assumptions: list[Any] = []
    rows: list[tuple[_Step, RealTerm, list[Any]]] = []
    signs: list[Any] = []
    given: set[str] = set()
    results: set[str] = set()
    exact = RealTerm.number(facts, 0)
    for step in _steps(facts, each, count):
        exact = reduce(add, step.terms if not rows else step.terms[:-1], exact)
        own = list(_zeros(each, step))
        for term, exponent in zip(step.terms, step.exponents, strict=True):
            own.append(z3.Implies(term.term != 0, term.magnitude >= facts.power(exponent)))
            new = {name: one for name, one in term.constants.items() if name not in given | results}
            own += [facts.whole(one) for one in new.values()]
            given |= set(new)
        so_far, magnitude = step.terms[-1].term, step.terms[-1].magnitude
        signs.append(z3.Or(magnitude == so_far, magnitude == -so_far))
        results.add(step.result.term.sexpr())
        assumptions += own
        conditions = facts.conditions
        rows.append((step, exact, [*own, *conditions[stated:], *facts.of_whole(so_far)]))
        stated = len(conditions)
    limit = 1 << each.step_digits + bits_more
    everything = [rows[0][0].terms[-1], *(term for step, _, _ in rows for term in step.terms[:-1])]
    small = z3.Sum([term.magnitude for term in everything]) < limit
    of_magnitudes = [
        fact for step, _, _ in rows for term in step.terms for fact in facts.of_magnitude(term.term)
    ]
    goals: list[RealGoal] = []
    before: list[Any] = []
    for place, (step, exact, own) in enumerate(rows):
        left = z3.Sum([term.magnitude for term in (step.terms[-1], *step.terms[:-1])]) < limit
        if count > 1:
            goals.append(RealGoal(f"step {place}, the terms", left, [small, *signs, *of_magnitudes, *before]))
        total = z3.And(step.total.term == exact.term, step.total.whole)
        goals.append(RealGoal(f"step {place}, the sum", total, [left, *own, *before]))
        of_sum = [fact for one in (*step.terms, step.total) for fact in facts.of_magnitude(one.term)]
        needs = [left, total, *before, *signs, *of_sum, *step.of_rounding]
        rounded = z3.And(step.result.term == exact.term, step.result.whole)
        goals.append(RealGoal(f"step {place}, rounded", rounded, needs))
        before = [rounded]
    return RealClaim([*assumptions, *signs, small, *facts.conditions], goals)


near_step = Theorem(
    "ptx/numerics/dot-add-near-step",
    "one truncating dot-add is as near to the exact sum as spec.dot_add_bound says",
    "x, y, C (and scale factors) any numbers, e any exponents, s ≥ |t| and w·s ≥ 2^e for each term t ≠ 0, "
    "e ≤ -126 for t = 0 (of groups, as the step finds it), C's e ≥ -126, no fraction bits below their "
    "formats' at e ⇒ 2^Emax ≤ w·S + 2^emin, S = Σ s; before its last rounding the sum is off by "
    "n·2^(Emax - F), and no greater than S; |D - exact| ≤ h·S + η; by the specification's own functions",
    SOURCE,
    lambda: (
        Case(name, partial(_near, each), equality=Equality.VALUE)
        for name, each in {name_of(length, 1): length for length in lengths()}.items()
    ),
)


def _near(each: ModelAccumulation, terms_too_few: int = 0) -> RealProperty:
    return RealProperty(partial(_near_claim, each, terms_too_few))


def _near_claim(each: ModelAccumulation, terms_too_few: int) -> RealClaim:
    """Claim the bound, counting so many terms too few among those that may lose something."""
    facts, model = Facts(), each.model
    formats = (each.a, each.b, *((each.scale, each.scale) if each.scale else ()))
    lost = truncated_terms(model, each.products, formats, each.accumulator)
    bound = step_bound(model, each.products, formats, each.accumulator)
    off_by = Fraction(lost.terms - terms_too_few, 1 << model.fraction_bits)
    least = z3.RealVal(Fraction(2) ** each.accumulator.minimum_exponent)
    (step,) = _steps(facts, each, 1)
    zeros = list(_zeros(each, step))
    assumptions, of_terms = [*zeros], []
    counted = [z3.Real(f"counted_{k}") for k in range(len(step.terms))]
    for term, exponent, s in zip(step.terms, step.exponents, counted, strict=True):
        of_term, power = facts.power(exponent), lost.weight * s
        assumptions += [s >= term.magnitude, z3.Implies(term.term != 0, power >= of_term)]
        near = of_term <= power + least
        if term is step.terms[-1] or model.group == 1:
            assumptions.append(z3.Implies(term.term == 0, of_term <= least))
        else:
            near = z3.Or(term.term == 0, near)
        of_terms += [s >= 0, near]
    needs = [*assumptions, *(fact for term in step.terms for fact in facts.of_magnitude(term.term))]
    terms = RealGoal("the terms", z3.And(*of_terms), needs)
    total, power = z3.Sum(counted), facts.power(step.largest)
    exact = reduce(add, step.terms)
    limit = z3.RealVal(bound.unit) * total + z3.RealVal(bound.underflow)
    needs = [terms.condition, *zeros, *step.of_largest]
    goals = [
        terms,
        RealGoal("the largest exponent", power <= lost.weight * total + least, needs),
        _within("truncated", step.total - exact, z3.RealVal(off_by) * power),
        _within("no greater", step.total, total),
    ]
    shown = [*(goal.condition for goal in goals), *step.of_rounding]
    goals.append(_within("rounded", step.result - exact, limit, shown))
    return RealClaim([*assumptions, *facts.conditions], goals)


def _within(label: str, number: RealTerm, limit: Any, needs: Sequence[Any] | None = None) -> RealGoal:
    """Return that a number is no greater in magnitude than a limit."""
    return RealGoal(label, z3.And(number.term <= limit, -number.term <= limit), needs)


THEOREMS = (exact_steps, near_step)
