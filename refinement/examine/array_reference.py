"""Reference functions in numpy as formulas of contracts: executed on symbols."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import F32, F64, S64, FloatFormat, IntegerFormat
from ..contract.arguments import Array
from ..contract.contract import Instance
from ..errors.error_bounds import ErrorBounds
from ..expected.array_functions import term_space
from ..expected.array_programs import ArrayProgram
from ..expected.elements_by_data import element_terms
from ..expected.formula_terms import scalar_term
from ..expected.reference_result import stored
from ..expected.term_arithmetic import Value
from ..expected.term_arrays import TermArray, TermSpace
from ..findings.finding import KernelFinding
from ..findings.result import Equality
from ..machine.front_end import Kernel, Outcome
from ..terms.inputs import Inputs, numbers_in
from ..terms.interning import Ids
from ..terms.store import TermStore


class ArrayReference:
    """Expected outputs by a numpy program; see `references.Reference`."""

    def __init__(self, instance: Instance, store: TermStore, program: ArrayProgram) -> None:
        self._instance, self._store, self._program = instance, store, program
        self.former: str | None = None
        self.unordered = False
        self.equality: Equality = instance.contract.equality
        self._terms: dict[str, Ids] = {}

    def covered(self, output: Array) -> NDArray[np.bool_]:
        """See `Reference.covered`."""
        return np.ones(output.elements, dtype=bool)

    def expected(self, output: Array) -> Ids:
        """See `Reference.expected`."""
        if not self._terms:
            found = self._program.called(self._instance, self._symbols())
            for each in self._instance.outputs:
                array = self._space.array(found[each.name])
                self._terms[each.name] = array.cast(each.format).value.terms.reshape(-1)
        return self._terms[output.name]

    @property
    def _space(self) -> TermSpace:
        formats = {argument.format for argument in self._instance.arguments}
        return term_space(self._store, F64 if F64 in formats else F32)

    def _symbols(self) -> dict[str, Any]:
        """Return what the program is given: terms; plain numbers where the contract gives integers."""
        found: dict[str, Any] = dict(self._instance.sizes)
        for array in self._instance.arrays.values():
            if not array.access.is_known_before:
                continue
            if array.contents is not None and not isinstance(array.format, FloatFormat):
                found[array.name] = numbers_in(array.contents.astype(np.uint64), array.format).reshape(
                    array.shape
                )
                continue
            terms = element_terms(array, np.arange(array.elements), self._store).reshape(array.shape)
            found[array.name] = TermArray(self._space, Value(terms, array.format))
        for scalar in self._instance.scalars.values():
            if scalar.integer is not None:
                found[scalar.name] = scalar.integer
            else:
                term = np.asarray(scalar_term(self._instance, scalar.name, self._store))
                found[scalar.name] = TermArray(self._space, Value(term.reshape(()), scalar.format))
        return found

    def values(self, inputs: Inputs) -> Mapping[str, NDArray[Any]]:
        """See `Reference.values`."""
        given: dict[str, Any] = dict(self._instance.sizes)
        for array in self._instance.arrays.values():
            if array.access.is_known_before:
                words = array.contents if array.contents is not None else inputs[array.name]
                given[array.name] = numbers_in(np.asarray(words, dtype=np.uint64), array.format).reshape(
                    array.shape
                )
        for scalar in self._instance.scalars.values():
            known = [scalar.value] if scalar.value is not None else inputs[scalar.name]
            given[scalar.name] = numbers_in(np.asarray(known, dtype=np.uint64), scalar.format).reshape(())[()]
        with np.errstate(all="ignore"):
            found = self._program.called(self._instance, given)
        return {
            output.name: _held(np.asarray(found[output.name]), output) for output in self._instance.outputs
        }

    def magnitudes(self, inputs: Inputs) -> Mapping[str, NDArray[np.float64]]:
        """See `Reference.magnitudes`."""
        bounds = ErrorBounds(self._store, inputs)
        return {output.name: bounds.sizes(self.expected(output)) for output in self._instance.outputs}

    def origin(self, output: Array, element: int) -> str:
        """See `Reference.origin`."""
        return ""

    def strays(self, kernel: Kernel, output: Array, outcome: Outcome) -> Iterator[KernelFinding]:
        """See `Reference.strays`."""
        return iter(())


def _held(values: NDArray[Any], output: Array) -> NDArray[Any]:
    """Return results as an output holds them."""
    fmt = output.format
    if not isinstance(fmt, IntegerFormat):
        return stored(values.astype(np.float64).reshape(-1), fmt)
    flat = [(int(each) - fmt.minimum) % (1 << fmt.bits) + fmt.minimum for each in values.reshape(-1)]
    return np.array(flat, dtype=np.int64 if fmt.bits < S64.bits else object)
