"""Pairs of a right kernel and one that is nearly it, and contracts that nobody means."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import pytest

from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError

from ..element_contracts import contract_of
from ..elementwise_kernels import kernel_text, result_of

ONE = {"X": "f32", "Y": "f32 out"}
TWO = {"A": "f32", "B": "f32", "Y": "f32 out"}
HALF = {"X": "f16", "Y": "f32 out"}
WORD = {"X": "s32", "Y": "s32 out"}
WORDS = {"A": "s32", "B": "s32", "Y": "s32 out"}
BYTES = {"A": "u8", "B": "u8", "Y": "s32 out"}
MIXED = {"X": "s32", "Y": "f32 out"}
MASKED = {"A": "f32", "M": "s8", "B": "f32", "C": "f32 out"}
BITS = 'equality = "bits"'


def single(number: float) -> str:
    return f"0f{struct.pack('>f', number).hex().upper()}"


class Pair(NamedTuple):
    """Two kernels: `right` is verified, or at least not refuted where it is not `shown`; `wrong` never is."""

    right: str
    wrong: str
    formula: str
    arrays: dict[str, str]
    ensures: str = ""
    requires: tuple[str, ...] = ()
    refuted: bool = True
    shown: bool = True


UNLESS = "mul.f32 %f2, %X, %X; selp.f32 %Y, 0f00000000, %f2, %p1;"
HOLE = "sub.f32 %f1, %X, {}; abs.f32 %f1, %f1; setp.lt.f32 %p1, %f1, {}; " + UNLESS
ONE_HALF = (
    "cvt.f32.f16 %f3, %X; setp.eq.f32 %p1, %f3, {}; mul.f32 %f2, %f3, %f3; selp.f32 %Y, 0f00000000, %f2, %p1;"
)
ONE_WORD = "and.b32 %r1, %X, {}; setp.eq.s32 %p1, %r1, {}; mul.lo.s32 %r2, %X, %X; selp.b32 %Y, 0, %r2, %p1;"
FRACTION = "mov.b32 %r1, %X; and.b32 %r1, %r1, {}; setp.eq.s32 %p1, %r1, {}; " + UNLESS
BOTH = (
    "setp.eq.s32 %p1, %A, {}; setp.eq.and.s32 %p1, %B, {}, %p1; mul.lo.s32 %r2, %A, %B; "
    "selp.b32 %Y, 0, %r2, %p1;"
)
MASK = "setp.ne.s32 %p1, %M, 0; selp.f32 %f1, %A, 0fFF800000, %p1; selp.f32 %f6, %B, 0fFF800000, %p1; "
SCORES = MASK + "max.f32 %f2, %f1, %f6; sub.f32 %f3, %f1, %f2; ex2.approx.f32 %f3, %f3; "
SQUARED = "mul.lo.s32 %r1, %X, %X; cvt.rn.f32.s32 %Y, %r1;"
SQUARE = "Y[i] = X[i] * X[i]"

PAIRS = {
    "a hole of no width": Pair(
        HOLE.format(single(1.2345), single(0)), HOLE.format(single(1.2345), single(1e-6)),
        SQUARE, ONE, refuted=False,
    ),
    "one half": Pair(ONE_HALF.format(single(0)), ONE_HALF.format(single(1.0009765625)), SQUARE, HALF),
    "the least half": Pair(ONE_HALF.format(single(0)), ONE_HALF.format(single(2.0**-24)), SQUARE, HALF),
    "one word": Pair(ONE_WORD.format(1, 2), ONE_WORD.format(-1, 123456789), SQUARE, WORD, shown=False),
    "an exponent": Pair(
        FRACTION.format("0x7f800000", 1), FRACTION.format("0x7f800000", "0x41800000"), SQUARE, ONE
    ),
    "a fraction": Pair(
        FRACTION.format("0x7f800000", 7), FRACTION.format("0x7fffff", "0x12345"), SQUARE, ONE, refuted=False
    ),
    "a pair of bytes": Pair(
        BOTH.format(300, 7), BOTH.format(17, 201),
        "Y[i] = A[i] * B[i]", BYTES, shown=False,
    ),
    "numbers below 1e-38": Pair(
        "mov.f32 %Y, %X;",
        f"abs.f32 %f1, %X; setp.lt.f32 %p1, %f1, {single(1e-38)}; selp.f32 %Y, 0f00000000, %X, %p1;",
        "Y[i] = X[i]", ONE,
    ),
    "numbers beyond 1e38": Pair(
        "mov.f32 %Y, %X;", f"setp.gt.f32 %p1, %X, {single(1e38)}; selp.f32 %Y, 0f00000000, %X, %p1;",
        "Y[i] = X[i]", ONE,
    ),
    "relu by the sign": Pair(
        *(
            f"mov.b32 %r1, %X; shr.s32 %r2, %r1, {by}; not.b32 %r2, %r2; and.b32 %Y, %r1, %r2;"
            for by in (31, 30)
        ),
        "Y[i] = relu(X[i])", ONE, shown=False,
    ),
    "a tenth": Pair(
        *[f"mul.f32 %Y, %X, {single(0.1)};", f"mul.f32 %Y, %X, {single(0.1000001)};"],
        "Y[i] = 0.1 * X[i]", ONE, 'error = "7.5e-8 * abs(0.1 * X[i])"',
    ),
    "a literal's last bit": Pair(
        *[f"add.f32 %Y, %X, {single(0.1)};", f"add.f32 %Y, %X, {single(0.10000001)};"],
        "Y[i] = X[i] + 0.1", ONE, 'error = "7.5e-8 * abs(X[i]) + 7.5e-9"',
    ),
    "a product rounded once": Pair(
        *["fma.rn.f32 %Y, %A, %B, %A;", "mul.rn.f32 %f1, %A, %B; add.rn.f32 %Y, %f1, %A;"],
        "Y[i] = fma(A[i], B[i], A[i])", TWO, BITS,
    ),
    "rounded to nearest": Pair(
        *(f"mul.{mode}.f32 %Y, %A, %B;" for mode in ("rn", "rz")), "Y[i] = A[i] * B[i]", TWO, BITS
    ),
    "the sign of nought": Pair(
        "neg.f32 %Y, %X;", "sub.f32 %Y, 0f00000000, %X;", "Y[i] = -X[i]", ONE, BITS
    ),
    "masked scores": Pair(
        SCORES + "selp.f32 %C, %f3, 0f00000000, %p1;", SCORES + "mov.f32 %C, %f3;",
        "C[i] = where(M[i] != 0, exp2(A[i] - max(A[i], B[i])), 0)", MASKED,
    ),
    "an infinity that is compared": Pair(
        MASK + "mul.f32 %f2, %A, %B; setp.lt.and.f32 %p2, %f2, 0f00000000, %p1; selp.f32 %C, %B, %A, %p2;",
        MASK + "mul.f32 %f2, %f1, %B; setp.lt.f32 %p2, %f2, 0f00000000; selp.f32 %C, %B, %A, %p2;",
        "C[i] = where(M[i] != 0 and A[i] * B[i] < 0, B[i], A[i])", MASKED,
    ),
    "the maximum of a NaN": Pair(
        *(f"mov.f32 %f1, 0f7FC00000; min{nan}.f32 %Y, %f1, %X;" for nan in ("", ".NaN")), "Y[i] = X[i]", ONE
    ),
    "the power of an infinity": Pair(
        *(
            f"mov.f32 %f1, 0f{word}; ex2.approx.f32 %f2, %f1; add.f32 %Y, %f2, %X;"
            for word in ("FF800000", "7F800000")
        ),
        "Y[i] = X[i]", ONE,
    ),
    "a NaN's exponent": Pair(
        *(
            f"mov.f32 %f1, 0fBF800000; sqrt.rn.f32 %f1, %f1; mov.b32 %r1, %f1; and.b32 %r1, %r1, {mask}; "
            f"setp.eq.s32 %p1, %r1, {mask}; selp.f32 %Y, %X, 0f00000000, %p1;"
            for mask in ("0x7f800000", "0x7fffffff")
        ),
        "Y[i] = X[i]", ONE, shown=False,
    ),
    "a number that nobody has": Pair(
        "mov.u32 %r1, %nsmid; setp.gt.u32 %p1, %r1, 8; selp.f32 %Y, %X, %X, %p1;",
        "mov.u32 %r1, %warpid; setp.eq.u32 %p1, %r1, 0; selp.f32 %Y, %X, 0f00000000, %p1;",
        "Y[i] = X[i]", ONE,
    ),
    "a shift beyond the word": Pair(
        *(f"mov.u32 %r2, 40; shf.l.{mode}.b32 %Y, 0, %X, %r2;" for mode in ("wrap", "clamp")),
        "Y[i] = s32(X[i] * 256)", WORD,
    ),
    "the high half of a product": Pair(
        *(f"mul.hi.{kind} %Y, %A, %B;" for kind in ("s32", "u32")), "Y[i] = (A[i] * B[i]) >> 32", WORDS
    ),
    "a sum that saturates": Pair(
        *(f"add{sat}.s32 %Y, %A, %B;" for sat in (".sat", "")),
        "Y[i] = min(max(A[i] + B[i], -2147483648), 2147483647)", WORDS,
    ),
    "bytes with a sign": Pair(
        *(f"dp4a.{kind}.s32 %Y, %A, %B, 0;" for kind in ("s32", "u32")),
        "Y[i] = sum(q < 4, s8(A[i] >> (8 * q)) * s8(B[i] >> (8 * q)))", WORDS,
    ),
    "the least of integers": Pair(
        *(f"min.{kind} %Y, %A, %B;" for kind in ("s32", "u32")), "Y[i] = min(A[i], B[i])", WORDS
    ),
    "a product within 32 bits": Pair(
        SQUARED,
        "mul.lo.s32 %r1, %X, %X; mul.lo.s32 %r1, %r1, %X; cvt.rn.f32.s32 %Y, %r1;",
        SQUARE, MIXED, requires=("abs(X[i]) <= 40000",),
    ),
}  # fmt: skip


def outcome(pair: Pair, body: str, requires: tuple[str, ...] | None = None) -> Result:
    met = pair.requires if requires is None else requires
    return result_of(body, pair.formula, pair.arrays, requires=met, ensures=pair.ensures)


@pytest.mark.parametrize("name", PAIRS)
def test_the_right_kernel_is_verified(name: str) -> None:
    found = outcome(PAIRS[name], PAIRS[name].right)
    assert found.verdict == "verified" or (found.verdict == "undecided" and not PAIRS[name].shown), (
        found.findings
    )


@pytest.mark.parametrize("name", PAIRS)
def test_the_wrong_kernel_is_not(name: str) -> None:
    found = outcome(PAIRS[name], PAIRS[name].wrong)
    assert found.verdict == ("refuted" if PAIRS[name].refuted else "undecided"), found.findings


@pytest.mark.parametrize(
    ("body", "formula", "arrays", "enough", "short"),
    [
        ("sqrt.rn.f32 %f1, %X; mul.f32 %Y, %f1, %f1;", "Y[i] = X[i]", ONE, "X[i] >= 0", "X[i] >= -1"),
        ("mov.f32 %Y, %X;", "Y[i] = relu(X[i])", ONE, "X[i] >= 0", "X[i] >= -1e-30"),
        ("lg2.approx.f32 %f1, %X; ex2.approx.f32 %Y, %f1;", "Y[i] = X[i]", ONE, "1 < X[i] < 2", "X[i] < 2"),
        (SQUARED, SQUARE, MIXED, "abs(X[i]) <= 46340", "abs(X[i]) <= 46341"),
    ],
)  # fmt: skip
def test_conditions_that_fall_just_short_are_not_enough(
    body: str, formula: str, arrays: dict[str, str], enough: str, short: str
) -> None:
    found = result_of(body, formula, arrays, requires=[enough])
    assert found.verdict == "verified", found.findings
    assert result_of(body, formula, arrays, requires=[short]).verdict != "verified"


@pytest.mark.parametrize(
    ("given", "verdict"), [([3.0, 5.0], "verified"), ([2.0**-125], "undecided"), ([0.0], "verified")]
)
def test_hypotheses_are_held_against_given_numbers(given: list[float], verdict: str) -> None:
    body = f"mul.f32 %f1, %X, {single(2.0**-30)}; mul.f32 %Y, %f1, {single(2.0**30)};"
    assert result_of(body, "Y[i] = X[i]", ONE, values={"X": given}).verdict == verdict


# -- domains

LOOP = """
.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 px, .param .u64 py, .param .u32 pm, .param .u32 pk) {{
.reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .f32 %f<8>;
ld.param.u64 %d1, [px]; ld.param.u64 %d2, [py]; ld.param.u32 %r3, [pk];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 32, %r1;
mov.f32 %f1, 0f00000000; mov.u32 %r4, 0;
L: mad.lo.u32 %r5, %r1, %r3, %r4; {address} add.s64 %d5, %d1, %d4; ld.global.f32 %f2, [%d5];
add.f32 %f1, %f1, %f2; add.u32 %r4, %r4, 1; {counter}
setp.lt.u32 %p1, %r4, %r3; @%p1 bra L;
{tail}
mul.wide.u32 %d6, %r1, 4; add.s64 %d7, %d2, %d6; st.global.f32 [%d7], %f1;
ret;
}}
"""
WIDE = "mul.wide.u32 %d4, %r5, 4;"
BYTE_OFFSETS = "shl.b32 %r6, %r5, 2; cvt.s64.s32 %d4, %r6;"


@pytest.mark.parametrize(
    ("address", "counter", "tail", "up_to", "verdict"),
    [
        (WIDE, "", "", 65536, "verified"),
        (WIDE, "and.b32 %r4, %r4, 255;", "", 200, "verified"),
        (WIDE, "and.b32 %r4, %r4, 65535;", "", 60000, "verified"),
        (BYTE_OFFSETS, "", "", 8388608, "verified"),
        (BYTE_OFFSETS, "", "", 16777217, "refuted"),
        (WIDE, "", "setp.eq.u32 %p2, %r3, 1; @%p2 mov.f32 %f1, 0f3F800000;", 100, "refuted"),
    ],
)
def test_a_kernel_is_right_as_far_as_its_integers_are_wide(
    address: str, counter: str, tail: str, up_to: int, verdict: str, tmp_path: Path
) -> None:
    kernel, contract = tmp_path / "k.ptx", tmp_path / "c.toml"
    kernel.write_text(LOOP.format(address=address, counter=counter, tail=tail), encoding="utf-8")
    sizes = {"M": "any multiple of 32 up to 32", "K": f"any up to {up_to}"}
    text = contract_of(
        "k", sizes, ["M // 32"], [32], "Y[i] = sum(k, X[i, k])", output=["M"], passed=["M", "K"]
    )
    contract.write_text(text.replace('"any multiple of 32 up to 32"', "32"), encoding="utf-8")
    assert verify(kernel, contract).result.verdict == verdict


@pytest.mark.sweep
def test_stages_counted_in_8_bits_are_refuted(tmp_path: Path) -> None:
    """The first size that fails is 256 steps of the domain: its run has to be within the budget."""
    stages = f"{WIDE} shr.u32 %r7, %r3, 5; and.b32 %r7, %r7, 255; shl.b32 %r7, %r7, 5;"
    kernel, contract = tmp_path / "k.ptx", tmp_path / "c.toml"
    text = LOOP.format(address=stages, counter="", tail="").replace("%r4, %r3; @%p1", "%r4, %r7; @%p1")
    kernel.write_text(text, encoding="utf-8")
    sizes = {"M": "any", "K": "any multiple of 32"}
    text = contract_of(
        "k", sizes, ["M // 32"], [32], "Y[i] = sum(k, X[i, k])", output=["M"], passed=["M", "K"]
    )
    contract.write_text(text.replace('M = "any"', "M = 32"), encoding="utf-8")
    assert verify(kernel, contract).result.verdict == "refuted"


# -- contracts

COPY = kernel_text("mov.f32 %Y, %X;", {"X": ("f32", False), "Y": ("f32", True)}, "sm_90")
PLAIN = """
[kernel]
isa = "ptx"
[launch]
grid = 1
block = 32
[[param]]
name = "X"
type = "f32"
shape = [32]
[[param]]
name = "Y"
type = "f32"
shape = [32]
access = "out"
[ensures]
formula = "Y[i] = X[i]"
"""
INTO_Y = 'shape = [32]\naccess = "out"'
FROM_X = 'name = "X"\ntype = "f32"\nshape = [32]'

ODD = {
    "as it is": ("", "", "verified"),
    "a misspelt table": ("[ensures]", "[ensure]", None),
    "conditions in [require]": ("[ensures]", '[require]\nconditions = ["X[i] > 0"]\n[ensures]', None),
    "a condition without an s": ("[ensures]", '[requires]\ncondition = ["X[i] > 0"]\n[ensures]', None),
    "a condition on an array": ("[ensures]", '[requires]\nconditions = ["X <= 1"]\n[ensures]', None),
    "a condition on nothing": ("[ensures]", '[requires]\nconditions = ["1 < 2"]\n[ensures]', None),
    "a condition beyond the array": ("[ensures]", '[requires]\nconditions = ["X[32] > 0"]\n[ensures]', None),
    "no conditions": ("[ensures]", "[requires]\nconditions = []\n[ensures]", None),
    "a misspelt limit": ("[ensures]", "[ensures]\nmax_relativ = 1e-3", None),
    "a limit of 0": ("[ensures]", "[ensures]\nmax_relative = 0", None),
    "a limit that is no number": ("[ensures]", "[ensures]\nmax_relative = nan", None),
    "an infinite limit": ("[ensures]", "[ensures]\nmax_relative = inf", None),
    "a limit of nothing": ("[ensures]", '[ensures]\nerror = "1e-3 * abs(X[q])"', None),
    "a limit below 0": ("[ensures]", '[ensures]\nerror = "-1e-3 * abs(X[i])"', None),
    "an equality of another name": ("[ensures]", '[ensures]\nequality = "bit"', None),
    "a shorter output": (INTO_Y, INTO_Y.replace("32", "31"), "refuted"),
    "an output of nothing": (INTO_Y, INTO_Y.replace("32", "0"), None),
    "strides that overlap": (INTO_Y, INTO_Y.replace("[32]", "[4, 8]\nstrides = [7, 1]"), None),
    "strides below 0": (FROM_X, FROM_X + "\nstrides = [-1]", None),
    "an alignment of 3": (FROM_X, FROM_X + "\nalignment = 3", None),
    "an alignment of 2": (FROM_X, FROM_X + "\nalignment = 2", "refuted"),
    "an offset": (FROM_X, FROM_X + "\noffset = 4", None),
    "contents that are no f32": (FROM_X, FROM_X + "\nvalues = [0.1]", None),
    "contents of an output": (INTO_Y, INTO_Y + "\nvalues = [1]", None),
    "other numbers": ('formula = "Y[i] = X[i]"', 'formula = "Y[i] = X[i] + 1e-30"', "refuted"),
    "an infinity": ('formula = "Y[i] = X[i]"', 'formula = "Y[i] = inf"', "refuted"),
    "a NaN": ('formula = "Y[i] = X[i]"', 'formula = "Y[i] = nan"', None),
    "nought by nought": ('formula = "Y[i] = X[i]"', 'formula = "Y[i] = 0 / 0"', None),
    "a sum of nothing": ('formula = "Y[i] = X[i]"', 'formula = "Y[i] = X[i] + sum(k < 0, X[k])"', "verified"),
    "one formula twice": ('formula = "Y[i] = X[i]"', 'formula = ["Y[i] = X[i]", "Y[i] = X[i]"]', None),
    "half of the output": ('formula = "Y[i] = X[i]"', 'formula = "Y[i] = X[i] if i < 16"', "refuted"),
    "an index beyond": ('formula = "Y[i] = X[i]"', 'formula = "Y[i] = X[i + 1]"', None),
    "the input as output": ('formula = "Y[i] = X[i]"', 'formula = "X[i] = Y[i]"', None),
    "no formula": ('formula = "Y[i] = X[i]"', "formula = []", None),
    "no blocks": ("grid = 1", "grid = 0", None),
    "a grid of 1.5": ("grid = 1", "grid = 1.5", None),
    "a block too many": ("block = 32", "block = 2048", "refuted"),
    "a thread too few": ("block = 32", "block = 31", "refuted"),
    "words of 4-bit integers": ('"f32"', '"u4"', "refuted"),
    "another instruction set": ('"ptx"', '"ptxx"', None),
    "a size of 2.5": ("[[param]]", "[sizes]\nN = 2.5\n[[param]]", None),
    "sizes of each other": ("[[param]]", '[sizes]\nN = "M"\nM = "N"\n[[param]]', None),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_contracts(name: str, tmp_path: Path) -> None:
    old, new, verdict = ODD[name]
    kernel, contract = tmp_path / "k.ptx", tmp_path / "c.toml"
    kernel.write_text(COPY, encoding="utf-8")
    text = PLAIN.replace(old, new, -1 if old == '"f32"' else 1)
    assert (text != PLAIN) is (name != "as it is")
    contract.write_text(text, encoding="utf-8")
    if verdict is None:
        with pytest.raises(InputError):
            verify(kernel, contract)
    else:
        found = verify(kernel, contract).result
        assert found.verdict == verdict, found.findings
