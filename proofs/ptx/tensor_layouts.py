"""Tensor memory: cells and elements correspond one to one, loads undo stores, tiles are read back."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U16, U32
from ...spec.fragment import Fragment
from ...spec.ptx.fragments import in_runs
from ...spec.ptx.resolution import ACCUMULATOR_RUN
from ...spec.ptx.tensor_memory.copies import SHAPES as COPIES
from ...spec.ptx.tensor_memory.instruction_descriptor import InstructionDescriptor
from ...spec.ptx.tensor_memory.kinds import CTA_LANES, KINDS, columns_of_d, rows_of_d
from ...spec.ptx.tensor_memory.layouts import PARTITION, TensorMemoryLayouts
from ...spec.ptx.tensor_memory.moves import cells_of, load, store
from ...spec.ptx.tensor_memory.product_form import ProductForm
from ...spec.ptx.tensor_memory.register_shapes import SHAPES, RegisterTile
from ..comparison import compared
from ..families.layouts import bijections, held_in, inverse, readings
from ..obligation import Case, Certificate, Equation, Inputs, Method, Property, Status, Variable, theorem

SOURCE = "PTX ISA 9.1 section 9.7.16 (tensor memory, data path layouts, tcgen05.ld); CuTe's traits"


def layouts(
    kind: str, m: int, n: int, *, ctas: int = 1, ws: bool = False, sparse: bool = False, vector: int = 0
) -> TensorMemoryLayouts:
    """Return where the operands of a product are."""
    form = ProductForm("tcgen05.mma", KINDS[kind], ctas, ws, sparse, vector)
    return TensorMemoryLayouts(form, InstructionDescriptor.of(kind, m=m, n=n, sparse=int(sparse)))


@cache
def of_d() -> dict[str, TensorMemoryLayouts]:
    """Return the layout of D of each letter and N."""
    found: dict[str, TensorMemoryLayouts] = {}
    for ws, ctas, sparse in product((False, True), (1, 2), (False, True)):
        for m in rows_of_d(KINDS["f16"], ws=ws, ctas=ctas, sparse=sparse):
            for n in columns_of_d(KINDS["f16"], ws=ws, ctas=ctas, sparse=sparse):
                each = layouts("f16", m, n, ctas=ctas, ws=ws, sparse=sparse)
                found.setdefault(f"d/{each.name}/n{n}", each)
    return found


@cache
def _of_a() -> dict[str, Fragment]:
    kinds = {32: "tf32", 16: "f16", 8: "i8", 4: "mxf4"}
    shapes = {"A": (256, 2), "B": (128, 2), "D": (128, 1), "F": (64, 1)}
    return {
        f"a/{letter}/{bits}-bit": layouts(kind, m, 64, ctas=ctas).a
        for (bits, kind), (letter, (m, ctas)) in product(kinds.items(), shapes.items())
        if letter != "F" or bits > 4
    }


@cache
def factors() -> dict[str, Fragment]:
    """Return where scale factors are: of A by rows, of B by columns, for each vector of them."""
    found = {}
    for (size, kind), ctas in product({1: "mxf8f6f4", 2: "mxf4", 4: "mxf4nvf4"}.items(), (1, 2)):
        for m in rows_of_d(KINDS[kind], ws=False, ctas=ctas, sparse=False):
            found[f"scale-a/{size}/m{m}/{ctas}"] = layouts(kind, m, 128, ctas=ctas, vector=size).factors("a")
            for n in (128, 256) if ctas == 2 and m == 128 else (32, 64, 96, 128, 192, 256):
                found[f"scale-b/{size}/m{m}/{ctas}/n{n}"] = layouts(
                    kind, m, n, ctas=ctas, vector=size
                ).factors("b")
    return found


@cache
def _metadata() -> dict[str, Fragment]:
    shapes = ((256, 2, False), (128, 1, False), (64, 1, True), (32, 1, True))
    return {
        f"metadata/{kind}/m{m}": layouts(kind, m, 64, ctas=ctas, ws=ws, sparse=True).metadata
        for kind, (m, ctas, ws) in product(("f16", "i8"), shapes)
    }


@cache
def tiles() -> dict[str, RegisterTile]:
    """Return what a warp loads or stores, of each shape and count, packed or not."""
    return {
        f"{shape.name}/x{count}{'/packed' * packed}": RegisterTile(shape, count, packed)
        for shape in SHAPES.values()
        for count, packed in product(shape.counts, (False, True))
    }


@theorem(
    "ptx/tensor-memory/layout",
    "elements and cells of tensor memory, and those and registers, correspond one to one",
    "(lane, column) ↦ (row, column) of D for each layout and N, with lower and upper lanes of layouts C, F; "
    "(lane, i) ↦ (row, k) of A, with its copies; scale factors and metadata with their copies, and the "
    "selectors that pick them; (thread, i) ↦ (lane, column) of each shape of loads; (lane, byte) ↦ (copy, "
    "row, byte) of each shape of tcgen05.cp: bijections, with an explicit inverse",
    SOURCE,
)
def layout() -> Iterator[Case]:
    """Yield one obligation for each layout."""
    yield from bijections({name: each.d.layout for name, each in of_d().items()})
    for fragments in (_of_a(), factors(), _metadata()):
        yield from bijections({name: each.layout for name, each in fragments.items()})
    yield from bijections({f"r/{name}": tile.layout for name, tile in tiles().items()})
    yield from bijections({f"cp/{name}": shape.fragment.layout for name, shape in COPIES.items()})


@theorem(
    "ptx/tensor-memory/executed",
    "what the executor reads of cells and registers is what the layout's formula says",
    "gather(cells)[row, column] is the field that the layout names; scatter(gather(cells)) = cells where "
    "every bit of a cell is an element's; D, A, scale factors, metadata, loads and copies",
    SOURCE,
)
def executed() -> Iterator[Case]:
    """Yield one obligation for each operand, at a small N, and for each shape."""
    held = {name: held_in(each.d) for name, each in of_d().items() if name.endswith(("n16", "n64"))}
    some = {**_of_a(), **_metadata()}
    some |= {name: each for name, each in factors().items() if name.endswith(("n32", "/1", "/2"))}
    held |= {name: held_in(each) for name, each in some.items()}
    held |= {f"r/{name}": held_in(tile.fragment) for name, tile in tiles().items() if tile.count <= 2}
    held |= {f"cp/{name}": held_in(shape.fragment) for name, shape in COPIES.items()}
    yield from readings(held)


# -- loads and stores
@theorem(
    "ptx/tensor-memory/round-trip",
    "a store undoes a load, and a load a store",
    "∀ registers r: load(store(r)) = r; ∀ cells: store(load(cells)) = cells; of packed ones their low halves,"
    " whatever the high ones are",
    SOURCE,
)
def round_trip() -> Iterator[Case]:
    """Yield one obligation for each shape and count."""
    for name, tile in tiles().items():
        yield Case(name, partial(_undone, tile), method=Method.STRUCTURAL)


def _undone(tile: RegisterTile) -> Property:
    registers = Variable("r", U32, tile.fragment.words)
    if not tile.packed:
        cells = Variable("cells", U32, cells_of(tile))
        return inverse(partial(_stored, tile), partial(_loaded, tile), (registers, cells))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        low = alg.extract(v["cells"], 0, U16)
        yield Equation(store(alg, tile, load(alg, tile, v["cells"])), low, U16, label="low halves")
        low = store(alg, tile, v["r"])
        cells = alg.assemble(np.stack([low, alg.extract(v["cells"], 16, U16)], axis=-1), U16, (0, 16), U32)
        yield Equation(load(alg, tile, cells), v["r"], U32, label="registers")

    return Property((registers, Variable("cells", U32, cells_of(tile))), claim)


def _stored(tile: RegisterTile, alg: Algebra, registers: Array) -> Array:
    return store(alg, tile, registers)


def _loaded(tile: RegisterTile, alg: Algebra, cells: Array) -> Array:
    return load(alg, tile, cells)


# -- tiles
WARPS = CTA_LANES // PARTITION
"""Warps that read the lanes of a CTA."""


@theorem(
    "ptx/tensor-memory/read-back",
    "D of a product, loaded by four warps with each its quarter of the lanes, is in known registers",
    "∀ D: after scatter(D), register r of thread t of warp w is D at the row and column that cell (32·w + t, "
    "r) has; of layouts C and F with 16x256b the registers of warp w are those in which mma holds rows 16·w "
    "to 16·w + 15, and with 16x32bx2 threads 16 to 31 have the second half of the columns; so in each CTA",
    SOURCE,
)
def read_back() -> Iterator[Case]:
    """Yield one obligation for each layout, and that 32x32b reads rows of layout F in order (pinned)."""
    for name, each in of_d().items():
        if name.endswith("n64") or name == "d/D/n24":
            if each.is_of_half_lanes:
                for shape in ("16x256b", "16x32bx2"):
                    goal = partial(_read_halves, each, SHAPES[shape])
                    yield Case(f"{name}/{shape}", goal, method=Method.STRUCTURAL)
            else:
                yield Case(f"{name}/32x32b", partial(_read_lanes, each), method=Method.STRUCTURAL)
    yield Case(
        "d/F/n64/32x32b", partial(_in_order, layouts("f16", 64, 64)), Status.REFUTED,
        statement="register r of thread t of warp w < 2 is D[32·w + t, r] in layout F",
    )  # fmt: skip


def _d(each: TensorMemoryLayouts) -> Variable:
    return Variable("d", U32, (each.fields.m, each.fields.n))


def _as_words(each: TensorMemoryLayouts) -> Fragment:
    """Return D's fragment with words for elements: where they are does not depend on the type."""
    held = each.d
    return Fragment(held.layout, type(held.packing)(U32, U32.bits))


def _cells(alg: Algebra, each: TensorMemoryLayouts, d: Array) -> Array:
    if each.is_of_half_lanes:
        d = np.stack([d, np.broadcast_to(alg.constant(0, U32), d.shape)], axis=-3)
    return _as_words(each).scatter(alg, d)


def _read_lanes(each: TensorMemoryLayouts) -> Property:
    columns = _as_words(each).registers

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        cells = _cells(alg, each, v["d"])
        for warp in range(WARPS * each.form.ctas):
            lanes = cells[..., PARTITION * warp : PARTITION * (warp + 1), :]
            thread, register = np.indices((PARTITION, columns))
            found = _loaded_columns(alg, lanes, columns)
            row, column = each.d.layout.forward(PARTITION * warp + thread, register)
            yield Equation(found, v["d"][..., row, column], U32, label=f"warp {warp}")

    return Property((_d(each),), claim)


def _loaded_columns(alg: Algebra, lanes: Array, columns: int) -> Array:
    """Load all columns by 32x32b with counts that are powers of two."""
    parts, first = [], 0
    while first < columns:
        count = 1 << (min(columns - first, 128)).bit_length() - 1
        parts.append(load(alg, RegisterTile(SHAPES["32x32b"], count), lanes[..., first : first + count]))
        first += count
    return np.concatenate(parts, axis=-1)


def _read_halves(each: TensorMemoryLayouts, shape: object) -> Property:
    n = each.fields.n
    two_parts = shape is SHAPES["16x32bx2"]
    tile = RegisterTile(SHAPES["16x32bx2"], n // 2) if two_parts else RegisterTile(SHAPES["16x256b"], n // 8)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        cells = _cells(alg, each, v["d"])
        for warp in range(WARPS * each.form.ctas):
            lanes = cells[..., PARTITION * warp : PARTITION * warp + 16, :]
            rows = v["d"][..., 16 * warp : 16 * (warp + 1), :]
            if two_parts:
                halves = np.stack([lanes[..., : n // 2], lanes[..., n // 2 :]], axis=-3)
                wanted = np.concatenate([rows[..., : n // 2], rows[..., n // 2 :]], axis=-2)
                yield Equation(load(alg, tile, halves), wanted, U32, label=f"warp {warp}")
                continue
            held = in_runs("d", 16, n, ACCUMULATOR_RUN)
            row, column = held.forward(*np.indices((32, tile.registers)))
            yield Equation(load(alg, tile, lanes), rows[..., row, column], U32, label=f"warp {warp}")

    return Property((_d(each),), claim)


def _in_order(each: TensorMemoryLayouts) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        cells = _cells(alg, each, v["d"])
        yield Equation(cells[..., :64, :], v["d"], U32, label="rows")

    pinned = np.zeros((64, 64), dtype=np.uint64)
    pinned[16, 0] = 1
    return Property((_d(each),), claim, pinned={"d": pinned.tolist()})


@theorem(
    "ptx/tensor-memory/fragment",
    "16x256b gives a warp's registers the accumulator of mma",
    "∀ threads, i: (lane, column) of 16x256b.xN is (row, column) of element i of D of mma with 8·N columns",
    SOURCE + "; 9.7.14.5",
)
def fragment() -> Iterator[Case]:
    """Yield one obligation for each count."""
    for name, tile in tiles().items():
        if name.startswith("16x256b") and not tile.packed:
            yield Case(name, partial(_as_mma, tile), method=Method.CERTIFICATE)


def _as_mma(tile: RegisterTile) -> Certificate:
    held = in_runs("d", 16, 8 * tile.count, ACCUMULATOR_RUN)
    points = list(np.ndindex(32, tile.registers))
    return compared(
        {at: tuple(map(int, held.forward(*at))) for at in points},
        lambda: {at: tuple(map(int, tile.layout.forward(*at))) for at in points},
    )


THEOREMS = (layout, executed, round_trip, read_back, fragment)
