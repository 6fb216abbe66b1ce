"""Integer arithmetic, bits and moves on numbers: common forms by numpy, others by the rows of the spec."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.numpy_words import NumpyWords
from ....spec.ptx.operands import Integer, Register, Vector
from ....spec.ptx.scalar.legality import Scalar
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Pair
from .floating import truth_step
from .state import WORDS, Code, State, Step
from .threads import Lanes

ALGEBRA = NumpyWords()
CARRY = "CC.CF"


def number_type(name: str) -> np.dtype[Any]:
    """Return numpy's type of integers of PTX's; of bits it is unsigned."""
    return np.dtype(f"{'i' if name[0] == 's' else 'u'}{TYPE_BITS[name] // 8}")


def _quick(instruction: InstructionStatement) -> Callable[..., Any] | None:
    """Return what computes words of words, for forms of one type and no extras."""
    kind, opcode = instruction.types[0] if instruction.types else "", instruction.opcode
    if len(instruction.types) != 1 or kind[0] not in "sub" or kind not in TYPE_BITS or "x" in kind:
        return None
    rest = [modifier for modifier in instruction.modifiers if modifier != kind]
    if opcode in ("mul", "mad") and rest == ["lo"]:
        rest = []
    if rest or TYPE_BITS[kind] not in WORDS:
        return None
    signed = number_type(kind)
    found: dict[str, Callable[..., Any]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "mad": lambda a, b, c: a * b + c,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "not": lambda a: ~a,
        "neg": lambda a: ~a + a.dtype.type(1),
        "min": lambda a, b: np.minimum(a.view(signed), b.view(signed)).view(a.dtype),
        "max": lambda a, b: np.maximum(a.view(signed), b.view(signed)).view(a.dtype),
    }
    return found.get(opcode)


def integer(code: Code, instruction: InstructionStatement) -> Step:
    """Decode an instruction of integers or bits."""
    quick = _quick(instruction)
    if quick is not None and not isinstance(instruction.operands[0], Pair):
        bits = TYPE_BITS[instruction.types[0]]
        write = code.writer(instruction.operands[0])
        readers = [code.reader(operand, bits) for operand in instruction.operands[1:]]
        return lambda state, lanes: write(
            state, lanes, quick(*(np.atleast_1d(read(state, lanes)) for read in readers))
        )
    if instruction.opcode in ("mul", "mad") and "wide" in instruction.modifiers:
        return _wide(code, instruction)
    if instruction.opcode in ("shl", "shr"):
        return _shift(code, instruction)
    if instruction.types == ("pred",):
        return _logic(code, instruction)
    return by_row(code, instruction)


def _wide(code: Code, instruction: InstructionStatement) -> Step:
    kind = instruction.types[0]
    narrow, wide = TYPE_BITS[kind], 2 * TYPE_BITS[kind]
    signed, target = number_type(kind), np.dtype(f"{'i' if kind[0] == 's' else 'u'}{wide // 8}")
    write = code.writer(instruction.operands[0])
    a, b = (code.reader(operand, narrow) for operand in instruction.operands[1:3])
    c = code.reader(instruction.operands[3], wide) if instruction.opcode == "mad" else None

    def step(state: State, lanes: Lanes) -> None:
        x, y = (np.atleast_1d(read(state, lanes)).view(signed).astype(target) for read in (a, b))
        product = (x * y).view(WORDS[wide])
        write(state, lanes, product if c is None else product + c(state, lanes))

    return step


def _shift(code: Code, instruction: InstructionStatement) -> Step:
    kind = instruction.types[0]
    bits = TYPE_BITS[kind]
    write = code.writer(instruction.operands[0])
    read, amounts = code.reader(instruction.operands[1], bits), code.reader(instruction.operands[2], 32)
    left, signed = instruction.opcode == "shl", number_type(kind)
    arithmetic = signed.kind == "i" and not left

    def step(state: State, lanes: Lanes) -> None:
        word, amount = np.atleast_1d(read(state, lanes)), amounts(state, lanes)
        least = np.minimum(amount, np.uint32(bits - 1)).astype(word.dtype)
        if arithmetic:
            found = (word.view(signed) >> least.astype(signed)).view(word.dtype)
        else:
            found = word << least if left else word >> least
            found = np.where(amount >= bits, word.dtype.type(0), found)
        write(state, lanes, found)

    return step


def _logic(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``and.pred``, and others of predicates."""
    write = code.writer(instruction.operands[0])
    readers = [code.truth_reader(operand) for operand in instruction.operands[1:]]
    compute: Any = {
        "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not,
        "mov": np.logical_or,
    }.get(instruction.opcode)  # fmt: skip
    if compute is None:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    if instruction.opcode == "mov":
        readers = readers * 2
    return lambda state, lanes: write(state, lanes, compute(*(read(state, lanes) for read in readers)))


_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
}  # fmt: skip


def comparison(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``setp`` of integers."""
    kind = instruction.types[0]
    relation, signed = _RELATIONS[instruction.modifiers[0]], number_type(kind)
    if instruction.modifiers[0] in ("lo", "ls", "hi", "hs"):
        signed = number_type(f"u{TYPE_BITS[kind]}")
    destination, first, second, *more = instruction.operands
    readers = [code.reader(each, TYPE_BITS[kind]) for each in (first, second)]

    def compare(state: State, lanes: Lanes) -> Any:
        return relation(*(read(state, lanes).view(signed) for read in readers))

    return truth_step(code, instruction, destination, compare, more)


def select(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``selp``."""
    bits = TYPE_BITS[instruction.types[0]]
    destination, first, second, predicate = instruction.operands
    write, truth = code.writer(destination), code.truth_reader(predicate)
    then, otherwise = code.reader(first, bits), code.reader(second, bits)
    return lambda state, lanes: write(
        state, lanes, np.where(truth(state, lanes), then(state, lanes), otherwise(state, lanes))
    )


def move(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``mov``, also of vectors."""
    destination, source = instruction.operands
    kind = instruction.types[-1]
    if kind == "pred":
        return _logic(code, instruction)
    bits = TYPE_BITS[kind]
    if isinstance(destination, Vector):
        return _unpacked(code, destination, source, bits)
    write = code.writer(destination)
    if isinstance(source, Vector):
        part = bits // len(source.elements)
        readers = [code.reader(element, part) for element in source.elements]

        def pack(state: State, lanes: Lanes) -> None:
            total: Any = WORDS[bits](0)
            for place, read in enumerate(readers):
                word = np.asarray(read(state, lanes)).astype(WORDS[bits])
                total = total | word << WORDS[bits](place * part)
            write(state, lanes, total)

        return pack
    read = code.reader(source, bits)
    return lambda state, lanes: write(state, lanes, read(state, lanes))


def _unpacked(code: Code, destination: Vector, source: Any, bits: int) -> Step:
    if bits not in WORDS:
        raise UnsupportedError(f"mov of {bits} bits on numbers")
    part = bits // len(destination.elements)
    writers, read = [code.writer(element) for element in destination.elements], code.reader(source, bits)

    def step(state: State, lanes: Lanes) -> None:
        word = np.asarray(read(state, lanes))
        for place, write in enumerate(writers):
            write(state, lanes, (word >> WORDS[bits](place * part)).astype(WORDS[part]))

    return step


def by_row(code: Code, instruction: InstructionStatement) -> Step:
    """Decode an instruction by what the specification's row says that it means.

    Raises
    ------
    UnsupportedError
        If there is none.
    """
    form = Scalar(instruction.opcode, instruction.modifiers).form
    if form is None or form.row.meaning is None:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    named, read_places = form.written_places
    first, *others = instruction.operands
    pair = (first.first, first.second) if isinstance(first, Pair) else (first,)
    flag = Register(CARRY)
    texts: dict[str, Any] = {CARRY: flag} | {p.name: o for p, o in zip(named, pair, strict=True)}
    writers = [_flagged_writer(code, texts[place.name]) for place in form.places[0]]
    texts |= {place.name: operand for place, operand in zip(read_places, others, strict=True)}
    sources = [
        operand.value if place.immediate and isinstance(operand, Integer) else _flagged_reader(
            code, operand, place.type.bits
        )
        for place in form.places[1]
        for operand in [texts[place.name]]
    ]  # fmt: skip

    def step(state: State, lanes: Lanes) -> None:
        count = state.count(lanes)
        words = [
            source
            if isinstance(source, int)
            else np.broadcast_to(np.asarray(source(state, lanes)).astype(np.uint64), (count,))
            for source in sources
        ]
        for write, word in zip(writers, form.results(ALGEBRA, words), strict=True):
            write(state, lanes, word)

    return step


def _flagged_reader(code: Code, operand: Any, bits: int) -> Any:
    if isinstance(operand, Register) and operand.name == CARRY:
        return lambda state, lanes: _carry(state)[lanes]
    return code.truth_reader(operand) if bits == 1 else code.reader(operand, bits)


def _flagged_writer(code: Code, operand: Any) -> Any:
    if isinstance(operand, Register) and operand.name == CARRY:

        def write(state: State, lanes: Lanes, words: Any) -> None:
            _carry(state)[lanes] = words != 0

        return write
    plain = code.writer(operand)

    def write_word(state: State, lanes: Lanes, words: Any) -> None:
        truths = isinstance(operand, Register) and state.registers[operand.name].dtype == np.bool_
        plain(state, lanes, words != 0 if truths else words)

    return write_word


def _carry(state: State) -> Any:
    if CARRY not in state.registers:
        state.registers[CARRY] = np.zeros(len(state.threads), dtype=np.bool_)
    return state.registers[CARRY]
