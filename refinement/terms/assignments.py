"""Evaluation of terms on concrete inputs, all at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.float_encoding import default_nan, is_nan
from ...spec.formats import FloatFormat, Format
from ...spec.open_results import COMPUTED_NAN
from . import operations
from .evaluation import Words, evaluate, ones
from .interning import Ids
from .store import CONCATENATION, CONSTANT, INPUT, UNDEFINED, VECTOR, Operation, TermStore
from .traversal import fill, operands

FILLINGS = (0x5A, 0xFF)
"""Bytes that what nobody has written is taken to hold: great numbers, and NaN in every format with one."""


def fillings(store: TermStore) -> tuple[int, ...]:
    """Return the bytes to be tried: one where everything is defined."""
    return FILLINGS if store.named(UNDEFINED).any() else FILLINGS[:1]


class Assignment:
    """Values of inputs, and of all terms under them.

    Parameters
    ----------
    store : TermStore
        The terms.
    inputs : mapping of str to array
        The encodings of each input's elements by linear index.
    undefined : int
        The bits that undefined terms get, repeated.
    given : mapping of int to int, optional
        What some undefined terms are instead.
    """

    def __init__(
        self,
        store: TermStore,
        inputs: Mapping[str, NDArray[Any]],
        undefined: int = FILLINGS[0],
        given: Mapping[int, int] | None = None,
    ) -> None:
        self.store = store
        self._inputs = {name: np.asarray(array).astype(np.uint64) for name, array in inputs.items()}
        self._undefined = np.uint64(undefined * 0x0101010101010101 & 0xFFFFFFFFFFFFFFFF)
        self._given = given or {}
        self._values = np.zeros(0, dtype=np.uint64)
        self._known = np.zeros(0, dtype=bool)

    def values(self, terms: Ids) -> Words:
        """Return the encodings of terms, of any shape.

        Raises
        ------
        UnsupportedError
            If a term depends on an operation without a value that can be computed.
        """
        missing = len(self.store) - len(self._known)
        if missing:
            self._values = np.concatenate([self._values, np.zeros(missing, dtype=np.uint64)])
            self._known = np.concatenate([self._known, np.zeros(missing, dtype=bool)])
        flat = np.asarray(terms, dtype=np.int32).reshape(-1)
        fill(self.store, flat, self._known, False, self._depends, self._compute)
        found: Words = self._values[np.asarray(terms)]
        return found

    def _depends(self, operation: Operation, terms: Ids) -> list[Ids]:
        return operands(self.store, operation, terms)

    def _compute(self, operation: Operation, terms: Ids, _: NDArray[Any]) -> bool:
        if operation.name != VECTOR:
            self._values[terms] = self._of_operation(operation, terms)
        return True

    def _of_operation(self, operation: Operation, terms: Ids) -> Words | np.uint64:
        arguments = self.store.arguments(terms)
        match operation.name:
            case name if name == CONSTANT:
                return self.store.constant_values(terms)
            case name if name == INPUT:
                if operation.attribute not in self._inputs:
                    raise UnsupportedError(f"no values for input {operation.attribute}")
                return self._inputs[str(operation.attribute)][arguments[:, 0]]
            case name if name == UNDEFINED:
                filling = int(self._undefined)
                if operation.attribute == COMPUTED_NAN:
                    filling = self._nan(operation.result)
                found = [self._given.get(each, filling) for each in terms.tolist()]
                return np.array(found, dtype=np.uint64) & ones(operation.result.bits)
            case name if name == CONCATENATION:
                return evaluate(operation, [self._vector(arguments[:, 0])])
            case operations.DOT:
                x, y = (self._vector(arguments[:, column]) for column in (0, 1))
                return evaluate(operation, [x, y, self._values[arguments[:, 2]]])
            case operations.SCALED_DOT:
                x, y = (self._vector(arguments[:, column]) for column in (0, 1))
                rest = self.store.elements(arguments[:, 2])
                scales = [self._vector(rest[:, column]) for column in (1, 2)]
                return evaluate(operation, [x, y, self._values[rest[:, 0]], *scales])
        return evaluate(operation, [self._values[each] for each in operands(self.store, operation, terms)])

    def _nan(self, fmt: Format) -> int:
        """Return a NaN of a format, another one for each filling."""
        assert isinstance(fmt, FloatFormat)
        filling = int(self._undefined & ones(fmt.bits))
        return filling if is_nan(np.array([filling], dtype=fmt.storage), fmt)[0] else default_nan(fmt)

    def _vector(self, vectors: Ids) -> Words:
        found: Words = self._values[self.store.elements(vectors)]
        return found
