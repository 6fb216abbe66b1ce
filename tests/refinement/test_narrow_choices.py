"""Choices between floats that were widened are the same words as those of the narrow floats, widened."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.refinement.equality.narrow_choices import NarrowChoices
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.evaluation import Words, apply, evaluate
from mmaproof.refinement.terms.operations import Sum
from mmaproof.refinement.terms.store import Operation, TermStore
from mmaproof.spec.float_encoding import is_nan
from mmaproof.spec.formats import BF16, F16, F32, FloatFormat

SPECIAL = [0x0000, 0x8000, 0x0001, 0x8001, 0x3C00, 0xBC00, 0x3F80, 0xBF80, 0x7C00, 0xFC00, 0x7F80, 0xFF80]
SPECIAL += [0x7E00, 0xFE00, 0x7FC0, 0xFFFF, 0x03FF, 0x007F]
CONSTANTS = {
    "zero": 0,
    "negative zero": 1 << 31,
    "one": 0x3F800000,
    "thin": 0x3F800001,
    "infinity": 0x7F800000,
}


def widening(narrow: FloatFormat) -> Operation:
    return Operation(operations.FUSED, F32, (narrow,), Sum(0, 1))


@pytest.mark.parametrize("narrow", [F16, BF16])
@pytest.mark.parametrize("constant", [None, *CONSTANTS])
@pytest.mark.parametrize(
    "name", ["max", "min", "max nan", "lt", "geu", "eq", "ne", "nan", "select", "negate"]
)
def test_the_words_are_the_same(narrow: FloatFormat, constant: str | None, name: str) -> None:
    store = TermStore()
    wide = [store.apply(widening(narrow), store.inputs("x", narrow, np.array([at]))) for at in range(2)]
    if constant is not None:
        wide[1] = store.constants(np.array([CONSTANTS[constant]], dtype=np.uint64), 32)
    truth = store.inputs("c", operations.unsigned(1), np.arange(1))
    match name.split():
        case ["max" | "min" as which, *keeps]:
            operation, given = operations.extremum(F32, which, nan=bool(keeps)), wide
        case ["select"]:
            operation, given = operations.select(32), [truth, *wide]
        case ["negate"]:
            operation, given = operations.negate(F32), wide[:1]
        case _:
            operation, given = operations.compare(F32, name), wide
    term = apply(store, operation, *given)
    made = NarrowChoices(store).values(term)
    words = np.array(np.meshgrid(SPECIAL, SPECIAL), dtype=np.uint64).reshape(2, -1)
    if constant is None:
        assert (made != term).all()

    def values(number: int) -> Words:
        fmt, arguments = store.operation(number), store.arguments(np.array([number]))[0]
        if fmt.name == "constant":
            return np.full(words.shape[1], store.constant_values(np.array([number]))[0])
        if fmt.name == "input":
            return words[arguments[0]] if fmt.attribute == "x" else words[0] & np.uint64(1)
        return evaluate(fmt, [values(each) for each in arguments[: len(fmt.operands)]])

    one, other = values(int(term[0])), values(int(made[0]))
    if operation.result == F32 or name == "select":
        nans = is_nan(one.astype(np.uint32), F32)
        assert (nans == is_nan(other.astype(np.uint32), F32)).all()
        one, other = one[~nans], other[~nans]
    assert (one == other).all()
