"""Accumulation in several fused steps: every step takes the scale factors of its own products."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mmaproof.spec.algebra import Operand
from mmaproof.spec.dot_add_model import DotAddModel
from mmaproof.spec.formats import E2M1, F32, UE8M0, FloatFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx import accumulation
from mmaproof.spec.ptx.architectures import architecture_named
from mmaproof.spec.ptx.catalogue import forms
from mmaproof.spec.ptx.choices import Choices
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.step_sequences import step_sequence
from mmaproof.spec.ptx.variant import Family
from mmaproof.spec.rounding import Rounding

NUMPY = NumpyAlgebra()
PRODUCTS = 64


def with_factors(scale_vec: str) -> Multiplication:
    for form in forms(Family.MMA):
        if isinstance(form, MmaForm) and (form.scale_type, form.scale_vec) == ("ue8m0", scale_vec):
            return multiplication(next(iter(form.variants())))
    raise AssertionError(scale_vec)


def random(fmt: FloatFormat, shape: tuple[int, ...], rng: np.random.Generator) -> Operand:
    near_one = (UE8M0.bias - 3, UE8M0.bias + 4) if fmt == UE8M0 else (0, 1 << fmt.bits)
    return Operand(rng.integers(*near_one, shape).astype(fmt.storage), fmt)


@pytest.mark.parametrize("length", [4, 8, 16, 32, 48, 64])
@pytest.mark.parametrize("factors", [1, 2, 4])
@pytest.mark.parametrize("group", [1, 4])
def test_a_chain_of_steps_scales_every_product_by_its_own_factor(
    monkeypatch: pytest.MonkeyPatch, length: int, factors: int, group: int
) -> None:
    model = DotAddModel(20, Rounding.TOWARD_ZERO, group=group)
    blackwell = step_sequence(architecture_named("blackwell"), with_factors("2X"))
    steps = replace(blackwell, model=model, products=length)
    monkeypatch.setattr(accumulation, "step_sequence", lambda *_: steps)
    rng = np.random.default_rng(length * factors)
    x, y = (random(E2M1, (50, PRODUCTS), rng) for _ in range(2))
    scales = tuple(random(UE8M0, (50, factors), rng) for _ in range(2))
    c = Operand(np.zeros(50, dtype=np.uint32), F32)
    chained = accumulation.float_sum(
        NUMPY, with_factors("2X"), x, y, c, (scales[0], scales[1]), Choices("blackwell")
    )

    for start in range(0, PRODUCTS, length):
        part = slice(start, start + length)
        x_part, y_part = (Operand(each.bits[:, part], E2M1) for each in (x, y))
        left, right = (
            Operand(np.repeat(scale.bits, PRODUCTS // factors, axis=-1)[:, part][:, ::group], UE8M0)
            for scale in scales
        )
        c = Operand(NUMPY.dot_add(F32, model, x_part, y_part, c, (left, right)), F32)
    assert chained.tolist() == c.bits.tolist()
    assert len(np.unique(chained)) > 25
