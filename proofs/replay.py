"""Concrete evaluation of claims with numpy: sampling, replay and counterexample files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal, TypedDict, cast

import numpy as np

from ..spec.algebra import Array
from ..spec.errors import InputError
from ..spec.float_encoding import decode
from ..spec.formats import Bits, FloatFormat, Format, IntegerFormat
from ..spec.json_fields import Keyword, Natural, ObligationId
from ..spec.numpy_algebra import NumpyAlgebra
from .obligation import RN, Equality, Equation, Property, Variable, rounding_of

SCHEMA = 1

Encodings = Mapping[str, Array]
"""One array of encodings per variable, without batch axes."""


@dataclass(frozen=True)
class Difference:
    """The first place where the two sides of a claim differ.

    Attributes
    ----------
    label : str
        Which equation of the claim.
    index : tuple of int
        The element.
    left, right : str
        The two sides there.
    """

    label: str
    index: tuple[Natural, ...]
    left: str
    right: str


class GivenVariable(TypedDict):
    """A variable of a counterexample.

    Attributes
    ----------
    format : str
        Element format.
    shape : list of int
        Extents.
    bits : list of str
        Encodings, C order.
    values : list of str
        The same, as values.
    """

    format: str
    shape: list[Natural]
    bits: list[Annotated[str, Keyword("pattern", "^0x[0-9a-f]+$")]]
    values: list[str]


class SavedCounterexample(TypedDict):
    """A counterexample, as `check` saves it and `replay` reads it.

    Attributes
    ----------
    schema, kind : int, str
        What the document is.
    obligation : str
        Id of the obligation, isa/family/theorem/variant.
    inputs : mapping of str to GivenVariable
        By name.
    difference : Difference or None
        The first difference that numpy computes; null when the claim holds there.
    """

    schema: Literal[1]
    kind: Literal["obligation"]
    obligation: ObligationId
    inputs: Mapping[str, GivenVariable]
    difference: Difference | None


@dataclass(frozen=True)
class Counterexample:
    """Inputs that falsify a claim, replayed with numpy.

    Attributes
    ----------
    obligation : str
        Id of the obligation.
    inputs : mapping
        Per variable ``{"format", "shape", "bits", "values"}``; bits are hexadecimal, in C order.
    difference : Difference or None
        The first difference that `NumpyAlgebra` computes; None when the claim holds there.
    """

    obligation: str
    inputs: Mapping[str, Mapping[str, Any]]
    difference: Difference | None

    @property
    def replays(self) -> bool:
        """Whether numpy confirms it."""
        return self.difference is not None

    def document(self) -> SavedCounterexample:
        """Return the JSON document."""
        return cast(SavedCounterexample, {"schema": SCHEMA, "kind": "obligation", **asdict(self)})


def evaluate(
    prop: Property, encodings: Encodings, equality: Equality, batched: bool = False
) -> list[tuple[Equation, Array]]:
    """Evaluate a claim with numpy; each equation comes with an array that tells where it fails.

    With `batched`, every array but rounding directions has a leading batch axis.
    """
    alg = NumpyAlgebra()
    inputs = {
        v.name: rounding_of(int(encodings[v.name])) if v.format == RN else encodings[v.name]
        for v in prop.variables
    }
    kept = 1 if batched else 0
    failing = []
    with np.errstate(all="ignore"):
        assumed: Array = np.array(True)
        for condition in prop.assuming(alg, inputs) if prop.assuming else ():
            held = np.asarray(condition)
            assumed = np.asarray(assumed & held.all(axis=tuple(range(kept, held.ndim))))
        for equation in prop.claim(alg, inputs):
            wrong = ~np.asarray(equation.truth(alg, equality))
            if equation.where is not None:
                wrong = wrong & equation.where
            wrong = np.asarray(wrong)
            trailing = (1,) * (wrong.ndim - assumed.ndim)
            failing.append((equation, np.asarray(wrong & assumed.reshape(assumed.shape + trailing))))
    return failing


def counterexample(name: str, prop: Property, encodings: Encodings, equality: Equality) -> Counterexample:
    """Replay one assignment of a property's variables."""
    inputs = {v.name: _documented(v, encodings[v.name]) for v in prop.variables}
    return Counterexample(name, inputs, difference_on(prop, encodings, equality))


def difference_on(prop: Property, encodings: Encodings, equality: Equality) -> Difference | None:
    """Return the first difference of a property's sides on one assignment of its variables."""
    for equation, wrong in evaluate(prop, encodings, equality):
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            left, right = (
                shown(np.broadcast_to(side, wrong.shape)[index], equation.format)
                for side in (equation.left, equation.right)
            )
            return Difference(equation.label, index, left, right)
    return None


def shown(value: Any, fmt: Format | None) -> str:
    """Return an encoding in hexadecimal and as a value."""
    if fmt is None:
        return str(value)
    return f"{int(value):#0{2 + -(-fmt.bits // 4)}x} ({value_of(int(value), fmt)})"


def value_of(encoding: int, fmt: Format) -> str:
    """Return the value of an encoding as text."""
    if isinstance(fmt, FloatFormat):
        bits = np.array([encoding], dtype=fmt.storage)
        with np.errstate(all="ignore"):
            return repr(float(decode(bits, fmt)[0]))
    if isinstance(fmt, IntegerFormat) and fmt.signed and encoding >> (fmt.bits - 1):
        return str(encoding - (1 << fmt.bits))
    return str(encoding)


def _documented(variable: Variable, bits: Array) -> dict[str, Any]:
    flat = [int(b) for b in np.asarray(bits).flat]
    return {
        "format": variable.format.name,
        "shape": list(variable.shape),
        "bits": [f"{b:#0{2 + -(-variable.format.bits // 4)}x}" for b in flat],
        "values": [value_of(b, variable.format) for b in flat],
    }


def read_inputs(document: Any, prop: Property, where: str) -> dict[str, Bits]:
    """Read the inputs of a counterexample document for a property.

    Raises
    ------
    InputError
        If a variable is missing, or its shape or an encoding does not fit.
    """
    inputs = document.get("inputs") if isinstance(document, dict) else None
    if not isinstance(inputs, dict):
        raise InputError('the counterexample has no "inputs" object', where)
    encodings = {}
    for variable in prop.variables:
        entry = inputs.get(variable.name)
        bits = entry.get("bits") if isinstance(entry, dict) else None
        count = int(np.prod(variable.shape, dtype=int))
        if not isinstance(bits, list) or len(bits) != count:
            raise InputError(f'input {variable.name!r} must have {count} encodings in "bits"', where)
        try:
            numbers = [int(b, 16) for b in bits]
        except (TypeError, ValueError):
            raise InputError(
                f"input {variable.name!r} has bits that are not hexadecimal strings", where
            ) from None
        if any(not 0 <= n < 1 << variable.format.bits for n in numbers):
            raise InputError(f"input {variable.name!r} has bits wider than {variable.format.bits}", where)
        encodings[variable.name] = np.array(numbers, dtype=variable.format.storage).reshape(variable.shape)
    return encodings


def pinned_encodings(prop: Property, pinned: Mapping[str, Any]) -> dict[str, Bits]:
    """Return a pinned assignment as arrays; a scalar fills its array, a missing variable is 0."""
    return {
        v.name: np.broadcast_to(np.array(pinned.get(v.name, 0), dtype=v.format.storage), v.shape).copy()
        for v in prop.variables
    }


def edge_encodings(fmt: Format) -> Bits:
    """Return the encodings where formats behave specially: zeros, extremes, NaNs, infinities, ones."""
    if isinstance(fmt, FloatFormat):
        one = fmt.bias << fmt.fraction_bits
        magnitudes = {0, 1, fmt.largest, one, one + 1, 1 << fmt.fraction_bits, (1 << fmt.fraction_bits) - 1}
        magnitudes |= {m for m in (fmt.infinity, fmt.default_nan) if m is not None}
        if fmt.infinity is not None:
            magnitudes |= {fmt.infinity + 1}
        unsigned = {m << fmt.padding_bits for m in magnitudes}
        encodings = unsigned | {m | fmt.sign_mask for m in unsigned}
    else:
        top = 1 << (fmt.bits - 1)
        encodings = {e & (2 * top - 1) for e in (0, 1, 2, top, top - 1, top + 1, -1, -2)}
    return np.array(sorted(encodings), dtype=fmt.storage)


def samples(prop: Property, rng: np.random.Generator, batch: int) -> Iterator[dict[str, Bits]]:
    """Yield batches of random and edge assignments, one per rounding direction."""
    directions: Iterable[int] = range(4) if any(v.format == RN for v in prop.variables) else (0,)
    for direction in directions:
        assignment = {}
        for variable in prop.variables:
            fmt = variable.format
            shape = (batch, *variable.shape)
            if fmt == RN:
                assignment[variable.name] = np.array(direction, dtype=np.uint8)
                continue
            uniform = (
                rng.integers(0, 1 << fmt.bits, shape, dtype=np.uint64, endpoint=False)
                if fmt.bits < 64
                else (rng.integers(0, np.iinfo(np.uint64).max, shape, dtype=np.uint64, endpoint=True))
            )
            edges = rng.choice(edge_encodings(fmt), shape)
            case = np.arange(batch).reshape(batch, *(1,) * len(variable.shape)) % 4
            mixed = np.where(rng.random(shape) < 0.5, edges, uniform)
            same = np.broadcast_to(edges[(slice(None), *(slice(0, 1),) * len(variable.shape))], shape)
            values = np.select([case == 0, case == 1, case == 2], [uniform, edges, same], mixed)
            assignment[variable.name] = values.astype(fmt.storage)
        yield assignment


def search(prop: Property, equality: Equality, seed: int = 0, batch: int = 2048) -> dict[str, Bits] | None:
    """Look for an assignment that falsifies a claim, by sampling; None when none was met."""
    rng = np.random.default_rng(seed)
    for assignment in samples(prop, rng, batch):
        for _, wrong in evaluate(prop, assignment, equality, batched=True):
            if wrong.any():
                row = int(np.argwhere(wrong)[0][0])
                return {
                    v.name: assignment[v.name] if v.format == RN else assignment[v.name][row]
                    for v in prop.variables
                }
    return None
