"""Sums that are equal as they stand, by a common name.

Solvers see through the order of the addends where two sums are compared, not where one of them is cut into
bytes or clamped before. So the sums of a goal are compared by themselves first; a name for both then makes
the goal more general, and easy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import z3


def with_named_sums(goal: Any, holds: Callable[[Any], bool]) -> Any:
    """Return a goal with fresh constants for sums that are equal; who proves it has proved the goal.

    Parameters
    ----------
    goal : z3 term
        What is to be proved.
    holds : callable
        Tells whether an equality is proved.
    """
    names: list[tuple[Any, Any]] = []
    replaced: list[tuple[Any, Any]] = []
    for total in _outermost_sums(goal):
        name = next((name for known, name in names if _are_equal(known, total, holds)), None)
        if name is None:
            name = z3.FreshConst(total.sort(), "sum")
            names.append((total, name))
        else:
            replaced.append((total, name))
    met = [name.get_id() for _, name in replaced]
    replaced += [(total, name) for total, name in names if name.get_id() in met]
    return z3.substitute(goal, *replaced) if replaced else goal


def _are_equal(left: Any, right: Any, holds: Callable[[Any], bool]) -> bool:
    return bool(left.sort() == right.sort()) and holds(left == right)


def _outermost_sums(term: Any) -> Iterator[Any]:
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
            waiting += each.children()
