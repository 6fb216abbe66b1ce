"""Kernels for Blackwell: by pointers, by tensor maps with warps of roles, scaled in blocks, attention."""

import triton
import triton.language as tl


@triton.jit
def by_pointers(
    a, b, c, m_size, n_size, k_size, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for k in range(0, k_size, TILE_K):
        left = (rows[:, None] < m_size) & ((k + inner)[None, :] < k_size)
        a_tile = tl.load(a + rows[:, None] * k_size + (k + inner)[None, :], mask=left, other=0.0)
        b_tile = tl.load(
            b + (k + inner)[:, None] * n_size + columns[None, :],
            mask=(k + inner)[:, None] < k_size,
            other=0.0,
        )
        total = tl.dot(a_tile, b_tile, total)
    tl.store(c + rows[:, None] * n_size + columns[None, :], total, mask=rows[:, None] < m_size)


@triton.jit
def by_roles(a, b, c, k_size, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    row = tl.program_id(0) * TILE_M
    column = tl.program_id(1) * TILE_N
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for k in tl.range(0, k_size, TILE_K, warp_specialize=True):
        total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
    c.store([row, column], total.to(tl.float16))


@triton.jit
def persistent(
    a, b, c, m_size, n_size, k_size, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    m_tiles = tl.cdiv(m_size, TILE_M)
    tiles = m_tiles * tl.cdiv(n_size, TILE_N)
    for tile in tl.range(tl.program_id(0), tiles, tl.num_programs(0), flatten=True, warp_specialize=True):
        row = tile % m_tiles * TILE_M
        column = tile // m_tiles * TILE_N
        total = tl.zeros((TILE_M, TILE_N), tl.float32)
        for k in range(0, k_size, TILE_K):
            total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
        c.store([row, column], total.to(tl.float16))


@triton.jit
def scaled(a, a_scale, b, b_scale, c, TILE_M: tl.constexpr, TILE_N: tl.constexpr, K: tl.constexpr):
    rows = tl.arange(0, TILE_M)
    columns = tl.arange(0, TILE_N)
    inner = tl.arange(0, K // 2)
    groups = tl.arange(0, K // 16)
    a_tile = tl.load(a + rows[:, None] * (K // 2) + inner[None, :])
    b_tile = tl.load(b + inner[:, None] + columns[None, :] * (K // 2))
    a_scales = tl.load(a_scale + rows[:, None] * (K // 16) + groups[None, :])
    b_scales = tl.load(b_scale + columns[:, None] * (K // 16) + groups[None, :])
    total = tl.dot_scaled(a_tile, a_scales, "e2m1", b_tile, b_scales, "e2m1")
    tl.store(c + rows[:, None] * TILE_N + columns[None, :], total)


@triton.jit
def attention(q, k, v, o, n_size, scale, D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    inner = tl.arange(0, D)
    q_tile = tl.load(q + rows[:, None] * D + inner[None, :])
    most = tl.full([TILE_M], float("-inf"), tl.float32)
    weight = tl.zeros([TILE_M], tl.float32)
    total = tl.zeros([TILE_M, D], tl.float32)
    for start in range(0, n_size, TILE_N):
        columns = start + tl.arange(0, TILE_N)
        k_tile = tl.load(k + columns[:, None] * D + inner[None, :])
        v_tile = tl.load(v + columns[:, None] * D + inner[None, :])
        scores = tl.dot(q_tile, tl.trans(k_tile)) * scale
        higher = tl.maximum(most, tl.max(scores, 1))
        p = tl.math.exp2(scores - higher[:, None])
        less = tl.math.exp2(most - higher)
        weight = weight * less + tl.sum(p, 1)
        total = tl.dot(p.to(tl.float16), v_tile, total * less[:, None])
        most = higher
    tl.store(o + rows[:, None] * D + inner[None, :], total / weight[:, None])
