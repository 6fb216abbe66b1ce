"""Sticky bits of FPSCR, as QEMU 7.2 was observed to set them."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.catalogue import UPDATES
from mmaproof.spec.power.choices import Choices
from mmaproof.spec.power.float_exceptions import raised, sticky_bits
from mmaproof.spec.power.rank_k_update import Live
from mmaproof.spec.rounding import Rounding

F32_ONE, F32_MAX, F32_SNAN, F32_INF, F32_NEAR_ONE = 0x3F800000, 0x7F7FFFFF, 0x7F800001, 0x7F800000, 0x3F800001
F16_ONE, F16_TWO, F16_INF, F16_MINUS_INF, F16_SNAN = 0x3C00, 0x4000, 0x7C00, 0xFC00, 0x7C01
INEXACT, SNAN, ISI, IMZ = 0x82000000, 0xA1000000, 0xA0800000, 0xA0100000
OVERFLOW = 0x92000000


@pytest.mark.parametrize(
    ("mnemonic", "x", "y", "acc", "masks", "expected"),
    [
        ("xvf32gerpp", [F32_ONE], [F32_ONE], F32_ONE, (15, 15, 1), 0),
        ("xvf32gerpp", [F32_NEAR_ONE], [F32_NEAR_ONE], 0, (15, 15, 1), INEXACT),
        ("xvf32ger", [F32_MAX], [F32_MAX], 0, (15, 15, 1), OVERFLOW),
        ("xvf32gerpp", [F32_SNAN], [F32_ONE], 0, (15, 15, 1), SNAN),
        ("xvf32gerpp", [F32_INF], [0], 0, (15, 15, 1), IMZ),
        ("xvf32gerpp", [F32_SNAN], [F32_ONE], F32_ONE, (0, 15, 1), 0),
        ("xvf32gerpp", [F32_NEAR_ONE], [F32_NEAR_ONE], F32_ONE, (15, 0, 1), 0),
        ("xvf16ger2", [F16_INF, F16_MINUS_INF], [F16_ONE, F16_ONE], 0, (15, 15, 3), ISI),
        ("xvf16ger2pp", [F16_SNAN, F16_TWO], [F16_ONE, F16_ONE], F32_ONE, (15, 15, 1), 0),
        ("xvf16ger2pp", [F16_SNAN, F16_TWO], [F16_ONE, F16_ONE], F32_ONE, (15, 15, 3), SNAN),
        ("xvf16ger2pp", [F16_SNAN, F16_TWO], [F16_ONE, F16_ONE], F32_SNAN, (15, 15, 0), SNAN),
    ],
)
def test_what_an_update_raises(
    mnemonic: str, x: list[int], y: list[int], acc: int, masks: tuple[int, int, int], expected: int
) -> None:
    update, alg = UPDATES[mnemonic], NumpyAlgebra()
    family = update.family
    operands = [
        np.broadcast_to(np.array(row, dtype=fmt.storage), (lines, family.rank))
        for row, fmt, lines in ((x, family.x, 4), (y, family.y, family.columns))
    ]
    old = np.full((4, family.columns), acc, dtype=family.result.storage)
    widths = (4, family.columns, family.rank)
    live = Live(*(alg.flags(mask, width) for mask, width in zip(masks, widths, strict=True)))
    found = raised(alg, update, *operands, old, live, Rounding.NEAREST_EVEN, Choices())
    assert sticky_bits(found) == expected


def test_one_disabled_row_raises_nothing() -> None:
    update, alg = UPDATES["xvf32gerpp"], NumpyAlgebra()
    x = np.array([[F32_SNAN], [F32_ONE], [F32_ONE], [F32_ONE]], dtype=np.uint32)
    y, acc = np.full((4, 1), F32_ONE, np.uint32), np.zeros((4, 4), np.uint32)
    live = [Live(alg.flags(mask, 4), alg.flags(15, 4), alg.flags(1, 1)) for mask in (0b0111, 0b1111)]
    bits = [
        sticky_bits(raised(alg, update, x, y, acc, masks, Rounding.NEAREST_EVEN, Choices())) for masks in live
    ]
    assert bits == [0, SNAN]


@pytest.mark.parametrize("sign", [0, 0x80000000])
@pytest.mark.parametrize(("magnitude", "expected"), [(0x00FFFFFF, 0x8A000000), (0x01FFFFFF, 0)])
def test_what_is_tiny_and_inexact_underflows_whatever_its_sign(
    sign: int, magnitude: int, expected: int
) -> None:
    x, half = np.full((4, 1), sign | magnitude, np.uint32), np.full((4, 1), 0x3F000000, np.uint32)
    live = Live(*(np.ones(width, dtype=bool) for width in (4, 4, 1)))
    acc = np.zeros((4, 4), np.uint32)
    found = raised(NumpyAlgebra(), UPDATES["xvf32ger"], x, half, acc, live, Rounding.NEAREST_EVEN, Choices())
    assert sticky_bits(found) == expected
