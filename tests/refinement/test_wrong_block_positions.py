"""What is said of the block that stands for all is not trusted: where it is wrong, the proof fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from quantified_kernels import SIMT, TRITON, of_triton, prove_blocks, stated

from mmaproof.refinement.ptx.any_size import block_launch, block_proofs, size_induction
from mmaproof.refinement.sizes.block_positions import BlockOrder, BlockPosition, Form, sum_of
from mmaproof.refinement.sizes.integer_forms import Rows
from mmaproof.spec.errors import UnsupportedError

DOMAIN = "any multiple of"
SIXTEENS = "any multiple of 16 up to 4096"
Change = Callable[[BlockPosition], BlockPosition]


def twice(form: Form) -> Form:
    return {names: 2 * factor for names, factor in form.items()}


def with_indices(change: Callable[[Mapping[int, Form]], Mapping[int, Form]]) -> Change:
    return lambda position: replace(position, indices=change(position.indices))


def with_blocks(change: Callable[[Form], Form]) -> Change:
    """Change at which tile of each size the block is said to be, and not which block it is."""

    def changed(position: BlockPosition) -> BlockPosition:
        several = tuple(replace(each, block=change(each.block)) for each in position.positions)
        return replace(position, positions=several)

    return changed


POSITIONS: Mapping[str, Change] = {
    "a wrong coefficient": with_indices(lambda of: {axis: twice(form) for axis, form in of.items()}),
    "no index along x": with_indices(lambda of: {**of, 0: {}}),
    "no index along y": with_indices(lambda of: {**of, 1: {}}),
    "indices exchanged": with_indices(lambda of: {0: of[1], 1: of[0]}),
    "both of one size": with_indices(lambda of: {0: of[0], 1: of[0]}),
    "the next block": with_indices(lambda of: {**of, 0: sum_of(of[0], {(): 1})}),
    "a tile of twice the block": with_blocks(twice),
    "all blocks at the first tile": with_blocks(lambda form: {}),
    "one block too few": lambda position: replace(
        position, extents={axis: sum_of(form, {(): -1}) for axis, form in position.extents.items()}
    ),
    "grids exchanged": lambda position: replace(
        position, extents={0: position.extents[1], 1: position.extents[0]}
    ),
}


def changed_positions(monkeypatch: pytest.MonkeyPatch, change: Change) -> list[BlockPosition]:
    """Change all positions that are run, and return those that were."""
    original, met = BlockOrder.numbered, []

    def numbered(order: BlockOrder, chosen: Any) -> BlockPosition:
        met.append(change(original(order, chosen)))
        return met[-1]

    monkeypatch.setattr(BlockOrder, "numbered", numbered)
    return met


@pytest.mark.parametrize("name", POSITIONS)
def test_wrong_positions_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    met = changed_positions(monkeypatch, POSITIONS[name])
    with pytest.raises(UnsupportedError):
        prove_blocks(SIMT, stated(SIMT, SIXTEENS, SIXTEENS, 16))
    assert met


def test_positions_that_are_not_changed_are_not_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    met = changed_positions(monkeypatch, lambda position: position)
    assert prove_blocks(SIMT, stated(SIMT, SIXTEENS, SIXTEENS, 16)).domains and met


@pytest.mark.parametrize("tile", [8, 32])
def test_tiles_that_overlap_or_leave_gaps_are_refused(tile: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_proofs, "tile_of", lambda node, name: tile)
    with pytest.raises(UnsupportedError):
        prove_blocks(SIMT, stated(SIMT, f"{DOMAIN} 32", f"{DOMAIN} 32", 16))


GROUPED: Mapping[str, Change] = {
    "no place in a group": with_blocks(
        lambda form: {names: factor for names, factor in form.items() if names != ("place of M",)}
    ),
}


@pytest.mark.parametrize("name", GROUPED)
def test_wrong_orders_of_blocks_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    met = changed_positions(monkeypatch, GROUPED[name])
    with pytest.raises(UnsupportedError):
        text = of_triton(TRITON.name, "any multiple of 32 up to 4096", "any multiple of 64 up to 4096", 32)
        prove_blocks(TRITON, text)
    assert met


BEGINS: Mapping[str, Callable[[Mapping[str, Rows]], Mapping[str, Rows]]] = {
    "rows by twice the tile": lambda of: {**of, "M": 2 * of["M"]},
    "columns not moved": lambda of: {**of, "N": 0 * of["N"]},
    "half a tile": lambda of: {size: row // 2 for size, row in of.items()},
    "axes exchanged": lambda of: {"M": of["N"], "N": of["M"]},
}
"""What is wrong of where a tile begins."""


SUMS: Mapping[str, Callable[[int], int]] = {
    "twice as far": lambda length: 2 * length,
    "one behind": lambda length: length + 1,
    "always the first": lambda length: 0,
}
"""What is wrong of where the terms of a turn of the loop begin."""


@pytest.mark.sweep
@pytest.mark.parametrize("name", SUMS)
def test_terms_of_other_turns_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = size_induction.formula_terms

    def changed(launch: Any, instance: Any, output: str, begins: Mapping[str, Rows], *rest: Any) -> Any:
        other = {index: np.array([*map(SUMS[name], row.tolist())]) for index, row in begins.items()}
        return original(launch, instance, output, other, *rest)

    monkeypatch.setattr(size_induction, "formula_terms", changed)
    with pytest.raises(UnsupportedError):
        prove_blocks(SIMT, stated(SIMT, SIXTEENS, SIXTEENS, SIXTEENS), "K")


@pytest.mark.sweep
@pytest.mark.parametrize("name", BEGINS)
def test_tiles_that_begin_elsewhere_are_refused_by_induction(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = block_launch.BlockLaunch._begins
    monkeypatch.setattr(block_launch.BlockLaunch, "_begins", lambda launch: BEGINS[name](original(launch)))
    with pytest.raises(UnsupportedError):
        prove_blocks(SIMT, stated(SIMT, SIXTEENS, SIXTEENS, SIXTEENS), "K")


@pytest.mark.parametrize("name", BEGINS)
def test_tiles_that_begin_elsewhere_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = block_launch.BlockLaunch._begins

    def begins(launch: block_launch.BlockLaunch) -> Mapping[str, Rows]:
        return BEGINS[name](original(launch))

    monkeypatch.setattr(block_launch.BlockLaunch, "_begins", begins)
    with pytest.raises(UnsupportedError):
        prove_blocks(SIMT, stated(SIMT, SIXTEENS, SIXTEENS, 16))
