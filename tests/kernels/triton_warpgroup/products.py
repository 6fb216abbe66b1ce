"""Products for Hopper: by pointers, by tensor maps of the caller, and by maps that the kernel makes."""

import triton
import triton.language as tl


@triton.jit
def by_pointers(
    a, b, c, m_size, n_size, k_size, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    columns = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    inner = tl.arange(0, TILE_K)
    a_tile = a + rows[:, None] * k_size + inner[None, :]
    b_tile = b + inner[:, None] * n_size + columns[None, :]
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for _ in range(0, k_size, TILE_K):
        total = tl.dot(tl.load(a_tile), tl.load(b_tile), total)
        a_tile += TILE_K
        b_tile += TILE_K * n_size
    tl.store(c + rows[:, None] * n_size + columns[None, :], total)


@triton.jit
def by_maps(
    a, b, c, k_size, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr, ROLES: tl.constexpr
):
    row = tl.program_id(0) * TILE_M
    column = tl.program_id(1) * TILE_N
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for k in tl.range(0, k_size, TILE_K, warp_specialize=ROLES):
        total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
    c.store([row, column], total.to(tl.float16))


@triton.jit
def by_made_maps(
    a, b, c, m_size, n_size, k_size, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr
):
    row = tl.program_id(0) * TILE_M
    column = tl.program_id(1) * TILE_N
    a_map = tl.make_tensor_descriptor(a, [m_size, k_size], [k_size, 1], [TILE_M, TILE_K])
    b_map = tl.make_tensor_descriptor(b, [n_size, k_size], [k_size, 1], [TILE_N, TILE_K])
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for k in range(0, k_size, TILE_K):
        total = tl.dot(a_map.load([row, k]), b_map.load([column, k]).T, total)
    rows = row + tl.arange(0, TILE_M)
    columns = column + tl.arange(0, TILE_N)
    tl.store(c + rows[:, None] * n_size + columns[None, :], total.to(tl.float16))
