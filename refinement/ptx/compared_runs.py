"""What threads, or runs of one kernel, leave in memory: the same terms, or equal as real numbers.

In a reduction over the lanes of a warp every lane takes the others in an order of its own, and all store
what they come to.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import is_nan
from ...spec.formats import BF16, F16, F32, F64, FloatFormat
from ..analysis.rounding_depth import roundings
from ..equality.arg_extrema import ArgExtrema
from ..equality.equivalence import compare
from ..findings.finding import KernelFinding, Kind
from ..machine.memory import ByteLanes
from ..normal_forms.forms import NormalForms
from ..terms import operations
from ..terms.interning import Ids
from ..terms.store import CONSTANT, INPUT, VECTOR, TermStore
from ..terms.traversal import by_operation, operands, within
from .run.results import Contents, Run

_SUMMED: Mapping[int, FloatFormat] = MappingProxyType({32: F32, 64: F64})
"""Formats of numbers that lanes sum."""

_CHOOSING = frozenset(
    {operations.SELECT, operations.COMPARE, operations.BITWISE, operations.EXTREMUM, VECTOR, INPUT}
)
"""What makes no NaN of numbers."""

_REALS = MappingProxyType({16: (F16, BF16), 32: (F32,), 64: (F64,)})


def are_same_numbers(store: TermStore, one: Ids, other: Ids) -> bool:
    """Tell whether words (n,) are shown to be the same real numbers as others, no more often rounded."""
    fmt = _SUMMED.get(int(store.widths(one[:1])[0]))
    if fmt is None:
        return False
    first, second = np.unique(np.stack([one, other]), axis=1)
    if _choose_among_numbers(store, np.unique(np.stack([first, second]))):
        forms = NormalForms(store)
        if not len(ArgExtrema(forms).unequal(first, second, fmt)):
            return True
        equal = compare(forms, first, second, fmt).equal
    else:
        equal = _equal(store, first, second, fmt)
    return bool(equal.all()) and _no_less_exact(store, first, second)


def _equal(store: TermStore, one: Ids, two: Ids, fmt: FloatFormat) -> NDArray[np.bool_]:
    """Tell which words (n,) are shown to be equal, whatever the order of what they are chosen from."""
    forms = NormalForms(store)
    forms.splits_orders = False  # NaNs among that make words differ by who chooses, or who arrives first
    return compare(forms, one, two, fmt).equal


def _choose_among_numbers(store: TermStore, terms: Ids) -> bool:
    """Tell whether terms (n,) are only chosen among inputs that are known to be no NaNs, and constants."""
    compared = [terms[:0]]
    for operation, members in by_operation(store, within(store, terms)):
        if operation.name == INPUT and isinstance(operation.result, FloatFormat):
            ends = store.ends.get(str(operation.attribute))
            if ends is None or not ends.number[store.arguments(members)[:, 0]].all():
                return False
        elif operation.name == CONSTANT:
            words = store.constant_values(members)
            own = [fmt for fmt in _SUMMED.values() if fmt.bits == operation.result.bits]
            if any(is_nan(words.astype(fmt.storage), fmt).any() for fmt in own):
                return False
        elif operation.name not in _CHOOSING:
            return False
        elif any(isinstance(fmt, FloatFormat) for fmt in operation.operands):
            compared += operands(store, operation, members)
    return _are_of_floats(store, np.concatenate(compared))


def _are_of_floats(store: TermStore, terms: Ids) -> bool:
    """Tell whether terms (n,) hold no words of integers and no combined bits, which may be NaNs."""
    return not any(
        operation.result.bits > 1
        and (
            operation.name == operations.BITWISE
            or (operation.name == INPUT and not isinstance(operation.result, FloatFormat))
        )
        for operation, _ in by_operation(store, within(store, terms))
    )


def _no_less_exact(store: TermStore, one: Ids, two: Ids) -> bool:
    """Tell whether the second words are rounded no more often than the first."""
    return bool(roundings(store, two).growth <= roundings(store, one).growth)


class ComparedRuns:
    """What runs leave in memory, compared with what the first does.

    Parameters
    ----------
    store : TermStore
        The terms.
    first : Run
        The first run.
    workspaces : collection of str
        Buffers whose contents nobody looks at afterwards.
    """

    def __init__(self, store: TermStore, first: Run, workspaces: Collection[str]) -> None:
        self._store = store
        self._first = first
        self._workspaces = workspaces
        self._lost = {name: np.zeros(len(each.lines), dtype=bool) for name, each in first.contents.items()}
        self._findings: dict[int, KernelFinding] = {}
        self._reordered = False

    def with_other(self, other: Run, whatever: str) -> None:
        """Compare what another run leaves, of which the same is to be shown whatever its order."""
        for name, kept in self._first.contents.items():
            one, two = kept.lanes, other.contents[name].lanes
            differs = (one.terms != two.terms) | (one.lows != two.lows)
            if not differs.any():
                continue
            lost = np.flatnonzero(differs & ~self._same_numbers(one, two, differs))
            self._reordered |= len(lost) < int(differs.sum())
            if name in self._workspaces:
                self._lost[name][lost] = True
            elif len(lost):
                line = int(max(kept.lines[lost[0]], other.contents[name].lines[lost[0]]))
                message = f"byte {int(lost[0])} of {name} is not shown to be the same {whatever}"
                self._findings.setdefault(
                    line, KernelFinding(Kind.UNSUPPORTED, message, self._first.path, line)
                )

    def _same_numbers(self, one: ByteLanes, two: ByteLanes, differs: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell which lanes are of words that are the same real numbers, and no less exact in the first."""
        found = np.zeros(len(differs), dtype=bool)
        begins = differs & (one.lows == 0) & (two.lows == 0) & (one.terms >= 0) & (two.terms >= 0)
        starts = np.flatnonzero(begins)
        widths = self._store.widths(one.terms[starts])
        for width, formats in _REALS.items():
            size = width // 8
            at = starts[(widths == width) & (starts + size <= len(differs))]
            lanes = at[:, None] + np.arange(size)
            lows = 8 * np.arange(size)
            whole = np.ones(len(at), dtype=bool)
            for each in (one, two):
                whole &= (each.terms[lanes] == each.terms[at][:, None]).all(axis=1)
                whole &= (each.lows[lanes] == lows).all(axis=1)
            at, lanes = at[whole], lanes[whole]
            if len(at):
                equal = np.zeros(len(at), dtype=bool)
                for fmt in formats:
                    equal |= _equal(self._store, one.terms[at], two.terms[at], fmt)
                found[lanes[equal & _no_less_exact(self._store, one.terms[at], two.terms[at])]] = True
        return found

    def told(self, run: Run) -> Run:
        """Return a run with what is not the same in all of them, undefined in its memory."""
        contents = {}
        for name, each in run.contents.items():
            lost = np.flatnonzero(self._lost[name])
            lanes = ByteLanes(self._store, len(each.lines))
            lanes.terms[:], lanes.lows[:] = each.lanes.terms, each.lanes.lows
            lanes.terms[lost], lanes.lows[lost] = self._store.undefined(len(lost), 8), 0
            contents[name] = Contents(lanes, each.lines, each.threads, each.overwritten)
        return replace(
            run,
            contents=MappingProxyType(contents),
            findings=(*run.findings, *self._findings.values()),
            unordered=run.unordered or self._reordered,
            reordered=run.reordered or self._reordered,
        )
