"""A product of pairs of CTAs, in Gluon: each loads half of A's rows and of B's columns, the first multiplies.

``python pairs.py``, with triton 3.9, compiles it for sm_100a to ``pairs.ptx`` beside it.
"""

from __future__ import annotations

from pathlib import Path

import generate
import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    allocate_tensor_memory,
    mbarrier,
    tcgen05_mma,
    tma,
)

M, N, K, STAGES, STEPS = 128, 32, 32, 2, 3


@gluon.jit
def pairs(
    a, b, c, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, STAGES: gl.constexpr, STEPS: gl.constexpr
):
    layout: gl.constexpr = TensorMemoryLayout((M // 2, N), col_stride=1, cga_layout=[[1, 0]], two_ctas=True)
    total = allocate_tensor_memory(gl.float32, [M, N], layout)
    a_tiles = gl.allocate_shared_memory(gl.float16, [STAGES, M, K], a.layout)
    b_tiles = gl.allocate_shared_memory(gl.float16, [STAGES, K, N], b.layout)
    full = mbarrier.allocate_mbarrier(batch=STAGES, two_ctas=True)
    done = mbarrier.allocate_mbarrier(batch=STAGES)
    for stage in gl.static_range(STAGES):
        mbarrier.init(full.index(stage), count=1)
        mbarrier.init(done.index(stage), count=1)
    row = gl.program_id(0) * M
    for step in range(STEPS):
        at = step % STAGES
        if step >= STAGES:
            mbarrier.wait(done.index(at), (step // STAGES - 1) & 1)
        mbarrier.expect(full.index(at), a.nbytes_per_cta + b.nbytes_per_cta)
        tma.async_load(a, [row, step * K], full.index(at), a_tiles.index(at))
        tma.async_load(b, [step * K, 0], full.index(at), b_tiles.index(at))
        mbarrier.wait(full.index(at), step // STAGES & 1)
        tcgen05_mma(a_tiles.index(at), b_tiles.index(at), total, use_acc=step > 0, mbarriers=[done.index(at)])
    mbarrier.wait(done.index((STEPS - 1) % STAGES), (STEPS - 1) // STAGES & 1)
    stored: gl.constexpr = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=[[1, 0]])
    rows = row + gl.arange(0, M, gl.SliceLayout(1, stored))
    columns = gl.arange(0, N, gl.SliceLayout(0, stored))
    gl.store(c + rows[:, None] * N + columns[None, :], gl.convert_layout(total.load(), stored))


def _shared(swizzle: int, split: list[int]) -> str:
    layout = gl.NVMMASharedLayout(swizzle_byte_width=swizzle, element_bitwidth=16, rank=2, cga_layout=[split])
    return repr(layout)


if __name__ == "__main__":
    numbers = {"M": M, "N": N, "K": K, "STAGES": STAGES, "STEPS": STEPS}
    source = GluonASTSource(
        fn=pairs,
        signature={
            "a": f"tensordesc<fp16[{M}, {K}],{_shared(64, [1, 0])}>",
            "b": f"tensordesc<fp16[{K}, {N}],{_shared(32, [0, 1])}>",
            "c": "*fp32",
            **dict.fromkeys(numbers, "constexpr"),
        },
        constexprs={(3 + place,): number for place, number in enumerate(numbers.values())},
        attrs={(2,): [["tt.divisibility", 16]]},
    )
    built = triton.compile(source, target=GPUTarget("cuda", 100, 32), options={"num_warps": 4, "num_ctas": 2})
    (Path(__file__).parent / "pairs.ptx").write_text(generate.clean(built.asm["ptx"]))
