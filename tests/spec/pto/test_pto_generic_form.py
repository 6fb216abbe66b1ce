"""MLIR's generic form says what the custom form says, and is judged as it is."""

from __future__ import annotations

import re

import pytest
from pto_texts import INSTRUCTIONS

from mmaproof.spec.errors import InputError
from mmaproof.spec.pto.assembly import parse, parse_module
from mmaproof.spec.pto.legality import judge
from mmaproof.spec.pto.module_legality import judged_statements
from mmaproof.spec.pto.resolution import resolve_known
from mmaproof.spec.pto.targets import A5, PROFILES, Profile
from mmaproof.spec.pto.text.statements import (
    Allocation,
    ConstantDefinition,
    InstructionStatement,
    TextualForm,
)

LEFT = "!pto.tile_buf<left, 32x64xf16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 64x48xf16, slayout=col_major>"
ACC = "!pto.tile_buf<acc, 32x48xf32, blayout=col_major, slayout=row_major, fractal=1024>"


def generic(instruction: InstructionStatement, in_angles: bool = True) -> str:
    """Return the generic form of a statement in destination passing style."""
    operands = [*instruction.inputs, *instruction.outputs]
    attributes = ", ".join(f"{key} = {value}" for key, value in instruction.attributes)
    spelled = (f" <{{{attributes}}}>" if in_angles else f" {{{attributes}}}") if attributes else ""
    names, types = (
        ", ".join(str(getattr(operand, part)) for operand in operands) for part in ("name", "type")
    )
    return f'"pto.{instruction.operation}"({names}){spelled} : ({types}) -> ()'


DESTINATION_PASSING = [
    instruction
    for instruction in map(parse, INSTRUCTIONS.values())
    if instruction.form is TextualForm.F3 and not instruction.results
]


@pytest.mark.parametrize("in_angles", [True, False])
@pytest.mark.parametrize("instruction", DESTINATION_PASSING, ids=lambda each: str(each.operation))
def test_the_generic_form_is_the_same_instruction(instruction: InstructionStatement, in_angles: bool) -> None:
    assert parse(generic(instruction, in_angles)) == instruction


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("instruction", DESTINATION_PASSING, ids=lambda each: str(each.operation))
def test_the_generic_form_is_judged_alike(instruction: InstructionStatement, profile: Profile) -> None:
    spoiled = re.sub(r"xf32|xi32", "xi64", str(instruction))
    for text in (str(instruction), spoiled):
        wanted = judge(resolve_known(parse(text), profile))
        (found,) = judged_statements(parse_module(f"module {{\n{generic(parse(text))}\n}}").body, profile)
        assert found.judgement == wanted


def test_a_half_accumulator_is_illegal_in_a_module_of_the_generic_form() -> None:
    text = f""""builtin.module"() ({{
      "func.func"() <{{sym_name = "f"}}> ({{
        %c = "pto.alloc_tile"() <{{operandSegmentSizes = array<i32: 0, 0, 0>}}> : () -> {ACC}
        "pto.tmatmul"(%a, %b, %c) : ({LEFT}, {RIGHT}, {ACC.replace("f32", "f16")}) -> ()
        "func.return"() : () -> ()
      }}) : () -> ()
    }}) : () -> ()"""
    judged = list(judged_statements(parse_module(text).body, A5))
    assert [(each.line, each.name) for each in judged] == [(3, "alloc_tile %c"), (4, "tmatmul")]
    assert "type-triple" in {violation.rule.id for violation in judged[1].judgement.violations}


def test_a_result_is_what_the_statement_writes() -> None:
    text = f'%c = "pto.tmatmul"(%a, %b) : ({LEFT}, {RIGHT}) -> {ACC}'
    assert parse(text) == parse(f"%c = pto.tmatmul %a, %b : ({LEFT}, {RIGHT}) -> {ACC}")


def test_allocations_and_constants_place_tiles() -> None:
    text = """%x = "arith.constant"() <{value = 12288 : i64}> : () -> i64
    %y = "arith.constant"() {value = 16 : index} : () -> index
    %b = "pto.alloc_tile"(%x, %y) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (i64, index) -> \
!pto.tile_buf<bias, 1x16xf32, valid=1x?>"""
    *constants, allocation = parse_module(text).body
    assert [constant.integer for constant in constants if isinstance(constant, ConstantDefinition)] == [
        12288,
        16,
    ]
    assert isinstance(allocation, Allocation)
    assert (allocation.address, allocation.valid_rows, allocation.valid_columns) == ("%x", None, "%y")
    (judged,) = judged_statements(parse_module(text).body, A5)
    assert [violation.rule.id for violation in judged.judgement.violations] == ["address-range"]


@pytest.mark.parametrize("name", ["operandSegmentSizes", "operand_segment_sizes"])
def test_sizes_of_segments_may_have_nine_digits_under_either_name(name: str) -> None:
    text = """%b = "pto.alloc_tile"(%x) <{NAME = array<i32: SIZE, 0, 0>}> : (i64) -> \
!pto.tile_buf<bias, 1x16xf32>""".replace("NAME", name)
    (allocation,) = parse_module(text.replace("SIZE", "000000001")).body
    assert isinstance(allocation, Allocation) and allocation.address == "%x"
    with pytest.raises(InputError, match="expected as many operands"):
        parse_module(text.replace("SIZE", "9" * 5000))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'"pto.tmatmul"(%a, %b, %c) : ({LEFT}, {RIGHT}) -> ()', "expected 3 types for 3 operands, found 2"),
        (f'"pto.tmatmul"(%a, %b) : ({LEFT}, {RIGHT}) -> ()', "expected one operand that tmatmul writes"),
        (f'"pto.tmatmul"(%a) : ({LEFT}) -> ()', "expected 2 operands of tmatmul to read (a, b), found 1"),
        (
            f'"pto.tmatmul"(%a, %b, %c) <{{operandSegmentSizes = array<i32: 1, 1>}}> : '
            f"({LEFT}, {RIGHT}, {ACC}) -> ()",
            "expected as many operands as 'array<i32: 1, 1>' says, found 3",
        ),
        (f'"pto.tmatmul"(%a, %b, %c) <x> : ({LEFT}, {RIGHT}, {ACC}) -> ()', "expected properties"),
        (f'%c = "pto.alloc_tile"(%x) : (i64) -> {ACC}', "expected operandSegmentSizes"),
        ('"arith.constant"() <{value = 1 : i64}> : () -> i64', "expected one result"),
        ('"pto.tmatmul"(%a %b)', "expected ')' or ',', found '%b'"),
    ],
)
def test_what_does_not_go_together_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        parse_module(text)
