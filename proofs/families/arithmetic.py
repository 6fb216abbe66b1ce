"""Fused multiply-adds round the exact sum once: numpy's, against exact fractions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ...spec.algebra import Array, Operand
from ...spec.errors import UnsupportedError
from ...spec.float_encoding import decode, encode
from ...spec.formats import BF16, E4M3, F16, F32, F64, FloatFormat
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from ...spec.value_algebra import ValueAlgebra
from ..comparison import arrays_compared, compared, refusal_is
from ..obligation import Case, Certificate, Method, Theorem, theorem
from ..stated import arithmetic as stated

_NEAREST = Rounding.NEAREST_EVEN

COUNT = 240
"""Triples of factors and an addend for each step."""

Step = tuple[FloatFormat, FloatFormat, FloatFormat]
"""Formats of the factors and of the result."""


def fused(isa: str, steps: Callable[[], Iterable[Step]]) -> Theorem:
    """Return the theorem that the steps of an instruction set are executed as IEEE 754 defines them."""

    @theorem(
        f"{isa}/stated/fused",
        "sampled products and fused multiply-adds are executed as exact arithmetic rounds them",
        "for ends and 240 triples of encodings, half of which cancel, and each direction: the encodings of "
        "x·y + z and x·y are those of the exact number, rounded by fractions; of zeros, infinities and NaNs "
        "what IEEE 754 says, with its signs; of batches element by element; sums that float64 can't carry "
        "are refused; products of values are rounded, whether the format holds all of them or not, and so "
        "are they with a number added; two numbers are added without a product",
        "IEEE 754-2019 sections 3.3, 4.3, 6.1 to 6.3, 7.2 and 7.4",
    )
    def cases() -> Iterator[Case]:
        for x, y, result in dict.fromkeys(steps()):
            yield Case(f"{x}-{y}-{result}", partial(_step, x, y, result), method=Method.CERTIFICATE)
            special = partial(_special, x, y, result)
            yield Case(f"{x}-{y}-{result}/special", special, method=Method.CERTIFICATE)
        yield Case("batches", _batches, method=Method.CERTIFICATE)
        yield Case("refused", _refused, method=Method.CERTIFICATE)
        yield Case("values", _values, method=Method.CERTIFICATE)
        yield Case("addends", _addends, method=Method.CERTIFICATE)

    return cases


def _step(x: FloatFormat, y: FloatFormat, result: FloatFormat) -> Certificate:
    triples = list(stated.triples(x.name, y.name, result.name, COUNT))
    expected: dict[tuple[str, int, str], int | None] = {}
    for place, (left, right, addend) in enumerate(triples):
        product = (stated.value(x.name, left) or Fraction(0)) * (stated.value(y.name, right) or Fraction(0))
        start = stated.value(result.name, addend) or Fraction(0)
        for direction in stated.DIRECTIONS:
            for what, number in (("fused", product + start), ("product", product)):
                exact = stated.rounded(result.name, number, direction) if number else None
                expected[what, place, direction] = exact
    operands = [
        Operand(np.array([triple[place] for triple in triples], dtype=fmt.storage), fmt)
        for place, fmt in enumerate((x, y, result))
    ]

    def specified() -> Iterator[tuple[tuple[str, int, str], int | None]]:
        alg = NumpyAlgebra()
        left, right, addend = operands
        for code, direction in enumerate(stated.DIRECTIONS):
            for what, addends in (("fused", [addend]), ("product", [])):
                with np.errstate(all="ignore"):
                    bits = alg.fused(result, Rounding(code), [(left, right)], addends)
                for place, each in enumerate(bits):
                    is_zero = int(each) % result.sign_mask == 0
                    skipped = is_zero and expected[what, place, direction] is None
                    yield (what, place, direction), None if skipped else int(each)

    return compared(expected, specified)


# -- zeros, infinities and NaNs
def _special(x: FloatFormat, y: FloatFormat, result: FloatFormat) -> Certificate:
    names = list(stated.SPECIAL)
    cases = list(itertools.product(names, names, [None, *names]))
    expected: dict[object, str | None] = {
        (left, right, addend, direction): stated.of_special((left, right), addend, direction)
        for left, right, addend in cases
        for direction in stated.DIRECTIONS
    }

    def specified() -> Iterator[tuple[object, str | None]]:
        alg = NumpyAlgebra()
        for some in ([case for case in cases if case[2] is None], [case for case in cases if case[2]]):
            left, right, addend = (
                Operand(encode(np.array([float(case[at] or 0) for case in some]), fmt, _NEAREST), fmt)
                for at, fmt in enumerate((x, y, result))
            )
            addends = [addend] if some[0][2] else []
            for code, direction in enumerate(stated.DIRECTIONS):
                bits = alg.fused(result, Rounding(code), [(left, right)], addends)
                for case, each in zip(some, decode(bits, result), strict=True):
                    at = (*case, direction)
                    yield at, None if expected[at] is None else f"{each:g}"

    return compared(expected, specified)


# -- batches
def _batches() -> Certificate:
    shapes = {
        "one": ((), (), ()), "an axis": ((7,), (7,), (7,)), "broadcast": ((3, 1), (1, 5), (5,)),
        "scalars": ((4, 6), (), (6,)), "many": ((50, 1, 9), (50, 30, 1), (30, 9)),
        "long": ((9000,), (1,), ()), "most first": ((1, 70), (300, 1), (70,)),
        "few and long": ((2, 9000), (2, 1), (9000,)), "no element": ((0, 3), (3,), ()),
    }  # fmt: skip
    arrays = {
        name: [
            (np.arange(int(np.prod(extents))) * (7 + place) % 61 - 30.0).reshape(extents)
            for place, extents in enumerate(some)
        ]
        for name, some in shapes.items()
    }
    expected = {name: x * y + z for name, (x, y, z) in arrays.items()}

    def specified() -> Iterator[tuple[str, Array]]:
        for name, some in arrays.items():
            left, right, addend = (Operand(encode(np.array(each), F32, _NEAREST), F32) for each in some)
            bits = NumpyAlgebra().fused(F32, _NEAREST, [(left, right)], [addend])
            yield name, decode(bits, F32)

    return arrays_compared({name: np.asarray(each) for name, each in expected.items()}, specified)


# -- values instead of encodings
_PRODUCTS = (
    (F16, F16, F32), (F16, F16, F16), (BF16, BF16, F32), (BF16, F16, F32), (E4M3, E4M3, F16),
    *((FloatFormat(name, 12, exponent_bits=e, fraction_bits=f, bias=bias),) * 2 + (F16,)
      for name, e, f, bias in (("small", 4, 3, 20), ("great", 4, 3, 2), ("long", 3, 8, 3))),
)  # fmt: skip
"""Factors and result: the last ones are held but for the smallest, the greatest, and those of most digits."""


_ADDED = Fraction(23, 16)
"""What is added to products; none is its negative."""


def _ends(fmt: FloatFormat) -> list[Fraction]:
    """Return the numbers with the first and the last digit at both ends of the exponents, and near 1."""
    least, greatest = 1 - fmt.bias, (1 << fmt.exponent_bits) - 2 - fmt.bias
    found = [Fraction(2) ** (least - fmt.fraction_bits)]
    for exponent in sorted({least, min(max(0, least), greatest), greatest}):
        found += [
            Fraction(2) ** exponent,
            (1 + Fraction(1, 1 << fmt.fraction_bits)) * Fraction(2) ** exponent,
        ]
    return [*found, *(-number for number in found)]


def _spelled(formats: Step) -> str:
    return "{} * {} to {}".format(*formats)


def _values() -> Certificate:
    pairs = {formats: list(itertools.product(*map(_ends, formats[:2]))) for formats in _PRODUCTS}
    expected: dict[str, Array] = {}
    for formats, numbers in pairs.items():
        for direction in stated.DIRECTIONS:
            codes = [stated.rounded(formats[2].name, x * y, direction) for x, y in numbers]
            values = [stated.value(formats[2].name, code) for code in codes]
            signs = [1 if x * y > 0 else -1 for x, y in numbers]
            expected[f"{_spelled(formats)} {direction}"] = np.copysign(
                [np.inf if value is None else float(abs(value)) for value in values], signs
            )
            sums = [stated.rounded(formats[2].name, x * y + _ADDED, direction) for x, y in numbers]
            expected[f"{_spelled(formats)} and {_ADDED} {direction}"] = decode(
                np.array(sums, dtype=formats[2].storage), formats[2]
            )

    def specified() -> Iterator[tuple[str, Array]]:
        for (x, y, result), numbers in pairs.items():
            left, right = (np.array([float(pair[at]) for pair in numbers]) for at in (0, 1))
            for code, direction in enumerate(stated.DIRECTIONS):
                product = [(Operand(left, x), Operand(right, y))]
                values = ValueAlgebra().fused(result, Rounding(code), product)
                yield f"{_spelled((x, y, result))} {direction}", values
                addend = Operand(np.array(float(_ADDED)), result)
                sums = ValueAlgebra().fused(result, Rounding(code), product, [addend])
                yield f"{_spelled((x, y, result))} and {_ADDED} {direction}", sums

    return arrays_compared(expected, specified)


# -- sums without a product
def _addends() -> Certificate:
    """Return the claim that two numbers are added, whichever comes first, and that 0 times any adds none."""
    numbers = {fmt.name: _ends(fmt) for fmt in (F16, F32, F64)}
    pairs = {
        name: [(x, y) for x, y in itertools.product(some, some) if x + y] for name, some in numbers.items()
    }
    expected = {
        (name, direction): [stated.rounded(name, x + y, direction) for x, y in some]
        for name, some in pairs.items()
        for direction in stated.DIRECTIONS
    }
    expected |= {
        (f"0 and {name}", direction): [stated.rounded(name, y, direction) for _, y in some]
        for name, some in pairs.items()
        for direction in stated.DIRECTIONS
    }

    def specified() -> Iterator[tuple[tuple[str, str], list[int]]]:
        for fmt in (F16, F32, F64):
            zero, great = (
                Operand(np.full(len(pairs[fmt.name]), code, dtype=fmt.storage), fmt)
                for code in (0, fmt.largest)
            )
            left, right = (
                Operand(encode(np.array([float(pair[at]) for pair in pairs[fmt.name]]), fmt, _NEAREST), fmt)
                for at in (0, 1)
            )
            for code, direction in enumerate(stated.DIRECTIONS):
                bits = NumpyAlgebra().fused(fmt, Rounding(code), (), [left, right])
                yield (fmt.name, direction), bits.tolist()
                bits = NumpyAlgebra().fused(fmt, Rounding(code), [(zero, great)], [right])
                yield (f"0 and {fmt.name}", direction), bits.tolist()

    return compared(expected, specified)


# -- what float64 does not carry
_WIDE = FloatFormat("wide", 16, exponent_bits=11, fraction_bits=4, bias=1023)
_FINE = FloatFormat("fine", 32, exponent_bits=5, fraction_bits=26, bias=15)

_LOW = FloatFormat("low", 16, exponent_bits=8, fraction_bits=4, bias=1047)
"""Its least number times that of f16 is the least one of float64, and times that of bf16 is below."""

_POWERS = FloatFormat("powers", 12, exponent_bits=11, fraction_bits=0, bias=1075)
"""Its greatest number and that of float64 add up to the first power of two that float64 doesn't have."""

_Sum = tuple[FloatFormat, tuple[tuple[FloatFormat, FloatFormat], ...], tuple[FloatFormat, ...], bool]

_FINER = FloatFormat("finer", 32, exponent_bits=5, fraction_bits=25, bias=15)
"""Its products with those of _FINE have 53 bits, as many as float64."""

_SUMS: tuple[_Sum, ...] = (
    # result, products, addends, whether it is summed
    (F32, ((F32, F32),), (F32,), True), (F32, ((F16, BF16),), (F32,), True), (F32, (), (F64, F32), True),
    (F32, ((F32, F32),), (F64,), True), (F16, ((E4M3, E4M3), (F16, F16)), (), True), (F64, (), (F64,), True),
    (F64, ((F64, F64),), (F64,), True), (F64, ((F64, F64),), (), True), (F64, (), (F64, F64), True),
    (F32, ((F32, F32), (F32, F32)), (), True), (F32, ((F64, F64),), (), False),
    (F32, ((F64, F16),), (), False),
    (F32, (), (F64, F64), False), (F32, ((_WIDE, _WIDE),), (), False), (F32, ((_FINE, _FINE),), (), False),
    (F32, ((_LOW, F16),), (), True), (F32, ((_LOW, BF16),), (), False), (F32, (), (F64, _POWERS), False),
    (F32, ((_FINE, F32),), (), True), (F32, ((F16, _WIDE),), (F32,), False),
    (F32, ((BF16, _FINE),), (), True), (F32, ((_FINE, _FINER),), (), True),
    (F64, ((F32, F32), (F32, F32)), (), False), (F32, (), (F32, F32, F32), False), (F32, (), (), False),
    (F32, ((F32, F32), (F32, F32)), (F32,), False), (F64, ((F64, F64),), (F64, F64), False),
)  # fmt: skip
"""Terms that are summed in float64, or as a pair for f64: no more than two, and each one exactly."""


def _refused() -> Certificate:
    def name(products: object, addends: object, result: FloatFormat) -> str:
        return f"{products} {addends} to {result}"

    @refusal_is(False, UnsupportedError)
    def is_summed(result: FloatFormat, products: Any, addends: Any) -> object:
        def operand(fmt: FloatFormat) -> Operand:
            return Operand(np.zeros(2, dtype=fmt.storage), fmt)

        pairs = [(operand(x), operand(y)) for x, y in products]
        NumpyAlgebra().fused(result, _NEAREST, pairs, [operand(fmt) for fmt in addends])
        return True

    return compared(
        {name(products, addends, result): summed for result, products, addends, summed in _SUMS},
        lambda: {
            name(products, addends, result): is_summed(result, products, addends)
            for result, products, addends, _ in _SUMS
        },
    )
