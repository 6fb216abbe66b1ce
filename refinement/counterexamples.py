"""Inputs on which a kernel is wrong: found by evaluation, confirmed by running the kernel on them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spec.errors import UnsupportedError
from ..spec.float_encoding import decode
from ..spec.formats import FloatFormat, Format, IntegerFormat
from .assignments import Assignment
from .contract import Instance
from .diagnosis import Monomial
from .evaluation import integers
from .interning import Ids
from .quantities import Quantifier
from .terms import INPUT, TermStore

SCHEMA = 1
KIND = "kernel"

ATTEMPTS = 4
"""Random inputs tried."""

LARGE = Fraction(1, 16)
"""A relative difference that rounding hardly explains where numbers are small integers."""

Inputs = Mapping[str, NDArray[np.uint64]]
"""The encodings of every input, by linear index; a scalar has one."""


@dataclass(frozen=True)
class Difference:
    """An output element on which kernel and contract differ.

    Attributes
    ----------
    output : str
        The element: ``C[3,5]``.
    kernel, contract : str
        Their values.
    """

    output: str
    kernel: str
    contract: str


@dataclass(frozen=True)
class KernelCounterexample:
    """Inputs on which a kernel's output is not what its contract says.

    Attributes
    ----------
    kernel, contract : str
        The files.
    sizes : mapping of str to int
        The set of sizes.
    inputs : mapping
        By name ``{"format", "shape", "bits"}``; bits are hexadecimal, row-major.
    difference : Difference
        The first element that differs.
    tolerance : float
        The relative difference that rounding may explain on these inputs.
    """

    kernel: str
    contract: str
    sizes: Mapping[str, int]
    inputs: Mapping[str, Mapping[str, Any]]
    difference: Difference
    tolerance: float

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {"schema": SCHEMA, "kind": KIND, **asdict(self)}

    def save(self, path: Path) -> None:
        """Write the JSON document, whole or not at all."""
        temporary = path.with_name(path.name + ".partial")
        temporary.write_text(json.dumps(self.document(), indent=1) + "\n", encoding="utf-8")
        temporary.replace(path)


def input_formats(instance: Instance) -> dict[str, tuple[Format, tuple[int, ...]]]:
    """Return format and shape of everything whose values are not given."""
    found: dict[str, tuple[Format, tuple[int, ...]]] = {
        array.name: (array.format, array.shape)
        for array in instance.arrays.values()
        if array.access != "out" and array.contents is None
    }
    scalars = (scalar for scalar in instance.scalars.values() if scalar.value is None)
    return found | {scalar.name: (scalar.format, ()) for scalar in scalars}


def candidates(
    instance: Instance,
    quantifier: Quantifier,
    differences: Sequence[Sequence[Monomial]],
    growth: Fraction,
) -> Iterator[tuple[dict[str, NDArray[np.uint64]], Fraction]]:
    """Yield inputs that may tell, each with the relative difference that rounding may explain.

    Only the factors of one product are not zero; then small integers, of which sums of products are
    exact in most formats; then numbers from 1 to 2 with all their bits, whose sums don't cancel, so that
    `growth`, the bound of the kernel's rounding, is a bound of the relative error.
    """
    formats = input_formats(instance)
    for monomials in differences:
        for monomial in monomials[:2]:
            yield _only(formats, quantifier, monomial), LARGE
    for seed in range(ATTEMPTS):
        random = np.random.default_rng(seed)
        small = {
            name: random.choice(_small_numbers(fmt), int(np.prod(shape)))
            for name, (fmt, shape) in formats.items()
        }
        yield small, LARGE
    for seed in range(ATTEMPTS):
        random = np.random.default_rng(seed)
        binade = {
            name: _of_one_binade(fmt, random.integers(0, 1 << 62, int(np.prod(shape)), dtype=np.uint64))
            for name, (fmt, shape) in formats.items()
        }
        yield binade, 4 * growth + Fraction(1, 1 << 40)


def _of_one_binade(fmt: Format, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return numbers from 1 to 2 with random fractions; of an integer format, small positive ones."""
    if isinstance(fmt, IntegerFormat):
        return words % np.uint64(min(8, fmt.maximum + 1))
    assert isinstance(fmt, FloatFormat)
    one, steps = np.uint64(_encoding(fmt, 1)), np.uint64(1 << fmt.fraction_bits)
    return one + ((words % steps) << np.uint64(fmt.padding_bits))


def _only(
    formats: Mapping[str, tuple[Format, tuple[int, ...]]], quantifier: Quantifier, monomial: Monomial
) -> dict[str, NDArray[np.uint64]]:
    inputs = {
        name: np.full(int(np.prod(shape)), _encoding(fmt, 0), dtype=np.uint64)
        for name, (fmt, shape) in formats.items()
    }
    store = quantifier.store
    for term in quantifier.terms(np.array(monomial.atoms, dtype=np.int64)):
        operation = store.operation(int(term))
        if operation.name == INPUT:
            name = str(operation.attribute)
            inputs[name][store.arguments(term)[0]] = _encoding(operation.result, 1)
    return inputs


def _encoding(fmt: Format, value: int) -> int:
    """Return the encoding of 0 or 1; where there is no 0, of 1."""
    if isinstance(fmt, IntegerFormat):
        return value
    assert isinstance(fmt, FloatFormat)
    if not value and fmt.subnormals:
        return 0
    return fmt.bias << (fmt.fraction_bits + fmt.padding_bits)


def _small_numbers(fmt: Format) -> NDArray[np.uint64]:
    """Return the encodings of a few small integers."""
    values = (0, 1, 2, 3, -1, -2)
    if isinstance(fmt, IntegerFormat):
        kept = [value for value in values if fmt.minimum <= value <= fmt.maximum]
        return np.array([value & ((1 << fmt.bits) - 1) for value in kept], dtype=np.uint64)
    assert isinstance(fmt, FloatFormat)
    found = [_encoding(fmt, 0), _encoding(fmt, 1), (fmt.bias + 1) << (fmt.fraction_bits + fmt.padding_bits)]
    negative = [encoding | fmt.sign_mask for encoding in found[1:]] if fmt.signed else []
    return np.array([*found, *negative], dtype=np.uint64)


def telling(
    store: TermStore, inputs: Inputs, actual: Ids, expected: Ids, fmt: Format, tolerance: Fraction
) -> int | None:
    """Return the first of some terms (n,) that differs on inputs, floats by more than a tolerance."""
    try:
        assignment = Assignment(store, inputs)
        got, wanted = (_numbers(assignment.values(terms), fmt) for terms in (actual, expected))
    except UnsupportedError:
        return None
    with np.errstate(all="ignore"):
        if isinstance(fmt, IntegerFormat):
            wrong = got != wanted
        else:
            apart = np.abs(got - wanted) > float(tolerance) * np.maximum(np.abs(got), np.abs(wanted))
            wrong = apart | (np.isnan(got) != np.isnan(wanted))
    if not wrong.any():
        return None
    return int(np.argmax(wrong))


def _numbers(words: NDArray[np.uint64], fmt: Format) -> NDArray[Any]:
    if isinstance(fmt, FloatFormat):
        return decode(words.astype(fmt.storage), fmt)
    return integers(words, fmt)


def documented(instance: Instance, inputs: Inputs) -> dict[str, dict[str, Any]]:
    """Return inputs as a counterexample keeps them."""
    found = {}
    for name, (fmt, shape) in input_formats(instance).items():
        digits = -(-fmt.bits // 4)
        found[name] = {
            "format": str(fmt),
            "shape": list(shape),
            "bits": [f"{int(encoding):0{digits}x}" for encoding in inputs[name]],
        }
    return found


def as_constants(store: TermStore, instance: Instance, inputs: Inputs) -> dict[str, Ids]:
    """Return inputs as constants, for a kernel to be run on."""
    return {
        name: store.constants(inputs[name], fmt.bits) for name, (fmt, _) in input_formats(instance).items()
    }
