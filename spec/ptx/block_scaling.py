"""Block scaling: which scale factor multiplies which elements, and which lane's byte holds it.

The scale factors of A are a matrix M x X, those of B one X x N; each serves K / X neighbouring elements
of a row of A or a column of B. A register holds four bytes of them; the byte selector says where in it
the X bytes of a line begin, the thread selector which lanes of every quad supply them. Source: PTX ISA
9.1 section 9.7.14.3; which lane of a pair serves which row, and that bytes follow K, from CuTe's layouts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..algebra import Array
from ..errors import InputError
from ..formats import FloatFormat
from ..fragment import Fragment, Packing, Selection
from ..layout import Axis, Layout
from ..rearrangement import rearranged
from .fragments import LANE, QUAD_LANES, QUADS

SCALED = FloatFormat("scaled", 17, exponent_bits=9, fraction_bits=7, bias=255)
"""Holds the product of any 8-, 6- or 4-bit element and any scale factor exactly."""

REGISTER_BYTES = 4

LINES = {"a": ("row", 16), "b": ("column", 8)}
"""What a scale factor belongs to a chunk of: a row of A, a column of B."""


class Selectors(NamedTuple):
    """The selectors of one operand's scale factors, as they are written: ``{byte_id, thread_id}``."""

    byte_id: Any
    thread_id: Any


class ScaleSlot(NamedTuple):
    """Where a scale factor is: a lane and a byte of its register, 0 in bits 7 to 0."""

    lane: Any
    byte: Any


@dataclass(frozen=True)
class ScaleFactors:
    """Where the scale factors of one operand are.

    Attributes
    ----------
    operand : str
        ``a`` or ``b``.
    size : int
        Factors of one row of A or column of B: 1, 2 or 4.
    """

    operand: str
    size: int

    @property
    def lines(self) -> int:
        """Rows of A or columns of B."""
        return LINES[self.operand][1]

    @property
    def threads(self) -> int:
        """Lanes of a quad that supply factors: one for each of the quad's lines."""
        return self.lines // QUADS

    @property
    def byte_ids(self) -> tuple[int, ...]:
        """The legal byte selectors: the vectors of `size` bytes side by side in a register."""
        return tuple(range(0, REGISTER_BYTES, self.size))

    @property
    def thread_ids(self) -> tuple[int, ...]:
        """The legal thread selectors: the groups of `threads` side by side in a quad."""
        return tuple(range(QUAD_LANES // self.threads))

    @property
    def selectors(self) -> tuple[Selectors, ...]:
        """Every legal pair."""
        return tuple(Selectors(*pair) for pair in product(self.byte_ids, self.thread_ids))

    def slot(self, line: Any, chunk: Any, selectors: Selectors) -> ScaleSlot:
        """Return where the factor of a chunk of a line is, for any value of the selectors."""
        lane, _ = self.layout.inverse(0, 0, *((line, chunk) if self.operand == "a" else (chunk, line)))
        return ScaleSlot(lane + selectors.thread_id * self.threads, selectors.byte_id + chunk)

    @cached_property
    def layout(self) -> Layout:
        """(lane, byte) ↔ (thread_id, byte_id / size, row, chunk), for B (thread_id, …, chunk, column)."""
        line, chunk = Axis(*LINES[self.operand]), Axis("chunk", self.size)
        of_a = self.operand == "a"
        matrix = (line, chunk) if of_a else (chunk, line)
        return rearranged(
            f"scale_{self.operand} of {self.size}X",
            (LANE, Axis("byte", REGISTER_BYTES)),
            (Axis("thread_id", len(self.thread_ids)), Axis("vector", len(self.byte_ids)), *matrix),
            "quad thread half vector chunk -> thread vector "
            + ("half quad chunk" if of_a else "chunk half quad"),
            quad=QUADS,
            thread=len(self.thread_ids),
            half=self.threads,
            vector=len(self.byte_ids),
            chunk=self.size,
        )

    def require_selectors(self, selectors: Selectors) -> None:
        """Refuse selectors out of table 37.

        Raises
        ------
        InputError
            If one of them has a value whose behaviour is undefined.
        """
        for name, value, legal in (
            ("byte-id", selectors.byte_id, self.byte_ids),
            ("thread-id", selectors.thread_id, self.thread_ids),
        ):
            if value not in legal:
                allowed = ", ".join(map(str, legal))
                raise InputError(
                    f"{name}-{self.operand} {value} with scale_vec::{self.size}X: allowed is {allowed}"
                )

    def held(self, selectors: Selectors, fmt: FloatFormat) -> Selection:
        """Return where the factors (M, X) or (X, N) are that selectors pick of the lanes' registers.

        Raises
        ------
        InputError
            If the selectors are not legal.
        """
        self.require_selectors(selectors)
        at = (selectors.thread_id, selectors.byte_id // self.size)
        return Selection(Fragment(self.layout, Packing(fmt, 8)), at)


@dataclass(frozen=True)
class BlockScale:
    """The block scaling of an instruction.

    Attributes
    ----------
    vector : int
        X of ``.scale_vec::NX``: scale factors for one row of A or column of B.
    k : int
        The instruction's logical K.
    format : FloatFormat
        Type of the factors.
    """

    vector: int
    k: int
    format: FloatFormat

    @property
    def chunk(self) -> int:
        """Logical columns of A, and rows of B, that share a factor."""
        return self.k // self.vector

    def factors(self, operand: str) -> ScaleFactors:
        """Return where the factors of ``a`` or ``b`` are."""
        return ScaleFactors(operand, self.vector)

    def held(self, operand: str, selectors: Selectors) -> Selection:
        """Return where the factors of ``a`` (M, X) or ``b`` (X, N) are that selectors pick.

        Raises
        ------
        InputError
            If the selectors are not legal.
        """
        return self.factors(operand).held(selectors, self.format)

    def require_valid(self, operand: str, factors: Array) -> None:
        """Refuse bytes (…, M, X) or (…, X, N) with a bit set that the type does not have (ue4m3's bit 7).

        Raises
        ------
        InputError
            If there is one.
        """
        wrong = np.argwhere(factors >> self.format.magnitude_bits)
        if wrong.size:
            first = tuple(map(int, wrong[0]))
            line, chunk = first[-2:] if operand == "a" else first[:-3:-1]
            place, byte = f"{LINES[operand][0]} {line}, chunk {chunk}", int(factors[first])
            raise InputError(
                f"scale_{operand} of {place} is {byte:#04x}: "
                f"{self.format} has {self.format.magnitude_bits} bits, the others must be 0"
            )
