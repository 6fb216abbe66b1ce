"""Matrix products in Triton: the kernels of this corpus, all made from one source.

``generate.py`` compiles it at many types, tiles, pipelines and targets, and again with single faults seeded.
"""

import triton
import triton.language as tl


@triton.jit
def gemm(
    a_pointer,
    b_pointer,
    c_pointer,
    bias_pointer,
    m_size,
    n_size,
    k_size,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
    GROUP: tl.constexpr,
    ACCUMULATOR: tl.constexpr,
    RAGGED: tl.constexpr,
    BIAS: tl.constexpr,
):
    """C[i, j] = sum(k, A[i, k] * B[k, j]) + bias[j], a tile of C a program, GROUP rows of tiles at a time."""
    program = tl.program_id(0)
    tiles_m = tl.cdiv(m_size, TILE_M)
    tiles_n = tl.cdiv(n_size, TILE_N)
    first = program // (GROUP * tiles_n) * GROUP
    rows_of_tiles = min(tiles_m - first, GROUP)
    tile_m = first + program % (GROUP * tiles_n) % rows_of_tiles
    tile_n = program % (GROUP * tiles_n) // rows_of_tiles

    rows = tile_m * TILE_M + tl.arange(0, TILE_M)
    columns = tile_n * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    a_tile = a_pointer + rows[:, None] * stride_am + inner[None, :] * stride_ak
    b_tile = b_pointer + inner[:, None] * stride_bk + columns[None, :] * stride_bn

    accumulator = tl.zeros((TILE_M, TILE_N), dtype=ACCUMULATOR)
    for step in range(0, tl.cdiv(k_size, TILE_K)):
        if RAGGED:
            left = k_size - step * TILE_K
            a = tl.load(a_tile, mask=(rows[:, None] < m_size) & (inner[None, :] < left), other=0)
            b = tl.load(b_tile, mask=(inner[:, None] < left) & (columns[None, :] < n_size), other=0)
        else:
            a = tl.load(a_tile)
            b = tl.load(b_tile)
        accumulator = tl.dot(a, b, accumulator, out_dtype=ACCUMULATOR, input_precision="tf32")
        a_tile += TILE_K * stride_ak
        b_tile += TILE_K * stride_bk

    if BIAS:
        bias = tl.load(bias_pointer + columns, mask=columns < n_size, other=0)
        accumulator += bias.to(ACCUMULATOR)[None, :]
    c_tile = c_pointer + rows[:, None] * stride_cm + columns[None, :] * stride_cn
    c = accumulator.to(c_pointer.dtype.element_ty)
    if RAGGED:
        tl.store(c_tile, c, mask=(rows[:, None] < m_size) & (columns[None, :] < n_size))
    else:
        tl.store(c_tile, c)
