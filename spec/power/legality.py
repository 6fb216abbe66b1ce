"""When a Power MMA instruction is legal: rules on one instruction.

Rules on a sequence of instructions (priming, VSRs in use by an accumulator) are those of the state
automaton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .. import legality
from ..legality import Violation
from .contradictions import ALIASING, ODD_PAIR, OVERLAP, YMSK_WIDTH
from .forms import MASKS, Kind
from .instructions import Instruction, associated_vsrs
from .targets import Target

Messages = Iterator[str]
Rule = legality.Rule[Instruction, Target]


def _target_isa(instruction: Instruction, target: Target) -> Messages:
    needed = instruction.form.isa
    if target.isa < needed:
        yield f"{instruction.mnemonic} needs Power ISA {needed}; {target.name} implements {target.isa}"


def _out_of_range(*kinds: Kind) -> Callable[[Instruction, Target], Messages]:
    def check(instruction: Instruction, _: Target) -> Messages:
        for operand, value in instruction.given():
            least = operand.values[0]
            if operand.kind in kinds and not least <= value < least + (1 << operand.bits):
                yield f"{operand.name} must be {operand.allowed}, not {value}"

    return check


def _not_multiple(*kinds: Kind) -> Callable[[Instruction, Target], Messages]:
    def check(instruction: Instruction, _: Target) -> Messages:
        for operand, value in instruction.given():
            if operand.kind in kinds and value % operand.multiple:
                yield f"{operand.name} must be {operand.allowed}, not {value}"

    return check


def _missing_masks(instruction: Instruction, _: Target) -> Messages:
    missing = [
        operand.name for operand in instruction.form.operands if operand.name not in instruction.values
    ]
    if instruction.operands is not None and missing:
        yield f"{instruction.mnemonic} takes {instruction.form.syntax}; {' and '.join(missing)} missing"


def _surplus_masks(instruction: Instruction, _: Target) -> Messages:
    known = {operand.name for operand in instruction.form.operands}
    surplus = [name for name in instruction.values if name not in known]
    if surplus:
        yield f"{instruction.mnemonic} takes {instruction.form.syntax}; it has no {' and no '.join(surplus)}"


def _overlap(instruction: Instruction, target: Target) -> Messages:
    accumulator = instruction.accumulator
    if accumulator is None or accumulator not in range(8) or target.separate_accumulators:
        return
    own = associated_vsrs(accumulator)
    for operand, first in instruction.given():
        if operand.kind is Kind.VSR and not set(own).isdisjoint(range(first, first + operand.multiple)):
            yield f"{operand.name} = vs{first} overlaps a{accumulator}, that is vs{own[0]}..vs{own[-1]}"


_FORM = "Power ISA 3.1 Book I, instruction form; GNU as and llvm-mc report it"

RULES: tuple[Rule, ...] = (
    Rule(
        "target-isa",
        "the target implements the ISA version that introduced the instruction",
        "Power ISA 3.1; Linux Documentation/arch/powerpc/isa-versions.rst",
        _target_isa,
    ),
    Rule("accumulator-range", "there are eight accumulators", _FORM, _out_of_range(Kind.ACCUMULATOR)),
    Rule("vsr-range", "there are 64 vector-scalar registers", _FORM, _out_of_range(Kind.VSR)),
    Rule("gpr-range", "there are 32 general-purpose registers", _FORM, _out_of_range(Kind.GPR, Kind.BASE)),
    Rule(
        "mask-range",
        "a mask has one bit for each row (XMSK), column (YMSK) or product (PMSK)",
        _FORM,
        _out_of_range(Kind.MASK),
        (YMSK_WIDTH,),
    ),
    Rule("mask-missing", "a pm form takes all of its family's masks", _FORM, _missing_masks),
    Rule(
        "mask-unexpected",
        f"a word form takes no masks, a pm form of rank 1 no {MASKS[-1]}",
        _FORM,
        _surplus_masks,
    ),
    Rule(
        "odd-pair",
        "the first register of a VSR pair is even",
        f"Moreira et al., section II-B3 (even-odd pair of adjacent registers); {_FORM}",
        _not_multiple(Kind.VSR),
        (ODD_PAIR,),
    ),
    Rule(
        "vsr-overlap",
        "no X or Y register is one of the four associated with the target accumulator",
        "Moreira et al., sections II-B2 and II-B3; GNU as reports it, QEMU raises an illegal instruction",
        _overlap,
        (OVERLAP, ALIASING),
    ),
    Rule(
        "immediate-range",
        "a displacement, immediate or branch distance is a 16-bit signed number",
        _FORM,
        _out_of_range(Kind.IMMEDIATE, Kind.DISPLACEMENT, Kind.TARGET),
    ),
    Rule(
        "immediate-alignment",
        "a DQ-form displacement is a multiple of 16, a branch distance of 4",
        _FORM,
        _not_multiple(Kind.DISPLACEMENT, Kind.TARGET),
    ),
)
"""Every rule on one instruction."""


def violations(instruction: Instruction, target: Target) -> list[Violation]:
    """Return every violated rule; an empty list means the instruction is legal on the target.

    Without operands only the form is judged.
    """
    return legality.violations(RULES, instruction, target)
