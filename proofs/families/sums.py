"""Sums as theorems state them, without the instructions that compute them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...spec.algebra import Algebra, Array, Encodings, Operand
from ...spec.formats import FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding

Factors = tuple[Encodings, Encodings]
"""What is multiplied: encodings with their formats."""


def outer(a: Array, b: Array, formats: tuple[Format, Format]) -> list[Factors]:
    """Return the factors of A (…, m, k) times B (…, k, n) for each k in turn, to broadcast to (…, m, n)."""
    return [((a[..., :, k, None], formats[0]), (b[..., k, None, :], formats[1])) for k in range(a.shape[-1])]


def exact_product(alg: Algebra, x: Encodings, y: Encodings) -> Array:
    """Return the exact product of integers."""
    assert isinstance(x[1], IntegerFormat)
    assert isinstance(y[1], IntegerFormat)
    return alg.integer(x[0], x[1]) * alg.integer(y[0], y[1])


def one_after_the_other(
    alg: Algebra,
    start: Array,
    factors: Iterable[Factors],
    fmt: Format,
    rounding: Rounding = Rounding.NEAREST_EVEN,
    multiply: Callable[[Algebra, Encodings, Encodings], Array] = exact_product,
) -> Array:
    """Return the sum that begins with `start` and takes one product after the other.

    Integers, whose products `multiply` says, wrap to `fmt` after every product; floats take one fused
    multiply-add for each.
    """
    total = start
    for x, y in factors:
        if isinstance(fmt, IntegerFormat):
            total = alg.wrap(multiply(alg, x, y) + alg.integer(total, fmt), fmt)
        else:
            addend = _float((total, fmt))
            total = alg.fused(addend.format, rounding, [(_float(x), _float(y))], [addend])
    return total


def _float(encodings: Encodings) -> Operand:
    bits, fmt = encodings
    assert isinstance(fmt, FloatFormat)
    return Operand(bits, fmt)


def added(
    alg: Algebra, left: Array, right: Array, fmt: Format, rounding: Rounding = Rounding.NEAREST_EVEN
) -> Array:
    """Return the sum of two encodings, modulo 2**bits or rounded."""
    if isinstance(fmt, IntegerFormat):
        return alg.wrap(alg.integer(left, fmt) + alg.integer(right, fmt), fmt)
    addends = _float((left, fmt)), _float((right, fmt))
    return alg.fused(addends[0].format, rounding, (), addends)


def power_of_two(fmt: Format, exponent: int) -> int:
    """Return the encoding of 2**exponent, of a float a normal number."""
    if isinstance(fmt, FloatFormat):
        return (exponent + fmt.bias) << (fmt.fraction_bits + fmt.padding_bits)
    return 1 << exponent
