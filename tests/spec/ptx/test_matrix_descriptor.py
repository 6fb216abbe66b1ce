"""Matrix descriptors: fields, legality, addresses against a loop over bytes, CuTe's notation, pictures."""

from __future__ import annotations

import numpy as np
import pytest
from command_line import mmaproof

from mmaproof.proofs.ptx.descriptors import matrices
from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.foreign_layouts.against import Notation, compare_layout, written_layout
from mmaproof.spec.instruction_set import read
from mmaproof.spec.ptx.matrix_descriptor import MatrixDescriptor, SharedMatrix

F16 = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
INT8 = "wgmma.mma_async.sync.aligned.m64n24k32.s32.s8.s8"


def chunk_table(width: int) -> list[list[int]]:
    """Return which 16 bytes of a row lie where, in eight rows of a width, as the manual draws them."""
    return {
        32: [[0, 1], [0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 0], [1, 0]],
        64: [[c ^ r // 2 for c in range(4)] for r in range(8)],
        128: [[c ^ r for c in range(8)] for r in range(8)],
    }[width]


@pytest.mark.parametrize("width", [32, 64, 128])
def test_swizzled_rows_are_those_of_the_manuals_tables(width: int) -> None:
    matrix = SharedMatrix(MatrixDescriptor(0x4000, 16, 8 * width, width), 64, width, 8)
    for line in range(64):
        for place, chunk in enumerate(chunk_table(width)[line % 8]):
            address, _ = matrix.address(line, 16 * chunk + 5)
            assert address == 0x4000 + line * width + 16 * place + 5


@pytest.mark.parametrize(("name", "matrix"), matrices().items())
def test_elements_have_places_of_their_own(name: str, matrix: SharedMatrix) -> None:
    address, bit = matrix.address(*np.indices((matrix.lines, matrix.length)))
    assert len(np.unique(8 * address + bit)) == matrix.lines * matrix.length
    assert (matrix.linear.forward(*np.indices(address.shape))[0] == address).all()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("start=0x408", "start must be a multiple of 16"),
        ("stride=0x40000", "stride must be a multiple of 16 below 2"),
        ("swizzle=48", "the swizzle must be one of 0, 128, 64, 32, not 48"),
        ("begin=0", "'begin=0' is no field of a descriptor; there are start=BYTES"),
        ("start=x", "start=x is no number of bytes"),
        ("start=112 swizzle=128", "32 bytes of K from byte 112 on do not fit a row of 128 bytes"),
    ],
)
def test_fields_that_say_no_layout_are_refused(fields: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(F16).layout(f"a {fields}")


def test_only_16_bit_elements_are_transposed() -> None:
    with pytest.raises(InputError, match="only 16-bit elements can be transposed"):
        read(INT8).layout("b transposed")


def test_strides_that_carry_have_no_map_of_bits() -> None:
    with pytest.raises(UnsupportedError, match="its offsets carry"):
        read(F16).layout("b stride=1040 swizzle=0")


@pytest.mark.parametrize(
    ("instruction", "operand", "cute"),
    [
        (F16, "a start=0x400 stride=1024 swizzle=128", "Swizzle<3,3,3> o ((8,8),16):((64,512),1)"),
        (F16, "b start=0x420", "Swizzle<3,3,3> o 16 o ((8,8),16):((64,512),1)"),
        (INT8, "b stride=256 swizzle=32", "Swizzle<1,4,3> o ((8,3),32):((32,256),1)"),
        (F16, "b leading=8192 transposed", "Swizzle<3,3,3> o (64,(8,2)):(1,(64,512))"),
        (F16, "a leading=1024 stride=128 swizzle=0", "((8,8),(8,2)):((8,64),(1,512))"),
    ],
)
def test_layouts_are_written_as_cute_writes_them(instruction: str, operand: str, cute: str) -> None:
    assert written_layout(instruction, operand, Notation.CUTE) == cute
    assert compare_layout(instruction, operand, cute).equal
    other = cute.replace("512", "1024") if "512" in cute else cute.replace("256", "512")
    assert not compare_layout(instruction, operand, other).equal
    assert not compare_layout(instruction, operand, "(64,16):(16,1)").equal


def test_a_layout_is_printed_in_every_format() -> None:
    asked = ("layout", F16, "--operand", "b start=0x400 stride=512 swizzle=64")
    table = mmaproof(*asked)
    assert table.status == 0 and "K-major, descriptor 0x8000002000010040" in table.out
    assert "byte = 64·line ^ 16·((line >> 1) & 3) ^ 2·k; address = 0x400 + byte" in table.out
    assert mmaproof(*asked, "--element", "3,1").out.split()[-6:] == ["8", "35", "1094", "0", "3", "1"]
    for fmt in ("csv", "json", "svg", "html", "markdown", "cute"):
        assert mmaproof(*asked, "--format", fmt).status == 0
    assert mmaproof(*asked, "--format", "linear").status == 3


def test_elements_that_share_addresses_are_named() -> None:
    assert read(F16).layout("b stride=0").formula.endswith("; elements share addresses")
    assert "share" not in read(F16).layout("b").formula


def test_fragments_of_a_warpgroup_are_those_of_cute_and_triton() -> None:
    assert compare_layout(F16, "d", "((4,8,4),(2,2,8)):((128,1,16),(64,8,512))").equal  # CLayout_64xN
    assert compare_layout(F16, "a", "((4,8,4),(2,2,2)):((128,1,16),(64,8,512))").equal  # ALayout_64x16
    linear = written_layout(F16, "d", Notation.LINEAR)
    assert "lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]" in linear
    assert compare_layout(F16, "d", linear).equal
    two_warpgroups = linear.replace("[32, 0]]", "[32, 0], [64, 0]]")
    assert compare_layout(F16, "d", two_warpgroups).equal
    assert not compare_layout(F16, "d", linear.replace("[[16, 0], [32, 0]]", "[[32, 0], [16, 0]]")).equal
    assert mmaproof("layout", F16, "--operand", "d", "--lane", "127").status == 0
