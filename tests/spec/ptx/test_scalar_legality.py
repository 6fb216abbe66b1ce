"""The rules on scalar instructions against ptxas's frozen answers, and what they say."""

from __future__ import annotations

import pytest
from ptx_assembler import DECLARATIONS
from ptx_scalar_sweep import TARGET, VERSION, frozen, sweep

from mmaproof.spec.instruction_set import read
from mmaproof.spec.ptx.legality import Module
from mmaproof.spec.ptx.scalar.catalogue import every_form
from mmaproof.spec.ptx.scalar.instruction import read as read_scalar
from mmaproof.spec.ptx.scalar.legality import LENIENT, RULES, objections, violations

MODULE = Module(TARGET, VERSION)


def test_the_rules_allow_what_ptxas_takes_and_nothing_else() -> None:
    taken, judged = frozen(), set()
    wrong, lenient = [], []
    for asked in sweep():
        instruction = read_scalar(asked.text, DECLARATIONS)
        assert instruction is not None, asked.text
        found = violations(instruction.written, MODULE)
        judged.add(asked.key)
        if bool(found) != (asked.key in taken):
            continue
        (lenient if found and objections(instruction.written, found) else wrong).append(asked.text)
    assert wrong == []
    assert 0 < len(lenient) < 60
    assert taken <= judged


def test_every_form_is_in_the_sweep() -> None:
    taken = {(head, types) for head, types, _, _ in frozen()}
    assert {(form.row.head, ".".join(map(str, form.types))) for form in every_form()} <= taken


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("add.f31 %f1, %f2, %f3;", "scalar-type"),
        ("mul.s32 %r1, %r2, %r3;", "scalar-type"),
        ("shf.b32 %r1, %r2, %r3, %r4;", "scalar-head"),
        ("add.sat.u32 %r1, %r2, %r3;", "scalar-modifier"),
        ("add.s32 %r1, %r2;", "scalar-operand-count"),
        ("add.s32 5, %r2, %r3;", "scalar-operand"),
        ("add.s32 %r1, {%r2}, %r3;", "scalar-operand"),
        ("add.s32 %r1, !%r2, %r3;", "scalar-operand"),
        ("add.s32 _, %r2, %r3;", "scalar-operand"),
        ("add.s32 %r1, %r2, 1.5;", "scalar-constant"),
        ("add.f32 %f1, %f2, 1;", "scalar-constant"),
        ("add.f16 %h1, %h2, 1.5;", "scalar-constant"),
        ("lop3.b32 %r1, %r2, %r3, %r4, 256;", "scalar-constant"),
        ("lop3.b32 %r1, %r2, %r3, %r4, %r5;", "scalar-operand"),
        ("lop3.or.b32 %r1, %r2, %r3, %r4, 5, %p1;", "scalar-operand-count"),
    ],
)
def test_the_rule_that_is_violated(text: str, rule: str) -> None:
    judgement = read(text).legal("sm_100a", "9.0")
    assert [violation.rule.id for violation in judgement.violations] == [rule]


@pytest.mark.parametrize(
    ("text", "registers", "rule"),
    [
        ("add.s32 %r1, %f1, %r2;", "%r<5>:b32, %f1:f32", "scalar-register"),
        ("add.s32 %r1, %r2, %r3;", "%r<3>:b32", "scalar-register"),
        ("add.f32 %r1, %r2, %r3;", "%r<5>:u32", "scalar-register"),
        ("@%r1 add.s32 %r1, %r2, %r3;", "%r<5>:u32", "scalar-guard"),
    ],
)
def test_registers_as_they_were_declared(text: str, registers: str, rule: str) -> None:
    judgement = read(text, None, registers).legal("sm_100a")
    assert {violation.rule.id for violation in judgement.violations} == {rule}


def test_versions_and_targets() -> None:
    text = "max.relu.s16x2 %r1, %r2, %r3;"
    rules = [violation.rule.id for violation in read(text).legal("sm_80", "7.0").violations]
    assert rules == ["scalar-target", "scalar-version"]
    assert read(text).legal("sm_90", "8.0").violations == ()
    assert read("add.s32 a, b, c;").legal("sm_90", "7.0").violations[0].rule.id == "scalar-target-version"


def test_every_rule_is_tried() -> None:
    tried = {
        "scalar-head", "scalar-type", "scalar-modifier", "scalar-target-version", "scalar-target",
        "scalar-version", "scalar-operand-count", "scalar-operand", "scalar-constant", "scalar-register",
        "scalar-guard",
    }  # fmt: skip
    assert {rule.id for rule in RULES} == tried
    assert {lenience.rule for lenience in LENIENT} < tried
