"""Launches: those that no hardware can do, and contracts that do not suit the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.launch_limits import launch_limits

ARRAY = '[[param]]\nname = "C"\ntype = "u32"\nshape = [1]\naccess = "out"\n'
FORMULA = '[ensures]\nformula = "C[i] = 7"\n'
STORED = "ld.param.u64 %rd1, [c];\nst.global.u32 [%rd1], 7;\n"


def verified(
    folder: Path,
    launch: str = "",
    *,
    target: str = "sm_80",
    version: str = "8.8",
    parameters: str = ".param .u64 c",
    limits: str = "",
    body: str = STORED,
    outside: str = "",
    passed: str = ARRAY,
) -> Result:
    kernel, contract = folder / "k.ptx", folder / "k.toml"
    kernel.write_text(
        f".version {version}\n.target {target}\n.address_size 64\n{outside}\n"
        f".visible .entry k({parameters}) {limits}\n"
        "{\n.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>;\n" + body + "\nret;\n}\n"
    )
    contract.write_text(f'[kernel]\nisa = "ptx"\n[launch]\n{launch}\n{passed}{FORMULA}')
    return verify(kernel, contract).result


ONE = "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n" + STORED
USED = "mov.u32 %r1, x;\nst.shared.u32 [%r1], 7;\n" + STORED


@pytest.mark.parametrize(
    ("launch", "message"),
    [
        ("block = [1, 1, 65]", "the block has 65 along z; at most 64"),
        ("block = [1, 1025]", "the block has 1025 along y; at most 1024"),
        ("block = [1025]", "the block has 1025 along x; at most 1024"),
        ("block = [33, 32]", "a block of 33 × 32 × 1 has 1056 threads; at most 1024"),
        ("grid = [1, 65536]", "the grid has 65536 along y; at most 65535"),
        ("grid = [1, 1, 65536]", "the grid has 65536 along z; at most 65535"),
        ("grid = 2147483648", "the grid has 2147483648 along x; at most 2147483647"),
        ("block = 4000000000000", "has 4000000000000 threads"),
        ("dynamic_shared = 166913", "166913 of them dynamic; sm_80 has at most 166912"),
    ],
)  # fmt: skip
def test_launches_beyond_every_limit(launch: str, message: str, tmp_path: Path) -> None:
    result = verified(tmp_path, launch)
    assert result.verdict is Verdict.REFUTED
    assert {finding.kind for finding in result.findings} == {Kind.ILLEGAL}
    assert any(message in finding.message for finding in result.findings)
    assert all(finding.line == 5 for finding in result.findings)


@pytest.mark.parametrize(
    "launch", ["block = [1, 1, 1]", "grid = [1, 300]", "dynamic_shared = 166912", "grid = 2000"]
)
def test_launches_within_the_limits(launch: str, tmp_path: Path) -> None:
    body = "mov.u32 %r1, %ctaid.y;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\n" + ONE
    assert verified(tmp_path, launch, body=body).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    ("target", "most"),
    [("sm_75", 64), ("sm_86", 99), ("sm_87", 163), ("sm_88", 99), ("sm_90a", 227), ("sm_120", 99)],
)
def test_shared_memory_is_that_of_the_target(target: str, most: int, tmp_path: Path) -> None:
    fits = verified(tmp_path, f"dynamic_shared = {most * 1024}", target=target)
    assert fits.verdict is Verdict.VERIFIED
    assert verified(tmp_path, f"dynamic_shared = {most * 1024 + 1}", target=target).verdict is Verdict.REFUTED
    both = ".shared .align 4 .b8 x[1024];\n"
    assert (
        verified(tmp_path, f"dynamic_shared = {most * 1024 - 1020}", target=target, body=both + USED).verdict
        is Verdict.REFUTED
    )


@pytest.mark.parametrize(("size", "verdict"), [(49152, Verdict.VERIFIED), (49156, Verdict.REFUTED)])
def test_static_shared_memory(size: int, verdict: Verdict, tmp_path: Path) -> None:
    declared = f".shared .align 4 .b8 x[{size}];\n"
    assert verified(tmp_path, body=declared + USED).verdict is verdict
    assert verified(tmp_path, outside=declared, body=USED).verdict is verdict
    assert verified(tmp_path, outside=declared).verdict is Verdict.VERIFIED


@pytest.mark.parametrize(
    ("declared", "what"),
    [
        (".shared .align 4 .b8 x[1099511627776];", "static shared memory"),
        (".local .align 4 .b8 x[1099511627776];", "local memory"),
        (".local .align 4 .b8 x[524292];", "local memory"),
        (".const .align 4 .b8 x[65540];", "constant memory"),
        (".const .align 4 .b8 x[1099511627776];", "constant memory"),
    ],
)
def test_static_arrays_beyond_every_memory(declared: str, what: str, tmp_path: Path) -> None:
    result = verified(tmp_path, body=declared + "\nmov.u64 %rd2, x;\n" + STORED)
    assert [finding.kind for finding in result.findings] == [Kind.ILLEGAL]
    assert what in result.findings[0].message


@pytest.mark.parametrize(
    ("limits", "launch", "message"),
    [
        (".reqnctapercluster 2", "grid = 3", "not a whole number of clusters of 2 × 1 × 1"),
        (".reqnctapercluster 32", "grid = 32", "clusters of 32 blocks; at most 16"),
    ],
)
def test_clusters_that_do_not_fit(limits: str, launch: str, message: str, tmp_path: Path) -> None:
    result = verified(tmp_path, launch, limits=limits, target="sm_90")
    assert [finding.kind for finding in result.findings] == [Kind.ILLEGAL]
    assert message in result.findings[0].message


@pytest.mark.parametrize(
    ("limits", "launch", "message"),
    [
        (".reqntid 64", "block = 32", r"blocks of \(64, 1, 1\), not \(32, 1, 1\)"),
        (".reqntid 8, 8", "block = 64", r"blocks of \(8, 8, 1\), not \(64, 1, 1\)"),
        (".maxntid 8, 8", "block = 65", "at most 64 threads a block, not 65"),
    ],
)
def test_the_block_is_what_the_kernel_declares(
    limits: str, launch: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        verified(tmp_path, launch, limits=limits)


def test_clusters_need_a_target_that_has_them(tmp_path: Path) -> None:
    result = verified(tmp_path, "grid = 2", limits=".reqnctapercluster 2")
    assert "the target has no clusters" in result.findings[0].message


def test_parameter_space_depends_on_the_version() -> None:
    assert launch_limits("sm_80", (8, 0)).parameters == 4352
    assert launch_limits("sm_80", (8, 1)).parameters == 32764


SCALAR = '[[param]]\nname = "N"\ntype = "{}"\nvalue = 1\n'


@pytest.mark.parametrize(
    ("declared", "passed", "message"),
    [
        (".param .u64 n", "s32", "parameter n has 8 bytes (.u64), but the contract passes N, s32 of 4"),
        (".param .u32 n", "u64", "parameter n has 4 bytes (.u32), but the contract passes N, u64 of 8"),
        (".param .align 4 .b8 n[12]", "s32", "parameter n has 12 bytes (.b8[12])"),
        (".param .u16 n", "f32", "parameter n has 2 bytes (.u16), but the contract passes N, f32 of 4"),
        (".param .u32 n", "pointer", "but the contract passes N, a pointer of 8"),
    ],
)
def test_parameters_have_the_bytes_that_are_passed(
    declared: str, passed: str, message: str, tmp_path: Path
) -> None:
    text = ARRAY.replace('"C"', '"N"').replace("out", "in") if passed == "pointer" else SCALAR.format(passed)
    with pytest.raises(InputError) as error:
        verified(tmp_path, parameters=f".param .u64 c, {declared}", passed=ARRAY + text)
    assert message in str(error.value)
    assert "k.ptx:5" in str(error.value)


@pytest.mark.parametrize(
    ("declared", "passed"),
    [(".param .align 8 .b8 n[8]", "u64"), (".param .b32 n", "f32"), (".param .align 2 .b8 n[2]", "f16"),
     (".param .u8 n", "s8"), (".param .u64 n", "s64")],
)  # fmt: skip
def test_parameters_of_any_type_with_the_bytes_passed(declared: str, passed: str, tmp_path: Path) -> None:
    parameters = f".param .u64 c, {declared}"
    result = verified(tmp_path, parameters=parameters, passed=ARRAY + SCALAR.format(passed))
    assert result.verdict is Verdict.VERIFIED


def test_parameters_are_as_many_as_are_passed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"k takes 2 arguments, not 1: c \(u64\), n \(u32\)"):
        verified(tmp_path, parameters=".param .u64 c, .param .u32 n")


OPEN = ".extern .shared .align 16 .b8 x[];"


def test_dynamic_shared_memory_that_the_contract_does_not_mention(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"k\.ptx:\d+: st\.shared\.u32 .* dynamic_shared in \[launch\]"):
        verified(tmp_path, outside=OPEN, body=USED)
    result = verified(tmp_path, "dynamic_shared = 0", outside=OPEN, body=USED)
    assert {finding.kind for finding in result.findings} == {Kind.OUT_OF_BOUNDS}
    assert verified(tmp_path, "dynamic_shared = 4", outside=OPEN, body=USED).verdict is Verdict.VERIFIED
    assert verified(tmp_path, outside=OPEN).verdict is Verdict.VERIFIED


def test_a_grid_that_nobody_would_wait_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at most 268435456"):
        verified(tmp_path, "grid = 2147483647\nblock = 1024")


@pytest.mark.parametrize(
    ("literal", "value"), [("1e40", 0x7F800000), ("1.5", 0x3FC00000), ("1e400", 0x7F800000)]
)
def test_literals_beyond_floats_are_infinite(literal: str, value: int, tmp_path: Path) -> None:
    body = f".reg .f32 %f<2>;\nld.param.u64 %rd1, [c];\nmov.f32 %f1, {literal};\nst.global.f32 [%rd1], %f1;\n"
    kernel, contract = tmp_path / "k.ptx", tmp_path / "k.toml"
    assert verified(tmp_path, body=body).verdict is Verdict.REFUTED
    contract.write_text(contract.read_text(encoding="utf-8").replace("= 7", f"= {value}"), encoding="utf-8")
    assert verify(kernel, contract).result.verdict is Verdict.VERIFIED
