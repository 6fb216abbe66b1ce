"""When a PTX matrix instruction is legal in a module: rules with reasons and sources.

What is judged is a variant, by aspects that narrow the catalogue's rows (`variant_rules`), then the module's
target and version, then the operands where there are any. Classes of registers are judged where they were
declared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from .. import legality
from ..legality import Contradiction, Violation
from . import contradictions as known
from . import operand_rules
from .braces import braced_metadata, refuses_braces
from .instructions import Instruction
from .operand_rules import Complaint, complaints
from .operands import UNDECLARED
from .signatures import signatures
from .targets import NEWEST, Availability, Target, Version, spell_version
from .variant import WMMA, Variant
from .variant_rules import ASPECTS, narrow

ALIGNED_SPELLED: Version = (6, 3)
"""The PTX version since which ``wmma`` must have ``.aligned``; before, it is implied and not spelled."""

CTA_SPACE: Version = (7, 8)
"""The PTX version of ``.shared::cta``."""


@dataclass(frozen=True)
class Module:
    """What an instruction stands in.

    Attributes
    ----------
    target : Target
        The module's ``.target``.
    ptx : Version
        Its ``.version``.
    """

    target: Target
    ptx: Version = NEWEST

    def __str__(self) -> str:
        return f"{self.target}, PTX {spell_version(self.ptx)}"


Messages = Iterator[str]
Rule = legality.Rule[Instruction, Module]


def _aspect(name: str) -> Callable[[Instruction, Module], Messages]:
    def check(instruction: Instruction, _: Module) -> Messages:
        message = narrow(instruction.variant).messages.get(name)
        if message is not None:
            yield message

    return check


def target_version(_: object, module: Module) -> Messages:
    """Yield that the module's version does not know its target."""
    if module.ptx < module.target.since:
        needed = spell_version(module.target.since)
        yield f"{module.target} needs PTX {needed}, not {spell_version(module.ptx)}"


_IDENTIFYING = ("shape", "multiplicand-types", "element-type")
"""Aspects without which it is not known what form is meant, nor where it is available."""


@lru_cache(maxsize=4096)
def _availabilities(variant: Variant) -> tuple[Availability, ...]:
    """Return where the rows that the variant may mean are available; none where that is not known."""
    narrowing = narrow(variant)
    if any(aspect in narrowing.messages for aspect in _IDENTIFYING):
        return ()
    return tuple(form.availability(variant) for form in narrowing.forms)


def _target(instruction: Instruction, module: Module) -> Messages:
    rows = _availabilities(instruction.variant)
    if rows and not any(row.on(module.target) for row in rows):
        needed = "; ".join(dict.fromkeys(row.targets for row in rows))
        yield f"{instruction.variant.opcode} of this form needs {needed}, not {module.target}"


def _ptx_version(instruction: Instruction, module: Module) -> Messages:
    rows = _availabilities(instruction.variant)
    rows = tuple(row for row in rows if row.on(module.target)) or rows
    needed = min((row.ptx for row in rows), default=module.ptx)
    if module.ptx < needed:
        yield (
            f"{instruction.variant.opcode} of this form needs PTX {spell_version(needed)}, "
            f"not {spell_version(module.ptx)}"
        )


def _cta_version(instruction: Instruction, module: Module) -> Messages:
    if instruction.variant.space == "shared::cta" and module.ptx < CTA_SPACE:
        yield f".shared::cta needs PTX {spell_version(CTA_SPACE)}, not {spell_version(module.ptx)}"


def _satfinite_removed(instruction: Instruction, module: Module) -> Messages:
    narrowing = narrow(instruction.variant)
    if not instruction.variant.satfinite or "satfinite" in narrowing.messages:
        return
    for form in narrowing.forms:
        removed = form.satfinite_before
        if removed is not None and module.ptx >= removed:
            yield f".satfinite on floats ended with PTX {spell_version(removed)}; it is not in {module}"


def _sync(instruction: Instruction, _: Module) -> Messages:
    if not instruction.variant.sync:
        yield f"{instruction.variant.opcode} without .sync"


def _aligned(instruction: Instruction, module: Module) -> Messages:
    variant = instruction.variant
    implied = variant.family in WMMA and module.ptx < ALIGNED_SPELLED
    if not variant.aligned and not implied:
        yield f"{variant.opcode} without .aligned"
    if variant.aligned and implied:
        since = spell_version(ALIGNED_SPELLED)
        yield f"{variant.opcode} has .aligned since PTX {since}, not in {spell_version(module.ptx)}"


@lru_cache(maxsize=1024)
def _operand_complaints(instruction: Instruction) -> tuple[Complaint, ...]:
    """Judge operands by the list that they suit best, where the variant does not determine one."""
    forms = narrow(instruction.variant).forms
    known = dict.fromkeys(signature for form in forms for signature in signatures(form, instruction.variant))
    return min((complaints(instruction, each) for each in known), key=_misfit)


def _misfit(found: tuple[Complaint, ...]) -> tuple[int, int]:
    """Return how far operands are from a list: how many are of the wrong sort, and how much is wrong."""
    return sum(rule == operand_rules.SORT for rule, _ in found), len(found)


def _operands(name: str) -> Callable[[Instruction, Module], Messages]:
    def check(instruction: Instruction, _: Module) -> Messages:
        if instruction.operands is not None:
            yield from (message for rule, message in _operand_complaints(instruction) if rule == name)

    return check


def _braces(instruction: Instruction, module: Module) -> Messages:
    register = braced_metadata(instruction)
    if register is not None and refuses_braces(instruction.variant, module.target):
        yield f"metadata must be {register} on {module.target}, not {{{register}}}"


def _guard(instruction: Instruction, _: Module) -> Messages:
    guard = instruction.predicate
    if guard is not None and guard.type not in (None, "pred", UNDECLARED):
        declared = str(guard.type).removeprefix(".")
        yield f"the guard must be a register of .pred, not {guard.name} of .{declared}"


def _declared(instruction: Instruction, module: Module) -> Messages:
    guard = instruction.predicate
    if guard is not None and guard.type == UNDECLARED:
        yield f"the guard {guard.name} is not declared"
    yield from _operands(operand_rules.DECLARATION)(instruction, module)


_MANUAL = "PTX ISA 9.7.14.4 to 9.7.14.6, 9.7.15; ptxas"

_DOUBTS: MappingProxyType[str, tuple[Contradiction, ...]] = MappingProxyType(
    {
        "shape": (known.FP8_SPARSE_K32, known.WGMMA_INTEGER_N),
        "multiplicand-types": (
            known.MIXED_SIGNEDNESS,
            known.FP8_SPARSE_K32,
            known.TF32_K16,
            known.BF16_M8N8K4,
            known.WGMMA_MIXED_SIGNEDNESS,
        ),
        "element-type": (known.WMMA_F32_ACCUMULATOR,),
        "kind": (known.F8F6F4_K16, known.UNSCALED_KINDS),
        "block-scale": (known.UNSCALED_KINDS,),
        "layout": (known.UNCHECKED_LAYOUT, known.WGMMA_LAYOUT),
        "rounding": (known.F64_ROUNDING, known.WMMA_ROUNDING_POSITION),
        "bit-operation": (known.BIT_OPERATION_POSITION, known.UNCHECKED_BIT_OPERATION),
        "metadata-variant": (known.FP8_SPARSE_F16,),
        "transposition": (known.STMATRIX_TRANS,),
        "count": (known.MANY_MATRICES,),
    }
)
"""Who disagrees with an aspect."""

ASPECT_RULES: tuple[Rule, ...] = tuple(
    Rule(aspect.id, aspect.reason, _MANUAL, _aspect(aspect.id), _DOUBTS.get(aspect.id, ()))
    for aspect in ASPECTS
)
"""The rules that look at the variant alone."""

MODULE_RULES: tuple[Rule, ...] = (
    Rule(
        "target-version", "the module's PTX version knows its target",
        "PTX ISA chapter 13 (release notes); ptxas", target_version, (known.SM_88_VERSION,),
    ),
    Rule(
        "target", "the target has the form", "PTX ISA 9.7.14 and 9.7.15, target notes; ptxas",
        _target, (known.F8F6F4_TARGETS,),
    ),
    Rule(
        "ptx-version", "the module's PTX version has the form", "PTX ISA 9.7.14 and 9.7.15, ISA notes; ptxas",
        _ptx_version, (known.UE8M0_4X, known.F8F6F4_TARGETS),
    ),
    Rule(
        "cta-version", f".shared::cta came with PTX {spell_version(CTA_SPACE)}",
        "PTX ISA chapter 13 (release notes); ptxas", _cta_version,
    ),
    Rule(
        "satfinite-removed", "wmma.mma on f16 no longer saturates", "PTX ISA 9.7.14.4, ISA notes; ptxas",
        _satfinite_removed,
    ),
    Rule("sync", "the warp's threads wait for each other: .sync is mandatory", _MANUAL, _sync),
    Rule(
        "aligned", "the whole warp executes it: .aligned is mandatory; wmma implies it before PTX 6.3",
        _MANUAL, _aligned, (known.WGMMA_ALIGNED,),
    ),
)  # fmt: skip
"""The rules that look at the variant and the module."""

OPERAND_RULES: tuple[Rule, ...] = (
    Rule(
        operand_rules.COUNT, "the operands are those of the syntax line", _MANUAL,
        _operands(operand_rules.COUNT),
    ),
    Rule(
        operand_rules.SORT, "an operand is a vector, a register, an address or a constant as the syntax says",
        _MANUAL, _operands(operand_rules.SORT), (known.BRACED_REGISTER,),
    ),
    Rule(
        "braces", "metadata stand without braces where ptxas expands the instruction to others", "ptxas",
        _braces, (known.BRACED_REGISTER,),
    ),
    Rule(
        operand_rules.REGISTERS, "a vector has as many registers as a thread's elements fill",
        _MANUAL, _operands(operand_rules.REGISTERS),
        (known.FP8_K16_B, known.WMMA_F64_FRAGMENT, known.EXAMPLE_OPERANDS),
    ),
    Rule(
        operand_rules.CLASS, "registers are declared with a type that suits the operand",
        "PTX ISA 9.2 and 9.7.14, fragment tables; ptxas", _operands(operand_rules.CLASS),
        (known.UNCHECKED_CLASSES,),
    ),
    Rule(
        operand_rules.CONSTANT, "only selectors and accumulators that are read may be constants, of the type",
        "ptxas", _operands(operand_rules.CONSTANT), (known.UNCHECKED_CONSTANTS,),
    ),
    Rule(
        operand_rules.SINK, "_ stands only for results, and not for all of them", "PTX ISA 4; ptxas",
        _operands(operand_rules.SINK), (known.REFUSED_SINK,),
    ),
    Rule(
        operand_rules.SELECTOR, "selectors pick bytes of the register and threads of the quad",
        "PTX ISA 9.7.14.3, table 37, 9.7.14.6 and 9.7.15; ptxas", _operands(operand_rules.SELECTOR),
        (known.F16_SPARSE_SELECTOR, known.WGMMA_SELECTOR),
    ),
    Rule(
        operand_rules.IMMEDIATE, "scale-a and scale-b are -1 or 1, scale-d, trans-a and trans-b 0 or 1",
        "PTX ISA 9.7.15; ptxas", _operands(operand_rules.IMMEDIATE),
    ),
    Rule(
        operand_rules.DISTINCT, "the registers of D and A of wgmma are different ones",
        "PTX ISA 9.7.15 says nothing of others; no result is known", _operands(operand_rules.DISTINCT),
        (known.WGMMA_REPEATED_REGISTERS,),
    ),
    Rule(
        operand_rules.STRIDE, "a stride covers a line, and is a multiple of the fragment's size",
        "PTX ISA 9.7.14.4, load and store", _operands(operand_rules.STRIDE), (known.WMMA_STRIDE,),
    ),
    Rule("guard", "a guard is a predicate", "PTX ISA 9.3; ptxas", _guard),
    Rule(
        operand_rules.DECLARATION, "every name is declared", "PTX ISA 4.3 and 5.4; ptxas",
        _declared,
    ),
    Rule(
        operand_rules.SPACE, "the address of a variable is in the state space that is spelled",
        "PTX ISA 5.1 and 9.7.14; ptxas", _operands(operand_rules.SPACE),
    ),
)  # fmt: skip
"""The rules that look at the operands: none is violated where there are none."""

RULES = (*ASPECT_RULES, *MODULE_RULES, *OPERAND_RULES)
"""Every rule on one instruction."""


def violations(instruction: Instruction, target: Target, ptx: Version = NEWEST) -> list[Violation]:
    """Return every violated rule; an empty list means the instruction is legal in a module.

    Parameters
    ----------
    instruction : Instruction
        Without operands only the variant is judged.
    target : Target
        The module's target.
    ptx : Version
        The module's version.
    """
    return legality.violations(RULES, instruction, Module(target, ptx))
