"""Fused multiply-adds round the exact sum once: numpy's, against exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from ...spec.algebra import Operand
from ...spec.formats import FloatFormat
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from ..comparison import compared
from ..obligation import Case, Certificate, Method, Theorem, theorem
from ..stated import arithmetic as stated

COUNT = 240
"""Triples of factors and an addend for each step."""

Step = tuple[FloatFormat, FloatFormat, FloatFormat]
"""Formats of the factors and of the result."""


def fused(isa: str, steps: Callable[[], Iterable[Step]]) -> Theorem:
    """Return the theorem that the steps of an instruction set are executed as IEEE 754 defines them."""

    @theorem(
        f"{isa}/stated/fused",
        "products and fused multiply-adds are executed as exact arithmetic rounds them",
        "for 240 triples of encodings, half of which cancel, and each direction: the encodings "
        "of x·y + z and x·y are those of the exact number, rounded by fractions; signs of zeros apart",
        "IEEE 754-2019 sections 3.3, 4.3 and 7.4",
    )
    def cases() -> Iterator[Case]:
        for x, y, result in dict.fromkeys(steps()):
            yield Case(f"{x}-{y}-{result}", partial(_step, x, y, result), method=Method.CERTIFICATE)

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

    def specified() -> Mapping[tuple[str, int, str], int | None]:
        alg = NumpyAlgebra()
        found: dict[tuple[str, int, str], int | None] = {}
        left, right, addend = operands
        for code, direction in enumerate(stated.DIRECTIONS):
            for what, addends in (("fused", [addend]), ("product", [])):
                with np.errstate(all="ignore"):
                    bits = alg.fused(result, Rounding(code), [(left, right)], addends)
                for place, each in enumerate(bits):
                    is_zero = int(each) % result.sign_mask == 0
                    skipped = is_zero and expected[what, place, direction] is None
                    found[what, place, direction] = None if skipped else int(each)
        return found

    return compared(expected, specified)
