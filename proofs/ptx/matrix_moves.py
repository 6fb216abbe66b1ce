"""``ldmatrix``, ``stmatrix`` and ``movmatrix``: layouts, addresses, inverses, reuse of registers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import F16, S8, S32, U8, U16, U32, U64
from ...spec.fragment import Fragment, Packing
from ...spec.ptx.fragments import in_runs
from ...spec.ptx.matrix_move_forms import MATRIX_MOVE_FORMS, ROW_BYTES
from ...spec.ptx.matrix_moves import MatrixMove, load, matrix_move, row_addresses, store, transpose
from ...spec.ptx.memory import to_bytes
from ...spec.ptx.resolution import multiplication
from ...spec.ptx.variant import WARP_LANES, Family, Shape, Variant
from ..families.layouts import bijections, inverse
from ..obligation import Case, Equation, Inputs, Method, Property, Status, Variable, theorem

SOURCE = "PTX ISA 9.7.14.5.15 to 9.7.14.5.17 (ldmatrix, stmatrix, movmatrix)"


def moves() -> dict[str, MatrixMove]:
    """Return every matrix move by name."""
    found = (matrix_move(variant) for form in MATRIX_MOVE_FORMS for variant in form.variants())
    return {str(move): move for move in found}


def with_memory() -> dict[str, MatrixMove]:
    """Return the loads and stores."""
    return {name: move for name, move in moves().items() if move.family is not Family.MOVMATRIX}


MOVMATRIX = MatrixMove(Family.MOVMATRIX, Shape(8, 8), U16, trans=True)


@theorem(
    "ptx/matrix-move/layout",
    "elements in registers and in memory rows, and rows and the lanes of their addresses, correspond",
    "(lane, element) ↦ (matrix, row, element of the row) is a bijection, and so is (matrix, row) ↦ lane",
    SOURCE,
)
def layout() -> Iterator[Case]:
    """Yield the elements of every move, and the addresses of every move that has them."""
    for name, move in moves().items():
        described = {"elements": move.layout}
        if name in with_memory():
            described["addresses"] = move.address_lanes
        yield from bijections({f"{name}/{part}": each for part, each in described.items()})


@theorem(
    "ptx/matrix-move/addresses",
    "the lowest lanes supply the addresses; what the others have does not matter",
    "the rows that are loaded or stored depend on the addresses of lanes 0 to matrices · rows - 1 only",
    SOURCE,
)
def addresses() -> Iterator[Case]:
    """Yield the moves that leave lanes over, then for each whether one address fewer would do."""
    for name, move in with_memory().items():
        if move.addresses < WARP_LANES:
            yield Case(name, partial(_same_rows, move, lanes=move.addresses), method=Method.STRUCTURAL)
        yield Case(
            f"one-fewer/{name}",
            partial(_same_rows, move, lanes=move.addresses - 1),
            expect=Status.REFUTED,
            statement="the rows depend on the addresses of all these lanes but the last",
        )


def _same_rows(move: MatrixMove, lanes: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        either, other = (
            row_addresses(move, np.concatenate([v["used"], v[name]], axis=-1)) for name in ("either", "other")
        )
        yield Equation(either, other, U64, label="addresses of the rows")

    rest = WARP_LANES - lanes
    pinned = {"used": np.arange(lanes) * ROW_BYTES, "either": 0, "other": ROW_BYTES}
    return Property(
        (Variable("used", U64, (lanes,)), Variable("either", U64, (rest,)), Variable("other", U64, (rest,))),
        claim,
        pinned=pinned if lanes < move.addresses else None,
    )


def memory_rows(move: MatrixMove) -> tuple[Variable, ...]:
    """Return the variable ``rows``: what is in memory."""
    return (Variable("rows", U8, (move.count, move.rows, ROW_BYTES)),)


def registers(move: MatrixMove, name: str = "registers") -> tuple[Variable, ...]:
    """Return the variable of a warp's registers."""
    return (Variable(name, U32, (WARP_LANES, move.registers)),)


@theorem(
    "ptx/matrix-move/store-load",
    "stmatrix and ldmatrix are inverse to each other, and store accumulators as matrices",
    "stmatrix(ldmatrix(rows)) = rows and ldmatrix(stmatrix(registers)) = registers",
    SOURCE,
)
def store_load() -> Iterator[Case]:
    """Yield every ``stmatrix`` with the load of the same form, then stores of accumulators."""
    for name, move in moves().items():
        if move.family is Family.STMATRIX:
            yield Case(name, partial(_inverse, move), method=Method.STRUCTURAL)
    yield from _stored_accumulators()
    yield Case(
        "b8-load-is-no-b8-store",
        _bytes_copied,
        expect=Status.REFUTED,
        statement="stmatrix.m16n8.x2.trans.b8 of what ldmatrix.m16n16.x1.trans.b8 loaded is a copy",
    )


def _inverse(move: MatrixMove) -> Property:
    """Claim both compositions; no ``ldmatrix`` has the form m16n8.b8, but its map has an inverse."""
    back = replace(move, family=Family.LDMATRIX)
    (rows,), (held,) = memory_rows(move), registers(move)
    return inverse(
        lambda alg, memory: load(alg, back, memory), lambda alg, warp: store(alg, move, warp), (rows, held)
    )


def _bytes_copied() -> Property:
    loads = MatrixMove(Family.LDMATRIX, Shape(16, 16), U8, trans=True)
    stores = MatrixMove(Family.STMATRIX, Shape(16, 8), U8, count=2, trans=True)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        stored = store(alg, stores, load(alg, loads, v["rows"]))
        yield Equation(stored.reshape(v["rows"].shape), v["rows"], U8, label="memory")

    numbers = np.arange(16 * ROW_BYTES).reshape(1, 16, ROW_BYTES)
    return Property(memory_rows(loads), claim, pinned={"rows": numbers})


def _stored_accumulators() -> Iterator[Case]:
    """Yield f16 accumulators of one and of two products by rows and by columns, and bytes by columns."""
    for trans in (False, True):
        direction = "columns" if trans else "rows"
        for parts in (1, 2):
            yield Case(
                f"accumulators/f16-x{parts}/{direction}",
                partial(_stored_f16, parts, trans, swapped=False),
                method=Method.STRUCTURAL,
                statement=f"stmatrix(scatter(D)) is D stored by {direction}",
            )
    yield Case(
        "accumulators/f16-x2/quadrants-by-rows",
        partial(_stored_f16, 2, trans=False, swapped=True),
        expect=Status.REFUTED,
        statement="x4 stores the 8x8 quadrants of two D row by row (0 1 / 2 3)",
    )
    yield Case(
        "accumulators/b8/columns",
        _stored_bytes,
        method=Method.STRUCTURAL,
        statement="stmatrix.m16n8.b8 of the low bytes of D, packed in their order, is D stored by columns",
    )


def operand(role: str, k: int, multiplicand: str, accumulator: str) -> Fragment:
    """Return an operand of ``mma.m16n8`` on equal multiplicands."""
    types = (accumulator, multiplicand, multiplicand, accumulator)
    return multiplication(Variant(Family.MMA, Shape(16, 8, k), types, ("row", "col"))).fragment(role)


def accumulators(alg: Algebra, d: Array, multiplicand: str, accumulator: str) -> list[Array]:
    """Return the registers of D (…, 16, 8n), from n products beside each other."""
    fragment = operand("d", 16, multiplicand, accumulator)
    return [fragment.scatter(alg, d[..., first : first + 8]) for first in range(0, d.shape[-1], 8)]


def _stored_f16(parts: int, trans: bool, swapped: bool) -> Property:
    move = MatrixMove(Family.STMATRIX, Shape(8, 8), U16, count=2 * parts, trans=trans)
    columns = 8 * parts

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        rows = store(alg, move, np.concatenate(accumulators(alg, v["d"], "f16", "f16"), axis=-1))
        for q in range(move.count):
            half, part = divmod(q, 2) if swapped else (q & 1, q >> 1)
            quadrant = v["d"][..., 8 * half : 8 * half + 8, 8 * part : 8 * part + 8]
            expected = quadrant.swapaxes(-1, -2) if trans else quadrant
            yield Equation(rows[..., q, :, :], to_bytes(alg, expected, F16), U8, label=f"matrix {q}")

    numbers = np.arange(16 * columns).reshape(16, columns)
    return Property((Variable("d", F16, (16, columns)),), claim, pinned={"d": numbers} if swapped else None)


def _stored_bytes() -> Property:
    move = MatrixMove(Family.STMATRIX, Shape(16, 8), U8, trans=True)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        rows = store(alg, move, low_bytes(alg, *accumulators(alg, v["d"], "s8", "s32")))
        expected = alg.extract(v["d"].swapaxes(-1, -2), 0, U8)
        yield Equation(rows[..., 0, :, :], expected, U8, label="columns")

    return Property((Variable("d", S32, (16, 8)),), claim)


def low_bytes(alg: Algebra, accumulators: Array) -> Array:
    """Pack the low bytes of every four accumulators (…, 4n) into one register (…, n), low to high."""
    narrow = alg.extract(accumulators, 0, U8)
    return alg.assemble(narrow.reshape(*narrow.shape[:-1], -1, 4), U8, range(0, 32, 8), U32)


@theorem(
    "ptx/matrix-move/register-reuse",
    "D on f16 is A of the next product, register by register; on 8-bit integers it is not",
    "gather of A(scatter of D(X)) = X",
    "PTX ISA 9.7.14.5.7 and 9.7.14.5.8 (fragments of m16n8k8 and m16n8k16)",
)
def register_reuse() -> Iterator[Case]:
    """Yield A of m16n8k8, of m16n8k16 from two products, and the 8-bit operand that this is not."""
    for columns in (8, 16):
        yield Case(f"f16/m16n8k{columns}", partial(_reused_f16, columns), method=Method.STRUCTURAL)
    yield Case(
        "s8/m16n8k16",
        _reused_bytes,
        expect=Status.REFUTED,
        statement="the low bytes of two D on s32, packed in their order, are A of m16n8k16 on s8",
    )


def _reused_f16(columns: int) -> Property:
    a = operand("a", columns, "f16", "f16")

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        held = np.concatenate(accumulators(alg, v["d"], "f16", "f16"), axis=-1)
        yield Equation(a.gather(alg, held), v["d"], F16, label="A")

    return Property((Variable("d", F16, (16, columns)),), claim)


def _reused_bytes() -> Property:
    a = operand("a", 16, "s8", "s32")

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        left, right = accumulators(alg, v["d"], "s8", "s32")
        # row g of both, then row g + 8 of both: the best order that packing can give
        ordered = np.concatenate([left[..., :2], right[..., :2], left[..., 2:], right[..., 2:]], axis=-1)
        seen = a.gather(alg, low_bytes(alg, ordered))
        yield Equation(seen, alg.extract(v["d"], 0, U8), S8, label="A")

    numbers = np.arange(256).reshape(16, 16)
    return Property((Variable("d", S32, (16, 16)),), claim, pinned={"d": numbers})


@theorem(
    "ptx/matrix-move/transpose",
    "movmatrix transposes, and ldmatrix.trans is ldmatrix and then movmatrix",
    "movmatrix(scatter(X)) = scatter(Xᵀ); movmatrix twice is the identity; "
    "ldmatrix.trans = movmatrix ∘ ldmatrix on every register",
    SOURCE,
)
def transposed() -> Iterator[Case]:
    """Yield the transposition, that it is an involution, and the loads."""
    yield Case("matrix", _transposes, method=Method.STRUCTURAL)
    yield Case("twice", _twice, method=Method.STRUCTURAL)
    for name, move in moves().items():
        if move.family is Family.LDMATRIX and move.element == U16 and move.trans:
            yield Case(name, partial(_loads_transposed, move), method=Method.STRUCTURAL)


def _transposes() -> Property:
    held = Fragment(in_runs("X", 8, 8, 2), Packing(U16, 16))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        moved = transpose(alg, MOVMATRIX, held.scatter(alg, v["x"]))
        yield Equation(held.gather(alg, moved), v["x"].swapaxes(-1, -2), U16, label="transposed")

    return Property((Variable("x", U16, (8, 8)),), claim)


def _twice() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        again = transpose(alg, MOVMATRIX, transpose(alg, MOVMATRIX, v["registers"]))
        yield Equation(again, v["registers"], U32, label="twice")

    return Property(registers(MOVMATRIX), claim)


def _loads_transposed(move: MatrixMove) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        straight = load(alg, replace(move, trans=False), v["rows"])
        for q in range(move.registers):
            moved = transpose(alg, MOVMATRIX, straight[..., q : q + 1])
            yield Equation(moved, load(alg, move, v["rows"])[..., q : q + 1], U32, label=f"register {q}")

    return Property(memory_rows(move), claim)


THEOREMS = (layout, addresses, store_load, register_reuse, transposed)
