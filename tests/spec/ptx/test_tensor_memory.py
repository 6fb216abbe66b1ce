"""Tensor memory: layouts against formulas of CuTe, products and moves against loops over cells and bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mmaproof.refinement.ptx.module_legality import judge_text
from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.fragment import Fragment
from mmaproof.spec.instruction_set import instruction_set, read
from mmaproof.spec.legality import NoteKind
from mmaproof.spec.ptx.matrix_descriptor import MatrixDescriptor
from mmaproof.spec.ptx.tensor_memory import shared_descriptor
from mmaproof.spec.ptx.tensor_memory.instruction_descriptor import InstructionDescriptor
from mmaproof.spec.ptx.tensor_memory.kinds import KINDS
from mmaproof.spec.ptx.tensor_memory.layouts import TensorMemoryLayouts
from mmaproof.spec.ptx.tensor_memory.product_form import ProductForm
from mmaproof.spec.ptx.tensor_memory.register_shapes import SHAPES, RegisterTile
from mmaproof.spec.ptx.tensor_memory.zero_columns import zero_columns

MMA = "tcgen05.mma.cta_group::1.kind::f16"


def layouts(kind: str, m: int, n: int, **form: Any) -> TensorMemoryLayouts:
    fields = InstructionDescriptor.of(kind, m=m, n=n, sparse=int(form.get("sparse", False)))
    return TensorMemoryLayouts(ProductForm("tcgen05.mma", KINDS[kind], **form), fields)


def at_the_places_of(fragment: Fragment, place: Callable[..., tuple[Any, Any]]) -> bool:
    points = np.indices(fragment.shape)
    assert fragment.layout.rank_defect() is None
    found, wanted = fragment.layout.inverse(*points), place(*points)
    return all((one == other).all() for one, other in zip(found, wanted, strict=True))


D = [
    ("A", 256, {"ctas": 2}, lambda n: lambda r, c: (r, c)),
    (
        "B",
        128,
        {"ctas": 2},
        lambda n: lambda r, c: (r // 64 * 128 + r % 64 + 64 * (c // (n // 2)), c % (n // 2)),
    ),
    ("D", 128, {}, lambda n: lambda r, c: (r, c)),
    ("E", 64, {"ws": True}, lambda n: lambda r, c: (r + 64 * (c // (n // 2)), c % (n // 2))),
    ("F", 64, {}, lambda n: lambda up, r, c: (r % 16 + 32 * (r // 16) + 16 * up, c)),
    ("G", 32, {"ws": True}, lambda n: lambda r, c: (r + 32 * (c // (n // 4)), c % (n // 4))),
]


@pytest.mark.parametrize(("letter", "m", "form", "place"), D)
@pytest.mark.parametrize("n", [48, 64, 256])
def test_where_d_is(letter: str, m: int, n: int, form: dict[str, Any], place: Any) -> None:
    found = layouts("f16", m, n, **form)
    assert found.name == letter and at_the_places_of(found.d, place(n))


def test_where_a_scale_factors_and_metadata_are() -> None:
    half = layouts("f8f6f4", 64, 64).a
    assert at_the_places_of(half, lambda up, r, k: (r % 16 + 32 * (r // 16) + 16 * up, k))
    assert at_the_places_of(
        layouts("f16", 128, 64, ctas=2).a, lambda copy, r, k: (r // 64 * 128 + r % 64 + 64 * copy, k)
    )
    for kind, size in (("mxf8f6f4", 1), ("mxf4", 2), ("mxf4nvf4", 4)):
        factors = layouts(kind, 256, 48, ctas=2, vector=size)
        a, b = factors.factors("a"), factors.factors("b")
        assert at_the_places_of(
            a,
            lambda copy, v, r, s, x=size: (
                r // 128 * 128 + r % 32 + 32 * copy,
                r % 128 // 32 * 4 + v * x + s,
            ),
        )
        assert at_the_places_of(
            b, lambda copy, v, c, s, x=size: (c % 32 + 32 * copy, c // 32 * 4 + v * x + s)
        )
    assert at_the_places_of(
        layouts("tf32", 32, 64, ws=True, sparse=True).metadata,
        lambda copy, up, r, c: (
            32 * copy + r % 8 + 8 * (c // 4) + 16 * (r // 16),
            8 * up + c % 4 + 4 * (r // 8 % 2),
        ),
    )


@pytest.mark.parametrize(
    "asked",
    [
        lambda: layouts("f16", 64, 64, ws=True).a,
        lambda: layouts("f16", 64, 64, sparse=True).metadata,
        lambda: layouts("mxf4", 128, 64, ctas=2, vector=2).factors("b"),
    ],
)
def test_what_no_source_says_is_unsupported(asked: Callable[[], object]) -> None:
    with pytest.raises(UnsupportedError, match="no source says"):
        asked()


LOADED = {
    "32x32b": lambda t, r: (t, r),
    "16x64b": lambda t, r: (t // 4 + 8 * (t % 2), 2 * r + t // 2 % 2),
    "16x128b": lambda t, r: (t // 4 + 8 * (r % 2), 4 * (r // 2) + t % 4),
    "16x256b": lambda t, r: (t // 4 + 8 * (r // 2 % 2), 8 * (r // 4) + 2 * (t % 4) + r % 2),
    "16x32bx2": lambda t, r: (t // 16, t % 16, r),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("packed", [False, True])
def test_which_thread_has_which_cell(shape: str, packed: bool) -> None:
    for count in SHAPES[shape].counts:
        tile = RegisterTile(SHAPES[shape], count, packed)
        thread, i = np.indices((32, tile.registers * (1 + packed)))
        *others, column = LOADED[shape](thread, i >> packed)
        wanted = (*others, 2 * column + (i & 1) if packed else column)
        assert all(
            (one == other).all() for one, other in zip(tile.layout.forward(thread, i), wanted, strict=True)
        )


def run(text: str, *, as_registers: bool = False, **arrays: Any) -> dict[str, Any]:
    return read(text).execute(arrays, as_registers=as_registers, rounding=None, choices=())


def numbers(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(np.float16)


def word(kind: str, **fields: Any) -> int:
    return InstructionDescriptor.of(kind, **fields).encoding


def test_a_product_of_cells_and_bytes() -> None:
    idesc = word("f16", m=64, n=16, d="f32", negate_a=1)
    a, b, c = numbers(1, 64, 16), numbers(2, 16, 16), numbers(3, 64, 16).astype(np.float32)
    plain = run(f"{MMA} [%r1], [%r2], %rd1, {idesc}, 1", a=a, b=b, c=c)["d"]
    assert (plain == c - a.astype(np.float32) @ b).all()
    lane = np.arange(64) % 16 + 32 * (np.arange(64) // 16)
    cells, old = np.zeros((128, 8), np.uint32), np.zeros((128, 16), np.uint32)
    cells[lane], old[lane] = a.view(np.uint32), c.view(np.uint32)
    memory = np.zeros(4096, np.uint8)
    for column, k in np.ndindex(16, 16):  # rows of 32 bytes, their halves exchanged in rows 4 to 7 of 8
        at = 1024 + 32 * column + (2 * k ^ 16 * (column // 4 % 2))
        memory[at : at + 2] = b[k, column : column + 1].view(np.uint8)
    desc = shared_descriptor.encoded(MatrixDescriptor(1024, 0, 256, 32))
    found = run(f"{MMA} [%r1], [%r2], {desc}, {idesc}, 1", as_registers=True, a=cells, memory=memory, c=old)[
        "d"
    ]
    assert (found[lane].view(np.float32) == plain).all()
    assert (np.delete(found, lane, axis=0) == 0).all()


def test_old_d_masks_and_columns_of_zeros() -> None:
    idesc = word("f16", m=128, n=64, d="f32")
    a, b, c = numbers(1, 128, 16), numbers(2, 16, 64), numbers(3, 128, 64).astype(np.float32)
    whole = a.astype(np.float32) @ b
    assert (run(f"{MMA} [%r1], %rd1, %rd2, {idesc}, 0", a=a, b=b)["d"] == whole).all()
    halved = run(f"{MMA} [%r1], %rd1, %rd2, {idesc}, 1, 2", a=a, b=b, c=c)["d"]
    assert (halved == whole + c / 4).all()
    mask = np.array([0b110, 0, 0, 1 << 31], np.uint32)
    vector = "{%r4, %r5, %r6, %r7}"
    kept = run(f"{MMA} [%r1], %rd1, %rd2, {idesc}, {vector}, 0", a=a, b=b, c=c, disable_output_lane=mask)["d"]
    assert (kept[[1, 2, 127]] == c[[1, 2, 127]]).all() and (kept[3:127] == whole[3:127]).all()
    zeros = 1 << 39 | 3 << 40 | 3 << 48  # from column 4 on, four of every eight
    masked = run(f"tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, {idesc}, 0, {zeros}", a=a, b=b)[
        "d"
    ]
    assert (masked == whole * (np.arange(64) % 8 < 4)).all()
    assert list(np.flatnonzero(zero_columns(zeros | 1 << 32, 32, 64))[:5]) == [0, 1, 2, 3, 8]
    with pytest.raises(UnsupportedError, match="shifts columns"):
        zero_columns(1 << 56, 32, 64)


def test_scale_factors_of_cells() -> None:
    idesc = word("mxf4", m=128, n=24, scale_a_id=2)
    mma = "tcgen05.mma.cta_group::1.kind::mxf4.block_scale"
    random = np.random.default_rng(5)
    a, b = random.integers(-2, 3, (128, 64)) / 2, random.integers(-2, 3, (64, 24)) / 2
    of_a, of_b = 2.0 ** random.integers(-2, 3, (128, 2)), 2.0 ** random.integers(-2, 3, (2, 24))
    plain = run(f"{mma} [%r1], %rd1, %rd2, {idesc}, [%r3], [%r4], 0", a=a, b=b, scale_a=of_a, scale_b=of_b)[
        "d"
    ]
    assert (plain == (a * of_a.repeat(32, 1)) @ (b * of_b.repeat(32, 0))).all()
    codes = {value: code for code, value in enumerate((0, 0.5, 1))} | {-0.5: 9, -1.0: 10}
    packed = [np.vectorize(codes.get)(each).astype(np.uint8) for each in (a, b.T)]
    memory = np.zeros(8192, np.uint8)
    for start, each in zip((0, 4096), packed, strict=True):
        for row, byte in np.ndindex(each.shape[0], 32):
            at = start + row // 8 * 256 + row % 8 * 16 + byte // 16 * 128 + byte % 16
            memory[at] = each[row, 2 * byte] | each[row, 2 * byte + 1] << 4
    cells = []
    for factors, size, first in ((of_a, 4, 2), (of_b.T, 1, 0)):
        held = np.zeros((128, size, 4), np.uint8)
        for row, s in np.ndindex(len(factors), 2):
            held[row % 32 :: 32, row // 32, first + s] = 127 + int(np.log2(factors[row, s]))
        cells.append(held.view(np.uint32)[..., 0])
    descs = [shared_descriptor.encoded(MatrixDescriptor(start, 128, 256, 0)) for start in (0, 4096)]
    text = f"{mma} [%r1], {descs[0]}, {descs[1]}, {idesc}, [%r3], [%r4], 0"
    given = {"memory": memory, "scale_a": cells[0], "scale_b": cells[1]}
    assert (run(text, as_registers=True, **given)["d"].view(np.float32) == plain).all()
    cells[0][40, 0] += 1 << 16
    with pytest.raises(InputError, match="copy 1 of scale_a in tensor memory is another one at"):
        run(text, as_registers=True, **given)


def test_two_ctas_and_padded_elements() -> None:
    idesc = word("f8f6f4", m=256, n=32, d="f32", a="e4m3", b="e3m2")
    mma = "tcgen05.mma.cta_group::2.kind::f8f6f4"
    random = np.random.default_rng(7)
    a, b = random.integers(-2, 3, (256, 32)), random.integers(-2, 3, (32, 32))
    plain = run(f"{mma} [%r1], %rd1, %rd2, {idesc}, 0", a=a * 1.0, b=b * 1.0)["d"]
    assert (plain == a @ b).all()
    bytes_of_a = np.vectorize({0: 0, 1: 0x38, 2: 0x40, -1: 0xB8, -2: 0xC0}.get)(a)
    codes_of_b = np.vectorize({0: 0, 1: 0x0C, 2: 0x10, -1: 0x2C, -2: 0x30}.get)(b)
    memory = np.zeros((2, 8192), np.uint8)
    for row, k in np.ndindex(256, 32):
        at = row % 128 // 8 * 256 + row % 8 * 16 + k // 16 * 128 + k % 16
        memory[row // 128, at] = bytes_of_a[row, k]
    for column, group in np.ndindex(32, 2):  # 12 bytes of elements, 4 of padding
        joined = sum(int(codes_of_b[16 * group + i, column]) << 6 * i for i in range(16)) | 0xAB << 96
        at = 4096 + column % 16 // 8 * 256 + column % 8 * 16 + group * 128
        memory[column // 16, at : at + 16] = np.frombuffer(joined.to_bytes(16, "little"), np.uint8)
    descs = [shared_descriptor.encoded(MatrixDescriptor(start, 128, 256, 0)) for start in (0, 4096)]
    found = run(f"{mma} [%r1], {descs[0]}, {descs[1]}, {idesc}, 0", as_registers=True, memory=memory)["d"]
    assert (found.view(np.float32) == plain).all()


def test_a_sparse_product_of_cells() -> None:
    idesc = word("f16", m=128, n=8, d="f32", sparse=1, selector=1)
    random = np.random.default_rng(9)
    stored, b = numbers(4, 128, 16), numbers(5, 32, 8)
    nibbles = random.choice([0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110], (128, 8)).astype(np.uint8)
    logical = np.zeros((128, 32), np.float32)
    for row, chunk in np.ndindex(128, 8):
        for slot in (0, 1):
            column = 4 * chunk + (nibbles[row, chunk] >> 2 * slot & 3)
            logical[row, column] = stored[row, 2 * chunk + slot]
    mma = "tcgen05.mma.sp.cta_group::1.kind::f16"
    plain = run(f"{mma} [%r1], [%r2], %rd2, [%r3], {idesc}, 0", a=stored, b=b, metadata=nibbles)["d"]
    assert (plain == logical @ b).all()
    metadata = np.zeros((128, 2), np.uint32)
    for row, chunk in np.ndindex(128, 8):
        lane = row % 8 + 8 * (chunk // 4) + 16 * (row // 16)
        metadata[lane, 1] |= int(nibbles[row, chunk]) << 4 * (chunk % 4) + 16 * (row // 8 % 2)
    memory = np.zeros(512, np.uint8)
    for column, k in np.ndindex(8, 32):  # 16 bytes of each of 8 columns together
        at = column * 16 + k // 8 * 128 + k % 8 * 2
        memory[at : at + 2] = b[k, column : column + 1].view(np.uint8)
    desc = shared_descriptor.encoded(MatrixDescriptor(0, 128, 0, 0))
    text = f"{mma} [%r1], [%r2], {desc}, [%r3], {idesc}, 0"
    given = {"a": stored.view(np.uint32), "metadata": metadata, "memory": memory}
    assert (run(text, as_registers=True, **given)["d"].view(np.float32) == plain).all()
    with pytest.raises(InputError, match="metadata 0110"):
        run(f"{mma} [%r1], [%r2], %rd2, [%r3], {idesc}, 0", a=stored, b=b, metadata=0 * nibbles + 6)


def test_loads_stores_and_copies() -> None:
    cells = np.arange(32 * 4, dtype=np.uint32).reshape(32, 4)
    assert (run("tcgen05.ld.sync.aligned.32x32b.x4.b32", cells=cells)["r"] == cells).all()
    packed = run("tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32", cells=cells | 0xABCD0000)["r"]
    assert (packed == (cells[:, ::2] | cells[:, 1::2] << 16)).all()
    back = run("tcgen05.st.sync.aligned.32x32b.x2.unpack::16b.b32", r=packed)
    assert (back["low"] == cells).all() and "cells" not in back
    memory = np.arange(1024, dtype=np.uint32).view(np.uint8)
    desc = shared_descriptor.encoded(MatrixDescriptor(512, 0, 128, 0))
    copied = run(f"tcgen05.cp.cta_group::1.32x128b.warpx4 [%r1], {desc}", memory=memory)["cells"]
    assert (copied == np.tile(np.arange(128, 256).reshape(32, 4), (4, 1))).all()
    wide = run(f"tcgen05.cp.cta_group::1.128x128b.b8x16.b4x16_p64 [%r1], {desc}", memory=memory)["cells"]
    assert (wide.view(np.uint8)[0, :8] == [0x80 & 0x3C, 0x20, 0, 0, 0, 0, 0, 0]).all()


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("tcgen05.shift.cta_group::1.down [%r1]", UnsupportedError, "no source says enough"),
        ("tcgen05.wait::ld.sync.aligned", UnsupportedError, "acts together with other threads"),
        (f"{MMA} [%r1], %rd1, %rd2, %r3, 1", InputError, "idesc of tcgen05.mma.* must be a number"),
        (f"{MMA} [%r1], %rd1, %rd2, 0x08600010, 1", InputError, "idesc-shape: N of"),
        ("tcgen05.cp.cta_group::2.128x128b [%r1], 0", InputError, "execute the copy of one"),
        (f"{MMA}.ashift [%r1], [%r2], %rd2, {0x08200010}, 1", UnsupportedError, "which way rows of A"),
    ],
)
def test_what_is_not_executed(text: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        run(text)


@pytest.mark.parametrize(
    ("text", "target", "rules"),
    [
        (f"{MMA} [%r1], %rd1, %rd2, 0x08200010, 1", "sm_100a", []),
        (f"{MMA} [%r1], %rd1, %rd2, 0x08200010, !%p1", "sm_103f", []),
        (f"{MMA} [%r1], %rd1, %rd2, 0x08200050, 1", "sm_100a", ["idesc-meaning"]),
        (f"{MMA} [%r1], 0x4000404000000000, 0, 0x08200010, 1", "sm_100a", ["desc-meaning"]),
        (f"{MMA} [%r1], %rd1, %rd2, %r3, {{%r4, %r5}}, 1", "sm_100a", ["async-operand"]),
        (f"{MMA} [%r1], %rd1, %rd2, %r3, 1, 3", "sm_110a", ["async-operand-count"]),
        ("tcgen05.mma.cta_group::1.kind::i8", "sm_103a", ["async-target"]),
        ("tcgen05.ld.red.sync.aligned.32x32b.x2.min.u32", "sm_100a", ["async-target"]),
        ("tcgen05.ld.sync.aligned.16x128b.x128.b32", "sm_100a", ["async-modifier"]),
        ("tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 48", "sm_100a", ["async-constant"]),
        ("tcgen05.cp.cta_group::1.64x128b [%r1], %rd1", "sm_100a", ["async-modifier"]),
        ("tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%r1], 3", "sm_100a",
         ["async-operand"]),
        ("tcgen05.mma.ws.cta_group::2.kind::f16", "sm_100a", ["async-modifier"]),
    ],
)  # fmt: skip
def test_legality(text: str, target: str, rules: list[str]) -> None:
    assert [violation.rule.id for violation in read(text).legal(target).violations] == rules


MODULE = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k() {
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>; .shared .align 8 .b64 bar;
  tcgen05.mma.cta_group::1.kind::f16 [%r1+8], %rd1, %rd2, IDESC, !%p1;
  tcgen05.mma.cta_group::1.kind::f16 [%r1], [%r2+8], %rd2, %r3, {%r4, %r5, %r6, %r7}, %p1;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
  tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%r4, %r5}, [%r1], 32;
  ret;
}
"""


def test_a_module() -> None:
    for idesc, rules in (("0x08200010", []), ("0x08600010", ["idesc-shape"]), ("%rd3", ["async-register"])):
        judgement = judge_text(MODULE.replace("IDESC", idesc), "k.ptx", None, None)
        assert [violation.rule.id for violation in judgement.violations] == rules
    short = judge_text(MODULE.replace("IDESC", "%r3").replace("{%r4, %r5}", "{%r4}"), "k.ptx", None, None)
    assert "r must be a vector of 2 registers, not {%r4}" in str(short.violations[0])


def test_a_function_has_one_number_of_ctas() -> None:
    both = "".join(
        f"tcgen05.relinquish_alloc_permit.cta_group::{count}.sync.aligned;\n" for count in (2, 1, 2)
    )
    judgement = judge_text(both, "k.ptx", "sm_100a", None)
    assert [violation.rule.id for violation in judgement.violations] == ["cta-group"]
    assert "line 2" in str(judgement.violations[0])
    apart = ".func a() {{ {} }}\n.func b() {{ {} }}".format(*both.splitlines()[:2])
    assert not judge_text(apart, "k.ptx", "sm_100a", None).violations


def test_what_else_is_said() -> None:
    notes = read(f"{MMA} [%r1], %rd1, %rd2, %r3, 1").legal().notes
    assert [note.kind for note in notes] == [NoteKind.SCOPE]
    mixed = word("f16", m=128, n=64, d="f32", a="bf16")
    assert read(f"{MMA} [%r1], %rd1, %rd2, {mixed}, 1").legal().undecided
    assert "A[i,k]" in " ".join(read(f"{MMA} [%r1], %rd1, %rd2, 0x08200010, 1").formula())
    assert "22..17: n, 0 to 504 by 8" in str(read(MMA).describe())
    tables = instruction_set("ptx").tables
    assert {row["kind"] for row in tables["tensor-products"]()} == set(KINDS)
    assert any(row["field"] == "swizzle" for row in tables["descriptor-fields"]())


def test_layouts_that_are_asked_for() -> None:
    assert read(MMA).laid_out() == ("a", "b", "d")
    table = read(MMA).layout("d m=128 n=16 d=f32")
    assert table.at(5, 3).rows() == [
        {"lane": 5, "element": 3, "register": 3, "bit": 0, "row": 5, "column": 3}
    ]
    assert (
        read(MMA).layout("b m=128 n=16 start=0x400 stride=256 swizzle=32").at(1, 2).rows()[0]["address"]
        == 0x442
    )
    assert len(read(MMA).layout("a cells m=128 n=16")) == 128 * 16
    assert read("tcgen05.cp.cta_group::1.32x128b.warpx4").layout("taddr").axes[0].extent == 4
    for operand, message in (
        ("d", "depends on the instruction descriptor"),
        ("d m=128 n=33", "n can't be 33"),
        ("d m=128 n=264", "does not suit"),
        ("d m=128 n=64 swizzle=128", "is in tensor memory"),
        ("c", "has no operand 'c'; it has a, b, d"),
    ):
        with pytest.raises(InputError, match=message):
            read(MMA).layout(operand)
