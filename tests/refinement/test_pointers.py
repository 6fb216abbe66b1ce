"""Addresses passed beside arrays: pointers with offsets, aliases, arrays of pointers (grouped products)."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError

GROUPED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry grouped(.param .u64 As, .param .u64 Bs, .param .u64 Cs, .param .u64 Ks)
{
    .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<16>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [As]; ld.param.u64 %d2, [Bs]; ld.param.u64 %d3, [Cs]; ld.param.u64 %d4, [Ks];
    mov.u32 %r1, %ctaid.x; mul.wide.u32 %d5, %r1, 8; mul.wide.u32 %d6, %r1, 4;
    add.s64 %d1, %d1, %d5; add.s64 %d2, %d2, %d5; add.s64 %d3, %d3, %d5; add.s64 %d4, %d4, %d6;
    ld.global.u64 %d7, [%d1]; ld.global.u64 %d8, [%d2]; ld.global.u64 %d9, [%d3];
    ld.global.u32 %r2, [%d4];
    mov.u32 %r3, %tid.x; shr.u32 %r4, %r3, 2; and.b32 %r5, %r3, 3;
    mul.lo.u32 %r6, %r4, %r2; mov.u32 %r7, 0; mov.f32 %f1, 0f00000000;
NEXT:
    add.u32 %r8, %r6, %r7; mul.wide.u32 %d10, %r8, 4; add.s64 %d10, %d7, %d10; ld.global.f32 %f2, [%d10];
    shl.b32 %r9, %r7, 2; add.u32 %r9, %r9, %r5; mul.wide.u32 %d11, %r9, 4; add.s64 %d11, %d8, %d11;
    ld.global.f32 %f3, [%d11]; fma.rn.f32 %f1, %f2, %f3, %f1;
    add.u32 %r7, %r7, 1; setp.lt.u32 %p, %r7, %r2; @%p bra NEXT;
    mul.wide.u32 %d12, %r3, 4; add.s64 %d12, %d9, %d12; st.global.f32 [%d12], %f1;
    ret;
}
"""

GROUPED_CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 2
block = 16
[sizes]
K0 = 3
K1 = 5
[[param]]
name = "As"
type = "pointer"
to = ["A0", "A1"]
[[param]]
name = "Bs"
type = "pointer"
to = ["B", "B"]
at = [0, "16 * K0"]
[[param]]
name = "Cs"
type = "pointer"
to = ["C0", "C1"]
[[param]]
name = "Ks"
type = "u32"
shape = [2]
values = [3, 5]
[[array]]
name = "A0"
type = "f32"
shape = [4, "K0"]
[[array]]
name = "A1"
type = "f32"
shape = [4, "K1"]
[[array]]
name = "B"
type = "f32"
shape = ["K0 + K1", 4]
[[array]]
name = "C0"
type = "f32"
shape = [4, 4]
access = "out"
[[array]]
name = "C1"
type = "f32"
shape = [4, 4]
access = "out"
[ensures]
formula = [
  "C0[i, j] = sum(k < K0, A0[i, k] * B[k, j])",
  "C1[i, j] = sum(k < K1, A1[i, k] * B[K0 + k, j])",
]
"""

ALIASED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry move(.param .align 8 .b8 args[24])
{
    .reg .b32 %r; .reg .b64 %d<6>; .reg .f32 %f;
    ld.param.u64 %d1, [args]; ld.param.u64 %d2, [args+8]; ld.param.u64 %d3, [args+16];
    mov.u32 %r, %tid.x; mul.wide.u32 %d4, %r, 4; add.s64 %d1, %d1, %d4; add.s64 %d2, %d2, %d4;
    ld.global.f32 %f, [%d1]; bar.sync 0; st.global.f32 [%d2], %f;
    ret;
}
"""

ALIASED_CONTRACT = """
[kernel]
isa = "ptx"
[launch]
block = 32
[[param]]
name = "args"
size = 24
[[param.fields]]
name = "source"
offset = 0
type = "pointer"
to = "X"
at = 128
[[param.fields]]
name = "X"
offset = 8
type = "f32"
shape = [64]
access = "inout"
[[param.fields]]
name = "end"
offset = 16
type = "pointer"
to = "X"
at = 256
[ensures]
formula = "X[i] = old(X[i + 32]) if i < 32"
"""


def result_of(folder: Path, kernel: str, contract: str) -> Result:
    (folder / "kernel.ptx").write_text(kernel, encoding="utf-8")
    (folder / "kernel.toml").write_text(contract, encoding="utf-8")
    return verify(folder / "kernel.ptx", folder / "kernel.toml").result


def test_arrays_of_pointers(tmp_path: Path) -> None:
    result = result_of(tmp_path, GROUPED, GROUPED_CONTRACT)
    assert (result.verdict, result.findings) == ("verified", ())
    assert {output.name for output in result.outputs} == {"C0", "C1"}


@pytest.mark.parametrize(
    ("there", "instead", "kind"),
    [
        ("ld.global.u64 %d7, [%d1]", "ld.global.u64 %d7, [%d1+8]", Kind.OUT_OF_BOUNDS),
        ("ld.global.u64 %d9, [%d3]", "ld.param.u64 %d9, [Cs]; ld.global.u64 %d9, [%d9]", Kind.RACE),
        ("ld.global.u64 %d9, [%d3]", "ld.global.u64 %d9, [%d1]", Kind.OUT_OF_BOUNDS),
        ("ld.global.u64 %d8, [%d2]", "ld.param.u64 %d8, [Bs]; ld.global.u64 %d8, [%d8]", Kind.WRONG_VALUE),
        ("st.global.f32 [%d12]", "st.global.f32 [%d3]", Kind.OUT_OF_BOUNDS),
        ("mul.wide.u32 %d5, %r1, 8", "mul.wide.u32 %d5, %r1, 4", Kind.MISALIGNED),
    ],
)
def test_wrong_pointers_are_refuted(there: str, instead: str, kind: Kind, tmp_path: Path) -> None:
    assert there in GROUPED
    result = result_of(tmp_path, GROUPED.replace(there, instead), GROUPED_CONTRACT)
    assert result.verdict == "refuted"
    assert kind in {finding.kind for finding in result.findings}


def test_an_address_in_another_array(tmp_path: Path) -> None:
    result = result_of(tmp_path, ALIASED, ALIASED_CONTRACT)
    assert (result.verdict, result.equality) == ("verified", "bits")


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("ld.param.u64 %d1, [args]", "ld.param.u64 %d1, [args+8]"),
        ("ld.param.u64 %d2, [args+8]", "ld.param.u64 %d2, [args]"),
        ("ld.param.u64 %d1, [args]", "ld.param.u64 %d1, [args+16]"),
    ],
)
def test_a_wrong_address_is_refuted(there: str, instead: str, tmp_path: Path) -> None:
    assert there in ALIASED
    assert result_of(tmp_path, ALIASED.replace(there, instead), ALIASED_CONTRACT).verdict == "refuted"


def test_an_array_in_place_may_race_with_itself(tmp_path: Path) -> None:
    contract = ALIASED_CONTRACT.replace("at = 128", "at = 4").replace(
        "i + 32]) if i < 32", "i + 1]) if i < 63"
    )
    contract = contract.replace("block = 32", "block = 63")
    assert result_of(tmp_path, ALIASED, contract).verdict == "verified"
    result = result_of(tmp_path, ALIASED.replace(" bar.sync 0;", ""), contract)
    assert Kind.RACE in {finding.kind for finding in result.findings}


@pytest.mark.parametrize(
    ("there", "instead", "message"),
    [
        (
            'to = ["A0", "A1"]',
            'to = ["A0", "A1", "A9"]',
            "As points to 'A9', which is not an array; there are: Ks, A0",
        ),
        ('to = ["A0", "A1"]', "to = []", "to must be an array's name or a list of such names"),
        ('to = ["A0", "A1"]', "to = [1]", "to must be an array's name or a list of such names"),
        ('to = ["A0", "A1"]', 'to = ["A0", "A0"]', "no pointer leads to A1"),
        ('to = ["A0", "A1"]', "", "has no to: the array that it points to"),
        ('to = ["A0", "A1"]', 'to = ["A0", "A1"]\nshape = [2]', "unknown key 'shape'"),
        ('at = [0, "16 * K0"]', "at = [0]", "Bs points to 2 places, but at has 1"),
        ('at = [0, "16 * K0"]', 'at = [0, "16 * L"]', "L"),
        ('at = [0, "16 * K0"]', "alignment = 3", "alignment must be a power of two, not 3"),
        ('name = "C1"\ntype = "f32"\nshape = [4, 4]', 'name = "C1"\ntype = "f32"', "has no shape"),
        ('name = "C1"\ntype', 'name = "C0"\ntype', "there are two parameters C0"),
        ("A1[i, k] * B", "As[i, k] * B", "As"),
    ],
)
def test_descriptions_that_do_not_suit(there: str, instead: str, message: str) -> None:
    assert there in GROUPED_CONTRACT
    with pytest.raises(InputError, match=message) as raised:
        parse_contract(GROUPED_CONTRACT.replace(there, instead), "c.toml")
    assert str(raised.value).startswith("c.toml:")
