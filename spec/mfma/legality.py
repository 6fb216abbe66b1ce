"""When an MFMA is legal on a target."""

from __future__ import annotations

from collections.abc import Iterator

from .. import legality
from ..legality import Note, NoteKind
from .catalogue import BY_NAME, MatrixMultiply
from .contradictions import ALIGNMENT, BROADCAST, LANE_PERMUTATION, LENIENT_ASSEMBLER
from .instructions import Constant, Registers, Written
from .targets import TARGETS, Target

Messages = Iterator[str]
Rule = legality.Rule[Written, Target]

LARGEST_REGISTER = 255
"""The highest number of a VGPR or AGPR."""

_OVERLAPPING = 4
"""Registers up to which C and D may overlap in part."""


def _target(written: Written, target: Target) -> Messages:
    if written.on(target) is None:
        known = [name for name in TARGETS if name in BY_NAME[written.mnemonic]]
        row = next(
            (row for row in BY_NAME[written.mnemonic].values() if row.opcode(target) is not None), None
        )
        hint = "" if row is None else f"; there it is {row.names(target)[0]}"
        yield f"{target.name} has no {written.mnemonic}{hint}; these have: {', '.join(known)}"


def _tuples(written: Written) -> Iterator[tuple[str, Registers]]:
    for name, operand in written.given.items():
        if isinstance(operand, Registers) and operand.file in "va":
            yield name, operand


def _count(written: Written, target: Target) -> Messages:
    if (row := written.on(target)) is not None:
        for name, registers in _tuples(written):
            if registers.count != (count := row.registers(name)):
                yield f"{name.upper()} = {registers} has {registers.count} registers, not {count}"


def _range(written: Written, _: Target) -> Messages:
    for name, registers in _tuples(written):
        if registers.first < 0 or registers.last > LARGEST_REGISTER:
            yield f"{name.upper()} = {registers}; registers are 0 to {LARGEST_REGISTER}"


def _even(written: Written, target: Target) -> Messages:
    if target.unified_registers:
        for name, registers in _tuples(written):
            if registers.count > 1 and registers.first % 2:
                yield f"{name.upper()} = {registers} begins at an odd register"


def _vector(written: Written, _: Target) -> Messages:
    for name, operand in written.given.items():
        if isinstance(operand, Registers) and operand.file == "s":
            yield f"{name.upper()} = {operand} is not in VGPRs or AGPRs"
        elif isinstance(operand, Constant) and name != "c":
            yield f"{name.upper()} = {operand} is a constant; only C may be one"


def _result_file(written: Written, target: Target) -> Messages:
    files = {name: registers.file for name, registers in _tuples(written) if name in "cd"}
    if not target.unified_registers:
        for name, file in files.items():
            if file != "a":
                yield f"{name.upper()} = {written.given[name]} is in VGPRs; {target.name} takes AGPRs"
    elif len(set(files.values())) > 1:
        yield f"C = {written.given['c']} and D = {written.given['d']} are in different files"


def _constant(written: Written, target: Target) -> Messages:
    operand, row = written.given.get("c"), written.on(target)
    if not isinstance(operand, Constant) or row is None:
        return
    if not target.unified_registers:
        yield f"C = {operand} is a constant; {target.name} takes AGPRs"
    elif operand.code(64 if row.is_double else 32) is None:
        yield f"C = {operand} is none of -16..64, ±0.5, ±1.0, ±2.0, ±4.0 and 1/(2π)"


def _overlap(written: Written, target: Target) -> Messages:
    c, d = written.given.get("c"), written.given.get("d")
    if not isinstance(c, Registers) or not isinstance(d, Registers) or c == d or c.file != d.file:
        return
    row = written.on(target)
    if row is not None and row.registers("d") > _OVERLAPPING and c.first <= d.last and d.first <= c.last:
        yield f"C = {c} and D = {d} overlap, but are not the same"


def _field(written: Written, _: Target) -> Messages:
    for name, most in (("cbsz", 7), ("abid", 15), ("blgp", 7)):
        if not 0 <= (value := written.modifier(name)) <= most:
            yield f"{name} must be 0..{most}, not {value}"


def _broadcast(written: Written, target: Target) -> Messages:
    row, cbsz, abid = written.on(target), written.modifier("cbsz"), written.modifier("abid")
    if row is None or row.is_double or not 0 <= cbsz <= 7:
        return
    if 1 << cbsz > row.blocks:
        yield f"cbsz:{cbsz} has {1 << cbsz} blocks share A; there are {row.blocks}"
    elif abid >= 1 << cbsz:
        yield f"abid:{abid} is none of the {1 << cbsz} blocks that share A under cbsz:{cbsz}"


def _negation(written: Written, target: Target) -> Messages:
    row = written.on(target)
    if row is None:
        return
    given = dict(written.modifiers)
    takes = row.is_double and target.negates
    if "neg" in given and not takes:
        yield f"{written.mnemonic} takes no neg on {target.name}; f64 products of CDNA3 and CDNA4 do"
    if "blgp" in given and takes:
        yield f"{written.mnemonic} takes neg:[a,b,c], not blgp, on {target.name}"


_MANUAL = "CDNA4 ISA chapter 7; llvm-mc"

RULES: tuple[Rule, ...] = (
    Rule("target", "the target has an instruction of this name", "llvm-mc; LLVM AMDGPU backend", _target),
    Rule("register-count", "a tuple has as many registers as a lane's elements fill", _MANUAL, _count),
    Rule("register-range", "there are 256 VGPRs and 256 AGPRs", _MANUAL, _range),
    Rule("vector-operands", "D, A and B are VGPRs or AGPRs; C may be a constant too", _MANUAL, _vector),
    Rule(
        "even-registers",
        "from gfx90a on, a tuple begins at an even register",
        _MANUAL,
        _even,
        (ALIGNMENT,),
    ),
    Rule(
        "result-file",
        "C and D are in one file: one bit of the encoding is for both; on gfx908 both are AGPRs",
        _MANUAL,
        _result_file,
    ),
    Rule(
        "constant",
        "C is an inline constant if it is a constant, and none on gfx908",
        _MANUAL,
        _constant,
        (LENIENT_ASSEMBLER,),
    ),
    Rule(
        "overlap",
        "C and D of more than 4 registers are the same or disjoint",
        "LLVM AMDGPU backend; llvm-mc",
        _overlap,
    ),
    Rule("modifier-range", "a modifier fits its field", _MANUAL, _field),
    Rule(
        "broadcast",
        "no more blocks share A than there are, and the one they share is among them; f64 ignores it",
        "CDNA4 ISA chapter 7; llvm-mc does not check it",
        _broadcast,
        (BROADCAST, LENIENT_ASSEMBLER),
    ),
    Rule("negation", "neg is for f64 on CDNA3 and CDNA4, blgp for all else", _MANUAL, _negation),
)
"""Every rule."""


def violations(written: Written, target: Target) -> list[legality.Violation]:
    """Return every violated rule; an empty list means the instruction is legal on the target."""
    return legality.violations(RULES, written, target)


def notes(written: Written, target: Target) -> Iterator[Note]:
    """Yield what else there is to know about an instruction on a target."""
    row = written.on(target)
    if row is not None and written.modifier("blgp") and not permutes_lanes(row, target):
        claims = "; ".join(f"{who}: {what}" for who, what in LANE_PERMUTATION.claims)
        text = f"what blgp does here is not known, contradiction {LANE_PERMUTATION.id} ({claims})"
        yield Note(NoteKind.OBJECTION, text)
    for other in dict.fromkeys(BY_NAME[written.mnemonic].values()):
        if row is not None and other is not row:
            where = ", ".join(name for name, known in BY_NAME[written.mnemonic].items() if known is other)
            yield Note(NoteKind.SCOPE, f"on {where} the name stands for {other}, another instruction")


def permutes_lanes(row: MatrixMultiply, target: Target) -> bool:
    """Tell whether AMD's calculator has blgp for an instruction."""
    return not row.is_double and (not target.negates or row.blocks > 1 or row.factors == "f32")
