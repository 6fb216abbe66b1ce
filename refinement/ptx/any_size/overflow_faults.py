"""Faults at sizes where an index overflows: run there, with arrays of unknown contents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from ....spec.errors import InputError, UnsupportedError
from ...contract.contract import Contract
from ...contract.parameters import ScalarParameter
from ...contract.size_domains import SizeDomain
from ...findings.index_overflow import Overflow
from ...formula.index_arithmetic import Expression
from ...formula.tree import RELATIONS, Binary, Element, Extremum, Name, Node, Number, Reduction, walk
from ...sizes.integer_forms import Symbols
from ...sizes.symbolic_arrays import SymbolicArray
from ...sizes.symbolic_integers import Doubt
from ..run.entry import PtxEntry
from .followed_accesses import Followed, TooLongError, Visit
from .sparse_launch import MOST_INSTRUCTIONS, SparseLaunch, extents_at
from .symbolic_launch import SymbolicLaunch

_STEPS_BEHIND = (1, 2, 3, 4, 8, 16, 32, 64)
"""Steps behind the last number that is shown at which a fault is looked for: most tiles have up to 64 rows,
and masks hide what overflows in the padding of the last tile."""


_SEEN = 1 << 12
"""Every proof has shown sizes up to here at least: smaller divisors and limits took effect there."""

_TURNING = frozenset({"//", "%", "&", ">>", *RELATIONS})
"""Operators that may treat large indices differently from small ones."""


def first_of_grid(
    kernel: PtxEntry,
    contract: Contract,
    known: Mapping[str, int],
    shown: Sequence[SizeDomain],
    stated: Sequence[SizeDomain],
    grows: Sequence[str],
) -> Overflow | None:
    """Return an access that goes wrong behind what is shown, at sizes of which the largest is smallest.

    Parameters
    ----------
    kernel, contract : PtxEntry, Contract
        The kernel, and what it is launched with.
    known : mapping of str to int
        The sizes for which it is shown.
    shown, stated : sequence of SizeDomain
        Others: up to which numbers of each it is shown, and what it may be.
    grows : sequence of str
        Those by which the grid grows; a kernel is run with others at their least numbers first.

    Returns
    -------
    Overflow, optional
        None if none is found.
    """
    assert contract.quantified is not None
    ends = {domain.name: domain.most for domain in shown}
    cut = [domain for domain in stated if ends[domain.name] < domain.most]
    behind = {ends[each.name] + count * each.step for each in cut for count in _STEPS_BEHIND}
    least = {domain.name: domain.least for domain in stated}
    too_long: set[bool] = set()
    for place, most in enumerate(sorted(behind)):
        largest = {domain.name: domain.up_to(most).most for domain in stated if domain.least <= most}
        for is_whole in (False, True) if len(largest) > len(grows) else (True,):
            if is_whole in too_long:
                continue
            great = {name: number for name, number in largest.items() if is_whole or name in grows}
            chosen = {**known, **least, **great}
            try:
                found = fault_of_grid(kernel, contract, contract.quantified.completed(chosen))
            except TooLongError:
                too_long.add(is_whole)  # larger sizes take longer
                continue
            except (UnsupportedError, InputError):
                continue
            if found is not None:
                return replace(found, sizes=chosen, is_smallest=not place)
    return None


def fault_of_grid(
    kernel: PtxEntry,
    contract: Contract,
    sizes: Mapping[str, int],
    *,
    every: bool = False,
    most: int = MOST_INSTRUCTIONS,
) -> Overflow | None:
    """Return the first access of blocks at the corners of a grid, or of all, that is outside its array.

    Parameters
    ----------
    kernel, contract : PtxEntry, Contract
        The kernel, and what it is launched with.
    sizes : mapping of str to int
        The sizes, of which arrays may be too large to be held.
    every : bool
        Whether all blocks are run, not only those at the corners of the grid.
    most : int
        Instructions that blocks may take.

    Returns
    -------
    Overflow, optional
        What it is, and which index overflowed; None if no access is outside.

    Raises
    ------
    UnsupportedError
        If blocks take too long, or do what is not modelled.
    """
    extents = extents_at(contract, sizes)
    groups = (
        [np.arange(int(np.prod(extents)))] if every else [np.array([corner]) for corner in _corners(extents)]
    )
    for blocks in groups:
        launch = SparseLaunch(kernel, contract, sizes, blocks)
        found = launch.follow(most)
        if found.error is not None:
            raise found.error
        if found.outside is None and len(blocks) > 1:
            continue
        threads = launch.threads
        block = blocks if found.outside is None else threads.blocks[[threads.block[found.outside]]]
        told: Overflow | None = None
        for moving in (True, False):
            other = SparseLaunch(kernel, contract, sizes, block, unbounded=True, moving=moving)
            unbounded = other.follow(found.instructions)
            if found.outside is None:
                if (told := elsewhere(launch, found, other, unbounded, sizes)) is not None:
                    break
                continue
            own = found.outside % (len(threads) // len(blocks))
            meant = unbounded.visit(found, found.outside, own)
            if (told := overflow_of(launch, found, other, meant, own, sizes)).limit:
                break
        if told is not None:
            return told
    return None


def _corners(extents: tuple[int, int, int]) -> list[int]:
    """Return the numbers of blocks at the corners of a grid, the last one first."""
    corners = product(*(sorted({extent - 1, 0}, reverse=True) for extent in extents[::-1]))
    return [int(np.ravel_multi_index(corner, extents[::-1])) for corner in corners]


def overflow_of(
    launch: SymbolicLaunch,
    found: Followed,
    unbounded: SymbolicLaunch,
    meant: Visit | None,
    own: int,
    sizes: Mapping[str, int],
    since: int = 0,
) -> Overflow:
    """Return what an access outside its array, the last that was followed, comes from.

    Parameters
    ----------
    launch, found : SymbolicLaunch, Followed
        What was followed.
    unbounded : SymbolicLaunch
        The same with integers that don't wrap.
    meant : Visit, optional
        The access there, if it is met.
    own : int
        The thread whose access it is there.
    sizes : mapping of str to int
        The sizes.
    since : int
        Doubts that there were before in the latter.
    """
    assert found.outside is not None
    visit = found.visits[-1]
    where = int(visit.offsets[np.flatnonzero(visit.threads == found.outside)[0]])
    size = int(launch.store.symbols.numbers(visit.array.size(launch.store.symbols))[0])
    access = (
        f"line {visit.line} then accesses byte {where} of {visit.array.name}, which has {size} "
        f"({launch.threads.name(found.outside)})"
    )
    line, value, limit = visit.line, 0, 0
    if meant is not None:
        number = int(meant.offsets[np.flatnonzero(meant.threads == own)[0]])
        wrap = _wrap(unbounded, meant)
        if wrap is not None and 0 <= number < size:
            line, value, limit = wrap.line, wrap.highest, wrap.limit
            access += (
                f"; it should be byte {number}, {element_at(unbounded.store.symbols, meant.array, number)}"
            )
    return Overflow(launch.path, line, sizes, value, limit, access, is_outside=True)


def _wrap(unbounded: SymbolicLaunch, visit: Visit) -> Doubt | None:
    """Return the last integer before an access that would wrap."""
    wraps = [
        doubt
        for doubt in unbounded.store.doubts[: visit.doubts]
        if doubt.limit and doubt.highest > doubt.limit
    ]
    return wraps[-1] if wraps else None


def elsewhere(
    launch: SymbolicLaunch,
    found: Followed,
    unbounded: SymbolicLaunch,
    meant: Followed,
    sizes: Mapping[str, int],
) -> Overflow | None:
    """Return a store of one block that is to another element as an index wraps, or loads what is stored then.

    Parameters
    ----------
    launch, found, unbounded, sizes
        As of `overflow_of`; no access is outside its array.
    meant : Followed
        The accesses with integers that don't wrap.
    """
    if meant.error is not None or len(meant.visits) != len(found.visits) or _wraps(launch.contract, sizes):
        return None
    for one, other in zip(found.visits, meant.visits, strict=True):
        if one.line != other.line or not np.array_equal(one.threads, other.threads):
            return None
        apart = np.flatnonzero(one.offsets != other.offsets)
        if not len(apart) or (wrap := _wrap(unbounded, other)) is None:
            continue
        place, wanted = int(one.offsets[apart[0]]), int(other.offsets[apart[0]])
        if not one.stores and not found.reaches_output(launch.store, one, place):
            continue
        first, second = (
            element_at(each.store.symbols, of.array, number)
            for each, of, number in ((launch, one, place), (unbounded, other, wanted))
        )
        access = (
            f"line {one.line} then accesses {first} ({launch.threads.name(int(one.threads[apart[0]]))}); "
            f"it should be {second}"
        )
        return Overflow(launch.path, wrap.line, sizes, wrap.highest, wrap.limit, access)
    return None


def _wraps(contract: Contract, sizes: Mapping[str, int]) -> bool:
    """Tell whether the formula may itself wrap or clamp large indices, such as ``i % 2**29``."""
    assert contract.quantified is not None
    pending: list[Node | None] = [each.node for each in contract.quantified.derived.values()]
    for formula in contract.formulas:
        pending += [formula.body, formula.condition, *formula.target.indices]
    domains = {domain.name for domain in contract.quantified.domains}
    numbers = {name: number for name, number in sizes.items() if name not in domains}
    for scalar in (each for each in contract.parameters if isinstance(each, ScalarParameter)):
        if isinstance(scalar.value, Expression):
            numbers[scalar.name] = scalar.value.value(sizes)
    for whole in pending:
        for node in walk(whole) if whole is not None else ():
            if isinstance(node, Reduction):
                pending += [bound.extent for bound in node.indices]
            is_turning = isinstance(node, Binary) and node.operator in _TURNING
            if (is_turning or isinstance(node, Extremum)) and _reach(node, numbers) > _SEEN:
                return True
    return False


def _reach(node: Node, numbers: Mapping[str, int]) -> int:
    """Return the product of the numbers in a node, a bound of its divisors and limits; 0 if it reads data."""
    found = 1
    for each in walk(node):
        match each:
            case Element():
                return 0
            case Number():
                found *= max(1, int(abs(each.value)))
            case Name():
                found *= max(1, abs(numbers.get(each.name, 1)))
            case Binary(operator="<<" | ">>", right=Number(value=places)):
                found <<= min(int(places), 62)
    return found


def element_at(symbols: Symbols, array: SymbolicArray, offset: int) -> str:
    """Return which element a byte of an array belongs to, whose symbols are one number each."""
    left, indices = 8 * offset // array.element_bits, {}
    strides = symbols.numbers(array.strides)
    for axis in np.argsort(-strides, kind="stable").tolist():
        indices[axis], left = divmod(left, max(int(strides[axis]), 1))
    return f"{array.name}[{','.join(str(indices[axis]) for axis in sorted(indices))}]"
