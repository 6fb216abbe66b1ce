"""``ldmatrix`` before a multiplication: which tile of memory an ``mma`` sees, and which it does not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U8, U16, U32, IntegerFormat
from ...spec.fragment import Fragment
from ...spec.ptx.catalogue import ALL_FORMS
from ...spec.ptx.choices import LOWEST_FIRST
from ...spec.ptx.fragments import QUADS
from ...spec.ptx.matrix_move_forms import ROW_BYTES
from ...spec.ptx.matrix_moves import MatrixMove, load
from ...spec.ptx.memory import to_bytes
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.resolution import multiplication
from ...spec.ptx.row_expansion import EXPANSIONS, ROW_VALUES
from ...spec.ptx.variant import Family, Shape
from ..obligation import Case, Equation, Inputs, Method, Property, Status, Variable, theorem

SOURCE = "PTX ISA 9.7.14.5.15 (ldmatrix) and 9.7.14.5 (fragments of mma); CUTLASS fp4_shift_A"

MATRICES = (1, 2, 4)
"""Matrices that one instruction can load."""

SHIFT = 2
"""Bits that e2m1 must be shifted up after ``b4x16_p64``, to where f8f6f4 and mxf8f6f4 expect it."""


@dataclass(frozen=True)
class LoadedOperand:
    """An operand of ``mma`` that ``ldmatrix`` loads.

    Its lines (rows of A, columns of B) run along k. They are the rows of memory, unless the
    instruction transposes: then a row of memory has one element of every line.

    Attributes
    ----------
    operand : str
        Shape, type and role: ``m16n8k16/f16/a``.
    fragment : Fragment
        What ``mma`` expects.
    move : MatrixMove
        The load.
    places : tuple of (int, int)
        For every matrix, which block of memory rows and which 16 bytes (16 values, if it expands) of
        them the addresses point to.
    parts : int
        Operands loaded at once: neighbouring column blocks of B. Part p gets every parts-th register
        from p on.
    lines_in_memory : bool
        Whether the rows of memory are lines.
    shift : int
        By how many bits the registers are shifted up after the load.
    """

    operand: str
    fragment: Fragment
    move: MatrixMove
    places: tuple[tuple[int, int], ...]
    parts: int
    lines_in_memory: bool
    shift: int = 0

    @property
    def name(self) -> str:
        """The obligation's name: operand, how many, instruction."""
        several = f"-x{self.parts}" if self.parts > 1 else ""
        return f"{self.operand}{several}/{str(self.move).partition('.')[2]}"

    @property
    def is_a(self) -> bool:
        """Whether it is A, whose lines are rows."""
        return self.operand.endswith("a")

    @property
    def lines(self) -> tuple[int, int]:
        """How many lines all parts have, and their length."""
        rows, columns = self.fragment.shape
        return (rows, columns) if self.is_a else (self.parts * columns, rows)

    def variables(self) -> tuple[Variable, ...]:
        """Return the lines, and what else lies in the memory rows."""
        packing = self.fragment.packing
        lines = Variable("lines", packing.format, self.lines)
        expansion = self.move.expansion
        if expansion is None:
            return (lines,)
        rows = (self.move.count, self.move.rows, ROW_BYTES - expansion.packed_bytes)
        return lines, Variable("padding", U8, rows)

    def memory_rows(self, alg: Algebra, v: Inputs) -> Array:
        """Return the memory rows (…, matrices, rows, 16) that the lanes' addresses point to."""
        lines, packing = v["lines"], self.fragment.packing
        stored = lines if self.lines_in_memory else lines.swapaxes(-1, -2)
        if self.move.expansion is not None:
            chunks = stored.reshape(*stored.shape[:-1], -1, ROW_VALUES)
            return np.concatenate(
                [self._picked(to_bytes(alg, chunks, packing.format)), v["padding"]], axis=-1
            )
        if packing.container > packing.format.bits:
            data = alg.assemble(stored[..., np.newaxis], packing.format, (packing.low,), U8)
        else:
            data = to_bytes(alg, stored, packing.format)
        return self._picked(data.reshape(*data.shape[:-1], -1, ROW_BYTES))

    def _picked(self, chunks: Array) -> Array:
        """Select from (…, memory rows, chunks, bytes) the rows of every matrix."""
        rows = self.move.rows
        blocks = (chunks[..., rows * block : rows * (block + 1), chunk, :] for block, chunk in self.places)
        return np.stack(list(blocks), axis=-3)

    def claim(self, alg: Algebra, v: Inputs) -> Iterator[Equation]:
        """Yield the equations: the operands that `mma` reads are the memory's lines, their padding is 0."""
        registers = load(alg, self.move, self.memory_rows(alg, v))
        if self.shift:
            registers = shifted(alg, registers, self.shift)
        count = self.lines[0] // self.parts
        for part in range(self.parts):
            lines = v["lines"][..., part * count : (part + 1) * count, :]
            tile = lines if self.is_a else lines.swapaxes(-1, -2)
            held, packing = registers[..., part :: self.parts], self.fragment.packing
            yield Equation(self.fragment.gather(alg, held), tile, packing.format, label=f"operand {part}")
            yield Equation(self.fragment.scatter(alg, tile), held, U32, label=f"registers {part}")

    def goal(self) -> Property:
        """Return the claim that ``mma`` sees the tile."""
        return Property(self.variables(), self.claim)

    def pinned(self) -> Property:
        """Return the same claim of a tile that hardly any wrong load gets right: elements are numbered."""
        numbers = np.arange(prod(self.lines)).reshape(self.lines) % (1 << self.fragment.packing.format.bits)
        return replace(self.goal(), pinned={"lines": numbers})


def shifted(alg: Algebra, registers: Array, count: int) -> Array:
    """Shift b32 registers left."""
    kept = IntegerFormat(f"u{U32.bits - count}", U32.bits - count, signed=False)
    return alg.assemble(alg.extract(registers, 0, kept)[..., np.newaxis], kept, (count,), U32)


def operands() -> dict[str, Fragment]:
    """Return the A and B fragments of every ``mma`` and ``mma.sp`` in b32 registers, by name."""
    found: dict[str, Fragment] = {}
    for form in ALL_FORMS:
        if not isinstance(form, MmaForm) or form.computations > 1 or form.container > U32.bits:
            continue
        for variant in form.variants():
            resolved = multiplication(variant)
            sparse = "sp-" if form.sparse else ""
            for role in "ab":
                container = "" if form.container == resolved.format(role).bits else f"-in-{form.container}"
                name = f"{sparse}{form.shape}/{resolved.format(role)}{container}/{role}"
                if name not in found:
                    found[name] = resolved.fragment(role)
    return found


def _loads(operand: str, fragment: Fragment) -> Iterator[LoadedOperand]:
    """Yield the loads that serve an operand, one operand at a time, for B also two."""
    packing = fragment.packing
    rows, columns = fragment.shape
    lines, length = (rows, columns) if operand.endswith("a") else (columns, rows)
    moves = [(MatrixMove(Family.LDMATRIX, Shape(8, 8), U16), 128 // packing.container)]
    if packing.container == 16:
        moves.append((replace(moves[0][0], trans=True), 8))
    if packing.container == 8:
        moves.append((MatrixMove(Family.LDMATRIX, Shape(16, 16), U8, trans=True), 16))
        moves += [
            (MatrixMove(Family.LDMATRIX, shape, U8, trans=trans, expansion=expansion), 16)
            for expansion in EXPANSIONS.values()
            if expansion.value.bits == packing.format.bits
            for shape, trans in ((Shape(8, 16), False), (Shape(16, 16), True))
        ]
    for parts in (1,) if operand.endswith("a") else (1, 2):
        for move, window in moves:
            halves, windows = parts * lines // move.shape.m, length // window
            if halves * windows not in MATRICES[: 2 if move.shape == Shape(16, 16) else 3]:
                continue
            order = [(half, k) for k in range(windows) for half in range(halves)]
            places = tuple((k, half) if move.trans else (half, k) for half, k in order)
            shift = SHIFT if move.expansion and packing.low else 0
            counted = replace(move, count=halves * windows)
            yield LoadedOperand(operand, fragment, counted, places, parts, not move.trans, shift)


def loaded_operands() -> dict[str, LoadedOperand]:
    """Return every valid pairing of a load with an operand, by name."""
    found = (loaded for name, fragment in operands().items() for loaded in _loads(name, fragment))
    return {loaded.name: loaded for loaded in found}


@theorem(
    "ptx/matrix-move/sees-tile",
    "mma sees the tile of memory whose rows ldmatrix was given, in the stated order of addresses",
    "gather(ldmatrix(rows of memory)) is the tile, and the padding is 0: A stored by rows and B by columns "
    "without .trans, A stored by columns and B by rows with .trans of the element's width, 6- and 4-bit "
    "values from packed rows",
    SOURCE,
)
def sees_tile() -> Iterator[Case]:
    """Yield every pairing, then what people try instead."""
    loaded = loaded_operands()
    for name, pairing in loaded.items():
        choices = "all" if pairing.move.expansion is None else f"narrow-rows={LOWEST_FIRST}"
        yield Case(name, pairing.goal, method=Method.STRUCTURAL, choices=choices)
    for mistake, pairing in mistakes(loaded):
        yield Case(
            f"{mistake}/{pairing.name}",
            pairing.pinned,
            expect=Status.REFUTED,
            statement=f"{mistake.replace('-', ' ')}: the tile is seen all the same",
        )


def mistakes(loaded: dict[str, LoadedOperand]) -> Iterable[tuple[str, LoadedOperand]]:
    """Yield wrong pairings, each with its name."""
    a, b = loaded["m16n8k16/f16/a/m8n8.x4.b16"], loaded["m16n8k16/f16/b/m8n8.x2.trans.b16"]
    yield "missing-trans", replace(b, move=replace(b.move, trans=False))
    yield "superfluous-trans", replace(a, move=replace(a.move, trans=True))
    for operand in ("m16n8k16/f16/a", "m16n8k32/s8/a", "m16n8k8/tf32/a"):
        quadrants = loaded[f"{operand}/m8n8.x4.b16"]
        zero, one, two, three = quadrants.places
        yield "middle-registers-swapped", replace(quadrants, places=(zero, two, one, three))
    pair = loaded["m16n8k16/f16/b-x2/m8n8.x4.b16"]
    yield "buffers-in-turn", replace(pair, places=tuple(sorted(pair.places)))
    bytes_by_column = loaded["m16n8k16/s8/a/m16n16.x1.trans.b8"]
    pairs_of_bytes = MatrixMove(Family.LDMATRIX, Shape(8, QUADS), U16, count=2, trans=True)
    yield "bytes-through-b16-trans", replace(bytes_by_column, move=pairs_of_bytes, places=((0, 0), (1, 0)))
    for name, pairing in loaded.items():
        if pairing.shift and not name.startswith("sp-"):
            yield "not-shifted", replace(pairing, shift=0)


THEOREMS = (sees_tile,)
