"""Evaluation of terms on concrete inputs, all terms at once, and several samples of inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.float_encoding import default_nan, is_nan
from ...spec.formats import FloatFormat, Format
from ...spec.open_results import COMPUTED_NAN
from .domains import Domain
from .evaluation import Words, evaluate, ones
from .interning import Ids
from .store import CONSTANT, INPUT, UNDEFINED, VECTOR, Operation, TermStore
from .traversal import gathered

FILLINGS = (0x5A, 0xFF)
"""Bytes that what nobody has written is taken to hold: great numbers, and NaN in every format with one."""


def fillings(store: TermStore) -> tuple[int, ...]:
    """Return the bytes to be tried: one where everything is defined."""
    return FILLINGS if store.named(UNDEFINED).any() else FILLINGS[:1]


class Assignment(Domain):
    """Values of inputs, and of all terms under them.

    Parameters
    ----------
    store : TermStore
        The terms.
    inputs : mapping of str to array (elements,) or (elements, samples)
        The encodings of each input's elements by linear index; of several samples, so are all values.
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
        super().__init__(store)
        self._inputs = {name: np.asarray(array).astype(np.uint64) for name, array in inputs.items()}
        self._samples = next((array.shape[1:] for array in self._inputs.values()), ())
        self.dtype = np.dtype((np.uint64, self._samples))
        self._undefined = np.uint64(undefined * 0x0101010101010101 & 0xFFFFFFFFFFFFFFFF)
        self._given = given or {}

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Words | np.uint64 | int:
        """Return the encodings of terms of one operation.

        Raises
        ------
        UnsupportedError
            If it has no value that can be computed, or an input has none.
        """
        match operation.name:
            case name if name == CONSTANT:
                return self._in_all_samples(self.store.constant_values(terms))
            case name if name == INPUT:
                if operation.attribute not in self._inputs:
                    raise UnsupportedError(f"no values for input {operation.attribute}")
                return self._inputs[str(operation.attribute)][self.store.arguments(terms)[:, 0]]
            case name if name == UNDEFINED:
                filling = int(self._undefined)
                if operation.attribute == COMPUTED_NAN:
                    filling = self._nan(operation.result)
                found = [self._given.get(each, filling) for each in terms.tolist()]
                return self._in_all_samples(np.array(found, dtype=np.uint64) & ones(operation.result.bits))
            case name if name == VECTOR:
                return 0
        given = [self.table()[each] for each in gathered(self.store, operation, terms)]
        return evaluate(operation, [each.swapaxes(1, -1) for each in given] if self._samples else given)

    def _in_all_samples(self, words: Words) -> Words:
        return words.reshape(-1, *(1 for _ in self._samples))

    def _nan(self, fmt: Format) -> int:
        """Return a NaN of a format, another one for each filling."""
        assert isinstance(fmt, FloatFormat)
        filling = int(self._undefined & ones(fmt.bits))
        return filling if is_nan(np.array([filling], dtype=fmt.storage), fmt)[0] else default_nan(fmt)
