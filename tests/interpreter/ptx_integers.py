"""Integer, logic and bit instructions of PTX on Python's integers: one thread, one result.

Source: the semantics sections of PTX ISA 9.1 chapters 9.7.1, 9.7.2, 9.7.7 to 9.7.9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mmaproof.refinement.ptx.text.module import InstructionStatement


class Unknown(Exception):
    """An instruction or a form of one that the interpreter does not have."""


class Undefined(Exception):
    """A result that the manual leaves open, such as that of a division by 0, or of `fns` from bit 32."""


class Scalar(NamedTuple):
    """How one thread computes a result.

    Attributes
    ----------
    widths : sequence of int
        Bits of the source operands.
    width : int
        Bits of the result.
    compute : callable
        From the operands' bits to the result's; Python's sign bits above are cut off by the caller.
    """

    widths: Sequence[int]
    width: int
    compute: Callable[..., int]


def bits_of(name: str) -> int:
    """Return the bits of a type such as ``s32``, ``b8`` or ``f16x2``."""
    if name == "pred":
        return 1
    base, _, count = name.partition("x")
    digits = base.lstrip("bfsu")
    return int(digits) * int(count or 1)


def signed(value: int, width: int) -> int:
    """Read bits as two's complement."""
    return value - (1 << width) if value >> (width - 1) & 1 else value


def read(value: int, kind: str) -> int:
    """Read bits as a type says."""
    return signed(value, bits_of(kind)) if kind[0] == "s" else value


def clamp(value: int, kind: str) -> int:
    """Return the nearest number that a type has."""
    width = bits_of(kind)
    least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind[0] == "s" else (0, (1 << width) - 1)
    return max(least, min(most, value))


def mask(width: int) -> int:
    """Return ones."""
    return (1 << width) - 1


def _paired(kind: str, compute: Callable[..., int]) -> Callable[..., int]:
    """Apply to both halves of a word what takes 16-bit types."""
    if not kind.endswith("x2"):
        return compute

    def both(*words: int) -> int:
        low, high = (compute(*(word >> at & 0xFFFF for word in words)) & 0xFFFF for at in (0, 16))
        return low | high << 16

    return both


def _sum(i: InstructionStatement, kind: str) -> Scalar:
    width = bits_of(kind)
    sign = 1 if i.opcode == "add" else -1
    if i.has("sat"):
        return Scalar((32, 32), 32, lambda a, b: clamp(read(a, kind) + sign * read(b, kind), kind))
    return Scalar((width, width), width, _paired(kind, lambda a, b: a + sign * b))


def _product(i: InstructionStatement, kind: str) -> Scalar:
    width, adds = bits_of(kind), i.opcode == "mad"
    if i.has("wide"):
        widths = (width, width, 2 * width) if adds else (width, width)
        return Scalar(widths, 2 * width, lambda a, b, c=0: read(a, kind) * read(b, kind) + c)
    low = 0 if i.has("lo") else width

    def compute(a: int, b: int, c: int = 0) -> int:
        part = read(a, kind) * read(b, kind) >> low
        if i.has("sat"):
            return clamp(signed(part & mask(width), width) + read(c, kind), kind)
        return part + c

    return Scalar((width,) * (3 if adds else 2), width, compute)


def _product_24(i: InstructionStatement, kind: str) -> Scalar:
    adds, low = i.opcode == "mad24", 0 if i.has("lo") else 16

    def compute(a: int, b: int, c: int = 0) -> int:
        x, y = ((signed(n & mask(24), 24) if kind[0] == "s" else n & mask(24)) for n in (a, b))
        part = (x * y >> low) & mask(32)
        if i.has("sat"):
            return clamp(signed(part, 32) + signed(c, 32), kind)
        return part + c

    return Scalar((32,) * (3 if adds else 2), 32, compute)


def _quotient(i: InstructionStatement, kind: str) -> Scalar:
    width = bits_of(kind)

    def compute(a: int, b: int) -> int:
        x, y = read(a, kind), read(b, kind)
        if y == 0 or (x, y) == (-1 << (width - 1), -1):
            raise Undefined(f"the quotient of {x} by {y}")
        q = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
        return q if i.opcode == "div" else x - q * y

    return Scalar((width, width), width, compute)


def _extremum(i: InstructionStatement, kind: str) -> Scalar:
    width, choose = bits_of(kind), min if i.opcode == "min" else max
    one = kind.removesuffix("x2")

    def compute(a: int, b: int) -> int:
        found = choose(read(a, one), read(b, one))
        return max(found, 0) if i.has("relu") else found

    return Scalar((width, width), width, _paired(kind, compute))


def _dot(i: InstructionStatement, _: str) -> Scalar:
    left, right = i.types
    length = 4 if i.opcode == "dp4a" else 2
    size, first = 32 // length, 2 if i.has("hi") else 0

    def compute(a: int, b: int, c: int) -> int:
        found = c
        for place in range(length):
            x, y = a >> size * place & mask(size), b >> 8 * (first + place) & 0xFF
            x = signed(x, size) if left[0] == "s" else x
            found += x * (signed(y, 8) if right[0] == "s" else y)
        return found

    return Scalar((32, 32, 32), 32, compute)


def _unary(compute: Callable[[int, str], int], result: int = 0) -> Callable[..., Scalar]:
    def decode(_: InstructionStatement, kind: str) -> Scalar:
        width = bits_of(kind)
        return Scalar((width,), result or width, lambda a: compute(a, kind))

    return decode


def _bfind(i: InstructionStatement, kind: str) -> Scalar:
    width = bits_of(kind)

    def compute(a: int) -> int:
        value = ~a & mask(width) if read(a, kind) < 0 else a
        if not value:
            return -1
        place = value.bit_length() - 1
        return width - 1 - place if i.has("shiftamt") else place

    return Scalar((width,), 32, compute)


def _fns(_: InstructionStatement, __: str) -> Scalar:
    def compute(word: int, base: int, offset: int) -> int:
        offset = signed(offset, 32)
        if base >= 32:
            raise Undefined(f"fns from bit {base}")
        if offset == 0:
            return base if word >> base & 1 else -1
        place, step, left = base, 1 if offset > 0 else -1, abs(offset)
        while 0 <= place < 32:
            left -= word >> place & 1
            if not left:
                return place
            place += step
        return -1

    return Scalar((32, 32, 32), 32, compute)


def _logic(compute: Callable[..., int], arity: int) -> Callable[..., Scalar]:
    def decode(_: InstructionStatement, kind: str) -> Scalar:
        width = bits_of(kind)
        return Scalar((width,) * arity, width, compute)

    return decode


def lop3(table: int, a: int, b: int, c: int) -> int:
    """Return the word each of whose bits a table of eight gives."""
    found = 0
    for place in range(32):
        row = (a >> place & 1) << 2 | (b >> place & 1) << 1 | c >> place & 1
        found |= (table >> row & 1) << place
    return found


def _shift(i: InstructionStatement, kind: str) -> Scalar:
    width = bits_of(kind)
    if i.opcode == "shl":
        return Scalar((width, 32), width, lambda a, b: a << b if b < width else 0)
    return Scalar((width, 32), width, lambda a, b: read(a, kind) >> min(b, width))


def _funnel(i: InstructionStatement, _: str) -> Scalar:
    left, wraps = i.has("l"), i.has("wrap")

    def compute(a: int, b: int, c: int) -> int:
        amount = c & 31 if wraps else min(c, 32)
        pair = b << 32 | a
        return pair << amount >> 32 if left else pair >> amount

    return Scalar((32, 32, 32), 32, compute)


def _bfe(_: InstructionStatement, kind: str) -> Scalar:
    width = bits_of(kind)

    def compute(a: int, b: int, c: int) -> int:
        position, length = b & 0xFF, c & 0xFF
        sign = 0
        if kind[0] == "s" and length:
            sign = a >> min(position + length - 1, width - 1) & 1
        found = 0
        for place in range(width):
            inside = place < length and position + place < width
            found |= (a >> (position + place) & 1 if inside else sign) << place
        return found

    return Scalar((width, 32, 32), width, compute)


def _bfi(_: InstructionStatement, kind: str) -> Scalar:
    width = bits_of(kind)

    def compute(a: int, b: int, c: int, d: int) -> int:
        position, length, found = c & 0xFF, d & 0xFF, b
        for place in range(length):
            if position + place < width:
                at = 1 << (position + place)
                found = found | at if a >> place & 1 else found & ~at
        return found

    return Scalar((width, width, 32, 32), width, compute)


def _bmsk(i: InstructionStatement, _: str) -> Scalar:
    def compute(a: int, b: int) -> int:
        a, b = (min(a, 32), min(b, 32)) if i.has("clamp") else (a & 31, b & 31)
        return sum(1 << place for place in range(a, min(32, a + b)))

    return Scalar((32, 32), 32, compute)


def _szext(i: InstructionStatement, kind: str) -> Scalar:
    def compute(a: int, n: int) -> int:
        n = n & 31 if i.has("wrap") else min(n, 32)
        if not n:
            return 0
        return signed(a & mask(n), n) if kind[0] == "s" else a & mask(n)

    return Scalar((32, 32), 32, compute)


def _prmt(i: InstructionStatement, _: str) -> Scalar:
    mode = i.one_of(("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"))
    tables = {
        "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
        "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
        "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
        "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
        "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
        "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
    }

    def compute(a: int, b: int, c: int) -> int:
        pair, found = b << 32 | a, 0
        for place in range(4):
            pick = tables[mode][c & 3][place] if mode else c >> 4 * place & 0xF
            byte = pair >> 8 * (pick & 7) & 0xFF
            if pick & 8:
                byte = 0xFF if byte & 0x80 else 0
            found |= byte << 8 * place
        return found

    return Scalar((32, 32, 32), 32, compute)


def _selp(_: InstructionStatement, kind: str) -> Scalar:
    width = bits_of(kind)
    return Scalar((width, width, 1), width, lambda a, b, p: a if p else b)


def _clz(a: int, kind: str) -> int:
    return bits_of(kind) - a.bit_length()


def _brev(a: int, kind: str) -> int:
    return int(f"{a:0{bits_of(kind)}b}"[::-1], 2)


INTEGER: dict[str, Callable[[InstructionStatement, str], Scalar]] = {
    "add": _sum,
    "sub": _sum,
    "mul": _product,
    "mad": _product,
    "mul24": _product_24,
    "mad24": _product_24,
    "sad": lambda i, kind: Scalar(
        (bits_of(kind),) * 3, bits_of(kind), lambda a, b, c: c + abs(read(a, kind) - read(b, kind))
    ),
    "div": _quotient,
    "rem": _quotient,
    "abs": _unary(lambda a, kind: abs(read(a, kind))),
    "neg": _unary(lambda a, kind: -a),
    "min": _extremum,
    "max": _extremum,
    "dp4a": _dot,
    "dp2a": _dot,
    "popc": _unary(lambda a, kind: a.bit_count(), 32),
    "clz": _unary(_clz, 32),
    "bfind": _bfind,
    "fns": _fns,
    "brev": _unary(_brev),
    "and": _logic(lambda a, b: a & b, 2),
    "or": _logic(lambda a, b: a | b, 2),
    "xor": _logic(lambda a, b: a ^ b, 2),
    "not": _logic(lambda a: ~a, 1),
    "cnot": _logic(lambda a: int(not a), 1),
    "shl": _shift,
    "shr": _shift,
    "shf": _funnel,
    "bfe": _bfe,
    "bfi": _bfi,
    "bmsk": _bmsk,
    "szext": _szext,
    "prmt": _prmt,
    "selp": _selp,
}
"""How each instruction is decoded, from it and its first type."""
