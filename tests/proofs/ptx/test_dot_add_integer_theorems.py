"""Theorems about small integers in fused dot-adds: verdicts, mutants to refute, and the numpy model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from theorem_checks import judged, unexpected, vacuous

from mmaproof.proofs.obligation import Deduction, Status
from mmaproof.proofs.ptx import dot_add_integers as theorems
from mmaproof.proofs.ptx import dot_add_steps, numerics
from mmaproof.proofs.ptx.accumulations import accumulations
from mmaproof.spec.algebra import Operand
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.float_encoding import decode
from mmaproof.spec.formats import F16, F32, FloatFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.architectures import ARCHITECTURES

BY_NAME = {accumulation.name: accumulation for accumulation in accumulations()}


KNOWN = (*numerics.THEOREMS, *theorems.THEOREMS)
"""With the theorems whose obligations are premises here."""


def test_every_obligation_has_the_expected_verdict() -> None:
    assert unexpected(KNOWN) == {}


def test_no_obligation_is_vacuous() -> None:
    assert vacuous(theorems.THEOREMS) == []


def test_every_architecture_and_premise_is_covered() -> None:
    assert {accumulation.architecture for accumulation in accumulations()} == set(ARCHITECTURES)
    ids = {
        obligation.id for theorem in (*KNOWN, *dot_add_steps.THEOREMS) for obligation in theorem.obligations()
    }
    for obligation in theorems.integers.obligations():
        goal = obligation.goal()
        assert isinstance(goal, Deduction)
        assert set(goal.premises) <= ids


def integers_of(fmt: FloatFormat, greatest: int) -> dict[int, int]:
    """Return the encodings of the integers that a format holds, up to a magnitude."""
    encodings = {}
    for number in range(greatest + 1):
        bits = theorems._encoding(fmt, number) << fmt.padding_bits if number else 0
        if float(decode(np.array([bits], dtype=fmt.storage), fmt)[0]) == number:
            encodings[number] = bits
            if fmt.signed:
                encodings[-number] = bits | fmt.sign_mask
    return encodings


def encoded(numbers: Sequence[Any], fmt: FloatFormat) -> Operand:
    table = integers_of(fmt, int(np.abs(numbers).max()))
    return Operand(np.vectorize(table.__getitem__, otypes=[fmt.storage])(numbers), fmt)


@pytest.mark.parametrize("name", BY_NAME)
def test_the_numpy_model_sums_integers_below_the_bound_exactly(name: str) -> None:
    each = BY_NAME[name]
    rng = np.random.default_rng(17)
    limit, count, vectors = 1 << each.step_digits, each.products, 60
    most = {fmt: max(integers_of(fmt, 64)) for fmt in (each.a, each.b)}
    reach = max(1, int((limit / 2 / count) ** 0.5))
    x, y = (
        rng.choice(list(integers_of(fmt, min(reach, most[fmt]))), (vectors, count))
        for fmt in (each.a, each.b)
    )
    x[rng.random(x.shape) < 0.3] = 0
    room = limit - 1 - np.abs(x * y).sum(axis=-1)  # up to the bound, and of a sign that cancels
    c = np.where(rng.random(vectors) < 0.5, room, rng.integers(0, room + 1)) * rng.choice([-1, 1], vectors)
    addend = as_float(c, each.accumulator)
    scales = None
    if each.scale is not None:
        one = each.scale.bias << each.scale.fraction_bits
        ones = Operand(np.full((vectors, each.factors), one, each.scale.storage), each.scale)
        scales = (ones, ones)
    factors = encoded(x, each.a), encoded(y, each.b)
    total = NumpyAlgebra().dot_add(each.accumulator, each.model, *factors, addend, scales)
    exact = c + (x * y).sum(axis=-1)
    assert decode(total, each.accumulator).tolist() == exact.tolist()


def as_float(numbers: Any, fmt: FloatFormat) -> Operand:
    native = {F16: np.float16, F32: np.float32}[fmt]
    converted = numbers.astype(native)
    assert converted.astype(np.int64).tolist() == numbers.tolist()
    return Operand(converted.view(fmt.storage), fmt)


# -- mutants


HOPPER = next(
    accumulation for accumulation in accumulations() if accumulation.name == "hopper/f16-f16-f32-f32/k16"
)


def test_a_format_whose_one_is_subnormal_has_too_large_an_exponent() -> None:
    small = FloatFormat("small", 16, exponent_bits=5, fraction_bits=10, bias=0)
    assert judged(theorems._exponent_of_product(HOPPER)).status is Status.PROVED
    assert judged(theorems._exponent_of_product(replace(HOPPER, a=small))).status is Status.REFUTED
    assert judged(theorems._exponent_of_addend(small)).status is Status.REFUTED


def test_terms_aligned_to_one_bit_less(monkeypatch: pytest.MonkeyPatch) -> None:
    right = theorems.truncated_sum

    def shorter(model: DotAddModel, *rest: Any) -> Any:
        return right(replace(model, fraction_bits=model.fraction_bits - 1), *rest)

    monkeypatch.setattr(theorems, "truncated_sum", shorter)
    assert judged(theorems._aligned_sum(HOPPER.sequence, 0, 25)).status is Status.REFUTED


def test_a_product_that_is_summed_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    right = theorems.truncated_sum
    monkeypatch.setattr(theorems, "truncated_sum", lambda *arguments: right(*arguments) + right(*arguments))
    assert judged(theorems._aligned_sum(HOPPER.sequence, 0, 25)).status is Status.REFUTED


def test_a_result_that_keeps_fewer_bits() -> None:
    shorter = replace(HOPPER.model, result_fraction_bits=22)
    assert judged(theorems._rounding(shorter, F32, 22)).status is Status.PROVED
    assert judged(theorems._rounding(shorter, F32, 23)).status is Status.REFUTED
    assert judged(theorems._successor(shorter, F32, (1 << 24) - 2)).status is Status.REFUTED
