"""Transport: loads, extractions and stores around a product, which sees the intended block.

Symbolically, for every size, origin and element, with places of a line (`layouts.digits`) for offsets; and
executed, on whole buffers of symbolic elements, with products that are an arbitrary function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import F16, U64, Format
from ...spec.pto import cube, movers
from ...spec.pto.catalogue import OPERATIONS, ROLE_LOCATIONS, triples
from ...spec.pto.choices import UNSPECIFIED, Choices, choices_of
from ...spec.pto.element_types import ELEMENT_TYPES, ElementType
from ...spec.pto.fractal import FractalLayout, layout_of
from ...spec.pto.global_memory import contiguous
from ...spec.pto.placement import alignment, mover_placement
from ...spec.pto.products import product
from ...spec.pto.sizes import Extents, operand_extents, rounded_up, sizes
from ...spec.pto.targets import A2A3, A5, CPU, Profile, alias
from ...spec.pto.tile import Compact, Location, Order, Tile, c0
from ..obligation import Case, Equation, Inputs, Method, Property, Status, Variable, theorem
from .layouts import SIZE_BITS, coordinates, digits, name_of, size, word
from .pitches import UnitOperand, unit_operands

SOURCE = "pto-isa headers at 3186c381 (TLoad, TMov, TExtract, TStore)"


def panel_layouts(operand: UnitOperand) -> Iterator[FractalLayout]:
    """Yield the orders of the L1 tile that an operand comes from: Nz, and Zn, of which one is transposed."""
    tile = alias(operand.profile, Location.MAT, operand.element, (1024, 1024))
    yield layout_of(tile)
    yield layout_of(replace(tile, blocks=Order.ROW_MAJOR, inner=Order.COL_MAJOR))


def extracted_operands() -> Iterator[UnitOperand]:
    """Yield A and B of every profile and width of elements."""
    return (operand for operand in unit_operands() if operand.role in ("a", "b"))


@theorem(
    "pto/transport/sees-block",
    "by their placements tmov and textract put the intended block where the matrix unit looks",
    "for every origin and extent, by the formulas that movers and matrix unit go through (executed in "
    "pto/transport/pipeline): the slot where the matrix unit looks for A[i, t] (B[t, j]) holds the panel's "
    "element (i0 + i, t0 + t), where movers and matrix unit have one pitch (pto/pitch)",
    SOURCE,
)
def sees_block() -> Iterator[Case]:
    """Yield every operand, then movers that do not transpose the blocks of a panel of the other order."""
    for operand in extracted_operands():
        yield Case(operand.name, partial(_sees_block, operand, operand.layout.inner))
        for panel in panel_layouts(operand):
            if panel.inner is not operand.layout.inner and panel.box == operand.layout.box:
                yield Case(
                    f"not-transposed/{operand.name}",
                    partial(_sees_block, operand, panel.inner),
                    Status.REFUTED,
                    statement=f"a mover that copies blocks of a {panel.name} panel as they are does as well",
                )


def _sees_block(operand: UnitOperand, inner: Order) -> Property:
    tile = alias(operand.profile, ROLE_LOCATIONS[operand.role], operand.element, (1024, 1024))
    target = replace(mover_placement(operand.profile, tile, (1024, 1024)).layout, inner=inner)

    def panel(alg: Algebra, v: Inputs, row: Array, column: Array) -> Array:
        """Return the element of an arbitrary panel at (row, column) from the block's origin."""
        at = word(alg, v["row0"]) + row, word(alg, v["column0"]) + column
        return alg.arbitrary("panel", [(np.stack(at, axis=-1), U64)], F16)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        row, column = word(alg, v["row"]), word(alg, v["column"])
        held = panel(alg, v, *coordinates(target, *digits(operand.layout, row, column)))
        yield Equation(held, panel(alg, v, row, column), F16, label="element")

    pinned = {"row": 0, "column": 1}
    variables = tuple(map(size, ("row", "column", "row0", "column0")))
    return Property(variables, claim, pinned=pinned, abstract=False)


@theorem(
    "pto/transport/origin",
    "from an origin that is aligned as textract demands, a block is at a constant distance from the panel's",
    "(r0 + r, c0 + c) is as many lines of blocks and places after (r0, c0) as (r, c) is after (0, 0); along "
    "the blocks of a line no alignment is needed, across it is (pinned)",
    SOURCE,
)
def origin() -> Iterator[Case]:
    """Yield both panel orders of every operand: aligned as the spec demands, less, and too little."""
    for operand in extracted_operands():
        for panel in panel_layouts(operand):
            tile = alias(operand.profile, ROLE_LOCATIONS[operand.role], operand.element, (1024, 1024))
            source = alias(operand.profile, Location.MAT, operand.element, (1024, 1024))
            source = replace(source, blocks=panel.blocks, inner=panel.inner)
            rows, columns = alignment(source, tile)
            name = f"{operand.name}/{name_of(panel)}"
            yield Case(name, partial(_origin, panel, (rows, columns)))
            if operand.role == "a":
                along, across = ((1, columns), (rows, 1)) if panel.name == "Nz" else ((rows, 1), (1, columns))
                yield Case(
                    f"any-{'row' if along[0] == 1 else 'column'}/{name}", partial(_origin, panel, along)
                )
                yield Case(f"unaligned/{name}", partial(_origin, panel, across), Status.REFUTED)


def _origin(panel: FractalLayout, granules: tuple[int, int]) -> Property:
    shifts = [granule.bit_length() - 1 for granule in granules]
    starts = tuple(
        size(name, SIZE_BITS - shift) for name, shift in zip(("row0", "column0"), shifts, strict=True)
    )

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        block = word(alg, v["row"]), word(alg, v["column"])
        start = [word(alg, v[w.name], w.format.bits) << s for w, s in zip(starts, shifts, strict=True)]
        places = digits(panel, *(first + index for first, index in zip(start, block, strict=True)))
        parts = zip(("lines", "places"), places, digits(panel, *start), digits(panel, *block), strict=True)
        for label, total, base, rest in parts:
            yield Equation(total, base + rest, U64, label=label)

    return Property((size("row"), size("column"), *starts), claim, abstract=False)


# -- executed
@dataclass(frozen=True)
class Pipeline:
    """tload, textract, tmatmul and tstore of one block.

    Attributes
    ----------
    profile : Profile
        Who executes it.
    tiles : mapping of str to Tile
        ``a``, ``b`` and ``d``; their valid extents are m, k and n.
    panels : pair of Order
        Order of the blocks of the panels of A and B: COL_MAJOR is Nz, ROW_MAJOR Zn.
    types : mapping of str to ElementType
        Of A, B and D.
    """

    profile: Profile
    tiles: Mapping[str, Tile]
    panels: tuple[Order, Order]
    types: Mapping[str, ElementType]

    @property
    def formats(self) -> dict[str, Format]:
        """The formats of A, B and D."""
        found = {role: element.format for role, element in self.types.items()}
        return {role: fmt for role, fmt in found.items() if fmt is not None}

    @property
    def origin(self) -> dict[str, tuple[int, int]]:
        """Where the blocks of A and B begin in their panels, aligned as textract demands."""
        return {"a": (16, max(16, c0(self.types["a"]))), "b": (32, 16)}

    def panel(self, role: str) -> Tile:
        """Return the L1 tile of A or B."""
        blocks = self.panels["ab".index(role)]
        inner = Order.ROW_MAJOR if blocks is Order.COL_MAJOR else Order.COL_MAJOR
        tile = alias(self.profile, Location.MAT, self.types[role], PANEL)
        return replace(tile, blocks=blocks, inner=inner)

    def stored(self, alg: Algebra, v: Inputs, choices: Choices) -> Array:
        """Return what is in memory (…, m, n) in the end."""
        valid = {role: Extents(tile.valid_rows, tile.valid_columns) for role, tile in self.tiles.items()}
        buffers = {}
        for role in "ab":
            panel, fmt = self.panel(role), self.formats[role]
            nothing = v[f"junk_{role}"]
            junk = np.broadcast_to(nothing, (*nothing.shape[:-1], PANEL[0] * PANEL[1]))
            matrix = v[role].reshape(*v[role].shape[:-2], -1)
            whole = Extents(*PANEL)
            loaded = movers.load(
                alg, self.profile, contiguous(*PANEL), matrix, panel, fmt, junk, whole, choices
            )
            tile, (row, column) = self.tiles[role], self.origin[role]
            before = np.broadcast_to(nothing, (*nothing.shape[:-1], tile.rows * tile.columns))
            buffers[role] = movers.move(
                alg, OPERATIONS["textract"], self.profile, (panel, tile), (fmt, fmt), (loaded, before),
                (whole, valid[role]), choices, row, column,
            )  # fmt: skip
        d, operation = self.tiles["d"], OPERATIONS["tmatmul"]
        buffers["d"] = np.broadcast_to(v["before"], (*v["before"].shape[:-1], d.rows * d.columns))
        result = cube.multiply(
            alg, operation, self.profile, self.tiles, buffers, sizes(operation, self.profile, valid), choices
        )
        memory = np.broadcast_to(v["before"], (*v["before"].shape[:-1], M * N))
        written = movers.store(
            alg, OPERATIONS["tstore"], self.profile, d, (self.formats["d"],) * 2, result, valid["d"],
            contiguous(M, N), memory, choices,
        )  # fmt: skip
        return written.reshape(*written.shape[:-1], M, N)

    def goal(self) -> Property:
        """Return the claim that memory holds the product of the blocks."""
        formats = self.formats
        choices = replace(choices_of(self.profile), accumulation=UNSPECIFIED)

        def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
            blocks = {
                role: v[role][..., row : row + extent.rows, column : column + extent.columns]
                for (role, (row, column)), extent in zip(
                    self.origin.items(), (Extents(M, K), Extents(K, N)), strict=True
                )
            }
            expected = product(alg, OPERATIONS["tmatmul"], **blocks, formats=formats, choices=choices)
            yield Equation(self.stored(alg, v, choices), expected, formats["d"], label="D")

        operands = [Variable(role, formats[role], PANEL) for role in "ab"]
        nothing = [Variable(f"junk_{role}", formats[role], (1,)) for role in "ab"]
        variables = (*operands, *nothing, Variable("before", formats["d"], (1,)))
        ramp = np.arange(PANEL[0] * PANEL[1]).reshape(PANEL)
        distinct = {"a": ramp, "b": ramp + ramp.size}
        pinned = distinct if formats["a"] == formats["b"] == F16 else None
        return Property(variables, claim, pinned=pinned)


PANEL = (64, 64)
M, K, N = 20, 18, 17
HALVES = {role: ELEMENT_TYPES["f32" if role == "d" else "f16"] for role in "abd"}

ROUNDED = {"a": (32, 32), "b": (32, 32), "d": (32, 32)}
"""Tiles whose extents are m, k and n rounded up to whole blocks."""

LARGER = {"a": (48, 48), "b": (32, 48), "d": (48, 48)}
"""Tiles of any larger extent."""


def pipeline(
    profile: Profile,
    extents: Mapping[str, tuple[int, int]],
    compact: str = "",
    panels: tuple[Order, Order] = (Order.COL_MAJOR, Order.ROW_MAJOR),
    types: Mapping[str, ElementType] = HALVES,
) -> Pipeline:
    """Return the pipeline of tiles of the given extents, compact where `compact` has their letter."""
    used = operand_extents(M, K, N)
    tiles = {
        role: alias(
            profile, ROLE_LOCATIONS[role], types[role], extents[role], used[role],
            Compact.NORMAL if role in compact else Compact.NULL,
        )
        for role in "abd"
    }  # fmt: skip
    return Pipeline(profile, tiles, panels, types)


def types_of(profile: Profile) -> dict[str, dict[str, ElementType]]:
    """Return the types of A, B and D that a profile multiplies, where their formats are known."""
    found = {}
    for triple in triples(profile, OPERATIONS["tmatmul"]):
        for a in triple.factors:
            for b in triple.factors:
                types = {"a": a, "b": b, "d": triple.accumulator}
                if all(element.format is not None for element in types.values()):
                    found["-".join(str(element.format) for element in types.values())] = types
    return found


def rounded_extents(types: Mapping[str, ElementType]) -> dict[str, tuple[int, int]]:
    """Return m, k and n rounded up to whole blocks of types."""
    extents = {}
    for role, used in operand_extents(M, K, N).items():
        if role in types:
            rows, columns = alias(A5, ROLE_LOCATIONS[role], types[role], PANEL).box
            extents[role] = (rounded_up(used[0], rows), rounded_up(used[1], columns))
    return extents


@theorem(
    "pto/transport/pipeline",
    "tload, textract, tmatmul and tstore executed on tiles of 20 x 18 x 17 compute the product, in all types",
    "memory[i, j] = f(A[i0 + i, t0 .. t0 + k), B[t0 .. t0 + k, j0 + j]) for i < m, j < n, executed on "
    "buffers, whatever f is: m, k, n of 20, 18, 17 from panels of 64 x 64; other sizes are pto/pitch and "
    "pto/transport/sees-block",
    SOURCE,
)
def executed() -> Iterator[Case]:
    """Yield tiles that meet the pitch conditions, compact ones, and mixtures, which fail on the NPU."""
    for profile in (A2A3, A5, CPU):
        yield _variant(f"{profile}/rounded", pipeline(profile, ROUNDED))
        yield _variant(f"{profile}/compact", pipeline(profile, LARGER, "abd"))
        swapped = (Order.ROW_MAJOR, Order.COL_MAJOR)
        yield _variant(f"{profile}/transposed", pipeline(profile, LARGER, "abd", swapped))
    yield _variant("CPU/larger", pipeline(CPU, LARGER))
    for profile in (A2A3, A5):
        for name, types in types_of(profile).items():
            of_types = pipeline(profile, rounded_extents(types), types=types)
            yield _variant(f"{profile}/types/{name}", of_types)
        for role, others in (("a", "bd"), ("b", "ad"), ("d", "ab")):
            yield _variant(f"{profile}/{role}-not-compact", pipeline(profile, LARGER, others), Status.REFUTED)


EXECUTED_AS = "every accumulation, k-tail=valid, unit-pitches=derived"


def _variant(name: str, of: Pipeline, expect: Status = Status.PROVED) -> Case:
    return Case(name, of.goal, expect, method=Method.STRUCTURAL, choices=EXECUTED_AS)


@theorem(
    "pto/transport/load-store",
    "tstore is the inverse of tload, executed on three regions of tiles of each type of 8 bits or more",
    "memory → tile → memory is the identity on the valid region, and nothing else is written, for regions "
    "of one element, of a part and of all of 64 x 64",
    SOURCE,
)
def load_store() -> Iterator[Case]:
    """Yield Nz, Zn and ND tiles that are partly valid, of every profile."""
    orders = {
        "ND": (Order.ROW_MAJOR, Order.NONE_BOX),
        "Nz": (Order.COL_MAJOR, Order.ROW_MAJOR),
        "Zn": (Order.ROW_MAJOR, Order.COL_MAJOR),
    }
    for profile in (A2A3, A5, CPU):
        for name, (blocks, inner) in orders.items():
            tile = alias(profile, Location.MAT, ELEMENT_TYPES["f16"], (32, 48), (20, 35))
            tile = replace(tile, blocks=blocks, inner=inner)
            yield Case(f"{profile}/{name}", partial(_load_store, profile, tile), method=Method.STRUCTURAL)
    for profile in (A2A3, A5, CPU):
        for name, (blocks, inner) in orders.items():
            for element in ELEMENT_TYPES.values():
                if element.format is None or element.bits < 8:
                    continue
                tiles = [alias(profile, Location.MAT, element, (64, 64), used) for used in VALID]
                ordered = [replace(tile, blocks=blocks, inner=inner) for tile in tiles]
                goal = partial(_load_store, profile, *ordered)
                yield Case(f"{profile}/{name}/{element.format}", goal, method=Method.STRUCTURAL)


VALID = ((1, 1), (31, 33), (64, 64))
"""Valid regions: one element, a part, and all."""


def _load_store(profile: Profile, *tiles: Tile) -> Property:
    fmt, choices = tiles[0].element.format, choices_of(profile)
    assert fmt is not None
    junk = Variable("junk", fmt, (1,))
    regions = [Extents(tile.valid_rows, tile.valid_columns) for tile in tiles]
    most = max(valid.rows * valid.columns for valid in regions)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for tile, valid in zip(tiles, regions, strict=True):
            view, elements = contiguous(*valid), valid.rows * valid.columns
            memory, other = v["memory"][..., :elements], v["junk"]
            before = np.broadcast_to(other, (*other.shape[:-1], tile.rows * tile.columns))
            loaded = movers.load(alg, profile, view, memory, tile, fmt, before, valid, choices)
            target = np.broadcast_to(other, (*other.shape[:-1], elements + 1))
            stored = movers.store(
                alg, OPERATIONS["tstore"], profile, tile, (fmt, fmt), loaded, valid, view, target, choices
            )
            yield Equation(stored[..., :-1], memory, fmt, label=f"memory, {valid.rows} x {valid.columns}")
            yield Equation(stored[..., -1:], other, fmt, label="beyond the view")

    return Property((Variable("memory", fmt, (most,)), junk), claim)


THEOREMS = (sees_block, origin, executed, load_store)
