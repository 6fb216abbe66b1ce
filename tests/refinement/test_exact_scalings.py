"""Products with powers of two are told to be exact just where all numbers of the narrower format are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mmaproof.refinement.hypotheses.exact_scalings import is_scaled_exactly
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.float_encoding import decode, encode
from mmaproof.spec.formats import BF16, E4M3, E5M2, F16, F32, FloatFormat
from mmaproof.spec.rounding import Rounding


def scaled(
    store: TermStore, source: FloatFormat, result: FloatFormat, power: int, *, flush: bool = False
) -> int:
    number = store.inputs("x", source, np.arange(1))
    if source != result:
        number = store.apply(operations.fused(result, (), (source,)), number)
    factor = store.constants(words(2.0**power, result).astype(np.uint64), result.bits)
    return int(store.apply(operations.fused(result, ((result, result),), flush=flush), number, factor)[0])


def words(numbers: Any, fmt: FloatFormat) -> Any:
    return encode(np.atleast_1d(np.asarray(numbers, dtype=np.float64)), fmt, Rounding.NEAREST_EVEN)


@pytest.mark.parametrize("power", range(-14, 1))
@pytest.mark.parametrize(("source", "result"), [(E4M3, F16), (E5M2, F16), (F16, F16), (F16, F32)])
def test_all_numbers_are_kept_where_a_product_is_told_to_be_exact(
    source: FloatFormat, result: FloatFormat, power: int
) -> None:
    numbers = decode(np.arange(1 << source.bits).astype(source.storage), source).astype(np.float64)
    exact = numbers[np.isfinite(numbers)] * 2.0**power
    kept = decode(words(exact, result), result).astype(np.float64)
    told = is_scaled_exactly(store := TermStore(), scaled(store, source, result, power))
    assert told == bool((kept == exact).all())


def test_a_product_that_is_flushed_is_not_told_to_be_exact() -> None:
    store = TermStore()
    assert not is_scaled_exactly(store, scaled(store, F16, F32, -1, flush=True))


def test_bits_that_are_read_in_another_format_are_numbers_of_that_one() -> None:
    """Bits of an e4m3 number widened to f16, read as bf16: halves of them are not all numbers of f16."""
    store = TermStore()
    widened = store.apply(operations.fused(F16, (), (E4M3,)), store.inputs("x", E4M3, np.arange(1)))
    half = store.constants(words(0.5, F16).astype(np.uint64), F16.bits)
    product = store.apply(operations.fused(F16, ((BF16, F16),)), widened, half)
    assert not is_scaled_exactly(store, int(product[0]))
