"""Polynomials of terms, kept: those of many terms are computed at once in less time than one by one."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import Format
from ..normal_forms.forms import NormalForms
from ..normal_forms.sparse_polynomials import Monomial, sparse
from ..terms.interning import Ids

Number = dict[Monomial, Fraction | int]
"""A polynomial: coefficients by products of atoms. None is changed."""


class TermPolynomials:
    """Computes polynomials of terms.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    """

    def __init__(self, forms: NormalForms) -> None:
        self._forms = forms
        self._known: dict[Format, dict[int, Number]] = {}

    def __call__(self, terms: Ids, fmt: Format) -> list[Number]:
        """Return the polynomials of terms (n,) read in a format.

        Raises
        ------
        UnsupportedError
            They have too many products.
        """
        known = self._known.setdefault(fmt, {})
        asked = terms.tolist()
        new = np.array([each for each in dict.fromkeys(asked) if each not in known], dtype=np.int32)
        if len(new):
            found = sparse(self._forms.polynomials(new, fmt), len(new))
            known.update(zip(new.tolist(), found, strict=True))
        return [known[each] for each in asked]

    def prepare(self, terms: Ids, fmt: Format) -> None:
        """Compute the polynomials of terms (n,) that are asked for later, if all together can be."""
        with suppress(UnsupportedError):
            self(terms, fmt)
