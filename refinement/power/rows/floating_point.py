"""Semantics of the scalar and vector floating-point instructions.

A scalar is doubleword 0 of a register, in double precision even where it is rounded to single. Of which NaN
a result is nothing is said.

Source: Power ISA 3.1 Book I sections 4.6 and 7.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from ....spec.formats import BF16, F16, F32, F64, FloatFormat, IntegerFormat
from ....spec.rounding import Rounding
from ...terms import bit_slices, operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import TermStore
from ..image.instruction_forms import Instruction
from ..machine import Handler, Machine
from ..state import scalars
from ..state.accumulator_rules import check_read, check_write
from .float_rules import (
    ADDITIONS,
    FUSED,
    INTEGRAL,
    UNARY,
    Rule,
    extremum,
    function,
    greater_or,
    moved,
    rounded,
    with_sign,
)
from .permutations import register_number


# -- scalars
def _scalar(rule: Rule, single: bool, order: Sequence[int], *, zeroed: bool, keeps: bool = False) -> Handler:
    """Return a handler of scalars.

    Parameters
    ----------
    rule : callable
        The arithmetic.
    single : bool
        Whether the result is rounded to single precision.
    order : sequence of int
        Which operands of the text the rule takes, in order.
    zeroed : bool
        Whether the other doubleword becomes zero.
    keeps : bool
        Whether the result is in single precision exactly if the operands are.
    """

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        numbers = [register_number(instruction, index) for index in range(len(instruction.values))]
        doubles = [_read(machine, instruction, numbers[index]) for index in order]
        narrow = [scalars.narrowed(store, double) for double in doubles]
        all_single = all(each is not None for each in narrow)
        target = F32 if single or (keeps and all_single) else F64
        if single and not all_single and rule is not rounded:
            raise machine.unsupported(f"{instruction} of doubles that may have no single-precision value")
        narrows = all_single and target == F32
        of = [F32 if narrows else F64] * len(doubles)
        given = [
            np.array([each if narrows else double], dtype=np.int32)
            for double, each in zip(doubles, narrow, strict=True)
        ]
        result = int(rule(store, target, of, given)[0])
        if target == F32:
            result = scalars.widened(store, result)
        _write(machine, instruction, numbers[0], result, zeroed=zeroed)

    return handler


def _read(machine: Machine, instruction: Instruction, number: int) -> int:
    check_read(machine, instruction, number)
    return machine.registers.doubleword(number)


def _write(machine: Machine, instruction: Instruction, number: int, term: int, *, zeroed: bool) -> None:
    check_write(machine, instruction, number)
    machine.registers.set_scalar(number, term, zeroed=zeroed)


def _select(machine: Machine, instruction: Instruction) -> None:
    """``fsel``: the third operand of the text where the second is not negative, else the last."""
    target, a, c, b = instruction.values
    store = machine.store
    condition, then, otherwise = (_read(machine, instruction, number) for number in (a, c, b))
    zero = int(store.constants(0, 64))
    holds = int(apply(store, operations.compare(F64, "ge"), condition, zero))
    term = int(apply(store, operations.select(64), holds, then, otherwise))
    _write(machine, instruction, target, term, zeroed=False)


def _compare(machine: Machine, instruction: Instruction) -> None:
    """Compare two scalars: less, greater, equal, unordered."""
    field, *registers = instruction.values
    store = machine.store
    doubles = [_read(machine, instruction, number) for number in registers]
    bits = [
        machine.words.word(int(scalars.compared(store, relation, *doubles)[0]))
        for relation in ("lt", "gt", "eq", "nan")
    ]
    machine.registers.conditions[4 * field : 4 * field + 4] = bits


def _to_integer(width: int, *, sign: bool, rounding: Rounding = Rounding.TOWARD_ZERO) -> Handler:
    """Return a conversion of a scalar to an integer, clamped."""
    fmt = (operations.signed if sign else operations.unsigned)(width)

    def handler(machine: Machine, instruction: Instruction) -> None:
        double = np.array([_read(machine, instruction, register_number(instruction, 1))], dtype=np.int32)
        found = _integers(machine.store, F64, fmt, double, rounding)
        word = machine.words.extended(machine.words.word(int(found[0])), width, sign=sign)
        zeroed = instruction.form.operands[0].register == "vs"
        if width == 32 and zeroed:  # both words of the doubleword
            word = machine.words.joined((word, 32), (word, 32))
        elif width == 32:
            word = machine.words.with_undefined(word, 32)
        _write(machine, instruction, register_number(instruction, 0), machine.words.term(word), zeroed=zeroed)

    return handler


def _integers(
    store: TermStore,
    source: FloatFormat,
    target: IntegerFormat,
    terms: Ids,
    rounding: Rounding = Rounding.TOWARD_ZERO,
) -> Ids:
    """Convert to integers, clamped; a NaN becomes the least one."""
    found = apply(store, operations.convert(target, source, rounding), terms)
    least = store.constants(np.full(len(terms), 1 << (target.bits - 1) if target.signed else 0), target.bits)
    is_nan = apply(store, operations.compare(source, "nan"), terms, terms)
    return apply(store, operations.select(target.bits), is_nan, least, found)


def _from_integer(*, sign: bool, single: bool) -> Handler:
    source = (operations.signed if sign else operations.unsigned)(64)

    def handler(machine: Machine, instruction: Instruction) -> None:
        integer = _read(machine, instruction, register_number(instruction, 1))
        target = F32 if single else F64
        convert = operations.convert(target, source, Rounding.NEAREST_EVEN)
        term = int(apply(machine.store, convert, integer))
        if single:
            term = scalars.widened(machine.store, term)
        zeroed = instruction.form.operands[0].register == "vs"
        _write(machine, instruction, register_number(instruction, 0), term, zeroed=zeroed)

    return handler


def _narrow(machine: Machine, instruction: Instruction, *, rounds: bool) -> None:
    """``xscvdpsp``, ``xscvdpspn``: a double as a single in words 0 and 1 (the ISA leaves 1 of them open)."""
    double = _read(machine, instruction, instruction.values[1])
    store = machine.store
    found = scalars.narrowed(store, double)
    if found is None and rounds:
        found = int(apply(store, operations.fused(F32, (), (F64,)), double))
    if found is None:
        found = scalars.single(store, double, instruction.mnemonic)
    check_write(machine, instruction, instruction.values[0])
    word = machine.words.joined((machine.words.word(found), 32), (machine.words.word(found), 32))
    _write(machine, instruction, instruction.values[0], machine.words.term(word), zeroed=True)


def _widen(machine: Machine, instruction: Instruction) -> None:
    """``xscvspdp``, ``xscvspdpn``: word 0 as a double."""
    double = _read(machine, instruction, instruction.values[1])
    word = machine.words.cut(machine.words.word(double), 32, 32)
    term = scalars.widened(machine.store, machine.words.term(word, 32))
    _write(machine, instruction, instruction.values[0], term, zeroed=True)


# -- vectors
def _vector(rule: Rule, fmt: FloatFormat, order: Sequence[int]) -> Handler:
    """Return a handler that applies a rule to every element."""
    size = fmt.bits // 8

    def handler(machine: Machine, instruction: Instruction) -> None:
        given = [elements(machine, instruction, instruction.values[index], size) for index in order]
        result = rule(machine.store, fmt, [fmt] * len(given), given)
        set_elements(machine, instruction, result)

    return handler


def elements(machine: Machine, instruction: Instruction, number: int, size: int) -> Ids:
    """Return the words of a register that an instruction reads, most significant first."""
    check_read(machine, instruction, number)
    return machine.registers.elements(number, size)


def set_elements(machine: Machine, instruction: Instruction, words: Ids) -> None:
    """Write the words of an instruction's first operand."""
    number = register_number(instruction, 0)
    check_write(machine, instruction, number)
    machine.registers.set_elements(number, words)


def _converted(source: FloatFormat, target: FloatFormat) -> Handler:
    """Return a conversion of each word, or of its low half, to a format in the same place."""

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        words = elements(machine, instruction, instruction.values[1], 4)
        given = bit_slices.extract(store, words, 0, source.bits)
        found = apply(store, operations.fused(target, (), (source,)), given)
        set_elements(machine, instruction, bit_slices.zero_extend(store, found, 32))

    return handler


def _halved(machine: Machine, instruction: Instruction) -> None:
    """``xvcvdpsp``: doublewords as singles in words 0 and 2, and the same (open in the ISA) beside them."""
    doubles = elements(machine, instruction, instruction.values[1], 8)
    singles = apply(machine.store, operations.fused(F32, (), (F64,)), doubles)
    set_elements(machine, instruction, np.repeat(singles, 2))


def _doubled(machine: Machine, instruction: Instruction) -> None:
    """``xvcvspdp``: words 0 and 2 as doublewords."""
    words = elements(machine, instruction, instruction.values[1], 4)
    set_elements(machine, instruction, apply(machine.store, scalars.WIDENING, words[::2]))


def _in_places(words: Ids, bits: int, width: int) -> Ids:
    """Return those of a register's elements of some bits that stand first in elements of a greater width."""
    return words[:: max(1, width // bits)]


def _vector_from_integers(width: int, fmt: FloatFormat, *, sign: bool) -> Handler:
    """Return a conversion of integers; singles of doublewords stand in words 0 and 2 and (open) beside."""
    source = (operations.signed if sign else operations.unsigned)(width)

    def handler(machine: Machine, instruction: Instruction) -> None:
        words = elements(machine, instruction, instruction.values[1], width // 8)
        convert = operations.convert(fmt, source, Rounding.NEAREST_EVEN)
        found = apply(machine.store, convert, _in_places(words, width, fmt.bits))
        set_elements(machine, instruction, np.repeat(found, max(1, width // fmt.bits)))

    return handler


def _from_fixed_point(*, sign: bool) -> Handler:
    """Return a conversion of words to singles, divided by a power of two, which is exact."""
    source = (operations.signed if sign else operations.unsigned)(32)

    def handler(machine: Machine, instruction: Instruction) -> None:
        words = elements(machine, instruction, register_number(instruction, 1), 4)
        singles = apply(machine.store, operations.convert(F32, source, Rounding.NEAREST_EVEN), words)
        set_elements(machine, instruction, _scaled(machine.store, singles, -instruction.values[2]))

    return handler


def _to_fixed_point(*, sign: bool) -> Handler:
    """Return a conversion to words, clamped, of singles times a power of two; a NaN becomes 0."""
    target = (operations.signed if sign else operations.unsigned)(32)

    def handler(machine: Machine, instruction: Instruction) -> None:
        store = machine.store
        singles = elements(machine, instruction, register_number(instruction, 1), 4)
        scaled = _scaled(store, singles, instruction.values[2])
        found = apply(store, operations.convert(target, F32, Rounding.TOWARD_ZERO), scaled)
        is_nan = apply(store, operations.compare(F32, "nan"), singles, singles)
        words = apply(store, operations.select(32), is_nan, store.constants(np.zeros(4), 32), found)
        set_elements(machine, instruction, words)

    return handler


def _scaled(store: TermStore, singles: Ids, places: int) -> Ids:
    """Return singles times a power of two."""
    if not places:
        return singles
    scale = store.constants(np.full(len(singles), 2.0**places, dtype=np.float32).view(np.uint32), 32)
    return apply(store, operations.fused(F32, ((F32, F32),)), singles, scale)


def _vector_to_integers(fmt: FloatFormat, width: int, *, sign: bool) -> Handler:
    """Return a conversion to integers; words of doubles stand in words 0 and 2, and (open) beside them."""
    target = (operations.signed if sign else operations.unsigned)(width)

    def handler(machine: Machine, instruction: Instruction) -> None:
        words = elements(machine, instruction, instruction.values[1], fmt.bits // 8)
        found = _integers(machine.store, fmt, target, _in_places(words, fmt.bits, width))
        set_elements(machine, instruction, np.repeat(found, max(1, fmt.bits // width)))

    return handler


def _half_to_double(machine: Machine, instruction: Instruction) -> None:
    """``xscvhpdp``: the last halfword of doubleword 0 as a double."""
    word = machine.words.word(_read(machine, instruction, instruction.values[1]))
    half = machine.words.term(machine.words.cut(word, 0, 16), 16)
    term = int(apply(machine.store, operations.fused(F64, (), (F16,)), half))
    _write(machine, instruction, instruction.values[0], term, zeroed=True)


def _double_to_half(machine: Machine, instruction: Instruction) -> None:
    """``xscvdphp``: a double as the last halfword of doubleword 0."""
    double = _read(machine, instruction, instruction.values[1])
    half = machine.words.word(int(apply(machine.store, operations.fused(F16, (), (F64,)), double)))
    term = machine.words.term(machine.words.joined((half, 16), (0, 48)))
    _write(machine, instruction, instruction.values[0], term, zeroed=True)


_PRECISIONS = (("", "dp", F64), ("s", "sp", F32))
"""How mnemonics end: of floating-point instructions, and of vector-scalar ones."""


def _arithmetic() -> Iterator[tuple[str, Handler]]:
    """Yield the handlers of sums, products and quotients."""
    for name, rule in ADDITIONS.items():
        for letter, suffix, fmt in _PRECISIONS:
            yield f"f{name}{letter}", _scalar(rule, fmt == F32, (1, 2), zeroed=False)
            yield f"xs{name}{suffix}", _scalar(rule, fmt == F32, (1, 2), zeroed=True)
            yield f"xv{name}{suffix}", _vector(rule, fmt, (1, 2))
    for name, rule in FUSED.items():
        for letter, suffix, fmt in _PRECISIONS:
            yield f"f{name}{letter}", _scalar(rule, fmt == F32, (1, 2, 3), zeroed=False)
            # the addend is the target (a), or the second factor's place (m)
            for kind, order in (("a", (1, 2, 0)), ("m", (1, 0, 2))):
                yield f"xs{name}{kind}{suffix}", _scalar(rule, fmt == F32, order, zeroed=True)
                yield f"xv{name}{kind}{suffix}", _vector(rule, fmt, order)


def _signs_and_order() -> Iterator[tuple[str, Handler]]:
    for name, rule in UNARY.items():
        yield f"f{name}", _scalar(rule, False, (1,), zeroed=False, keeps=True)
        yield f"xs{name}dp", _scalar(rule, False, (1,), zeroed=True, keeps=True)
        for _, suffix, fmt in _PRECISIONS:
            yield f"xv{name}{suffix}", _vector(rule, fmt, (1,))
    for which in ("max", "min"):
        yield f"xs{which}dp", _scalar(extremum(which), False, (1, 2), zeroed=True, keeps=True)
        yield f"xs{which}cdp", _scalar(greater_or(which), False, (1, 2), zeroed=True, keeps=True)
        for _, suffix, fmt in _PRECISIONS:
            yield f"xv{which}{suffix}", _vector(extremum(which), fmt, (1, 2))


def _of_integers() -> Iterator[tuple[str, Handler]]:
    for letter, suffix, fmt in _PRECISIONS:
        single = fmt == F32
        yield f"fsqrt{letter}", _scalar(function("sqrt"), single, (1,), zeroed=False)
        yield f"xssqrt{suffix}", _scalar(function("sqrt"), single, (1,), zeroed=True)
        yield f"xvsqrt{suffix}", _vector(function("sqrt"), fmt, (1,))
        yield f"fcfid{letter}", _from_integer(sign=True, single=single)
        yield f"fcfidu{letter}", _from_integer(sign=False, single=single)
        for sign, kind in ((True, "s"), (False, "u")):
            yield f"xscv{kind}xd{suffix}", _from_integer(sign=sign, single=single)
    for sign, kind in ((True, "s"), (False, "u")):
        yield f"vcf{kind}x", _from_fixed_point(sign=sign)
        yield f"vct{kind}xs", _to_fixed_point(sign=sign)
        yield f"xvcv{kind}xwsp", _vector_from_integers(32, F32, sign=sign)
        yield f"xvcv{kind}xddp", _vector_from_integers(64, F64, sign=sign)
        yield f"xvcv{kind}xwdp", _vector_from_integers(32, F64, sign=sign)
        yield f"xvcv{kind}xdsp", _vector_from_integers(64, F32, sign=sign)
        for _, suffix, fmt in _PRECISIONS:
            for letter, width in (("w", 32), ("d", 64)):
                yield f"xvcv{suffix}{kind}x{letter}s", _vector_to_integers(fmt, width, sign=sign)
        for letter, width in (("w", 32), ("d", 64)):
            yield f"xscvdp{kind}x{letter}s", _to_integer(width, sign=sign)
            yield f"fcti{letter}{'u' * (not sign)}z", _to_integer(width, sign=sign)


def _to_integral() -> Iterator[tuple[str, Handler]]:
    """Yield the handlers of what rounds to an integer that stays a float."""
    for letter, rule in INTEGRAL.items():
        yield f"xsrdpi{letter}", _scalar(rule, False, (1,), zeroed=True, keeps=True)
        if letter != "c":
            yield f"fri{letter or 'n'}", _scalar(rule, False, (1,), zeroed=False, keeps=True)
        for _, suffix, fmt in _PRECISIONS:
            yield f"xvr{suffix}i{letter}", _vector(rule, fmt, (1,))


_OTHERS: Mapping[str, Handler] = MappingProxyType(
    {
        "fmr": _scalar(moved, False, (1,), zeroed=False, keeps=True),
        "frsp": _scalar(rounded, True, (1,), zeroed=False),
        "xsrsp": _scalar(rounded, True, (1,), zeroed=True),
        "fcpsgn": _scalar(with_sign, False, (1, 2), zeroed=False, keeps=True),
        "xscpsgndp": _scalar(with_sign, False, (1, 2), zeroed=True, keeps=True),
        "xvcpsgndp": _vector(with_sign, F64, (1, 2)),
        "xvcpsgnsp": _vector(with_sign, F32, (1, 2)),
        "fsel": _select,
        "fcmpu": _compare,
        "fcmpo": _compare,
        "xscmpudp": _compare,
        "xscmpodp": _compare,
        "fctid": _to_integer(64, sign=True, rounding=Rounding.NEAREST_EVEN),
        "fctiw": _to_integer(32, sign=True, rounding=Rounding.NEAREST_EVEN),
        "xscvhpdp": _half_to_double,
        "xscvdphp": _double_to_half,
        "xscvdpsp": partial(_narrow, rounds=True),
        "xscvdpspn": partial(_narrow, rounds=False),
        "xscvspdp": _widen,
        "xscvspdpn": _widen,
        "xvcvdpsp": _halved,
        "xvcvspdp": _doubled,
        "xvcvbf16spn": _converted(BF16, F32),
        "xvcvspbf16": _converted(F32, BF16),
        "xvcvhpsp": _converted(F16, F32),
        "xvcvsphp": _converted(F32, F16),
    }
)

HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        **dict(_arithmetic()),
        **dict(_signs_and_order()),
        **dict(_of_integers()),
        **dict(_to_integral()),
        **_OTHERS,
    }
)
"""What carries out the instructions of this module, by mnemonic."""
