"""What is printed is read as the same, in every form; what is not PTO text gets one line with its place."""

from __future__ import annotations

import re
from pathlib import Path

import pto_texts
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.pto.assembly import parse, parse_module
from mmaproof.spec.pto.catalogue import OPERATIONS, OperationKind
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.text import module, statements
from mmaproof.spec.pto.text.statements import InstructionStatement, TextualForm
from mmaproof.spec.pto.text.syntax import TypedValue
from mmaproof.spec.pto.text.types import (
    FRACTAL_NAMES,
    OtherType,
    Spelling,
    TileType,
    in_destination_passing_style,
)
from mmaproof.spec.pto.tile import DYNAMIC, Compact, Location, Order, Pad

GEMM = (Path(__file__).parents[3] / "examples/pto/gemm.pto").read_text(encoding="utf-8")
PLACE = re.compile(r"line \d+, column \d+: ")

sizes = st.integers(0, 4096)
extents = sizes | st.just(DYNAMIC)
elements = st.sampled_from(list(ELEMENT_TYPES.values()))
block_orders = st.sampled_from([Order.ROW_MAJOR, Order.COL_MAJOR])
fractals = st.sampled_from([512, 1024, 32])


def or_none(strategy):
    return st.none() | strategy


@st.composite
def compact_types(draw):
    valid = draw(st.sampled_from([(None, None)]) | st.tuples(extents, extents))
    return TileType(
        Spelling.COMPACT, draw(st.sampled_from(Location)), draw(elements), draw(sizes), draw(sizes), *valid,
        draw(or_none(block_orders)), draw(or_none(st.sampled_from(Order))), draw(or_none(fractals)),
        draw(or_none(st.sampled_from(Pad))), draw(or_none(st.sampled_from(Compact))),
    )  # fmt: skip


keyed_types = st.builds(
    TileType, st.just(Spelling.KEYED), st.sampled_from(Location), elements, sizes, sizes, extents, extents,
    block_orders, st.sampled_from(Order), fractals, st.sampled_from(Pad),
    or_none(st.sampled_from(Compact)),
)  # fmt: skip
page_types = st.builds(
    TileType, st.just(Spelling.PAGE), or_none(st.sampled_from(Location)), elements, sizes, sizes
) | st.builds(
    TileType, st.just(Spelling.PAGE), or_none(st.sampled_from(Location)), elements, sizes, sizes,
    blocks=block_orders, inner=st.sampled_from(Order), pad=st.sampled_from(Pad),
    fractal_name=st.sampled_from(FRACTAL_NAMES),
)  # fmt: skip
shape_types = st.builds(TileType, st.just(Spelling.SHAPE), element=elements, rows=sizes, columns=sizes)
tile_types = compact_types() | keyed_types | page_types | shape_types | st.just(TileType(Spelling.OPAQUE))
names = st.from_regex(r"%[A-Za-z0-9_$.]{1,6}", fullmatch=True)
attribute_lists = st.lists(
    st.tuples(
        st.sampled_from(["accPhase", "atomicType", "pto.x", "pto.device-spec"]),
        st.sampled_from(["", "final", "1", '"a, b"', "#pto<acc_phase final>", "#pto.acc_phase<final>"]),
    ),
    max_size=2,
).map(tuple)


@st.composite
def instructions(draw):
    operation = draw(st.sampled_from(list(OPERATIONS.values())))
    form = draw(st.sampled_from(TextualForm))
    types = (
        tile_types if operation.kind is not OperationKind.MOVE else tile_types | st.just(OtherType("index"))
    )
    typed = form is TextualForm.F3 or draw(st.booleans())
    *inputs, output = (
        TypedValue(draw(names), draw(types) if typed else None) for _ in (*operation.inputs, operation.output)
    )
    return InstructionStatement(operation, form, tuple(inputs), (output,), draw(attribute_lists))


@pytest.mark.parametrize("text", pto_texts.INSTRUCTIONS.values(), ids=pto_texts.INSTRUCTIONS)
def test_canonical_text_is_printed_as_it_was(text):
    assert str(parse(text)) == text


@pytest.mark.parametrize("text", pto_texts.OTHER_STATEMENTS)
def test_other_statements_are_printed_as_they_were(text):
    assert str(parse_module(text)) == text + "\n"


@pytest.mark.parametrize("text", pto_texts.PAGE_LISTINGS)
def test_literal_dots_are_an_opaque_type(text):
    instruction = parse(text)
    assert str(instruction) == text
    assert {operand.type for operand in instruction.operands().values()} == {TileType(Spelling.OPAQUE)}


@given(instructions())
def test_every_instruction_is_read_as_it_was_printed(instruction):
    assert parse(str(instruction)) == instruction


@given(instructions())
def test_form_3_is_read_with_a_type_behind_every_operand_too(instruction):
    text = " ".join(
        where + f"({', '.join(f'{each.name} : {in_destination_passing_style(each.type)}' for each in group)})"
        for where, group in (("ins", instruction.inputs), ("outs", instruction.outputs))
        if all(each.type is not None for each in group)
    )
    if text.count("(") >= 2:
        read = parse(f"pto.{instruction.operation} {text}")
        assert (read.inputs, read.outputs) == (instruction.inputs, instruction.outputs)


def test_roles_follow_the_order_of_the_text():
    roles = parse(pto_texts.INSTRUCTIONS["E2"]).operands()
    assert {role: operand.name for role, operand in roles.items()} == {
        "c": "%c0",
        "a": "%a",
        "b": "%b",
        "d": "%c1",
    }
    indexed = parse(pto_texts.INSTRUCTIONS["E5"]).operands()
    assert [indexed[role].name for role in ("source", "row", "column", "target")] == [
        "%panel", "%z", "%kk", "%t",
    ]  # fmt: skip


@pytest.mark.parametrize("operation", [each for each in OPERATIONS.values() if each.stores])
def test_a_store_names_what_it_writes(operation):
    instruction = parse(f"pto.{operation} %t, %memory : (!pto.tile<...>, !pto.memref<...>) -> ()")
    assert [output.name for output in instruction.outputs] == ["%memory"]


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("%c = pto.tmatmul_bias %a, %b, %v", "%c = pto.tmatmul.bias %a, %b, %v"),
        (
            "pto.tmov ins(%a : (!pto.tile_buf<...>)) outs(%b : !pto.tile_buf<...>)",
            "pto.tmov ins(%a : !pto.tile_buf<...>) outs(%b : !pto.tile_buf<...>)",
        ),
        (
            "pto.tmov ins(%a : <loc=left, dtype=f16, rows=16, cols=16, v_row=-1, v_col=?,\n"
            "  blayout=col_major, slayout=row_major, fractal=512, pad=0>) // note\n"
            "  outs(%b : <left, 16x16xhalf>)",
            "pto.tmov ins(%a : !pto.tile_buf<loc=left, dtype=f16, rows=16, cols=16, v_row=?, v_col=?, "
            "blayout=col_major, slayout=row_major, fractal=512, pad=0>) outs(%b : "
            "!pto.tile_buf<left, 16x16xf16>)",
        ),
        (
            "%t = textract %a[%r, %c] : !pto.tile<...> -> !pto.tile<...>;",
            "%t = textract %a[%r, %c] : (!pto.tile<...>) -> !pto.tile<...>",
        ),
        (
            "%c = tgemv %a, %b : !pto.tile<...>",
            "%c = tgemv %a, %b : (!pto.tile<...>, !pto.tile<...>) -> !pto.tile<...>",
        ),
        (
            "!l = !pto.tile_buf<left, 16x16xf16, compact=1, valid=-1x4>\npto.tmov ins(%a : !l) outs(%b : !l)",
            "pto.tmov ins(%a : !pto.tile_buf<left, 16x16xf16, valid=?x4, compact=1>) "
            "outs(%b : !pto.tile_buf<left, 16x16xf16, valid=?x4, compact=1>)",
        ),
    ],
)
def test_other_spellings_have_one_canonical_text(written, canonical):
    assert str(parse(written)) == canonical
    assert parse(canonical) == parse(written)


@pytest.mark.parametrize("comment", ["// MLIR", "; of a page", "# of a page", "#of a page", "## %a = tgemv"])
def test_comments_say_nothing(comment):
    text = pto_texts.INSTRUCTIONS["E8"]
    assert parse(f"{comment}\n  {comment}\n{text} // {comment}\n{comment}") == parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "%b = affine.apply #map(%a)",
        "#map = affine_map<(d0) -> (d0)>",
        "pto.x %w#1, {y = #pto.z}",
        'pto.x "# // ;"',
    ],
)
def test_attributes_result_numbers_and_strings_are_no_comments(text):
    assert str(parse_module(text)) == text + "\n"


def test_a_listing_of_a_page_is_read_with_its_comments():
    instruction = parse(pto_texts.MANUAL_MODE)
    assert (instruction.line, instruction.column) == (5, 1)


def test_directives_may_precede_an_instruction():
    gemv = parse(f".arg %x : !pto.tile<1x256xf16>;\n.const %z = 0 : index;\n{pto_texts.INSTRUCTIONS['E4']};")
    assert gemv == parse(pto_texts.INSTRUCTIONS["E4"])


# Whole files


def test_the_gemm_file_is_read_as_it_was_printed():
    read = parse_module(GEMM, "gemm.pto")
    assert parse_module(str(read)) == read
    assert str(parse_module(str(read))) == str(read)


def test_the_gemm_file_gives_access_to_its_parts():
    read = parse_module(GEMM)
    assert dict(read.attributes) == {"pto.target_arch": '"a5"'}
    (function,) = (node for node in read.walk() if isinstance(node, module.Function))
    assert [parameter.name for parameter in function.parameters] == [
        "%c_ptr",
        "%a_ptr",
        "%b_ptr",
        "%bias_ptr",
        "%has_bias",
    ]
    constants = {
        node.name: node.integer for node in read.walk() if isinstance(node, statements.ConstantDefinition)
    }
    (loop,) = (node for node in read.walk() if isinstance(node, module.Loop))
    assert [constants[name] for name in (loop.lower, loop.upper, loop.step)] == [0, 8, 1]
    products = [
        node.operation.name
        for node in read.walk()
        if isinstance(node, InstructionStatement) and node.operation.kind is OperationKind.MATMUL
    ]
    assert products == ["tmatmul.bias", "tmatmul", "tmatmul.acc"]
    lines = GEMM.splitlines()
    for statement in read.walk():
        assert re.match(r"%|pto\.|scf\.|func\.|return", lines[statement.line - 1][statement.column - 1 :])


def test_what_is_not_modelled_is_kept_with_its_regions():
    text = """\
func.func @f(%p: memref<?xf32>, %n: index) -> (i32) attributes {pto.entry} {
  %w:2 = scf.while(%x = %c0) : (index) -> (index, i32) {
    scf.condition(%q) %x : index
  } do {
    ^bb0(%x: index):
    scf.yield %x : index
  }
  pto.section.cube {
    %1 = pto.tadd ins(%a : !pto.tile_buf<vec, 8x8xui8>)
    %2 = arith.addi %w#0, %n overflow<nsw> : index
  } {pto.core = 1}
  "pto.custom"(%a) ({
    "foo.yield"() : () -> ()
  }) {x = 1 : i32} : (index) -> ()
  %3 = memref.reinterpret_cast %p to offset: [0], sizes: [%n] : memref<?xf32> to memref<?xf32, strided<[?]>>
  scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
    pto.tfree
  } {llvm.loop.vector}
  return %w#1 : i32
}
"""
    read = parse_module(text)
    assert str(read) == text
    (section,) = (node for node in read.walk() if isinstance(node, module.Other) and "section" in node.name)
    (body,) = section.regions
    assert [type(each) for each in body] == [module.Other, statements.Arithmetic]
    assert body.statements[0].values == ("%a",)


def test_statements_end_where_the_next_begins():
    text = (
        "pto.mystery %a,\n  %b\n  (%c)\n%d = pto.riddle pto.barrier <PIPE_ALL> %e = arith.addi %d, %d : index"
    )
    assert [each.name for each in parse_module(text).body if isinstance(each, module.Other)] == [
        "pto.mystery", "pto.riddle",
    ]  # fmt: skip
    assert len(parse_module(text).body.statements) == 4


@pytest.mark.parametrize(
    ("text", "type_", "value"),
    [("7", "index", 7), ("-1", "i32", -1), ("true", None, 1), ("0x10", "i64", 16), ("1.5", "f32", None),
     ("0x7F800000", "f32", None)],
)  # fmt: skip
def test_integer_constants(text, type_, value):
    typed = f" : {type_}" if type_ else ""
    (constant,) = parse_module(f"%a = arith.constant {text}{typed}").body
    assert constant.integer == value


@pytest.mark.parametrize(
    "inside", ["foo", "foo %a", "foo bar", "x = 3", "4", '"a"', "@g", ",", "x, y", "(", "!t"]
)
@pytest.mark.parametrize(
    "head",
    [
        "module", "module @m", "module attributes {a, b = 1}", "func.func @f()", "func.func @f() -> index",
        "func.func @f() attributes {a, b}", "scf.if %c", "scf.for %i = %a to %b step %c",
        "%r = scf.for %i = %a to %b step %c iter_args(%x = %y) -> (i32) : i32", "scf.if %c {\n} else",
    ],
)  # fmt: skip
def test_what_a_region_encloses_does_not_decide_that_it_is_one(head: str, inside: str) -> None:
    """An error is about what stands inside, not about the brace."""
    try:
        module = parse_module(f"{head} {{\n{inside}\n}}")
    except InputError as error:
        found = str(error).rpartition("found ")[2]
        assert not str(error).startswith("line 1,")
        assert found not in str(error).rpartition("found ")[0]
    else:
        assert [type(node).__name__ for node in module.walk()][-1] == "Other"


# What is no PTO text

TILE = "!pto.tile_buf<left, 16x16xf16>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected an instruction such as 'pto.tmatmul', found none"),
        ("pto.tmatmul", "line 1, column 1: expected 2 operands of tmatmul to read (a, b), found 0"),
        ("pto.tmatmull ins()", "line 1, column 1: expected an instruction, found operation 'pto.tmatmull'"),
        ("tmatmull %a, %b", "found operation 'tmatmull'; did you mean tmatmul"),
        (
            "pto.tmatmul in(%a)",
            "expected an operand such as '%a', the end of the statement, ':', 'ins' or '{', found 'in'",
        ),
        ("func.func @f(%a: i32 {\n  return\n}", "column 13: expected ')' for this '(', found the end"),
        ("pto.barrier <PIPE_ALL>", "line 1, column 1: expected an instruction, found barrier"),
        ("pto.tmov ins(%a : T) outs(%b)", "line 1, column 29: expected ',', ':' or '[', found ')'"),
        ("pto.tmov ins(%a : T)", "line 1, column 21: expected 'outs', found the end"),
        ("pto.tmov ins(%a : T)\n\npto.tmov", "line 3, column 1: expected 'outs', found the next statement"),
        ("pto.tmov ins(%a : T", "column 13: expected ')' for this '(', found the end"),
        ("%c = tstore %a, %b", "column 6: expected no result of tstore, which names what it writes"),
        ("%c = tgemv %a, %b : (A, B) -> (C, D)", "expected 1 type behind '->', found 2"),
        ("%c = tgemv %a, %b : (A, B, C) -> D", "line 1, column 6: expected 2 types for 2 operands, found 3"),
        (f"pto.tmov ins(%a : {TILE}, {TILE}) outs(%b : {TILE})", "expected 1 type for 1 operand, found 2"),
        (f"pto.tmov ins(%a : {TILE}) outs(%b, %c : {TILE}, {TILE})", "one operand that tmov writes, found 2"),
        ("pto.tmov ins(%a : !pto.tile<f16, 16, 16) outs(%b : T)", "column 28: expected '>' for this '<'"),
        ('pto.tmov {a = "x} ', "line 1, column 15: expected '\"' at the end of this string"),
        ("pto.tmov ins(%a : $) outs()", "line 1, column 19: found '$', which begins nothing"),
        ("pto.tmov ins(%a : T]", "column 20: expected ')' for the '(' of line 1, column 13; found ']'"),
        ("%c = tgemv %a, %b\n%d = tgemv %a, %b", "line 2, column 1: expected the end, found a second"),
    ],
)  # fmt: skip
def test_errors_say_where_what_and_what_was_expected(text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        parse(text)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ("left, 16x16xf61", "line 1, column 6: unknown element type 'f61'"),
        ("left", "expected a location and an extent, such as 'left, 32x64xf16', found 'left'"),
        ("left, 16xf16", "column 41: expected an extent such as '32x64xf16', found '16xf16'"),
        ("left, 16x16xf16, pad=7", "column 52: expected one of 0, 1, 2, 3, found 'pad=7'"),
        ("left, 16x16xf16, pad=0, pad=0", "column 59: 'pad=' is repeated; expected each key once"),
        ("left, 16x16xf16, size=0", "expected one of valid=, blayout=, slayout=, fractal=, pad=, compact="),
        ("left, 16x16xf16, valid=4", "expected 'valid=RxC', each a number or '?', found 'valid=4'"),
        ("left, 16x16xf16, fractal=256", "expected one of 512, 1024, 32, found 'fractal=256'"),
        ("left, 9999999999x16xf16", "expected a number of at most 9 digits"),
        ("loc=side, dtype=f16", "column 35: expected one of vec, mat, left, right"),
        ("loc=left, dtype=f16, cols=1", "column 56: expected 'rows=' (the keys stand in the order loc"),
        ("loc=left, dtype=f16, rows=1, cols=1", "expected 'v_row=', found '>'"),
        ("loc=left, dtype=f16, rows=1, cols=1, blayout=row_major", "keys in this order are from an old dump"),
        ("16x16xf16, memory_space = #pto.address_space<left>", "'config' are from an old dump"),
        ("f16, 16", "expected 'T, R, C' or"),
    ],
)  # fmt: skip
def test_tile_types_that_cannot_be_read(parameters, message):
    with pytest.raises(InputError, match=re.escape(message)):
        parse(f"%a = tgemv %b, %c : !pto.tile_buf<{parameters}>")


@pytest.mark.parametrize(
    "text",
    [
        "%1 = pto.subview %0, offsets = [%c0], sizes = [32] : !pto.tensor_view<2xf32> -> !pto.tile_view",
        "pto.tload ins(%1 : !pto.tile_view<32x32xf32>) outs(%2 : !pto.tile_buf<...>)",
        "pto.tmov ins(%4 : <32x32xf32, memory_space = #pto.address_space<mat>>) outs(%2 : T)",
    ],
)
def test_old_dumps_are_named_as_such(text):
    with pytest.raises(InputError, match=r"line 1, column \d+: .*an old dump.*expected"):
        parse_module(text)


def test_only_an_order_of_old_dumps_is_named_as_one():
    with pytest.raises(
        InputError, match=r"expected 'v_col=' \(the keys stand in the order loc, .*, found 'blay"
    ):
        parse_module(
            "pto.tmov ins(%a : <loc=mat, dtype=f16, rows=8, cols=8, v_row=8, blayout=col_major>) outs(%b : T)"
        )
    with pytest.raises(InputError, match=r"expected 'v_row=', found 'blayout=': .* an old dump"):
        parse_module(
            "pto.tmov ins(%a : <loc=mat, dtype=f16, rows=8, cols=8, blayout=col_major>) outs(%b : T)"
        )


def test_errors_of_a_file_name_it():
    with pytest.raises(
        InputError, match=r"^kernel\.pto: line 2, column 1: expected the end of the statement, found '\+'"
    ):
        parse_module("pto.barrier <PIPE_ALL>\n+", "kernel.pto")


@pytest.mark.parametrize(("opening", "closing"), ["()", "[]", "{}", "<>"])
def test_deep_nesting_is_an_error_not_a_crash(opening, closing):
    depth = 20_000
    with pytest.raises(InputError, match=r"deep"):
        parse_module(f"pto.x {opening * depth}{closing * depth}")
    with pytest.raises(InputError, match=PLACE):
        parse_module("pto.x " + opening * depth)


def test_deep_regions_are_an_error_not_a_crash():
    nest = "scf.if %c {\n"
    with pytest.raises(InputError, match="nested 64 deep"):
        parse_module(nest * 5000 + "}\n" * 5000)
    within = nest * 60 + "}\n" * 60
    assert parse_module(str(parse_module(within))) == parse_module(within)


TEXTS = [
    *pto_texts.INSTRUCTIONS.values(), *pto_texts.OTHER_STATEMENTS, *pto_texts.PAGE_LISTINGS, GEMM,
    "module { func.func @f() { scf.if %c { pto.barrier <PIPE_ALL> } else { } return } }",
]  # fmt: skip
PIECES = re.findall(
    r"[\w.%!#@]+|\s|.", "\n".join([*TEXTS[:-2], 'scf.for scf.if else { } ( ) < > -> " // # ;'])
)


def read_or_refuse(text):
    """Read a text, and hold what is read or refused to what is promised of it."""
    try:
        read = parse_module(text)
    except InputError as error:
        assert PLACE.match(str(error))
        assert "\n" not in str(error)
    else:
        assert parse_module(str(read)) == read


@given(st.sampled_from(TEXTS), st.data())
def test_damaged_texts_are_read_or_refused(text, data):
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 12))
        text = text[:start] + data.draw(st.sampled_from(PIECES) | st.text(max_size=3)) + text[end:]
    read_or_refuse(text)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
@example('%x = "a"')
@example("{ } } {")
@example("%a, %b = ")
@example("!a = !a\n!a")
@example("#map = affine_map<(d0) -> (d0)>\n#")
def test_token_soup_is_read_or_refused(text):
    read_or_refuse(text)


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    read_or_refuse(text)


def test_strings_of_statements_without_a_grammar_keep_their_blanks() -> None:
    text = 'x.y "a  b" (%a) {c = "d  e"}'
    assert str(parse_module(text)) == text + "\n"


@pytest.mark.parametrize(
    "text", ["arith.constant 3 : i32", "x.y\narith.addi %a, %b : i32", "x.y {\narith.constant\n}"]
)
def test_where_a_statement_is_expected_no_word_of_one_is_named_besides(text: str) -> None:
    with pytest.raises(InputError, match=r"expected a statement( or '}')?, found 'arith\."):
        parse_module(text)
