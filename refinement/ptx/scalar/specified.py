"""Decoders of the instructions of `mmaproof.spec.ptx.scalar`: the meaning of their rows, on registers."""

from __future__ import annotations

from types import MappingProxyType

from ....spec.errors import UnsupportedError
from ....spec.ptx.legality import Module
from ....spec.ptx.operands import Integer, Register
from ....spec.ptx.scalar.catalogue import by_opcode
from ....spec.ptx.scalar.legality import Scalar, violations
from ....spec.ptx.scalar.rows import Form, Place
from ....spec.ptx.targets import NEWEST, TARGETS
from ..registers.threads import Indices
from ..registers.values import Value
from ..state.execution import Decoder, Decoders, Execution, Step
from ..text.module import InstructionStatement
from ..text.operands import Operand, Pair
from .elementary_functions import FLOATING_QUOTIENTS
from .floating import FLOATING
from .term_words import TermWords

CARRY = Register("CC.CF", "pred")
"""The carry flag, which no name in PTX can mean."""

TAKE_CARRY = frozenset({"addc", "subc", "madc"})
"""Opcodes that read the carry flag, which is no operand; what has ``.cc`` writes it."""


def decoded(instruction: InstructionStatement) -> Step:
    """Decode an instruction.

    Raises
    ------
    UnsupportedError
        If it has no form with a meaning, or other operands.
    """
    scalar = Scalar(instruction.opcode, instruction.modifiers)
    form = scalar.form
    if form is None or form.row.meaning is None:
        wrong = violations(scalar, Module(TARGETS["sm_100a"], NEWEST))
        why = "; ".join(violation.message for violation in wrong) or "is not supported"
        raise UnsupportedError(f"{instruction.mnemonic}: {why}")
    written, sources = _placed(form, instruction)

    def step(execution: Execution, active: Indices) -> None:
        alg = TermWords(execution.store, len(active), instruction.opcode)
        words = [_read(execution, active, place, operand) for place, operand in sources]
        for (_, operand), word in zip(written, form.results(alg, words), strict=True):
            execution.write(operand, word, active)

    return step


_Placed = list[tuple[Place, Operand]]


def _placed(form: Form, instruction: InstructionStatement) -> tuple[_Placed, _Placed]:
    """Return the results and the sources with the operands that stand for them."""
    written = instruction.operands
    named, read = form.written_places
    if len(written) != 1 + len(read):
        raise UnsupportedError(f"{form.mnemonic}: takes {1 + len(read)} operands, not {len(written)}")
    first = written[0]
    if isinstance(first, Pair) is not (len(named) == 2):
        raise UnsupportedError(f"{form.mnemonic}: writes {len(named)} results, unlike {first}")
    pair = (first.first, first.second) if isinstance(first, Pair) else (first,)
    texts: dict[str, Operand] = {CARRY.name: CARRY}
    texts |= {place.name: operand for place, operand in zip(named, pair, strict=True)}
    results = [(place, texts[place.name]) for place in form.places[0]]
    texts |= {place.name: operand for place, operand in zip(read, written[1:], strict=True)}
    sources = [(place, texts[place.name]) for place in form.places[1]]
    for place, operand in sources:
        if place.immediate and not (isinstance(operand, Integer) and 0 <= operand.value <= 0xFF):
            raise UnsupportedError(f"{form.mnemonic}: {place.name} is from 0 to 255, not {operand}")
    return results, sources


def _read(execution: Execution, active: Indices, place: Place, operand: Operand) -> Value | int:
    if place.immediate:
        assert isinstance(operand, Integer)
        return operand.value
    return execution.read(operand, place.type.bits, active)


def results(destination: Operand) -> tuple[Operand, Operand | None]:
    """Return the one or two registers that an instruction writes."""
    if isinstance(destination, Pair):
        return destination.first, destination.second
    return destination, None


def _decoder(opcode: str) -> Decoder:
    floating = {**FLOATING, **FLOATING_QUOTIENTS}.get(opcode)
    if floating is None:
        return decoded

    def decode(instruction: InstructionStatement) -> Step:
        is_float = instruction.types and instruction.types[0][0] not in "us"
        return (floating if is_float else decoded)(instruction)

    return decode


HANDLERS: Decoders = MappingProxyType(
    {
        opcode: _decoder(opcode)
        for opcode, rows in by_opcode().items()
        if any(row.meaning is not None for row in rows)
    }
)
"""Decoders of every opcode that has a row with a meaning; forms without one are decoded by others."""
