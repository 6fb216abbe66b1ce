"""Sums that are equal as they stand, or what they add up, by a common name.

Solvers see through the order of the addends where two sums are compared, not where one of them is cut
into bytes or clamped before, and hardly where the addends are equal, but not the same terms. So the addends,
or the sums, of a goal are compared by themselves first; a name for both then makes the goal more general, and
easy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3

_EXTENSIONS = z3.Z3_OP_SIGN_EXT, z3.Z3_OP_ZERO_EXT


def with_named_addends(goal: Any, holds: Callable[[Any], bool]) -> Any:
    """Return a goal with fresh constants for what its sums add up; who proves it has proved the goal.

    Two sums of as many addends get the same names if their addends are equal one by one, in the order of the
    constants in them. For the rest see `with_named_sums`: that compares sums as a whole, which is harder, but
    sees more.
    """
    condition, claim = goal.children() if z3.is_implies(goal) else (None, goal)
    within = _containing_sums(claim)
    sums = [sorted(_addends(total, within), key=_constants) for total in _outermost_sums(claim, _parts)]
    names: dict[int, Any] = {}
    replaced: list[tuple[Any, Any]] = []
    for number, addends in enumerate(sums):
        alike = next((each for each in sums[:number] if _are_alike(each, addends, condition, holds)), None)
        for one, other in zip(alike or addends, addends, strict=True):
            name = _name_of(one, names, one.eq(other), replaced)
            if not one.eq(other) and other.get_id() not in names:
                names[other.get_id()] = name
                replaced.append((other, name))
    return z3.substitute(goal, *replaced) if replaced else goal


def _name_of(addend: Any, names: dict[int, Any], alone: bool, replaced: list[tuple[Any, Any]]) -> Any:
    """Return the name of an addend: itself where it is a numeral, or a constant that nothing equals."""
    if z3.is_bv_value(addend) or (alone and not addend.num_args()):
        return addend
    if addend.get_id() not in names:
        names[addend.get_id()] = z3.FreshConst(addend.sort(), "addend")
        replaced.append((addend, names[addend.get_id()]))
    return names[addend.get_id()]


def _are_alike(left: list[Any], right: list[Any], condition: Any, holds: Callable[[Any], bool]) -> bool:
    """Tell whether two lists of addends are equal one by one, but for those that are the same terms."""
    if [each.sort() for each in left] != [each.sort() for each in right]:
        return False
    different = [pair for pair in zip(left, right, strict=True) if not pair[0].eq(pair[1])]
    known = {each.get_id() for each in left}
    if not different or any(each.get_id() in known for _, each in different):
        return False  # nothing to ask, or in another order
    equal = z3.And(*(one == other for one, other in different))
    return holds(equal if condition is None else z3.Implies(condition, equal))


def _addends(total: Any, within: set[int]) -> list[Any]:
    """Return what a sum of sums adds up: the largest terms in it that contain no sum.

    They are as wide as they are before they are extended.
    """
    found: list[Any] = []
    seen: set[int] = set()
    waiting = [total]
    while waiting:
        each = waiting.pop()
        if each.get_id() in seen:
            continue
        seen.add(each.get_id())
        if each.get_id() in within or each.decl().kind() in _EXTENSIONS:
            waiting += reversed(_parts(each))
        else:
            found.append(each)
    return found


def _constants(term: Any) -> list[str]:
    """Return the names of the constants in a term, sorted."""
    names: set[str] = set()
    seen: set[int] = set()
    waiting = [term]
    while waiting:
        each = waiting.pop()
        if each.get_id() not in seen:
            seen.add(each.get_id())
            waiting += each.children()
            if z3.is_const(each) and each.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                names.add(each.decl().name())
    return sorted(names)


def _parts(term: Any) -> list[Any]:
    """Return what a term is put together of: a choice of its alternatives, not of its condition."""
    parts: list[Any] = term.children()
    return [part for part in parts if z3.is_bv(part)] if z3.is_bv(term) else parts


def _containing_sums(goal: Any) -> set[int]:
    """Return the numbers of the terms that are sums, or have one among their parts."""
    within: set[int] = set()
    seen: set[int] = set()
    waiting = [(goal, False)]
    while waiting:
        term, entered = waiting.pop()
        if entered:
            if z3.is_app_of(term, z3.Z3_OP_BADD) or any(part.get_id() in within for part in _parts(term)):
                within.add(term.get_id())
        elif term.get_id() not in seen:
            seen.add(term.get_id())
            waiting.append((term, True))
            waiting += [(part, False) for part in _parts(term)]
    return within


def with_named_sums(goal: Any, holds: Callable[[Any], bool]) -> Any:
    """Return a goal with fresh constants for sums that are equal; who proves it has proved the goal.

    Where the goal is an implication, the sums need be equal only if its condition holds: where that does not,
    it is true anyway.

    Parameters
    ----------
    goal : z3 term
        What is to be proved.
    holds : callable
        Tells whether an equality, or that it follows from the goal's condition, is proved.
    """
    condition = goal.arg(0) if z3.is_implies(goal) else None
    names: list[tuple[Any, Any]] = []
    replaced: list[tuple[Any, Any]] = []
    for total in _outermost_sums(goal, lambda term: term.children()):
        name = next((name for known, name in names if _are_equal(known, total, condition, holds)), None)
        if name is None:
            name = z3.FreshConst(total.sort(), "sum")
            names.append((total, name))
        else:
            replaced.append((total, name))
    met = [name.get_id() for _, name in replaced]
    replaced += [(total, name) for total, name in names if name.get_id() in met]
    return z3.substitute(goal, *replaced) if replaced else goal


def _are_equal(left: Any, right: Any, condition: Any, holds: Callable[[Any], bool]) -> bool:
    if left.sort() != right.sort():
        return False
    return holds(left == right if condition is None else z3.Implies(condition, left == right))


def _outermost_sums(term: Any, parts: Callable[[Any], list[Any]]) -> Iterator[Any]:
    """Yield every sum of bit-vectors that is in no other one, once."""
    seen: set[int] = set()
    waiting = [term]
    while waiting:
        each = waiting.pop()
        if each.get_id() in seen:
            continue
        seen.add(each.get_id())
        if z3.is_app_of(each, z3.Z3_OP_BADD):
            yield each
        else:
            waiting += parts(each)
