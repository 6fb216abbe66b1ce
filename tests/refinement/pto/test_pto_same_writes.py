"""Blocks that write the same elements: no race where they write the same numbers, such as at a ragged end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pto_kernels import verified

TILE = "!pto.tile_buf<vec, 1x16xf32>"
PART = "!pto.partition_tensor_view<1x16xf32>"
VIEW = "shape = [%c1, %c40], strides = [%c40, %c1] : !pto.tensor_view<?x?xf32>"
BLOCK = f"offsets = [%c0, %at], sizes = [%c1, %c16] : !pto.tensor_view<?x?xf32> -> {PART}"
STORE = f"pto.tstore ins(%x : {TILE}) outs(%yw : {PART})"
TWICE = f"pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%x : {TILE})"
KERNEL = f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%yp: !pto.ptr<f32>, %xp: !pto.ptr<f32>, %block: index) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %c40 = arith.constant 40 : index
    %from = arith.muli %block, %c16 : index
    %at = arith.minsi %from, %c24 : index
    %xv = pto.make_tensor_view %xp, {VIEW}
    %yv = pto.make_tensor_view %yp, {VIEW}
    %xw = pto.partition_view %xv, {BLOCK}
    %yw = pto.partition_view %yv, {BLOCK}
    %x = pto.alloc_tile : {TILE}
    pto.tload ins(%xw : {PART}) outs(%x : {TILE})
    {TWICE}
    {STORE}
    return
  }}
}}
"""
CONTRACT = """
[kernel]
isa = "pto"

[launch]
grid = 3

[[param]]
name = "y"
type = "f32"
shape = [40]
access = "out"

[[param]]
name = "x"
type = "f32"
shape = [40]

[[param]]
name = "block"
type = "s64"
value = "block"

[ensures]
formula = "y[i] = 2 * x[i]"
"""
AGAIN = f"pto.tload ins(%yw : {PART}) outs(%x : {TILE})"


@pytest.mark.parametrize(
    ("stores", "verdict"),
    [
        (STORE, "verified"),
        (f"{STORE}\n{STORE}", "verified"),
        (f"{STORE}\n{AGAIN}\n{STORE}", "refuted"),
        (f"{STORE}\n{TWICE}\n{STORE}", "refuted"),
    ],
)
def test_blocks_that_write_the_same(stores: str, verdict: str, tmp_path: Path) -> None:
    assert verified(tmp_path, KERNEL.replace(STORE, stores), CONTRACT).result.verdict == verdict
