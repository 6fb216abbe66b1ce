"""Structures passed by value: fields at their offsets, nested, empty; descriptions that do not suit."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.contract.parameters import ArrayParameter, Structure
from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.drafts.contracts import draft
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.machine.front_end import read_outline
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .align 8 .b8 args[40], .param .align 1 .b8 empty[1], .param .f32 beta)
{
    .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<12>; .reg .f32 %f<6>;
    mov.b64 %d1, args;
    add.s64 %d2, %d1, 16;
    ld.param.v2.u64 {%d3, %d4}, [args];
    ld.param.u32 %r1, [%d2];
    ld.param.u64 %d5, [%d2+8];
    ld.param.f32 %f1, [%d1+32];
    ld.param.f32 %f2, [beta];
    mov.u32 %r2, %tid.x; cvt.u64.u32 %d6, %r2; mov.u32 %r3, 0;
NEXT:
    cvt.u64.u32 %d7, %r3; mad.lo.s64 %d7, %d7, %d5, %d6; shl.b64 %d7, %d7, 2;
    add.s64 %d8, %d3, %d7; add.s64 %d9, %d4, %d7;
    ld.global.f32 %f3, [%d8]; mul.rn.f32 %f4, %f3, %f1; add.rn.f32 %f4, %f4, %f2; st.global.f32 [%d9], %f4;
    add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r1; @%p bra NEXT;
    ret;
}
"""

FIELDS = """
[[param.fields]]
name = "C"
offset = 8
type = "f32"
shape = ["M", 32]
access = "out"
[[param.fields]]
name = "A"
offset = 0
type = "f32"
shape = ["M", 32]
[[param.fields]]
name = "problem"
offset = 16
size = 16
fields = [
  { name = "rows", offset = 0, type = "s32", value = "M" },
  { name = "ld", offset = 8, type = "s64", value = 32 },
]
[[param.fields]]
name = "alpha"
offset = 32
type = "f32"
"""

CONTRACT = f"""
[kernel]
isa = "ptx"
[launch]
block = 32
[sizes]
M = 5
[[param]]
name = "args"
size = 40
{FIELDS}
[[param]]
name = "empty"
size = 1
fields = []
[[param]]
name = "beta"
type = "f32"
[ensures]
formula = "C[i, j] = alpha * A[i, j] + beta"
"""


def result_of(folder: Path, contract: str, kernel: str = KERNEL) -> Result:
    (folder / "scale.ptx").write_text(kernel, encoding="utf-8")
    (folder / "scale.toml").write_text(contract, encoding="utf-8")
    return verify(folder / "scale.ptx", folder / "scale.toml").result


def test_fields_lie_at_their_offsets(tmp_path: Path) -> None:
    contract = parse_contract(CONTRACT)
    assert [parameter.name for parameter in contract.parameters] == ["C", "A", "rows", "ld", "alpha", "beta"]
    structure, empty, beta = contract.passing
    assert isinstance(structure, Structure) and isinstance(empty, Structure) and beta == "beta"
    assert structure.fields == ((0, "A"), (8, "C"), (16, "rows"), (24, "ld"), (32, "alpha"))
    assert empty.fields == ()
    result = result_of(tmp_path, CONTRACT)
    assert (result.verdict, result.equality) == ("verified", "bits")


@pytest.mark.parametrize(
    ("there", "instead"),
    [("[%d2+8]", "[%d2+0]"), ("[%d1+32]", "[beta]"), ("{%d3, %d4}", "{%d4, %d3}"), ("[%d2]", "[%d2+8]")],
)
def test_a_wrong_field_is_refuted_or_left_undecided(there: str, instead: str, tmp_path: Path) -> None:
    assert result_of(tmp_path, CONTRACT, KERNEL.replace(there, instead)).verdict != "verified"


def test_bytes_that_no_field_describes_are_unknown(tmp_path: Path) -> None:
    result = result_of(tmp_path, CONTRACT, KERNEL.replace("[%d1+32]", "[%d1+36]"))
    assert result.verdict in ("refuted", "undecided")
    assert {finding.kind for finding in result.findings} <= {
        Kind.UNINITIALISED,
        Kind.UNDECIDED,
        Kind.WRONG_VALUE,
    }


@pytest.mark.parametrize(
    ("there", "instead", "message"),
    [
        (
            "size = 40",
            "size = 48",
            r"has 40 bytes \(.b8\[40\]\), but the contract passes args, a structure of 48",
        ),
        ("offset = 8\ntype", "offset = 4\ntype", "A, 8 bytes at 0, and C at 4 overlap"),
        ("offset = 32", "offset = 38", "alpha, 4 bytes at 38, does not fit 40 bytes"),
        ("offset = 32", "offset = 40", "offset must be an integer from 0 to 39, not 40"),
        ("offset = 8, type", "offset = 9, type", "ld, 8 bytes at 9, does not fit 16 bytes"),
        ("offset = 0\ntype", "type", "has no offset"),
        ("size = 40", "", "has no size"),
        ("size = 40", "size = 40\nvalue = 1", "unknown key 'value'"),
        ('name = "ld", offset', 'name = "A", offset', "there are two parameters A"),
        ("fields = []", "fields = 3", "must be a list of tables"),
        ("size = 1\nfields = []", 'type = "u16"\nvalue = 0', "has 1 bytes"),
    ],
)
def test_descriptions_that_do_not_suit(there: str, instead: str, message: str, tmp_path: Path) -> None:
    assert there in CONTRACT
    with pytest.raises(InputError, match=message):
        result_of(tmp_path, CONTRACT.replace(there, instead))


def test_a_draft_has_the_fields_that_the_kernel_loads(tmp_path: Path) -> None:
    kernel = tmp_path / "scale.ptx"
    kernel.write_text(KERNEL, encoding="utf-8")
    found = parse_contract(draft(read_outline(kernel, None)))
    structure, empty, beta = found.passing
    assert isinstance(structure, Structure) and isinstance(empty, Structure) and beta == "beta"
    assert [offset for offset, _ in structure.fields] == [0, 8, 16, 24, 32]
    assert empty.fields == ()
    kinds = {
        parameter.name: (str(parameter.format), isinstance(parameter, ArrayParameter))
        for parameter in found.parameters
    }
    assert list(kinds.values()) == [
        ("f32", True), ("f32", True), ("s32", False), ("s64", False), ("f32", False), ("f32", False),
    ]  # fmt: skip
