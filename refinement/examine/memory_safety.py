"""Memory safety for contracts without values: every access, for all data.

What each access does wrong (bounds, alignment, initialisation, races, divergence) the run itself reports;
here is what only shows when it has ended: memory that was to stay as it was, results that nobody computed.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..analysis.definedness import Definedness
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..contract.element_places import place_of
from ..contract.parameters import Access, Covers
from ..findings.finding import KernelFinding, Kind
from ..findings.result import Written
from ..machine.array_memory import ArrayMemory, elements_in, memories, untouched
from ..machine.front_end import FinalArray, Kernel, Outcome
from ..normal_forms.forms import NormalForms
from ..terms.interning import Ids
from ..terms.store import CONCATENATION, UNDEFINED, TermStore, is_no_value
from ..terms.traversal import leaves_of
from .clobbering import clobbered, clobbered_beside


def memory_findings(
    kernel: Kernel, instance: Instance, store: TermStore, outcome: Outcome
) -> tuple[list[KernelFinding], list[Written]]:
    """Return what is wrong with the memory that a kernel leaves, and how much of it it wrote.

    Parameters
    ----------
    kernel, instance, store, outcome : Kernel, Instance, TermStore, Outcome
        A run that came to its end.
    """
    forms, written = NormalForms(store), []
    found = clobbered_beside(kernel, instance, forms, outcome)
    for name, memory in memories(instance).items():
        if not memory.array.access.is_output:
            continue
        findings, _ = clobbered(kernel, instance, memory, forms, outcome)
        found += findings
        final = outcome.arrays[name]
        whole, terms = elements_in(store, memory, final.lanes)
        whole &= ~untouched(store, memory, terms)
        stored = _stored(memory, final) & whole
        written.append(Written(name, dict(instance.sizes), memory.array.elements, int(stored.sum())))
        members = np.flatnonzero(stored)
        found += _missing(kernel, memory.array, stored)
        found += _unfounded(kernel, memory, store, outcome, members, terms[members])
    return found, written


def _missing(kernel: Kernel, array: Array, stored: NDArray[np.bool_]) -> Iterator[KernelFinding]:
    """Yield that elements of an output are not written, unless the contract has it so."""
    missing = np.flatnonzero(~stored)
    if not len(missing) or array.access is not Access.OUT or array.covers is Covers.PART:
        return
    index = ",".join(map(str, np.unravel_index(missing[0], array.shape)))
    yield KernelFinding(
        Kind.MISSING_OUTPUT,
        f"{array.name}[{index}] is never written ({len(missing)} of {array.elements} elements are not); "
        f'if that is intended, state covers = "{Covers.PART}"',
        kernel.path,
        output=array.name,
    )


def _stored(memory: ArrayMemory, final: FinalArray) -> NDArray[np.bool_]:
    """Tell which elements (by linear index) some store of the kernel reached."""
    array = memory.array
    reached: NDArray[np.bool_] = final.lines[array.footprint.lanes(array.bit_offsets.reshape(-1) // 8)] != 0
    return reached


def _unfounded(
    kernel: Kernel,
    memory: ArrayMemory,
    store: TermStore,
    outcome: Outcome,
    members: NDArray[np.intp],
    terms: Ids,
) -> Iterator[KernelFinding]:
    """Yield one finding for each line that stores what no thread has computed.

    A value that merely depends on such a one may still be the same whatever that is: it is undecided.
    """
    leaves = leaves_of(store, np.unique(terms))
    operations = [store.operation(int(leaf)) for leaf in leaves]
    nobodys = leaves[np.array([is_no_value(operation) for operation in operations], dtype=bool)]
    if not len(nobodys):
        return
    wrong = np.flatnonzero(Definedness(store, nobodys).undefined_bits(terms))
    if not len(wrong):
        return
    final, array = outcome.arrays[memory.array.name], memory.array
    lanes = array.footprint.lanes(array.bit_offsets.reshape(-1)[members[wrong]] // 8)
    lines = final.lines[lanes]
    for line in np.unique(lines):
        at = np.flatnonzero(lines == line)
        lane, term = int(lanes[at[0]]), int(terms[wrong[at[0]]])
        plain = store.operation(term).name in (UNDEFINED, CONCATENATION)
        place = place_of(array, int(array.bit_offsets.reshape(-1)[members[wrong[at[0]]]]))
        what = (
            "a value that was never computed"
            if plain
            else "a value that depends on one that was never computed"
        )
        more = f" (and {len(at) - 1} more elements)" if len(at) > 1 else ""
        yield KernelFinding(
            Kind.UNINITIALISED if plain else Kind.UNDECIDED,
            f"stores to {place} {what}{more}",
            kernel.path,
            int(line),
            outcome.thread_name(int(final.writers[lane])),
            array.name,
        )
