"""The part of a kernel on which control flow depends takes the branches that the whole kernel takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.contract.reading import read_contract
from mmaproof.refinement.machine.array_memory import inputs_of
from mmaproof.refinement.machine.front_end import Kernel
from mmaproof.refinement.machine.launch_sequence import kernel_of
from mmaproof.refinement.ptx.instruction_set import is_arithmetic
from mmaproof.refinement.ptx.outline.control_part import control_part, memory_part, store_part
from mmaproof.refinement.ptx.text.module import Function
from mmaproof.refinement.ptx.text.parser import parse
from mmaproof.refinement.terms.store import TermStore

EXAMPLES = Path(__file__).parents[3] / "examples"
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 A, .param .u32 n)\n{\n"
DECLARED = (
    ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>;\nld.param.u64 %d1, [A]; ld.param.u32 %r1, [n];\n"
)


def function_of(body: str) -> Function:
    return parse(HEAD + DECLARED + body + "\n}").functions["k"]


def guards_of(kernel: Kernel, contract: Path, sizes: dict[str, int]) -> set[tuple[int, str, bool, bool]]:
    instance = read_contract(contract).instance(sizes)
    store = TermStore()
    outcome = kernel.run(instance, store, inputs_of(store, instance))
    return {(guard.line, guard.condition, guard.held, guard.failed) for guard in outcome.guards}


@pytest.mark.parametrize(
    ("kernel", "contract", "sizes"),
    [
        ("verify/mma_s4_sm80.ptx", "verify/mma_s4.toml", {"M": 32, "N": 32, "K": 640}),
        ("verify/mma_s4_sm80.ptx", "verify/mma_s4.toml", {"M": 32, "N": 32, "K": 64}),
        ("verify/mma_f64_sm80.ptx", "verify/mma_f64.toml", {"M": 32, "N": 16, "K": 40}),
        ("triton/product.ptx", "triton/product.toml", {"M": 40, "N": 30, "K": 50}),
    ],
)
def test_takes_the_branches_of_the_kernel(kernel: str, contract: str, sizes: dict[str, int]) -> None:
    whole = kernel_of(read_contract(EXAMPLES / contract), EXAMPLES / kernel)
    part = whole.control_part()
    assert part is not whole
    guards = guards_of(whole, EXAMPLES / contract, sizes)
    assert guards
    assert guards_of(part, EXAMPLES / contract, sizes) == guards


def test_keeps_guards_and_masks_of_what_it_leaves_out() -> None:
    body = (
        "setp.lt.u32 %p1, %r1, 7;\nsetp.lt.u32 %p2, %r1, 9;\n@%p1 ld.global.u32 %r2, [%d1];\n"
        "selp.b32 %r3, %r2, 0, %p2;\nst.global.u32 [%d1], %r3;\nret;"
    )
    part = control_part(function_of(body), {"%p1", "%p2"}, is_arithmetic)
    assert part is not None
    assert [str(each.predicate) for each in part.body if each.predicate is not None] == ["@%p1", "@%p2"]
    assert {each.opcode for each in part.body} == {"ld", "setp", "nanosleep", "ret"}
    bare = control_part(function_of(body), (), is_arithmetic)
    assert bare is not None
    assert [each.opcode for each in bare.body] == ["ret"]


def test_labels_stand_before_the_same_instructions() -> None:
    loop = "MORE:\nadd.u32 %r2, %r1, 1;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra MORE;\n"
    body = loop + "END:\nret;"
    part = control_part(function_of(body), (), is_arithmetic)
    assert part is not None
    assert [each.mnemonic for each in part.body] == ["ld.param.u32", "sub.u32", "setp.ne.u32", "bra", "ret"]
    assert {label: part.body[at].opcode for label, at in part.labels.items()} == {"MORE": "sub", "END": "ret"}


@pytest.mark.parametrize(
    "written",
    [
        "ld.global.u32 %r2, [%d1];",
        "atom.global.add.u32 %r2, [%d1], 1;",
        "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;",
        "",
    ],
)
def test_is_not_told_apart_from_data(written: str) -> None:
    body = f"{written}\nsetp.lt.u32 %p1, %r2, 7;\n@%p1 bra END;\nst.global.u32 [%d1], %r1;\nEND:\nret;"
    assert control_part(function_of(body), (), is_arithmetic) is None


OF_DATA = "ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; "
GUARDED = "setp.lt.u32 %p1, %r1, 7; @%p1 st.global.u32 [%d1+4], %r2; "


def test_the_part_that_stores_has_addresses_and_guards_alone() -> None:
    of_global = GUARDED.replace("[%d1+4]", "[%d2+4]")
    body = (
        OF_DATA + "cvta.to.global.u64 %d2, %d1; " + of_global + "st.shared.u32 [%r1], %r2; bar.sync 0; ret;"
    )
    part = store_part(function_of(body), is_arithmetic)
    assert part is not None
    assert [each.mnemonic for each in part.body] == [
        "ld.param.u64", "ld.param.u32", "cvta.to.global.u64", "setp.lt.u32", "st.global.u32", "ret",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "setp.lt.u32 %p1, %r2, 7; @%p1 st.global.u32 [%d1], %r1;",
        "setp.lt.u32 %p1, %r2, 7; @%p1 bra $END; st.global.u32 [%d1], %r1; $END:",
        "setp.lt.u32 %p1, %r2, 7; @%p1 mov.u64 %d1, 0; st.global.u32 [%d1], %r1;",
        "mad.wide.u32 %d2, %r2, 4, %d1; st.global.u32 [%d2], %r1;",
        "st.global.u32 [%d1], %r1; red.global.add.u32 [%d1+4], %r1;",
        "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1; setp.eq.u32 %p1, %r3, 0; @%p1 st.global.u32 [%d1], %r1;",
        "$TO: .branchtargets $A, $B; brx.idx %r1, $TO; $A: st.global.u32 [%d1], %r1; $B:",
        "setp.lt.u32 %p1, %r1, 7; @%p1 trap; st.global.u32 [%d1], %r1;",
    ],
    ids=["guard", "branch", "guarded address", "address", "atomic", "exchange", "table", "trap"],
)
def test_stores_that_are_not_by_arithmetic_alone_are_left_whole(body: str) -> None:
    assert store_part(function_of(OF_DATA + body + " ret;"), is_arithmetic) is None


def test_the_part_that_accesses_memory_computes_nothing_for_it() -> None:
    body = OF_DATA + (
        "mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2; shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; "
        "st.shared.u32 [%r1], %r3; bar.sync 0; atom.global.add.u32 %r4, [%d3], %r3; ret;"
    )
    part = memory_part(function_of(body), is_arithmetic)
    assert part is not None
    assert [each.mnemonic for each in part.body] == [
        "ld.param.u64", "ld.param.u32", "ld.global.u32", "mul.wide.u32", "add.u64", "st.shared.u32",
        "bar.sync", "atom.global.add.u32", "ret",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "setp.lt.u32 %p1, %r2, 7; @%p1 st.global.u32 [%d1], %r1;",
        "setp.lt.u32 %p1, %r2, 7; @%p1 bra $END; bar.sync 0; $END:",
        "mad.wide.u32 %d2, %r2, 4, %d1; ld.global.u32 %r3, [%d2];",
        "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1; st.shared.u32 [%r3], %r1;",
        "mad.wide.u32 %d2, %r1, 4, %d1; cp.async.ca.shared.global [%r1], [%d2], 4, %r2;",
    ],
    ids=["guard", "branch", "address", "exchange", "size"],
)
def test_memory_that_data_decide_on_is_left_whole(body: str) -> None:
    assert memory_part(function_of(OF_DATA + body + " ret;"), is_arithmetic) is None
