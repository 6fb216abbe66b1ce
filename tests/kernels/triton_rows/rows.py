"""Functions of rows in Triton: softmax, norms, gated activations and attention.

``generate.py`` compiles each, and again with single faults seeded.
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def softmax(x_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """A row of X a program."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_pointer + row * n + columns, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def rms_norm(x_pointer, w_pointer, y_pointer, n, epsilon, BLOCK: tl.constexpr):
    """A row of X a program, times W."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=0.0)
    w = tl.load(w_pointer + columns, mask=mask, other=0.0)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / n + epsilon)
    tl.store(y_pointer + row * n + columns, x * scale * w, mask=mask)


@triton.jit
def layer_norm(x_pointer, w_pointer, b_pointer, y_pointer, n, epsilon, BLOCK: tl.constexpr):
    """A row of X a program, times W, plus B."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + epsilon)
    w = tl.load(w_pointer + columns, mask=mask, other=0.0)
    b = tl.load(b_pointer + columns, mask=mask, other=0.0)
    tl.store(y_pointer + row * n + columns, centred * scale * w + b, mask=mask)


@triton.jit
def swiglu(a_pointer, b_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """A block of elements a program."""
    elements = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = elements < n
    a = tl.load(a_pointer + elements, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_pointer + elements, mask=mask, other=0.0).to(tl.float32)
    tl.store(y_pointer + elements, a * tl.sigmoid(a) * b, mask=mask)


@triton.jit
def geglu(a_pointer, b_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """A block of elements a program; tanh is written with exp."""
    elements = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = elements < n
    a = tl.load(a_pointer + elements, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_pointer + elements, mask=mask, other=0.0).to(tl.float32)
    inner = 0.7978845608 * (a + 0.044715 * a * a * a)
    tl.store(y_pointer + elements, a * tl.sigmoid(2 * inner) * b, mask=mask)


@triton.jit
def attention(
    q_pointer, k_pointer, v_pointer, o_pointer, n, scale,
    HEAD: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """A tile of rows a program, over the keys once."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    inner = tl.arange(0, HEAD)
    q = tl.load(q_pointer + rows[:, None] * HEAD + inner[None, :])
    most = tl.full([TILE_M], -float("inf"), tl.float32)
    total = tl.zeros([TILE_M], tl.float32)
    sums = tl.zeros([TILE_M, HEAD], tl.float32)
    for start in range(0, n, TILE_N):
        keys = start + tl.arange(0, TILE_N)
        k = tl.load(k_pointer + keys[None, :] * HEAD + inner[:, None])
        v = tl.load(v_pointer + keys[:, None] * HEAD + inner[None, :])
        s = tl.dot(q, k) * scale
        if CAUSAL:
            s = tl.where(rows[:, None] >= keys[None, :], s, -float("inf"))
        new = tl.maximum(most, tl.max(s, 1))
        shrink = tl.exp(most - new)
        p = tl.exp(s - new[:, None])
        total = total * shrink + tl.sum(p, 1)
        sums = sums * shrink[:, None]
        sums = tl.dot(p.to(v.dtype), v, sums)
        most = new
    tl.store(o_pointer + rows[:, None] * HEAD + inner[None, :], sums / total[:, None])


@triton.jit
def log_softmax(x_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """A row of X a program; the logarithm is that of the hardware."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=-float("inf"))
    centred = x - tl.max(x, axis=0)
    total = tl.sum(tl.exp(centred), axis=0)
    tl.store(y_pointer + row * n + columns, centred - libdevice.fast_logf(total), mask=mask)


@triton.jit
def cross_entropy(x_pointer, t_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """The loss of a row of X a program, of which T says the class; the logarithm is the library's."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=-float("inf"))
    chosen = tl.load(x_pointer + row * n + tl.load(t_pointer + row))
    most = tl.max(x, axis=0)
    total = tl.sum(tl.exp(x - most), axis=0)
    tl.store(y_pointer + row, tl.log(total) + most - chosen)


@triton.jit
def softmax_backward(y_pointer, g_pointer, x_pointer, n, BLOCK: tl.constexpr):
    """What a row of Y = softmax(X) and the gradient G of it give for X, a row a program."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    y = tl.load(y_pointer + row * n + columns, mask=mask, other=0.0)
    g = tl.load(g_pointer + row * n + columns, mask=mask, other=0.0)
    along = tl.sum(y * g, axis=0)
    tl.store(x_pointer + row * n + columns, y * (g - along), mask=mask)


@triton.jit
def rotary(x_pointer, c_pointer, s_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """A row of X a program, whose halves are turned by angles of which C and S are cosine and sine."""
    row = tl.program_id(0)
    pairs = tl.arange(0, BLOCK)
    mask = pairs < n
    first = x_pointer + row * 2 * n + pairs
    a = tl.load(first, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(first + n, mask=mask, other=0.0).to(tl.float32)
    c = tl.load(c_pointer + row * n + pairs, mask=mask, other=0.0)
    s = tl.load(s_pointer + row * n + pairs, mask=mask, other=0.0)
    turned = y_pointer + row * 2 * n + pairs
    tl.store(turned, a * c - b * s, mask=mask)
    tl.store(turned + n, b * c + a * s, mask=mask)


@triton.jit
def rotary_angles(x_pointer, f_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """As rotary, by the angles row * F; sine and cosine are those of the hardware."""
    row = tl.program_id(0)
    pairs = tl.arange(0, BLOCK)
    mask = pairs < n
    first = x_pointer + row * 2 * n + pairs
    a = tl.load(first, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(first + n, mask=mask, other=0.0).to(tl.float32)
    angle = row.to(tl.float32) * tl.load(f_pointer + pairs, mask=mask, other=0.0)
    c = libdevice.fast_cosf(angle)
    s = libdevice.fast_sinf(angle)
    turned = y_pointer + row * 2 * n + pairs
    tl.store(turned, a * c - b * s, mask=mask)
    tl.store(turned + n, b * c + a * s, mask=mask)


@triton.jit
def two_pass_attention(
    q_pointer, k_pointer, v_pointer, o_pointer, n, scale,
    HEAD: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """A tile of rows a program: over the keys for the maxima, and once more for the sums."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    inner = tl.arange(0, HEAD)
    q = tl.load(q_pointer + rows[:, None] * HEAD + inner[None, :])
    most = tl.full([TILE_M], -float("inf"), tl.float32)
    for start in range(0, n, TILE_N):
        keys = start + tl.arange(0, TILE_N)
        k = tl.load(k_pointer + keys[None, :] * HEAD + inner[:, None])
        s = tl.dot(q, k) * scale
        most = tl.maximum(most, tl.max(s, 1))
    total = tl.zeros([TILE_M], tl.float32)
    sums = tl.zeros([TILE_M, HEAD], tl.float32)
    for start in range(0, n, TILE_N):
        keys = start + tl.arange(0, TILE_N)
        k = tl.load(k_pointer + keys[None, :] * HEAD + inner[:, None])
        v = tl.load(v_pointer + keys[:, None] * HEAD + inner[None, :])
        p = tl.exp(tl.dot(q, k) * scale - most[:, None])
        total += tl.sum(p, 1)
        sums = tl.dot(p.to(v.dtype), v, sums)
    tl.store(o_pointer + rows[:, None] * HEAD + inner[None, :], sums / total[:, None])


@triton.jit
def ragged_attention(
    q_pointer, k_pointer, v_pointer, o_pointer, n, scale,
    HEAD: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """As attention, of any number of keys, with powers of two in place of exp."""
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    inner = tl.arange(0, HEAD)
    q = tl.load(q_pointer + rows[:, None] * HEAD + inner[None, :], mask=rows[:, None] < n, other=0.0)
    most = tl.full([TILE_M], -float("inf"), tl.float32)
    total = tl.zeros([TILE_M], tl.float32)
    sums = tl.zeros([TILE_M, HEAD], tl.float32)
    factor = scale * 1.44269504
    for start in range(0, n, TILE_N):
        keys = start + tl.arange(0, TILE_N)
        k = tl.load(k_pointer + keys[None, :] * HEAD + inner[:, None], mask=keys[None, :] < n, other=0.0)
        v = tl.load(v_pointer + keys[:, None] * HEAD + inner[None, :], mask=keys[:, None] < n, other=0.0)
        s = tl.where(keys[None, :] < n, tl.dot(q, k) * factor, -float("inf"))
        new = tl.maximum(most, tl.max(s, 1))
        shrink = tl.exp2(most - new)
        p = tl.exp2(s - new[:, None])
        total = total * shrink + tl.sum(p, 1)
        sums = tl.dot(p.to(v.dtype), v, sums * shrink[:, None])
        most = new
    place = o_pointer + rows[:, None] * HEAD + inner[None, :]
    tl.store(place, sums / total[:, None], mask=rows[:, None] < n)


@triton.jit
def attention_backward(
    q_pointer, k_pointer, v_pointer, g_pointer, l_pointer, d_pointer, x_pointer, y_pointer, z_pointer, n,
    scale, HEAD: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """What the gradient G of attention's O gives for Q, K and V, a tile of keys or of rows a program.

    L is the logarithm of each row's sum of powers, D the sum of O times G along each row.
    """
    here = tl.program_id(0) * TILE + tl.arange(0, TILE)
    inner = tl.arange(0, HEAD)
    own = here[:, None] * HEAD + inner[None, :]
    k = tl.load(k_pointer + own)
    v = tl.load(v_pointer + own)
    of_k = tl.zeros([TILE, HEAD], tl.float32)
    of_v = tl.zeros([TILE, HEAD], tl.float32)
    for start in range(0, n, TILE):
        rows = start + tl.arange(0, TILE)
        q = tl.load(q_pointer + rows[:, None] * HEAD + inner[None, :])
        g = tl.load(g_pointer + rows[:, None] * HEAD + inner[None, :])
        p = tl.exp(tl.dot(q, tl.trans(k)) * scale - tl.load(l_pointer + rows)[:, None])
        of_v = tl.dot(tl.trans(p).to(g.dtype), g, of_v)
        of_s = p * (tl.dot(g, tl.trans(v)) - tl.load(d_pointer + rows)[:, None]) * scale
        of_k = tl.dot(tl.trans(of_s).to(q.dtype), q, of_k)
    tl.store(y_pointer + own, of_k)
    tl.store(z_pointer + own, of_v)
    q = tl.load(q_pointer + own)
    g = tl.load(g_pointer + own)
    most = tl.load(l_pointer + here)
    along = tl.load(d_pointer + here)
    of_q = tl.zeros([TILE, HEAD], tl.float32)
    for start in range(0, n, TILE):
        keys = start + tl.arange(0, TILE)
        k = tl.load(k_pointer + keys[:, None] * HEAD + inner[None, :])
        v = tl.load(v_pointer + keys[:, None] * HEAD + inner[None, :])
        p = tl.exp(tl.dot(q, tl.trans(k)) * scale - most[:, None])
        of_s = p * (tl.dot(g, tl.trans(v)) - along[:, None]) * scale
        of_q = tl.dot(of_s.to(k.dtype), k, of_q)
    tl.store(x_pointer + own, of_q)


@triton.jit
def combined_attention(o_pointer, l_pointer, y_pointer, parts, HEAD: tl.constexpr, PARTS: tl.constexpr):
    """Attention over all keys from that over parts of them, a row a program; L is as in its gradient."""
    row = tl.program_id(0)
    part = tl.arange(0, PARTS)
    inner = tl.arange(0, HEAD)
    mask = part < parts
    logarithm = tl.load(l_pointer + row * parts + part, mask=mask, other=-float("inf"))
    weight = tl.exp(logarithm - tl.max(logarithm, axis=0))
    o = tl.load(
        o_pointer + (row * parts + part[:, None]) * HEAD + inner[None, :], mask=mask[:, None], other=0.0
    )
    result = tl.sum(o * weight[:, None], axis=0) / tl.sum(weight, axis=0)
    tl.store(y_pointer + row * HEAD + inner, result)


@triton.jit
def add_rms_norm(x_pointer, r_pointer, w_pointer, y_pointer, z_pointer, n, epsilon, BLOCK: tl.constexpr):
    """A row of X + R a program, which is stored, and normed times W."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=0.0).to(tl.float32)
    r = tl.load(r_pointer + row * n + columns, mask=mask, other=0.0).to(tl.float32)
    w = tl.load(w_pointer + columns, mask=mask, other=0.0)
    added = x + r
    tl.store(z_pointer + row * n + columns, added, mask=mask)
    root = tl.rsqrt(tl.sum(added * added, axis=0) / n + epsilon)
    tl.store(y_pointer + row * n + columns, added * root * w, mask=mask)


@triton.jit
def rms_norm_backward(x_pointer, w_pointer, g_pointer, d_pointer, n, epsilon, BLOCK: tl.constexpr):
    """What the gradient G of a row of an RMS norm gives for X."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=0.0)
    g = tl.load(g_pointer + row * n + columns, mask=mask, other=0.0)
    w = tl.load(w_pointer + columns, mask=mask, other=0.0)
    root = tl.rsqrt(tl.sum(x * x, axis=0) / n + epsilon)
    along = tl.sum(g * w * x, axis=0)
    tl.store(d_pointer + row * n + columns, root * g * w - root * root * root / n * along * x, mask=mask)


@triton.jit
def online_softmax(x_pointer, y_pointer, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Several rows a program, in blocks of columns: once for maxima and sums, once more for the results."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    most = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        places = rows[:, None] * n + columns[None, :]
        x = tl.load(x_pointer + places, mask=(columns < n)[None, :], other=-float("inf"))
        new = tl.maximum(most, tl.max(x, 1))
        total = total * tl.exp(most - new) + tl.sum(tl.exp(x - new[:, None]), 1)
        most = new
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        places = rows[:, None] * n + columns[None, :]
        x = tl.load(x_pointer + places, mask=(columns < n)[None, :], other=-float("inf"))
        y = tl.exp(x - most[:, None]) / total[:, None]
        tl.store(y_pointer + places, y, mask=(columns < n)[None, :])


@triton.jit
def kl_divergence(x_pointer, z_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """The divergence of softmax(X) from softmax(Z), a row a program."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_pointer + row * n + columns, mask=mask, other=-float("inf"))
    z = tl.load(z_pointer + row * n + columns, mask=mask, other=-float("inf"))
    of_x = x - tl.max(x, 0)
    of_z = z - tl.max(z, 0)
    p = of_x - tl.log(tl.sum(tl.exp(of_x), 0))
    q = of_z - tl.log(tl.sum(tl.exp(of_z), 0))
    tl.store(y_pointer + row, tl.sum(tl.where(mask, tl.exp(q) * (q - p), 0.0), 0))


@triton.jit
def swiglu_backward(a_pointer, b_pointer, g_pointer, x_pointer, y_pointer, n, BLOCK: tl.constexpr):
    """What the gradient G of silu(A) * B gives for A and B, a block of elements a program."""
    elements = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = elements < n
    a = tl.load(a_pointer + elements, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(b_pointer + elements, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(g_pointer + elements, mask=mask, other=0.0).to(tl.float32)
    gate = tl.sigmoid(a)
    tl.store(x_pointer + elements, g * b * (gate + a * gate * (1 - gate)), mask=mask)
    tl.store(y_pointer + elements, g * a * gate, mask=mask)


@triton.jit
def awq_weights(w_pointer, z_pointer, s_pointer, y_pointer, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """A row of weights a program, 8 in a word in the order 0 2 4 6 1 3 5 7, with zero points and scales."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    word = tl.load(w_pointer + row * (n // 8) + columns // 8, mask=mask, other=0)
    zero = tl.load(z_pointer + (row // GROUP) * (n // 8) + columns // 8, mask=mask, other=0)
    shift = ((columns % 8) // 2 + (columns % 2) * 4) * 4
    weight = ((word >> shift) & 0xF) - ((zero >> shift) & 0xF)
    scale = tl.load(s_pointer + (row // GROUP) * n + columns, mask=mask, other=0.0)
    tl.store(y_pointer + row * n + columns, weight * scale, mask=mask)


@triton.jit
def gptq_weights(w_pointer, z_pointer, s_pointer, y_pointer, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """A row of weights a program, 8 rows in a word, with zero points of which 1 is taken, and scales."""
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    word = tl.load(w_pointer + (row // 8) * n + columns, mask=mask, other=0)
    zero = tl.load(z_pointer + (row // GROUP) * (n // 8) + columns // 8, mask=mask, other=0)
    weight = (word >> ((row % 8) * 4)) & 0xF
    point = ((zero >> ((columns % 8) * 4)) & 0xF) + 1
    scale = tl.load(s_pointer + (row // GROUP) * n + columns, mask=mask, other=0.0)
    tl.store(y_pointer + row * n + columns, (weight - point).to(tl.float32) * scale, mask=mask)
