"""Every legality rule has an instruction that violates it and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from power_instructions import encodable

from mmaproof.spec.errors import InputError
from mmaproof.spec.power.assembly import parse
from mmaproof.spec.power.catalogue import RankKUpdate
from mmaproof.spec.power.encoding import encode
from mmaproof.spec.power.forms import FORMS, Form
from mmaproof.spec.power.instructions import Instruction
from mmaproof.spec.power.legality import RULES, violations
from mmaproof.spec.power.targets import TARGETS, target_named

POWER10 = TARGETS["power10"]

VIOLATIONS = {
    "accumulator-range": ("xvf32ger 8,34,35", "AT must be 0..7, not 8"),
    "vsr-range": ("xvf32ger 0,34,64", "XB must be 0..63, not 64"),
    "gpr-range": ("lxvx 5,0,32", "RB must be 0..31, not 32"),
    "mask-range": ("pmxvf64ger 0,34,36,15,4", "YMSK must be 0..3, not 4"),
    "mask-missing": (
        "pmxvi8ger4 0,34,35,15,15",
        "pmxvi8ger4 takes AT,XA,XB,XMSK,YMSK,PMSK; PMSK missing",
    ),
    "mask-unexpected": (
        "xvf32ger 0,34,35,15,15",
        "xvf32ger takes AT,XA,XB; it has no XMSK and no YMSK",
    ),
    "odd-pair": ("xvf64ger 0,35,36", "XAp must be 0..62, even, not 35"),
    "vsr-overlap": ("xvf32ger 1,34,7", "XB = vs7 overlaps a1, that is vs4..vs7"),
    "immediate-range": ("lxv 5,32768(3)", "D must be -32768..32752, a multiple of 16, not 32768"),
    "immediate-alignment": ("lxvp 4,8(3)", "D must be -32768..32752, a multiple of 16, not 8"),
}
"""For each rule, an instruction that violates it on power10, and the message."""


@pytest.mark.parametrize("rule", [rule.id for rule in RULES if rule.id != "target-isa"])
def test_each_rule_can_be_violated_alone(rule: str) -> None:
    text, message = VIOLATIONS[rule]
    (violation,) = violations(parse(text), POWER10)
    assert (violation.rule.id, violation.message) == (rule, message)
    assert str(violation) == f"{rule}: {message}"


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("xvf32ger", {"power10", "power11", "future"}),
        ("pmxvf32ger 0,34,35,15,15", {"power10", "power11", "future"}),
        ("xxsetaccz 0", {"power10", "power11", "future"}),
        ("lxvp 4,0(3)", {"power10", "power11", "future"}),
        ("lxv 4,0(3)", {"power9", "power10", "power11", "future"}),
        ("addi 4,4,1", {"power8", "power9", "power10", "power11", "future"}),
    ],
)
def test_the_target_has_the_instruction(text: str, targets: set[str]) -> None:
    for target in TARGETS.values():
        found = [violation.rule.id for violation in violations(parse(text), target)]
        assert found == ([] if target.name in targets else ["target-isa"])


@pytest.mark.parametrize(
    "text",
    [
        "xvf32ger 0,34,34", "xvf32gerpp 7,0,27", "xvf64ger 1,2,3", "xvf64ger 0,34,35", "xvf64gerpp 7,26,25",
        "pmxvf64ger 0,62,63,0,0", "pmxvi4ger8 5,34,43,9,9,255", "lxv 63,-32768(0)", "stxvp 62,32752(31)",
        "lxvx 0,0,0", "addi 0,0,-32768", "bdnz .+32764", "xxmtacc 7",
    ],
)  # fmt: skip
def test_legal_instructions(text: str) -> None:
    assert violations(parse(text), POWER10) == []


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.mnemonic)
def test_a_form_without_operands_is_legal(form: Form) -> None:
    assert violations(Instruction(form), POWER10) == []


def test_every_violated_rule_is_reported() -> None:
    found = violations(parse("pmxvf64ger 8,65,0,16,4,1"), TARGETS["power9"])
    assert [violation.rule.id for violation in found] == [
        "target-isa", "accumulator-range", "vsr-range", "mask-range", "mask-range", "mask-unexpected",
        "odd-pair",
    ]  # fmt: skip


@given(encodable)
def test_what_has_an_encoding_violates_only_the_overlap_rule(instruction: Instruction) -> None:
    found = {violation.rule.id for violation in violations(instruction, POWER10)}
    accumulator = instruction.accumulator
    overlaps = isinstance(instruction.operation, RankKUpdate) and any(
        vsr // 4 == accumulator for vsr in instruction.vsrs_read
    )
    assert found == ({"vsr-overlap"} if overlaps else set())
    assert violations(instruction, TARGETS["future"]) == []


@given(st.sampled_from(list(FORMS.values())), st.data())
def test_what_is_legal_has_an_encoding(form: Form, data: st.DataObject) -> None:
    near = [st.integers(o.values[0] - 2, o.values[-1] + 2 * o.multiple) for o in form.operands]
    instruction = Instruction(form, data.draw(st.tuples(*near)))
    broken = {violation.rule.id for violation in violations(instruction, POWER10)} - {"vsr-overlap"}
    if broken:
        with pytest.raises(InputError):
            encode(instruction)
    else:
        assert encode(instruction)


def test_unknown_targets_are_refused() -> None:
    assert target_named("power10") is POWER10
    with pytest.raises(InputError, match="unknown target 'power7'; known: power8, power9, power10"):
        target_named("power7")
