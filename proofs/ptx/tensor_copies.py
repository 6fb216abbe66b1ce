"""Tensor copies: boxes lie one to one, tiles are what matrix descriptors read, edges are filled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from math import prod

import numpy as np

from ...spec.algebra import Algebra
from ...spec.errors import InputError
from ...spec.formats import U8
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.ptx.asynchronous.tensor_copies import shared_address, source, tensor_load, tensor_store
from ...spec.ptx.asynchronous.tensor_map import TensorMap, read_tensor_map, violations
from ...spec.ptx.matrix_descriptor import PATTERN_ROWS, UNIT, SharedMatrix
from ..comparison import compared
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Variable,
    holds,
    immediate,
    theorem,
)
from ..table_theorem import table_theorem
from .descriptors import ADDRESS, ELEMENT, below_extent, matrices, variable
from .stated import tensor_maps as stated

SOURCE = "PTX ISA 9.1 sections 5.5 (tensors, swizzling modes) and 9.7.9.25 (tensor copies)"

_INTEGERS = {8: "u8", 16: "u16", 32: "u32"}


# -- boxes
def boxes() -> dict[str, TensorMap]:
    """Return maps of every rank, swizzle and size of elements, some with element strides."""
    found = {}
    shapes = {1: (), 2: (8,), 3: (4, 3), 4: (3, 2, 2), 5: (2, 2, 3, 2)}
    for swizzle, (bits, element), (rank, more) in product(
        (0, 32, 64, 128), _INTEGERS.items(), shapes.items()
    ):
        row = (swizzle or 48) * 8 // bits
        found[f"{swizzle}/{bits}-bit/{rank}d"] = packed(element, (row, *more), swizzle)
    found["128/16-bit/2d/every-second"] = packed("u16", (64, 9), 128, (1, 2))
    found["0/32-bit/3d/every-third"] = packed("u32", (8, 5, 4), 0, (4, 3, 2))
    return found


def packed(element: str, box: tuple[int, ...], swizzle: int, steps: tuple[int, ...] = ()) -> TensorMap:
    """Return the map of a tensor that is twice the box along each dimension."""
    size = int(element[1:]) // 8
    sizes = tuple(2 * extent for extent in box)
    strides = tuple(-(-prod(sizes[:place]) * size // UNIT) * UNIT for place in range(1, len(sizes)))
    return TensorMap(element, sizes, strides, box, steps, swizzle)


@theorem(
    "ptx/tensor-copy/box",
    "elements of a box lie at distinct places of shared memory, which fill its bytes, each aligned",
    "∀ starts that are multiples of the alignment, ∀ i, j of the box: the same address ⇒ i = j; it is a "
    "multiple of the element's bytes, and from the start less than the bytes that the copy completes",
    SOURCE,
)
def box() -> Iterator[Case]:
    """Yield one obligation for each map, and that strides of half a row (pinned) would collide."""
    for name, tensor in boxes().items():
        yield Case(name, partial(_apart, tensor))
    yield Case(
        "not-aligned", _not_aligned, Status.REFUTED,
        statement="a box of 128 swizzled bytes lies alike 128 bytes behind the beginning of a pattern",
    )  # fmt: skip


def _apart(tensor: TensorMap) -> Property:
    names = tuple(axis.name for axis in tensor.order.source)
    others = tuple(f"other {name}" for name in names)
    shift = tensor.alignment.bit_length() - 1

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        start = v["pattern"] << shift
        known = below_extent(alg, v["pattern"], 192)
        for name, other, extent in zip(names, others, tensor.extents, strict=True):
            known = known & below_extent(alg, v[name], extent) & below_extent(alg, v[other], extent)
        address, there = (shared_address(tensor, [v[n] for n in given], start) for given in (names, others))
        for name, other in zip(names, others, strict=True):
            yield Equation(v[name], v[other], ADDRESS, known & alg.same(address, there), name)
        low = address & (tensor.element_bytes - 1)
        yield Equation(low, 0 * low, ADDRESS, known, "alignment")
        yield holds(alg, below_extent(alg, address - start, tensor.box_bytes), "inside", known)

    return Property((*map(variable, (*names, *others)), variable("pattern")), claim, abstract=False)


def _not_aligned() -> Property:
    tensor = packed("u16", (64, 8), 128)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        known = below_extent(alg, v["i0"], 64) & below_extent(alg, v["i1"], 8)
        one, other = (shared_address(tensor, (v["i0"], v["i1"]), start) for start in (1024, 1152))
        yield Equation(one + 128, other, ADDRESS, known, "address")

    return Property((variable("i0"), variable("i1")), claim, pinned={"i0": [0], "i1": [0]}, abstract=False)


# -- tiles
def tiles() -> Iterator[tuple[str, SharedMatrix, TensorMap, int]]:
    """Yield what a descriptor reads, the map of the boxes that hold it, and how many steps of K they have.

    A box has the rows (K-major) or columns (MN-major) of one swizzled row; without swizzling 16 bytes.
    """
    for name, given in matrices().items():
        matrix = given
        if matrix.bits < 8:
            continue
        width = matrix.descriptor.swizzle
        along = (width or UNIT) * 8 // matrix.bits
        element = _INTEGERS[matrix.bits]
        if matrix.transposed:
            tensor = packed(element, (along, matrix.length), width)
            if not width:  # the next 16 bytes along M or N are in the next box, the next 8 of K in this one
                fields = replace(matrix.descriptor, stride=tensor.box_bytes, leading=PATTERN_ROWS * UNIT)
                matrix = replace(matrix, descriptor=fields)
            yield name, matrix, tensor, 1
        else:
            steps = along // matrix.length if width else 1
            yield name, matrix, packed(element, (along, matrix.lines), width), steps


@theorem(
    "ptx/tensor-copy/tile",
    "what a matrix descriptor reads of boxes that a tensor copy wrote is the tile",
    "∀ starts that are multiples of 1024, ∀ (line, k), ∀ steps s of K: the descriptor's address of (line, "
    "k), its start moved by s steps, is the box's address of element (s·K + k, line), of MN-major ones "
    "(line, k), of box ⌊·/w⌋ where w elements are in a row; for every swizzle, both majors, elements of 8, "
    "16 and 32 bits",
    SOURCE + "; 9.7.15 (matrix descriptor)",
)
def tile() -> Iterator[Case]:
    """Yield one obligation for each layout, and that another swizzle (pinned) is elsewhere."""
    for name, matrix, tensor, steps in tiles():
        yield Case(name, partial(_same_place, matrix, tensor, steps))
    yield Case(
        "other-swizzle", _other_swizzle, Status.REFUTED,
        statement="a descriptor of 64-byte swizzling reads what is swizzled by 128 bytes",
    )  # fmt: skip


def _same_place(matrix: SharedMatrix, tensor: TensorMap, steps: int) -> Property:
    along, _ = tensor.extents
    step = matrix.length * matrix.bits // 8

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        line, k, start = v["line"], v["k"], v["pattern"] << 10
        known = below_extent(alg, line, matrix.lines) & below_extent(alg, k, matrix.length)
        known = known & below_extent(alg, v["pattern"], 192)
        for s in range(steps):
            there, _ = matrix.address(line, k, start + s * step)
            first, second = (line, k) if matrix.transposed else (s * matrix.length + k, line)
            within, number = first & (along - 1), first >> (along.bit_length() - 1)
            begin = start + number * tensor.box_bytes
            yield Equation(
                shared_address(tensor, (within, second), begin), there, ADDRESS, known, f"step {s}"
            )

    return Property((*ELEMENT, variable("pattern")), claim, abstract=False)


def _other_swizzle() -> Property:
    matrix, tensor = matrices()["k-major-64/16-bit"], packed("u16", (64, 64), 128)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        known = below_extent(alg, v["line"], matrix.lines) & below_extent(alg, v["k"], matrix.length)
        there, _ = matrix.address(v["line"], v["k"], 0)
        yield Equation(shared_address(tensor, (v["k"], v["line"]), 0), there, ADDRESS, known, "address")

    return Property(ELEMENT, claim, pinned={"line": [1], "k": [0]}, abstract=False)


@theorem(
    "ptx/tensor-copy/read",
    "products read what the tensor has in global memory: the executor's load, then its descriptor",
    "∀ global memories: the elements that the descriptor gathers from shared memory after the loads of the "
    "boxes are the bytes of the tensor at row and column, for each layout",
    SOURCE + "; 9.7.15 (matrix descriptor)",
)
def read() -> Iterator[Case]:
    """Yield one obligation for each layout of one step."""
    for name, matrix, tensor, _ in tiles():
        yield Case(name, partial(_read, matrix, tensor), method=Method.STRUCTURAL)


def _read(matrix: SharedMatrix, tensor: TensorMap) -> Property:
    along, across = tensor.extents
    length = matrix.lines if matrix.transposed else matrix.length
    count = -(-length // along)
    wide = TensorMap(
        tensor.element, (count * along, across), (count * along * tensor.element_bytes,), tensor.box,
        swizzle=tensor.swizzle,
    )  # fmt: skip
    size, fmt = tensor.element_bytes, immediate(matrix.bits)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        memory = v["memory"]
        shared = np.broadcast_to(alg.constant(0, U8), (*memory.shape[:-1], count * tensor.box_bytes))
        for number in range(count):
            corner = (number * along, 0)
            shared = tensor_load(alg, wide, corner, memory, shared, number * tensor.box_bytes)
        elements = matrix.gather(alg, shared, fmt)
        lines, k = np.indices((matrix.lines, matrix.length))
        x, y = (lines, k) if matrix.transposed else (k, lines)
        begin = x * size + y * wide.strides[0]
        for byte in range(size):
            yield Equation(
                alg.extract(elements, 8 * byte, U8), memory[..., begin + byte], U8, label=f"byte {byte}"
            )

    return Property((Variable("memory", U8, (wide.strides[0] * across,)),), claim)


# -- edges
EDGES = {
    "inside": (0, 0), "beyond-the-end": (10, 3), "before-the-beginning": (-3, -2), "outside": (40, 0),
    "far-outside": (-(1 << 31), (1 << 31) - 1),
}  # fmt: skip


@theorem(
    "ptx/tensor-copy/edges",
    "elements outside of the tensor are filled with zeros by loads, and left by stores",
    "∀ global and shared memories: byte b of element i after a load is that of the tensor at c + i inside, "
    "and 0 outside; other bytes of shared memory stay; a store of it writes the same bytes back, and no "
    "others",
    SOURCE,
)
def edges() -> Iterator[Case]:
    """Yield one obligation for each place of the box, with and without swizzling."""
    for (name, corner), swizzle in product(EDGES.items(), (0, 32)):
        yield Case(f"{name}/{swizzle}", partial(_filled, corner, swizzle), method=Method.STRUCTURAL)


def _filled(corner: tuple[int, int], swizzle: int) -> Property:
    tensor = TensorMap("u16", (19, 5), (48,), (16, 4), swizzle=swizzle)
    start, size = tensor.alignment, tensor.element_bytes

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        memory, before = v["memory"], v["shared"]
        after = tensor_load(alg, tensor, corner, memory, before, start)
        untouched = np.ones(before.shape[-1], dtype=bool)
        for i1, i0 in np.ndindex(4, 16):
            x, y = corner[0] + i0, corner[1] + i1
            place = int(shared_address(tensor, (i0, i1), start))
            inside = 0 <= x < 19 and 0 <= y < 5
            for byte in range(size):
                value = memory[..., y * 48 + x * size + byte] if inside else alg.constant(0, U8)
                untouched[place + byte] = False
                yield Equation(after[..., place + byte], value, U8, label=f"({i0}, {i1})")
        yield Equation(after[..., untouched], before[..., untouched], U8, label="the rest")
        if min(corner) >= 0:
            back = tensor_store(alg, tensor, corner, memory, after, start)
            yield Equation(back, memory, U8, label="written back")

    variables = (Variable("memory", U8, (5 * 48,)), Variable("shared", U8, (start + 256,)))
    return Property(variables, claim)


@theorem(
    "ptx/tensor-copy/bytes",
    "a load completes as many bytes as it writes in shared memory, wherever the box is",
    "∀ maps, ∀ corners: the bytes that the barrier counts are the bytes of shared memory that differ from "
    "what was there for some memory: the whole box, inside and outside of the tensor; a multiple of 16",
    SOURCE + "; CUTLASS arms its barriers with the bytes of whole tiles at ragged edges",
)
def counted() -> Iterator[Case]:
    """Yield one obligation for each map."""
    for name, tensor in boxes().items():
        yield Case(name, partial(_counted, tensor), method=Method.CERTIFICATE)


def _counted(tensor: TensorMap) -> Certificate:
    corners = [tuple(side for _ in tensor.sizes) for side in (0, -1, 3, 1000)]
    need = 2 * tensor.box_bytes + tensor.alignment

    def written(corner: tuple[int, ...]) -> tuple[int, int]:
        bytes_of_tensor = tensor.sizes[0] * tensor.element_bytes
        for size, stride in zip(tensor.sizes[1:], tensor.strides, strict=True):
            bytes_of_tensor = max(bytes_of_tensor, size * stride)
        memory = np.zeros(bytes_of_tensor, dtype=np.uint8)
        before = np.full(need, 0xFF, dtype=np.uint8)
        after = tensor_load(NumpyAlgebra(), tensor, corner, memory, before, tensor.alignment)
        return int((after != before).sum()), tensor.box_bytes % UNIT

    return compared(
        dict.fromkeys(corners, (tensor.box_bytes, 0)),
        lambda: {corner: written(corner) for corner in corners},
    )


# -- what is stated
examples = table_theorem(
    "ptx/stated/tensor-maps",
    "maps have the boxes, elements the places, and impossible maps the faults, that the manual says",
    "listed maps and indices ↦ bytes of the box, places in shared and global memory, whether inside; listed "
    "maps ↦ the rule that they alone violate",
    SOURCE + "; CUDA driver API, cuTensorMapEncodeTiled",
    lambda: {"places": _places, "faults": _faults},
)


def _places() -> Certificate:
    def asked(row: stated.Placed) -> tuple[int, int, int | None]:
        tensor = read_tensor_map(row.tensor)
        global_bytes, inside = source(tensor, row.corner)
        at = int(global_bytes[row.element]) if inside[row.element] else None
        return tensor.box_bytes, int(shared_address(tensor, row.element, row.start)), at

    return compared(
        {row: (row.box_bytes, row.shared, row.memory) for row in stated.PLACED},
        lambda: {row: asked(row) for row in stated.PLACED},
    )


def _faults() -> Certificate:
    def asked(changed: tuple[tuple[str, object], ...]) -> tuple[str, ...]:
        fields = {**stated.LEGAL, **dict(changed)}
        try:
            return tuple(dict.fromkeys(violation.rule.id for violation in violations(TensorMap(**fields))))  # type: ignore[arg-type]
        except InputError:
            return ("unreadable",)

    return compared(
        {changed: (rule,) if rule else () for changed, rule in stated.FAULTS.items()},
        lambda: {changed: asked(changed) for changed in stated.FAULTS},
    )


THEOREMS = (box, tile, read, edges, counted, examples)
