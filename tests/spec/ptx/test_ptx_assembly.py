from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ptx_assembler import DECLARATIONS
from ptx_variants import LEGAL, instructions, legal_variants, mutated_texts, near_legal_variants, reparsed

from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.instructions import Instruction
from mmaproof.spec.ptx.legality import violations
from mmaproof.spec.ptx.operands import Address, HexFloat, Integer, Predicate, Register, Vector
from mmaproof.spec.ptx.targets import TARGETS, VERSIONS
from mmaproof.spec.ptx.variant import Family, Shape, Variant

PLAIN = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
LOAD = "ldmatrix.sync.aligned.m8n8.x1.b16"
OPERANDS = "{f0, f1, f2, f3}, {r0, r1}, {r2}, {f0, f1, f2, f3}"


def test_every_legal_variant_is_read_back_from_its_spelling() -> None:
    for variant in LEGAL:
        assert parse(str(variant)) == Instruction(variant)


@given(instructions(near_legal_variants))
def test_an_instruction_is_read_back_from_its_text(instruction: Instruction) -> None:
    if instruction.variant.popc or instruction.variant.bit_operation is None:
        assert reparsed(instruction) == instruction


@given(legal_variants, st.randoms(use_true_random=False))
def test_modifiers_are_a_set(variant: Variant, random) -> None:
    words = str(variant).removeprefix(variant.opcode)[1:].split(".")
    plain = [word for word in words if word not in (*variant.types, *variant.layouts, "popc", "xor", "and")]
    operation = [variant.bit_operation, "popc"] if variant.bit_operation else []
    random.shuffle(plain)
    ordered = [*variant.layouts, *variant.types, *operation]
    other_order = [*operation, *variant.types, *variant.layouts]
    for modifiers in ([*plain, *ordered], [*other_order, *plain]):
        assert parse(".".join([variant.opcode, *modifiers])).variant == variant


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "mma.xor.popc.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32",
            "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
        ),
        (
            "mma.sync.aligned.sp.m16n8k8.row.col.f32.tf32.tf32.f32",
            "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
        ),
        (
            "mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0",
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        ),
        (f"@p {PLAIN} {OPERANDS};", f"@p {PLAIN} {OPERANDS};"),
        (f"\t@!%p1\n{PLAIN}\n{OPERANDS.replace(' ', '')} ; // comment", f"@!%p1 {PLAIN} {OPERANDS};"),
        (f"/* a\nb */ {PLAIN.replace('.row', ' .row')}", PLAIN),
        ("wmma.load.a .sync.aligned .row.m16n16k16.f16", "wmma.load.a.sync.aligned.row.m16n16k16.f16"),
        (f"{LOAD} {{%r1}},[%rd1+0x10]", f"{LOAD} {{%r1}}, [%rd1+16];"),
        (f"{LOAD} {{r}},[sh+-16]", f"{LOAD} {{r}}, [sh+-16];"),
    ],
)  # fmt: skip
def test_other_spellings_are_read_and_the_manuals_is_printed(text: str, expected: str) -> None:
    assert str(parse(text)) == expected


def test_operands_are_typed() -> None:
    text = "mma {a, _, v.x}, {0f3F800000, 0dBFF0000000000000, 1.5e3}, [p+8], 0x1F, 0b101, 017, 7U, -3, 0"
    instruction = parse(text, {"a": "b32"})
    vector, constants, address, *numbers = instruction.operands or ()
    assert isinstance(vector, Vector) and vector.elements[0] == Register("a", "b32")
    assert isinstance(constants, Vector)
    assert constants.elements[:2] == (HexFloat(0x3F800000, 32), HexFloat(0xBFF0000000000000, 64))
    assert address == Address(Register("p"), 8)
    assert numbers == [Integer(n) for n in (31, 5, 15, 7, -3, 0)]
    assert parse("@!p mma").predicate == Predicate("p", negated=True)


def test_the_f16_types_of_wmma_are_those_of_d_and_c() -> None:
    variant = parse("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16").variant
    assert (variant.family, variant.shape) == (Family.WMMA_MMA, Shape(16, 16, 16))
    assert variant.element_types == {"d": "f32", "a": "f16", "b": "f16", "c": "f16"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an instruction is expected"),
        ("@p", "an instruction is expected"),
        ("add.s32 a, b", "unknown instruction 'add'; known: mma, wmma.mma"),
        ("wmma.load.d.sync", "unknown instruction 'wmma.load.d'"),
        ("wmma .load.a.sync", "'wmma.load.a' is one word: no white space"),
        ("wmma.load /* of */ .a.sync", "'wmma.load.a' is one word: no white space"),
        ("wmma .mma.sync", "'wmma.mma' is one word: no white space"),
        ("mma.sync.foo", r"unknown modifier '.foo'; allowed: .sp, "),
        ("mma.kind::mxf5", r"unknown modifier '.kind::mxf5'; did you mean .kind::mxf4"),
        ("mma.scale_vec::8X", r"allowed: .scale_vec::1X, .scale_vec::2X, .scale_vec::4X"),
        ("ldmatrix.sp", "unknown modifier '.sp'; (?!.*[.]sp)"),
        ("mma.sync.sync", "'.sync' repeats a modifier"),
        ("mma.m8n8k4.m8n8k16", "'.m8n8k16' repeats a modifier"),
        ("mma.sp.sp", "repeats a modifier"),
        ("mma.popc.xor", "'.popc' must follow"),
        ("mma.m99999n8k4", "is no shape"),
        ("mma.m016n8k4", "is no shape"),
        ("mma..sync", "can't begin with '..sync'"),
        ("mma {r0", "expected '}', not the end"),
        ("mma {}", "expected a register, '_' or a constant, not '}'"),
        ("mma {{r0}}", "expected a register"),
        ("mma r0 r1", "expected ',' or the end"),
        ("mma [r0-4]", "expected ']', not '-'"),
        ("mma [r0+r1]", "expected a register, '_' or a constant|offset"),
        ("mma [_]", "an address must begin with a register"),
        ("mma [p+0.5]", "offset must be an integer"),
        ("mma 099", "can't begin with"),
        ("mma 99999999999999999999", "must fit 64 bits"),
        ("mma -r0", "expected a number, not "),
        ("mma é", "can't begin with"),
        ("mma r0; mma r0;", "expected ',' or the end"),
    ],
)
def test_what_is_no_instruction_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as refused:
        parse(text, where="kernel.ptx:3")
    assert str(refused.value).startswith("kernel.ptx:3: ") and "\n" not in str(refused.value)


@given(st.one_of(st.text(), mutated_texts(), st.from_regex(r"mma[.]{0,1}[ -~]{0,60}", fullmatch=True)))
def test_any_text_is_an_instruction_or_an_input_error(text: str) -> None:
    try:
        instruction = parse(text, DECLARATIONS)
    except InputError as refused:
        assert "\n" not in str(refused) and len(str(refused)) < 2000
        return
    assert parse(str(instruction), DECLARATIONS) == instruction
    for violation in violations(instruction, TARGETS["sm_120a"], VERSIONS[0]):
        assert "\n" not in str(violation)


@pytest.mark.parametrize(
    "text", ["mma." + "sync" * 100_000, "{" * 100_000, "mma " + "{" * 100_000, "mma " + "9" * 100_000]
)
def test_endless_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError) as refused:
        parse(text)
    assert len(str(refused.value)) < 2000
