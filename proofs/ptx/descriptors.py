"""Matrix descriptors: addresses are distinct and inside, swizzling undoes itself, tiles are read in steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U8
from ...spec.ptx.matrix_descriptor import (
    PATTERN_ROWS,
    SWIZZLE_MODES,
    UNIT,
    MatrixDescriptor,
    SharedMatrix,
    swizzled,
)
from ...spec.ptx.wgmma_forms import A_ROW_BYTES, M
from ..obligation import (
    Case,
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

SOURCE = "PTX ISA 9.1 section 9.7.15 (descriptor, canonical layouts, swizzling modes); CuTe's make_gmma_desc"

ADDRESS = immediate(32)


def matrices() -> dict[str, SharedMatrix]:
    """Return 64 lines of one product's K, packed as usual, for each mode, major and width of elements.

    B of a sparse product has twice the K; in rows of 32 bytes it has no room.
    """
    found = {}
    for width, sparse, bits in product(SWIZZLE_MODES, (False, True), (32, 16, 8, 1)):
        if sparse and bits == 1:
            continue
        packed, name = PATTERN_ROWS * (width or UNIT), f"{width}{'-sparse' * sparse}/{bits}-bit"
        length = 8 * A_ROW_BYTES * (1 + sparse) // bits
        if not width or length * bits // 8 <= width:
            fields = MatrixDescriptor(0, M * UNIT, packed, width)
            found[f"k-major-{name}"] = SharedMatrix(fields, M, length, bits)
        if bits == 16:
            fields = MatrixDescriptor(0, length * width if width else M * UNIT, packed, width)
            found[f"mn-major-{name}"] = SharedMatrix(fields, M, length, bits, transposed=True)
    return found


def variable(name: str) -> Variable:
    """Return a variable of the width of addresses."""
    return Variable(name, ADDRESS, (1,))


def below_extent(alg: Algebra, value: Array, extent: int) -> Array:
    """Tell whether a number of the width of addresses is below an extent."""
    exact = alg.whole(extent - 1) - alg.integer(np.asarray(value), ADDRESS)
    return np.asarray(alg.in_range(exact, ADDRESS))


def _inside(alg: Algebra, v: Inputs, matrix: SharedMatrix) -> Array:
    return below_extent(alg, v["line"], matrix.lines) & below_extent(alg, v["k"], matrix.length)


ELEMENT = (variable("line"), variable("k"))


@theorem(
    "ptx/descriptor/injective",
    "elements of A and B lie at distinct places of shared memory",
    "(line, k) ↦ (address, bit) has a left inverse, for each swizzle, major and width of elements, packed "
    "as usual; it is a map over F2",
    SOURCE,
)
def injective() -> Iterator[Case]:
    """Yield one obligation for each layout; without the stride of 8 lines (pinned) elements collide."""
    for name, matrix in matrices().items():
        yield Case(name, partial(comes_back, matrix), statement=matrix.linear.formula)
    yield Case(
        "k-major-128/16-bit/no-stride",
        _collides,
        Status.REFUTED,
        statement="with a stride of 0 lines have addresses of their own",
    )


def comes_back(matrix: SharedMatrix) -> Property:
    """Return the claim that the map over F2 has a left inverse."""
    linear = matrix.linear

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        images = linear.forward(v["line"], v["k"])
        known = _inside(alg, v, matrix)
        for returned, name in zip(linear.inverse(*images), ("line", "k"), strict=True):
            yield Equation(returned, v[name], ADDRESS, known, name)

    return Property(ELEMENT, claim, abstract=False)


def _collides() -> Property:
    matrix = matrices()["k-major-128/16-bit"]
    matrix = replace(matrix, descriptor=replace(matrix.descriptor, stride=0))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one, _ = matrix.address(v["line"], 0)
        other, _ = matrix.address(v["other"], 0)
        known = (
            below_extent(alg, v["line"], M)
            & below_extent(alg, v["other"], M)
            & ~alg.same(v["line"], v["other"])
        )
        yield holds(alg, ~alg.same(one, other), "addresses differ", known)

    return Property(
        (variable("line"), variable("other")),
        claim,
        pinned={"line": 0, "other": 8},
        abstract=False,
    )


@theorem(
    "ptx/descriptor/addresses",
    "an address is the sum that the canonical layout says, swizzled; inside the tile, 16 aligned bytes "
    "together",
    "∀ starts that are multiples of 1024, ∀ (line, k): swizzle(start + offset(line, k)) = start + L(line, "
    "k), L the map over F2; it is less than start + the bytes of the tile; the bytes of 16 that lie "
    "together in the canonical layout keep their order and their alignment",
    SOURCE,
)
def addresses() -> Iterator[Case]:
    """Yield one obligation for each layout."""
    for name, matrix in matrices().items():
        yield Case(name, partial(placed, matrix))


def placed(matrix: SharedMatrix) -> Property:
    """Return the claim that addresses are what the map over F2 says, inside of the tile."""
    linear, row = matrix.linear, matrix.length * matrix.bits // 8
    bytes_of_tile = matrix.lines * (row if matrix.transposed else max(row, matrix.descriptor.swizzle))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        start = v["pattern"] << 10
        known = _inside(alg, v, matrix) & below_extent(alg, v["pattern"], 256)
        address, bit = matrix.address(v["line"], v["k"], start)
        byte, *low = linear.forward(v["line"], v["k"])
        yield Equation(address, start + byte, ADDRESS, known, "address")
        if low:
            yield Equation(bit, low[0], ADDRESS, known, "bit")
        yield holds(alg, below_extent(alg, address - start, bytes_of_tile), "inside the tile", known)
        offset, *_ = matrix.offsets.forward(v["line"], v["k"])
        yield Equation(address & (UNIT - 1), offset & (UNIT - 1), ADDRESS, known, "place in 16 bytes")

    return Property((*ELEMENT, variable("pattern")), claim, abstract=False)


@theorem(
    "ptx/descriptor/executed",
    "the executor reads each element from the bytes at its address, the lowest first",
    "∀ memory: byte b of element (line, k) is that at its address + b; of 1 bit the bit of the byte there",
    SOURCE,
)
def executed() -> Iterator[Case]:
    """Yield one obligation for each layout, elements read as integers of their width."""
    for name, matrix in matrices().items():
        yield Case(name, partial(read, matrix), method=Method.STRUCTURAL)


def read(matrix: SharedMatrix) -> Property:
    """Return the claim that elements are gathered from their addresses."""
    size, fmt = matrix.bits // 8, immediate(matrix.bits)
    address, bit = matrix.address(*np.indices((matrix.lines, matrix.length)))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        elements = matrix.gather(alg, v["memory"], fmt)
        for byte in range(size):
            there = v["memory"][..., address + byte]
            yield Equation(alg.extract(elements, 8 * byte, U8), there, U8, label=f"byte {byte}")
        if not size:
            lows = range(0, 8, matrix.bits)
            bits = np.stack([alg.extract(v["memory"], low, fmt) for low in lows], axis=-1)
            yield Equation(elements, bits[..., address, bit // matrix.bits], fmt, label="bits")

    return Property((Variable("memory", U8, (matrix.extent,)),), claim)


@theorem(
    "ptx/descriptor/swizzle",
    "swizzling is its own inverse, moves 16 bytes at a time, and stays in its pattern",
    "∀ addresses x: s(s(x)) = x; s(x) and x agree but in bits 4 to 6, for 32 bytes in bit 4, for 64 in bits "
    "4 and 5; without swizzling s(x) = x",
    SOURCE,
)
def swizzle() -> Iterator[Case]:
    """Yield one obligation for each width, and that 128 bytes are not left alone (pinned)."""
    for width in SWIZZLE_MODES:
        yield Case(f"{width}-bytes", partial(_undone, width))
    yield Case("128-bytes/moves", _left_alone, Status.REFUTED, statement="s(x) = x")


def _undone(width: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        there = swizzled(v["x"], width)
        yield Equation(swizzled(there, width), v["x"], ADDRESS, label="twice")
        kept = (1 << ADDRESS.bits) - 1 - (max(width, UNIT) - UNIT)
        yield Equation(there & kept, v["x"] & kept, ADDRESS, label="other bits")

    return Property((variable("x"),), claim, abstract=False)


def _left_alone() -> Property:
    return Property(
        (variable("x"),),
        lambda _, v: [Equation(swizzled(v["x"], 128), v["x"], ADDRESS, label="place")],
        pinned={"x": 128},
        abstract=False,
    )


@theorem(
    "ptx/descriptor/conflict-free",
    "eight neighbouring lines of K-major tiles have the same 16 bytes of K in different banks",
    "∀ lines r ≠ r' of 8, ∀ k: bits 4 to 6 of the addresses of (r, k) and (r', k) differ, for each swizzle, "
    "and for packed blocks without one; rows of 128 bytes that are not swizzled (pinned) are all in the "
    "same banks",
    SOURCE + "; 32 banks of 4 bytes: CUDA C++ guide",
)
def conflict_free() -> Iterator[Case]:
    """Yield one obligation for each swizzle and width of elements."""
    for name, matrix in matrices().items():
        if not matrix.transposed:
            yield Case(name, partial(_in_other_banks, matrix))
    yield Case(
        "rows-of-128",
        partial(_banks_differ, lambda line, k: (line << 7) + 2 * k, 16),
        Status.REFUTED,
        statement="rows of 128 bytes one after the other have the same k in different banks",
    )


def _in_other_banks(matrix: SharedMatrix) -> Property:
    return replace(_banks_differ(lambda line, k: matrix.address(line, k)[0], matrix.length), pinned=None)


def _banks_differ(address: Callable[[Any, Any], Any], length: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        known = below_extent(alg, v["line"], PATTERN_ROWS) & below_extent(alg, v["other"], PATTERN_ROWS)
        known = known & below_extent(alg, v["k"], length) & ~alg.same(v["line"], v["other"])
        one, other = ((address(v[name], v["k"]) >> 4) & 7 for name in ("line", "other"))
        yield holds(alg, ~alg.same(one, other), "banks", known)

    variables = (*ELEMENT, variable("other"))
    return Property(variables, claim, pinned={"line": 0, "k": 0, "other": 1}, abstract=False)


@theorem(
    "ptx/descriptor/steps",
    "a descriptor of a tile plus a number is the descriptor of a part of the tile",
    "∀ starts that are multiples of 1024, ∀ (line, k): the address with the start moved by s steps is that "
    "of (line, k + s·K) of the longer tile: s·32 bytes (B of sparse products 64) in K-major rows, s·2·leading"
    " (4) without swizzling, s·2·stride (4) MN-major; and by 8·stride that of (line + 64, k); so products "
    "one after the other see the parts of one tile. A step out of the row (pinned) does not",
    SOURCE,
)
def steps() -> Iterator[Case]:
    """Yield one obligation for each layout that has further steps, and for the next 64 lines."""
    for name, matrix in matrices().items():
        fields, width, row = matrix.descriptor, matrix.descriptor.swizzle, matrix.length * matrix.bits // 8
        if matrix.transposed:
            count, step = 4, matrix.length // PATTERN_ROWS * (fields.stride if width else fields.leading)
            fields = replace(fields, leading=count * fields.leading) if width else fields
        else:
            count, step = (width // row, row) if width else (4, row // UNIT * fields.leading)
        whole = SharedMatrix(fields, matrix.lines, count * matrix.length, matrix.bits, matrix.transposed)
        part = replace(matrix, descriptor=fields)
        if count > 1:
            yield Case(f"{name}/k", partial(stepped, whole, part, count, step))
        if not matrix.transposed:
            taller = replace(matrix, lines=2 * M)
            yield Case(f"{name}/lines", partial(next_lines, taller, matrix, 8 * fields.stride))
    yield Case(
        "k-major-128/16-bit/out-of-the-row",
        partial(_out_of_the_row, matrices()["k-major-128/16-bit"]),
        Status.REFUTED,
        statement="the fifth step of 32 bytes is the first one of the next 128 bytes of K, behind the 64 "
        "lines",
    )


def _out_of_the_row(matrix: SharedMatrix) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        moved, panel = (matrix.address(v["line"], v["k"], start)[0] for start in (4 * A_ROW_BYTES, 128 * M))
        yield Equation(moved, panel, ADDRESS, _inside(alg, v, matrix), "address")

    return Property(ELEMENT, claim, pinned={"line": 0, "k": 0}, abstract=False)


def stepped(whole: SharedMatrix, part: SharedMatrix, count: int, step: int) -> Property:
    """Return the claim that a start some steps further reads the next parts of a longer K."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        start = v["pattern"] << 10
        known = (
            _inside(alg, v, part) & below_extent(alg, v["pattern"], 128) & below_extent(alg, v["s"], count)
        )
        moved, bit = part.address(v["line"], v["k"], start + v["s"] * step)
        wanted, wanted_bit = whole.address(v["line"], v["k"] + v["s"] * part.length, start)
        yield Equation(moved, wanted, ADDRESS, known, "address")
        yield Equation(bit, wanted_bit, ADDRESS, known, "bit")

    return Property((*ELEMENT, variable("pattern"), variable("s")), claim, abstract=False)


def next_lines(taller: SharedMatrix, part: SharedMatrix, step: int) -> Property:
    """Return the claim that a start one step further reads the next 64 lines."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        start, known = v["pattern"] << 10, _inside(alg, v, part) & below_extent(alg, v["pattern"], 128)
        moved, _ = part.address(v["line"], v["k"], start + step)
        yield Equation(moved, taller.address(v["line"] + M, v["k"], start)[0], ADDRESS, known, "address")

    return Property((*ELEMENT, variable("pattern")), claim, abstract=False)


@theorem(
    "ptx/descriptor/manual-example",
    "the manual's figure of K-major tf32 with 32-byte swizzling puts two elements at one address",
    "with 64 bytes of K in a row of 32, ∀ (line, k) ≠ (line', k'): the places 8·line + k differ: false "
    "(pinned)",
    SOURCE + ", figure of the K-major layout, 32-byte swizzling, tf32",
)
def manual_example() -> Iterator[Case]:
    """Yield the claim, which is refuted by (0, 8) and (1, 0)."""
    yield Case("k-major-32/32-bit", _figure, Status.REFUTED)


def _figure() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        one, other = (swizzled(32 * v[line] + 4 * v[k], 32) for line, k in (("line", "k"), ("line2", "k2")))
        known = below_extent(alg, v["line"], 8) & below_extent(alg, v["line2"], 8)
        known = (
            known
            & below_extent(alg, v["k"], 16)
            & below_extent(alg, v["k2"], 16)
            & ~alg.same(v["line"], v["line2"])
        )
        yield holds(alg, ~alg.same(one, other), "places differ", known)

    variables = tuple(map(variable, ("line", "k", "line2", "k2")))
    return Property(variables, claim, pinned={"line": 0, "k": 8, "line2": 1, "k2": 0}, abstract=False)


THEOREMS = (injective, addresses, executed, swizzle, conflict_free, steps, manual_example)
