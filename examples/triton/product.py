"""A product of matrices in Triton; run, it writes the PTX for sm_80 and what the compiler says of it."""

import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        left = tl.load(
            a + rows[:, None] * K + start + inner[None, :],
            mask=(rows[:, None] < M) & (start + inner[None, :] < K),
            other=0.0,
        )
        right = tl.load(
            b + (start + inner[:, None]) * N + columns[None, :],
            mask=(start + inner[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(left, right, total)
    tl.store(
        c + rows[:, None] * N + columns[None, :],
        total,
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )


if __name__ == "__main__":
    from mmaproof.triton import compiled

    signature = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
    signature |= dict.fromkeys(("BM", "BN", "BK"), "constexpr")
    print(compiled(product, signature, {"BM": 32, "BN": 32, "BK": 32}, ".", target=80))
