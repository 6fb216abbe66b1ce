"""The two kernels of Moreira et al., section V, statement for statement over the built-ins.

Pointers are arrays of bytes that start where the pointer points.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..algebra import Array
from .builtins import Builtins

Quads = tuple[Array, ...]
"""The eight accumulators ``acc[0..7]``; None-like before the first update."""

_ORDER = ((0, 0, 0), (1, 0, 1), (4, 1, 0), (5, 1, 1), (2, 0, 2), (3, 0, 3), (6, 1, 2), (7, 1, 3))
"""Figures 5 and 8: accumulator, index of x, index of y, in program order."""


def outer_product(
    b: Builtins, acc: Quads | None, operation: str, xs: Sequence[Array], ys: Sequence[Array]
) -> Quads:
    """``mma_xvf64_8x8`` and ``mma_xvf32_8x16``: one update of the eight accumulators.

    Parameters
    ----------
    b : Builtins
        The machine.
    acc : tuple of arrays (…, 4, 16), optional
        The accumulators; None for the first, non-accumulating update.
    operation : str
        Name of the rank-1 update, e.g. ``xvf64gerpp``.
    xs, ys : sequence of arrays
        x0, x1 (pairs for f64) and y0..y3.
    """
    updated = dict(enumerate(acc)) if acc is not None else {}
    for index, i, j in _ORDER:
        updated[index] = b.rank_k_update(operation, updated.get(index), xs[i], ys[j])
    return tuple(updated[index] for index in range(8))


def store_accumulators(b: Builtins, acc: Quads) -> Array:
    """Eight ``mma_store_acc`` at D = 0, 4, …, 28: the 512 bytes of the result."""
    return np.concatenate([b.disassemble(quad) for quad in acc], axis=-1)


def dgemm_update(b: Builtins, acc: Quads | None, x: Array, y: Array) -> Quads:
    """One iteration of Figure 6: 64 bytes at X and at Y."""
    xs = [b.load_pair(x[..., 32 * i : 32 * i + 32]) for i in range(2)]
    ys = [b.load_vector(y[..., 16 * j : 16 * j + 16]) for j in range(4)]
    return outer_product(b, acc, "xvf64ger" if acc is None else "xvf64gerpp", xs, ys)


def dgemm_iteration(b: Builtins, acc: Quads | None, x: Array, y: Array) -> tuple[Quads, Array, Array]:
    """Run the body of Figure 6's loop: an update, and both pointers advance by eight elements.

    Parameters
    ----------
    b : Builtins
        The machine.
    acc : tuple of arrays (…, 4, 16), optional
        The accumulators; None in the first iteration.
    x, y : array (…, 64 and more)
        The bytes from both pointers on.

    Returns
    -------
    tuple
        The accumulators and the bytes from both pointers on, afterwards.
    """
    acc = dgemm_update(b, acc, x[..., :64], y[..., :64])
    return acc, x[..., 64:], y[..., 64:]


def dgemm_kernel(b: Builtins, x: Array, y: Array, n: int) -> Array:
    """``dgemm_kernel_8xNx8`` (Figure 6): the 512 bytes stored at A, for n ≥ 1.

    Parameters
    ----------
    b : Builtins
        The machine.
    x, y : array (…, 64 n)
        Bytes of X and Y.
    n : int
        Rank of the update; with n = 0 the kernel stores nothing.
    """
    acc = None
    for _ in range(n):
        acc, x, y = dgemm_iteration(b, acc, x, y)
    if acc is None:
        return x[..., :0]
    return store_accumulators(b, acc)


def sconv_kernel(
    b: Builtins, h: Array, image: Sequence[Sequence[Array]], *, parenthesised: bool = True
) -> Array:
    """``sconv_kernel_8x27x16`` (Figure 9): the 512 bytes stored at C.

    Parameters
    ----------
    b : Builtins
        The machine.
    h : array (…, bytes)
        The kernels, from H on.
    image : 3 x 3 arrays (…, bytes)
        For R, G and B, three image rows, each from its first column on.
    parenthesised : bool
        Whether the macro of Figure 8 parenthesises its arguments. As printed it does not, so that
        ``(fp32_4*)H+ 8+0`` advances by 8 vectors, not 8 floats.
    """
    unit = 4 if parenthesised else 16

    def vectors(pointer: Array, offset: int, count: int) -> list[Array]:
        starts = [unit * offset + 16 * index for index in range(count)]
        return [b.load_vector(pointer[..., start : start + 16]) for start in starts]

    acc = None
    for tap in range(27):
        channel, row, shift = tap // 9, tap // 3 % 3, tap % 3
        operation = "xvf32ger" if acc is None else "xvf32gerpp"
        acc = outer_product(b, acc, operation, vectors(h, 8 * tap, 2), vectors(image[channel][row], shift, 4))
    assert acc is not None
    return store_accumulators(b, acc)
