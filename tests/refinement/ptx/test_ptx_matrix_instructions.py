"""Matrix instructions in a kernel do to a warp's registers what the specification says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ptx_machine import BODY, Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.warp.matrix import METADATA_AS_TWICE_K
from mmaproof.spec.formats import U8, U32, U64, FloatFormat
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx import matrix_moves
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.choices import Choices
from mmaproof.spec.ptx.matrix_moves import matrix_move
from mmaproof.spec.ptx.operand_arrays import multiply
from mmaproof.spec.ptx.resolution import multiplication
from mmaproof.spec.ptx.shared_memory import ldmatrix, stmatrix
from mmaproof.spec.ptx.warp import Immediates
from mmaproof.spec.values import encodings_of_values

RANDOM = np.random.default_rng(1)
LANE = "ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; mov.u32 %r0, %laneid;\n"

PRODUCTS = [
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32",
    "mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
]


def small(form: Any, role: str) -> Any:
    """Return a matrix of small numbers, as encodings."""
    fmt = form.format(role)
    low = 0 if fmt.bits == 1 or str(fmt).startswith("u") else -1
    numbers = RANDOM.integers(low, 2 if fmt.bits == 1 else 3, form.matrix_shape(role))
    return encodings_of_values(
        role, numbers.astype(np.float64 if isinstance(fmt, FloatFormat) else np.int64), fmt
    )


def registers(operands: dict[str, Any]) -> tuple[list[Any], dict[str, str], str]:
    """Return the data of all registers (32, r), the vectors that stand for them, and their loads."""
    vectors, loads, columns, taken = {}, [], [], {32: 1, 64: 4}
    for name, held in operands.items():
        width = 8 * held.dtype.itemsize
        names = []
        for column in held.T:
            names.append(f"%{'r' if width == 32 else 'd'}{taken[width]}")
            taken[width] += 1
            words = column.astype(np.uint64)
            offset = 256 * len(columns)
            columns.append(words)
            loads.append(f"mad.wide.u32 %d2, %r0, 8, %d0; ld.global.u{width} {names[-1]}, [%d2+{offset}];")
        vectors[name] = f"{{{', '.join(names)}}}"
    return columns, vectors, "\n".join(loads)


@pytest.mark.parametrize("mnemonic", PRODUCTS)
@pytest.mark.parametrize("accumulation", ["sequential", "unspecified"])
def test_products_are_those_of_the_specification(mnemonic: str, accumulation: str) -> None:
    form = multiplication(parse(mnemonic).variant)
    algebra = NumpyAlgebra()
    matrices = {role: small(form, role) for role in "abc"}
    held = {role: form.fragment(role).scatter(algebra, matrices[role]) for role in "abc"}
    expected = multiply(form, held, Choices(), Immediates())["d"]
    columns, vectors, loads = registers(held)
    word = form.fragment("d").packing.word
    names = [f"%{'d' if word == U64 else 'r'}{20 + i}" for i in range(expected.shape[-1])]
    text = f"{mnemonic} {{{', '.join(names)}}}, {vectors['a']}, {vectors['b']}, {vectors['c']};\n"
    for index, name in enumerate(names):
        text += f"mad.wide.u32 %d3, %r0, {word.bits // 8}, %d1; st.global.b{word.bits} "
        text += f"[%d3+{32 * word.bits // 8 * index}], {name};\n"
    bench = Bench()
    data = bench.given("a", np.stack(columns), U64)
    out = written("c", 32 * len(names) * word.bits // 8)
    done = bench.run(kernel(LANE + loads + text, 2, target="sm_89"), [data, out], accumulation=accumulation)
    assert done.findings == ()
    left = bench.left(done, "c", word).reshape(len(names), 32).T
    np.testing.assert_array_equal(left, expected)


@pytest.mark.parametrize(
    "mnemonic",
    [
        *(f"ldmatrix.sync.aligned.m8n8.x{n}{t}.shared.b16" for n in (1, 2, 4) for t in ("", ".trans")),
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8",
        "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32",
        "ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8x16.b4x16_p64",
    ],
)
def test_matrices_are_loaded_as_specified(mnemonic: str) -> None:
    move = matrix_move(parse(mnemonic).variant)
    memory = RANDOM.integers(0, 256, 1024, dtype=np.uint8)
    lanes = RANDOM.permutation(64)[:32] * 16
    names = [f"%r{20 + i}" for i in range(move.registers)]
    body = LANE + "mad.wide.u32 %d2, %r0, 4, %d0; ld.global.u32 %r1, [%d2+1024]; mov.u32 %r2, tile;\n"
    body += "mad.wide.u32 %d3, %r0, 32, %d0; mad.lo.u32 %r3, %r0, 32, %r2;\n"
    for offset in (0, 16):
        body += f"ld.global.v4.u32 {{%r4, %r5, %r6, %r7}}, [%d3+{offset}]; "
        body += f"st.shared.v4.u32 [%r3+{offset}], {{%r4, %r5, %r6, %r7}};\n"
    body += "mov.u64 %d5, places; mad.wide.u32 %d6, %r0, 4, %d5; ld.const.u32 %r8, [%d6];\n"
    body += f"bar.sync 0; add.u32 %r9, %r2, %r8; {mnemonic} {{{', '.join(names)}}}, [%r9];"
    table = f".const .align 4 .u32 places[32] = {{{', '.join(map(str, lanes))}}};\n.visible"
    for index, name in enumerate(names):
        body += f"\nmad.wide.u32 %d4, %r0, 4, %d1; st.global.u32 [%d4+{128 * index}], {name};"
    text = kernel(body, 2, ".shared .align 16 .b8 tile[1024];", "sm_120a").replace(".visible", table)
    bench = Bench()
    data = bench.given("a", np.concatenate([memory, np.zeros(128, dtype=np.uint8)]), U8)
    done = bench.run(text, [data, written("c", 128 * len(names))])
    assert done.findings == ()
    left = bench.left(done, "c", U32).reshape(len(names), 32).T
    np.testing.assert_array_equal(left, ldmatrix(move, memory, lanes))


@pytest.mark.parametrize(
    "mnemonic",
    [
        *(f"stmatrix.sync.aligned.m8n8.x{n}{t}.shared.b16" for n in (1, 2, 4) for t in ("", ".trans")),
        "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8",
    ],
)
def test_matrices_are_stored_as_specified(mnemonic: str) -> None:
    move = matrix_move(parse(mnemonic).variant)
    held = RANDOM.integers(0, 1 << 32, (32, move.registers), dtype=np.uint32)
    columns, vectors, loads = registers({"r": held})
    bytes_left = 16 * move.addresses
    body = (
        LANE
        + loads
        + f"\nmov.u32 %r30, tile; mad.lo.u32 %r31, %r0, 16, %r30; {mnemonic} [%r31], {vectors['r']};\n"
    )
    body += "bar.warp.sync 0xffffffff; mad.wide.u32 %d3, %r0, 16, %d1;"
    body += f"setp.lt.u32 %p0, %r0, {move.addresses};"
    body += "@%p0 ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r31];\n"
    body += "@%p0 st.global.v4.u32 [%d3], {%r20, %r21, %r22, %r23};"
    bench = Bench()
    text = kernel(body, 2, ".shared .align 16 .b8 tile[512];", "sm_120a")
    done = bench.run(text, [bench.given("a", np.stack(columns), U64), written("c", bytes_left)])
    assert done.findings == ()
    expected = stmatrix(move, np.zeros(bytes_left, dtype=np.uint8), 16 * np.arange(32), held)
    np.testing.assert_array_equal(bench.left(done, "c", U8), expected)


def test_a_matrix_is_transposed_across_lanes() -> None:
    mnemonic = "movmatrix.sync.aligned.m8n8.trans.b16"
    held = RANDOM.integers(0, 1 << 32, (32, 1), dtype=np.uint32)
    columns, _, loads = registers({"a": held})
    body = LANE + loads + f"\n{mnemonic} %r20, %r1; mad.wide.u32 %d3, %r0, 4, %d1; st.global.u32 [%d3], %r20;"
    bench = Bench()
    done = bench.run(kernel(body, 2), [bench.given("a", np.stack(columns), U64), written("c", 128)])
    expected = matrix_moves.transpose(NumpyAlgebra(), matrix_move(parse(mnemonic).variant), held)
    np.testing.assert_array_equal(bench.left(done, "c", U32), expected[:, 0])


MMA = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, %d5}, {%d6}, {%d7}, {%d8, %d9};"


@pytest.mark.parametrize(
    ("body", "block", "target", "found"),
    [
        (MMA, 32, "sm_80", {}),
        (MMA, 32, "sm_75", {Kind.ILLEGAL: [BODY]}),
        (f"bra done;\n{MMA}\ndone:", 32, "sm_75", {Kind.ILLEGAL: [BODY + 1]}),
        (MMA, 48, "sm_80", {Kind.DIVERGENCE: [BODY]}),
        (f"mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 31;\n@%p0 {MMA}", 64, "sm_80",
         {Kind.DIVERGENCE: [BODY + 1]}),
        (f"setp.eq.u32 %p0, 0, 1;\n@%p0 {MMA}", 64, "sm_80", {}),
        (f"mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 32;\n@%p0 {MMA}", 64, "sm_80", {}),
        ("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d4, %d5}, {%d6}, {%d7}, {%d8};", 32, "sm_80",
         {Kind.ILLEGAL: [BODY], Kind.UNSUPPORTED: [BODY]}),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [tile+8];", 32, "sm_80",
         {Kind.MISALIGNED: [BODY]}),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [tile+1024];", 32, "sm_80",
         {Kind.OUT_OF_BOUNDS: [BODY]}),
    ],
)  # fmt: skip
def test_what_is_wrong_with_matrix_instructions_is_reported(
    body: str, block: int, target: str, found: dict[Kind, list[int]]
) -> None:
    done = Bench().run(kernel(body, 0, ".shared .align 16 .b8 tile[1024];", target), [], block=block)
    assert kinds(done) == found


SPARSE = (
    "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
    "{%f0, %f1, %f2, %f3}, {%r1, %r2}, {%r3, %r4}, {%f4, %f5, %f6, %f7}, %r5, 0;"
)


@pytest.mark.parametrize(
    ("metadata", "found"), [("0x44444444", {}), ("0x4444444e", {}), ("0x44444441", {Kind.UNDEFINED: [BODY]})]
)
def test_metadata_must_be_ordered(metadata: str, found: dict[Kind, list[int]]) -> None:
    done = Bench().run(kernel(f"mov.u32 %r5, {metadata}; {SPARSE}", 0), [])
    assert kinds(done) == found


def test_a_verdict_says_which_bits_of_metadata_it_takes_for_granted() -> None:
    four = "{%r1, %r2, %r3, %r4}"
    twice = SPARSE.replace("k16", "k32").replace("{%r1, %r2}, {%r3, %r4}", f"{four}, {four}")
    for text, said in ((SPARSE, True), (twice, False)):
        done = Bench().run(kernel(f"mov.u32 %r5, 0x44444444; {text}", 0), [])
        assert (METADATA_AS_TWICE_K in done.assumptions) == said


def test_matrix_views_and_kernels_agree_on_scale_factors() -> None:
    mnemonic = (
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3"
    )
    form = multiplication(parse(mnemonic).variant)
    algebra = NumpyAlgebra()
    matrices = {role: small(form, role) for role in "abc"}
    assert form.block_scale is not None
    scales = {
        "scale_a": RANDOM.integers(0x30, 0x40, (16, 4), dtype=np.uint8),
        "scale_b": RANDOM.integers(0x30, 0x40, (4, 8), dtype=np.uint8),
    }
    expected = multiply(form, {f"{n}_bits": m for n, m in (matrices | scales).items()}, Choices())["d_bits"]
    held = {role: form.fragment(role).scatter(algebra, matrices[role]) for role in "abc"}
    selected = form.block_scale.factors("a").selectors[1]
    for name in "ab":
        factors = form.block_scale.held(name, selected).scatter(algebra, scales[f"scale_{name}"])
        held[f"scale_{name}"] = factors.astype(np.uint32)
    columns, vectors, loads = registers(held)
    pair = f"{{{selected.byte_id}, {selected.thread_id}}}"
    scale_a, scale_b = (vectors[f"scale_{name}"].strip("{}") for name in "ab")
    text = (
        f"{mnemonic} {{%r20, %r21, %r22, %r23}}, {vectors['a']}, {vectors['b']}, {vectors['c']}, "
        f"{scale_a}, {pair}, {scale_b}, {pair};\n"
        "mad.wide.u32 %d3, %r0, 16, %d1; st.global.v4.b32 [%d3], {%r20, %r21, %r22, %r23};"
    )
    bench = Bench()
    data = bench.given("a", np.stack(columns), U64)
    done = bench.run(kernel(LANE + loads + text, 2, target="sm_120a"), [data, written("c", 512)])
    assert done.findings == ()
    left = bench.left(done, "c", U32).reshape(32, 4).astype(np.uint32)
    np.testing.assert_array_equal(form.fragment("d").gather(algebra, left), expected)
