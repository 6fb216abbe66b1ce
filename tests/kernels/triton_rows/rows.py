"""Functions of rows in Triton: softmax, norms, gated activations and attention.

``generate.py`` compiles each, and again with single faults seeded.
"""

import triton
import triton.language as tl


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
