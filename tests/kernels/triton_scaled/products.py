"""Matrix products in Triton whose operands are scaled, packed or split: the kernels of this corpus.

``compile.py`` compiles them at several formats and tiles.
"""

import triton
import triton.language as tl


@triton.jit
def block_scaled(
    a_pointer,
    b_pointer,
    a_scales,
    b_scales,
    c_pointer,
    k_size,
    stride_am,
    stride_bn,
    stride_as,
    stride_bs,
    stride_cm,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
    PACKED: tl.constexpr,
    GROUP: tl.constexpr,
    FORMAT: tl.constexpr,
):
    """C[i, j] = sum(k, A[i, k] * SA[i, k // GROUP] * B[j, k] * SB[j, k // GROUP])."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K // PACKED)
    groups = tl.arange(0, TILE_K // GROUP)
    a_tile = a_pointer + rows[:, None] * stride_am + inner[None, :]
    b_tile = b_pointer + columns[None, :] * stride_bn + inner[:, None]
    a_scale = a_scales + rows[:, None] * stride_as + groups[None, :]
    b_scale = b_scales + columns[:, None] * stride_bs + groups[None, :]
    accumulator = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(k_size, TILE_K)):
        a = tl.load(a_tile)
        b = tl.load(b_tile)
        accumulator = tl.dot_scaled(a, tl.load(a_scale), FORMAT, b, tl.load(b_scale), FORMAT, accumulator)
        a_tile += TILE_K // PACKED
        b_tile += TILE_K // PACKED
        a_scale += TILE_K // GROUP
        b_scale += TILE_K // GROUP
    tl.store(c_pointer + rows[:, None] * stride_cm + columns[None, :], accumulator)


@triton.jit
def dequantised(
    a_pointer,
    b_pointer,
    scales,
    c_pointer,
    k_size,
    stride_am,
    stride_bn,
    stride_s,
    stride_cm,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    """C[i, j] = sum(k, A[i, k] * f16((B[j, k] - 8) * S[k // GROUP, j])), two of B in a byte."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    accumulator = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(k_size, TILE_K)):
        k = step * TILE_K + inner
        a = tl.load(a_pointer + rows[:, None] * stride_am + k[None, :])
        packed = tl.load(b_pointer + columns[None, :] * stride_bn + (k // 2)[:, None])
        nibble = (packed >> ((k % 2) * 4)[:, None].to(tl.uint8)) & 0xF
        scale = tl.load(scales + (k // GROUP)[:, None] * stride_s + columns[None, :])
        b = (nibble.to(tl.int8).to(tl.float16) - 8.0) * scale
        accumulator = tl.dot(a, b, accumulator)
    tl.store(c_pointer + rows[:, None] * stride_cm + columns[None, :], accumulator)


@triton.jit
def split_tf32(
    a_pointer,
    b_pointer,
    c_pointer,
    k_size,
    stride_am,
    stride_bk,
    stride_cm,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
):
    """C[i, j] = sum(k, A[i, k] * B[k, j]), each operand split into two of tf32."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    a_tile = a_pointer + rows[:, None] * stride_am + inner[None, :]
    b_tile = b_pointer + inner[:, None] * stride_bk + columns[None, :]
    accumulator = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for _ in range(0, tl.cdiv(k_size, TILE_K)):
        accumulator = tl.dot(tl.load(a_tile), tl.load(b_tile), accumulator, input_precision="tf32x3")
        a_tile += TILE_K
        b_tile += TILE_K * stride_bk
    tl.store(c_pointer + rows[:, None] * stride_cm + columns[None, :], accumulator)
