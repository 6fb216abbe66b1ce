"""Scalar arithmetic: ``arith`` operations on concrete integers and on data.

Integers are two's complement of their type's width, an ``index`` has 64 bits. Source: MLIR's arith dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from ....spec.float_encoding import encode
from ....spec.formats import BF16, F16, F32, F64, FloatFormat, Format
from ....spec.pto.text.statements import Arithmetic, ConstantDefinition
from ....spec.rounding import Rounding
from ...findings.finding import Kind
from ...terms import bit_slices, operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.operations import signed, unsigned
from ...terms.store import CONSTANT, TermStore
from ...terms.truth_tables import A, B
from ..text.errors import EndedError, illegal, unsupported
from .values import Data

Number = int | Data

INDEX_BITS = 64
"""Of an ``index``."""

FLOATS = MappingProxyType({"f16": F16, "bf16": BF16, "f32": F32, "f64": F64})
"""The types of data that are no integers."""

_INTEGER_TYPE = re.compile(r"[us]?i(\d{1,2})")


def number_format(type_: str) -> Format:
    """Return the format of a scalar type, integers signed.

    Raises
    ------
    EndedError
        If it is no scalar type, or not modelled.
    """
    if type_ in FLOATS:
        return FLOATS[type_]
    return signed(integer_bits(type_))


def integer_bits(type_: str) -> int:
    """Return the bits of an integer type; raises as `number_format`."""
    if type_ == "index":
        return INDEX_BITS
    found = _INTEGER_TYPE.fullmatch(type_)
    if found is None or not 1 <= int(found[1]) <= INDEX_BITS:
        raise unsupported(f"numbers of type {type_}")
    return int(found[1])


def wrapped(value: int, bits: int) -> int:
    """Return an integer modulo ``2**bits``, as a signed one; of one bit, 0 or 1."""
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if bits > 1 and low >> (bits - 1) else low


class ScalarArithmetic:
    """Arithmetic of the scalar unit.

    Parameters
    ----------
    store : TermStore
        Where terms are made.
    """

    def __init__(self, store: TermStore) -> None:
        self._store = store

    # -- numbers and terms
    def constant(self, statement: ConstantDefinition) -> Number:
        """Return the value of ``arith.constant``."""
        if (integer := statement.integer) is not None:
            bits = 1 if statement.type is None else integer_bits(str(statement.type))
            return wrapped(integer, bits)
        fmt = FLOATS.get(str(statement.type))
        if fmt is None:
            raise unsupported(f"a constant {statement.text} of type {statement.type}")
        if statement.text.startswith("0x"):
            return Data(
                int(self._store.constants(int(statement.text, 16) & ((1 << fmt.bits) - 1), fmt.bits)), fmt
            )
        try:
            value = float(statement.text)
        except ValueError:
            raise unsupported(f"a constant {statement.text} of type {fmt}") from None
        return Data(self.encoded(value, fmt), fmt)

    def encoded(self, value: float, fmt: FloatFormat) -> int:
        """Return the constant of a number."""
        return int(self._store.constants(int(encode(np.array(value), fmt, Rounding.NEAREST_EVEN)), fmt.bits))

    def term(self, number: Number, fmt: Format) -> int:
        """Return the term of a number of some format."""
        if isinstance(number, Data):
            return number.term
        return int(self._store.constants(number & ((1 << fmt.bits) - 1), fmt.bits))

    def known(self, number: Number) -> Number:
        """Return the integer that data turns out to be, if it does."""
        if not isinstance(number, Data) or isinstance(number.format, FloatFormat):
            return number
        if not self._store.are(CONSTANT, number.term):
            return number
        return wrapped(int(self._store.constant_values(number.term)), number.format.bits)

    # -- operations
    def compute(self, statement: Arithmetic, operands: Sequence[Number]) -> Number:
        """Return the result of an operation.

        Raises
        ------
        EndedError
            If it is not modelled, or has no defined result.
        """
        name = statement.name.removeprefix("arith.")
        type_ = str(statement.types[-1]) if statement.types else ""
        if name in ("index_cast", "index_castui", "extsi", "extui", "trunci"):
            return self._resized(name, operands[0], type_, str(statement.target))
        if name in ("extf", "truncf", "sitofp", "uitofp", "fptosi", "bitcast"):
            return self._converted(name, operands[0], type_, str(statement.target))
        if name == "select":
            return self._selected(statement, operands)
        if name == "cmpf" or type_ in FLOATS:
            return self._of_floats(name, statement.predicate, operands, type_)
        bits = integer_bits(type_)
        integers = [self.known(operand) for operand in operands]
        if all(isinstance(integer, int) for integer in integers):
            return self._of_integers(name, statement.predicate, [int(integer) for integer in integers], bits)  # type: ignore[arg-type]
        return self._of_data(name, statement.predicate, integers, bits)

    def _of_integers(self, name: str, predicate: str | None, given: Sequence[int], bits: int) -> int:
        if name == "cmpi":
            return int(_compared(predicate, given, bits))
        if name not in _INTEGERS or len(given) != 2:
            raise unsupported(f"arith.{name}")
        if name.endswith("ui"):
            given = [each & ((1 << bits) - 1) for each in given]
        if given[1] == 0 and name.startswith(("div", "rem", "ceildiv", "floordiv")):
            raise EndedError(Kind.UNDEFINED, f"arith.{name} of {given[0]} by 0")
        if name.startswith("sh") and not 0 <= given[1] < bits:
            raise EndedError(Kind.UNDEFINED, f"arith.{name} of {bits} bits by {given[1]}")
        return wrapped(_INTEGERS[name](*given), bits)

    def _of_data(self, name: str, predicate: str | None, given: Sequence[Number], bits: int) -> Number:
        fmt = signed(bits)
        terms = [self.term(each, fmt) for each in given]
        if name == "cmpi":
            relation, of_signed = _relation(predicate)
            operation = operations.compare(fmt if of_signed else unsigned(bits), relation)
            return self._data(apply(self._store, operation, *terms), signed(1))
        if name in ("addi", "muli", "subi"):
            if name == "subi":
                terms[1] = int(apply(self._store, operations.negate(fmt), terms[1]))
            operation = operations.ring(bits, *((1, 0) if name == "muli" else (0, 2)))
            return self._data(apply(self._store, operation, *terms), fmt)
        if name in _EXTREMA:
            which, of_signed = _EXTREMA[name]
            operation = operations.extremum(fmt if of_signed else unsigned(bits), which)
            return self._data(apply(self._store, operation, *terms), fmt)
        if name in _BITWISE:
            one, other = (np.array([term], dtype=np.int32) for term in terms)
            return self._data(bit_slices.bitwise(self._store, _BITWISE[name], one, other, one)[0], fmt)
        if name in ("divsi", "remsi"):
            operation = operations.function(name[:3], fmt, fmt, fmt)
            return self._data(apply(self._store, operation, *terms), fmt)
        raise unsupported(f"arith.{name} of data")

    def _of_floats(self, name: str, predicate: str | None, given: Sequence[Number], type_: str) -> Number:
        fmt = FLOATS[type_]
        terms = [self.term(each, fmt) for each in given]
        match name:
            case "addf":
                operation = operations.fused(fmt, addends=(fmt, fmt))
            case "subf":
                operation = operations.fused(fmt, addends=(fmt, fmt))
                terms[1] = int(apply(self._store, operations.negate(fmt), terms[1]))
            case "mulf":
                operation = operations.fused(fmt, ((fmt, fmt),))
            case "negf":
                operation = operations.negate(fmt)
            case "divf":
                operation = operations.function("div.rn", fmt, fmt, fmt)
            case "maximumf" | "minimumf":
                operation = operations.extremum(fmt, name[:3], nan=True)
            case "maxnumf" | "minnumf":
                operation = operations.extremum(fmt, name[:3])
            case "cmpf" if predicate in _FLOAT_RELATIONS:
                operation = operations.compare(fmt, _FLOAT_RELATIONS[str(predicate)])
                return self.known(self._data(apply(self._store, operation, *terms), signed(1)))
            case _:
                raise unsupported(f"arith.{name}" + (f" {predicate}" if predicate else ""))
        return self._data(apply(self._store, operation, *terms), fmt)

    def _selected(self, statement: Arithmetic, operands: Sequence[Number]) -> Number:
        condition, then, otherwise = operands
        condition = self.known(condition)
        if isinstance(condition, int):
            return then if condition & 1 else otherwise
        fmt = number_format(str(statement.types[-1]))
        terms = [self.term(each, fmt) for each in (then, otherwise)]
        chosen = apply(self._store, operations.select(fmt.bits), condition.term, *terms)
        return self._data(chosen, fmt)

    def _resized(self, name: str, operand: Number, source: str, target: str) -> Number:
        unsigned_ = name in ("extui", "index_castui")
        return self.resized(operand, integer_bits(source), integer_bits(target), unsigned_=unsigned_)

    def resized(self, operand: Number, before: int, after: int, *, unsigned_: bool = False) -> Number:
        """Return a number of another width, extended by its sign or by zeros."""
        operand = self.known(operand)
        if isinstance(operand, int):
            if unsigned_ or before == 1:
                operand &= (1 << before) - 1
            return wrapped(operand, after)
        if after == before:
            return Data(operand.term, signed(after))
        words = np.array([operand.term], dtype=np.int32)
        if after < before:
            return self._data(bit_slices.extract(self._store, words, 0, after)[0], signed(after))
        if unsigned_ or before == 1:
            zeros = self._store.constants(np.zeros(1, dtype=np.uint64), after - before)
            return self._data(bit_slices.concatenate(self._store, [words, zeros])[0], signed(after))
        return self._data(apply(self._store, operations.extend(after, before), words)[0], signed(after))

    def _converted(self, name: str, operand: Number, source: str, target: str) -> Number:
        before, after = number_format(source), number_format(target)
        if name == "bitcast" and before.bits == after.bits:
            return self.known(Data(self.term(operand, before), after))
        term = self.term(operand, before)
        if isinstance(before, FloatFormat) and isinstance(after, FloatFormat):
            operation = operations.fused(after, addends=(before,))
        elif name == "uitofp":
            operation = operations.convert(after, unsigned(before.bits), Rounding.NEAREST_EVEN)
        elif name == "fptosi":
            operation = operations.convert(after, before, Rounding.TOWARD_ZERO)
        elif name == "sitofp":
            operation = operations.convert(after, before, Rounding.NEAREST_EVEN)
        else:
            raise unsupported(f"arith.{name} from {source} to {target}")
        return self.known(self._data(apply(self._store, operation, term), after))

    def _data(self, term: Ids | np.int32, fmt: Format) -> Number:
        return self.known(Data(int(term), fmt))


def _floored(a: int, b: int) -> int:
    return a // b


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_INTEGERS: Mapping[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "addi": lambda a, b: a + b,
        "subi": lambda a, b: a - b,
        "muli": lambda a, b: a * b,
        "divsi": _truncated,
        "divui": _floored,
        "remsi": lambda a, b: a - b * _truncated(a, b),
        "remui": lambda a, b: a % b,
        "ceildivsi": lambda a, b: -_floored(-a, b),
        "ceildivui": lambda a, b: -_floored(-a, b),
        "floordivsi": _floored,
        "maxsi": max,
        "minsi": min,
        "maxui": max,
        "minui": min,
        "andi": lambda a, b: a & b,
        "ori": lambda a, b: a | b,
        "xori": lambda a, b: a ^ b,
        "shli": lambda a, b: a << b,
        "shrsi": lambda a, b: a >> b,
        "shrui": lambda a, b: a >> b,
    }
)

_EXTREMA = MappingProxyType(
    {"maxsi": ("max", True), "minsi": ("min", True), "maxui": ("max", False), "minui": ("min", False)}
)
_BITWISE = MappingProxyType({"andi": A & B, "ori": A | B, "xori": A ^ B})
_RELATIONS = MappingProxyType(
    {"eq": "eq", "ne": "ne", "slt": "lt", "sle": "le", "sgt": "gt", "sge": "ge"}
    | {"ult": "lt", "ule": "le", "ugt": "gt", "uge": "ge"}
)
_FLOAT_RELATIONS = MappingProxyType(
    {f"o{name}": name for name in ("eq", "ne", "lt", "le", "gt", "ge")}
    | {f"u{name}": f"{name}u" for name in ("eq", "ne", "lt", "le", "gt", "ge")}
    | {"ord": "num", "uno": "nan"}
)
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = MappingProxyType(
    {
        "eq": lambda a, b: a == b,
        "ne": lambda a, b: a != b,
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "gt": lambda a, b: a > b,
        "ge": lambda a, b: a >= b,
    }
)


def _relation(predicate: str | None) -> tuple[str, bool]:
    """Return a comparison, and whether it is one of signed integers."""
    if predicate is None or predicate not in _RELATIONS:
        raise illegal(f"arith.cmpi {predicate}; known: {', '.join(_RELATIONS)}")
    return _RELATIONS[predicate], not predicate.startswith("u")


def _compared(predicate: str | None, given: Sequence[int], bits: int) -> bool:
    relation, of_signed = _relation(predicate)
    if not of_signed:
        given = [each & ((1 << bits) - 1) for each in given]
    return _COMPARISONS[relation](*given)
