"""Vector instructions that depend on each other, with and without a barrier of their pipe."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pto_kernels import verified

TILE = "!pto.tile_buf<vec, 16x16xf32>"
PART = "!pto.partition_tensor_view<16x16xf32>"
KERNEL = f"""
module attributes {{pto.target_arch = "ARCH"}} {{
  func.func @k(%yp: !pto.ptr<f32>, %xp: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %xv = pto.make_tensor_view %xp, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %yv = pto.make_tensor_view %yp, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32>
      -> {PART}
    %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32>
      -> {PART}
    %x = pto.alloc_tile : {TILE}
    %t = pto.alloc_tile : {TILE}
    %y = pto.alloc_tile : {TILE}
    pto.tload ins(%xw : {PART}) outs(%x : {TILE})
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%t : {TILE})
    BETWEEN
    pto.tadd ins(%t, %x : {TILE}, {TILE}) outs(%y : {TILE})
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%y : {TILE}) outs(%yw : {PART})
    return
  }}
}}
"""
CONTRACT = """
[kernel]
isa = "pto"

[[param]]
name = "y"
type = "f32"
shape = [16, 16]
access = "out"

[[param]]
name = "x"
type = "f32"
shape = [16, 16]

[ensures]
formula = "y[i, j] = 3 * x[i, j]"
"""
BACK = "".join(
    f"pto.{name}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID1>]\n"
    for source, target in (("V", "MTE2"), ("MTE2", "V"))
    for name in ("set", "wait")
)


@pytest.mark.parametrize(
    ("arch", "between", "assumed"),
    [
        ("a3", "", True),
        ("a5", "", False),
        ("a3", "pto.barrier <PIPE_V>", False),
        ("a3", "pto.barrier <PIPE_MTE2>", True),
        ("a3", "pto.barrier <PIPE_ALL>", False),
        ("a3", BACK, False),
    ],
)
def test_that_vector_instructions_wait_for_each_other_is_assumed(
    arch: str, between: str, assumed: bool, tmp_path: Path
) -> None:
    found = verified(tmp_path, KERNEL.replace("ARCH", arch).replace("BETWEEN", between), CONTRACT).result
    assert found.verdict == "verified"
    assert any("PIPE_V" in assumption for assumption in found.assumptions) is assumed
