"""What PTX lacks, or instructions on registers don't model, is refused with its line, never ignored."""

from __future__ import annotations

import pytest
from ptx_instructions import execute, words

from mmaproof.spec.errors import InputError

REGISTERS = ".reg .b16 g<9>; .reg .b32 r<9>; .reg .b64 s<9>; .reg .pred p<9>; "

FORMS = [
    "add.s32 r1, r2, r3;",
    "add.cc.u32 r1, r2, r3;",
    "mul.wide.s32 s1, r2, r3;",
    "div.u32 r1, r2, r3;",
    "min.s32 r1, r2, r3;",
    "dp4a.s32.s32 r1, r2, r3, r4;",
    "and.b32 r1, r2, r3;",
    "shl.b32 r1, r2, r3;",
    "shf.l.wrap.b32 r1, r2, r3, r4;",
    "bfe.u32 r1, r2, r3, r4;",
    "prmt.b32 r1, r2, r3, r4;",
    "lop3.b32 r1, r2, r3, r4, 3;",
    "popc.b32 r1, r2;",
    "bfind.u32 r1, r2;",
    "add.rn.f32 r1, r2, r3;",
    "add.f32.bf16 r1, g2, r3;",
    "fma.rn.f16x2 r1, r2, r3, r4;",
    "max.f32 r1, r2, r3;",
    "neg.f64 s1, s2;",
    "testp.normal.f32 p1, r2;",
    "copysign.f32 r1, r2, r3;",
    "div.rn.f32 r1, r2, r3;",
    "rcp.approx.f32 r1, r2;",
    "ex2.approx.f32 r1, r2;",
    "cvt.u32.u16 r1, g2;",
    "cvt.rn.f16.f32 g1, r2;",
    "cvt.rn.f32.s32 r1, r2;",
    "cvt.rzi.s32.f32 r1, r2;",
    "cvt.rn.satfinite.e4m3x2.f32 g1, r2, r3;",
    "cvt.pack.sat.s16.s32 r1, r2, r3;",
    "mov.b32 r1, r2;",
    "mov.b32 {g1, g2}, r2;",
    "setp.lt.s32 p1, r2, r3;",
    "set.lt.u32.s32 r1, r2, r3;",
    "selp.b32 r1, r2, r3, p1;",
    "slct.b32.s32 r1, r2, r3, r4;",
    "shfl.sync.idx.b32 r1, r2, 0, 31, 0xffffffff;",
    "vote.sync.ballot.b32 r1, p1, 0xffffffff;",
    "match.any.sync.b32 r1, r2, 0xffffffff;",
    "redux.sync.add.s32 r1, r2, 0xffffffff;",
    "activemask.b32 r1;",
]


def _refusal(text: str) -> str:
    """Return the message of the one finding, or of the error, which must be of the instruction's line."""
    try:
        done = execute(f"{REGISTERS}\n{text}", {"a": ("b32", words(32, 1))}, {"d": "b32"})
    except InputError as error:
        return _misspelt(text, str(error))
    (finding,) = done.findings
    assert finding.kind == "unsupported"
    assert finding.file == "kernel.ptx"
    assert done.kernel.splitlines()[finding.line - 1] == text
    return finding.message


def _misspelt(text: str, message: str) -> str:
    """Return what is said of an instruction that ptxas refuses, behind its line."""
    right = execute(f"{REGISTERS}\n", {"a": ("b32", words(32, 1))}, {"d": "b32"})
    line = right.kernel[: right.kernel.index(REGISTERS)].count("\n") + 2
    place, _, said = message.partition(f"kernel.ptx:{line}: {text.partition(' ')[0].removesuffix(';')}: ")
    assert not place
    return said


@pytest.mark.parametrize("form", FORMS)
def test_a_modifier_that_is_not_known_is_refused(form: str) -> None:
    mnemonic, rest = form.split(" ", 1)
    assert ".novelty" in _refusal(f"{mnemonic}.novelty {rest}")


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_operand_is_refused(form: str) -> None:
    mnemonic, *rest = form.split(" ", 1)
    shortened = rest[0].rpartition(",")[0] if "," in rest[0] and "{" not in rest[0] else ""
    assert "operands" in _refusal(f"{mnemonic} {shortened};")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("add.f32x4 r1, r2, r3;", "f32x4"),
        ("add.sat.u32 r1, r2, r3;", ".sat is not for add.u32"),
        ("add.relu.f16 g1, g2, g3;", ".relu"),
        ("add.sat.f64 s1, s2, s3;", ".sat"),
        ("add.ftz.bf16 g1, g2, g3;", ".ftz"),
        ("add.rz.f16 g1, g2, g3;", ".rz"),
        ("fma.f32 r1, r2, r3, r4;", ".rn"),
        ("mad.rn.f16 g1, g2, g3, g4;", "mad has no form of .f16"),
        ("mul.s32 r1, r2, r3;", ".lo"),
        ("mul.wide.s64 s1, s2, s3;", "mul.wide has no form of .s64"),
        ("max.abs.f32 r1, r2, r3;", "operands"),
        ("max.xorsign.f32 r1, r2, r3;", ".xorsign"),
        ("setp.lo.s32 p1, r2, r3;", ".lo is not for .s32"),
        ("setp.lt.b32 p1, r2, r3;", ".lt is not for .b32"),
        ("setp.ltu.s32 p1, r2, r3;", ".ltu is not for .s32"),
        ("cvt.f16.f32 g1, r2;", "needs one of"),
        ("cvt.rn.f32.f16 r1, g2;", "takes no rounding"),
        ("cvt.f32.s32 r1, r2;", "needs one of"),
        ("cvt.s32.f32 r1, r2;", "needs one of .rni"),
        ("cvt.rn.s32.f32 r1, r2;", "needs one of .rni"),
        ("cvt.rni.f16.f32 g1, r2;", ".rni"),
        ("cvt.rs.f16x2.f32 r1, r2, r3, r4;", "needs one of .rn, .rz"),
        ("cvt.rn.e4m3x2.f32 g1, r2, r3;", ".satfinite"),
        ("cvt.rz.satfinite.e4m3x2.f32 g1, r2, r3;", ".rn"),
        ("cvt.pack.sat.s8.s32 r1, r2, r3;", "third operand"),
        ("cvt.pack.s16.s32 r1, r2, r3;", ".sat"),
        ("mov.v4.b32 {r1, r2, r3, r4}, {r1, r2, r3, r4};", ".v4"),
        ("mov.b32 {g1, g2, g3}, r3;", "3 parts of 32 bits"),
        ("lop3.b32 r1, r2, r3, r4, 256;", "from 0 to 255"),
        ("lop3.b32 r1, r2, r3, r4, r5;", "must be a constant"),
        ("rsqrt.rn.f32 r1, r2;", ".approx"),
        ("ex2.approx.f64 s1, s2;", "ex2 has no form of .f64"),
        ("add.f32 r1, r2, r3, r4;", "operands"),
        ("elect.sync r1|p1, 0x7fffffff;", "by lanes outside its mask"),
    ],
)
def test_forms_that_are_none_or_are_not_modelled_say_why(text: str, reason: str) -> None:
    assert reason in _refusal(text)


MISSPELT = (
    "fence.acq_rel.foo;",
    "fence.relaxed.gpu;",
    "fence.proxy.bogus;",
    "fence.mbarrier_init.relaxed.cluster;",
)


@pytest.mark.parametrize("text", MISSPELT)
def test_fences_that_ptx_does_not_have_are_illegal(text: str) -> None:
    done = execute(f"{REGISTERS}\n{text}", {"a": ("b32", words(32, 1))}, {"d": "b32"})
    assert {finding.kind for finding in done.findings} == {"illegal", "unsupported"}
    right = execute(f"{REGISTERS}\nfence.acq_rel.gpu;", {"a": ("b32", words(32, 1))}, {"d": "b32"})
    assert not right.findings


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("add.s32 f1, r2, r3;", "d is of .s32, not f1 of .f32"),
        ("add.f32 f1, u2, r3;", "a is of .f32, not u2 of .u32"),
        ("and.b32 r1, s2, r3;", "a is of .b32, not s2 of .b64"),
        ("add.s32 r1, %tid.x, 1;", "a is of .s32, not %tid.x"),
        ("add.s32 r1, r2, 1.0;", "b takes integers, not 1.0"),
        ("add.f32 r1, r2, 1;", "b takes floating-point constants, not 1"),
        ("sub.f16x2 r1, r2, 0x64006400;", "b of .f16x2 takes registers, not 1677747200"),
        ("shl.b32 r1, r2, s3;", "b is of .u32, not s3 of .b64"),
    ],
)
def test_operands_that_no_assembler_takes_are_errors(text: str, reason: str) -> None:
    declared = f"{REGISTERS} .reg .f32 f<9>; .reg .u32 u<9>;"
    with pytest.raises(InputError, match=r"kernel\.ptx:\d+: ") as refused:
        execute(f"{declared}\n{text}", {"a": ("b32", words(32, 1))}, {"d": "b32"})
    assert reason in str(refused.value)
    for right in ("add.f32 r1, r2, 0f3F800000;", "and.b32 f1, u2, r3;", "add.s32 u1, r2, WARP_SZ;"):
        assert execute(f"{declared}\n{right}", {"a": ("b32", words(32, 1))}, {"d": "b32"}).findings == ()
