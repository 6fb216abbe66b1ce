"""A missing output names the blocks and warps that should have written it, where a pattern tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from mmaproof.refinement.examine.absent_writers import should_write
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.verification import verify

THREADS = 128
Owner = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]

PLACEMENTS: dict[str, tuple[tuple[int, int], tuple[int, int, int], Owner, Owner]] = {
    "warps side by side": (
        (64, 48),
        (3, 2, 1),
        lambda i, j: i // 32 * 3 + j // 16,
        lambda i, j: i % 32 // 16 + j % 16 // 8 * 2,
    ),
    "one number for all blocks": (
        (64, 48),
        (6, 1, 1),
        lambda i, j: i // 32 * 3 + j // 16,
        lambda i, j: (i >> 4 & 1) + ((j >> 3 ^ i >> 2) & 1) * 2,
    ),
    "warps one below another": ((96, 32), (2, 1, 1), lambda i, j: j // 16, lambda i, j: i // 24),
    "ragged edges": ((61, 45), (3, 2, 1), lambda i, j: i // 32 * 3 + j // 16, lambda i, j: i % 32 // 8),
}
"""Shape of an output, grid, and the block and warp of each element."""


def stored(name: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return who stores each element, its block and its warp."""
    shape, _, block, warp = PLACEMENTS[name]
    i, j = (index.reshape(-1).astype(np.int64) for index in np.indices(shape))
    blocks, warps = block(i, j), warp(i, j)
    return blocks * THREADS + warps * 32 + (i + j) % 32, blocks, warps


def told(name: str, lost: NDArray[np.bool_], grid: tuple[int, int, int] | None = None) -> str:
    shape, whole, _, _ = PLACEMENTS[name]
    writers = np.where(lost, -1, stored(name)[0])
    return should_write(shape, writers, np.flatnonzero(lost), grid or whole, THREADS)


@pytest.mark.parametrize("name", PLACEMENTS)
@pytest.mark.parametrize("warp", range(4))
def test_a_warp_whose_store_is_dropped(name: str, warp: int) -> None:
    _, blocks, warps = stored(name)
    pattern = "by the pattern of the written elements, warp"
    everywhere = f"{pattern} {warp} of each block should write them"
    assert told(name, warps == warp) in (
        everywhere,
        f"warp {warp} of each block is the only warp that writes nothing",
    )
    one = told(name, (warps == warp) & (blocks == 1))
    assert one == f"{pattern} {warp} of block 1 should write them"


@pytest.mark.parametrize("name", ["warps side by side", "one number for all blocks", "ragged edges"])
def test_the_pattern_of_the_others_gives_the_last_warp(name: str) -> None:
    assert "by the pattern" in told(name, stored(name)[2] == 3)


def test_a_grid_that_is_one_block_short() -> None:
    _, blocks, _ = stored("one number for all blocks")
    assert told("one number for all blocks", blocks == 5, (5, 1, 1)) == (
        "by the pattern of the written elements, block 5, outside the grid of 5, should write them"
    )
    for name in ("warps side by side", "ragged edges"):
        _, blocks, _ = stored(name)
        shape, _, _, _ = PLACEMENTS[name]
        x, y = blocks % 3, blocks // 3
        writers = np.where(y == 1, -1, stored(name)[0])
        assert should_write(shape, writers, np.flatnonzero(y == 1), (3, 1, 1), THREADS) == ""  # one row seen
        writers = np.where(x == 2, -1, (y * 2 + x) * THREADS + stored(name)[0] % THREADS)
        assert should_write(shape, writers, np.flatnonzero(x == 2), (2, 2, 1), THREADS) == (
            "by the pattern of the written elements, block 2 and 1 more, outside the grid (2, 2, 1), "
            "should write them"
        )


@pytest.mark.parametrize("order", [(2, 0, 1, 4, 3, 5), (0, 1, 3, 2, 4, 5), (0, 1, 0, 1, 0, 1)])
def test_nothing_is_told_of_blocks_in_no_pattern(order: tuple[int, ...]) -> None:
    writers, blocks, _ = stored("one number for all blocks")
    writers = np.where(blocks == 5, -1, np.array(order)[blocks] * THREADS + writers % THREADS)
    assert should_write((64, 48), writers, np.flatnonzero(blocks == 5), (6, 1, 1), THREADS) == ""


KERNEL = """\
.version 8.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 c)
{
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %d<8>;
ld.param.u64 %d0, [a]; ld.param.u64 %d1, [c];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 128, %r0;
mul.wide.u32 %d2, %r2, 4; add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2;
ld.global.u32 %r3, [%d3]; setp.lt.u32 %p0, %r0, LIMIT;
@%p0 st.global.u32 [%d4], %r3;
ret;
}
"""
"""Each block copies 8 rows of 16 elements, a warp 2 of them."""

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = [GRID]
block = 128
[[param]]
name = "A"
type = "u32"
shape = [32, 16]
[[param]]
name = "C"
type = "u32"
shape = [32, 16]
access = "out"
[ensures]
formula = "C[i, j] = A[i, j]"
"""


@pytest.mark.parametrize(
    ("limit", "grid", "who"),
    [
        (128, 4, None),
        (96, 4, "warp 3 of each block"),
        (64, 4, "warps 2 to 3 of each block"),
        (128, 3, "block 3, outside the grid of 3,"),
    ],
)
def test_a_finding_says_who_should_have_written(
    limit: int, grid: int, who: str | None, tmp_path: Path
) -> None:
    kernel, contract = tmp_path / "k.ptx", tmp_path / "k.toml"
    kernel.write_text(KERNEL.replace("LIMIT", str(limit)), encoding="utf-8")
    contract.write_text(CONTRACT.replace("GRID", str(grid)), encoding="utf-8")
    found = [
        finding for finding in verify(kernel, contract).result.findings if finding.kind is Kind.MISSING_OUTPUT
    ]
    assert len(found) == (who is not None)
    for each in found:
        assert each.message.endswith(f"; by the pattern of the written elements, {who} should write them")
