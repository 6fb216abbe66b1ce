"""Scalar instructions on words against the pseudo-code of the manual, bit by bit.

The rows of `mmaproof.spec.ptx.scalar` move whole fields; here a word is a list of conditions, one for each
bit, and every instruction is written as the manual's pseudo-code is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.formats import U32, IntegerFormat
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.numpy_words import NumpyWords
from ...spec.ptx.scalar.catalogue import every_form, form_of
from ...spec.ptx.scalar.rows import Form
from ...spec.word_algebra import unsigned
from ..obligation import Case, Equation, Inputs, Property, Status, Variable, theorem

_BIT = IntegerFormat("u1", 1, signed=False)

Bits = list[Array]
"""The bits of a word as conditions, the least significant first."""

PseudoCode = Callable[..., Bits]
"""From an algebra, a form and the bits of its operands to the bits of the result."""


def form_named(mnemonic: str) -> Form:
    """Return the form that a mnemonic spells."""
    opcode, *modifiers = mnemonic.split(".")
    form = form_of(opcode, modifiers)
    assert form is not None, mnemonic
    return form


def executed(alg: Algebra, form: Form, *operands: Any) -> tuple[Array, ...]:
    """Return the results of a form's row, as encodings of an algebra."""
    if not isinstance(alg, NumpyAlgebra):
        from ...smt.z3_words import Z3Words

        return form.results(Z3Words(), operands)
    words = [
        operand if isinstance(operand, int) else np.asarray(operand).astype(np.uint64) for operand in operands
    ]
    computed = form.results(NumpyWords(), words)
    return tuple(
        np.asarray(word).astype(place.type.format.storage if place.type.lanes == 1 else U32.storage)
        for place, word in zip(form.places[0], computed, strict=True)
    )


def bits_of(alg: Algebra, word: Array, width: int) -> Bits:
    """Return the bits of encodings."""
    one = alg.constant(1, _BIT)
    return [alg.same(alg.extract(word, low, _BIT), one) for low in range(width)]


def word_of(alg: Algebra, bits: Bits) -> Array:
    """Return the encodings of bits."""
    one, zero = alg.constant(1, _BIT), alg.constant(0, _BIT)
    fields = np.stack([alg.where(bit, one, zero) for bit in bits], axis=-1)
    return alg.assemble(fields, _BIT, range(len(bits)), unsigned(len(bits)))


def either(condition: Array, then: Array, otherwise: Array) -> Array:
    """Choose between conditions."""
    return (condition & then) | (~condition & otherwise)


def never(bits: Bits) -> Array:
    """Return the condition that never holds."""
    return bits[0] & ~bits[0]


def falling(bits: Bits, amount: Bits, fill: Array) -> Bits:
    """Return bits moved down by an amount, and a fill from above: bit i becomes bit i + amount."""
    for power, moves in enumerate(amount):
        step = 1 << power
        if step >= len(bits):
            bits = [either(moves, fill, bit) for bit in bits]
            continue
        moved = [*bits[step:], *[fill] * step]
        bits = [either(moves, high, bit) for high, bit in zip(moved, bits, strict=True)]
    return bits


def rising(bits: Bits, amount: Bits, fill: Array) -> Bits:
    """Return bits moved up by an amount, and a fill from below."""
    return falling(bits[::-1], amount, fill)[::-1]


def below(place: int, bound: Bits) -> Array:
    """Return the condition that a number is less than the number of some bits."""
    less = never(bound)
    for power, bit in enumerate(bound):
        less = (bit & less) if place >> power & 1 else (bit | less)
    return less if place < 1 << len(bound) else never(bound)


# -- the manual's pseudo-code


def _shl(form: Form, a: Bits, b: Bits) -> Bits:
    """``d = a << b``; amounts greater than the width are clamped."""
    return rising(a, b, never(a))


def _shr(form: Form, a: Bits, b: Bits) -> Bits:
    """``d = a >> b``, with copies of the sign of signed words."""
    return falling(a, b, a[-1] if form.type.kind == "s" else never(a))


def _shf(form: Form, a: Bits, b: Bits, c: Bits) -> Bits:
    """``n = (mode == clamp) ? min(c, 32) : c & 0x1f; d = (b << n) | (a >> (32 - n))``, or to the right."""
    amount = c[:5]
    shifted = rising([*a, *b], amount, never(a))[32:]
    other = falling([*a, *b], amount, never(a))[:32]
    left = form.row.head == "shf.l"
    result, all_of = (shifted, a) if left else (other, b)
    if form.has("wrap"):
        return result
    beyond = c[5]
    for bit in c[6:]:
        beyond = beyond | bit
    return [either(beyond, whole, bit) for whole, bit in zip(all_of, result, strict=True)]


def _bfe(form: Form, a: Bits, b: Bits, c: Bits) -> Bits:
    """``d[i] = (i < len && pos + i <= msb) ? a[pos + i] : sbit``."""
    width, position, length = form.width, b[:8], c[:8]
    none = never(a)
    sign = none
    if form.type.kind == "s":
        # the last bit of the field, or of the word where that ends before; 0 of no bits at all
        some = below(0, length)
        last = none
        for place in range(width - 1, -1, -1):
            ends = _ends(position, length, place, width)
            last = last | (ends & a[place])
        sign = some & last
    moved = falling(a, position, sign)
    # bits beyond the top are the sign: a field that ends before the top is cut by its length
    return [either(below(place, length), bit, sign) for place, bit in enumerate(moved)]


def _ends(position: Bits, length: Bits, place: int, width: int) -> Array:
    """Return whether ``min(pos + len - 1, msb)`` is a place."""
    total = _sum(position, length)
    if place < width - 1:
        return _is(total, place + 1)
    return ~_less(total, width)


def _sum(x: Bits, y: Bits) -> Bits:
    """Return the sum of two numbers, one bit longer."""
    carry, total = never(x), []
    for one, other in zip(x, y, strict=True):
        total.append((one ^ other) ^ carry)
        carry = (one & other) | (carry & (one ^ other))
    return [*total, carry]


def _is(bits: Bits, number: int) -> Array:
    result = ~never(bits)
    for power, bit in enumerate(bits):
        result = result & (bit if number >> power & 1 else ~bit)
    return result


def _less(bits: Bits, number: int) -> Array:
    """Return whether a number is less than a constant."""
    less = never(bits)
    for power, bit in enumerate(bits):
        less = (~bit | less) if number >> power & 1 else (~bit & less)
    return less


def _bfi(form: Form, a: Bits, b: Bits, c: Bits, d: Bits) -> Bits:
    """``f = b; for i < len, pos + i <= msb: f[pos + i] = a[i]``."""
    position, length = c[:8], d[:8]
    field = [below(place, length) for place in range(form.width)]
    masks, moved = rising(field, position, never(a)), rising(a, position, never(a))
    return [either(mask, new, old) for mask, new, old in zip(masks, moved, b, strict=True)]


def _bmsk(form: Form, a: Bits, b: Bits) -> Bits:
    """``d = ((1 << b1) - 1) << a1`` of ``a1, b1`` cut to 5 bits, or clamped to 32."""
    wrap = form.has("wrap")
    position, length = (a[:5], b[:5]) if wrap else (a, b)
    field = [below(place, length) for place in range(32)]
    return rising(field, position, never(a))


def _szext(form: Form, a: Bits, b: Bits) -> Bits:
    """``d = sign- or zero-extension of the low n bits``; of none it is 0."""
    length = b[:5] if form.has("wrap") else b
    inside = [below(place, length) for place in range(32)]
    sign = never(a)
    if form.type.kind == "s":
        for place in range(32):
            last = inside[place] & ~(inside[place + 1] if place < 31 else never(a))
            sign = sign | (last & a[place])
    return [either(within, bit, sign) for within, bit in zip(inside, a, strict=True)]


def _brev(form: Form, a: Bits) -> Bits:
    """``d[i] = a[msb - i]``."""
    return a[::-1]


def _prmt(form: Form, a: Bits, b: Bits, c: Bits) -> Bits:
    """``tmp = (b << 32) | a``; bytes by the selectors, or by the table of the mode."""
    pair = [*a, *b]
    mode = form.one_of(*_TABLES)
    result: Bits = []
    for byte in range(4):
        selector = c[4 * byte : 4 * byte + 4] if not mode else c[:2]
        picked = [never(a)] * 8
        for number in range(1 << len(selector)):
            chosen = _is(selector, number)
            source = int(_TABLES[mode][number][3 - byte]) if mode else number & 7
            bits = pair[8 * source : 8 * source + 8]
            if not mode and number & 8:
                bits = [bits[7]] * 8
            picked = [old | (chosen & bit) for old, bit in zip(picked, bits, strict=True)]
        result += picked
    return result


_TABLES = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}
"""Table 28 of the manual: by mode and selector the bytes of the result, the most significant first."""

_PSEUDO_CODE: dict[str, PseudoCode] = {
    "shl": _shl, "shr": _shr, "shf": _shf, "bfe": _bfe, "bfi": _bfi, "bmsk": _bmsk, "szext": _szext,
    "brev": _brev, "prmt": _prmt,
}  # fmt: skip


def moved_bits(mnemonic: str) -> Property:
    """Return the claim that a row is the manual's pseudo-code, for all operands."""
    form = form_named(mnemonic)
    _, sources = form.places
    variables = tuple(
        Variable(place.name, unsigned(place.type.bits), (1,)) for place in sources if not place.immediate
    )

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        (word,) = executed(alg, form, *(v[place.name] for place in sources))
        operands = (bits_of(alg, v[place.name], place.type.bits) for place in sources)
        stated = _PSEUDO_CODE[form.row.opcode](form, *operands)
        yield Equation(word, word_of(alg, stated), unsigned(len(stated)), label=mnemonic)

    return Property(variables, claim, abstract=False)


_TOO_LARGE = ("bfe.u64", "bfe.s64", "bfi.b64", "popc.b64")
"""Forms of which Z3 decides nothing in a minute; tests execute them."""

_MOVES = tuple(form for form in every_form() if form.row.opcode in _PSEUDO_CODE)


@theorem(
    "ptx/scalar/bits",
    "shifts, bit fields and permutations of bytes are the manual's pseudo-code",
    "d = the bits that the pseudo-code of the manual gives, for all operands, shift amounts and selectors",
    "PTX ISA 9.1 sections 9.7.1.18 to 9.7.1.22, 9.7.8.7 to 9.7.8.9 and 9.7.9.7, table 28",
)
def moves() -> Iterator[Case]:
    """Yield one claim per form."""
    for form in _MOVES:
        if form.mnemonic not in _TOO_LARGE:
            yield Case(form.mnemonic, partial(moved_bits, form.mnemonic))
    yield Case(
        "shl.b32/wraps", partial(_wrapping_shift, "shl.b32"), Status.REFUTED,
        statement="shl takes the amount modulo 32",
    )  # fmt: skip


def _wrapping_shift(mnemonic: str) -> Property:
    form = form_named(mnemonic)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        (word,) = executed(alg, form, v["a"], v["b"])
        a, amount = bits_of(alg, v["a"], 32), bits_of(alg, v["b"], 5)
        yield Equation(word, word_of(alg, rising(a, amount, never(a))), U32, label=mnemonic)

    return Property((Variable("a", U32, (1,)), Variable("b", U32, (1,))), claim, abstract=False)


# -- logic and counts


def _tables() -> Property:
    """Return the claim that ``lop3`` looks every bit up: tables of one row each, and some of more."""
    form = form_named("lop3.b32")

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        a, b, c = (bits_of(alg, v[name], 32) for name in "abc")
        for table in (*(1 << row for row in range(8)), 0x96, 0xE8, 0xCA, 0x1B, 0xFE, 0x00, 0xFF):
            (word,) = executed(alg, form, v["a"], v["b"], v["c"], table)
            bits = []
            for x, y, z in zip(a, b, c, strict=True):
                bit = never(a)
                for row in range(8):
                    if table >> row & 1:
                        bit = bit | ((x if row & 4 else ~x) & (y if row & 2 else ~y) & (z if row & 1 else ~z))
                bits.append(bit)
            yield Equation(word, word_of(alg, bits), U32, label=f"{table:#04x}")

    return Property(tuple(Variable(name, U32, (1,)) for name in "abc"), claim, abstract=False)


def _logic(mnemonic: str) -> Property:
    form = form_named(mnemonic)
    width = form.type.bits
    fmt = unsigned(width)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        (word,) = executed(alg, form, *(v[place.name] for place in form.places[1]))
        operands = [bits_of(alg, v[place.name], width) for place in form.places[1]]
        bits = [_OF_BITS[form.row.opcode](*some) for some in zip(*operands, strict=True)]
        yield Equation(word, word_of(alg, bits), fmt, label=mnemonic)

    return Property(tuple(Variable(p.name, fmt, (1,)) for p in form.places[1]), claim, abstract=False)


_OF_BITS: dict[str, Callable[..., Array]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: ~(~a & ~b),
    "xor": lambda a, b: (a & ~b) | (~a & b),
    "not": lambda a: ~a,
}


def _counted(mnemonic: str) -> Property:
    """Return the claim that a count is that of the manual's loop."""
    form = form_named(mnemonic)
    kind = form.type
    fmt = unsigned(kind.width)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        (word,) = executed(alg, form, v["a"])
        bits = bits_of(alg, v["a"], kind.width)
        one, number = alg.whole(1), alg.whole(0)
        if form.row.opcode == "popc":
            for bit in bits:
                number = number + alg.where(bit, one, alg.whole(0))
        elif form.row.opcode == "clz":
            running = ~never(bits)
            for bit in reversed(bits):
                running = running & ~bit
                number = number + alg.where(running, one, alg.whole(0))
        elif form.row.opcode == "cnot":
            number = alg.where(_is(bits, 0), one, alg.whole(0))
        else:
            signs = kind.kind == "s"
            number = alg.whole(-1)
            for place, bit in enumerate(bits):
                found = either(bits[-1], ~bit, bit) if signs else bit
                at = kind.width - 1 - place if form.has("shiftamt") else place
                number = alg.where(found, alg.whole(at), number)
        result = form.places[0][0].type.bits
        yield Equation(word, alg.wrap(number, unsigned(result)), unsigned(result), label=mnemonic)

    return Property((Variable("a", fmt, (1,)),), claim, abstract=False)


@theorem(
    "ptx/scalar/logic",
    "logic works bit by bit, and counts are those of the manual's loops",
    "d[i] = table[4·a[i] + 2·b[i] + c[i]]; popc, clz, bfind and cnot as the loops of the manual count",
    "PTX ISA 9.1 sections 9.7.1.14 to 9.7.1.16 and 9.7.8.1 to 9.7.8.6",
)
def logic_and_counts() -> Iterator[Case]:
    """Yield one claim per form; some tables of ``lop3`` at once."""
    yield Case("lop3.b32", _tables)
    for form in every_form():
        if form.row.opcode in _OF_BITS:
            yield Case(form.mnemonic, partial(_logic, form.mnemonic))
        elif form.row.opcode in ("popc", "clz", "bfind", "cnot") and form.mnemonic not in _TOO_LARGE:
            yield Case(form.mnemonic, partial(_counted, form.mnemonic))


THEOREMS = (moves, logic_and_counts)
