"""Attention as it is varied: masks, shared keys, biases, limits and pages; losses and gradients of rows.

``generate.py`` compiles each, and again with single faults seeded.
"""

import triton
import triton.language as tl


@triton.jit
def step(s, v, most, total, sums):
    """Take a tile of scores and values into the running maxima and sums of rows."""
    new = tl.maximum(most, tl.max(s, 1))
    p = tl.exp(s - new[:, None])
    shrink = tl.exp(most - new)
    return new, total * shrink + tl.sum(p, 1), tl.dot(p.to(v.dtype), v, sums * shrink[:, None])


@triton.jit
def masked_attention(
    q_pointer, k_pointer, v_pointer, o_pointer, n, scale, HEAD: tl.constexpr, TILE: tl.constexpr
):  # fmt: skip
    """Causal, with powers of two and a great number that is subtracted above the diagonal."""
    first = tl.program_id(0) * TILE
    rows = first + tl.arange(0, TILE)
    inner = tl.arange(0, HEAD)
    q = tl.load(q_pointer + rows[:, None] * HEAD + inner[None, :])
    most = tl.zeros([TILE], tl.float32) - float("inf")
    total = tl.zeros([TILE], tl.float32) + 1.0
    sums = tl.zeros([TILE, HEAD], tl.float32)
    factor = scale * 1.44269504
    for start in range(0, first + TILE, TILE):
        keys = start + tl.arange(0, TILE)
        k = tl.load(k_pointer + keys[None, :] * HEAD + inner[:, None])
        v = tl.load(v_pointer + keys[:, None] * HEAD + inner[None, :])
        mask = rows[:, None] >= keys[None, :]
        s = tl.dot(q, k) * factor + tl.where(mask, 0, -1.0e6)
        new = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(most - new)
        total = total * shrink + tl.sum(p, 1)
        sums = tl.dot(p.to(v.dtype), v, sums * shrink[:, None])
        most = new
    tl.store(o_pointer + rows[:, None] * HEAD + inner[None, :], sums / total[:, None])


@triton.jit
def grouped_attention(
    q_pointer, k_pointer, v_pointer, o_pointer, l_pointer, n, scale,
    HEAD: tl.constexpr, TILE: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """Causal, of several heads that share keys and values, and the logarithm of each row's sum."""
    head = tl.program_id(1)
    shared = head // GROUP * n * HEAD
    own = head * n * HEAD
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inner = tl.arange(0, HEAD)
    places = own + rows[:, None] * HEAD + inner[None, :]
    q = tl.load(q_pointer + places, mask=rows[:, None] < n, other=0.0)
    most = tl.full([TILE], -float("inf"), tl.float32)
    total = tl.zeros([TILE], tl.float32)
    sums = tl.zeros([TILE, HEAD], tl.float32)
    for start in range(0, n, TILE):
        keys = start + tl.arange(0, TILE)
        inside = keys < n
        k = tl.load(
            k_pointer + shared + keys[None, :] * HEAD + inner[:, None], mask=inside[None, :], other=0.0
        )
        v = tl.load(
            v_pointer + shared + keys[:, None] * HEAD + inner[None, :], mask=inside[:, None], other=0.0
        )
        s = tl.where((rows[:, None] >= keys[None, :]) & inside[None, :], tl.dot(q, k) * scale, -float("inf"))
        most, total, sums = step(s, v, most, total, sums)
    tl.store(o_pointer + places, sums / total[:, None], mask=rows[:, None] < n)
    tl.store(l_pointer + head * n + rows, most + tl.log(total), mask=rows < n)


@triton.jit
def window_attention(
    q_pointer, k_pointer, v_pointer, o_pointer, n, scale,
    HEAD: tl.constexpr, TILE: tl.constexpr, WINDOW: tl.constexpr,
):  # fmt: skip
    """Of the last WINDOW keys of each row; tiles before them are left out."""
    first = tl.program_id(0) * TILE
    rows = first + tl.arange(0, TILE)
    inner = tl.arange(0, HEAD)
    q = tl.load(q_pointer + rows[:, None] * HEAD + inner[None, :])
    most = tl.full([TILE], -float("inf"), tl.float32)
    total = tl.zeros([TILE], tl.float32)
    sums = tl.zeros([TILE, HEAD], tl.float32)
    for start in range(tl.maximum(0, (first - WINDOW + 1) // TILE * TILE), first + TILE, TILE):
        keys = start + tl.arange(0, TILE)
        k = tl.load(k_pointer + keys[None, :] * HEAD + inner[:, None])
        v = tl.load(v_pointer + keys[:, None] * HEAD + inner[None, :])
        distance = rows[:, None] - keys[None, :]
        s = tl.where((distance >= 0) & (distance < WINDOW), tl.dot(q, k) * scale, -1e9)
        most, total, sums = step(s, v, most, total, sums)
    tl.store(o_pointer + rows[:, None] * HEAD + inner[None, :], sums / total[:, None])


@triton.jit
def sloped_attention(
    q_pointer, k_pointer, v_pointer, a_pointer, o_pointer, n, scale, HEAD: tl.constexpr, TILE: tl.constexpr
):  # fmt: skip
    """Causal, of several heads, each with a slope by which scores fall with the distance (ALiBi)."""
    head = tl.program_id(1)
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inner = tl.arange(0, HEAD)
    base = head * n * HEAD
    slope = tl.load(a_pointer + head)
    q = tl.load(q_pointer + base + rows[:, None] * HEAD + inner[None, :])
    most = tl.full([TILE], -float("inf"), tl.float32)
    total = tl.zeros([TILE], tl.float32)
    sums = tl.zeros([TILE, HEAD], tl.float32)
    for start in range(0, n, TILE):
        keys = start + tl.arange(0, TILE)
        k = tl.load(k_pointer + base + keys[None, :] * HEAD + inner[:, None])
        v = tl.load(v_pointer + base + keys[:, None] * HEAD + inner[None, :])
        s = tl.dot(q, k) * scale - slope * (rows[:, None] - keys[None, :]).to(tl.float32)
        s = tl.where(rows[:, None] >= keys[None, :], s, -float("inf"))
        most, total, sums = step(s, v, most, total, sums)
    tl.store(o_pointer + base + rows[:, None] * HEAD + inner[None, :], sums / total[:, None])


@triton.jit
def capped_attention(
    q_pointer, k_pointer, v_pointer, o_pointer, n, scale, HEAD: tl.constexpr, TILE: tl.constexpr
):  # fmt: skip
    """Causal, of scores that tanh keeps below 30, which is written with exp."""
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inner = tl.arange(0, HEAD)
    q = tl.load(q_pointer + rows[:, None] * HEAD + inner[None, :])
    most = tl.full([TILE], -float("inf"), tl.float32)
    total = tl.zeros([TILE], tl.float32)
    sums = tl.zeros([TILE, HEAD], tl.float32)
    for start in range(0, n, TILE):
        keys = start + tl.arange(0, TILE)
        k = tl.load(k_pointer + keys[None, :] * HEAD + inner[:, None])
        v = tl.load(v_pointer + keys[:, None] * HEAD + inner[None, :])
        x = tl.dot(q, k) * scale / 30.0
        s = 30.0 * (2 * tl.sigmoid(2 * x) - 1)
        s = tl.where(rows[:, None] >= keys[None, :], s, -float("inf"))
        most, total, sums = step(s, v, most, total, sums)
    tl.store(o_pointer + rows[:, None] * HEAD + inner[None, :], sums / total[:, None])


@triton.jit
def sink_attention(
    q_pointer, k_pointer, v_pointer, z_pointer, o_pointer, n, scale, HEAD: tl.constexpr, TILE: tl.constexpr
):  # fmt: skip
    """Causal, with one more score that has no value and takes its part of each row's sum."""
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inner = tl.arange(0, HEAD)
    q = tl.load(q_pointer + rows[:, None] * HEAD + inner[None, :])
    sink = tl.load(z_pointer).to(tl.float32)
    most = tl.full([TILE], -float("inf"), tl.float32)
    total = tl.zeros([TILE], tl.float32)
    sums = tl.zeros([TILE, HEAD], tl.float32)
    for start in range(0, n, TILE):
        keys = start + tl.arange(0, TILE)
        k = tl.load(k_pointer + keys[None, :] * HEAD + inner[:, None])
        v = tl.load(v_pointer + keys[:, None] * HEAD + inner[None, :])
        s = tl.where(rows[:, None] >= keys[None, :], tl.dot(q, k) * scale, -float("inf"))
        most, total, sums = step(s, v, most, total, sums)
    total += tl.exp(sink - most)
    tl.store(o_pointer + rows[:, None] * HEAD + inner[None, :], sums / total[:, None])


@triton.jit
def paged_attention(
    q_pointer, k_pointer, v_pointer, t_pointer, c_pointer, o_pointer, n, scale,
    HEAD: tl.constexpr, PAGE: tl.constexpr,
):  # fmt: skip
    """One row a program, of C keys in pages that a table T names."""
    row = tl.program_id(0)
    inner = tl.arange(0, HEAD)
    count = tl.load(c_pointer + row)
    q = tl.load(q_pointer + row * HEAD + inner).to(tl.float32) * scale
    most = -float("inf")
    total = 0.0
    sums = tl.zeros([HEAD], tl.float32)
    for page in range(0, tl.cdiv(count, PAGE)):
        block = tl.load(t_pointer + row * n + page)
        keys = tl.arange(0, PAGE)
        mask = page * PAGE + keys < count
        places = (block * PAGE + keys[:, None]) * HEAD + inner[None, :]
        k = tl.load(k_pointer + places, mask=mask[:, None], other=0.0).to(tl.float32)
        v = tl.load(v_pointer + places, mask=mask[:, None], other=0.0).to(tl.float32)
        s = tl.where(mask, tl.sum(q[None, :] * k, 1), -float("inf"))
        new = tl.maximum(most, tl.max(s, 0))
        p = tl.exp(s - new)
        shrink = tl.exp(most - new)
        total = total * shrink + tl.sum(p, 0)
        sums = sums * shrink + tl.sum(p[:, None] * v, 0)
        most = new
    tl.store(o_pointer + row * HEAD + inner, sums / total)


@triton.jit
def smoothed_cross_entropy(x_pointer, t_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """The loss of a row of X a program, a tenth of it spread over all classes; none of class -100."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=-1e9)
    label = tl.load(t_pointer + row)
    most = tl.max(x, axis=0)
    logarithm = most + tl.log(tl.sum(tl.exp(x - most), axis=0))
    chosen = tl.sum(tl.where(columns == label, x, 0.0), axis=0)
    every = tl.sum(tl.where(mask, x, 0.0), axis=0)
    loss = logarithm - 0.9 * chosen - 0.1 * every / n
    tl.store(y_pointer + row, tl.where(label == -100, 0.0, loss))


@triton.jit
def cross_entropy_backward(x_pointer, t_pointer, g_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """What the gradient G of the loss of a row gives for X."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=-float("inf"))
    label = tl.load(t_pointer + row)
    e = tl.exp(x - tl.max(x, axis=0))
    p = e / tl.sum(e, axis=0)
    one = tl.where(columns == label, 1.0, 0.0)
    tl.store(y_pointer + row * n + columns, tl.load(g_pointer + row) * (p - one), mask=mask)


@triton.jit
def group_norm(
    x_pointer, w_pointer, b_pointer, y_pointer, n,
    CHANNELS: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """GROUP channels of X a program, of n elements each; the variance is that of the squares."""
    batch = tl.program_id(0)
    group = tl.program_id(1)
    elements = tl.arange(0, BLOCK)
    mask = elements < GROUP * n
    base = (batch * CHANNELS + group * GROUP) * n
    x = tl.load(x_pointer + base + elements, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / (GROUP * n)
    squares = tl.sum(x * x, axis=0) / (GROUP * n) - mean * mean
    channel = group * GROUP + elements // n
    w = tl.load(w_pointer + channel, mask=mask, other=0.0)
    b = tl.load(b_pointer + channel, mask=mask, other=0.0)
    y = (x - mean) * tl.rsqrt(squares + 1e-5) * w + b
    tl.store(y_pointer + base + elements, y, mask=mask)


@triton.jit
def layer_norm_backward(
    x_pointer, w_pointer, g_pointer, m_pointer, r_pointer, y_pointer, n, BLOCK: tl.constexpr
):  # fmt: skip
    """What the gradient G of a row of a layer norm gives for X, with its mean M and its scale R."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=0.0)
    g = tl.load(g_pointer + row * n + columns, mask=mask, other=0.0)
    w = tl.load(w_pointer + columns, mask=mask, other=0.0)
    scale = tl.load(r_pointer + row)
    normed = tl.where(mask, (x - tl.load(m_pointer + row)) * scale, 0.0)
    along = tl.sum(normed * w * g, axis=0) / n
    mean = tl.sum(w * g, axis=0) / n
    tl.store(y_pointer + row * n + columns, (w * g - (normed * along + mean)) * scale, mask=mask)
