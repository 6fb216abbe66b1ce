"""Spelling and operands of the scalar instructions of a text, by the rows of `mmaproof.spec.ptx.scalar`.

A text that no assembler takes has no meaning. What only some targets have is judged elsewhere.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ....spec.errors import InputError
from ....spec.ptx.operands import Negated, Register
from ....spec.ptx.scalar.catalogue import by_opcode
from ....spec.ptx.scalar.legality import Scalar, refused
from ....spec.ptx.scalar.operands import Written
from .module import Function, Module
from .operands import Pair
from .variables import as_declared, variable_spaces


def require_spelled(module: Module, function: Function) -> None:
    """Check the scalar instructions of a function that have rows.

    Raises
    ------
    InputError
        If ptxas refuses one on every target; it names the line.
    """
    spaces = variable_spaces(module, function)
    for instruction in function.body:
        if instruction.opcode not in by_opcode():
            continue
        operands = tuple(_written(as_declared(each, spaces)) for each in instruction.operands)
        spelled = instruction.opcode, instruction.modifiers
        if _is_refused(*spelled, tuple(map(_nameless, operands))):
            wrong = refused(Scalar(*spelled, operands))
            place = f"{module.path}:{instruction.line}"
            raise InputError(f"{instruction.mnemonic}: {wrong[0].message}", place)


@lru_cache(maxsize=1 << 14)
def _is_refused(opcode: str, modifiers: tuple[str, ...], operands: tuple[Written, ...]) -> bool:
    return bool(refused(Scalar(opcode, modifiers, operands)))


def _nameless(written: Written) -> Written:
    """Return an operand with registers by their types alone, which is all that matters of them."""
    first, second = (
        Register("", each.type) if isinstance(each, Register) else each
        for each in (written.operand, written.second)
    )
    assert first is not None
    return Written(first, second, written.negated)


def _written(operand: Any) -> Written:
    match operand:
        case Negated(register):
            return Written(register, negated=True)
        case Pair(first, second):
            return Written(first, second)
    return Written(operand)
