"""The algebra of moved bits: an encoding is the list of where each of its bits comes from.

It has nothing but the operations that move bits, all of them numpy's on whole arrays, so that a claim
about transport is decided hundreds of times faster than with bit-vector terms, and both ways: two
encodings are equal for all inputs if and only if each bit has the same origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import count
from typing import Any, NoReturn

import numpy as np

from ..spec.algebra import Array
from ..spec.errors import UnsupportedError
from ..spec.formats import Format

_ZERO, _ONE = -2, -1
"""Origins of the bits of constants; those of variables count from 0."""


@cache
def _element(bits: int) -> np.dtype[Any]:
    return np.dtype([("origins", np.int32, (bits,))])


def _encodings(origins: Array) -> Array:
    """Return origins (…, bits), least significant first, as an array (…) of encodings."""
    wide = np.ascontiguousarray(origins, dtype=np.int32)
    return wide.view(_element(wide.shape[-1]))[..., 0]


class BitOrigins:
    """Encodings as structured numpy elements; see `Algebra` for what each operation means.

    Anything that computes raises `UnsupportedError`.
    """

    def __init__(self) -> None:
        self._next = count()

    def variable(self, shape: tuple[int, ...], fmt: Format) -> Array:
        """Return an array of encodings whose bits come from nowhere else."""
        bits = int(np.prod(shape, dtype=int)) * fmt.bits
        first = next(self._next)
        self._next = count(first + bits)
        return _encodings(np.arange(first, first + bits).reshape(*shape, fmt.bits))

    def __getattr__(self, name: str) -> NoReturn:
        raise UnsupportedError(f"bits that are only moved have no operation {name!r}")

    def constant(self, encoding: int, fmt: Format) -> Array:
        """Return a zero-dimensional array of constant bits."""
        return _encodings(np.array([_ONE if encoding >> i & 1 else _ZERO for i in range(fmt.bits)]))

    def same(self, left: Array, right: Array) -> Array:
        """Compare all origins."""
        return np.asarray((left["origins"] == right["origins"]).all(axis=-1))

    def extract(self, words: Array, low: int, fmt: Format) -> Array:
        """Slice the list."""
        return _encodings(words["origins"][..., low : low + fmt.bits])

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Concatenate lists and zeros."""
        words = np.full((*fields.shape[:-1], word.bits), _ZERO, dtype=np.int32)
        for i, position in enumerate(positions):
            words[..., position : position + fmt.bits] = fields["origins"][..., i, :]
        return _encodings(words)

    def unpack(self, data: Array, fmt: Format) -> Array:
        """Cut a big-endian image."""
        image = data["origins"][..., ::-1, :].reshape(*data.shape[:-1], -1, fmt.bits)
        return _encodings(image[..., ::-1, :])

    def pack(self, elements: Array, fmt: Format) -> Array:
        """Join a big-endian image."""
        image = elements["origins"][..., ::-1, :].reshape(*elements.shape[:-1], -1, 8)
        return _encodings(image[..., ::-1, :])
