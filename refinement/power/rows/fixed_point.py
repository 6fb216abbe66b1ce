"""Semantics of the branch, condition and fixed-point instructions.

Source: Power ISA 3.1 Book I chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ....spec.errors import UnsupportedError
from ...terms.truth_tables import A, B
from ..image.instruction_forms import Instruction
from ..machine import Handler, Machine
from ..state.words import MASK, Data, Word, WordArithmetic, known, signed

Compute = Callable[..., Word]
"""From the words of operands to a word."""


# -- results in a general-purpose register
def _arithmetic(compute: Compute, *, target: int = 0) -> Handler:
    """Return a handler that writes one operand from the others; numbers stand for themselves."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        given: list[Word] = []
        for index, (operand, value) in enumerate(
            zip(instruction.form.operands, instruction.values, strict=True)
        ):
            if index == target:
                continue
            if operand.name == "RA0":
                given.append(machine.base(value))
            elif operand.register == "r":
                given.append(machine.registers.general[value])
            else:
                given.append(value)
        result = compute(machine.words, *given)
        machine.set_general(instruction.values[target], result)
        if instruction.mnemonic.endswith("."):
            machine.record(result)

    return handler


def _mask(first: int, last: int) -> int:
    """Return ones from a bit to another one, both counted from the most significant, around the end."""
    if first <= last:
        return (MASK >> first) & (MASK << (63 - last) & MASK)
    return MASK if first == last + 1 else MASK & ~_mask(last + 1, first - 1)


def _rotated_32(words: WordArithmetic, word: Word, amount: int) -> Word:
    low = words.rotated(word, amount, 32)
    return words.joined((low, 32), (low, 32))


def _rlwinm(words: WordArithmetic, rs: Word, sh: Word, mb: Word, me: Word) -> Word:
    mask = _mask(_int(mb) + 32, _int(me) + 32)
    return words.combined(A & B, _rotated_32(words, rs, _count(sh, 31)), mask)


def _int(word: Word) -> int:
    assert isinstance(word, int)
    return word


def _count(word: Word, mask: int) -> int:
    return known("a shift", word) & mask


def _inserted(words: WordArithmetic, rotated: Word, old: Word, mask: int) -> Word:
    kept = words.combined(A & B, old, MASK & ~mask)
    return words.combined(A | B, words.combined(A & B, rotated, mask), kept)


def _insert(instruction: Instruction, rotated: Word, mask: int, machine: Machine) -> None:
    target = instruction.values[0]
    result = _inserted(machine.words, rotated, machine.registers.general[target], mask)
    machine.set_general(target, result)
    if instruction.mnemonic.endswith("."):
        machine.record(result)


def _rlwimi(machine: Machine, instruction: Instruction) -> None:
    _, rs, sh, mb, me = instruction.values
    rotated = _rotated_32(machine.words, machine.registers.general[rs], sh)
    _insert(instruction, rotated, _mask(mb + 32, me + 32), machine)


def _rldimi(machine: Machine, instruction: Instruction) -> None:
    _, rs, sh, mb = instruction.values
    rotated = machine.words.rotated(machine.registers.general[rs], sh)
    _insert(instruction, rotated, _mask(mb, 63 - sh), machine)


def _shifted_left(words: WordArithmetic, word: Word, amount: Word, width: int) -> Word:
    count = _count(amount, 2 * width - 1)
    if count >= width:
        return 0
    kept = words.cut(word, 0, width - count)
    return words.extended(words.joined((0, count), (kept, width - count)), width, sign=False)


def _shifted_right(words: WordArithmetic, word: Word, amount: Word, width: int) -> Word:
    count = _count(amount, 2 * width - 1)
    if count >= width:
        return 0
    kept = words.cut(word, count, width - count)
    return words.joined((kept, width - count), (0, 64 - width + count))


def _arithmetic_shift(width: int) -> Handler:
    """Return ``sra*``: the sign is moved in, and CA tells whether ones are lost from a negative number."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        target, source, amount = instruction.values
        words = machine.words
        word = machine.registers.general[source]
        immediate = instruction.form.operands[2].register == ""
        by = amount if immediate else _count(machine.registers.general[amount], 2 * width - 1)
        count = min(by, width - 1)
        kept = words.extended(words.cut(word, count, width - count), width - count, sign=True)
        machine.set_general(target, kept)
        sign = words.cut(word, width - 1, 1)
        lost = words.cut(word, 0, min(by, width)) if by else 0
        if isinstance(sign, Data) or isinstance(lost, Data):
            some = words.compared(lost, 0, min(by, width), sign=False)[1] if by else 0
            machine.registers.carry = words.combined(A & B, sign, some, 1)
        else:
            machine.registers.carry = int(bool(sign and lost))
        if instruction.mnemonic.endswith("."):
            machine.record(kept)

    return handler


def _product(width: int, *, sign: bool, high: bool) -> Compute:
    def compute(words: WordArithmetic, left: Word, right: Word) -> Word:
        if width == 32:
            one, other = (words.extended(each, 32, sign=sign) for each in (left, right))
            product = words.multiplied(one, other)
            if not high:
                return product
            return words.with_undefined(words.cut(product, 32, 32), 32)
        a, b = known("the upper half of a 128-bit product", left), known("such a product", right)
        if sign:
            a, b = signed(a), signed(b)
        return a * b >> 64 & MASK

    return compute


def _quotient(width: int, *, sign: bool, remainder: bool = False) -> Compute:
    def compute(words: WordArithmetic, left: Word, right: Word) -> Word:
        a, b = known("a dividend", left), known("a divisor", right)
        if sign:
            a, b = signed(a, width), signed(b, width)
        else:
            a, b = a & ((1 << width) - 1), b & ((1 << width) - 1)
        if b == 0 or (sign and b == -1 and a == -(1 << (width - 1))):
            raise UnsupportedError(f"a quotient of {a} by {b}, which is undefined")
        quotient = abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)
        result = (a - quotient * b if remainder else quotient) & ((1 << width) - 1)
        return words.with_undefined(result, width)

    return compute


def _high_sum(words: WordArithmetic, sign: bool, a: Word, b: Word, c: Word) -> Word:
    x, y, z = (known("the upper half of a 128-bit sum", each) for each in (a, b, c))
    if sign:
        x, y, z = signed(x), signed(y), signed(z)
    return (x * y + z) >> 64 & MASK


def _bit_count(name: str, count: Callable[[int], int]) -> Compute:
    return lambda words, word: count(known(name, word)) & MASK


def _leading(width: int) -> Callable[[int], int]:
    return lambda value: width - (value & ((1 << width) - 1)).bit_length()


def _trailing(width: int) -> Callable[[int], int]:
    def count(value: int) -> int:
        low = value & ((1 << width) - 1)
        return (low & -low).bit_length() - 1 if low else width

    return count


def _per_part(width: int, count: Callable[[int], int]) -> Callable[[int], int]:
    return lambda value: sum(count(value >> low & ((1 << width) - 1)) << low for low in range(0, 64, width))


def _reversed(width: int) -> Compute:
    """Return the bytes of every part of a word in the other order."""

    def compute(words: WordArithmetic, word: Word) -> Word:
        parts = [
            (words.cut(word, low + 8 * byte, 8), 8)
            for low in range(0, 64, width)
            for byte in reversed(range(width // 8))
        ]
        return words.joined(*parts)

    return compute


def _logical(table: int) -> Compute:
    return lambda words, left, right: words.combined(table & 0xFF, left, right)


_RESULTS: Mapping[str, Compute] = MappingProxyType(
    {
        "addi": lambda w, a, si: w.add(a, si & MASK),
        "addis": lambda w, a, si: w.add(a, (si << 16) & MASK),
        "mulli": lambda w, a, si: w.multiplied(a, si & MASK),
        "add": lambda w, a, b: w.add(a, b),
        "subf": lambda w, a, b: w.add(b, w.negated(a)),
        "neg": lambda w, a: w.negated(a),
        "mulld": lambda w, a, b: w.multiplied(a, b),
        "mullw": _product(32, sign=True, high=False),
        "mulhw": _product(32, sign=True, high=True),
        "mulhwu": _product(32, sign=False, high=True),
        "mulhd": _product(64, sign=True, high=True),
        "mulhdu": _product(64, sign=False, high=True),
        "divd": _quotient(64, sign=True),
        "divdu": _quotient(64, sign=False),
        "divw": _quotient(32, sign=True),
        "divwu": _quotient(32, sign=False),
        "modsd": _quotient(64, sign=True, remainder=True),
        "modud": _quotient(64, sign=False, remainder=True),
        "modsw": _quotient(32, sign=True, remainder=True),
        "moduw": _quotient(32, sign=False, remainder=True),
        "maddld": lambda w, a, b, c: w.add(w.multiplied(a, b), c),
        "maddhd": lambda w, a, b, c: _high_sum(w, True, a, b, c),
        "maddhdu": lambda w, a, b, c: _high_sum(w, False, a, b, c),
        "ori": lambda w, s, ui: w.combined(A | B, s, ui),
        "oris": lambda w, s, ui: w.combined(A | B, s, ui << 16),
        "xori": lambda w, s, ui: w.combined(A ^ B, s, ui),
        "xoris": lambda w, s, ui: w.combined(A ^ B, s, ui << 16),
        "andi.": lambda w, s, ui: w.combined(A & B, s, ui),
        "andis.": lambda w, s, ui: w.combined(A & B, s, ui << 16),
        "and": _logical(A & B),
        "andc": _logical(A & ~B),
        "or": _logical(A | B),
        "orc": _logical(A | ~B),
        "xor": _logical(A ^ B),
        "eqv": _logical(~(A ^ B)),
        "nand": _logical(~(A & B)),
        "nor": _logical(~(A | B)),
        "extsb": lambda w, s: w.extended(s, 8, sign=True),
        "extsh": lambda w, s: w.extended(s, 16, sign=True),
        "extsw": lambda w, s: w.extended(s, 32, sign=True),
        "cntlzw": _bit_count("cntlzw", _leading(32)),
        "cntlzd": _bit_count("cntlzd", _leading(64)),
        "cnttzw": _bit_count("cnttzw", _trailing(32)),
        "cnttzd": _bit_count("cnttzd", _trailing(64)),
        "popcntw": _bit_count("popcntw", _per_part(32, int.bit_count)),
        "popcntd": _bit_count("popcntd", int.bit_count),
        "popcntb": _bit_count("popcntb", _per_part(8, int.bit_count)),
        "brh": _reversed(16),
        "brw": _reversed(32),
        "brd": _reversed(64),
        "sld": lambda w, s, b: _shifted_left(w, s, b, 64),
        "slw": lambda w, s, b: _shifted_left(w, s, b, 32),
        "srd": lambda w, s, b: _shifted_right(w, s, b, 64),
        "srw": lambda w, s, b: _shifted_right(w, s, b, 32),
        "extswsli": lambda w, s, sh: _shifted_left(w, w.extended(s, 32, sign=True), sh, 64),
        "rlwinm": _rlwinm,
        "rlwnm": _rlwinm,
        "rldicl": lambda w, s, sh, mb: w.combined(A & B, w.rotated(s, _count(sh, 63)), _mask(mb, 63)),
        "rldicr": lambda w, s, sh, me: w.combined(A & B, w.rotated(s, _count(sh, 63)), _mask(0, me)),
        "rldic": lambda w, s, sh, mb: w.combined(A & B, w.rotated(s, _count(sh, 63)), _mask(mb, 63 - sh)),
        "rldcl": lambda w, s, b, mb: w.combined(A & B, w.rotated(s, _count(b, 63)), _mask(mb, 63)),
        "rldcr": lambda w, s, b, me: w.combined(A & B, w.rotated(s, _count(b, 63)), _mask(0, me)),
    }
)
"""What the first operand becomes; those with a period record it too."""


# -- sums with a carry
Prepare = Callable[[Machine, Instruction], tuple[Word, Word, Word]]
"""From an instruction to two words and a bit that are added."""


def _carrying(prepare: Prepare) -> Handler:
    """Return a handler of a sum of two words and a bit, which sets CA."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        left, right, bit = prepare(machine, instruction)
        words = machine.words
        if isinstance(left, Data) or isinstance(right, Data) or isinstance(bit, Data):
            wide = words.extended(bit, 1, sign=False)
            total = words.add(left, right, wide)
            if isinstance(bit, Data):
                machine.registers.carry = Data(int(machine.store.undefined(1, 1)[0]))
            else:
                # there is a carry exactly when the sum is less than an addend (or equal to it, with 1)
                less, _, equal = words.compared(total, left, 64, sign=False)
                machine.registers.carry = words.combined(A | B, less, equal, 1) if bit else less
        else:
            exact = left + right + bit
            total = exact & MASK
            machine.registers.carry = exact >> 64
        machine.set_general(instruction.values[0], total)
        if instruction.mnemonic.endswith("."):
            machine.record(total)

    return handler


def _complement(machine: Machine, word: Word) -> Word:
    return machine.words.combined(~A & 0xFF, word, word)


def _sum_of(
    complement: bool, addend: str, carry: str
) -> Callable[[Machine, Instruction], tuple[Word, Word, Word]]:
    def prepare(machine: Machine, instruction: Instruction) -> tuple[Word, Word, Word]:
        general = machine.registers.general
        left = general[instruction.values[1]]
        if complement:
            left = _complement(machine, left)
        right: Word = 0
        match addend:
            case "register":
                right = general[instruction.values[2]]
            case "immediate":
                right = instruction.values[2] & MASK
            case "minus one":
                right = MASK
        bit: Word = machine.registers.carry if carry == "CA" else int(carry)
        return left, right, bit

    return prepare


_SUMS = {
    "addic": (False, "immediate", "0"),
    "addic.": (False, "immediate", "0"),
    "subfic": (True, "immediate", "1"),
    "addc": (False, "register", "0"),
    "adde": (False, "register", "CA"),
    "addme": (False, "minus one", "CA"),
    "addze": (False, "zero", "CA"),
    "subfc": (True, "register", "1"),
    "subfe": (True, "register", "CA"),
    "subfme": (True, "minus one", "CA"),
    "subfze": (True, "zero", "CA"),
}


def _handlers() -> Mapping[str, Handler]:
    found: dict[str, Handler] = {name: _arithmetic(compute) for name, compute in _RESULTS.items()}
    found |= {name: _carrying(_sum_of(*how)) for name, how in _SUMS.items()}
    found |= {
        "sradi": _arithmetic_shift(64),
        "srad": _arithmetic_shift(64),
        "srawi": _arithmetic_shift(32),
        "sraw": _arithmetic_shift(32),
        "rlwimi": _rlwimi,
        "rldimi": _rldimi,
    }
    found |= {f"{name}.": handler for name, handler in found.items() if not name.endswith(".")}
    found |= {
        "paddi": lambda m, i: m.set_general(i.values[0], m.words.add(relative(m, *i.values[1:]), 0)),
        "addpcis": lambda m, i: m.set_general(i.values[0], (m.following + (i.values[1] << 16)) & MASK),
    }
    return found


def relative(machine: Machine, base: int, displacement: int, relative: int) -> Word:
    """Return the sum of a prefixed instruction: with the instruction's own address where it says so."""
    start: Word = machine.address if relative else machine.base(base)
    return machine.words.add(start, displacement & MASK)


HANDLERS: Mapping[str, Handler] = MappingProxyType(_handlers())
"""What carries out the instructions of this module, by mnemonic."""
