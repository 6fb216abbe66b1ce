"""What is said of real terms is true of numbers: every fact, if its constants are what they are named for."""

from __future__ import annotations

from fractions import Fraction
from math import frexp, trunc
from typing import Any

import numpy as np
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.smt.real_terms import Facts, RealTerm
from mmaproof.smt.term_arrays import TermArray
from mmaproof.spec.dot_add import Terms, rounded_sum, truncated_sum
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.formats import F16
from mmaproof.spec.rounding import Rounding

SIGNIFICANDS = st.integers(-(1 << 11), 1 << 11)
EXPONENTS = st.integers(-20, 20)


def executed(model: DotAddModel, numbers: list[tuple[int, int]]) -> tuple[Facts, dict[str, Any], RealTerm]:
    """Run a dot-add of two products and an addend on terms; return facts, values and the result."""
    facts, values, operands = Facts(), {}, []
    for place, (significand, exponent) in enumerate(numbers):
        values[f"n{place}"] = Fraction(significand) * Fraction(2) ** (exponent - 10)
        values[f"e{place}"] = exponent
        last = z3.Int(f"e{place}") - 10
        number = RealTerm.constant(facts, z3.Real(f"n{place}"), places={"last": last})
        operands.append((number, z3.Int(f"e{place}")))

    def column(chosen: list[tuple[Any, Any]]) -> Terms:
        parts = []
        for part in zip(*chosen, strict=True):
            array = np.empty((len(part), 1), dtype=object)
            array[:, 0] = part
            parts.append(TermArray.of(facts, array))
        return Terms(*parts)

    last_term = column(operands[4:])
    final = Terms(last_term.values[0], last_term.exponents[0])
    total = truncated_sum(model, [column(operands[:2]), column(operands[2:4])], final)
    (result,) = rounded_sum(total, F16, model).view(np.ndarray)
    return facts, values, result


def numeral(value: Any) -> Any:
    """Return a value as a Z3 term."""
    if isinstance(value, bool):
        return z3.BoolVal(value)
    return z3.IntVal(value) if isinstance(value, int) else z3.RealVal(value)


def meaning(kind: str, of: list[Any]) -> Any:
    """Return the number that a constant of a kind is the name of."""
    match kind:
        case "power":
            return Fraction(2) ** int(of[0])
        case "largest":
            return int(max(of))
        case "chosen":
            return int(of[1] if of[0] else of[2])
        case "magnitude":
            return abs(of[0])
        case "product":
            return Fraction(np.prod(of))
        case "whole":
            return of[0].denominator == 1
        case "truncated":
            return trunc(of[0] * Fraction(2) ** int(of[1])) / Fraction(2) ** int(of[1])
        case "nearest":
            return round(of[0] * Fraction(2) ** int(of[1])) / Fraction(2) ** int(of[1])
        case "above":
            return frexp(float(of[0]))[1]
    raise AssertionError(f"no constant is a {kind}")


def read(term: Any) -> Any:
    """Return the value of a Z3 numeral."""
    if z3.is_bool(term):
        return z3.is_true(term)
    return (
        term.as_long() if z3.is_int(term) else Fraction(term.numerator_as_long(), term.denominator_as_long())
    )


@settings(max_examples=4, deadline=None)
@given(
    st.sampled_from([DotAddModel(4, Rounding.TOWARD_ZERO), DotAddModel(13, Rounding.NEAREST_EVEN)]),
    st.lists(st.tuples(SIGNIFICANDS, EXPONENTS), min_size=5, max_size=5),
)
def test_every_fact_holds_of_numbers(model: DotAddModel, numbers: list[tuple[int, int]]) -> None:
    facts, values, result = executed(model, numbers)
    known = [
        (z3.Int(name) if name[0] == "e" else z3.Real(name), numeral(value)) for name, value in values.items()
    ]

    def evaluated(term: Any) -> Any:
        return z3.simplify(z3.substitute(term, *known))

    for kind, of, constant in facts.named_constants():
        known.append((constant, numeral(meaning(kind, [read(evaluated(each)) for each in of]))))
    for fact in facts.conditions:
        assert z3.is_true(evaluated(fact)), fact
    assert facts.conditions and read(evaluated(result.term)) is not None


def test_what_is_computed_on_terms_is_what_numpy_computes() -> None:
    numbers = [(1025, 3), (-1999, 1), (1500, 2), (1023, -4), (1777, -1)]
    model = DotAddModel(6, Rounding.NEAREST_EVEN, 4)
    facts, values, result = executed(model, numbers)
    known = [
        (z3.Int(name) if name[0] == "e" else z3.Real(name), numeral(value)) for name, value in values.items()
    ]
    for kind, of, constant in facts.named_constants():
        parts = [read(z3.simplify(z3.substitute(each, *known))) for each in of]
        known.append((constant, numeral(meaning(kind, parts))))
    floats = [float(values[f"n{place}"]) for place in range(5)]
    exponents = np.array([exponent for _, exponent in numbers], dtype=np.int16)
    columns = [
        Terms(np.array(floats[start : start + 2])[:, None], exponents[start : start + 2, None])
        for start in (0, 2)
    ]
    final = Terms(np.array(floats[4:]), exponents[4:])
    expected = rounded_sum(truncated_sum(model, columns, final), F16, model)
    assert float(read(z3.simplify(z3.substitute(result.term, *known)))) == expected[0]
