"""Assembly text and instructions: one canonical spelling, many accepted ones."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from power_instructions import encodable, forms

from mmaproof.proofs.power.stated.instructions import LISTING as FIGURE_7
from mmaproof.spec.errors import InputError
from mmaproof.spec.power.assembly import ALIASES, parse
from mmaproof.spec.power.catalogue import MOVES, UPDATES, RankKUpdate
from mmaproof.spec.power.encoding import decode, disassemble, encode, to_bytes
from mmaproof.spec.power.forms import FORMS, Form, Kind
from mmaproof.spec.power.instructions import Instruction
from mmaproof.spec.power.memory import Endian

LISTING = re.findall(r"^(\w+): ((?:\w\w ){4})(.*)$", FIGURE_7, re.MULTILINE)


def test_figure_7_decodes_to_its_listing() -> None:
    code = bytes.fromhex("".join(data for _, data, _ in LISTING))
    listing = [(f"{at:x}", i.text(at)) for at, i in disassemble(code, Endian.LITTLE, int(LISTING[0][0], 16))]
    assert listing == [(address, text) for address, _, text in LISTING]


def test_figure_7_assembles_to_its_bytes() -> None:
    for address, data, text in LISTING:
        words = encode(parse(text, address=int(address, 16)))
        assert to_bytes(words, Endian.LITTLE) == bytes.fromhex(data)


@given(encodable)
def test_parse_inverts_str(instruction: Instruction) -> None:
    assert parse(str(instruction)) == instruction


@given(encodable, st.integers(0, (1 << 64) - 4))
def test_parse_inverts_text_at_an_address(instruction: Instruction, address: int) -> None:
    assert parse(instruction.text(address), address=address) == instruction


@given(forms, st.data())
def test_what_is_out_of_range_round_trips_too(form: Form, data: st.DataObject) -> None:
    values = st.integers(-(1 << 40), 1 << 40)
    counts = range(3, 7) if "ger" in form.mnemonic else [len(form.operands)]
    count = data.draw(st.sampled_from(counts))
    operands = tuple(data.draw(st.lists(values, min_size=count, max_size=count)))
    instruction = Instruction(form, operands)
    assert parse(str(instruction)) == instruction


@given(forms)
def test_a_mnemonic_alone_is_an_instruction_without_operands(form: Form) -> None:
    assert parse(form.mnemonic) == Instruction(form)
    assert str(Instruction(form)) == form.mnemonic


def test_accumulator_instructions_have_an_alias_and_nothing_else_has() -> None:
    assert sorted(form.mnemonic for form in ALIASES.values()) == sorted(
        [*UPDATES, *(f"pm{mnemonic}" for mnemonic in UPDATES), *MOVES]
    )


@pytest.mark.parametrize(
    ("alias", "mnemonic"),
    [
        ("dmxvf64gerpp", "xvf64gerpp"),
        ("pmdmxvi8ger4spp", "pmxvi8ger4spp"),
        ("dmsetaccz", "xxsetaccz"),
        ("dmxxmfacc", "xxmfacc"),
        ("dmxxmtacc", "xxmtacc"),
        ("XVF64GERPP", "xvf64gerpp"),
    ],
)
def test_aliases(alias: str, mnemonic: str) -> None:
    assert parse(alias).form == FORMS[mnemonic]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("xvf64gerpp 4,44,40", "xvf64gerpp a4,vs44,vs40"),
        ("xvf64gerpp 4, 44, 40", "xvf64gerpp a4,vs44,vs40"),
        ("  xvf64gerpp\tacc4 , %vs44,VS40  # comment, (with) punctuation", "xvf64gerpp a4,vs44,vs40"),
        ("dmxvf64gerpp wacc4,vs44,vs40", "xvf64gerpp a4,vs44,vs40"),
        ("pmxvf32ger 0,34,35,0xF,0b11", "pmxvf32ger a0,vs34,vs35,15,3"),
        ("pmxvi4ger8 %a5,34,43,9,9,0xa7", "pmxvi4ger8 a5,vs34,vs43,9,9,167"),
        ("lxv 5, -16 ( 3 )", "lxv vs5,-16(r3)"),
        ("lxv vs5,16(r0)", "lxv vs5,16(0)"),
        ("lxvx 44,r0,r0", "lxvx vs44,0,r0"),
        ("stxvp 34,0x40(%r4)", "stxvp vs34,64(r4)"),
        ("bdnz .", "bdnz .+0"),
        ("bdnz .+0x8", "bdnz .+8"),
        ("bdnz .-64", "bdnz .-64"),
        ("bdnz .-4*(15+1)", "bdnz .-64"),
        ("xvf64gerpp 1<<2,044+8,40", "xvf64gerpp a4,vs44,vs40"),
        ("pmxvf32ger 0,34,35,(1<<4)-1,4+3&1", "pmxvf32ger a0,vs34,vs35,15,5"),
        ("lxv 2+3,(4+4)*2(1+2)", "lxv vs5,16(r3)"),
        ("lxv 5,-(16)(3)", "lxv vs5,-16(r3)"),
    ],
)
def test_accepted_spellings(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an instruction is expected, such as 'xvf32gerpp a0,vs34,vs35', not an empty line"),
        (" # comment", "an instruction is expected"),
        ("xvf32gerq 0,1,2", "unknown mnemonic 'xvf32gerq'; did you mean xvf32ger or xvf32gerpp"),
        ("vaddfp 0,1,2", r"unknown mnemonic 'vaddfp'; known are \[pm\]xvi4ger8\*, .*, xxmfacc, .*, bdnz$"),
        ("xvf32ger 0,v2,35", "xvf32ger: XA must be a number such as 5 or vs5, not 'v2'"),
        ("xvf32ger r0,34,35", "xvf32ger: AT must be a number such as 5 or a5 or acc5 or wacc5, not 'r0'"),
        ("xvf32ger 08,34,35", "xvf32ger: AT must be .*, not '08'"),
        ("xvf32ger 1/0,34,35", "xvf32ger: AT must be .*, not '1/0'"),
        ("xvf32ger n,34,35", "xvf32ger: AT must be .*, not 'n'"),
        ("xvf32ger a1+1,34,35", "xvf32ger: AT must be .*, not 'a1\\+1'"),
        ("xvf32ger 0,34,3_5", "xvf32ger: XB must be .*, not '3_5'"),
        ("xvf32ger 0,vs0x22,35", "xvf32ger: XA must be a number such as 5 or vs5, not 'vs0x22'"),
        ("xvf32ger %a0x0,34,35", "xvf32ger: AT must be .*, not '%a0x0'"),
        ("xvf32ger 0,%34,35", "xvf32ger: XA must be .*, not '%34'"),
        ("xvf32ger 0,,35", "xvf32ger takes AT,XA,XB, not '0,,35'"),
        ("xvf32ger 0, ,35", "xvf32ger: XA must be .*, not ''"),
        ("xvf32ger 0,34", "xvf32ger takes 3 operands AT,XA,XB, not 2"),
        ("xvf32ger 0,34,35,1,2,3,4", "xvf32ger takes 3 operands AT,XA,XB, not 7"),
        ("pmxvf32ger 0,34,35,vs1,2", "pmxvf32ger: XMSK must be a number such as 5, not 'vs1'"),
        ("xvf32ger 0 34 35", "xvf32ger: AT must be .*, not '0 34 35'"),
        ("xxmfacc 1,2", "xxmfacc takes AS, not '1,2'"),
        ("lxv 5,16,3", r"lxv takes XT,D\(RA\), not '5,16,3'"),
        ("lxv 5,16(3", r"lxv takes XT,D\(RA\), not '5,16\(3'"),
        ("lxv 5,16(3)4", r"lxv takes XT,D\(RA\), not '5,16\(3\)4'"),
        ("lxvx 5,16(3)", r"lxvx takes XT,RA,RB, not '5,16\(3\)'"),
        ("bdnz 10001750", "bdnz: target must be a distance such as .-64, not '10001750'"),
        ("addi r5,r5," + "9" * 5000, "addi: SI must be a number such as 5, not '9+'"),
    ],
)
def test_bad_text_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        parse(text)


def test_an_absolute_target_is_hexadecimal() -> None:
    with pytest.raises(InputError, match=r"a distance such as \.-64 or a hexadecimal address, not 'loop'"):
        parse("bdnz loop", address=0x10001790)


def test_errors_say_where() -> None:
    with pytest.raises(InputError, match=r"^kernel\.s:3: xxmfacc takes AS"):
        parse("xxmfacc 1,2", where="kernel.s:3")


punctuated = st.text(st.sampled_from("0123456789abcvrsx%,()-+. #\n")) | st.text()


@given(st.sampled_from([*FORMS, *ALIASES]), punctuated)
@example("bdnz", ".-")
@example("lxv", "(,)")
@example("lxv", "ſ5,16(K3)")
def test_operand_text_raises_nothing_but_input_errors(mnemonic: str, operands: str) -> None:
    text = f"{mnemonic} {operands}"
    try:
        instruction = parse(text, address=0)
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert parse(str(instruction)) == instruction


@given(st.text())
def test_text_raises_nothing_but_input_errors(text: str) -> None:
    try:
        parse(text)
    except InputError as error:
        assert str(error).isprintable()


@pytest.mark.parametrize("update", UPDATES.values(), ids=lambda update: update.mnemonic)
def test_masks_are_all_ones_unless_given(update: RankKUpdate) -> None:
    ones = tuple((1 << width) - 1 for width in (4, update.family.columns, update.family.rank))
    assert parse(update.mnemonic).masks == ones
    assert parse(f"pm{update.mnemonic}").masks == ones
    assert parse(f"pm{update.mnemonic} 0,34,36,2,1").masks == (2, 1, ones[2])


def test_only_rank_k_updates_have_masks() -> None:
    with pytest.raises(InputError, match="xxsetaccz has no masks"):
        _ = parse("xxsetaccz 1").masks


@pytest.mark.parametrize(
    ("text", "read", "written"),
    [
        ("xvf64gerpp a4,vs44,vs40", (44, 45, 40), ()),
        ("pmxvf32ger a4,vs44,vs40,1,1", (44, 40), ()),
        ("xxmtacc a2", (8, 9, 10, 11), ()),
        ("xxmfacc a2", (), (8, 9, 10, 11)),
        ("xxsetaccz a2", (), ()),
        ("lxv vs5,0(r3)", (), (5,)),
        ("lxvpx vs6,0,r3", (), (6, 7)),
        ("stxvp vs34,0(r3)", (34, 35), ()),
        ("addi r5,r5,64", (), ()),
        ("xvf32ger", (), ()),
    ],
)
def test_registers_read_and_written(text: str, read: tuple[int, ...], written: tuple[int, ...]) -> None:
    instruction = parse(text)
    assert instruction.vsrs_read == read
    assert instruction.vsrs_written == written


@given(encodable)
def test_operands_are_found_by_the_manuals_names(instruction: Instruction) -> None:
    for operand, value in instruction.given():
        assert instruction.values[operand.name] == value
        if operand.kind is Kind.ACCUMULATOR:
            assert instruction.accumulator == value
        if operand.name in ("XA", "XAp"):
            assert instruction.x == value
        if operand.name == "XB":
            assert instruction.y == value


@given(encodable)
def test_equal_instructions_hash_alike(instruction: Instruction) -> None:
    assert {instruction, decode(*encode(instruction)), parse(str(instruction))} == {instruction}
