"""Encoding and decoding are inverse to each other, and no word is two instructions."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st
from power_instructions import encodable

from mmaproof.spec.errors import InputError
from mmaproof.spec.power.encoding import (
    LAYOUTS,
    PREFIX_OPCODE,
    Layout,
    crosses_boundary,
    decode,
    disassemble,
    encode,
    fields,
    to_bytes,
)
from mmaproof.spec.power.forms import FORMS, Form, Operand
from mmaproof.spec.power.instructions import Instruction
from mmaproof.spec.power.memory import Endian

WORDS = {
    "xvi4ger8": 0xEC000118, "xvi4ger8pp": 0xEC000110, "xvi8ger4": 0xEC000018, "xvi8ger4pp": 0xEC000010,
    "xvi8ger4spp": 0xEC000318, "xvi16ger2": 0xEC000258, "xvi16ger2pp": 0xEC000358,
    "xvi16ger2s": 0xEC000158, "xvi16ger2spp": 0xEC000150, "xvbf16ger2": 0xEC000198,
    "xvbf16ger2pp": 0xEC000190, "xvbf16ger2pn": 0xEC000590, "xvbf16ger2np": 0xEC000390,
    "xvbf16ger2nn": 0xEC000790, "xvf16ger2": 0xEC000098, "xvf16ger2pp": 0xEC000090,
    "xvf16ger2pn": 0xEC000490, "xvf16ger2np": 0xEC000290, "xvf16ger2nn": 0xEC000690,
    "xvf32ger": 0xEC0000D8, "xvf32gerpp": 0xEC0000D0, "xvf32gerpn": 0xEC0004D0,
    "xvf32gernp": 0xEC0002D0, "xvf32gernn": 0xEC0006D0, "xvf64ger": 0xEC0001D8,
    "xvf64gerpp": 0xEC0001D0, "xvf64gerpn": 0xEC0005D0, "xvf64gernp": 0xEC0003D0,
    "xvf64gernn": 0xEC0007D0, "xxmfacc": 0x7C000162, "xxmtacc": 0x7C010162, "xxsetaccz": 0x7C030162,
    "lxv": 0xF4000001, "stxv": 0xF4000005, "lxvp": 0x18000000, "stxvp": 0x18000001,
    "lxvx": 0x7C000218, "stxvx": 0x7C000318, "lxvpx": 0x7C00029A, "stxvpx": 0x7C00039A,
    "addi": 0x38000000, "bdnz": 0x42000000,
}  # fmt: skip
"""What GNU as and llvm-mc make of each word form with every operand 0 (overlap aside)."""

SAMPLES = 8

every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=lambda layout: layout.form.mnemonic)


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.mnemonic)
def test_all_operands_zero_is_the_assemblers_word(form: Form) -> None:
    words = encode(Instruction(form, (0,) * len(form.operands)))
    suffix = WORDS[form.mnemonic.removeprefix("pm")]
    assert words == ((0x07900000, suffix) if form.prefixed else (suffix,))


def test_every_form_is_encoded() -> None:
    assert {form.mnemonic for form in LAYOUTS} == {*WORDS, *(f"pm{name}" for name in WORDS if "ger" in name)}


@pytest.mark.parametrize(
    ("mnemonic", "operands", "words"),
    [
        ("pmxvi4ger8", (5, 34, 43, 9, 9, 167), (0x0790A799, 0xEE82591E)),
        ("pmxvf64ger", (4, 44, 40, 15, 3), (0x079000FC, 0xEE0C41DE)),
        ("pmxvi8ger4", (0, 34, 35, 1, 2, 8), (0x07908012, 0xEC02181E)),
        ("pmxvf16ger2", (0, 34, 35, 1, 2, 2), (0x07908012, 0xEC02189E)),
        ("pmxvf32ger", (5, 34, 43, 9, 9), (0x07900099, 0xEE8258DE)),
        ("lxv", (45, -16, 3), (0xF5A3FFF9,)),
        ("stxvp", (34, 64, 4), (0x18640041,)),
        ("lxvpx", (44, 3, 4), (0x7DA3229A,)),
    ],
)
def test_words_as_assembled(mnemonic: str, operands: tuple[int, ...], words: tuple[int, ...]) -> None:
    assert encode(Instruction(FORMS[mnemonic], operands)) == words


@given(encodable)
def test_decode_inverts_encode(instruction: Instruction) -> None:
    assert decode(*encode(instruction)) == instruction


@given(st.sampled_from(list(LAYOUTS.values())), st.integers(0, (1 << 64) - 1))
def test_encode_inverts_decode_on_every_matching_word(layout: Layout, noise: int) -> None:
    word = layout.match | noise & ((1 << layout.size) - 1) & ~layout.mask
    words = (word >> 32, word & 0xFFFFFFFF) if layout.size == 64 else (word,)
    instruction = decode(*words)
    assert instruction.form == layout.form
    assert encode(instruction) == words


@given(st.sampled_from(list(LAYOUTS.values())), st.data())
def test_a_word_with_a_fixed_bit_changed_is_not_this_instruction(layout: Layout, data: st.DataObject) -> None:
    bit = data.draw(st.sampled_from([bit for bit in range(layout.size) if layout.mask >> bit & 1]))
    assert not layout.matches(layout.match ^ 1 << bit)


def test_no_word_is_two_instructions() -> None:
    for one, other in combinations(LAYOUTS.values(), 2):
        if one.size == other.size:
            assert one.mask & other.mask & (one.match ^ other.match), (one.form, other.form)


@every_layout
def test_only_a_prefix_has_the_prefix_opcode(layout: Layout) -> None:
    assert layout.opcode_mask >> (layout.size - 6) == 0b111111
    assert (layout.match >> (layout.size - 6) == PREFIX_OPCODE) == layout.form.prefixed


@every_layout
def test_formulas_agree_on_ints_arrays_and_bit_vectors(layout: Layout) -> None:
    rng = np.random.default_rng(0)
    values = {o.name: rng.integers(0, 1 << o.bits, SAMPLES, dtype=np.uint64) for o in layout.form.operands}
    words = layout.assemble(values)
    assert layout.matches(words).all()
    extracted = layout.extract(words)
    for index in range(SAMPLES):
        scalars = {name: int(column[index]) for name, column in values.items()}
        word = layout.assemble(scalars)
        assert word == words[index]
        assert layout.extract(word) == {name: column[index] for name, column in extracted.items()}
        terms = {name: z3.BitVecVal(value, layout.size) for name, value in scalars.items()}
        symbolic = layout.assemble(terms)
        assert z3.simplify(symbolic).as_long() == word
        assert {n: z3.simplify(v).as_long() for n, v in layout.extract(symbolic).items()} == layout.extract(
            word
        )


@given(encodable, st.data())
def test_what_does_not_fit_is_refused(instruction: Instruction, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(instruction.form.operands) - 1))
    operand = instruction.form.operands[position]
    value = data.draw(st.integers(-(1 << 17), 1 << 17).filter(lambda value: value not in operand.values))
    assert instruction.operands is not None
    operands = (*instruction.operands[:position], value, *instruction.operands[position + 1 :])
    with pytest.raises(InputError, match=rf"{operand.name} must be .*, not {value}$"):
        encode(Instruction(instruction.form, operands))


@pytest.mark.parametrize(
    ("operands", "given_as"),
    [(None, "pmxvf32ger"), ((0, 34, 35), "a0,vs34,vs35"), ((0, 34, 35, 15, 15, 1), ",1'")],
)
def test_missing_and_surplus_operands_are_refused(operands: tuple[int, ...] | None, given_as: str) -> None:
    with pytest.raises(
        InputError, match=f"pmxvf32ger is encoded with AT,XA,XB,XMSK,YMSK, not as .*{given_as}"
    ):
        encode(Instruction(FORMS["pmxvf32ger"], operands))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((0xEE6C41D6,), r"0xee6c41d6 is no instruction: in xvf64gerpp, bits 9, 10 must be 0"),
        ((0xEE0D41D6,), r"in xvf64gerpp, bits 15 must be 0"),
        ((0x7DA3229B,), r"in lxvpx, bits 31 must be 0"),
        ((0x079F00FC, 0xEE0C41D6), r"in pmxvf64gerpp, bits 12, 13, 14, 15 must be 0"),
        ((0x079000FF, 0xEE0C41D6), r"in pmxvf64gerpp, bits 30, 31 must be 0"),
        ((0x0790A799,), r"0x0790a799 is the prefix of a 64-bit instruction; its suffix is missing"),
        ((0x60000000,), r"0x60000000 is no instruction known here"),
        ((0xEE0C41D6, 0xEE0C41D6), r"0xee0c41d6 0xee0c41d6 is no instruction known here"),
        ((), "an instruction is one 32-bit word"),
        ((1 << 32,), "an instruction is one 32-bit word"),
        ((-1,), "an instruction is one 32-bit word"),
    ],
)
def test_what_is_no_instruction_is_named(words: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        decode(*words)


@given(st.lists(st.integers(0, (1 << 32) - 1), max_size=3))
def test_decode_raises_nothing_but_input_errors(words: list[int]) -> None:
    try:
        instruction = decode(*words)
    except InputError:
        return
    assert encode(instruction) == tuple(words)


@pytest.mark.parametrize("order", list(Endian))
@given(instructions=st.lists(encodable, max_size=8))
def test_disassembly_inverts_assembly(order: Endian, instructions: list[Instruction]) -> None:
    code, placed = b"", []
    for instruction in instructions:
        if crosses_boundary(instruction, len(code)):
            placed.append((len(code), Instruction(FORMS["addi"], (0, 0, 0))))
            code += to_bytes(encode(placed[-1][1]), order)
        placed.append((len(code), instruction))
        code += to_bytes(encode(instruction), order)
    assert list(disassemble(code, order)) == placed


@pytest.mark.parametrize(
    ("code", "address", "message"),
    [
        ("0000", 0, "machine code comes in words of 4 bytes, not in 2 bytes"),
        ("60000000", 0x40, "^0x40: 0x60000000 is no instruction"),
        ("38000000 0790a799", 0x100, "^0x104: .*suffix is missing"),
        ("0790a799 ee82591e", 0x3C, "^0x3c: pmxvi4ger8 .* crosses a 64-byte boundary"),
    ],
)
def test_what_is_no_machine_code_is_named(code: str, address: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        list(disassemble(bytes.fromhex(code), Endian.BIG, address))


@pytest.mark.parametrize("address", range(0, 192, 4))
def test_a_prefixed_instruction_stays_within_64_bytes(address: int) -> None:
    prefixed = Instruction(FORMS["pmxvf32ger"], (0, 34, 35, 15, 15))
    word = Instruction(FORMS["xvf32ger"], (0, 34, 35))
    assert crosses_boundary(prefixed, address) == (address // 64 != (address + 7) // 64)
    assert not crosses_boundary(word, address)


@pytest.mark.parametrize("diagram", ["59:6 AT:3 /:2 A:5", "59:6 AT:3 /:2 A:5 B:5 0:10 AX:1"])
def test_a_layout_that_is_no_partition_is_refused(diagram: str) -> None:
    form = Form(FORMS["xxmtacc"].operation, FORMS["xxmtacc"].operands)
    with pytest.raises(AssertionError, match="no partition"):
        Layout(form, fields(diagram))


def test_a_layout_whose_operand_has_another_width_is_refused() -> None:
    accumulator = FORMS["xxmtacc"].operands[0]
    wide = Form(FORMS["xxmtacc"].operation, (Operand("AT", accumulator.kind, 4),))
    with pytest.raises(AssertionError, match="AT has 3 bits, not 4"):
        Layout(wide, fields("31:6 AT:3 /:23"))
