"""The bounds that `explain` prints of Power, MFMA and PTO: none is exceeded, and each is nearly reached.

Errors are those of the executor, against sums of fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from pto_products import element_types, product_tiles

from mmaproof.spec.dot_add_bound import RoundingStep, bound_text, rounding_step, total_bound
from mmaproof.spec.formats import BF16, E4M3, F32, UE8M0, FloatFormat
from mmaproof.spec.mfma import error_bounds as mfma
from mmaproof.spec.mfma.assembly import parse
from mmaproof.spec.mfma.catalogue import ROWS
from mmaproof.spec.mfma.choices import Choices as MfmaChoices
from mmaproof.spec.mfma.product import Modifiers, flushes, sums_pairwise
from mmaproof.spec.mfma.product import product as mfma_product
from mmaproof.spec.mfma.targets import TARGETS
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power import error_bounds as power
from mmaproof.spec.power.catalogue import UPDATES, FloatFamily
from mmaproof.spec.power.choices import every_choice
from mmaproof.spec.power.rank_k_update import Live, rank_k_update
from mmaproof.spec.pto import error_bounds as pto
from mmaproof.spec.pto.catalogue import OPERATIONS
from mmaproof.spec.pto.choices import choices_of
from mmaproof.spec.pto.products import product as pto_product
from mmaproof.spec.pto.resolution import applied
from mmaproof.spec.pto.targets import PROFILES, Profile
from mmaproof.spec.rounding import Rounding

ALGEBRA = NumpyAlgebra()

Bits = np.ndarray[Any, Any]

VECTORS = 24


def exact(bits: Bits, fmt: FloatFormat) -> Any:
    """Return numbers as fractions, None where they are infinite or NaNs."""
    return np.frompyfunc(lambda encoding: fmt.exact(int(encoding)), 1, 1)(bits)


def power_of_two(fmt: FloatFormat, exponent: int) -> int:
    return (exponent + fmt.bias) << (fmt.fraction_bits + fmt.padding_bits)


def rows(
    fmt: FloatFormat, other: FloatFormat, result: FloatFormat, count: int, rng: np.random.Generator
) -> tuple[Bits, Bits, Bits]:
    """Return factors (n, count) and addends (n,): random ones that cancel, and those that lose most.

    The last ones have products of half a last place of C, each of which is lost, and of just less than one.
    """
    low, high = max(fmt.minimum_exponent, -6), min(fmt.maximum_exponent, 6)
    fields = rng.integers(low + fmt.bias, high + fmt.bias, (VECTORS, count))
    x = (fields << fmt.fraction_bits) | rng.integers(0, 1 << fmt.fraction_bits, fields.shape)
    x = (x << fmt.padding_bits) | np.where(rng.random(x.shape) < 0.5, fmt.sign_mask, 0)
    y = np.full((VECTORS, count), power_of_two(other, 0))
    if fmt == other:
        y = x[:, rng.permutation(count)]
    c = rng.integers(0, result.largest >> 1, VECTORS) if result.bits < 64 else np.zeros(VECTORS, dtype=int)
    c[: VECTORS // 2] = 0
    lost = []
    for places in (result.precision, result.fraction_bits):
        exponents = max(fmt.minimum_exponent, -(places // 2)), max(other.minimum_exponent, -(places // 2))
        most = [(e + f.bias + 1 << f.fraction_bits) - 1 for e, f in zip(exponents, (fmt, other), strict=True)]
        one = [power_of_two(f, e) for e, f in zip(exponents, (fmt, other), strict=True)]
        lost.append((one, sum(exponents) + places))
        below = [m << f.padding_bits for m, f in zip(most, (fmt, other), strict=True)]
        lost.append((below, sum(exponents) + places + 2))
    x = np.concatenate([x, [[pair[0]] * count for pair, _ in lost]])
    y = np.concatenate([y, [[pair[1]] * count for pair, _ in lost]])
    c = np.concatenate([c, [power_of_two(result, exponent) for _, exponent in lost]])
    return x.astype(fmt.storage), y.astype(other.storage), c.astype(result.storage)


def furthest(
    x: Any, y: Any, c: Any, computed: Any, signs: tuple[int, int], steps: tuple[RoundingStep, ...]
) -> Fraction:
    """Return the greatest error as a part of its bound."""
    relative, absolute = total_bound(steps)
    found = Fraction(0)
    for left, right, start, d in zip(x, y, c, computed, strict=True):
        if d is None:
            continue
        products = [a * b for a, b in zip(left, right, strict=True)]
        off = abs(signs[0] * sum(products) + signs[1] * start - d)
        bound = relative * (sum(map(abs, products)) + abs(signs[1] * start)) + absolute
        found = max(found, off / bound)
    return found


@pytest.mark.parametrize("direction", Rounding)
@pytest.mark.parametrize(
    "name", [update.mnemonic for update in UPDATES.values() if isinstance(update.family, FloatFamily)]
)
def test_power(name: str, direction: Rounding) -> None:
    update = UPDATES[name]
    family = update.family
    assert isinstance(family, FloatFamily)
    x, y, c = rows(family.x, family.y, family.result, family.rank, np.random.default_rng(0))
    live = Live(*(ALGEBRA.flags((1 << count) - 1, count) for count in (1, 1, family.rank)))
    signs = -1 if update.negative_product else 1, -1 if update.negative_accumulator else 1
    operands = exact(x, family.x), exact(y, family.y), exact(c, family.result) * int(update.accumulates)
    part = Fraction(0)
    for choices in every_choice("bf16-sum", "negation"):
        read = x[:, None], y[:, None], c[:, None, None]
        d = rank_k_update(ALGEBRA, update, *read, live, direction, choices)[:, 0, 0]
        steps = power.roundings(update, direction)
        part = max(part, furthest(*operands, exact(d, family.result), signs, steps))
    assert part <= 1
    assert part > Fraction(1, 3) or not update.accumulates
    assert bound_text(power.roundings(update, Rounding.NEAREST_EVEN)) in next(power.error_bounds(update))


@pytest.mark.parametrize("name", [row.name for row in ROWS if row.result != "i32"])
def test_mfma(name: str) -> None:
    written = parse(name)
    for target in TARGETS.values():
        row = written.on(target)
        if row is None:
            continue
        a, b, d = (target.format(row.types[role]) for role in "abd")
        assert isinstance(a, FloatFormat) and isinstance(b, FloatFormat) and isinstance(d, FloatFormat)
        x, y, c = rows(a, b, d, row.k, np.random.default_rng(1))
        if row.factors == "xf32":
            x, y = (each & np.uint32(0xFFFFFFFF << 13 & 0xFFFFFFFF) for each in (x, y))
        lines = list(mfma.error_bounds(written))
        assert not flushes(row, target, MfmaChoices()) or target.name in lines[-1]
        for accumulation in ("sequential", "pairwise"):
            if accumulation == "pairwise" and not sums_pairwise(row, target):
                continue
            choices = MfmaChoices(accumulation=accumulation)
            read = x[:, None], y[:, :, None], c[:, None, None]
            found = mfma_product(ALGEBRA, row, target, *read, Modifiers(), choices)[:, 0, 0]
            steps = mfma.roundings(row, target, accumulation)
            part = furthest(exact(x, a), exact(y, b), exact(c, d), exact(found, d), (1, 1), steps)
            assert part <= 1
            assert part > Fraction(1, 3) or accumulation == "pairwise"
            assert any(line.startswith(accumulation) and bound_text(steps) in line for line in lines)


@pytest.mark.parametrize("name", ["tmatmul", "tmatmul.acc", "tmatmul.bias", "tmatmul.mx.acc", "tgemv.mx"])
@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
def test_pto(name: str, profile: Profile) -> None:
    operation, k = OPERATIONS[name], 40
    if operation.microscaled and not profile.microscaling:
        return
    factor = E4M3 if operation.microscaled else BF16
    x, y, c = rows(factor, factor, F32, k, np.random.default_rng(2))
    given, formats = {}, {"a": factor, "b": factor, "d": F32, "scale_a": UE8M0, "scale_b": UE8M0}
    if operation.microscaled:
        ones = np.full((len(x), 1, 2), UE8M0.bias, dtype=np.uint8)
        given = {"scale_a": ones, "scale_b": ones.swapaxes(1, 2)}
    if operation.accumulates or operation.biased:
        given["c" if operation.accumulates else "bias"] = c[:, None, None]
    types = (
        element_types(operation, "f8E4M3FN", "f8E4M3FN", "f32")
        if operation.microscaled
        else element_types(operation, "bf16", "bf16", "f32")
    )
    size = 1 if name.startswith("tgemv") else 16, 64, 16
    resolved = applied(operation, product_tiles(operation, profile, size, types), profile)
    times = k + pto.added_last(resolved)
    d = pto_product(
        ALGEBRA, operation, x[:, None], y[:, :, None], **given, formats=formats, choices=choices_of(profile)
    )[:, 0, 0]
    start = exact(c, F32) * int(operation.accumulates or operation.biased)
    part = furthest(
        exact(x, factor), exact(y, factor), start, exact(d, F32), (1, 1), (rounding_step(F32),) * times
    )
    assert part <= 1
    assert part > Fraction(1, 3) or not given.keys() & {"c", "bias"} or pto.added_last(resolved)
    assert f"^{'(k + 1)' if times > k else 'k'} - 1)·S" in next(pto.error_bounds(resolved))
