"""Layouts as Triton's dumps name them, against those of the instructions."""

from __future__ import annotations

import pytest

from mmaproof.spec.errors import InputError
from mmaproof.spec.foreign_layouts.against import compare_layout
from mmaproof.spec.foreign_layouts.comparison import Verdict
from mmaproof.spec.foreign_layouts.triton_attributes import is_attribute, parse_attribute

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
TF32 = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
S8 = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"
WGMMA = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
MMA = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 4], instrShape = [16, 8]}>"
HOPPER = (
    "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>"
)


def operand(index: int, width: int) -> str:
    return f"#mma = {MMA}\n#ttg.dot_op<{{opIdx = {index}, parent = #mma, kWidth = {width}}}>"


@pytest.mark.parametrize(
    ("instruction", "name", "layout"),
    [
        (F16, "c", MMA),
        (F16, "d", f"#mma = {MMA}"),
        (F16, "a", operand(0, 2)),
        (F16, "b", operand(1, 2)),
        (TF32, "a", operand(0, 1)),
        (TF32, "b", operand(1, 1)),
        (S8, "a", operand(0, 4)),
        (S8, "b", operand(1, 4)),
        (WGMMA, "d", HOPPER),
        (F16, "c", MMA.replace("#ttg.nvidia_mma", "#triton_gpu.nvidia_mma")),
    ],
)
def test_what_triton_says_is_what_is_specified(instruction: str, name: str, layout: str) -> None:
    assert compare_layout(instruction, name, layout).verdict is Verdict.EQUAL


@pytest.mark.parametrize(
    ("instruction", "name", "layout"),
    [
        (F16, "a", operand(0, 4)),
        (F16, "a", operand(1, 2)),
        (F16, "b", operand(0, 2)),
        (TF32, "a", operand(0, 2)),
        (WGMMA, "d", HOPPER.replace("[4, 1]", "[1, 4]")),
        (F16, "c", MMA.replace("[16, 8]", "[8, 8]")),
    ],
)
def test_another_width_operand_or_order_differs(instruction: str, name: str, layout: str) -> None:
    assert compare_layout(instruction, name, layout).verdict is not Verdict.EQUAL


def test_blocks_are_registers_then_lanes_then_warps_in_their_order() -> None:
    parts = "sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [2, 2], order = [1, 0]"
    text = f"#ttg.blocked<{{{parts}}}>"
    lanes = "lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]]"
    assert str(parse_attribute(text)) == f"register = [[0, 1], [0, 2]], {lanes}, warp = [[0, 16], [8, 0]]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>", "#mma is not defined"),
        ("#ttg.nvidia_mma<{versionMajor = 2}>", "needs instrShape"),
        ("#ttg.nvidia_mma<{versionMajor = 1, instrShape = [16, 8]}>", "version 1"),
        ("#ttg.nvidia_mma<{versionMajor = 2, instrShape = [16, 8", "a parameter is expected|an attribute"),
        (
            "#ttg.nvidia_mma<{versionMajor = 2, instrShape = [12, 8], warpsPerCTA = [1, 1]}>",
            "no multiple of 8",
        ),
        ("#ttg.nvidia_mma<{versionMajor = 2, instrShape = [16, 8], warpsPerCTA = [3, 1]}>", "powers of two"),
        ("#ttg.nvidia_mma<{versionMajor = 2, instrShape = [16, 8], warpsPerCTA = [1]}>", "2 numbers"),
        ("#ttg.dot_op<{opIdx = 2, parent = #ttg.blocked<{}>, kWidth = 2}>", "opIdx = 0 or 1"),
        (
            "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [1], order = [1]}>",
            "order",
        ),
        (MMA.replace("instrShape", "CTAsPerCGA = [2, 1], instrShape"), r"CTAsPerCGA = \[2, 1\]: layouts are"),
        (MMA.replace("instrShape", "isTransposed = true, instrShape"), "with isTransposed is not read"),
        (MMA.replace("[2, 4]", "[2 4]"), "an attribute"),
        (MMA.replace("[2, 4]", "[2, 536870912]"), r"more than 2\^20 elements"),
        ("#x = #ttg.nvmma_shared<{swizzlingByteWidth = 128}>", "no layout that is read"),
    ],
)
def test_what_can_not_be_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_attribute(text)


def test_a_block_alone_may_say_that_no_others_are_beside_it() -> None:
    alone = "CTAsPerCGA = [1, 1], CTASplitNum = [1, 1], CTAOrder = [1, 0], instrShape"
    assert parse_attribute(MMA.replace("instrShape", alone)) == parse_attribute(MMA)


def test_other_notations_are_none_of_these() -> None:
    assert is_attribute(MMA) and is_attribute(operand(0, 2))
    assert not is_attribute("#ttg.linear<{register = [[0, 1]], lane = []}>")
    assert not is_attribute("((4,8),2):((16,1),8)")
