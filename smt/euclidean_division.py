"""Quotients and remainders by what defines them: ``x = d * q + r`` and ``0 <= r < d``.

Every solver knows sums and products by numerals; what they make of ``div`` and ``mod`` differs, above all in
time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import z3


def by_definition(assertions: Sequence[Any]) -> list[Any]:
    """Return assertions about integers without quotients and remainders by positive numerals.

    Whatever is divided, one pair of integers makes a definition true. So the assertions have a model if and
    only if these have one, with the same values of the constants of both.

    Parameters
    ----------
    assertions : sequence of z3 terms
        Booleans without quantifiers.
    """
    pairs: list[tuple[Any, Any]] = []
    definitions: list[Any] = []
    known: dict[tuple[int, int], tuple[Any, Any]] = {}
    for term in _divisions(assertions):
        divisor = term.arg(1)
        dividend = z3.substitute(term.arg(0), *pairs)
        key = dividend.get_id(), divisor.get_id()
        if key not in known:
            quotient, remainder = z3.Ints(f"quotient!{len(known)} remainder!{len(known)}")
            known[key] = quotient, remainder
            exact = dividend == divisor * quotient + remainder  # keeps the dividend, and so its number, alive
            definitions.append(z3.And(exact, remainder >= 0, remainder < divisor))
        pairs.append((term, known[key][z3.is_app_of(term, z3.Z3_OP_MOD)]))
    return [*definitions, *(z3.substitute(assertion, *pairs) for assertion in assertions)]


def _divisions(assertions: Sequence[Any]) -> Iterator[Any]:
    """Yield each quotient and remainder by a positive numeral once, after those in it."""
    done: set[int] = set()
    waiting = [(assertion, False) for assertion in reversed(assertions)]
    while waiting:
        term, entered = waiting.pop()
        if entered:
            yield term
            continue
        if term.get_id() in done:
            continue
        done.add(term.get_id())
        divides = z3.is_app_of(term, z3.Z3_OP_IDIV) or z3.is_app_of(term, z3.Z3_OP_MOD)
        if divides and z3.is_int_value(term.arg(1)) and term.arg(1).as_long() > 0:
            waiting.append((term, True))
        waiting += [(part, False) for part in term.children()]
