"""What PTX may look like besides what the corpus has, and what is said of what is no PTX."""

import pytest

from mmaproof.refinement.ptx.text.module import Function, InstructionStatement, Module, SourceLine
from mmaproof.refinement.ptx.text.operands import (
    Arguments,
    Displaced,
    GenericAddress,
    Label,
    Negated,
    Pair,
    SpecialRegister,
    Symbol,
    TensorAddress,
)
from mmaproof.refinement.ptx.text.parser import parse, read
from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.operands import Address, Decimal, HexFloat, Integer, Predicate, Register, Sink, Vector

HEAD = ".version 8.5\n.target sm_90a\n.address_size 64\n"
REGISTERS = """\
.reg .pred p, q; .reg .b16 h<4>; .reg .b32 %r<100>; .reg .b64 %rd<10>; .reg .f32 f; .reg .f64 d;
.reg .v4 .f32 %v;
"""


def module_of(text: str) -> Module:
    module = parse(HEAD + text, "kernel.ptx")
    assert parse(str(module)) == module
    return module


def function_of(body: str, before: str = "") -> Function:
    return module_of(f"{before}.visible .entry kernel(.param .u64 a)\n{{\n{REGISTERS}{body}\n}}\n").functions[
        "kernel"
    ]


def instruction_of(text: str, before: str = "") -> InstructionStatement:
    return function_of(f"start: {text}", before).body[0]


def r(number: int) -> Register:
    return Register(f"%r{number}", "b32")


RD1 = Register("%rd1", "b64")


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("0", Integer(0)),
        ("42", Integer(42)),
        ("-42", Integer(-42)),
        ("- 42", Integer(-42)),
        ("+42", Integer(42)),
        ("0x1F", Integer(31)),
        ("0X1f", Integer(31)),
        ("0xFFFFFFFFFFFFFFFFU", Integer(2**64 - 1)),
        ("017", Integer(15)),
        ("0b101", Integer(5)),
        ("7U", Integer(7)),
        ("WARP_SZ", Integer(32)),
        ("0f3F800000", HexFloat(0x3F800000, 32)),
        ("0Fbf800000", HexFloat(0xBF800000, 32)),
        ("(0f3F800000)", HexFloat(0x3F800000, 32)),
        ("-0d3FF0000000000000", HexFloat(0xBFF0000000000000, 64)),
        ("WARP_SZ", Integer(32)),
        ("(1)", Integer(1)),
        ("-(-1)", Integer(1)),
        ("1?2:3", Integer(2)),
        ("(16*2)+WARP_SZ/2", Integer(48)),
        ("-7 / 2", Integer(-3)),
        ("(.u64)-1 > 5", Integer(1)),
        ("( .s64 ) 3 << 2", Integer(12)),
        ("1.5*2.0", Decimal("3.0")),
        ("0d3FF0000000000000", HexFloat(0x3FF0000000000000, 64)),
        ("0D3ff0000000000000", HexFloat(0x3FF0000000000000, 64)),
        ("1.5", Decimal("1.5")),
        ("-1.5", Decimal("-1.5")),
        ("1e-5", Decimal("1e-5")),
        ("2.E+3", Decimal("2.E+3")),
    ],
)
def test_literals(literal, value):
    assert instruction_of(f"mov.b32 %r1, {literal};").operands == (r(1), value)
    assert instruction_of(f"mov.b32 {{%r1, %r2}}, {{{literal}, _}};").operands[1] == Vector((value, Sink()))


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("%tid.x", SpecialRegister("%tid.x", "u32")),
        ("%laneid", SpecialRegister("%laneid", "u32")),
        ("%clock64", SpecialRegister("%clock64", "u64")),
        ("_", Sink()),
        ("!p", Negated(Register("p", "pred"))),
        ("p|q", Pair(Register("p", "pred"), Register("q", "pred"))),
        ("_|p", Pair(Sink(), Register("p", "pred"))),
        ("%v.w", Register("%v.w", "f32")),
        ("%v", Register("%v", "v4.f32")),
        ("tile", Symbol("tile")),
        ("tile+16", Displaced(Symbol("tile"), 16)),
        ("start", Label("start")),
        ("{ %r1, _, 3 }", Vector((r(1), Sink(), Integer(3)))),
        ("[%rd1]", Address(RD1)),
        ("[ %rd1 + 0 ]", Address(RD1, 0)),
        ("[%rd1+4]", Address(RD1, 4)),
        ("[%rd1+(16*2)]", Address(RD1, 32)),
        ("[%rd1+1?4:8]", Address(RD1, 4)),
        ("[%rd1+WARP_SZ]", Address(RD1, 32)),
        ("[16+16]", Address(Integer(32))),
        ("[%rd1+-4]", Address(RD1, -4)),
        ("[%rd1+0x10]", Address(RD1, 16)),
        ("[%rd1+4*8-2]", Address(RD1, 30)),
        ("[tile]", Address(Symbol("tile"))),
        ("[tile+8]", Address(Symbol("tile"), 8)),
        ("[a+4]", Address(Symbol("a"), 4)),
        ("[64]", Address(Integer(64))),
        ("[%rd1, {%r1, %r2}]", TensorAddress(Address(RD1), (Vector((r(1), r(2))),))),
    ],
)
def test_operands(text, operand):
    assert instruction_of(f"some.b32 %r1, {text};", ".shared .b8 tile[64];").operands == (r(1), operand)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("(%r1, 2)", (r(1), Integer(2))),
        ("(2, (3))", (Integer(2), Integer(3))),
        ("(2)", (Integer(2),)),
        ("(1+1)", (Integer(2),)),
        ("()", ()),
    ],
)
def test_a_call_has_arguments_in_parentheses(text, arguments):
    assert instruction_of(f"call f, {text};", ".shared .b8 f[64];").operands[1] == Arguments(arguments)


@pytest.mark.parametrize(
    ("operand", "message"),
    [
        ("(%r1)", "only a call has operands in parentheses, unlike (%r1)"),
        ("(1, 2)", "only a call has operands in parentheses"),
        ("1+", "expected a number in a constant expression, not the end"),
        ("1 2", "expected an operator in a constant expression, not a number"),
        ("*2", "expected a number in a constant expression, not '*'"),
        ("1:2", "expected an operator in a constant expression, not ':'"),
        ("5/0", "5 / 0 divides by zero"),
        ("1.0+2", "1.0 + 2 mixes an integer with a floating-point number"),
        ("-0f3F800000", "- takes an integer or a number, not 0f3F800000"),
        ("(" * 100 + "1" + ")" * 100, "nested at most 64 deep"),
        ("-" * 100 + "1", "nested at most 64 deep"),
        ("7 %3", "'%3' is not declared here"),
        ("[%rd1+1.5]", "a displacement is an integer, not '1.5'"),
        ("[16+%rd1]", "expected"),
        ("[(%rd1)]", "expected"),
    ],
    ids=lambda value: value[:20],
)
def test_what_is_no_constant_expression_is_refused(operand, message):
    text = body_error(f"mov.b32 %r1, {operand};")
    assert text.startswith("kernel.ptx:8:") and message in text


def test_an_instruction_has_its_parts_in_the_order_written():
    instruction = instruction_of("@ !p ld.v4 .b32.global %r1 , [%rd1];")
    assert (instruction.opcode, instruction.modifiers) == ("ld", ("v4", "b32", "global"))
    assert instruction.predicate == Predicate("p", negated=True)
    assert instruction.has(".global", "v4") and not instruction.has("shared")
    assert instruction.one_of(("shared", ".global")) == "global"
    assert instruction.one_of(("shared",)) is None
    assert instruction.text == "@!p ld.v4.b32.global %r1, [%rd1];"
    assert instruction_of("cvt.rn.bf16x2.f32 %r1, f, f;").types == ("bf16x2", "f32")


def test_comments_may_stand_anywhere():
    body = "add.s32 /* ; { */ %r1, // ; }\n %r2, 3; // begin inline asm\n/**/ ret /***/ ; // \"'{"
    assert [str(each) for each in function_of(body).body] == ["add.s32 %r1, %r2, 3;", "ret;"]


def test_an_inner_block_may_declare_a_name_anew():
    function = function_of(
        """
        mov.b32 %r1, 1;
        {
          .reg .pred p; .reg .f32 %r<3>;
          mov.f32 %r1, 0f00000000;
          mov.b32 %r7, 7;
          @p bra done;
          { .reg .b16 %r1; mov.b16 %r1, 3; bra done; done: }
          bra done;
          done: mov.b32 %r8, 8;
        }
        { .reg .b64 %r1; mov.b64 %r1, 4; @p bra done; }
        done: mov.b32 %r1, 5;
        """
    )
    types = function.registers
    moved = [each.operands[0] for each in function.body if each.opcode == "mov"]
    assert [types[register.name] for register in moved] == ["b32", "f32", "b32", "b16", "b32", "b64", "b32"]
    assert moved[0] == moved[-1] == r(1)
    assert len({register.name for register in moved}) == 6
    guards = [each.predicate.name for each in function.body if each.predicate]
    assert len(set(guards)) == 2 and guards[1] == "p"
    targets = [function.labels[each.operands[0].name] for each in function.body if each.opcode == "bra"]
    assert [function.body[target].line - function.line for target in targets] == [13, 12, 13, 16]


def test_a_new_name_never_meets_one_of_the_program():
    function = function_of(
        "{ .reg .b16 h1, h1$1; mov.b16 h1, h1$1; } mov.b16 h1, 0; { .reg .b16 h1; mov.b16 h1, 0; }"
    )
    names = {
        register.name
        for each in function.body
        for register in each.operands
        if isinstance(register, Register)
    }
    assert len(names) == 4


def test_deep_blocks_and_initialisers_are_read():
    depth = 3000
    assert len(function_of("{" * depth + "ret;" + "}" * depth).body) == 1
    with pytest.raises(InputError, match="nested too deep"):
        parse(f"{HEAD}.global .b8 x = {'{' * depth}1{'}' * depth};")


def test_directives_of_a_function():
    module = module_of(
        """
        .file 1 "kernel.cu"
        .extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values)
        ;
        .func (.reg .b32 out) twice (.reg .b32 in) .noreturn { add.s32 out, in, in; ret; }
        .weak .entry first .maxnreg 64 { ret; }
        .visible .entry second(
          .param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24], .param .u64 .ptr b, .param .f32 c)
        .maxntid 128, 2, 1 .minnctapersm 2 .reqntid 64
        .pragma "nounroll";
        {
          .reg .b32 %r<2>; .reg .b64 %SP;
          .local .align 16 .b8 depot[32];
          .shared .align 128 .b16 tile[4][8], other;
          .loc 1 7 3
          mov.u64 %SP, depot;
          .loc 1 8 9, function_name $L__info_string0, inlined_at 1 35 15
          // begin inline asm
          .loc 1 99 9
          mov.b32 %r0, 1;
          // end inline asm
          { .param .b32 p0; st.param.b32 [p0], %r0; call.uni (%r0), twice, (p0); }
          { .param .b32 p0; st.param.b32 [p0+0], %r1; }
          .pragma "nounroll";
          exit;
        }
        """
    )
    assert [entry.name for entry in module.entries] == ["first", "second"]
    assert module.functions["first"].limits == {"maxnreg": (64,)}
    assert not module.functions["vprintf"].defined
    twice, second = module.functions["twice"], module.functions["second"]
    assert not twice.is_entry and twice.limits == {"noreturn": ()}
    assert str(twice.body[0]) == "add.s32 out, in, in;"
    assert twice.returned[0].in_register
    assert second.limits == {"maxntid": (128, 2, 1), "minnctapersm": (2,), "reqntid": (64,)}
    a, s, b, c = second.parameters
    assert (a.type, a.pointer_space, a.pointer_alignment, a.size) == ("u64", "global", 16, 8)
    assert (s.type, s.alignment, s.size, s.pointer_space) == ("b8", 8, 24, None)
    assert (b.pointer_space, c.pointer_space, c.size) == ("generic", None, 4)
    tile, other = second.shared
    assert (tile.dimensions, tile.alignment, tile.size, other.size) == ((4, 8), 128, 64, 2)
    lines = [SourceLine("kernel.cu", 7, 3), *[SourceLine("kernel.cu", 8, 9)] * 5]
    assert [each.source for each in second.body] == lines
    first, again = (each.operands[0].base.name for each in second.body if each.opcode == "st")
    assert first != again
    assert {variable.name for variable in second.variables if variable.space == "param"} == {first, again}


def test_variables_of_a_module():
    module = module_of(
        """
        .extern .shared .align 16 .b8 dynamic[];
        .visible .global .align 8 .u32 table[2][3] = {{1, 2}, {0x4, 5, -6}};
        .global .u64 pointer = generic(table)+8;
        .global .u64 places[2] = {table+4, dynamic};
        .const .f32 halves[] = {0f3F000000, 0.5};
        .global .attribute(.managed) .v2 .f32 managed;
        .global .v2 .u32 points[] = {{1, 2}, {0, 3}};
        .global .b8 large[4][1000000000000] = {{}, {7}};
        """
    )
    variables = {variable.name: variable for variable in module.variables}
    assert variables["dynamic"].size is None
    assert variables["dynamic"].linkage == ("extern",)
    assert dict(variables["table"].initial) == {
        i: Integer(v) for i, v in ((0, 1), (1, 2), (3, 4), (4, 5), (5, -6))
    }
    assert variables["table"].size == 24
    assert variables["pointer"].initial == ((0, GenericAddress(Symbol("table"), 8)),)
    assert variables["places"].initial == ((0, Displaced(Symbol("table"), 4)), (1, Symbol("dynamic")))
    assert (variables["points"].dimensions, variables["points"].size) == ((2,), 16)
    assert dict(variables["points"].initial) == {0: Integer(1), 1: Integer(2), 3: Integer(3)}
    assert variables["large"].initial == ((10**12, Integer(7)),)
    assert variables["halves"].size == 8
    assert variables["halves"].initial == ((0, HexFloat(0x3F000000, 32)), (1, Decimal("0.5")))
    assert (variables["managed"].type, variables["managed"].size, variables["managed"].alignment) == (
        "v2.f32",
        8,
        8,
    )


def test_calls_tables_and_newer_instructions_are_read():
    function = function_of(
        """
        start:
        targets: .branchtargets start, finish;
        brx.idx %r1, targets;
        proto: .callprototype (.param .b32 _) _ (.param .b64 _);
        call (%r1), %rd1, (%rd2), proto;
        wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f, f, f, f}, %rd1, %rd2, p, 1, 1, 0, 0;
        cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
          [%r1], [%rd1, {%r2, %r3}], [%r4];
        finish: ret;
        """
    )
    assert list(function.tables) == ["targets", "proto"]
    assert function.labels == {"start": 0, "finish": 4}
    assert function.body[3].has("shared::cluster", "mbarrier::complete_tx::bytes", "2d")


def test_sections_are_skipped():
    module = module_of(
        '.entry k() { ret; }\n.section .debug_str { $L__s: .b8 103 // {\n .b8 0\n }\n.file 1 "a.cu"'
    )
    assert list(module.functions) == ["k"]


def body_error(body: str) -> str:
    with pytest.raises(InputError) as error:
        function_of(body)
    return str(error.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("ret", r"9:1: expected ';' or an operand, not '}'"),
        ("add.s32 %r1, %r2\n mov.b32 %r1, %r2;", r"9:2: expected '+', ',', ';' or '|', not 'mov.b32'"),
        ("ld.global.b32 %r1, [%rd1;", "8:25: expected '+', ',' or ']', not ';'"),
        ("mov.b32 %r1, %r100;", "8:14: '%r100' is not declared here"),
        ("mov.b32 %r1,\n  %x;", "9:3: '%x' is not declared here"),
        ("@%x ret;", "8:2: '%x' is not declared here"),
        ("@%r1 ret;", "8:1: a guard must be a register of type .pred, unlike '%r1'"),
        ("bra nowhere;", "8:5: 'nowhere' is not declared here"),
        ("{ inside: } bra inside;", "8:17: 'inside' is not declared here"),
        ("twice: twice: ret;", "8:8: 'twice' is declared twice in one block"),
        (".reg .b32 f;", "8:11: 'f' is declared twice in one block"),
        (".reg .b32 %r<3>;", "8:11: '%r<3>' is declared twice in one block"),
        (".reg .b33 x;", "8:6: expected one type, such as '.b32', not '.b33'"),
        (".reg .b32 %tid.x;", "8:11: '%tid.x' can't be declared: PTX defines it"),
        (".reg .b32 x<99999999999>;", "8:11: x<99999999999> declares too many registers"),
        (".shared .align 3 .b8 x;", "8:1: .align must be a power of two, not 3"),
        (
            ".shared .b8 x[2][2] = {1, 2};",
            "8:13: the initial values of x must be nested as its 2 dimensions are",
        ),
        (".shared .b8 x[2][];", "8:13: only the first extent of x may be left open"),
        (".shared .b8 x" + "[1]" * 17 + ";", "8:13: x has 17 dimensions; at most 16 are read"),
        (".shared .b8 x[2] = {1, 2, 3};", "8:13: x has more initial values than elements"),
        ("mov.b32 %r1, 0xFG;", "8:14: expected an operand, not '0xFG'"),
        ("mov.b32 %r1, 089;", "8:14: '089' is not a number: an octal number has digits 0 to 7"),
        (
            "mov.b32 %r1, 0x10000000000000000;",
            "8:14: an integer must fit 64 bits, unlike '0x10000000000000000'",
        ),
        ("mov.b32 %r1.x, 0;", "8:9: '%r1' is not a vector, so there is no '%r1.x'"),
        ("ld.b32 %r1, [1.5];", "8:1: an address begins with a register, variable or integer, not '1.5'"),
        (
            "mov.b32 %r1, {};",
            "8:15: expected '!', '(', a conversion, a name, a number, an integer or an operator, not '}'",
        ),
        ("mov.b32 %r1, 'x';", '8:14: expected an operand, not "\'"'),
        (".branchtargets start;", "8:1: a label must stand before a table"),
        ("/* never closed", "8:1: expected '@' or an instruction, not '/*'"),
        ("{", "9:2: expected '{', '}', a directive, a label, a variable or an instruction, not the end"),
    ],
)
def test_errors_say_where_and_what(body, message):
    text = body_error(body)
    assert text.startswith("kernel.ptx:")
    assert message in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "kernel.ptx: there is no '.version' directive"),
        (".version 8.5", "kernel.ptx: there is no '.target' directive"),
        (".version eight", "kernel.ptx:1:10: expected a version such as 8.5, not 'eight'"),
        (HEAD + ".entry k( { }", "kernel.ptx:4:11: expected ')' or '.param', not '{'"),
        (HEAD + ".entry k() { } .entry k() { }", "'k' is defined twice"),
        (HEAD + ".global .b8 x; .global .b8 x;", "'x' is declared twice"),
        (HEAD + ".global .u64 x = y;", "kernel.ptx:4:14: 'y' is not declared here"),
        (HEAD + "function f", "not 'function'"),
        (HEAD.replace("64", "48"), "address_size must be 32 or 64, not 48"),
        ("\x7fELF\x02\x01", "kernel.ptx:1:1: expected"),
    ],
)
def test_errors_of_modules(text, message):
    with pytest.raises(InputError) as error:
        parse(text, "kernel.ptx")
    assert message in str(error.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="can't be read: No such file"):
        read(tmp_path / "missing.ptx")
    (tmp_path / "binary.ptx").write_bytes(b".version \xff")
    with pytest.raises(InputError, match="not UTF-8: byte 9"):
        read(tmp_path / "binary.ptx")
