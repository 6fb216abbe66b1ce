"""Instructions that write registers of a thread from registers of the same: from operands to operands.

What they compute is in `ptx_integers` and `ptx_conversions`.
"""

from __future__ import annotations

from typing import Any

from interpreter.ptx_conversions import BOOLEANS, FLOATING, comparison, cvt, set_, slct
from interpreter.ptx_floats import FORMATS
from interpreter.ptx_integers import INTEGER, Scalar, Unknown, bits_of, lop3, mask, read
from interpreter.ptx_threads import Code, Decoder, Run, Thread

from mmaproof.refinement.ptx.text.module import InstructionStatement
from mmaproof.refinement.ptx.text.operands import Pair
from mmaproof.spec.ptx.operands import Integer, Sink, Vector

CARRY = "the carry flag"


def _pointwise(code: Code, i: InstructionStatement, scalar: Scalar, *, extend: bool = False) -> Run:
    destination, *sources = i.operands
    if len(sources) != len(scalar.widths):
        raise Unknown(f"{i.mnemonic} of {len(sources)} operands")
    readers = [code.reader(each, width) for each, width in zip(sources, scalar.widths, strict=True)]
    write, compute = code.writer(destination, scalar.width, extend=extend), scalar.compute
    match readers:
        case [a]:
            return lambda thread: write(thread, compute(a(thread)))
        case [a, b]:
            return lambda thread: write(thread, compute(a(thread), b(thread)))
        case [a, b, c]:
            return lambda thread: write(thread, compute(a(thread), b(thread), c(thread)))
    return lambda thread: write(thread, compute(*(reader(thread) for reader in readers)))


def _scalar(code: Code, i: InstructionStatement) -> Run:
    if i.has("cc") or i.opcode in ("addc", "subc", "madc"):
        return _with_carry(code, i)
    kind = i.types[0]
    table = FLOATING if kind.removesuffix("x2") in FORMATS and i.opcode != "selp" else INTEGER
    if i.opcode == "set":
        return _pointwise(code, i, set_(i, kind))
    if i.opcode == "slct":
        return _pointwise(code, i, slct(i, kind))
    if i.opcode not in table:
        raise Unknown(i.mnemonic)
    return _pointwise(code, i, table[i.opcode](i, kind))


def _cvt(code: Code, i: InstructionStatement) -> Run:
    return _pointwise(code, i, cvt(i), extend=i.types[0][0] == "s")


def _with_carry(code: Code, i: InstructionStatement) -> Run:
    """Decode the sums that read or set the carry flag; of a difference it is the borrow."""
    kind, base = i.types[0], i.opcode.removesuffix("c")
    width, reads, sets = bits_of(kind), i.opcode.endswith("c"), i.has("cc")
    destination, *sources = i.operands
    readers = [code.reader(source, width) for source in sources]
    write = code.writer(destination, width)

    def run(thread: Thread) -> None:
        words = [reader(thread) for reader in readers]
        carry = thread.registers[CARRY] & 1 if reads else 0
        if base == "sub":
            found = words[0] - words[1] - carry
        elif base == "add":
            found = words[0] + words[1] + carry
        else:
            part = read(words[0], kind) * read(words[1], kind) >> (width if i.has("hi") else 0)
            found = (part & mask(width)) + words[2] + carry
        write(thread, found)
        if sets:
            thread.registers[CARRY] = int(found < 0 or found >> width > 0)

    return run


def _lop3(code: Code, i: InstructionStatement) -> Run:
    destination, a, b, c, table, *others = i.operands
    boolean = i.one_of(BOOLEANS)
    first, second = _results(destination)
    readers = [code.reader(each, 32) for each in (a, b, c)]
    write, tell = code.writer(first, 32), code.writer(second, 1)
    other = code.reader(others[0], 1) if others else None
    assert isinstance(table, Integer)

    def run(thread: Thread) -> None:
        found = lop3(table.value, *(reader(thread) for reader in readers))
        write(thread, found)
        if boolean and other is not None:
            tell(thread, int(BOOLEANS[boolean](found != 0, bool(other(thread)))))

    return run


def _results(operand: Any) -> tuple[Any, Any]:
    return (operand.first, operand.second) if isinstance(operand, Pair) else (operand, Sink())


def _setp(code: Code, i: InstructionStatement) -> Run:
    destination, a, b, *others = i.operands
    kind = i.types[0]
    packed, boolean = kind.endswith("x2"), i.one_of(BOOLEANS)
    first, second = _results(destination)
    write, tell = code.writer(first, 1), code.writer(second, 1)
    left, right = code.reader(a, bits_of(kind)), code.reader(b, bits_of(kind))
    other = code.reader(others[0], 1) if others else None
    compare = comparison(i, kind)

    def run(thread: Thread) -> None:
        x, y = left(thread), right(thread)
        if packed:
            answers = [compare(x & 0xFFFF, y & 0xFFFF), compare(x >> 16, y >> 16)]
        else:
            answer = compare(x, y)
            answers = [answer, not answer]
        if other is not None and boolean:
            answers = [BOOLEANS[boolean](each, bool(other(thread))) for each in answers]
        write(thread, int(answers[0]))
        tell(thread, int(answers[1]))

    return run


def _mov(code: Code, i: InstructionStatement) -> Run:
    destination, source = i.operands
    width = bits_of(i.types[0])
    if isinstance(destination, Vector):
        part = width // len(destination.elements)
        writers = [code.writer(element, part) for element in destination.elements]
        whole = code.reader(source, width)

        def unpack(thread: Thread) -> None:
            value = whole(thread)
            for index, write in enumerate(writers):
                write(thread, value >> part * index)

        return unpack
    write = code.writer(destination, width)
    if isinstance(source, Vector):
        part = width // len(source.elements)
        readers = [code.reader(element, part) for element in source.elements]
        return lambda thread: write(
            thread, sum(each(thread) << part * index for index, each in enumerate(readers))
        )
    given = code.reader(source, width)
    return lambda thread: write(thread, given(thread))


SCALARS: dict[str, Decoder] = {
    **dict.fromkeys(
        sorted({*INTEGER, *FLOATING, "set", "slct", "addc", "subc", "madc"}),
        _scalar,
    ),
    "cvt": _cvt,
    "lop3": _lop3,
    "setp": _setp,
    "mov": _mov,
}
"""How each instruction is decoded."""
