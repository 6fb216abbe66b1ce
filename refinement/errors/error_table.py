"""The table of `error_bounds`: values, errors, magnitudes and formats of terms on given inputs.

Rules read their arguments here; see `error_rules` and `error_bounds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import decode
from ...spec.formats import F32, TF32, FloatFormat, Format, IntegerFormat
from ..analysis.magic_constants import CoarseSums
from ..analysis.rounding_errors import Reals
from ..terms.assignments import FILLINGS, Assignment
from ..terms.domains import Domain
from ..terms.evaluation import integers
from ..terms.interning import Ids
from ..terms.store import TermStore


class ErrorTable(Domain):
    """Values and error bounds of terms on given inputs; `error_bounds` fills it.

    Parameters
    ----------
    store : TermStore
        The terms.
    inputs : mapping of str to array
        The encodings of each input's elements by linear index.

    Attributes
    ----------
    formats : list of Format
        By their numbers in `known_kinds`.
    coarse : CoarseSums
        Which sums are rounded coarsely.
    """

    dtype = np.dtype([("error", float), ("size", float), ("kind", np.int16), ("steady", bool)])

    def __init__(
        self,
        store: TermStore,
        inputs: Mapping[str, NDArray[Any]],
        undefined: int = FILLINGS[0],
    ) -> None:
        super().__init__(store)
        self._assignment = Assignment(store, inputs, undefined)
        self.coarse = CoarseSums(store)
        self.formats: list[Format] = []

    @property
    def known_errors(self) -> Reals:
        """Of terms that were asked for, and what they are made of."""
        return self.table()["error"]

    @property
    def known_sizes(self) -> Reals:
        """The sums of the magnitudes of what is added up in these terms."""
        return self.table()["size"]

    @property
    def known_kinds(self) -> NDArray[np.int16]:
        """As which of the formats an error is measured: bits that are a chosen float are that float."""
        return self.table()["kind"]

    @property
    def steady(self) -> NDArray[np.bool_]:
        """Of sums that are rounded coarsely: whether what is rounded is exact, so that no step is missed."""
        return self.table()["steady"]

    def words(self, terms: Ids) -> NDArray[np.uint64]:
        """Return the encodings of terms; raises UnsupportedError as `Assignment`."""
        return self._assignment.values(terms)

    def reals(self, terms: Ids, fmt: Format) -> Reals:
        """Return the numbers that terms are, read in a format."""
        words = self._assignment.values(terms)
        if isinstance(fmt, FloatFormat):
            return np.asarray(decode(words.astype(fmt.storage), fmt), dtype=np.float64)
        return integers(words, fmt).astype(np.float64)

    def read(self, terms: Ids, fmt: Format) -> tuple[Reals, Reals, Reals]:
        """Return values, errors and sizes of terms read in a format.

        What is inexact as one kind of number is unknown as another.
        """
        values, errors, sizes = self.reals(terms, fmt), self.known_errors[terms], self.known_sizes[terms]
        alike = np.array([self._alike(each, fmt) for each in self.formats], dtype=bool)
        known = alike[self.known_kinds[terms]]
        errors = np.where(known | (errors == 0), errors, np.inf)
        known &= isinstance(fmt, FloatFormat)
        sizes = np.where(known, np.maximum(sizes, np.abs(values)), np.abs(values))
        if fmt == TF32:  # reading an f32 rounds, toward zero or to nearest
            lost = values != self.reals(terms, F32)
            errors = errors + np.where(lost, 2.0**-TF32.fraction_bits * np.abs(values), 0.0)
        return values, errors, sizes

    @staticmethod
    def _alike(kind: Format, fmt: Format) -> bool:
        if isinstance(fmt, FloatFormat):
            return kind == fmt or {kind, fmt} == {F32, TF32}
        return isinstance(kind, IntegerFormat)

    def kind(self, fmt: Format) -> int:
        """Return the number of a format in `known_kinds`."""
        if fmt not in self.formats:
            self.formats.append(fmt)
        return self.formats.index(fmt)

    def is_float(self, terms: Ids) -> NDArray[np.bool_]:
        """Tell which terms are known to be floating-point numbers, not mere bits."""
        floats = np.array([isinstance(fmt, FloatFormat) for fmt in self.formats], dtype=bool)
        return floats[self.known_kinds[terms]]

    def argument(self, terms: Ids, index: int, fmt: Format) -> tuple[Reals, Reals, Reals]:
        """Return values, errors and sizes of an argument of terms (n,)."""
        return self.read(self.store.arguments(terms)[:, index], fmt)
