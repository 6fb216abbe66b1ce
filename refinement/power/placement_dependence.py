"""Results that depend on where arrays lie, found by calls with the arrays at other addresses.

Addresses are numbers here. No ABI says at which addresses arrays are, or in which order: a function that
compares those of two arrays, or looks at bits above the alignment, must leave the same wherever they are.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..findings.finding import KernelFinding, Kind
from ..machine.front_end import FinalArray, Outcome
from ..terms import bit_slices
from ..terms.interning import Ids
from ..terms.store import UNDEFINED, TermStore
from ..terms.traversal import leaves_of
from .state.storage import Segment

_WHERE = "with arrays at other addresses, in another order or end to end, "


def with_dependence(
    store: TermStore, outcome: Outcome, other: Outcome, arrays: dict[str, Segment]
) -> Outcome:
    """Return what a call did, with a finding where a call with the arrays elsewhere did something else."""
    if other.findings:
        found = other.findings[0]
        finding = replace(found, kind=Kind.UNDECIDED, message=f"{_WHERE}{found.kind}: {found.message}")
        return replace(outcome, findings=(*outcome.findings, finding))
    for name, segment in arrays.items():
        if segment.writable:
            lines = _differing_lines(store, outcome.arrays[name], other.arrays[name], segment)
            if len(lines):
                message = f"{_WHERE}{name} gets other contents: they depend on the addresses of arrays"
                finding = KernelFinding(Kind.UNDECIDED, message, line=int(lines[0]), count=len(lines))
                return replace(outcome, findings=(*outcome.findings, finding))
    return outcome


def _differing_lines(store: TermStore, one: FinalArray, other: FinalArray, segment: Segment) -> Ids:
    """Return the lines of the stores of bytes that differ, but of those that were undefined at first."""
    stored = (one.lines != 0) | (other.lines != 0)
    places = np.flatnonzero(stored if segment.results is None else stored & segment.results)
    places = places[_differ(one, other, places)]
    if not len(places):
        return np.zeros(0, dtype=np.int32)
    words = _bytes(store, one, places)
    differing = words != _bytes(store, other, places)
    for each in np.flatnonzero(differing):
        differing[each] = not store.are(UNDEFINED, leaves_of(store, words[each : each + 1])).any()
    lines = np.where(one.lines != 0, one.lines, other.lines)
    found: Ids = lines[places[differing]]
    return found


def _differ(
    one: FinalArray, other: FinalArray, places: np.ndarray[tuple[int], np.dtype[np.intp]]
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    terms = one.lanes.terms[places] != other.lanes.terms[places]
    return np.asarray(terms | (one.lanes.lows[places] != other.lanes.lows[places]))


def _bytes(store: TermStore, array: FinalArray, places: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Ids:
    terms, lows = array.lanes.terms[places], array.lanes.lows[places]
    found = terms.copy()
    for low in np.unique(lows):
        members = lows == low
        found[members] = bit_slices.extract(store, terms[members], int(low), 8)
    return found
