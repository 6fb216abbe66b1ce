"""Integer arithmetic: rows of PTX ISA 9.1 sections 9.7.1 and 9.7.2."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...word_algebra import A, B, C, Field, Word, WordAlgebra, signed, unsigned
from ..open_results import OPEN_QUOTIENT
from ..targets import Availability
from .rows import Form, Row

WORDS = "u16 s16 u32 s32 u64 s64"
_LONG = "u32 s32 u64 s64"
_SIGNED = "s16 s32 s64"
_PAIRS = "u16x2 s16x2"
_PACKED = Availability((8, 0), 90)
"""Of words of two integers, and of ``.relu``."""

TWO = "d:t = a:t b:t"
THREE = "d:t = a:t b:t c:t"
_CARRIED = "d:t CC.CF:pred = a:t b:t"


# -- elements, and clamped words
def lanewise(alg: WordAlgebra, form: Form, rule: Callable[..., Word], *operands: Word) -> Word:
    """Apply a rule to each element of its operands."""
    kind = form.type
    if kind.lanes == 1:
        return rule(*operands)
    lows = range(0, kind.bits, kind.width)
    elements = [[alg.move([Field(low, kind.width)], word) for word in operands] for low in lows]
    joined = [Field(0, kind.width, index) for index in range(kind.lanes)]
    return alg.move(joined, *(rule(*words) for words in elements))


def clamped(alg: WordAlgebra, rule: Callable[..., Word], *operands: Word) -> Word:
    """Apply a rule of 64 bits to words of 32, and clamp the result to a signed word."""
    wide = (alg.extend(64, signed(32), word) for word in operands)
    return alg.clamp(signed(32), signed(64), rule(*wide))


# -- sums and products


def subtracted(alg: WordAlgebra, width: int, a: Word, b: Word) -> Word:
    """Return ``a - b`` modulo ``2**width``."""
    return alg.add(width, a, alg.negate(width, b))


def _sum(alg: WordAlgebra, form: Form, a: Word, b: Word) -> Word:
    if form.has("sat"):
        return clamped(alg, partial(alg.add, 64), a, b)
    return lanewise(alg, form, partial(alg.add, form.width), a, b)


def _difference(alg: WordAlgebra, form: Form, a: Word, b: Word) -> Word:
    if form.has("sat"):
        return clamped(alg, partial(subtracted, alg, 64), a, b)
    return subtracted(alg, form.width, a, b)


def _low_product(alg: WordAlgebra, form: Form, a: Word, b: Word, *addends: Word) -> Word:
    return alg.multiply(form.width, a, b, *addends)


def _high_product(alg: WordAlgebra, form: Form, a: Word, b: Word, *addends: Word) -> Word:
    upper = alg.high_product(form.type.format, a, b)
    if form.has("sat"):
        return clamped(alg, partial(alg.add, 64), upper, *addends)
    return alg.add(form.width, upper, *addends) if addends else upper


def _wide_product(alg: WordAlgebra, form: Form, a: Word, b: Word, *addends: Word) -> Word:
    factors = (alg.extend(2 * form.width, form.type.format, word) for word in (a, b))
    return alg.multiply(2 * form.width, *factors, *addends)


def _product_24(alg: WordAlgebra, form: Form, a: Word, b: Word, *addends: Word) -> Word:
    """Return bits 0 to 31 or 16 to 47 of the product of two 24-bit integers."""
    fmt = (signed if form.type.kind == "s" else unsigned)(24)
    factors = (alg.extend(64, fmt, alg.move([Field(0, 24)], word)) for word in (a, b))
    low = 0 if form.word(1) == "lo" else 16
    part = alg.move([Field(low, 32)], alg.multiply(64, *factors))
    if form.has("sat"):
        return clamped(alg, partial(alg.add, 64), part, *addends)
    return alg.add(32, part, *addends) if addends else part


def _absolute_difference(alg: WordAlgebra, form: Form, a: Word, b: Word, c: Word) -> Word:
    greatest, least = (alg.extremum(form.type.format, which, a, b) for which in ("max", "min"))
    return alg.add(form.width, c, subtracted(alg, form.width, greatest, least))


# -- quotients


def _quotient(alg: WordAlgebra, form: Form, a: Word, b: Word) -> Word:
    divide = alg.quotient if form.row.opcode == "div" else alg.remainder
    result = alg.leave_open(divide(form.type.format, a, b), OPEN_QUOTIENT, lambda b: b == 0, b)
    if form.type.kind == "u":
        return result
    least, minus_one = 1 << (form.width - 1), (1 << form.width) - 1
    overflows = lambda a, b: (a == least) & (b == minus_one)  # noqa: E731
    return alg.leave_open(result, OPEN_QUOTIENT, overflows, a, b)


# -- sign and order


def _negated(alg: WordAlgebra, form: Form, a: Word) -> Word:
    return alg.negate(form.width, a)


def _absolute(alg: WordAlgebra, form: Form, a: Word) -> Word:
    return alg.extremum(form.type.format, "max", a, alg.negate(form.width, a))


def _extremum(alg: WordAlgebra, form: Form, a: Word, b: Word) -> Word:
    def rule(a: Word, b: Word) -> Word:
        chosen = alg.extremum(form.type.format, form.row.opcode, a, b)
        if not form.has("relu"):
            return chosen
        return alg.extremum(form.type.format, "max", chosen, alg.constant(0, form.width))

    return lanewise(alg, form, rule, a, b)


# -- dot products of bytes


def _dot(alg: WordAlgebra, form: Form, a: Word, b: Word, c: Word) -> Word:
    """Multiply four bytes by four, or two halves by the lower or upper two bytes."""
    length = 4 if form.row.opcode == "dp4a" else 2
    first = 2 if form.row.head == "dp2a.hi" else 0
    size = 32 // length
    signs = [kind.kind == "s" for kind in form.types]
    left, right = (
        (signed if sign else unsigned)(width) for sign, width in zip(signs, (size, 8), strict=True)
    )
    result = (signed if any(signs) else unsigned)(32)
    halves = [Field(size * place, size) for place in range(length)]
    bytes_ = [Field(8 * (first + place), 8) for place in range(length)]
    return alg.dot(result, halves, bytes_, (left, right), a, b, c)


# -- extended precision


def _carried(
    alg: WordAlgebra, form: Form, a: Word, b: Word, *carry: Word, borrows: bool = False
) -> tuple[Word, ...]:
    """Add or subtract, with the carry if there is one; return the carry too where it is wanted."""
    width = form.width
    total = subtracted(alg, width, a, b) if borrows else alg.add(width, a, b)
    if carry:
        extended = alg.extend(width, unsigned(1), *carry)
        total = subtracted(alg, width, total, extended) if borrows else alg.add(width, total, extended)
    if not form.has("cc"):
        return (total,)
    left, right = (a, b) if borrows else (total, a)
    out = alg.compare(unsigned(width), "lt", left, right)
    if carry:
        equal = alg.compare(unsigned(width), "eq", left, right)
        out = alg.bitwise(A | B & C, 1, out, equal, *carry)
    return total, out


def _carried_product(
    alg: WordAlgebra, form: Form, a: Word, b: Word, c: Word, *carry: Word
) -> tuple[Word, ...]:
    low = form.word(1) == "lo"
    part = alg.multiply(form.width, a, b) if low else alg.high_product(form.type.format, a, b)
    return _carried(alg, form, part, c, *carry)


def _extended(opcode: str, meaning: object, operands: str, section: str) -> tuple[Row, ...]:
    """Return the rows of an opcode that reads the carry flag: with and without ``.cc``."""
    reads = f"{operands} CC.CF:pred"
    writes = reads.replace(" =", " CC.CF:pred =")
    return (
        Row(opcode, _LONG, reads, meaning, section),  # type: ignore[arg-type]
        Row(opcode, _LONG, writes, meaning, section, "cc"),  # type: ignore[arg-type]
    )


ROWS = (
    Row("add", WORDS, TWO, _sum, "9.7.1.1"),
    Row("add", "s32", TWO, _sum, "9.7.1.1", "sat"),
    Row("add", _PAIRS, TWO, _sum, "9.7.1.1", availability=_PACKED),
    Row("sub", WORDS, TWO, _difference, "9.7.1.2"),
    Row("sub", "s32", TWO, _difference, "9.7.1.2", "sat"),
    Row("mul.lo", WORDS, TWO, _low_product, "9.7.1.3"),
    Row("mul.hi", WORDS, TWO, _high_product, "9.7.1.3"),
    Row("mul.wide", "u16 s16 u32 s32", "d:2t = a:t b:t", _wide_product, "9.7.1.3"),
    Row("mad.lo", WORDS, THREE, _low_product, "9.7.1.4"),
    Row("mad.hi", WORDS, THREE, _high_product, "9.7.1.4"),
    Row("mad.hi", "s32", THREE, _high_product, "9.7.1.4", "sat"),
    Row("mad.wide", "u16 s16 u32 s32", "d:2t = a:t b:t c:2t", _wide_product, "9.7.1.4"),
    *(Row(f"mul24.{part}", "u32 s32", TWO, _product_24, "9.7.1.5") for part in ("lo", "hi")),
    *(Row(f"mad24.{part}", "u32 s32", THREE, _product_24, "9.7.1.6") for part in ("lo", "hi")),
    Row("mad24.hi", "s32", THREE, _product_24, "9.7.1.6", "sat"),
    Row("sad", WORDS, THREE, _absolute_difference, "9.7.1.7"),
    Row("div", WORDS, TWO, _quotient, "9.7.1.8"),
    Row("rem", WORDS, TWO, _quotient, "9.7.1.9"),
    Row("abs", _SIGNED, "d:t = a:t", _absolute, "9.7.1.10"),
    Row("neg", _SIGNED, "d:t = a:t", _negated, "9.7.1.11"),
    *(
        row
        for opcode, section in (("min", "9.7.1.12"), ("max", "9.7.1.13"))
        for row in (
            Row(opcode, WORDS, TWO, _extremum, section),
            Row(opcode, _PAIRS, TWO, _extremum, section, availability=_PACKED),
            Row(opcode, "s16x2 s32", TWO, _extremum, section, "relu", _PACKED),
        )
    ),
    Row("dp4a", "u32 s32 / u32 s32", "d:b32 = a:t b:u c:b32", _dot, "9.7.1.23"),
    *(
        Row(f"dp2a.{part}", "u32 s32 / u32 s32", "d:b32 = a:t b:u c:b32", _dot, "9.7.1.24")
        for part in ("lo", "hi")
    ),
    Row("add", _LONG, _CARRIED, _carried, "9.7.2.1", "cc"),
    Row("sub", _LONG, _CARRIED, partial(_carried, borrows=True), "9.7.2.3", "cc"),
    *(
        Row(f"mad.{part}", _LONG, f"{_CARRIED} c:t", _carried_product, "9.7.2.5", "cc")
        for part in ("lo", "hi")
    ),
    *_extended("addc", _carried, TWO, "9.7.2.2"),
    *_extended("subc", partial(_carried, borrows=True), TWO, "9.7.2.4"),
    *(row for part in ("lo", "hi") for row in _extended(f"madc.{part}", _carried_product, THREE, "9.7.2.6")),
)
"""Every integer form of these opcodes."""
