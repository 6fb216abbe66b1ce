"""Combined condition bits: two comparisons of the same numbers as one comparison."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ....spec.formats import FloatFormat
from ...terms import operations
from ...terms.bit_slices import bitwise
from ...terms.evaluation import apply
from ...terms.store import CONSTANT, TermStore
from ...terms.truth_tables import A, B, Table

_LESS, _EQUAL, _GREATER, _UNORDERED = 1, 2, 4, 8

_OUTCOMES: Mapping[str, int] = MappingProxyType(
    {
        "lt": _LESS,
        "le": _LESS | _EQUAL,
        "eq": _EQUAL,
        "ne": _LESS | _GREATER,
        "ge": _GREATER | _EQUAL,
        "gt": _GREATER,
        "ltu": _LESS | _UNORDERED,
        "leu": _LESS | _EQUAL | _UNORDERED,
        "equ": _EQUAL | _UNORDERED,
        "neu": _LESS | _GREATER | _UNORDERED,
        "geu": _GREATER | _EQUAL | _UNORDERED,
        "gtu": _GREATER | _UNORDERED,
        "num": _LESS | _EQUAL | _GREATER,
        "nan": _UNORDERED,
    }
)
"""With which outcomes of a comparison a relation holds, as PTX names it; of integers none is unordered."""

_RELATIONS: Mapping[int, str] = MappingProxyType({outcomes: name for name, outcomes in _OUTCOMES.items()})


def combined(store: TermStore, table: Table, left: int, right: int) -> int:
    """Return a function of two bits, with a truth table of two operands (`truth_tables.A` and ``B``)."""
    table &= 0xFF
    for place, (term, other) in enumerate(((left, right), (right, left))):
        if store.operation(term).name == CONSTANT:
            return _of_one(store, _restricted(table, place, bool(store.constant_values(term))), other)
    if left == right:
        return _of_one(store, (bool(table & A & B), bool(table & ~A & ~B)), left)
    found = _one_comparison(store, table, left, right)
    if found is not None:
        return found
    a, b = (np.array([each], dtype=np.int32) for each in (left, right))
    return int(bitwise(store, table, a, b, a)[0])


def _restricted(table: Table, place: int, holds: bool) -> tuple[bool, bool]:
    """Return the function where one bit is known: its value where the other one holds, and where not."""
    known, other = ((A, B), (B, A))[place]
    given = known if holds else ~known
    return bool(table & given & other), bool(table & given & ~other)


def _of_one(store: TermStore, values: tuple[bool, bool], term: int) -> int:
    match values:
        case (True, False):
            return term
        case (False, True):
            return _opposite(store, term)
    return int(store.constants(int(values[0]), 1))


def _opposite(store: TermStore, term: int) -> int:
    operation = store.operation(term)
    if (outcomes := _outcomes(store, term)) is not None:
        return _comparison(store, term, _every(store, term) & ~outcomes)
    one = np.array([term], dtype=np.int32)
    if operation.name == operations.BITWISE and operation.attribute == 0xFF ^ A:
        return int(store.arguments(one)[0, 0])
    return int(bitwise(store, 0xFF ^ A, one, one, one)[0])


def _one_comparison(store: TermStore, table: Table, left: int, right: int) -> int | None:
    """Return a function of two comparisons of the same numbers as one comparison."""
    outcomes = _outcomes(store, left), _outcomes(store, right)
    if outcomes[0] is None or outcomes[1] is None:
        return None
    if store.operation(left).operands[0] != store.operation(right).operands[0]:
        return None
    sides = [store.arguments(np.array([each]))[0, :2].tolist() for each in (left, right)]
    second = outcomes[1]
    if sides[0] == sides[1][::-1] and sides[0] != sides[1]:
        second = second & (_EQUAL | _UNORDERED) | (second & _LESS) << 2 | (second & _GREATER) >> 2
    elif sides[0] != sides[1]:
        return None
    found = 0
    for outcome in (_LESS, _EQUAL, _GREATER, _UNORDERED):
        row = 4 * bool(outcomes[0] & outcome) + 2 * bool(second & outcome)
        found |= outcome * (table >> row & 1)
    return _comparison(store, left, found & _every(store, left))


def _outcomes(store: TermStore, term: int) -> int | None:
    operation = store.operation(term)
    if operation.name != operations.COMPARE:
        return None
    return _OUTCOMES.get(str(operation.attribute))


def _every(store: TermStore, term: int) -> int:
    """Return the outcomes that there are."""
    of_floats = isinstance(store.operation(term).operands[0], FloatFormat)
    return _LESS | _EQUAL | _GREATER | (_UNORDERED if of_floats else 0)


def _comparison(store: TermStore, like: int, outcomes: int) -> int:
    """Return a comparison of the same numbers as another one."""
    if outcomes in (0, _every(store, like)):
        return int(store.constants(int(outcomes != 0), 1))
    fmt = store.operation(like).operands[0]
    sides = store.arguments(np.array([like]))[0, :2].tolist()
    return int(apply(store, operations.compare(fmt, _RELATIONS[outcomes]), *sides))
