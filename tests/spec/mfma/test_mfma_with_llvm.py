"""llvm-mc as the oracle: which lines are legal on which target, and which words they are."""

from random import Random

import pytest
from llvm_mc import TARGETS, assembled, random_lines

from mmaproof.spec.errors import InputError
from mmaproof.spec.mfma.assembly import parse
from mmaproof.spec.mfma.catalogue import BY_NAME
from mmaproof.spec.mfma.encoding import encode
from mmaproof.spec.mfma.legality import violations
from mmaproof.spec.mfma.targets import Target, target_named

STRICTER = {"broadcast"}
"""Rules that llvm-mc does not check (contradiction lenient-assembler)."""

EXACT = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], "

SPELLINGS = [
    "V_MFMA_F32_32X32X8_F16 a[0:15], v[0:1], v[2:3], a[0:15]",
    "v_mfma_f32_32x32x8_f16_e64 acc[0:15], v[0:1], v[2:3], acc[0:15]",
    "v_mfma_f32_32x32x8_f16 A[0:15], V[0:1], v[2:3], a[0:15]",
    "v_mfma_f32_32x32x8_f16 a[0x0:0xf],v[ 0 : 1 ],v[0+2:(1+1)*1+1],a[0:15] // comment",
    "v_mfma_f32_32x32x8_f16 a[0:15], [v0,v1], [v2, v3], a[0:15] ; comment",
    "v_mfma_f32_32x32x8_f16 a [0:15], v\t[ 0:1 ], v [2:3], acc [0:15]",
    "v_mfma_f32_32x32x8_f16 a[0:15], v 0, v[2:3], a[0:15]",
    "v_mfma_f32_32x32x8_f16 a[0:15], [v0,v2], [v2, v3], a[0:15]",
    "v_mfma_f32_32x32x8_f16 a[0:15] v[0:1] v[2:3] 0 cbsz:1 abid:1 blgp:1",
    *(EXACT + rest for rest in (
        "a[0:15], cbsz:1", "a[0:15] cbsz:1, abid:1", "a[0:15] cbsz: 1", "a[0:15] cbsz :1",
        "a[0:15] cbsz:0x1", "a[0:15] cbsz:1+1", "a[0:15] cbsz:1 cbsz:1", "a[0:15] abid:1 cbsz:1",
        "a[0:15] CBSZ:1", "a[0:15] op_sel:[0,0,0]", "a[0:15] neg_lo:[0,0,0]", "a[0:15] clamp",
        "0x1", "1.0", "1.", ".5", "1e0", "0x3f800000", "1065353216", "0.15915494", "0.1591549",
        "0.15915494309189532", "0.0", "-0.0", "64", "65", "-16", "-17", "3+1", "+1", "-(1)", "0b11",
        "0xffffffff", "017", "018", "a[0:017]", "a[00:15]", "a[0:15] blgp:07", "0o17", "00",
        "0xffffffffffffffff", "0x3ff0000000000000", "- 1.0", "2.00", "0x3e22f983", "s0", "a[0:15] cbsz",
        "a[0:15] /* c */ cbsz:1",
    )),
    "v_mfma_f32_32x32x1_2b_f32 v[0:31], v[0], v[1:1], v[0:31]",
    *("v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], " + rest for rest in (
        "v[0:1] neg:[1,0,1]", "v[0:1] neg:[1,0]", "v[0:1] neg:[ 1 , 0 , 1 ]", "v[0:1] neg:[1,0,2]",
        "0 neg:[1]", "0 neg:[1,1,1,1]", "v[0:1] cbsz:1 abid:3 neg:[1,0,1]", "0.15915494309189532",
        "0.15915494", "1", "0.5",
        "0x3ff0000000000000", "0x3f800000", "0x3fc45f306dc9c882", "0 blgp:0", "0xffffffff",
        "0xffffffffffffffff",
    )),
    "v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3], 0.5",
    "v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3], v[0:3] blgp:-1",
    "v_mfma_i32_16x16x32_i8 v[254:257], v[0:1], v[2:3], v[0:3]",
    "v_mfma_i32_16x16x32_i8 v[3:0], v[0:1], v[2:3], v[0:3]",
    "v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3]",
]  # fmt: skip


def word_of(line: str, target: Target) -> int | None:
    """Return the word of a line, None where it violates a rule that llvm-mc checks."""
    try:
        written = parse(line)
    except InputError:
        return None
    if {violation.rule.id for violation in violations(written, target)} - STRICTER:
        return None
    return encode(written, target)


def differences(lines: list[str], name: str) -> list[tuple[str, int | None, int | None]]:
    target = target_named(name)
    pairs = zip(lines, assembled(lines, name), strict=True)
    return [(line, ours, theirs) for line, theirs in pairs if (ours := word_of(line, target)) != theirs]


@pytest.mark.parametrize("name", TARGETS)
def test_random_lines_are_legal_and_encoded_as_llvm_mc_has_them(name: str) -> None:
    lines = list(random_lines(Random(name), target_named(name), 3000))
    assert not differences(lines, name)
    accepted = [word for line in lines if (word := word_of(line, target_named(name))) is not None]
    assert len(accepted) > 600 and len(lines) - len(accepted) > 600


def test_spellings_are_taken_as_llvm_mc_takes_them() -> None:
    assert not differences(SPELLINGS, "gfx942")


@pytest.mark.parametrize("name", TARGETS)
def test_every_name_is_known_where_llvm_mc_knows_it(name: str) -> None:
    lines = []
    for mnemonic, rows in BY_NAME.items():
        row = rows.get(name, next(iter(rows.values())))
        sizes = [row.registers(operand) for operand in "dabc"]
        tuples = [f"[0:{size - 1}]" if size > 1 else "0" for size in sizes]
        lines.append(f"{mnemonic} a{tuples[0]}, v{tuples[1]}, a{tuples[2]}, a{tuples[3]}")
    assert not differences(lines, name)
