"""Logic, shifts, bit fields, counts and permutations: rows of PTX ISA 9.1 sections 9.7.1, 9.7.8 and 9.7.9."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

from ...word_algebra import (
    NOT_A,
    A,
    B,
    Control,
    Field,
    Fill,
    Part,
    Pieces,
    Word,
    WordAlgebra,
    unsigned,
)  # fmt: skip
from ..open_results import BASE_OF_FNS
from ..targets import Availability
from .rows import Form, Row

_UNTYPED = "b16 b32 b64"
_LONG_BITS = "b32 b64"
_LONG = "u32 u64 s32 s64"
_MASKS = Availability((7, 6), 70)
"""Of ``bmsk`` and ``szext``."""


# -- logic


def _logic(table: int, alg: WordAlgebra, form: Form, *words: Word) -> Word:
    return alg.bitwise(table, form.type.bits, *words)


def _is_zero(alg: WordAlgebra, form: Form, a: Word) -> Word:
    fmt = unsigned(form.width)
    return alg.extend(form.width, unsigned(1), alg.compare(fmt, "eq", a, alg.constant(0, form.width)))


BOOLEANS = {"and": A & B, "or": A | B, "xor": A ^ B}
"""Truth tables by the name of a flag."""


def _looked_up(
    alg: WordAlgebra, form: Form, a: Word, b: Word, c: Word, table: int, *predicate: Word
) -> Word | tuple[Word, Word]:
    result = alg.bitwise(table & 0xFF, 32, a, b, c)
    if not predicate:
        return result
    differs = alg.compare(unsigned(32), "ne", result, alg.constant(0, 32))
    return result, alg.bitwise(BOOLEANS[form.one_of("or", "and")], 1, differs, *predicate)


# -- shifts


def shifted_left(width: int, amount: int) -> Pieces:
    """Return the pieces of a word shifted left; zeros from its width on."""
    amount = min(amount, width)
    return [Fill(0, amount), Field(0, width - amount)]


def shifted_right(width: int, amount: int, *, signed: bool) -> Pieces:
    """Return the pieces of a word shifted right; zeros or copies of the sign come from the left."""
    if signed:
        amount = min(amount, width - 1)
        return [Field(amount, width - amount, extended=width)]
    amount = min(amount, width)
    return [Field(amount, width - amount), Fill(0, amount)]


def _left(alg: WordAlgebra, form: Form, a: Word, b: Word) -> Word:
    return alg.shift(partial(shifted_left, form.width), form.width, a, b)


def _right(alg: WordAlgebra, form: Form, a: Word, b: Word) -> Word:
    plan = partial(shifted_right, form.width, signed=form.type.kind == "s")
    return alg.shift(plan, form.width, a, b)


def _funnel(alg: WordAlgebra, form: Form, a: Word, b: Word, c: Word) -> Word:
    """Return 32 bits of {b, a}: the upper ones, shifted left, or the lower ones, shifted right."""

    def plan(amount: int) -> Pieces:
        low = 32 - amount if form.word(1) == "l" else amount
        return [Field(low, 32 - low, 0), Field(0, low, 1)]

    return alg.steer(plan, [_bounded(form, c)], a, b)


def _bounded(form: Form, word: Word) -> Control:
    """Return a number of bits: 32 at most, or modulo 32."""
    return Control(word, 0xFFFFFFFF, 32) if form.has("clamp") else Control(word, 31, 31)


# -- bit fields


def _extracted(alg: WordAlgebra, form: Form, a: Word, b: Word, c: Word) -> Word:
    width, signed = form.width, form.type.kind == "s"

    def plan(position: int, length: int) -> Pieces:
        inside = min(length, width - position)
        if signed and length:
            return [Field(position, inside, 0, width)] if inside else [Field(width - 1, 1, 0, width)]
        return [Field(position, inside), Fill(0, width - inside)]

    return alg.steer(plan, [Control(b, 0xFF, width), Control(c, 0xFF, width)], a)


def _inserted(alg: WordAlgebra, form: Form, a: Word, b: Word, c: Word, d: Word) -> Word:
    width = form.width

    def plan(position: int, length: int) -> Pieces:
        length = min(length, width - position)
        end = position + length
        return [Field(0, position, 1), Field(0, length, 0), Field(end, width - end, 1)]

    return alg.steer(plan, [Control(c, 0xFF, width), Control(d, 0xFF, width)], a, b)


def _masked(alg: WordAlgebra, form: Form, a: Word, b: Word) -> Word:
    def plan(position: int, length: int) -> Pieces:
        inside = min(length, 32 - position)
        return [Fill(0, position), Fill((1 << inside) - 1, inside), Fill(0, 32 - position - inside)]

    return alg.steer(plan, [_bounded(form, a), _bounded(form, b)])


def _extended(alg: WordAlgebra, form: Form, a: Word, b: Word) -> Word:
    def plan(length: int) -> Pieces:
        if form.type.kind == "s" and length:
            return [Field(0, length, 0, 32)]
        return [Field(0, length), Fill(0, 32 - length)]

    return alg.steer(plan, [_bounded(form, b)], a)


def _reversed(alg: WordAlgebra, form: Form, a: Word) -> Word:
    return alg.move([Field(low, 1) for low in reversed(range(form.width))], a)


# -- counts


def _ones(alg: WordAlgebra, form: Form, a: Word) -> Word:
    return alg.count_ones(form.width, a)


def _zeros(alg: WordAlgebra, form: Form, a: Word) -> Word:
    return alg.leading_zeros(form.width, a)


def _highest(alg: WordAlgebra, form: Form, a: Word) -> Word:
    """Return the place of the highest bit that differs from the sign, or how far it is from the top."""
    width = form.width
    if form.type.kind == "s":
        sign = alg.move([Field(width - 1, 1, 0, width)], a)
        a = alg.bitwise(A ^ B, width, a, sign)
    zeros = alg.leading_zeros(width, a)
    top = zeros if form.has("shiftamt") else alg.add(32, alg.constant(width - 1, 32), alg.negate(32, zeros))
    none = alg.compare(unsigned(width), "eq", a, alg.constant(0, width))
    return alg.choose(none, alg.constant(-1, 32), top)


def _nth(alg: WordAlgebra, form: Form, mask: Word, base: Word, offset: Word) -> Word:
    def plan(mask: int, base: int, offset: int) -> Pieces:
        return [Fill(nth_set(mask, base, offset) & 0xFFFFFFFF, 32)]

    controls = [Control(word, 0xFFFFFFFF, 0xFFFFFFFF) for word in (mask, base, offset)]
    return alg.leave_open(alg.steer(plan, controls), BASE_OF_FNS, lambda base: base >= 32, base)


def nth_set(mask: int, base: int, offset: int) -> int:
    """Return the place of the nth bit set, from a base up or down; -1 where there is none."""
    offset = offset - (1 << 32) if offset >> 31 else offset
    if not offset:
        return base if mask >> base & 1 else -1
    # No bit is set above 31: from a base up there, the search down begins at 31.
    places = range(base, 32) if offset > 0 else range(min(base, 31), -1, -1)
    found = [place for place in places if mask >> place & 1]
    return found[abs(offset) - 1] if len(found) >= abs(offset) else -1


# -- bytes


_MODES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "f4e": lambda n: (n, n + 1, n + 2, n + 3),
    "b4e": lambda n: (n, n + 7 & 7, n + 6 & 7, n + 5 & 7),
    "rc8": lambda n: (n, n, n, n),
    "ecl": lambda n: (n, max(n, 1), max(n, 2), 3),
    "ecr": lambda n: (0, min(n, 1), min(n, 2), n),
    "rc16": lambda n: (2 * (n & 1), 2 * (n & 1) + 1) * 2,
}
"""Bytes of {b, a} that each mode picks, least significant first."""


def _byte(number: int, *, sign: bool = False) -> Field:
    source, byte = divmod(number, 4)
    return Field(8 * byte + 7, 1, source, 8) if sign else Field(8 * byte, 8, source)


def _permuted(alg: WordAlgebra, form: Form, a: Word, b: Word, c: Word) -> Word:
    """Pick bytes of {b, a}, each by four bits of c (the fourth copies the sign), or all by two bits."""
    if mode := form.one_of(*_MODES):
        picked = [_MODES[mode](number) for number in range(4)]
        parts = [Part(0, 2, [_byte(numbers[place] & 7) for numbers in picked]) for place in range(4)]
    else:
        options = [_byte(number, sign=sign) for sign, number in product((False, True), range(8))]
        parts = [Part(low, 4, options) for low in (0, 4, 8, 12)]
    return alg.pick(parts, c, a, b)


_LOOKED_UP = "d:b32 = a:b32 b:b32 c:b32 immLut:#b32"

ROWS = (
    *(
        Row(opcode, f"pred {_UNTYPED}", "d:t = a:t b:t", partial(_logic, BOOLEANS[opcode]), section)
        for opcode, section in (("and", "9.7.8.1"), ("or", "9.7.8.2"), ("xor", "9.7.8.3"))
    ),
    Row("not", f"pred {_UNTYPED}", "d:t = a:t", partial(_logic, NOT_A), "9.7.8.4"),
    Row("cnot", _UNTYPED, "d:t = a:t", _is_zero, "9.7.8.5"),
    Row("lop3", "b32", _LOOKED_UP, _looked_up, "9.7.8.6"),
    Row(
        "lop3", "b32", f"{_LOOKED_UP} q:pred".replace("d:b32", "d:b32 p:pred"), _looked_up, "9.7.8.6",
        "or|and", Availability((8, 2), 70),
    ),
    *(
        Row(f"shf.{way}", "b32", "d:b32 = a:b32 b:b32 c:u32", _funnel, "9.7.8.7", "clamp|wrap")
        for way in "lr"
    ),
    Row("shl", _UNTYPED, "d:t = a:t b:u32", _left, "9.7.8.8"),
    Row("shr", "b16 b32 b64 u16 u32 u64 s16 s32 s64", "d:t = a:t b:u32", _right, "9.7.8.9"),
    Row("popc", _LONG_BITS, "d:u32 = a:t", _ones, "9.7.1.14"),
    Row("clz", _LONG_BITS, "d:u32 = a:t", _zeros, "9.7.1.15"),
    Row("bfind", _LONG, "d:u32 = a:t", _highest, "9.7.1.16", "shiftamt?"),
    Row("fns", "b32", "d:b32 = mask:b32 base:b32 offset:b32", _nth, "9.7.1.17"),
    Row("brev", _LONG_BITS, "d:t = a:t", _reversed, "9.7.1.18"),
    Row("bfe", _LONG, "d:t = a:t b:u32 c:u32", _extracted, "9.7.1.19"),
    Row("bfi", _LONG_BITS, "f:t = a:t b:t c:u32 d:u32", _inserted, "9.7.1.20"),
    Row("szext", "u32 s32", "d:t = a:t b:u32", _extended, "9.7.1.21", "clamp|wrap", _MASKS),
    Row("bmsk", "b32", "d:u32 = a:u32 b:u32", _masked, "9.7.1.22", "clamp|wrap", _MASKS),
    Row(
        "prmt", "b32", "d:b32 = a:b32 b:b32 c:b32", _permuted, "9.7.9.7", f"{'|'.join(_MODES)}?",
        flags_behind=True,
    ),
)  # fmt: skip
"""Every form of these opcodes."""
