"""MFMA text and its errors; documented examples of legality, layout and encoding."""

import pytest

from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.instruction_set import read
from mmaproof.spec.mfma.assembly import parse
from mmaproof.spec.mfma.encoding import encode
from mmaproof.spec.mfma.instructions import Registers
from mmaproof.spec.mfma.targets import target_named

LINE = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an instruction is expected"),
        ("v_mfma_f32_32x32x9_f16", "did you mean v_mfma_f32_32x32x8_f16"),
        ("v_mfma", "known are v_mfma_<type>"),
        ("v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[2:3]", "takes D, A, B and C, not 3 operands"),
        (f"{LINE} abid:1 cbsz:1", "cbsz stands after abid; the order is cbsz, abid, blgp, neg"),
        (f"{LINE} op_sel:[0,0,0]", "unknown modifier 'op_sel'; known: cbsz, abid, blgp, neg"),
        (f"{LINE} neg:[1,0,2]", r"neg:\[1,0,2\] must be \[a,b,c\], each 0 or 1"),
        (f"{LINE} cbsz:x", "symbol x is not known"),
        (f"{LINE} cbsz:1 v0", "'v0' stands after a modifier"),
        (LINE.replace("v[0:1]", "v[vgprA+0:vgprA+1]"), "symbol vgprA is not known"),
        (LINE.replace("v[0:1]", "v[1:0]"), r"v\[1:0\] ends before it begins"),
        (LINE.replace("v[0:1]", "[v0,v2]"), r"\[v0,v2\] are not consecutive registers"),
        (LINE.replace("v[0:1]", "vcc"), "'vcc' is no operand"),
        (LINE.replace("v[0:1]", "v[0:1"), "is no operand"),
        (LINE.replace("v[0:1]", "v[0:(1]"), "a parenthesis is not closed"),
        (LINE.replace("v[0:1]", f"v[{'(' * 90}0{')' * 90}:1]"), "nested|characters of operands"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(text)


@pytest.mark.parametrize(
    "text",
    ["v_smfmac_f32_16x16x32_f16", "v_mfma_scale_f32_16x16x128_f8f6f4", "v_mfma_f32_16x16x128_f8f6f4",
     "v_accvgpr_read_b32 v0, a0"],
)  # fmt: skip
def test_what_is_known_but_not_modelled_is_named(text: str) -> None:
    with pytest.raises(UnsupportedError, match="known, but not modelled"):
        read(text)


def rules(text: str, target: str) -> list[str]:
    return [violation.rule.id for violation in read(text).legal(target).violations]


@pytest.mark.parametrize(
    ("text", "target", "violated"),
    [
        (LINE, "gfx942", []),
        (LINE, "gfx908", ["target"]),
        ("v_mfma_f32_32x32x8f16 a[0:15], v[1:2], v[3:4], a[0:15]", "gfx908", []),
        ("v_mfma_f32_32x32x8f16 a[0:15], v[1:2], v[3:4], a[0:15]", "gfx90a", ["even-registers"] * 2),
        ("v_mfma_f32_32x32x8f16 v[0:15], v[0:1], v[2:3], v[0:15]", "gfx908", ["result-file"] * 2),
        ("v_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], 0", "gfx908", ["constant"]),
        (LINE.replace("a[0:15]", "a[0:7]", 1), "gfx942", ["register-count", "overlap"]),
        (LINE.replace("v[0:1]", "s[0:1]"), "gfx942", ["vector-operands"]),
        (LINE.replace("v[0:1]", "0"), "gfx942", ["vector-operands"]),
        (LINE.replace("v[0:1]", "v[255:256]"), "gfx942", ["register-range", "even-registers"]),
        (LINE.replace("a[0:15]", "v[0:15]", 1), "gfx942", ["result-file"]),
        (f"{LINE} cbsz:1", "gfx942", ["broadcast"]),
        (f"{LINE} cbsz:9", "gfx942", ["modifier-range"]),
        ("v_mfma_f32_4x4x4_16b_f16 v[0:3], v[0:1], v[2:3], v[0:3] cbsz:2 abid:4", "gfx942", ["broadcast"]),
        ("v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[0:1] blgp:0", "gfx942", ["negation"]),
        ("v_mfma_f64_4x4x4f64 v[0:1], v[0:1], v[2:3], v[0:1] blgp:1", "gfx90a", []),
        ("v_mfma_f64_4x4x4f64 v[0:1], v[0:1], v[2:3], v[0:1] neg:[1,0,0]", "gfx90a", ["negation"]),
    ],
)  # fmt: skip
def test_rules(text: str, target: str, violated: list[str]) -> None:
    assert rules(text, target) == violated


def test_one_name_is_two_instructions() -> None:
    judgement = read("v_mfma_f32_32x32x4bf16").legal("gfx90a")
    assert [note.text for note in judgement.notes] == [
        "on gfx940, gfx941, gfx942, gfx950, gfx9-4-generic the name stands for v_mfma_f32_32x32x4_2b_bf16, "
        "another instruction"
    ]
    table = read("v_mfma_f32_32x32x4bf16").layout("a", "gfx90a")
    assert [axis.name for axis in table.axes] == ["row", "k"]
    assert len(read("v_mfma_f32_32x32x4bf16").layout("a").axes) == 3


@pytest.mark.parametrize(
    ("text", "target", "code"),
    [
        (LINE, "gfx942", "00 80 cc d3 00 05 02 04"),
        (LINE.replace("_f16", "f16"), "gfx908", "00 00 cc d3 00 05 02 04"),
    ],
)
def test_documented_encodings(text: str, target: str, code: str) -> None:
    word = encode(parse(text), target_named(target))
    assert word.to_bytes(8, "little").hex(" ") == code


def test_a_pair_of_registers_holds_a_double() -> None:
    """AMD's lab notes' example of f64 4x4x4: lane = 16·row + 4·block + column."""
    table = read("v_mfma_f64_4x4x4_4b_f64").layout("d")
    for row in table.rows():
        assert row["lane"] == 16 * row["row"] + 4 * row["block"] + row["column"]
        assert (row["register"], row["bit"]) == (0, 0)
    wide = read("v_mfma_f64_16x16x4_f64").layout("c")
    assert {(row["element"], row["register"]) for row in wide.rows()} == {(i, 2 * i) for i in range(4)}


def test_one_register_is_written_without_brackets() -> None:
    assert [str(Registers("v", 5, count)) for count in (1, 2)] == ["v5", "v[5:6]"]
