"""Expected outputs of a kernel: a contract's formulas, or another kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..contract.arguments import Array
from ..contract.contract import Instance
from ..contract.element_places import place_of
from ..errors.error_bounds import ErrorBounds
from ..expected.array_programs import read_program
from ..expected.contract_terms import covered, expected_terms
from ..expected.reference_result import formula_values, magnitudes
from ..findings.finding import KernelFinding, Kind
from ..findings.result import Coverage, Equality
from ..machine.array_memory import (
    BYTE,
    ArrayMemory,
    elements_in,
    first_lanes,
    initial_bytes,
    inputs_of,
    memories,
    untouched,
)
from ..machine.front_end import FinalArray, Kernel, Outcome
from ..terms.inputs import Inputs
from ..terms.interning import Ids
from ..terms.store import TermStore
from .array_reference import ArrayReference
from .kernel_runs import outputs_on


class Reference(Protocol):
    """Expected outputs of a kernel at one set of sizes, as terms and as numbers.

    Attributes
    ----------
    former : str, optional
        The file of the kernel that says it, if one does.
    unordered : bool
        Whether it is itself not certain to the bit; see `Outcome.unordered`.
    equality : Equality
        The weakest that is enough.
    """

    former: str | None
    unordered: bool
    equality: Equality

    def covered(self, output: Array) -> NDArray[np.bool_]:
        """Tell of which elements (by linear index) of an output it says what they are to be."""
        ...

    def expected(self, output: Array) -> Ids:
        """Return the terms (elements,) of an output; those of elements not covered mean nothing."""
        ...

    def values(self, inputs: Inputs) -> Mapping[str, NDArray[Any]]:
        """Return every output (elements,) on numbers, as its format holds it."""
        ...

    def magnitudes(self, inputs: Inputs) -> Mapping[str, NDArray[np.float64]]:
        """Return the sums of the magnitudes of what is added up in every output (elements,)."""
        ...

    def origin(self, output: Array, element: int) -> str:
        """Say where an element is said to be what is expected, as part of a message."""
        ...

    def strays(self, kernel: Kernel, output: Array, outcome: Outcome) -> Iterator[KernelFinding]:
        """Yield what a kernel writes of an output beside the elements that are compared."""
        ...


class FormulaReference:
    """Expected outputs by the formulas of a contract; see `Reference`."""

    def __init__(self, instance: Instance, store: TermStore) -> None:
        self._instance, self._store = instance, store
        self.former: str | None = None
        self.unordered = False
        self.equality = instance.contract.equality

    def covered(self, output: Array) -> NDArray[np.bool_]:
        """See `Reference.covered`."""
        return np.asarray(covered(self._instance, output)).reshape(-1)

    def expected(self, output: Array) -> Ids:
        """See `Reference.expected`."""
        return np.asarray(expected_terms(self._instance, output, self._store)).reshape(-1)

    def values(self, inputs: Inputs) -> Mapping[str, NDArray[Any]]:
        """See `Reference.values`."""
        return formula_values(self._instance, inputs)

    def magnitudes(self, inputs: Inputs) -> Mapping[str, NDArray[np.float64]]:
        """See `Reference.magnitudes`."""
        return {name: sizes.reshape(-1) for name, sizes in magnitudes(self._instance, inputs).items()}

    def origin(self, output: Array, element: int) -> str:
        """See `Reference.origin`."""
        return ""

    def strays(self, kernel: Kernel, output: Array, outcome: Outcome) -> Iterator[KernelFinding]:
        """See `Reference.strays`."""
        return iter(())  # memory that no formula covers is watched


def reference_of(instance: Instance, store: TermStore) -> Reference:
    """Return what a contract says that the outputs are.

    Raises
    ------
    InputError
        If it names a function that can't be read.
    """
    stated = instance.contract.reference
    if stated is None:
        return FormulaReference(instance, store)
    folder = Path(instance.contract.path).parent
    return ArrayReference(instance, store, read_program(stated, folder))


class KernelReference:
    """Expected outputs by another kernel; see `Reference`.

    Parameters
    ----------
    kernel, instance : Kernel, Instance
        The other kernel, and what it is launched with.
    store : TermStore
        Where the terms of both kernels are.
    outcome : Outcome
        Of its run on terms.
    """

    def __init__(self, kernel: Kernel, instance: Instance, store: TermStore, outcome: Outcome) -> None:
        self._kernel, self._instance, self._store, self.outcome = kernel, instance, store, outcome
        self._memories = memories(instance)
        self.former: str | None = kernel.path
        self.unordered = outcome.unordered
        self.equality = instance.contract.former.equality

    def covered(self, output: Array) -> NDArray[np.bool_]:
        """See `Reference.covered`."""
        return self._elements(output)[0]

    def strays(self, kernel: Kernel, output: Array, outcome: Outcome) -> Iterator[KernelFinding]:
        """See `Reference.strays`."""
        memory = self._memories[output.name]
        mine, theirs = outcome.arrays[output.name], self.outcome.arrays[output.name]
        (written, partly), (wanted, partly_wanted) = (
            whole_elements(self._store, self._instance, memory, each) for each in (mine, theirs)
        )
        for members, kind, what in (
            (
                written & ~wanted & ~partly_wanted,
                Kind.CLOBBERED,
                "which the reference kernel leaves unwritten",
            ),
            (partly | partly_wanted, Kind.UNDECIDED, "which one of the kernels writes in part only"),
        ):
            found = np.flatnonzero(members)
            if len(found):
                lane = int(first_lanes(output)[found[0]])
                place = place_of(output, int(output.bit_offsets.reshape(-1)[found[0]]))
                more = f" (one of {len(found)} such elements)" if len(found) > 1 else ""
                yield KernelFinding(
                    kind,
                    f"writes {place}, {what}{more}",
                    kernel.path,
                    int(mine.lines[lane]),
                    outcome.thread_name(int(mine.writers[lane])),
                    output.name,
                )

    def _elements(self, output: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        final = self.outcome.arrays[output.name]
        return whole_elements(self._store, self._instance, self._memories[output.name], final)

    def expected(self, output: Array) -> Ids:
        """See `Reference.expected`."""
        return elements_in(self._store, self._memories[output.name], self.outcome.arrays[output.name].lanes)[
            1
        ]

    def values(self, inputs: Inputs) -> Mapping[str, NDArray[Any]]:
        """See `Reference.values`."""
        return outputs_on(self._kernel, self._instance, inputs)

    def magnitudes(self, inputs: Inputs) -> Mapping[str, NDArray[np.float64]]:
        """See `Reference.magnitudes`."""
        bounds = ErrorBounds(self._store, inputs)
        found = {}
        for output in self._instance.outputs:
            members = np.flatnonzero(self.covered(output))
            found[output.name] = np.full(output.elements, np.nan)
            found[output.name][members] = bounds.sizes(self.expected(output)[members])
        return found

    def origin(self, output: Array, element: int) -> str:
        """See `Reference.origin`."""
        final = self.outcome.arrays[output.name]
        line = int(final.lines[int(first_lanes(output)[element])])
        where = self._kernel.place(line) or f"{self._kernel.path}:{line}"
        return f"; the reference stores the expected value at {where}" if line else ""


def whole_elements(
    store: TermStore, instance: Instance, memory: ArrayMemory, final: FinalArray
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which elements (by linear index) a kernel wrote whole, and which only in part."""
    written, terms = elements_in(store, memory, final.lanes)
    written &= ~untouched(store, memory, terms)
    array = memory.array
    before = initial_bytes(store, memory, inputs_of(store, instance))
    changed = (final.lanes.terms != before.terms) | (final.lanes.lows != before.lows)
    first = array.bit_offsets.reshape(-1) // BYTE
    touched = np.zeros(array.elements, dtype=bool)
    for byte in range(-(-(array.low_bit % BYTE + array.format.bits) // BYTE)):
        touched |= changed[array.footprint.lanes(first + byte)]
    return written, touched & ~written


def coverage(instance: Instance, output: Array, wanted: NDArray[np.bool_]) -> Coverage:
    """Return how much of an output is compared: the elements that are wanted."""
    count = int(wanted.sum())
    size = -(-count * output.element_bits // 8)
    return Coverage(output.name, dict(instance.sizes), output.elements, count, size)
