"""What is recorded: every legal form of a target, with each value of its selectors, in a runnable setting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from math import lcm
from typing import Any

import numpy as np

from mmaproof.spec.ptx.assembly import parse, parse_mnemonic
from mmaproof.spec.ptx.block_scaling import ScaleFactors, Selectors
from mmaproof.spec.ptx.catalogue import WARP_FORMS, Form
from mmaproof.spec.ptx.legality import violations
from mmaproof.spec.ptx.matrix_moves import MatrixMove, matrix_move
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.targets import VERSIONS, Target, Version
from mmaproof.spec.ptx.variant import MULTIPLYING, WARP_LANES, Family, Variant
from mmaproof.spec.ptx.variant_rules import form_of
from mmaproof.spec.ptx.warp import Immediates, held
from mmaproof.spec.ptx.wmma import MemoryOperand, memory_operand
from mmaproof.spec.ptx.wmma_forms import SPACES, WmmaForm

MOVE_MEMORY = 2048
"""Bytes of shared memory that a matrix move loads from or stores to."""

LINE = 128
"""A vector's memory is a multiple of this: every lane copies whole words, and any alignment is kept."""


NO_SELECTORS = Immediates()


@dataclass(frozen=True)
class Buffer:
    """An array of a kernel: a register vector of every lane, or a memory.

    Attributes
    ----------
    dtype : str
        ``u4`` or ``u8`` for registers, ``u1`` for memory.
    shape : tuple of int
        (32, registers), or (bytes,).
    """

    dtype: str
    shape: tuple[int, ...]

    @property
    def is_memory(self) -> bool:
        """Whether lanes share it."""
        return self.dtype == "u1"

    @property
    def bytes(self) -> int:
        """Size for one vector."""
        return int(np.dtype(self.dtype).itemsize * np.prod(self.shape))


@dataclass(frozen=True)
class Case:
    """An instruction with its selectors; for ``wmma`` the loads and the store around it.

    Attributes
    ----------
    variant : Variant
        The instruction.
    selected : Immediates
        Its selectors.
    moves : tuple of Variant
        For ``wmma.mma`` the loads of A, B and C and the store of D.
    spread : int
        For ``wmma.mma``: the strides are this many times the least that keep lines whole and aligned.
    """

    variant: Variant
    selected: Immediates = NO_SELECTORS
    moves: tuple[Variant, ...] = ()
    spread: int = 1

    @cached_property
    def multiplication(self) -> Multiplication:
        """What it computes; for the instructions in `MULTIPLYING`."""
        return multiplication(self.variant)

    @cached_property
    def move(self) -> MatrixMove:
        """What it moves; for the matrix moves."""
        return matrix_move(self.variant)

    @cached_property
    def memory_operands(self) -> dict[str, MemoryOperand]:
        """Return the matrices of ``wmma`` in memory, by role."""
        return {str(move.role): memory_operand(move) for move in self.moves}

    def stride(self, role: str) -> int:
        """Elements from line to line of a ``wmma`` matrix in memory, every line aligned."""
        operand = self.memory_operands[role]
        aligned = 8 * operand.fragment_bytes // operand.format.bits
        return self.spread * lcm(operand.minimum_stride, aligned)

    @cached_property
    def buffers(self) -> dict[str, Buffer]:
        """Every array of the kernel, in the order of its parameters."""
        match self.variant.family:
            case Family.WMMA_MMA:
                return {
                    role: Buffer("u1", (-(-operand.span(self.stride(role)) // LINE) * LINE,))
                    for role, operand in self.memory_operands.items()
                }
            case Family.MMA | Family.MMA_SP:
                form = self.multiplication
                operands = held(form, self.selected)
                operands["d"] = operands.pop("d")  # the last parameter
                return {
                    name: Buffer(f"u{each.word.bits // 8}", each.words) for name, each in operands.items()
                }
            case Family.MOVMATRIX:
                return dict.fromkeys("ad", Buffer("u4", (WARP_LANES, 1)))
            case family:
                register = "a" if family is Family.STMATRIX else "d"
                return {
                    "memory": Buffer("u1", (MOVE_MEMORY,)),
                    "addresses": Buffer("u4", (WARP_LANES, 1)),
                    register: Buffer("u4", (WARP_LANES, self.move.registers)),
                }

    @property
    def result(self) -> str:
        """Name of the array that is written; a memory has contents before."""
        return "memory" if self.variant.family is Family.STMATRIX else "d"

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arrays that have contents before."""
        return tuple(n for n, buffer in self.buffers.items() if n != self.result or buffer.is_memory)

    def header(self) -> dict[str, Any]:
        """Return it as JSON."""
        selected = {name: value for name, value in asdict(self.selected).items() if value is not None}
        return {
            "instruction": str(self.variant),
            "selectors": selected,
            "moves": [str(move) for move in self.moves],
            "spread": self.spread,
        }

    @classmethod
    def from_header(cls, header: dict[str, Any]) -> Case:
        """Read what `header` returned."""
        selected = header["selectors"]
        scales = {name: Selectors(*pair) for name, pair in selected.items() if name != "sparsity"}
        return cls(
            parse_mnemonic(header["instruction"]),
            Immediates(sparsity=selected.get("sparsity"), **scales),
            tuple(map(parse_mnemonic, header["moves"])),
            header["spread"],
        )


def cases(target: Target) -> Iterator[tuple[Case, Version]]:
    """Yield everything that a warp of a target executes, and the lowest PTX version for it."""
    for form in WARP_FORMS:
        for number, variant in enumerate(form.variants()):
            if not form.availability(variant).on(target):
                continue
            for case in _settings(form, variant, number):
                if (version := _lowest_version(case, target)) is not None:
                    yield case, version


def _settings(form: Form, variant: Variant, number: int) -> Iterator[Case]:
    if isinstance(form, MmaForm):
        yield from (Case(variant, selected) for selected in _selectors(form))
    elif isinstance(form, WmmaForm) and variant.family is Family.WMMA_MMA:
        yield from _around_wmma(form, variant, number)
    elif variant.role is None:
        yield Case(variant)


def _selectors(form: MmaForm) -> Iterator[Immediates]:
    """Yield every sparsity selector, with every pair of selectors of A's and of B's scale factors."""
    scales: list[Immediates] = [NO_SELECTORS]
    if form.scale_vec:
        a, b = (ScaleFactors(operand, form.scale_factors).selectors for operand in "ab")
        scales = [Immediates(a[i % len(a)], b[i % len(b)]) for i in range(max(len(a), len(b)))]
    for scale, selector in product(scales, range(form.selectors) if form.sparse else (None,)):
        yield replace(scale, sparsity=selector)


def _around_wmma(form: WmmaForm, variant: Variant, number: int) -> Iterator[Case]:
    """Yield the product with operands in every state space.

    C and D have unlike layouts; both ways are recorded for every type with the form's first layouts of A
    and B and no further modifiers, else they take turns.
    """
    types, layouts = variant.element_types, variant.layouts
    plain = layouts == form.layouts[0] and not variant.satfinite and variant.rounding is None
    for turn, space in enumerate(SPACES, start=number):
        both_ways = (("row", "col"), ("col", "row"))
        for accumulators in both_ways if plain else both_ways[turn % 2 :][:1]:
            moves = tuple(
                Variant(
                    Family.WMMA_STORE if role == "d" else Family.WMMA_LOAD,
                    variant.shape, (types[role],), (layout,), role=role, space=space,
                )
                for role, layout in zip("abcd", (*layouts, *accumulators), strict=True)
            )  # fmt: skip
            yield Case(variant, moves=moves, spread=1 + turn // 2 % 2)


def _lowest_version(case: Case, target: Target) -> Version | None:
    """Return the lowest PTX version in which all of a case is legal, None if there is none."""
    used = [parse(str(variant)) for variant in (case.variant, *case.moves)]
    floor = max(target.since, *(form_of(u.variant).availability(u.variant).ptx for u in used))
    for version in VERSIONS:
        if version >= floor and not any(violations(u, target, version) for u in used):
            return version
    return None


def is_product(case: Case) -> bool:
    """Say whether a case multiplies (else it moves)."""
    return case.variant.family in MULTIPLYING
