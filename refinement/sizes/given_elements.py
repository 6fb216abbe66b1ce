"""Constant arrays with symbolic extents: the value of an element.

Values are repeated to fill an array, so that an element's is decided
by the rest of its place by their number. That rest is known where symbols add multiples of the number only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import Bits, IntegerFormat
from ..contract.contract import Instance
from ..contract.parameters import ArrayParameter
from .integer_forms import Rows

MOST_PERIOD = 32
"""Given values of an array whose extents depend on symbols."""


@dataclass(frozen=True)
class GivenElements:
    """The constant values of an array.

    Attributes
    ----------
    values : array (period,)
        Encodings, repeated by the elements' places.
    strides : Rows (axes, monomials)
        Distances of neighbours in elements, of an array whose elements lie in the order of their indices.
    """

    values: Bits
    strides: Rows

    def at(self, places: Rows) -> Bits | None:
        """Return the values (n,) at places (n, monomials); None if symbols decide which they are."""
        if (places[:, 1:] % len(self.values)).any():
            return None
        found: Bits = self.values[places[:, 0] % len(self.values)]
        return found

    def stays(self, moved: Sequence[int]) -> bool:
        """Tell whether every element has the value of the one whose indices are larger by some numbers."""
        distance = (np.array(moved, dtype=np.int64)[:, None] * self.strides).sum(axis=0)
        return not (distance % len(self.values)).any()

    def contents(self, shape: Sequence[int]) -> Bits | None:
        """Return the values of the first elements along each axis, by linear index; None as `at` does."""
        indices = np.stack(np.unravel_index(np.arange(int(np.prod(shape))), tuple(shape)), axis=1)
        return self.at(indices.astype(np.int64) @ self.strides)


def given_elements(parameters: Sequence[object], strides: Mapping[str, Rows]) -> dict[str, GivenElements]:
    """Return what arrays hold whose values are given, of those with some strides."""
    return {
        parameter.name: GivenElements(parameter.contents, strides[parameter.name])
        for parameter in parameters
        if isinstance(parameter, ArrayParameter)
        and parameter.name in strides
        and parameter.contents is not None
    }


def with_given(instance: Instance, given: Mapping[str, GivenElements]) -> Instance | None:
    """Return a contract at sizes that stand in for others, with given values where theirs are.

    None if the sizes decide which they are.
    """
    filled = {}
    for name, each in given.items():
        if (contents := each.contents(instance.arrays[name].shape)) is None:
            return None
        filled[name] = replace(instance.arrays[name], contents=contents)
    return replace(
        instance, arguments=tuple(filled.get(argument.name, argument) for argument in instance.arguments)
    )


def periods(parameters: Sequence[object]) -> list[int]:
    """Return how many values are given that are repeated, for each array where some are."""
    found = [
        len(parameter.contents)
        for parameter in parameters
        if isinstance(parameter, ArrayParameter) and parameter.contents is not None
    ]
    return [each for each in dict.fromkeys(found) if 1 < each <= MOST_PERIOD]


def check_given(parameter: ArrayParameter) -> None:
    """Check that given values of an array whose extents depend on symbols are modelled.

    Raises
    ------
    UnsupportedError
        If they aren't.
    """
    if parameter.contents is None:
        return
    about = f"{parameter.name} depends on sizes, and has given values"
    if parameter.access.is_written or not isinstance(parameter.format, IntegerFormat):
        raise UnsupportedError(f"{about}; only integer inputs are supported for every size")
    if parameter.strides != "row-major":
        raise UnsupportedError(f"{about}; only row-major arrays are supported for every size")
    if len(parameter.contents) > MOST_PERIOD:
        raise UnsupportedError(f"{about}; at most {MOST_PERIOD} repeated values are supported for every size")
