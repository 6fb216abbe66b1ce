"""Built-in models of functions of the C library: of memory, and of mathematics.

Square roots, sums of products and functions that round to an integer are exact, then rounded once, of floats
and doubles. What C leaves as accurate as it happens to be, such as ``expf``, is the function of real numbers,
computed in double precision and rounded to float: that it is so accurate is an assumption, which verdicts
name. Those of doubles are not modelled: a model in double precision would be taken for the very bits.

Source: ISO/IEC 9899:2018 sections 7.12, 7.24 and F.10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import e, log, log2
from types import MappingProxyType

import numpy as np

from ...spec.errors import UnsupportedError
from ...spec.formats import F32, F64, FloatFormat
from ..terms import operations
from ..terms.evaluation import apply
from ..terms.interning import Ids
from ..terms.store import TermStore
from .machine import Machine, Modelled
from .rows.float_rules import FUSED, INTEGRAL, UNARY, Rule, extremum, function
from .state import scalars
from .state.words import known

_MOST = 1 << 24
"""Bytes of a call."""

Real = Callable[[TermStore, Ids], Ids]
"""From a double to a function of it, a double too."""


def _arguments(machine: Machine, name: str) -> tuple[int, int]:
    """Return the address that is written, and how many bytes."""
    target = known(f"an address of {name}", machine.registers.general[3])
    count = known(f"the length of {name}", machine.registers.general[5])
    if count > _MOST:
        raise UnsupportedError(f"{name} of {count} bytes; at most {_MOST} are modelled")
    return target, count


def _copy(name: str) -> Modelled:
    def model(machine: Machine) -> None:
        target, count = _arguments(machine, name)
        source = known(f"an address of {name}", machine.registers.general[4])
        if name == "memcpy" and abs(source - target) < count:
            raise UnsupportedError("memcpy between bytes that overlap, which is undefined")
        if count:
            machine.save(target, machine.load(source, count, name), name)

    return model


def _fill(machine: Machine) -> None:
    target, count = _arguments(machine, "memset")
    if count:
        terms, lows = machine.bytes_of(machine.registers.general[4], 1)
        machine.save(target, (np.repeat(terms, count), np.repeat(lows, count)), "memset")


def _ruled(name: str, fmt: FloatFormat, rule: Rule, operands: int = 1, supposed: str = "") -> Modelled:
    """Return a function that rounds once."""

    def model(machine: Machine) -> int:
        store = machine.store
        if supposed:
            machine.assumptions[f"{name} of the C library {supposed}"] = None
        given = [np.array([_operand(machine, name, at, fmt)], dtype=np.int32) for at in range(operands)]
        result = int(rule(store, fmt, [fmt] * operands, given)[0])
        return scalars.widened(store, result) if fmt == F32 else result

    return model


def _approximated(name: str, what: str, real: Real) -> Modelled:
    """Return a function of floats that is taken to be one of real numbers, rounded."""

    def model(machine: Machine) -> int:
        store = machine.store
        machine.assumptions[f"{name} of the C library is {what}, rounded to f32"] = None
        double = np.array([scalars.widened(store, _operand(machine, name, 0, F32))], dtype=np.int32)
        rounded = apply(store, operations.fused(F32, (), (F64,)), real(store, double))
        return scalars.widened(store, int(rounded[0]))

    return model


def _operand(machine: Machine, name: str, at: int, fmt: FloatFormat) -> int:
    """Return an argument, which is passed in f1 and those behind it."""
    double = machine.registers.doubleword(1 + at)
    return scalars.single(machine.store, double, name) if fmt == F32 else double


def _doubles(store: TermStore, value: float, like: Ids) -> Ids:
    return store.constants(np.full(len(like), np.float64(value).view(np.uint64)), 64)


def _function(name: str) -> Real:
    return lambda store, x: apply(store, operations.function(name, F64, F64), x)


def _times(store: TermStore, x: Ids, value: float) -> Ids:
    return apply(store, operations.fused(F64, ((F64, F64),)), x, _doubles(store, value, x))


def _plus(store: TermStore, x: Ids, value: float) -> Ids:
    return apply(store, operations.fused(F64, (), (F64, F64)), x, _doubles(store, value, x))


def _exponential(store: TermStore, x: Ids) -> Ids:
    return _function("ex2")(store, _times(store, x, log2(e)))


def _logarithm(store: TermStore, x: Ids) -> Ids:
    return _times(store, _function("lg2")(store, x), log(2))


_REAL: Mapping[str, tuple[str, Real]] = MappingProxyType(
    {
        "expf": ("exp(x)", _exponential),
        "exp2f": ("exp2(x)", _function("ex2")),
        "expm1f": ("exp(x) - 1", lambda store, x: _plus(store, _exponential(store, x), -1.0)),
        "logf": ("log(x)", _logarithm),
        "log2f": ("log2(x)", _function("lg2")),
        "log1pf": ("log(1 + x)", lambda store, x: _logarithm(store, _plus(store, x, 1.0))),
        "tanhf": ("tanh(x)", _function("tanh")),
        "erff": ("erf(x)", _function("erf")),
        "sinf": ("sin(x)", _function("sin")),
        "cosf": ("cos(x)", _function("cos")),
    }
)

_INTEGRAL = MappingProxyType(
    {"round": "", "rint": "c", "nearbyint": "c", "floor": "m", "ceil": "p", "trunc": "z"}
)
"""Functions that round to an integer, to nearest where the rounding mode decides, and their rules."""


def _exact() -> Iterator[tuple[str, Modelled]]:
    for suffix, fmt in (("", F64), ("f", F32)):
        rules = {name: INTEGRAL[letter] for name, letter in _INTEGRAL.items()}
        for name, rule in {**rules, "sqrt": function("sqrt"), "fabs": UNARY["abs"]}.items():
            yield name + suffix, _ruled(name + suffix, fmt, rule)
        for which in ("max", "min"):
            name = f"f{which}{suffix}"
            yield name, _ruled(name, fmt, extremum(which), 2, f"orders zeros as xs{which}dp does")
        yield f"fma{suffix}", _ruled(f"fma{suffix}", fmt, FUSED["madd"], 3)


FUNCTIONS: Mapping[str, Modelled] = MappingProxyType(
    {
        "memcpy": _copy("memcpy"),
        "memmove": _copy("memmove"),
        "memset": _fill,
        **dict(_exact()),
        **{name: _approximated(name, *each) for name, each in _REAL.items()},
    }
)
"""What functions of the library do, by their names."""
