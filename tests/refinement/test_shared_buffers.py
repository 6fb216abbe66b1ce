"""Several arrays in one buffer: blocks of a scale and its numbers, workspaces, bytes that are nobody's."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.kernel_replay import document_of_kernel, replay
from mmaproof.refinement.verification import Verification, verify
from mmaproof.spec.errors import InputError

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry scaled(.param .u64 blocks, .param .u64 work, .param .u32 n)
{
    .reg .b32 %r<8>; .reg .b64 %d<10>; .reg .f32 %f<6>;
    ld.param.u64 %d1, [blocks]; ld.param.u64 %d2, [work]; mov.u32 %r1, %tid.x;
    shr.u32 %r2, %r1, 2; and.b32 %r3, %r1, 3; mul.wide.u32 %d3, %r2, 12; add.s64 %d4, %d1, %d3;
    ld.global.f32 %f1, [%d4]; cvt.u64.u32 %d5, %r3; add.s64 %d6, %d4, %d5; ld.global.s8 %r4, [%d6+4];
    cvt.rn.f32.s32 %f2, %r4; mul.rn.f32 %f3, %f1, %f2;
    mul.wide.u32 %d7, %r1, 4; add.s64 %d8, %d2, %d7; st.global.f32 [%d8+16], %f3;
    ret;
}
"""

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
block = 32
[sizes]
N = 8
[[buffer]]
name = "packed"
size = "12 * N"
[[buffer]]
name = "workspace"
size = "32 * N"
[[param]]
name = "blocks"
type = "pointer"
to = "packed"
[[param]]
name = "work"
type = "pointer"
to = "counters"
[[param]]
name = "n"
type = "u32"
value = "N"
[[array]]
name = "d"
type = "f32"
shape = ["N"]
strides = [3]
within = "packed"
[[array]]
name = "q"
type = "s8"
shape = ["N", 4]
strides = [12, 1]
within = "packed"
at = 4
[[array]]
name = "counters"
type = "u32"
shape = [2]
within = "workspace"
[[array]]
name = "C"
type = "f32"
shape = ["N", 4]
access = "out"
within = "workspace"
at = 16
[ensures]
formula = "C[i, j] = d[i] * q[i, j]"
"""


def verification(folder: Path, kernel: str = KERNEL, contract: str = CONTRACT) -> Verification:
    (folder / "kernel.ptx").write_text(kernel, encoding="utf-8")
    (folder / "kernel.toml").write_text(contract, encoding="utf-8")
    return verify(folder / "kernel.ptx", folder / "kernel.toml")


def test_arrays_lie_between_each_other(tmp_path: Path) -> None:
    result = verification(tmp_path).result
    assert (result.verdict, result.findings) == ("verified", ())
    assert any(assumption.startswith("workspace is aligned to") for assumption in result.assumptions)


def test_a_parameter_may_be_an_array_within_a_buffer(tmp_path: Path) -> None:
    own = '[[param]]\nname = "d"\ntype = "f32"\nshape = ["N"]\nstrides = [3]\nwithin = "packed"\n'
    text = CONTRACT.replace('[[param]]\nname = "blocks"\ntype = "pointer"\nto = "packed"\n', own)
    text = text.replace(own.replace("param", "array"), "")
    assert verification(tmp_path, contract=text).result.verdict == "verified"


@pytest.mark.parametrize(
    ("there", "instead", "kind", "told"),
    [
        ("[%d6+4]", "[%d6+8]", Kind.WRONG_VALUE, ""),
        ("mul.wide.u32 %d3, %r2, 12", "mul.wide.u32 %d3, %r2, 8", Kind.WRONG_VALUE, ""),
        ("mul.wide.u32 %d3, %r2, 12", "mul.wide.u32 %d3, %r2, 16", Kind.OUT_OF_BOUNDS, "packed"),
        ("[%d8+16]", "[%d8]", Kind.CLOBBERED, "counters[0], which is read-only"),
        ("[%d8+16]", "[%d8+12]", Kind.CLOBBERED, "byte 12 of workspace"),
        ("[%d8+16]", "[%d8+20]", Kind.WRONG_VALUE, "C[0,1]"),
        (
            "st.global.f32 [%d8+16]",
            "st.global.f32 [%d4]",
            Kind.OUT_OF_BOUNDS,
            "packed+0x0, which is read-only",
        ),
        ("ret;", "st.global.f32 [%d2+148], %f3; ret;", Kind.CLOBBERED, "byte 148 of workspace"),
        ("ld.global.f32 %f1, [%d4]", "ld.global.f32 %f1, [%d2+16]", Kind.UNINITIALISED, "C[0,0]"),
    ],
)
def test_faults_are_refuted(there: str, instead: str, kind: Kind, told: str, tmp_path: Path) -> None:
    assert there in KERNEL
    result = verification(tmp_path, KERNEL.replace(there, instead)).result
    assert result.verdict == "refuted"
    assert any(finding.kind is kind and told in finding.message for finding in result.findings), (
        result.findings
    )


def test_what_is_nobodys_may_be_read_but_not_written(tmp_path: Path) -> None:
    reads = KERNEL.replace(
        "ld.global.f32 %f1, [%d4];", "ld.global.f32 %f1, [%d4]; ld.global.u32 %r5, [%d4+8];"
    )
    assert verification(tmp_path, reads).result.verdict == "verified"
    back = KERNEL.replace("ret;", "ld.global.u32 %r6, [%d2+12]; st.global.u32 [%d2+12], %r6; ret;")
    assert verification(tmp_path, back).result.verdict == "verified"


def test_memory_alone(tmp_path: Path) -> None:
    alone = CONTRACT[: CONTRACT.index("[ensures]")]
    assert verification(tmp_path, contract=alone).result.verdict == "safe"
    result = verification(tmp_path, KERNEL.replace("[%d8+16]", "[%d8]"), alone).result
    assert Kind.CLOBBERED in {finding.kind for finding in result.findings}


def test_a_counterexample_is_run_again(tmp_path: Path) -> None:
    found = verification(tmp_path, KERNEL.replace("[%d6+4]", "[%d6+8]"))
    assert found.counterexample is not None
    saved = tmp_path / "counterexample.json"
    found.counterexample.save(saved)
    document = document_of_kernel(saved)
    assert document is not None and replay(saved, document).difference is not None


@pytest.mark.parametrize(
    ("there", "instead", "message"),
    [
        ("at = 4", "at = 2", "d and q share byte|q and d share byte"),
        ("at = 4", "at = 10", "does not fit packed of 96"),
        ('size = "12 * N"', 'size = "12 * K"', "K"),
        ('size = "12 * N"', "", "has no size"),
        ('within = "packed"\nat', 'within = "pack"\nat', "q lies within 'pack', which is not a buffer"),
        ('within = "packed"\nat = 4', "at = 4", "no pointer leads to q|at is of an array within one"),
        ('within = "packed"\nat', 'within = "packed"\ngaps = "any"\nat', "gaps is of a buffer"),
        ('to = "packed"', 'to = "d2"', "which is not an array"),
        ('[[buffer]]\nname = "packed"', '[[buffer]]\nname = "n"', "there are two parameters n"),
        ('type = "s8"', 'type = "s8"\nelement_bits = 16', "do not fill whole bytes|share byte|does not fit"),
    ],
)
def test_descriptions_that_do_not_suit(there: str, instead: str, message: str) -> None:
    assert there in CONTRACT
    with pytest.raises(InputError, match=message) as raised:
        list(parse_contract(CONTRACT.replace(there, instead), "c.toml").instances())
    assert str(raised.value).startswith("c.toml:")
