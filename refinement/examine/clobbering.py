"""Writes to memory that the contract protects: gaps between elements, and elements not covered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ..contract.contract import Instance
from ..contract.element_places import place_of
from ..contract.footprint import Offsets
from ..contract.parameters import Access
from ..equality.equivalence import compare
from ..expected.requirements import Requirements
from ..findings.finding import KernelFinding, Kind
from ..machine.array_memory import ArrayMemory, initial_bytes, inputs_of, memories
from ..machine.front_end import Kernel, Outcome
from ..machine.memory import ABSENT
from ..normal_forms.forms import NormalForms
from ..terms import bit_slices
from ..terms.assignments import Assignment
from ..terms.interning import Ids
from ..terms.store import TermStore, bits
from .counterexamples import ATTEMPTS, input_formats

Indices = NDArray[np.intp]

SHOWN = 4
"""Lines that are told of for one array."""

_LOOKED_AT = 64
"""Bytes of one line that are tried for a difference."""


@dataclass(frozen=True)
class Change:
    """Bits of protected bytes that a kernel changed.

    Attributes
    ----------
    lanes : array (n,)
        The bytes.
    low, width : int
        Their bits.
    actual, expected : array (n,)
        What they hold, and held.
    """

    lanes: Offsets
    low: int
    width: int
    actual: Ids
    expected: Ids


def clobbered(
    kernel: Kernel, instance: Instance, memory: ArrayMemory, forms: NormalForms, outcome: Outcome
) -> tuple[list[KernelFinding], Offsets]:
    """Return what a kernel did to bits that it must leave as they are, and the lanes that it changed.

    A finding is a refutation only with inputs on which a byte differs from what it was; a change that is
    not shown to be none is `Kind.UNDECIDED`.
    """
    found: list[KernelFinding] = []
    changed: list[Offsets] = [np.zeros(0, dtype=np.int64)]
    final = outcome.arrays[memory.array.name]

    def note(kind: Kind, message: str, lane: int) -> None:
        line, thread = int(final.lines[lane]), outcome.thread_name(int(final.writers[lane]))
        found.append(KernelFinding(kind, message, kernel.path, line, thread, memory.array.name))

    for change in _changes(forms.store, memory, instance, outcome):
        lines = final.lines[change.lanes]
        for line in np.unique(lines):
            members = np.flatnonzero(lines == line)
            told = _telling(instance, forms, change, members[:_LOOKED_AT])
            if told is None:
                same = compare(
                    forms, change.actual[members], change.expected[members], bits(change.width)
                ).identical
                if not same.all():
                    lane = int(change.lanes[members[np.argmin(same)]])
                    message = f"it is not shown that {_described(memory, lane, change)} stays unchanged"
                    note(Kind.UNDECIDED, message, lane)
                continue
            changed.append(change.lanes[members])
            lane = int(change.lanes[told])
            more = f" (one of {len(members)} such bytes)" if len(members) > 1 else ""
            note(Kind.CLOBBERED, f"writes {_described(memory, lane, change)}{more}", lane)
    return found[:SHOWN], np.unique(np.concatenate(changed))


def clobbered_beside(
    kernel: Kernel, instance: Instance, forms: NormalForms, outcome: Outcome
) -> list[KernelFinding]:
    """Return what a kernel did to bytes of buffers that are no output's."""
    names = {buffer.name for buffer in instance.buffers}
    names |= {array.name for buffer in instance.buffers for array in buffer.arrays}
    found: list[KernelFinding] = []
    for name, memory in memories(instance).items():
        if name in names and not memory.array.access.is_output:
            found += clobbered(kernel, instance, memory, forms, outcome)[0]
    return found


def _changes(store: TermStore, memory: ArrayMemory, instance: Instance, outcome: Outcome) -> Iterator[Change]:
    """Yield kept bits whose terms are not those from before, the same bits of bytes together."""
    if memory.kept is None:
        return
    final = outcome.arrays[memory.array.name].lanes
    before = initial_bytes(store, memory, inputs_of(store, instance))
    moved = (final.terms != before.terms) | (final.lows != before.lows)
    lanes = np.flatnonzero(moved & (memory.kept != 0) & (final.terms != ABSENT))
    before.terms[lanes[before.terms[lanes] == ABSENT]] = store.constants(0, 8)
    for mask in np.unique(memory.kept[lanes]):
        members = lanes[memory.kept[lanes] == mask]
        actual, expected = (each.read(members, 1) for each in (final, before))
        for low, width in _runs(int(mask)):
            pair = [bit_slices.extract(store, words, low, width) for words in (actual, expected)]
            differs = pair[0] != pair[1]
            if differs.any():
                yield Change(members[differs], low, width, *(terms[differs] for terms in pair))


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """Yield the lowest bit and the number of neighbouring ones of a byte."""
    low = 0
    while mask >> low:
        if mask >> low & 1:
            width = ((mask >> low) + 1 & ~(mask >> low)).bit_length() - 1
            yield low, width
            low += width
        low += 1


def _telling(instance: Instance, forms: NormalForms, change: Change, members: Indices) -> int | None:
    """Return the first of some bytes that random inputs show not to be as before."""
    requirements = Requirements(instance)
    for seed in range(ATTEMPTS):
        random = np.random.default_rng(seed)
        inputs = {
            name: random.integers(0, bits(fmt.bits).maximum, prod(shape), np.uint64, endpoint=True)
            for name, (fmt, shape) in input_formats(instance).items()
        }
        met = requirements.admissible(inputs, random)
        if met is None:
            continue
        try:
            assignment = Assignment(forms.store, met)
            actual, expected = (
                assignment.values(terms[members]) for terms in (change.actual, change.expected)
            )
        except UnsupportedError:
            return None
        if (actual != expected).any():
            return int(members[np.argmax(actual != expected)])
    return None


def _described(memory: ArrayMemory, lane: int, change: Change) -> str:
    """Describe bits that are to be left alone."""
    array = memory.array
    byte = array.footprint.offset(lane)
    bit = 8 * byte + change.low
    place = place_of(array, bit)
    what = f"byte {byte} of {array.name}"
    if array.access is Access.SCRATCH:
        return f"{what}, which belongs to no array"
    if array.access is Access.IN:
        return f"{place}, which is read-only"
    if change.width < 8:
        what = f"bits {change.low} to {change.low + change.width - 1} of {what}"
    if place.axis is not None or place.between:
        return f"the gap behind {place.nearest}: {what}, {place}"
    if array.low_bit <= bit % array.element_bits < array.low_bit + array.format.bits:
        return f"{place}, which no formula covers"
    return f"the gap beside {place}: {what}"
