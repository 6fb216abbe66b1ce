"""The DGEMM and SCONV kernels of Moreira et al., section V."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F32, F64, U8, U64
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.power import kernels, memory
from ...spec.power.builtins import Builtins
from ...spec.power.memory import Endian
from ...spec.rounding import Rounding
from ..comparison import compared
from ..induction import Commutes, Image, Recursion, Terms, induction
from ..obligation import (
    RN,
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    Variable,
    theorem,
)

DGEMM = "Moreira et al. section V-A, Figures 4 to 6"
SCONV = "Moreira et al. section V-B, equation (25), Figures 8 and 9"


def fused_step(alg: Algebra, v: Inputs, x: Operand, y: Operand, acc: Array | None) -> Array:
    """Return round(x·y [+ acc]), one step of the chain that the kernels' results are.

    The NaN rule is that of the default choice; the proofs leave it uninterpreted, so they cover every rule.
    """
    fmt = x.format
    old = [] if acc is None else [Operand(acc, fmt)]
    total = Operand(alg.fused(fmt, v["rounding"], [(x, y)], old), fmt)
    return alg.propagate_nan(total, [x, *old, y])


def outer(v: Inputs) -> tuple[Operand, Operand]:
    """Return the operands of P[i, j] = x[i]·y[j]."""
    return Operand(v["x"][..., :, None], F64), Operand(v["y"][..., None, :], F64)


def virtual_accumulator(alg: Algebra, p: Array, endian: Endian) -> tuple[Array, ...]:
    """Return acc[0..7] that hold an 8 x 8 matrix: acc[b] is rows 4(b>>2).., columns 2(b&3).. of Figure 4."""
    quads = []
    for b in range(8):
        block = p[..., 4 * (b >> 2) : 4 * (b >> 2) + 4, 2 * (b & 3) : 2 * (b & 3) + 2]
        data = memory.to_memory(alg, block.reshape(*block.shape[:-2], 8), F64, endian)
        quads.append(memory.load(data, endian))
    return tuple(quads)


VECTORS = (Variable("x", F64, (16,)), Variable("y", F64, (16,)))
"""What lies from the pointers X and Y on: a column of eight elements, and one behind it."""

PARTIAL = Variable("p", F64, (8, 8))
ROUNDING = Variable("rounding", RN)


@dataclass(frozen=True)
class Held(Image):
    """Accumulators hold P, and both pointers are at what has not been multiplied yet.

    A term of s is the 64 elements of P, then the elements from X and from Y on; one of t, the bytes of the
    accumulators, then those from the pointers on.
    """

    endian: Endian

    @property
    def text(self) -> str:
        """P(t)."""
        return "acc holds P_t, X and Y point to column t"

    def image(self, alg: Algebra, v: Inputs, term: Array) -> Array:
        """Return the bytes."""
        p = term[..., :64].reshape(*term.shape[:-1], 8, 8)
        acc = [quad.reshape(*quad.shape[:-2], 64) for quad in virtual_accumulator(alg, p, self.endian)]
        columns = np.split(term[..., 64:], 2, axis=-1)
        behind = [memory.to_memory(alg, elements, F64, self.endian) for elements in columns]
        return np.concatenate([*acc, *behind], axis=-1)


@dataclass(frozen=True)
class Iteration(Recursion):
    """One iteration of the kernel's loop, and one step of the chain."""

    endian: Endian
    begins: bool = False
    result = U8

    def state(self, v: Inputs) -> Array:
        """Return P, and the elements from X and Y on."""
        return np.concatenate([v["p"].reshape(*v["p"].shape[:-2], 64), v["x"], v["y"]], axis=-1)

    def following(self, alg: Algebra, v: Inputs, before: Terms | None, reading: Any) -> Terms:
        """Return both after the iteration."""
        machine = Builtins(alg, self.endian, v["rounding"])
        if before is None:
            x, y, p, acc = v["x"], v["y"], None, None
            data = [memory.to_memory(alg, elements, F64, self.endian) for elements in (x, y)]
        else:
            term, held = before
            p = term[..., :64].reshape(*term.shape[:-1], 8, 8)
            x, y = np.split(term[..., 64:], 2, axis=-1)
            quads = np.split(held[..., :512], 8, axis=-1)
            acc = tuple(quad.reshape(*quad.shape[:-1], 4, 16) for quad in quads)
            data = np.split(held[..., 512:], 2, axis=-1)
        new, *pointers = kernels.dgemm_iteration(machine, acc, *data)
        bytes_held = [quad.reshape(*quad.shape[:-2], 64) for quad in new]
        column = {"x": x[..., :8], "y": y[..., :8], "rounding": v["rounding"]}
        chain = fused_step(alg, column, *outer(column), p)
        stated = [chain.reshape(*chain.shape[:-2], 64), x[..., 8:], y[..., 8:]]
        next_column = [pointer[..., :64] for pointer in pointers]
        return np.concatenate(stated, axis=-1), np.concatenate([*bytes_held, *next_column], axis=-1)


dgemm_first = Theorem(
    "power/kernels/dgemm/first",
    "DGEMM's first iteration",
    "after xvf64ger, acc[b] holds P[4(b>>2)+r][2(b&3)+c] = round(x[i]·y[j]), and X and Y are eight elements "
    "on",
    DGEMM,
    lambda: (
        Case(endian, partial(_dgemm_iteration, endian, begins=True), method=Method.STRUCTURAL)
        for endian in Endian
    ),
)


dgemm_next = Theorem(
    "power/kernels/dgemm/next",
    "every further iteration of DGEMM's loop, with its pointers",
    "acc holds P ⇒ after the body acc holds P'[i,j] = fma(x[i], y[j], P[i,j]), and X and Y are eight "
    "elements on",
    DGEMM,
    lambda: (
        Case(endian, partial(_dgemm_iteration, endian, begins=False), method=Method.STRUCTURAL)
        for endian in Endian
    ),
)


def _dgemm_iteration(endian: Endian, *, begins: bool) -> Property:
    claim = Commutes(Held(endian), Iteration(endian, begins))
    return Property((*VECTORS, *(() if begins else (PARTIAL,)), ROUNDING), claim)


@theorem(
    "power/kernels/dgemm/stored",
    "where each accumulator lands in DGEMM's result",
    "A[8b + 2r + c] = P[4(b>>2)+r][2(b&3)+c]: eight row-major 4 x 2 blocks, not a row-major 8 x 8 matrix",
    DGEMM,
)
def dgemm_stored() -> Iterator[Case]:
    """Yield both byte orders, and the refutation that the result is row-major."""
    for endian in Endian:
        yield Case(endian, partial(_dgemm_stored, endian, row_major=False), method=Method.STRUCTURAL)
        yield Case(f"row-major/{endian}", partial(_dgemm_stored, endian, row_major=True), Status.REFUTED)


def _dgemm_stored(endian: Endian, *, row_major: bool) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        machine = Builtins(alg, endian)
        data = kernels.store_accumulators(machine, virtual_accumulator(alg, v["p"], endian))
        stored = memory.from_memory(alg, data, F64, endian)
        at = np.arange(64)
        b, r, c = at >> 3, at >> 1 & 3, at & 1
        rows, columns = (at >> 3, at & 7) if row_major else (4 * (b >> 2) + r, 2 * (b & 3) + c)
        yield Equation(stored, v["p"][..., rows, columns], F64, label="A")

    return Property((PARTIAL,), claim)


@theorem(
    "power/kernels/dgemm/any-n",
    "the DGEMM kernel computes X·Yᵀ for every N > 0, bit for bit in increasing order",
    "P[i][j] = round(x(0,i)·y(0,j)), then fma(x(t,i), y(t,j), P[i][j]) for t = 1..N-1, in eight 4 x 2 blocks",
    DGEMM,
)
def dgemm_any_n() -> Iterator[Case]:
    """Yield both byte orders."""
    for endian in Endian:
        goal = partial(
            induction,
            Held(endian),
            {f"{dgemm_next.id}/{endian}": Iteration(endian)},
            {f"{dgemm_first.id}/{endian}": Iteration(endian, begins=True)},
            [f"{dgemm_stored.id}/{endian}"],
        )
        yield Case(endian, goal, method=Method.INDUCTION)


@theorem(
    "power/kernels/sconv",
    "the SCONV kernel is the 3 x 3 convolution of three channels with eight kernels, rows of any n elements",
    "C[16b + 4r + c] = Σ_q H[8q + i]·A[q/9][q/3 mod 3][q mod 3 + j] with i = 4(b>>2)+r, j = 4(b&3)+c, "
    "as a chain of fused multiply-adds in increasing q, where A[channel][row][column] is the element of the "
    "memory at pointer(channel) + row·n + column, for every memory, three pointers and n",
    SCONV,
)
def sconv() -> Iterator[Case]:
    """Yield the kernel as intended and as printed in both byte orders, then what n is not."""
    for endian in Endian:
        kernel = Convolution(endian)
        yield Case(
            f"intended/{endian}", partial(_sconv_of_rows, kernel), method=Method.STRUCTURAL, statement=ROWS
        )
        yield Case(
            f"as-printed/{endian}",
            partial(_sconv_of_rows, Convolution(endian, parenthesised=False)),
            Status.REFUTED,
            statement="Figure 8's macro as printed, arguments not parenthesised, computes the convolution",
        )
        yield Case(
            f"printed-sum/{endian}",
            partial(_printed_sum, endian),
            method=Method.CERTIFICATE,
            statement="as printed it is the same sum of H[32q + i]·A[q/9][q/3 mod 3][4(q mod 3) + j], of "
            "listed whole numbers",
        )
        yield Case(f"any-n/{endian}", partial(_sconv_of_memory, kernel, 0))
    yield Case(
        "rows-of-result",
        partial(_sconv_of_memory, Convolution(Endian.LITTLE), 2),
        Status.REFUTED,
        statement="the same with rows n - 2 elements apart, as those of the result are",
    )


ROWS = "the same of nine rows that are arrays of their own, wherever they are: A[channel][row] is any of them"


@dataclass(frozen=True)
class Convolution:
    """The kernel in a byte order, and the chain that its result should be."""

    endian: Endian
    parenthesised: bool = True

    @property
    def weights(self) -> int:
        """Elements from H on that are read: the listing as printed reads up to H[839]."""
        return 216 if self.parenthesised else 840

    @property
    def columns(self) -> int:
        """Columns of the image that are read."""
        return 18 if self.parenthesised else 24

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The kernels' elements, and what lies behind them, which is arbitrary."""
        return Variable("h", F32, (self.weights,)), ROUNDING

    def claim(self, alg: Algebra, v: Inputs, image: Array, stated: Array) -> Iterator[Equation]:
        """Yield that the kernel given `image` (…, 3, 3, columns) stores the convolution of `stated`."""
        h = v["h"]
        rows = [
            [memory.to_memory(alg, image[..., channel, row, :], F32, self.endian) for row in range(3)]
            for channel in range(3)
        ]
        machine = Builtins(alg, self.endian, v["rounding"])
        data = memory.to_memory(alg, h, F32, self.endian)
        stored = kernels.sconv_kernel(machine, data, rows, parenthesised=self.parenthesised)
        expected = None
        for q in range(27):
            taps = Operand(h[..., 8 * q : 8 * q + 8, None], F32)
            pixels = stated[..., q // 9, q // 3 % 3, q % 3 : q % 3 + 16]
            expected = fused_step(alg, v, taps, Operand(pixels[..., None, :], F32), expected)
        assert expected is not None
        at = np.arange(128)
        b, r, c = at >> 4, at >> 2 & 3, at & 3
        result = memory.from_memory(alg, stored, F32, self.endian)
        yield Equation(result, expected[..., 4 * (b >> 2) + r, 4 * (b & 3) + c], F32, label="C")


def _sconv_of_rows(kernel: Convolution) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield from kernel.claim(alg, v, v["image"], v["image"])

    weights, one = kernel.weights, F32.bias << F32.fraction_bits
    pinned = {"h": [*([0] * 8), *([one] * 8), *([0] * (weights - 16))], "image": one}
    variables = (*kernel.variables, Variable("image", F32, (3, 3, kernel.columns)))
    return Property(variables, claim, pinned=None if kernel.parenthesised else pinned)


def _printed_sum(endian: Endian) -> Certificate:
    """Return the claim that offsets count vectors in the kernel as printed; all its sums are exact."""
    h, image = np.arange(840) * 37 % 61 - 30, (np.arange(9 * 24) * 29 % 53 - 26).reshape(3, 3, 24)
    total = np.zeros((8, 16), dtype=int)
    for q in range(27):
        column = 4 * (q % 3)
        pixels = image[q // 9, q // 3 % 3, column : column + 16]
        total += h[32 * q : 32 * q + 8, None] * pixels[None, :]
    order = f"{'<' if endian is Endian.LITTLE else '>'}f4"

    def stored() -> dict[str, object]:
        rows = [[np.frombuffer(row.astype(order).tobytes(), np.uint8) for row in each] for each in image]
        machine = Builtins(NumpyAlgebra(), endian, Rounding.NEAREST_EVEN)
        weights = np.frombuffer(h.astype(order).tobytes(), np.uint8)
        found = kernels.sconv_kernel(machine, weights, rows, parenthesised=False)
        blocks = np.ascontiguousarray(found).view(order).astype(int).reshape(2, 4, 4, 4)
        return {"C": blocks.transpose(0, 2, 1, 3).reshape(8, 16).tolist()}

    return compared({"C": total.tolist()}, stored)


def _sconv_of_memory(kernel: Convolution, apart: int) -> Property:
    """Return the claim about a kernel given rows `n - apart` elements apart; addresses count elements."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        pointers, n = v["pointers"], v["n"]

        def elements(rows: Iterable[Array]) -> Array:
            """Return the elements from the first columns of three rows on, in every channel."""
            at = np.stack(
                [np.stack([first + column for column in range(kernel.columns)], axis=-1) for first in rows],
                axis=-2,
            )
            return alg.arbitrary("memory", [(at[..., None], U64)], F32)

        passed = elements(pointers + (n - apart) * row for row in range(3))
        stated = elements(pointers + n * row for row in range(3))
        yield from kernel.claim(alg, v, passed, stated)

    variables = (*kernel.variables, Variable("pointers", U64, (3,)), Variable("n", U64, (1,)))
    return Property(variables, claim)


THEOREMS = (dgemm_first, dgemm_next, dgemm_stored, dgemm_any_n, sconv)
