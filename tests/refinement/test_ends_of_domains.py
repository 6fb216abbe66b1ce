"""Sizes at the ends of the domains for which kernels are shown, looked at by a walk over their addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from address_walk import Walk, Walker
from edited_kernels import edited
from quantified_kernels import RAGGED, SIMT, TRITON, of_triton, prove_blocks, stated

BASES = {"A": 1 << 40, "B": 2 << 40, "C": 3 << 40}


@dataclass(frozen=True)
class Case:
    """A kernel, and what its contract says of it.

    Attributes
    ----------
    path : Path
        The kernel.
    prefix : str
        Of its parameters' names.
    names : tuple of str
        What is passed: arrays, sizes, or nothing that addresses depend on.
    block : (int, int)
        Threads along x and y.
    tile, bytes : tuple of int, dict of str to int
        Rows and columns of C, and bytes of an element of each array.
    steps : (int, int, int)
        What M, N, K are multiples of.
    group : int
        Rows of tiles that blocks are numbered in; 0 where the grid has an axis for each size.
    """

    path: Path
    prefix: str
    names: tuple[str, ...]
    block: tuple[int, int]
    tile: tuple[int, int]
    bytes: dict[str, int]
    steps: tuple[int, int, int]
    group: int


CUDA = Case(
    SIMT, "simt_f32_param_", ("A", "B", "C", "M", "N", "K", "", ""), (16, 16), (16, 16),
    {"A": 4, "B": 4, "C": 4}, (16, 16, 16), 0,
)  # fmt: skip
GROUPED = Case(
    TRITON, "gemm_param_", ("A", "B", "C", "M", "N", "K", "K", "N", "N"), (128, 1), (32, 64),
    {"A": 2, "B": 2, "C": 2}, (32, 64, 32), 2,
)  # fmt: skip
MASKED = Case(
    RAGGED, "gemm_param_", ("A", "B", "C", "M", "N", "K", "K", "N", "N"), (128, 1), (32, 32),
    {"A": 2, "B": 2, "C": 4}, (1, 32, 32), 2,
)  # fmt: skip


def blocks_of_grid(case: Case, tiles: tuple[int, int], row: int, column: int) -> dict[str, int]:
    """Return the indices of the block that is to compute a tile."""
    if not case.group:
        return {"%ctaid.x": column, "%ctaid.y": row}
    first = row // case.group * case.group
    rows = min(tiles[0] - first, case.group)
    return {"%ctaid.x": first * tiles[1] + column * rows + row - first, "%ctaid.y": 0}


def walks(case: Case, sizes: dict[str, int], row: int, column: int) -> Iterator[Walk]:
    """Yield what each thread of the block of a tile does."""
    walker = Walker(case.path.read_text(encoding="utf-8"))
    tiles = -(-sizes["M"] // case.tile[0]), -(-sizes["N"] // case.tile[1])
    block = blocks_of_grid(case, tiles, row, column)
    values = {**BASES, **sizes}
    parameters = {f"{case.prefix}{place}": values[name] for place, name in enumerate(case.names) if name}
    for y in range(case.block[1]):
        for x in range(case.block[0]):
            yield walker.walk({**block, "%tid.x": x, "%tid.y": y}, parameters)


def elements(case: Case, name: str, accesses: list[tuple[int, int]]) -> set[int]:
    """Return the elements of an array that are accessed, by their linear indices."""
    size = case.bytes[name]
    begun = [(address - BASES[name], count) for address, count in accesses]
    own = [(at, count) for at, count in begun if abs(at) < 1 << 39]
    assert not any(at % size or count % size for at, count in own)
    return {at // size + more for at, count in own for more in range(count // size)}


def check_tile(case: Case, sizes: dict[str, int], row: int, column: int) -> None:
    """Check that a block stores its tile of C, once each, and loads what it is made of, and nothing else."""
    m, n, k = (sizes[name] for name in "MNK")
    rows = range(row * case.tile[0], min((row + 1) * case.tile[0], m))
    columns = range(column * case.tile[1], min((column + 1) * case.tile[1], n))
    found = list(walks(case, sizes, row, column))
    stores = [store for walk in found for store in walk.stores]
    loads = [load for walk in found for load in walk.loads]
    wanted = {i * n + j for i in rows for j in columns}
    assert elements(case, "C", stores) == wanted
    assert sum(count for _, count in stores) == case.bytes["C"] * len(wanted)
    assert elements(case, "A", loads) == {i * k + q for i in rows for q in range(k)}
    assert elements(case, "B", loads) == {q * n + j for q in range(k) for j in columns}
    assert elements(case, "C", loads) <= wanted


def ends(case: Case, depth: int) -> dict[str, int]:
    """Return the largest sizes for which a kernel is shown."""
    rows, columns, _ = (f"any multiple of {step}" if step > 1 else "any" for step in case.steps)
    text = (
        stated(case.path, rows, columns, depth)
        if not case.group
        else of_triton(case.path.name, rows, columns, depth)
    )
    return {"K": depth} | {domain.name: domain.most for domain in prove_blocks(case.path, text).domains}


Chosen = Callable[[int, int], tuple[int, int]]
PLACES: dict[str, Chosen] = {
    "the first": lambda rows, columns: (0, 0),
    "the last": lambda rows, columns: (rows - 1, columns - 1),
    "of the last row, the first": lambda rows, columns: (rows - 1, 0),
    "of the first row, the last": lambda rows, columns: (0, columns - 1),
    "one in the middle": lambda rows, columns: (min(rows // 2 + 1, rows - 1), columns // 3),
}


def test_the_last_block_stores_its_tile_where_a_domain_ends() -> None:
    sizes = ends(CUDA, 16)
    check_tile(CUDA, sizes, -(-sizes["M"] // 16) - 1, -(-sizes["N"] // 16) - 1)


@pytest.mark.sweep
@pytest.mark.parametrize("case", [CUDA, GROUPED, MASKED], ids=lambda each: each.path.stem)
def test_blocks_store_their_tiles_at_the_ends_of_domains(case: Case) -> None:
    sizes = ends(case, 2 * case.steps[2])
    for m, n in ((sizes["M"], sizes["N"]), (sizes["M"], case.steps[1]), (case.steps[0], sizes["N"])):
        tiles = -(-m // case.tile[0]), -(-n // case.tile[1])
        for place in PLACES.values():
            check_tile(case, {**sizes, "M": m, "N": n}, *place(*tiles))


def test_the_walk_sees_an_index_that_overflows() -> None:
    with pytest.raises(AssertionError):
        check_tile(CUDA, {"M": 65536, "N": 65536, "K": 16}, 4095, 4095)


ROW = "add.s32 \t%r2, %r24, %r35;"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "change",
    [
        (ROW, ROW + "\nand.b32 %r2, %r2, 1023;"),
        ("mad.lo.s32 \t%r32, %r22, %r2, %r37;", "mad.lo.s32 %r32, %r22, %r35, %r37;"),
        ("$L__BB0_7:\n", "$L__BB0_7:\nadd.s32 %r5, %r5, 16;\n"),
    ],
)
def test_the_walk_sees_faults(change: tuple[str, str], tmp_path: Path) -> None:
    faulty = replace(CUDA, path=edited(tmp_path, SIMT, change))
    with pytest.raises(AssertionError):
        check_tile(faulty, {"M": 2048, "N": 64, "K": 16}, 100, 2)
