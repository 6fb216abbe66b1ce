"""Whether a layout of shared memory and an ``ldmatrix`` together deliver an operand of ``mma``.

Written as

    LDMATRIX[registers] at LANES <- MEMORY

MEMORY maps the coordinates of a tile (CuTe's order: (M, K) of A, (N, K) of B, (M, N) of C) to offsets in
elements; it is a CuTe layout, perhaps swizzled. LANES maps a lane to the offset that it passes as its
address. Without it the addresses are derived: the operand says which 16 bytes every memory row of every
matrix must be, and MEMORY whether they lie together. ``[0,2]`` names the registers of the load that
are the operand's, by default all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..algebra import Array
from ..errors import InputError, UnsupportedError
from ..fragment import Fragment
from ..ptx.assembly import parse
from ..ptx.matrix_move_forms import ROW_BYTES
from ..ptx.matrix_moves import MatrixMove, matrix_move
from ..ptx.mma_forms import MmaForm
from ..ptx.resolution import multiplication
from ..ptx.variant import WARP_LANES, Family
from ..ptx.variant_rules import form_of
from .comparison import Claim, Comparison, Verdict, compare
from .cute import Composed
from .cute_text import parse_composed
from .distribution import Distribution
from .shared_memory import ROW_BITS, SharedTile, bank_conflicts, clash, conflict_note, shared_tile

_ARROW = "<-"
_LOAD = re.compile(
    r"\s*(ldmatrix[\w.:]*)\s*(?:\[\s*(\d{1,2}(?:\s*,\s*\d{1,2}){0,15})\s*\])?\s*(?:\bat\b(.*))?", re.DOTALL
)


def is_transport(text: str) -> bool:
    """Whether a text is a load from shared memory."""
    return _ARROW in text or text.lstrip().startswith("ldmatrix")


@dataclass(frozen=True)
class Pieces:
    """Where a load puts what, cut into pieces as wide as the narrower of its elements and the operand's.

    Attributes
    ----------
    bits : int
        Width of a piece.
    row : array (lanes, elements, pieces)
        The memory row, counted through all matrices, that a piece of an operand's element is read from.
    place : array (lanes, elements, pieces)
        Which piece of that row it is.
    """

    bits: int
    row: Array
    place: Array


def compare_transport(text: str, instruction: str, operand: str) -> Comparison:
    """Say whether a load delivers an operand from shared memory.

    Raises
    ------
    InputError
        If the text is no such load, or the registers don't fit.
    UnsupportedError
        For loads that expand 6- and 4-bit elements.
    """
    load, arrow, memory = text.partition(_ARROW)
    match = _LOAD.fullmatch(load)
    if not arrow or match is None:
        raise InputError(f"{text[:60]!r} is no load; one looks like LDMATRIX[registers] at LANES <- LAYOUT")
    variant = parse(instruction).variant
    if not isinstance(form_of(variant), MmaForm) or operand not in ("a", "b", "c"):
        raise InputError(f"ldmatrix delivers a, b or c of mma, not {operand} of {variant}")
    product = multiplication(variant)
    fragment, by_columns = product.fragment(operand), operand == "b"
    if len(fragment.shape) != 2:
        raise UnsupportedError(f"{variant} holds several matrices in a warp: loads of them are not modelled")
    loading = parse(match[1]).variant
    form_of(loading)
    move = matrix_move(loading)
    if move.family is not Family.LDMATRIX or move.expansion is not None:
        raise UnsupportedError(f"{move} expands its elements: what it delivers is not compared")
    if fragment.word != move.fragment.word:
        return Comparison(
            Verdict.UNDELIVERABLE,
            f"an element of {operand} is {fragment.word.bits // 8} neighbouring bytes, of which {move} "
            f"brings no lane more than {move.fragment.word.bits // 8}: what it has of other rows is at the "
            f"same place of {ROW_BYTES} bytes",
        )
    selected = _selected(match[2], move, fragment)
    shared = shared_tile(memory, fragment, by_columns)
    if (collision := clash(shared)) is not None:
        return collision
    pieces = _pieces(move, fragment, selected)
    expected = Distribution(
        f"{operand} of {variant}",
        ("lane", "element"),
        fragment.layout,
        (1, 0) if by_columns else (0, 1),
        fragment.packing.per_register,
    )
    if match[3] is None:
        partial = len(selected) < move.registers
        return _with_derived_addresses(move, pieces, shared, expected, partial=partial)
    return _with_given_addresses(parse_composed(match[3]), move, pieces, shared, expected)


def _selected(text: str | None, move: MatrixMove, fragment: Fragment) -> list[int]:
    """Return the registers of the load that are the operand's."""
    registers = list(range(move.registers)) if text is None else [int(part) for part in text.split(",")]
    if len(registers) != fragment.registers or not set(registers) <= set(range(move.registers)):
        raise InputError(
            f"{move} writes {move.registers} registers, {len(registers)} named; the operand has "
            f"{fragment.registers}: name as many, as in ldmatrix...[0,2]"
        )
    return registers


def _pieces(move: MatrixMove, fragment: Fragment, selected: list[int]) -> Pieces:
    packing, unit = fragment.packing, move.element.bits
    bits = min(unit, packing.container)
    element = np.arange(fragment.elements)
    within = np.arange(packing.container // bits)
    lane = np.arange(WARP_LANES)[:, None, None]
    bit = (element % packing.per_register)[:, None] * packing.container + within * bits
    register = np.array(selected)[element // packing.per_register][:, None]
    number = register * move.fragment.packing.per_register + bit // unit
    matrix, row, column = move.layout.forward(lane, np.broadcast_to(number, (1, *number.shape)))
    place = column * (unit // bits) + bit % unit // bits
    shape = (WARP_LANES, *number.shape)
    return Pieces(bits, np.broadcast_to(matrix * move.rows + row, shape), np.broadcast_to(place, shape))


def _with_derived_addresses(
    move: MatrixMove, pieces: Pieces, shared: SharedTile, expected: Distribution, *, partial: bool
) -> Comparison:
    """Derive the address of every memory row from what the operand needs there.

    Every tile in memory must be delivered; if the operand is only a part of what is loaded, some tile.
    """
    worst, delivered, failed = 1, 0, None
    for origin in _origins(shared, expected):
        there = expected.coordinates + origin
        offsets = shared.offsets[there[..., 0], there[..., 1]]
        needed = offsets[..., None] * shared.bits + np.arange(pieces.row.shape[-1]) * pieces.bits
        starts = needed - pieces.place * pieces.bits
        addresses = np.full(move.addresses, -1, dtype=np.int64)
        order = np.argsort(pieces.place.ravel(), kind="stable")[::-1]
        addresses[pieces.row.ravel()[order]] = starts.ravel()[order]  # what comes first in a row decides
        torn = starts != addresses[pieces.row]
        if torn.any() or (addresses[pieces.row] % ROW_BITS).any():
            failed = failed or _undeliverable(move, pieces, torn, addresses, there, shared, expected)
        else:
            delivered += 1
            worst = max(worst, bank_conflicts(addresses))
    if failed is not None and not (partial and delivered):
        return failed
    tiles = len(list(_origins(shared, expected)))
    held = f"{expected.title} arrives whole, from {delivered} of {tiles} tiles in memory"
    return Comparison(Verdict.EQUAL, held).with_notes(conflict_note(worst))


def _origins(shared: SharedTile, expected: Distribution) -> Iterator[tuple[int, int]]:
    rows, columns = (axis.extent for axis in expected.axes)
    for row in range(0, shared.offsets.shape[0], rows):
        for column in range(0, shared.offsets.shape[1], columns):
            yield row, column


def _undeliverable(
    move: MatrixMove,
    pieces: Pieces,
    torn: Array,
    addresses: Array,
    there: Array,
    shared: SharedTile,
    expected: Distribution,
) -> Comparison:
    """Say which memory row does not lie in 16 aligned bytes."""
    if not torn.any():
        row = int(np.argmax((addresses >= 0) & (addresses % ROW_BITS != 0)))
        matrix, line = divmod(row, move.rows)
        return Comparison(
            Verdict.UNDELIVERABLE,
            f"row {line} of matrix {matrix} begins at byte {addresses[row] / 8:g}, "
            f"no multiple of {ROW_BYTES}",
        )
    lane, element, _ = (int(place) for place in np.unravel_index(int(np.argmax(torn)), torn.shape))
    matrix, line = divmod(int(pieces.row[lane, element, 0]), move.rows)
    first = pieces.row == pieces.row[lane, element, 0]
    start = np.unravel_index(int(np.argmin(np.where(first, pieces.place, ROW_BITS))), first.shape)
    begin = there[start[0], start[1]]
    distance = int(pieces.place[lane, element, 0] - pieces.place[start]) * pieces.bits
    row, column = (int(c) for c in there[lane, element])
    offset = int(shared.offsets[row, column])
    origin = int(shared.offsets[begin[0], begin[1]])
    return Comparison(
        Verdict.UNDELIVERABLE,
        f"row {line} of matrix {matrix} must bring ({expected.element(there[lane, element])}) to "
        f"{expected.holder(lane, element)}, {distance / 8:g} bytes "
        f"after ({expected.element(begin)}); but they are at offsets {offset} and {origin} of elements of "
        f"{shared.bits} bits, {(offset - origin) * shared.bits / 8:g} bytes apart",
    )


def _with_given_addresses(
    lanes: Composed, move: MatrixMove, pieces: Pieces, shared: SharedTile, expected: Distribution
) -> Comparison:
    """Follow the addresses that the lanes pass."""
    if not lanes.layout.congruent:
        raise InputError(f"{lanes.layout}: shape and stride are not nested alike")
    if lanes.layout.size not in (move.addresses, WARP_LANES):
        raise InputError(
            f"{lanes.layout} has {lanes.layout.size} lanes; {move} takes {move.addresses} addresses"
        )
    passed = lanes(lanes.layout.image())[: move.addresses]
    addresses = passed * shared.bits
    if (addresses % ROW_BITS).any():
        lane = int(np.argmax(addresses % ROW_BITS != 0))
        return Comparison(
            Verdict.UNDELIVERABLE,
            f"lane {lane} passes offset {int(passed[lane])}, byte {addresses[lane] / 8:g}: "
            f"no multiple of {ROW_BYTES}",
        )
    read = addresses[pieces.row] + pieces.place * pieces.bits
    within = np.arange(pieces.row.shape[-1]) * pieces.bits
    torn = ((read - within) != (read - within)[..., :1]) | ((read - within) % shared.bits != 0)
    if torn.any():
        lane, element, _ = (int(place) for place in np.unravel_index(int(np.argmax(torn)), torn.shape))
        return Comparison(
            Verdict.UNDELIVERABLE, f"{expected.holder(lane, element)} gets parts of two elements"
        )
    coordinates = shared.coordinates(read[..., 0] // shared.bits)
    found = compare(Claim.of_grid(coordinates), expected)
    if found.verdict is Verdict.OUT_OF_RANGE and (coordinates < 0).any():
        lane, element = (int(p) for p in np.argwhere((coordinates < 0).any(axis=-1))[0])
        row = int(pieces.row[lane, element, 0])
        found = replace(
            found,
            witness=f"{expected.holder(lane, element)} is read from what lane {row} points to, offset "
            f"{int(read[lane, element, 0]) // shared.bits}, where no element of the tile is",
        )
    return found.with_notes(conflict_note(bank_conflicts(addresses)))
