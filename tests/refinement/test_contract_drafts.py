"""Contracts written from what a kernel's code tells: true as far as they go, and accepted as they are."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mmaproof.refinement.contract import Contract
from mmaproof.refinement.contract_draft import FILL_IN, TritonMetadata, draft, read_triton_metadata
from mmaproof.refinement.contract_reading import parse_contract
from mmaproof.refinement.demangling import LONGEST, demangled, spellings
from mmaproof.refinement.front_end import read_outline
from mmaproof.refinement.parameters import ArrayParameter, PointerParameter
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError

from ..command_line import mmaproof
from ..cuda_contracts import CORPUS as CUDA
from ..cuda_contracts import contract_of
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
    described = {each.name: each for each in (*written.parameters, *written.pointers)}
    passed = [described[each] for each in written.passing if isinstance(each, str)]
    for mine, theirs in zip(found.parameters, passed, strict=True):
        if isinstance(theirs, PointerParameter):
            assert isinstance(mine, ArrayParameter) and mine.format.bits == 64
        elif isinstance(mine, ArrayParameter):
            assert isinstance(theirs, ArrayParameter), theirs.name
            assert mine.access == theirs.access
            if mine.format.bits == theirs.format.bits and mine.format.bits > 8:
                assert mine.format.name.strip("su") == theirs.format.name.strip("su")
        else:
            assert not isinstance(theirs, ArrayParameter), theirs.name
            assert mine.format.bits == theirs.format.bits


def filled(text: str, whole: dict[str, Any]) -> str:
    """Return a draft with what a contract says put where it is to be filled in."""
    parameters = iter(whole["param"])
    lines, current = [], {}
    for line in text.splitlines():
        key = line.partition(" = ")[0]
        if line == "[[param]]":
            current = next(parameters)
            lines.append(line)
        elif FILL_IN not in line and key not in ("shape", "value"):
            lines.append(line)
        elif key in ("grid", "dynamic_shared", "block"):
            lines.append(f"{key} = {json.dumps(whole['launch'][key])}")
        elif key == "# values":
            lines += [f"values = {json.dumps(current['values'])}"] if "values" in current else []
        elif line.startswith("#"):
            sizes = whole.get("sizes", {})
            lines += [f"{name} = {value}" for name, value in sizes.items()] if "M = 128" in line else []
        elif key in current:
            lines.append(f"{key} = {json.dumps(current[key])}")
            if key == "shape" and "strides" in current:
                lines.append(f"strides = {json.dumps(current['strides'])}")
        else:
            lines.append(line)
    return "\n".join([*lines, ""])


@pytest.mark.parametrize("name", RIGHT[:3])
def test_a_draft_is_a_contract_once_it_is_filled_in(name: str, tmp_path: Path) -> None:
    whole = tomllib.loads(contract(KERNELS[name]))
    completed = tmp_path / "gemm.toml"
    completed.write_text(filled(draft(read_outline(CORPUS / name, None)), whole), encoding="utf-8")
    assert verify(CORPUS / name, completed).result.verdict == "safe"


OPERATORS = CORPUS.parent / "cuda_operators"


@pytest.mark.parametrize(
    ("source", "kernel"),
    [("locked_sum_f32", "locked_sum_f32_sm80"), ("serial_split_k_f32", "serial_split_k_f32_edit_together")],
)
def test_a_draft_has_a_place_for_what_locks_and_counts_hold(source: str, kernel: str, tmp_path: Path) -> None:
    whole = tomllib.loads((OPERATORS / f"{source}.toml").read_text(encoding="utf-8"))
    completed = tmp_path / "kernel.toml"
    path = OPERATORS / f"{kernel}.ptx"
    completed.write_text(filled(draft(read_outline(path, None)), whole), encoding="utf-8")
    assert verify(path, completed).result.verdict == "safe"


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
    assert [str(each.format) for each in found.parameters[-2:]] == ["u64", "u64"]
    used = draft(read_outline(CORPUS / RIGHT[0], None), TritonMetadata("gemm", 128, 4096, (512, 0)))
    assert isinstance(parse_contract(used).parameters[-2], ArrayParameter)


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
        assert [str(each.format) for each in found.parameters] == ["f32", "f32", "s32", "f32"]
        assert [each.name for each in found.parameters] == ["a", "c", "n", "alpha"]
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
    named = [re.search(r'name = "(\w+)"', each) for each in arrays if "# values = [0]" in each]
    assert [each and each[1] for each in named] == ["p3", "p4"]
