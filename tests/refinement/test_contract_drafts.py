"""Contracts written from what a kernel's code tells: true as far as they go, and accepted as they are."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import pytest

from mmaproof.refinement.contract.contract import Contract
from mmaproof.refinement.contract.parameters import ArrayParameter, PointerParameter
from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.drafts.contracts import TritonMetadata, draft, read_triton_metadata
from mmaproof.refinement.findings.demangling import LONGEST, demangled, spellings
from mmaproof.refinement.machine.front_end import read_outline
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError

from ..command_line import mmaproof
from ..contract_corpora import Known, kernels
from ..cuda_contracts import CORPUS as CUDA
from ..cuda_contracts import contract_of
from ..filled_drafts import Completed, completed
from ..triton_contracts import CORPUS, KERNELS, contract

RIGHT = sorted(name for name, facts in KERNELS.items() if facts["fault"] is None)


def corpora() -> Iterator[tuple[Path, Contract]]:
    """Yield every kernel with the contract that was written for it."""
    for name in RIGHT:
        yield CORPUS / name, parse_contract(contract(KERNELS[name]))
    for path in sorted(CUDA.glob("*.ptx")):
        yield path, parse_contract(contract_of(path.name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(("path", "written"), list(corpora()), ids=lambda each: getattr(each, "stem", ""))
def test_a_draft_agrees_with_the_contract_that_a_person_wrote(path: Path, written: Contract) -> None:
    found = parse_contract(draft(read_outline(path, written.entry)))
    assert not found.says_values
    described = {parameter.name: parameter for parameter in (*written.parameters, *written.pointers)}
    passed = [described[each] for each in written.passing if isinstance(each, str)]
    drafted = {parameter.name: parameter for parameter in (*found.parameters, *found.pointers)}
    mine_passed = [drafted[each] for each in found.passing if isinstance(each, str)]
    for mine, theirs in zip(mine_passed, passed, strict=True):
        if isinstance(theirs, PointerParameter):
            assert isinstance(mine, PointerParameter)
        elif isinstance(mine, ArrayParameter):
            assert isinstance(theirs, ArrayParameter), theirs.name
            assert mine.access == theirs.access
            if mine.format.bits == theirs.format.bits and mine.format.bits > 8:
                assert mine.format.name.strip("su") == theirs.format.name.strip("su")
        else:
            assert not isinstance(theirs, ArrayParameter), theirs.name
            assert mine.format.bits == theirs.format.bits


KNOWN = list(kernels())
SWEEP = [pytest.mark.sweep]
QUICK = {
    "grouped_f32_sm80.ptx", "moe_f16_sm80.ptx", "split_k_f16_sm80.ptx", "locked_sum_f32_sm80.ptx",
    "softmax.ptx", "geglu_fault_gate_of_b.ptx", "cross_entropy_backward.ptx", "reduction_f32", "tensor_s8",
    "sgemm.-O2", "split_k_blocks_f32.A5", "split_k_bias_f16.A5", "gemv_f16.CPU",
}  # fmt: skip
"""Kernels of each corpus, and of each way to pass parameters."""

SLOW = {"grouped_f32_sm80.ptx", "split_k_bias_f16.A5", "cross_entropy_backward.ptx", "split_k_blocks_f32.A5"}
"""Those of which only the accesses to memory are always looked at."""

READ = {known.name for known in KNOWN if known.name.rpartition("_")[2] in ("sm80.ptx", "f32", "f16", "s8")}


def completed_draft(known: Known, folder: Path) -> tuple[Path, Completed]:
    """Return a kernel's file, and its draft completed from the contract that a person wrote for it."""
    path, whole = known.place(folder), tomllib.loads(known.contract)
    launches = whole["launch"] if isinstance(whole.get("launch"), list) else [{}]
    entry = whole["kernel"].get("entry")
    drafts = [draft(read_outline(path, launch.get("entry", entry))) for launch in launches]
    return path, completed(drafts, whole)


def verdict_of(known: Known, folder: Path, *, memory: bool) -> str:
    path, found = completed_draft(known, folder)
    contract = folder / "completed.toml"
    contract.write_text(found.memory if memory else found.text, encoding="utf-8")
    return verify(path, contract).result.verdict


def chosen(always: Container[str], *, faults: bool) -> list[Any]:
    """Return kernels of which only some are always tested, with or without those that have a fault."""
    return [
        pytest.param(known, id=f"{known.corpus}, {known.name}", marks=[] if known.name in always else SWEEP)
        for known in KNOWN
        if faults or known.verdict == "verified"
    ]


@pytest.mark.parametrize("known", chosen(QUICK - SLOW, faults=True))
def test_a_draft_has_a_place_for_all_that_its_contract_says(known: Known, tmp_path: Path) -> None:
    """Of every kernel of every corpus: grid, sizes, names and formula make a contract of a draft."""
    assert verdict_of(known, tmp_path, memory=False) == known.verdict


@pytest.mark.parametrize("known", chosen(QUICK, faults=False))
def test_a_completed_draft_without_a_formula_gives_no_false_alarm(known: Known, tmp_path: Path) -> None:
    assert verdict_of(known, tmp_path, memory=True) == "safe"


@pytest.mark.parametrize("known", chosen(READ, faults=True))
def test_a_draft_tells_all_but_the_types_of_small_elements(known: Known, tmp_path: Path) -> None:
    """Numbers of 8 bits and fewer are moved in words, and nothing but arithmetic tells what they are."""
    _, found = completed_draft(known, tmp_path)
    contract = parse_contract(found.text)
    assert contract.says_values
    arrays = {
        parameter.name: parameter.format.bits
        for parameter in contract.parameters
        if isinstance(parameter, ArrayParameter)
    }
    assert [name for name in found.types if arrays[name] > 8] == []


def metadata_of(folder: Path, **changes: Any) -> Path:
    path = folder / "gemm.json"
    known = {"name": "gemm", "num_warps": 4, "warp_size": 32, "shared": 4096, "global_scratch_size": 0,
             "profile_scratch_size": 0}  # fmt: skip
    path.write_text(json.dumps(known | changes), encoding="utf-8")
    return path


def test_triton_tells_block_shared_memory_and_scratch(tmp_path: Path) -> None:
    metadata = read_triton_metadata(metadata_of(tmp_path))
    assert metadata == TritonMetadata("gemm", 128, 4096, (0, 0))
    found = parse_contract(draft(read_outline(CORPUS / RIGHT[0], None), metadata))
    assert found.launch.dynamic_shared is not None and found.launch.dynamic_shared.value({}) == 4096
    assert [str(parameter.format) for parameter in found.parameters[-2:]] == ["u64", "u64"]
    used = draft(read_outline(CORPUS / RIGHT[0], None), TritonMetadata("gemm", 128, 4096, (512, 0)))
    assert isinstance(parse_contract(used).parameters[-2], ArrayParameter)


SIGNED = {"signature": {"a": "*fp16", "b": "*fp16", "c": "*fp32", "M": "i32", "N": "i32", "K": "i32"}}


def test_the_grid_of_the_launch_makes_sizes_of_what_it_depends_on(tmp_path: Path) -> None:
    outline = read_outline(Path("examples/triton/product.ptx"), None)
    told = read_triton_metadata(metadata_of(tmp_path, **SIGNED, grid=["cdiv(M, 32)", "N"]))
    text = draft(outline, told)
    assert 'grid = ["cdiv(M, 32)", "N"]  # as the Python source launches it' in text
    found = parse_contract(text)
    assert [str(size) for size in found.sizes] and {"M = 1", "N = 1"} <= {*re.findall(r"^\w = 1", text, re.M)}
    values = {load["name"]: load.get("value") for load in tomllib.loads(text)["param"]}
    assert (values["M"], values["N"], values["K"]) == ("M", "N", 1)


@pytest.mark.parametrize("grid", [["cdiv(Q, 32)"], ["a"], []])
def test_a_grid_of_other_names_is_left_to_be_filled_in(grid: list[str], tmp_path: Path) -> None:
    outline = read_outline(Path("examples/triton/product.ptx"), None)
    text = draft(outline, read_triton_metadata(metadata_of(tmp_path, **SIGNED, grid=grid)))
    assert "grid = 1  # fill in" in text and parse_contract(text)


@pytest.mark.parametrize("changes", [{"num_warps": "four"}, {"shared": -1}, {"num_warps": None}])
def test_metadata_that_are_none(changes: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no metadata of Triton"):
        read_triton_metadata(metadata_of(tmp_path, **changes))


MANGLED = "_ZN2ns4gemmIfLi4EEEvPKT_PS1_if"
SOURCE = f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry {MANGLED}(.param .u64 a, .param .u64 c, .param .u32 n, .param .f32 alpha)
{{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %d<8>;
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [c]; ld.param.u32 %r1, [n];
    cvta.to.global.u64 %d3, %d1; cvta.to.global.u64 %d4, %d2;
    mov.u32 %r2, %tid.x; setp.ge.u32 %p1, %r2, %r1; @%p1 ret;
    mul.wide.u32 %d5, %r2, 4; add.s64 %d3, %d3, %d5; add.s64 %d4, %d4, %d5;
    ld.global.b32 %r3, [%d3]; st.global.b32 [%d4], %r3; ret;
}}
"""


def test_the_arguments_of_a_mangled_name_tell_types(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.ptx"
    kernel.write_text(SOURCE, encoding="utf-8")
    for name in spellings(MANGLED):
        text = draft(read_outline(kernel, name))
        found = parse_contract(text)
        assert [str(parameter.format) for parameter in found.parameters] == ["f32", "f32", "s32", "f32"]
        assert [parameter.name for parameter in found.parameters] == ["a", "c", "n", "alpha"]
        assert "ns::gemm<float, 4>" in text.splitlines()[0]
    assert {"gemm", "ns::gemm", "ns::gemm<float, 4>", MANGLED} < spellings(MANGLED)


def test_long_names_are_cut() -> None:
    assert len(demangled("_Z" + "4abcd" * 100)) == len(demangled("k" * 1000)) == LONGEST


def test_the_command_line(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.ptx"
    kernel.write_text(SOURCE, encoding="utf-8")
    told = mmaproof("contract", kernel)
    assert told.status == 0 and parse_contract(told.out).entry == MANGLED
    assert re.search(r"block = 32 .*fill in", told.out)
    assert mmaproof("contract", kernel, "--entry", "other").wrong_use
    assert mmaproof("contract", tmp_path / "none.ptx").wrong_use
    assert mmaproof("contract", kernel, "--from-triton", kernel).wrong_use


def test_arrays_of_indices_have_a_place_for_what_they_hold() -> None:
    """Of experts and slots, which addresses depend on, and of no matrix."""
    kernel = Path(__file__).parents[1] / "kernels" / "cuda_operators" / "moe_f16_sm80.ptx"
    arrays = draft(read_outline(kernel, None)).split("[[param]]")
    named = [re.search(r'name = "(\w+)"', array) for array in arrays if "# values = [0]" in array]
    assert [each and each[1] for each in named] == ["p3", "p4"]


TENSORS = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry copies(.param .align 64 .b8 copies_param_0[128], .param .align 64 .b8 copies_param_1[128])
{
.reg .b64 %d<8>; .reg .b32 %r<8>; .reg .f32 %f<4>;
.extern .shared .align 1024 .b8 tiles[];
mov.b32 %r0, copies_param_0;
cvt.u64.u32 %d0, %r0;
cvta.param.u64 %d0, %d0;
mov.b64 %d1, copies_param_1;
cvta.param.u64 %d1, %d1;
mov.u32 %r1, tiles;
mov.u32 %r2, 0;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 8192;
cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d0, {%r2, %r2}], [%r1];
mov.b64 %d2, 0x4000004000010000;
wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d2, %d2, 1, 1, 1, 0, 0;
cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d1, {%r2, %r2}], [%r1];
ret;
}
"""


def test_parameters_of_tensor_copies_are_tensor_maps(tmp_path: Path) -> None:
    kernel = tmp_path / "copies.ptx"
    kernel.write_text(TENSORS)
    text = draft(read_outline(kernel, "copies"))
    parse_contract(text)
    document = tomllib.loads(text)
    assert document["launch"]["block"] == 128
    read, written = document["param"]
    assert (read["type"], read["box"], read["swizzle"]) == ("tensor_map", [1, 64], 128)
    assert (written["type"], written["box"], written["swizzle"]) == ("tensor_map", [1, 32], 0)
    assert "8192 in line 15" in text
    arrays = {each["name"]: (each["type"], each["access"]) for each in document["array"]}
    assert arrays == {read["to"]: ("bf16", "in"), written["to"]: ("f32", "out")}


def test_triton_tells_boxes_of_tensor_maps(tmp_path: Path) -> None:
    kernel, metadata = tmp_path / "copies.ptx", tmp_path / "copies.json"
    kernel.write_text(TENSORS)
    maps = [
        {"swizzle": swizzle, "elem_size": size, "elem_type": kind, "block_size": box}
        for swizzle, size, kind, box in ((3, 2, 10, [64, 64]), (1, 1, 0, [32, 32]))
    ]
    known = {"name": "copies", "num_warps": 4, "shared": 8192, "tensordesc_meta": maps}
    metadata.write_text(json.dumps(known))
    document = tomllib.loads(draft(read_outline(kernel, "copies"), read_triton_metadata(metadata)))
    assert [(each["box"], each["swizzle"]) for each in document["param"]] == [([64, 64], 128), ([32, 32], 32)]
    assert [each["type"] for each in document["array"]] == ["bf16", "u8"]
