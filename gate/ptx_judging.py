"""PTX legality of many instructions: what does not depend on operands is judged once a variant and module."""

from __future__ import annotations

from functools import lru_cache

from ..spec.instruction_set import Judgement
from ..spec.legality import Violation, violations
from ..spec.ptx.assembly import parse
from ..spec.ptx.legality import ASPECT_RULES, MODULE_RULES, OPERAND_RULES, Module
from ..spec.ptx.operands import Instruction
from ..spec.ptx.targets import NEWEST, target_named, version_named
from ..spec.ptx.variant import Variant

parsed = lru_cache(maxsize=1 << 16)(parse)
"""`parse`, remembered."""


@lru_cache(maxsize=4096)
def _module(target: str, version: str | None) -> Module:
    return Module(target_named(target), NEWEST if version is None else version_named(version))


_ANYWHERE = Module(target_named("sm_120a"))
"""For rules that do not look at the module."""


@lru_cache(maxsize=1 << 16)
def _anywhere(variant: Variant) -> tuple[Violation, ...]:
    return tuple(violations(ASPECT_RULES, Instruction(variant), _ANYWHERE))


@lru_cache(maxsize=1 << 17)
def _of_variant(variant: Variant, target: str, version: str | None) -> Judgement:
    here = violations(MODULE_RULES, Instruction(variant), _module(target, version))
    return Judgement(target, (*_anywhere(variant), *here))


def judge(text: str, target: str, version: str | None) -> Judgement:
    """Judge an instruction as `Instruction.legal` of the instruction set does.

    Raises
    ------
    InputError
        If the text is no instruction, or the target or version is unknown.
    """
    instruction = parsed(text)
    found = _of_variant(instruction.variant, target, version)
    if instruction.operands is None:
        return found
    wrong: list[Violation] = violations(OPERAND_RULES, instruction, _module(target, version))
    return Judgement(target, (*found.violations, *wrong)) if wrong else found
