"""The operands of products by element types, and products with one reading of the open points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import UE8M0, FloatFormat, Format, IntegerFormat
from ...spec.pto.catalogue import OPERATIONS
from ...spec.pto.choices import ADDED_LAST, SEEDED, UNSPECIFIED, Choices
from ...spec.pto.products import product
from ...spec.pto.targets import A5
from ...spec.pto.type_triples import triples
from ...spec.rounding import Rounding
from ..obligation import Inputs, Variable

Formats = Mapping[str, Format]

SEEDED_CHOICES = Choices(accumulation=SEEDED)
ADDED_LAST_CHOICES = Choices(accumulation=ADDED_LAST)
ARBITRARY_CHOICES = Choices(accumulation=UNSPECIFIED)

STARTS = MappingProxyType({"": (), ".acc": ("c",), ".bias": ("bias",)})
"""What the sums of the forms start from, by the suffix of their names."""


def typed(*, microscaled: bool = False) -> dict[str, Formats]:
    """Return the formats of the operands of every product by its types: ``f16-f16-f32``."""
    found: dict[str, Formats] = {}
    for triple in triples(A5, OPERATIONS["tmatmul.mx" if microscaled else "tmatmul"]):
        result = triple.accumulator.format
        assert result is not None
        for a in triple.factors:
            for b in triple.factors:
                if a.format is None or b.format is None:
                    continue
                formats: dict[str, Format] = {"a": a.format, "b": b.format}
                formats |= dict.fromkeys(("c", "d", "bias"), result)
                if microscaled:
                    formats |= {"scale_a": UE8M0, "scale_b": UE8M0}
                found[f"{a.format}-{b.format}-{result}"] = formats
    return found


def is_integer(formats: Formats) -> bool:
    """Tell whether sums are of integers."""
    return isinstance(formats["d"], IntegerFormat)


def floating(formats: Formats, role: str) -> FloatFormat:
    """Return the format of a float operand."""
    fmt = formats[role]
    assert isinstance(fmt, FloatFormat)
    return fmt


def variables(formats: Formats, extents: tuple[int, int, int], *roles: str) -> tuple[Variable, ...]:
    """Return A, B and whatever else is named of ``c``, ``bias``, ``p``, ``q`` (partial sums) for m, k, n."""
    m, k, n = extents
    shapes = {"a": (m, k), "b": (k, n), "bias": (1, n)}
    return tuple(
        Variable(role, formats.get(role, formats["d"]), shapes.get(role, (m, n)))
        for role in ("a", "b", *roles)
    )


def multiplied(
    alg: Algebra,
    suffix: str,
    v: Inputs,
    formats: Formats,
    choices: Choices = SEEDED_CHOICES,
    lanes: slice = slice(None),
    start: Mapping[str, Array] = MappingProxyType({}),
) -> Array:
    """Return D of tmatmul, or of the form with a suffix (``.acc``, ``.bias``), on a slice of K.

    `start` has what the form adds: ``c`` or ``bias``.
    """
    return product(
        alg, OPERATIONS["tmatmul" + suffix], v["a"][..., lanes], v["b"][..., lanes, :], formats=formats,
        choices=choices, **start,
    )  # fmt: skip


def added(alg: Algebra, formats: Formats, left: Array, right: Array) -> Array:
    """Return the sum of two results, modulo 2**32 or rounded to nearest even."""
    fmt = formats["d"]
    if isinstance(fmt, IntegerFormat):
        return alg.wrap(alg.integer(left, fmt) + alg.integer(right, fmt), fmt)
    assert isinstance(fmt, FloatFormat)
    return alg.fused(fmt, Rounding.NEAREST_EVEN, (), [Operand(left, fmt), Operand(right, fmt)])


def chain(alg: Algebra, formats: Formats, v: Inputs, start: Array) -> Array:
    """Return the sum that is started from `start`, one product of each k after the other, k increasing.

    Integers wrap after every product; floats take one fused multiply-add for each. Without the instruction.
    """
    total, fmt = start, formats["d"]
    for t in range(v["a"].shape[-1]):
        x, y = v["a"][..., :, t, None], v["b"][..., t, None, :]
        if isinstance(fmt, IntegerFormat):
            one, other = formats["a"], formats["b"]
            assert isinstance(one, IntegerFormat)
            assert isinstance(other, IntegerFormat)
            term = alg.integer(x, one) * alg.integer(y, other)
            total = alg.wrap(term + alg.integer(total, fmt), fmt)
        else:
            pair = Operand(x, floating(formats, "a")), Operand(y, floating(formats, "b"))
            result = floating(formats, "d")
            total = alg.fused(result, Rounding.NEAREST_EVEN, [pair], [Operand(total, result)])
    return total


def zero(alg: Algebra, formats: Formats) -> Array:
    """Return a result of 0."""
    return alg.constant(0, formats["d"])[np.newaxis, np.newaxis]


def power_of_two(fmt: Format, exponent: int) -> int:
    """Return the encoding of 2**exponent, of a float a normal number."""
    if isinstance(fmt, FloatFormat):
        return (exponent + fmt.bias) << (fmt.fraction_bits + fmt.padding_bits)
    return 1 << exponent


def float_types() -> Iterator[tuple[str, Formats]]:
    """Yield the products of floats."""
    return ((name, formats) for name, formats in typed().items() if not is_integer(formats))
