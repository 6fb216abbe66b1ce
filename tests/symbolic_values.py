"""Numbers as terms of Z3, and terms as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import z3

from mmaproof.spec.algebra import Array
from mmaproof.spec.formats import Format


def numerals(encodings: Array, fmt: Format) -> Array:
    """Return encodings as Z3 numerals."""
    return np.asarray(np.frompyfunc(lambda e: z3.BitVecVal(int(e), fmt.bits), 1, 1)(encodings), dtype=object)


def evaluated(terms: Array) -> Array:
    """Return the ints and truth values that closed terms simplify to."""
    return np.asarray(np.frompyfunc(_value, 1, 1)(terms), dtype=object)


def _value(term: Any) -> int | bool:
    if isinstance(term, bool | np.bool_):
        return bool(term)
    term = z3.simplify(term)
    if z3.is_bool(term):
        assert z3.is_true(term) or z3.is_false(term), term
        return bool(z3.is_true(term))
    return int(term.as_long())
